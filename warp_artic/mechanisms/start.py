"""State and control of mechanisms at their start, as authored."""

from __future__ import annotations

import numpy as np

from warp_artic.description.assemble import all_closed
from warp_artic.description.drive import Drive
from warp_artic.mechanisms.public_rows import MEMORY, count_kinds, kind_of


def initial_state(mechanisms, origins) -> dict[str, np.ndarray]:
    """The authored start state, with loops closed to rounding, each field of shape (mechanisms, rows)."""
    mechanisms = all_closed(mechanisms)
    poses, velocities = [], []
    for mechanism, origin in zip(mechanisms, origins):
        roots = [link for link, joint in zip(mechanism.links, mechanism.inbound) if joint is None]
        placed = ([*(np.asarray(link.pose.position) - origin), *link.pose.quaternion] for link in roots)
        poses.append([value for pose in placed for value in pose])
        velocities.append([value for link in roots for value in (*link.linear_velocity, *link.angular_velocity)])
    trees = len(mechanisms[0].articulations)
    dofs = len(velocities[0]) + len(mechanisms[0].dofs)
    counts = count_kinds(mechanisms[0])
    return {
        "joint_position": np.array([[dof.position for dof in tree.dofs] for tree in mechanisms]),
        "joint_velocity": np.array([[dof.velocity for dof in tree.dofs] for tree in mechanisms]),
        "root_pose": np.array(poses),
        "root_velocity": np.array(velocities),
        "failure": np.zeros((len(mechanisms), 2)),
        "clock": np.zeros((len(mechanisms), 1)),
        "started": np.zeros((len(mechanisms), 1)),
        "smooth_acceleration": np.zeros((len(mechanisms), dofs)),
        "acceleration_change": np.zeros((len(mechanisms), 2 * dofs)),
        "smoothness": np.zeros((len(mechanisms), 2 * trees)),
        "unresolved": np.zeros((len(mechanisms), trees)),
        "energy_gain": np.zeros((len(mechanisms), trees)),
        "steps_at_rest": np.zeros((len(mechanisms), 1)),
        **{name: np.zeros((len(mechanisms), one.size * counts[kind_of(name)])) for name, one in MEMORY.items()},
    }


def initial_control(mechanisms) -> dict[str, np.ndarray]:
    """The authored control, each field of shape (mechanisms, rows)."""
    drives = [[dof.drive or Drive() for dof in one.dofs] for one in mechanisms]
    links = len(mechanisms[0].links)
    roots = sum(joint is None for joint in mechanisms[0].inbound)
    return {
        "drive_position_target": np.array([[drive.position_target for drive in row] for row in drives]),
        "drive_velocity_target": np.array([[drive.velocity_target for drive in row] for row in drives]),
        "joint_effort": np.zeros((len(mechanisms), len(drives[0]))),
        "link_external_force": np.zeros((len(mechanisms), 6 * links)),
        "is_touched": np.zeros((len(mechanisms), 1)),
        "contact_displacement": np.zeros((len(mechanisms), 6 * roots + len(drives[0]))),
    }

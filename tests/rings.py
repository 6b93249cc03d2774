"""Rings of rods that float, cut into any number of articulations, whose ends loop joints join; their momenta."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from tests import trees
from tests.closed_mechanisms import BALL, PIN, bar, hinge
from warp_artic.description.articulation import Articulation
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene

LENGTH, MASS = 0.5, 2.0


def ring(sides: int, parts: int, gravity=(0.0, 0.0, 0.0), is_flat: bool = True, axes=None, **acts) -> Scene:
    """A regular polygon of rods in the plane z = 0, as so many articulations, with `acts` on the dofs of these.

    If `is_flat`, hinges join them, else balls do, with `axes` of the loop joints.
    """
    turn, own = 2.0 * np.pi / sides, sides // parts
    corners = LENGTH * np.cumsum([(np.cos(turn * k), np.sin(turn * k), 0.0) for k in range(sides)], axis=0)
    articulations = []
    for part in range(parts):
        path, links, joints = f"/World/part_{part:02d}", [], []
        for k in range(own):
            side = part * own + k
            angle = 0.5 * turn * side
            pose = Pose(tuple(corners[side - 1]), (0.0, 0.0, np.sin(angle), np.cos(angle)))
            links.append(replace(bar(f"{path}/rod_{k:02d}", MASS, LENGTH, 0.1), pose=pose))
            if k:
                joints.append(hinge(f"{path}/hinge_{k:02d}", k - 1, k, (LENGTH, 0.0, 0.0), position=turn))
        loop = LoopJoint(
            name=f"{path}/end",
            link0=own - 1,
            link1=0,
            articulation1=f"/World/part_{(part + 1) % parts:02d}" if parts > 1 else "",
            frame0=Pose((LENGTH, 0.0, 0.0)),
            free=PIN if is_flat else BALL,
            **(axes or {}),
        )
        tree = Articulation(path=path, links=tuple(links), joints=tuple(joints), constraints=(loop,))
        articulations.append(trees.with_dofs(tree, **acts) if acts and joints else tree)
    return Scene(articulations=tuple(articulations), gravity=gravity)


def throw(simulation, speed: float, seed: int, is_flat: bool = True):
    """Give random velocities to all roots and joints [m/s, rad/s], a tenth of it along the axes."""
    rng = np.random.default_rng(seed)
    trees = simulation.scene.articulations
    joints = speed * rng.normal(size=sum(len(tree.dofs) for tree in trees))
    roots = speed * rng.normal(size=(len(trees), 6)) * ([0.1] * 3 + [0.0 if is_flat else 1.0] * 2 + [1.0])
    simulation.set_state(joint_velocity=joints, root_velocity=roots)


def motion_of_whole(recording, scene: Scene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The centre of mass, the momentum, and the angular momentum about it at each time, in float64."""
    links = [link for one in scene.articulations for link in one.links]
    mass, center = np.array([link.mass for link in links]), np.array([link.center_of_mass for link in links])
    inertia = np.array([np.array(link.inertia)[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3) for link in links])
    pose, velocity = (getattr(recording, name)[:, 0].astype(float) for name in ("link_pose", "link_velocity"))
    turned = Rotation.from_quat(pose[..., 3:].reshape(-1, 4)).as_matrix().reshape(*pose.shape[:2], 3, 3)
    places = pose[..., :3] + np.einsum("tlij,lj->tli", turned, center)
    momentum = np.einsum("l,tli->ti", mass, velocity[..., :3])
    whole = np.einsum("l,tli->ti", mass, places) / mass.sum()
    spins = np.einsum("tlij,ljk,tlmk,tlm->ti", turned, inertia, turned, velocity[..., 3:])
    orbits = np.einsum("l,tli->ti", mass, np.cross(places - whole[:, None], velocity[..., :3]))
    return whole, momentum, spins + orbits

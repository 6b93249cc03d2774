"""Positions after a time with constant velocities, in double precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.oracles import joint_motion, rigid
from tests.oracles.remembered import by_identity
from tests.oracles.rotations import cross, matrix_from_quaternion, quaternion_from_rotation_vector
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Joint
from warp_artic.description.pose import quaternion_from_matrix, rotation_vector_from_matrix


def moved(tree: Articulation, state: State, times: list[float], root_time: float) -> State:
    """Positions after a time for each joint with constant velocities."""
    positions = [
        moved_joint(joint, state.joint_position[part], state.joint_velocity[part], time)
        for joint, part, time in zip(tree.joints, rigid.dof_slices(tree), times)
    ]
    root_pose = None
    if tree.is_floating:
        center = np.asarray(rigid.root(tree)[1].center_of_mass)
        R = matrix_from_quaternion(state.root_pose[3:])
        turned = rotation(root_time * state.root_velocity[3:]) @ R
        place = state.root_pose[:3] + R @ center + root_time * state.root_velocity[:3] - turned @ center
        root_pose = np.array([*place, *quaternion_from_matrix(turned)])
    return State(
        joint_position=np.concatenate([*positions, np.zeros(0)]),
        joint_velocity=state.joint_velocity,
        root_pose=root_pose,
        root_velocity=state.root_velocity,
    )


def moved_joint(joint: Joint, q: np.ndarray, v: np.ndarray, time: float) -> np.ndarray:
    """The public position after a time with constant velocity; of two free swings by the explicit midpoint rule.

    Of dofs that are coordinates themselves, `time` may be one for each.
    """
    if not joint_motion.has_quaternion(joint):
        return q + time * v
    if first := joint_motion.slides(joint):
        turned = moved_joint(turning(joint), q[first:], v[first:], time)
        return np.array([*(q + time * v)[:first], *turned])
    if len(joint.dofs) == 3:
        axes, sign = joint_motion.free_axes(joint), joint_motion.direction(joint)
        phi, omega = np.zeros(3), np.zeros(3)
        phi[axes], omega[axes] = sign * q, sign * v
        return sign * rotation_vector_from_matrix(rotation(phi) @ rotation(time * omega))[axes]
    middle = q + 0.5 * time * vector_rate(joint, q, v)
    return q + time * vector_rate(joint, middle, v)


@by_identity
def turning(joint: Joint) -> Joint:
    """The joint without its translations."""
    return replace(joint, dofs=joint.rotations)


def vector_rate(joint: Joint, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Rate of the rotation vector phi of a joint of two free rotations: phidot = omega + phi x omega / 2 + ..."""
    axes, sign = joint_motion.free_axes(joint), joint_motion.direction(joint)
    omega = (joint_motion.subspace(joint, joint_motion.coordinates_of(joint, q)) @ v)[3:]
    phi = np.zeros(3)
    phi[axes] = sign * q
    angle = np.linalg.norm(phi)
    weight = 1.0 / 12.0 if angle < 1e-3 else 1.0 / angle**2 - (1.0 + np.cos(angle)) / (2.0 * angle * np.sin(angle))
    rate = omega + 0.5 * cross(phi, omega) + weight * cross(phi, cross(phi, omega))
    return sign * rate[axes]


def rotation(vector: np.ndarray) -> np.ndarray:
    """The rotation matrix of a rotation vector."""
    return matrix_from_quaternion(quaternion_from_rotation_vector(vector))

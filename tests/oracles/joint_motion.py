"""One joint: displacement, motion subspace and the rate of that subspace, without rotation vectors.

The coordinates of a joint are those of its displacement parent -> child: nothing for a fixed joint, the angle or the
distance for one dof, the unit quaternion xyzw of R_FM for two or three. Velocities keep the public sign.
"""

from __future__ import annotations

import numpy as np

from warp_artic.description.joint import Joint
from warp_artic.description.pose import (
    matrix_from_quaternion,
    quaternion_from_rotation_vector,
    rotation_vector_from_matrix,
)


def coordinate_count(joint: Joint) -> int:
    """How many coordinates the displacement has: 0, 1 or 4."""
    return (0, 1, 4, 4)[len(joint.dofs)]


def coordinates_of(joint: Joint, position: np.ndarray) -> np.ndarray:
    """Coordinates of the displacement of a joint at a public position, shape (coordinate_count)."""
    displacement = direction(joint) * np.asarray(position, float)
    if len(joint.dofs) < 2:
        return displacement
    vector = np.zeros(3)
    vector[free_axes(joint)] = displacement
    return np.array(quaternion_from_rotation_vector(vector))


def position_of(joint: Joint, coordinates: np.ndarray) -> np.ndarray:
    """The public position, shape (len(joint.dofs)); a rotation vector is at most pi long."""
    if len(joint.dofs) < 2:
        return direction(joint) * coordinates
    vector = rotation_vector_from_matrix(matrix_from_quaternion(coordinates))
    return direction(joint) * vector[free_axes(joint)]


def displacement(joint: Joint, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R_FM, shape (3, 3), and p_FM [m], shape (3)."""
    if not joint.dofs:
        return np.eye(3), np.zeros(3)
    if len(joint.dofs) > 1:
        return matrix_from_quaternion(coordinates), np.zeros(3)
    axis = joint.dofs[0].axis
    if axis.is_linear:
        return np.eye(3), coordinates[0] * np.eye(3)[axis.index]
    return rotation_about(axis.index, coordinates[0]), np.zeros(3)


def subspace(joint: Joint, coordinates: np.ndarray) -> np.ndarray:
    """H with V_FM = H v: velocity of M in F, linear then angular, axes of M, shape (6, dofs)."""
    H = np.zeros((6, len(joint.dofs)))
    for column, dof in enumerate(joint.dofs):
        H[dof.axis.index + (0 if dof.axis.is_linear else 3), column] = 1.0
    if len(joint.dofs) == 2:
        H[3 + locked_axis(joint)] = locked_row(joint, coordinates[:3]) / coordinates[3]
    return direction(joint) * H


def subspace_rate(joint: Joint, coordinates: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """The time derivative of H in axes of M, shape (6, dofs); zero but for the locked row of two rotational dofs."""
    H_rate = np.zeros((6, len(joint.dofs)))
    if len(joint.dofs) == 2:
        u, w = coordinates[:3], coordinates[3]
        rate = coordinates_rate(joint, coordinates, velocity)
        row = locked_row(joint, rate[:3]) / w - locked_row(joint, u) * rate[3] / w**2
        H_rate[3 + locked_axis(joint)] = direction(joint) * row
    return H_rate


def coordinates_rate(joint: Joint, coordinates: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """The time derivative of the coordinates at a public velocity, shape (coordinate_count)."""
    if len(joint.dofs) < 2:
        return direction(joint) * np.asarray(velocity, float)
    return quaternion_rate(coordinates, (subspace(joint, coordinates) @ velocity)[3:])


def quaternion_rate(quaternion: np.ndarray, angular_velocity: np.ndarray) -> np.ndarray:
    """Rate of a quaternion R_AB, xyzw, that turns at an angular velocity (3) given in axes of B [rad/s]."""
    u, w = quaternion[:3], quaternion[3]
    return 0.5 * np.array([*(w * angular_velocity + np.cross(u, angular_velocity)), -u @ angular_velocity])


def locked_row(joint: Joint, u: np.ndarray) -> np.ndarray:
    """The row r with omega_locked = r omega_free / w, shape (2).

    The locked component of the quaternion (u, w) stays zero:  w omega_locked + (u x omega)_locked = 0.
    """
    i, j, k = (locked_axis(joint) + shift for shift in range(3))
    row = np.zeros(3)
    row[j % 3], row[k % 3] = u[k % 3], -u[j % 3]
    row[i] = 0.0
    return row[free_axes(joint)]


def direction(joint: Joint) -> float:
    """1, or -1 where the authored joint points from the child to the parent."""
    return -1.0 if joint.reversed else 1.0


def free_axes(joint: Joint) -> list[int]:
    """Index of the axis of each dof."""
    return [dof.axis.index for dof in joint.dofs]


def locked_axis(joint: Joint) -> int:
    """Index of the axis of rotation that has no dof, of a joint with two rotational dofs."""
    return 3 - sum(free_axes(joint))


def rotation_about(axis: int, angle: float) -> np.ndarray:
    """Rotation by an angle [rad] about axis 0, 1 or 2, shape (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[j, j] = R[k, k] = c
    R[k, j], R[j, k] = s, -s
    return R

"""One joint: displacement, motion subspace and the rate of that subspace, without rotation vectors.

The coordinates of a joint are the distances along its free translations, in the frame where these are authored, then
those of the rotation parent -> child: the angle for one dof, the twist and the swing, in the order of their dofs, for
one of each, the unit quaternion xyzw of R_FM for both swings or all three. Both are of the displacement
parent -> child; velocities keep the public sign.

    X_FM = (R_FM, c), but (R_FM, R_FM c) where the joint is reversed: then the translation is along axes of M

Twist a about axis x and one swing b about axis u:  R_FM = R_u(b) R_x(a), but R_x(a) R_u(b) where the joint is reversed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.oracles.remembered import by_identity
from tests.oracles.rotations import cross, matrix_from_quaternion, quaternion_from_rotation_vector
from warp_artic.description.joint import Joint
from warp_artic.description.pose import rotation_vector_from_matrix


@dataclass(frozen=True)
class Axes:
    """What a joint has at any position."""

    free: list[int]
    """Index of the axis of each dof."""
    turns: list[int]
    """Index of the axis of each rotational dof, which come last."""
    is_universal: bool
    outward: list[int]
    directions: np.ndarray
    """Axis of each dof as a column, linear then angular, shape (6, dofs)."""


@by_identity
def axes_of(joint: Joint) -> Axes:
    """The axes of a joint, which are asked for in each of its functions."""
    free, twist = [dof.axis.index for dof in joint.dofs], joint.cone_axis.index
    turns = [dof.axis.index for dof in joint.dofs if not dof.axis.is_linear]
    directions = np.zeros((6, len(joint.dofs)))
    for column, dof in enumerate(joint.dofs):
        directions[dof.axis.index + (0 if dof.axis.is_linear else 3), column] = 1.0
    outward = sorted(range(len(turns)), key=lambda turn: turns[turn] == twist)
    return Axes(
        free=free,
        turns=turns,
        is_universal=len(turns) == 2 and twist in turns,
        outward=outward[::-1] if joint.reversed else outward,
        directions=directions,
    )


def coordinate_count(joint: Joint) -> int:
    """How many coordinates the displacement has."""
    return slides(joint) + (4 if has_quaternion(joint) else len(turn_axes(joint)))


def coordinates_of(joint: Joint, position: np.ndarray) -> np.ndarray:
    """Coordinates of the displacement of a joint at a public position, shape (coordinate_count)."""
    displacement, first = direction(joint) * np.asarray(position, float), slides(joint)
    if not has_quaternion(joint):
        return displacement
    vector = np.zeros(3)
    vector[turn_axes(joint)] = displacement[first:]
    return np.array([*displacement[:first], *quaternion_from_rotation_vector(vector)])


def position_of(joint: Joint, coordinates: np.ndarray) -> np.ndarray:
    """The public position, shape (len(joint.dofs)); a rotation vector is at most pi long."""
    first = slides(joint)
    if not has_quaternion(joint):
        return direction(joint) * coordinates
    vector = rotation_vector_from_matrix(matrix_from_quaternion(coordinates[first:]))
    return direction(joint) * np.array([*coordinates[:first], *vector[turn_axes(joint)]])


def displacement(joint: Joint, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R_FM, shape (3, 3), and p_FM [m], shape (3)."""
    turns, first = turn_axes(joint), slides(joint)
    R_FM = np.eye(3)
    if has_quaternion(joint):
        R_FM = matrix_from_quaternion(coordinates[first:])
    else:
        for turn in outward(joint):
            R_FM = R_FM @ rotation_about(turns[turn], coordinates[first + turn])
    shift = shift_of(joint, coordinates[:first])
    return R_FM, R_FM @ shift if joint.reversed else shift


def subspace(joint: Joint, coordinates: np.ndarray) -> np.ndarray:
    """H with V_FM = H v: velocity of M in F, linear then angular, axes of M, shape (6, dofs)."""
    H, first = axes_of(joint).directions.copy(), slides(joint)
    if is_universal(joint):
        outer, inner = outward(joint)
        H[3:, first + outer] = inner_rotation(joint, coordinates).T @ H[3:, first + outer]
    elif len(turn_axes(joint)) == 2:
        u, w = coordinates[first : first + 3], coordinates[first + 3]
        H[3 + locked_axis(joint), first:] = locked_row(joint, u) / w
    H *= direction(joint)
    if first:
        if joint.reversed:  # p_FM = R_FM c:  R_FM^T pdot = cdot - c x omega
            H[:3] -= cross(shift_of(joint, coordinates[:first]), H[3:])
        else:
            H[:3] = displacement(joint, coordinates)[0].T @ H[:3]
    return H


def subspace_rate(joint: Joint, coordinates: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """The time derivative of H in axes of M, shape (6, dofs)."""
    H_rate, first = np.zeros((6, len(joint.dofs))), slides(joint)
    rate = coordinates_rate(joint, coordinates, velocity)
    if is_universal(joint):
        outer, inner = (first + turn for turn in outward(joint))
        H = subspace(joint, coordinates)
        H_rate[3:, outer] = -cross(H[3:, inner] * velocity[inner], H[3:, outer])
    elif len(turn_axes(joint)) == 2:
        u, w = coordinates[first : first + 3], coordinates[first + 3]
        row = locked_row(joint, rate[first : first + 3]) / w - locked_row(joint, u) * rate[first + 3] / w**2
        H_rate[3 + locked_axis(joint), first:] = direction(joint) * row
    if first:
        H = subspace(joint, coordinates)
        if joint.reversed:
            H_rate[:3] -= cross(shift_of(joint, rate[:first]), H[3:])
            H_rate[:3] -= cross(shift_of(joint, coordinates[:first]), H_rate[3:])
        else:
            H_rate[:3] -= cross(H[3:] @ velocity, H[:3])
    return H_rate


def coordinates_rate(joint: Joint, coordinates: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """The time derivative of the coordinates at a public velocity, shape (coordinate_count)."""
    rate, first = direction(joint) * np.asarray(velocity, float), slides(joint)
    if not has_quaternion(joint):
        return rate
    turning = (subspace(joint, coordinates) @ velocity)[3:]
    return np.array([*rate[:first], *quaternion_rate(coordinates[first:], turning)])


def shift_of(joint: Joint, distances: np.ndarray) -> np.ndarray:
    """Distances along the free translations as a vector, shape (3)."""
    shift = np.zeros(3)
    shift[free_axes(joint)[: slides(joint)]] = distances
    return shift


def quaternion_rate(quaternion: np.ndarray, angular_velocity: np.ndarray) -> np.ndarray:
    """Rate of a quaternion R_AB, xyzw, that turns at an angular velocity (3) given in axes of B [rad/s]."""
    u, w = quaternion[:3], quaternion[3]
    return 0.5 * np.array([*(w * angular_velocity + cross(u, angular_velocity)), -u @ angular_velocity])


def locked_row(joint: Joint, u: np.ndarray) -> np.ndarray:
    """The row r with omega_locked = r omega_free / w, shape (2).

    The locked component of the quaternion (u, w) stays zero:  w omega_locked + (u x omega)_locked = 0.
    """
    i, j, k = (locked_axis(joint) + shift for shift in range(3))
    row = np.zeros(3)
    row[j % 3], row[k % 3] = u[k % 3], -u[j % 3]
    row[i] = 0.0
    return row[turn_axes(joint)]


def is_universal(joint: Joint) -> bool:
    """Whether the joint has twist and one swing."""
    return axes_of(joint).is_universal


def has_quaternion(joint: Joint) -> bool:
    """Whether the rotation of the joint is a quaternion among its coordinates."""
    return len(turn_axes(joint)) > 1 and not is_universal(joint)


def outward(joint: Joint) -> list[int]:
    """The rotational dofs of a joint without a quaternion, counted among themselves, as they follow from F to M.

    The swing is about an axis of the first frame of the authored displacement, the twist about one of the second.
    """
    return axes_of(joint).outward


def inner_rotation(joint: Joint, coordinates: np.ndarray) -> np.ndarray:
    """The second of the two rotations of a universal joint, shape (3, 3)."""
    _, inner = outward(joint)
    return rotation_about(turn_axes(joint)[inner], coordinates[slides(joint) + inner])


def direction(joint: Joint) -> float:
    """1, or -1 where the authored joint points from the child to the parent."""
    return -1.0 if joint.reversed else 1.0


def free_axes(joint: Joint) -> list[int]:
    """Index of the axis of each dof."""
    return axes_of(joint).free


def turn_axes(joint: Joint) -> list[int]:
    """Index of the axis of each rotational dof, which come last."""
    return axes_of(joint).turns


def slides(joint: Joint) -> int:
    """How many dofs are translations, which come first."""
    return len(joint.dofs) - len(turn_axes(joint))


def locked_axis(joint: Joint) -> int:
    """Index of the axis of rotation that has no dof, of a joint with two rotational dofs."""
    return 3 - sum(turn_axes(joint))


def rotation_about(axis: int, angle: float) -> np.ndarray:
    """Rotation by an angle [rad] about axis 0, 1 or 2, shape (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[j, j] = R[k, k] = c
    R[k, j], R[j, k] = s, -s
    return R

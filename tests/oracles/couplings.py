"""Linear combinations of joint positions and their rates, by finite differences of displacements.

    L = offset + sum c_i q_i,   J_i = the rate of L by a unit velocity of dof i
where q is the position that a joint has after it has moved with v for `before`: J of joints with several rotations is
that in the middle of what the joint does with v. J of a ball joint is given in the axes that its child has `later`.
"""

from __future__ import annotations

import numpy as np

from tests.oracles import joint_motion, rigid
from tests.oracles.movement import moved_joint, rotation
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Joint

STENCIL = ((1e-3, 8.0 / 12.0), (-1e-3, -8.0 / 12.0), (2e-3, -1.0 / 12.0), (-2e-3, 1.0 / 12.0))
"""Times and weights of central differences of fourth order."""


def times(h: float, share: float, has_middle: bool) -> tuple[float, float]:
    """`before` and `later` of a step of h in which springs have a share."""
    before = (1.0 - share) * h
    return before, (0.5 * h if has_middle else 0.0) - before


def gradient(
    tree: Articulation, state: State, coefficients: np.ndarray, before: float = 0.0, later: float = 0.0
) -> np.ndarray:
    """J of the coefficients (D) at a state, shape (N)."""
    base = rigid.base_count(tree)
    J = np.zeros(base + len(tree.dofs))
    for joint, part in zip(tree.joints, rigid.dof_slices(tree)):
        c, q, v = coefficients[part], state.joint_position[part], state.joint_velocity[part]
        own = slice(base + part.start, base + part.stop)
        J[own] = joint_gradient(joint, moved_joint(joint, q, v, before), c)
        if len(joint.dofs) == 3 and later:
            J[own] = turned(joint, J[own], v * later)
    return J


def joint_gradient(joint: Joint, q: np.ndarray, c: np.ndarray) -> np.ndarray:
    """J of one joint: how c.q changes with each velocity, shape (dofs)."""
    found = np.zeros(len(q))
    for k, direction in enumerate(np.eye(len(q))):
        for time, weight in STENCIL:
            found[k] += weight * c @ (moved_joint(joint, q, direction, time) - q) / STENCIL[0][0]
    return found


def turned(joint: Joint, J: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """A gradient on a ball joint in the axes of its child after a further turn, in public coordinates."""
    axes, sign = joint_motion.free_axes(joint), joint_motion.direction(joint)
    vector, own = np.zeros(3), np.zeros(3)
    vector[axes], own[axes] = sign * turn, J
    return (rotation(vector).T @ own)[axes]


def displaced(tree: Articulation, position: np.ndarray, dof: int, time: float) -> np.ndarray:
    """Positions (D) after a dof has moved with a unit velocity for a time."""
    position = position.copy()
    for joint, part in zip(tree.joints, rigid.dof_slices(tree)):
        if part.start <= dof < part.stop:
            position[part] = moved_joint(joint, position[part], np.eye(len(joint.dofs))[dof - part.start], time)
    return position


def value_in_step(tree: Articulation, state: State, coefficients: np.ndarray, before: float) -> float:
    """sum c_i q_i in the middle, taken back along J there."""
    total = 0.0
    for joint, part in zip(tree.joints, rigid.dof_slices(tree)):
        c, q, v = coefficients[part], state.joint_position[part], state.joint_velocity[part]
        middle = moved_joint(joint, q, v, before)
        total += c @ middle - before * joint_gradient(joint, middle, c) @ v
    return total

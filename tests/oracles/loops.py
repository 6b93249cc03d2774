"""Loop joints, dense and in double precision: where their frames are, the rows of the axes that they hold, their loads.

    J v = 0 for each held axis,   M (v+ - v) = h (tau - c - g) + J^T z,   J v+ = - t Jdot v
and what a joint does to its second link is the force sum e_k z_k / h at the origin of the second frame, along the axes
e_k of the first frame, with the torque sum n_j z_j / h.
"""

from __future__ import annotations

import numpy as np

from tests.oracles import rigid
from warp_artic.description.joint import WORLD
from warp_artic.description.loop_joint import LoopJoint


def frame(motion: rigid.Motion, link: int, pose) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R, p and the Jacobian (6, N) of the velocity of the origin and the angular velocity of a frame on a link."""
    size = len(motion.velocity)
    if link == WORLD:
        return pose.rotation, np.asarray(pose.position, float), np.zeros((6, size))
    R, p = motion.R_WL[link], motion.p_WL[link] + motion.R_WL[link] @ np.asarray(pose.position)
    J = motion.J[link].copy()
    J[:3] -= rigid.cross_matrix(p - motion.p_WC[link]) @ J[3:]
    return R @ pose.rotation, p, J


def directions(loop: LoopJoint, R_0: np.ndarray, R_1: np.ndarray) -> np.ndarray:
    """The direction of each held axis in the world, shape (rows, 3)."""
    found, twist = [], loop.twist_axis.index
    turns = [axis for axis in loop.held if not axis.is_linear]
    for axis in loop.held:
        n = R_0[:, axis.index]
        if not axis.is_linear and len(turns) == 1:
            if axis is loop.twist_axis:
                n = (n + R_1[:, twist]) / (1.0 + n @ R_1[:, twist])
            else:
                swing = 3 - twist - axis.index
                n = np.cross(R_1[:, twist], R_0[:, swing]) * (1.0 if (twist + 1) % 3 == swing else -1.0)
        found.append(n)
    return np.array(found)


def rows(motion: rigid.Motion, loop: LoopJoint) -> np.ndarray:
    """J of the held axes, shape (rows, N)."""
    R_0, p_0, J_0 = frame(motion, loop.link0, loop.frame0)
    R_1, p_1, J_1 = frame(motion, loop.link1, loop.frame1)
    if any(axis.is_linear for axis in loop.free):
        J_0 = J_0.copy()
        J_0[:3] -= rigid.cross_matrix(p_1 - p_0) @ J_0[3:]
    n = directions(loop, R_0, R_1)
    is_linear = np.array([axis.is_linear for axis in loop.held])[:, None]
    J = J_1 - J_0
    return np.where(is_linear, n @ J[:3], n @ J[3:])


def bias(tree, motion: rigid.Motion, coordinates: np.ndarray, loops, step: float = 1e-5) -> np.ndarray:
    """Jdot v of all held axes, by central differences along the motion."""
    rate = rigid.coordinates_rate(tree, coordinates, motion.velocity)

    def at(time):
        moved = rigid.motion_at(tree, coordinates + time * rate, motion.velocity)
        return np.concatenate([rows(moved, loop) for loop in loops]) @ motion.velocity

    return (8.0 * (at(step) - at(-step)) - at(2.0 * step) + at(-2.0 * step)) / (12.0 * step)


def loads(tree, motion: rigid.Motion, loops, forces: np.ndarray) -> np.ndarray:
    """Force, then torque, of forces of the rows on each second link in its frame, shape (loops, 6)."""
    found, row = [], 0
    for loop in loops:
        R_0, _, _ = frame(motion, loop.link0, loop.frame0)
        R_1, _, _ = frame(motion, loop.link1, loop.frame1)
        n = directions(loop, R_0, R_1)
        own = forces[row : row + len(n), None] * n
        row += len(n)
        is_linear = np.array([axis.is_linear for axis in loop.held])
        found.append(np.concatenate([R_1.T @ own[is_linear].sum(axis=0), R_1.T @ own[~is_linear].sum(axis=0)]))
    return np.array(found)


def on_links(tree, motion: rigid.Motion, loops, loads: np.ndarray) -> np.ndarray:
    """What given loads do to both links, as wrenches at the centres of mass in world axes, shape (L, 6)."""
    wrench = np.zeros((len(tree.links), 6))
    for loop, load in zip(loops, loads):
        R_1, p_1, _ = frame(motion, loop.link1, loop.frame1)
        force, torque = R_1 @ load[:3], R_1 @ load[3:]
        for link, sign in ((loop.link1, 1.0), (loop.link0, -1.0)):
            if link != WORLD:
                wrench[link, :3] += sign * force
                wrench[link, 3:] += sign * (torque + np.cross(p_1 - motion.p_WC[link], force))
    return wrench

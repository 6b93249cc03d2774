"""Loop joints by definition, in NumPy: frames on links, what a joint holds between them, and how that changes.

With d = x_1 - x_0 from origin to origin, u = v_1 - v_0 - w_0 x d, w = w_1 - w_0, and e_k the axes of frame 0:
    all translations     y = e_k . (v_1 - v_0),  phi = e_k . d
    some translations    y = e_k . u,            phi = e_k . d
    all rotations        y = e_k . w,            phi = 2 sin(angle / 2) along e_k, of frame 1 against frame 0
    two rotations        y = e_k . w,            phi = 2 sin(angle / 2) along e_k, between the free axes
    the twist about a    y = n . w,  n = (a_0 + a_1) / (1 + a_0 . a_1),  phi = twist angle
    a swing beside a     y = n . w,  n = +- a_1 x b_0 (n = e_k where phi = 0),  phi = +- a_1 . b_0,  b the free swing
J has no entry of dofs that move both frames alike.  c = Jdot v for vdot = 0; of all translations e_k is fast in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from tests.oracles import rigid
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose, quaternion_from_matrix

STENCIL = ((1e-3, 8.0 / 12e-3), (-1e-3, -8.0 / 12e-3), (2e-3, -1.0 / 12e-3), (-2e-3, 1.0 / 12e-3))
"""Times and weights of central differences of fourth order."""


@dataclass(frozen=True)
class Frame:
    """A frame of a loop joint in the world and how it moves."""

    R: np.ndarray
    """Axes, shape (3, 3)."""
    x: np.ndarray
    """Origin [m], shape (3)."""
    J_v: np.ndarray
    """Of the velocity of the origin, shape (3, N)."""
    J_w: np.ndarray
    """Of the angular velocity, shape (3, N)."""
    a: np.ndarray
    """Acceleration of the origin at vdot = 0, shape (3)."""


def frame_on(motion: rigid.Motion, link: int, pose: Pose) -> Frame:
    """A frame that is fixed in a link, or in the world."""
    R_L, p_L = rigid.placement(pose)
    if link == WORLD:
        zero = np.zeros((3, len(motion.velocity)))
        return Frame(R_L, p_L, zero, zero, np.zeros(3))
    x = motion.p_WL[link] + motion.R_WL[link] @ p_L
    r, J, w = x - motion.p_WC[link], motion.J[link], motion.V[link, 3:]
    A = motion.A_bias[link]
    a = A[:3] + rigid.cross(A[3:], r) + rigid.cross(w, rigid.cross(w, r))
    return Frame(motion.R_WL[link] @ R_L, x, J[:3] - rigid.cross_matrix(r) @ J[3:], J[3:], a)


def touched_dofs(tree: Articulation, loop: LoopJoint) -> np.ndarray:
    """Which dofs move the frames of a loop joint against each other, shape (N)."""
    paths = [inward_links(tree, link) for link in (loop.link0, loop.link1)]
    links = set(paths[0]) ^ set(paths[1])
    base = rigid.base_count(tree)
    touched = np.zeros(base + len(tree.dofs), bool)
    if base and rigid.root(tree)[0] in links:
        touched[:6] = True
    for joint, part in zip(tree.joints, rigid.dof_slices(tree)):
        touched[base + part.start : base + part.stop] = joint.child in links
    return touched


def inward_links(tree: Articulation, link: int) -> list[int]:
    """A link and all between it and the root."""
    found = []
    while link != WORLD:
        found.append(link)
        joint = tree.inbound[link]
        link = joint.parent if joint else WORLD
    return found


def meeting_link(tree: Articulation, loop: LoopJoint) -> int:
    """The first link that the paths to the root have in common, or WORLD."""
    first = inward_links(tree, loop.link0)
    return next((link for link in inward_links(tree, loop.link1) if link in first), WORLD)


def held(motion: rigid.Motion, loop: LoopJoint) -> tuple[np.ndarray, np.ndarray]:
    """phi (R) and J (R, N) of the axes that a loop joint holds, in the order of `loop.held`."""
    one, two = frame_on(motion, loop.link0, loop.frame0), frame_on(motion, loop.link1, loop.frame1)
    free = [axis.index for axis in loop.free if not axis.is_linear]
    slides = any(axis.is_linear for axis in loop.free)
    d, J_w = two.x - one.x, two.J_w - one.J_w
    J_v = two.J_v - one.J_v
    if slides:
        J_v = J_v + rigid.cross_matrix(d) @ one.J_w
    phi, J = [], []
    for axis in loop.held:
        e = one.R[:, axis.index]
        if axis.is_linear:
            phi.append(e @ d)
            J.append(e @ J_v)
        else:
            n, angle = held_rotation(one.R, two.R, axis.index, free, loop.twist_axis.index)
            phi.append(angle)
            J.append(n @ J_w)
    J = np.array(J).reshape(len(phi), len(motion.velocity))
    return np.array(phi), J * touched_dofs(motion.articulation, loop)


def held_rotation(R_0, R_1, axis: int, free: list[int], twist: int) -> tuple[np.ndarray, float]:
    """n and phi of a held rotation."""
    e = R_0[:, axis]
    if not free:
        x, y, z, w = Rotation.from_matrix(R_0.T @ R_1).as_quat()
        return e, 2.0 * np.sign(w) * (x, y, z)[axis]
    if len(free) == 1:
        a_0, a_1 = R_0[:, free[0]], R_1[:, free[0]]
        across = rigid.cross(a_0, a_1)
        sine = np.linalg.norm(across)
        half = 0.5 * np.arctan2(sine, a_0 @ a_1)
        return e, e @ across * (2.0 * np.sin(half) / sine if sine > 1e-9 else 1.0)
    if twist not in free:
        x, y, z, w = Rotation.from_matrix(R_0.T @ R_1).as_quat()
        a_0, a_1 = R_0[:, twist], R_1[:, twist]
        return (a_0 + a_1) / (1.0 + a_0 @ a_1), 2.0 * np.arctan2(np.sign(w) * (x, y, z)[twist], abs(w))
    swing = 3 - twist - axis
    a_1, b_0 = R_1[:, twist], R_0[:, swing]
    sign = np.sign(rigid.cross(R_0[:, twist], b_0) @ e)
    return sign * rigid.cross(a_1, b_0), sign * (a_1 @ b_0)


def bias(tree: Articulation, coordinates: np.ndarray, v: np.ndarray, *loops: LoopJoint) -> np.ndarray:
    """c (R) of the axes that loop joints hold, at given coordinates and a generalized velocity (N)."""
    if not loops:
        return np.zeros(0)
    rate = rigid.coordinates_rate(tree, coordinates, v)
    motion = rigid.motion_at(tree, coordinates, v)
    near = [(rigid.motion_at(tree, coordinates + time * rate, v), weight) for time, weight in STENCIL]
    return np.concatenate([bias_of(loop, motion, near) for loop in loops])


def bias_of(loop: LoopJoint, motion: rigid.Motion, near: list[tuple[rigid.Motion, float]]) -> np.ndarray:
    """c (R) of one loop joint, by the motion and those of the times of STENCIL with their weights."""
    tree, v = motion.articulation, motion.velocity
    c = sum(weight * held(one, loop)[1] @ v for one, weight in near)
    if any(axis.is_linear for axis in loop.free):
        return c
    one, two = frame_on(motion, loop.link0, loop.frame0), frame_on(motion, loop.link1, loop.frame1)
    meet = meeting_link(tree, loop)
    alpha = np.zeros(3) if meet == WORLD else motion.A_bias[meet, 3:]
    linear = one.R.T @ (two.a - one.a - rigid.cross(alpha, two.x - one.x))
    return np.array([linear[axis.index] if axis.is_linear else own for axis, own in zip(loop.held, c)])


# ---------------------------------------------------------------------------------------------------------------------
# Mechanisms that are closed
# ---------------------------------------------------------------------------------------------------------------------


def closing(tree: Articulation, state: State, loop: LoopJoint, displacement: Pose = Pose()) -> LoopJoint:
    """The loop joint with a second frame such that it is closed at a state, displaced along its free axes."""
    motion = rigid.motion(tree, state)
    one = frame_on(motion, loop.link0, loop.frame0)
    R, p = one.R @ displacement.rotation, one.x + one.R @ np.asarray(displacement.position)
    R_L, p_L = (np.eye(3), np.zeros(3)) if loop.link1 == WORLD else (motion.R_WL[loop.link1], motion.p_WL[loop.link1])
    place, turn = R_L.T @ (p - p_L), quaternion_from_matrix(R_L.T @ R)
    return replace(loop, frame1=Pose(tuple(map(float, place)), tuple(map(float, turn))))


def tangent(tree: Articulation, state: State, loops, fixed=()) -> State:
    """The state with the nearest velocities that keep loop joints closed, and rows (N) at rest that are fixed."""
    motion, v = rigid.motion(tree, state), rigid.velocity(tree, state)
    J = np.vstack([*(held(motion, loop)[1] for loop in loops), *fixed, np.zeros((0, len(v)))])
    v = v - np.linalg.pinv(J, rcond=1e-9) @ (J @ v)
    base = rigid.base_count(tree)
    return replace(state, joint_velocity=v[base:], root_velocity=v[:6] if base else None)

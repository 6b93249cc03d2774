"""Accurate trajectories of an articulation with drives, by an explicit Runge-Kutta method of eighth order.

Laws, with q and v public:
    force drive          effort = clamp(k (target - q) + d (velocity_target - v), max_force)
    acceleration drive   the same with k and d times the effective inertia 1 / (M^-1)_ii, armature included
    viscous friction     effort = -viscous v
    link damping         force = -linear_damping m v_C,  torque = -angular_damping I omega
Limits are not simulated: a trajectory that leaves one is refused, and so is static or dynamic friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from tests.oracles import rigid
from tests.oracles.dense_step import rotation_error
from tests.oracles.movement import turning
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind


@dataclass(frozen=True)
class Trajectory:
    """States at given times, T of them."""

    time: np.ndarray
    """[s], shape (T)"""
    joint_position: np.ndarray
    """Shape (T, D); revolute joints unwrapped, rotation vectors at most pi long."""
    joint_velocity: np.ndarray
    """Shape (T, D)."""
    link_pose: np.ndarray
    """xyz [m] and quaternion xyzw, shape (T, L, 7)."""
    link_velocity: np.ndarray
    """Of the centre of mass [m/s], then angular [rad/s], world axes, shape (T, L, 6)."""
    energy: np.ndarray
    """Kinetic with armature, potential of gravity [J], shape (T, 2)."""
    states: tuple[State, ...]
    """The same as states, T of them."""


def trajectory(
    articulation: Articulation,
    state: State,
    times: np.ndarray,
    *,
    gravity=rigid.GRAVITY,
    effort: np.ndarray | None = None,
    wrench: np.ndarray | None = None,
    tolerance: float = 1e-11,
) -> Trajectory:
    """Motion from a state at times[0], under a constant effort (D) and constant link wrenches (L, 6).

    `tolerance` is relative, and absolute on coordinates and velocities in SI units.
    """
    refuse_friction(articulation)
    times = np.asarray(times, float)
    start = rigid.coordinates(articulation, state)
    split = len(start)

    def rate(_, y):
        motion = rigid.motion_at(articulation, y[:split], y[split:])
        vdot = acceleration(motion, rigid.public_state(articulation, y[:split], y[split:]), gravity, effort, wrench)
        return np.concatenate([rigid.coordinates_rate(articulation, y[:split], y[split:]), vdot])

    y = np.concatenate([start, rigid.velocity(articulation, state)])
    solution = solve_ivp(rate, times[[0, -1]], y, "DOP853", t_eval=times, rtol=tolerance, atol=tolerance)
    if not solution.success:
        raise ArithmeticError(f"{articulation.path}: {solution.message}")
    return sampled(articulation, times, solution.y.T, split, gravity)


def acceleration(motion: rigid.Motion, state: State, gravity, effort=None, wrench=None) -> np.ndarray:
    """vdot (N) with drives, viscous friction and link damping, an effort (D) and link wrenches (L, 6) added."""
    base = rigid.base_count(motion.articulation)
    total = np.zeros(len(motion.velocity))
    total[base:] = drive_effort(motion, state) - viscosities(motion.articulation) * state.joint_velocity
    if effort is not None:
        total[base:] += effort
    wrenches = damping_wrench(motion)
    if wrench is not None:
        wrenches = wrenches + wrench
    return rigid.forward_dynamics(motion, total, wrenches, gravity)


def drive_effort(motion: rigid.Motion, state: State) -> np.ndarray:
    """Efforts of the drives, shape (D)."""
    dofs = motion.articulation.dofs
    inertia = np.ones(len(dofs))
    if any(dof.drive and dof.drive.kind is DriveKind.ACCELERATION for dof in dofs):
        inertia = effective_inertia(motion)
    efforts = np.zeros(len(dofs))
    for index, drive in enumerate(dof.drive for dof in dofs):
        if drive is None:
            continue
        law = drive.stiffness * (drive.position_target - state.joint_position[index])
        law += drive.damping * (drive.velocity_target - state.joint_velocity[index])
        law *= inertia[index] if drive.kind is DriveKind.ACCELERATION else 1.0
        efforts[index] = np.clip(law, -drive.max_force, drive.max_force)
    for joint, part in zip(motion.articulation.joints, rigid.dof_slices(motion.articulation)):
        if joint.has_vector and any(dof.drive for dof in joint.dofs):
            own = [index for index in range(part.start, part.stop) if not dofs[index].axis.is_linear]
            drives = [dofs[index].drive or Drive() for index in own]
            scale = [inertia[k] if drive.kind is DriveKind.ACCELERATION else 1.0 for k, drive in zip(own, drives)]
            k, d = (scale * np.array([getattr(drive, name) for drive in drives]) for name in ("stiffness", "damping"))
            target, rate = np.array([(drive.position_target, drive.velocity_target) for drive in drives]).T
            error, G = rotation_error(turning(joint), state.joint_position[own], target)
            law = d * (rate - state.joint_velocity[own]) - G.T @ (k * error)
            largest = np.array([drive.max_force for drive in drives])
            efforts[own] = np.clip(law, -largest, largest)
    return efforts


def effective_inertia(motion: rigid.Motion) -> np.ndarray:
    """1 / (M^-1)_ii of each joint dof, armature included, shape (D)."""
    return 1.0 / np.diag(np.linalg.inv(rigid.mass_matrix(motion)))[rigid.base_count(motion.articulation) :]


def damping_wrench(motion: rigid.Motion) -> np.ndarray:
    """Force and torque of link damping at the centres of mass, shape (L, 6)."""
    links = motion.articulation.links
    rates = np.array([[link.linear_damping] * 3 + [link.angular_damping] * 3 for link in links])
    if not rates.any():
        return np.zeros((len(links), 6))
    return -rates * (rigid.spatial_inertias(motion) @ motion.V[:, :, None])[:, :, 0]


def viscosities(articulation: Articulation) -> np.ndarray:
    """Viscous friction coefficient of each dof, shape (D)."""
    return np.array([dof.friction.viscous if dof.friction else 0.0 for dof in articulation.dofs])


def sampled(articulation: Articulation, times, y: np.ndarray, split: int, gravity) -> Trajectory:
    """The trajectory of solution rows y (T, coordinates + N)."""
    y = y.copy()
    for part in quaternion_slices(articulation):
        y[:, part] /= np.linalg.norm(y[:, part], axis=1, keepdims=True)
    states = tuple(rigid.public_state(articulation, row[:split], row[split:]) for row in y)
    motions = [rigid.motion_at(articulation, row[:split], row[split:]) for row in y]
    result = Trajectory(
        time=times,
        joint_position=np.array([state.joint_position for state in states]),
        joint_velocity=np.array([state.joint_velocity for state in states]),
        link_pose=np.array([motion.link_pose for motion in motions]),
        link_velocity=np.array([motion.V for motion in motions]),
        energy=np.array([[rigid.kinetic_energy(m), rigid.potential_energy(m, gravity)] for m in motions]),
        states=states,
    )
    refuse_limit_violation(articulation, result)
    return result


def quaternion_slices(articulation: Articulation) -> list[slice]:
    """Where quaternions are among the coordinates."""
    parts = [part for part in rigid.coordinate_slices(articulation) if part.stop - part.start == 4]
    return [slice(3, 7), *parts] if articulation.is_floating else parts


def refuse_friction(articulation: Articulation) -> None:
    """Raise where a dof has friction that is not smooth."""
    for dof in articulation.dofs:
        if dof.friction and (dof.friction.static_effort or dof.friction.dynamic_effort):
            raise ValueError(f"{dof.name}: dry friction is not simulated")


def refuse_limit_violation(articulation: Articulation, result: Trajectory) -> None:
    """Raise where a dof leaves its limits or exceeds its velocity limit."""
    for index, dof in enumerate(articulation.dofs):
        q, v = result.joint_position[:, index], result.joint_velocity[:, index]
        if dof.limit and (q.min() < dof.limit.lower or q.max() > dof.limit.upper):
            raise ValueError(f"{dof.name}: reaches [{q.min():g}, {q.max():g}], beyond its limits")
        if np.abs(v).max() > dof.velocity_limit:
            raise ValueError(f"{dof.name}: reaches a velocity of {np.abs(v).max():g}, beyond its limit")

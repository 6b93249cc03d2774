"""Energy that a run has gained though nothing put any in.

It can be told where all that acts only keeps energy or takes it: weights, hard limits and friction, dampers, springs
of drives towards targets that rest, and of soft limits, whose energy is counted. Then energy never rises, and what it
rises by above what it was before is made by the steps:
    gain = max over t of (min of E in the SWING records from t on - min of E up to t)
so that what a step misjudges of a fast swing, and has right again after it, does not count. It cannot be told where
motors, inputs, tendons, mimic joints, moving bases, gravity over time, elastic bodies or springs on rotation vectors
act, and where an animation moves bodies at times.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.joint import Dof, Joint
from warp_artic.description.scene import Scene
from warp_artic.sim.record.recording import Recording

SHARE = 0.01
"""Of the largest kinetic energy: a smaller gain is not spoken of."""
SWING = 32
"""Records."""
ROUNDING = {np.dtype(np.float32): 4e-6, np.dtype(np.float64): 1e-13}
"""Part of the largest energy that its sum may be off by."""


@dataclass(frozen=True)
class Gain:
    """Energy from nowhere in an environment."""

    environment: int
    energy: float
    """[J]"""
    share: float
    """By the largest kinetic energy."""
    time: float
    """When it has first passed SHARE [s]."""


def unexplained_gain(scene: Scene, recording: Recording) -> Gain | None:
    """The largest by its share, or None where there is none above SHARE, or where it cannot be told.

    Args:
        scene: What was simulated, under no inputs but start states.
        recording: Of every step, or of some.
    """
    if not can_be_told(scene) or recording.time.size < 2:
        return None
    stored = recording.energy.astype(float)
    kept = spring_energy(scene, recording)
    if kept is None:
        return None
    total = stored.sum(axis=-1) + kept
    later = np.concatenate([total, np.full((SWING, total.shape[1]), np.inf)])
    later = np.lib.stride_tricks.sliding_window_view(later, SWING + 1, axis=0).min(axis=-1)
    rise = later - np.minimum.accumulate(total, axis=0)
    kinetic = stored[..., 0].max(axis=0)
    rounding = ROUNDING[recording.energy.dtype] * np.abs(stored).max(axis=(0, 2))
    allowed = SHARE * kinetic + rounding
    shares = np.where(rise.max(axis=0) > allowed, rise.max(axis=0) / np.maximum(kinetic, 1e-300), 0.0)
    worst = int(np.argmax(shares))
    if shares[worst] == 0.0:
        return None
    first = int(np.argmax(rise[:, worst] > allowed[worst]))
    return Gain(worst, float(rise[:, worst].max()), float(shares[worst]), float(recording.time[first]))


def can_be_told(scene: Scene) -> bool:
    """Whether nothing that acts in a scene can give energy, but springs whose energy is known."""
    if scene.elastic_bodies or scene.mesh_tendons or scene.gravity_tracks or scene.hand_overs:
        return False
    return all(map(_keeps, scene.articulations))


def _keeps(tree: Articulation) -> bool:
    couplings = (*tree.fixed_tendons, *tree.spatial_tendons, *tree.mimics, *tree.constraints)
    if tree.base_motion is not None or couplings:
        return False
    return all(_has_energy(joint) for joint in tree.joints)


def _has_energy(joint: Joint) -> bool:
    """Whether the springs of a joint are on dofs that are coordinates, and rest."""
    rotations = sum(not dof.axis.is_linear for dof in joint.dofs)
    cone = joint.cone_limit
    if cone is not None and cone.stiffness > 0.0:
        return False
    for dof in joint.dofs:
        alone = dof.axis.is_linear or rotations == 1
        limit, drive = dof.limit, dof.drive
        if limit is not None and limit.stiffness > 0.0 and not alone:
            return False
        if drive is not None and not _rests(drive, alone):
            return False
    return True


def _rests(drive: Drive, alone: bool) -> bool:
    """Whether a drive is a spring towards a fixed target, and a damper."""
    if drive.gain_tracks:
        return False
    if drive.stiffness == 0.0 and drive.damping == 0.0:
        return True
    moves = drive.position_track is not None or drive.velocity_track is not None or drive.velocity_target != 0.0
    bounded = math.isfinite(drive.max_force) or math.isfinite(drive.max_impulse) or drive.has_envelope
    spring = drive.stiffness != 0.0
    return not moves and not (spring and (bounded or not alone or drive.kind is DriveKind.ACCELERATION))


def spring_energy(scene: Scene, recording: Recording) -> np.ndarray | None:
    """Of drives and soft limits [J], shape (R, E).

    None where a joint with a spring has passed two turns, and goes on from there as if it had not.
    """
    dofs = {dof.name: dof for tree in scene.articulations for dof in tree.dofs}
    result = np.zeros(recording.energy.shape[:2])
    for column, name in enumerate(recording.joint_names):
        q = recording.joint_position[:, :, column].astype(float)
        stored = _stored(dofs[name], q)
        turns = not dofs[name].axis.is_linear and np.abs(np.diff(q, axis=0)).max(initial=0.0) > 2.0 * math.pi
        if turns and stored.any():
            return None
        result += stored
    return result


def _stored(dof: Dof, q: np.ndarray) -> np.ndarray:
    """In the springs of a dof at positions q."""
    stored = np.zeros(q.shape)
    if dof.drive is not None:
        stored += 0.5 * dof.drive.stiffness * (dof.drive.position_target - q) ** 2
    if dof.limit is not None and dof.limit.stiffness > 0.0:
        excess = np.maximum(np.maximum(dof.limit.lower - q, q - dof.limit.upper), 0.0)
        stored += 0.5 * dof.limit.stiffness * excess**2
    return stored

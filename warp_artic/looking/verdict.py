"""What a run must satisfy, measured on its recording, beside what is allowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.description.joint import Dof
from warp_artic.description.scene import Scene
from warp_artic.looking.energy_balance import SHARE, can_be_told, unexplained_gain
from warp_artic.looking.limit_excess import limit_excesses
from warp_artic.sim.record.recording import SHAPES, Recording

LIMIT, MIMIC, GAP, ANGLE, OVERLAP = 1e-3, 1e-3, 1e-4, 1e-3, 1e-3
"""Allowed: by which joints pass hard limits [rad or m], by which hard mimic joints are off [rad or m], by which loops
are open [m] and [rad], and by which solids overlap [m]."""
EXCESS = 1e-3
"""Allowed share by which an effort or a speed passes its maximum."""
BALANCE = {"float32": 1e-3, "float64": 1e-8}
"""Allowed: the sum of all parts of the effort on a dof, by the largest of them on the whole mechanism."""
PARTS = tuple(name for name in SHAPES if name.startswith("joint_") and name.endswith("_force"))
"""The parts of the effort on a dof, which add up to zero."""


@dataclass(frozen=True)
class Finding:
    """One line of the verdict."""

    what: str
    found: float
    allowed: float
    unit: str = ""
    where: str = ""
    """At which joint, loop or pair of colliders it is largest."""
    time: float | None = None
    """When it is largest [s]."""

    @property
    def holds(self) -> bool:
        """Whether it is within what is allowed; not when it is no number."""
        return self.found <= self.allowed


def verdict(scene: Scene | None, recording: Recording) -> list[Finding]:
    """What is found of a recording, in the order of a report; without a scene only what needs none."""
    return [one for one in _findings(scene, recording) if one is not None]


def _findings(scene: Scene | None, recording: Recording) -> Iterator[Finding | None]:
    numbers = [getattr(recording, name) for name in SHAPES]
    lost = sum(int((~np.isfinite(values)).sum()) for values in numbers)
    yield Finding("numbers that are not finite", lost, 0)
    if scene is not None:
        dofs = {dof.name: dof for tree in scene.articulations for dof in tree.dofs}
        yield _limits(scene, recording)
        yield _speeds(dofs, recording)
        yield _efforts(dofs, recording)
        yield _mimics(scene, recording)
    yield from _loops(recording)
    yield _overlap(recording)
    yield _balance(recording)
    if scene is not None and recording.energy.size and scene.articulations and can_be_told(scene):
        gain = unexplained_gain(scene, recording)
        share, time = (gain.share, gain.time) if gain else (0.0, None)
        yield Finding("energy from nowhere, by the largest kinetic energy", share, SHARE, "", "", time)


def _worst(
    what: str, excess: np.ndarray, names: Sequence[str], allowed: float, unit: str | Sequence[str], time: np.ndarray
) -> Finding | None:
    """The largest of an excess (R, E, N) and where it is, in one unit or that of each entry; None where N is 0."""
    if not excess.size:
        return None
    excess = np.where(np.isfinite(excess), excess, np.inf)
    record, _, column = np.unravel_index(int(np.argmax(excess)), excess.shape)
    found = max(float(excess[record, :, column].max()), 0.0)
    unit = unit if isinstance(unit, str) else unit[column]
    where, when = (names[column], float(time[record])) if found > 0.0 else ("", None)
    return Finding(what, found, allowed, unit, where, when)


def _limits(scene: Scene, recording: Recording) -> Finding | None:
    found = [one for one in limit_excesses(scene, recording) if not one.is_soft]
    if not found:
        return None
    excess = np.stack([one.values for one in found], axis=-1)
    units = ["m" if one.is_linear else "rad" for one in found]
    return _worst("passed a hard joint limit", excess, [one.name for one in found], LIMIT, units, recording.time)


def _speeds(dofs: dict[str, Dof], recording: Recording) -> Finding | None:
    if not recording.joint_velocity.size:
        return None
    columns = [
        column
        for column, name in enumerate(recording.joint_names)
        if name in dofs and np.isfinite(dofs[name].velocity_limit) and dofs[name].velocity_limit > 0.0
    ]
    names = [recording.joint_names[column] for column in columns]
    most = np.array([dofs[name].velocity_limit for name in names])
    excess = np.abs(recording.joint_velocity[:, :, columns].astype(float)) / most - 1.0
    return _worst("passed a velocity limit, by its share", excess, names, EXCESS, "", recording.time)


def _efforts(dofs: dict[str, Dof], recording: Recording) -> Finding | None:
    if not recording.joint_drive_force.size:
        return None
    columns = [
        column
        for column, name in enumerate(recording.joint_names)
        if name in dofs and (drive := dofs[name].drive) is not None and 0.0 < drive.max_force < np.inf
    ]
    names = [recording.joint_names[column] for column in columns]
    most = np.array([dofs[name].drive.max_force for name in names])  # type: ignore[union-attr]
    excess = np.abs(recording.joint_drive_force[:, :, columns].astype(float)) / most - 1.0
    return _worst("passed the largest effort of a drive, by its share", excess, names, EXCESS, "", recording.time)


def _mimics(scene: Scene, recording: Recording) -> Finding | None:
    if not recording.mimic_error.size:
        return None
    hard = {
        mimic.name: "m" if tree.dofs[mimic.dofs[0]].axis.is_linear else "rad"
        for tree in scene.articulations
        for mimic in tree.mimics
        if mimic.enabled and mimic.is_hard
    }
    columns = [column for column, name in enumerate(recording.mimic_names) if name in hard]
    names = [recording.mimic_names[column] for column in columns]
    errors = np.abs(recording.mimic_error[:, :, columns].astype(float))
    units = [hard[name] for name in names]
    return _worst("error of a hard mimic joint", errors, names, MIMIC, units, recording.time)


def _loops(recording: Recording) -> Iterator[Finding | None]:
    if not recording.loop_error.size:
        return
    errors = np.abs(recording.loop_error.astype(float))
    if recording.loop_broken.size:
        errors = np.where(recording.loop_broken[..., None] > 0, 0.0, errors)
    yield _worst("gap of a loop joint", errors[..., 0], recording.loop_names, GAP, "m", recording.time)
    yield _worst("angle of a loop joint", errors[..., 1], recording.loop_names, ANGLE, "rad", recording.time)


def _overlap(recording: Recording) -> Finding | None:
    if not recording.contact_gap.size:
        return None
    names = [name.rpartition(":")[0].replace(":", " and ") for name in recording.contact_names]
    return _worst("overlap of solids", -recording.contact_gap.astype(float), names, OVERLAP, "m", recording.time)


def _balance(recording: Recording) -> Finding | None:
    """Sums of all parts of the efforts, where all parts are recorded."""
    parts = [getattr(recording, name) for name in PARTS]
    if not all(part.size for part in parts):
        return None
    total = np.abs(sum(part.astype(float) for part in parts))
    largest = np.max([np.abs(part).max(axis=2, keepdims=True) for part in parts], axis=0)
    share = np.where(largest > 0.0, total / np.where(largest > 0.0, largest, 1.0), 0.0)
    allowed = BALANCE["float64" if recording.joint_position.dtype == np.float64 else "float32"]
    what = "sum of all parts of an effort, by the largest part"
    return _worst(what, share, recording.joint_names, allowed, "", recording.time)

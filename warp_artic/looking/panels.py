"""What a report plots over time: values, with the bounds and targets that they have."""

from __future__ import annotations

import math
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from warp_artic.description.joint import Dof
from warp_artic.description.scene import Scene
from warp_artic.looking.verdict import PARTS
from warp_artic.sim.record.recording import Recording


@dataclass(frozen=True, eq=False)
class Line:
    """One curve: values at the frames of a run."""

    name: str
    values: np.ndarray
    run: int
    """Which of the runs it is of."""
    is_target: bool = False


@dataclass(eq=False)
class Panel:
    """Curves on common axes."""

    group: str
    """The heading that it is under."""
    title: str
    unit: str
    lower: float = -math.inf
    """Bounds that are drawn, where they are finite."""
    upper: float = math.inf
    lines: list[Line] = field(default_factory=list)


def panels(scene: Scene | None, runs: list[tuple[Recording, np.ndarray]], environment: int) -> list[Panel]:
    """All panels of some recordings over one scene; those of one quantity and entry are overlaid.

    Args:
        scene: What says limits and targets, if there is one.
        runs: Recordings, each with the records that are plotted.
        environment: Of all of them.
    """
    found: dict[tuple[str, str], Panel] = {}
    common = _common_folder(runs[0][0])
    for run, (recording, rows) in enumerate(runs):
        for panel in _panels(scene, recording, rows, environment, run):
            panel.title = panel.title.removeprefix(common)
            known = found.setdefault((panel.group, panel.title), panel)
            if known is not panel:
                known.lines += panel.lines
    return list(found.values())


def _common_folder(recording: Recording) -> str:
    """What the paths of all that is plotted begin with, and titles leave out."""
    names = [*recording.joint_names, *recording.tendon_names, *recording.mimic_names, *recording.loop_names]
    prims = [name.partition(":")[0] for name in names if name.startswith("/")]
    folder = posixpath.commonpath([posixpath.dirname(one) for one in prims]) if prims else ""
    return f"{folder.rstrip('/')}/"


def _panels(scene: Scene | None, recording: Recording, rows: np.ndarray, environment: int, run: int) -> Iterator[Panel]:
    """The panels of one run."""

    def of(name: str) -> np.ndarray:
        return getattr(recording, name)[rows, environment].astype(float)

    energy = of("energy")
    if energy.shape[1]:
        panel = Panel("Energy", "energy", "J")
        for name, values in (("kinetic", energy[:, 0]), ("potential", energy[:, 1]), ("total", energy.sum(axis=1))):
            panel.lines.append(Line(name, values, run))
        yield panel
    yield from _joints(scene, recording, of, recording.time[rows], run)
    yield from _tendons(scene, recording, of, run)
    for group, quantity, names, unit in (
        ("Mimic joints", "mimic_error", recording.mimic_names, "rad or m"),
        ("Distances", "distance_length", recording.distance_names, "m"),
        ("Tendons on meshes", "mesh_tendon_length", recording.mesh_tendon_names, "m"),
        ("Tendons on meshes", "mesh_tendon_tension", recording.mesh_tendon_names, "N"),
    ):
        values = of(quantity)
        for column, name in enumerate(names if values.shape[1] else ()):
            label = quantity.partition("_")[2].replace("_", " ")
            yield Panel(group, f"{name}  {label}", unit, lines=[Line(label, values[:, column], run)])
    if recording.loop_error.size:
        errors = of("loop_error")
        for column, name in enumerate(recording.loop_names):
            yield Panel("Loop joints", f"{name}  gap", "m", lines=[Line("gap", errors[:, column, 0], run)])
            yield Panel("Loop joints", f"{name}  angle", "rad", lines=[Line("angle", errors[:, column, 1], run)])
    yield from _contacts(of, run)


def _joints(scene: Scene | None, recording: Recording, of, time: np.ndarray, run: int) -> Iterator[Panel]:
    """Positions against limits and targets, and efforts in parts."""
    trees = scene.articulations if scene is not None else ()
    dofs = {dof.name: dof for tree in trees for dof in tree.dofs}
    # Limits of three rotations bound a twist and swings, not positions.
    balls = [joint.rotations for tree in trees for joint in tree.joints if len(joint.rotations) == 3]
    swung = {dof.name for rotations in balls for dof in rotations}
    positions, velocities = of("joint_position"), of("joint_velocity")
    parts = {name: of(name) for name in PARTS}
    for column, name in enumerate(recording.joint_names):
        dof = dofs.get(name)
        is_linear = dof is not None and dof.axis.is_linear
        scale, unit = (1.0, "m") if is_linear else (180.0 / math.pi, "deg")
        panel = Panel("Joints", f"{name}  position", unit)
        if dof is not None and dof.limit is not None and name not in swung:
            panel.lower, panel.upper = scale * dof.limit.lower, scale * dof.limit.upper
        panel.lines.append(Line("position", scale * positions[:, column], run))
        target = _target(dof, time)
        if target is not None and run == 0:
            panel.lines.append(Line("target", scale * target, run, is_target=True))
        yield panel
        if velocities.shape[1]:
            panel = Panel("Joints", f"{name}  velocity", f"{unit}/s")
            if dof is not None and math.isfinite(dof.velocity_limit):
                panel.upper = scale * dof.velocity_limit
                panel.lower = -panel.upper
            panel.lines.append(Line("velocity", scale * velocities[:, column], run))
            yield panel
        acting = {key: values[:, column] for key, values in parts.items() if values.shape[1]}
        acting = {key: values for key, values in acting.items() if np.abs(values).max(initial=0.0) > 0.0}
        if acting:
            panel = Panel("Joints", f"{name}  effort", "N" if is_linear else "N m")
            if dof is not None and dof.drive is not None and math.isfinite(dof.drive.max_force):
                panel.upper = dof.drive.max_force
                panel.lower = -panel.upper
            for key, values in acting.items():
                panel.lines.append(Line(key.removeprefix("joint_").removesuffix("_force"), values, run))
            yield panel


def _target(dof: Dof | None, time: np.ndarray) -> np.ndarray | None:
    """The position target of a dof as the stage has it, where it is driven to one."""
    if dof is None or dof.drive is None or dof.drive.stiffness == 0.0:
        return None
    track = dof.drive.position_track
    return np.array([dof.drive.position_target if track is None else track.at(one) for one in time.tolist()])


def _tendons(scene: Scene | None, recording: Recording, of, run: int) -> Iterator[Panel]:
    """Lengths between their limits, and forces."""
    limits: dict[str, tuple[float, float]] = {}
    for tree in scene.articulations if scene is not None else ():
        limits |= {tendon.name: (tendon.lower, tendon.upper) for tendon in tree.fixed_tendons}
        for tendon in tree.spatial_tendons:
            limits |= {name: (leaf.lower, leaf.upper) for leaf, name in zip(tendon.leaves, tendon.leaf_names)}
    lengths, forces = of("tendon_length"), of("tendon_force")
    for column, name in enumerate(recording.tendon_names):
        if lengths.shape[1]:
            low, high = limits.get(name, (-math.inf, math.inf))
            yield Panel("Tendons", f"{name}  length", "m", low, high, [Line("length", lengths[:, column], run)])
        if forces.shape[1]:
            yield Panel("Tendons", f"{name}  force", "N", lines=[Line("force", forces[:, column], run)])


def _contacts(of, run: int) -> Iterator[Panel]:
    """The largest overlap, and the sum of the sizes of all forces."""
    gaps, forces = of("contact_gap"), of("contact_force")
    if gaps.shape[1]:
        overlap = np.maximum(-gaps.min(axis=1), 0.0)
        yield Panel("Contacts", "largest overlap", "m", lines=[Line("overlap", overlap, run)])
    if forces.shape[1]:
        total = np.linalg.norm(forces, axis=-1).sum(axis=1)
        yield Panel("Contacts", "sum of all contact forces", "N", lines=[Line("force", total, run)])

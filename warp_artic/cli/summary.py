"""What is said at the end of a run."""

from __future__ import annotations

import math

import numpy as np

from warp_artic.description.diagnostic import Severity
from warp_artic.description.scene import Scene
from warp_artic.sim.recording import Recording

SHOWN = 3
"""How many of a kind are shown; `check` lists all warnings."""


def summary(stage: str, run, wrote: list[str]) -> str:
    """Speed, energy, worst joint-limit violation, warnings and files of a run."""
    simulation, recording = run.simulation, run.recording
    settings, scene = simulation.settings, simulation.scene
    steps = recording.time.size - 1
    environments = f", {simulation.environments} environments" if simulation.environments > 1 else ""
    rows = [
        ("mechanism", f"{_articulations(scene)}, {len(scene.link_names)} links, {len(scene.dof_names)} dofs"),
        (
            "run",
            f"{steps} steps of {_step(settings.dt)} s = {steps * settings.dt:g} s, "
            f"{settings.solver}, {settings.precision}, {simulation.device}{environments}",
        ),
        ("speed", _speed(run, steps)),
        ("energy", _energy(recording)),
        ("limits", _limits(scene, recording)),
        *_warnings(stage, scene),
        *(("wrote", name) for name in wrote),
    ]
    return "\n".join(f"{name:<11}{text}" for name, text in rows)


def _articulations(scene: Scene) -> str:
    count = len(scene.articulations)
    return f"{count} articulation{'' if count == 1 else 's'}"


def _step(dt: float) -> str:
    """A time step as a fraction where it is one."""
    rate = round(1.0 / dt)
    return f"1/{rate}" if rate > 1 and math.isclose(dt * rate, 1.0, rel_tol=1e-9) else f"{dt:g}"


def _speed(run, steps: int) -> str:
    """Steps a second over all environments, recording included."""
    if steps == 0:
        return "no step"
    rate = steps * run.simulation.environments / run.seconds
    times = steps * run.simulation.settings.dt / run.seconds
    return f"{rate:,.0f} steps/s, {times:,.1f} times real time, each step recorded"


def _energy(recording: Recording) -> str:
    """Total energy at both ends, and its largest change against the largest kinetic energy."""
    total, kinetic = recording.energy.sum(axis=-1), recording.energy[..., 0]
    change = np.abs(total - total[0]).max(axis=0)
    worst = int(np.argmax(change))
    largest = kinetic[:, worst].max()
    share = f", {change[worst] / largest:.2g} of the largest kinetic" if largest > 0 else ""
    return (
        f"{total[0, worst]:.6g} J at the start, {total[-1, worst]:.6g} J at the end; "
        f"largest change {change[worst]:.3g} J{share}"
    )


def _limits(scene: Scene, recording: Recording) -> str:
    """The worst violation of a joint limit."""
    dofs = {dof.name: dof for tree in scene.articulations for dof in tree.dofs if dof.limit is not None}
    worst, where = 0.0, None
    for column, name in enumerate(recording.joint_names):
        if name in dofs:
            limit, q = dofs[name].limit, recording.joint_position[:, :, column].astype(float)
            excess = float(np.maximum(limit.lower - q, q - limit.upper).max())
            if excess > worst:
                worst, where = excess, dofs[name]
    if not dofs:
        return "no joint has any"
    if where is None:
        return f"all {len(dofs)} hold"
    amount = f"{worst:.3g} m" if where.axis.is_linear else f"{math.degrees(worst):.3g} deg"
    return f"worst violation {amount} at {where.name}"


def _warnings(stage: str, scene: Scene) -> list[tuple[str, str]]:
    """The first warnings of the reader, and how many there are."""
    found = [str(item) for item in scene.diagnostics if item.severity is not Severity.NOTE]
    rows = [("warnings", f"{len(found)}" + (f", listed by: warp-artic check {stage}" if found else ""))]
    return rows + [("", text) for text in found[:SHOWN]]

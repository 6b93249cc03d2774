"""What is said at the end of a run."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from warp_artic.description.consequences import group_findings, headline
from warp_artic.description.diagnostic import Severity
from warp_artic.description.scene import Scene
from warp_artic.looking.energy_balance import unexplained_gain
from warp_artic.looking.limit_excess import limit_excesses
from warp_artic.sim.record.recording import OTHER_MEASURES, Recording

SHOWN = 3
"""How many of a kind are shown; `check` lists all warnings."""


SIDES = {-1: "below its limits", 0: "within its limits", 1: "above its limits"}
"""Limit states in words."""


def summary(stage: str, run, wrote: list[str]) -> str:
    """What was run, how fast, how well limits and couplings hold, largest forces, warnings and files."""
    return "\n".join(f"{name:<11}{text}" for name, text in _rows(stage, run, wrote))


def as_json(stage: str, run, wrote: list[str]) -> dict:
    """The same as plain values: numbers of the run, failures, warnings by rule, and the sentences of the summary."""
    simulation, scene = run.simulation, run.simulation.scene
    settings = simulation.settings
    warnings = [item for item in scene.diagnostics if item.severity is not Severity.NOTE]
    sentences: dict[str, list[str]] = {}
    name = ""
    for title, text in _rows(stage, run, wrote):
        name = title or name
        sentences.setdefault(name, []).append(text)
    return {
        "stage": stage,
        "articulations": len(scene.articulations),
        "links": len(scene.link_names),
        "dofs": len(scene.dof_names),
        "environments": simulation.environments,
        "steps": run.steps,
        "dt": settings.dt,
        "solver": settings.solver,
        "integrator": settings.integrator,
        "precision": settings.precision,
        "device": str(simulation.device),
        "seconds": run.seconds,
        "is_interrupted": run.is_interrupted,
        "unresolved_steps": int(simulation.unresolved_steps().sum()),
        "failures": [str(failure) for failure in simulation.failures()],
        "broken_loops": [str(broken) for broken in simulation.broken_loops()],
        "not_simulated": headline(scene.diagnostics),
        "warnings": dict(Counter(item.rule for item in warnings)),
        "wrote": wrote,
        "summary": sentences,
    }


def _rows(stage: str, run, wrote: list[str]) -> list[tuple[str, str]]:
    """What is said, by what it is about; lines without a title belong to the one before."""
    simulation, recording = run.simulation, run.recording
    settings, scene = simulation.settings, simulation.scene
    steps = run.steps
    environments = f", {simulation.environments} environments" if simulation.environments > 1 else ""
    left_out = headline(scene.diagnostics)
    ended = ", interrupted" if run.is_interrupted else ""
    return [
        *([("warning", left_out)] if left_out else []),
        ("mechanism", ", ".join(_parts(scene))),
        (
            "run",
            f"{counted(steps, 'step')} of {_step(settings.dt)} s = {steps * settings.dt:g} s{ended}, "
            f"{settings.solver}, {settings.precision}, {simulation.device}{environments}",
        ),
        ("speed", _speed(run, steps)),
        *(() if recording is None else _measures(scene, recording)),
        *_gained(run),
        *_unresolved(simulation),
        *_missed(simulation),
        *_crowded(simulation),
        *_touching(simulation),
        *_unconverged(simulation),
        *_sleep(simulation),
        *_warnings(stage, scene),
        *(("wrote", name) for name in wrote),
    ]


def _measures(scene: Scene, recording: Recording) -> list[tuple[str, str]]:
    """What is found in the records."""
    return [
        *((("energy", _energy(recording)), ("limits", _limits(scene, recording))) if scene.articulations else ()),
        *_forces(scene, recording),
        *_tendons(scene, recording),
        *_mimics(scene, recording),
        *_loops(recording),
        *_contacts(recording),
        *_others(recording),
        *_meshes(recording),
    ]


def _parts(scene: Scene) -> list[str]:
    """How much there is of everything."""
    parts = []
    if scene.articulations:
        count = len(scene.articulations)
        parts += [counted(count, "articulation"), counted(len(scene.link_names), "link")]
        parts.append(counted(len(scene.dof_names), "dof"))
    if scene.elastic_bodies:
        bodies, tendons = len(scene.elastic_bodies), len(scene.mesh_tendons)
        elements = sum(len(body.elements) for body in scene.elastic_bodies)
        parts.append(f"{bodies} elastic {'body' if bodies == 1 else 'bodies'} of {counted(elements, 'element')}")
        parts.append(f"{counted(tendons, 'tendon')} on meshes")
    return parts


def counted(count: int, noun: str) -> str:
    """A number and what it counts."""
    return f"{count} {noun}{'s' * (count != 1)}"


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
    recorded = "frames written to clips" if run.recording is None else "each step recorded"
    return f"{rate:,.0f} steps/s, {times:,.1f} times real time, {recorded}"


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
    found = [(one, float(one.values.max())) for one in limit_excesses(scene, recording)]
    if not found:
        return "no joint has any"
    worst, excess = max(found, key=lambda entry: entry[1])
    if not excess > 0.0:
        return "the only one holds" if len(found) == 1 else f"all {len(found)} hold"
    amount = f"{excess:.3g} m" if worst.is_linear else f"{math.degrees(excess):.3g} deg"
    return f"worst violation {amount} at {worst.name}"


def _forces(scene: Scene, recording: Recording) -> list[tuple[str, str]]:
    """The largest force of each kind and on which dof, and the largest loads of joints, where forces are recorded."""
    linear = {dof.name for tree in scene.articulations for dof in tree.dofs if dof.axis.is_linear}
    rows = []
    for part in ("drive", "limit", "friction", "tendon", "mimic"):
        forces = np.abs(getattr(recording, f"joint_{part}_force")).max(axis=(0, 1), initial=0.0)
        if forces.any():
            largest = int(np.argmax(forces))
            name = recording.joint_names[largest]
            unit = "N" if name in linear else "N m"
            rows.append(("" if rows else "forces", f"{part} at most {forces[largest]:.4g} {unit} at {name}"))
    for part, unit in ((slice(0, 3), "N"), (slice(3, 6), "N m")):
        loads = np.linalg.norm(recording.link_incoming_joint_force[..., part], axis=-1).max(axis=(0, 1), initial=0.0)
        if loads.any():
            link = int(np.argmax(loads))
            name = recording.link_names[link]
            rows.append(("" if rows else "forces", f"joints carry at most {loads[link]:.4g} {unit} into {name}"))
    return rows


def _tendons(scene: Scene, recording: Recording) -> list[tuple[str, str]]:
    """Length, force and side of the limits of each tendon at the end of the first environment."""
    off = {tendon.name for tree in scene.articulations for tendon in tree.fixed_tendons if not tendon.enabled}
    for tree in scene.articulations:
        for tendon in tree.spatial_tendons:
            off |= set() if tendon.enabled else set(tendon.leaf_names)
    rows = []
    for column, name in enumerate(recording.tendon_names):
        length, force, side = (
            values[-1, 0, column]
            for values in (recording.tendon_length, recording.tendon_force, recording.tendon_limit_state)
        )
        text = f"{name}  {length:.6g} m, {force:.4g} N, {SIDES[int(side)]}"
        least = recording.tendon_mobility[..., column].min() if recording.tendon_mobility.size else math.inf
        if name in off:
            text += ", switched off"
        elif least <= 0.0:
            text += f"; can add energy: J M^-1 P is down to {least:.3g} 1/kg"
        rows.append(("tendon", text))
    return rows


def _contacts(recording: Recording) -> list[tuple[str, str]]:
    """How many pairs of colliders can touch, the largest overlap, and the largest force where forces are recorded."""
    names = [name.rpartition(":")[0] for name in recording.contact_names]
    firsts = [point for point, name in enumerate(names) if point == 0 or name != names[point - 1]]
    if not names:
        return []
    text = f"{counted(len(firsts), 'pair')} of colliders can touch"
    if recording.contact_gap.size:
        gaps = recording.contact_gap.min(axis=(0, 1))
        point = int(np.argmin(gaps))
        overlaps = gaps[point] < 0.0
        text += f"; overlap at most {-gaps[point]:.3g} m, {_pair(names[point])}" if overlaps else "; none overlap"
    rows = [("contacts", text)]
    if recording.contact_force.any():
        forces = np.linalg.norm(np.add.reduceat(recording.contact_force, firsts, axis=2), axis=-1).max(axis=(0, 1))
        pair = int(np.argmax(forces))
        rows.append(("", f"force at most {forces[pair]:.4g} N, {_pair(names[firsts[pair]])}"))
    return rows


def _pair(name: str) -> str:
    return "between {} and {}".format(*name.split(":")[:2])


def _others(recording: Recording) -> list[tuple[str, str]]:
    """What is measured of constraints of further kinds, at the end of the first environment."""
    rows = []
    kinds = dict.fromkeys(name.partition("_")[0] for name in OTHER_MEASURES)
    for kind in (kind for kind in kinds if kind != "contact"):
        for column, name in enumerate(getattr(recording, f"{kind}_names")):
            values = {one: getattr(recording, one)[:, 0] for one in OTHER_MEASURES if one.startswith(f"{kind}_")}
            told = [
                f"{one.partition('_')[2]} {values[one][-1, column]:.6g} {OTHER_MEASURES[one].unit}".rstrip()
                for one in values
                if values[one].size
            ]
            rows.append((kind, f"{name}  {', '.join(told)}"))
    return rows


def _mimics(scene: Scene, recording: Recording) -> list[tuple[str, str]]:
    """The value of the constraint of each mimic joint, and its force where recorded, in the first environment."""
    rows = []
    dofs = [(mimic, tree.dofs[mimic.dofs[0]]) for tree in scene.articulations for mimic in tree.mimics]
    for column, (mimic, dof) in enumerate(dofs):
        error = recording.mimic_error[:, 0, column]
        unit, force_unit = ("m", "N") if dof.axis.is_linear else ("rad", "N m")
        text = f"{mimic.name}  C {error[-1]:.3g} {unit}, at most {np.abs(error).max():.3g} {unit}"
        if recording.mimic_force.size:
            text += f"; {recording.mimic_force[-1, 0, column]:.4g} {force_unit}"
        rows.append(("mimic", text if mimic.enabled else f"{text}; switched off"))
    return rows


def _loops(recording: Recording) -> list[tuple[str, str]]:
    """By how much each loop joint was open at most, its load where recorded, or when it broke, in environment 0."""
    rows = []
    for column, name in enumerate(recording.loop_names if recording.loop_error.size else ()):
        broken = recording.loop_broken[:, 0, column]
        holds = recording.loop_error[: int(np.argmax(broken)) if broken.any() else None, 0, column]
        gap, angle = holds.max(axis=0, initial=0.0)
        text = f"{name}  open by at most {gap:.3g} m, {angle:.3g} rad"
        if broken.any():
            text += f"; broke before {recording.time[np.argmax(broken)]:.4g} s"
        elif recording.loop_force.size:
            force, torque = np.linalg.norm(recording.loop_force[-1, 0, column].reshape(2, 3), axis=1)
            text += f"; {force:.4g} N, {torque:.4g} N m"
        rows.append(("loop", text))
    return rows


def _meshes(recording: Recording) -> list[tuple[str, str]]:
    """How far nodes of each elastic body got, and length and tension of each tendon, in the first environment."""
    rows = []
    nodes, points = np.array(recording.mesh_nodes), recording.mesh_points[:, 0]
    for path in dict.fromkeys(recording.mesh_nodes):
        way = np.linalg.norm(points[:, nodes == path] - points[0, nodes == path], axis=-1)
        rows.append(("body", f"{path}  nodes move at most {way.max():.4g} m, {way[-1].max():.4g} m at the end"))
    for column, name in enumerate(recording.mesh_tendon_names):
        length, tension = (
            values[:, 0, column] for values in (recording.mesh_tendon_length, recording.mesh_tendon_tension)
        )
        text = f"{name}  {length[-1]:.6g} m, {tension[-1]:.4g} N, at most {tension.max():.4g} N"
        rows.append(("tendon", text))
    return rows


def _gained(run) -> list[tuple[str, str]]:
    """Energy that nothing put in, where that can be told."""
    if run.recording is None or run.is_driven:
        return []
    gain = unexplained_gain(run.simulation.scene, run.recording)
    if gain is None:
        return []
    where = f" in environment {gain.environment}" if run.simulation.environments > 1 else ""
    text = (
        f"warning: {gain.energy:.3g} J{where} are added by discretisation error, {gain.share:.2g} of the largest "
        f"kinetic, from {gain.time:.4g} s on; use a shorter --dt"
    )
    return [("energy", text)]


def _missed(simulation) -> list[tuple[str, str]]:
    """The largest residual of the contact law."""
    missed = simulation.state.contact_residual.numpy()
    return [("residual", f"of the contact law at most {missed.max():.2g} m/s")] if missed.size else []


def _crowded(simulation) -> list[tuple[str, str]]:
    """Contact points beyond the capacity of the solver."""
    points = int(simulation.state.contact_crowded.numpy().any(axis=-1).sum())
    return [("contacts", f"no room for {points} contact points, which had no effect")] if points else []


def _touching(simulation) -> list[tuple[str, str]]:
    """What touches at the end of contacts that are solved by islands."""
    if simulation.scene.island_contacts is None:
        return []
    found = simulation.contacts()
    text = f"{len(found)} pair{'s' * (len(found) != 1)} of colliders touch at the end"
    if found:
        deepest = min(found, key=lambda one: one.gap)
        strongest = max(found, key=lambda one: one.normal_force)
        if deepest.gap < 0.0:
            text += f"; overlap at most {-deepest.gap:.3g} m, between {' and '.join(deepest.colliders)}"
        text += f"; force at most {strongest.normal_force:.4g} N, between {' and '.join(strongest.colliders)}"
    return [("contacts", text)]


def _unresolved(simulation) -> list[tuple[str, str]]:
    """Articulations that moved too fast for the steps."""
    rows = []
    for tree, own in zip(simulation.scene.articulations, simulation.unresolved_steps().T):
        if own.max(initial=0) > 0:
            of = f"{own.max()} steps" if simulation.environments == 1 else f"up to {own.max()} steps of an environment"
            text = f"{tree.path}  {of} do not resolve its motion; use a shorter --dt"
            rows.append(("unresolved", text))
    return rows[:SHOWN]


def _unconverged(simulation) -> list[tuple[str, str]]:
    """Elastic bodies whose forces were not balanced at the end of some steps."""
    counts = [(body.path, int(body.unconverged.sum())) for body in simulation.elastic_bodies]
    text = "steps did not converge; use a shorter --dt, or damp the material"
    return [("body", f"{path}  {count} {text}") for path, count in counts if count]


def _sleep(simulation) -> list[tuple[str, str]]:
    """How many articulations sleep at the end, where they may."""
    if not simulation.settings.sleep_steps:
        return []
    asleep = simulation.asleep()
    return [("asleep", f"{int(asleep.sum())} of {asleep.size} at the end")]


def _warnings(stage: str, scene: Scene) -> list[tuple[str, str]]:
    """How many warnings of the reader there are, and those with the gravest consequences, by rule."""
    found = [item for item in scene.diagnostics if item.severity is not Severity.NOTE]
    rows = [("warnings", f"{len(found):,}" + (f", listed by: warp-artic check {stage}" if found else ""))]
    return rows + [("", str(group)) for group in group_findings(found)[:SHOWN]]

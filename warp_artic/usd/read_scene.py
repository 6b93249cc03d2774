"""The physics scene: gravity, time step, solver and iteration counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from pxr import Usd, UsdGeom

from warp_artic.description.iterations import LEAST, wrong_iterations
from warp_artic.description.track import Track
from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import SCENE_FIELDS, Source, resolve
from warp_artic.usd.read_sleep import read_sleep_of_scene
from warp_artic.usd.read_track import codes_per_second, track_codes
from warp_artic.usd.report import SCENE, Reading, Report

EARTH = 9.81
"""Gravity where none is authored [m/s^2]."""
LOWEST_RATE, HIGHEST_RATE = 1e-9, 1e9
"""Steps per second that a scene can have."""
WORDS = {
    "solver": ("direct", "pgs", "tgs"),
    "integrator": ("midpoint", "rk4", "semi_implicit"),
    "precision": ("float32", "float64"),
}
"""What our schema of a scene can say in words, as `SolverSettings` has them."""


@dataclass(frozen=True)
class SceneSettings:
    """What the physics scene says for all articulations."""

    gravity: tuple[float, float, float]
    gravity_tracks: tuple[Track, Track, Track] | None = None
    time_step: float | None = None
    iterations: dict[str, Reading] = field(default_factory=dict)
    """By the names in LEAST."""
    words: dict[str, str] = field(default_factory=dict)
    """By the names in WORDS."""
    sleep: dict[str, Reading] = field(default_factory=dict)
    """Of `read_sleep_of_scene`."""


def read_scene(stage: Usd.Stage, inventory: Inventory, attributes: Attributes) -> SceneSettings:
    """The settings of the physics scene of a stage, or the defaults."""
    up = np.eye(3)[_up_axis(stage, attributes)]
    prim = choose_scene(inventory, attributes)
    if prim is None:
        text = f"there is no physics scene: gravity is {EARTH} m/s^2 against the up axis"
        attributes.report.note("scene-missing", "/", text)
        _report_up_axis(stage, attributes)
        return SceneSettings(tuple(float(component) + 0.0 for component in -EARTH * up))
    rate = resolve(attributes, prim, "steps_per_second", SCENE_FIELDS["steps_per_second"])
    if rate is not None and rate.value <= 0.0:
        attributes.report.error("time-step", rate.attribute, f"is {rate.value:g}, must be positive")
        rate = None
    elif rate is not None and not (LOWEST_RATE <= rate.value <= HIGHEST_RATE):
        text = f"gives {rate.value:g} steps per second, must be from {LOWEST_RATE:g} to {HIGHEST_RATE:g}"
        attributes.report.error("time-step", rate.attribute, text)
        rate = None
    iterations = read_iterations(prim, SCENE_FIELDS, attributes)
    sleep = read_sleep_of_scene(prim, attributes)
    readings = (rate, *iterations.values(), *sleep.values())
    attributes.report.readings[SCENE] = [reading for reading in readings if reading is not None]
    if not any(attributes.vector(prim, "physics:gravityDirection", (0.0, 0.0, 0.0))):
        _report_up_axis(stage, attributes)
    words = {name: attributes.token(prim, f"warpArtic:scene:{name}", "", allowed) for name, allowed in WORDS.items()}
    return SceneSettings(
        _gravity(prim, attributes, up),
        _gravity_tracks(prim, attributes, up),
        None if rate is None else 1.0 / rate.value,
        iterations,
        {name: word for name, word in words.items() if word},
        sleep,
    )


def read_iterations(
    prim: Usd.Prim, fields: dict[str, tuple[Source, ...]], attributes: Attributes
) -> dict[str, Reading]:
    """The iteration counts that a table finds on a prim; one that cannot be is left out, with an error."""
    found = {}
    for name in LEAST:
        reading = resolve(attributes, prim, name, fields[name])
        if reading is None:
            continue
        if wrong := wrong_iterations(name, reading.value):
            attributes.report.error("iterations", reading.attribute, wrong)
            continue
        found[name] = reading
    return found


def _up_axis(stage: Usd.Stage, attributes: Attributes) -> int:
    """1 or 2 for an up axis Y or Z."""
    axis = UsdGeom.GetStageUpAxis(stage)
    if axis not in ("Y", "Z"):
        attributes.report.error("stage-up-axis", "/", f"upAxis is {axis}, must be Y or Z")
        return 2
    return "XYZ".index(axis)


def _report_up_axis(stage: Usd.Stage, attributes: Attributes) -> None:
    """Tell which way gravity is where the stage leaves that to USD."""
    if not stage.HasAuthoredMetadata(UsdGeom.Tokens.upAxis):
        text = f"upAxis is not authored: gravity is along -{UsdGeom.GetStageUpAxis(stage)}"
        attributes.report.note("up-axis", "/", text)


def choose_scene(inventory: Inventory, attributes: Attributes) -> Usd.Prim | None:
    """The owner that is meant, else the scene that bodies name as their owner, else the first one."""
    if attributes.owner is not None:
        if attributes.owner not in inventory.scenes:
            found = ", ".join(inventory.scenes) or "none"
            text = f"is to own what is simulated and is no physics scene; the stage has {found}"
            attributes.report.error("owner-missing", attributes.owner, text)
        return inventory.scenes.get(attributes.owner)
    owners = {}
    for body in inventory.bodies.values():
        for target in attributes.targets(body, "physics:simulationOwner"):
            owners.setdefault(str(target), str(body.GetPath()))
    for owner, body in owners.items():
        if owner not in inventory.scenes:
            text = f"its simulation owner {owner} is not a physics scene, must be one"
            attributes.report.warn("scene-owner", body, text)
    named = [path for path in inventory.scenes if path in owners]
    path = next(iter(named or inventory.scenes), None)
    if path is None:
        return None
    if len(inventory.scenes) > 1:
        others = ", ".join(other for other in inventory.scenes if other != path)
        text = f"is used for all bodies; the stage has further physics scenes: {others}"
        attributes.report.warn("scene-several", path, text)
    return inventory.scenes[path]


def _gravity(prim: Usd.Prim, attributes: Attributes, up: np.ndarray) -> tuple[float, float, float]:
    direction = np.array(attributes.vector(prim, "physics:gravityDirection", (0.0, 0.0, 0.0)))
    length = np.linalg.norm(direction)
    direction = direction / length if length > 0.0 else -up
    name = "physics:gravityMagnitude"
    source = Source(name, units.ACCELERATION, unbounded=True)
    reading = resolve(attributes, prim, "gravity", (source,))
    magnitude = -np.inf if reading is None else reading.value
    if magnitude < 0.0:  # a request for that of Earth, whatever the units
        reading, magnitude = None if magnitude == -np.inf else replace(reading, value=EARTH), EARTH
    elif magnitude == np.inf:
        attributes.report.error("attribute-value", f"{prim.GetPath()}.{name}", "is inf, must be finite")
        magnitude = EARTH
    newton, mjc = (attributes.flag(prim, name, True) for name in ("newton:gravityEnabled", "mjc:flag:gravity"))
    if not newton or ("newton:gravityEnabled" not in attributes.names(prim) and not mjc):
        magnitude = 0.0
        switch = "mjc:flag:gravity" if newton else "newton:gravityEnabled"
        reading = Reading("gravity", f"{prim.GetPath()}.{switch}", 0.0, "1", 0.0, units.ACCELERATION.si)
    attributes.report.readings[SCENE] += [] if reading is None else [reading]
    return tuple(float(component) + 0.0 for component in magnitude * direction)


def _gravity_tracks(prim: Usd.Prim, attributes: Attributes, up: np.ndarray) -> tuple[Track, Track, Track] | None:
    """What gravity follows over time; None where it stays."""
    names = ("physics:gravityDirection", "physics:gravityMagnitude")
    codes = track_codes([prim.GetAttribute(name) for name in names], attributes)
    if len(codes) < 2:
        return None
    values = []
    for code in codes:
        there = Report(readings={SCENE: []})
        values.append(_gravity(prim, attributes.at(Usd.TimeCode(code), there), up))
        for finding in there.diagnostics:
            attributes.report.add(finding)
    if len(set(values)) < 2:
        return None
    start, rate = attributes.time.GetValue(), codes_per_second(prim.GetStage())
    times = tuple((code - start) / rate for code in codes)
    is_held = prim.GetStage().GetInterpolationType() == Usd.InterpolationTypeHeld
    return tuple(Track(times=times, values=own, is_held=is_held) for own in zip(*values))

"""When trees fall asleep, and which start asleep."""

from __future__ import annotations

import math

from pxr import Usd

from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.lookup import ARTICULATION_FIELDS, SCENE_FIELDS, report_difference, resolve
from warp_artic.usd.report import Reading, Report

STARTS = "physics:startsAsleep"
ON_REQUEST = "has an effect only where warpArtic:scene:sleepAfter or --sleep-after let trees sleep"


def read_sleep_of_scene(prim: Usd.Prim, attributes: Attributes) -> dict[str, Reading]:
    """The time at rest and the threshold of a physics scene, where they are authored."""
    time = resolve(attributes, prim, "sleep_after", SCENE_FIELDS["sleep_after"])
    if time is not None and time.value < 0.0:
        attributes.report.error("sleep-after", time.attribute, f"is {time.found}, must not be negative")
        time = None
    found = {"sleep_after": time, "sleep_threshold": _threshold(prim, SCENE_FIELDS, attributes)}
    return {name: reading for name, reading in found.items() if reading is not None}


def read_sleep(
    path: str, settings: Usd.Prim, bodies: list[Usd.Prim], of_scene: dict[str, Reading], attributes: Attributes
) -> dict[str, float | bool]:
    """The sleep settings of an articulation: the threshold of our scene, else that of its settings prim.

    It starts asleep if all its bodies do.
    """
    sleeps = "sleep_after" in of_scene and math.isfinite(of_scene["sleep_after"].value)
    own, common = _threshold(settings, ARTICULATION_FIELDS, attributes), of_scene.get("sleep_threshold")
    used = own if common is None else common
    if own is not None and common is not None:
        report_difference(common, own, attributes)
    elif own is not None and own.value > 0.0 and not sleeps:
        attributes.report.note("sleep-on-request", own.attribute, ON_REQUEST)
    found: dict[str, float | bool] = {}
    if used is not None:
        attributes.report.readings.setdefault(path, []).append(used)
        found["sleep_threshold"] = float(used.value)
    resting = [prim for prim in bodies if attributes.flag(prim, STARTS, False)]
    if resting:
        name = f"{resting[0].GetPath()}.{STARTS}"
        found["starts_asleep"] = len(resting) == len(bodies)
        if not found["starts_asleep"]:
            awake = next(str(prim.GetPath()) for prim in bodies if prim not in resting)
            text = f"is true, but not of all bodies of its tree, such as {awake}: the tree starts awake"
            attributes.report.warn("starts-asleep", name, text)
        elif not sleeps:
            attributes.report.warn("starts-asleep", name, ON_REQUEST)
    return found


def _threshold(prim: Usd.Prim, fields, attributes: Attributes) -> Reading | None:
    reading = resolve(attributes, prim, "sleep_threshold", fields["sleep_threshold"])
    if reading is not None and reading.value < 0.0:
        attributes.report.error("sleep-threshold", reading.attribute, f"is {reading.found}, must not be negative")
        return None
    return reading


def report_woken(scene: Scene, report: Report) -> None:
    """Report the trees that start asleep, but are stepped with others that do not: they sleep and wake as one."""
    if scene.sleep_after is None or not any(tree.starts_asleep for tree in scene.articulations):
        return
    for indices in mechanisms_of(scene):
        trees = [scene.articulations[index] for index in indices]
        asleep, awake = ([tree.path for tree in trees if tree.starts_asleep is which] for which in (True, False))
        for path in asleep if awake else ():
            text = f"starts asleep, but {awake[0]}, which is stepped with it as they may touch or are joined, does not"
            report.warn("starts-asleep", path, f"{text}: both start awake")

"""Values over time: time samples and splines of an attribute."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pxr import Usd

from warp_artic.description.track import Track
from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.report import Reading
from warp_artic.usd.units import Quantity

SPLINE_STEP = 0.25
"""How far apart a spline is read [time codes]."""
SLOW = 96.0
"""Time codes a second, from twice as many of which on it is read further apart."""
MOST_CODES = 1_000_000
"""At how many time codes what moves over time is read at most."""


def step_between(first: float, last: float, rate: float, attributes: Attributes, path: object) -> float:
    """How far apart to read what is not linear between time codes; an error is reported where there are too many.

    Where time codes are far apart, as seconds, it is a part of `SPLINE_STEP`; where they are close, several of it.
    """
    step = SPLINE_STEP * max(rate // SLOW, 1.0) / max(math.ceil(24.0 / rate), 1)
    if last - first <= MOST_CODES * step:
        return step
    most = MOST_CODES * step
    text = f"changes from time code {first:g} to {last:g}; at most {most:.0f} time codes can be followed"
    attributes.report.error("stage-time", path, text)
    return last - first


def codes_per_second(stage: Usd.Stage) -> float:
    """Time codes a second; where that is refused (rule "stage-time") the 24 of USD, so that the rest is checked."""
    rate = stage.GetTimeCodesPerSecond()
    return rate if 0.0 < rate < math.inf else 24.0


def start_code(stage: Usd.Stage) -> float:
    """The time code at which a stage starts, of its session before that of its root layer; zero where it has none.

    So it is where it is not finite, too, which is refused (rule "stage-time").
    """
    code = stage.GetStartTimeCode()
    return code if math.isfinite(code) else 0.0


def read_track(attributes: Attributes, prim: Usd.Prim, name: str, quantity: Quantity) -> Track | None:
    """What an attribute gives over time, in SI units; None where it has one value, or a wrong one, which is reported.

    Times count from the time at which the stage is read.
    """
    attribute, stage = prim.GetAttribute(name), prim.GetStage()
    if not attribute.ValueMightBeTimeVarying():
        return None
    start, rate = attributes.time.GetValue(), codes_per_second(stage)
    codes = value_codes(attribute, attributes)
    found = {(code - start) / rate: attributes.number_at(prim, name, code, quantity) for code in codes}
    found = {time: value for time, value in found.items() if value is not None}
    if len(set(found.values())) < 2:
        return None
    is_held = stage.GetInterpolationType() == Usd.InterpolationTypeHeld and not attribute.HasSpline()
    return Track(times=tuple(found), values=tuple(found.values()), is_held=is_held)


def read_length_tracks(attributes: Attributes, prim: Usd.Prim, readings: dict[str, Reading]) -> dict[str, Track]:
    """What the rest length and the offset of a tendon follow, by the names of fields; `readings` are its values."""
    tracks = {}
    for name in ("rest_length", "offset"):
        if name in readings:
            attribute = readings[name].attribute.rpartition(".")[2]
            track = read_track(attributes, prim, attribute, units.DISTANCE)
            tracks |= {} if track is None else {f"{name}_track": track}
    return tracks


def track_codes(varying: Sequence[Usd.Attribute], attributes: Attributes) -> list[float]:
    """Increasing time codes at which to read what is made of several attributes; none where all of them stay.

    A curve that several give together is followed closely, because it is not linear between their samples.
    """
    varying = [one for one in varying if one and one.ValueMightBeTimeVarying()]
    found = [value_codes(one, attributes) for one in varying]
    codes = sorted({code for own in found for code in own})
    if len(codes) < 2:
        return []
    rate = codes_per_second(varying[0].GetStage())
    step = step_between(codes[0], codes[-1], rate, attributes, varying[0].GetPath())
    return sorted({*codes, *np.arange(codes[0], codes[-1], step).tolist()})


def value_codes(attribute: Usd.Attribute, attributes: Attributes) -> list[float]:
    """Increasing time codes between which an attribute is linear, or so close together that it is nearly so."""
    if not attribute.HasSpline():
        return attribute.GetTimeSamples()
    start, end = attributes.time.GetValue(), attribute.GetStage().GetEndTimeCode()
    knots = [float(code) for code in attribute.GetSpline().GetKnots().keys()]
    first, last = min(start, *knots), max(end, start, *knots)
    rate = codes_per_second(attribute.GetStage())
    step = step_between(first, last, rate, attributes, attribute.GetPath())
    return sorted({*knots, last, *np.arange(first, last, step).tolist()})

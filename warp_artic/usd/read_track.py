"""Values over time: time samples and splines of an attribute."""

from __future__ import annotations

import numpy as np
from pxr import Usd

from warp_artic.description.track import Track
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.units import Quantity

SPLINE_STEP = 0.25
"""How far apart a spline is read [time codes]."""


def read_track(attributes: Attributes, prim: Usd.Prim, name: str, quantity: Quantity) -> Track | None:
    """What an attribute gives over time, in SI units; None where it has one value, or a wrong one, which is reported.

    Times count from the time at which the stage is read.
    """
    attribute, stage = prim.GetAttribute(name), prim.GetStage()
    if not attribute.ValueMightBeTimeVarying():
        return None
    start, rate = attributes.time.GetValue(), stage.GetTimeCodesPerSecond()
    codes = _codes(attribute, start, stage.GetEndTimeCode())
    found = {(code - start) / rate: attributes.number_at(prim, name, code, quantity) for code in codes}
    found = {time: value for time, value in found.items() if value is not None}
    if len(set(found.values())) < 2:
        return None
    is_held = stage.GetInterpolationType() == Usd.InterpolationTypeHeld and not attribute.HasSpline()
    return Track(times=tuple(found), values=tuple(found.values()), is_held=is_held)


def _codes(attribute: Usd.Attribute, start: float, end: float) -> list[float]:
    """Increasing time codes between which an attribute is linear, or so close together that it is nearly so."""
    if not attribute.HasSpline():
        return attribute.GetTimeSamples()
    knots = [float(code) for code in attribute.GetSpline().GetKnots().keys()]
    first, last = min(start, *knots), max(end, start, *knots)
    return sorted({*knots, last, *np.arange(first, last, SPLINE_STEP).tolist()})

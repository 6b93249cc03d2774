"""Whether something changes over time: time samples that all have one value do not."""

from __future__ import annotations

from pxr import Usd, UsdGeom


def changes(attribute: Usd.Attribute) -> bool:
    """Whether an attribute has different values at different times."""
    if not attribute.ValueMightBeTimeVarying():
        return False
    if attribute.HasSpline():
        return True
    codes = attribute.GetTimeSamples()
    first = attribute.Get(codes[0])
    return any(attribute.Get(code) != first for code in codes[1:])


def transform_changes(xformable: UsdGeom.Xformable) -> bool:
    """Whether the transform of a prim, without those above it, has different values at different times."""
    return any(changes(op.GetAttr()) for op in xformable.GetOrderedXformOps())

"""How a kinematic body moves over time, where its transform or one above it is animated.

Quaternions between time samples are made units: those that are nearer than half a degree USD interpolates on a line,
and takes the arc cosine of what it finds for the turn, which is off by up to 2e-3 rad where turns are small.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from pxr import Gf, Usd, UsdGeom

from warp_artic.description.base_motion import BaseMotion
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.changes import transform_changes
from warp_artic.usd.placement import SHEAR, decompose
from warp_artic.usd.read_track import codes_per_second, step_between, value_codes

ROUNDING = 1e-12
"""By how much the transform of a body that stays may change, by its largest entry."""


def read_base_motion(prim: Usd.Prim, attributes: Attributes) -> BaseMotion | None:
    """World poses from the first sample or knot to the last; None where it stays, or, with an error, is not rigid."""
    ops = _ops(prim)
    codes = sorted({code for op in ops for code in value_codes(op.GetAttr(), attributes)})
    if len(codes) < 2:
        return None
    rate = codes_per_second(prim.GetStage())
    count = math.ceil((codes[-1] - codes[0]) / step_between(codes[0], codes[-1], rate, attributes, prim.GetPath()))
    codes = np.linspace(codes[0], codes[-1], count + 1)
    A = world_transforms(prim, codes).transpose(0, 2, 1)
    A[:, :3] *= attributes.units.meters
    poses, _, cosine = decompose(A)
    if not (np.isfinite(A).all() and cosine.max() <= SHEAR):
        text = "has no rigid pose at some of its time samples, and carries links"
        attributes.report.error("transform", prim.GetPath(), text)
        return None
    if np.ptp(A, axis=0).max() <= ROUNDING * np.abs(A).max():
        return None
    start = (codes[0] - attributes.time.GetValue()) / rate
    return BaseMotion(str(prim.GetPath()), float(start), float(codes[1] - codes[0]) / rate, tuple(poses))


def moves_over_time(prim: Usd.Prim) -> bool:
    """Whether the transform of a prim or of one above it changes over time."""
    return any(transform_changes(one) for one in _moving(prim))


def world_transforms(prim: Usd.Prim, codes: Iterable[float]) -> np.ndarray:
    """Those of a prim at time codes, of row vectors, shape (codes, 4, 4)."""
    ops = _ops(prim)
    return np.array([math.prod((_transform(op, code) for op in ops), start=Gf.Matrix4d(1.0)) for code in codes])


def _ops(prim: Usd.Prim) -> list[UsdGeom.XformOp]:
    """What its world transform is made of, from the inside out."""
    return [op for one in _moving(prim) for op in reversed(one.GetOrderedXformOps())]


def _transform(op: UsdGeom.XformOp, code: float) -> Gf.Matrix4d:
    """What an op does at a time code."""
    value = op.Get(code) if op.GetOpType() == UsdGeom.XformOp.TypeOrient else None
    if value is None:
        return op.GetOpTransform(code)
    turn = Gf.Matrix4d().SetRotate(Gf.Quatd(value).GetNormalized())
    return turn.GetInverse() if op.IsInverseOp() else turn


def _moving(prim: Usd.Prim) -> list[UsdGeom.Xformable]:
    """The prim and those above it that its world transform is made of."""
    found = []
    while not prim.IsPseudoRoot():
        xformable = UsdGeom.Xformable(prim)
        if xformable:
            found.append(xformable)
            if xformable.GetResetXformStack():
                break
        prim = prim.GetParent()
    return found

"""Where prims are in the world: a rigid pose, and a scale along the axes of the prim."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdGeom, UsdPhysics

from warp_artic.description.pose import Pose
from warp_artic.usd.attributes import Attributes

SHEAR = 1e-4
"""Largest cosine between two axes that should be at a right angle."""
SMALLEST, LARGEST = 1e-9, 1e9
"""Allowed metres in a unit of length, scale included."""
RESET = "!resetXformStack!"
PROJECTIVE = 1e-9
"""Largest deviation of the last row of a transform from 0, 0, 0, 1."""
FARTHEST = 1e12
"""Largest allowed coordinate [m]."""


@dataclass(frozen=True)
class Placement:
    """World transform of a prim: a local point p is at pose.position + R (scale * p)."""

    pose: Pose
    """Without scale [m]."""
    scale: np.ndarray
    """Metres in a unit of length along each axis, shape (3); all negative where the prim is mirrored."""

    def frame(self, position, quaternion) -> Pose:
        """The world pose of a frame authored in the space of the prim, its position in stage units."""
        return self.pose @ Pose(tuple(self.scale * np.asarray(position, float)), tuple(quaternion))


class Placements:
    """World transforms of prims at one time."""

    def __init__(self, attributes: Attributes):
        self.attributes = attributes
        self.cache = UsdGeom.XformCache(attributes.time)
        self.known: dict[Usd.Prim, Placement | None] = {}
        self.matrices: dict[Usd.Prim, np.ndarray | None] = {}
        self.turned: dict[Usd.Prim, bool] = {}

    def of(self, prim: Usd.Prim) -> Placement | None:
        """The placement of a prim; None, and an error, where it has no rigid pose."""
        if prim not in self.known:
            self.known[prim] = self._place(prim)
        return self.known[prim]

    def matrix(self, prim: Usd.Prim) -> np.ndarray | None:
        """The affine world transform (4, 4) for column vectors, in metres; None, and an error, where there is none."""
        if prim not in self.matrices:
            self.matrices[prim] = self._matrix(prim)
        return self.matrices[prim]

    def _matrix(self, prim: Usd.Prim) -> np.ndarray | None:
        try:
            A, is_turned = np.array(self.cache.GetLocalToWorldTransform(prim)).T, self._is_turned(prim)
        except Exception:  # what pxr raises on ops it cannot read differs between releases
            self._refuse(prim, "its transform ops cannot be read")
            return None
        if not is_turned:
            return None
        if not np.isfinite(A).all():
            self._refuse(prim, "its world transform is not finite")
            return None
        if np.abs(A[3] - (0.0, 0.0, 0.0, 1.0)).max() > PROJECTIVE:
            self._refuse(prim, "the last column of its world transform is not (0, 0, 0, 1)")
            return None
        A[:3] *= self.attributes.units.meters
        if np.abs(A).max() > FARTHEST:
            self._refuse(prim, f"its world transform has an entry of {np.abs(A).max():.3g} m, beyond {FARTHEST:g} m")
            return None
        return A

    def _is_turned(self, prim: Usd.Prim) -> bool:
        """Whether the orient ops of a prim and those above it are rotations; USD passes over any other silently."""
        if prim.IsPseudoRoot():
            return True
        if prim not in self.turned:
            xformable = UsdGeom.Xformable(prim)
            own = [self._is_rotation(prim, name) for name in self._orients(xformable)]
            if xformable and xformable.TransformMightBeTimeVarying() and not prim.HasAPI(UsdPhysics.RigidBodyAPI):
                text = "moves over time; it is taken to stay where it is at the start"
                self.attributes.report.warn("time-samples", prim.GetPath(), text)
            self.turned[prim] = all(own) and self._is_turned(prim.GetParent())
        return self.turned[prim]

    def _orients(self, xformable: UsdGeom.Xformable) -> list[str]:
        """The names of the orient ops of a prim; ops in its order that are not there are warned of."""
        if not xformable or not xformable.GetXformOpOrderAttr().HasAuthoredValue():
            return []
        prim = xformable.GetPrim()
        for name in xformable.GetXformOpOrderAttr().Get() or ():
            own = name.removeprefix("!invert!")
            if own != RESET and not prim.HasAttribute(own):
                text = f"names {own}, which the prim has not: USD passes over it"
                self.attributes.report.warn("transform-op", f"{prim.GetPath()}.xformOpOrder", text)
        ops = xformable.GetOrderedXformOps()
        return [op.GetAttr().GetName() for op in ops if op.GetOpType() == UsdGeom.XformOp.TypeOrient]

    def _is_rotation(self, prim: Usd.Prim, name: str) -> bool:
        """Whether an orient op has a finite value; one that is not of unit length is only warned of."""
        value = self.attributes.authored(prim, name)
        if value is None:
            return True
        length, report = value.GetLength(), self.attributes.report
        if not np.isfinite(length):
            report.error("transform", f"{prim.GetPath()}.{name}", f"is {value}, must be finite")
        elif abs(length - 1.0) > 1e-3:
            text = f"is {value} of length {length:.4g}: what USD makes of it is used"
            report.warn("quaternion-length", f"{prim.GetPath()}.{name}", text)
        return bool(np.isfinite(length))

    def _place(self, prim: Usd.Prim) -> Placement | None:
        A = self.matrix(prim)
        if A is None:
            return None
        axes = A[:3, :3]
        lengths = np.linalg.norm(axes, axis=0)
        if lengths.min() < SMALLEST or lengths.max() > LARGEST:
            found = f"{lengths.min():.3g} to {lengths.max():.3g}"
            self._refuse(prim, f"its world transform has scales of {found}, must be {SMALLEST:g} to {LARGEST:g}")
            return None
        cosines = axes.T @ axes / np.outer(lengths, lengths) - np.eye(3)
        if np.abs(cosines).max() > SHEAR:
            text = "its world transform is sheared; a non-uniform scale above a rotated prim does that: scale its shape"
            self._refuse(prim, text)
            return None
        scale = lengths * (-1.0 if np.linalg.det(axes) < 0.0 else 1.0)
        return Placement(Pose.of(A[:3, 3], nearest_rotation(axes / scale)), scale)

    def _refuse(self, prim: Usd.Prim, text: str) -> None:
        self.attributes.report.error("transform", prim.GetPath(), text)


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) nearest to a matrix that is one but for rounding."""
    u, _, vt = np.linalg.svd(matrix)
    return u @ vt

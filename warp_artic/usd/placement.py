"""Where prims are in the world: a rigid pose, and a scale along the axes of the prim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdGeom, UsdPhysics

from warp_artic.description.pose import Pose
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.changes import transform_changes

SHEAR = 1e-4
"""Largest cosine between two axes that should be at a right angle."""
SMALLEST, LARGEST = 1e-9, 1e9
"""Allowed metres in a unit of length, scale included."""
RESET = "!resetXformStack!"
PROJECTIVE = 1e-9
"""Largest deviation of the last row of a transform from 0, 0, 0, 1."""
FARTHEST = 1e12
"""Largest allowed coordinate [m]."""
UNREADABLE = "its transform ops cannot be read"
SCALE_DIGITS = 12
"""Digits of a scale: what rotations leave of the others is rounding, which differs from place to place."""


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

    def place(self, prims: Iterable[Usd.Prim]) -> None:
        """Find the placements of many prims at once, which takes less time than one after the other."""
        new = [prim for prim in prims if prim not in self.known]
        found = [(prim, matrix) for prim in new if (matrix := self.matrix(prim)) is not None]
        self.known.update(dict.fromkeys(new))
        if found:
            prims, matrices = zip(*found)
            self.known.update(zip(prims, self._placements(prims, np.array(matrices))))

    def relative(self, prim: Usd.Prim, base: Usd.Prim) -> np.ndarray | None:
        """The affine transform (4, 4) from the space of a prim to that of another, in stage units.

        It is put together below the prim that both are under, so that it does not depend on where that one is, unless
        one leaves the transform above it. None, and an error, where there is none.
        """
        stage = prim.GetStage()
        above = stage.GetPrimAtPath(prim.GetPath().GetCommonPrefix(base.GetPath()))
        try:
            to_above = [self.cache.ComputeRelativeTransform(one, above) for one in (base, prim)]
        except Exception:  # a cache of USD takes ops that it could not read for none, but not here
            self._refuse(prim, UNREADABLE)
            return None
        resets = any(resets for _, resets in to_above)
        if resets:
            matrices = [self.cache.GetLocalToWorldTransform(one) for one in (base, prim)]
        else:
            matrices = [matrix for matrix, _ in to_above]
        A_base, A_prim = (np.array(matrix).T for matrix in matrices)
        is_below = prim == base or (above == base and not resets)
        return A_prim if is_below else np.linalg.inv(A_base) @ A_prim

    def pose(self, prim: Usd.Prim, base: Usd.Prim) -> Pose | None:
        """The pose of a prim in the frame of another; None, and an error, where one has no rigid pose."""
        placement, own = self.of(prim), self.of(base)
        if placement is None or own is None:
            return None
        if prim == base:
            return Pose()
        A = self.relative(prim, base)
        if A is None:
            return None
        A[:3] *= own.scale[:, None]
        return decompose(A[None])[0][0]

    def many(self, prims: list[Usd.Prim]) -> tuple[list[Pose], np.ndarray, np.ndarray]:
        """Poses, scales (n, 3) and the largest coordinates (n) of prims whose transform ops can be read.

        A prim without a rigid pose has an infinite coordinate.
        """
        if not prims:
            return [], np.empty((0, 3)), np.empty(0)
        A = np.array([self.cache.GetLocalToWorldTransform(prim) for prim in prims]).transpose(0, 2, 1)
        A[:, :3] *= self.attributes.units.meters
        is_right = np.isfinite(A).all(axis=(1, 2)) & (np.abs(A[:, 3] - (0.0, 0.0, 0.0, 1.0)).max(axis=1) <= PROJECTIVE)
        A[~is_right] = np.eye(4)
        poses, scale, cosine = decompose(A)
        is_right &= cosine <= SHEAR
        return poses, scale, np.where(is_right, np.abs(A).max(axis=(1, 2)), np.inf)

    def _matrix(self, prim: Usd.Prim) -> np.ndarray | None:
        try:
            A, is_turned = np.array(self.cache.GetLocalToWorldTransform(prim)).T, self.is_turned(prim)
        except Exception:  # what pxr raises on ops it cannot read differs between releases
            self._refuse(prim, UNREADABLE)
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

    def is_turned(self, prim: Usd.Prim) -> bool:
        """Whether the orient ops of a prim and those above it are rotations; USD passes over any other silently."""
        if prim.IsPseudoRoot():
            return True
        if prim not in self.turned:
            xformable = UsdGeom.Xformable(prim)
            own = [self._is_rotation(prim, name) for name in self._orients(xformable)]
            if xformable and not prim.HasAPI(UsdPhysics.RigidBodyAPI) and transform_changes(xformable):
                text = "moves over time; kinematic bodies below it go with it, the rest is where it is at the start"
                self.attributes.report.warn("time-samples", prim.GetPath(), text)
            self.turned[prim] = all(own) and self.is_turned(prim.GetParent())
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
        return None if A is None else self._placements((prim,), A[None])[0]

    def _placements(self, prims: Iterable[Usd.Prim], A: np.ndarray) -> list[Placement | None]:
        """The placements by world transforms (n, 4, 4) in metres."""
        poses, scale, cosine = decompose(A)
        found = []
        for prim, pose, own, one in zip(prims, poses, scale, cosine):
            lengths = np.abs(own)
            if not (SMALLEST <= lengths.min() and lengths.max() <= LARGEST):
                text = f"{lengths.min():.3g} to {lengths.max():.3g}, must be {SMALLEST:g} to {LARGEST:g}"
                self._refuse(prim, f"its world transform has scales of {text}")
            elif one > SHEAR:
                text = "a non-uniform scale above a rotated prim does that: scale its shape"
                self._refuse(prim, f"its world transform is sheared; {text}")
            else:
                found.append(Placement(pose, own))
                continue
            found.append(None)
        return found

    def _refuse(self, prim: Usd.Prim, text: str) -> None:
        self.attributes.report.error("transform", prim.GetPath(), text)
        self.attributes.pass_over(prim)


def decompose(A: np.ndarray) -> tuple[list[Pose], np.ndarray, np.ndarray]:
    """Poses, scales (n, 3), and the largest cosine between two axes (n), of affine transforms (n, 4, 4)."""
    axes = A[:, :3, :3]
    x, y, z = axes[:, :, 0], axes[:, :, 1], axes[:, :, 2]
    lengths = np.sqrt(np.stack([_dot(axis, axis) for axis in (x, y, z)], axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = [_dot(x, y), _dot(y, z), _dot(z, x)] / (lengths[:, [0, 1, 2]] * lengths[:, [1, 2, 0]]).T
        cosine = np.nan_to_num(np.abs(cosines).max(axis=0))
        rounding = 10.0 ** (SCALE_DIGITS - 1 - np.floor(np.log10(lengths)))
        scale = np.where(lengths > 0.0, np.round(lengths * rounding) / rounding, 0.0)
    is_mirrored = np.linalg.det(axes) < 0.0
    scale = np.where(is_mirrored[:, None], -scale, scale)
    R = nearest_rotation(axes / np.where(scale == 0.0, 1.0, scale)[:, None, :])
    return [Pose.of(position, one) for position, one in zip(A[:, :3, 3].tolist(), R)], scale, cosine


def _dot(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Of vectors (n, 3), added in one order whatever n."""
    return first[:, 0] * second[:, 0] + first[:, 1] * second[:, 1] + first[:, 2] * second[:, 2]


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """The rotation (..., 3, 3) nearest to a matrix that is one but for rounding."""
    u, _, vt = np.linalg.svd(matrix)
    terms = u[..., None] * vt[..., None, :, :]
    return terms[..., 0, :] + terms[..., 1, :] + terms[..., 2, :]

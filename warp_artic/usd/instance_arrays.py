"""Positions and orientations of a point instancer of which some instances move with bodies.

With row vectors, an instance has the matrix M = S R T in the space of its instancer, whose world matrix is P. A body
that it places goes from the world matrix W(0) to W(t), and its instance with it:

    M(t) = M(0) P(0) W(0)^-1 W(t) P(t)^-1

W(0)^-1 W(t) is rigid, so that S stays where the scale of P is uniform.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pxr import Sdf, Usd, UsdGeom, Vt

from warp_artic.usd.row_matrices import quaternions_from
from warp_artic.usd.time_samples import continuous, write_samples

STALE = ("extent", "velocities", "angularVelocities", "accelerations")
"""What no longer goes with the positions: an extent, and samples over time of velocities, which USD would go by."""


class InstanceArrays:
    """The arrays of an instancer.

    Args:
        instancer: A prim of the stage of the host.
        indices: Of the instances that move, shape (n).
        bodies: World matrices of their bodies at the start, shape (n, 4, 4).
        code: The time code of the start.
    """

    def __init__(self, instancer: Usd.Prim, indices: Sequence[int], bodies: np.ndarray, code: float):
        self.prim, self.indices = instancer, np.array(indices, int)
        P = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(instancer))
        schema = UsdGeom.PointInstancer(instancer)
        start = np.array(
            schema.ComputeInstanceTransformsAtTime(code, code, schema.ExcludeProtoXform, schema.IgnoreMask)
        )
        scales = schema.GetScalesAttr().Get(code)
        self._scales = np.array(scales, float) if scales else np.ones((len(start), 3))
        is_flat = (self._scales == 0.0).any(axis=1)
        self._scales[is_flat], start[is_flat, :3, :3] = 1.0, np.eye(3)
        self._start = start
        self._before = start[self.indices] @ P @ np.linalg.inv(bodies)

    def at(self, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (F, N, 3) and unit quaternions xyzw (F, N, 4), by W(t) P(t)^-1 of each body (F, n, 4, 4)."""
        M = np.broadcast_to(self._start, (len(moved), *self._start.shape)).copy()
        M[:, self.indices] = self._before @ moved
        R = M[..., :3, :3] / self._scales[..., None]
        quaternions = quaternions_from(R.reshape(-1, 3, 3)).reshape(*M.shape[:2], 4)
        return M[..., 3, :3], continuous(quaternions)


def arrays_for_usd(positions: np.ndarray, quaternions: np.ndarray) -> dict[str, tuple[Sdf.ValueTypeName, object]]:
    """The attributes of an instancer at one time, by name, with their types, of what `InstanceArrays.at` gives."""
    names = Sdf.ValueTypeNames
    single = np.ascontiguousarray(quaternions, np.float32)
    return {
        "positions": (names.Point3fArray, Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(positions, np.float32))),
        "orientationsf": (names.QuatfArray, Vt.QuatfArray.FromNumpy(single)),
        "orientations": (names.QuathArray, Vt.QuathArray.FromNumpy(single.astype(np.float16))),
    }


def write_arrays(spec: Sdf.PrimSpec, arrays: InstanceArrays, moved: np.ndarray, codes: list) -> None:
    """Time samples of an instancer, as `InstanceArrays.at` has them; only one where nothing moves."""
    positions, quaternions = arrays.at(moved)
    samples = [arrays_for_usd(*one) for one in zip(positions, quaternions)]
    for name, (kind, _) in samples[0].items():
        write_samples(spec, name, kind, [one[name][1] for one in samples], codes)
    block_stale(spec, arrays.prim)


def block_stale(spec: Sdf.PrimSpec, instancer: Usd.Prim) -> None:
    """Block what no longer goes with the positions of an instancer."""
    for name in STALE:
        attribute = instancer.GetAttribute(name)
        if attribute.HasAuthoredValue() and (name == "extent" or attribute.GetNumTimeSamples()):
            Sdf.AttributeSpec(spec, name, attribute.GetTypeName()).default = Sdf.ValueBlock()

"""Skinned meshes, shared between joints by weights: the volume, the centre and the extent that each part has.

With weights w_l of part l at the corners of a triangle, axis a through a point o, and F(p) the part of p - o across the
axis, div F = 2, the divergence theorem gives the volume of a part as

    V_l = sum over triangles of  w_l  integral F . n dA / 2,

in which a cut across the axis, where a limb goes on in the next part, has no share. The integrand is of second order
over a triangle, so the midpoints of its sides integrate it exactly. Of a closed mesh the parts about one axis add up to
its volume.

A capsule has the volume V and the length of a part:  pi r^2 (length - 2 r) + 4 pi r^3 / 3 = V, or is a sphere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdGeom

from warp_artic.errors import StageError
from warp_artic.usd.skeleton import Skeleton

MIDPOINTS = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
"""Of the sides of a triangle, in its corners."""
COUNTED = 0.5
"""Points count for the extent of a part where it has at least this weight, or as much as there is at most."""


@dataclass(frozen=True)
class Skin:
    """All meshes of a skeleton as triangles at bind time."""

    points: np.ndarray
    """(P, 3), in the space of the bind matrices."""
    triangles: np.ndarray
    """Corners (F, 3), seen from outside against the clock."""
    weights: np.ndarray
    """(P, joints), each row adds up to 1, or is zero."""


@dataclass(frozen=True)
class Part:
    """What of the skin moves with a link, in its frame."""

    volume: float
    center: np.ndarray
    """Mean of its points (3)."""
    radius: float
    half_height: float
    """Of the capsule along its axis, without the caps."""
    middle: np.ndarray
    """Centre of the capsule (3)."""


def read_skin(skeleton: Skeleton) -> Skin:
    """The skin of a skeleton.

    Raises:
        StageError: No mesh is skinned by it, or influences cannot be read, or all weights are zero.
    """
    found = []
    unbound = []
    for prim, query in skeleton.skinned():
        if not prim.IsA(UsdGeom.Mesh):
            continue
        if not query.HasJointInfluences():
            unbound.append(str(prim.GetPath()))
            continue
        found.append(_read_mesh(prim, query, skeleton))
    if not found:
        about = f"; {unbound[0]} is bound to it, without joint indices and weights" if unbound else ""
        text = "no mesh is skinned by it: a Mesh below its SkelRoot needs skel:skeleton, joint indices and weights"
        raise StageError(f"{skeleton.path}: {text}{about}")
    starts = np.cumsum([0, *(len(points) for points, _, _ in found)])
    triangles = [own + start for (_, own, _), start in zip(found, starts)]
    return Skin(
        np.concatenate([points for points, _, _ in found]),
        np.concatenate(triangles),
        np.concatenate([weights for _, _, weights in found]),
    )


def _read_mesh(prim: Usd.Prim, query, skeleton: Skeleton) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, triangles and weights of one mesh."""
    path = prim.GetPath()
    mesh = UsdGeom.Mesh(prim)
    points = np.array(mesh.GetPointsAttr().Get(Usd.TimeCode.EarliestTime()) or (), float).reshape(-1, 3)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(Usd.TimeCode.EarliestTime()) or (), int)
    corners = np.array(mesh.GetFaceVertexIndicesAttr().Get(Usd.TimeCode.EarliestTime()) or (), int)
    if counts.sum() != len(corners) or (len(corners) and not 0 <= corners.min() <= corners.max() < len(points)):
        raise StageError(f"{path}: its faces do not fit its {len(points)} points")
    influences = query.ComputeVaryingJointInfluences(len(points), Usd.TimeCode.EarliestTime())
    count = query.GetNumInfluencesPerComponent()
    if not influences or not count or len(influences[0]) != count * len(points):
        raise StageError(f"{path}.primvars:skel:jointWeights: does not have {count} weights for each point")
    indices, given = (np.array(own).reshape(-1, count) for own in influences)
    names = list(map(str, query.GetJointOrder() or skeleton.joints))
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(names):
        wrong = indices.min() if indices.min() < 0 else indices.max()
        raise StageError(f"{path}.primvars:skel:jointIndices: has {wrong}, must be from 0 to {len(names) - 1}")
    if not np.isfinite(given).all() or (given < 0.0).any():
        raise StageError(f"{path}.primvars:skel:jointWeights: has {given[~(given >= 0.0)][0]}, must be at least 0")
    if not given.any():
        raise StageError(f"{path}.primvars:skel:jointWeights: all weights are zero, so no joint moves the mesh")
    place = {name: number for number, name in enumerate(skeleton.joints)}
    strangers = [name for name in names if name not in place]
    if strangers:
        raise StageError(f"{path}.skel:joints: names {strangers[0]}, which {skeleton.path} does not have")
    columns = np.array([place[name] for name in names])
    weights = np.zeros((len(points), len(skeleton.joints)))
    np.add.at(weights, (np.arange(len(points))[:, None], columns[indices]), given)
    sums = weights.sum(axis=1, keepdims=True)
    weights /= np.where(sums > 0.0, sums, 1.0)
    bind = np.array(query.GetGeomBindTransform(Usd.TimeCode.EarliestTime()))
    points = points @ bind[:3, :3] + bind[3, :3]
    triangles = _triangles(counts, corners)
    is_left = mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded
    if is_left != (np.linalg.det(bind[:3, :3]) < 0.0):
        triangles = triangles[:, ::-1]
    return points, triangles, weights


def _triangles(counts: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Fans of faces: (F, 3)."""
    starts = np.cumsum(counts) - counts
    fans = [
        np.stack([corners[starts[counts == n] + corner] for corner in (0, k, k + 1)], axis=1)
        for n in np.unique(counts)
        for k in range(1, n - 1)
    ]
    return np.concatenate(fans) if fans else np.empty((0, 3), int)


def part_of(points: np.ndarray, triangles: np.ndarray, weights: np.ndarray, axis: np.ndarray) -> Part | None:
    """The part with weights (P) of points (P, 3) in the frame of a link, about an axis; None where it has no volume."""
    if not weights.any():
        return None
    is_counted = weights >= min(COUNTED, weights.max())
    own = points[is_counted]
    center = np.average(points, axis=0, weights=weights)
    along = (own - center) @ axis
    low, high = along.min(), along.max()
    volume = volume_of(points - center, triangles, weights, axis)
    if not volume > 0.0 or not high > low:
        return None
    radius = capsule_radius(volume, high - low)
    half = max(0.5 * (high - low) - radius, 0.0)
    return Part(volume, center, radius, half, center + 0.5 * (low + high) * axis)


def volume_of(points: np.ndarray, triangles: np.ndarray, weights: np.ndarray, axis: np.ndarray) -> float:
    """V_l about an axis through the origin; of a closed mesh any axis will do."""
    corners = points[triangles]
    normals = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sides = np.einsum("mc,fcx->fmx", MIDPOINTS, corners)
    shares = np.einsum("mc,fc->fm", MIDPOINTS, weights[triangles])
    across = sides - (sides @ axis)[..., None] * axis
    return float(np.einsum("fm,fmx,fx->", shares, across, normals) / 6.0)


def capsule_radius(volume: float, length: float) -> float:
    """The radius of the capsule of a volume and a whole length; of the sphere of that volume where it is longer."""
    sphere = (3.0 * volume / (4.0 * np.pi)) ** (1.0 / 3.0)
    if 2.0 * sphere >= length:
        return float(sphere)
    # The polynomial rises from 0 to that of the sphere of this length.
    roots = np.roots([-2.0 * np.pi / 3.0, np.pi * length, 0.0, -volume])
    real = roots[np.abs(roots.imag) <= 1e-9 * np.abs(roots)].real
    return float(min(root for root in real if 0.0 < root))

"""A skeleton of UsdSkel: its joints, and where they are. Matrices act on row vectors, as in USD, in stage units.

The space of a skeleton is that of its prim. A joint matrix J_j places joint j in it,

    J_j = L_j J_parent(j),

with the local matrix L_j = S R T of the joint. A skinned point of bind position p is  sum of w_j p B_j^-1 J_j  with the
bind matrix B_j and the weights w_j.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from pxr import Sdf, Usd, UsdSkel

from warp_artic.errors import StageError

SMALLEST_SCALE = 1e-6
"""Least scale along an axis of a bind matrix, by the largest one, with which it can be inverted."""


class Skeleton:
    """A skeleton prim, with the animation that is bound to it.

    Raises:
        StageError: It is no skeleton, or UsdSkel cannot read it.
    """

    def __init__(self, prim: Usd.Prim):
        self.prim = prim
        self.path = str(prim.GetPath())
        if not prim.IsA(UsdSkel.Skeleton):
            raise StageError(f"{self.path}: is a {prim.GetTypeName() or 'prim without type'}, must be a Skeleton")
        root = _skel_root(prim)
        if root is None:
            raise StageError(f"{self.path}: is below no SkelRoot, so no mesh is skinned by it; put both below one")
        for joint in UsdSkel.Skeleton(prim).GetJointsAttr().Get() or ():
            if not Sdf.Path.IsValidPathString(str(joint))[0]:
                raise StageError(
                    f"{self.path}.joints: {joint!r} is no path, so UsdSkel cannot tell which joint is above it"
                )
        self.root = root
        self._cache = UsdSkel.Cache()
        self._cache.Populate(UsdSkel.Root(root), Usd.TraverseInstanceProxies())
        self._query = self._cache.GetSkelQuery(UsdSkel.Skeleton(prim))
        if not self._query or not len(self._query.GetJointOrder()):
            raise StageError(f"{self.path}: has no joints that UsdSkel can read; joints must be authored")
        self.joints: tuple[str, ...] = tuple(map(str, self._query.GetJointOrder()))
        """Paths of the joints, parents first."""
        topology = self._query.GetTopology()
        self.parents: tuple[int, ...] = tuple(topology.GetParent(joint) for joint in range(len(self.joints)))
        """The parent of each joint; -1 of those at the top."""
        if any(parent >= joint for joint, parent in enumerate(self.parents)):
            raise StageError(f"{self.path}.joints: names a joint before its parent; parents must come first")

    @cached_property
    def bind(self) -> np.ndarray:
        """B_j (joints, 4, 4) in the space of the skeleton.

        Raises:
            StageError: There is not one for each joint, or one cannot be inverted or mirrors.
        """
        matrices = np.array(UsdSkel.Skeleton(self.prim).GetBindTransformsAttr().Get() or ()).reshape(-1, 4, 4)
        if len(matrices) != len(self.joints):
            text = f"has {len(matrices)} matrices for {len(self.joints)} joints, must have one for each"
            raise StageError(f"{self.path}.bindTransforms: {text}")
        check_matrices(matrices, self.joints, f"{self.path}.bindTransforms")
        # B_j of bindTransforms is in world space at bind time; meshes and joints share that space.
        return matrices

    @cached_property
    def animation(self) -> Usd.Prim | None:
        """The SkelAnimation that is bound to it."""
        query = self._query.GetAnimQuery()
        return query.GetPrim() if query else None

    def animation_codes(self) -> list[float]:
        """Time codes of the samples of joints in the animation, increasing."""
        query = self._query.GetAnimQuery()
        return [float(code) for code in query.GetJointTransformTimeSamples()] if query else []

    def local_matrices(self, code: float) -> np.ndarray:
        """L_j (joints, 4, 4) at a time code: animated, or at rest."""
        return self._matrices(self._query.ComputeJointLocalTransforms(code), code)

    @cached_property
    def animated(self) -> frozenset[str]:
        """The joints that its animation moves over time."""
        codes = self.animation_codes()
        return frozenset(map(str, self._query.GetAnimQuery().GetJointOrder())) if len(codes) > 1 else frozenset()

    def joint_matrices(self, code: float) -> np.ndarray:
        """J_j (joints, 4, 4) at a time code."""
        return self.chained(self.local_matrices(code))

    def chained(self, local: np.ndarray) -> np.ndarray:
        """J_j (joints, 4, 4) of local matrices."""
        joints = np.empty_like(local)
        for joint, parent in enumerate(self.parents):
            joints[joint] = local[joint] if parent < 0 else local[joint] @ joints[parent]
        return joints

    def skinned(self) -> list[tuple[Usd.Prim, UsdSkel.SkinningQuery]]:
        """The prims that are skinned by it, each with its influences."""
        binding = self._cache.ComputeSkelBinding(
            UsdSkel.Root(self.root), UsdSkel.Skeleton(self.prim), Usd.TraverseInstanceProxies()
        )
        return [(target.GetPrim(), target) for target in binding.GetSkinningTargets()]

    def _matrices(self, found, code: float) -> np.ndarray:
        if not found or len(found) != len(self.joints):
            text = f"has no joint matrices at time code {code:g}: author restTransforms, or bind an animation"
            raise StageError(f"{self.path}: {text}")
        return np.array(found).reshape(-1, 4, 4)


def skeleton_at(stage: Usd.Stage, path: str | None) -> Usd.Prim:
    """The skeleton of a path, or the only one of a stage where there is no path.

    Raises:
        StageError: There is none there, or several without a path.
    """
    if path is not None:
        prim = stage.GetPrimAtPath(path)
        if not prim:
            raise StageError(f"{path}: there is no such prim")
        return prim
    found = [one for one in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()) if one.IsA(UsdSkel.Skeleton)]
    if len(found) != 1:
        paths = ", ".join(str(one.GetPath()) for one in found[:5])
        text = f"has {len(found)} skeletons, {paths}: choose one" if found else "has no Skeleton"
        raise StageError(f"{stage.GetRootLayer().GetDisplayName()}: {text}")
    return found[0]


def check_matrices(matrices: np.ndarray, names: tuple[str, ...], where: str) -> None:
    """Refuse matrices (n, 4, 4) that are not finite, cannot be inverted, or mirror."""
    for matrix, name in zip(matrices, names):
        if not np.isfinite(matrix).all():
            raise StageError(f"{where}: the matrix of {name} is not finite")
        axes = matrix[:3, :3]
        sizes = np.linalg.svd(axes, compute_uv=False)
        if sizes[2] <= SMALLEST_SCALE * max(sizes[0], 1e-30):
            raise StageError(f"{where}: the matrix of {name} cannot be inverted: it has no extent along an axis")
        if np.linalg.det(axes) < 0.0:
            raise StageError(f"{where}: the matrix of {name} mirrors; joints must keep left and right")


def _skel_root(prim: Usd.Prim) -> Usd.Prim | None:
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(UsdSkel.Root):
            return prim
        prim = prim.GetParent()
    return None

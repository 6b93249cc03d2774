"""Where the points of skinned meshes are, as UsdSkel has them; blend shapes are left out."""

from __future__ import annotations

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel


class SkinnedPoints:
    """The meshes of a stage that skeletons deform."""

    def __init__(self, stage: Usd.Stage):
        self._bound: dict[str, tuple] = {}
        self._caches: list[UsdSkel.Cache] = []
        instances = Usd.TraverseInstanceProxies()
        for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)):
            if not prim.IsA(UsdSkel.Root):
                continue
            cache, root = UsdSkel.Cache(), UsdSkel.Root(prim)
            cache.Populate(root, instances)
            self._caches.append(cache)
            for binding in cache.ComputeSkelBindings(root, instances):
                query = cache.GetSkelQuery(binding.GetSkeleton())
                for target in binding.GetSkinningTargets():
                    if query and target.GetPrim().IsA(UsdGeom.Mesh) and target.HasJointInfluences():
                        skeleton = binding.GetSkeleton().GetPrim()  # that of the query is in the prototype
                        self._bound[str(target.GetPrim().GetPath())] = query, target, skeleton

    def moves(self, path: str) -> bool:
        """Whether the skeleton of a mesh is animated over time."""
        animation = self._bound[path][0].GetAnimQuery()
        return bool(animation) and animation.JointTransformsMightBeTimeVarying()

    def at(self, path: str, code: float) -> np.ndarray | None:
        """World positions (V, 3) of the points of a mesh in units of the stage; None where no skeleton deforms it."""
        if path not in self._bound:
            return None
        query, target, skeleton = self._bound[path]
        points = UsdGeom.PointBased(target.GetPrim()).GetPointsAttr().Get(code)
        matrices = query.ComputeSkinningTransforms(code)
        if not points or not matrices or not target.ComputeSkinnedPoints(matrices, points, code):
            return None
        W = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(skeleton))
        return np.array(points, float) @ W[:3, :3] + W[3, :3]

"""Where links are now, on the stage that a host shows: a layer below the session layer, without time samples.

Bodies of point instances are shown by the arrays of their instancer.

Each other link has one op, `xformOp:transform:warpArtic`, in place of its authored ones. With row vectors, as in USD, a
link of scale S at rotation R and translation t has the world matrix W = S R T, and under a parent of the world matrix P
the local one is W P^-1. A parent below another link moves with it: P = C W_A, with C constant and W_A that of the link.

Meshes that deform have their points here, as `usd.write_meshes` puts them into a run layer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pxr import Sdf, Usd, UsdGeom, Vt

from warp_artic.errors import StageError
from warp_artic.usd.instance_arrays import InstanceArrays, arrays_for_usd, block_stale
from warp_artic.usd.instances import with_instances
from warp_artic.usd.read_track import start_code
from warp_artic.usd.row_matrices import matrices, world_matrices, world_scales
from warp_artic.usd.time_samples import over, prim_named
from warp_artic.usd.write_meshes import follows, hold, local_points, start_matrix

OP = "xformOp:transform:warpArtic"


class LiveLayer:
    """Publishes poses of links and points of meshes on a stage until it is closed, which leaves the stage as it was.

    Args:
        stage: The stage of the host.
    """

    def __init__(self, stage: Usd.Stage):
        self.stage = stage
        self.layer = Sdf.Layer.CreateAnonymous("warp_artic_live.usda")
        self.links: tuple[str, ...] = ()
        self.meshes: tuple[str, ...] = ()

    def show(self, links: Sequence[str], meshes: Sequence[str] = ()) -> None:
        """Publish these links and meshes from now on, given by their prim paths, and no others.

        Raises:
            StageError: One of them is not on the stage, or nothing can be shown below the prim above it.
        """
        stage = self.stage
        self.layer.Clear()
        mesh_prims = [prim_named(stage, path, "elastic body") for path in meshes]
        self._instanced = with_instances(stage)
        moving = self._instanced.moving
        prims = [prim_named(self._instanced.stage, path, "link") for path in links]
        self._meters = UsdGeom.GetStageMetersPerUnit(stage)
        time = Usd.TimeCode(start_code(stage))
        cache = UsdGeom.XformCache(time)
        # A body of an instance moves the instance, which is below its instancer.
        roots = [moving[path].root if path in moving else path for path in links]
        held = [self._instanced.stage.GetPrimAtPath(path) for path in roots]
        self._carriers = _carriers(held)
        self._moving = [row for row, prim in enumerate(held) if _varies(prim, held, self._carriers[row])]
        self._prims = held
        self._from_parent = self._inverse_parents(cache)
        self._scale = world_scales(prims, cache)
        self._mesh_matrices = [start_matrix(prim) for prim in mesh_prims]
        with Sdf.ChangeBlock():
            self._attributes = [None if path in moving else self._define(prim) for path, prim in zip(links, prims)]
            self._instancers = self._define_instancers(prims, links, moving, cache)
            self._points = [self._define_points(prim, W, links) for prim, W in zip(mesh_prims, self._mesh_matrices)]
        self._shown = np.full((len(prims), 4, 4), np.nan)
        self.links, self.meshes = tuple(links), tuple(meshes)
        session = stage.GetSessionLayer()
        if self.layer.identifier not in session.subLayerPaths:
            session.subLayerPaths.insert(0, self.layer.identifier)

    def publish(self, poses: np.ndarray, time: Usd.TimeCode | None = None, points: Sequence[np.ndarray] = ()) -> None:
        """Show links at world poses, position xyz [m] and quaternion xyzw, shape (links, 7).

        `time` is that of prims above links that are animated; by default where they are at the start. `points` are
        world positions [m] of the nodes of each mesh, of shape (nodes, 3).
        """
        W = world_matrices(self._scale, matrices(poses[:, 3:].astype(float)), poses[:, :3] / self._meters)
        if self._moving and time is not None:
            cache = UsdGeom.XformCache(time)
            for row in self._moving:
                self._from_parent[row] = np.linalg.inv(self._parent(row, cache))
        local = W @ self._from_parent
        carried = np.flatnonzero(self._carriers >= 0)
        if carried.size:
            local[carried] = W[carried] @ np.linalg.inv(W[self._carriers[carried]]) @ self._from_parent[carried]
        rows = np.flatnonzero((local != self._shown).any(axis=(1, 2)))
        self._shown[rows] = local[rows]
        values = Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(local[rows].reshape(-1, 16)))
        with Sdf.ChangeBlock():
            for row, value in zip(rows.tolist(), values):
                if self._attributes[row] is not None:
                    self._attributes[row].default = value
            for own, arrays, spec in self._instancers:
                if not np.isin(own, rows).any():
                    continue
                (positions,), (quaternions,) = arrays.at(local[own][None])
                for name, (_, value) in arrays_for_usd(positions, quaternions).items():
                    spec.attributes[name].default = value
            for attributes, W, world in zip(self._points, self._mesh_matrices, points):
                local = local_points(world, W, self._meters)
                for attribute, array in zip(attributes, (local, np.stack([local.min(axis=0), local.max(axis=0)]))):
                    attribute.default = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(array, np.float32))

    def close(self) -> None:
        """Take the layer off the stage."""
        session = self.stage.GetSessionLayer()
        if self.layer.identifier in session.subLayerPaths:
            session.subLayerPaths.remove(self.layer.identifier)

    def _parent(self, row: int, cache: UsdGeom.XformCache) -> np.ndarray:
        """P of a link, or C of one that another link carries."""
        P = np.array(cache.GetLocalToWorldTransform(self._prims[row].GetParent()))
        if self._carriers[row] < 0:
            return P
        return P @ np.linalg.inv(np.array(cache.GetLocalToWorldTransform(self._prims[self._carriers[row]])))

    def _inverse_parents(self, cache: UsdGeom.XformCache) -> np.ndarray:
        """P^-1 of each link, or C^-1 of one that another link carries."""
        parents = np.array([self._parent(row, cache) for row in range(len(self._prims))]).reshape(-1, 4, 4)
        flat = np.abs(np.linalg.det(parents[:, :3, :3])) < 1e-30
        if flat.any():
            path = self._prims[int(np.argmax(flat))].GetPath()
            raise StageError(f"{path}: the prim above it has a scale of zero, so no pose can be shown")
        return np.linalg.inv(parents)

    def _define(self, prim: Usd.Prim) -> Sdf.AttributeSpec:
        spec = over(self.layer, prim)
        order = Sdf.AttributeSpec(spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
        order.default = Vt.TokenArray([OP])
        return Sdf.AttributeSpec(spec, OP, Sdf.ValueTypeNames.Matrix4d)

    def _define_instancers(self, prims, links, moving, cache) -> list[tuple[list[int], InstanceArrays, Sdf.PrimSpec]]:
        """The rows of each instancer, and what it is shown by."""
        groups: dict[str, list[int]] = {}
        for row, path in enumerate(links):
            if path in moving:
                groups.setdefault(moving[path].instancer, []).append(row)
        found = []
        for path, rows in groups.items():
            instancer = self.stage.GetPrimAtPath(path)
            bodies = np.array([cache.GetLocalToWorldTransform(prims[row]) for row in rows])
            indices = [moving[links[row]].index for row in rows]
            arrays = InstanceArrays(instancer, indices, bodies, cache.GetTime().GetValue())
            spec = over(self.layer, instancer)
            for name, (kind, _) in arrays_for_usd(np.zeros((0, 3)), np.zeros((0, 4))).items():
                Sdf.AttributeSpec(spec, name, kind)
            block_stale(spec, instancer)
            found.append((rows, arrays, spec))
        return found

    def _define_points(self, prim: Usd.Prim, W: np.ndarray, links: Sequence[str]) -> tuple[Sdf.AttributeSpec, ...]:
        """The points of a mesh and its extent."""
        spec = over(self.layer, prim)
        if follows(prim, links):
            hold(spec, W)
        types = {"points": Sdf.ValueTypeNames.Point3fArray, "extent": Sdf.ValueTypeNames.Float3Array}
        return tuple(Sdf.AttributeSpec(spec, name, kind) for name, kind in types.items())


def _carriers(prims: list[Usd.Prim]) -> np.ndarray:
    """The row of the nearest link above each link, or -1."""
    rows = {prim.GetPath(): row for row, prim in enumerate(prims)}
    found = np.full(len(prims), -1)
    for row, prim in enumerate(prims):
        parent = prim.GetParent()
        while not parent.IsPseudoRoot() and found[row] < 0:
            found[row] = rows.get(parent.GetPath(), -1)
            xformable = UsdGeom.Xformable(parent)
            if xformable and xformable.GetResetXformStack() and found[row] < 0:
                break
            parent = parent.GetParent()
    return found


def _varies(prim: Usd.Prim, prims: list[Usd.Prim], carrier: int) -> bool:
    """Whether a prim above one is animated, below the link that carries it if there is one."""
    parent = prim.GetParent()
    while not parent.IsPseudoRoot() and (carrier < 0 or parent != prims[carrier]):
        xformable = UsdGeom.Xformable(parent)
        if xformable and xformable.TransformMightBeTimeVarying():
            return True
        parent = parent.GetParent()
    return False

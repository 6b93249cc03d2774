"""Many environments on one stage: a point instancer for each link, with an instance for each environment.

    /WarpArticEnvironments/link_0            PointInstancer: positions, orientations
    /WarpArticEnvironments/link_0/prototypes (class)/link -> what the link looks like, at its authored scale

They lie on a layer of their own below the session layer, as defaults, not as time samples. One environment is shown by
a `LiveLayer`, with the links of the stage themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pxr import Sdf, Usd, UsdGeom, Vt

from warp_artic.errors import SettingsError
from warp_artic.usd.instances import with_instances
from warp_artic.usd.row_matrices import scale_and_rotation
from warp_artic.usd.time_samples import prim_named

ROOT = Sdf.Path("/WarpArticEnvironments")
SCALE = "xformOp:scale:warpArtic"


class Instancers:
    """Shows links of many environments until it is closed, which leaves the stage as it was.

    Args:
        stage: The stage of the host.
        links: Prim paths of the links.
        environments: How many there are.
        spacing: From one environment to the next, in a square grid [m]; zero: all in the same place.

    Raises:
        StageError: A link is not on the stage.
        SettingsError: An argument has a value that is not allowed.
    """

    def __init__(self, stage: Usd.Stage, links: Sequence[str], environments: int, spacing: float = 2.0):
        if isinstance(environments, bool) or not isinstance(environments, int) or environments < 1:
            raise SettingsError(f"environments: {environments!r} is not an integer of at least 1")
        if not 0.0 <= spacing < math.inf:
            raise SettingsError(f"spacing: {spacing!r} is not a finite number of at least 0")
        self.stage = stage
        self.layer = Sdf.Layer.CreateAnonymous("warp_artic_environments.usda")
        self._meters = UsdGeom.GetStageMetersPerUnit(stage)
        self._offsets = _grid(environments, spacing, UsdGeom.GetStageUpAxis(stage))
        instanced = with_instances(stage)
        prims = [prim_named(instanced.stage, path, "link") for path in links]
        looks = [prim.GetPath() for prim in prims]
        for number, path in enumerate(links):
            if path in instanced.moving:
                looks[number] = Sdf.Path(instanced.moving[path].like)
        cache = UsdGeom.XformCache()
        with Sdf.ChangeBlock():
            Sdf.CreatePrimInLayer(self.layer, ROOT).specifier = Sdf.SpecifierDef
            self._links = [self._define(number, prim, looks[number], prims, cache) for number, prim in enumerate(prims)]

    def open(self) -> None:
        """Let the stage show the layer."""
        self.stage.GetSessionLayer().subLayerPaths.insert(0, self.layer.identifier)

    def publish(self, poses: np.ndarray) -> None:
        """Show links at world poses, position xyz [m] and quaternion xyzw, shape (links, 7, environments)."""
        positions = (poses[:, :3].transpose(0, 2, 1) + self._offsets) / self._meters
        quaternions = poses[:, 3:].transpose(0, 2, 1)
        with Sdf.ChangeBlock():
            for (position, orientation), own, turns in zip(self._links, positions, quaternions):
                position.default = Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(own, np.float32))
                orientation.default = Vt.QuatfArray.FromNumpy(np.ascontiguousarray(turns, np.float32))

    def close(self) -> None:
        """Take the layer off the stage."""
        session = self.stage.GetSessionLayer()
        if self.layer.identifier in session.subLayerPaths:
            session.subLayerPaths.remove(self.layer.identifier)

    def _define(self, number: int, prim: Usd.Prim, look: Sdf.Path, prims: list[Usd.Prim], cache: UsdGeom.XformCache):
        """The attributes of the positions and orientations of a link."""
        path = ROOT.AppendChild(f"link_{number}")
        spec = Sdf.CreatePrimInLayer(self.layer, path)
        spec.specifier, spec.typeName = Sdf.SpecifierDef, "PointInstancer"
        shelf = Sdf.PrimSpec(spec, "prototypes", Sdf.SpecifierClass)
        shown = Sdf.PrimSpec(shelf, "link", Sdf.SpecifierDef)
        shown.referenceList.prependedItems.append(Sdf.Reference("", look))
        scale, _ = scale_and_rotation(np.array(cache.GetLocalToWorldTransform(prim))[None])
        Sdf.AttributeSpec(shown, SCALE, Sdf.ValueTypeNames.Double3).default = tuple(map(float, scale[0]))
        order = Sdf.AttributeSpec(shown, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
        order.default = Vt.TokenArray([SCALE])
        for other in prims:
            if other != prim and other.GetPath().HasPrefix(prim.GetPath()):
                below = other.GetPath().ReplacePrefix(prim.GetPath(), shown.path)
                Sdf.CreatePrimInLayer(self.layer, below).active = False
        Sdf.RelationshipSpec(spec, "prototypes").targetPathList.prependedItems.append(shown.path)
        indices = Sdf.AttributeSpec(spec, "protoIndices", Sdf.ValueTypeNames.IntArray)
        indices.default = Vt.IntArray(len(self._offsets))
        return (
            Sdf.AttributeSpec(spec, "positions", Sdf.ValueTypeNames.Point3fArray),
            Sdf.AttributeSpec(spec, "orientationsf", Sdf.ValueTypeNames.QuatfArray),
        )


def _grid(count: int, spacing: float, up: str) -> np.ndarray:
    """Where environments stand [m], shape (count, 3): the first one where it is, the others in rows beside it."""
    side = math.ceil(math.sqrt(count))
    numbers = np.arange(count)
    offsets = np.zeros((count, 3))
    offsets[:, 0] = spacing * (numbers % side)
    offsets[:, 1 if up == UsdGeom.Tokens.z else 2] = spacing * (numbers // side)
    return offsets

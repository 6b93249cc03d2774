"""Instances of point instancers as prims: a stage of the same layers on which each instance is a prim of its own.

    /World/Rocks               PointInstancer, here an Xform; what is below it, its prototypes too, is abstract
    /World/Rocks/instance_3    the instance of index 3: refers to its prototype, and stands where USD places it

So a body of an instance is called `/World/Rocks/instance_3`, or `/World/Rocks/instance_3/body` where it is below the
root of its prototype. As PhysX has it, an instance moves one body, inactive instances are none, invisible ones are, and
prototypes elsewhere on the stage are prims of their own as well. The stage itself is never edited.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, Vt

from warp_artic.usd import tokens
from warp_artic.usd.attributes import forwarded_targets
from warp_artic.usd.changes import changes
from warp_artic.usd.inventory import traverse
from warp_artic.usd.open_stage import stage_beside
from warp_artic.usd.placement import decompose
from warp_artic.usd.read_track import start_code
from warp_artic.usd.time_samples import over

PARTICLES = "PhysxParticleSetAPI"
OP = "xformOp:transform"
OF_PLACE = ("positions", "orientations", "orientationsf", "scales")
OF_MOTION = ("velocities", "angularVelocities")
ARRAYS = {
    "protoIndices": Vt.IntArray,
    "ids": Vt.Int64Array,
    "invisibleIds": Vt.Int64Array,
    "positions": Vt.Vec3fArray,
    "orientations": Vt.QuathArray,
    "orientationsf": Vt.QuatfArray,
    "scales": Vt.Vec3fArray,
    "velocities": Vt.Vec3fArray,
    "angularVelocities": Vt.Vec3fArray,
}
"""Attributes of an instancer of which the start is read."""
NAMING = ("collection:colliders:includes", "collection:colliders:excludes", "physics:filteredPairs")
"""Relationships to colliders and bodies, which mean all instances of a prototype where they lead to one."""
RUN = "warpArtic"
"""In the custom data of an instancer that a run has written."""
UNEVEN = 1e-6
"""By how much the scale of an instancer may differ between directions, relative to it, squared."""
MORE = (*tokens.JOINTS, *tokens.GEARS, tokens.ARTIC_FIXED_TENDON, tokens.ARTIC_SPATIAL_TENDON, tokens.ARTIC_MESH_TENDON)
"""What is between bodies."""
ALL = Usd.TraverseInstanceProxies(Usd.PrimIsActive & Usd.PrimIsLoaded)


@dataclass(frozen=True)
class Instance:
    """The body that an instance moves."""

    instancer: str
    index: int
    root: str
    """The prim of the instance."""
    like: str
    """The body of its prototype."""


@dataclass(frozen=True)
class Instanced:
    """A stage with its instances as prims."""

    stage: Usd.Stage
    moving: dict[str, Instance] = field(default_factory=dict)
    """By the path of the body that moves."""
    told: tuple[tuple[str, str], ...] = ()
    """Paths of instancers, and what is to be said of them."""


def with_instances(stage: Usd.Stage, in_time: bool = False) -> Instanced:
    """A stage with the instances of all instancers that have rigid bodies or colliders; itself where there are none.

    Args:
        stage: It may be animated; instances then are where they are at the start.
        in_time: Whether instances move as they are animated.
    """
    found = [prim for prim in traverse(stage) if prim.GetTypeName() == "PointInstancer"]
    found = [_Instancer(prim, in_time) for prim in found if PARTICLES not in _schemas(prim)]
    acting = [one for one in found if one.has_physics]
    if not acting:
        return Instanced(stage)
    found = [one for one in found if one in acting or any(other.is_inside(one) for other in acting)]
    layer = Sdf.Layer.CreateAnonymous("instances.usda")
    if stage.GetSessionLayer():
        layer.TransferContent(stage.GetSessionLayer())
    with Sdf.ChangeBlock():
        for one in found:
            one.write(layer, is_nested=any(map(one.is_inside, found)))
        _name_all(stage, layer, found)
    moving = {body: instance for one in found for body, instance in one.moving.items()}
    return Instanced(stage_beside(stage, layer), moving, tuple(line for one in found for line in one.told))


class _Instancer:
    """Reads one instancer, and writes its instances."""

    def __init__(self, prim: Usd.Prim, in_time: bool):
        self.prim, self.path, self.in_time = prim, str(prim.GetPath()), in_time
        self.schema = UsdGeom.PointInstancer(prim)
        stage = prim.GetStage()
        self.code = start_code(stage)
        targets = forwarded_targets(prim, "prototypes") or ()
        self.prototypes = [stage.GetPrimAtPath(path.GetPrimPath()) for path in targets]
        self.physics = [_physics(one) if one else [] for one in self.prototypes]
        self.is_used = any(self.physics)
        self.has_physics = self.is_used or bool(_physics(prim))
        self.roots: dict[str, list[str]] = {}
        """The prims of instances, by the path of their prototype."""
        self.moving: dict[str, Instance] = {}
        self.told: list[tuple[str, str]] = []

    def is_inside(self, other: _Instancer) -> bool:
        """Whether it is below another instancer, or in a prototype of it."""
        own = self.prim.GetPath()
        return other is not self and any(own.HasPrefix(one.GetPath()) for one in (other.prim, *other.prototypes) if one)

    def write(self, layer: Sdf.Layer, is_nested: bool) -> None:
        """Add its instances to a layer, and hide what is below it."""
        over(layer, self.prim).typeName = "Xform"
        for child in self.prim.GetAllChildren():
            Sdf.CreatePrimInLayer(layer, child.GetPath()).specifier = Sdf.SpecifierClass
        if not self.is_used:
            self.tell("bodies and colliders below it are in none of its prototypes: they are not simulated")
            return
        wrong = self._wrong()
        if wrong:
            self.tell(f"its instances are not simulated: {wrong}")
            return
        self._warn_of_motion()
        self._write(layer, self._bodies(is_nested))

    def _wrong(self) -> str:
        """What is wrong with the arrays; empty where nothing is."""
        for name, kind in ARRAYS.items():
            attribute = self.prim.GetAttribute(name)
            value = attribute.Get(self.code) if attribute else ""
            if not (value is None or isinstance(value, kind)):
                return f"{name} is no {kind.__name__}"
        indices = np.array(self._values("protoIndices"), int)
        if not len(indices):
            return "it has no protoIndices"
        bad = (indices < 0) | (indices >= len(self.prototypes))
        if bad.any():
            return f"protoIndices has {indices[bad][0]}, and it has {len(self.prototypes)} prototypes"
        for name in (*OF_PLACE, *OF_MOTION, "ids"):
            count = len(self._values(name))
            if count != len(indices) and (count or name == "positions"):
                return f"{name} has {count} values, and protoIndices {len(indices)}"
        if not all(np.isfinite(np.array(self._values(name), float)).all() for name in (*OF_PLACE, *OF_MOTION)):
            return "its arrays have values that are not finite"
        return ""

    def tell(self, text: str) -> None:
        """Add a warning."""
        self.told.append((self.path, text))

    def _values(self, name: str):
        value = self.prim.GetAttribute(name).Get(self.code)
        return () if value is None else value

    def _warn_of_motion(self) -> None:
        moving = [name for name in ARRAYS if changes(self.prim.GetAttribute(name))]
        if moving and RUN not in self.prim.GetCustomData():
            text = f"{', '.join(moving)} change over time: only where its instances are at the start is used"
            self.tell(text)

    def _bodies(self, is_nested: bool) -> list[Usd.Prim | None]:
        """The body that instances of each prototype move, if there is one; what cannot be simulated is told."""
        W = np.array(UsdGeom.XformCache(self.code).GetLocalToWorldTransform(self.prim))[:3, :3]
        stretch = W @ W.T / max(np.trace(W @ W.T) / 3.0, 1e-300)
        is_uneven = np.abs(stretch - np.eye(3)).max() > UNEVEN
        found = []
        for number, physics in enumerate(self.physics):
            moving = [prim for prim in physics if _moves(prim)]
            found.append(moving[0] if moving else None)
            name = self.prototypes[number].GetPath() if self.prototypes[number] else ""
            other = next((prim for prim in physics if _is_more(prim)), None)
            if len(moving) > 1:
                why = f"it has {len(moving)} rigid bodies, and an instance moves one"
            elif other:
                what = "an elastic body" if tokens.ARTIC_ELASTIC_BODY in _schemas(other) else other.GetTypeName()
                why = f"{other.GetPath()} is {what}, and an instance has one rigid body and colliders"
            elif moving and is_nested:
                why = "the instancer is below another one, or in a prototype of one, which has no place for bodies"
            elif moving and is_uneven:
                why = "the scale of the instancer in the world is not uniform, which has no place for bodies that turn"
            else:
                continue
            self.tell(f"instances of {name} are not simulated: {why}")
            self.prototypes[number] = None
        return found

    def _write(self, layer: Sdf.Layer, bodies: list[Usd.Prim | None]) -> None:
        stem, indices = "instance", self._values("protoIndices")
        names = [child.GetName() for child in self.prim.GetAllChildren()]
        while any(name.startswith(f"{stem}_") for name in names):
            stem += "_"
        ids = self._values("ids") or range(len(indices))
        inactive = self.prim.GetMetadata("inactiveIds")
        inactive = set(inactive.ApplyOperations([])) if inactive else set()
        invisible = set(self._values("invisibleIds"))
        codes = self._codes()
        matrices = [
            self.schema.ComputeInstanceTransformsAtTime(
                code, code, UsdGeom.PointInstancer.IncludeProtoXform, UsdGeom.PointInstancer.IgnoreMask
            )
            for code in codes
        ]
        velocities = [self._values(name) for name in OF_MOTION]
        cache = UsdGeom.XformCache(self.code)
        for index, number in enumerate(indices):
            prototype = self.prototypes[number]
            if not prototype or not prototype.IsActive() or ids[index] in inactive:
                continue
            path = self.prim.GetPath().AppendChild(f"{stem}_{index}")
            like = str(prototype.GetPath())
            self.roots.setdefault(like, []).append(str(path))
            spec = Sdf.CreatePrimInLayer(layer, path)
            spec.specifier = Sdf.SpecifierDef
            if not prototype.IsA(UsdGeom.Xformable):
                spec.typeName = "Xform"
            spec.referenceList.prependedItems.append(Sdf.Reference("", prototype.GetPath()))
            place = Sdf.AttributeSpec(spec, OP, Sdf.ValueTypeNames.Matrix4d)
            place.default = matrices[0][index]
            for code, own in zip(codes, matrices) if len(codes) > 1 else ():
                layer.SetTimeSample(place.path, code, own[index])
            order = Sdf.AttributeSpec(spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
            order.default = Vt.TokenArray([OP])
            if ids[index] in invisible:
                shown = Sdf.AttributeSpec(spec, "visibility", Sdf.ValueTypeNames.Token)
                shown.default = UsdGeom.Tokens.invisible
            body = bodies[number]
            if body is None:
                continue
            moved = str(path) + str(body.GetPath())[len(like) :]
            self.moving[moved] = Instance(self.path, index, str(path), str(body.GetPath()))
            if any(map(len, velocities)):
                above = Gf.Matrix4d(1.0)
                if body != prototype:
                    above = cache.ComputeRelativeTransform(body.GetParent(), prototype)[0] * matrices[0][index]
                place = body
                while place.GetPath().HasPrefix(prototype.GetPath()):
                    if place.IsInstanceable():
                        Sdf.CreatePrimInLayer(layer, place.GetPath().ReplacePrefix(like, path)).SetInfo(
                            "instanceable", False
                        )
                    place = place.GetParent()
                _write_velocities(Sdf.CreatePrimInLayer(layer, moved), velocities, index, np.array(above).T)

    def _codes(self) -> list[float]:
        """The start, or all times of samples where instances are to move."""
        if not self.in_time:
            return [self.code]
        found = {code for name in OF_PLACE for code in self.prim.GetAttribute(name).GetTimeSamples()}
        return sorted(found) or [self.code]


def _write_velocities(spec: Sdf.PrimSpec, velocities: list, index: int, above: np.ndarray) -> None:
    """The velocities of an instance [units/s, degrees/s], given in the space of its instancer, on its body.

    `above` (4, 4) leads from the space above the body, where those of bodies are given, to that of the instancer.
    """
    if not np.isfinite(above).all():  # an error, when the body is placed
        return
    turn = decompose(above[None])[0][0].rotation
    for name, values, A in zip(("velocity", "angularVelocity"), velocities, (above[:3, :3], turn)):
        if len(values):
            attribute = Sdf.AttributeSpec(spec, f"physics:{name}", Sdf.ValueTypeNames.Vector3f)
            attribute.default = Gf.Vec3f(*(np.linalg.pinv(A) @ np.array(values[index], float)).tolist())


def _name_all(stage: Usd.Stage, layer: Sdf.Layer, instancers: list[_Instancer]) -> None:
    """Let relationships that lead to prototypes lead to all of their instances as well."""
    roots = [(Sdf.Path(like), paths) for one in instancers for like, paths in one.roots.items()]
    for prim in Usd.PrimRange.Stage(stage, ALL):
        for name in NAMING:
            relationship = prim.GetRelationship(name)
            added = [
                target.ReplacePrefix(like, path)
                for target in (relationship.GetForwardedTargets() if relationship else ())
                for like, paths in roots
                if target.HasPrefix(like)
                for path in paths
            ]
            if added:
                spec = Sdf.RelationshipSpec(over(layer, prim), name, False)
                spec.targetPathList.appendedItems = added


def _physics(root: Usd.Prim) -> list[Usd.Prim]:
    """The bodies, colliders and joints at and below a prim."""
    acting = {tokens.RIGID_BODY, tokens.COLLISION}
    return [one for one in Usd.PrimRange(root, ALL) if _schemas(one) & acting or _is_more(one)]


def _is_more(prim: Usd.Prim) -> bool:
    """Whether a prim is more than a rigid body or a collider."""
    return prim.GetTypeName() in MORE or tokens.ARTIC_ELASTIC_BODY in _schemas(prim)


def _schemas(prim: Usd.Prim) -> set[str]:
    return set(prim.GetPrimTypeInfo().GetAppliedAPISchemas())


def _moves(prim: Usd.Prim) -> bool:
    """Whether a prim is a rigid body that moves by forces."""
    if tokens.RIGID_BODY not in _schemas(prim):
        return False
    flags = [
        prim.GetAttribute(f"physics:{name}").Get(start_code(prim.GetStage()))
        for name in ("rigidBodyEnabled", "kinematicEnabled")
    ]
    return flags[0] is not False and not flags[1]

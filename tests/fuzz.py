"""Stages that are broken on purpose: one change, or a few, by a seed, to a stage of a corpus."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pxr import Gf, Sdf, Usd, Vt

from tests.usd import test_couplings_never_crash, test_mjc_never_crashes
from tests.usd.authoring import open_text
from tests.usd_schemas import test_never_crash
from warp_artic.usd import tokens

ROOT = Path(__file__).parents[1]
FOLDERS = ("samples/scenes", "tests/data/oracle/stages", "tests/data/peers", "tests/data/mujoco")
LARGEST = 6500
"""Larger files are left out [bytes]."""
NAMES = Sdf.ValueTypeNames
WRONG = (
    (NAMES.String, "wrong"),
    (NAMES.Token, "wrong"),
    (NAMES.Asset, Sdf.AssetPath("nowhere.usda")),
    (NAMES.DoubleArray, Vt.DoubleArray([1.0, 2.0])),
    (NAMES.Double3, Gf.Vec3d(1, 2, 3)),
    (NAMES.Matrix4d, Gf.Matrix4d(1)),
    (NAMES.StringArray, Vt.StringArray(["a", "b"])),
)
"""Types and values that attributes do not have."""
ALIKE = (
    (str,),
    (Gf.Vec3f, Gf.Vec3d),
    (Vt.FloatArray, Vt.DoubleArray),
    (Vt.StringArray, Vt.TokenArray),
    (Gf.Matrix4d,),
    (Sdf.AssetPath,),
)
"""Types that may stand for each other."""
ABSURD = (math.nan, math.inf, -math.inf, -1.0, 0.0, 1e30, -1e30, 3e38, 1e-30, 1e6)
WHOLE = (-1, 0, 2**31 - 1, 7)
WORDS = ("", "wrong", "rotX", "X", "linear", "/", "a b", "é")
SCHEMAS = (
    "PhysicsDriveAPI",
    "PhysicsDriveAPI:",
    "PhysicsDriveAPI:nowhere",
    "PhysicsDriveAPI:angular:angular",
    "PhysicsLimitAPI:rotX",
    "PhysxLimitAPI:angular",
    "PhysxMimicJointAPI:rotY",
    "PhysxTendonAxisAPI:lost",
    "PhysxTendonAttachmentLeafAPI:lost",
    "PhysicsRigidBodyAPI",
    "PhysicsArticulationRootAPI",
    "PhysicsMassAPI",
    "PhysicsCollisionAPI",
    "NewtonMimicAPI",
    "WarpArticMimicAPI:angular",
    "MjcEqualityJointAPI",
    "NonsenseAPI",
)


@dataclass(frozen=True)
class Change:
    """What was done to a stage."""

    kind: str
    prim: str = "/"
    name: str = ""
    """Of the property, where it was one."""
    value: object = None

    @property
    def path(self) -> str:
        """The property, or the prim."""
        return f"{self.prim}.{self.name}" if self.name else self.prim


@functools.cache
def corpus() -> tuple[Sdf.Layer, ...]:
    """The stages that are changed, flattened."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.usd*"))]
    stages = [Usd.Stage.Open(str(path)) for path in paths if path.stat().st_size < LARGEST]
    stages.append(Usd.Stage.Open(test_never_crash.mechanism()))
    stages.append(test_mjc_never_crashes.mechanism())
    stages.append(open_text(test_couplings_never_crash.STAGE))
    return tuple(stage.Flatten() for stage in stages)


def fresh(number: int) -> Sdf.Layer:
    """A stage of the corpus, as a layer to change."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(corpus()[number])
    return layer


@functools.cache
def prims(number: int) -> tuple[str, ...]:
    """All prims that a stage is made of; not its classes and prototypes, which flattened prims have no use for."""
    stage = Usd.Stage.Open(corpus()[number])
    return tuple(str(prim.GetPath()) for prim in stage.Traverse())


@functools.cache
def places(number: int) -> tuple[tuple[str, str], ...]:
    """Their physics properties and transform ops: prims and names."""
    specs = [(path, corpus()[number].GetPrimAtPath(path)) for path in prims(number)]
    names = [(path, name) for path, spec in specs for name in sorted(spec.properties.keys())]
    return tuple((path, name) for path, name in names if name.startswith((*tokens.NAMESPACES, "xformOp")))


def broken(seed: int) -> tuple[int, Usd.Stage, list[Change]]:
    """A stage of the corpus by its number, changed once, or, every fourth one, up to four times."""
    random_ = random.Random(seed)
    number = random_.randrange(len(corpus()))
    layer = fresh(number)
    count = random_.randint(2, 4) if seed % 4 == 3 else 1
    changes: list[Change] = []
    while len(changes) < count:
        change = random_.choice(CHANGES)(layer, number, random_)
        if change is not None:
            changes.append(change)
    return number, Usd.Stage.Open(layer), changes


def _property(layer, number: int, random_: random.Random, kind: type) -> Sdf.PropertySpec | None:
    """A property that is of a kind of spec, if the draw finds one that is still there."""
    prim, name = random_.choice(places(number))
    spec = layer.GetPropertyAtPath(f"{prim}.{name}")
    return spec if isinstance(spec, kind) else None


def _change(kind: str, spec: Sdf.PropertySpec, value=None) -> Change:
    return Change(kind, str(spec.owner.path), spec.name, value)


def drop_property(layer, number, random_) -> Change | None:
    """An attribute or a relationship is gone."""
    spec = _property(layer, number, random_, Sdf.PropertySpec)
    if spec is None:
        return None
    change = _change("drop", spec)
    spec.owner.RemoveProperty(spec)
    return change


def drop_prim(layer, number, random_) -> Change | None:
    """A prim is gone, with all below it."""
    spec = layer.GetPrimAtPath(random_.choice(prims(number)))
    if spec is None or spec.nameParent is None:
        return None
    change = Change("drop prim", str(spec.path))
    del spec.nameParent.nameChildren[spec.name]
    return change


def retype(layer, number, random_) -> Change | None:
    """An attribute is of a type that it cannot be of."""
    spec = _property(layer, number, random_, Sdf.AttributeSpec)
    if spec is None:
        return None
    kind, value = random_.choice(WRONG)
    if any(isinstance(spec.default, alike) and isinstance(value, alike) for alike in ALIKE):
        return None
    owner, name = spec.owner, spec.name
    owner.RemoveProperty(spec)
    Sdf.AttributeSpec(owner, name, kind).default = value
    return Change("retype", str(owner.path), name, value)


def absurd(layer, number, random_) -> Change | None:
    """A value of the right type that is out of this world."""
    spec = _property(layer, number, random_, Sdf.AttributeSpec)
    value = None if spec is None else _absurd_value(spec.default, random_)
    if value is None:
        return None
    spec.default = value
    return _change("absurd", spec, value)


def _absurd_value(value, random_: random.Random):
    number = random_.choice(ABSURD)
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return number
    if isinstance(value, int):
        return random_.choice(WHOLE)
    if isinstance(value, str):
        return random_.choice(WORDS)
    if isinstance(value, (Gf.Vec3f, Gf.Vec3d)):
        components = list(value)
        components[random_.randrange(3)] = number
        return type(value)(components)
    if isinstance(value, (Gf.Quatf, Gf.Quatd)):
        return type(value)(number, *value.GetImaginary())
    if isinstance(value, (Vt.FloatArray, Vt.DoubleArray)):
        return type(value)(random_.choice(([], [number], [*value, number], [number] * 2000)))
    if isinstance(value, Vt.IntArray):
        return type(value)(random_.choice(([], [-1], [*value, 2**30], [0] * 2000)))
    if isinstance(value, (Vt.TokenArray, Vt.StringArray)):
        return type(value)(random_.choice(([], ["wrong"], [*value, *value], ["!resetXformStack!", *value])))
    if isinstance(value, Gf.Matrix4d):
        return random_.choice((Gf.Matrix4d(0), Gf.Matrix4d(number), Gf.Matrix4d(*range(16))))
    return None


def nudge(layer, number, random_) -> Change | None:
    """A sensible value that is another one."""
    spec = _property(layer, number, random_, Sdf.AttributeSpec)
    if spec is None or not isinstance(spec.default, float) or not math.isfinite(spec.default):
        return None
    spec.default = 1.03125 * spec.default or 0.03125
    return _change("nudge", spec, spec.default)


def mislead(layer, number, random_) -> Change | None:
    """A relationship leads nowhere, to itself, to a property, or to some prim."""
    spec = _property(layer, number, random_, Sdf.RelationshipSpec)
    if spec is None:
        return None
    own = str(spec.owner.path)
    anywhere = random_.choice(prims(number))
    targets = random_.choice((["/nowhere"], [own], [f"{own}.physics:axis"], [anywhere], [anywhere, own], []))
    spec.targetPathList.explicitItems = targets
    return _change("mislead", spec, tuple(targets))


def block(layer, number, random_) -> Change | None:
    """An attribute without a value, or with time samples only."""
    spec = _property(layer, number, random_, Sdf.AttributeSpec)
    if spec is None or spec.default is None:
        return None
    value = spec.default
    if random_.random() < 0.5:
        spec.default = Sdf.ValueBlock()
        return _change("block", spec)
    spec.ClearDefaultValue()
    layer.SetTimeSample(spec.path, random_.choice((0.0, 5.0)), value)
    return _change("samples", spec, value)


def mismeasure(layer, number, random_) -> Change | None:
    """Units, up axis and rates of the stage."""
    name = random_.choice(("metersPerUnit", "kilogramsPerUnit", "upAxis", "timeCodesPerSecond", "startTimeCode"))
    value = random_.choice(("X", "up", "Z", "") if name == "upAxis" else (0.0, -1.0, math.nan, math.inf, 1e-12, 100.0))
    layer.pseudoRoot.SetInfo(name, value)
    return Change("mismeasure", name=name, value=value)


def misapply(layer, number, random_) -> Change | None:
    """A schema too few, or one too many, or under a name that it cannot have."""
    spec = layer.GetPrimAtPath(random_.choice(prims(number)))
    if spec is None:
        return None
    applied = list(spec.GetInfo("apiSchemas").GetAppliedItems()) if spec.HasInfo("apiSchemas") else []
    if applied and random_.random() < 0.5:
        value = applied.pop(random_.randrange(len(applied)))
        kind = "unapply"
    else:
        value, kind = random_.choice(SCHEMAS), "apply"
        applied = [*(name for name in applied if name != value), value]
    spec.SetInfo("apiSchemas", Sdf.TokenListOp.CreateExplicit(applied))
    return Change(kind, str(spec.path), value=value)


def double(layer, number, random_) -> Change | None:
    """A prim twice: joints that close loops, bodies at one place, nested articulations."""
    path = Sdf.Path(random_.choice(prims(number)))
    if layer.GetPrimAtPath(path) is None:
        return None
    inside = random_.random() < 0.3
    parent = path if inside else path.GetParentPath()
    target = parent.AppendChild(f"{path.name}_again")
    Sdf.CopySpec(layer, path, layer, target)
    return Change("double", str(path), value=str(target))


def misplace(layer, number, random_) -> Change | None:
    """Transform ops of odd kinds."""
    spec = layer.GetPrimAtPath(random_.choice(prims(number)))
    if spec is None:
        return None
    kind, name, value = random_.choice(
        (
            (NAMES.Matrix4d, "xformOp:transform", Gf.Matrix4d(0)),
            (NAMES.Matrix4d, "xformOp:transform", Gf.Matrix4d(*range(16))),
            (NAMES.Float3, "xformOp:rotateXYZ", Gf.Vec3f(30, math.nan, 10)),
            (NAMES.Float3, "xformOp:rotateXYZ", Gf.Vec3f(30, 20, 10)),
            (NAMES.Float3, "xformOp:scale", Gf.Vec3f(0, 1, 1)),
            (NAMES.Float3, "xformOp:scale", Gf.Vec3f(-1, 2, 3)),
            (NAMES.String, "xformOp:translate:odd", "wrong"),
            (NAMES.Double3, "xformOp:nonsense", Gf.Vec3d(1)),
        )
    )
    if name in spec.properties:
        return None
    Sdf.AttributeSpec(spec, name, kind).default = value
    before = ()
    if "xformOpOrder" in spec.properties:
        order = spec.properties["xformOpOrder"]
        before = order.default if isinstance(order.default, Vt.TokenArray) else ()
        spec.RemoveProperty(order)
    order = Sdf.AttributeSpec(spec, "xformOpOrder", NAMES.TokenArray, Sdf.VariabilityUniform)
    order.default = Vt.TokenArray([*before, name])
    return Change("misplace", str(spec.path), name, value)


CHANGES: tuple[Callable, ...] = (
    *(drop_property, retype, absurd, nudge, mislead) * 3,
    drop_prim,
    block,
    mismeasure,
    misapply,
    double,
    misplace,
)
"""Those of properties come oftener."""

"""Files that are broken on purpose: text, bytes, packages, layers that make up a stage, units, and whole trees.

Where `fuzz.py` changes one thing in an open stage, these are files as they are found. `broken_file(seed, folder)`
writes one; a seed gives the same one each time. `fuzz_files.py` tells what reading them gives.
"""

from __future__ import annotations

import functools
import math
import random
import re
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from pxr import Gf, Sdf, Tf, Usd, UsdUtils, Vt

from tests import fuzz_bodies

ROOT = Path(__file__).parents[1]
FOLDERS = ("samples/scenes", "tests/data")
LARGEST = 40000
"""Larger files are left out [bytes]."""
NUMBER = re.compile(rb"(?<![\w/.])-?\d+(\.\d+)?(e[+-]?\d+)?(?![\w/.])")
TYPE = re.compile(rb"\b(float|double|float3|double3|bool|token|int|quatf|point3f|rel|string|uniform|custom)\b")
ABSURD = (b"nan", b"inf", b"-inf", b"-1", b"0", b"1e30", b"-1e30", b"1e-30", b"1e400", b"3e38", b"2147483647", b'"x"')
TYPES = (b"bool", b"token", b"float3", b"double[]", b"matrix4d", b"string", b"asset", b"rel", b"int64", b"half")
UNITS = (0.0, -1.0, math.nan, math.inf, -math.inf, 1e-30, 1e30, 1e-12, 1e12, 100.0)
EXTREME = (math.nan, math.inf, -math.inf, 0.0, -1.0, 1e38, -1e38, 1e-38, 1e-45, 1e30, -1e30, 1e15, 1e-15, 1e6, 1e-6)
ROOTS = ("PhysicsArticulationRootAPI", "PhysicsRigidBodyAPI")


@functools.cache
def sources() -> tuple[Path, ...]:
    """The files that are broken."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.usd*"))]
    return tuple(path for path in found if path.suffix in (".usd", ".usda") and path.stat().st_size < LARGEST)


@functools.cache
def flattened(number: int) -> Sdf.Layer:
    """A source without what it is composed of."""
    return Usd.Stage.Open(str(sources()[number])).Flatten()


@functools.cache
def packed(number: int) -> bytes:
    """A source as a .usdc file."""
    with tempfile.TemporaryDirectory() as folder:
        flattened(number).Export(f"{folder}/packed.usdc")
        return Path(f"{folder}/packed.usdc").read_bytes()


def layer_of(random_: random.Random) -> Sdf.Layer:
    """One of the sources, to change."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(flattened(random_.randrange(len(sources()))))
    return layer


def specs(layer: Sdf.Layer, kind: type) -> list:
    """All specs of a kind in a layer."""
    found = []
    layer.Traverse("/", lambda path: found.append(layer.GetObjectAtPath(path)))
    return [spec for spec in found if isinstance(spec, kind)]


def text(random_: random.Random, folder: Path) -> Path:
    """A text with wrong bytes, gaps and repetitions, with absurd numbers, or with types that are others."""
    content = bytearray(flattened(random_.randrange(len(sources()))).ExportToString().encode())
    for _ in range(random_.choice((1, 1, 2, 5))):
        place, how = random_.randrange(len(content)), random_.randrange(6)
        if how == 0:
            content[place] = random_.randrange(256)
        elif how == 1:
            del content[place : place + random_.randrange(60)]
        elif how == 2:
            content[place:place] = content[random_.randrange(len(content)) :][: random_.randrange(300)]
        else:
            pattern, others = (TYPE, TYPES) if how == 3 else (NUMBER, ABSURD)
            hits = list(pattern.finditer(bytes(content)))
            if hits:
                hit = random_.choice(hits)
                content[hit.start() : hit.end()] = random_.choice(others)
    if random_.random() < 0.05:
        del content[random_.randrange(len(content)) :]
    path = folder / "text.usda"
    path.write_bytes(content)
    return path


def flipped(content: bytes, random_: random.Random) -> bytes:
    """With some bytes changed, and sometimes cut short."""
    changed = bytearray(content)
    for _ in range(random_.choice((1, 2, 8, 40))):
        changed[random_.randrange(len(changed))] = random_.randrange(256)
    return bytes(changed[: random_.randrange(len(changed))] if random_.random() < 0.15 else changed)


def binary(random_: random.Random, folder: Path) -> Path:
    """A .usdc file with flipped bytes, sometimes under another name."""
    path = folder / random_.choice(("binary.usdc", "binary.usdc", "binary.usd", "binary.usda"))
    path.write_bytes(flipped(packed(random_.randrange(len(sources()))), random_))
    return path


def package(random_: random.Random, folder: Path) -> Path:
    """A .usdz package: a good one, one with flipped bytes, with a compressed or no layer, or with another in it."""
    path, number = folder / "package.usdz", random_.randrange(len(sources()))
    how = random_.randrange(5)
    if how < 2:
        inner = folder / "inner.usdc"
        inner.write_bytes(packed(number) if how == 0 else flipped(packed(number), random_))
        UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(inner)), str(path)) if how == 0 else _zip(path, inner)
        if random_.random() < 0.7 and path.exists():
            path.write_bytes(flipped(path.read_bytes(), random_))
    elif how == 2:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("inner.usdc", packed(number))
    elif how == 3:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(random_.choice(("readme.txt", "inner.usda", "../inner.usda")), random_.choice(("", "x")))
    else:
        path.write_bytes(random_.choice((b"", b"PK\x03\x04", packed(number))))
    if not path.exists():
        path.write_bytes(b"PK")
    return path


def _zip(path: Path, inner: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(inner, inner.name)


def layers(random_: random.Random, folder: Path) -> Path:
    """A stage of several layers: sublayers, references, payloads, inherits and instances, gone, in rings, or twice."""
    part, root = folder / "part.usda", folder / "root.usda"
    layer = layer_of(random_)
    layer.Export(str(part))
    inside = [f"<{spec.path}>" for spec in specs(layer, Sdf.PrimSpec) if spec.path != Sdf.Path("/")]

    def arc() -> str:
        file = random_.choice(("@part.usda@", "@part.usda@", "@part.usda@", "@root.usda@", "@nowhere.usda@", "@@"))
        prim = random_.choice((*inside, "", "", "</nowhere>", "</Copy_0>"))
        offset, scale = random_.choice(("0", "5", "nan", "inf")), random_.choice(("1", "0", "-1", "nan", "1e30"))
        return f"{file}{prim} (offset = {offset}; scale = {scale})" if random_.random() < 0.2 else f"{file}{prim}"

    def prim(name: str, depth: int) -> str:
        lines = []
        for _ in range(random_.choice((1, 1, 2))):
            how = random_.randrange(6)
            if how < 3:
                lines.append(f"prepend references = {arc()}")
            elif how == 3:
                lines.append(f"prepend payload = {arc()}")
            elif how == 4:
                lines.append(f"prepend references = {random_.choice((*inside, '</Copy_0>', '</Copy_1>'))}")
            else:
                lines.append(f"prepend inherits = {random_.choice(('</Copy_0>', '</World>', '</nowhere>'))}")
        if random_.random() < 0.5:
            lines.append("instanceable = true")
        content = _transform(random_) if random_.random() < 0.5 else ""
        if depth < 2 and random_.random() < 0.3:
            content += prim(f"{name}_in", depth + 1)
        kind = random_.choice(("def Xform", "def Xform", "def", "over", "class Xform"))
        return f'{kind} "{name}" (\n' + "\n".join(lines) + "\n)\n{\n" + content + "}\n"

    head = '#usda 1.0\n(\n    defaultPrim = "Copy_0"\n'
    if random_.random() < 0.5:
        chosen = [arc().partition("<")[0].partition(" ")[0] for _ in range(random_.choice((1, 2)))]
        head += f"    subLayers = [{', '.join(chosen)}]\n"
    names = ("Copy_0", "Copy_1", "World", "Copy_2")[: random_.randrange(1, 5)]
    root.write_text(head + ")\n" + "".join(prim(name, 0) for name in names))
    return root


def _transform(random_: random.Random) -> str:
    """A transform, which may be a bad one."""
    rows = [[float(row == column) for column in range(4)] for row in range(4)]
    rows[3][random_.randrange(3)] = random_.choice((0.0, 1.0, 2.0))
    if random_.random() < 0.4:
        rows[random_.randrange(4)][random_.randrange(4)] = random_.choice(EXTREME)
    matrix = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    return f'matrix4d xformOp:transform = ({matrix})\nuniform token[] xformOpOrder = ["xformOp:transform"]\n'


def units(random_: random.Random, folder: Path) -> Path:
    """Units, rates and times of the stage that are zero, negative, no number, or out of this world."""
    layer = layer_of(random_)
    names = ("metersPerUnit", "kilogramsPerUnit", "timeCodesPerSecond", "framesPerSecond", "startTimeCode",
             "endTimeCode")  # fmt: skip
    for name in random_.sample(names, random_.choice((1, 1, 2, 3))):
        layer.pseudoRoot.SetInfo(name, random_.choice(UNITS))
    if random_.random() < 0.2:
        layer.pseudoRoot.SetInfo("upAxis", random_.choice(("X", "up", "Z", "Y")))
    return _exported(layer, folder, "units")


def numbers(random_: random.Random, folder: Path) -> Path:
    """Huge and tiny numbers, no numbers, and whole tables of them, also over time."""
    layer = layer_of(random_)
    found = [spec for spec in specs(layer, Sdf.AttributeSpec) if _absurd(spec.default, random_) is not None]
    for spec in random_.sample(found, min(len(found), random_.choice((1, 1, 2, 4, 20)))):
        value = _absurd(spec.default, random_)
        if random_.random() < 0.15:
            for code in (0.0, random_.choice((1.0, 1e30, 24.0))):
                layer.SetTimeSample(spec.path, code, value)
        else:
            spec.default = value
    return _exported(layer, folder, "numbers")


def _absurd(value, random_: random.Random):
    number = random_.choice(EXTREME)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        return number if random_.random() < 0.7 else value * random_.choice((1e6, 1e-6, 1e15, 1e-15, -1.0))
    if isinstance(value, int):
        return random_.choice((-1, 0, 2**31 - 1, -(2**31), 1000))
    if isinstance(value, (Gf.Vec3f, Gf.Vec3d)):
        return type(value)(*(random_.choice((one, one, number)) for one in value))
    if isinstance(value, (Gf.Quatf, Gf.Quatd)):
        return type(value)(random_.choice((0.0, number)), *random_.choice(((0, 0, 0), (number, 1, 0), (1, 1, 1))))
    if isinstance(value, (Vt.FloatArray, Vt.DoubleArray)):
        return type(value)([random_.choice((one, number)) for one in value] + random_.choice(([], [number])))
    if isinstance(value, Vt.Vec3fArray) and len(value):
        points = list(value)
        points[random_.randrange(len(points))] = Gf.Vec3f(number, 0, 0)
        return Vt.Vec3fArray(points)
    if isinstance(value, Vt.IntArray) and len(value):
        return Vt.IntArray([random_.choice((one, one, random_.choice((-1, 2**30, 0)))) for one in value])
    return None


def types(random_: random.Random, folder: Path) -> Path:
    """Attributes of wrong types, and relationships that are attributes, or the other way round."""
    layer = layer_of(random_)
    found = [spec for spec in specs(layer, Sdf.PropertySpec) if spec.name != "xformOpOrder" or random_.random() < 0.2]
    wrong = (
        ("String", "wrong"),
        ("Token", "wrong"),
        ("Double", 1.5),
        ("Int", 3),
        ("Bool", True),
        ("DoubleArray", Vt.DoubleArray([1.0, 2.0])),
        ("Double3", Gf.Vec3d(1, 2, 3)),
        ("Matrix4d", Gf.Matrix4d(1)),
        ("StringArray", Vt.StringArray(["a", "b"])),
        ("Asset", Sdf.AssetPath("nowhere.usda")),
        ("TimeCode", Sdf.TimeCode(2.0)),
        ("Half", 1.0),
        ("Quatf", Gf.Quatf(1)),
    )
    for spec in random_.sample(found, min(len(found), random_.choice((1, 1, 2, 5)))):
        owner, name, is_relationship = spec.owner, spec.name, isinstance(spec, Sdf.RelationshipSpec)
        if name not in owner.properties:
            continue
        owner.RemoveProperty(spec)
        if not is_relationship and random_.random() < 0.2:
            Sdf.RelationshipSpec(owner, name).targetPathList.Append(random_.choice(("/nowhere", str(owner.path))))
        else:
            kind, value = random_.choice(wrong)
            Sdf.AttributeSpec(owner, name, getattr(Sdf.ValueTypeNames, kind)).default = value
    return _exported(layer, folder, "types")


def targets(random_: random.Random, folder: Path) -> Path:
    """Relationships that lead nowhere, in rings, to several prims, or to each other's."""
    layer = layer_of(random_)
    prims = [str(spec.path) for spec in specs(layer, Sdf.PrimSpec) if spec.path != Sdf.Path("/")]
    found = specs(layer, Sdf.RelationshipSpec)
    for spec in random_.sample(found, min(len(found), random_.choice((1, 2, 5, 30)))):
        own, other = str(spec.owner.path), random_.choice(prims)
        spec.targetPathList.explicitItems = random_.choice(
            (["/nowhere"], [own], [other], [other, own], [], [f"{own}.{spec.name}"], [f"{other}/nowhere"])
        )
    return _exported(layer, folder, "targets")


def nested(random_: random.Random, folder: Path) -> Path:
    """Articulation roots and bodies inside each other, joints twice, parts moved below others."""
    layer = layer_of(random_)
    prims = [spec for spec in specs(layer, Sdf.PrimSpec) if spec.path != Sdf.Path("/")]
    for spec in random_.sample(prims, min(len(prims), random_.choice((1, 2, 4, 10)))):
        if layer.GetPrimAtPath(spec.path) is None:
            continue
        how = random_.randrange(4)
        if how < 2:
            applied = list(spec.GetInfo("apiSchemas").GetAppliedItems()) if spec.HasInfo("apiSchemas") else []
            name = random_.choice(ROOTS)
            applied = [one for one in applied if one != name] + [name] * (name not in applied)
            spec.SetInfo("apiSchemas", Sdf.TokenListOp.CreateExplicit(applied))
        elif how == 2:
            parent = random_.choice(prims).path
            target = parent.AppendChild(f"again_{random_.randrange(9)}")
            if layer.GetPrimAtPath(parent) and not parent.HasPrefix(spec.path) and not layer.GetPrimAtPath(target):
                Sdf.CopySpec(layer, spec.path, layer, target)
        else:
            spec.SetInfo("active", False)
    return _exported(layer, folder, "nested")


def sizes(random_: random.Random, folder: Path) -> Path:
    """A whole mechanism that is scaled to be huge or tiny, heavy or light, stiff or soft."""
    layer = layer_of(random_)
    of = dict.fromkeys(("length", "mass", "gain"), 1.0)
    for name in random_.sample(list(of), random_.choice((1, 1, 2))):
        of[name] = 10.0 ** random_.choice((-30, -15, -9, -6, -3, 3, 6, 9, 15, 30))
    for spec in specs(layer, Sdf.AttributeSpec):
        name, value = spec.name, spec.default
        if value is None or isinstance(value, (bool, int, str)):
            continue
        kind = (
            "length" if name.startswith(("xformOp:translate", "physics:localPos", "size", "radius", "height", "points"))
            else "mass" if name in ("physics:mass", "physics:density")
            else "gain" if name.endswith((":stiffness", ":damping", ":maxForce"))
            else None
        )  # fmt: skip
        try:
            if kind is not None:
                is_list = hasattr(value, "__len__")
                spec.default = type(value)([one * of[kind] for one in value]) if is_list else value * of[kind]
        except (TypeError, Tf.ErrorException):
            continue
    return _exported(layer, folder, "sizes")


def _exported(layer: Sdf.Layer, folder: Path, name: str) -> Path:
    path = folder / f"{name}.usda"
    layer.Export(str(path))
    return path


def touching(random_: random.Random, folder: Path) -> Path:
    """Bodies that touch, with all that colliders have."""
    return fuzz_bodies.touching(random_, folder, layer_of(random_))


def joined(random_: random.Random, folder: Path) -> Path:
    """Bodies in loops of joints, with gears."""
    return fuzz_bodies.joined(random_, folder, layer_of(random_))


KINDS: tuple[Callable[[random.Random, Path], Path], ...] = (
    text, binary, package, layers, units, numbers, types, targets, nested, sizes, touching, joined
)  # fmt: skip


def broken_file(seed: int, folder: Path) -> Path:
    """Write one broken file, with what goes with it."""
    random_ = random.Random(seed)
    return KINDS[seed % len(KINDS)](random_, folder)

"""Bodies that touch, and joints between them, drawn by a seed, with values among them that cannot be.

`touching` draws colliders of every kind on bodies that overlap, with physics materials, collision groups, filtered
pairs and offsets; `joined` draws joints that close loops, drives and limits on them, gears, and racks with pinions.
Some stages lie over one of the samples. Most values are sensible, so that many stages can be stepped.
"""

from __future__ import annotations

import random
from pathlib import Path

from pxr import Sdf

NUMBERS = ("nan", "inf", "-inf", "0", "-1", "1e30", "-1e30", "1e-30", "1e38", "1e-45", "1e6", "1e-6")
KINDS = ("Cube", "Sphere", "Capsule", "Cylinder", "Cone", "Plane", "Mesh", "Mesh", "Mesh", "Xform", "Points")
APPROXIMATIONS = ("none", "convexHull", "convexDecomposition", "boundingSphere", "boundingCube", "meshSimplification",
                  "sdf", "sphereFill", "wrong", "")  # fmt: skip
TETRAHEDRON = ([(0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)], [3, 3, 3, 3], [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3])
SQUARE = ([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [4], [0, 1, 2, 3])
LINE = ([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [3], [0, 1, 2])
NOTHING: tuple[list, list, list] = ([], [], [])
JOINTS = ("PhysicsFixedJoint", "PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint",
          "PhysicsDistanceJoint", "PhysicsJoint")  # fmt: skip
AXES = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ", "distance", "linear", "angular", "swing", "slerp", "odd")
HEAD = '#usda 1.0\n(\n    metersPerUnit = {meters}\n    kilogramsPerUnit = 1\n    upAxis = "Z"\n{layers})\n'


class Draw:
    """Numbers and words, of which a share cannot be."""

    def __init__(self, random_: random.Random):
        self.random = random_
        self.wrong = random_.choice((0.0, 0.0, 0.01, 0.01, 0.1))
        """How often a value is wrong."""

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def number(self, low: float, high: float) -> str:
        """A number in a range, mostly."""
        return self.random.choice(NUMBERS) if self.chance(self.wrong) else f"{self.random.uniform(low, high):.4g}"

    def vector(self, low: float, high: float) -> str:
        return f"({', '.join(self.number(low, high) for _ in range(3))})"

    def lines(self, share: float, *lines: str) -> str:
        """Those of some lines that the draw takes, each for itself."""
        return "".join(f"{line}\n" for line in lines if self.chance(share))

    def target(self, paths: list[str]) -> str:
        """One of some paths, mostly."""
        odd = ("/nowhere", "/Drawn", f"{Sdf.Path(paths[0]).GetPrimPath()}.physics:mass")
        return self.random.choice(odd if self.chance(self.wrong) else paths)

    def relationship(self, name: str, paths: list[str], most: int = 1) -> str:
        """A relationship to some of these paths."""
        count = self.random.randrange(1, most + 1)
        targets = dict.fromkeys(self.target(paths) for _ in range(count))
        return f"rel {name} = [{', '.join(f'<{path}>' for path in targets)}]\n"


def schemas(*names: str) -> str:
    return f"(prepend apiSchemas = [{', '.join(map(repr, names))}])".replace("'", '"')


def shape(draw: Draw, name: str, materials: list[str], others: list[str]) -> str:
    """A collider."""
    kind = draw.random.choice(KINDS)
    applied = ["PhysicsCollisionAPI", "MaterialBindingAPI"]
    text = {
        "Cube": lambda: f"double size = {draw.number(0.1, 0.6)}\n",
        "Sphere": lambda: f"double radius = {draw.number(0.05, 0.3)}\n",
        "Mesh": lambda: mesh(draw, applied),
    }.get(
        kind,
        lambda: (
            ""
            if kind in ("Plane", "Xform", "Points")
            else f"double radius = {draw.number(0.05, 0.3)}\ndouble height = {draw.number(0.1, 0.6)}\n"
            f'uniform token axis = "{draw.random.choice("XYZ")}"\n'
        ),
    )()
    text += draw.lines(
        0.1,
        f"bool physics:collisionEnabled = {draw.random.randrange(2)}",
        f"float physxCollision:contactOffset = {draw.number(0.0, 0.05)}",
        f"float physxCollision:restOffset = {draw.number(-0.01, 0.02)}",
        f"float newton:contactMargin = {draw.number(0.0, 0.02)}",
        f"float newton:contactGap = {draw.number(0.0, 0.02)}",
        f"int mjc:condim = {draw.random.choice((1, 3, 4, 6, 0, -1))}",
    )
    if materials and draw.chance(0.6):
        text += draw.relationship(draw.random.choice(("material:binding:physics", "material:binding")), materials)
    if draw.chance(0.15):
        applied.append("PhysicsFilteredPairsAPI")
        text += draw.relationship("physics:filteredPairs", others, most=3)
    ops = []
    if draw.chance(0.4):
        ops.append("xformOp:translate")
        text += f"double3 xformOp:translate = {draw.vector(-0.2, 0.2)}\n"
    if draw.chance(0.3):
        ops.append("xformOp:rotateXYZ")
        text += f"float3 xformOp:rotateXYZ = {draw.vector(-180.0, 180.0)}\n"
    if draw.chance(0.3):
        ops.append("xformOp:scale")
        text += f"float3 xformOp:scale = {draw.vector(-1.0, 2.0) if draw.chance(0.3) else draw.vector(0.5, 2.0)}\n"
    return f'def {kind} "{name}" {schemas(*applied)} {{\n{text}{order(ops)}}}\n'


def mesh(draw: Draw, applied: list[str]) -> str:
    """A mesh, with corners that are none among its points, faces of other lengths, or no faces."""
    points, counts, indices = (
        list(part) for part in draw.random.choice((TETRAHEDRON, TETRAHEDRON, SQUARE, LINE, NOTHING))
    )
    if draw.chance(0.2):
        points += [tuple(draw.random.uniform(-0.3, 0.3) for _ in range(3)) for _ in range(draw.random.choice((1, 50)))]
    if indices and draw.chance(2.0 * draw.wrong):
        indices[draw.random.randrange(len(indices))] = draw.random.choice((-1, 99, 2**31 - 1, 0))
    if counts and draw.chance(2.0 * draw.wrong):
        counts[draw.random.randrange(len(counts))] = draw.random.choice((-1, 0, 1, 2, 5, 2**31 - 1))
    corners = [str(point) for point in points]
    if corners and draw.chance(2.0 * draw.wrong):
        corners[draw.random.randrange(len(corners))] = draw.vector(-1.0, 1.0).replace(
            "0.", draw.random.choice(("0.", "1e30"))
        )
    text = f"point3f[] points = [{', '.join(corners)}]\nint[] faceVertexCounts = {counts}\n"
    text += f"int[] faceVertexIndices = {indices}\n"
    text += draw.lines(
        0.2, 'uniform token orientation = "leftHanded"', f"int[] holeIndices = [{draw.random.choice((0, 9, -1))}]"
    )
    if draw.chance(0.7):
        applied.append("PhysicsMeshCollisionAPI")
        text += f'uniform token physics:approximation = "{draw.random.choice(APPROXIMATIONS)}"\n'
        text += draw.lines(
            0.2, f"int physxConvexHullCollision:hullVertexLimit = {draw.random.choice((-1, 0, 3, 8, 64))}"
        )
    return text


def order(ops: list[str]) -> str:
    return f"uniform token[] xformOpOrder = [{', '.join(f'{chr(34)}{op}{chr(34)}' for op in ops)}]\n" if ops else ""


def material(draw: Draw, name: str) -> str:
    """A physics material."""
    text = f"float physics:staticFriction = {draw.number(0.0, 1.5)}\n"
    text += f"float physics:dynamicFriction = {draw.number(0.0, 1.0)}\n"
    text += f"float physics:restitution = {draw.number(0.0, 1.0)}\n"
    modes = ("average", "min", "multiply", "max", *["wrong"] * draw.chance(draw.wrong))
    text += draw.lines(
        0.2,
        f'uniform token physxMaterial:frictionCombineMode = "{draw.random.choice(modes)}"',
        f'uniform token physxMaterial:restitutionCombineMode = "{draw.random.choice(modes)}"',
        f"float physxMaterial:compliantContactStiffness = {draw.number(0.0, 1e5)}",
        f"float physxMaterial:compliantContactDamping = {draw.number(0.0, 1e3)}",
        f"float newton:contactStiffness = {draw.number(0.0, 1e5)}",
        f"float newton:contactDamping = {draw.number(0.0, 1e3)}",
    )
    return f'def Material "{name}" {schemas("PhysicsMaterialAPI")} {{\n{text}}}\n'


def group(draw: Draw, name: str, groups: list[str], colliders: list[str]) -> str:
    """A collision group; its collection may take in itself."""
    rule = draw.random.choice(("explicitOnly", "expandPrims", "wrong"))
    text = draw.relationship(
        "collection:colliders:includes", [*colliders, f"/Drawn/{name}.collection:colliders"], most=4
    )
    text += draw.relationship("physics:filteredGroups", groups, most=3) if draw.chance(0.7) else ""
    text += draw.lines(
        0.25,
        f"bool physics:invertFilteredGroups = {draw.random.randrange(2)}",
        f'string physics:mergeGroup = "{draw.random.choice(("one", "two", ""))}"',
        f'uniform token collection:colliders:expansionRule = "{rule}"',
        f"rel collection:colliders:excludes = <{draw.target(colliders)}>",
    )
    return f'def PhysicsCollisionGroup "{name}" {schemas("CollectionAPI:colliders")} {{\n{text}}}\n'


def body(draw: Draw, name: str, place: str, content: str, is_root: bool) -> str:
    """A rigid body."""
    applied = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", *["PhysicsArticulationRootAPI"] * is_root]
    text = draw.lines(
        0.15,
        f"bool physics:kinematicEnabled = {draw.random.randrange(2)}",
        f"bool physics:rigidBodyEnabled = {draw.random.randrange(2)}",
        f"vector3f physics:velocity = {draw.vector(-2.0, 2.0)}",
        f"vector3f physics:angularVelocity = {draw.vector(-200.0, 200.0)}",
        f"float physxRigidBody:maxDepenetrationVelocity = {draw.number(0.0, 5.0)}",
        f"bool physxArticulation:enabledSelfCollisions = {draw.random.randrange(2)}",
    )
    if draw.chance(1.0 - draw.wrong):
        text += f"float physics:mass = {draw.number(0.1, 5.0)}\n"
    if draw.chance(0.5):
        text += f"float3 physics:diagonalInertia = {draw.vector(0.1, 0.15)}\n"
    return (
        f'def Xform "{name}" {schemas(*applied)} {{\n{text}double3 xformOp:translate = {place}\n'
        f"{order(['xformOp:translate'])}{content}}}\n"
    )


def joint(draw: Draw, name: str, places: dict[str, tuple]) -> str:
    """A joint between two bodies at these places, or of one and the world, with what may act on its axes.

    Most are closed at the start: their frames are at one point.
    """
    kind, applied = draw.random.choice(JOINTS), []
    point = tuple(round(draw.random.uniform(-0.5, 0.5), 3) for _ in range(3))
    ends = draw.random.sample(list(places), min(len(places), 1 + draw.chance(0.85)))
    if draw.chance(draw.wrong):
        ends = [ends[0], ends[0]]
    text = ""
    for side, path in zip((1, 0), ends):
        local = tuple(round(a - b, 6) for a, b in zip(point, places[path]))
        text += draw.relationship(f"physics:body{side}", [path])
        text += f"point3f physics:localPos{side} = {local if not draw.chance(draw.wrong) else draw.vector(-0.5, 0.5)}\n"
    if len(ends) == 1:
        text += f"point3f physics:localPos0 = {point}\n"
    if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsSphericalJoint"):
        text += f'uniform token physics:axis = "{draw.random.choice("XYZ")}"\n'
    text += draw.lines(
        0.25,
        f"bool physics:excludeFromArticulation = {draw.random.choice((1, 1, 0))}",
        f"bool physics:jointEnabled = {draw.random.randrange(2)}",
        f"bool physics:collisionEnabled = {draw.random.randrange(2)}",
        f"float physics:breakForce = {draw.number(0.0, 1e3)}",
        f"float physics:breakTorque = {draw.number(0.0, 1e3)}",
        f"float physics:lowerLimit = {draw.number(-90.0, 0.0)}",
        f"float physics:upperLimit = {draw.number(0.0, 90.0)}",
        f"float physics:coneAngle0Limit = {draw.number(10.0, 90.0)}",
        f"float physics:minDistance = {draw.number(0.0, 0.3)}",
        f"float physics:maxDistance = {draw.number(0.3, 1.0)}",
    )
    if draw.chance(0.3):
        turn = f"({draw.number(-1.0, 1.0)}, {draw.number(-1.0, 1.0)}, 0, {draw.number(0.1, 1.0)})"
        text += f"quatf physics:localRot0 = {turn}\nquatf physics:localRot1 = {turn}\n"
    for _ in range(draw.random.choice((0, 0, 1, 3))):
        axis, schema = draw.random.choice(AXES), draw.random.choice(("PhysicsLimitAPI", "PhysicsDriveAPI"))
        if f"{schema}:{axis}" in applied:
            continue
        applied.append(f"{schema}:{axis}")
        if schema == "PhysicsLimitAPI":
            text += f"float limit:{axis}:physics:low = {draw.number(-1.0, 0.5)}\n"
            text += f"float limit:{axis}:physics:high = {draw.number(-0.5, 1.0)}\n"
        else:
            text += f"float drive:{axis}:physics:stiffness = {draw.number(0.0, 1e3)}\n"
            text += f"float drive:{axis}:physics:damping = {draw.number(0.0, 1e2)}\n"
            text += draw.lines(0.5, f"float drive:{axis}:physics:targetPosition = {draw.number(-1.0, 1.0)}")
    return f'def {kind} "{name}" {schemas(*applied) if applied else ""} {{\n{text}}}\n'


def gear(draw: Draw, name: str, bodies: list[str], joints: list[str]) -> str:
    """A gear, or a rack with its pinion, between any two joints."""
    is_rack = draw.chance(0.4)
    text = draw.relationship("physics:body0", bodies) + draw.relationship("physics:body1", bodies)
    text += draw.relationship("physics:hinge" if is_rack else "physics:hinge0", joints)
    text += draw.relationship("physics:prismatic" if is_rack else "physics:hinge1", joints)
    text += f"float physics:{'ratio' if is_rack else 'gearRatio'} = {draw.number(-3.0, 3.0)}\n"
    return f'def PhysxPhysics{"RackAndPinion" if is_rack else "Gear"}Joint "{name}" {{\n{text}}}\n'


def drawn_places(draw: Draw, names: list[str]) -> dict[str, tuple]:
    """Places of bodies by their paths, so near each other that they overlap."""
    return {f"/Drawn/{name}": tuple(round(draw.random.uniform(-0.5, 0.5), 3) for _ in range(3)) for name in names}


def authored(draw: Draw, place: tuple) -> str:
    return draw.vector(-0.5, 0.5) if draw.chance(draw.wrong) else str(place)


def touching(random_: random.Random, folder: Path, layer: Sdf.Layer) -> Path:
    """Bodies with colliders of all kinds, which overlap, and what colliders have: materials, groups, filtered pairs."""
    draw = Draw(random_)
    bodies = [f"body_{k}" for k in range(random_.randrange(1, 5))]
    materials = [f"/Drawn/material_{k}" for k in range(random_.randrange(3))]
    groups = [f"/Drawn/group_{k}" for k in range(random_.choice((0, 0, 1, 2, 3)))]
    own = {name: [f"shape_{k}" for k in range(random_.randrange(1, 4))] for name in bodies}
    still = [f"shape_{k}" for k in range(random_.randrange(3))]
    colliders = [f"/Drawn/{name}/{part}" for name in bodies for part in own[name]]
    colliders += [f"/Drawn/{name}" for name in (*bodies, *still)]
    text = "".join(material(draw, Sdf.Path(path).name) for path in materials)
    text += "".join(group(draw, Sdf.Path(path).name, groups, colliders) for path in groups)
    text += "".join(shape(draw, name, materials, colliders) for name in still)
    places = drawn_places(draw, bodies)
    for name in bodies:
        shapes = "".join(shape(draw, part, materials, colliders) for part in own[name])
        text += body(draw, name, authored(draw, places[f"/Drawn/{name}"]), shapes, is_root=draw.chance(0.2))
    if draw.chance(0.3):
        text += joint(draw, "joint_0", places)
    return written(draw, folder, layer, text)


def joined(random_: random.Random, folder: Path, layer: Sdf.Layer) -> Path:
    """Bodies with more joints between them than a tree has, gears, and racks with pinions."""
    draw = Draw(random_)
    names = [f"body_{k}" for k in range(random_.randrange(2, 6))]
    bodies = [f"/Drawn/{name}" for name in names]
    joints = [f"/Drawn/joint_{k}" for k in range(random_.randrange(1, 8))]
    places, touches, text = drawn_places(draw, names), draw.chance(0.2), ""
    for number, name in enumerate(names):
        content = shape(draw, "shape", [], bodies) if touches else ""
        text += body(draw, name, authored(draw, places[bodies[number]]), content, is_root=draw.chance(0.1))
    text += "".join(joint(draw, Sdf.Path(path).name, places) for path in joints)
    text += "".join(gear(draw, f"gear_{k}", bodies, joints) for k in range(random_.choice((0, 0, 1, 2))))
    return written(draw, folder, layer, text)


def written(draw: Draw, folder: Path, layer: Sdf.Layer, text: str) -> Path:
    """A stage of some prims, by themselves or over another one."""
    path, layers = folder / "drawn.usda", ""
    if draw.chance(0.25):
        layer.Export(str(folder / "below.usda"))
        layers = "    subLayers = [@below.usda@]\n"
    meters = draw.random.choice(("1", "1", "1", "0.01"))
    path.write_text(HEAD.format(meters=meters, layers=layers) + f'def Xform "Drawn" {{\n{text}}}\n')
    return path

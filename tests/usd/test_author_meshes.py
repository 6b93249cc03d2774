"""Authoring elastic bodies and the tendons on them: what is authored is what is read, and mistakes are said first."""

import math

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, Vt

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, warnings_of
from tests.usd.meshes import BLOCK_POINTS, BLOCK_TETRAHEDRA, SHEET_FACES, SHEET_POINTS, world
from tests.usd_schemas.source import SOURCE
from warp_artic import author
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, WorldPoint
from warp_artic.errors import SettingsError, StageError
from warp_artic.usd.read_stage import read_stage

SHEET, BLOCK, CABLE, GUM = "/World/sheet", "/World/block", "/World/cable", "/World/gum"


def bare(header: str = SI) -> Usd.Stage:
    """An arm, and two meshes that nothing is said of."""
    stage = world(header=header, material="")
    sheet = UsdGeom.Mesh.Define(stage, SHEET)
    sheet.CreatePointsAttr(Vt.Vec3fArray([Gf.Vec3f(*point) for point in SHEET_POINTS]))
    sheet.CreateFaceVertexCountsAttr([3] * len(SHEET_FACES))
    sheet.CreateFaceVertexIndicesAttr([node for face in SHEET_FACES for node in face])
    block = UsdGeom.TetMesh.Define(stage, BLOCK)
    block.CreatePointsAttr(Vt.Vec3fArray([Gf.Vec3f(*point) for point in BLOCK_POINTS]))
    block.CreateTetVertexIndicesAttr([Gf.Vec4i(*nodes) for nodes in BLOCK_TETRAHEDRA])
    return stage


def authored(header: str = SI) -> Usd.Stage:
    """Everything that can be authored."""
    stage = bare(header)
    author.elastic_material(
        stage,
        GUM,
        young_modulus=3000,
        poisson_ratio=0.4,
        density=1.5,
        law="corotated",
        mass_damping=0.1,
        stiffness_damping=0.2,
    )
    author.elastic_body(
        stage,
        SHEET,
        GUM,
        pinned=[0, 3],
        attached=[(2, "/World/tip", (1, 0, 0)), (5, "/World/base", (0, 1, 0))],
        rest_points=[(0.5 * x, y, z) for x, y, z in SHEET_POINTS],
        plane_state="stress",
        thickness=0.25,
    )
    author.elastic_body(stage, BLOCK, GUM, attached=[(0, "/World/base")])
    author.mesh_tendon(
        stage,
        CABLE,
        SHEET,
        [1, {3: 0.5, 4: 0.25, 5: 0.25}, ("/World/tip", (0, 0, 1)), (1, 2, 3)],
        law="spring",
        stiffness=40,
        smoothing=0.5,
        target_length=2,
        target_tension=3,
        min_tension=0.5,
        max_tension=60,
    )
    author.mesh_tendon(stage, "/World/straight", BLOCK, [0, 4], stiffness=1, max_tension=math.inf)
    return stage


@pytest.mark.parametrize("header, metre, kilogram", [(SI, 1.0, 1.0), (SMALL_UNITS, 0.01, 0.001)])
def test_round_trip(header, metre, kilogram, tmp_path):
    """Authored, saved and read, everything is what was said, in SI units."""
    authored(header).GetRootLayer().Export(str(tmp_path / "authored.usdc"))
    stage = Usd.Stage.Open(str(tmp_path / "authored.usdc"))
    spring = f"{CABLE}: has a given tension, which does not act: its law is spring"
    assert errors_of(stage) == [] and warnings_of(stage) == [spring]
    scene = read_stage(stage)
    sheet, block = scene.elastic_bodies
    material = sheet.material
    assert material == block.material
    assert material.young_modulus == pytest.approx(3000 * kilogram / metre)
    assert material.density == pytest.approx(1.5 * kilogram / metre**3)
    assert (material.law.value, material.poisson_ratio) == ("corotated", 0.4)
    assert (material.mass_damping, material.stiffness_damping) == (0.1, 0.2)
    assert (sheet.pinned, sheet.plane_state.value, sheet.thickness) == ((0, 3), "stress", 0.25 * metre)
    np.testing.assert_allclose(sheet.points, np.array(SHEET_POINTS)[:, :2] * (0.5 * metre, metre))
    np.testing.assert_allclose(sheet.start_points, np.array(SHEET_POINTS)[:, :2] * metre)
    assert [(one.node, one.link) for one in sheet.attachments] == [(2, "/World/tip"), (5, "/World/base")]
    np.testing.assert_allclose(sheet.attachments[1].position, (0, metre, 0))
    cable, straight = scene.mesh_tendons
    assert [type(point) for point in cable.waypoints] == [BodyPoint, BodyPoint, LinkPoint, WorldPoint]
    assert cable.waypoints[1] == BodyPoint(nodes=(3, 4, 5), weights=(0.5, 0.25, 0.25))
    np.testing.assert_allclose(cable.waypoints[3].position, np.array((1, 2, 3)) * metre)
    assert (cable.law.value, cable.stiffness) == ("spring", pytest.approx(40 * kilogram))
    assert (cable.smoothing, cable.target_length) == (pytest.approx(0.5 * metre), pytest.approx(2 * metre))
    newton = kilogram * metre
    tensions = (cable.tension, cable.min_tension, cable.max_tension)
    assert tensions == pytest.approx((3 * newton, 0.5 * newton, 60 * newton))
    assert straight.waypoints == (BodyPoint(nodes=(0,)), BodyPoint(nodes=(4,)))


def test_types_and_variability_are_those_of_the_schemas():
    """Every attribute is authored as the schema declares it, and each is authored."""
    classes = ("WarpArticElasticBodyAPI", "WarpArticElasticMaterialAPI", "WarpArticMeshTendon")
    declared = {spec.name: spec for name in classes for spec in SOURCE.GetPrimAtPath(f"/{name}").attributes}
    stage, found = authored(), set()
    for prim in stage.Traverse():
        for attribute in prim.GetAuthoredAttributes():
            name = attribute.GetName()
            if name in declared:
                spec = stage.GetRootLayer().GetAttributeAtPath(attribute.GetPath())
                assert (spec.typeName, spec.variability) == (declared[name].typeName, declared[name].variability), name
                assert not spec.custom
                found.add(name)
    outputs = {name for name, spec in declared.items() if spec.documentation.startswith("Output")}
    assert found == set(declared) - outputs


def test_a_second_call_fits_the_lists():
    """Waypoints are given anew as a whole; what is not given stays."""
    stage = authored()
    author.mesh_tendon(stage, CABLE, SHEET, [0, 5])
    cable, _ = read_stage(stage).mesh_tendons
    assert cable.waypoints == (BodyPoint(nodes=(0,)), BodyPoint(nodes=(5,)))
    assert cable.stiffness == 40
    author.mesh_tendon(stage, "/World/plain", SHEET, [0, 5], stiffness=1)
    assert not stage.GetPrimAtPath("/World/plain").GetAttribute("warpArtic:nodeCounts").HasAuthoredValue()


MISTAKES = {
    "no mesh": (lambda s: author.elastic_body(s, "/World/tip", GUM), "/World/tip: is a Xform, must be a Mesh or a Tet"),
    "no material": (
        lambda s: author.elastic_body(s, SHEET, SHEET),
        f"{SHEET}.material:binding:physics: leads to {SHEET}",
    ),
    "pinned": (lambda s: author.elastic_body(s, SHEET, pinned=[6]), "pinnedNodes: has 6, must have nodes from 0 to 5"),
    "twice": (lambda s: author.elastic_body(s, SHEET, pinned=[1, 1]), "pinnedNodes: has a node twice: [1, 1]"),
    "nowhere": (lambda s: author.elastic_body(s, SHEET, attached=[(0, "/No")]), "/No: there is no such prim"),
    "mixed": (
        lambda s: author.elastic_body(s, SHEET, attached=[(0, "/World/tip"), (1, "/World/tip", (0, 0, 0))]),
        "attached is (node, link) for each node, or (node, link, point) for each",
    ),
    "rest": (lambda s: author.elastic_body(s, SHEET, rest_points=[(0, 0, 0)]), "restPoints: has 1 points for 6"),
    "thickness": (lambda s: author.elastic_body(s, SHEET, thickness=0), "thickness: is 0, must be above 0"),
    "state": (lambda s: author.elastic_body(s, SHEET, plane_state="flat"), "must be one of strain, stress"),
    "young": (lambda s: author.elastic_material(s, GUM, young_modulus=-1), "youngModulus: is -1, must be at least 0"),
    "poisson": (lambda s: author.elastic_material(s, GUM, poisson_ratio=0.5), "is 0.5, must be above -1 and below 0.5"),
    "incompressible": (lambda s: author.elastic_material(s, GUM, poisson_ratio=0.6), "must be from -1 to 0.5"),
    "law": (lambda s: author.elastic_material(s, GUM, law="linear"), "must be one of neoHookean, corotated"),
    "on no body": (
        lambda s: author.mesh_tendon(s, "/World/t", "/World/tip", [0, 1]),
        "/World/t.warpArtic:mesh: leads to /World/tip, which is no mesh with WarpArticElasticBodyAPI",
    ),
    "one waypoint": (
        lambda s: author.mesh_tendon(s, CABLE, SHEET, [0]),
        "is for 1 waypoints, must be for at least two",
    ),
    "same waypoint": (
        lambda s: author.mesh_tendon(s, CABLE, SHEET, [0, {1: 1.0}, 1]),
        "nodes: has waypoint 2 the same as waypoint 1, no two may be the same",
    ),
    "same node": (
        lambda s: author.mesh_tendon(s, CABLE, SHEET, [np.int64(0), np.int32(0)]),
        "nodes: has waypoint 1 the same as waypoint 0, no two may be the same",
    ),
    "same point": (
        lambda s: author.mesh_tendon(
            s, CABLE, SHEET, [("/World/tip", (0, 0, 1)), (Sdf.Path("/World/tip"), [0.0, 0, 1.0])]
        ),
        "nodes: has waypoint 1 the same as waypoint 0, no two may be the same",
    ),
    "named node": (
        lambda s: author.mesh_tendon(s, CABLE, SHEET, [0, {1: 0.5, "a": 0.5}]),
        "nodes: has 'a', must have nodes from 0 to 5",
    ),
    "weight": (lambda s: author.mesh_tendon(s, CABLE, SHEET, [{1: "x"}]), "weights: is 'x', must be a finite number"),
    "no list": (lambda s: author.mesh_tendon(s, CABLE, SHEET, 3), "nodes: is 3, must be a list"),
    "no pins": (lambda s: author.elastic_body(s, SHEET, pinned=3), "pinnedNodes: is 3, must be a list"),
    "no links": (lambda s: author.elastic_body(s, SHEET, attached=[3]), "linkNodes: is 3, must be a list"),
    "no points": (lambda s: author.elastic_body(s, SHEET, rest_points=3), "restPoints: is 3, must be a list"),
    "dangling": (lambda s: author.mesh_tendon(s, CABLE, SHEET, [0, 6]), "nodes: has 6, must have nodes from 0 to 5"),
    "weights": (
        lambda s: author.mesh_tendon(s, CABLE, SHEET, [0, {1: 0.5, 2: 0.4}]),
        "weights: of waypoint 1 are {1: 0.5, 2: 0.4}, must be 1 to 4 that add up to 1",
    ),
    "point": (lambda s: author.mesh_tendon(s, CABLE, SHEET, [0, (1, 2)]), "has a point of 2 numbers, must have three"),
    "largest": (
        lambda s: author.mesh_tendon(s, CABLE, SHEET, [0, 1], min_tension=3, max_tension=2),
        "maxTension: is 2, must be at least 3",
    ),
    "taken": (lambda s: author.mesh_tendon(s, GUM, SHEET, [0, 1]), f"{GUM}: is a Material, must be a WarpArticMesh"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    """A mistake is one sentence with the path, what was found and what is allowed; the stage stays as it was."""
    call, sentence = MISTAKES[name]
    stage = authored()
    before = stage.GetRootLayer().ExportToString()
    with pytest.raises((StageError, SettingsError)) as error:
        call(stage)
    assert sentence in str(error.value)
    assert stage.GetRootLayer().ExportToString() == before

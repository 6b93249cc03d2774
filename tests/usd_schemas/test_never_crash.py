"""Whatever is authored in our schemas, a stage reads or is refused with sentences."""

import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pxr import Gf, Sdf, Usd, Vt

from tests.usd.authoring import errors_of
from tests.usd.meshes import rubber, sheet
from tests.usd.meshes import tendon as mesh_tendon
from tests.usd_schemas.mechanisms import BALL, chain
from tests.usd_schemas.source import SOURCE
from tests.usd_schemas.test_fixed_tendon import TERMS
from tests.usd_schemas.test_spatial_tendon import POINTS
from warp_artic.cli.inspect import content
from warp_artic.cli.inspect_tables import blocks
from warp_artic.cli.table import plain
from warp_artic.description.rules import RULES
from warp_artic.errors import ArticError
from warp_artic.usd.read_stage import inspect_stage, read_stage

SCHEMAS = tuple(f"WarpArtic{name}API:angular" for name in ("Drive", "Joint", "Mimic"))
MORE = f"""def WarpArticFixedTendon "t" {{
{TERMS}
}}
def WarpArticSpatialTendon "s" {{
{POINTS}
}}
def PhysicsScene "scene" (prepend apiSchemas = ["WarpArticSceneAPI"]) {{
}}
def Skeleton "skeleton" {{
uniform token[] joints = ["q"]
}}
{rubber()}{sheet()}{mesh_tendon()}"""
FOLLOWS = "rel warpArtic:mimic:angular:leaders = </World/j2>\nfloat physics:lowerLimit = -10\n"
WHERE = {
    "WarpArticSceneAPI": "/World/scene",
    "WarpArticLinkAPI": "/World/l1",
    "WarpArticArticulationAPI": "/World",
    "WarpArticDriveAPI": "/World/j1",
    "WarpArticJointAPI": "/World/j1",
    "WarpArticJointFrameAPI": "/World/j1",
    "WarpArticMimicAPI": "/World/j1",
    "WarpArticFixedTendon": "/World/t",
    "WarpArticSpatialTendon": "/World/s",
    "WarpArticTendonAttachment": "/World/s/root/tip",
    "WarpArticTendonStateAPI": "/World/j1",
    "WarpArticElasticBodyAPI": "/World/sheet",
    "WarpArticElasticMaterialAPI": "/World/rubber",
    "WarpArticMeshTendon": "/World/cable",
    "WarpArticSkelJointAPI": "/World/l2",
}
"""A prim of each class on the stage."""


def mechanism() -> Sdf.Layer:
    return chain(("Revolute", SCHEMAS, FOLLOWS), ("Prismatic", (), ""), BALL, more=MORE).GetRootLayer()


def place(prim: Sdf.PrimSpec, name: str) -> tuple[str, str]:
    """Where a property of a class is on the stage, and its name there."""
    prefix = prim.customData.get("propertyNamespacePrefix")
    return WHERE[prim.name], f"{prefix}:angular:{name}" if prefix else name


PLACES = [place(prim, spec.name) for prim in SOURCE.rootPrims if prim.name in WHERE for spec in prim.properties]
PLACES += [("/World/s/root", name) for path, name in PLACES if path == "/World/s/root/tip"]
PLACES += [("/World/sheet", name) for name in ("points", "faceVertexCounts", "faceVertexIndices", "velocities")]
PLACES += [("/World/sheet", "material:binding:physics")]
NUMBERS = st.sampled_from([float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 1e40, -90.0, 1.0, 1e20])
COUNTS = st.sampled_from([-1, 0, 1, 2**31 - 1])
WORDS = st.sampled_from(["", "rotX", "transZ", "angular", "tgs", "allSegments", "q"])
PATHS = st.sampled_from(["/World", "/World/l2", "/World/j2", "/World/j3", "/World/j1", "/World/j2.x", "/none"])
NAMES = Sdf.ValueTypeNames
VALUES = st.one_of(
    st.tuples(st.just(NAMES.Double), NUMBERS),
    st.tuples(st.just(NAMES.DoubleArray), st.lists(NUMBERS, max_size=3).map(Vt.DoubleArray)),
    st.tuples(st.just(NAMES.Int), COUNTS),
    st.tuples(st.just(NAMES.IntArray), st.lists(COUNTS, max_size=3).map(Vt.IntArray)),
    st.tuples(st.just(NAMES.Token), WORDS),
    st.tuples(st.just(NAMES.TokenArray), st.lists(WORDS, max_size=3).map(Vt.TokenArray)),
    st.tuples(st.just(NAMES.Bool), st.booleans()),
    st.tuples(st.just(NAMES.Point3d), NUMBERS.map(Gf.Vec3d)),
    st.tuples(st.just(NAMES.Point3dArray), st.lists(NUMBERS.map(Gf.Vec3d), max_size=6).map(Vt.Vec3dArray)),
    st.tuples(st.just(None), st.lists(PATHS, max_size=3, unique=True)),
)


CHANGES = st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=4)


def changed(changes) -> Usd.Stage:
    """The stage with other values."""
    layer = mechanism()
    for (path, name), (kind, value) in changes:
        prim = layer.GetPrimAtPath(path)
        if name in prim.properties:
            del prim.properties[name]
        if kind is None:
            Sdf.RelationshipSpec(prim, name).targetPathList.explicitItems = value
        else:
            Sdf.AttributeSpec(prim, name, kind).default = value
    return Usd.Stage.Open(layer)


LINKS_AS_A_NUMBER = [
    (("/World/sheet", f"warpArtic:elastic:{name}"), (NAMES.Double, float("nan"))) for name in ("linkNodes", "links")
]
"""A relationship of a schema that is an attribute, beside a fault for which it is not looked at."""


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=CHANGES)
@example(changes=LINKS_AS_A_NUMBER)
def test_no_value_gives_a_traceback(changes):
    """Values of the wrong type, and relationships to anywhere, are read or refused with the prim."""
    try:
        scene = read_stage(changed(changes))
    except ArticError as error:
        assert all(line.startswith("/World") for line in str(error).splitlines())
    else:
        (tree,) = scene.articulations
        assert (len(tree.fixed_tendons), len(tree.spatial_tendons), len(tree.mimics)) == (1, 1, 1)
        assert (len(scene.elastic_bodies), len(scene.mesh_tendons)) == (1, 1)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=CHANGES)
def test_whatever_is_read_can_be_shown(changes):
    """As tables and in strict JSON, with a rule for each finding that has its severity."""
    inspection = inspect_stage(changed(changes))
    shown = content(inspection)
    json.dumps(shown, allow_nan=False)
    assert all(isinstance(block, str) or list(plain(block, 100)) for block in blocks(shown))
    assert all(one.severity in RULES[one.rule].severities for one in inspection.diagnostics)


@pytest.mark.parametrize(
    "kind", ["WarpArticFixedTendon", "WarpArticSpatialTendon", "WarpArticTendonAttachment", "WarpArticMeshTendon"]
)
def test_empty_prims(kind):
    """A prim of which nothing is authored is refused with a sentence."""
    assert errors_of(chain(BALL, more=f'def {kind} "empty" {{\n}}\n'))


def test_the_stage_reads_as_it_is():
    """Before any change the stage has a tendon of each kind and a mimic joint."""
    (tree,) = read_stage(Usd.Stage.Open(mechanism())).articulations
    assert (len(tree.fixed_tendons), len(tree.spatial_tendons), len(tree.mimics)) == (1, 1, 1)

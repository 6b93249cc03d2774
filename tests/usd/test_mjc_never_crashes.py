"""Wrong values in the MuJoCo dialect are reported, and none is a traceback."""

from pathlib import Path

import pytest
from pxr import Sdf

from tests.usd_schemas.mechanisms import HINGE, SLIDE, chain
from warp_artic.usd.read_stage import inspect_stage

SCHEMAS = Sdf.Layer.FindOrOpen(str(Path(__file__).parents[1] / "data" / "mjc_schemas.usda"))
WRONG = (
    ("string", '"wrong"'),
    ("double", "nan"),
    ("double", "-inf"),
    ("double", "-3"),
    ("double", "1e35"),
    ("int", "2000000000"),
    ("double[]", "[]"),
    ("double[]", "[nan]"),
    ("double[]", "[-1, 0, 5, 1e35, 2, 3, 4]"),
    ("token[]", '["wrong"]'),
    ("int[]", "[-1, 7]"),
    ("float3", "(1, 2, 3)"),
    ("asset", "@nowhere.usda@"),
    ("bool", "1"),
    ("double", "None"),
)
"""Types and values, most of which no property may have."""
PLACES = {
    "MjcSceneAPI": "/scene",
    "MjcJointAPI": "/World/j1",
    "MjcEqualityJointAPI": "/World/j2",
    "MjcEqualityAPI": "/World/j2",
    "MjcEqualityWeldAPI": "/World/j2",
    "MjcTendon": "/World/t",
    "MjcActuator": "/World/servo",
}

SCENE = 'def PhysicsScene "scene" {\n}\n'
SPRING = ("Revolute", ("MjcJointAPI",), "double mjc:stiffness = 2\ndouble mjc:springref = 3")


def mechanism():
    """A servo, a spring, an equality and two tendons."""
    site = 'def Xform "s" (prepend apiSchemas = ["MjcSiteAPI"]) {\n}\n'
    more = """
    def MjcActuator "servo" {
        rel mjc:target = </World/j1>
        token mjc:biasType = "affine"
        double[] mjc:gainPrm = [5]
        double[] mjc:biasPrm = [0, -5, -1]
    }
    def MjcTendon "t" {
        token mjc:type = "fixed"
        rel mjc:path = [</World/j1>, </World/j2>]
        double[] mjc:path:coef = [1, 1]
        double mjc:stiffness = 3
    }
    def MjcTendon "through" {
        rel mjc:path = [</World/l0/s>, </World/l1/s>]
    }
    """
    second = ("Revolute", ("MjcEqualityJointAPI",), "rel mjc:target = </World/j1>")
    return chain(SPRING, second, HINGE, SLIDE, more=more, links={0: site, 1: site}, outside=SCENE)


def pendulum():
    """All that asks a scene for what it has: a spring."""
    return chain(SPRING, outside=SCENE)


@pytest.mark.parametrize("schema", [prim.name for prim in SCHEMAS.rootPrims])
def test_wrong_values(schema):
    """Each property of a schema with each value, one at a time, and leading nowhere."""
    opened = pendulum if schema == "MjcSceneAPI" else mechanism
    for one in SCHEMAS.GetPrimAtPath(f"/{schema}").properties:
        path = f"{PLACES[schema]}"
        for kind, value in WRONG:
            stage = opened()
            prim = stage.GetPrimAtPath(path)
            prim.RemoveProperty(one.name)
            text = f'#usda 1.0\nover "x" {{\n{kind} {one.name} = {value}\n}}\n'
            other = Sdf.Layer.CreateAnonymous(".usda")
            assert other.ImportFromString(text)
            Sdf.CopySpec(other, f"/x.{one.name}", stage.GetRootLayer(), f"{path}.{one.name}")
            inspect_stage(stage)
        for target in ("/nowhere", path, "/World/l0", "/World/j1.physics:axis"):
            stage = opened()
            prim = stage.GetPrimAtPath(path)
            prim.RemoveProperty(one.name)
            prim.CreateRelationship(one.name).SetTargets([target])
            inspect_stage(stage)


def test_the_mechanism_is_read():
    """Without wrong values it has all of its parts."""
    (tree,) = inspect_stage(mechanism()).scene.articulations
    assert (len(tree.fixed_tendons), len(tree.spatial_tendons), len(tree.mimics)) == (2, 1, 1)
    assert tree.dofs[0].drive is not None

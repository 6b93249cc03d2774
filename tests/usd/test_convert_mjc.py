"""Tendons, springs and equalities of the MuJoCo dialect become ours, and mean what they meant."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd

from tests.usd.authoring import SI, SMALL_UNITS, schemas, warnings_of
from tests.usd.test_convert_stage import converted, foreign
from tests.usd_schemas.mechanisms import chain
from warp_artic.description.scene import Scene
from warp_artic.sim.simulation import Simulation
from warp_artic.usd.convert_stage import convert_stage
from warp_artic.usd.read_stage import read_stage

FIXED = """
def MjcTendon "t" {
    token mjc:type = "fixed"
    rel mjc:path = [</World/j1>, </World/j2>]
    double[] mjc:path:coef = [0.5, 2]
    double mjc:stiffness = 3
    double mjc:damping = 0.4
}
def MjcTendon "deadband" {
    token mjc:type = "fixed"
    rel mjc:path = [</World/j1>, </World/j4>]
    int[] mjc:path:indices = [1, 0]
    double[] mjc:path:coef = [1, -1]
    double mjc:stiffness = 7
    double[] mjc:springlength = [0, 0.2]
    double mjc:margin = 0.1
}
def MjcTendon "routed" {
    rel mjc:path = [</World/l0/a>, </World/l1/b>, </World/l3/c>]
    double[] mjc:path:divisors = [2]
    double mjc:stiffness = 30
    double[] mjc:springlength = [1.5]
}
def MjcTendon "loose" {
    rel mjc:path = [</World/l0/a>, </World/l3/c>]
    double mjc:damping = 3
}
"""
WRAPPED = 'def MjcTendon "wrapped" {\nrel mjc:path = [</World/l0/a>, </World/l1>]\ndouble mjc:stiffness = 3\n}\n'
SERVO = """
def MjcActuator "servo" {
    rel mjc:target = </World/j1>
    token mjc:biasType = "affine"
    double[] mjc:gainPrm = [4]
    double[] mjc:biasPrm = [0, -4, -0.3]
}
"""
JOINT = ("MjcJointAPI",)
SPRUNG = (
    "double mjc:stiffness = 2\ndouble mjc:armature = 0.1\ndouble mjc:damping = 0.05\ndouble mjc:frictionloss = 0.2\n"
)
FOLLOWS = "rel mjc:target = </World/j1>\ndouble mjc:coef0 = 0.3\ndouble mjc:coef1 = 2\ndouble[] mjc:solref = [0.01, 1]"
PHYSX = "float[] physxTendon:pull:gearing = [0.01]\nfloat physxTendon:pull:stiffness = 50\n"


def site(name: str, at: tuple) -> str:
    order = 'uniform token[] xformOpOrder = ["xformOp:translate"]'
    return f'def Xform "{name}" {schemas("MjcSiteAPI")} {{\ndouble3 xformOp:translate = {at}\n{order}\n}}\n'


def mechanism(header: str) -> Usd.Stage:
    """A chain with all of it, and a tendon of PhysX on a joint with a spring."""
    return chain(
        ("Revolute", (*JOINT, "PhysxTendonAxisRootAPI:pull"), SPRUNG + PHYSX + "double mjc:ref = 10"),
        ("Prismatic", JOINT, "double mjc:stiffness = 5\ndouble mjc:springref = 0.3"),
        ("Spherical", JOINT, "double mjc:stiffness = 0.7"),
        ("Revolute", ("MjcEqualityJointAPI",), FOLLOWS),
        header=header,
        more=FIXED + SERVO,
        links={0: site("a", (0, 0, 0.5)), 1: site("b", (0, 0.25, 0)), 3: site("c", (0.5, 0.1, 0))},
    )


def meaning(scene: Scene) -> Scene:
    """A scene without what tendons are called, which are in some order, and without what was reported."""

    def unnamed(tendon):
        tendon = dataclasses.replace(tendon, name="")
        if hasattr(tendon, "attachments"):
            points = tuple(dataclasses.replace(one, name="") for one in tendon.attachments)
            tendon = dataclasses.replace(tendon, attachments=points)
        return tendon

    trees = []
    for tree in scene.articulations:
        tendons = {
            kind: tuple(sorted(map(unnamed, getattr(tree, kind)), key=lambda one: (one.stiffness, one.damping)))
            for kind in ("fixed_tendons", "spatial_tendons")
        }
        trees.append(dataclasses.replace(tree, **tendons))
    return dataclasses.replace(scene, articulations=tuple(trees), diagnostics=())


def numbers(value) -> list:
    """All that a description has, flat."""
    if dataclasses.is_dataclass(value):
        return [one for name in value.__dataclass_fields__ for one in numbers(getattr(value, name))]
    return [one for inner in value for one in numbers(inner)] if isinstance(value, (tuple, np.ndarray)) else [value]


def assert_means(one: Scene, other: Scene) -> None:
    """Both have the same numbers, to the last bits that angles in degrees leave."""
    first, second = numbers(meaning(one)), numbers(meaning(other))
    assert len(first) == len(second)
    for number, its in zip(first, second):
        is_same = number == its or (
            isinstance(number, float) and math.isclose(number, its, rel_tol=1e-15, abs_tol=1e-17)
        )
        assert is_same, (number, its)


MODELS = sorted((Path(__file__).parents[1] / "data" / "mujoco").glob("*.usdc"))


@pytest.mark.parametrize("path", [path for path in MODELS if path.stem != "dm_fish"], ids=lambda path: path.stem)
def test_converted_models(path, tmp_path):
    """Models of MuJoCo mean what they meant, without a warning more; one of them has a body without mass."""
    convert_stage(path, tmp_path / "out.usdc")
    result = Usd.Stage.Open(str(tmp_path / "out.usdc"))
    assert_means(read_stage(path), read_stage(result))
    first, second = ({text.partition(": ")[2] for text in warnings_of(one)} for one in (str(path), result))
    assert second <= first


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_the_description_is_the_same(header, tmp_path):
    """Every number, to the last bits that angles in degrees leave; and all but what is not simulated is rewritten."""
    stage = mechanism(header)
    conversion, result = converted(stage, tmp_path)
    assert_means(read_stage(stage), read_stage(result))
    kept = {one.partition(".")[2] or one.partition(": ")[2] for one in foreign(result) if "/servo" not in one}
    assert kept == {"mjc:ref", "mjc:springref", "mjc:solref", "mjc:margin", "MjcJointAPI", "MjcSiteAPI"}
    assert {one.path for one in conversion.left} >= {one for one in foreign(result) if ": " not in one}
    assert {one.now for one in conversion.rewritten} >= {
        "/World/t",
        "/World/routed",
        "/World/j1_spring",
        "/World/j3_rotZSpring",
        "/World/j4: WarpArticMimicAPI:angular",
    }


def test_it_moves_the_same(tmp_path):
    """The converted stage moves as the original does."""
    stage = mechanism(SI)
    _, result = converted(stage, tmp_path)
    one, other = (Simulation(read_stage(each)).record(steps=120) for each in (stage, result))
    for name in ("joint_position", "joint_velocity", "link_pose"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-4, atol=1e-4, err_msg=name)
    assert np.abs(one.joint_position[-1] - one.joint_position[0]).max() > 0.01


def test_what_is_not_simulated_is_left(tmp_path):
    """A tendon that wraps, and an equality that is not linear, stay as they are and are listed."""
    higher = "rel mjc:target = </World/j1>\ndouble mjc:coef2 = 0.5"
    stage = chain(("Revolute", (), ""), ("Revolute", ("MjcEqualityJointAPI",), higher), more=WRAPPED)
    conversion, result = converted(stage, tmp_path)
    assert conversion.rewritten == []
    assert foreign(result) == foreign(stage)
    assert {one.path for one in conversion.left} >= {"/World/wrapped.mjc:stiffness", "/World/j2.mjc:coef2"}
    assert warnings_of(result) == warnings_of(stage)


def test_springs_in_an_instance_are_left(tmp_path):
    """They cannot be edited there: they act once, as before."""
    stage = mechanism(SI)
    stage.GetRootLayer().Export(str(tmp_path / "robot.usda"))
    source = tmp_path / "scene.usda"
    reference = "(instanceable = true\nreferences = @./robot.usda@</World>)"
    source.write_text(f'#usda 1.0\n(metersPerUnit = 1\nkilogramsPerUnit = 1)\ndef "Robot" {reference} {{}}\n')
    before = read_stage(source)
    conversion, result = converted(Usd.Stage.Open(str(source)), tmp_path)
    assert conversion.rewritten == []
    assert meaning(read_stage(result)) == meaning(before)
    reasons = {one.path: one.reason for one in conversion.left}
    for path in ("/Robot/j1.mjc:stiffness", "/Robot/t.mjc:path:coef", "/Robot/j4: MjcEqualityJointAPI"):
        assert reasons[path] == "is inside an instance, which cannot be edited"

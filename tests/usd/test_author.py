"""Authoring our schemas from Python: what is authored is what is read, and a mistake is said before any edit."""

import math

import numpy as np
import pytest
from pxr import Usd

import warp_artic as wa
from tests.usd.authoring import SI, SMALL_UNITS, errors_of, warnings_of
from tests.usd_schemas import test_same_mechanism as same
from tests.usd_schemas.mechanisms import BALL, HINGE, SLIDE, chain
from tests.usd_schemas.source import DEGREE, SOURCE
from warp_artic import author
from warp_artic.errors import SettingsError, StageError
from warp_artic.usd.read_stage import read_stage


def authored(header: str) -> Usd.Stage:
    """The mechanism of the test of dialects, authored function by function."""
    stage = same.stage("", {"j1": ((), same.BOUNDS), "j2": ((), same.BOUNDS)}, {}, header)
    author.scene(stage, "/scene", time_steps_per_second=480, position_iterations=6, velocity_iterations=1)
    author.link(stage, "/World/l2", linear_damping=0.2, max_angular_velocity=700)
    author.drive(
        stage,
        "/World/j1",
        stiffness=12,
        damping=0.5,
        max_force=40,
        target_position=20,
        max_velocity=200,
        velocity_gradient=0.5,
        velocity_resistance=0.03125,
    )
    author.joint(
        stage,
        "/World/j1",
        armature=0.25,
        static_friction_effort=0.5,
        dynamic_friction_effort=0.25,
        viscous_friction_coefficient=0.0078125,
        velocity_limit=500,
        limit_stiffness=30,
        limit_damping=0.75,
        position=12,
        velocity=-30,
    )
    for axis in ("rotX", "rotY", "rotZ"):
        author.joint(stage, "/World/j4", axis, armature=0.125)
    author.mimic(
        stage, "/World/j2", ["/World/j1"], gears=[2], offset=5, natural_frequency=40, damping_ratio=0.6, enabled=True
    )
    author.fixed_tendon(
        stage,
        "/World/t",
        ["/World/j1", "/World/j3", ("/World/j4", "rotY")],
        [0.25, -2, 0.5],
        force_coefficients=[0.75 * DEGREE, 3, 0.125 * DEGREE],
        stiffness=60,
        damping=1.5,
        limit_stiffness=200,
        rest_length=0.5,
        offset=0.25,
        lower_limit=-3,
        upper_limit=4,
    )
    author.spatial_tendon(stage, "/World/s", stiffness=100, damping=2, offset=0.5)
    author.attachment(stage, "/World/s/root", "/World/l0", local_pos=(0.5, 0, 1))
    guide = "/World/s/root/guide"
    author.attachment(stage, guide, "/World/l1", local_pos=(0, 0, 0.5), coefficient=1.5)
    tip = {"local_pos": (0, 0.5, 0), "coefficient": 0.75, "rest_length": 0.5, "upper_limit": 2}
    author.attachment(stage, f"{guide}/tip1", "/World/l2", **tip)
    author.attachment(stage, f"{guide}/tip2", "/World/l3", lower_limit=0.125)
    return stage


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_round_trip(header, tmp_path):
    """Authored, saved and read, a mechanism is the one that is written by hand."""
    authored(header).GetRootLayer().Export(str(tmp_path / "authored.usdc"))
    reopened = Usd.Stage.Open(str(tmp_path / "authored.usdc"))
    assert errors_of(reopened) == []
    assert warnings_of(reopened) == warnings_of(same.ours(header))
    same.assert_same(reopened, same.ours(header))


def test_types_and_variability_are_those_of_the_schemas():
    """Every attribute is authored as the schema declares it, and none beyond the schemas of UsdPhysics."""
    declared = {}
    for prim in SOURCE.rootPrims:
        prefix = prim.customData.get("propertyNamespacePrefix", "")
        for spec in prim.attributes:
            name = f"{prefix}:*:{spec.name}" if prefix else spec.name
            declared[name] = (str(spec.typeName), spec.variability)
    checked = 0
    stage = authored(SI)
    for prim in stage.Traverse():
        for attribute in prim.GetAuthoredAttributes():
            name = attribute.GetName()
            if name.startswith("warpArtic:"):
                parts = name.split(":")
                name = ":".join([*parts[:2], "*", parts[3]]) if len(parts) == 4 else name
                spec = stage.GetRootLayer().GetAttributeAtPath(attribute.GetPath())
                assert (str(spec.typeName), spec.variability) == declared[name], name
                assert not spec.custom
                checked += 1
    assert checked > 40


def test_two_axes_of_one_joint():
    """A joint that is named twice is one target, with its places and axes."""
    stage = chain(HINGE, BALL)
    author.fixed_tendon(stage, "/World/t", ["/World/j1", ("/World/j2", "rotX"), ("/World/j2", "rotZ")], [1, 2, 3])
    author.mimic(stage, "/World/j1", [("/World/j2", "rotY"), ("/World/j2", "rotZ")], gears=[0.5, 0.25])
    (tree,) = read_stage(stage).articulations
    names = [tree.dofs[dof].name for dof in tree.fixed_tendons[0].dofs]
    assert names == ["/World/j1", "/World/j2:rotX", "/World/j2:rotZ"]
    assert [tree.dofs[dof].name for dof in tree.mimics[0].dofs] == ["/World/j1", "/World/j2:rotY", "/World/j2:rotZ"]
    assert tree.mimics[0].gears == (1, -0.5, -0.25)


def test_none_leaves_values_and_a_second_call_changes_some():
    """An edit of a tendon that is there keeps what is not given, and fits its lists to the new joints."""
    stage = chain(HINGE, SLIDE, BALL)
    author.fixed_tendon(stage, "/World/t", [("/World/j3", "rotY"), "/World/j1"], [1, 2], stiffness=5, damping=3)
    author.fixed_tendon(stage, "/World/t", ["/World/j2"], [4], stiffness=7)
    (tendon,) = read_stage(stage).articulations[0].fixed_tendons
    assert (tendon.coefficients, tendon.stiffness, tendon.damping) == ((4.0,), 7.0, 3.0)


def test_a_value_is_not_hidden_by_samples():
    """Time samples of the same attribute in the same layer give way."""
    start = "double warpArtic:joint:angular:position.timeSamples = {0: 7}"
    stage = chain(("Revolute", ("WarpArticJointAPI:angular",), start))
    author.joint(stage, "/World/j1", position=90)
    assert read_stage(stage).articulations[0].dofs[0].position == pytest.approx(math.pi / 2)


def test_edits_go_to_the_edit_target():
    """Layers that are not edited stay as they are."""
    stage = chain(HINGE, SLIDE)
    before = stage.GetRootLayer().ExportToString()
    stage.SetEditTarget(stage.GetSessionLayer())
    author.fixed_tendon(stage, "/World/t", ["/World/j1"], [1])
    author.drive(stage, "/World/j1", stiffness=1, max_force=math.inf)
    assert stage.GetRootLayer().ExportToString() == before
    assert read_stage(stage).articulations[0].dofs[0].drive.stiffness == pytest.approx(1 / DEGREE)


T, S = "/World/t", "/World/s"
J = "/World/j1"
MISTAKES = {
    "no joint": (lambda s: author.joint(s, "/World/no"), "/World/no: there is no such prim"),
    "a link": (lambda s: author.drive(s, "/World/l1"), "/World/l1: is a Xform, must be one of PhysicsFixedJoint"),
    "relative": (lambda s: author.joint(s, "World/j1"), "must be an absolute path"),
    "no path": (lambda s: author.joint(s, "//"), "//: is no path of a prim"),
    "fixed": (lambda s: author.joint(s, "/World/held"), "/World/held: no axis of the joint is free"),
    "which axis": (lambda s: author.joint(s, "/World/j3"), "3 free axes: name one of rotX, rotY, rotZ"),
    "wrong axis": (lambda s: author.joint(s, J, "rotY"), "no free axis of the joint is called 'rotY'; it has angular"),
    "negative": (lambda s: author.joint(s, J, armature=-1), f"{J}.warpArtic:joint:angular:armature: is -1, must be at"),
    "not finite": (lambda s: author.joint(s, J, armature=math.inf), "is inf, must be a finite number"),
    "nan": (lambda s: author.joint(s, J, velocity_limit=math.nan), "is nan, must be a number"),
    "word": (lambda s: author.drive(s, J, stiffness="stiff"), "is 'stiff', must be a finite number"),
    "kind": (lambda s: author.drive(s, J, kind="strong"), "is 'strong', must be one of force, acceleration"),
    "restitution": (lambda s: author.joint(s, J, limit_restitution=2), "is 2, must be from 0 to 1"),
    "itself": (lambda s: author.mimic(s, J, [J]), f"{J}: the joint cannot follow itself on angular"),
    "no leader": (lambda s: author.mimic(s, J, []), "leaders: must be a list of at least one joint, not []"),
    "a word for a list": (lambda s: author.mimic(s, J, "/World/j2"), "must be a list of at least one joint"),
    "gears": (lambda s: author.mimic(s, J, ["/World/j2"], gears=[1, 2]), "gears: has 2 numbers for 1 terms"),
    "twice": (lambda s: author.fixed_tendon(s, T, [J, J], [1, 1]), f"has {J} on angular twice; once is allowed"),
    "counts": (lambda s: author.fixed_tendon(s, T, [J], [1, 2]), "coefficients: has 2 numbers for 1 terms"),
    "taken": (lambda s: author.fixed_tendon(s, J, [J], [1]), f"{J}: is a PhysicsRevoluteJoint, must be a WarpArtic"),
    "nowhere": (lambda s: author.fixed_tendon(s, "/No/t", [J], [1]), "/No: there is no such prim"),
    "limits": (
        lambda s: author.fixed_tendon(s, T, [J], [1], lower_limit=2, upper_limit=1),
        f"{T}.warpArtic:lowerLimit: is 2, must not be above warpArtic:upperLimit, 1",
    ),
    "routing": (lambda s: author.spatial_tendon(s, T, force_routing="all"), "must be one of endSegments, allSegments"),
    "flag": (lambda s: author.spatial_tendon(s, T, enabled="yes"), "is 'yes', must be True or False"),
    "no tendon": (lambda s: author.attachment(s, "/World/a", "/World/l1"), "must be right below a WarpArticSpatial"),
    "second root": (lambda s: author.attachment(s, f"{S}/b", "/World/l1"), f"a second root; the tendon has {S}/a"),
    "no body": (lambda s: author.attachment(s, f"{S}/a", "/World"), "body: leads to /World, which is no rigid body"),
    "after a leaf": (lambda s: author.attachment(s, f"{S}/a/b/c", "/World/l1"), "restLength is for the end of a bran"),
    "inner length": (lambda s: author.attachment(s, f"{S}/a", "/World/l1", rest_length=1), f"but {S}/a/b follows"),
    "point": (lambda s: author.attachment(s, f"{S}/a/b", "/World/l1", local_pos=(1, 2)), "has 2 numbers, must have th"),
    "solver": (lambda s: author.scene(s, "/scene", solver="magic"), "must be one of direct, pgs, tgs"),
    "steps": (lambda s: author.scene(s, "/scene", time_steps_per_second=0), "is 0, must be above 0"),
    "iterations": (lambda s: author.scene(s, "/scene", position_iterations=0), "must be a whole number of at least 1"),
    "sleep": (lambda s: author.scene(s, "/scene", sleep_after=-1), "must be at least 0"),
    "too many": (lambda s: author.scene(s, "/scene", position_iterations=2**40), "1 and at most 1000000"),
    "a number for a list": (lambda s: author.fixed_tendon(s, T, [J], 1), "coefficients: is 1, must be a list of num"),
    "a number for a point": (
        lambda s: author.attachment(s, f"{S}/a/b", "/World/l1", local_pos=1),
        "is 1, must be a l",
    ),
    "a number for joints": (lambda s: author.mimic(s, J, 1), "leaders: must be a list of at least one joint, not 1"),
    "a term of three": (lambda s: author.mimic(s, J, [(J, "rotX", 1)]), "must be a joint, or a joint and its axis"),
    "too large": (lambda s: author.joint(s, J, position=10**400), "position: is 1000"),
    "no word": (lambda s: author.scene(s, "/scene", solver=[1]), "solver: is [1], must be one of direct, pgs, tgs"),
    "no link": (lambda s: author.link(s, J), f"{J}: is no rigid body; apply PhysicsRigidBodyAPI first"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    """A mistake is one sentence with the path, what was found and what is allowed; the stage stays as it was."""
    call, sentence = MISTAKES[name]
    stage = chain(HINGE, SLIDE, BALL)
    author.spatial_tendon(stage, S)
    author.attachment(stage, f"{S}/a", "/World/l0")
    author.attachment(stage, f"{S}/a/b", "/World/l1", rest_length=1)
    before = stage.GetRootLayer().ExportToString()
    with pytest.raises((StageError, SettingsError)) as error:
        call(stage)
    assert sentence in str(error.value)
    assert stage.GetRootLayer().ExportToString() == before


def test_numbers_of_numpy():
    """Whole numbers and lists of them are taken as well."""
    stage = chain(HINGE)
    author.scene(stage, "/scene", position_iterations=np.int64(3), time_steps_per_second=np.float32(240))
    author.fixed_tendon(stage, T, [J], np.array([2.0]))
    (tree,) = read_stage(stage).articulations
    assert (tree.position_iterations, tree.fixed_tendons[0].coefficients[0]) == (3, pytest.approx(2.0 / DEGREE))


def test_inside_an_instance():
    """What an instance shares cannot be edited there, and that is said."""
    stage = chain(HINGE)
    stage.GetPrimAtPath("/World").SetInstanceable(False)
    copy = stage.DefinePrim("/Copy")
    copy.GetReferences().AddInternalReference("/World")
    copy.SetInstanceable(True)
    with pytest.raises(StageError, match="/Copy/j1: is inside an instance"):
        author.joint(stage, "/Copy/j1", armature=1)


def test_the_module_is_public():
    """It is there after the import of the package."""
    assert wa.author.fixed_tendon is author.fixed_tendon

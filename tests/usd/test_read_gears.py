"""Gears, and racks with pinions, of the PhysX schema: signs, units, starts, and each thing that can be wrong."""

import math

import pytest
from pxr import Sdf, Usd, UsdPhysics

import warp_artic as wa
from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, joint, notes_of, open_text, schemas, warnings_of
from warp_artic.cli.inspect import content
from warp_artic.cli.inspect_tables import blocks
from warp_artic.usd.convert_stage import convert_stage
from warp_artic.usd.read_stage import inspect_stage, read_stage

DEGREE = math.pi / 180
ENDS = ("/World/a", "/World/b")
HINGES = ("/World/first", "/World/second")


def gear(content="", kind="Gear", joints=HINGES, ends=ENDS, name="gear"):
    """A gear, or a rack with a pinion."""
    names = ("hinge0", "hinge1") if kind == "Gear" else ("hinge", "prismatic")
    lines = [f"rel physics:{name} = <{path}>" for name, path in zip(names, joints) if path]
    lines += [f"rel physics:body{side} = <{path}>" for side, path in enumerate(ends) if path]
    return f'def PhysxPhysics{kind}Joint "{name}" {{\n' + "\n".join([*lines, content]) + "\n}\n"


def machine(coupling, kinds=("Revolute", "Revolute"), details=("", ""), header=SI, turned=(False, False), more=""):
    """A base that is held to the world, and two bodies on joints to it; joints that are turned lead to the base."""
    text = body("base") + body("a", at=(1, 0, 0)) + body("b", at=(1, 2, 0)) + joint("held", "Fixed", "", "/World/base")
    places = ("point3f physics:localPos{} = (1, 0, 0)\n", "point3f physics:localPos{} = (1, 2, 0)\n")
    for name, end, kind, detail, place, is_turned in zip(("first", "second"), ENDS, kinds, details, places, turned):
        ends = (end, "/World/base") if is_turned else ("/World/base", end)
        text += joint(name, kind, *ends, place.format(int(is_turned)) + 'uniform token physics:axis = "Z"\n' + detail)
    return open_text(
        f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{coupling}}}\n{more}', header
    )


def mimic_of(stage):
    """The only mimic joint of a stage, of which nothing is to be said."""
    assert warnings_of(stage) == []
    (mimic,) = read_stage(stage).articulations[0].mimics
    return mimic


@pytest.mark.parametrize("turned", [(False, False), (True, False), (True, True)])
def test_wheels_that_mesh_turn_against_each_other(turned):
    """ratio w0 + w1 = 0 of the wheels, whichever body of its hinge each of them is."""
    mimic = mimic_of(machine(gear("float physics:gearRatio = 2.5"), turned=turned))
    assert (mimic.name, mimic.dofs, mimic.natural_frequency, mimic.enabled) == ("/World/gear", (1, 0), 0.0, True)
    sign = 1.0 if turned[0] == turned[1] else -1.0
    assert mimic.gears == (1.0, sign * 2.5)
    assert mimic.offset == 0.0


def test_the_ratio_of_a_gear_is_one_where_none_is_authored():
    """As in the schema."""
    assert mimic_of(machine(gear())).gears == (1.0, 1.0)


def test_wheels_mesh_as_they_start():
    """The relation holds from the start on, wherever the hinges are."""
    start = "float state:angular:physics:position = {}\n"
    stage = machine(gear("float physics:gearRatio = 2"), details=(start.format(30), start.format(10)))
    for path in HINGES:
        stage.GetPrimAtPath(path).AddAppliedSchema("PhysicsJointStateAPI:angular")
    (mimic,) = read_stage(stage).articulations[0].mimics
    q = [dof.position for dof in read_stage(stage).articulations[0].dofs]
    assert q == pytest.approx([30 * DEGREE, 10 * DEGREE])
    assert mimic.offset == pytest.approx(-(q[1] + 2 * q[0]))


RACK = {"kind": "RackAndPinion"}
SLIDES = ("Revolute", "Prismatic")
ALONG = 'uniform token physics:axis = "{}"'


@pytest.mark.parametrize(("header", "unit"), [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_rack_units(header, unit):
    """The ratio is in degrees for a unit of length; the rack is above the pinion and slides along -X with it."""
    coupling = gear("float physics:ratio = 90", **RACK)
    stage = machine(coupling, SLIDES, ("", ALONG.format("X")), header)
    (mimic,) = read_stage(stage).articulations[0].mimics
    assert mimic.dofs == (0, 1)
    # At (0, 2, 0) from the axis Z teeth move along -X: the side is -1, and q_0 = -90 degrees q_1.
    assert mimic.gears == (1.0, pytest.approx(90 * DEGREE / unit))


@pytest.mark.parametrize(("axis", "sign"), [("X", 1.0), ("Y", -1.0), ("Z", -1.0)])
def test_the_rack_moves_with_the_teeth(axis, sign):
    """q_0 = side ratio q_1: against the axis X above the pinion; along where no side is meant, as on a screw."""
    stage = machine(gear("float physics:ratio = 90", **RACK), SLIDES, ("", ALONG.format(axis)))
    assert mimic_of(stage).gears == (1.0, pytest.approx(sign * 90 * DEGREE))


def test_a_wheel_that_is_the_world():
    """A ring that stands still: seen from its carrier it turns the other way."""
    text = body("carrier") + body("planet") + joint("turn", "Revolute", "", "/World/carrier")
    text += joint("pin", "Revolute", "/World/carrier", "/World/planet")
    text += gear("float physics:gearRatio = -3", joints=("/World/turn", "/World/pin"), ends=("", "/World/planet"))
    (mimic,) = read_stage(open_text(f'def Xform "World" {{\n{text}}}\n')).articulations[0].mimics
    assert mimic.gears == (1.0, 3.0)


def test_bodies_that_joints_move_are_meant_where_none_is_named():
    """And that is said."""
    stage = machine(gear(ends=("", "")), turned=(True, False))
    assert mimic_of(stage).gears == (1.0, 1.0)
    text = "/World/gear: names no bodies: the bodies that /World/first and /World/second move are meant"
    assert text in notes_of(stage)


WRONG = [
    ({"joints": ("", HINGES[1])}, ": is a gear without a joint in physics:hinge0, which must lead to one"),
    ({"joints": (HINGES[0], "")}, ": is a gear without a joint in physics:hinge1, which must lead to one"),
    ({"joints": (HINGES[0], "/World/a")}, "hinge1: leads to /World/a, which is no joint; must lead to one"),
    ({"joints": ("/World/none", HINGES[1])}, "hinge0: leads to /World/none, which is no joint; must lead to one"),
    (
        {"joints": (HINGES[0], HINGES[0])},
        "hinge1: leads to /World/first, as physics:hinge0 does: a gear must couple two joints",
    ),
    ({"joints": (HINGES[0], "/World/held")}, "hinge1: leads to /World/held, which has no rotation, must have one"),
    ({"content": "float physics:gearRatio = 0"}, "gearRatio: is 0; the ratio of a gear must not be"),
    ({"content": "float physics:gearRatio = inf"}, "gearRatio: is inf, must be finite"),
    ({"content": "float physics:gearRatio = nan"}, "gearRatio: is nan, must be finite"),
    ({"content": 'string physics:gearRatio = "2"'}, "gearRatio: is '2', must be a number"),
    (
        {"ends": ("/World/b", "/World/b")},
        "body0: is /World/b, which /World/first does not join; it must be one of /World/base and /World/a, and turn "
        "or slide there",
    ),
    (
        {"ends": ("/World/a", "")},
        "body1: is the world, which /World/second does not join; it must be one of /World/base and /World/b, and "
        "turn or slide there",
    ),
]


@pytest.mark.parametrize(("options", "text"), WRONG, ids=[text for _, text in WRONG])
def test_what_is_wrong_is_one_error(options, text):
    """With its path, what was found, and what is allowed."""
    stage = machine(gear(**options))
    assert errors_of(stage) == ["/World/gear" + (text if text.startswith(":") else f".physics:{text}")]


def test_a_rack_slides_and_a_pinion_turns():
    """Joints of the wrong kind are errors."""
    stage = machine(gear(**RACK, joints=HINGES))
    assert errors_of(stage) == [
        "/World/gear.physics:prismatic: leads to /World/second, which has no translation, must have one"
    ]
    stage = machine(gear(), SLIDES)
    assert errors_of(stage) == [
        "/World/gear.physics:hinge1: leads to /World/second, which has no rotation, must have one"
    ]


@pytest.mark.parametrize("side", [0, 1])
def test_a_hinge_beside_the_tree_is_reported(side):
    """A joint that is held beside the tree has no coordinate: the gear does not act, and that is said."""
    stage = machine(gear(), more=body("c"))
    path = HINGES[side]
    stage.GetPrimAtPath(path).CreateAttribute("physics:excludeFromArticulation", Sdf.ValueTypeNames.Bool).Set(True)
    (text,) = (text for text in warnings_of(stage) if text.startswith("/World/gear"))
    assert text.startswith(f"/World/gear.physics:hinge{side}: leads to {path}, which is ")
    assert text.endswith("of others none is simulated yet")


def test_a_disabled_gear_is_left_out():
    """By physics:jointEnabled, as other joints."""
    stage = machine(gear("bool physics:jointEnabled = 0"))
    assert read_stage(stage).articulations[0].mimics == ()
    assert "/World/gear: is disabled (physics:jointEnabled) and ignored" in notes_of(stage)
    assert warnings_of(stage) == []


def test_hinges_that_gears_couple_stay_in_the_tree():
    """Of a ring of joints another one is held beside it, whichever comes first."""
    ring = (
        body("c", at=(1, 1, 0))
        + joint("x", "Revolute", "/World/a", "/World/c")
        + joint("y", "Revolute", "/World/c", "/World/b")
    )
    stage = machine(gear() + ring)
    (tree,) = inspect_stage(stage).articulations  # its bodies are apart
    assert {joint.path for joint in tree.joints} >= set(HINGES)
    assert len(tree.mimics) == 1


def test_breaking_is_still_reported():
    """A gear does not break."""
    (text,) = warnings_of(machine(gear("float physics:breakTorque = 5")))
    assert text == "/World/gear.physics:breakTorque: is 5.0; breaking of a joint by torque is not simulated yet"


def test_inspect_shows_it():
    """With the attribute that the ratio comes from."""
    shown = content(inspect_stage(machine(gear("float physics:gearRatio = 2.5"))))
    (mimic,) = shown["articulations"][0]["mimics"]
    assert (mimic["name"], mimic["sources"]["gears"]) == ("/World/gear", "usdphysics")
    text = "\n".join(map(str, blocks(shown)))
    assert "physics:gearRatio" in text


def test_a_run_layer_has_the_error_of_a_gear(tmp_path):
    """On the gear itself; what reads the layer has nothing to say of it."""
    stage = machine(gear("float physics:gearRatio = 2.5"))
    path = tmp_path / "train.usda"
    stage.GetRootLayer().Export(str(path))
    scene = read_stage(str(path))
    recording = wa.Simulation(scene, settings=wa.SolverSettings(precision="float64", variant="scalar")).record(4)
    wa.write_results(str(path), recording, str(tmp_path / "run.usda"))
    baked = Usd.Stage.Open(str(tmp_path / "run.usda"))
    assert baked.GetAttributeAtPath("/World/gear.warpArtic:joint:angular:mimicError").HasAuthoredValue()
    assert warnings_of(baked) == []


@pytest.mark.parametrize("follower", [0, 1, 2])
def test_convert_makes_them_mimic_joints(follower, tmp_path):
    """Of the second hinge; of the first one where the second follows another joint; of none where both do."""
    other = joint("third", "Revolute", "/World/base", "/World/c") + body("c")
    stage = machine(gear("float physics:gearRatio = 2.5") + other)
    for path in HINGES[::-1][:follower]:
        stage.GetPrimAtPath(path).AddAppliedSchema("WarpArticMimicAPI:angular")
        stage.GetPrimAtPath(path).CreateRelationship("warpArtic:mimic:angular:leaders").SetTargets(["/World/third"])
    path = tmp_path / "train.usda"
    stage.GetRootLayer().Export(str(path))
    conversion = convert_stage(str(path), tmp_path / "ours.usda")
    mimics = read_stage(str(tmp_path / "ours.usda")).articulations[0].mimics
    assert len(mimics) == follower + 1
    if follower == 2:
        text = "couples joints of which both follow others: an axis of ours follows in one way"
        assert [(left.path, left.reason) for left in conversion.left] == [("/World/gear", text)]
        return
    path = HINGES[1 - follower]
    (rewrite,) = conversion.rewritten
    assert (rewrite.was, rewrite.now) == (
        "/World/gear: PhysxPhysicsGearJoint",
        f"{path}: WarpArticMimicAPI:angular",
    )
    (made,) = (mimic for mimic in mimics if mimic.name == path)
    assert made.gears == (1.0, 2.5 if follower == 0 else 1 / 2.5)
    assert set(made.dofs) == {0, 1}


MOVING = (
    'def Xform "{0}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{\nbool physics:kinematicEnabled = 1\n'
    "double3 xformOp:translate.timeSamples = {{ 0: (0, 0, 0), 24: (1, 0, 0) }}\n"
    'uniform token[] xformOpOrder = ["xformOp:translate"]\n}}\n'
)


def apart(holders=("", ""), roots=(), more="", coupling=None) -> Usd.Stage:
    """Two wheels /a and /b on hinges /ha and /hb to what holds them, with articulation roots at some prims."""
    text = body("a") + body("b", at=(1, 0, 0)) + more
    for name, holder, place in zip("ab", holders, (0, 1)):
        content = f'uniform token physics:axis = "Z"\npoint3f physics:localPos0 = ({place}, 0, 0)\n'
        text += joint(f"h{name}", "Revolute", holder, f"/{name}", content)
    stage = open_text(text + (coupling or gear(joints=("/ha", "/hb"), ends=("/a", "/b"))))
    for path in roots:
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(path))
    return stage


@pytest.mark.parametrize(
    "stage, path",
    [
        (apart(), "/a"),
        (apart(roots=("/hb",)), "/hb"),
        (apart(roots=("/b",)), "/b"),
        (apart(("/k", "/k"), more=MOVING.format("k")), "/a"),
    ],
    ids=["no roots", "a root on a joint", "a root on a body", "on an animated body"],
)
def test_trees_that_a_gear_couples_are_one(stage, path):
    """Where the same holds both of them, and one root at most is theirs."""
    (tree,) = read_stage(stage).articulations
    (mimic,) = tree.mimics
    assert tree.path == path and {one.path for one in tree.joints} == {"/ha", "/hb"}
    assert (tree.base_motion is not None) == bool(stage.GetPrimAtPath("/k"))
    assert sorted(tree.dofs[dof].name for dof in mimic.dofs) == ["/ha", "/hb"]
    assert warnings_of(stage) == []


@pytest.mark.parametrize(
    "stage",
    [
        apart(roots=("/ha", "/hb")),
        apart(("", "/c"), more=body("c")),
        apart(("", "/k"), more=MOVING.format("k")),
        apart(("/j", "/k"), more=MOVING.format("j") + MOVING.format("k")),
    ],
    ids=["two roots", "one floats", "one on an animated body", "two animated bodies"],
)
def test_trees_that_a_gear_cannot_couple(stage):
    """It is told which there may be."""
    assert len(read_stage(stage).articulations) == 2
    (text,) = (text for text in warnings_of(stage) if text.startswith("/gear"))
    assert text.startswith("/gear.physics:hinge1: leads to /hb, which is no joint of the articulation ")
    assert text.endswith(
        "a gear couples joints of one articulation, or of trees without roots of their own that the world, or one "
        "kinematic body, holds: of others none is simulated yet"
    )


def test_trees_that_a_mimic_joint_couples_are_one(tmp_path):
    """As gears do, which are converted to it."""
    apart().GetRootLayer().Export(str(tmp_path / "gear.usda"))
    convert_stage(tmp_path / "gear.usda", tmp_path / "mimic.usda")
    stage = Usd.Stage.Open(str(tmp_path / "mimic.usda"))
    assert not stage.GetPrimAtPath("/gear").IsActive()
    (tree,) = read_stage(stage).articulations
    (mimic,) = tree.mimics
    (gear,) = read_stage(apart()).articulations[0].mimics
    assert (mimic.dofs, mimic.offset) == (gear.dofs, gear.offset) and mimic.gears == pytest.approx(gear.gears)

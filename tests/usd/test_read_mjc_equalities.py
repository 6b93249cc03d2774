"""Equalities of bodies in the MuJoCo dialect, and equalities that are switched off."""

import pytest
from pxr import Usd

from tests.usd.authoring import SI, body, errors_of, joint, notes_of, open_text, schemas, warnings_of
from warp_artic.description.joint import WORLD, Axis
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.usd.convert_stage import convert_stage
from warp_artic.usd.read_stage import read_stage

ROTATIONS = (Axis.ROT_X, Axis.ROT_Y, Axis.ROT_Z)
CONNECT, WELD = "MjcEqualityConnectAPI", "MjcEqualityWeldAPI"
KINDS = {CONNECT: "Spherical", WELD: "Fixed"}
PLACES = "point3f physics:localPos0 = (1, 2, 3)\npoint3f physics:localPos1 = (1, 2, 3)\n"
TURNED = "quatf physics:localRot0 = (0.8, 0, 0.6, 0)\nquatf physics:localRot1 = (0.8, 0, 0.6, 0)\n"
OUT = "bool physics:excludeFromArticulation = 1\n"


def robot(schema=CONNECT, content=PLACES, ends=("/World/a", "/World/b"), kind=None, applied=(), more="", world=""):
    """Two arms on a base, and an equality between them."""
    text = world + body("base") + body("a") + body("b") + joint("held", "Fixed", "", "/World/base")
    text += joint("j1", "Revolute", "/World/base", "/World/a") + joint("j2", "Revolute", "/World/base", "/World/b")
    text += joint("eq", kind or KINDS[schema], *ends, content, (schema, *applied))
    return open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{more}}}\n', SI)


def loops_of(stage):
    """The loop joints of the only articulation."""
    (tree,) = read_stage(stage).articulations
    return tree.constraints_of(LoopJoint)


def about(lines, path="/World/eq"):
    """What is said of a prim."""
    return [line for line in lines if line.startswith(path)]


@pytest.mark.parametrize("excluded", ["", OUT])
def test_connect_holds_origins_and_weld_holds_frames(excluded):
    """Between the links, in the frames of the prim, whether or not it says that it is beside the tree."""
    for schema, free in ((CONNECT, ROTATIONS), (WELD, ())):
        stage = robot(schema, PLACES + TURNED + excluded)
        (loop,) = loops_of(stage)
        assert (loop.name, loop.link0, loop.link1, loop.free) == ("/World/eq", 1, 2, free)
        assert loop.frame0.position == (1.0, 2.0, 3.0)
        assert loop.frame0.quaternion == pytest.approx((0.0, 0.6, 0.0, 0.8))
        assert loop.frame1.position == (1.0, 2.0, 3.0)
        assert about(warnings_of(stage)) == []


@pytest.mark.parametrize("world", ["", "/World"])
@pytest.mark.parametrize("schema", KINDS)
def test_the_world_may_be_a_prim_that_is_no_body(schema, world):
    """As converters write it, on either side."""
    for ends in (("/World/a", world), (world, "/World/a")):
        (loop,) = loops_of(robot(schema, ends=ends))
        assert {loop.link0, loop.link1} == {WORLD, 1}


def test_a_weld_of_no_torque_is_a_connect():
    """mjc:torqueScale weighs rotations: none at 0."""
    (loop,) = loops_of(robot(WELD, PLACES + "double mjc:torqueScale = 0"))
    assert loop.free == ROTATIONS
    (loop,) = loops_of(robot(WELD, PLACES + "double mjc:torqueScale = 3"))
    assert loop.free == ()
    (text,) = errors_of(robot(WELD, PLACES + "double mjc:torqueScale = -1"))
    assert text == "/World/eq.mjc:torqueScale: is -1, must not be negative"


def test_a_compliance_is_told():
    """As a note: the equality is held exactly; what is the default is not worth a note."""
    stage = robot(WELD, PLACES + "double[] mjc:solref = [0.05, 1]\ndouble mjc:torqueScale = 3")
    text = "mjc:solref = (0.05, 1.0), mjc:torqueScale = 3.0: the equality is held exactly, and gives way to nothing"
    assert f"/World/eq: {text}" in notes_of(stage)
    assert not [text for text in warnings_of(stage) if "mjc:" in text]
    default = "double[] mjc:solref = [0.02, 1]\ndouble[] mjc:solimp = [0.9, 0.95, 0.001, 0.5, 2]"
    assert about(notes_of(robot(WELD, PLACES + default))) == []


def test_an_equality_that_is_not_active():
    """By physics:jointEnabled of its prim, or all of them by a flag of the scene."""
    stage = robot(WELD, PLACES + "bool physics:jointEnabled = 0")
    assert loops_of(stage) == ()
    assert about(notes_of(stage)) == ["/World/eq: is disabled (physics:jointEnabled) and ignored"]
    assert warnings_of(stage) == []
    flag = 'def PhysicsScene "scene" {\nbool mjc:flag:equality = 0\n}\n'
    stage = robot(WELD, world=flag)
    assert loops_of(stage) == ()
    assert about(notes_of(stage)) == ["/World/eq: is switched off by mjc:flag:equality and ignored"]
    assert warnings_of(stage) == []


@pytest.mark.parametrize("by", ["joint", "flag", "newton"])
def test_an_equality_of_joints_that_is_not_active(by):
    """It does not act, but its joint does; it can be switched on in a run."""
    text = "rel newton:mimicJoint = </World/j1>\n" if by == "newton" else "rel mjc:target = </World/j1>\n"
    off = {"joint": "bool physics:jointEnabled = 0", "newton": "bool newton:mimicEnabled = 0", "flag": ""}[by]
    more = body("c") + joint("j3", "Revolute", "/World/base", "/World/c", text + off, ("MjcEqualityJointAPI",))
    flag = 'def PhysicsScene "scene" {\nbool mjc:flag:equality = 0\n}\n' if by == "flag" else ""
    (tree,) = read_stage(robot(WELD, more=more, world=flag)).articulations
    assert [joint.path for joint in tree.joints] == ["/World/held", "/World/j1", "/World/j2", "/World/j3"]
    (mimic,) = tree.mimics
    assert not mimic.enabled


def test_two_schemas_contradict_each_other():
    """Connect and weld on one prim are an error; a type of joint that is not that of the equality is a note."""
    assert errors_of(robot(CONNECT, applied=(WELD,))) == [
        "/World/eq: has MjcEqualityConnectAPI and MjcEqualityWeldAPI; an equality is one of them"
    ]
    stage = robot(CONNECT, kind="Revolute")
    assert loops_of(stage)[0].free == ROTATIONS
    assert any("is a PhysicsRevoluteJoint" in text for text in about(notes_of(stage)))


def test_an_equality_on_no_joint_is_reported():
    """There is nothing to hold."""
    text = body("a") + f'def Xform "eq" {schemas(CONNECT)} {{\nrel mjc:target = </a>\n}}\n'
    assert "/eq: connect constraint on no joint prim: not simulated yet" in warnings_of(open_text(text))


def test_it_is_the_same_as_a_joint_of_usd_physics():
    """To the last bit."""
    for schema, content in ((CONNECT, ""), (WELD, ""), (WELD, "double mjc:torqueScale = 0")):
        is_ball = schema == CONNECT or content
        (loop,) = loops_of(robot(schema, PLACES + TURNED + content))
        plain = robot(schema, PLACES + TURNED + OUT, kind="Spherical" if is_ball else "Fixed")
        plain.GetPrimAtPath("/World/eq").RemoveAppliedSchema(schema)
        assert loops_of(plain) == (loop,)


@pytest.mark.parametrize("schema", KINDS)
def test_convert_makes_them_joints_of_usd_physics(schema, tmp_path):
    """With the same frames, beside the tree; a weld of no torque becomes a ball."""
    for content in ("", "double[] mjc:solref = [0.05, 1]\n", "double mjc:torqueScale = 0\n"):
        stage = robot(schema, PLACES + TURNED + content)
        stage.GetRootLayer().Export(str(tmp_path / "mjc.usda"))
        conversion = convert_stage(str(tmp_path / "mjc.usda"), tmp_path / "ours.usda")
        ours = read_stage(str(tmp_path / "ours.usda"))
        assert ours.articulations[0].constraints == loops_of(stage)
        assert any(rewrite.was == f"/World/eq: {schema}" for rewrite in conversion.rewritten)
        copy = Usd.Stage.Open(str(tmp_path / "ours.usda"))
        prim = copy.GetPrimAtPath("/World/eq")
        names = (*prim.GetAuthoredPropertyNames(), *prim.GetAppliedSchemas())
        assert not [name for name in names if name.lower().startswith("mjc")]
        assert not conversion.left


def test_the_world_of_a_copy_is_where_the_copy_is(tmp_path):
    """Of a robot that is referenced several times each holds on to the prim of its own that stands for the world."""
    places = "point3f physics:localPos0 = (1, 0, 0)\npoint3f physics:localPos1 = (1, 0, 0)\n"
    text = body("base") + body("a") + joint("j1", "Spherical", "/Robot/base", "/Robot/a") + 'def Xform "fix" {\n}\n'
    text += joint("pin", "Spherical", "/Robot/a", "/Robot/fix", places, (CONNECT,))
    robot = open_text(f'def Xform "Robot" {schemas("PhysicsArticulationRootAPI")} {{\n{text}}}\n')
    robot.GetRootLayer().Export(str(tmp_path / "robot.usda"))
    reference = 'def "r{0}" (prepend references = @{1}@</Robot>) {{\ndouble3 xformOp:translate = ({0}, 0, 0)\n'
    reference += 'uniform token[] xformOpOrder = ["xformOp:translate"]\n}}\n'
    stage = open_text("".join(reference.format(number, tmp_path / "robot.usda") for number in range(3)))
    for number, tree in enumerate(read_stage(stage).articulations):
        (loop,) = tree.constraints_of(LoopJoint)
        assert loop.name == f"/r{number}/pin"
        assert loop.frame0.position == (1.0, 0.0, 0.0)
        assert loop.frame1.position == (1.0 + number, 0.0, 0.0)

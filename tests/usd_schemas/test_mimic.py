"""WarpArticMimicAPI: an axis that follows others."""

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, warnings_of
from tests.usd_schemas.mechanisms import BALL, HINGE, SLIDE, chain
from tests.usd_schemas.source import DEGREE, attributes_of, line
from warp_artic.usd.read_stage import inspect_stage, read_stage

ATTRIBUTES = attributes_of("WarpArticMimicAPI")
LEADER = "rel {}leaders = </World/j2>\n"


def follower(content: str, kind: str = "Revolute", instance: str = "", applied: tuple[str, ...] = ()):
    """A joint that follows, for `chain`."""
    instance = instance or ("angular" if kind == "Revolute" else "linear")
    content = content.replace("{}", f"warpArtic:mimic:{instance}:")
    return kind, (f"WarpArticMimicAPI:{instance}", *applied), content


def pair(content: str = "", kind: str = "Revolute", leader: tuple = HINGE, header: str = SI):
    """Joint j1 follows joint j2."""
    return chain(follower(LEADER + content, kind), leader, header=header)


def mimic_of(stage):
    """The only mimic joint of a stage."""
    (mimic,) = read_stage(stage).articulations[0].mimics
    return mimic


def test_every_attribute():
    """Each is read: the position is 10 degrees and twice that of the leader, as a spring, and switched off."""
    content = """
    double[] {}gears = [2]
    double {}offset = 10
    double {}naturalFrequency = 30
    double {}dampingRatio = 0.7
    bool {}enabled = 0
    uniform token[] {}leaderAxes = ["rotZ"]
    uniform int[] {}leaderIndices = [0]
    """
    assert {name for name in ATTRIBUTES if name not in content} == set()
    mimic = mimic_of(pair(content, leader=BALL))
    assert (mimic.name, mimic.dofs, mimic.enabled) == ("/World/j1", (0, 3), False)
    assert (mimic.gears, mimic.offset) == ((1.0, -2.0), pytest.approx(-10 * DEGREE, rel=1e-12))
    assert (mimic.natural_frequency, mimic.damping_ratio) == (30.0, 0.7)
    assert not warnings_of(pair(content, leader=BALL))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_fallbacks(name):
    """To author a fallback changes nothing."""
    stage = pair(line(ATTRIBUTES[name], f"{{}}{name}"))
    assert mimic_of(stage) == mimic_of(pair())


def test_what_fallbacks_mean():
    """The axis follows rigidly, one to one, in degrees or units of length of the stage."""
    mimic = mimic_of(pair())
    assert (mimic.gears, mimic.offset, mimic.enabled) == ((1.0, -1.0), 0.0, True)
    assert (mimic.natural_frequency, mimic.damping_ratio) == (0.0, 0.0)


@pytest.mark.parametrize("header, length", [(SI, 1.0), (SMALL_UNITS, 0.01)])
@pytest.mark.parametrize(
    "kind, leader, gear, place",
    [
        ("Revolute", HINGE, (0, 0), (0, DEGREE)),
        ("Revolute", SLIDE, (-1, DEGREE), (0, DEGREE)),
        ("Prismatic", SLIDE, (0, 0), (1, 1)),
        ("Prismatic", HINGE, (1, 1 / DEGREE), (1, 1)),
    ],
)
def test_units(header, length, kind, leader, gear, place):
    """Angles are in degrees and lengths in units of the stage, of follower and of leader; frequencies are in 1/s."""
    content = "double[] {}gears = [2]\ndouble {}offset = 3\ndouble {}naturalFrequency = 5\ndouble {}dampingRatio = 0.5"
    mimic = mimic_of(pair(content, kind, leader, header))
    assert mimic.gears == pytest.approx((1.0, -2 * length ** gear[0] * (gear[1] or 1)), rel=1e-12)
    assert mimic.offset == pytest.approx(-3 * length ** place[0] * place[1], rel=1e-12)
    assert (mimic.natural_frequency, mimic.damping_ratio) == (5.0, 0.5)


def test_many_leaders():
    """A position can follow several axes, two of one joint too, of any kind."""
    content = """
    rel {}leaders = [</World/j3>, </World/j2>]
    uniform int[] {}leaderIndices = [1, 0, 0]
    uniform token[] {}leaderAxes = ["linear", "rotZ", "rotX"]
    double[] {}gears = [4, 0.5, -1]
    """
    mimic = mimic_of(chain(follower(content), SLIDE, BALL))
    assert mimic.dofs == (0, 1, 4, 2)
    assert mimic.gears == pytest.approx((1.0, -4 * DEGREE, -0.5, 1.0), rel=1e-12)


def test_axes_of_one_joint_follow_by_themselves():
    """The instance name is the axis that follows, and its name in a recording."""
    content = "rel warpArtic:mimic:rotX:leaders = </World/j2>\nrel warpArtic:mimic:rotZ:leaders = </World/j2>\n"
    ball = ("Spherical", ("WarpArticMimicAPI:rotX", "WarpArticMimicAPI:rotZ"), content)
    mimics = read_stage(chain(ball, HINGE)).articulations[0].mimics
    assert [(mimic.name, mimic.dofs) for mimic in mimics] == [("/World/j1:rotX", (0, 3)), ("/World/j1:rotZ", (2, 3))]


def test_readings_tell_where_values_come_from():
    """They are listed with those of the follower."""
    stage = pair("double[] {}gears = [2]\ndouble {}offset = 3", "Prismatic", HINGE)
    found = {reading.field: reading for reading in inspect_stage(stage).readings["/World/j1"]}
    assert found["mimic_gear"].attribute == "/World/j1.warpArtic:mimic:linear:gears"
    assert (found["mimic_gear"].authored_unit, found["mimic_offset"].authored_unit) == ("distance/deg", "distance")


NEWTON = "rel newton:mimicJoint = </World/j2>\nfloat newton:mimicCoef1 = {}\nfloat newton:mimicCoef0 = {}\n"
PHYSX = """rel physxMimicJoint:rotX:referenceJoint = </World/j2>
float physxMimicJoint:rotX:gearing = {}
float physxMimicJoint:rotX:offset = {}
float physxMimicJoint:rotX:naturalFrequency = {}
float physxMimicJoint:rotX:dampingRatio = 0.5
"""


def three(own: str, newton: str, physx: str):
    """One follower in three dialects."""
    _, applied, content = follower(LEADER + own, applied=("NewtonMimicAPI", "PhysxMimicJointAPI:rotX"))
    return chain(("Revolute", applied, content + newton + physx), HINGE)


def test_dialects_that_agree():
    """The same relation in three dialects, each with its signs and units, is no conflict."""
    own = "double[] {}gears = [2]\ndouble {}offset = 10\ndouble {}naturalFrequency = 30\ndouble {}dampingRatio = 0.5\n"
    stage = three(own, NEWTON.format(2, 10), PHYSX.format(-2, -10, 30))
    assert mimic_of(stage).gears == (1.0, -2.0)
    assert not warnings_of(stage)


def test_ours_comes_before_the_others():
    """Conflicts are reported with both sides; Newton has no say on compliance, PhysX has."""
    own = "double[] {}gears = [2]\ndouble {}naturalFrequency = 30\ndouble {}dampingRatio = 0.5\n"
    stage = three(own, NEWTON.format(3, 0), PHYSX.format(-2, 0, 40))
    assert (mimic_of(stage).gears, mimic_of(stage).natural_frequency) == ((1.0, -2.0), 30.0)
    assert warnings_of(stage) == [
        "/World/j1: NewtonMimicAPI gives q = 3 q(/World/j2) + 0, but WarpArticMimicAPI:angular gives q = 2 "
        "q(/World/j2) + 0, which is used",
        "/World/j1: PhysxMimicJointAPI:rotX gives q = 2 q(/World/j2) + 0, 40 rad/s, damping ratio 0.5, but "
        "WarpArticMimicAPI:angular gives q = 2 q(/World/j2) + 0, 30 rad/s, damping ratio 0.5, which is used",
    ]


@pytest.mark.parametrize(
    "content, error",
    [
        ("", "/World/j1.{}leaders: leads to no joint, must lead to at least one"),
        (
            "rel {}leaders = </nowhere>",
            "/World/j1.{}leaders: leads to /nowhere, which is no joint; must lead to joints of one articulation",
        ),
        (
            "rel {}leaders = </World/j1>",
            "/World/j1.{}leaders: leads to /World/j1: a joint cannot mimic itself",
        ),
        (
            "rel {}leaders = </World/held>",
            "/World/j1.{}leaders: /World/held is a fixed joint: it has no axis to couple",
        ),
        (
            "rel {}leaders = </World/j3>",
            "/World/j1.{}leaders: no axis of /World/j3 is named; its free axes are rotX, rotY, rotZ",
        ),
        (
            'rel {}leaders = </World/j3>\ntoken[] {}leaderAxes = ["transX"]',
            "/World/j1.{}leaderAxes: /World/j3 is not free on transX; its free axes are rotX, rotY, rotZ",
        ),
        (
            LEADER + 'token[] {}leaderAxes = ["yaw"]',
            "/World/j1.{}leaderAxes: has 'yaw', must be an array of words of transX, transY, transZ, rotX, rotY, rotZ, "
            "angular, linear",
        ),
        (
            LEADER + "int[] {}leaderIndices = [1]",
            "/World/j1.{}leaderIndices: has 1, must be from 0 to 0: places in a list of 1",
        ),
        (
            LEADER + "double[] {}gears = [1, 2]",
            "/World/j1.{}gears: has 2 numbers for 1 terms, must have one for each",
        ),
        (LEADER + "double[] {}gears = [nan]", "/World/j1.{}gears: has nan, must be an array of numbers"),
        (LEADER + "double {}gears = 1", "/World/j1.{}gears: is 1.0, must be an array of numbers"),
        (LEADER + "double {}offset = inf", "/World/j1.{}offset: is inf, must be finite"),
        (LEADER + "double {}dampingRatio = -1", "/World/j1: damping ratio -1 must not be negative"),
        (
            "rel {}leaders = [</World/j2>, </World/j3>]\nint[] {}leaderIndices = [0, 0]",
            "/World/j1: couples /World/j2 2 times; once is allowed",
        ),
    ],
)
def test_errors(content, error):
    """Each error is one line with the prim, what was found and what is allowed; what it concerns is not named twice."""
    stage = chain(follower(content), HINGE, BALL)
    assert errors_of(stage) == [error.replace("{}", "warpArtic:mimic:angular:")]
    assert not [text for text in warnings_of(stage) if "is not used" in text]


def test_an_attribute_for_a_relationship():
    """What leads to the leaders is a relationship."""
    errors = errors_of(chain(follower("double {}leaders = 1"), HINGE))
    assert errors == ["/World/j1.warpArtic:mimic:angular:leaders: is no relationship that leads to prims, must be one"]


def test_leaders_of_another_articulation():
    """A mimic joint stays in one articulation."""
    other = 'def Xform "Other" (prepend apiSchemas = ["PhysicsArticulationRootAPI"]) {\n'
    other += 'def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {\nfloat physics:mass = 1\n}\n'
    other += 'def PhysicsRevoluteJoint "hinge" {\nrel physics:body1 = </Other/a>\n}\n}\n'
    stage = chain(follower("rel {}leaders = </Other/hinge>"), outside=other)
    assert errors_of(stage) == [
        "/World/j1.warpArtic:mimic:angular:leaders: leads to /Other/hinge, which is not a joint of the articulation "
        "/World, as others here are; must lead to joints of one articulation"
    ]


def test_twice_on_one_axis():
    """A revolute joint has one axis, whatever it is called."""
    content = LEADER.format("warpArtic:mimic:angular:") + LEADER.format("warpArtic:mimic:rotX:")
    stage = chain(("Revolute", ("WarpArticMimicAPI:angular", "WarpArticMimicAPI:rotX"), content), HINGE)
    assert errors_of(stage) == [
        "/World/j1: is a mimic joint twice, as angular and as rotX, with one axis; keep one of them"
    ]


def test_on_a_prim_that_is_no_joint():
    """It is reported where it is."""
    stage = chain(HINGE, more='def Xform "frame" (prepend apiSchemas = ["WarpArticMimicAPI:angular"]) {\n}\n')
    assert errors_of(stage) == ["/World/frame: is a mimic joint (angular), but no joint; must be a joint of one"]


def test_a_leader_without_a_term():
    """A leader that no index names has no effect, and that is said."""
    content = "rel {}leaders = [</World/j2>, </World/j3>]\nuniform int[] {}leaderIndices = [0]"
    stage = chain(follower(content), HINGE, HINGE)
    assert mimic_of(stage).dofs == (0, 1)
    assert warnings_of(stage) == [
        "/World/j1.warpArtic:mimic:angular:leaders: leads to /World/j3, which no term of "
        "warpArtic:mimic:angular:leaderIndices names: it has no effect"
    ]

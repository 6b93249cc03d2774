"""The MuJoCo dialect: springs, servos, tendons, equalities and the scene, in its own units."""

import math

import numpy as np
import pytest

from tests.usd.authoring import (
    SI,
    SMALL_UNITS,
    errors_of,
    hinge_of,
    notes_of,
    pendulum,
    warnings_of,
)
from tests.usd.mjc_stages import DEGREE, hinge, tendon, tree_of
from tests.usd_schemas.mechanisms import BALL, HINGE, SLIDE, chain
from warp_artic.description.drive import DriveKind
from warp_artic.usd.not_simulated_mjc import MJC_ATTRIBUTES
from warp_artic.usd.read_stage import inspect_stage, read_stage

RADIANS = 'def PhysicsScene "scene" {\ntoken mjc:compiler:angle = "radian"\n}\n'
TORQUE = 1e-3 * 1e-4
"""Of a unit of torque in SMALL_UNITS [N m]."""


def actuator(content: str, target: str = "/World/hinge", name: str = "servo") -> str:
    return f'def MjcActuator "{name}" {{\nrel mjc:target = <{target}>\n{content}\n}}\n'


def servo(kp: float = 0.0, kv: float = 0.0, more: str = "") -> str:
    gain = kp or kv
    prm = f"double[] mjc:gainPrm = [{gain}]\ndouble[] mjc:biasPrm = [0, {-kp}, {-kv}]"
    return f'token mjc:biasType = "affine"\n{prm}\n{more}'


def test_no_spring():
    assert tree_of(hinge("double mjc:springref = 20")).fixed_tendons == ()
    assert tree_of(hinge("double mjc:stiffness = 0")).fixed_tendons == ()


@pytest.mark.parametrize("header, factor", [(SI, 1.0), (SMALL_UNITS, TORQUE)])
def test_spring_in_a_hinge(header, factor):
    """Stiffness is per radian, springref and ref are in degrees."""
    content = "double mjc:stiffness = 3\ndouble mjc:springref = 30\ndouble mjc:ref = 10"
    (spring,) = tree_of(hinge(content, header=header)).fixed_tendons
    assert (spring.name, spring.dofs, spring.coefficients) == ("/World/hinge:spring", (0,), (1.0,))
    assert spring.stiffness == pytest.approx(3 * factor)
    assert spring.rest_length == pytest.approx(20 * DEGREE)


def test_spring_in_radians():
    """The scene gives the unit of springref, and not that of the stiffness."""
    (spring,) = tree_of(hinge("double mjc:stiffness = 3\ndouble mjc:springref = 0.5", more=RADIANS)).fixed_tendons
    assert (spring.stiffness, spring.rest_length) == (3.0, 0.5)


def test_spring_in_a_slide():
    """Forces per distance, and distances whatever the unit of angles."""
    content = "double mjc:stiffness = 3\ndouble mjc:springref = 50"
    (spring,) = tree_of(hinge(content, kind="Prismatic", header=SMALL_UNITS, more=RADIANS)).fixed_tendons
    assert (spring.stiffness, spring.rest_length) == pytest.approx((3e-3, 0.5))


def test_spring_in_a_ball():
    """One on each axis, without a springref."""
    springs = tree_of(hinge("double mjc:stiffness = 3\ndouble mjc:springref = 5", kind="Spherical")).fixed_tendons
    assert [(one.name, one.dofs, one.stiffness, one.rest_length) for one in springs] == [
        (f"/World/hinge:rot{letter}Spring", (dof,), 3.0, 0.0) for dof, letter in enumerate("XYZ")
    ]


def test_negative_spring():
    assert errors_of(hinge("double mjc:stiffness = -3")) == [
        "/World/hinge.mjc:stiffness: is -3 torque/rad, must not be negative"
    ]


@pytest.mark.parametrize("header, factor", [(SI, 1.0), (SMALL_UNITS, TORQUE)])
def test_position_servo(header, factor):
    """A gear counts twice in gains, once in efforts; the target is where the control, zero, wants the joint."""
    more = actuator(
        servo(
            5,
            2,
            "double[] mjc:gear = [3, 0, 0, 0, 0, 0]\ndouble mjc:forceRange:min = -7\ndouble mjc:forceRange:max = 7",
        )
    )
    drive = hinge_of(hinge("double mjc:ref = 10", more=more, header=header)).dofs[0].drive
    assert drive.kind is DriveKind.FORCE
    assert (drive.stiffness, drive.damping, drive.max_force) == pytest.approx((45 * factor, 18 * factor, 21 * factor))
    assert (drive.position_target, drive.velocity_target) == pytest.approx((-10 * DEGREE, 0.0))


def test_position_servo_on_a_slide():
    """Distances are in stage units."""
    more = actuator(servo(5, 0, "double mjc:ctrlRange:min = 20\ndouble mjc:ctrlRange:max = 40"))
    drive = hinge_of(hinge("", kind="Prismatic", more=more, header=SMALL_UNITS)).dofs[0].drive
    assert (drive.stiffness, drive.position_target, drive.max_force) == pytest.approx((5e-3, 0.2, math.inf))


def test_velocity_servo():
    """The control is a speed."""
    more = actuator(
        servo(0, 2, "double mjc:ctrlRange:min = 0.5\ndouble mjc:ctrlRange:max = 1\ndouble[] mjc:gear = [2]")
    )
    drive = hinge_of(hinge("", more=more)).dofs[0].drive
    assert (drive.stiffness, drive.damping, drive.velocity_target) == pytest.approx((0.0, 8.0, 0.25))


def test_two_servos_add_up():
    """A position and a velocity servo on one joint are one drive, unless one of them has a bound of its own."""
    drive = hinge_of(hinge("", more=actuator(servo(5)) + actuator(servo(0, 2), name="more"))).dofs[0].drive
    assert (drive.stiffness, drive.damping) == (5.0, 2.0)
    bounded = servo(0, 2, "double mjc:forceRange:min = -7\ndouble mjc:forceRange:max = 7")
    stage = hinge("", more=actuator(servo(5)) + actuator(bounded, name="more"))
    assert hinge_of(stage).dofs[0].drive.damping == 0.0
    (text,) = warnings_of(stage)
    assert text.startswith("/World/more: actuator: is the second one on /World/hinge")


def test_joint_bounds_actuators():
    """The smaller of the two ranges of efforts counts."""
    content = "double mjc:actuatorfrcrange:min = -4\ndouble mjc:actuatorfrcrange:max = 4"
    assert hinge_of(hinge(content, more=actuator(servo(5)))).dofs[0].drive.max_force == 4.0
    switched = content + '\ntoken mjc:actuatorfrclimited = "false"'
    assert hinge_of(hinge(switched, more=actuator(servo(5)))).dofs[0].drive.max_force == math.inf


def test_ranges_of_efforts_that_are_not_symmetric():
    more = actuator(servo(5, 0, "double mjc:forceRange:min = -1\ndouble mjc:forceRange:max = 7"))
    assert warnings_of(hinge("", more=more)) == [
        "/World/servo.mjc:forceRange: is -1 to 7; a range of efforts that is not symmetric is not simulated yet"
    ]


def test_servo_comes_before_a_usd_drive():
    """A conflict is reported with both values in SI units."""
    content = f"float drive:angular:physics:stiffness = 2\nfloat drive:angular:physics:damping = {1 * DEGREE}"
    stage = pendulum(content, applied=("PhysicsDriveAPI:angular",), more=actuator(servo(5, 1)))
    assert hinge_of(stage).dofs[0].drive.stiffness == 5.0
    assert warnings_of(stage) == [
        "/World/hinge.drive:angular:physics:stiffness: gives stiffness 114.592 N m/rad, but mjc:biasPrm gives "
        "5 N m/rad, which is used"
    ]


def test_usd_drive_before_a_servo():
    """Where the order says so; what it does not give is taken over, except by an acceleration drive."""
    content = "float drive:angular:physics:stiffness = 2\n"
    stage = pendulum(content, applied=("PhysicsDriveAPI:angular",), more=actuator(servo(5, 1)))
    (dof,) = read_stage(stage, dialects=("usdphysics",)).articulations[0].joints[1].dofs
    assert (dof.drive.stiffness, dof.drive.damping) == pytest.approx((2 / DEGREE, 1.0))
    content += 'token drive:angular:physics:type = "acceleration"'
    stage = pendulum(content, applied=("PhysicsDriveAPI:angular",), more=actuator(servo(5, 1)))
    inspection = inspect_stage(stage, dialects=("usdphysics",))
    drive = inspection.scene.articulations[0].joints[1].dofs[0].drive
    assert (drive.kind, drive.damping) == (DriveKind.ACCELERATION, 0.0)
    assert any("has an acceleration drive, which is used" in one.message for one in inspection.diagnostics)
    assert hinge_of(stage).dofs[0].drive.kind is DriveKind.FORCE


def test_motor():
    """Its effort is given in a run."""
    stage = hinge("", more=actuator("double[] mjc:gear = [30, 0, 0, 0, 0, 0]"))
    assert hinge_of(stage).dofs[0].drive is None
    assert warnings_of(stage) == []
    assert any("is a motor: its effort is 30 times its control" in text for text in notes_of(stage))


@pytest.mark.parametrize(
    "content, text",
    [
        ('token mjc:dynType = "filter"', "its law is one of"),
        ('token mjc:gainType = "muscle"', "its law is one of"),
        (servo(5).replace("[0, -5, ", "[0, -4, "), "are those of no position or velocity servo"),
        (servo(5).replace("[0, ", "[1, "), "are those of no position or velocity servo"),
    ],
)
def test_other_laws_of_actuators(content, text):
    stage = hinge("", more=actuator(content))
    assert hinge_of(stage).dofs[0].drive is None
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/servo: actuator: ") and text in warning


@pytest.mark.parametrize("target", ["/World/rod", "/nowhere", "/World/held"])
def test_actuators_on_other_things(target):
    assert warnings_of(hinge("", more=actuator("", target))) == [
        f"/World/servo: actuator: acts on {target}, not on one hinge or slide: not simulated yet"
    ]


def equality(content: str, kinds=(HINGE, HINGE), header: str = SI, applied=("MjcEqualityJointAPI",)):
    follows = (kinds[1][0], applied, f"rel mjc:target = </World/j1>\n{content}")
    return chain(kinds[0], follows, header=header)


@pytest.mark.parametrize(
    "kinds, header, coef1, coef0",
    [
        ((HINGE, HINGE), SI, 2.0, 0.3),
        ((SLIDE, SLIDE), SMALL_UNITS, 2.0, 0.003),
        ((HINGE, SLIDE), SMALL_UNITS, 0.02, 0.003),
        ((SLIDE, HINGE), SMALL_UNITS, 200.0, 0.3),
    ],
)
def test_equality_of_joints(kinds, header, coef1, coef0):
    """A mimic joint in radians."""
    (mimic,) = tree_of(equality("double mjc:coef0 = 0.3\ndouble mjc:coef1 = 2", kinds, header)).mimics
    assert mimic.dofs == (1, 0)
    assert (mimic.gears[1], mimic.offset) == pytest.approx((-coef1, -coef0))


def test_default_equality_of_joints():
    (mimic,) = tree_of(equality("")).mimics
    assert (mimic.gears, mimic.offset, mimic.natural_frequency) == ((1.0, -1.0), 0.0, 0.0)


def test_equality_brings_the_mimic_of_newton():
    """Its schema brings NewtonMimicAPI, registered or not, which comes first; offsets are in degrees there."""
    newton = "rel newton:mimicJoint = </World/j1>\nfloat newton:mimicCoef0 = 30\nfloat newton:mimicCoef1 = 3"
    stage = chain(HINGE, ("Revolute", ("MjcEqualityJointAPI",), newton))
    assert tree_of(stage).mimics[0].gears == (1.0, -3.0)
    both = equality(f"{newton}\ndouble mjc:coef0 = {30 * DEGREE}\ndouble mjc:coef1 = 2")
    (text,) = [one for one in warnings_of(both) if "is off its relation" not in one]
    assert "MjcEqualityJointAPI gives q = 2 q(/World/j1)" in text and "which is used" in text
    agree = equality(f"{newton}\ndouble mjc:coef0 = {30 * DEGREE}\ndouble mjc:coef1 = 3")
    assert all("is off its relation" in one for one in warnings_of(agree))


def test_equality_with_higher_terms():
    """A relation that is not linear, in the dialect itself and beside the mimic of Newton."""
    terms = "double mjc:coef2 = 0.25\ndouble mjc:coef3 = 0.5"
    for kinds, header, factors in (
        ((HINGE, HINGE), SI, (0.25, 0.5)),
        ((HINGE, SLIDE), SMALL_UNITS, (0.25 * 0.01, 0.5 * 0.01)),
        ((SLIDE, HINGE), SMALL_UNITS, (0.25 / 0.01**2, 0.5 / 0.01**3)),
        ((SLIDE, SLIDE), SMALL_UNITS, (0.25 / 0.01, 0.5 / 0.01**2)),
    ):
        stage = equality(terms, kinds, header)
        (mimic,) = tree_of(stage).mimics
        assert mimic.curve == pytest.approx((-factors[0], -factors[1], 0.0))
        assert warnings_of(stage) == []
    newton = chain(HINGE, ("Revolute", ("MjcEqualityJointAPI",), f"rel newton:mimicJoint = </World/j1>\n{terms}"))
    assert tree_of(newton).mimics[0].curve == (-0.25, -0.5, 0.0)


def test_scene():
    scene = 'def PhysicsScene "scene" {{\n{}\n}}\n'
    assert read_stage(pendulum(world=scene.format("double mjc:option:timestep = 0.004"))).time_step == 0.004
    assert read_stage(pendulum(world=scene.format(""))).time_step is None
    stage = pendulum(world=scene.format("double mjc:option:timestep = 0.004\nint newton:timeStepsPerSecond = 500"))
    assert read_stage(stage).time_step == 0.002
    assert any("gives steps_per_second 250 1/s, but newton:timeStepsPerSecond" in text for text in warnings_of(stage))
    assert errors_of(pendulum(world=scene.format("double mjc:option:timestep = 0")))
    assert read_stage(pendulum(world=scene.format("bool mjc:flag:gravity = 0"))).gravity == (0.0, 0.0, 0.0)


def literal(value) -> tuple[str, str]:
    """A type and a value other than this one."""
    if isinstance(value, str):
        return "token", '"other"'
    if isinstance(value, tuple):
        return "double[]", "[7]"
    return "double", str(value + 1)


@pytest.mark.parametrize("name", MJC_ATTRIBUTES)
def test_what_is_not_simulated_is_named(name):
    """Once, unless it has its default."""
    what, default = MJC_ATTRIBUTES[name]
    kind, value = literal(default)
    stage = pendulum(rod=f"{kind} {name} = {value}")
    (text,) = [text for text in warnings_of(stage) if name in text]
    assert text.endswith(f"; {what} is not simulated yet")
    same = f'"{default}"' if isinstance(default, str) else str(list(default) if kind == "double[]" else default)
    assert not [text for text in warnings_of(pendulum(rod=f"{kind} {name} = {same}")) if name in text]


def test_nothing_is_said_twice():
    """Every attribute of a servo, a spring and a tendon that was read is counted as used."""
    stage = chain(
        ("Revolute", ("MjcJointAPI",), "double mjc:stiffness = 3\ndouble mjc:springref = 20\nint mjc:group = 1"),
        HINGE,
        BALL,
        more=tendon("double[] mjc:path:coef = [1, 1]") + actuator(servo(5), "/World/j1"),
    )
    found = inspect_stage(stage).diagnostics
    assert [one.path for one in found if "not used" in one.message] == ["/World/j1.mjc:group"]
    assert warnings_of(stage) == []


MJCF = """
<mujoco><compiler angle="degree"/><option gravity="0 0 0"/>
<worldbody><body><joint name="j1" axis="1 0 0" ref="10" springref="30" stiffness="2"/><geom size=".1"/>
<body><joint name="j2" axis="1 0 0" springref="-20"/><geom size=".1" pos=".5 0 0"/>
<body><joint name="j3" type="slide" axis="1 0 0" ref=".2" springref=".3" stiffness="5"/><geom size=".1"/></body>
</body></body></worldbody>
<tendon>
<fixed name="t" stiffness="3" damping="0.4"><joint joint="j1" coef="0.5"/><joint joint="j3" coef="2"/></fixed>
<fixed name="u" stiffness="7" springlength="0 0.2"><joint joint="j2" coef="1"/><joint joint="j1" coef="-1"/></fixed>
</tendon>
<actuator><position joint="j1" kp="4" kv="0.3" gear="3"/><velocity joint="j2" kv="1.5" gear="2"/></actuator>
</mujoco>
"""
SAME = """
def MjcTendon "t" {
    token mjc:type = "fixed"
    rel mjc:path = [</World/j1>, </World/j3>]
    double[] mjc:path:coef = [0.5, 2]
    double mjc:stiffness = 3
    double mjc:damping = 0.4
}
def MjcTendon "u" {
    token mjc:type = "fixed"
    rel mjc:path = [</World/j2>, </World/j1>]
    double[] mjc:path:coef = [1, -1]
    double mjc:stiffness = 7
    double[] mjc:springlength = [0, 0.2]
}
"""


def efforts(tree, q, v):
    """What drives and fixed tendons give, by their laws in the description."""
    total = np.zeros(len(tree.dofs))
    for number, dof in enumerate(tree.dofs):
        if dof.drive:
            pull = dof.drive.stiffness * (dof.drive.position_target - q[number])
            total[number] += pull + dof.drive.damping * (dof.drive.velocity_target - v[number])
    for one in tree.fixed_tendons:
        c = np.zeros(len(tree.dofs))
        c[list(one.dofs)] = one.coefficients
        length = one.offset + c @ q
        force = one.stiffness * (one.rest_length - length) - one.damping * (c @ v)
        force += one.limit_stiffness * (np.clip(length, one.lower, one.upper) - length)
        total += c * force
    return total


def test_efforts_are_those_of_mujoco():
    """Springs, servos and tendons give what MuJoCo computes, at random states; its positions start at ref."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    velocity_servo = actuator(servo(0, 1.5, "double[] mjc:gear = [2]"), "/World/j2", "speed")
    more = SAME + actuator(servo(4, 0.3, "double[] mjc:gear = [3]"), "/World/j1") + velocity_servo
    first = "double mjc:ref = 10\ndouble mjc:springref = 30\ndouble mjc:stiffness = 2"
    last = "double mjc:ref = 0.2\ndouble mjc:springref = 0.3\ndouble mjc:stiffness = 5"
    applied = ("MjcJointAPI",)
    joints = (
        ("Revolute", applied, first),
        ("Revolute", applied, "double mjc:springref = -20"),
        ("Prismatic", applied, last),
    )
    tree = tree_of(chain(*joints, more=more))
    rng = np.random.default_rng(5)
    for _ in range(20):
        q, v = rng.normal(size=(2, 3))
        data.qpos[:], data.qvel[:] = q + model.qpos0, v
        mujoco.mj_forward(model, data)
        expected = data.qfrc_passive + data.qfrc_actuator
        assert efforts(tree, q, v) == pytest.approx(expected, rel=1e-6, abs=1e-9)

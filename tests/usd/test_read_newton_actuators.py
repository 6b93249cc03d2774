"""Actuators of the Newton schemas: which drive they make, in both units, and what is told of the rest."""

import math

import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, hinge_of, notes_of, pendulum, warnings_of
from tests.usd.mjc_stages import DEGREE, hinge
from warp_artic.description.drive import DriveKind
from warp_artic.usd.read_stage import read_stage

TORQUE = 1e-3 * 1e-4
"""Of a unit of torque in SMALL_UNITS [N m]."""
PD, MAX, MOTOR = "NewtonPDControlAPI", "NewtonMaxEffortClampingAPI", "NewtonDCMotorClampingAPI"


def actuator(content: str, schemas=(PD,), target: str = "</World/hinge>", name: str = "motor") -> str:
    """Text of an actuator."""
    applied = "[" + ", ".join(f'"{one}"' for one in schemas) + "]" if schemas else "None"
    targets = f"rel newton:targets = {target}\n" if target else ""
    return f'def NewtonActuator "{name}" (prepend apiSchemas = {applied}) {{\n{targets}{content}\n}}\n'


GAINS = "float newton:kp = 5\nfloat newton:kd = 0.5\n"


@pytest.mark.parametrize("header, factor", [(SI, 1.0), (SMALL_UNITS, TORQUE)])
def test_pd_control(header, factor):
    """Gains are per radian; without a clamp the effort has no bound."""
    stage = hinge("", more=actuator(GAINS), header=header)
    drive = hinge_of(stage).dofs[0].drive
    assert drive.kind is DriveKind.FORCE
    assert (drive.stiffness, drive.damping) == pytest.approx((5 * factor, 0.5 * factor))
    assert (drive.max_force, drive.max_velocity, drive.position_target) == (math.inf, math.inf, 0.0)
    assert errors_of(stage) == warnings_of(stage) == []


def test_pd_control_of_a_slide():
    """Gains are per unit of length."""
    drive = hinge_of(hinge("", kind="Prismatic", more=actuator(GAINS), header=SMALL_UNITS)).dofs[0].drive
    assert (drive.stiffness, drive.damping) == pytest.approx((5e-3, 0.5e-3))


def test_a_clamp_counts_by_its_schema():
    """As all values of an applied schema."""
    content = GAINS + "float newton:maxEffort = 7"
    assert hinge_of(hinge("", more=actuator(content))).dofs[0].drive.max_force == math.inf
    assert hinge_of(hinge("", more=actuator(content, (PD, MAX)))).dofs[0].drive.max_force == 7.0


@pytest.mark.parametrize("header, factor", [(SI, 1.0), (SMALL_UNITS, TORQUE)])
def test_dc_motor(header, factor):
    """The least of three bounds, and the speed that an effort costs; speeds are in radians."""
    content = GAINS + "float newton:saturationEffort = 8\nfloat newton:velocityLimit = 20\nfloat newton:maxEffort = 7\n"
    stage = hinge("", more=actuator(content + "float newton:maxMotorEffort = 6", (PD, MAX, MOTOR)), header=header)
    drive = hinge_of(stage).dofs[0].drive
    assert (drive.max_force, drive.max_velocity) == pytest.approx((6 * factor, 20.0))
    assert drive.velocity_gradient == pytest.approx(2.5 / factor)
    assert any("brak" in text for text in notes_of(stage))
    assert warnings_of(stage) == []


def test_the_drive_of_the_joint_gives_the_targets():
    """A Newton actuator has gains and no target; gains that differ are told, and its own count."""
    content = "float drive:angular:physics:targetPosition = 30\nfloat drive:angular:physics:stiffness = 1"
    stage = pendulum(content, applied=("PhysicsDriveAPI:angular",), more=actuator(GAINS))
    drive = hinge_of(stage).dofs[0].drive
    assert (drive.stiffness, drive.damping) == (5.0, 0.5)
    assert drive.position_target == pytest.approx(30 * DEGREE)
    (warning,) = warnings_of(stage)
    assert "newton:kp gives 5 N m/rad, which is used" in warning
    first = read_stage(stage, dialects=("usdphysics",)).articulations[0].joints[1].dofs[0].drive
    assert (first.stiffness, first.damping) == pytest.approx((1 / DEGREE, 0.5))


def test_two_actuators():
    """Gains of two without bounds add up."""
    more = actuator(GAINS) + actuator("float newton:kp = 1", name="other")
    assert hinge_of(hinge("", more=more)).dofs[0].drive.stiffness == 6.0
    stage = hinge("", more=actuator(GAINS) + actuator(GAINS + "float newton:maxEffort = 1", (PD, MAX), name="other"))
    assert hinge_of(stage).dofs[0].drive.stiffness == 5.0
    assert any("is the second one on /World/hinge" in text for text in warnings_of(stage))


def test_beside_an_actuator_of_mujoco():
    """One of them counts, by the order of schema families."""
    prm = "double[] mjc:gainPrm = [3]\ndouble[] mjc:biasPrm = [0, -3, 0]"
    servo = f'def MjcActuator "servo" {{\nrel mjc:target = </World/hinge>\ntoken mjc:biasType = "affine"\n{prm}\n}}\n'
    stage = hinge("", more=actuator("float newton:kp = 5\n") + servo)
    assert hinge_of(stage).dofs[0].drive.stiffness == 5.0
    assert any("gives stiffness 3 N m/rad, but newton:kp gives 5" in text for text in warnings_of(stage))
    assert read_stage(stage, dialects=("mjc",)).articulations[0].joints[1].dofs[0].drive.stiffness == 3.0


@pytest.mark.parametrize(
    "content, schemas, target, text",
    [
        (GAINS, (), "</World/hinge>", "/World/motor: actuator: has no control, must have one of"),
        (GAINS, (PD, "NewtonPIDControlAPI"), "</World/hinge>", "must have one of"),
        ("", ("NewtonNeuralControlAPI",), "</World/hinge>", "its control is a neural network"),
        (GAINS, (PD,), "", "acts on nothing, not on one hinge or slide"),
        (GAINS, (PD,), "</World/rod>", "acts on /World/rod, not on one hinge or slide"),
        (GAINS + "float newton:constEffort = 2", (PD,), "</World/hinge>", "newton:constEffort: is 2, which is not"),
        (GAINS + "float newton:ki = 2", ("NewtonPIDControlAPI",), "</World/hinge>", "newton:ki: is 2, which is not"),
        (GAINS, (PD, "NewtonActuatorDelayAPI"), "</World/hinge>", "delay of an actuator: not simulated yet"),
        (GAINS, (PD, "NewtonPositionBasedClampingAPI"), "</World/hinge>", "effort by position of an actuator"),
    ],
)
def test_what_is_not_simulated(content, schemas, target, text):
    """One warning tells of each."""
    stage = hinge("", more=actuator(content, schemas, target))
    (warning,) = warnings_of(stage)
    assert text in warning
    assert errors_of(stage) == []


def test_without_gains():
    """A motor whose effort the run gives."""
    stage = hinge("", more=actuator("float newton:maxEffort = 3", (PD, MAX)))
    assert hinge_of(stage).dofs[0].drive is None
    assert any("has no gain" in text for text in notes_of(stage))


def test_negative_values():
    """Errors with their attribute."""
    assert errors_of(hinge("", more=actuator("float newton:kp = -5"))) == [
        "/World/motor.newton:kp: is -5, must not be negative"
    ]


def test_schema_of_an_actuator_elsewhere():
    """It does nothing there."""
    more = f'def Xform "other" (prepend apiSchemas = ["{PD}"]) {{\n{GAINS}}}\n'
    assert warnings_of(hinge("", more=more)) == ["/World/other: PD control of an actuator: not simulated yet"]

"""Each quantity of a stage in centimetres, grams and degrees, against hand values."""

import math

import pytest

from tests.usd.authoring import SMALL_UNITS, hinge_of, link_of, pendulum
from warp_artic.usd import units
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.units import Units

DEGREE = math.pi / 180
CENTIMETRE, GRAM = 0.01, 0.001


@pytest.mark.parametrize(
    "quantity, expected",
    [
        (units.DISTANCE, CENTIMETRE),
        (units.ANGLE, DEGREE),
        (units.MASS, GRAM),
        (units.DENSITY, 1000.0),
        (units.INERTIA, 1e-7),
        (units.FORCE, 1e-5),
        (units.TORQUE, 1e-7),
        (units.LINEAR_STIFFNESS, 1e-3),
        (units.LINEAR_DAMPING, 1e-3),
        (units.ANGULAR_STIFFNESS, 1e-7 / DEGREE),
        (units.ANGULAR_DAMPING, 1e-7 / DEGREE),
        (units.ANGULAR_ACCELERATION_STIFFNESS, 1 / DEGREE),
        (units.LINEAR_ACCELERATION_STIFFNESS, 1.0),
    ],
)
def test_one_unit_of_each_quantity(quantity, expected):
    """A gram is 1e-3 kg, a dyne 1e-5 N, a dyne centimetre 1e-7 N m."""
    assert Units(CENTIMETRE, GRAM).si(1.0, quantity) == pytest.approx(expected)


def test_body_in_small_units():
    """Mass, centre of mass, inertia, pose and velocity of a body in grams and centimetres."""
    rod = """
    double3 xformOp:translate = (10, 20, 30)
    point3f physics:centerOfMass = (1, 2, 3)
    vector3f physics:velocity = (100, 0, 0)
    vector3f physics:angularVelocity = (0, 180, 0)
    """
    mass = "float physics:mass = 500\nfloat3 physics:diagonalInertia = (1000, 2000, 2500)"
    stage = pendulum(header=SMALL_UNITS, rod=rod.replace("double3 xformOp:translate = (10, 20, 30)", ""), rod_mass=mass)
    rod_prim = stage.GetPrimAtPath("/World/rod")
    rod_prim.GetAttribute("xformOp:translate").Set((10, 20, 30))
    link = link_of(read_stage(stage), "/World/rod")
    assert link.mass == pytest.approx(0.5)
    assert link.center_of_mass == pytest.approx((0.01, 0.02, 0.03))
    assert link.inertia == pytest.approx((1e-4, 0, 0, 2e-4, 0, 2.5e-4))
    assert link.pose.position == pytest.approx((0.1, 0.2, 0.3))
    assert link.linear_velocity == pytest.approx((1.0, 0.0, 0.0))
    assert link.angular_velocity == pytest.approx((0.0, math.pi, 0.0))


def test_revolute_joint_in_small_units():
    """Every value of a revolute joint and its drive."""
    content = """
    uniform token physics:axis = "Y"
    point3f physics:localPos0 = (1, 2, 3)
    float physics:lowerLimit = -90
    float physics:upperLimit = 45
    float drive:angular:physics:stiffness = 1000
    float drive:angular:physics:damping = 100
    float drive:angular:physics:targetPosition = 30
    float drive:angular:physics:targetVelocity = 60
    float drive:angular:physics:maxForce = 1e6
    float state:angular:physics:position = 10
    float state:angular:physics:velocity = 20
    float physxJointAxis:angular:armature = 50
    float physxJointAxis:angular:maxJointVelocity = 360
    float physxJointAxis:angular:staticFrictionEffort = 300
    float physxJointAxis:angular:dynamicFrictionEffort = 200
    float physxJointAxis:angular:viscousFrictionCoefficient = 10
    """
    applied = ("PhysicsDriveAPI:angular", "PhysicsJointStateAPI:angular", "PhysxJointAxisAPI:angular")
    hinge = hinge_of(pendulum(content, applied=applied, header=SMALL_UNITS))
    (dof,) = hinge.dofs
    assert hinge.parent_frame.position == pytest.approx((0.01, 0.02, 0.03))
    assert (dof.limit.lower, dof.limit.upper) == pytest.approx((-math.pi / 2, math.pi / 4))
    assert dof.drive.stiffness == pytest.approx(1000 * 1e-7 / DEGREE)
    assert dof.drive.damping == pytest.approx(100 * 1e-7 / DEGREE)
    assert dof.drive.position_target == pytest.approx(math.pi / 6)
    assert dof.drive.velocity_target == pytest.approx(math.pi / 3)
    assert dof.drive.max_force == pytest.approx(0.1)
    assert (dof.position, dof.velocity) == pytest.approx((10 * DEGREE, 20 * DEGREE))
    assert dof.armature == pytest.approx(5e-6)
    assert dof.velocity_limit == pytest.approx(2 * math.pi)
    assert dof.friction.static_effort == pytest.approx(3e-5)
    assert dof.friction.dynamic_effort == pytest.approx(2e-5)
    assert dof.friction.viscous == pytest.approx(10 * 1e-7 / DEGREE)


def test_prismatic_joint_in_small_units():
    """Every value of a prismatic joint and its drive; no degree in any of them."""
    content = """
    uniform token physics:axis = "Z"
    float physics:lowerLimit = -10
    float physics:upperLimit = 20
    float drive:linear:physics:stiffness = 1000
    float drive:linear:physics:damping = 100
    float drive:linear:physics:targetPosition = 5
    float drive:linear:physics:targetVelocity = 6
    float drive:linear:physics:maxForce = 1e5
    float state:linear:physics:position = 1
    float state:linear:physics:velocity = 2
    float newton:armature = 50
    float newton:velocityLimit = 300
    float newton:friction = 1e4
    float newton:damping = 40
    """
    applied = ("PhysicsDriveAPI:linear", "PhysicsJointStateAPI:linear", "NewtonJointAPI")
    (dof,) = hinge_of(pendulum(content, "Prismatic", applied, SMALL_UNITS)).dofs
    assert dof.axis.value == "transZ"
    assert (dof.limit.lower, dof.limit.upper) == pytest.approx((-0.1, 0.2))
    assert (dof.drive.stiffness, dof.drive.damping) == pytest.approx((1.0, 0.1))
    assert (dof.drive.position_target, dof.drive.velocity_target) == pytest.approx((0.05, 0.06))
    assert dof.drive.max_force == pytest.approx(1.0)
    assert (dof.position, dof.velocity) == pytest.approx((0.01, 0.02))
    assert dof.armature == pytest.approx(0.05)
    assert dof.velocity_limit == pytest.approx(3.0)
    assert (dof.friction.static_effort, dof.friction.dynamic_effort) == pytest.approx((0.1, 0.1))
    assert dof.friction.viscous == pytest.approx(0.04)

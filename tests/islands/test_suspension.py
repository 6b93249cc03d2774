"""Bodies on springs and dampers that stand on something come to rest where these carry them."""

import numpy as np
import pytest

from tests.contact_stages import BOUND, COLLIDER, ContactScene
from tests.islands.crowds import crowd

G = 9.81
CHASSIS, WHEEL, KNUCKLE = 100.0, 5.0, 1.0
RADIUS, HEIGHT = 0.3, 0.6
SPRINGS = ((2e4, 1.5e3), (2e5, 5e3), (2e4, 4e2))
"""Stiffness and damping [N/m, N s/m]."""
PLACES = ((0.7, 0.4), (0.7, -0.4), (-0.7, 0.4), (-0.7, -0.4))


def body(name: str, mass: float, place, shape: str = "", schemas: str = "") -> str:
    """A body with inertias of 1 kg m^2 for each 5 kg."""
    return (
        f'def Xform "{name}" (prepend apiSchemas = [{schemas}"PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{\n'
        f"float physics:mass = {mass}\nfloat3 physics:diagonalInertia = ({0.2 * mass}, {0.2 * mass}, {0.2 * mass})\n"
        f"double3 xformOp:translate = {tuple(place)}\n"
        f'uniform token[] xformOpOrder = ["xformOp:translate"]\n{shape}}}\n'
    )


def car(stiffness: float, damping: float, speed: float = 0.0, strongest: float = np.inf) -> ContactScene:
    """A chassis on four wheels, each on a spring, with axles that are driven at a speed [rad/s]."""
    prims = body("chassis", CHASSIS, (0, 0, HEIGHT), schemas='"PhysicsArticulationRootAPI", ')
    down = RADIUS - HEIGHT
    for number, (x, y) in enumerate(PLACES):
        shape = f'def Sphere "shape" {COLLIDER} {{\ndouble radius = {RADIUS}\n{BOUND}\n}}\n'
        prims += body(f"knuckle_{number}", KNUCKLE, (x, y, RADIUS))
        prims += body(f"wheel_{number}", WHEEL, (x, y, RADIUS), shape)
        prims += (
            f'def PhysicsPrismaticJoint "spring_{number}" (prepend apiSchemas = ["PhysicsDriveAPI:linear"]) {{\n'
            f'uniform token physics:axis = "Z"\nrel physics:body0 = </World/chassis>\n'
            f"rel physics:body1 = </World/knuckle_{number}>\npoint3f physics:localPos0 = ({x}, {y}, {down})\n"
            f"float drive:linear:physics:stiffness = {stiffness}\nfloat drive:linear:physics:damping = {damping}\n}}\n"
            f'def PhysicsRevoluteJoint "axle_{number}" (prepend apiSchemas = ["PhysicsDriveAPI:angular"]) {{\n'
            f'uniform token physics:axis = "Y"\nrel physics:body0 = </World/knuckle_{number}>\n'
            f"rel physics:body1 = </World/wheel_{number}>\nfloat drive:angular:physics:damping = {np.radians(1000.0)}\n"
            f"float drive:angular:physics:targetVelocity = {np.degrees(speed)}\n"
            f"float drive:angular:physics:maxForce = {strongest}\n}}\n"
        )
    return ContactScene(solids=[], friction=0.8, joints=prims)


@pytest.mark.parametrize(
    "stiffness, damping, precision, rate",
    [
        *((*SPRINGS[0], precision, rate) for precision in ("float32", "float64") for rate in (60, 240)),
        (*SPRINGS[1], "float64", 60),
        (*SPRINGS[2], "float32", 240),
    ],
)
def test_a_car_comes_to_rest(stiffness, damping, precision, rate):
    """It went on with 2 mm/s, a quarter of a millimetre too high, and crept aside."""
    one = crowd(car(stiffness, damping), precision=precision, dt=1.0 / rate)
    chassis = [name.endswith("/chassis") for name in one.link_names].index(True)
    one.step(3 * rate)
    start = one.state.link_pose.numpy()[chassis, :3, 0].copy()
    one.step(rate)
    place = one.state.link_pose.numpy()[chassis, :3, 0]
    assert place[2] == pytest.approx(HEIGHT - 0.25 * CHASSIS * G / stiffness, abs=1e-4)
    assert np.abs(place - start).max() < 2e-6
    assert np.abs(one.state.link_velocity.numpy()[chassis, :3, 0]).max() < 2e-5


@pytest.mark.parametrize("rate", [60, 240])
def test_axles_drive_it(rate):
    """At the speed of wheels that roll, and before that by what their largest moments accelerate."""
    one = crowd(car(2e4, 1.5e3, speed=10.0), precision="float64", dt=1.0 / rate)
    chassis = [name.endswith("/chassis") for name in one.link_names].index(True)
    one.step(2 * rate)
    assert one.state.link_velocity.numpy()[chassis, 0, 0] == pytest.approx(10.0 * RADIUS, rel=1e-4)
    one = crowd(car(2e4, 1.5e3, speed=100.0, strongest=20.0), precision="float64", dt=1.0 / rate)
    one.step(rate)
    before = one.state.link_velocity.numpy()[chassis, 0, 0]
    one.step(rate)
    inertia = CHASSIS + 4.0 * (WHEEL + KNUCKLE + 0.2 * WHEEL / RADIUS**2)
    assert one.state.link_velocity.numpy()[chassis, 0, 0] - before == pytest.approx(80.0 / RADIUS / inertia, rel=1e-3)


@pytest.mark.parametrize("rate", [60, 240])
@pytest.mark.parametrize("targets", [(0.0, 0.0, 0.0), (20.0, -30.0, 25.0)])
def test_springs_of_a_ball_joint_hold_what_stands(targets, rate):
    """Drives of several rotations have springs between them: without these a foot moved, most of all at long steps.

    At 60 Hz it went on with 0.08 rad/s, as steps in a boundary layer had other weights than contacts suppose.
    """
    foot = (
        f'def Cube "shape" {COLLIDER} {{\ndouble size = 1\nfloat3 xformOp:scale = (0.6, 0.6, 0.1)\n'
        f'uniform token[] xformOpOrder = ["xformOp:scale"]\n{BOUND}\n}}\n'
    )
    prims = body("foot", 10.0, (0, 0, 0.05), foot, schemas='"PhysicsArticulationRootAPI", ')
    prims += body("torso", 5.0, (0, 0, 0.4))
    drives = ", ".join(f'"PhysicsDriveAPI:rot{axis}"' for axis in "XYZ")
    prims += (
        f'def PhysicsSphericalJoint "ball" (prepend apiSchemas = [{drives}]) {{\n'
        "rel physics:body0 = </World/foot>\nrel physics:body1 = </World/torso>\n"
        "point3f physics:localPos0 = (0, 0, 0.05)\npoint3f physics:localPos1 = (0, 0, -0.3)\n"
    )
    for axis, target, stiffness in zip("XYZ", targets, (10.0, 5.0, 2.0), strict=True):
        prims += f"float drive:rot{axis}:physics:stiffness = {stiffness}\n"
        prims += f"float drive:rot{axis}:physics:damping = {0.03 * stiffness}\n"
        prims += f"float drive:rot{axis}:physics:targetPosition = {target}\n"
    one = crowd(ContactScene(solids=[], friction=0.8, joints=prims + "}\n"), precision="float64", dt=1.0 / rate)
    one.step(4 * rate)
    standing = [name.endswith("/foot") for name in one.link_names].index(True)
    assert np.abs(one.state.link_velocity.numpy()[standing, :, 0]).max() < 1e-8

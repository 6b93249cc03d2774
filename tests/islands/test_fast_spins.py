"""Bodies that spin fast among many others: contacts take energy, and what flies near the ground keeps it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from tests.contact_stages import ContactScene, capsule, cylinder, turn
from tests.islands.crowds import crowd_motion


def spinning(make, tilt, spin):
    """A solid of 6 kg above the ground that turns about its own axis, which is tilted."""
    turned = Rotation.from_euler("y", tilt)
    motion = {"quaternion": tuple(turned.as_quat()), "turning": tuple(turned.apply((0.0, 0.0, spin)).tolist())}
    return make("top", 0.084, 0.046 if make is capsule else 0.1, (0.0, 0.0, 0.2), mass=6.0, **motion)


def energies(solid, rate, seconds):
    """Kinetic and potential energy of the first solid of a scene, at the start and after each step [J]."""
    scene = ContactScene(solids=(solid,), friction=0.5, restitution=0.5)
    motion = crowd_motion(scene, seconds, dt=1.0 / rate, precision="float32")
    axes = np.stack([motion.axis("top", index) for index in range(3)], axis=1)
    spin = np.einsum("rij,rj->ri", axes, motion.turning("top"))
    speed, height = motion.velocity("top"), motion.place("top")[:, 2]
    return 0.5 * (solid.mass * (speed**2).sum(axis=1) + spin**2 @ solid.inertia) + solid.mass * 9.81 * height


@pytest.mark.parametrize(
    ("tilt", "spin", "rate"),
    [
        *((tilt, spin, 60) for tilt in (0.1, 0.6, 1.2) for spin in (60.0, 140.0, 280.0)),
        *((0.1, 140.0, 240), (0.6, 280.0, 240), (1.2, 60.0, 240)),
    ],
)
@pytest.mark.parametrize("make", [capsule, cylinder])
def test_no_energy_is_gained(make, tilt, spin, rate):
    """Bouncing and tumbling for two seconds, turning by a quarter of a radian to nearly five in a step."""
    found = energies(spinning(make, tilt, spin), rate, 2.0)
    assert found.max() < found[0] * (1.0 + 1e-5)
    assert found[-1] < 0.95 * found[0]


def test_flight_near_the_ground_is_free():
    """A capsule that falls along the ground within reach of a contact keeps its path: z = z_0 - g t^2 / 2."""
    solid = capsule("top", 0.1, 0.1, (0.0, 0.0, 0.35), turning=(20.0, 0.0, 90.0), mass=2.0)
    found = energies(solid, 240, 0.1)
    np.testing.assert_allclose(found[1:], found[1], rtol=5e-6)


@pytest.mark.parametrize("half_width", [0.025, 0.2])
@pytest.mark.parametrize("precision, spin", [("float64", 30.0), ("float64", 120.0), ("float32", 120.0)])
def test_a_cylinder_rolls_on(precision, spin, half_width):
    """By two radians in a step: no point of its rims closes by turning about its axis. It rose by 0.9 m."""
    lying = turn((1, 0, 0), 0.5 * np.pi)
    motion = {"velocity": (0.1 * spin, 0, 0), "turning": (0, spin, 0)}
    wheel = cylinder("wheel", 0.1, half_width, (0, 0, 0.1), quaternion=lying, **motion)
    found = crowd_motion(ContactScene(solids=[wheel]), 1.0, dt=1.0 / 60.0, precision=precision)
    np.testing.assert_allclose(found.place("wheel")[:, 2], 0.1, atol=2e-4)
    np.testing.assert_allclose(found.velocity("wheel")[-1], (0.1 * spin, 0, 0), atol=1e-3 * spin)
    np.testing.assert_allclose(found.turning("wheel")[-1], (0, spin, 0), atol=1e-2 * spin)


MASS, MOMENTS = 0.2, np.array([2e-4, 2e-4, 1.5e-4])
TIP, ABOVE = 0.005, 0.05
"""Radius of the tip of a top, and how far its centre of mass is above the centre of that [m]."""
UP = np.array([0.0, 0.0, 1.0])


def top(tilt: float, spin: float) -> str:
    """A top whose tip is a ball, which rolls without slip."""
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    velocity = np.cross(spin * axis, ABOVE * axis + TIP * UP)
    x, y, z, w = turn((0, 1, 0), tilt)
    return f"""
def Xform "top" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]) {{
float physics:mass = {MASS}
point3f physics:centerOfMass = (0, 0, {ABOVE})
float3 physics:diagonalInertia = {tuple(MOMENTS.tolist())}
vector3f physics:velocity = {tuple(velocity.tolist())}
vector3f physics:angularVelocity = {tuple(np.degrees(spin * axis).tolist())}
double3 xformOp:translate = (0, 0, {TIP})
quatd xformOp:orient = {(w, x, y, z)}
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
def Sphere "tip" (prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"]) {{
double radius = {TIP}
rel material:binding:physics = </World/material>
}}
}}
"""


def axis_of_top(tilt: float, spin: float, time: np.ndarray) -> np.ndarray:
    """Its axis u by the equations of rolling, shape (R, 3).

    With the arm r = l u + r_0 z from the contact to the centre of mass, v = w x r, and the moment about the contact,
        I_u w + r x m v' = - w x I_u w - r x m g z,   where I_u = A (1 - u u^T) + C u u^T
    """
    across, along = MOMENTS[0], MOMENTS[2]

    def rates(_time, state):
        u, w = state[:3], state[3:]
        r = ABOVE * u + TIP * UP
        inertia = across * np.eye(3) + (along - across) * np.outer(u, u)
        arm = np.cross(np.eye(3), r).T
        turned = np.cross(w, np.cross(w, ABOVE * u)) + 9.81 * UP
        moment = -np.cross(w, inertia @ w) - MASS * np.cross(r, turned)
        return np.concatenate([np.cross(w, u), np.linalg.solve(inertia + MASS * arm.T @ arm, moment)])

    u = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    start = np.concatenate([u, spin * u])
    return solve_ivp(rates, (0.0, time[-1]), start, t_eval=time, rtol=1e-9, atol=1e-11).y[:3].T


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("spin, off", [(100.0, 0.03), (150.0, 0.06)])
def test_a_top_nods(spin, off, precision):
    """Rolling on its tip it goes round and nods as equations say, by up to 0.6 rad in a step: its nods grew."""
    motion = crowd_motion(ContactScene(solids=[], joints=top(0.3, spin), friction=2.0), 2.0, precision=precision)
    expected = axis_of_top(0.3, spin, motion.time)
    found = motion.axis("top", 2)
    way, expected_way = (np.unwrap(np.arctan2(u[:, 1], u[:, 0])) for u in (found, expected))
    assert np.ptp(way[[0, -1]]) == pytest.approx(np.ptp(expected_way[[0, -1]]), rel=off)
    for u in (found, expected):
        assert np.arccos(u[:, 2]).min() == pytest.approx(0.3, abs=5e-3)
    assert np.arccos(found[:, 2]).max() == pytest.approx(np.arccos(expected[:, 2]).max(), abs=1e-2)

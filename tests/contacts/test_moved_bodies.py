"""Kinematic bodies that are animated carry, push and throw what they touch."""

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, Solid, box, cylinder, sphere, usd_of
from tests.contacts.motion import DT, PRECISIONS, Motion, simulated, simulation
from tests.usd.authoring import body, joint, open_text, schemas
from tests.usd.contact_stages import collider

G = 9.81
RATE = 24.0
"""Time codes a second."""


def moved(solid: Solid, place, seconds: float = 3.0, rate: float = 240.0, turns=None) -> str:
    """A kinematic body with the shape of a solid, at place(time) (3) and, if given, turned by turns(time) about Z."""
    times = np.arange(round(seconds * rate) + 1) / rate
    samples = ", ".join(f"{time * RATE!r}: {tuple(map(float, place(time)))}" for time in times.tolist())
    ops, more = '"xformOp:translate"', ""
    if turns is not None:
        angles = ", ".join(f"{time * RATE!r}: {float(np.degrees(turns(time)))!r}" for time in times.tolist())
        ops, more = f'{ops}, "xformOp:rotateZ"', f"double xformOp:rotateZ.timeSamples = {{ {angles} }}\n"
    text = usd_of(solid)
    shape = text[text.index("def ", 4) :]
    return (
        f'def Xform "{solid.name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{\n'
        "bool physics:kinematicEnabled = 1\n"
        f"double3 xformOp:translate.timeSamples = {{ {samples} }}\n{more}"
        f"uniform token[] xformOpOrder = [{ops}]\n{shape}"
    )


def gently(acceleration: float, until: float):
    """A way over time: from rest, with an acceleration that grows within 0.1 s and then stays, and none from a time."""

    def way(time):
        def grown(t):
            t = np.maximum(t, 0.0)
            return np.where(t < 0.1, t**3 / 0.6, 0.05 * (t - 0.1) ** 2 * 10.0 + 0.05 * (t - 0.1) + 0.001 / 0.6)

        return acceleration * float(grown(time) - grown(time - until))

    return way


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_lift(precision):
    """What stands on it goes with it, and is pressed on by m (g + a)."""
    way = gently(2.0, 1.0)
    lift = moved(box("lift", (0.5, 0.5, 0.05)), lambda time: (0.0, 0.0, 0.05 + way(time)))
    scene = ContactScene(solids=[box("load", 0.1, (0.1, 0.0, 0.2), mass=3.0)], joints=lift, has_ground=False)
    one = simulation(scene, precision=precision)
    recording = one.record(480, forces=True)
    motion = Motion(recording)
    place = motion.place("load")
    wanted = np.array([0.2 + way(time) for time in motion.time])
    np.testing.assert_allclose(place[:, 2], wanted, atol=2e-5)
    assert np.abs(place[:, :2] - (0.1, 0.0)).max() < 1e-5
    force = recording.contact_force_on("/World/load")[:, 0, 2]
    steady = (motion.time > 0.3) & (motion.time < 0.95)
    # Between the times at which the motion is read it is cubic, with a second derivative that jumps there.
    np.testing.assert_allclose(force[steady], 3.0 * (G + 2.0), rtol=2e-2)
    assert np.mean(force[steady]) == pytest.approx(3.0 * (G + 2.0), rel=1e-3)
    np.testing.assert_allclose(force[motion.time > 1.3], 3.0 * G, rtol=2e-3)


@pytest.mark.parametrize("solver", ["direct", "pgs", "tgs"])
@pytest.mark.parametrize("acceleration", [4.0, 6.0])
def test_a_conveyor(acceleration, solver):
    """A box stays on a belt that starts with less than mu g, and slips with mu g on one that starts with more."""
    way = gently(acceleration, 10.0)
    belt = moved(box("belt", (9.0, 0.5, 0.05)), lambda time: (way(time), 0.0, 0.05))
    scene = ContactScene(solids=[box("load", (0.1, 0.1, 0.02), (0.0, 0.0, 0.12))], joints=belt, has_ground=False)
    motion = simulated(scene, 1.0, solver=solver)
    speed = motion.velocity("load")[:, 0]
    found = np.polyfit(motion.time[motion.time > 0.3], speed[motion.time > 0.3], 1)[0]
    assert found == pytest.approx(min(acceleration, 0.5 * G), rel=2e-3)
    if acceleration < 0.5 * G:
        wanted = np.array([way(time) for time in motion.time])
        np.testing.assert_allclose(motion.place("load")[:, 0], wanted, atol=2e-4)


def test_a_turntable():
    """A box slips off at the speed w^2 r = mu g, and not before."""
    rate = 1.2
    table = moved(
        box("table", (2.0, 2.0, 0.05)),
        lambda time: (0.0, 0.0, 0.05),
        seconds=4.0,
        turns=lambda time: 0.5 * rate * time**2,
    )
    load = box("load", (0.02, 0.02, 0.005), (0.6, 0.0, 0.105))
    motion = simulated(ContactScene(solids=[load], joints=table, has_ground=False), 4.0)
    radius = np.linalg.norm(motion.place("load")[:, :2], axis=1)
    # Both accelerations: along the way, and to the middle.
    spin = ((0.5 * G / 0.6) ** 2 - rate**2) ** 0.25
    slips = motion.time[np.argmax(np.abs(radius - 0.6) > 1e-3)]
    assert spin / rate < slips < spin / rate + 0.15
    before = motion.time < spin / rate - 0.02
    turned = np.unwrap(np.arctan2(motion.place("load")[before, 1], motion.place("load")[before, 0]))
    np.testing.assert_allclose(turned, 0.5 * rate * motion.time[before] ** 2, atol=2e-3)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("rate, creep", [(60, 2e-3), (240, 1e-4)])
@pytest.mark.parametrize("share, solver", [(0.5, "direct"), (0.5, "pgs"), (0.8, "direct")])
def test_a_turntable_carries_a_box(share, solver, rate, creep, precision):
    """A box that needs this share of its friction stays where it is on the table.

    Its corners were taken for points that turn against the table: at 60 Hz it went outward with 2 mm/s at half of the
    friction, and was thrown off at 0.9 of it.
    """
    spin, begins = np.sqrt(share * 0.5 * G / 0.3), 2.0

    def turned(time):
        return np.where(time < begins, 0.5 * spin / begins * time**2, spin * (time - 0.5 * begins))

    table = moved(cylinder("table", 0.6, 0.05), lambda time: (0.0, 0.0, -0.05), seconds=8.0, turns=turned)
    scene = ContactScene(solids=[box("load", 0.05, (0.3, 0.0, 0.05))], joints=table, has_ground=False)
    motion = simulated(scene, 8.0, precision=precision, dt=1 / rate, solver=solver)
    steady = (motion.time > 2.5) & (motion.time < 7.9)
    time, place = motion.time[steady], motion.place("load")[steady, :2]
    out, along = np.linalg.norm(place, axis=1), np.unwrap(np.arctan2(place[:, 1], place[:, 0]))
    assert abs(np.polyfit(time, out, 1)[0]) < 0.4 * creep
    assert abs(np.polyfit(time, along - turned(time), 1)[0]) * 0.3 < creep
    assert np.abs(out - 0.3).max() < 2 * creep


def test_a_pusher():
    """It goes on against friction, of which the load has more or less as the pusher holds it down or up."""
    way = gently(1.0, 0.5)
    pusher = moved(box("pusher", (0.05, 0.3, 0.1)), lambda time: (-0.151 + way(time), 0.0, 0.1))
    scene = ContactScene(solids=[box("load", 0.1, (0.0, 0.0, 0.1), mass=2.0)], friction=0.4, joints=pusher)
    recording = simulation(scene).record(480, forces=True)
    motion = Motion(recording)
    late = motion.time > 1.0
    np.testing.assert_allclose(motion.velocity("load")[late, 0], 0.5, rtol=1e-3)
    gap = motion.place("load")[:, 0] - np.array([-0.15 + way(time) for time in motion.time])
    np.testing.assert_allclose(gap[late], 0.15 - 0.001, atol=1e-4)
    force = recording.contact_force_on("/World/load", by="/World/pusher")[late, 0, 0]
    least, most = (0.4 * 2.0 * G / (1.0 + sign * 0.4**2) for sign in (1.0, -1.0))
    assert least * 0.999 < np.mean(force) < most * 1.001


def test_a_bat():
    """A ball that meets a wall at v leaves a wall that moves at V with 2 V - v."""
    wall = moved(box("wall", (0.05, 0.5, 0.5)), lambda time: (-0.5 + 2.0 * time, 0.0, 0.0))
    ball = sphere("ball", 0.05, (0.5, 0.0, 0.0), velocity=(-3.0, 0.0, 0.0))
    scene = ContactScene(
        solids=[ball], friction=0.0, restitution=1.0, gravity=(0.0, 0.0, 0.0), joints=wall, has_ground=False
    )
    motion = simulated(scene, 0.5)
    assert motion.velocity("ball")[-1, 0] == pytest.approx(7.0, rel=1e-6)
    met = 0.9 / 5.0
    wanted = np.where(motion.time < met, 0.5 - 3.0 * motion.time, 0.5 - 3.0 * met + 7.0 * (motion.time - met))
    np.testing.assert_allclose(motion.place("ball")[:, 0], wanted, atol=1e-6)


def pose_of(one: wa.Simulation) -> np.ndarray:
    """Of the only link, shape (7, environments)."""
    one.report()
    return one.state.link_pose.numpy()[0].copy()


def test_lanes_and_copies_do_the_same():
    """Sixteen environments, one, and bits that a snapshot brings back."""
    way = gently(4.0, 10.0)
    belt = moved(box("belt", (9.0, 0.5, 0.05)), lambda time: (way(time), 0.0, 0.05))
    scene = ContactScene(solids=[sphere("load", 0.1, (0.0, 0.0, 0.2))], joints=belt, has_ground=False)
    many, one = (simulation(scene, environments=count) for count in (16, 1))
    for simulation_of_it in (many, one):
        simulation_of_it.step(60)
    np.testing.assert_allclose(pose_of(many)[:, 3], pose_of(one)[:, 0], rtol=0.0, atol=1e-9)
    kept = one.snapshot()
    one.step(60)
    wanted = pose_of(one)
    one.apply(kept)
    one.step(60)
    np.testing.assert_array_equal(pose_of(one), wanted)


def test_a_carried_arm_touches_what_stays():
    """A rod that hangs on a cart comes to rest against a wall that the cart passes."""
    cart = (
        f'def Xform "cart" {schemas("PhysicsRigidBodyAPI")} {{\nbool physics:kinematicEnabled = 1\n'
        "double3 xformOp:translate.timeSamples = { 0: (0, 0, 1), 24: (0.25, 0, 1) }\n"
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
    )
    rod = body("rod", "point3f physics:centerOfMass = (0, 0, -0.5)\n" + BALL, at=(0, 0, 1))
    hinge = joint("hinge", "Revolute", "/cart", "/rod", 'uniform token physics:axis = "Y"')
    wall = collider("Cube", "wall", "double3 xformOp:translate = (1.2, 0, 0)\n" + MOVED)
    one = wa.Simulation(
        wa.read_stage(open_text(cart + rod + hinge + wall)), settings=wa.SolverSettings(dt=DT, precision="float64")
    )
    one.step(round(4.0 / DT))
    (touch,) = one.contacts()
    assert touch.colliders == ("/wall", "/rod/shape") and abs(touch.gap) < 1e-5
    x, _, z = pose_of(one)[:3, 0]
    angle = float(one.state.joint_position.numpy()[0, 0])
    tip = 0.25 - np.sin(angle) * 1.0
    assert (x, z) == pytest.approx((0.25, 1.0), abs=1e-9)
    assert tip == pytest.approx(0.1, abs=1e-5)
    # The moment about the hinge; the contact is at the middle of the height of the ball.
    moment = -np.cos(angle) * touch.force[0] + 0.05 * touch.force[2] + 0.5 * np.sin(angle) * -2.0 * G
    assert moment == pytest.approx(0.0, abs=1e-2)


MOVED = 'double size = 2\nuniform token[] xformOpOrder = ["xformOp:translate"]\n'
BALL = collider("Sphere", "shape", "double radius = 0.1\ndouble3 xformOp:translate = (0, 0, -1)\n" + MOVED[16:])

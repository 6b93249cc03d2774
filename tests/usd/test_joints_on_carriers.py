"""Joints beside the trees to kinematic bodies that are animated: they follow what carries the tree, or are told."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import warp_artic as wa
from tests.usd.authoring import body, errors_of, joint, open_text, schemas, warnings_of

RATE = 400
HEADER = f'metersPerUnit = 1\nupAxis = "Z"\ntimeCodesPerSecond = {RATE}\nstartTimeCode = 0\nendTimeCode = {2 * RATE}\n'
BESIDE = "uniform bool physics:excludeFromArticulation = 1\n"
ENDS = "point3f physics:localPos0 = (0.2, 0.1, 0)\npoint3f physics:localPos1 = (-0.3, 0.1, 0)\n"
G = np.array([0.0, 0.0, -9.81])
ROD = "float physics:minDistance = 0.5\nfloat physics:maxDistance = 0.5\n"
MASS = "float physics:mass = 2\nfloat3 physics:diagonalInertia = (0.1, 0.15, 0.2)\n"
FREE = joint("free", "", "/cart", "/rod", "point3f physics:localPos0 = (0.5, 0, 0)\n")
"""Hangs the rod on the cart, and holds nothing."""


def place(t):
    """Where the cart is [m], and how far it has turned about Z [rad]; it starts at rest."""
    return np.array([0.3 * (1 - np.cos(2 * t)), 0.2 * (1 - np.cos(3 * t)), 0.0]), 0.7 * (1 - np.cos(1.5 * t))


def stage_of(*joints, moves=True, center="(0.05, 0.02, 0.1)"):
    """A body beside a cart, with joints between both."""
    places = [place(code / RATE) for code in range(2 * RATE + 1 if moves else 1)]
    ways = ", ".join(f"{code}: ({p[0]}, {p[1]}, {p[2]})" for code, (p, _) in enumerate(places))
    turns = ", ".join(f"{code}: {np.degrees(angle)}" for code, (_, angle) in enumerate(places))
    cart = (
        f'def Xform "cart" {schemas("PhysicsRigidBodyAPI")} {{\nbool physics:kinematicEnabled = 1\n'
        f"double3 xformOp:translate.timeSamples = {{ {ways} }}\ndouble xformOp:rotateZ.timeSamples = {{ {turns} }}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ"]\n}\n'
    )
    rod = body("rod", f"point3f physics:centerOfMass = {center}\n", (), MASS)
    return open_text(cart + rod.replace("(0, 0, 0)", "(0.5, 0, 0)", 1) + "".join(joints), HEADER)


def run(stage, h):
    """Position and orientation of the body after a second."""
    settings = wa.SolverSettings(dt=h, precision="float64", variant="scalar")
    simulation = wa.Simulation(wa.read_stage(stage), device="cpu", settings=settings)
    simulation.step(round(1.0 / h))
    pose = simulation.state.link_pose.numpy().ravel()[:7]
    return pose[:3], Rotation.from_quat(pose[3:])


def cart_point(x):
    """A point of the cart over time, and its acceleration."""

    def at(t):
        p, angle = place(t)
        return p + Rotation.from_rotvec([0.0, 0.0, angle]).apply(x)

    return at, lambda t, e=1e-3: (at(t + e) - 2.0 * at(t) + at(t - e)) / e**2


def integrated(rate, y, steps=2000):
    """A state after a second, by Runge and Kutta."""
    h = 1.0 / steps
    for t in np.arange(steps) * h:
        k1 = rate(t, y)
        k2 = rate(t + h / 2, y + h / 2 * k1)
        k3 = rate(t + h / 2, y + h / 2 * k2)
        k4 = rate(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def test_a_body_that_is_held_goes_with_what_carries_its_tree():
    """Its pose in the cart is that of the start."""
    pin = joint("pin", "Fixed", "/cart", "/rod", "point3f physics:localPos0 = (0.5, 0, 0)\n" + BESIDE)
    stage = stage_of(FREE, pin)
    assert not warnings_of(stage)
    position, turn = run(stage, 1.0 / 240)
    np.testing.assert_allclose(position, cart_point((0.5, 0.0, 0.0))[0](1.0), atol=1e-6)
    np.testing.assert_allclose(turn.as_rotvec(), (0.0, 0.0, place(1.0)[1]), atol=1e-6)


def test_a_ball_joint_on_what_carries_the_tree_is_a_pendulum_on_a_moving_pivot():
    """A body without symmetry about its pivot, by an own integration; of second order."""
    mass, I, arm = 2.0, np.diag([0.1, 0.15, 0.2]), np.array([0.35, -0.08, 0.1])
    at, bend = cart_point((0.2, 0.1, 0.0))
    about = I + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))

    def rate(t, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        turning = np.cross(np.eye(3), w).T
        moment = mass * np.cross(arm, R.T @ (G - bend(t))) - np.cross(w, about @ w)
        return np.concatenate([(R @ turning.T).ravel(), np.linalg.solve(about, moment)])

    R = integrated(rate, np.array([*np.eye(3).ravel(), 0.0, 0.0, 0.0]))[:9].reshape(3, 3)
    exact = at(1.0) - R @ (-0.3, 0.1, 0.0)
    stage = stage_of(FREE, joint("pin", "Spherical", "/cart", "/rod", ENDS + BESIDE))
    assert not warnings_of(stage)
    for steps, allowed in ((240, 4e-4), (960, 3e-5)):
        position, turn = run(stage, 1.0 / steps)
        np.testing.assert_allclose(position, exact, atol=allowed)
        np.testing.assert_allclose(turn.as_matrix(), R, atol=allowed)


def test_a_rod_on_what_carries_the_tree_is_a_pendulum_on_a_moving_pivot():
    """A mass on a rod to a point of the cart, by an own integration."""
    length = 0.5
    at, bend = cart_point((0.3, 0.0, 0.3))
    start = np.array([0.5, 0.0, 0.3 - np.sqrt(length**2 - 0.2**2)])

    def rate(t, y, e=1e-3):
        d, u = y[:3] - at(t), y[3:] - (at(t + e) - at(t - e)) / (2.0 * e)
        return np.concatenate([y[3:], G - d * (u @ u + d @ (G - bend(t))) / length**2])

    exact = integrated(rate, np.array([*start, 0.0, 0.0, 0.0]))[:3]
    ends = f"point3f physics:localPos0 = (0.3, 0, 0.3)\npoint3f physics:localPos1 = (0, 0, {start[2]})\n"
    stage = stage_of(FREE, joint("pin", "Distance", "/cart", "/rod", ROD + ends), center=f"(0, 0, {start[2]})")
    assert not warnings_of(stage)
    position, turn = run(stage, 1.0 / 960)
    np.testing.assert_allclose(position + turn.apply((0.0, 0.0, start[2])), exact, atol=1e-4)


KINDS = {
    "excluded": ("Fixed", BESIDE, ()),
    "distance": ("Distance", ROD, ()),
    "breakable": ("Fixed", "float physics:breakForce = 1000\n", ()),
    "scaled": ("Fixed", "double warpArtic:jointFrame:inverseMassScale1 = 0.5\n", ("WarpArticJointFrameAPI",)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_that_does_not_follow_is_told(kind):
    """By its path, where the cart moves and does not carry the body."""
    schema, content, applied = KINDS[kind]
    ends = "point3f physics:localPos0 = (0.5, 0, 0)\n" if schema == "Fixed" else ""
    pin = joint("pin", schema, "/cart", "/rod", content + ends, applied)
    told = [text for text in warnings_of(stage_of(pin)) if text.startswith("/pin:")]
    assert told == [
        "/pin: joins /rod to /cart, which is kinematic and moves over time, but does not carry its tree: the joint "
        "stays where it is at the start; it follows /cart where the tree hangs on it by another joint, which may be "
        "a PhysicsJoint that leaves all axes free"
    ]
    assert not [text for text in warnings_of(stage_of(pin, moves=False)) if "moves over time" in text]


def test_a_joint_of_a_carried_tree_to_the_world_is_refused():
    """The world does not move with the cart; before, so were joints to the cart."""
    pin = joint("pin", "Spherical", "", "/rod", "point3f physics:localPos0 = (0.5, 0, 0)\n" + BESIDE)
    (error,) = errors_of(stage_of(FREE, pin))
    assert error.startswith("/pin: loop joint: joins a link to the world, but the articulation is carried by /cart")

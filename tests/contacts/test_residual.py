"""What solutions leave of the law of contacts is told, and is little."""

from pathlib import Path

import numpy as np
import pytest

import warp_artic as wa
from tests.contact_stages import ContactScene, box, capsule, sphere
from tests.contacts.motion import simulation

STANDING = Path(__file__).parents[2] / "samples" / "scenes" / "standing.usda"
STACK = [box(f"box{number}", 0.1, (0, 0, 0.1 + 0.2 * number)) for number in range(5)]


@pytest.mark.parametrize("precision, most", [("float64", 1e-9), ("float32", 1e-6)])
def test_a_stack_at_rest(precision, most):
    """The direct solver leaves hardly more than rounding, from the first step on."""
    one = simulation(ContactScene(solids=STACK), precision=precision)
    one.step(480)
    assert one.state.contact_residual.numpy().max() < most


def test_iterations_leave_more_the_fewer_they_are():
    """Of a stack under projected Gauss-Seidel, and what the state says is what the velocities are wrong by."""
    left = []
    for count in (2, 8, 32):
        one = simulation(ContactScene(solids=STACK), solver="pgs", position_iterations=count)
        one.step(1)
        left.append(one.state.contact_residual.numpy().max())
        # At rest the law wants no velocity: what the boxes have after a step, they have by what was left of it.
        fastest = np.abs(one.state.root_velocity.numpy()).max()
        assert 0.3 * fastest < left[-1] < 10.0 * fastest
    assert left[0] > left[1] > left[2] > 0.0


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_cone(precision):
    """Whatever is thrown about, friction is within the cone of each normal, to a hundred-thousandth."""
    solids = [
        box("box", (0.05, 0.1, 0.2), (0, 0, 0.4), turning=(9.0, 20.0, 4.0)),
        capsule("capsule", 0.05, 0.2, (0.3, 0, 0.5), velocity=(2.0, 0, 0), turning=(0, 5.0, 0)),
        sphere("ball", 0.1, (0.1, 0.4, 0.3), velocity=(0, -3.0, 0)),
    ]
    one = simulation(ContactScene(solids=solids, friction=0.4), precision=precision)
    on_ground = np.array([name.startswith("/World/ground:") for name in one.contact_names])
    pressed = 0
    for _ in range(240):
        one.step(1)
        impulses = one.state.contact_impulse.numpy().astype(float).reshape(len(on_ground), 3)[on_ground]
        most = 0.4 * impulses[:, 2]
        assert (np.hypot(*impulses.T[:2]) <= most * (1.0 + 1e-5) + 1e-12).all()
        pressed += int((most > 0.0).sum())
    assert pressed > 200


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_ragdoll_that_lies_obeys_the_law(precision):
    """Joint friction, stops and ten points hold it, more than carry it: what is left of the law moves nothing."""
    simulation = wa.Simulation(wa.read_stage(str(STANDING)), settings=wa.SolverSettings(precision=precision))
    simulation.step(1440)
    residual = simulation.state.contact_residual
    residual.fill_(0.0)
    simulation.step(120)
    assert residual.numpy().max() < 1e-4
    assert np.abs(simulation.state.joint_velocity.numpy()).max() < 1e-3


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_box_that_slides_and_turns(precision):
    """Friction of each corner is against its slip at the end of the step, however slow."""
    random = np.random.default_rng(3)
    for speed in 10.0 ** np.arange(-4.0, 0.5, 0.5):
        slope = np.arctan(0.25 * random.uniform(0.0, 1.5))
        gravity = (9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope))
        half = random.uniform((0.05, 0.05, 0.02), (0.3, 0.3, 0.1))
        x, y, turning = speed * random.normal(size=3)
        solid = box("box", tuple(half), (0, 0, half[2]), velocity=(x, y, 0), turning=(0, 0, 5.0 * turning))
        scene = ContactScene(solids=[solid], gravity=gravity, friction=0.25)
        one = simulation(scene, dt=1.0 / 60.0, precision=precision)
        one.step(1)
        assert one.state.contact_residual.numpy().max() < 1e-5 * max(speed, 1.0)

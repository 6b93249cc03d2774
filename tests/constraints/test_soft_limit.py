"""Limits with a spring and a damper: half a period of a damped oscillator, second order, and no force inside."""

from functools import partial

import numpy as np
import pytest

from tests import simulations, trees
from tests.oracles import rigid
from warp_artic.description.limit import Limit

H = 1.0 / 240.0
MASS = 2.0

simulate = partial(simulations.simulate, gravity=(0.0, 0.0, 0.0))


def soft_slider(**limit):
    """A mass of 2 kg that slides along x, with a soft limit."""
    return trees.with_dofs(trees.chain(1, "prismatic_x", mass=MASS), limit=Limit(**limit))


def rebound(stiffness: float, damping: float, speed: float) -> tuple[float, float]:
    """How far a mass runs into a soft limit, and how fast it leaves, in closed form; it leaves when nothing pushes."""
    rate = damping / (2.0 * MASS)
    omega = np.sqrt(stiffness / MASS - rate * rate)
    t = np.linspace(0.0, 1.2 * np.pi / omega, 400001)[1:]
    x = speed / omega * np.exp(-rate * t) * np.sin(omega * t)
    v = speed * np.exp(-rate * t) * (np.cos(omega * t) - rate / omega * np.sin(omega * t))
    end = np.argmax(stiffness * x + damping * v <= 0.0)
    return x[:end].max(), -v[end]


@pytest.mark.parametrize("solver", ["direct", "pgs"])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize(
    "stiffness, damping, order, bound", [(800.0, 0.0, 2, 1e-2), (800.0, 3.0, 1, 1e-2), (800.0, 30.0, 1, 4e-2)]
)
def test_a_mass_on_a_soft_stop_is_half_a_period_of_an_oscillator(stiffness, damping, order, bound, side, solver):
    """Depth and speed of the rebound at 240 Hz, whenever in a step the stop is met; a damper sets in with a jump."""
    depth, leaving = rebound(stiffness, damping, 1.0)
    errors = []
    for dt in (H, H / 4):
        tree = soft_slider(lower=-0.1, upper=0.1, stiffness=stiffness, damping=damping)
        simulation = simulate(tree, dt=dt, precision="float64", solver=solver, environments=8)
        simulation.set_state(
            joint_position=side * dt * np.arange(8)[:, None] / 8.0, joint_velocity=np.full((8, 1), side)
        )
        recording = simulation.record(round(0.26 / dt))
        q, v = recording.joint_position[:, :, 0] * side, recording.joint_velocity[:, :, 0] * side
        errors.append(max(np.abs(q.max(axis=0) - 0.1 - depth).max() / depth, np.abs(-v[-1] - leaving).max()))
    assert errors[0] <= bound
    assert errors[1] <= 1.5 * errors[0] / 4**order


def test_a_weight_sinks_into_its_soft_stop_by_mg_over_k():
    """It comes to rest there, above a damper that is critical."""
    tree = trees.with_dofs(
        trees.chain(1, "prismatic_z", mass=MASS), limit=Limit(lower=0.0, stiffness=5000.0, damping=200.0)
    )
    simulation = simulate(tree, gravity=(0, 0, -9.81))
    simulation.set_state(joint_position=[0.05])
    simulation.step(960)
    np.testing.assert_allclose(simulation.state.joint_position.numpy(), [[-MASS * 9.81 / 5000.0]], rtol=1e-4)
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy(), 0.0, atol=1e-6)


@pytest.mark.parametrize(
    "stiffness, damping", [(300.0, 0.0), (1e3, 0.0), (1e6, 10.0), (1e9, 0.0), (0.0, 50.0), (1e9, 1e9)]
)
def test_no_stiffness_gives_energy(stiffness, damping):
    """Over 40 s of rebounds the energy stays below its start but for an error of second order, and it ends below."""
    tree = soft_slider(lower=-0.1, upper=0.1, stiffness=stiffness, damping=damping)
    simulation = simulate(tree, precision="float64")
    simulation.set_state(joint_velocity=[3.0])
    recording = simulation.record(9600)
    beyond = np.maximum(np.abs(recording.joint_position[:, 0, 0]) - 0.1, 0.0)
    energy = recording.energy[:, 0, 0] + stiffness * beyond**2 / 2.0
    np.testing.assert_array_equal(recording.joint_velocity[:7, 0, 0], 3.0)
    phase = H * np.sqrt(stiffness / MASS)
    assert energy.max() <= energy[0] * (1.0 + (phase**2 / 4.0 if phase < 0.5 else 1e-12))
    assert energy[-1] < energy[0]


def test_the_damper_does_not_hold_a_mass_back():
    """A mass that leaves faster than the spring drives it is not pulled."""
    tree = soft_slider(upper=0.1, stiffness=10.0, damping=500.0)
    simulation = simulate(tree, precision="float64")
    simulation.set_state(joint_position=[0.2], joint_velocity=[-2.0])
    np.testing.assert_array_equal(simulation.record(12).joint_velocity[:, 0, 0], -2.0)


def test_impulses_of_soft_limits_follow_their_law_in_a_tree():
    """On random trees M (v+ - free v+) / h is k (end - q+) - d v+ of the dofs beyond, in a step without a middle."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        tree = trees.random_articulation(rng, 10, floating=bool(seed % 2), kinds=("revolute_x", "prismatic_y"))
        state = trees.random_state(rng, tree, speed=0.5)
        beyond = [k % 2 == 1 for k in range(len(tree.dofs))]
        limits = [
            Limit(lower=float(q) + 0.05, stiffness=300.0, damping=4.0) if is_beyond else None
            for q, is_beyond in zip(state.joint_position, beyond)
        ]
        after = []
        for chosen in ([None] * len(limits), limits):
            simulation = simulate(trees.with_dofs(tree, limit=chosen), precision="float64", integrator="semi_implicit")
            root = (
                {} if state.root_pose is None else {"root_pose": state.root_pose, "root_velocity": state.root_velocity}
            )
            simulation.set_state(joint_position=state.joint_position, joint_velocity=state.joint_velocity, **root)
            simulation.step()
            base = simulation.state.root_velocity.numpy().reshape(-1)
            after.append(np.concatenate([base, simulation.state.joint_velocity.numpy()[:, 0]]))
        force = (rigid.mass_matrix(rigid.motion(tree, state)) @ (after[1] - after[0]))[-len(limits) :] / H
        v = after[1][-len(limits) :]
        expected = np.where(beyond, np.maximum(300.0 * (0.05 - H * v) - 4.0 * v, 0.0), 0.0)
        np.testing.assert_allclose(force, expected, atol=1e-6)


def test_environments_have_soft_limits_alike_in_every_batch():
    """Bitwise the same alone in its lane block, among others and in another order."""
    limit = Limit(lower=-0.4, upper=0.3, stiffness=400.0, damping=2.0)
    tree = trees.with_dofs(trees.chain(3), limit=limit)
    velocity = np.random.default_rng(2).normal(size=(20, 3)) * 4.0

    def run(order):
        simulation = simulate(tree, gravity=(0, 0, -9.81), environments=len(order), variant="lanes")
        simulation.set_state(joint_velocity=velocity[order])
        simulation.step(300)
        return simulation.state.joint_position.numpy().T

    whole = run(np.arange(20))
    order = np.random.default_rng(3).permutation(20)[:9]
    np.testing.assert_array_equal(run(order), whole[order])
    np.testing.assert_array_equal(run(np.array([4])), whole[[4]])

"""Mimic joints against closed forms."""

import numpy as np
import pytest

from tests import trees
from tests.oracles import rigid
from warp_artic import Simulation, SolverSettings
from warp_artic.description.mimic import Mimic

GEAR, OFFSET = 1.63, 0.5


def coupled(tree, *mimics):
    return trees.replace(tree, mimics=mimics)


def two_sliders(**mimic):
    """Two links of 1 kg on prismatic joints in a chain: r_AA = 1, r_AB = -1, r_BB = 2."""
    tree = trees.chain(2, "prismatic_x", mass=1.0)
    return coupled(tree, Mimic(name="mimic", dofs=(0, 1), gears=(1.0, GEAR), offset=OFFSET, **mimic))


def simulate(tree, gravity=(0.0, 0.0, 0.0), **settings):
    return Simulation(trees.scene(tree, gravity=gravity), settings=SolverSettings(**settings))


@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-4), ("float64", 1e-10)])
@pytest.mark.parametrize(
    ("options", "v", "q"),
    [
        (
            {"natural_frequency": 1000.0, "damping_ratio": 1.5},
            (66.87182386704788, -111.10527291988606),
            (1.6687182386704789, -1.1110527291988606),
        ),
        ({}, (71.15672932084615, -126.47652105573383), (1.7115672932084616, -1.2647652105573384)),
    ],
)
def test_one_step_has_its_closed_form(options, v, q, precision, tolerance):
    """Soft and hard values of a published one-step problem, with one iteration."""
    simulation = simulate(two_sliders(**options), dt=0.01, precision=precision, position_iterations=1)
    simulation.set_state(joint_position=[1.0, 0.0], joint_velocity=[35.9, 0.0])
    simulation.step()
    np.testing.assert_allclose(simulation.state.joint_velocity.numpy()[:, 0], v, rtol=tolerance)
    np.testing.assert_allclose(simulation.state.joint_position.numpy()[:, 0], q, rtol=tolerance)


@pytest.mark.parametrize("iterations", [1, 4, 32])
def test_a_compliant_mimic_is_a_damped_oscillator(iterations):
    """C(t) has the authored frequency and damping ratio at any iteration count, to first order in dt."""
    frequency, ratio = 6.0, 0.15
    errors = []
    for rate in (240, 480):
        tree = two_sliders(natural_frequency=frequency, damping_ratio=ratio)
        simulation = simulate(tree, dt=1 / rate, precision="float64", position_iterations=iterations)
        simulation.set_state(joint_position=[-0.4, 0.0])
        recording = simulation.record(rate)
        C = recording.joint_position[:, 0] @ [1.0, GEAR] + OFFSET
        damped = frequency * np.sqrt(1 - ratio**2)
        t = recording.time
        exact = (
            0.1
            * np.exp(-ratio * frequency * t)
            * (np.cos(damped * t) + ratio * frequency / damped * np.sin(damped * t))
        )
        errors.append(np.abs(C - exact).max() / 0.1)
    assert errors[0] < 0.03
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.15)


def comb(count):
    """A welded base with equal sliders side by side on it."""
    chain = trees.chain(1, "prismatic_x", mass=1.0)
    links = tuple(trees.replace(chain.links[0], path=f"/World/t/link_{k}") for k in range(count + 1))
    joints = [trees.plain_joint("/World/t/base", -1, 0, "fixed")]
    joints += [trees.plain_joint(f"/World/t/joint_{k}", 0, k, "prismatic_x") for k in range(1, count + 1)]
    return trees.replace(chain, path="/World/t", links=links, joints=tuple(joints))


def test_seven_followers_follow_one_leader():
    """All of them move with it, and it is as heavy as all together."""
    mimics = [Mimic(name=f"/World/t/joint_{k}", dofs=(k, 0), gears=(1.0, -1.0)) for k in range(1, 8)]
    simulation = simulate(coupled(comb(8), *mimics), dt=1 / 240, position_iterations=200)
    effort = np.zeros((8, 1))
    effort[0] = 4.0
    simulation.control.joint_effort.assign(effort)
    simulation.step(240)
    q = simulation.state.joint_position.numpy()[:, 0]
    np.testing.assert_allclose(q, q[0], atol=1e-4)
    np.testing.assert_allclose(q[0], 0.5 * 4.0 / 8 * (1 + 1 / 240), rtol=1e-3)


def test_impulses_of_a_mimic_on_a_floating_base_are_internal():
    """M (v+ - free v+) has no part on the root, and is along the gears on the dofs."""
    rng = np.random.default_rng(1)
    tree = trees.random_articulation(rng, 6, floating=True, kinds=("revolute_x", "revolute_z"))
    state = trees.random_state(rng, tree)
    gears = (1.0, -2.0, 0.7)
    velocities = []
    for mimics in ((), (Mimic(name="m", dofs=(0, 3, 4), gears=gears),)):
        simulation = simulate(coupled(tree, *mimics), dt=1 / 240, precision="float64")
        simulation.set_state(
            joint_position=state.joint_position,
            joint_velocity=state.joint_velocity,
            root_pose=state.root_pose,
            root_velocity=state.root_velocity,
        )
        simulation.step()
        joint = simulation.state.joint_velocity.numpy()[:, 0]
        velocities.append(np.concatenate([simulation.state.root_velocity.numpy()[0, :, 0], joint]))
    impulse = rigid.mass_matrix(rigid.motion(tree, state)) @ (velocities[1] - velocities[0])
    J = np.zeros(len(impulse))
    J[[6, 9, 10]] = gears
    np.testing.assert_allclose(impulse, J * impulse[6], atol=1e-9 * np.abs(impulse).max())


def test_a_mimic_can_be_switched_off_and_changed_between_steps():
    """Disabled, the dofs are free; a new offset moves the follower."""
    simulation = simulate(two_sliders(), dt=1 / 240)
    simulation.parameters.mimic_enabled.fill_(0.0)
    simulation.set_state(joint_position=[0.3, 0.0], joint_velocity=[0.0, 1.0])
    simulation.step(24)
    np.testing.assert_allclose(simulation.state.joint_position.numpy()[:, 0], [0.3, 0.1], atol=1e-5)
    simulation.parameters.mimic_enabled.fill_(1.0)
    simulation.parameters.mimic_offset.fill_(-0.25)
    simulation.step(480)
    q = simulation.state.joint_position.numpy()[:, 0]
    assert q[0] + GEAR * q[1] - 0.25 == pytest.approx(0.0, abs=1e-4)

"""Links on which a share of gravity acts: their weights are s m g, wherever weights are."""

import math

import numpy as np
import pytest

from tests import trees
from tests.closed_mechanisms import slider_crank
from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import DT
from tests.islands.crowds import crowded
from tests.oracles import rigid
from tests.oracles.simulated_state import put
from tests.simulations import simulate_exactly
from tests.usd.authoring import open_text
from warp_artic import Simulation, SolverSettings, read_stage

SCALES = (0.3, 1.0, -0.5, 0.0, 1.7)
LESS = (0.0, 0.0, 0.25 * rigid.GRAVITY[2])


def scaled(tree, scales=SCALES):
    """The tree with these shares of gravity, one link after the other."""
    links = [trees.replace(link, gravity_scale=scales[k % len(scales)]) for k, link in enumerate(tree.links)]
    return trees.replace(tree, links=tuple(links))


@pytest.mark.parametrize("floating", [False, True])
def test_dynamics_suite(floating):
    """Efforts that hold weights, accelerations under them and energies, beside the oracle."""
    tree = scaled(trees.random_articulation(8, 9, floating=floating))
    simulation = simulate_exactly(tree)
    state = trees.random_state(3, tree)
    put(simulation, state)
    motion = rigid.motion(tree, state)
    np.testing.assert_allclose(simulation.gravity_force().numpy()[0], rigid.gravity_effort(motion), atol=1e-10)
    found = simulation.joint_acceleration(np.zeros((1, len(motion.velocity)))).numpy()[0]
    np.testing.assert_allclose(found, rigid.forward_dynamics(motion), rtol=1e-8, atol=1e-8)
    potential = simulation.state.energy.numpy().reshape(-1)[1]
    np.testing.assert_allclose(potential, rigid.potential_energy(motion), rtol=1e-9, atol=1e-9)


def turning(tree, scale, speed, **settings):
    """A tree in motion, whose links all have a share of gravity."""
    simulation = simulate_exactly(scaled(tree, (scale,)), **settings)
    put(simulation, trees.random_state(3, tree, speed=speed))
    return simulation


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit", "rk4"])
@pytest.mark.parametrize("speed", [1.0, 40.0])
@pytest.mark.parametrize("floating", [False, True])
def test_one_share_for_all_is_less_gravity(floating, speed, integrator):
    """Trees move as in a scene with a quarter of gravity, also where steps do not resolve it."""
    tree = trees.random_articulation(5, 5, floating=floating, armature=False)
    one = turning(tree, 0.25, speed, integrator=integrator)
    other = turning(tree, 1.0, speed, integrator=integrator, gravity=LESS)
    for _ in range(60):
        one.step()
        other.step()
    for name in ("joint_position", "joint_velocity", "root_pose", "root_velocity", "energy"):
        wanted = getattr(other.state, name).numpy()
        np.testing.assert_allclose(getattr(one.state, name).numpy(), wanted, rtol=1e-6, atol=1e-6 * speed, err_msg=name)


def test_closed_mechanisms_keep_the_energy_of_their_weights():
    """A slider-crank whose links have different shares, over ten seconds."""
    tree = scaled(slider_crank(speed=8.0))
    simulation = simulate_exactly(tree, gravity=(0.0, -9.81, 0.0))
    energy = simulation.record(2400, quantities=("energy",)).energy[:, 0].sum(axis=-1)
    assert np.ptp(energy) < 1e-9 * np.abs(energy).max()


def test_energy_and_momentum_of_a_floating_tree():
    """Over two seconds: their sum changes by the steps' errors, momentum by weights s m g alone."""
    tree = scaled(trees.chain(4, "revolute_y", floating=True))
    simulation = simulate_exactly(tree, dt=1e-3)
    simulation.set_state(joint_velocity=[1.0, -2.0, 3.0])
    recording = simulation.record(2000, quantities=("energy", "link_velocity"))
    energy = recording.energy[:, 0].sum(axis=-1)
    assert np.ptp(energy) < 1e-5 * np.ptp(recording.energy[:, 0, 0])
    masses = np.array([link.mass for link in tree.links])
    momentum = np.einsum("l,tlx->tx", masses, recording.link_velocity[:, 0, :, :3])
    weight = rigid.weights(tree, rigid.GRAVITY)[:, :3].sum(axis=0)
    np.testing.assert_allclose(momentum[-1] - momentum[0], 2.0 * weight, atol=3e-5)


@pytest.mark.parametrize(("rate", "most"), [(60, 0.4), (240, 0.01)])
@pytest.mark.parametrize("kind", ["revolute_y", "spherical"])
def test_violent_motion(kind, rate, most):
    """Shares that differ turn a tree: over ten seconds of fall, turning by up to half a radian a step, it has the
    momentum that weights give after the first step, and gains a part of its first kinetic energy at most."""
    tree = scaled(trees.chain(4, kind, floating=True))
    simulation = simulate_exactly(tree, dt=1 / rate)
    rng = np.random.default_rng(5)
    simulation.set_state(joint_velocity=30.0 * rng.normal(size=len(tree.dofs)))
    recording = simulation.record(10 * rate, quantities=("energy", "link_velocity"))
    total = recording.energy[:, 0].sum(axis=-1)
    assert not simulation.failures() and (total[1:] - total[0]).max() < most * recording.energy[0, 0, 0]
    masses = np.array([link.mass for link in tree.links])
    momentum = np.einsum("l,tlx->tx", masses, recording.link_velocity[:, 0, :, :3])
    impulse = (10.0 - 1.0 / rate) * rigid.weights(tree, rigid.GRAVITY)[:, :3].sum(axis=0)
    np.testing.assert_allclose(momentum[-1] - momentum[1], impulse, atol=1e-2 * np.linalg.norm(impulse))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("is_crowded", [False, True])
def test_contacts_bear_what_is_left_of_weights(is_crowded, precision):
    """A box of 2 kg under three tenths of gravity on one of 3 kg; a ball without gravity stays where it is."""
    scene = ContactScene(
        solids=(
            box("low", 0.1, (0.0, 0.0, 0.1), mass=3.0),
            box("high", 0.1, (0.0, 0.0, 0.3), mass=2.0),
            sphere("ball", 0.1, (2.0, 0.0, 1.0)),
        )
    )
    described = read_stage(open_text((crowded(scene) if is_crowded else scene).usd))
    shares = {"/World/high": 0.3, "/World/ball": 0.0}
    bodies = tuple(
        trees.replace(
            tree, links=tuple(trees.replace(link, gravity_scale=shares.get(link.path, 1.0)) for link in tree.links)
        )
        for tree in described.articulations
    )
    described = trees.replace(described, articulations=bodies)
    assert (described.island_contacts is not None) == is_crowded
    simulation = Simulation(described, settings=SolverSettings(dt=DT, precision=precision, sleep_after=math.inf))
    simulation.step(240)
    place = {name.rpartition("/")[2]: k for k, name in enumerate(simulation.link_names)}
    pose = simulation.state.link_pose.numpy().reshape(-1, 7, simulation.environments)[:, :, 0]
    np.testing.assert_allclose(pose[place["ball"], :3], [2.0, 0.0, 1.0], atol=1e-6)
    borne = {frozenset(one.links): np.linalg.norm(one.force) for one in simulation.contacts()}
    np.testing.assert_allclose(borne[frozenset(("/World/high", "/World/low"))], 0.6 * 9.81, rtol=1e-3)
    np.testing.assert_allclose(borne[frozenset(("", "/World/low"))], 3.6 * 9.81, rtol=1e-3)

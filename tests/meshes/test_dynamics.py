"""Implicit steps of elastic meshes: momentum, energy, order, damping, and what is held."""

from dataclasses import replace

import numpy as np
import pytest
import warp as wp

from tests.meshes.bodies import LAWS, bar
from tests.meshes.test_equilibrium import clamped, pulled
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.equilibrium import mesh_with_tendons, weights
from warp_artic.meshes.newton import NewtonOptions

EXACT = NewtonOptions(tolerance=1e-13, coarsest=1e-3)


def dynamics(body, dt, tendons=(), gravity=None, environments=1, options=EXACT):
    """Steps of a body, in float64."""
    found = ElasticDynamics(*mesh_with_tendons(body, tendons, environments), dt, options)
    if gravity is not None:
        found.loads.assign(found.mesh.array(weights(found.mesh, gravity)))
    return found


def tumbling(dim, **fields):
    """A free bar that turns, flies and is bent, with a tendon along it."""
    body = bar((6, 2, 2)[:dim], (0.6, 0.2, 0.2)[:dim], **fields)
    x = body.points
    turn = np.array([[0.0, -1.0, 0.3], [1.0, 0.0, -0.2], [-0.3, 0.2, 0.0]])[:dim, :dim]
    velocities = x @ (2.0 * turn).T + 0.5
    velocities[:, 1] += 2.0 * (x[:, 0] - 0.3) ** 2
    body = replace(body, start_velocities=velocities)
    row = np.flatnonzero((x[:, 1:] == 0.2).all(axis=1))
    return body, (pulled(body, row, stiffness=50.0, smoothing=1e-3, target_length=0.57),)


def momenta(simulation):
    """Momentum and angular momentum."""
    m, x, v = simulation.mesh.node_mass[:, None], simulation.points.numpy()[0], simulation.velocities.numpy()[0]
    spin = np.einsum("ni,nj->ij", m * x, v)
    return np.concatenate([(m * v).sum(axis=0), (spin - spin.T).ravel()])


def energy(simulation):
    """Kinetic, and of elements and tendons."""
    m, v = simulation.mesh.node_mass, simulation.velocities.numpy()[0]
    total = 0.5 * (m * (v**2).sum(axis=1)).sum() + simulation.mesh.energy(simulation.points).numpy()[0]
    if simulation.tendons:
        simulation.tendons.evaluate(simulation.points)
        total += simulation.tendons.energy().numpy()[0]
    return total


@pytest.mark.parametrize("dim", (2, 3))
@pytest.mark.parametrize("law", LAWS)
def test_momentum_and_energy_are_kept(law, dim):
    """Momentum and angular momentum to 1e-10; energy without drift, the better the shorter the step."""
    body, tendons = tumbling(dim, law=law)
    errors = []
    for steps in (30, 60):
        simulation = dynamics(body, 0.15 / steps, tendons)
        before, start = momenta(simulation), energy(simulation)
        found = []
        for _ in range(steps):
            simulation.step()
            found.append(energy(simulation))
        np.testing.assert_allclose(momenta(simulation), before, rtol=0.0, atol=1e-10 * np.abs(before).max())
        errors.append(np.abs(np.array(found) - start).max() / start)
    assert errors[0] < 5e-3 and errors[1] < 0.4 * errors[0]


def test_steps_are_of_second_order():
    """Also with both kinds of damping, and with a tendon."""
    body, tendons = tumbling(2, mass_damping=0.5, stiffness_damping=2e-3)
    found = []
    for steps in (20, 40, 80):
        simulation = dynamics(body, 0.1 / steps, tendons, gravity=(0.0, -9.81, 0.0))
        for _ in range(steps):
            simulation.step()
        found.append(np.stack([simulation.points.numpy()[0], simulation.velocities.numpy()[0]]))
    coarse, fine = (np.abs(a - b).max(axis=(1, 2)) for a, b in zip(found, found[1:]))
    np.testing.assert_allclose(np.log2(coarse / fine), 2.0, atol=0.25)


@pytest.mark.parametrize("law", LAWS)
def test_damping_takes_what_leaves(law):
    """In each step the energy falls by what the damping of elements takes in its middle; a turn is not slowed."""
    body, tendons = tumbling(3, law=law, stiffness_damping=5e-3)
    lost = []
    for dt in (2e-3, 1e-3):
        simulation = dynamics(body, dt, tendons)
        before = momenta(simulation)
        was, error = energy(simulation), 0.0
        for _ in range(int(0.04 / dt)):
            x, v = simulation.points.numpy().copy(), simulation.velocities.numpy().copy()
            simulation.step()
            rate = body.material.stiffness_damping / (0.5 * dt)
            damping = simulation.mesh.damping(rate)
            simulation.mesh.follow(damping, simulation.mesh.array(x), simulation.mesh.array(x + 0.5 * dt * v))
            damped = wp.zeros(1, dtype=wp.float64)
            simulation.mesh.fill(simulation.middle, energy=damped, damping=damping)
            taken = 4.0 * (damped.numpy()[0] - simulation.mesh.energy(simulation.middle).numpy()[0])
            now = energy(simulation)
            assert now < was and taken > 0.0
            error += now - was + taken
            was = now
        lost.append(abs(error))
        np.testing.assert_allclose(momenta(simulation)[:3], before[:3], rtol=0.0, atol=1e-10 * np.abs(before).max())
    assert lost[1] < 0.3 * lost[0]


def test_a_fall_is_exact_and_drag_slows_it():
    """In free fall without damping nothing is strained; with that of the mass a velocity falls as it should."""
    body = bar((2, 1, 1), (0.2, 0.1, 0.1))
    simulation = dynamics(body, 0.01, gravity=(0.0, 0.0, -9.81))
    for _ in range(20):
        simulation.step()
    fall = simulation.points.numpy()[0] - body.points
    np.testing.assert_allclose(fall, np.array([0.0, 0.0, -0.5 * 9.81 * 0.2**2]) + 0.0 * fall, atol=1e-10)
    start = np.broadcast_to([3.0, 0.0, 0.0], body.points.shape)
    slowed = bar((2, 1, 1), (0.2, 0.1, 0.1), mass_damping=2.0, start_velocities=start)
    simulation = dynamics(slowed, 0.01)
    for _ in range(20):
        simulation.step()
    np.testing.assert_allclose(simulation.velocities.numpy()[0], 3.0 * (0.99 / 1.01) ** 20 * (start > 0), atol=1e-10)


@pytest.mark.parametrize("law", LAWS)
def test_violent_motion_gains_no_energy(law):
    """A soft strip that whips about at long steps, without damping: the rule alone would give it 1e3 to 1e13 J."""
    body = clamped((30, 3), (0.4, 0.04), law=law, young=1e4)
    strip = dynamics(body, 1 / 60, gravity=(0.0, -9.81, 0.0), options=None)
    most, largest = 0.0, 0.0
    for _ in range(240):
        assert strip.step().converged.all()
        own = energy(strip)
        work = (strip.loads.numpy()[0] * (strip.points.numpy()[0] - body.points)).sum()
        most, largest = max(most, own - work), max(largest, own)
    assert largest > 10.0
    assert most < 0.05 * largest


def test_a_calm_environment_does_not_feel_a_violent_one():
    """The one that goes on by implicit Euler, and the others, move as alone to the last bit."""
    body = clamped((30, 3), (0.4, 0.04), young=1e4)
    batch = dynamics(body, 1 / 60, environments=2, options=None)
    loads = np.array([[[0.0, -1.0]], [[0.0, -9.81]]]) * batch.node_mass[:, None]
    batch.loads.assign(batch.mesh.array(loads))
    alone = [dynamics(body, 1 / 60, options=None) for _ in range(2)]
    for own, load in zip(alone, loads):
        own.loads.assign(own.mesh.array(load))
    gained = []
    for _ in range(70):
        for each in (batch, *alone):
            each.step()
        gained.append(alone[1].gained.numpy()[0])
    assert gained[59] > gained[-1] == 0.0
    for number, own in enumerate(alone):
        assert (batch.points.numpy()[number] == own.points.numpy()[0]).all()
        assert (batch.gained.numpy()[number] == own.gained.numpy()[0]).all()


def test_what_is_held_bears_the_rest():
    """Momentum changes by weights and by what holds the nodes; a held node that is taken along goes there."""
    body = clamped((4, 2, 2), (0.4, 0.2, 0.2), young=1e4)
    simulation = dynamics(body, 0.005, gravity=(0.0, 0.0, -9.81))
    held = list(body.pinned)
    weight = weights(simulation.mesh, (0.0, 0.0, -9.81)).sum(axis=0)
    for step in range(20):
        end, speed = simulation.points.numpy(), simulation.end_velocities.numpy()
        end[:, held] = body.points[held] + [0.0, 0.1 * (step + 1) * simulation.dt, 0.0]
        speed[:, held] = [0.0, 0.1, 0.0]
        simulation.end.assign(end)
        simulation.end_velocities.assign(speed)
        before = momenta(simulation)[:3]
        simulation.step()
        reaction = simulation.forces.numpy()[0][held].sum(axis=0)
        change = (momenta(simulation)[:3] - before) / simulation.dt
        np.testing.assert_allclose(change, weight - reaction, atol=1e-9)
        np.testing.assert_allclose(simulation.points.numpy()[0][held], end[0, held])


def test_environments_are_bitwise_those_alone():
    """With target lengths that differ, and a tendon."""
    body, tendons = tumbling(3)
    batch = dynamics(body, 1e-3, tendons, environments=2, options=None)
    batch.tendons.target_length.assign([[0.57, 0.4]])
    alone = dynamics(body, 1e-3, tendons, options=None)
    alone.tendons.target_length.assign([[0.4]])
    for _ in range(5):
        batch.step()
        alone.step()
    assert (batch.points.numpy()[1] == alone.points.numpy()[0]).all()
    assert (batch.velocities.numpy()[1] == alone.velocities.numpy()[0]).all()

"""Gravity that is written to parameters reaches elastic bodies too, in each environment and from then on."""

import numpy as np

from tests.meshes.bodies import bar
from tests.sim.bodies_on_links import DOWN, block, on_block, simulate
from warp_artic.description.scene import Scene

GIVEN = np.array([[0.0, 0.0, 2.0], [0.0, -1.0, 0.0], [-9.81, 0.0, 3.0]])


def velocity(simulation, body=0):
    """Of the centre of mass of a free body, shape (environments, 3)."""
    own = simulation.elastic_bodies[body]
    return np.average(own.velocities.numpy(), axis=1, weights=own.node_mass)


def test_written_gravity_reaches_bodies():
    """One beside a link falls as it does, from the step in which it is written; and it may be written to the body."""
    body = bar((2, 1, 1), (0.4, 0.2, 0.2))
    simulation = simulate(Scene(articulations=(block(),), elastic_bodies=(body,), gravity=DOWN), environments=3)
    simulation.step(10)
    start = velocity(simulation)
    simulation.parameters.gravity = GIVEN
    simulation.step(10)
    np.testing.assert_allclose(velocity(simulation) - start, 0.01 * GIVEN.T, atol=1e-9)
    np.testing.assert_allclose(simulation.state.link_velocity.numpy()[0, :3].T, velocity(simulation), atol=1e-9)
    simulation.elastic_bodies[0].gravity.zero_()
    start = velocity(simulation)
    simulation.step(10)
    np.testing.assert_allclose(velocity(simulation), start, atol=1e-9)


def test_written_gravity_reaches_what_hangs_on_links():
    """A link and the body on it keep together: their momentum is that of all their weights."""
    tree = block(1.0)
    body = on_block(tree, young=1e6)
    simulation = simulate(Scene(articulations=(tree,), elastic_bodies=(body,), gravity=DOWN), environments=3)
    simulation.parameters.gravity = GIVEN
    simulation.step(10)
    own, mass = simulation.elastic_bodies[0], simulation.parameters.link_mass.numpy()[0]
    link = simulation.state.link_velocity.numpy()[0, :3]
    linear = mass * link + np.einsum("n,eni->ie", own.node_mass, own.velocities.numpy())
    np.testing.assert_allclose(linear, 0.01 * GIVEN * (mass + own.node_mass.sum()), atol=1e-7)


def test_gravity_without_articulations():
    """Then the parameter has a row for each body."""
    bodies = tuple(bar((1, 1, 1), (0.2, 0.2, 0.2), name=f"/World/{name}") for name in "ab")
    simulation = simulate(Scene(articulations=(), elastic_bodies=bodies, gravity=DOWN), environments=3)
    simulation.parameters.gravity = GIVEN
    simulation.set_values("gravity", [[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]], environments=[1])
    assert simulation.parameters.gravity.numpy()[:, :, 1].tolist() == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
    simulation.step(10)
    wanted = np.stack([GIVEN.T, GIVEN.T])
    wanted[:, 1] = [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
    for body in range(2):
        np.testing.assert_allclose(velocity(simulation, body), 0.01 * wanted[body], atol=1e-9)


def test_snapshots_go_on_with_the_gravity_that_acts(tmp_path):
    """What was written to a body is kept by them, and what is written to parameters afterwards still reaches it."""
    body = bar((1, 1, 1), (0.2, 0.2, 0.2))
    simulation = simulate(Scene(articulations=(block(),), elastic_bodies=(body,), gravity=DOWN), environments=3)
    simulation.parameters.gravity = GIVEN
    simulation.step(1)
    simulation.elastic_bodies[0].gravity.fill_(1.0)
    start = simulation.snapshot()
    simulation.save(tmp_path / "start.npz")
    simulation.step(10)
    points = simulation.elastic_bodies[0].points.numpy().copy()
    for restore in (lambda: simulation.apply(start), lambda: simulation.load(tmp_path / "start.npz")):
        restore()
        simulation.step(10)
        assert (simulation.elastic_bodies[0].points.numpy() == points).all()
    simulation.apply(start)
    before = velocity(simulation)
    simulation.parameters.gravity = 0.0
    simulation.apply(start)
    simulation.step(10)
    np.testing.assert_allclose(velocity(simulation), before, atol=1e-9)

"""Dry friction of nodes: slopes that hold without creep or are slid down, and what it does to energy."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meshes.test_node_contacts import cube, distance, fall, floor, mechanical, obstacle
from warp_artic.description.pose import Pose
from warp_artic.description.shape import ShapeKind


def rough(one, static, dynamic):
    return replace(one, static_friction=static, dynamic_friction=dynamic)


def on_slope(dim, tangent, static=0.5, dynamic=0.5, precision="float64", **fields):
    """A cube on a plane, whose weight is tilted as it is on a slope."""
    plane = rough(floor(dim), static, dynamic)
    body = cube(dim, 0.0, obstacles=(plane,), **{"young": 5e4, "stiffness_damping": 4e-3} | fields)
    simulation = fall(body, precision=precision)
    tilt(simulation, tangent)
    return simulation


def tilt(simulation, tangent):
    angle, mass = np.arctan(tangent), simulation.mesh.node_mass
    weight = np.zeros(simulation.mesh.body.dim)
    weight[0], weight[-1] = 9.81 * np.sin(angle), -9.81 * np.cos(angle)
    simulation.loads.assign(simulation.mesh.array(mass[:, None] * weight))


def center(simulation, values):
    mass = simulation.mesh.node_mass
    return mass @ values.numpy()[0].astype(float) / mass.sum()


@pytest.mark.parametrize("precision", ("float64", "float32"))
@pytest.mark.parametrize("dim", (2, 3))
def test_a_block_holds_on_a_slope(dim, precision):
    """Just below the angle of friction, for 10 s: nodes that stick stay where they are to the last bit."""
    simulation = on_slope(dim, 0.49, precision=precision)
    for _ in range(4 * 240):
        simulation.step()
    bottom = np.flatnonzero(simulation.mesh.body.points[:, -1] == 0.0)
    forces = simulation.contact_forces.numpy()[0]
    touching = bottom[forces[bottom].any(axis=1)]
    before = simulation.points.numpy()[0].copy()
    for _ in range(6 * 240):
        assert simulation.step().converged.all()
    after = simulation.points.numpy()[0]
    np.testing.assert_array_equal(after[touching], before[touching])
    tolerance = 1e-7 if precision == "float64" else 1e-4
    total, load = forces.sum(axis=0), simulation.loads.numpy()[0].sum(axis=0)
    np.testing.assert_allclose(total, -load, atol=tolerance * np.abs(load).max())
    assert (np.linalg.norm(forces[:, :-1], axis=1) <= 0.5 * forces[:, -1] * (1 + 2e-3) + 1e-12).all()


@pytest.mark.parametrize(("precision", "wrong"), [("float64", 1e-5), ("float32", 2e-3)])
@pytest.mark.parametrize("dim", (2, 3))
def test_a_block_slides_down_a_slope(dim, precision, wrong):
    """Above the angle of friction, with the acceleration of a rigid one once it has ceased to swing."""
    simulation = on_slope(dim, 0.55, 0.52, 0.5, precision=precision)
    for _ in range(360):
        simulation.step()
    before = center(simulation, simulation.velocities)
    for _ in range(240):
        assert simulation.step().converged.all()
    angle = np.arctan(0.55)
    wanted = 9.81 * (np.sin(angle) - 0.5 * np.cos(angle))
    assert center(simulation, simulation.velocities)[0] - before[0] == pytest.approx(wanted, rel=wrong)


def test_what_sticks_holds_more_than_what_slides():
    """A slope above what would hold nodes that slide: a block that rests stays, one that is pushed does not stop.

    Much below the angle of what sticks: nodes at the edges slide first, and leave what they bore to others.
    """
    simulation = on_slope(3, 0.0, 0.6, 0.4, mass_damping=3.0)
    for _ in range(240):
        simulation.step()
    for tangent in np.linspace(0.0, 0.42, 240):
        tilt(simulation, tangent)
        simulation.step()
    for _ in range(240):
        simulation.step()
    assert np.abs(simulation.velocities.numpy()).max() < 1e-4
    free = on_slope(3, 0.42, 0.6, 0.4)
    free.points.assign(simulation.points)
    free.velocities.assign(np.broadcast_to([0.5, 0.0, 0.0], free.points.numpy().shape[1:])[None])
    for _ in range(240):
        free.step()
    before = center(free, free.velocities)
    for _ in range(240):
        free.step()
    angle = np.arctan(0.42)
    wanted = 9.81 * (np.sin(angle) - 0.4 * np.cos(angle))
    assert center(free, free.velocities)[0] - before[0] == pytest.approx(wanted, rel=1e-4)


def test_a_block_stops_where_it_should():
    """On a level floor, after v^2 / (2 mu g) but for what it swings; it then stays there."""
    simulation = on_slope(3, 0.0, 0.3, 0.3, young=2e5)
    for _ in range(120):
        simulation.step()
    simulation.velocities.assign(simulation.velocities.numpy() + [1.0, 0.5, 0.0])
    before = center(simulation, simulation.points)
    for _ in range(240):
        assert simulation.step().converged.all()
    way = center(simulation, simulation.points) - before
    assert np.linalg.norm(way) == pytest.approx(1.25 / (2 * 0.3 * 9.81), rel=0.02)
    assert way[1] / way[0] == pytest.approx(0.5, rel=0.01)
    assert np.abs(simulation.velocities.numpy()).max() < 1e-3


@pytest.mark.parametrize("dim", (2, 3))
def test_friction_takes_energy(dim):
    """Of a cube that turns while it falls on rough ground, without damping: more than without friction."""
    lost = []
    for mu in (0.0, 0.5):
        body = cube(dim, 0.05, young=2e4, obstacles=(rough(floor(dim), mu, mu),))
        turn = np.zeros((dim, dim))
        turn[0, -1], turn[-1, 0] = -8.0, 8.0
        simulation = fall(body, 1 / 960)
        simulation.velocities.assign(((body.points - 0.05) @ turn.T + [1.0, *[0.0] * (dim - 2), -2.0])[None])
        energies = [mechanical(simulation)]
        for _ in range(400):
            assert simulation.step().converged.all()
            energies.append(mechanical(simulation))
        energies = np.array(energies)
        assert (energies - np.minimum.accumulate(energies)).max() < 1e-3 * energies[0]
        lost.append(energies[0] - energies[-1])
    assert lost[1] > 1.1 * lost[0]


def test_a_cube_is_wedged_between_rough_walls():
    """A V of planes that are steeper than what friction holds on one: the force on each node is in the cone of its
    wall, and together they are the weight; an obstacle below takes nothing."""
    frames = [Pose((0.05, 0.0, -0.1), (0.0, side * np.sin(0.55), 0.0, np.cos(0.55))) for side in (-1, 1)]
    walls = [rough(obstacle(ShapeKind.PLANE, frame), 0.9, 0.9) for frame in frames]
    far = obstacle(ShapeKind.SPHERE, Pose((0.05, 0.05, -0.3)), radius=0.05)
    body = cube(3, 0.0, young=3e4, stiffness_damping=6e-3, mass_damping=2.0, obstacles=(*walls, far))
    simulation = fall(body)
    for _ in range(480):
        assert simulation.step().converged.all()
        assert min(distance(one, simulation.points.numpy()[0]).min() for one in body.obstacles) > -1e-10
    forces = simulation.contact_forces.numpy()[0]
    weight = simulation.loads.numpy()[0].sum(axis=0)
    assert np.abs(simulation.velocities.numpy()).max() < 1e-4
    np.testing.assert_allclose(forces.sum(axis=0), -weight, atol=1e-3 * np.abs(weight).max())
    for node in np.flatnonzero(forces.any(axis=1)):
        gaps = [distance(one, simulation.points.numpy()[0, node]) for one in walls]
        normal = walls[int(np.argmin(gaps))].shape.frame.rotation[:, 2]
        pressing = forces[node] @ normal
        assert pressing > 0.0 and np.linalg.norm(forces[node] - pressing * normal) <= 0.901 * pressing

"""Obstacles that move as they are animated: they lift, carry along, turn, and bat elastic bodies."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meshes.test_node_contacts import cube, distance, fall, floor, obstacle
from tests.meshes.test_node_friction import center, rough
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.pose import Pose, quaternion_from_rotation_vector
from warp_artic.description.shape import ShapeKind

DT = 1 / 240


def moved(one, pose_at, seconds=6.0):
    """An obstacle on a body that moves; its frame is that at the start."""
    times = np.arange(int(seconds * 60) + 1) / 60
    motion = BaseMotion(path="/World/mover", start=0.0, interval=1 / 60, poses=tuple(map(pose_at, times)))
    return replace(one, motion=motion)


def turned(*vector):
    return quaternion_from_rotation_vector(vector)


def run(simulation, steps, first=0):
    """Steps from one on, all of which converge."""
    for step in range(first, first + steps):
        simulation.follow_obstacles(step * DT)
        assert simulation.step().converged.all()
        yield step + 1


def place_at(one, time):
    """The obstacle as it stays there."""
    pose = one.motion.at(time) @ one.motion.at(0.0).inverse() @ one.shape.frame
    return replace(one, shape=replace(one.shape, frame=pose), motion=None)


@pytest.mark.parametrize("precision", ("float64", "float32"))
def test_a_lift_carries_a_cube(precision):
    """Up with some speed, from rest: the cube is thrown up a little, comes to rest on it, and goes as fast."""
    lift = moved(floor(3), lambda t: Pose((0.0, 0.0, 0.5 * t)))
    simulation = fall(cube(3, 0.0, young=3e4, stiffness_damping=6e-3, obstacles=(lift,)), precision=precision)
    heights = 0.0
    for step in run(simulation, 720):
        heights = distance(place_at(lift, step * DT), simulation.points.numpy()[0].astype(float))
        assert heights.min() > (-1e-10 if precision == "float64" else -1e-6)
    weight = -simulation.loads.numpy()[0, :, 2].sum()
    assert simulation.contact_forces.numpy()[0, :, 2].sum() == pytest.approx(weight, rel=2e-3)
    assert center(simulation, simulation.velocities)[2] == pytest.approx(0.5, abs=1e-3)


def test_a_belt_takes_a_cube_along():
    """It is sped up by friction, until it rests on the belt, where it then stays."""
    belt = moved(rough(floor(3), 0.4, 0.4), lambda t: Pose((0.8 * t, 0.0, 0.0)))
    simulation = fall(cube(3, 0.0, young=2e5, stiffness_damping=2e-3, obstacles=(belt,)))
    for _ in run(simulation, 24):
        pass
    before = center(simulation, simulation.velocities)[0]
    for _ in run(simulation, 12, 24):
        pass
    speed = center(simulation, simulation.velocities)[0]
    assert (speed - before) / (12 * DT) == pytest.approx(0.4 * 9.81, rel=0.05)
    for _ in run(simulation, 400, 36):
        pass
    bottom = simulation.contact_forces.numpy()[0].any(axis=1)
    start = simulation.points.numpy()[0] - [0.8 * DT * 436, 0.0, 0.0]
    for _ in run(simulation, 400, 436):
        pass
    way = simulation.points.numpy()[0] - [0.8 * DT * 836, 0.0, 0.0] - start
    assert np.abs(way)[bottom].max() < 1e-9
    assert center(simulation, simulation.velocities)[0] == pytest.approx(0.8, rel=1e-6)


def test_a_turntable_carries_a_cube_round():
    """A rough plane that turns slowly about its normal: nodes go round with it."""
    rate = 0.5
    table = moved(rough(floor(3), 0.8, 0.8), lambda t: Pose((0.0, 0.0, 0.0), turned(0.0, 0.0, rate * t)))
    simulation = fall(cube(3, 0.0, young=1e5, stiffness_damping=3e-3, obstacles=(table,)))
    for _ in run(simulation, 240):
        pass
    touching = simulation.contact_forces.numpy()[0].any(axis=1)
    before = simulation.points.numpy()[0][touching]
    for _ in run(simulation, 480, 240):
        pass
    after = simulation.points.numpy()[0][touching]
    angle = rate * 480 * DT
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(after, before @ turn.T, atol=2e-4)


@pytest.mark.parametrize("kind", (ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.BOX))
def test_a_bat_hits_a_cube(kind):
    """A solid that flies and turns, faster than its size in a step: no node ends a step in it, or behind it."""
    sizes = {
        ShapeKind.SPHERE: {"radius": 0.05},
        ShapeKind.CAPSULE: {"radius": 0.05, "half_height": 0.05},
        ShapeKind.BOX: {"half_extents": (0.06, 0.04, 0.05)},
    }
    bat = obstacle(kind, Pose((-0.6, 0.04, 0.05), turned(0.3, 0.2, 0.1)), **sizes[kind])
    bat = moved(bat, lambda t: Pose((30.0 * min(t, 0.1), 0.0, 0.0), turned(0.0, 0.0, 3.0 * t)), 1.0)
    simulation = fall(cube(3, 0.0, young=1e5, stiffness_damping=3e-3, obstacles=(bat,)), gravity=False)
    touched = 0
    for step in run(simulation, 60):
        here = place_at(bat, step * DT)
        assert distance(here, simulation.points.numpy()[0]).min() > -1e-9
        touched += simulation.contact_forces.numpy().any()
    assert touched > 0 and center(simulation, simulation.velocities)[0] > 10.0

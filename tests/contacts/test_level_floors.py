"""What slides over a floor of boxes that lie level beside each other does as on one box."""

from dataclasses import replace

import numpy as np
import pytest

from tests.contact_stages import ContactScene, Solid, box, capsule, cylinder, sphere, turn
from tests.contacts.motion import simulated

SPEED = 2.0
ON_EDGE = turn((1, 0, 0), 0.5 * np.pi)
SLIDERS = {
    "box": box("slider", 0.05),
    "turned box": box("slider", 0.05, quaternion=turn((0, 0, 1), 0.25 * np.pi)),
    "upright cylinder": cylinder("slider", 0.05, 0.05),
    "wheel": cylinder("slider", 0.05, 0.02, quaternion=ON_EDGE),
    "ball": sphere("slider", 0.05),
    "capsule": capsule("slider", 0.05, 0.05, quaternion=turn((0, 1, 0), 0.5 * np.pi)),
}


def over_tiles(slider: Solid, between: float = 0.0, **options) -> ContactScene:
    """A solid that moves along X over seven boxes of 1 m, whose upper faces are at z = 0, without friction."""
    tiles = [box(f"tile{k}", (0.5, 0.3, 0.05), (k * (1.0 + between), 0, -0.05), mass=0.0) for k in range(7)]
    slider = replace(slider, position=(0.0, 0.0, 0.05), velocity=(SPEED, 0.0, 0.0))
    return ContactScene(solids=[slider, *tiles], friction=0.0, has_ground=False, **options)


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.parametrize("name", SLIDERS)
def test_slides_on_over_level_boxes(name, dt):
    """It goes straight on, neither stopped nor lifted nor turned by edges that are level with where it slides."""
    motion = simulated(over_tiles(SLIDERS[name]), 2.0, dt=dt)
    gone = motion.place("slider")[:, 0]
    assert gone == pytest.approx(SPEED * motion.time, abs=1e-8)
    assert np.abs(motion.place("slider")[:, 2] - 0.05).max() < 1e-8
    assert motion.turned("slider").max() < 1e-6


@pytest.mark.parametrize("solver, precision, exactness", [("direct", "float32", 1e-4), ("pgs", "float32", 1e-3)])
@pytest.mark.parametrize("name", ["box", "upright cylinder"])
def test_slides_on_with_other_solvers(name, solver, precision, exactness):
    """In single precision too."""
    motion = simulated(over_tiles(SLIDERS[name]), 2.0, solver=solver, precision=precision)
    assert motion.place("slider")[:, 0] == pytest.approx(SPEED * motion.time, abs=exactness)
    assert motion.turned("slider").max() < 10.0 * exactness


@pytest.mark.parametrize("name", ["box", "capsule"])
def test_slides_over_gaps(name):
    """Over gaps of 2 mm, which it cannot go into."""
    motion = simulated(over_tiles(SLIDERS[name], 0.002), 2.0)
    assert motion.place("slider")[:, 0] == pytest.approx(SPEED * motion.time, abs=1e-6)


def test_box_slides_from_box_to_box():
    """Over boxes that are bodies themselves, and lie on the ground."""
    tiles = [box(f"tile{k}", (0.5, 0.3, 0.05), (k, 0, 0.05), mass=50.0) for k in range(4)]
    slider = box("slider", 0.05, (0, 0, 0.15), velocity=(SPEED, 0, 0))
    motion = simulated(ContactScene(solids=[slider, *tiles], friction=0.0), 1.4)
    assert motion.place("slider")[:, 0] == pytest.approx(SPEED * motion.time, abs=1e-6)
    assert np.abs(motion.velocity("tile1")).max() < 1e-6


def test_a_step_stops_a_box():
    """A box that is higher than the floor by a tenth of the slider is an obstacle."""
    scene = over_tiles(SLIDERS["box"])
    step = box("step", (0.5, 0.3, 0.055), (1.0, 0, -0.045), mass=0.0)
    scene = replace(scene, solids=[one for one in scene.solids if one.name != "tile1"] + [step])
    motion = simulated(scene, 0.3)
    assert motion.velocity("slider")[-1, 0] < 0.75 * SPEED


def test_ball_rolls_off_an_edge():
    """A ball that rolls slowly over the edge of a table turns about it, and keeps its energy."""
    table = box("table", (0.5, 0.3, 0.05), (0, 0, -0.05), mass=0.0)
    ball = sphere("ball", 0.05, (0.45, 0, 0.05), velocity=(0.2, 0, 0), turning=(0, 4.0, 0))
    motion = simulated(ContactScene(solids=[ball, table], friction=1.0, has_ground=False), 0.9, dt=1 / 1000)
    assert np.abs(motion.energy - motion.energy[0]).max() < 1e-3 * motion.kinetic[-1]
    assert motion.turning("ball")[-1, 1] > 10.0


def test_box_rocks_to_rest_on_a_disc():
    """The flat end of a cylinder is no edge: a tilted box that lands there comes to rest."""
    disc = cylinder("disc", 0.05, 0.005, (0, 0, -0.005), mass=0.0)
    die = box("die", 0.008, (0.01, 0, 0.0086), quaternion=turn((1, 0.3, 0), 0.04), turning=(0.5, 0.3, 0), mass=0.004)
    motion = simulated(ContactScene(solids=[die, disc], friction=0.3, has_ground=False), 2.0)
    assert motion.largest_speed[-1] < 2e-3
    assert motion.place("die")[-1, 2] == pytest.approx(0.008, abs=1e-6)

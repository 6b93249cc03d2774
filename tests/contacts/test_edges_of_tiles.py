"""Edges that lie beside no other face, or on which something leans, hold it; floors of boxes brake as a plane does."""

from dataclasses import replace

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere, turn
from tests.contacts.motion import simulated
from tests.contacts.test_level_floors import SLIDERS, SPEED, over_tiles
from tests.islands.crowds import crowd_motion

FRICTION, GRAVITY = 0.3, 9.81


@pytest.mark.parametrize("motion_of", [simulated, crowd_motion])
def test_friction_is_that_of_a_plane(motion_of):
    """It slides over a seam and stops after v^2 / (2 mu g)."""
    motion = motion_of(replace(over_tiles(SLIDERS["box"]), friction=FRICTION), 1.0, dt=1 / 240)
    slid = SPEED**2 / (2.0 * FRICTION * GRAVITY)
    assert motion.place("slider")[-1, 0] == pytest.approx(slid, abs=0.5 * SPEED / 240 + 1e-3)
    assert np.abs(motion.place("slider")[:, 2] - 0.05).max() < 2e-4


@pytest.mark.parametrize("motion_of", [simulated, crowd_motion])
def test_a_plank_leans_on_an_edge(motion_of):
    """Its lower end on the ground, it lies on the upper edge of a block."""
    lean, height = 0.5, 0.06
    along, up = np.array((np.cos(lean), 0.0, np.sin(lean))), np.array((-np.sin(lean), 0.0, np.cos(lean)))
    middle = np.array((0.0, 0.0, height)) + along * (0.1 - height / np.sin(lean)) + up * 0.002
    plank = box("plank", (0.1, 0.05, 0.002), tuple(middle), quaternion=turn((0, 1, 0), -lean))
    block = box("block", (0.05, 0.1, 0.03), (0.05, 0, 0.03), mass=0.0)
    motion = motion_of(ContactScene(solids=[plank, block], friction=1.0), 1.0, dt=1 / 240)
    assert np.abs(motion.place("plank") - middle).max() < 2e-4


def test_a_box_tips_over_the_last_edge():
    """Its middle is beyond the edge of a floor of two tiles."""
    tiles = [box(f"tile{k}", (0.5, 0.3, 0.05), (k, 0, -0.05), mass=0.0) for k in range(2)]
    slider = box("slider", 0.05, (1.51, 0, 0.05))
    motion = simulated(ContactScene(solids=[slider, *tiles], friction=1.0, has_ground=False), 0.5, dt=1 / 240)
    assert motion.turned("slider")[-1] > 0.5


def test_a_gap_catches_a_ball():
    """The ball sinks in by 4 mm, and would need 0.24 m/s to roll out again."""
    ball = replace(sphere("slider", 0.05), turning=(0.0, 2.0, 0.0))
    scene = over_tiles(ball, 0.04)
    first, *tiles = scene.solids
    rolling = replace(first, position=(0.4, 0.0, 0.05), velocity=(0.1, 0.0, 0.0))
    motion = simulated(replace(scene, solids=[rolling, *tiles], friction=1.0), 3.0, dt=1 / 240)
    assert motion.place("slider")[-1, 0] == pytest.approx(0.52, abs=0.01)
    assert motion.place("slider")[-1, 2] < 0.049

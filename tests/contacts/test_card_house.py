"""Houses of cards: thin, light bodies that many supports with friction hold."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, Solid, box, turn
from tests.contacts.motion import simulation
from tests.islands.crowds import crowd

RATE = 240
HALF_WIDTH, HALF_HEIGHT, HALF_THICKNESS = 0.03, 0.05, 0.001
MASS = 0.005


def leaning(name: str, foot: float, height: float, lean: float) -> Solid:
    """A card whose lower edge is on a height, and which leans to +X by an angle."""
    middle = HALF_HEIGHT * np.cos(lean) + HALF_THICKNESS * abs(np.sin(lean))
    quaternion = turn((0.0, 1.0, 0.0), lean)
    return box(
        name, (HALF_THICKNESS, HALF_WIDTH, HALF_HEIGHT), (foot, 0.0, height + middle), mass=MASS, quaternion=quaternion
    )


def house(lean: float, levels: int) -> ContactScene:
    """Pairs of cards that lean on each other, with cards across them, and one pair less in each level."""
    side = HALF_HEIGHT * np.sin(lean) + HALF_THICKNESS * np.cos(lean)
    rise = 2.0 * (HALF_HEIGHT * np.cos(lean) + HALF_THICKNESS * np.sin(lean))
    solids, height = [], 0.0
    for level in range(levels):
        pairs = levels - level
        for k in range(pairs):
            x = (k - 0.5 * (pairs - 1)) * 4.0 * side
            solids += [
                leaning(f"left{level}{k}", x - side, height, lean),
                leaning(f"right{level}{k}", x + side, height, -lean),
            ]
        height += rise
        for k in range(pairs - 1):
            x = (k - 0.5 * (pairs - 2)) * 4.0 * side
            size = (2.0 * side, HALF_WIDTH, HALF_THICKNESS)
            solids.append(box(f"across{level}{k}", size, (x, 0.0, height + HALF_THICKNESS), mass=MASS))
        height += 2.0 * HALF_THICKNESS
    return ContactScene(solids=solids, friction=0.6)


def assert_stands(lean, levels, make, precision, seconds):
    """In the time a card moves by no more than a five hundredth of its height, and after a second by that in 15 s."""
    scene = house(lean, levels)
    one = make(scene, precision=precision, dt=1.0 / RATE, sleep_after=float("inf"))
    count = len(scene.solids)
    poses = [one.state.link_pose.numpy()[:count, :, 0].copy()]
    for steps in (RATE, (seconds - 1) * RATE):
        one.step(steps)
        poses.append(one.state.link_pose.numpy()[:count, :, 0].copy())
    for begin, part in ((poses[0], 1.0), (poses[1], (seconds - 1.0) / 15.0)):
        moved = np.abs(poses[-1] - begin)
        assert moved[:, :3].max() < 2e-3 * HALF_HEIGHT * 2.0 * part
        assert moved[:, 3:].max() < 1e-3 * part
    assert np.abs(one.state.link_velocity.numpy()[:count, :3, 0]).max() < (1e-6 if precision == "float64" else 1e-3)


@pytest.mark.parametrize(("lean", "make"), [(0.35, simulation), (0.25, crowd)])
def test_it_stands_for_long(lean, make):
    """For 8 s: with three levels, in single precision, cards crept and the house fell within 20 s."""
    assert_stands(lean, 3, make, "float32", 8)


@pytest.mark.parametrize(
    ("lean", "levels", "make", "precision"),
    [
        (0.25, 1, simulation, "float64"),
        (0.25, 1, crowd, "float32"),
        (0.35, 2, simulation, "float32"),
        (0.35, 2, crowd, "float64"),
        (0.25, 3, simulation, "float64"),
        (0.25, 3, simulation, "float32"),
        (0.35, 3, crowd, "float64"),
        (0.35, 3, crowd, "float32"),
    ],
)
def test_it_stands(lean, levels, make, precision):
    """For 2 s, in which none creeps faster than it may in 15 s."""
    assert_stands(lean, levels, make, precision, 2)


def test_environments_do_not_notice_each_other():
    """Each takes its own number of anchors."""
    scene = house(0.35, 2)
    count = len(scene.solids)
    options = {"precision": "float32", "variant": "lanes", "dt": 1.0 / RATE}
    many = simulation(scene, environments=3, **options)
    velocity = np.zeros((3, count, 6))
    velocity[1:, :, :3] = np.random.default_rng(0).normal(0.0, 0.02, (2, count, 3))
    many.set_state(root_velocity=velocity)
    many.step(20)
    for environment in range(3):
        one = simulation(scene, **options)
        one.set_state(root_velocity=velocity[environment : environment + 1])
        one.step(20)
        np.testing.assert_array_equal(
            one.state.link_pose.numpy()[..., 0], many.state.link_pose.numpy()[..., environment]
        )

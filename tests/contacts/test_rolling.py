"""Balls and cylinders that roll, slide and spin, in closed form."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.contact_stages import ContactScene, box, cylinder, sphere, turn
from tests.contacts.motion import PRECISIONS, simulated
from tests.islands.crowds import crowd_motion

G = 9.81
DOWN_X = (float(G * np.sin(0.3)), 0.0, float(-G * np.cos(0.3)))
"""Gravity on a slope of 0.3 rad."""


@pytest.mark.parametrize("precision", PRECISIONS)
def test_ball_rolls_down_a_slope(precision):
    """With 5/7 of g sin, and no slip."""
    scene = ContactScene(solids=[sphere("ball", 0.1, (0, 0, 0.1))], gravity=DOWN_X)
    motion = simulated(scene, 1.0, precision=precision)
    v, w = motion.velocity("ball"), motion.turning("ball")
    assert v[-1, 0] == pytest.approx(5.0 / 7.0 * DOWN_X[0], rel=1e-3)
    np.testing.assert_allclose(v[2:, 0], 0.1 * w[2:, 1], atol=1e-4)
    assert np.abs(motion.place("ball")[:, 2] - 0.1).max() < 1e-4


@pytest.mark.parametrize("precision", PRECISIONS)
def test_cylinder_rolls_down_a_slope(precision):
    """With 2/3 of g sin, straight."""
    lying = turn((1, 0, 0), 0.5 * np.pi)
    scene = ContactScene(solids=[cylinder("roll", 0.1, 0.2, (0, 0, 0.1), quaternion=lying)], gravity=DOWN_X)
    motion = simulated(scene, 1.0, precision=precision)
    assert motion.velocity("roll")[-1, 0] == pytest.approx(2.0 / 3.0 * DOWN_X[0], rel=1e-3)
    assert np.abs(motion.axis("roll", 2)[-1] @ [1, 0, 0]) < 1e-3
    assert np.abs(motion.place("roll")[:, 1]).max() < 1e-4


@pytest.mark.parametrize("precision", PRECISIONS)
def test_sliding_ball_comes_to_roll(precision):
    """Thrown at 2 m/s it slides for 2 v / (7 mu g), then rolls with 5/7 of the speed for good."""
    ball = sphere("ball", 0.1, (0, 0, 0.1), velocity=(2, 0, 0))
    motion = simulated(ContactScene(solids=[ball], friction=0.3), 2.0, precision=precision)
    slides = 4.0 / (7.0 * 0.3 * G)
    place = 2.0 * slides - 0.15 * G * slides**2 + 10.0 / 7.0 * (2.0 - slides)
    assert motion.velocity("ball")[-1, 0] == pytest.approx(10.0 / 7.0, rel=1e-3)
    assert motion.turning("ball")[-1, 1] == pytest.approx(100.0 / 7.0, rel=1e-3)
    assert motion.place("ball")[-1, 0] == pytest.approx(place, rel=1e-3)
    before = motion.time < slides - 0.01
    np.testing.assert_allclose(motion.velocity("ball")[before, 0], 2.0 - 0.3 * G * motion.time[before], atol=0.015)


def test_ball_with_back_spin_comes_back():
    """Spun back at w with 5/2 v < r w it ends with (5 v - 2 r w) / 7, backwards."""
    ball = sphere("ball", 0.1, (0, 0, 0.1), velocity=(1, 0, 0), turning=(0, -40, 0))
    motion = simulated(ContactScene(solids=[ball], friction=0.3), 2.0)
    assert motion.velocity("ball")[-1, 0] == pytest.approx((5.0 - 8.0) / 7.0, rel=1e-3)


def test_spin_about_the_normal_stays():
    """A point does not hold a ball against turning about the normal."""
    ball = sphere("ball", 0.1, (0, 0, 0.1), turning=(0, 0, 20))
    motion = simulated(ContactScene(solids=[ball]), 1.0)
    np.testing.assert_allclose(motion.turning("ball")[-1], [0, 0, 20], atol=1e-6)
    assert np.abs(motion.place("ball")[-1] - [0, 0, 0.1]).max() < 1e-6


@pytest.mark.parametrize("precision", PRECISIONS)
def test_spinning_disc_slows_down(precision):
    """It stands on points of its rim, so friction takes mu m g r: it slows by 2 mu g / r, and stops."""
    disc = cylinder("disc", 0.1, 0.02, (0, 0, 0.02), turning=(0, 0, 30))
    motion = simulated(ContactScene(solids=[disc], friction=0.1), 2.5, precision=precision)
    w = motion.turning("disc")[:, 2]
    rate = 2.0 * 0.1 * G / 0.1
    running = (motion.time > 0.05) & (motion.time < 30.0 / rate - 0.05)
    assert np.polyfit(motion.time[running], w[running], 1)[0] == pytest.approx(-rate, rel=1e-3)
    assert abs(w[-1]) < 1e-5 and np.hypot(*motion.place("disc")[-1, :2]) < 1e-4


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("floor", ["plane", "box"])
def test_fast_wheel_stays_on_its_floor(floor, precision):
    """It rolls at 15 m/s, by more than its width in a step: no force on it turns it, or lets it through."""
    lying = turn((1, 0, 0), 0.5 * np.pi)
    wheel = cylinder("wheel", 0.1, 0.025, (0, 0, 0.1), quaternion=lying, velocity=(15, 0, 0), turning=(0, 150, 0))
    ball = sphere("ball", 0.1, (0, 1, 0.1), velocity=(15, 0, 0), turning=(0, 150, 0))
    ground = [box("floor", (20, 2, 0.05), (10, 0, -0.05), mass=0.0)] if floor == "box" else []
    scene = ContactScene(solids=[wheel, ball, *ground], has_ground=floor == "plane")
    motion = simulated(scene, 1.0, precision=precision, dt=1.0 / 60.0)
    for name in ("wheel", "ball"):
        np.testing.assert_allclose(motion.place(name)[:, 2], 0.1, atol=3e-4)
        np.testing.assert_allclose(motion.velocity(name)[-1], (15, 0, 0), atol=5e-3)
        np.testing.assert_allclose(motion.turning(name)[-1], (0, 150, 0), atol=5e-2)


def test_fast_box_slides_flat():
    """Thrown at 20 m/s over a floor, by more than its height in a step, it slows down by mu g and does not tip."""
    scene = ContactScene(solids=[box("box", (0.1, 0.1, 0.05), (0, 0, 0.05), velocity=(20, 0, 0))], friction=0.3)
    motion = simulated(scene, 1.0, dt=1.0 / 60.0)
    assert motion.velocity("box")[-1, 0] == pytest.approx(20.0 - 0.3 * G, rel=1e-3)
    assert motion.turned("box").max() < 1e-4
    assert np.abs(motion.place("box")[:, 2] - 0.05).max() < 1e-4


@pytest.mark.parametrize("run", [simulated, crowd_motion])
@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_lying_cylinder_stays(precision, angle, run):
    """It rolled by itself, down a slope of 1e-4: what keeps the lowest point of one that stands acted there too."""
    lying = Rotation.from_euler("zx", [angle, 0.5 * np.pi]).as_quat()
    roller = cylinder("roller", 0.15, 0.2, (0.0, 0.0, 0.15), quaternion=tuple(map(float, lying)))
    motion = run(ContactScene(solids=[roller]), 3.0, precision=precision, sleep_after=float("inf"))
    moved = np.abs(motion.place("roller")[-1] - motion.place("roller")[0])
    assert moved[:2].max() < (1e-9 if precision == "float64" else 5e-5)

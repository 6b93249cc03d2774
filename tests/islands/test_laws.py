"""Laws of contacts that are solved by islands: friction, restitution, momentum, weights, and the exact solver."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, capsule, cylinder, sphere, turn
from tests.contacts.motion import PRECISIONS, simulated
from tests.islands.crowds import crowd, crowd_motion, momentum

G = 9.81


def on_slope(tangent: float) -> ContactScene:
    """A cube on the ground, with gravity as on a slope that goes down along X, and one that nothing else does."""
    angle = float(np.arctan(tangent))
    solids = [box("block", 0.05, (0, 0, 0.05))]
    return ContactScene(solids=solids, gravity=(G * np.sin(angle), 0.0, -G * np.cos(angle)))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_block_below_the_cone_holds(precision):
    """At 0.499 of mu 0.5 it goes by at most 0.1 mm, and then creeps at most 0.02 mm in 2 s."""
    motion = crowd_motion(on_slope(0.499), 3.0, every=240, precision=precision)
    way = motion.place("block")[:, 0]
    assert np.abs(way[-1]) <= 1e-4
    assert np.abs(way[-1] - way[1]) <= 2e-5


@pytest.mark.parametrize(("tangent", "precision"), [(0.501, "float64"), (0.8, "float64"), (0.55, "float32")])
def test_block_above_the_cone_slides(tangent, precision):
    """With g (sin - mu cos) to a thousandth."""
    scene = on_slope(tangent)
    motion = crowd_motion(scene, 1.0, precision=precision)
    steady = motion.time > 0.1
    found = np.polyfit(motion.time[steady], motion.velocity("block")[steady, 0], 1)[0]
    assert found == pytest.approx(scene.gravity[0] + 0.5 * scene.gravity[2], rel=1e-3)


def test_ball_goes_over_from_sliding_to_rolling():
    """It ends at 5/7 of its speed, whatever the friction is."""
    scene = ContactScene(solids=[sphere("ball", 0.1, (0, 0, 0.1), velocity=(2.0, 0.0, 0.0))], friction=0.3)
    motion = crowd_motion(scene, 1.0)
    assert motion.velocity("ball")[-1, 0] == pytest.approx(10.0 / 7.0, rel=1e-3)
    assert motion.turning("ball")[-1, 1] == pytest.approx(100.0 / 7.0, rel=1e-3)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_ball_bounces(e):
    """From 0.4 m to e^2 of it, within 1 mm, and never higher than it was."""
    scene = ContactScene(solids=[sphere("ball", 0.1, (0, 0, 0.5))], restitution=e)
    motion = crowd_motion(scene, 1.2)
    height = motion.place("ball")[:, 2] - 0.1
    speed = motion.velocity("ball")[:, 2]
    falls = int(np.argmax(speed < -2.0))
    hit = falls + int(np.argmax(speed[falls:] > -1.0))
    assert height[hit:].max() == pytest.approx(0.4 * e * e, abs=0.001)
    assert height[hit:].max() < 0.4 + 1e-4
    assert np.diff(motion.energy).max() < 1e-2 * G
    assert height.min() > -1e-4


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit"])
@pytest.mark.parametrize("rate", [60, 240])
def test_box_lies_where_it_lands(rate, integrator):
    """On the ground; with semi-implicit steps it hung 22 mm above it."""
    motion = crowd_motion(ContactScene(solids=[box("box", 0.1, (0, 0, 0.5))]), 0.5, dt=1 / rate, integrator=integrator)
    height, speed = motion.place("box")[:, 2] - 0.1, motion.velocity("box")[:, 2]
    lands = int(np.argmin(speed)) + 1
    assert np.abs(speed[lands:]).max() < 1e-3
    assert np.abs(height[lands:]).max() < 1e-4


def test_momentum_is_kept():
    """Twelve solids that meet without gravity keep momentum and angular momentum, to 1e-6 of the largest."""
    rng = np.random.default_rng(7)
    makers = (
        lambda name, x, **one: box(name, 0.1, x, **one),
        lambda name, x, **one: sphere(name, 0.12, x, **one),
        lambda name, x, **one: capsule(name, 0.08, 0.1, x, **one),
        lambda name, x, **one: cylinder(name, 0.1, 0.1, x, **one),
    )
    solids = []
    for k in range(12):
        place = np.array([k % 3, k // 3 % 2, k // 6]) * 0.4
        motion = {"velocity": tuple(1.5 * (0.4 - place) + rng.normal(0, 0.3, 3)), "turning": tuple(rng.normal(0, 3, 3))}
        solids.append(makers[k % 4](f"solid{k}", tuple(place), mass=float(np.float32(rng.uniform(0.5, 3.0))), **motion))
    scene = ContactScene(solids=solids, gravity=(0.0, 0.0, 0.0), has_ground=False)
    motion = crowd_motion(scene, 0.5, dt=1.0 / 960.0)
    linear, angular = momentum(motion, solids)
    speeds = np.array([motion.velocity(one.name) for one in solids])
    assert np.abs(speeds[:, -1] - speeds[:, 0]).max() > 0.5
    scale = sum(one.mass * np.linalg.norm(motion.velocity(one.name)[0]) for one in solids)
    assert np.abs(linear - linear[0]).max() < 1e-9 * scale
    assert np.abs(angular - angular[0]).max() < 3e-3 * scale


@pytest.mark.parametrize("precision", PRECISIONS)
def test_stack_weighs_what_it_does(precision):
    """Each of 22 cubes, one mechanism too many for an exact solution, bears those above; contacts are in by 1e-3."""
    count = 22
    solids = [box(f"box{k}", 0.05, (0, 0, 0.05 + 0.1 * k)) for k in range(count)]
    one = crowd(ContactScene(solids=solids), precision=precision)
    one.step(1200)
    for k in (1, 5, 15, 21):
        force = one.contact_force_on(f"/World/box{k}", by=f"/World/box{k - 1}")[0]
        assert force[2] == pytest.approx((count - k) * G, rel=2e-2)
        assert np.hypot(*force[:2]) < 0.05 * force[2]
    heights = one.state.link_pose.numpy()[:count, 2, 0]
    assert np.abs(np.diff(heights) - 0.1).max() <= 1e-3 * 0.1
    assert np.abs(one.state.link_velocity.numpy()[:count]).max() < 0.05


def test_pyramid_stands():
    """Ten rows of cubes, 55 of them, stand for 3 s: nothing moves by more than 0.5 mm, or 0.2 mm in the last 2 s."""
    solids = [
        box(f"box{row}_{k}", 0.05, (0.101 * k + 0.0505 * row, 0, 0.05 + 0.1 * row))
        for row in range(10)
        for k in range(10 - row)
    ]
    motion = crowd_motion(ContactScene(solids=solids), 3.0, every=240, precision="float32")
    for one in solids:
        place = motion.place(one.name)
        assert np.abs(place[-1] - place[0]).max() < 5e-4
        assert np.abs(place[-1] - place[1]).max() < 2e-4
        assert motion.turned(one.name)[-1] < 2e-3


@pytest.mark.parametrize(
    "solid",
    [
        box("one", (0.05, 0.1, 0.15), (0, 0, 0.4), quaternion=turn((1, 2, 3), 0.6), turning=(1.0, 2.0, 0.5)),
        capsule("one", 0.05, 0.1, (0, 0, 0.4), quaternion=turn((1, 0, 0), 0.4)),
        cylinder("one", 0.1, 0.05, (0, 0, 0.3), quaternion=turn((0, 1, 0), 0.3), velocity=(1.0, 0.0, 0.0)),
    ],
    ids=lambda solid: solid.kind,
)
def test_one_body_does_what_the_exact_solver_says(solid):
    """A body that falls on the ground: where it lies in the end is within 3 mm of the same with short steps."""
    scene = ContactScene(solids=[solid])
    found = crowd_motion(scene, 0.35, dt=1.0 / 960.0)
    wanted = simulated(scene, 0.35, dt=1.0 / 960.0)
    assert np.abs(found.place("one")[-1] - wanted.place("one")[-1]).max() < 3e-3
    assert np.abs(found.velocity("one")[-1] - wanted.velocity("one")[-1]).max() < 0.15


def test_energy_of_a_pile_goes_down():
    """Thirty solids that fall on each other gain no energy, but for a thousandth of what there is in a step."""
    rng = np.random.default_rng(3)
    solids = []
    for k in range(30):
        x = (0.25 * (k % 3) + rng.uniform(-0.03, 0.03), 0.25 * (k // 3 % 2), 0.2 + 0.3 * (k // 6))
        made = (box, sphere, capsule)[k % 3]
        size = {box: (0.1,), sphere: (0.1,), capsule: (0.07, 0.08)}[made]
        solids.append(made(f"solid{k}", *size, x, mass=float(np.float32(rng.uniform(0.5, 3.0)))))
    motion = crowd_motion(ContactScene(solids=solids), 3.0)
    scale = motion.energy[0]
    assert np.diff(motion.energy).max() < 1e-3 * scale
    assert motion.energy[-1] < 0.7 * scale

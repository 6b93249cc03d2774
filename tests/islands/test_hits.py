"""What is hit within a step, or turns far in it, and comes to touch what it would not have come near without."""

import numpy as np
import pytest

from tests.contact_stages import STILL, ContactScene, box, capsule, sphere
from tests.contacts.motion import PRECISIONS, Motion
from tests.islands.crowds import crowd, momentum
from warp_artic.islands.predicted_motion import TOLERATED_OVERLAP

RADIUS = 0.1


def deepest(one) -> float:
    """The deepest overlap now [m]."""
    return -min((contact.gap for contact in one.contacts()), default=0.0)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("gap", [0.01, 0.05])
def test_a_ball_that_is_hit_stops_at_the_next_one(precision, gap):
    """At 20 m/s and 60 Hz, a third of a metre in a step: through two more balls. They overlap by next to nothing."""
    places = [(-0.25, 0, 0), *(((2 * RADIUS + gap) * k, 0, 0) for k in range(3))]
    solids = [sphere(f"hit{k}", RADIUS, place) for k, place in enumerate(places)]
    solids[0] = sphere("hit0", RADIUS, places[0], velocity=(20.0, 0.0, 0.0))
    one = crowd(ContactScene(solids=solids, has_ground=False, gravity=STILL), precision=precision, dt=1 / 60)
    found = []
    for _ in range(8):
        one.step()
        found.append(deepest(one))
    assert max(found) < 1.5 * TOLERATED_OVERLAP * RADIUS
    motion = Motion(one.record(1, quantities=("link_pose", "link_velocity", "energy")))
    np.testing.assert_allclose(momentum(motion, solids)[0][-1], (20.0, 0.0, 0.0), atol=1e-3)
    order = [motion.place(solid.name)[-1, 0] for solid in solids]
    assert np.diff(order).min() > 2 * RADIUS - 1.5 * TOLERATED_OVERLAP * RADIUS
    assert motion.energy[-1] <= 200.0 + 1e-3


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_bar_that_turns_is_stopped_by_what_its_end_comes_to(precision):
    """By half a radian in a step, into a block that it is beside: what is near at the start are other features."""
    solids = [
        box("bar", (0.3, 0.02, 0.02), turning=(0.0, 0.0, 30.0)),
        box("block", (0.05, 0.05, 0.05), (0.25, 0.09, 0.0), mass=50.0),
    ]
    one = crowd(ContactScene(solids=solids, has_ground=False, gravity=STILL), precision=precision, dt=1 / 60)
    found = []
    for _ in range(6):
        one.step()
        found.append(deepest(one))
    assert max(found) < 2e-3
    assert one.state.energy.numpy().sum() < 0.5 * solids[0].inertia[2] * 900.0


SHAPES = {
    "boxes": lambda name, place, quaternion: box(name, (0.1, 0.1, 0.1), place, quaternion=quaternion),
    "capsules": lambda name, place, quaternion: capsule(name, 0.06, 0.1, place, quaternion=quaternion),
}


def rain(kind: str, seed: int) -> ContactScene:
    """Forty solids that fall on each other from up to 17 m."""
    rng = np.random.default_rng(seed)
    solids = []
    for k in range(40):
        quaternion = rng.normal(size=4)
        place = (*rng.uniform(-0.5, 0.5, 2).tolist(), 3.0 + 0.35 * k)
        solids.append(SHAPES[kind](f"solid{k}", place, tuple((quaternion / np.linalg.norm(quaternion)).tolist())))
    return ContactScene(solids=solids)


@pytest.mark.parametrize(
    "kind, rate, often, most",
    [("boxes", 60, 0.15, 0.06), ("boxes", 240, 0.01, 0.01), ("capsules", 60, 0.15, 0.04)],
)
def test_few_overlap_in_a_rain(kind, rate, often, most):
    """By more than 5 mm in few of the steps: at 60 Hz it was every fourth, by up to 8 cm of the 20 that boxes have.

    At 240 Hz capsules that turn by more than half a radian in a step go into the ground by 2 cm, as before.
    """
    one = crowd(rain(kind, 0), precision="float32", dt=1 / rate)
    found, energy = [], [float(one.state.energy.numpy().sum())]
    for _ in range(3 * rate):
        one.step()
        found.append(deepest(one))
        energy.append(float(one.state.energy.numpy().sum()))
    assert np.mean(np.array(found) > 5e-3) < often
    assert max(found) < most
    assert np.diff(energy).max() < 1e-3 * energy[0]
    assert energy[-1] < 0.05 * energy[0]


def test_environments_and_snapshots_are_bitwise():
    """Whatever is hit beside them, and however often contacts are looked for there."""
    scene = rain("boxes", 1)
    many = crowd(scene, environments=3, precision="float32", variant="lanes", dt=1 / 60)
    one = crowd(scene, precision="float32", variant="lanes", dt=1 / 60)
    velocity = np.zeros((3, len(many.root_names), 6))
    velocity[:, :40, :3] = np.random.default_rng(2).normal(0.0, 2.0, (3, 40, 3))
    many.set_state(root_velocity=velocity)
    many.step(60)
    kept = many.snapshot()
    many.step(60)
    poses = many.state.root_pose.numpy().copy()
    for environment in range(3):
        one.reset()
        one.set_state(root_velocity=velocity[environment : environment + 1])
        one.step(120)
        np.testing.assert_array_equal(one.state.root_pose.numpy()[..., 0], poses[..., environment])
    many.apply(kept)
    many.step(60)
    np.testing.assert_array_equal(many.state.root_pose.numpy(), poses)

"""Random crowds with starts in each other, spins, unequal masses and coarse steps: nothing explodes."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, capsule, cone, cylinder, sphere
from tests.contacts.motion import simulation

COUNT = 26


def random_crowd(seed: int) -> tuple[ContactScene, float]:
    """Solids of five kinds within half a metre or in one place, and a time step."""
    rng = np.random.default_rng(seed)
    spread = rng.choice([0.0, 0.05, 0.2, 0.5])
    solids = []
    for k in range(COUNT):
        quaternion = rng.normal(size=4)
        options = {
            "quaternion": tuple(map(float, quaternion / np.linalg.norm(quaternion))),
            "mass": float(10 ** rng.uniform(-1.0, 1.5)),
            "velocity": tuple(map(float, rng.normal(0.0, 2.0, 3))),
            "turning": tuple(map(float, rng.normal(0.0, 5.0, 3))),
        }
        place = tuple(map(float, rng.normal(0.0, 1.0, 3) * spread + [0.0, 0.0, 0.3]))
        make, numbers = ((box, 3), (sphere, 1), (capsule, 2), (cylinder, 2), (cone, 2))[rng.integers(5)]
        sizes = tuple(map(float, rng.uniform(0.03, 0.15, numbers)))
        size = (sizes,) if make is box else sizes
        solids.append(make(f"solid{k}", *size, place, **options))
    scene = ContactScene(
        solids=solids, friction=float(rng.choice([0.3, 0.5, 1.5])), restitution=float(rng.choice([0.0, 0.5]))
    )
    return scene, float(rng.choice([1.0 / 60.0, 1.0 / 240.0]))


@pytest.mark.parametrize("seed", range(12))
def test_random_crowds(seed):
    """Energy ends below what it was, speeds stay below 25 m/s, and what lies, lies on the ground."""
    scene, dt = random_crowd(seed)
    one = simulation(scene, precision="float32", dt=dt, sleep_after=float("inf"))
    assert one.scene.island_contacts is not None
    start = one.state.energy.numpy().sum()
    fastest = 0.0
    for _ in range(round(2.0 / dt / 20)):
        one.step(20)
        fastest = max(fastest, float(np.abs(one.state.root_velocity.numpy()[:, :3]).max()))
    assert one.failures() == []
    assert fastest < 25.0
    assert one.state.energy.numpy().sum() < start
    assert one.state.root_pose.numpy()[:, 2].min() > 0.0

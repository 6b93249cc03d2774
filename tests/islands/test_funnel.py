"""Coins that fall into a funnel whose hole is smaller than they are, and turn by up to a radian in a step."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, cylinder
from tests.contacts.motion import Motion, simulation

COINS, SIDES = 22, 32
LOW, HIGH = (0.02, 0.5), (0.4, 0.85)
"""Radius and height of the hole and of the rim [m]."""


def funnel() -> str:
    """A thin cone of triangles that is open above and below."""
    around = 2.0 * np.pi * np.arange(SIDES) / SIDES
    points = [(float(r * np.cos(a)), float(r * np.sin(a)), z) for r, z in (LOW, HIGH) for a in around]
    corners = []
    for k in range(SIDES):
        after = (k + 1) % SIDES
        corners += [k, after, SIDES + after, k, SIDES + after, SIDES + k]
    return (
        'def Mesh "funnel" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]) {\n'
        f"point3f[] points = {points}\nint[] faceVertexCounts = {[3] * (2 * SIDES)}\nbool doubleSided = 1\n"
        f'int[] faceVertexIndices = {corners}\nuniform token physics:approximation = "none"\n}}\n'
    )


@pytest.mark.parametrize("seed", range(2))
def test_coins_stay_in_a_funnel(seed):
    """At 60 Hz; one to three of 22 went through the wall, which they had turned across within a step."""
    rng = np.random.default_rng(seed)
    solids = []
    for k in range(COINS):
        angle, out = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.0, 0.25)
        q = rng.normal(size=4)
        place = (out * np.cos(angle), out * np.sin(angle), 1.0 + 0.08 * k)
        solids.append(cylinder(f"coin{k}", 0.06, 0.006, place, quaternion=tuple(q / np.linalg.norm(q)), mass=0.1))
    one = simulation(ContactScene(solids=solids, joints=funnel(), friction=0.3), precision="float32", dt=1 / 60)
    assert one.scene.island_contacts is not None
    motion = Motion(one.record(240, quantities=("link_pose",)))
    for solid in solids:
        place = motion.place(solid.name)
        inside = np.cumsum(np.linalg.norm(place[:, :2], axis=1) > HIGH[0]) == 0
        assert place[inside, 2].min() > LOW[1] - 0.01, solid.name

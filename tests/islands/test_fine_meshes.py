"""Static meshes of thousands of triangles, smaller than what lies on them."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, capsule, cylinder, sphere
from tests.contacts.motion import PRECISIONS, Motion, simulation

WANTED = ("link_pose", "link_velocity", "energy")
G = 9.81


def surface(name: str, height, size: float, count: int, kind: str = "none") -> str:
    """A collider of 2 count^2 triangles over a square, at height(x, y)."""
    ticks = np.linspace(-size, size, count + 1)
    points = [(float(x), float(y), float(height(x, y))) for x in ticks for y in ticks]
    corners = []
    for i in range(count):
        for j in range(count):
            k = i * (count + 1) + j
            corners += [k, k + count + 1, k + count + 2, k, k + count + 2, k + 1]
    return (
        f'def Mesh "{name}" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]) {{\n'
        f"point3f[] points = {points}\nint[] faceVertexCounts = {[3] * (len(corners) // 3)}\n"
        f'int[] faceVertexIndices = {corners}\nuniform token physics:approximation = "{kind}"\n}}\n'
    )


def hills(x, y):
    """Of 0.3 m."""
    return 0.3 * np.sin(x) * np.cos(y)


def dropped(rng: np.random.Generator, count: int) -> list:
    """Boxes, balls, capsules and cylinders above the hills, turned anyhow."""
    makers = (
        lambda name, at, **given: box(name, (0.1, 0.1, 0.08), at, **given),
        lambda name, at, **given: sphere(name, 0.1, at),
        lambda name, at, **given: capsule(name, 0.08, 0.1, at, **given),
        lambda name, at, **given: cylinder(name, 0.1, 0.1, at, **given),
    )
    found = []
    for k in range(count):
        q = rng.normal(size=4)
        at = (-1.8 + 0.6 * (k % 7), -1.8 + 0.6 * (k // 7), 1.0)
        found.append(makers[k % 4](f"solid{k}", at, quaternion=tuple(q / np.linalg.norm(q))))
    return found


@pytest.mark.parametrize("count", [16, 64])
def test_what_falls_on_hills_stays_above_them(count):
    """Triangles of 0.4 and 0.1 m: nothing gets through, and slow things lie where their sizes let them."""
    solids = dropped(np.random.default_rng(5), 28)
    scene = ContactScene(solids=solids, joints=surface("hills", hills, 3.2, count), has_ground=False)
    one = simulation(scene, sleep_after=float("inf"))
    assert one.scene.island_contacts is not None
    motion = Motion(one.record(720, every=8, quantities=WANTED))
    for solid in solids:
        place = motion.place(solid.name)
        inside = (np.abs(place[:, :2]) < 3.0).all(axis=1)
        above = place[:, 2] - hills(place[:, 0], place[:, 1])
        assert above[inside].min() > 0.07, solid.name
    assert np.diff(motion.energy).max() < 2e-2 * 28.0 * G


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_ball_in_a_trough(precision):
    """Without friction it swings as a pendulum of the length R - r: half a period takes pi sqrt((R - r) / g)."""
    R, r = 2.0, 0.1
    trough = surface("trough", lambda x, y: R - np.sqrt(R * R - x * x), 0.6, 60)
    trough = trough.replace("apiSchemas = [", 'apiSchemas = ["MaterialBindingAPI", ')
    trough = trough.replace("point3f[]", "rel material:binding:physics = </World/smooth>\npoint3f[]")
    smooth = (
        'def Material "smooth" (prepend apiSchemas = ["PhysicsMaterialAPI", "PhysxMaterialAPI"]) {\n'
        "float physics:staticFriction = 0\nfloat physics:dynamicFriction = 0\n"
        'uniform token physxMaterial:frictionCombineMode = "min"\n}\n'
    )
    angle = 0.1
    start = ((R - r) * np.sin(angle), 0.0, R - (R - r) * np.cos(angle))
    scene = ContactScene(solids=[sphere("ball", r, start)], joints=smooth + trough, has_ground=False)
    motion = Motion(simulation(scene, precision=precision).record(960, quantities=WANTED))
    x = motion.place("ball")[:, 0]
    crossings = motion.time[1:][np.diff(np.sign(x)) != 0.0]
    half = np.pi * np.sqrt((R - r) / G) * (1.0 + angle**2 / 16.0)
    assert np.diff(crossings).mean() == pytest.approx(half, rel=1e-2)
    assert np.abs(x).max() < 1.03 * start[0]


def test_environments():
    """Each does the same, bitwise, and as one alone does."""
    scene = ContactScene(
        solids=dropped(np.random.default_rng(7), 8), joints=surface("hills", hills, 3.2, 40), has_ground=False
    )
    found = [
        simulation(scene, environments=count, variant="lanes").record(240, every=240, quantities=("link_pose",))
        for count in (3, 1)
    ]
    several, alone = (one.link_pose[-1] for one in found)
    for environment in range(3):
        np.testing.assert_array_equal(several[environment], alone[0])

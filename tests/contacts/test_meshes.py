"""Bodies on meshes that stay move as on planes, also over the seams between their triangles."""

import numpy as np
import pytest

from tests.contact_stages import ContactScene, box, sphere
from tests.contacts.motion import simulated
from tests.usd.test_flat_patches import grid, text

BOUND = "rel material:binding:physics = </World/material>\n"
APPLIED = '(prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI", "MaterialBindingAPI"])'
QUAD = np.array([(-2, -2, 0), (2, -2, 0), (2, 2, 0), (-2, 2, 0)], float)
TWO = np.array([(0, 1, 2), (0, 2, 3)])


def ground(*meshes) -> str:
    """Meshes, of points and triangles, that stay."""
    return "".join(
        f'def Mesh "ground{number}" {APPLIED} {{\n{text(*one)}{BOUND}}}\n' for number, one in enumerate(meshes)
    )


def cells(count: int, **values) -> tuple[np.ndarray, np.ndarray]:
    """A grid 4 m wide about the origin."""
    points, triangles = grid(count, **values)
    return (points - (0.5 * count, 0.5 * count, 0.0)) * (4.0 / count, 4.0 / count, 1.0), triangles


def l_shape() -> tuple[np.ndarray, np.ndarray]:
    """Most of a grid: it is no convex polygon, and the x axis crosses from one patch of it to the other."""
    points, triangles = cells(4)
    middles = points[triangles].mean(axis=1)
    return points, triangles[(middles[:, 0] < 0.0) | (middles[:, 1] < 1.0)]


def moved(solid, *meshes, seconds=1.0, friction=0.5, **values):
    """The motion of a solid on meshes, and on a plane."""
    on_mesh = ContactScene(solids=[solid], friction=friction, has_ground=False, joints=ground(*meshes))
    on_plane = ContactScene(solids=[solid], friction=friction)
    return simulated(on_mesh, seconds, **values), simulated(on_plane, seconds, **values)


GROUNDS = {"two triangles": (QUAD, TWO), "grid": cells(4), "not convex": l_shape()}


@pytest.mark.parametrize("name", GROUNDS)
def test_a_box_rests(name):
    """As on a plane."""
    mesh, plane = moved(box("it", 0.1, (0.05, 0.02, 0.1)), GROUNDS[name])
    np.testing.assert_allclose(mesh.place("it"), plane.place("it"), atol=1e-6)
    assert mesh.turned("it").max() < 1e-6 and mesh.largest_speed[-1] < 1e-6


@pytest.mark.parametrize("name", GROUNDS)
@pytest.mark.parametrize("y", [0.03, 0.95])
def test_a_box_slides_over_seams(name, y):
    """Without friction it keeps its velocity, with friction it stops where it does on a plane."""
    for friction in (0.0, 0.3):
        solid = box("it", 0.1, (-0.6, y, 0.1), velocity=(1.5, 0.0, 0.0))
        mesh, plane = moved(solid, GROUNDS[name], friction=friction, seconds=0.8)
        np.testing.assert_allclose(mesh.velocity("it"), plane.velocity("it"), atol=1e-3)
        assert mesh.turned("it").max() < 1e-3


@pytest.mark.parametrize("name", GROUNDS)
def test_a_ball_rolls_over_seams(name):
    """As on a plane."""
    solid = sphere("it", 0.1, (-0.6, 1.02, 0.1), velocity=(1.0, -0.07, 0.0), turning=(0.7, 10.0, 0.0))
    mesh, plane = moved(solid, GROUNDS[name], seconds=1.5)
    np.testing.assert_allclose(mesh.velocity("it"), plane.velocity("it"), atol=1e-3)


def test_a_ball_stays_in_a_corner():
    """Rolling to a wall that stands on a ground, of one mesh, a ball is stopped by it."""
    points = np.array([(-2, -2, 0), (1, -2, 0), (1, 2, 0), (-2, 2, 0), (1, -2, 1), (1, 2, 1)], float)
    triangles = np.array([(0, 1, 2), (0, 2, 3), (1, 4, 5), (1, 5, 2)])
    solid = sphere("it", 0.1, (0.5, 0.0, 0.1), velocity=(1.0, 0.0, 0.0))
    motion, _ = moved(solid, (points, triangles), friction=0.0)
    np.testing.assert_allclose(motion.place("it")[-1], (0.9, 0.0, 0.1), atol=1e-4)
    assert motion.largest_speed[-1] < 1e-6


@pytest.mark.parametrize("closed", [False, True])
def test_a_box_slides_off_a_ridge(closed):
    """Where the ground bends down, or ends in the wall of a solid that is not convex, nothing stops a box."""
    if closed:
        flat = [(-2, 0), (1, 0), (1, -1), (-1, -1), (-1, -2), (-2, -2)]
        points = np.array([(x, y, z) for y in (-1.0, 1.0) for x, z in flat])
        caps = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
        sides = [(k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k) for k in range(6)]
        faces = [(c, b, a) for a, b, c in caps] + [(6 + a, 6 + b, 6 + c) for a, b, c in caps]
        faces += [half for a, b, c, d in sides for half in ((a, b, c), (a, c, d))]
        mesh = points, np.array(faces)
    else:
        mesh = cells(4, height=lambda x, y: -0.3 * max(x - 3.0, 0.0))
    solid = box("it", 0.1, (0.3, 0.0, 0.1), velocity=(1.5, 0.0, 0.0))
    motion, _ = moved(solid, mesh, friction=0.0, seconds=0.4)
    np.testing.assert_allclose(motion.velocity("it")[:, 0], 1.5, atol=1e-3)
    assert motion.place("it")[-1, 0] == pytest.approx(0.9, abs=1e-3)
    assert motion.place("it")[-1, 2] == pytest.approx(0.1, abs=1e-5)

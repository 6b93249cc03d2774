"""Convex hulls against those of SciPy."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from warp_artic.usd.convex_hull import convex_hull
from warp_artic.usd.solids import is_closed, mesh


def solid_of(hull):
    """The volume and its moments of a hull."""
    return mesh(np.array(hull.points), np.array(hull.triangles))


def check(points, hull):
    """A hull is closed, encloses all points, and is as large as the one of SciPy."""
    corners, triangles = np.array(hull.points), np.array(hull.triangles)
    size = np.ptp(points, axis=0).max()
    assert is_closed(corners, triangles)
    a, b, c = (corners[triangles[:, place]] for place in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    assert (points @ normals.T - (normals * a).sum(axis=1)).max() <= 3e-6 * size
    assert solid_of(hull).volume == pytest.approx(ConvexHull(points).volume, rel=1e-4)
    assert {tuple(point) for point in corners} <= {tuple(point) for point in points}


@pytest.mark.parametrize("seed", range(20))
def test_random_points(seed):
    """Points in a ball, on a sphere, on a lattice and on a stretched one have the hulls that they should."""
    rng = np.random.default_rng(seed)
    cloud = rng.normal(size=(200, 3))
    sphere = cloud / np.linalg.norm(cloud, axis=1, keepdims=True)
    lattice = np.unique(rng.integers(0, 4, (100, 3)), axis=0).astype(float)
    for points in (cloud, sphere, lattice, lattice * (1.0, 100.0, 0.01), lattice.astype(np.float32) * np.float32(0.1)):
        points = np.asarray(points, float)
        check(points, convex_hull(points, 1000))


def test_box_of_many_points():
    """Of a subdivided box the eight corners are left."""
    sides = np.linspace(-1.0, 1.0, 9)
    points = np.stack(np.meshgrid(sides, sides, sides), axis=-1).reshape(-1, 3)
    hull = convex_hull(points, 64)
    assert len(hull.points) == 8 and len(hull.triangles) == 12
    assert solid_of(hull).volume == pytest.approx(8.0)


def test_bounded_number_of_vertices():
    """A hull with fewer vertices is inside the whole one, and not much smaller."""
    cloud = np.random.default_rng(1).normal(size=(2000, 3))
    sphere = cloud / np.linalg.norm(cloud, axis=1, keepdims=True)
    hull = convex_hull(sphere, 64)
    assert len(hull.points) == 64 and len(hull.triangles) == 2 * 64 - 4
    assert 0.85 * 4.0 / 3.0 * np.pi < solid_of(hull).volume < 4.0 / 3.0 * np.pi


@pytest.mark.parametrize(
    "points",
    [[(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 0, 0)] * 5, [(x, 2 * x, 3 * x) for x in range(9)], [(0, 0, 0)] * 3],
    ids=["three", "one place", "line", "few"],
)
def test_no_inside(points):
    """Points in a plane, on a line or in one place have no hull."""
    assert convex_hull(np.array(points, float), 64) is None
    flat = np.random.default_rng(0).normal(size=(50, 3)) * (1.0, 1.0, 1e-7)
    assert convex_hull(flat, 64) is None


def test_order_and_copies_do_not_matter():
    """The same points twice, or in another order, give the same solid."""
    points = np.random.default_rng(5).normal(size=(60, 3))
    hull = convex_hull(points, 1000)
    other = convex_hull(np.concatenate([points, points])[::-1], 1000)
    assert set(other.points) == set(hull.points)
    assert solid_of(other).volume == pytest.approx(solid_of(hull).volume)

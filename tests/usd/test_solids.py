"""Volumes and moments of solids against closed forms and against meshes of them."""

import numpy as np
import pytest

from warp_artic.usd import solids

PI = np.pi


@pytest.mark.parametrize(
    "solid, volume, center, gyration",
    [
        (solids.box(1, 2, 3), 6, (0, 0, 0), (13 / 12, 10 / 12, 5 / 12)),
        (solids.sphere(2), 32 / 3 * PI, (0, 0, 0), (1.6, 1.6, 1.6)),
        (solids.frustum(2, 2, 3), 12 * PI, (0, 0, 0), (1.75, 1.75, 2)),
        (solids.frustum(2, 0, 4), 16 / 3 * PI, (0, 0, -1), (1.2, 1.2, 1.2)),
        (solids.dome(2, 0, 1), 16 / 3 * PI, (0, 0, 0.75), (83 / 80, 83 / 80, 1.6)),
    ],
)
def test_closed_forms(solid, volume, center, gyration):
    """Box, ball, cylinder, cone and half ball as in the tables."""
    assert solid.volume == pytest.approx(volume)
    assert solid.center == pytest.approx(center, abs=1e-12)
    assert solid.gyration == pytest.approx(np.diag(gyration), abs=1e-12)


def test_capsule():
    """Mass split and inertia of a capsule, r = 1, h = 2, from its cylinder and half balls."""
    solid = solids.capsule(1, 1, 2)
    cylinder, ball = 2 * PI, 4 / 3 * PI
    assert solid.volume == pytest.approx(cylinder + ball)
    zz = cylinder * 0.5 + ball * 0.4
    xx = cylinder * (0.25 + 4 / 12) + ball * (83 / 320 + (1 + 3 / 8) ** 2)
    assert solid.gyration * solid.volume == pytest.approx(np.diag((xx, xx, zz)))


def cube_mesh():
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return points, np.array([corners for a, b, c, d in quads for corners in ((a, b, c), (a, c, d))])


@pytest.mark.parametrize("flip", [False, True])
def test_mesh_of_a_box(flip):
    """A mesh has the moments of what it encloses, wound either way, near the origin or far from it."""
    points, triangles = cube_mesh()
    mesh = solids.mesh(points * (1, 2, 3) + (1000, 0, 0), triangles[:, ::-1] if flip else triangles)
    assert mesh.volume == pytest.approx(6)
    assert mesh.center == pytest.approx((1000.5, 1, 1.5))
    assert mesh.gyration == pytest.approx(solids.box(1, 2, 3).gyration, abs=1e-6)


def test_closed_and_open_meshes():
    """A surface with a face missing, or one face turned, is not closed."""
    points, triangles = cube_mesh()
    turned = triangles.copy()
    turned[0] = turned[0, ::-1]
    for own in (points, 1e5 + points):
        for corners, is_closed in ((triangles, True), (triangles[:-1], False), (turned, False)):
            assert solids.is_closed(own, corners) == is_closed
            alone = np.arange(corners.size).reshape(-1, 3)  # each triangle has points of its own
            assert solids.is_closed(own[corners.reshape(-1)], alone) == is_closed


@pytest.mark.parametrize("axis", ["X", "Y", "Z"])
def test_turned_solid(axis):
    """A cone along an axis has its centre on the negative side of that axis."""
    expected = np.zeros(3)
    expected["XYZ".index(axis)] = -1
    assert solids.frustum(2, 0, 4).along(axis).center == pytest.approx(expected, abs=1e-12)


def test_affine_transform_of_a_ball_is_an_ellipsoid():
    """A ball scaled to half axes a, b, c has inertia m (b^2 + c^2) / 5 about the first."""
    solid = solids.sphere(1).transformed(np.diag([1.0, 2.0, 3.0, 1.0]))
    assert solid.volume == pytest.approx(8 * PI)
    assert solid.gyration == pytest.approx(np.diag((13, 10, 5)) / 5)

"""Solids above others, whose faces are parallel and apart: all corners are found, as they come to touch at once."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.collision.pairs import Pairs, find_places
from warp_artic.collision.kinds import Solid

COUNT = 200
CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
BIG, SMALL = np.array([3.0, 3.0, 0.5]), np.array([0.1, 0.2, 0.15])
SIZES = {Solid.CYLINDER: (0.1, 0.15, 0.0), Solid.CONE: (0.1, 0.15, 0.0)}


def above(below: Solid, kind: Solid, gap: float) -> Pairs:
    """Small solids, turned about the vertical, that stand above large ones."""
    rng = np.random.default_rng(0)
    R0 = np.tile(np.eye(3), (COUNT, 1, 1))
    R1 = Rotation.from_rotvec(rng.uniform(0, 6, (COUNT, 1)) * [0, 0, 1]).as_matrix()
    x1 = np.column_stack([rng.uniform(-0.3, 0.3, (COUNT, 2)), np.full(COUNT, 0.65 + gap)])
    size1 = np.tile(SIZES.get(kind, SMALL), (COUNT, 1))
    large = np.zeros((COUNT, 3)), R0, np.tile(BIG, (COUNT, 1))
    if below <= kind:
        return Pairs(below, kind, *large, x1, R1, size1, hull0=CUBE * BIG, hull1=CUBE * SMALL)
    return Pairs(kind, below, x1, R1, size1, *large, hull0=CUBE * SMALL, hull1=CUBE * BIG)


@pytest.mark.parametrize("number", ["scalar32", "scalar64"])
@pytest.mark.parametrize("gap", [0.005, 0.05, 0.1])
@pytest.mark.parametrize("below", [Solid.BOX, Solid.CONVEX])
@pytest.mark.parametrize("kind", [Solid.BOX, Solid.CONVEX, Solid.CYLINDER, Solid.CONE])
def test_all_corners_are_found(kind, below, gap, number):
    """Most cylinders and cones used to have one point at a gap of 0.05 m."""
    gaps = find_places(above(below, kind, gap), number).gap
    near = np.abs(gaps - gap) < 1e-5
    assert (near.sum(axis=0) >= 4).all()


@pytest.mark.parametrize("number", ["scalar32", "scalar64"])
@pytest.mark.parametrize("tilt", [0.0, 1e-7, 1e-6])
def test_boxes_above_their_equals(tilt, number):
    """As boxes of a stack are when it rests, with tilts of the size of rounding: they used to have one corner."""
    rng = np.random.default_rng(0)
    R0, R1 = (Rotation.from_rotvec(tilt * rng.normal(size=(COUNT, 3))).as_matrix() for _ in range(2))
    x1 = np.tile((0.0, 0.0, 0.2082), (COUNT, 1)) + tilt * rng.normal(size=(COUNT, 3))
    sizes = np.full((COUNT, 3), 0.1)
    gaps = find_places(Pairs(Solid.BOX, Solid.BOX, np.zeros((COUNT, 3)), R0, sizes, x1, R1, sizes), number).gap
    assert ((np.abs(gaps - 0.0082) < 1e-5).sum(axis=0) == 4).all()


@pytest.mark.parametrize("number", ["scalar32", "scalar64"])
@pytest.mark.parametrize("overlap", [1e-6, 1e-4, 5e-3])
@pytest.mark.parametrize("tilt", [1e-4, 1e-3, 1e-2])
def test_boxes_that_are_turned_a_little_on_each_other(tilt, overlap, number):
    """Edges that are nearly parallel have a direction that is less deep: with the one point of these a column fell."""
    rng = np.random.default_rng(0)
    turns = tilt * rng.normal(size=(COUNT, 3)) + np.outer(rng.uniform(-0.05, 0.05, COUNT), (0.0, 0.0, 1.0))
    x1 = np.column_stack([rng.uniform(-0.1, 0.1, (COUNT, 2)), np.full(COUNT, 0.2 - overlap)])
    sizes = np.full((COUNT, 3), 0.1)
    one, other = (np.zeros((COUNT, 3)), np.tile(np.eye(3), (COUNT, 1, 1)), sizes), Rotation.from_rotvec(turns)
    found = find_places(Pairs(Solid.BOX, Solid.BOX, *one, x1, other.as_matrix(), sizes), number)
    for k in range(COUNT):
        is_used = found.gap[:, k] < 0.1
        corners = np.sort(found.x[is_used, k], axis=0)
        assert is_used.sum() >= 4
        spans = corners[-1, :2] - corners[0, :2]
        np.testing.assert_allclose(spans, 0.2 - np.abs(x1[k, :2]), atol=0.02)

"""Solids that coincide, have no size, or are parallel: numbers are finite and normals have length 1."""

import numpy as np
import pytest

from tests.collision.pairs import Pairs, find_places, random_pairs
from tests.collision.test_collide import ALL_PAIRS
from warp_artic.collision.kinds import Solid

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
QUARTERS = np.array(
    [
        np.eye(3),
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
        [[-1, 0, 0], [0, -1, 0], [0, 0, 1]],
    ]
)


def aligned_pairs(kinds: tuple[Solid, Solid], size: np.ndarray) -> Pairs:
    """Solids whose axes are parallel or normal to each other, at centres that coincide or differ along axes."""
    places = np.array([[x, y, z] for x in (-1.0, 0, 0.5) for y in (0, 1.0) for z in (-0.5, 0, 1.0)])
    count = len(places) * len(QUARTERS)
    return Pairs(
        *kinds,
        x0=np.zeros((count, 3)),
        R0=np.tile(np.eye(3), (count, 1, 1)),
        size0=np.tile(size, (count, 1)),
        x1=np.tile(places, (len(QUARTERS), 1)),
        R1=np.repeat(QUARTERS, len(places), axis=0).astype(float),
        size1=np.tile(size, (count, 1)),
        hull0=CUBE * (2 * size),
        hull1=CUBE * (2 * size),
    )


def check(pairs: Pairs, number: str) -> None:
    places = find_places(pairs, number)
    assert np.isfinite(places.x).all() and np.isfinite(places.n).all()
    assert not np.isnan(places.gap).any()
    assert np.isfinite(places.gap.min(axis=0)).all()
    np.testing.assert_allclose(np.linalg.norm(places.n, axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize("number", ["wide32", "scalar32", "wide64"])
@pytest.mark.parametrize("size", [(0.5, 0.5, 0.5), (0.5, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 0.0, 0.0), (1e-4, 1e3, 1.0)])
@ALL_PAIRS
def test_aligned_solids(kinds, size, number):
    """Of a usual size, of none, and thin and long."""
    check(aligned_pairs(kinds, np.array(size)), number)


@ALL_PAIRS
def test_hulls_with_few_points(kinds):
    """A hull of one point, of two, of three, and of four in a plane."""
    for count in (1, 2, 3, 4):
        pairs = random_pairs(*kinds, 64, seed=count)
        hull = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], float)[:count]
        check(Pairs(*kinds, pairs.x0, pairs.R0, pairs.size0, pairs.x1, pairs.R1, pairs.size1, hull, hull), "wide32")


@pytest.mark.parametrize("number", ["wide32", "wide64"])
@ALL_PAIRS
def test_solids_at_the_same_place(kinds, number):
    """Every axis is that of the other solid, as where a stage has a shape twice."""
    pairs = random_pairs(*kinds, 256, seed=2)
    check(
        Pairs(*kinds, pairs.x0, pairs.R0, pairs.size0, pairs.x0, pairs.R0, pairs.size0, pairs.hull0, pairs.hull0),
        number,
    )

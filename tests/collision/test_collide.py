"""Places of pairs of solids against support functions in float64.

A place says three things, and each can be checked by itself: its two points are on the surfaces; the solids are as far
apart along its normal as it says, so that they are not nearer anywhere; and no other direction has them further apart.
"""

import numpy as np
import pytest
import warp as wp

from tests.collision.pairs import TYPES, Pairs, Places, find_places, random_pairs
from tests.oracles.solids import outside, separation, signed_distance
from warp_artic.collision.collide import contact_points
from warp_artic.collision.kinds import Solid

PAIRS = [(kind0, kind1) for kind0 in Solid for kind1 in Solid if kind0 <= kind1 and contact_points(kind0, kind1)]
ALL_PAIRS = pytest.mark.parametrize("kinds", PAIRS, ids=lambda kinds: f"{kinds[0].name}-{kinds[1].name}".lower())


def nearest(places: Places) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, n and gap of the place of each pair with the least gap."""
    place, pair = np.argmin(places.gap, axis=0), np.arange(places.gap.shape[1])
    return places.x[place, pair], places.n[place, pair], places.gap[place, pair]


def surfaces(pairs: Pairs, x: np.ndarray, n: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """How far the points of places are beyond their solids [m]."""
    half = 0.5 * gap[..., None] * n
    outside_0 = outside(pairs.kind0, pairs.x0, pairs.R0, pairs.size0, pairs.hull0, x - half)
    return np.maximum(outside_0, outside(pairs.kind1, pairs.x1, pairs.R1, pairs.size1, pairs.hull1, x + half))


def conditioning(pairs: Pairs, gap: np.ndarray) -> np.ndarray:
    """What rounding of a normal is multiplied by: it grows as axes and centres of round solids come to touch others."""
    core = gap
    for kind, size in ((pairs.kind0, pairs.size0), (pairs.kind1, pairs.size1)):
        core = core + size[:, 0] * (kind in (Solid.SPHERE, Solid.CAPSULE))
    is_round = pairs.kind0 in (Solid.SPHERE, Solid.CAPSULE)
    return 1 + is_round * 0.1 / np.maximum(abs(core), 1e-9)


@pytest.mark.parametrize("number", TYPES)
@ALL_PAIRS
def test_the_nearest_place(kinds, number):
    """10,000 pairs, apart and deep in each other: the gap is the signed distance, between points of both solids."""
    pairs = random_pairs(*kinds, 10_000, seed=3).rounded(TYPES[number].scalar)
    x, n, gap = nearest(find_places(pairs, number))
    tolerance = (3e-6 if TYPES[number].scalar is wp.float32 else 1e-7) * conditioning(pairs, gap)
    assert 0.1 < (gap > 0).mean() < 0.9
    np.testing.assert_allclose(np.linalg.norm(n, axis=-1), 1, atol=1e-6)
    along = pairs.R0[:, :, 2] if kinds[0] == Solid.PLANE else n / np.linalg.norm(n, axis=-1, keepdims=True)
    assert (abs(separation(pairs, along) - gap) / tolerance).max() < 1
    assert (surfaces(pairs, x, n, gap) / tolerance).max() < 1


@ALL_PAIRS
def test_no_direction_has_solids_further_apart(kinds):
    """The gap of the nearest place is not less than what a search of directions finds."""
    if kinds[0] == Solid.PLANE:
        return
    pairs = random_pairs(*kinds, 1000, seed=4)
    _x, _n, gap = nearest(find_places(pairs, "wide64"))
    assert (signed_distance(pairs) - gap).max() < 1e-9

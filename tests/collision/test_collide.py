"""Places of pairs of solids against support functions in float64.

A place says three things, and each can be checked by itself: its two points are on the surfaces; the solids are as far
apart along its normal as it says, so that they are not nearer anywhere; and no other direction has them further apart.
"""

import dataclasses

import numpy as np
import pytest
import warp as wp

from tests.collision.pairs import TYPES, Pairs, Places, find_places, random_pairs
from tests.oracles.solids import outside, separation, signed_distance
from warp_artic.collision.boxes import TIE
from warp_artic.collision.collide import contact_points
from warp_artic.collision.kinds import Solid

PAIRS = [(kind0, kind1) for kind0 in Solid for kind1 in Solid if kind0 <= kind1 and contact_points(kind0, kind1)]
ALL_PAIRS = pytest.mark.parametrize("kinds", PAIRS, ids=lambda kinds: f"{kinds[0].name}-{kinds[1].name}".lower())


OF_SIZE = 5e-5
"""What the gap of pairs may differ where it is a share of their size, which is about 5, that is tolerated [m]."""


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


def is_searched(kinds: tuple[Solid, Solid]) -> bool:
    """Whether the direction is found by a search, and not in closed form."""
    closed = (Solid.BOX,) if kinds[0] in (Solid.CAPSULE, Solid.BOX) else ()
    general = (Solid.CONVEX, Solid.ELLIPSOID)
    return kinds[0] != Solid.PLANE and (
        kinds[1] in general or (kinds[0] > Solid.SPHERE and kinds[1] > Solid.CAPSULE and kinds[1] not in closed)
    )


def beside_each_other(pairs: Pairs, gap: np.ndarray | float, number: str) -> tuple[Pairs, np.ndarray]:
    """The pairs that are apart, moved along their normals until their distance is a given one; with these normals.

    By this the normals are true ones: two solids that are apart keep their normal while they move along it.
    """
    _x, n, found = nearest(find_places(pairs, "wide64"))
    n = n / np.linalg.norm(n, axis=-1, keepdims=True)
    x1 = pairs.x1 + n * (gap - found)[:, None]
    moved = dataclasses.replace(pairs, x1=x1).rounded(TYPES[number].scalar)
    return moved.taken(found > 0.01), n[found > 0.01]


@pytest.mark.parametrize("number", TYPES)
@ALL_PAIRS
def test_the_nearest_place(kinds, number):
    """10,000 pairs, apart and deep in each other: the gap is the signed distance, between points of both solids."""
    pairs = random_pairs(*kinds, 10_000, seed=3).rounded(TYPES[number].scalar)
    x, n, gap = nearest(find_places(pairs, number))
    is_rounded = TYPES[number].scalar is wp.float32
    boxes = kinds == (Solid.BOX, Solid.BOX)
    rounding = (3e-6 if is_rounded else 1e-6) * conditioning(pairs, gap) + OF_SIZE * (is_searched(kinds) or boxes)
    assert 0.1 < (gap > 0).mean() < 0.9
    np.testing.assert_allclose(np.linalg.norm(n, axis=-1), 1, atol=1e-6)
    along = pairs.R0[:, :, 2] if kinds[0] == Solid.PLANE else n / np.linalg.norm(n, axis=-1, keepdims=True)
    error = abs(separation(pairs, along) - gap)
    if boxes:
        # Faces that are nearly parallel are as near as what they have in common, not as their corners beside it.
        error = np.minimum(error, abs(signed_distance(pairs) - gap))
    # Corners of boxes that are nearly as far apart as edges are have normals of their own.
    assert (error / (rounding + 2e-3 * (boxes and is_rounded))).max() < 1
    # Corners of faces may be beside solids, by CORNER_REACH of the face, and those of patches by their WIDTH.
    assert (surfaces(pairs, x, n, gap) / (rounding + 2e-4 * boxes + 0.01 * is_searched(kinds))).max() < 1


@ALL_PAIRS
def test_no_direction_has_solids_further_apart(kinds):
    """The gap of the nearest place is not less than what a search of directions finds, but for TIE of the size of
    boxes; of two solids of which one is found by a search, where they are not deep in each other."""
    if kinds[0] == Solid.PLANE:
        return
    pairs = random_pairs(*kinds, 1000, seed=4)
    _x, _n, gap = nearest(find_places(pairs, "wide64"))
    missed = signed_distance(pairs) - gap
    if is_searched(kinds):
        assert np.quantile(missed, 0.9) < 1e-5
        missed = missed[gap > -0.1]
    tie = 1e-5
    if kinds == (Solid.BOX, Solid.BOX):
        tie = float(TIE) * np.minimum(pairs.size0.sum(axis=1), pairs.size1.sum(axis=1)) + 3e-6
    assert (missed / tie).max() < 1


@pytest.mark.parametrize("number", ["wide32", "wide64"])
@pytest.mark.parametrize("gap", [0.1, 1e-3, 0.0])
@ALL_PAIRS
def test_solids_that_nearly_touch(kinds, gap, number):
    """Pairs that are moved along their normal until they nearly touch: the gap is that, and the normal stays.

    As they touch, corners have many normals. Near to it, rounding turns the direction from one corner to the other.
    """
    pairs, expected = beside_each_other(random_pairs(*kinds, 3000, seed=5), gap, number)
    _x, n, found = nearest(find_places(pairs, number))
    error = np.linalg.norm(n - expected, axis=1)
    if is_searched(kinds) or kinds == (Solid.BOX, Solid.BOX):
        assert abs(found - gap).max() < (5e-4 if gap < 0.01 else OF_SIZE)
        assert gap == 0 or np.median(error) < 1e-3
    else:
        assert abs(found - gap).max() < 3e-6
        assert error.max() < 5e-6

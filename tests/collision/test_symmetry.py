"""What places must not depend on: where the pair is, who is first, its mirror image, and neighbours in a lane."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.collision.pairs import Pairs, find_places, random_pairs
from tests.collision.test_collide import ALL_PAIRS, PAIRS, is_searched, nearest
from warp_artic.collision.kinds import Solid

ALL_TWINS = pytest.mark.parametrize(
    "kinds", [kinds for kinds in PAIRS if kinds[0] == kinds[1]], ids=lambda kinds: kinds[0].name.lower()
)
MIRROR = np.diag([1.0, 1.0, -1.0])
"""Solids of revolution and boxes are their own mirror images, with the axes that this leaves right-handed."""


def apart_from(gap: np.ndarray) -> np.ndarray:
    """Which pairs have one direction only: those that are well apart."""
    return gap > 0.05


@ALL_PAIRS
def test_moved_together(kinds):
    """Both turned and moved: gaps stay, and points and normals turn and move with them."""
    pairs = random_pairs(*kinds, 2000, seed=6)
    R, p = Rotation.from_rotvec([0.3, -1.1, 0.7]).as_matrix(), np.array([3.0, -2.0, 5.0])
    moved = dataclasses.replace(pairs, x0=pairs.x0 @ R.T + p, x1=pairs.x1 @ R.T + p, R0=R @ pairs.R0, R1=R @ pairs.R1)
    before, after = find_places(pairs, "wide64"), find_places(moved, "wide64")
    x0, n0, gap0 = nearest(before)
    x1, n1, gap1 = nearest(after)
    clear = apart_from(gap0) if is_searched(kinds) else np.full(len(gap0), True)
    assert clear.sum() > 200
    np.testing.assert_allclose(gap1[clear], gap0[clear], atol=2e-5 if is_searched(kinds) else 1e-9)
    if not is_searched(kinds):
        np.testing.assert_allclose(n1, n0 @ R.T, atol=1e-6)


@ALL_TWINS
def test_swapped(kinds):
    """With shapes in the other order the gap of the nearest place is the same, and its normal the opposite."""
    pairs = random_pairs(*kinds, 2000, seed=7)
    swapped = Pairs(*kinds, pairs.x1, pairs.R1, pairs.size1, pairs.x0, pairs.R0, pairs.size0, pairs.hull1, pairs.hull0)
    _x, n, gap = nearest(find_places(pairs, "wide64"))
    _x, m, other = nearest(find_places(swapped, "wide64"))
    clear = apart_from(gap)
    np.testing.assert_allclose(other[clear], gap[clear], atol=2e-5)
    assert np.quantile(np.linalg.norm(n + m, axis=1)[clear], 0.9) < 5e-3
    if not is_searched(kinds):
        np.testing.assert_allclose(other, gap, atol=1e-4)


@ALL_PAIRS
def test_mirrored(kinds):
    """Of mirror images gaps are the same."""
    pairs = random_pairs(*kinds, 2000, seed=8)
    mirrored = dataclasses.replace(
        pairs,
        x0=pairs.x0 @ MIRROR,
        R0=MIRROR @ pairs.R0 @ MIRROR,
        hull0=pairs.hull0 @ MIRROR,
        x1=pairs.x1 @ MIRROR,
        R1=MIRROR @ pairs.R1 @ MIRROR,
        hull1=pairs.hull1 @ MIRROR,
    )
    if Solid.CONE in kinds or Solid.PLANE in kinds:
        # Those are other solids upside down: a half turn about x brings their z axes back.
        turn = np.diag([1.0, -1.0, -1.0])
        for side, kind in enumerate(kinds):
            if kind in (Solid.CONE, Solid.PLANE):
                name = f"R{side}"
                mirrored = dataclasses.replace(mirrored, **{name: getattr(mirrored, name) @ turn})
    _x, _n, gap = nearest(find_places(pairs, "wide64"))
    _x, _n, other = nearest(find_places(mirrored, "wide64"))
    clear = apart_from(gap) if is_searched(kinds) else np.full(len(gap), True)
    np.testing.assert_allclose(other[clear], gap[clear], atol=2e-5 if is_searched(kinds) else 1e-6)


@pytest.mark.parametrize("number", ["wide32", "wide64"])
@ALL_PAIRS
def test_neighbours_in_a_lane(kinds, number):
    """A pair has bitwise the places that it has among others, in another lane, and from another place on."""
    pairs = random_pairs(*kinds, 256, seed=9)
    order = np.random.default_rng(0).permutation(256)
    alone, among = find_places(pairs, number), find_places(pairs.taken(order), number, first=3)
    for name in ("x", "n", "gap"):
        np.testing.assert_array_equal(getattr(alone, name)[:, order], getattr(among, name))

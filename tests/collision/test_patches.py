"""Solids that lie on each other: their places are corners of what they have in common, and stay what they are."""

import dataclasses

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation

from tests.collision.pairs import TYPES, Pairs, find_places
from warp_artic.collision.kinds import Solid

CUBE = np.array([[x, y, z] for x in (-1.0, 1) for y in (-1.0, 1) for z in (-1.0, 1)])
DEPTH = 1e-4
SIZE0, SIZE1 = np.array([1.0, 0.8, 0.5]), np.array([0.5, 0.4, 0.3])
HALF_HEIGHT = {Solid.BOX: 2, Solid.CONVEX: 2, Solid.CYLINDER: 1, Solid.CONE: 1, Solid.CAPSULE: 1}
"""Which number of a size is half of the height."""
FLAT = [
    (a, b)
    for a in (Solid.CYLINDER, Solid.BOX, Solid.CONVEX)
    for b in (Solid.CYLINDER, Solid.BOX, Solid.CONVEX, Solid.CONE)
    if a <= b
]


def standing(kinds: tuple[Solid, Solid], count: int, seed: int, reach: float = 0.7, tilt: float = 0.0) -> Pairs:
    """Solids 1 that stand on solids 0, turned about the vertical and beside their middles, DEPTH deep in them."""
    rng = np.random.default_rng(seed)
    height = SIZE0[HALF_HEIGHT[kinds[0]]] + SIZE1[HALF_HEIGHT[kinds[1]]] - DEPTH
    aside = rng.uniform(-reach, reach, size=(count, 2))
    turns = Rotation.from_rotvec(np.outer(rng.uniform(0, 2 * np.pi, size=count), [0, 0, 1]))
    tilts = Rotation.from_rotvec(np.column_stack([rng.normal(size=(count, 2)) * tilt, np.zeros(count)]))
    return Pairs(
        *kinds,
        x0=np.zeros((count, 3)),
        R0=np.tile(np.eye(3), (count, 1, 1)),
        size0=np.tile(SIZE0, (count, 1)),
        x1=np.column_stack([aside, np.full(count, height)]),
        R1=(tilts * turns).as_matrix(),
        size1=np.tile(SIZE1, (count, 1)),
        hull0=CUBE * SIZE0,
        hull1=CUBE * SIZE1,
    )


def common_area(pairs: Pairs, pair: int) -> float:
    """Of the faces of two boxes, seen from above."""
    half_planes = []
    for x, R, size in ((pairs.x0, pairs.R0, pairs.size0), (pairs.x1, pairs.R1, pairs.size1)):
        for axis in (0, 1):
            u = R[pair, :2, axis]
            for sign in (1, -1):
                half_planes.append([*(sign * u), -sign * (u @ x[pair, :2]) - size[pair, axis]])
    half_planes = np.array(half_planes)
    grid = np.stack(np.meshgrid(*[np.linspace(-1.2, 1.2, 61)] * 2), axis=-1).reshape(-1, 2)
    inside = np.max(grid @ half_planes[:, :2].T + half_planes[:, 2], axis=1)
    return ConvexHull(HalfspaceIntersection(half_planes, grid[np.argmin(inside)]).intersections).volume


@pytest.mark.parametrize("number", ["wide32", "wide64"])
def test_corners_of_a_box_on_a_box(number):
    """The places of two boxes are the corners of all that their faces have in common."""
    pairs = standing((Solid.BOX, Solid.BOX), 200, seed=1)
    places = find_places(pairs, number)
    for pair in range(200):
        used = np.isfinite(places.gap[:, pair])
        area = ConvexHull(places.x[used, pair, :2]).volume
        assert area == pytest.approx(common_area(pairs, pair), rel=1e-3)
        assert used.sum() == len(ConvexHull(places.x[used, pair, :2]).vertices)
    used = np.isfinite(places.gap)
    np.testing.assert_allclose(places.gap[used], -DEPTH, atol=1e-6)
    np.testing.assert_allclose(places.n[used], np.tile([0, 0, 1], (used.sum(), 1)), atol=1e-6)


@pytest.mark.parametrize("number", ["wide32", "wide64"])
@pytest.mark.parametrize("kinds", FLAT, ids=lambda kinds: f"{kinds[0].name}-{kinds[1].name}".lower())
def test_flat_faces(kinds, number):
    """Faces that lie on each other touch at three places or more, all as deep, with the normal of the faces."""
    pairs = standing(kinds, 256, seed=2, reach=0.3)
    places = find_places(pairs, number)
    used = np.isfinite(places.gap)
    assert used.sum(axis=0).min() >= 3
    np.testing.assert_allclose(places.gap[used], -DEPTH, atol=1e-5)
    np.testing.assert_allclose(places.n[used], np.tile([0, 0, 1], (used.sum(), 1)), atol=5e-6)
    for pair in range(256):
        # The middle of the upper solid, which is over the lower one, is between the places.
        around = ConvexHull(places.x[used[:, pair], pair, :2])
        assert (around.equations[:, :2] @ pairs.x1[pair, :2] + around.equations[:, 2]).max() < 0.05


@pytest.mark.parametrize("number", ["wide32", "wide64"])
@pytest.mark.parametrize("kinds", FLAT, ids=lambda kinds: f"{kinds[0].name}-{kinds[1].name}".lower())
def test_a_small_solid_on_a_large_one(kinds, number):
    """Of two centimetres on twenty metres, at a place beside the middle."""
    scale = 20.0 / SIZE0
    pairs = standing(kinds, 64, seed=7, reach=0.0)
    height = 20.0 + 0.02 - 1e-5
    pairs = dataclasses.replace(
        pairs,
        size0=pairs.size0 * scale,
        hull0=pairs.hull0 * scale,
        size1=np.tile([0.02, 0.02, 0.02], (64, 1)),
        hull1=CUBE * 0.02,
        x1=np.column_stack([np.random.default_rng(0).uniform(-12, 12, size=(64, 2)), np.full(64, height)]),
    ).rounded(TYPES[number].scalar)
    places = find_places(pairs, number)
    used = np.isfinite(places.gap)
    assert used.sum(axis=0).min() >= 3
    np.testing.assert_allclose(places.gap[used], -1e-5, atol=1e-5)
    np.testing.assert_allclose(places.n[used], np.tile([0, 0, 1], (used.sum(), 1)), atol=1e-4)
    spread = np.linalg.norm(places.x - pairs.x1, axis=-1)
    assert spread[used].min() > 0.02 and spread[used].max() < 0.04


@pytest.mark.parametrize("number", ["wide32", "wide64"])
@pytest.mark.parametrize("kinds", [*FLAT, (Solid.PLANE, Solid.CYLINDER), (Solid.PLANE, Solid.CONVEX)], ids=str)
def test_places_keep_their_meaning(kinds, number):
    """A place of what rests is where it was after a motion that is as small as what rests may have."""
    first = kinds[0] if kinds[0] != Solid.PLANE else Solid.BOX
    pairs = dataclasses.replace(standing((first, kinds[1]), 256, seed=3, reach=0.3), kind0=kinds[0])
    if kinds[0] == Solid.PLANE:
        pairs = dataclasses.replace(pairs, x0=pairs.x0 + [0, 0, SIZE0[2]])
    rng = np.random.default_rng(0)
    shaken = Rotation.from_rotvec(rng.normal(size=(256, 3)) * 1e-6).as_matrix() @ pairs.R1
    moved = dataclasses.replace(pairs, R1=shaken, x1=pairs.x1 + rng.normal(size=(256, 3)) * 1e-6)
    before, after = find_places(pairs, number), find_places(moved, number)
    np.testing.assert_array_equal(np.isfinite(before.gap), np.isfinite(after.gap))
    used = np.isfinite(before.gap)
    # The three lowest points of a cylinder that stands turn with its tilt over STEADY.
    assert np.linalg.norm(before.x - after.x, axis=-1)[used].max() < (0.05 if kinds[0] == Solid.PLANE else 0.01)


def lying(kinds: tuple[Solid, Solid], angle: float, gap: float) -> Pairs:
    """Solids along y, one over the other; the upper one is turned about the vertical, from 0 to an angle."""
    angles = np.linspace(0, angle, 64)
    flat = Rotation.from_rotvec([-np.pi / 2, 0, 0])
    turns = Rotation.from_rotvec(np.outer(angles, [0, 0, 1]))
    if kinds[1] != Solid.BOX:
        turns = turns * flat
    size = np.array([0.2, 0.5, 0.2])
    height = 0.4 + gap
    return Pairs(
        *kinds,
        x0=np.zeros((64, 3)),
        R0=np.tile(flat.as_matrix(), (64, 1, 1)),
        size0=np.tile(size, (64, 1)),
        x1=np.tile([0.0, 0.2, height], (64, 1)),
        R1=turns.as_matrix(),
        size1=np.tile(size, (64, 1)),
    )


LONG = [
    (Solid.CAPSULE, Solid.CAPSULE),
    (Solid.CAPSULE, Solid.CYLINDER),
    (Solid.CYLINDER, Solid.CYLINDER),
]


@pytest.mark.parametrize("number", ["wide32", "wide64"])
@pytest.mark.parametrize("gap", [0.01, -DEPTH])
@pytest.mark.parametrize("kinds", [*LONG, (Solid.CYLINDER, Solid.BOX), (Solid.CAPSULE, Solid.BOX)], ids=str)
def test_along_each_other(kinds, gap, number):
    """Solids that lie along each other touch at the ends of the part that they have in common."""
    places = find_places(lying(kinds, 0.0, gap), number)
    used = np.isfinite(places.gap[:, 0])
    assert used.sum() == 2
    np.testing.assert_allclose(places.gap[used], gap, atol=1e-5)
    np.testing.assert_allclose(np.sort(places.x[used, 0, 1]), [-0.3, 0.5], atol=5e-3)
    np.testing.assert_allclose(places.x[used, 0, 0], 0, atol=1e-5)
    np.testing.assert_allclose(places.n[used, 0], [[0, 0, 1]] * 2, atol=1e-5)


@pytest.mark.parametrize("number", ["wide32", "wide64"])
@pytest.mark.parametrize("gap", [0.01, -DEPTH])
@pytest.mark.parametrize("kinds", LONG, ids=str)
def test_across_each_other(kinds, gap, number):
    """As they are turned across each other, the gap stays, and the places come together until they are one."""
    places = find_places(lying(kinds, 1.5, gap), number)
    np.testing.assert_allclose(places.gap.min(axis=0), gap, atol=1e-5)
    used = np.isfinite(places.gap)
    assert (used.sum(axis=0)[32:] == 1).all()
    place = np.argmin(places.gap, axis=0)
    pair = np.arange(64)
    np.testing.assert_allclose(places.n[place, pair], np.tile([0, 0, 1], (64, 1)), atol=5e-4)
    np.testing.assert_allclose(places.x[place[32:], pair[32:], :2], np.tile([0, 0.2], (32, 1)), atol=1e-3)

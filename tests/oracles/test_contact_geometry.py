"""Where shapes touch, against what is known of their placement and against the least distance of points."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from tests.oracles.contact_geometry import Placed, between, on_ground
from tests.oracles.movement import rotation

NO_TURN = np.eye(3)


def box(position, half_extents, R=NO_TURN) -> Placed:
    return Placed(position=np.asarray(position, float), rotation=R, half_extents=np.asarray(half_extents, float))


def ball(position, radius: float) -> Placed:
    return Placed(position=np.asarray(position, float), rotation=NO_TURN, half_extents=np.zeros(3), radius=radius)


def test_ground_meets_a_ball_below_its_centre():
    """The gap is the height less the radius."""
    (point,) = on_ground(ball((1.0, 2.0, 0.25), 0.3))
    np.testing.assert_allclose(point.point, [1.0, 2.0, -0.05], atol=1e-15)
    assert point.gap == pytest.approx(-0.05)


def test_ground_meets_all_corners_of_a_box():
    """Those of a box on its edge."""
    R = rotation(np.array([0.25 * np.pi, 0.0, 0.0]))
    gaps = sorted(point.gap for point in on_ground(box((0.0, 0.0, 1.0), (0.5, 0.2, 0.2), R)))
    np.testing.assert_allclose(gaps, np.repeat([1 - 0.2 * np.sqrt(2), 1, 1 + 0.2 * np.sqrt(2)], [2, 4, 2]), atol=1e-15)


def test_balls_meet_on_the_line_of_their_centres():
    """The normal leaves the first."""
    (point,) = between(ball((0.0, 0.0, 0.0), 1.0), ball((0.0, 2.5, 0.0), 1.2))
    np.testing.assert_allclose(point.normal, [0.0, 1.0, 0.0])
    assert point.gap == pytest.approx(0.3)


@pytest.mark.parametrize("place, normal, gap", [
    ((0.1, 0.2, 1.6), (0.0, 0.0, 1.0), 0.1),
    ((1.3, 1.4, 0.0), (0.6, 0.8, 0.0), 0.0),
    ((0.9, 0.0, 0.0), (1.0, 0.0, 0.0), -0.6),
])  # fmt: skip
def test_ball_meets_a_box(place, normal, gap):
    """At a face, at an edge, and from within."""
    cube = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    (point,) = between(cube, ball(place, 0.5))
    np.testing.assert_allclose(point.normal, normal, atol=1e-12)
    assert point.gap == pytest.approx(gap)
    (back,) = between(ball(place, 0.5), cube)
    np.testing.assert_allclose(back.normal, -point.normal)


@pytest.mark.parametrize("shift, count", [((0.0, 0.0), 4), ((0.3, 0.2), 4), ((0.9, -0.9), 4)])
def test_box_stands_on_a_box(shift, count):
    """The points are the corners of what the two faces share."""
    found = between(box((0, 0, 0), (0.5, 0.5, 0.5)), box((*shift, 0.99), (0.5, 0.5, 0.5)))
    assert len(found) == count
    np.testing.assert_allclose([point.gap for point in found], -0.01, atol=1e-12)
    np.testing.assert_allclose([point.normal for point in found], [[0, 0, 1.0]] * count, atol=1e-12)
    shared = [sorted(np.clip([-0.5, 0.5], s - 0.5, s + 0.5)) for s in shift]
    expected = sorted(product(*shared))
    np.testing.assert_allclose(sorted(tuple(point.point[:2]) for point in found), expected, atol=1e-8)


def test_crossed_edges_meet_in_one_point():
    """Two boxes on edge, at right angles."""
    lower = box((0, 0, 0), (1.0, 0.1, 0.1), rotation(np.array([0.25 * np.pi, 0, 0])))
    upper = box((0.2, 0.0, 0.3), (0.1, 1.0, 0.1), rotation(np.array([0, 0.25 * np.pi, 0])))
    (point,) = between(lower, upper)
    np.testing.assert_allclose(point.normal, [0, 0, 1.0], atol=1e-12)
    assert point.gap == pytest.approx(0.3 - 0.2 * np.sqrt(2.0))
    np.testing.assert_allclose(point.point, [0.2, 0.0, 0.15], atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_gap_of_boxes_is_at_most_their_distance(seed):
    """No axis separates boxes farther than they are; and where an axis does not, they are in each other."""
    rng = np.random.default_rng(seed)
    first = box(np.zeros(3), rng.uniform(0.2, 1.0, 3), rotation(rng.normal(size=3)))
    second = box(rng.normal(size=3) * 1.2, rng.uniform(0.2, 1.0, 3), rotation(rng.normal(size=3)))
    A = np.hstack([first.rotation * first.half_extents, -second.rotation * second.half_extents])
    distance = np.sqrt(2.0 * lsq_linear(A, second.position - first.position, bounds=(-1.0, 1.0), tol=1e-14).cost)
    found = between(first, second)
    if distance > 1e-5:
        assert not found or min(point.gap for point in found) <= distance + 1e-9
        return
    depth = -min(point.gap for point in found)
    assert depth > 0.0
    # What the depth promises: so far along the normal they are apart.
    freed = Placed(
        position=second.position + depth * found[0].normal * (1.0 + 1e-6) + 1e-6 * found[0].normal,
        rotation=second.rotation,
        half_extents=second.half_extents,
    )
    apart = lsq_linear(A, freed.position - first.position, bounds=(-1.0, 1.0), tol=1e-14)
    assert apart.cost > 0.0

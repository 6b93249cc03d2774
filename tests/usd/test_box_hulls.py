"""Hulls of meshes that are boxes become boxes."""

import itertools

import numpy as np
import pytest

from tests.contact_stages import turn
from warp_artic.description.pose import Pose
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.usd.box_hulls import as_box
from warp_artic.usd.convex_hull import convex_hull

CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
HALF = np.array([0.5, 0.3, 0.05])
FRAME = Pose((0.1, 0.2, 0.3), turn((1, 2, 3), 0.7))


def hull_of(points: np.ndarray) -> Shape:
    """In a frame of its own."""
    hull = convex_hull(points, 64)
    assert hull is not None
    return Shape(path="/a", kind=ShapeKind.CONVEX, frame=FRAME, points=hull.points, triangles=hull.triangles)


@pytest.mark.parametrize("angle", [0.0, 0.4, 2.0])
@pytest.mark.parametrize("exactness", [np.float64, np.float32])
def test_boxes_in_any_place(angle, exactness):
    """The box has the corners of the hull; it keeps the axes of the frame where it lies along these."""
    own = Pose((1.0, -2.0, 0.5), turn((0.3, -1.0, 0.2), angle))
    points = (CORNERS * HALF) @ own.rotation.T + own.position
    found = as_box(hull_of(points.astype(exactness).astype(float)))
    assert found.kind is ShapeKind.BOX and not found.points and not tuple(found.problems)
    corners = (CORNERS * found.half_extents) @ found.frame.rotation.T + found.frame.position
    wanted = points @ FRAME.rotation.T + FRAME.position
    assert np.linalg.norm(corners[:, None] - wanted, axis=2).min(axis=1).max() < 2e-6
    if angle == 0.0:
        assert found.frame.quaternion == FRAME.quaternion
        assert found.half_extents == pytest.approx(HALF, rel=1e-5)


def test_what_is_no_box_stays_a_hull():
    """With a corner or an edge elsewhere, or other vertices."""
    moved = CORNERS * HALF
    moved[0] *= 1.01
    sheared = CORNERS * HALF + 0.1 * CORNERS[:, [1, 0, 2]] * (1.0, 0.0, 0.0)
    for points in (moved, sheared, np.vstack([CORNERS, (0.0, 0.0, 1.5)]), CORNERS[:7]):
        shape = hull_of(points)
        assert as_box(shape) is shape

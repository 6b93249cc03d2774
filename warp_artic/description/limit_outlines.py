"""Outlines of limits: what a joint may do, as lines in its first frame, or in the frame that has swung with it.

    translation   a segment along the axis between its ends, with a cross at each
    rotation      a sector about the axis: the arc that the next axis of the second frame may point along
    swing         the same of the twist axis; two of them: a pyramid, the edge of where the twist axis may point
    cone          the edge of where the twist axis may point: |(swing_1 / angle_1, swing_2 / angle_2)| = 1
    distance      marks on one free axis, circles in the plane of two, three circles of a ball
An axis follows another one in the order X, Y, Z, X. Lengths are in metres, and outlines are arrays of points (P, 3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.pose import matrix_from_quaternion, quaternion_from_rotation_vector

STEP = math.pi / 36.0
"""Largest angle between neighbours on an arc [rad]."""
OPEN = 0.5 * math.pi
"""What is shown of an arc with one end alone [rad]."""
CROSS = 0.25
"""Half the width of a cross at an end, by the size."""


def segment(axis: int, limit: Limit, size: float) -> Iterator[np.ndarray]:
    """Of a translation: a limit with one end alone goes on from there by the size."""
    lower, upper = _shown(limit, size)
    if lower < upper:
        yield np.outer([lower, upper], np.eye(3)[axis])
    for end in _ends(limit):
        yield from _cross(axis, end, size)


def sector(axis: int, zero: int, limit: Limit, size: float) -> Iterator[np.ndarray]:
    """Of a rotation about an axis, from where the axis `zero` points at zero: an arc, and a radius at each end."""
    third = 3 - axis - zero
    way = 1.0 if zero == (axis + 1) % 3 else -1.0

    def point(angle: np.ndarray) -> np.ndarray:
        places = np.zeros((len(angle), 3))
        places[:, zero], places[:, third] = size * np.cos(angle), way * size * np.sin(angle)
        return places

    lower, upper = _shown(limit, OPEN)
    if lower < upper:
        yield point(_between(lower, min(upper, lower + 2.0 * math.pi)))
    for end in _ends(limit):
        yield np.concatenate([np.zeros((1, 3)), point(np.array([end]))])


def pyramid(twist: int, limits: Sequence[Limit], size: float) -> Iterator[np.ndarray]:
    """Of the swings about the two axes that follow the twist axis, both of which have ends; edges come last."""
    (a, b), (c, d) = (_cut(one.lower, one.upper) for one in limits)
    corners = [(a, c), (b, c), (b, d), (a, d)]
    around = []
    for (s_1, s_2), (e_1, e_2) in zip(corners, [*corners[1:], corners[0]]):
        count = _count(max(abs(e_1 - s_1), abs(e_2 - s_2)))
        share = np.linspace(0.0, 1.0, count)[:-1, None]
        around.append((1.0 - share) * [s_1, s_2] + share * [e_1, e_2])
    around.append(np.array(corners[:1]))
    yield _pointing(twist, np.concatenate(around), size)
    for corner in _pointing(twist, np.array(corners), size):
        yield np.stack([np.zeros(3), corner])


def cone(twist: int, limit: ConeLimit, size: float) -> Iterator[np.ndarray]:
    """Of a swing; four edges come last."""
    angles = np.minimum([limit.angle_1, limit.angle_2], math.pi)
    around = np.linspace(0.0, 2.0 * math.pi, _count(2.0 * math.pi))
    yield _pointing(twist, angles * np.stack([np.cos(around), np.sin(around)], axis=1), size)
    for swing in angles * [[1, 0], [0, 1], [-1, 0], [0, -1]]:
        yield np.stack([np.zeros(3), _pointing(twist, swing[None], size)[0]])


def distance(axes: Sequence[int], limit: Limit, size: float) -> Iterator[np.ndarray]:
    """Of the distance along one, two or three axes."""
    normals = sorted({0, 1, 2} - set(axes)) if len(axes) == 2 else range(3)
    for radius in (one for one in _ends(limit) if one > 0.0):
        if len(axes) == 1:
            yield from _cross(axes[0], -radius, size)
            yield from _cross(axes[0], radius, size)
        else:
            for normal in normals:
                yield next(sector(normal, (normal + 1) % 3, Limit(lower=0.0, upper=2.0 * math.pi), radius))
    if len(axes) == 1 and limit.upper < math.inf:
        yield np.outer([-limit.upper, limit.upper], np.eye(3)[axes[0]])


def _ends(limit: Limit) -> list[float]:
    """The finite ones; one where both are the same."""
    return sorted({end for end in (limit.lower, limit.upper) if math.isfinite(end)})


def _shown(limit: Limit, length: float) -> tuple[float, float]:
    """Between which values there is a line; none where neither end is finite."""
    lower, upper = limit.lower, limit.upper
    if not math.isfinite(lower) and not math.isfinite(upper):
        return 0.0, 0.0
    if not math.isfinite(lower):
        return upper - length, upper
    return lower, upper if math.isfinite(upper) else lower + length


def _cut(lower: float, upper: float) -> tuple[float, float]:
    """The part of a range of swings that there is."""
    return max(lower, -math.pi), min(upper, math.pi)


def _count(angle: float) -> int:
    """Points on an arc."""
    return max(2, math.ceil(angle / STEP - 1e-9) + 1)


def _between(lower: float, upper: float) -> np.ndarray:
    return np.linspace(lower, upper, _count(upper - lower))


def _cross(axis: int, place: float, size: float) -> Iterator[np.ndarray]:
    """Two lines across an axis."""
    for other in ((axis + 1) % 3, (axis + 2) % 3):
        ends = np.outer([-CROSS * size, CROSS * size], np.eye(3)[other])
        ends[:, axis] = place
        yield ends


def _pointing(twist: int, swings: np.ndarray, size: float) -> np.ndarray:
    """Where the twist axis points after swings (P, 2) about the axes that follow it, shape (P, 3)."""
    vectors = np.zeros((len(swings), 3))
    vectors[:, (twist + 1) % 3], vectors[:, (twist + 2) % 3] = swings.T
    turned = [matrix_from_quaternion(quaternion_from_rotation_vector(vector))[:, twist] for vector in vectors]
    return size * np.array(turned)

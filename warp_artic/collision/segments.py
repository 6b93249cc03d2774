"""Nearest points of segments: to points, to other segments and to boxes, in coordinates that both are given in.

A segment is a centre and the half of it as a vector; a place on it is a share from -1 to 1.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import dot

THINNEST = wp.constant(wp.float64(1e-30))
"""Squared length, in square metres, from which on a segment has a direction."""


@wp.func
def clamp(x: Real, low: Real, high: Real):
    """x, or the end that it is beyond."""
    return minimum(maximum(x, low), high)


@wp.func
def clamp_one(x: Real):
    """x between -1 and 1."""
    one = real(1.0, x)
    return clamp(x, neg(one), one)


@wp.func
def over(a: Real, b: Real, otherwise: Real):
    """a / b where b is positive enough to be divided by."""
    enough = b - real(THINNEST, b)
    return where_positive(enough, a / where_positive(enough, b, real(1.0, b)), otherwise)


@wp.func
def nearest_share(a: Vec3, p: Vec3):
    """The place on the segment about the origin with the half a that is nearest to p."""
    return clamp_one(over(dot(a, p), dot(a, a), real(0.0, p.x)))


@wp.func
def clamp_to_box(p: Vec3, size: Vec3):
    """The point of a box with these half extents that is nearest to p."""
    return vec3(clamp(p.x, neg(size.x), size.x), clamp(p.y, neg(size.y), size.y), clamp(p.z, neg(size.z), size.z))


@wp.func
def slope_to_box(c: Vec3, a: Vec3, size: Vec3, share: Real):
    """Half the rate of the squared distance to a box, at a place on the segment."""
    p = c + a * share
    return dot(a, p - clamp_to_box(p, size))


@wp.func
def crossing(c: Real, a: Real, h: Real):
    """Where on the segment a coordinate c + a s is h; its ends where it never is."""
    toward = h - c
    one = real(1.0, c)
    size = absolute(a)
    side = where_positive(a, toward, neg(toward))
    beyond = where_positive(side, one, neg(one))
    return clamp_one(over(side, size, beyond))


@wp.func
def narrow(share: Real, slope: Real, low: Real, low_slope: Real, high: Real, high_slope: Real):
    """The bracket of a root of a rate that never falls, with one more place and its rate."""
    is_low = neg(slope)
    closer_low = where_positive(is_low, share - low, is_low)
    closer_high = where_positive(is_low, neg(is_low), high - share)
    return (
        where_positive(closer_low, share, low),
        where_positive(closer_low, slope, low_slope),
        where_positive(closer_high, share, high),
        where_positive(closer_high, slope, high_slope),
    )


@wp.func
def nearest_to_box(c: Vec3, a: Vec3, size: Vec3):
    """The place on the segment that is nearest to the box.

    The squared distance is convex and its rate is linear between the places where a coordinate passes a face: so the
    root of the rate is found between the two of these that are around it. Where all of a part is nearest, as where the
    segment passes through the box, it is the one end of it.
    """
    one = real(1.0, c.x)
    low = neg(one)
    low_slope = slope_to_box(c, a, size, low)
    high = one
    high_slope = slope_to_box(c, a, size, high)
    for side in range(2):
        h = size
        if side == 1:
            h = neg(size)
        s = crossing(c.x, a.x, h.x)
        low, low_slope, high, high_slope = narrow(s, slope_to_box(c, a, size, s), low, low_slope, high, high_slope)
        s = crossing(c.y, a.y, h.y)
        low, low_slope, high, high_slope = narrow(s, slope_to_box(c, a, size, s), low, low_slope, high, high_slope)
        s = crossing(c.z, a.z, h.z)
        low, low_slope, high, high_slope = narrow(s, slope_to_box(c, a, size, s), low, low_slope, high, high_slope)
    rise = high_slope - low_slope
    middle = low + over(neg(low_slope), rise, one - one) * (high - low)
    return clamp(middle, low, high)

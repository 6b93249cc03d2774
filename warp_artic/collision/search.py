"""The direction in which two convex solids are furthest apart, or least deep in each other.

Each is known by the points of its core that are furthest in directions (`bodies`). M is the set of all  p0 - p1  of
points of both cores. With the unit normal n from solid 0 to solid 1, the cores are
    s(n) = -max over M of n . m
apart along n, or, where that is negative, so deep in each other. The distance is the greatest s of all n. A search for
it (Gilbert, Johnson and Keerthi, 1988) holds up to four points of M, and takes in turns the point m of their hull that
is nearest to a point q outside of M, the direction from m to q as the next n, and the point of M that is furthest along
n. Here q moves with n:
    q = sigma n,   sigma = max(CLEARANCE - s(n), 0).
So q is as far from M as rounding needs to find a direction, also where the cores touch or overlap, and at the end m is
the foot of q on M: n is a normal of M there, and with it s(n) cannot be improved by turning n a little. After
FREE_TURNS it is the best n so far that q moves with: from then on s only grows, and the search ends.

Overlapping cores have many such n. The search begins with that of the same cores, drawn together a little, where these
are apart: then there is but one. Deeper in each other, it begins with the best of some directions.
"""

import warp as wp

from warp_artic.collision.bodies import Body, support
from warp_artic.collision.segments import over
from warp_artic.collision.signs import signed
from warp_artic.collision.simplex import nearest_weights
from warp_artic.math.directions import choose, length, unit_or
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import column, cross, dot
from warp_artic.model.arrays import Array

CLEARANCE = wp.constant(wp.float64(0.03))
"""How far a point is from M at least, whose nearest point in it is looked for: of the geometric mean of the size of
both solids and that of the smaller one. So it is more than rounding of the larger one, and not far off the smaller."""
DRAWN = wp.constant(wp.float64(0.1))
"""Of the size of the smaller solid: how much cores are drawn together."""
DRAWN_ACCURACY = wp.constant(wp.float64(1e-3))
ACCURACY = wp.constant(wp.float64(1e-6))
"""How little n changes, and of the size of a pair s could still grow, where a search ends."""
SETTLED = wp.constant(wp.float64(1e-8))
"""Squared change of n, likewise."""
FREE_TURNS = wp.constant(12)
"""For so many turns of a search, q moves with n, and then with the best n."""
MOST_TURNS = wp.constant(48)
"""Of a search."""


@wp.func
def replaced(w: Vec3, acts: Real):
    """Which of three vertices is given up for a new one: that with the least weight has the number `acts`, the others
    zero."""
    zero = acts - acts
    least = minimum(minimum(w.x, w.y), w.z)
    x = where_positive(w.x - least, zero, acts)
    y = where_positive(x, zero, where_positive(w.y - least, zero, acts))
    return vec3(x, y, acts - x - y)


@wp.func
def search(
    hull_points: Array,
    body0: Body,
    body1: Body,
    c: Vec3,
    middle0: Vec3,
    middle1: Vec3,
    share0: Real,
    share1: Real,
    n: Vec3,
    clearance: Real,
    tolerance: Real,
    wanted: Real,
):
    """The n with the greatest s, that s, the nearest points of both cores, from the origin of solid 0, and a normal of
    three points of M around them.

    Cores are drawn to their middles: shares of their sizes are left. A search ends where s can grow by less than the
    tolerance. Where `wanted` is not positive there is none.
    """
    one = real(1.0, c.x)
    zero = one - one
    rest0 = middle0 * (one - share0)
    rest1 = c + middle1 * (one - share1)
    # The points of M, and those of core 0 that they come from.
    w_0 = vec3(zero, zero, zero)
    w_1 = w_0
    w_2 = w_0
    a_0 = w_0
    a_1 = w_0
    a_2 = w_0
    weights = w_0
    m = w_0
    p = w_0
    fresh = one
    loose = one
    best_n = n
    best_s = neg(real(1.0e9, one))
    active = wanted
    turns = int(0)
    while turns < MOST_TURNS and any_positive(active):
        a = support(hull_points, body0, n) * share0 + rest0
        w = a - support(hull_points, body1, neg(n)) * share1 - rest1
        s = neg(dot(n, w))
        rise = where_positive(active, s - best_s, active)
        best_s = where_positive(rise, s, best_s)
        best_n = choose(rise, n, best_n)
        # In the first turn all points are the same.
        first = real(float(1 - turns), one)
        w_0 = choose(first, w, w_0)
        w_1 = choose(first, w, w_1)
        w_2 = choose(first, w, w_2)
        a_0 = choose(first, a, a_0)
        a_1 = choose(first, a, a_1)
        a_2 = choose(first, a, a_2)
        gain = where_positive(fresh, one, maximum(dot(n, w - m), rise) - tolerance)
        q = choose(loose, n * maximum(clearance - s, zero), best_n * maximum(clearance - best_s, zero))
        lambdas, lambda_new = nearest_weights(w_0 - q, w_1 - q, w_2 - q, w - q)
        is_new = where_positive(active, lambda_new, active)
        out = replaced(lambdas, where_positive(is_new, one, zero))
        w_0 = choose(out.x, w, w_0)
        w_1 = choose(out.y, w, w_1)
        w_2 = choose(out.z, w, w_2)
        a_0 = choose(out.x, a, a_0)
        a_1 = choose(out.y, a, a_1)
        a_2 = choose(out.z, a, a_2)
        lambdas = vec3(
            where_positive(out.x, lambda_new, lambdas.x),
            where_positive(out.y, lambda_new, lambdas.y),
            where_positive(out.z, lambda_new, lambdas.z),
        )
        weights = choose(active, lambdas, weights)
        m = w_0 * weights.x + w_1 * weights.y + w_2 * weights.z
        p = a_0 * weights.x + a_1 * weights.y + a_2 * weights.z
        _distance, next = unit_or(q - m, n)
        change = dot(next - n, next - n) - real(SETTLED, one)
        goes_on = where_positive(loose, maximum(gain, change), gain)
        # Where it would end at a direction that is not the best one, or is not at an end in time, it goes back.
        late = real(float(turns + 2 - FREE_TURNS), one)
        back = where_positive(goes_on, late, best_s - s - tolerance)
        back = where_positive(loose, back, zero)
        loose = where_positive(back, zero, loose)
        fresh = where_positive(back, one, zero)
        active = where_positive(active, maximum(goes_on, back), active)
        n = choose(active, next, n)
        turns += 1
    return best_n, best_s, p, p - m, cross(w_1 - w_0, w_2 - w_0)


@wp.func
def separation(hull_points: Array, body0: Body, body1: Body, c: Vec3, n: Vec3):
    """s(n)"""
    return dot(n, c + support(hull_points, body1, neg(n)) - support(hull_points, body0, n))


@wp.func
def best_direction(hull_points: Array, body0: Body, body1: Body, c: Vec3, n: Vec3, s: Real):
    """Of n, whose separation is s, and directions in and across the axes of both solids, that with the greatest one."""
    best = n
    most = s
    for k in range(70):
        u = direction_to_try(body0, body1, k)
        value = separation(hull_points, body0, body1, c, u)
        best = choose(value - most, u, best)
        most = maximum(value, most)
    return best


@wp.func
def direction_to_try(body0: Body, body1: Body, k: int):
    """26 directions to faces, edges and corners of a cube in the axes of each solid, then 18 across two axes."""
    one = real(1.0, body0.size.x)
    if k < 52:
        cell = k % 26
        if cell > 12:
            cell += 1
        u = vec3(real(float(cell % 3 - 1), one), real(float(cell // 3 % 3 - 1), one), real(float(cell // 9 - 1), one))
        u = u * (one / length(u))
        if k < 26:
            return body0.R * u
        return body1.R * u
    pair = (k - 52) // 2
    _size, u = unit_or(cross(column(body0.R, pair % 3), column(body1.R, pair // 3)), column(body0.R, 0))
    if k % 2 == 0:
        return u
    return neg(u)


@wp.func
def start_direction(
    hull_points: Array,
    body0: Body,
    body1: Body,
    c: Vec3,
    middle0: Vec3,
    middle1: Vec3,
    size0: Real,
    size1: Real,
    clearance: Real,
):
    """A direction in which solids are about as far apart as they are in any."""
    zero = real(0.0, size0)
    one = real(1.0, size0)
    drawn = minimum(size0, size1) * real(DRAWN, one)
    _distance, n = unit_or(c + middle1 - middle0, vec3(zero, zero, one))
    n, s, _p0, _p1, _normal = search(
        hull_points,
        body0,
        body1,
        c,
        middle0,
        middle1,
        one - over(drawn, size0, zero),
        one - over(drawn, size1, zero),
        n,
        clearance,
        (size0 + size1) * real(DRAWN_ACCURACY, one),
        one,
    )
    if any_positive(neg(s)):
        full = separation(hull_points, body0, body1, c, n)
        return choose(s, n, best_direction(hull_points, body0, body1, c, n, full))
    return n


@wp.func
def nearest_points(
    hull_points: Array,
    body0: Body,
    body1: Body,
    c: Vec3,
    middle0: Vec3,
    middle1: Vec3,
    size0: Real,
    size1: Real,
):
    """n, s and the nearest points of both cores, from the origin of solid 0."""
    one = real(1.0, size0)
    clearance = sqrt((size0 + size1) * minimum(size0, size1)) * real(CLEARANCE, one)
    tolerance = (size0 + size1) * real(ACCURACY, one)
    start = start_direction(hull_points, body0, body1, c, middle0, middle1, size0, size1, clearance)
    n, s, p0, p1, normal = search(
        hull_points, body0, body1, c, middle0, middle1, one, one, start, clearance, tolerance, one
    )
    # Of a flat face, n is the normal that three points of M tell best.
    _area, face = unit_or(normal * signed(one, dot(normal, n)), n)
    rise = separation(hull_points, body0, body1, c, face) - s
    n = choose(rise, face, n)
    s = s + maximum(rise, one - one)
    # Where cores are apart, but by less than the clearance, and have corners there, n comes near too slowly.
    unsettled = minimum(s, length(p1 - p0) - s - tolerance - tolerance)
    return refined(hull_points, body0, body1, c, middle0, middle1, n, s, p0, p1, tolerance, unsettled)


@wp.func
def refined(
    hull_points: Array,
    body0: Body,
    body1: Body,
    c: Vec3,
    middle0: Vec3,
    middle1: Vec3,
    n: Vec3,
    s: Real,
    p0: Vec3,
    p1: Vec3,
    tolerance: Real,
    wanted: Real,
):
    """The same, where `wanted` is positive by a search from the origin itself."""
    if any_positive(wanted):
        one = real(1.0, s)
        n_0, s_0, p0_0, p1_0, _normal = search(
            hull_points, body0, body1, c, middle0, middle1, one, one, n, neg(real(1.0e9, one)), tolerance, wanted
        )
        better = where_positive(wanted, s_0 - s, wanted)
        return (
            choose(better, n_0, n),
            where_positive(better, s_0, s),
            choose(better, p0_0, p0),
            choose(better, p1_0, p1),
        )
    return n, s, p0, p1

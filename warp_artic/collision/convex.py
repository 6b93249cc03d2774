"""Two convex solids, each known by the points of its core that are furthest in directions (`bodies`).

Their normal n is that of `search`. Around it each solid has a patch: the four points that are furthest along n where it
is tilted, a little, to four sides that turn with the solid. Seen along n, a patch is a quadrilateral, which may be as
thin as a line or as small as a point. Places are the corners of what both have in common that are furthest to the four
sides of solid 1; over each of them a solid is as high as the plane is that its patch is nearest to. The place of the
nearest points is one more, which is used where it is nearer than those are.
"""

import warp as wp

from warp_artic.collision.bodies import Body, middle_of, round_radius, tilted_support
from warp_artic.collision.places import UNUSED, set_place, set_place_where, set_unused
from warp_artic.collision.search import nearest_points
from warp_artic.collision.segments import over
from warp_artic.math.directions import across_steadily, choose, length
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    mat3,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import cross, dot, transpose_mul
from warp_artic.model.arrays import Array

NEAR = wp.constant(wp.float64(1.0))
"""Of the size of the smaller solid, as what follows: solids that are further apart have the nearest place only."""
TILT = wp.constant(wp.float64(0.02))
SIDE_COSINE = wp.constant(wp.float64(0.745))
SIDE_SINE = wp.constant(wp.float64(0.667))
"""Of the turn of the sides against the axes of a solid, some 42 degrees: to these, boxes have no ties."""
WIDTH = wp.constant(wp.float64(2e-3))
"""By how much a patch is wider than its points, so that lines have something in common."""
CURVED = wp.constant(wp.float64(6e-4))
"""How much nearer than all contact points the nearest points may be and not count as one."""
MERGED = wp.constant(wp.float64(0.02))
"""Contact points closer to each other than this are merged."""


@wp.func
def sides_of(body: Body, n: Vec3):
    """Two of the four sides of a solid around n; the others are opposite."""
    i, j = across_steadily(transpose_mul(body.R, n))
    one = real(1.0, n.x)
    s = body.R * (i * real(SIDE_COSINE, one) + j * real(SIDE_SINE, one))
    return s, cross(n, s)


@wp.func
def patch_corner(hull_points: Array, body: Body, u: Vec3, side: Vec3, offset: Vec3, axes: Mat3):
    """The point of a core that is furthest along u tilted to a side, from an offset, in some axes."""
    return axes * (tilted_support(hull_points, body, u, side * real(TILT, u.x)) - offset)


@wp.func
def patch_slope(a: Vec3, b: Vec3, c: Vec3, d: Vec3, width: Real):
    """The slopes of z in x and y of the plane that the diagonals of a patch say; across a thin patch there is none."""
    e = c - a
    f = d - b
    small = width * width
    xx = e.x * e.x + f.x * f.x + small
    xy = e.x * e.y + f.x * f.y
    yy = e.y * e.y + f.y * f.y + small
    x = e.x * e.z + f.x * f.z
    y = e.y * e.z + f.y * f.z
    inverse = over(real(1.0, x), xx * yy - xy * xy, x - x)
    return (x * yy - y * xy) * inverse, (y * xx - x * xy) * inverse


@wp.func
def half_plane(value: Real, rate: Real, low: Real, high: Real):
    """The part of what is from one t to another on which  value + rate t  is not negative."""
    zero = value - value
    rises = rate
    falls = neg(rate)
    still = where_positive(rises, zero, where_positive(falls, zero, real(1.0, value)))
    t = neg(value) / where_positive(still, real(1.0, value), rate)
    low = where_positive(rises, maximum(low, t), low)
    high = where_positive(falls, minimum(high, t), high)
    # Where it is the same on all of it, and negative, there is no such part.
    return low, where_positive(minimum(still, neg(value)), neg(real(1.0, value)), high)


@wp.func
def within_edge(p: Vec3, d: Vec3, a: Vec3, b: Vec3, side_x: Real, side_y: Real, width: Real, low: Real, high: Real):
    """The part of a line p + d t to the left of the edge from a to b, and not further than b to a side, but for a
    width."""
    e_x = b.x - a.x
    e_y = b.y - a.y
    reach = width * (absolute(e_x) + absolute(e_y) + width)
    low, high = half_plane(e_x * (p.y - a.y) - e_y * (p.x - a.x) + reach, e_x * d.y - e_y * d.x, low, high)
    beyond = side_x * (p.x - b.x) + side_y * (p.y - b.y)
    return half_plane(width - beyond, neg(side_x * d.x + side_y * d.y), low, high)


@wp.func
def common_corner(p: Vec3, d: Vec3, a: Vec3, b: Vec3, c: Vec3, e: Vec3, side_x: Real, side_y: Real, width: Real):
    """Where on an edge from p to p + d the piece in the patch a, b, c, e begins, and how much of the edge it is, less
    than nothing where there is none. The side of b is given; that of c is a quarter turn on."""
    low = real(0.0, width)
    high = real(1.0, width)
    low, high = within_edge(p, d, a, b, side_x, side_y, width, low, high)
    low, high = within_edge(p, d, b, c, neg(side_y), side_x, width, low, high)
    low, high = within_edge(p, d, c, e, neg(side_x), neg(side_y), width, low, high)
    low, high = within_edge(p, d, e, a, side_y, neg(side_x), width, low, high)
    return low, high - low


@wp.func
def plane_height(p: Vec3, middle: Vec3, slope_x: Real, slope_y: Real):
    """z of a plane through a point, at x and y of another one."""
    return middle.z + slope_x * (p.x - middle.x) + slope_y * (p.y - middle.y)


@wp.func
def further(piece: Real, found: Vec3, gap: Real, reach: Real, p: Vec3, p_gap: Real, p_reach: Real):
    """Of the corner that is found and the corner p, if it is any, the one further to a side; its gap, and how far."""
    better = where_positive(neg(piece), piece, p_reach - reach)
    return choose(better, p, found), where_positive(better, p_gap, gap), where_positive(better, p_reach, reach)


@wp.func
def set_patch_places(
    hull_points: Array,
    places: Array,
    first: int,
    worker: int,
    body0: Body,
    body1: Body,
    c: Vec3,
    n: Vec3,
    s: Real,
    p0: Vec3,
    p1: Vec3,
    x0: Vec3,
    size: Real,
    near: Real,
):
    """Write the places of the common part of both patches; with several of them, that of the nearest points is used
    only where it is nearer than they are."""
    one = real(1.0, s)
    zero = one - one
    half = real(0.5, one)
    width = size * real(WIDTH, one)
    pivot = (p0 + p1) * half
    e_x, e_y = sides_of(body1, n)
    axes = mat3(e_x, e_y, n)
    # The patches, in these axes about the middle of the nearest points.
    u, v = sides_of(body0, n)
    a_0 = patch_corner(hull_points, body0, n, u, pivot, axes)
    a_1 = patch_corner(hull_points, body0, n, v, pivot, axes)
    a_2 = patch_corner(hull_points, body0, n, neg(u), pivot, axes)
    a_3 = patch_corner(hull_points, body0, n, neg(v), pivot, axes)
    down = neg(n)
    b_0 = patch_corner(hull_points, body1, down, e_x, pivot - c, axes)
    b_1 = patch_corner(hull_points, body1, down, e_y, pivot - c, axes)
    b_2 = patch_corner(hull_points, body1, down, neg(e_x), pivot - c, axes)
    b_3 = patch_corner(hull_points, body1, down, neg(e_y), pivot - c, axes)
    quarter = real(0.25, one)
    a_middle = (a_0 + a_1 + a_2 + a_3) * quarter
    b_middle = (b_0 + b_1 + b_2 + b_3) * quarter
    a_slope_x, a_slope_y = patch_slope(a_0, a_1, a_2, a_3, width)
    b_slope_x, b_slope_y = patch_slope(b_0, b_1, b_2, b_3, width)
    # The sides of their first corners.
    u_x = dot(u, e_x)
    u_y = dot(u, e_y)
    v_x = one
    v_y = zero
    # The corners that are furthest to each side.
    none = vec3(zero, zero, zero)
    far = real(1.0e9, one)
    x_0 = none
    x_1 = none
    x_2 = none
    x_3 = none
    gap_0 = far
    gap_1 = far
    gap_2 = far
    gap_3 = far
    reach_0 = neg(far)
    reach_1 = neg(far)
    reach_2 = neg(far)
    reach_3 = neg(far)
    edges = int(8)
    for k in range(edges):
        # Both patches turn on, so that it is always the edge from their first to their second corner.
        is_b = real(float(k - 3), one)
        p = choose(is_b, b_0, a_0)
        d = choose(is_b, b_1, a_1) - p
        t, piece = common_corner(
            p,
            d,
            choose(is_b, a_0, b_0),
            choose(is_b, a_1, b_1),
            choose(is_b, a_2, b_2),
            choose(is_b, a_3, b_3),
            where_positive(is_b, neg(u_y), neg(v_y)),
            where_positive(is_b, u_x, v_x),
            width,
        )
        # What crosses a thin patch does so in its middle.
        is_short = width * real(4.0, one) - piece * (absolute(d.x) + absolute(d.y))
        t = t + where_positive(is_short, piece * half, zero)
        p = p + d * where_positive(neg(piece), zero, t)
        a_height = where_positive(is_b, plane_height(p, a_middle, a_slope_x, a_slope_y), p.z)
        b_height = where_positive(is_b, p.z, plane_height(p, b_middle, b_slope_x, b_slope_y))
        gap = maximum(b_height - a_height, s)
        p = vec3(p.x, p.y, (a_height + b_height) * half)
        x_0, gap_0, reach_0 = further(piece, x_0, gap_0, reach_0, p, gap, p.x)
        x_1, gap_1, reach_1 = further(piece, x_1, gap_1, reach_1, p, gap, p.y)
        x_2, gap_2, reach_2 = further(piece, x_2, gap_2, reach_2, p, gap, neg(p.x))
        x_3, gap_3, reach_3 = further(piece, x_3, gap_3, reach_3, p, gap, neg(p.y))
        corner = a_0
        a_0 = a_1
        a_1 = a_2
        a_2 = a_3
        a_3 = corner
        corner = b_0
        b_0 = b_1
        b_1 = b_2
        b_2 = b_3
        b_3 = corner
        turned = u_x
        u_x = neg(u_y)
        u_y = turned
        turned = v_x
        v_x = neg(v_y)
        v_y = turned
    offset = x0 + pivot + n * ((round_radius(body0) - round_radius(body1)) * half)
    radii = round_radius(body0) + round_radius(body1)
    merged = size * real(MERGED, one)
    used_0 = reach_0 + far * half
    used_1 = minimum(used_0, length(x_1 - x_0) - merged)
    used_2 = minimum(used_0, minimum(length(x_2 - x_0), length(x_2 - x_1)) - merged)
    used_3 = minimum(used_0, minimum(minimum(length(x_3 - x_0), length(x_3 - x_1)), length(x_3 - x_2)) - merged)
    # One corner alone is the nearest place.
    several = maximum(used_1, maximum(used_2, used_3))
    # What is not near is as where no environment of the block is.
    normal = choose(near, n, vec3(zero, zero, one))
    x_0 = choose(near, offset + transpose_mul(axes, x_0), x0)
    x_1 = choose(near, offset + transpose_mul(axes, x_1), x0)
    x_2 = choose(near, offset + transpose_mul(axes, x_2), x0)
    x_3 = choose(near, offset + transpose_mul(axes, x_3), x0)
    # On what is curved the places are a little less near than the nearest points; else these are one more place.
    gap = minimum(gap_0, where_positive(used_1, gap_1, gap_0))
    gap = minimum(gap, minimum(where_positive(used_2, gap_2, gap), where_positive(used_3, gap_3, gap)))
    is_nearer = gap - s - size * real(CURVED, one)
    nearer = where_positive(is_nearer, zero, gap - s) + radii
    set_place_where(places, first, worker, minimum(several, near), x_0, normal, gap_0 - nearer)
    set_place_where(places, first + 1, worker, minimum(used_1, near), x_1, normal, gap_1 - nearer)
    set_place_where(places, first + 2, worker, minimum(used_2, near), x_2, normal, gap_2 - nearer)
    set_place_where(places, first + 3, worker, minimum(used_3, near), x_3, normal, gap_3 - nearer)
    alone = where_positive(minimum(several, near), is_nearer, one)
    places[7 * (first + 4) + 6, worker] = where_positive(alone, s - radii, real(UNUSED, one))


@wp.func
def nearest_place(
    hull_points: Array, places: Array, place: int, worker: int, x0: Vec3, body0: Body, x1: Vec3, body1: Body
):
    """Write the place of the nearest points; returns n, s, both points from the origin of solid 0, and the size
    of the smaller solid."""
    one = real(1.0, x0.x)
    c = x1 - x0
    middle0, size0 = middle_of(hull_points, body0)
    middle1, size1 = middle_of(hull_points, body1)
    n, s, p0, p1 = nearest_points(hull_points, body0, body1, c, middle0, middle1, size0, size1)
    radius0 = round_radius(body0)
    radius1 = round_radius(body1)
    x = x0 + (p0 + p1 + n * (radius0 - radius1)) * real(0.5, one)
    set_place(places, place, worker, x, n, s - radius0 - radius1)
    return n, s, p0, p1, minimum(size0, size1)


@wp.func
def smooth_convex(
    hull_points: Array, places: Array, first: int, worker: int, x0: Vec3, body0: Body, x1: Vec3, body1: Body
):
    """The place of the nearest points, where one of the solids is smooth and touches others at one point."""
    nearest_place(hull_points, places, first, worker, x0, body0, x1, body1)


@wp.func
def convex_convex(
    hull_points: Array, places: Array, first: int, worker: int, x0: Vec3, body0: Body, x1: Vec3, body1: Body
):
    """Four places at the corners of what the solids have in common, to four sides, and that of the nearest points."""
    n, s, p0, p1, size = nearest_place(hull_points, places, first + 4, worker, x0, body0, x1, body1)
    near = size * real(NEAR, s) - s + round_radius(body0) + round_radius(body1)
    if any_positive(near):
        set_patch_places(hull_points, places, first, worker, body0, body1, x1 - x0, n, s, p0, p1, x0, size, near)
    else:
        for k in range(4):
            set_unused(places, first + k, worker, x0)

"""Unit quaternions and rotation vectors on lanes.

A quaternion is (Vec3 xyz, Real w). Functions of an angle that are 0/0 at zero switch to a series below 0.2 rad, where
four terms are exact to double rounding.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (add, sub, mul and div are the operators below)
    Mat3,
    Real,
    Vec3,
    add,
    arctan2,
    cosine,
    div,
    mat3,
    maximum,
    mul,
    neg,
    real,
    sine,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import cross, dot


@wp.func
def ratio(numerator: float, denominator: float, like: Real):
    """A constant that is exact to rounding in every precision."""
    return real(numerator, like) / real(denominator, like)


@wp.func
def quaternion_exp(phi: Vec3):
    """The unit quaternion of the rotation vector phi."""
    one = real(1.0, phi.x)
    square = dot(phi, phi) * real(0.25, phi.x)
    half = sqrt(square)
    is_large = half - ratio(1.0, 10.0, half)
    series = one - square * ratio(1.0, 6.0, half) * (
        one - square * ratio(1.0, 20.0, half) * (one - square * ratio(1.0, 42.0, half))
    )
    sinc = where_positive(is_large, sine(half) / where_positive(is_large, half, one), series)
    return phi * (sinc * real(0.5, half)), cosine(half)


@wp.func
def quaternion_log(v: Vec3, w: Real):
    """The rotation vector, of length at most pi, of a unit quaternion."""
    one = real(1.0, w)
    sign = where_positive(neg(w), neg(one), one)
    length = sqrt(dot(v, v))
    safe = where_positive(length, length, one)
    scale = where_positive(length, real(2.0, w) * arctan2(length, w * sign) / safe, real(2.0, w))
    return v * (scale * sign)


@wp.func
def quaternion_mul(v: Vec3, w: Real, u: Vec3, s: Real):
    """(v, w) (u, s), of unit length."""
    x = u * w + v * s + cross(v, u)
    y = w * s - dot(v, u)
    scale = real(1.0, w) / sqrt(dot(x, x) + y * y)
    return x * scale, y * scale


@wp.func
def quaternion_matrix(v: Vec3, w: Real):
    """The rotation matrix of a unit quaternion."""
    one = real(1.0, w)
    two = real(2.0, w)
    return mat3(
        vec3(one - two * (v.y * v.y + v.z * v.z), two * (v.x * v.y - v.z * w), two * (v.x * v.z + v.y * w)),
        vec3(two * (v.x * v.y + v.z * w), one - two * (v.x * v.x + v.z * v.z), two * (v.y * v.z - v.x * w)),
        vec3(two * (v.x * v.z - v.y * w), two * (v.y * v.z + v.x * w), one - two * (v.x * v.x + v.y * v.y)),
    )


@wp.func
def quaternion_from_matrix(R: Mat3):
    """The unit quaternion (Vec3, Real), w >= 0, of a rotation matrix: Shepperd's four forms, the best one chosen."""
    one = real(1.0, R.x.x)
    t = R.x.x + R.y.y + R.z.z
    a = R.z.y - R.y.z
    b = R.x.z - R.z.x
    c = R.y.x - R.x.y
    v = vec3(a, b, c)
    w = one + t
    best = t
    for axis in range(3):
        if axis == 0:
            u = vec3(one + R.x.x - R.y.y - R.z.z, R.y.x + R.x.y, R.z.x + R.x.z)
            s = a
            size = R.x.x
        elif axis == 1:
            u = vec3(R.y.x + R.x.y, one + R.y.y - R.z.z - R.x.x, R.z.y + R.y.z)
            s = b
            size = R.y.y
        else:
            u = vec3(R.z.x + R.x.z, R.z.y + R.y.z, one + R.z.z - R.x.x - R.y.y)
            s = c
            size = R.z.z
        better = size - best
        v = vec3(where_positive(better, u.x, v.x), where_positive(better, u.y, v.y), where_positive(better, u.z, v.z))
        w = where_positive(better, s, w)
        best = maximum(size, best)
    scale = where_positive(neg(w), neg(one), one) / sqrt(dot(v, v) + w * w)
    return v * scale, w * scale

"""Three free rotations:  R_FM = exp(phi),  v = relative angular velocity in M.

With theta = |phi| the rotation vector has the rate
    phidot = v + phi x v / 2 + c phi x (phi x v),   c = (1 - (theta / 2) cot(theta / 2)) / theta^2.
"""

import math

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    add,
    cosine,
    div,
    mul,
    real,
    sine,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_exp, quaternion_log, quaternion_matrix, quaternion_mul, ratio
from warp_artic.math.spatial import cross, dot, mat_mul

WHOLE_TURN = wp.constant(wp.float64(2.0 * math.pi))
LONGEST = wp.constant(wp.float64(5.5))
"""The longest rotation vector of a joint that tendons or mimic joints follow; a whole turn is a singularity [rad]."""


@wp.func
def place(R_WF: Mat3, w_P: Vec3, phi: Vec3, v: Vec3):
    """R_WM, the angular velocity of the link, and its angular acceleration while vdot is zero."""
    x, w = quaternion_exp(phi)
    R_WM = mat_mul(R_WF, quaternion_matrix(x, w))
    w_rel = R_WM * v
    return R_WM, w_P + w_rel, cross(w_P, w_rel)


@wp.func
def rates(phi: Vec3, v: Vec3):
    """phidot; by series below 0.2 rad."""
    one = real(1.0, phi.x)
    half = real(0.5, phi.x)
    square = dot(phi, phi)
    series = ratio(1.0, 12.0, half) + square * (
        ratio(1.0, 720.0, half) + square * (ratio(1.0, 30240.0, half) + square * ratio(1.0, 1209600.0, half))
    )
    is_large = square - ratio(1.0, 25.0, half)
    safe = where_positive(is_large, square, one)
    angle = sqrt(safe) * half
    c = where_positive(is_large, (one - angle * cosine(angle) / sine(angle)) / safe, series)
    turn = cross(phi, v)
    return v + turn * half + cross(phi, turn) * c


@wp.func
def advance(phi: Vec3, v: Vec3, h: Real):
    """log(exp(phi) exp(h v)): of the two vectors of less than a whole turn the one that is nearer to phi."""
    x, w = quaternion_exp(phi)
    y, s = quaternion_exp(v * h)
    z, t = quaternion_mul(x, w, y, s)
    shorter = quaternion_log(z, t)
    longer = other_way(shorter)
    nearer = dot(shorter - phi, shorter - phi) - dot(longer - phi, longer - phi)
    return vec3(
        where_positive(nearer, longer.x, shorter.x),
        where_positive(nearer, longer.y, shorter.y),
        where_positive(nearer, longer.z, shorter.z),
    )


@wp.func
def other_way(phi: Vec3):
    """The vector of the same rotation that turns the other way round; zero of no rotation."""
    theta = sqrt(dot(phi, phi))
    zero = real(0.0, theta)
    share = real(1.0, theta) - real(WHOLE_TURN, theta) / where_positive(theta, theta, real(1.0, theta))
    return phi * where_positive(theta, share, zero)


@wp.func
def wrap(phi: Vec3, wraps: Real):
    """phi, brought to at most half a turn where `wraps` is positive, else to at most LONGEST."""
    theta = sqrt(dot(phi, phi))
    longest = where_positive(wraps, real(WHOLE_TURN, theta) * real(0.5, theta), real(LONGEST, theta))
    beyond = theta - longest
    shorter = other_way(phi)
    return vec3(
        where_positive(beyond, shorter.x, phi.x),
        where_positive(beyond, shorter.y, phi.y),
        where_positive(beyond, shorter.z, phi.z),
    )

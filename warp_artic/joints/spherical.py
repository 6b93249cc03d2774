"""Three free rotations:  R_FM = exp(phi),  v = relative angular velocity in M.

With theta = |phi| the rotation vector has the rate
    phidot = v + phi x v / 2 + c phi x (phi x v),   c = (1 - (theta / 2) cot(theta / 2)) / theta^2.
"""

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
    where_positive,
)
from warp_artic.math.rotation import quaternion_exp, quaternion_log, quaternion_matrix, quaternion_mul, ratio
from warp_artic.math.spatial import cross, dot, mat_mul


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
    """log(exp(phi) exp(h v)), of length at most pi."""
    x, w = quaternion_exp(phi)
    y, s = quaternion_exp(v * h)
    z, t = quaternion_mul(x, w, y, s)
    return quaternion_log(z, t)

"""Two free rotations, the third locked in the pose:  R_FM = exp(a, b, 0),  v = (w_1, w_2) of the angular velocity in M.

With theta = |(a, b)|, the lock makes the third component of the relative angular velocity
    w_3 = tau (b w_1 - a w_2),  tau = tan(theta / 2) / theta,
so the two motion axes are x_M + tau b z_M and y_M - tau a z_M. With s = a w_1 + b w_2 and p = b w_1 - a w_2,
    adot = w_1 + b kappa p,  bdot = w_2 - a kappa p,  kappa = (theta / sin theta - 1) / theta^2,
    w_3dot = (rho - tau kappa) s p  while w_1 and w_2 are constant,  rho = (d tau / d theta) / theta.
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
    neg,
    real,
    sine,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_exp, quaternion_matrix, ratio
from warp_artic.math.spatial import column, cross, mat_mul


@wp.func
def coefficients(a: Real, b: Real):
    """tau, kappa and rho; by series below 0.2 rad."""
    one = real(1.0, a)
    half = real(0.5, a)
    z = a * a + b * b
    series_tau = half + z * (
        ratio(1.0, 24.0, a) + z * (ratio(1.0, 240.0, a) + z * (ratio(17.0, 40320.0, a) + z * ratio(31.0, 725760.0, a)))
    )
    series_kappa = ratio(1.0, 6.0, a) + z * (
        ratio(7.0, 360.0, a) + z * (ratio(31.0, 15120.0, a) + z * ratio(127.0, 604800.0, a))
    )
    series_rho = ratio(1.0, 12.0, a) + z * (
        ratio(1.0, 60.0, a) + z * (ratio(17.0, 6720.0, a) + z * ratio(31.0, 90720.0, a))
    )
    is_large = z - ratio(1.0, 25.0, a)
    theta = where_positive(is_large, sqrt(z), one)
    s = sine(theta * half)
    c = cosine(theta * half)
    square = theta * theta
    tau = s / (c * theta)
    kappa = (theta * half / (s * c) - one) / square
    rho = (theta * half / (c * c) - s / c) / (square * theta)
    return (
        where_positive(is_large, tau, series_tau),
        where_positive(is_large, kappa, series_kappa),
        where_positive(is_large, rho, series_rho),
    )


@wp.func
def place(R_WF: Mat3, w_P: Vec3, a: Real, b: Real, w_1: Real, w_2: Real):
    """R_WM, the two axes in W, the angular velocity of the link and its angular acceleration while vdot is zero."""
    tau, kappa, rho = coefficients(a, b)
    x, w = quaternion_exp(vec3(a, b, real(0.0, a)))
    R_WM = mat_mul(R_WF, quaternion_matrix(x, w))
    z_M = column(R_WM, 2)
    axis_1 = column(R_WM, 0) + z_M * (tau * b)
    axis_2 = column(R_WM, 1) - z_M * (tau * a)
    w_rel = axis_1 * w_1 + axis_2 * w_2
    s = a * w_1 + b * w_2
    p = b * w_1 - a * w_2
    return R_WM, axis_1, axis_2, w_P + w_rel, cross(w_P, w_rel) + z_M * ((rho - tau * kappa) * s * p)


@wp.func
def rates(a: Real, b: Real, w_1: Real, w_2: Real):
    """adot and bdot."""
    tau, kappa, rho = coefficients(a, b)
    p = (b * w_1 - a * w_2) * kappa
    return w_1 + b * p, w_2 - a * p


@wp.func
def advance(a: Real, b: Real, w_1: Real, w_2: Real, h: Real):
    """(a, b) after h, by the midpoint rule: the third component has no place to drift to."""
    half = h * real(0.5, h)
    a_rate, b_rate = rates(a, b, w_1, w_2)
    a_rate, b_rate = rates(a + half * a_rate, b + half * b_rate, w_1, w_2)
    return a + h * a_rate, b + h * b_rate

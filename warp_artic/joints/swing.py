"""Two free rotations, the third locked in the pose:  R_FM = exp(a, b, 0),  v = (w_1, w_2) of the angular velocity in M.

With theta = |(a, b)| and the unit vector t = (b, -a) / theta across the swing, let the joint swing at thetadot, and its
swing turn towards t at alphadot. The lock makes the angular velocity in M
    thetadot along (a, b),   sin(theta) alphadot along t,   2 sin^2(theta / 2) alphadot along z.
Half a turn is no end of the joint: the quaternions of its poses are those without a component along z, a sphere, on
which theta = pi is a circle like any other. But there the angular velocity has nothing along t, whatever alphadot is.
So beyond FAR the velocity across the swing is a multiple of it that stays nonzero:
    w.t = 2 sin(theta / 2) g alphadot,   g = cos(theta / 2),   and from FAR on, x = (theta - FAR) / (pi - FAR),
    g = cos(theta / 2) + BEND x^3 (2 - x),   which is even about theta = pi.
A step that ends beyond half a turn gives the same pose and motion as  (1 - 2 pi / theta) (a, b)  with the mirror image
of (w_1, w_2), of which the part along t has the other sign (`turn_round`).

With s = a w_1 + b w_2 and p = b w_1 - a w_2 = theta w.t the angular velocity in M is
    (w_1, w_2, 0) + p m,   m = (mu b, - mu a, tau),
    tau = sin(theta / 2) / (g theta),   mu = (cos(theta / 2) / g - 1) / theta^2  (zero up to FAR),
so the motion axes are x_M + b m and y_M - a m. The coordinates and p change at
    adot = w_1 + b kappa p,  bdot = w_2 - a kappa p,  kappa = (theta / (2 g sin(theta / 2)) - 1) / theta^2,
    pdot = - kappa s p  while w_1 and w_2 are constant.
"""

import math

import warp as wp

from warp_artic.joints.spherical import LONGEST
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Vec3,
    absolute,
    add,
    cosine,
    div,
    maximum,
    minimum,
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
from warp_artic.math.spatial import cross, mat_mul

HALF_TURN = wp.constant(wp.float64(math.pi))
FAR = wp.constant(wp.float64(2.5))
"""Swing from which on the velocity across it is not that of the angular velocity in M [rad]."""
REACH = wp.constant(wp.float64(math.pi - 2.5))
"""From there to half a turn [rad]."""
BEND = wp.constant(wp.float64((math.pi - 2.5) / 4.0))
"""What g is at half a turn; its slope and curvature are zero there."""


@wp.func
def far_swing(theta: Real, s: Real, c: Real):
    """g and d g / d theta of a swing of less than a whole turn, with s and c of half of it."""
    zero = real(0.0, theta)
    half = real(0.5, theta)
    pi = real(HALF_TURN, theta)
    beyond = theta - pi
    folded = minimum(theta, real(2.0, theta) * pi - theta)
    x = maximum(folded - real(FAR, theta), zero) / real(REACH, theta)
    bend = real(BEND, theta) * x * x
    slope = bend * (real(6.0, theta) - real(4.0, theta) * x) / real(REACH, theta) - half * s
    return absolute(c) + bend * x * (real(2.0, theta) - x), where_positive(beyond, neg(slope), slope)


@wp.func
def coefficients(a: Real, b: Real):
    """tau, kappa and mu; by series below 0.2 rad."""
    one = real(1.0, a)
    half = real(0.5, a)
    z = a * a + b * b
    series_tau = half + z * (
        ratio(1.0, 24.0, a) + z * (ratio(1.0, 240.0, a) + z * (ratio(17.0, 40320.0, a) + z * ratio(31.0, 725760.0, a)))
    )
    series_kappa = ratio(1.0, 6.0, a) + z * (
        ratio(7.0, 360.0, a) + z * (ratio(31.0, 15120.0, a) + z * ratio(127.0, 604800.0, a))
    )
    is_large = z - ratio(1.0, 25.0, a)
    theta = where_positive(is_large, sqrt(z), one)
    s = sine(theta * half)
    c = cosine(theta * half)
    g, _slope = far_swing(theta, s, c)
    square = theta * theta
    tau = s / (g * theta)
    kappa = (theta * half / (s * g) - one) / square
    mu = (c / g - one) / square
    return (
        where_positive(is_large, tau, series_tau),
        where_positive(is_large, kappa, series_kappa),
        where_positive(is_large, mu, one - one),
    )


@wp.func
def coefficient_rates(a: Real, b: Real):
    """(d tau / d theta) / theta and (d mu / d theta) / theta; by series below 0.2 rad."""
    one = real(1.0, a)
    half = real(0.5, a)
    z = a * a + b * b
    series = ratio(1.0, 12.0, a) + z * (
        ratio(1.0, 60.0, a) + z * (ratio(17.0, 6720.0, a) + z * ratio(31.0, 90720.0, a))
    )
    is_large = z - ratio(1.0, 25.0, a)
    theta = where_positive(is_large, sqrt(z), one)
    s = sine(theta * half)
    c = cosine(theta * half)
    g, slope = far_swing(theta, s, c)
    square = theta * theta
    tau_rate = ((half * c * g - s * slope) * theta / (g * g) - s / g) / (square * theta)
    mu_rate = (neg(half * s * g + c * slope) * theta / (g * g) - real(2.0, a) * (c / g - one)) / (square * square)
    return where_positive(is_large, tau_rate, series), where_positive(is_large, mu_rate, one - one)


@wp.func
def half_way(a: Real, b: Real):
    """The quaternion (sin(theta / 4) n, cos(theta / 4)) of exp(a / 2, b / 2, 0), and (1 / g - 1) / sin^2(theta / 4)."""
    zero = real(0.0, a)
    one = real(1.0, a)
    half = real(0.5, a)
    x, w = quaternion_exp(vec3(a * half, b * half, zero))
    theta = sqrt(a * a + b * b)
    square = x.x * x.x + x.y * x.y
    s = sine(theta * half)
    c = cosine(theta * half)
    g, _slope = far_swing(theta, s, c)
    # Below FAR g is 1 - 2 sin^2(theta / 4), which leaves 2 / g of the difference.
    near = theta - real(1.0, a)
    safe = where_positive(near, square, one)
    return x, w, where_positive(near, (one / g - one) / safe, real(2.0, a) / g)


@wp.func
def place(R_WF: Mat3, w_P: Vec3, a: Real, b: Real, w_1: Real, w_2: Real):
    """R_WM, the two axes in W, the angular velocity of the link and its angular acceleration while vdot is zero."""
    tau, kappa, mu = coefficients(a, b)
    tau_rate, mu_rate = coefficient_rates(a, b)
    zero = real(0.0, a)
    one = real(1.0, a)
    x, w = quaternion_exp(vec3(a, b, zero))
    R_WM = mat_mul(R_WF, quaternion_matrix(x, w))
    axis_1 = R_WM * vec3(one + mu * b * b, neg(mu * a * b), tau * b)
    axis_2 = R_WM * vec3(neg(mu * a * b), one + mu * a * a, neg(tau * a))
    w_rel = axis_1 * w_1 + axis_2 * w_2
    s = a * w_1 + b * w_2
    p = b * w_1 - a * w_2
    a_rate = w_1 + b * kappa * p
    b_rate = w_2 - a * kappa * p
    across = (mu_rate - mu * kappa) * s * p
    bias = R_WM * vec3(
        across * b + mu * p * b_rate, neg(across * a + mu * p * a_rate), (tau_rate - tau * kappa) * s * p
    )
    return R_WM, axis_1, axis_2, w_P + w_rel, cross(w_P, w_rel) + bias


@wp.func
def rates(a: Real, b: Real, w_1: Real, w_2: Real):
    """adot and bdot."""
    _tau, kappa, _mu = coefficients(a, b)
    p = (b * w_1 - a * w_2) * kappa
    return w_1 + b * p, w_2 - a * p


@wp.func
def advance(a: Real, b: Real, w_1: Real, w_2: Real, h: Real):
    """(a, b) after h, by the midpoint rule: the third component has no place to drift to."""
    half = h * real(0.5, h)
    a_rate, b_rate = rates(a, b, w_1, w_2)
    a_rate, b_rate = rates(a + half * a_rate, b + half * b_rate, w_1, w_2)
    return a + h * a_rate, b + h * b_rate


@wp.func
def beyond(a: Real, b: Real, wraps: Real):
    """Positive where the swing is more than half a turn, or where `wraps` is zero more than LONGEST."""
    longest = where_positive(wraps, real(HALF_TURN, a), real(LONGEST, a))
    return a * a + b * b - longest * longest


@wp.func
def turn_round(a: Real, b: Real):
    """The (a, b) of less than half a turn with the same pose."""
    theta = sqrt(a * a + b * b)
    share = real(1.0, a) - real(2.0, a) * real(HALF_TURN, a) / theta
    return share * a, share * b


@wp.func
def mirror(a: Real, b: Real, w_1: Real, w_2: Real):
    """(w_1, w_2) at a pose beyond half a turn, as those of `turn_round`; the part across (a, b) is turned."""
    p = real(2.0, a) * (b * w_1 - a * w_2) / (a * a + b * b)
    return w_1 - p * b, w_2 + p * a


@wp.func
def mirror_rate(a: Real, b: Real, w_1: Real, w_2: Real, w_1dot: Real, w_2dot: Real):
    """The rates of the mirror image, from those of (w_1, w_2); (a, b) turns by its own rate meanwhile.

    Mirrored, and with the unit vector n along (a, b):  2 alphadot ((w.n) t + (w.t) n).
    """
    _tau, kappa, _mu = coefficients(a, b)
    square = a * a + b * b
    s = (a * w_1 + b * w_2) / square
    p = (b * w_1 - a * w_2) / square
    turned = real(2.0, a) * p * (real(1.0, a) + kappa * square)
    x, y = mirror(a, b, w_1dot, w_2dot)
    return x + turned * (s * b + p * a), y + turned * (p * b - s * a)

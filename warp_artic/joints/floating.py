"""A free root: position and quaternion of the link frame in the world; v = velocity of the centre of mass, then
angular velocity, both in world axes.

The moving frame M has its origin at the centre of mass and the axes of the link.
"""

import warp as wp

from warp_artic.joints import spherical
from warp_artic.math.numbers import Real, Vec3, add, mul, neg, sub  # noqa: F401 (operators)
from warp_artic.math.rotation import quaternion_exp, quaternion_matrix, quaternion_mul


@wp.func
def place(x: Vec3, w: Real):
    """R_WM of the unit quaternion (x, w)."""
    return quaternion_matrix(x, w)


@wp.func
def rates(theta: Vec3, w_M: Vec3):
    """The rate of theta in R_WM = exp(theta) R_0:  w - theta x w / 2 + c theta x (theta x w),  c of `spherical`."""
    return spherical.rates(neg(theta), w_M)


@wp.func
def advance(p_WL: Vec3, x: Vec3, w: Real, p_LM: Vec3, v_M: Vec3, w_M: Vec3, h: Real):
    """The pose after h: the centre of mass moves with v_M while the link turns about it by exp(h w_M)."""
    y, s = quaternion_exp(w_M * h)
    z, t = quaternion_mul(y, s, x, w)
    p_WM = p_WL + quaternion_matrix(x, w) * p_LM + v_M * h
    return p_WM - quaternion_matrix(z, t) * p_LM, z, t

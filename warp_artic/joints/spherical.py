"""Three free rotations:  R_FM = exp(phi),  v = relative angular velocity in M."""

import warp as wp

from warp_artic.math.numbers import Mat3, Real, Vec3, add, mul  # noqa: F401 (operators)
from warp_artic.math.rotation import quaternion_exp, quaternion_log, quaternion_matrix, quaternion_mul
from warp_artic.math.spatial import cross, mat_mul


@wp.func
def place(R_WF: Mat3, w_P: Vec3, phi: Vec3, v: Vec3):
    """R_WM, the angular velocity of the link, and its angular acceleration while vdot is zero."""
    x, w = quaternion_exp(phi)
    R_WM = mat_mul(R_WF, quaternion_matrix(x, w))
    w_rel = R_WM * v
    return R_WM, w_P + w_rel, cross(w_P, w_rel)


@wp.func
def advance(phi: Vec3, v: Vec3, h: Real):
    """log(exp(phi) exp(h v)), of length at most pi."""
    x, w = quaternion_exp(phi)
    y, s = quaternion_exp(v * h)
    z, t = quaternion_mul(x, w, y, s)
    return quaternion_log(z, t)

"""Translation along the z axis of the joint frame:  p_FM = z q,  qdot = v."""

import warp as wp

from warp_artic.math.numbers import Mat3, Real, Vec3, add, mul, real  # noqa: F401 (operators)
from warp_artic.math.spatial import column, cross


@wp.func
def place(R_WF: Mat3, w_P: Vec3, q: Real, v: Real):
    """The axis in W, the displacement in W, and the Coriolis acceleration 2 w_P x axis v."""
    axis = column(R_WF, 2)
    return axis, axis * q, cross(w_P, axis) * (v * real(2.0, v))

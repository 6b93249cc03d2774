"""Link damping:  force = m d_lin v_C and moment = I_C d_ang w + c x force, against the motion of the link.

The rates are those of the implicit step of vdot = -d v for the link alone, d / (1 + theta h d), which no time step
makes unstable; theta as in `phases.implicit`.
"""

import warp as wp

from warp_artic.math.numbers import Real, add, div, mul, real  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, sym_rotate
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_mat3, load_sym3, load_vec3, store_vec3
from warp_artic.phases.implicit import implicit_theta


@wp.func
def implicit_rate(work: WorkArrays, rate: Real, worker: int, h: Real):
    """d / (1 + theta h d)."""
    x = h * rate
    one = real(1.0, h)
    return rate / (one + implicit_theta(x, one, work.position_weight[0, worker]) * x)


@wp.func
def set_link_drag(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write drag forces and moments of all links; `work.linear` has the velocities of their origins."""
    for link in range(model.link_count):
        R_WM = load_mat3(work.R_WM, 9 * link, worker)
        w = load_vec3(work.w, 3 * link, worker)
        c = R_WM * load_vec3(model.link_center, 3 * link, block)
        linear_rate = implicit_rate(work, model.link_linear_damping[link, block], worker, h)
        angular_rate = implicit_rate(work, model.link_angular_damping[link, block], worker, h)
        v_C = load_vec3(work.linear, 3 * link, worker) + cross(w, c)
        force = v_C * (model.link_mass[link, block] * linear_rate)
        spin = sym_rotate(R_WM, load_sym3(model.link_inertia, 6 * link, block)) * w
        moment = spin * angular_rate + cross(c, force)
        store_vec3(work.drag_force, 3 * link, worker, force)
        store_vec3(work.drag_moment, 3 * link, worker, moment)


@wp.func
def forget_drag(model: ModelArrays, work: WorkArrays, worker: int):
    """No drag on any link."""
    if model.link_damping == 1:
        zero = real(0.0, work.w[0, worker])
        for k in range(3 * model.link_count):
            work.drag_moment[k, worker] = zero
            work.drag_force[k, worker] = zero

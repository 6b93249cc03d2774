"""Drives of joints with two or three rotations: a potential of the shortest turn from the pose to the target.

Three rotations: the error is the quaternion (x, w), w >= 0, of q^-1 q*, q* = exp(target). With its angle a and axis n
    e = 4 sin(a / 4) n = g x,   g = sqrt(8 / (1 + w)),   U = sum k_i e_i^2 / 2,   tau = - dU / d(rotation) - d (v - v*)
on the axes of the second frame of the joint, that of body1. Gains that are equal give U = 8 k sin^2(a / 4) and the
torque 2 k x. When that frame turns by delta,
    de = - (g / 2) (w delta + delta cross x) - (g / 4) x (x.delta) / (1 + w) = G delta.
Two rotations: the same seen from half way, p = exp(phi / 2) with q = p p: the error is  r = p^-1 q* p^-1, which has no
component along z and the angle of q^-1 q*. With m = tan(theta / 4), of the swing theta, t across it as z cross phi, and
u the velocity of q in the plane half way, which is v but along t, where it is v.t / g_s of `joints.swing`,
    de = - (g / 2) r_w u + (g / 2) m (u.t) (z cross r) - (g / 4) r (r.u) / (1 + r_w).

A reversed joint is the same in its public direction; M is its first frame then, so that G delta is (G R^T) v with
R = exp(q).

A step takes tau in the middle of what the joint does with v, and K = G^T diag(k) G there as the matrix of the spring,
which `drive` and `phases.joint_springs` fold in. That is second order, and stable for all k: K bounds the curvature of
U. Further substeps keep the K of the first one, which the factors have.
"""

import warp as wp

from warp_artic.constraints.coupling import middle_vector
from warp_artic.constraints.rotation_coordinates import component, in_axes
from warp_artic.joints import swing
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Sym3,
    Vec3,
    add,
    div,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_exp, quaternion_matrix, quaternion_mul
from warp_artic.math.spatial import cross, dot, sym_outer
from warp_artic.model.arrays import ControlArrays, ModelArrays, WorkArrays
from warp_artic.phases.joint_springs import pair
from warp_artic.phases.kinematics import signed_triple


@wp.func
def drive_error(q: Vec3, target: Vec3):
    """The quaternion of exp(q)^-1 exp(target), w >= 0."""
    x, w = quaternion_exp(neg(q))
    y, s = quaternion_exp(target)
    z, t = quaternion_mul(x, w, y, s)
    side = where_positive(neg(t), neg(real(1.0, t)), real(1.0, t))
    return z * side, t * side


@wp.func
def swing_error(half: Vec3, w_half: Real, target: Vec3):
    """The quaternion of a^-1 q* a^-1, w >= 0, of the quaternion a."""
    y, s = quaternion_exp(target)
    z, t = quaternion_mul(neg(half), w_half, y, s)
    z, t = quaternion_mul(z, t, neg(half), w_half)
    side = where_positive(neg(t), neg(real(1.0, t)), real(1.0, t))
    return z * side, t * side


@wp.func
def error_scale(w: Real):
    """g."""
    return sqrt(real(8.0, w) / (real(1.0, w) + w))


@wp.func
def ball_gradient(x: Vec3, w: Real, axis: Vec3):
    """The gradient in delta of the component of e along an axis of M."""
    half = error_scale(w) * real(0.5, w)
    along = dot(axis, x) * half * real(0.5, w) / (real(1.0, w) + w)
    return (cross(axis, x) - axis * w) * half - x * along


@wp.func
def swing_gradient(r: Vec3, w: Real, half: Vec3, w_half: Real, stretch: Real, axis: Vec3):
    """The gradient in v of the component of e along an axis of the plane half way; see `swing.half_way`."""
    zero = real(0.0, w)
    scale = error_scale(w) * real(0.5, w)
    across = vec3(neg(half.y), half.x, zero)
    around = vec3(neg(r.y), r.x, zero)
    along = dot(axis, r) * scale * real(0.5, w) / (real(1.0, w) + w)
    gradient = across * (dot(axis, around) * scale / w_half) - axis * (w * scale) - r * along
    return gradient + across * (dot(across, gradient) * stretch)


@wp.func
def fold_rotation_drives(
    model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real, is_first: int
):
    """Write the bias of the drives of all joints with several rotations that have any, and K where `is_first` is 1."""
    for link in range(model.link_count):
        if model.link_is_coupled[link] == 1:
            fold_rotation_drive(model, control, work, link, block, worker, h, is_first)


@wp.func
def fold_rotation_drive(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    link: int,
    block: int,
    worker: int,
    h: Real,
    is_first: int,
):
    """The same for one joint, whose gains are in `work.drive_spring`, from where the entries of K take their place."""
    dof = model.link_dof[link]
    count = model.link_dofs[link]
    item = dof - model.root_dofs
    before = (real(1.0, h) - work.free_weight[0, worker]) * h
    k = gains_in_axes(model, work, dof, count, worker)
    sign = model.dof_sign[item, block]
    q = middle_vector(model, work, dof, count, block, worker, before) * sign
    target = signed_triple(model, control.drive_position_target, item, dof, count, block, block) * sign
    if count == 3:
        tau, K = ball_torque(q, target, k, neg(sign))
        write_spring(model, work, dof, 3, worker, tau, K, before, is_first)
    else:
        tau, K = swing_torque(q, target, k)
        write_spring(model, work, dof, 2, worker, tau, K, before, is_first)


@wp.func
def gains_in_axes(model: ModelArrays, work: WorkArrays, dof: int, count: int, worker: int):
    """The stiffness of the drives of a joint as a vector in the axes of M."""
    k = work.drive_spring
    item = dof - model.root_dofs
    return in_axes(model, dof, count, k[item, worker], k[item + 1, worker], k[item + count - 1, worker])


@wp.func
def ball_torque(q: Vec3, target: Vec3, k: Vec3, reversed: Real):
    """tau without damping and K of three rotations, in the axes of M."""
    x, w = drive_error(q, target)
    zero = real(0.0, w)
    one = real(1.0, w)
    y, s = quaternion_exp(q * where_positive(reversed, one, zero))
    R = quaternion_matrix(y, s)
    g = error_scale(w)
    g_x = R * ball_gradient(x, w, vec3(one, zero, zero))
    g_y = R * ball_gradient(x, w, vec3(zero, one, zero))
    g_z = R * ball_gradient(x, w, vec3(zero, zero, one))
    tau = neg(g_x * (k.x * g * x.x) + g_y * (k.y * g * x.y) + g_z * (k.z * g * x.z))
    return tau, sym_outer(g_x) * k.x + sym_outer(g_y) * k.y + sym_outer(g_z) * k.z


@wp.func
def swing_torque(q: Vec3, target: Vec3, k: Vec3):
    """tau without damping and K of two rotations."""
    half, w_half, stretch = swing.half_way(q.x, q.y)
    r, w = swing_error(half, w_half, target)
    zero = real(0.0, w)
    one = real(1.0, w)
    g = error_scale(w)
    g_x = swing_gradient(r, w, half, w_half, stretch, vec3(one, zero, zero))
    g_y = swing_gradient(r, w, half, w_half, stretch, vec3(zero, one, zero))
    tau = neg(g_x * (k.x * g * r.x) + g_y * (k.y * g * r.y))
    return tau, sym_outer(g_x) * k.x + sym_outer(g_y) * k.y


@wp.func
def sym_entry(K: Sym3, i: int, j: int):
    """One entry of a symmetric matrix."""
    if i == j:
        if i == 0:
            return K.xx
        if i == 1:
            return K.yy
        return K.zz
    if i + j == 1:
        return K.xy
    if i + j == 2:
        return K.xz
    return K.yz


@wp.func
def write_spring(
    model: ModelArrays,
    work: WorkArrays,
    dof: int,
    count: int,
    worker: int,
    tau: Vec3,
    K: Sym3,
    before: Real,
    is_first: int,
):
    """Write the springs and biases of the dofs of a joint, and what couples those that are not saturated."""
    if is_first == 1:
        for i in range(count):
            item = dof + i - model.root_dofs
            work.rotation_spring[item, worker] = sym_entry(K, model.dof_axis[dof + i], model.dof_axis[dof + i])
            for j in range(i):
                entry = sym_entry(K, model.dof_axis[dof + i], model.dof_axis[dof + j])
                work.cross_spring[pair(dof, j, i), worker] = entry
    for i in range(count):
        item = dof + i - model.root_dofs
        for j in range(i):
            entry = work.cross_spring[pair(dof, j, i), worker]
            saturated = work.saturated[item, worker] + work.saturated[item + j - i, worker]
            work.cross_spring[pair(dof, j, i), worker] = where_positive(saturated, entry - entry, entry)
        own = work.rotation_spring[item, worker]
        work.drive_spring[item, worker] = own
        torque = component(tau, model.dof_axis[dof + i])
        work.drive_bias[item, worker] = torque + own * before * work.v[dof + i, worker]

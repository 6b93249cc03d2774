"""Link orientations, offsets and angular velocities, outward.

    R_WM = R_WP R_PF R_FM(q),  p_PM = R_WP p_PF + displacement,  w = w_P + axes v
and the acceleration that a link has while vdot is zero, relative to its parent (classical, at the link origin):
    angular:  w_P x axes v + (rate of the axes in M) v,   linear:  w_P x (w_P x p_PM) + 2 w_P x (linear axis v).
"""

import warp as wp

from warp_artic.joints import floating, prismatic, revolute, spherical, swing
from warp_artic.math.numbers import Mat3, Real, Vec3, add, mat3, mul, real, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import column, cross, mat_mul
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3, store_mat3, store_vec3
from warp_artic.model.base import BASE_ANGULAR, BASE_ROTATION
from warp_artic.model.kinds import FIXED, FLOATING, PRISMATIC, REVOLUTE, SPHERICAL, SWING
from warp_artic.model.roots import pose_row


@wp.func
def place_world(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """The parent of every root: the world, or what moves the tree as a whole (`model.base`)."""
    store_mat3(work.R_WM, 9 * model.link_count, worker, load_mat3(model.base, BASE_ROTATION, block))
    store_vec3(work.w, 3 * model.link_count, worker, load_vec3(model.base, BASE_ANGULAR, block))


@wp.func
def place_links(
    model: ModelArrays, work: WorkArrays, positions: Array, root: Array, velocities: Array, block: int, worker: int
):
    """Write R_WM, p_PM, w, axis and the velocity accelerations of all links.

    `positions` has those of joint dofs, `root` the pose of a free root, `velocities` those of all dofs.
    """
    place_world(model, work, block, worker)
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        w_P = load_vec3(work.w, 3 * parent, worker)
        R_WP = load_mat3(work.R_WM, 9 * parent, worker)
        R_WF = mat_mul(R_WP, load_mat3(model.parent_frame, 12 * link, block))
        p_PM = R_WP * load_vec3(model.parent_frame, 12 * link + 9, block)
        zero = real(0.0, p_PM.x)
        null = vec3(zero, zero, zero)
        if kind == REVOLUTE:
            R_WM, axis, w, bias = revolute.place(R_WF, w_P, positions[item, worker], velocities[dof, worker])
            store_mat3(work.R_WM, 9 * link, worker, R_WM)
            store_vec3(work.w, 3 * link, worker, w)
            store_vec3(work.velocity_moment, 3 * link, worker, bias)
            store_vec3(work.axis, 3 * dof, worker, axis)
        if kind == PRISMATIC:
            axis, shift, bias = prismatic.place(R_WF, w_P, positions[item, worker], velocities[dof, worker])
            store_mat3(work.R_WM, 9 * link, worker, R_WF)
            store_vec3(work.w, 3 * link, worker, w_P)
            store_vec3(work.velocity_moment, 3 * link, worker, null)
            store_vec3(work.axis, 3 * dof, worker, axis)
            place_origin(work, link, worker, w_P, p_PM + shift, bias)
        else:
            place_origin(work, link, worker, w_P, p_PM, null)
        if kind == SPHERICAL:
            place_spherical(model, work, positions, velocities, link, block, worker, R_WF, w_P)
        if kind == SWING:
            place_swing(model, work, positions, velocities, link, block, worker, R_WF, w_P)
        if kind == FIXED:
            store_mat3(work.R_WM, 9 * link, worker, R_WF)
            store_vec3(work.w, 3 * link, worker, w_P)
            store_vec3(work.velocity_moment, 3 * link, worker, null)
        if kind == FLOATING:
            place_floating(work, root, velocities, link, dof, worker)


@wp.func
def place_origin(work: WorkArrays, link: int, worker: int, w_P: Vec3, p_PM: Vec3, coriolis: Vec3):
    """Write where the origin of a link is, and its linear velocity acceleration."""
    store_vec3(work.p_PM, 3 * link, worker, p_PM)
    store_vec3(work.velocity_force, 3 * link, worker, cross(w_P, cross(w_P, p_PM)) + coriolis)


@wp.func
def signed_triple(model: ModelArrays, values: Array, row: int, dof: int, count: int, block: int, worker: int):
    """Positions or velocities of a rotational joint as a vector in the axes of M, in the direction parent -> child.

    They are in the rows from `row` on of `values`; `dof` is the first of the joint.
    """
    zero = real(0.0, values[row, worker])
    x = zero
    y = zero
    z = zero
    for k in range(count):
        value = values[row + k, worker] * model.dof_sign[dof - model.root_dofs + k, block]
        axis = model.dof_axis[dof + k]
        if axis == 0:
            x = value
        if axis == 1:
            y = value
        if axis == 2:
            z = value
    return vec3(x, y, z)


@wp.func
def place_spherical(
    model: ModelArrays,
    work: WorkArrays,
    positions: Array,
    velocities: Array,
    link: int,
    block: int,
    worker: int,
    R_WF: Mat3,
    w_P: Vec3,
):
    """Place a link on a joint with three free rotations."""
    dof = model.link_dof[link]
    item = dof - model.root_dofs
    phi = signed_triple(model, positions, item, dof, 3, block, worker)
    v = signed_triple(model, velocities, dof, dof, 3, block, worker)
    R_WM, w, bias = spherical.place(R_WF, w_P, phi, v)
    store_mat3(work.R_WM, 9 * link, worker, R_WM)
    store_vec3(work.w, 3 * link, worker, w)
    store_vec3(work.velocity_moment, 3 * link, worker, bias)
    store_spherical_axes(model, work.axis, dof, block, worker, R_WM)


@wp.func
def place_swing(
    model: ModelArrays,
    work: WorkArrays,
    positions: Array,
    velocities: Array,
    link: int,
    block: int,
    worker: int,
    R_WF: Mat3,
    w_P: Vec3,
):
    """Place a link on a joint with two free rotations."""
    dof = model.link_dof[link]
    item = dof - model.root_dofs
    phi = signed_triple(model, positions, item, dof, 2, block, worker)
    v = signed_triple(model, velocities, dof, dof, 2, block, worker)
    R_WM, axis_1, axis_2, w, bias = swing.place(R_WF, w_P, phi.x, phi.y, v.x, v.y)
    store_mat3(work.R_WM, 9 * link, worker, R_WM)
    store_vec3(work.w, 3 * link, worker, w)
    store_vec3(work.velocity_moment, 3 * link, worker, bias)
    store_swing_axes(model, work.axis, dof, block, worker, axis_1, axis_2)


@wp.func
def place_floating(work: WorkArrays, root: Array, velocities: Array, link: int, dof: int, worker: int):
    """Place a free root: three linear dofs along the axes of W, then three angular ones."""
    row = pose_row(dof)
    x = load_vec3(root, row + 3, worker)
    zero = real(0.0, x.x)
    store_mat3(work.R_WM, 9 * link, worker, floating.place(x, root[row + 6, worker]))
    store_vec3(work.w, 3 * link, worker, load_vec3(velocities, dof + 3, worker))
    store_vec3(work.velocity_moment, 3 * link, worker, vec3(zero, zero, zero))
    store_floating_axes(work.axis, dof, worker, zero)


@wp.func
def store_spherical_axes(model: ModelArrays, axes: Array, dof: int, block: int, worker: int, R_WM: Mat3):
    """Write the axes of three dofs from `dof` on, columns of R_WM."""
    for k in range(3):
        axis = column(R_WM, model.dof_axis[dof + k])
        store_vec3(axes, 3 * (dof + k), worker, axis * model.dof_sign[dof - model.root_dofs + k, block])


@wp.func
def store_swing_axes(model: ModelArrays, axes: Array, dof: int, block: int, worker: int, axis_1: Vec3, axis_2: Vec3):
    """Write the axes of two dofs from `dof` on."""
    for k in range(2):
        sign = model.dof_sign[dof - model.root_dofs + k, block]
        if model.dof_axis[dof + k] == 0:
            store_vec3(axes, 3 * (dof + k), worker, axis_1 * sign)
        else:
            store_vec3(axes, 3 * (dof + k), worker, axis_2 * sign)


@wp.func
def store_floating_axes(axes: Array, dof: int, worker: int, zero: Real):
    """Write the axes of three linear and three angular dofs from `dof` on, those of W."""
    one = real(1.0, zero)
    for k in range(2):
        store_vec3(axes, 3 * (dof + 3 * k), worker, vec3(one, zero, zero))
        store_vec3(axes, 3 * (dof + 3 * k + 1), worker, vec3(zero, one, zero))
        store_vec3(axes, 3 * (dof + 3 * k + 2), worker, vec3(zero, zero, one))

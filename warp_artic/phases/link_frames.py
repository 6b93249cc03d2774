"""Link orientations, offsets and motion axes, outward, straight from the state:  R_WM = R_WP R_PF R_FM(q).

What `place_links` writes that does not depend on velocities.
"""

import warp as wp

from warp_artic.joints import floating, prismatic, revolute, spherical, swing
from warp_artic.math.numbers import add, mul, real, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, mat_mul
from warp_artic.model.arrays import (
    Array,
    ModelArrays,
    StateArrays,
    WorkArrays,
    load_mat3,
    load_vec3,
    store_mat3,
    store_vec3,
)
from warp_artic.model.base import BASE_ANGULAR, BASE_LINEAR, BASE_POSITION, BASE_ROTATION
from warp_artic.model.kinds import FIXED, FLOATING, PRISMATIC, REVOLUTE, SPHERICAL, SWING
from warp_artic.model.roots import pose_row
from warp_artic.phases.kinematics import (
    place_world,
    signed_triple,
    store_floating_axes,
    store_spherical_axes,
    store_swing_axes,
)


@wp.func
def orient_links(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Write R_WM, p_PM and axis of all links."""
    place_world(model, work, block, worker)
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        R_WP = load_mat3(work.R_WM, 9 * parent, worker)
        R_WF = mat_mul(R_WP, load_mat3(model.parent_frame, 12 * link, block))
        p_PM = R_WP * load_vec3(model.parent_frame, 12 * link + 9, block)
        zero = real(0.0, p_PM.x)
        null = vec3(zero, zero, zero)
        if kind == REVOLUTE:
            R_WM, axis, w, bias = revolute.place(R_WF, null, state.joint_position[item, block], zero)
            store_mat3(work.R_WM, 9 * link, worker, R_WM)
            store_vec3(work.axis, 3 * dof, worker, axis)
        if kind == PRISMATIC:
            axis, shift, bias = prismatic.place(R_WF, null, state.joint_position[item, block], zero)
            p_PM = p_PM + shift
            store_mat3(work.R_WM, 9 * link, worker, R_WF)
            store_vec3(work.axis, 3 * dof, worker, axis)
        if kind == SPHERICAL:
            phi = signed_triple(model, state.joint_position, item, dof, 3, block, block)
            R_WM, w, bias = spherical.place(R_WF, null, phi, null)
            store_mat3(work.R_WM, 9 * link, worker, R_WM)
            store_spherical_axes(model, work.axis, dof, block, worker, R_WM)
        if kind == SWING:
            phi = signed_triple(model, state.joint_position, item, dof, 2, block, block)
            R_WM, axis_1, axis_2, w, bias = swing.place(R_WF, null, phi.x, phi.y, zero, zero)
            store_mat3(work.R_WM, 9 * link, worker, R_WM)
            store_swing_axes(model, work.axis, dof, block, worker, axis_1, axis_2)
        if kind == FIXED:
            store_mat3(work.R_WM, 9 * link, worker, R_WF)
        if kind == FLOATING:
            row = pose_row(dof)
            R_WM = floating.place(load_vec3(state.root_pose, row + 3, block), state.root_pose[row + 6, block])
            store_mat3(work.R_WM, 9 * link, worker, R_WM)
            store_floating_axes(work.axis, dof, worker, zero)
        store_vec3(work.p_PM, 3 * link, worker, p_PM)


@wp.func
def pose_links(
    model: ModelArrays, work: WorkArrays, positions: Array, root: Array, rates: Array, block: int, worker: int
):
    """Write poses, velocities and motion axes of all links, at other positions than those where the links are placed.

    R_WM to `work.end_rotation`, p_WM to `work.end_origin`, w to `work.end_spin`, that of the origin to
    `work.end_velocity`, axes to `work.end_axis`.
    """
    world = model.link_count
    store_mat3(work.end_rotation, 9 * world, worker, load_mat3(model.base, BASE_ROTATION, block))
    store_vec3(work.end_origin, 3 * world, worker, load_vec3(model.base, BASE_POSITION, block))
    store_vec3(work.end_spin, 3 * world, worker, load_vec3(model.base, BASE_ANGULAR, block))
    store_vec3(work.end_velocity, 3 * world, worker, load_vec3(model.base, BASE_LINEAR, block))
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        R_WP = load_mat3(work.end_rotation, 9 * parent, worker)
        R_WM = mat_mul(R_WP, load_mat3(model.parent_frame, 12 * link, block))
        p_PM = R_WP * load_vec3(model.parent_frame, 12 * link + 9, block)
        w_P = load_vec3(work.end_spin, 3 * parent, worker)
        w = w_P
        zero = real(0.0, p_PM.x)
        slide = vec3(zero, zero, zero)
        if kind == REVOLUTE:
            R_WM, axis, w, bias = revolute.place(R_WM, w_P, positions[item, worker], rates[dof, worker])
            store_vec3(work.end_axis, 3 * dof, worker, axis)
        if kind == PRISMATIC:
            axis, shift, bias = prismatic.place(R_WM, w_P, positions[item, worker], zero)
            store_vec3(work.end_axis, 3 * dof, worker, axis)
            p_PM = p_PM + shift
            slide = axis * rates[dof, worker]
        if kind == SPHERICAL:
            phi = signed_triple(model, positions, item, dof, 3, block, worker)
            v = signed_triple(model, rates, dof, dof, 3, block, worker)
            R_WM, w, bias = spherical.place(R_WM, w_P, phi, v)
            store_spherical_axes(model, work.end_axis, dof, block, worker, R_WM)
        if kind == SWING:
            phi = signed_triple(model, positions, item, dof, 2, block, worker)
            v = signed_triple(model, rates, dof, dof, 2, block, worker)
            R_WM, axis_1, axis_2, w, bias = swing.place(R_WM, w_P, phi.x, phi.y, v.x, v.y)
            store_swing_axes(model, work.end_axis, dof, block, worker, axis_1, axis_2)
        p_WM = load_vec3(work.end_origin, 3 * parent, worker) + p_PM
        v_M = load_vec3(work.end_velocity, 3 * parent, worker) + cross(w_P, p_PM) + slide
        if kind == FLOATING:
            row = pose_row(dof)
            R_WM = floating.place(load_vec3(root, row + 3, worker), root[row + 6, worker])
            R_WL = mat_mul(R_WM, load_mat3(model.link_frame, 12 * link, block))
            p_WM = load_vec3(root, row, worker) + R_WL * load_vec3(model.link_frame, 12 * link + 9, block)
            v_M = load_vec3(rates, dof, worker)
            w = load_vec3(rates, dof + 3, worker)
            store_floating_axes(work.end_axis, dof, worker, zero)
        store_mat3(work.end_rotation, 9 * link, worker, R_WM)
        store_vec3(work.end_origin, 3 * link, worker, p_WM)
        store_vec3(work.end_spin, 3 * link, worker, w)
        store_vec3(work.end_velocity, 3 * link, worker, v_M)

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
def orient_links(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Write R_WM, p_PM and axis of all links."""
    place_world(model, work, column, slot)
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        R_WP = load_mat3(work.R_WM, 9 * parent, slot)
        R_WF = mat_mul(R_WP, load_mat3(model.parent_frame, 12 * link, column))
        p_PM = R_WP * load_vec3(model.parent_frame, 12 * link + 9, column)
        zero = real(0.0, p_PM.x)
        null = vec3(zero, zero, zero)
        if kind == REVOLUTE:
            R_WM, axis, w, bias = revolute.place(R_WF, null, state.joint_position[item, column], zero)
            store_mat3(work.R_WM, 9 * link, slot, R_WM)
            store_vec3(work.axis, 3 * dof, slot, axis)
        if kind == PRISMATIC:
            axis, shift, bias = prismatic.place(R_WF, null, state.joint_position[item, column], zero)
            p_PM = p_PM + shift
            store_mat3(work.R_WM, 9 * link, slot, R_WF)
            store_vec3(work.axis, 3 * dof, slot, axis)
        if kind == SPHERICAL:
            phi = signed_triple(model, state.joint_position, item, dof, 3, column, column)
            R_WM, w, bias = spherical.place(R_WF, null, phi, null)
            store_mat3(work.R_WM, 9 * link, slot, R_WM)
            store_spherical_axes(model, work.axis, dof, column, slot, R_WM)
        if kind == SWING:
            phi = signed_triple(model, state.joint_position, item, dof, 2, column, column)
            R_WM, axis_1, axis_2, w, bias = swing.place(R_WF, null, phi.x, phi.y, zero, zero)
            store_mat3(work.R_WM, 9 * link, slot, R_WM)
            store_swing_axes(model, work.axis, dof, column, slot, axis_1, axis_2)
        if kind == FIXED:
            store_mat3(work.R_WM, 9 * link, slot, R_WF)
        if kind == FLOATING:
            row = pose_row(dof)
            R_WM = floating.place(load_vec3(state.root_pose, row + 3, column), state.root_pose[row + 6, column])
            store_mat3(work.R_WM, 9 * link, slot, R_WM)
            store_floating_axes(work.axis, dof, slot, zero)
        store_vec3(work.p_PM, 3 * link, slot, p_PM)


@wp.func
def pose_links(
    model: ModelArrays, work: WorkArrays, positions: Array, root: Array, rates: Array, column: int, slot: int
):
    """Write poses, velocities and motion axes of all links, at other positions than those where the links are placed.

    R_WM to `work.end_rotation`, p_WM to `work.end_origin`, w to `work.end_spin`, that of the origin to
    `work.end_velocity`, axes to `work.end_axis`.
    """
    world = model.link_count
    store_mat3(work.end_rotation, 9 * world, slot, load_mat3(model.base, BASE_ROTATION, column))
    store_vec3(work.end_origin, 3 * world, slot, load_vec3(model.base, BASE_POSITION, column))
    store_vec3(work.end_spin, 3 * world, slot, load_vec3(model.base, BASE_ANGULAR, column))
    store_vec3(work.end_velocity, 3 * world, slot, load_vec3(model.base, BASE_LINEAR, column))
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        R_WP = load_mat3(work.end_rotation, 9 * parent, slot)
        R_WM = mat_mul(R_WP, load_mat3(model.parent_frame, 12 * link, column))
        p_PM = R_WP * load_vec3(model.parent_frame, 12 * link + 9, column)
        w_P = load_vec3(work.end_spin, 3 * parent, slot)
        w = w_P
        zero = real(0.0, p_PM.x)
        slide = vec3(zero, zero, zero)
        if kind == REVOLUTE:
            R_WM, axis, w, bias = revolute.place(R_WM, w_P, positions[item, slot], rates[dof, slot])
            store_vec3(work.end_axis, 3 * dof, slot, axis)
        if kind == PRISMATIC:
            axis, shift, bias = prismatic.place(R_WM, w_P, positions[item, slot], zero)
            store_vec3(work.end_axis, 3 * dof, slot, axis)
            p_PM = p_PM + shift
            slide = axis * rates[dof, slot]
        if kind == SPHERICAL:
            phi = signed_triple(model, positions, item, dof, 3, column, slot)
            v = signed_triple(model, rates, dof, dof, 3, column, slot)
            R_WM, w, bias = spherical.place(R_WM, w_P, phi, v)
            store_spherical_axes(model, work.end_axis, dof, column, slot, R_WM)
        if kind == SWING:
            phi = signed_triple(model, positions, item, dof, 2, column, slot)
            v = signed_triple(model, rates, dof, dof, 2, column, slot)
            R_WM, axis_1, axis_2, w, bias = swing.place(R_WM, w_P, phi.x, phi.y, v.x, v.y)
            store_swing_axes(model, work.end_axis, dof, column, slot, axis_1, axis_2)
        p_WM = load_vec3(work.end_origin, 3 * parent, slot) + p_PM
        v_M = load_vec3(work.end_velocity, 3 * parent, slot) + cross(w_P, p_PM) + slide
        if kind == FLOATING:
            row = pose_row(dof)
            R_WM = floating.place(load_vec3(root, row + 3, slot), root[row + 6, slot])
            R_WL = mat_mul(R_WM, load_mat3(model.link_frame, 12 * link, column))
            p_WM = load_vec3(root, row, slot) + R_WL * load_vec3(model.link_frame, 12 * link + 9, column)
            v_M = load_vec3(rates, dof, slot)
            w = load_vec3(rates, dof + 3, slot)
            store_floating_axes(work.end_axis, dof, slot, zero)
        store_mat3(work.end_rotation, 9 * link, slot, R_WM)
        store_vec3(work.end_origin, 3 * link, slot, p_WM)
        store_vec3(work.end_spin, 3 * link, slot, w)
        store_vec3(work.end_velocity, 3 * link, slot, v_M)

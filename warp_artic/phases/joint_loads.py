"""Loads of joints, inward:  F = sum (m a_C - external), N = sum of their moments, over the links beyond the joint.

These are the force and the torque that a joint passes on to its link, at the origin of the joint frame; they hold the
weight, for accelerations are those against gravity. The load of a dof is |F| + |N| of what its joint takes up by its
locked directions: without the component of F along a slide, without the components of N about its rotations, which
are what drives, friction and limits of the joint give.

The accelerations are those of the step before, with its stops but without its impacts, and zero in the first step of an
environment, where a joint at rest has its static load. Forces of spatial tendons are not counted.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
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
from warp_artic.math.spatial import cross, dot, transpose_mul
from warp_artic.model.arrays import (
    ControlArrays,
    ModelArrays,
    StateArrays,
    WorkArrays,
    load_mat3,
    load_sym3,
    load_vec3,
    store_vec3,
)
from warp_artic.phases.link_inertias import set_link_inertias


@wp.func
def follow_accelerations(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Write the accelerations of all links, against gravity, at the smooth acceleration of the step before."""
    g = load_vec3(model.gravity, 0, column)
    zero = real(0.0, g.x)
    store_vec3(work.angular, 3 * model.link_count, slot, vec3(zero, zero, zero))
    store_vec3(work.linear, 3 * model.link_count, slot, neg(g))
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        a_P = load_vec3(work.angular, 3 * parent, slot)
        angular = a_P + load_vec3(work.velocity_moment, 3 * link, slot)
        linear = load_vec3(work.linear, 3 * parent, slot) + cross(a_P, load_vec3(work.p_PM, 3 * link, slot))
        linear = linear + load_vec3(work.velocity_force, 3 * link, slot)
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            step = load_vec3(work.axis, 3 * dof, slot) * state.smooth_acceleration[dof, column]
            if model.dof_is_linear[dof] == 1:
                linear = linear + step
            else:
                angular = angular + step
        store_vec3(work.angular, 3 * link, slot, angular)
        store_vec3(work.linear, 3 * link, slot, linear)


@wp.func
def without(v: Vec3, axis: Vec3):
    """The part of a vector that is normal to an axis of any length."""
    one = real(1.0, v.x)
    square = dot(axis, axis)
    return v - axis * (dot(axis, v) / where_positive(square, square, one))


@wp.func
def locked_load(model: ModelArrays, work: WorkArrays, link: int, slot: int, F: Vec3, N: Vec3):
    """|F| + |N| in the locked directions of the joint of a link."""
    first = model.link_dof[link]
    count = model.link_dofs[link]
    axis = load_vec3(work.axis, 3 * first, slot)
    if model.dof_is_linear[first] == 1:
        F = without(F, axis)
    elif count == 1:
        N = without(N, axis)
    elif count == 2:
        locked = cross(axis, load_vec3(work.axis, 3 * (first + 1), slot))
        N = N - without(N, locked)
    else:
        N = N - N
    return sqrt(dot(F, F)) + sqrt(dot(N, N))


@wp.func
def set_joint_loads(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, column: int, slot: int
):
    """Write the load of every joint dof to `work.joint_load`, where the links are placed."""
    set_link_inertias(model, control, work, column, slot)
    follow_accelerations(model, state, work, column, slot)
    for link in range(model.link_count):
        angular = load_vec3(work.angular, 3 * link, slot)
        linear = load_vec3(work.linear, 3 * link, slot)
        B = load_mat3(work.B, 9 * link, slot)
        N = load_sym3(work.A, 6 * link, slot) * angular + B * linear + load_vec3(work.moment, 3 * link, slot)
        F = transpose_mul(B, angular) + load_sym3(work.M, 6 * link, slot) * linear
        F = F + load_vec3(work.force, 3 * link, slot)
        store_vec3(work.moment, 3 * link, slot, N)
        store_vec3(work.force, 3 * link, slot, F)
    for k in range(model.link_count):
        link = model.order[model.link_count - 1 - k]
        parent = model.link_parent[link]
        N = load_vec3(work.moment, 3 * link, slot)
        F = load_vec3(work.force, 3 * link, slot)
        first = model.link_dof[link]
        if first >= model.root_dofs:
            for dof in range(first, first + model.link_dofs[link]):
                work.joint_load[dof - model.root_dofs, slot] = locked_load(model, work, link, slot, F, N)
        if parent < model.link_count:
            r = load_vec3(work.p_PM, 3 * link, slot)
            store_vec3(work.moment, 3 * parent, slot, load_vec3(work.moment, 3 * parent, slot) + N + cross(r, F))
            store_vec3(work.force, 3 * parent, slot, load_vec3(work.force, 3 * parent, slot) + F)

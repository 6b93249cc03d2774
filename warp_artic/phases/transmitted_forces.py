"""Forces that joints transmit, inward (recursive Newton-Euler, the backward pass):

    F = sum (m a_C - external),   N = sum of their moments about the origin of the joint frame,
over the links beyond the joint. These are the force and the torque by the joint on its link; they support the weight,
for accelerations are those against gravity. They include all that acts between links of the tree: drives, limits,
friction, mimic joints and tendons.
"""

import warp as wp

from warp_artic.math.numbers import Real, Vec3, add, mul, neg, real, sub, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, dot, transpose_mul
from warp_artic.model.arrays import (
    ControlArrays,
    ModelArrays,
    WorkArrays,
    load_mat3,
    load_sym3,
    load_vec3,
    store_vec3,
)
from warp_artic.phases.joint_accelerations import accelerate_base
from warp_artic.phases.link_inertias import with_scaled_gravity


@wp.func
def load_links(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    g: Vec3,
    carried: Real,
    moving: Real,
    external: Real,
    drag: Real,
    block: int,
    worker: int,
):
    """Write to `work.force` and `work.moment` what each link alone needs for the accelerations `work.u` of dofs, where
    the links are placed.

    `carried`, `moving`, `external` and `drag` are weights: of the acceleration of the base, of velocity forces, of
    external forces and of drag.
    """
    accelerate_base(model, work, g, carried, block, worker)
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        a_P = load_vec3(work.angular, 3 * parent, worker)
        angular = a_P + load_vec3(work.velocity_moment, 3 * link, worker) * moving
        linear = load_vec3(work.linear, 3 * parent, worker) + cross(a_P, load_vec3(work.p_PM, 3 * link, worker))
        linear = linear + load_vec3(work.velocity_force, 3 * link, worker) * moving
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            change = load_vec3(work.axis, 3 * dof, worker) * work.u[dof, worker]
            if model.dof_is_linear[dof] == 1:
                linear = linear + change
            else:
                angular = angular + change
        store_vec3(work.angular, 3 * link, worker, angular)
        store_vec3(work.linear, 3 * link, worker, linear)
        load_link(model, control, work, link, g, moving, external, drag, block, worker)


@wp.func
def load_link(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    link: int,
    g: Vec3,
    moving: Real,
    external: Real,
    drag: Real,
    block: int,
    worker: int,
):
    """Newton and Euler of one link:  F = m a_C - external,  N = I_C a + w x I_C w + c x F - external.

    `work.angular` and `work.linear` have its acceleration a, and `load_links` says what the weights are.
    """
    angular = load_vec3(work.angular, 3 * link, worker)
    linear = load_vec3(work.linear, 3 * link, worker)
    R_WM = load_mat3(work.R_WM, 9 * link, worker)
    inertia = load_sym3(model.link_inertia, 6 * link, block)
    w = load_vec3(work.w, 3 * link, worker)
    c = R_WM * load_vec3(model.link_center, 3 * link, block)
    w_M = transpose_mul(R_WM, w)
    F = (linear + cross(angular, c) + cross(w, cross(w, c)) * moving) * model.link_mass[link, block]
    given = load_vec3(control.link_external_force, 6 * link, block) * external
    F = F - with_scaled_gravity(model, given, g, link, block)
    N = R_WM * (inertia * transpose_mul(R_WM, angular) + cross(w_M, inertia * w_M) * moving) + cross(c, F)
    N = N - load_vec3(control.link_external_force, 6 * link + 3, block) * external
    if model.link_damping == 1:
        F = F + load_vec3(work.drag_force, 3 * link, worker) * drag
        N = N + load_vec3(work.drag_moment, 3 * link, worker) * drag
    store_vec3(work.moment, 3 * link, worker, N)
    store_vec3(work.force, 3 * link, worker, F)


@wp.func
def subtract_wrench(work: WorkArrays, link: int, worker: int, force: Vec3, moment: Vec3):
    """Take a force at the origin of a link and a moment off what it needs."""
    store_vec3(work.force, 3 * link, worker, load_vec3(work.force, 3 * link, worker) - force)
    store_vec3(work.moment, 3 * link, worker, load_vec3(work.moment, 3 * link, worker) - moment)


@wp.func
def transmit_loads(model: ModelArrays, work: WorkArrays, worker: int):
    """Add what links need to what the joints inward of them transmit: F in `work.force`, N in `work.moment`."""
    for k in range(model.link_count):
        link = model.order[model.link_count - 1 - k]
        parent = model.link_parent[link]
        if parent < model.link_count:
            F = load_vec3(work.force, 3 * link, worker)
            N = load_vec3(work.moment, 3 * link, worker) + cross(load_vec3(work.p_PM, 3 * link, worker), F)
            store_vec3(work.moment, 3 * parent, worker, load_vec3(work.moment, 3 * parent, worker) + N)
            store_vec3(work.force, 3 * parent, worker, load_vec3(work.force, 3 * parent, worker) + F)


@wp.func
def load_along(model: ModelArrays, work: WorkArrays, link: int, dof: int, worker: int):
    """What the joint of a link transmits along the axis of one of its dofs."""
    load = load_vec3(work.moment, 3 * link, worker)
    if model.dof_is_linear[dof] == 1:
        load = load_vec3(work.force, 3 * link, worker)
    return dot(load_vec3(work.axis, 3 * dof, worker), load)


@wp.func
def take_turn_off(model: ModelArrays, work: WorkArrays, link: int, torque: Vec3, worker: int):
    """Take a torque off what a link needs; the world needs nothing."""
    if link < model.link_count:
        subtract_wrench(work, link, worker, torque - torque, torque)


@wp.func
def subtract_force(model: ModelArrays, work: WorkArrays, link: int, x: Vec3, force: Vec3, worker: int):
    """Take a force at x off what a link needs, for located links; the world needs nothing."""
    if link < model.link_count:
        subtract_wrench(work, link, worker, force, cross(x - load_vec3(work.p_WM, 3 * link, worker), force))

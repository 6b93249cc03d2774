"""Joint accelerations, outward:  a = a_P shifted by r + c,  vdot = (u - U.a) / D,  a += s vdot."""

import warp as wp

from warp_artic.math.numbers import Real, Vec3, add, mul, real, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, dot
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.model.base import BASE_ANGULAR_RATE, BASE_LINEAR_RATE
from warp_artic.phases.joint_springs import take_earlier


@wp.func
def add_motion(angular: Vec3, linear: Vec3, step: Vec3, is_linear: int):
    """An acceleration, and what a dof adds to it along its axis."""
    if is_linear == 1:
        return angular, linear + step
    return angular + step, linear


@wp.func
def accelerate_link(
    model: ModelArrays, work: WorkArrays, rates: Array, row: int, link: int, worker: int, angular: Vec3, linear: Vec3
):
    """Write the rates of the dofs of a link to rows `row + dof`, and its acceleration, given that at vdot = 0."""
    first = model.link_dof[link]
    for dof in range(first, first + model.link_dofs[link]):
        U = load_vec3(work.U_moment, 3 * dof, worker)
        V = load_vec3(work.U_force, 3 * dof, worker)
        left = work.u[dof, worker] - dot(U, angular) - dot(V, linear)
        rates[row + dof, worker] = left * work.D_inverse[dof, worker]
        if model.link_is_coupled[link] == 1:
            take_earlier(work, rates, row, first, dof - first, worker)
        step = load_vec3(work.axis, 3 * dof, worker) * rates[row + dof, worker]
        angular, linear = add_motion(angular, linear, step, model.dof_is_linear[dof])
    store_vec3(work.angular, 3 * link, worker, angular)
    store_vec3(work.linear, 3 * link, worker, linear)


@wp.func
def accelerate_base(model: ModelArrays, work: WorkArrays, g: Vec3, part: Real, block: int, worker: int):
    """Write a part of the acceleration of what the tree is joined to, less gravity: links feel their weight."""
    store_vec3(work.angular, 3 * model.link_count, worker, load_vec3(model.base, BASE_ANGULAR_RATE, block) * part)
    store_vec3(work.linear, 3 * model.link_count, worker, load_vec3(model.base, BASE_LINEAR_RATE, block) * part - g)


@wp.func
def accelerate_links(model: ModelArrays, work: WorkArrays, vdot: Array, block: int, worker: int):
    """Write the acceleration of every dof to `vdot`; angular and linear accelerations of the links to `work`."""
    g = load_vec3(model.gravity, 0, block)
    accelerate_base(model, work, g, real(1.0, g.x), block, worker)
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        a_P = load_vec3(work.angular, 3 * parent, worker)
        angular = a_P + load_vec3(work.velocity_moment, 3 * link, worker)
        linear = (
            load_vec3(work.linear, 3 * parent, worker)
            + cross(a_P, load_vec3(work.p_PM, 3 * link, worker))
            + load_vec3(work.velocity_force, 3 * link, worker)
        )
        accelerate_link(model, work, vdot, 0, link, worker, angular, linear)

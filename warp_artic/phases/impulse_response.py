"""Velocity changes that a joint-space impulse causes, from the factors of the articulated inertias:  Y = M^-1 P.

Inward:  u = impulse - s.p,  p += U u / D, shifted to the parent.  Outward:  as accelerations, from a world at rest.
M contains armature and the springs and dampers that are folded into the factors. What the inward pass gives, u, are the
innovations of the impulse: with M^-1 = W^T D^-1 W it is W impulse (Jain, Robot and Multibody Dynamics, section 7.2).
"""

import warp as wp

from warp_artic.math.numbers import Vec3, add, mul, real, sqrt, sub, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, dot
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.phases.joint_accelerations import accelerate_link
from warp_artic.phases.joint_springs import take_later


@wp.func
def clear_link(work: WorkArrays, link: int, worker: int, null: Vec3):
    """No impulse on a link."""
    store_vec3(work.moment, 3 * link, worker, null)
    store_vec3(work.force, 3 * link, worker, null)


@wp.func
def along(s: Vec3, n: Vec3, f: Vec3, is_linear: int):
    """s.p, of a moment and a force."""
    if is_linear == 1:
        return dot(s, f)
    return dot(s, n)


@wp.func
def pass_inward(model: ModelArrays, work: WorkArrays, link: int, worker: int):
    """Pass the impulses on a link and its dofs to its parent."""
    parent = model.link_parent[link]
    first = model.link_dof[link]
    dofs = model.link_dofs[link]
    n = load_vec3(work.moment, 3 * link, worker)
    f = load_vec3(work.force, 3 * link, worker)
    for j in range(dofs):
        dof = first + dofs - 1 - j
        s = load_vec3(work.axis, 3 * dof, worker)
        work.u[dof, worker] = work.u[dof, worker] - along(s, n, f, model.dof_is_linear[dof])
        if model.link_is_coupled[link] == 1:
            take_later(work, first, dofs, dofs - 1 - j, worker)
        scaled = work.u[dof, worker] * work.D_inverse[dof, worker]
        n = n + load_vec3(work.U_moment, 3 * dof, worker) * scaled
        f = f + load_vec3(work.U_force, 3 * dof, worker) * scaled
    if parent < model.link_count:
        r = load_vec3(work.p_PM, 3 * link, worker)
        store_vec3(work.moment, 3 * parent, worker, load_vec3(work.moment, 3 * parent, worker) + n + cross(r, f))
        store_vec3(work.force, 3 * parent, worker, load_vec3(work.force, 3 * parent, worker) + f)


@wp.func
def pass_outward(model: ModelArrays, work: WorkArrays, changes: Array, first_row: int, worker: int, null: Vec3):
    """Write the velocity changes of all dofs to rows `first_row` + dof of `changes`."""
    store_vec3(work.angular, 3 * model.link_count, worker, null)
    store_vec3(work.linear, 3 * model.link_count, worker, null)
    pass_on(model, work, changes, first_row, worker)


@wp.func
def pass_on(model: ModelArrays, work: WorkArrays, changes: Array, first_row: int, worker: int):
    """The same, from the velocity change of what the tree is joined to."""
    for k in range(model.link_count):
        pass_to_link(model, work, changes, first_row, model.order[k], worker)


@wp.func
def pass_to_link(model: ModelArrays, work: WorkArrays, changes: Array, first_row: int, link: int, worker: int):
    """Write the velocity changes of the dofs of a link, from that of its parent."""
    parent = model.link_parent[link]
    angular = load_vec3(work.angular, 3 * parent, worker)
    linear = load_vec3(work.linear, 3 * parent, worker) + cross(angular, load_vec3(work.p_PM, 3 * link, worker))
    accelerate_link(model, work, changes, first_row, link, worker, angular, linear)


@wp.func
def innovate(model: ModelArrays, work: WorkArrays, jacobian: Array, row: int, worker: int):
    """Write the innovations of a force Jacobian, given by the terms of constraint `row`, to `work.u`.

    The pass visits only the links between the dofs of the row and the root.
    """
    zero = real(0.0, work.D_inverse[0, worker])
    null = vec3(zero, zero, zero)
    if model.innovations_only == 1:
        # Nothing reads those of the other dofs.
        for k in range(model.row_support[row], model.row_support[row] + model.row_supports[row]):
            work.u[model.support_dof[k], worker] = zero
    else:
        for dof in range(model.dof_count):
            work.u[dof, worker] = zero
    start = model.row_term[row]
    for term in range(start, start + model.row_terms[row]):
        dof = model.term_dof[term]
        work.u[dof, worker] = work.u[dof, worker] + jacobian[term, worker]
    first_step = model.row_path[row]
    steps = model.row_steps[row]
    for k in range(first_step, first_step + steps):
        clear_link(work, model.path_link[k], worker, null)
    for k in range(first_step, first_step + steps):
        pass_inward(model, work, model.path_link[k], worker)


@wp.func
def keep_innovations(model: ModelArrays, work: WorkArrays, row: int, response: int, worker: int):
    """Write the innovations in `work.u` of the dofs between the terms of constraint `row` and the root, root first."""
    start = model.row_support[row]
    for k in range(model.row_supports[row]):
        work.response[response + k, worker] = work.u[model.support_dof[start + k], worker]


@wp.func
def respond_on_path(model: ModelArrays, work: WorkArrays, row: int, response: int, worker: int):
    """Write the response to P of constraint `row`, from its innovations, to `work.velocity_change`.

    The outward pass visits only the links between the root and the dofs of the row.
    """
    zero = real(0.0, work.D_inverse[0, worker])
    null = vec3(zero, zero, zero)
    first = model.row_support[row]
    for k in range(model.row_supports[row]):
        work.u[model.support_dof[first + k], worker] = work.response[response + k, worker]
    store_vec3(work.angular, 3 * model.link_count, worker, null)
    store_vec3(work.linear, 3 * model.link_count, worker, null)
    last = model.row_path[row] + model.row_steps[row] - 1
    for k in range(model.row_steps[row]):
        pass_to_link(model, work, work.velocity_change, 0, model.path_link[last - k], worker)


@wp.func
def respond(model: ModelArrays, work: WorkArrays, row: int, response: int, worker: int):
    """Write the response to P of constraint `row` to rows `response` ... of `work.response`.

    For the direct solver these are its innovations, of the dofs that have any.
    """
    innovate(model, work, work.P, row, worker)
    if model.innovations_only == 1:
        keep_innovations(model, work, row, response, worker)
    else:
        zero = real(0.0, work.D_inverse[0, worker])
        pass_outward(model, work, work.response, response, worker, vec3(zero, zero, zero))


@wp.func
def respond_to_loads(model: ModelArrays, work: WorkArrays, changes: Array, worker: int):
    """Write the response to the joint-space impulse in `work.u` to `changes`."""
    zero = real(0.0, work.D_inverse[0, worker])
    null = vec3(zero, zero, zero)
    for link in range(model.link_count):
        clear_link(work, link, worker, null)
    for k in range(model.link_count):
        pass_inward(model, work, model.order[model.link_count - 1 - k], worker)
    pass_outward(model, work, changes, 0, worker, null)


@wp.func
def write_square_root(model: ModelArrays, work: WorkArrays, square_root: Array, block: int, worker: int):
    """Write D^-1/2 W by rows, of which the square is M^-1: with it, levers of a long chain are not squared.

    Entries of dofs that are not inward of a column stay zero.
    """
    zero = real(0.0, work.D_inverse[0, worker])
    null = vec3(zero, zero, zero)
    for k in range(model.dof_count):
        link = int(model.dof_link[k])
        while link < model.link_count:
            clear_link(work, link, worker, null)
            for dof in range(model.link_dof[link], model.link_dof[link] + model.link_dofs[link]):
                work.u[dof, worker] = zero
            link = model.link_parent[link]
        work.u[k, worker] = real(1.0, zero)
        link = model.dof_link[k]
        while link < model.link_count:
            pass_inward(model, work, link, worker)
            for dof in range(model.link_dof[link], model.link_dof[link] + model.link_dofs[link]):
                scale = sqrt(work.D_inverse[dof, worker])
                square_root[dof * model.dof_count + k, block] = scale * work.u[dof, worker]
            link = model.link_parent[link]

"""Springs between the dofs of one joint, in the factors of the articulated inertia.

The drives of a joint with several rotations (`constraints.rotation_drive`) are a spring with a symmetric matrix K on
its dofs. The diagonal is the spring of each dof, with `phases.implicit` and one theta and reach for the joint, the
largest of its dofs. An entry K_jl beside it adds to the effort of dof j
    - K_jl (reach h w_l - (1 - weight) h v_l),   w = (1 - theta) v + theta v+,   cross_slope = theta reach h K_jl.

Dofs are eliminated from the last to the first (Featherstone, section 7.3). With c_jl = h cross_slope the entry of two
dofs j < l of a joint is a_jl = s_j.U_l + c_jl; of three dofs the elimination of m leaves c_jl - c_jm a_lm / D_m. Then
    U_j loses c_jl U_l / D_l,   D_j loses c_jl (s_j.U_l + a_jl) / D_l,   u_j loses c_jl u_l / D_l,
and outward  vdot_l loses c_jl vdot_j / D_l.
"""

import warp as wp

from warp_artic.math.numbers import Real, Sym3, add, div, maximum, mul, real, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.phases.implicit import joint_resistance, joint_weights, measured_theta


@wp.func
def pair(first: int, j: int, l: int):
    """Where the entry of two dofs of the joint whose first dof is given is stored."""
    return first + j + l - 1


@wp.func
def widen_joint_weights(
    model: ModelArrays, work: WorkArrays, first: int, dof: int, block: int, worker: int, bare: Real, h: Real
):
    """Write the largest theta and reach of a joint so far, with a dof whose inertia without spring is `bare`."""
    k = work.spring[dof, worker]
    d = work.damper[dof, worker]
    inertia = bare + model.armature[dof - model.root_dofs, block]
    theta, reach = joint_weights(k, d, inertia, work.free_weight[0, worker], h)
    theta = measured_theta(work.measured_theta[dof, worker], theta)
    if dof == first:
        work.theta[first, worker] = theta
        work.reach[first, worker] = reach
    else:
        work.theta[first, worker] = maximum(theta, work.theta[first, worker])
        work.reach[first, worker] = maximum(reach, work.reach[first, worker])


@wp.func
def couple_dofs(model: ModelArrays, work: WorkArrays, first: int, dofs: int, block: int, worker: int, A: Sym3, h: Real):
    """Write theta and reach of a joint, from the A that its link has as yet, and the entries c."""
    for dof in range(first, first + dofs):
        s = load_vec3(work.axis, 3 * dof, worker)
        widen_joint_weights(model, work, first, dof, block, worker, dot(s, A * s), h)
    for dof in range(first + 1, first + dofs):
        work.theta[dof, worker] = work.theta[first, worker]
        work.reach[dof, worker] = work.reach[first, worker]
    scale = work.theta[first, worker] * work.reach[first, worker] * h * h
    for k in range(2 * dofs - 3):
        work.coupled_entry[first + k, worker] = scale * work.cross_spring[first + k, worker]


@wp.func
def reduce_entry(work: WorkArrays, first: int, dofs: int, j: int, l: int, worker: int):
    """c_jl when l is eliminated; of three dofs it is changed by the one that was eliminated before."""
    c = work.coupled_entry[pair(first, j, l), worker]
    for m in range(l + 1, dofs):
        s_l = load_vec3(work.axis, 3 * (first + l), worker)
        a = dot(s_l, load_vec3(work.U_moment, 3 * (first + m), worker)) + work.coupled_entry[pair(first, l, m), worker]
        c = c - work.coupled_entry[pair(first, j, m), worker] * a * work.D_inverse[first + m, worker]
    work.coupled_entry[pair(first, j, l), worker] = c
    return c


@wp.func
def couple_inward(
    model: ModelArrays,
    work: WorkArrays,
    first: int,
    dofs: int,
    j: int,
    block: int,
    worker: int,
    D: Real,
    bias: Real,
    h: Real,
):
    """Write U, 1 / D and u of dof j, whose U, D and s.p are those without springs as yet."""
    dof = first + j
    s = load_vec3(work.axis, 3 * dof, worker)
    U = load_vec3(work.U_moment, 3 * dof, worker)
    V = load_vec3(work.U_force, 3 * dof, worker)
    resistance = joint_resistance(work.spring[dof, worker], work.damper[dof, worker], work.reach[dof, worker], h)
    load = work.effort[dof, worker] - resistance * work.v[dof, worker] - cross_loss(model, work, dof, worker, work.v, h)
    work.load[dof, worker] = load
    work.u[dof, worker] = load - bias
    D = D + model.armature[dof - model.root_dofs, block] + h * work.theta[dof, worker] * resistance
    for k in range(dofs - 1 - j):
        l = dofs - 1 - k
        c = reduce_entry(work, first, dofs, j, l, worker)
        U_l = load_vec3(work.U_moment, 3 * (first + l), worker)
        part = c * work.D_inverse[first + l, worker]
        along = dot(s, U_l)
        D = D - part * (along + along + c)
        U = U - U_l * part
        V = V - load_vec3(work.U_force, 3 * (first + l), worker) * part
    store_vec3(work.U_moment, 3 * dof, worker, U)
    store_vec3(work.U_force, 3 * dof, worker, V)
    work.D_inverse[dof, worker] = real(1.0, D) / D
    take_later(work, first, dofs, j, worker)


@wp.func
def take_later(work: WorkArrays, first: int, dofs: int, j: int, worker: int):
    """Take from u of a dof what later dofs of its joint take."""
    u = work.u[first + j, worker]
    for l in range(j + 1, dofs):
        c = work.coupled_entry[pair(first, j, l), worker]
        u = u - c * work.D_inverse[first + l, worker] * work.u[first + l, worker]
    work.u[first + j, worker] = u


@wp.func
def take_earlier(work: WorkArrays, rates: Array, row: int, first: int, l: int, worker: int):
    """Take from the rate of a dof what the rates of earlier dofs of its joint, rows `row + dof`, take."""
    rate = rates[row + first + l, worker]
    for j in range(l):
        c = work.coupled_entry[pair(first, j, l), worker]
        rate = rate - c * work.D_inverse[first + l, worker] * rates[row + first + j, worker]
    rates[row + first + l, worker] = rate


@wp.func
def cross_loss(model: ModelArrays, work: WorkArrays, dof: int, worker: int, ends: Array, h: Real):
    """What springs between the dofs of a joint take from the effort of one; `ends` has v+, or v in its place."""
    link = model.dof_link[dof]
    total = real(0.0, h)
    if model.link_is_coupled[link] == 0:
        return total
    first = model.link_dof[link]
    theta = work.theta[first, worker]
    reach = work.reach[first, worker]
    one = real(1.0, h)
    slope = theta * reach * h
    drag = ((one - theta) * reach - (one - work.free_weight[0, worker])) * h
    for k in range(model.link_dofs[link]):
        other = first + k
        if other != dof:
            K = work.cross_spring[pair(first, dof - first, k), worker]
            total = total + K * (drag * work.v[other, worker] + slope * ends[other, worker])
    return total

"""Springs between the dofs of one joint, in the factors of the articulated inertia.

The drives of a joint with several rotations (`constraints.rotation_drive`) are a spring with a symmetric matrix K on
its dofs. The diagonal is the spring of each dof, with `phases.implicit` and one theta and reach for the joint, the
largest of its dofs. An entry K_jl beside it adds to the effort of dof j
    - K_jl (reach h w_l - (1 - share) h v_l),   w = (1 - theta) v + theta v+,   cross_slope = theta reach h K_jl.

Dofs are eliminated from the last to the first (Featherstone, section 7.3). With c_jl = h cross_slope the entry of two
dofs j < l of a joint is a_jl = s_j.U_l + c_jl; of three dofs the elimination of m leaves c_jl - c_jm a_lm / D_m. Then
    U_j loses c_jl U_l / D_l,   D_j loses c_jl (s_j.U_l + a_jl) / D_l,   u_j loses c_jl u_l / D_l,
and outward  vdot_l loses c_jl vdot_j / D_l.
"""

import warp as wp

from warp_artic.math.numbers import Real, Sym3, add, div, maximum, mul, real, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.phases.implicit import joint_resistance, joint_shares, measured_theta


@wp.func
def pair(first: int, j: int, l: int):
    """Where the entry of two dofs of the joint whose first dof is given is stored."""
    return first + j + l - 1


@wp.func
def widen_shares(
    model: ModelArrays, work: WorkArrays, first: int, dof: int, column: int, slot: int, bare: Real, h: Real
):
    """Write the largest theta and reach of a joint so far, with a dof whose inertia without spring is `bare`."""
    k = work.spring[dof, slot]
    d = work.damper[dof, slot]
    inertia = bare + model.armature[dof - model.root_dofs, column]
    theta, reach = joint_shares(k, d, inertia, work.free_share[0, slot], h)
    theta = measured_theta(work.measured[dof, slot], theta)
    if dof == first:
        work.theta[first, slot] = theta
        work.reach[first, slot] = reach
    else:
        work.theta[first, slot] = maximum(theta, work.theta[first, slot])
        work.reach[first, slot] = maximum(reach, work.reach[first, slot])


@wp.func
def couple_dofs(model: ModelArrays, work: WorkArrays, first: int, dofs: int, column: int, slot: int, A: Sym3, h: Real):
    """Write theta and reach of a joint, from the A that its link has as yet, and the entries c."""
    for dof in range(first, first + dofs):
        s = load_vec3(work.axis, 3 * dof, slot)
        widen_shares(model, work, first, dof, column, slot, dot(s, A * s), h)
    for dof in range(first + 1, first + dofs):
        work.theta[dof, slot] = work.theta[first, slot]
        work.reach[dof, slot] = work.reach[first, slot]
    scale = work.theta[first, slot] * work.reach[first, slot] * h * h
    for k in range(2 * dofs - 3):
        work.coupled_entry[first + k, slot] = scale * work.cross_spring[first + k, slot]


@wp.func
def reduce_entry(work: WorkArrays, first: int, dofs: int, j: int, l: int, slot: int):
    """c_jl when l is eliminated; of three dofs it is changed by the one that was eliminated before."""
    c = work.coupled_entry[pair(first, j, l), slot]
    for m in range(l + 1, dofs):
        s_l = load_vec3(work.axis, 3 * (first + l), slot)
        a = dot(s_l, load_vec3(work.U_moment, 3 * (first + m), slot)) + work.coupled_entry[pair(first, l, m), slot]
        c = c - work.coupled_entry[pair(first, j, m), slot] * a * work.D_inverse[first + m, slot]
    work.coupled_entry[pair(first, j, l), slot] = c
    return c


@wp.func
def couple_inward(
    model: ModelArrays,
    work: WorkArrays,
    first: int,
    dofs: int,
    j: int,
    column: int,
    slot: int,
    D: Real,
    bias: Real,
    h: Real,
):
    """Write U, 1 / D and u of dof j, whose U, D and s.p are those without springs as yet."""
    dof = first + j
    s = load_vec3(work.axis, 3 * dof, slot)
    U = load_vec3(work.U_moment, 3 * dof, slot)
    V = load_vec3(work.U_force, 3 * dof, slot)
    resistance = joint_resistance(work.spring[dof, slot], work.damper[dof, slot], work.reach[dof, slot], h)
    load = work.effort[dof, slot] - resistance * work.v[dof, slot] - cross_loss(model, work, dof, slot, work.v, h)
    work.load[dof, slot] = load
    work.u[dof, slot] = load - bias
    D = D + model.armature[dof - model.root_dofs, column] + h * work.theta[dof, slot] * resistance
    for k in range(dofs - 1 - j):
        l = dofs - 1 - k
        c = reduce_entry(work, first, dofs, j, l, slot)
        U_l = load_vec3(work.U_moment, 3 * (first + l), slot)
        part = c * work.D_inverse[first + l, slot]
        along = dot(s, U_l)
        D = D - part * (along + along + c)
        U = U - U_l * part
        V = V - load_vec3(work.U_force, 3 * (first + l), slot) * part
    store_vec3(work.U_moment, 3 * dof, slot, U)
    store_vec3(work.U_force, 3 * dof, slot, V)
    work.D_inverse[dof, slot] = real(1.0, D) / D
    take_later(work, first, dofs, j, slot)


@wp.func
def take_later(work: WorkArrays, first: int, dofs: int, j: int, slot: int):
    """Take from u of a dof what later dofs of its joint take."""
    u = work.u[first + j, slot]
    for l in range(j + 1, dofs):
        c = work.coupled_entry[pair(first, j, l), slot]
        u = u - c * work.D_inverse[first + l, slot] * work.u[first + l, slot]
    work.u[first + j, slot] = u


@wp.func
def take_earlier(work: WorkArrays, rates: Array, row: int, first: int, l: int, slot: int):
    """Take from the rate of a dof what the rates of earlier dofs of its joint, rows `row + dof`, take."""
    rate = rates[row + first + l, slot]
    for j in range(l):
        c = work.coupled_entry[pair(first, j, l), slot]
        rate = rate - c * work.D_inverse[first + l, slot] * rates[row + first + j, slot]
    rates[row + first + l, slot] = rate


@wp.func
def cross_loss(model: ModelArrays, work: WorkArrays, dof: int, slot: int, ends: Array, h: Real):
    """What springs between the dofs of a joint take from the effort of one; `ends` has v+, or v in its place."""
    link = model.dof_link[dof]
    total = real(0.0, h)
    if model.link_is_coupled[link] == 0:
        return total
    first = model.link_dof[link]
    theta = work.theta[first, slot]
    reach = work.reach[first, slot]
    one = real(1.0, h)
    slope = theta * reach * h
    drag = ((one - theta) * reach - (one - work.free_share[0, slot])) * h
    for k in range(model.link_dofs[link]):
        other = first + k
        if other != dof:
            K = work.cross_spring[pair(first, dof - first, k), slot]
            total = total + K * (drag * work.v[other, slot] + slope * ends[other, slot])
    return total

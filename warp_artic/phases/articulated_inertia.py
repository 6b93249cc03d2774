"""Articulated-body inertias and bias forces, inward (Featherstone, Rigid Body Dynamics Algorithms, section 7.3).

For each dof of a link, last to first, with motion axis s (angular or linear):
    U = I s,  D = s.U + armature,  u = effort - s.p,  I -= U U^T / D,  p += U u / D
and then, with the velocity acceleration c of the link, the parent at the distance r receives
    p += I c,   I and p shifted by r.
A joint of several dofs is the same elimination, one dof after the other.

The spring k and damper d of a dof are folded in: with the resistance of `phases.implicit` the effort that they add to
that at rest is  - resistance (v + theta h vdot),  so that D gains h theta resistance and the effort loses resistance v.
What springs between the dofs of a joint add is in `joint_springs`.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Mat3,
    Real,
    Sym3,
    Vec3,
    add,
    div,
    mul,
    real,
    sub,
)
from warp_artic.math.spatial import cross, dot, mat_less, shift_rotational, skew_mul_sym, sym_less, transpose_mul
from warp_artic.model.arrays import (
    ModelArrays,
    WorkArrays,
    load_mat3,
    load_sym3,
    load_vec3,
    store_mat3,
    store_sym3,
    store_vec3,
)
from warp_artic.phases.implicit import joint_resistance, joint_weights, measured_theta
from warp_artic.phases.joint_springs import couple_dofs, couple_inward


@wp.func
def fold_spring(model: ModelArrays, work: WorkArrays, dof: int, block: int, worker: int, D: Real, h: Real):
    """D with armature, spring and damper, and the effort without acceleration; writes theta, reach and that effort."""
    if dof < model.root_dofs:
        return D, work.effort[dof, worker]
    bare = D + model.armature[dof - model.root_dofs, block]
    k = work.spring[dof, worker]
    d = work.damper[dof, worker]
    theta, reach = joint_weights(k, d, bare, work.free_weight[0, worker], h)
    theta = measured_theta(work.measured_theta[dof, worker], theta)
    resistance = joint_resistance(k, d, reach, h)
    load = work.effort[dof, worker] - resistance * work.v[dof, worker]
    work.theta[dof, worker] = theta
    work.reach[dof, worker] = reach
    work.load[dof, worker] = load
    return bare + theta * (h * resistance), load


@wp.func
def project(A: Sym3, B: Mat3, M: Sym3, n: Vec3, f: Vec3, s: Vec3, is_linear: int):
    """The moment and the force of I s, s.I s and s.p."""
    if is_linear == 1:
        force = M * s
        return B * s, force, dot(s, force), dot(s, f)
    moment = A * s
    return moment, transpose_mul(B, s), dot(s, moment), dot(s, n)


@wp.func
def eliminate(A: Sym3, B: Mat3, M: Sym3, n: Vec3, f: Vec3, U: Vec3, V: Vec3, u: Real, D_inverse: Real):
    """I and p without a dof."""
    scaled = u * D_inverse
    return (
        sym_less(A, U, D_inverse),
        mat_less(B, U, V * D_inverse),
        sym_less(M, V, D_inverse),
        n + U * scaled,
        f + V * scaled,
    )


@wp.func
def factor_coupled_joint(model: ModelArrays, work: WorkArrays, link: int, block: int, worker: int, h: Real):
    """Eliminate the dofs of a joint with springs between them from I and p of its link."""
    first = model.link_dof[link]
    dofs = model.link_dofs[link]
    A = load_sym3(work.A, 6 * link, worker)
    B = load_mat3(work.B, 9 * link, worker)
    M = load_sym3(work.M, 6 * link, worker)
    n = load_vec3(work.moment, 3 * link, worker)
    f = load_vec3(work.force, 3 * link, worker)
    couple_dofs(model, work, first, dofs, block, worker, A, h)
    for j in range(dofs):
        dof = first + dofs - 1 - j
        s = load_vec3(work.axis, 3 * dof, worker)
        U, V, bare, bias = project(A, B, M, n, f, s, 0)
        store_vec3(work.U_moment, 3 * dof, worker, U)
        store_vec3(work.U_force, 3 * dof, worker, V)
        couple_inward(model, work, first, dofs, dofs - 1 - j, block, worker, bare, bias, h)
        U = load_vec3(work.U_moment, 3 * dof, worker)
        V = load_vec3(work.U_force, 3 * dof, worker)
        A, B, M, n, f = eliminate(A, B, M, n, f, U, V, work.u[dof, worker], work.D_inverse[dof, worker])
    store_sym3(work.A, 6 * link, worker, A)
    store_mat3(work.B, 9 * link, worker, B)
    store_sym3(work.M, 6 * link, worker, M)
    store_vec3(work.moment, 3 * link, worker, n)
    store_vec3(work.force, 3 * link, worker, f)


@wp.func
def factor_inertias(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write U, 1 / D and u of every dof; A, B, M, moment and force are used up."""
    for k in range(model.link_count):
        link = model.order[model.link_count - 1 - k]
        parent = model.link_parent[link]
        first = model.link_dof[link]
        dofs = int(model.link_dofs[link])
        if model.link_is_coupled[link] == 1:
            factor_coupled_joint(model, work, link, block, worker, h)
            dofs = 0
        A = load_sym3(work.A, 6 * link, worker)
        B = load_mat3(work.B, 9 * link, worker)
        M = load_sym3(work.M, 6 * link, worker)
        n = load_vec3(work.moment, 3 * link, worker)
        f = load_vec3(work.force, 3 * link, worker)
        one = real(1.0, f.x)
        for j in range(dofs):
            dof = first + dofs - 1 - j
            s = load_vec3(work.axis, 3 * dof, worker)
            U, V, bare, bias = project(A, B, M, n, f, s, model.dof_is_linear[dof])
            D, load = fold_spring(model, work, dof, block, worker, bare, h)
            u = load - bias
            D_inverse = one / D
            store_vec3(work.U_moment, 3 * dof, worker, U)
            store_vec3(work.U_force, 3 * dof, worker, V)
            work.D_inverse[dof, worker] = D_inverse
            work.u[dof, worker] = u
            A, B, M, n, f = eliminate(A, B, M, n, f, U, V, u, D_inverse)
        if parent < model.link_count:
            r = load_vec3(work.p_PM, 3 * link, worker)
            angular = load_vec3(work.velocity_moment, 3 * link, worker)
            linear = load_vec3(work.velocity_force, 3 * link, worker)
            n = n + A * angular + B * linear
            f = f + transpose_mul(B, angular) + M * linear
            B_shifted = B + skew_mul_sym(r, M)
            A_shifted = shift_rotational(A, B, B_shifted, r)
            store_sym3(work.A, 6 * parent, worker, load_sym3(work.A, 6 * parent, worker) + A_shifted)
            store_mat3(work.B, 9 * parent, worker, load_mat3(work.B, 9 * parent, worker) + B_shifted)
            store_sym3(work.M, 6 * parent, worker, load_sym3(work.M, 6 * parent, worker) + M)
            store_vec3(work.moment, 3 * parent, worker, load_vec3(work.moment, 3 * parent, worker) + n + cross(r, f))
            store_vec3(work.force, 3 * parent, worker, load_vec3(work.force, 3 * parent, worker) + f)

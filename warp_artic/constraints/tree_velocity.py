"""Velocity limits of each floating articulation as a whole:  |v_C| <= v_max of its centre of mass, and |w| <= w_max.

    v_C = sum m_i v_i / sum m_i,   w = I^-1 L
with L the angular momentum of all links about the common centre of mass, and I their inertia about it in the present
pose, as if joints were locked (PxArticulationReducedCoordinate::setMaxCOMLinearVelocity, setMaxCOMAngularVelocity: from
the total momentum and the spatial inertia of the articulation). Armature is not counted. The law is in `speed_limit`.

With the columns A_i of the centroidal momentum matrix, force f_i and moment n_i about the centre of mass, J is f_i / m
and I^-1 n_i. What an impulse along J changes is the motion of the whole as one rigid body: joints do not feel it.
"""

import warp as wp

from warp_artic.constraints.rows import set_jacobian_entry
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Sym3,
    Vec3,
    add,
    div,
    mul,
    neg,
    real,
    sub,
    sym3,
    vec3,
)
from warp_artic.math.spatial import cross, dot, sym_outer, sym_rotate, sym_scalar
from warp_artic.model.arrays import (
    Array,
    ModelArrays,
    WorkArrays,
    load_mat3,
    load_sym3,
    load_vec3,
    store_sym3,
    store_vec3,
)
from warp_artic.phases.composite_inertias import compose_inertias, composite_load
from warp_artic.phases.transmitted_forces import subtract_wrench

TREE_SPEED_ORDER = wp.constant(402)
TREE_SPIN_ORDER = wp.constant(403)
"""Of the families, in kernels."""


@wp.func
def sym_inverse(s: Sym3):
    """s^-1"""
    xx = s.yy * s.zz - s.yz * s.yz
    xy = s.xz * s.yz - s.xy * s.zz
    xz = s.xy * s.yz - s.xz * s.yy
    scale = real(1.0, xx) / (s.xx * xx + s.xy * xy + s.xz * xz)
    yy = s.xx * s.zz - s.xz * s.xz
    yz = s.xy * s.xz - s.xx * s.yz
    zz = s.xx * s.yy - s.xy * s.xy
    return sym3(xx, xy, xz, yy, yz, zz) * scale


@wp.func
def place_tree(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Write J of v_C and w, and the centre of mass from the origin of the root, 1 / m and I^-1, where links are.

    Of each floating tree.
    """
    compose_inertias(model, work, block, worker)
    for tree in range(model.tree_count):
        if model.tree_root[tree] >= 0:
            compose_tree(model, work, tree, worker)


@wp.func
def compose_tree(model: ModelArrays, work: WorkArrays, tree: int, worker: int):
    """The same of a tree."""
    root = model.order[model.tree_link[tree]]
    mass = work.M[root, worker]
    c = load_vec3(work.moment, 3 * root, worker) * (real(1.0, mass) / mass)
    about_center = load_sym3(work.A, 6 * root, worker) + sym_scalar(neg(dot(c, c) * mass)) + sym_outer(c) * mass
    mobility = sym_inverse(about_center)
    store_vec3(work.tree_center, 3 * tree, worker, c)
    store_sym3(work.tree_mobility, 7 * tree, worker, mobility)
    work.tree_mobility[7 * tree + 6, worker] = real(1.0, mass) / mass
    for k in range(model.tree_link[tree], model.tree_link[tree + 1]):
        link = model.order[k]
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            n, f = composite_load(model, work, link, dof, worker)
            n = n + cross(from_root(model, work, link, worker) - c, f)
            store_vec3(work.tree_jacobian, 6 * dof, worker, f * work.tree_mobility[7 * tree + 6, worker])
            store_vec3(work.tree_jacobian, 6 * dof + 3, worker, mobility * n)


@wp.func
def from_root(model: ModelArrays, work: WorkArrays, link: int, worker: int):
    """From the origin of the root to that of a link."""
    root = model.order[model.tree_link[model.link_tree[link]]]
    other = int(link)
    zero = real(0.0, work.M[0, worker])
    r = vec3(zero, zero, zero)
    while other != root:
        r = r + load_vec3(work.p_PM, 3 * other, worker)
        other = model.link_parent[other]
    return r


@wp.func
def spin_offset(model: ModelArrays, row: int):
    """Where w is in six rows, or v_C."""
    if model.row_family[row] == TREE_SPIN_ORDER:
        return 3
    return 0


@wp.func
def tree_motion(model: ModelArrays, work: WorkArrays, rates: Array, row: int, worker: int):
    """v_C or w with rates of the dofs, from `place_tree`."""
    first = spin_offset(model, row)
    start = model.row_term[row]
    dof = model.term_dof[start]
    y = load_vec3(work.tree_jacobian, 6 * dof + first, worker) * rates[dof, worker]
    for term in range(start + 1, start + model.row_terms[row]):
        dof = model.term_dof[term]
        y = y + load_vec3(work.tree_jacobian, 6 * dof + first, worker) * rates[dof, worker]
    return y


@wp.func
def set_tree_jacobian(model: ModelArrays, work: WorkArrays, row: int, worker: int, d: Vec3):
    """Write d^T J; the terms of the row are all dofs of its tree."""
    first = spin_offset(model, row)
    start = model.row_term[row]
    for term in range(start, start + model.row_terms[row]):
        J = load_vec3(work.tree_jacobian, 6 * model.term_dof[term] + first, worker)
        set_jacobian_entry(work, term, worker, dot(d, J))


@wp.func
def subtract_tree_impulse(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, F: Vec3):
    """Take the forces that move all links as one rigid body, with a force or moment in all, off what links need."""
    tree = model.row_item[row]
    c = load_vec3(work.tree_center, 3 * tree, worker)
    for k in range(model.tree_link[tree], model.tree_link[tree + 1]):
        link = model.order[k]
        mass = model.link_mass[link, block]
        R_WM = load_mat3(work.R_WM, 9 * link, worker)
        arm = R_WM * load_vec3(model.link_center, 3 * link, block)
        if model.row_family[row] == TREE_SPIN_ORDER:
            turn = load_sym3(work.tree_mobility, 7 * tree, worker) * F
            force = cross(turn, from_root(model, work, link, worker) + arm - c) * mass
            I_W = sym_rotate(R_WM, load_sym3(model.link_inertia, 6 * link, block))
            subtract_wrench(work, link, worker, force, cross(arm, force) + I_W * turn)
        else:
            force = F * (mass * work.tree_mobility[7 * tree + 6, worker])
            subtract_wrench(work, link, worker, force, cross(arm, force))

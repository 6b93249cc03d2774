"""Composite-rigid-body algorithm (Featherstone, Rigid Body Dynamics Algorithms, section 6.2), inward:

    I, m c and m of a link and all links beyond it, about the origin of its joint frame; to that of its parent, at r:
        m c + m r,   I + r.k 1 - (r k^T + k r^T) / 2  with k = 2 m c + m r;
    of each dof i the force F = m s or s x m c, with its moment;  M_ij = s_j.F at the joint of j, and armature.
The same F about the centre of mass of all links are the columns of the centroidal momentum matrix (Orin, Goswami and
Lee, Centroidal dynamics of a humanoid robot, 2013):  A v = momentum and angular momentum.
"""

import warp as wp

from warp_artic.math.numbers import Real, Vec3, add, div, mul, real, sub, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, dot, sym_outer, sym_product, sym_rotate, sym_scalar
from warp_artic.model.arrays import (
    Array,
    ModelArrays,
    WorkArrays,
    entry,
    load_mat3,
    load_sym3,
    load_vec3,
    set_entry,
    store_sym3,
    store_vec3,
)


@wp.func
def compose_inertias(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Write the composite inertia of every link where the links are placed: I, m c and m."""
    for link in range(model.link_count):
        R_WM = load_mat3(work.R_WM, 9 * link, worker)
        mass = model.link_mass[link, block]
        c = R_WM * load_vec3(model.link_center, 3 * link, block)
        mc = c * mass
        about_center = sym_rotate(R_WM, load_sym3(model.link_inertia, 6 * link, block))
        store_sym3(work.A, 6 * link, worker, about_center + sym_scalar(dot(mc, c)) - sym_outer(c) * mass)
        store_vec3(work.moment, 3 * link, worker, mc)
        work.M[link, worker] = mass
    for k in range(model.link_count):
        link = model.order[model.link_count - 1 - k]
        parent = model.link_parent[link]
        if parent < model.link_count:
            r = load_vec3(work.p_PM, 3 * link, worker)
            mass = work.M[link, worker]
            mc = load_vec3(work.moment, 3 * link, worker)
            moved = mc + r * mass
            A = load_sym3(work.A, 6 * link, worker) + sym_scalar(dot(r, mc + moved)) - sym_product(r, mc + moved)
            store_sym3(work.A, 6 * parent, worker, load_sym3(work.A, 6 * parent, worker) + A)
            store_vec3(work.moment, 3 * parent, worker, load_vec3(work.moment, 3 * parent, worker) + moved)
            work.M[parent, worker] = work.M[parent, worker] + mass


@wp.func
def composite_load(model: ModelArrays, work: WorkArrays, link: int, dof: int, worker: int):
    """I s of a dof of a link: moment and force."""
    s = load_vec3(work.axis, 3 * dof, worker)
    mc = load_vec3(work.moment, 3 * link, worker)
    if model.dof_is_linear[dof] == 1:
        return cross(mc, s), s * work.M[link, worker]
    return load_sym3(work.A, 6 * link, worker) * s, cross(s, mc)


@wp.func
def set_mass_matrix(
    model: ModelArrays,
    work: WorkArrays,
    apart: wp.array(dtype=int),
    matrix: Array,
    block: int,
    worker: int,
    with_armature: Real,
):
    """Write M from the composite inertias; `apart` has the entries of dofs that do not move each other's links."""
    count = model.dof_count
    zero = with_armature - with_armature
    for k in range(apart.shape[0]):
        set_entry(matrix, apart[k], block, 0, zero)
    for link in range(model.link_count):
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            n, f = composite_load(model, work, link, dof, worker)
            other = int(link)
            while other < model.link_count:
                start = model.link_dof[other]
                for j in range(start, start + model.link_dofs[other]):
                    s = load_vec3(work.axis, 3 * j, worker)
                    value = dot(s, n)
                    if model.dof_is_linear[j] == 1:
                        value = dot(s, f)
                    set_entry(matrix, dof * count, block, j, value)
                    set_entry(matrix, dof, block, j * count, value)
                n = n + cross(load_vec3(work.p_PM, 3 * other, worker), f)
                other = model.link_parent[other]
            if dof >= model.root_dofs:
                value = entry(matrix, dof * count, block, dof)
                armature = with_armature * model.armature[dof - model.root_dofs, block]
                set_entry(matrix, dof * count, block, dof, value + armature)


@wp.func
def find_center(model: ModelArrays, work: WorkArrays, tree: int, block: int, worker: int):
    """The centre of mass of all links of a tree."""
    zero = real(0.0, model.gravity[0, block])
    total = zero
    moment = vec3(zero, zero, zero)
    for link in range(model.link_count):
        if model.link_tree[link] == tree:
            mass = model.link_mass[link, block]
            c = load_mat3(work.R_WM, 9 * link, worker) * load_vec3(model.link_center, 3 * link, block)
            total = total + mass
            moment = moment + (load_vec3(work.p_WM, 3 * link, worker) + c) * mass
    return moment * (real(1.0, zero) / total)


@wp.func
def set_centroidal_matrix(model: ModelArrays, work: WorkArrays, matrix: Array, block: int, worker: int, center: Vec3):
    """Write the six rows of A, momentum first, from the composite inertias."""
    count = model.dof_count
    for link in range(model.link_count):
        first = model.link_dof[link]
        arm = load_vec3(work.p_WM, 3 * link, worker) - center
        for dof in range(first, first + model.link_dofs[link]):
            n, f = composite_load(model, work, link, dof, worker)
            n = n + cross(arm, f)
            matrix[dof, block] = f.x
            matrix[count + dof, block] = f.y
            matrix[2 * count + dof, block] = f.z
            matrix[3 * count + dof, block] = n.x
            matrix[4 * count + dof, block] = n.y
            matrix[5 * count + dof, block] = n.z

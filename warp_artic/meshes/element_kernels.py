"""Kernels of elements: what `meshes.elastic` says, for several at once.

One block of threads has one environment, or a group of them side by side. Its threads take the elements of one colour
at a time, which share no nodes, and add to forces and to the matrix without atomics: results do not depend on their
order. On a CPU the block is one thread, and one colour has all elements, in packs or one by one
(`meshes.element_access`).
"""

from functools import cache

import warp as wp

from warp_artic.math.numbers import any_positive, maximum, real
from warp_artic.meshes.block_sum import block_sum_for
from warp_artic.meshes.corotated import corotated
from warp_artic.meshes.element_access import element_access
from warp_artic.meshes.element_numbers import add, div, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.element_stiffness import elements_struct, stiffness_functions
from warp_artic.meshes.layout import with_known_layout
from warp_artic.meshes.materials import COROTATED, material_functions
from warp_artic.meshes.signed_svd import signed_svd_for
from warp_artic.meshes.system_numbers import system_numbers
from warp_artic.meshes.types import OPTIONS, MeshTypes


@cache
def elastic_kernels(types: MeshTypes, wide: bool, in_lanes: bool = False):
    """The kernels `differentiate`, of points that damping knows, and `assemble`: in lanes or one by one, of one
    environment or, `in_lanes`, of several side by side."""
    dim, Real, NodeVec = types.dim, types.real, types.vec
    numbers, ends = element_numbers(types, wide), system_numbers(types, in_lanes)
    access = element_access(types, wide, in_lanes)
    T, Vec, Mat, size = numbers.real, numbers.vec, numbers.mat, access.pack
    GroupVec, GroupMat, Totals = access.group_vec, access.group_mat, access.Totals
    spread, gather, scatter = access.spread, access.gather, access.scatter
    added, total_of = access.added, access.total
    flag_of, vector_at, set_vector_at, set_number_of = (
        ends.flag_of, ends.vector_at, ends.set_vector_at, ends.set_number_of,
    )  # fmt: skip
    Elements = elements_struct(types, wide, in_lanes)
    known_elements = with_known_layout(Elements)
    functions, of_corotated = material_functions(types, wide), corotated(types, wide)
    density, stress = functions.energy, functions.stress
    strain, rotation, stretch = of_corotated.strain, of_corotated.rotation, of_corotated.stretch
    stiffness = stiffness_functions(types, wide, in_lanes)
    damping_of, add_by_axes = stiffness.damping, stiffness.add_by_axes
    add_neo_hookean, add_corotated = stiffness.add_neo_hookean, stiffness.add_corotated
    signed_svd = signed_svd_for(types, wide)
    entry, one = numbers.entry, numbers.one
    outer, ddot, trace, transpose = numbers.outer, numbers.ddot, numbers.trace, numbers.transpose
    block_sum = block_sum_for(ends.real, wide)
    choose, row, put_block_beside = numbers.choose, numbers.row, ends.put_block

    @wp.func
    def displacement(elements: Elements, points: wp.array2d(dtype=GroupVec), group: int, pack: int, corner: int):
        return gather(points, group, elements.nodes, pack * size, corner) - spread(elements.rest[pack, corner])

    @wp.func
    def displacement_gradient(elements: Elements, points: wp.array2d(dtype=GroupVec), group: int, pack: int):
        gradients = spread(elements.gradients[pack])
        u_0 = displacement(elements, points, group, pack, 0)
        G = Mat()
        for a in range(dim):
            u = displacement(elements, points, group, pack, a + 1) - u_0
            G = G + outer(u, row(gradients, a))
        return G

    @wp.func
    def strain_since(F_ahead: Mat, G: Mat, past: Mat):
        """sym(F*^T (F - F_start))."""
        product = transpose(F_ahead) * (G - past)
        return Real(0.5) * (product + transpose(product))

    @wp.func
    def viscous(elements: Elements, E: Mat):
        extension = trace(E)
        return elements.damping_mu * ddot(E, E) + Real(0.5) * elements.damping_lambda * extension * extension

    @wp.func
    def add_forces(elements: Elements, group: int, pack: int, P: Mat, pulls: wp.array2d(dtype=GroupVec)):
        gradients = spread(elements.gradients[pack])
        first = pack * size
        count = elements.counts[pack]
        rest = Vec()
        for a in range(dim):
            pull = elements.volume[pack] * (P * row(gradients, a))
            scatter(pulls, group, elements.nodes, first, count, a + 1, Real(-1.0) * pull)
            rest = rest + pull
        scatter(pulls, group, elements.nodes, first, count, 0, rest)

    @wp.kernel(**OPTIONS)
    def differentiate(
        elements: Elements,
        start: wp.array2d(dtype=NodeVec),
        ahead: wp.array2d(dtype=NodeVec),
        environments: int,
        packs: int,
        threads: int,
        start_of_group: wp.array2d(dtype=GroupVec),
        ahead_of_group: wp.array2d(dtype=GroupVec),
        G_start: wp.array2d(dtype=Mat),
        F_ahead: wp.array2d(dtype=Mat),
    ):
        group, first = wp.tid()
        if wp.static(in_lanes):
            for node in range(start.shape[1]):
                start_of_group[group, node] = vector_at(start, environments, group, node)
                ahead_of_group[group, node] = vector_at(ahead, environments, group, node)
        for pack in range(first, packs, threads):
            G_start[group, pack] = displacement_gradient(elements, start_of_group, group, pack)
            G = displacement_gradient(elements, ahead_of_group, group, pack)
            F_ahead[group, pack] = one(entry(G, 0, 0)) + G

    @wp.func
    def begin(
        where: T,
        points: wp.array2d(dtype=NodeVec),
        environments: int,
        group: int,
        lane: int,
        lanes: int,
        places: wp.array2d(dtype=GroupVec),
        pulls: wp.array2d(dtype=GroupVec),
        values: wp.array2d(dtype=GroupMat),
    ):
        """Make sums zero where that is asked for, and lay the points of environments side by side."""
        if wp.static(in_lanes):
            for node in range(lane, places.shape[1], lanes):
                places[group, node] = vector_at(points, environments, group, node)
        if pulls.shape[0] > 0:
            for node in range(lane, pulls.shape[1], lanes):
                pulls[group, node] = GroupVec()
        if values.shape[0] > 0:
            for slot in range(lane, values.shape[1], lanes):
                if wp.static(in_lanes):
                    put_block_beside(values, group, slot, choose(where, GroupMat(), values[group, slot]))
                else:
                    values[group, slot] = GroupMat()

    @wp.kernel(**OPTIONS)
    def assemble(
        given: Elements,
        points: wp.array2d(dtype=NodeVec),
        G_start: wp.array2d(dtype=Mat),
        F_ahead_of: wp.array2d(dtype=Mat),
        rate: Real,
        asked: wp.array(dtype=int),
        projected: wp.array(dtype=int),
        environments: int,
        lanes: int,
        places: wp.array2d(dtype=GroupVec),
        pulls: wp.array2d(dtype=GroupVec),
        energy: wp.array(dtype=Real),
        forces: wp.array2d(dtype=NodeVec),
        values: wp.array2d(dtype=GroupMat),
    ):
        thread = wp.tid()
        elements = known_elements(given)
        group = thread // lanes
        lane = thread % lanes
        flag = flag_of(asked, environments, group)
        where = T(flag)
        is_asked = any_positive(flag)
        projects = where - where
        if values.shape[0] > 0:
            projects = T(flag_of(projected, environments, group))
        totals = Totals(Real(0.0))
        if is_asked:
            begin(where, points, environments, group, lane, lanes, places, pulls, values)
        # The block waits here until sums are zero, and below for each colour.
        block_sum(flag - flag)
        for color in range(elements.color_count):
            if is_asked:
                for pack in range(elements.colors[color] + lane, elements.colors[color + 1], lanes):
                    G = displacement_gradient(elements, places, group, pack)
                    F = one(where) + G
                    U = Mat()
                    V = Mat()
                    s = Vec()
                    X = Mat()
                    is_corotated = elements.material.law == COROTATED
                    by_axes = projects
                    if is_corotated and any_positive(real(1.0, where) - by_axes):
                        U, is_left = rotation(G)
                        X = stretch(G, U)
                        by_axes = maximum(by_axes, is_left)
                    if any_positive(by_axes):
                        U_axes, s, V = signed_svd(F)
                        U = choose(by_axes, U_axes, U)
                        if is_corotated:
                            X = choose(by_axes, strain(G, s, V), X)
                    past = Mat()
                    F_ahead = Mat()
                    if rate > Real(0.0):
                        past = G_start[group, pack]
                        F_ahead = F_ahead_of[group, pack]
                    E = strain_since(F_ahead, G, past)
                    if energy.shape[0] > 0:
                        psi = density(elements.material, G, X) + rate * viscous(elements, E)
                        totals = added(totals, elements.places[pack], elements.volume[pack] * psi)
                    if forces.shape[0] > 0:
                        P = stress(elements.material, G, X, U, V, by_axes)
                        if rate > Real(0.0):
                            pressure = elements.damping_lambda * trace(E)
                            S = Real(2.0) * elements.damping_mu * E + pressure * one(where)
                            P = P + rate * (F_ahead * S)
                        add_forces(elements, group, pack, P, pulls)
                    if values.shape[0] > 0:
                        of_axes = where * by_axes
                        others = where - of_axes
                        damping = damping_of(elements, pack, F_ahead, rate)
                        if any_positive(of_axes):
                            add_by_axes(elements, group, pack, of_axes, U, s, V, damping, projects, values)
                        if any_positive(others):
                            if is_corotated:
                                add_corotated(elements, group, pack, others, U, X, damping, values)
                            else:
                                add_neo_hookean(elements, group, pack, others, G, damping, values)
            block_sum(flag - flag)
        of_block = block_sum(total_of(totals))
        if is_asked and lane == 0 and energy.shape[0] > 0:
            set_number_of(energy, environments, group, flag, of_block)
        if wp.static(in_lanes):
            if is_asked and forces.shape[0] > 0:
                for node in range(forces.shape[1]):
                    set_vector_at(forces, environments, group, node, flag, pulls[group, node])

    return differentiate, assemble

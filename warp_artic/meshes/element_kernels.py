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
from warp_artic.meshes.element_access import element_access
from warp_artic.meshes.element_numbers import add, div, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.layout import with_known_layout
from warp_artic.meshes.materials import COROTATED, Material, material_functions
from warp_artic.meshes.signed_svd import signed_svd_for
from warp_artic.meshes.system_numbers import system_numbers
from warp_artic.meshes.types import OPTIONS, MeshTypes


@cache
def elements_struct(types: MeshTypes, wide: bool, in_lanes: bool):
    """The struct of the elements of a mesh, in P packs that are filled up with elements without volume."""
    access = element_access(types, wide, in_lanes)
    Real, T, Vec, Mat = types.real, access.real, access.vec, access.mat

    @wp.struct
    class Elements:
        material: Material
        damping_mu: Real
        """Lame's moduli, for damping."""
        damping_lambda: Real
        counts: wp.array(dtype=int)
        """Elements of each pack, without what fills it, shape (P)."""
        places: wp.array(dtype=int)
        """Of one element, its place in the pack that it would have among others, shape (P)."""
        rest: wp.array2d(dtype=Vec)
        """Rest positions of the nodes of elements, shape (P, dim + 1)."""
        nodes: wp.array2d(dtype=int)
        """Shape (P size, dim + 1)."""
        gradients: wp.array(dtype=Mat)
        """Rows are the gradients of the shape functions of the nodes but the first, shape (P)."""
        volume: wp.array(dtype=T)
        """At rest, with the thickness, shape (P)."""
        slots: wp.array2d(dtype=int)
        """Of the blocks in the matrix, row by row, shape (P size, (dim + 1)^2)."""
        color_count: int
        colors: wp.array(dtype=int)
        """Where the packs of each colour begin, and their count."""

    return Elements


@cache
def elastic_kernels(types: MeshTypes, wide: bool, in_lanes: bool = False):
    """The kernels `differentiate`, of points that damping knows, and `assemble`: in lanes or one by one, of one
    environment or, `in_lanes`, of several side by side."""
    dim, Real, NodeVec = types.dim, types.real, types.vec
    corners = dim + 1
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
    functions = material_functions(types, wide)
    strain, density = functions.strain, functions.energy
    rotation, stretch = functions.rotation, functions.stretch
    stress, spectrum = functions.stress, functions.spectrum
    slopes, neo_hookean_block = functions.slopes, functions.block
    turning, corotated_block = functions.turning, functions.corotated_block
    signed_svd = signed_svd_for(types, wide)
    entry, with_entry, one = numbers.entry, numbers.with_entry, numbers.one
    outer, dot, ddot, trace, transpose = numbers.outer, numbers.dot, numbers.ddot, numbers.trace, numbers.transpose
    block_sum = block_sum_for(ends.real, wide)
    choose, row, put_block_beside = numbers.choose, numbers.row, ends.put_block

    table = numbers.items(dim**3)
    Rows, item, with_item = table.type, table.item, table.with_item

    @wp.func
    def with_block_added(rows: Rows, a: int, block: Mat):
        """With a block in the sum of a row of blocks."""
        found = rows
        for i in range(dim):
            for j in range(dim):
                place = (a * dim + i) * dim + j
                found = with_item(found, place, item(found, place) + entry(block, i, j))
        return found

    @wp.func
    def block_of(rows: Rows, a: int):
        """The sum of a row of blocks."""
        found = Mat()
        for i in range(dim):
            for j in range(dim):
                found = with_entry(found, i, j, item(rows, (a * dim + i) * dim + j))
        return found

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
    def block_of_axes(D: Mat, A: Mat, B: Mat, turned: Mat, a: int, b: int):
        """M of the nodes of two gradients that are turned by V."""
        M = Mat()
        for i in range(dim):
            h_ai = entry(turned, a, i)
            h_bi = entry(turned, b, i)
            M_ii = entry(D, i, i) * h_ai * h_bi
            for j in range(dim):
                if j != i:
                    h_aj = entry(turned, a, j)
                    h_bj = entry(turned, b, j)
                    M_ii = M_ii + entry(A, i, j) * h_aj * h_bj
                    M = with_entry(M, i, j, entry(D, i, j) * h_ai * h_bj + entry(B, i, j) * h_aj * h_bi)
            M = with_entry(M, i, i, M_ii)
        return M

    @wp.func
    def viscous_block(elements: Elements, gradients: Mat, squares: Mat, turned: Mat, a: int, b: int):
        """Stiffness of damping of two gradients, for a rate of one: of F* F*^T, and of gradients that F* turns."""
        p = row(turned, a)
        q = row(turned, b)
        across = dot(row(gradients, a), row(gradients, b)) * squares
        return elements.damping_mu * (across + outer(q, p)) + elements.damping_lambda * outer(p, q)

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

    @wp.func
    def put_block(
        elements: Elements,
        group: int,
        pack: int,
        where: T,
        a: int,
        b: int,
        elastic: Mat,
        squares: Mat,
        turned: Mat,
        rate: Real,
        rows: Rows,
        values: wp.array2d(dtype=GroupMat),
    ):
        """Add the block of two gradients, and that across the diagonal, which is its transpose, where that is asked
        for; gives the sums of rows with them."""
        block = elements.volume[pack] * elastic
        first = pack * size
        count = elements.counts[pack]
        if rate > Real(0.0):
            of_damping = viscous_block(elements, spread(elements.gradients[pack]), squares, turned, a, b)
            block = block + (rate * elements.volume[pack]) * of_damping
        block = choose(where, block, Mat())
        scatter(values, group, elements.slots, first, count, (a + 1) * corners + b + 1, block)
        found = with_block_added(rows, a, block)
        if b > a:
            across = transpose(block)
            scatter(values, group, elements.slots, first, count, (b + 1) * corners + a + 1, across)
            found = with_block_added(found, b, across)
        return found

    @wp.func
    def put_first_node(elements: Elements, group: int, pack: int, rows: Rows, values: wp.array2d(dtype=GroupMat)):
        """Add the blocks of the first node, which are what is left of each row."""
        first = pack * size
        count = elements.counts[pack]
        corner = Mat()
        for a in range(dim):
            sum_of_row = block_of(rows, a)
            negative = Real(-1.0) * sum_of_row
            scatter(values, group, elements.slots, first, count, (a + 1) * corners, negative)
            scatter(values, group, elements.slots, first, count, a + 1, transpose(negative))
            corner = corner + sum_of_row
        scatter(values, group, elements.slots, first, count, 0, corner)

    @wp.func
    def add_stiffness_of_axes(
        elements: Elements,
        group: int,
        pack: int,
        where: T,
        U: Mat,
        s: Vec,
        V: Mat,
        F_ahead: Mat,
        rate: Real,
        projects: T,
        values: wp.array2d(dtype=GroupMat),
    ):
        D, A, B = spectrum(elements.material, s, projects)
        gradients = spread(elements.gradients[pack])
        squares = F_ahead * transpose(F_ahead)
        turned = gradients * transpose(F_ahead)
        in_axes = gradients * V
        rows = Rows()
        for a in range(dim):
            for b in range(a, dim):
                block = U * block_of_axes(D, A, B, in_axes, a, b) * transpose(U)
                rows = put_block(elements, group, pack, where, a, b, block, squares, turned, rate, rows, values)
        put_first_node(elements, group, pack, rows, values)

    @wp.func
    def add_neo_hookean_stiffness(
        elements: Elements,
        group: int,
        pack: int,
        where: T,
        G: Mat,
        F_ahead: Mat,
        rate: Real,
        values: wp.array2d(dtype=GroupMat),
    ):
        gradients = spread(elements.gradients[pack])
        squares = F_ahead * transpose(F_ahead)
        turned = gradients * transpose(F_ahead)
        F, C, share, curve, pressure = slopes(elements.material, G)
        rows = Rows()
        for a in range(dim):
            for b in range(a, dim):
                g = row(gradients, a)
                h = row(gradients, b)
                block = neo_hookean_block(elements.material, F, C, share, curve, pressure, g, h)
                rows = put_block(elements, group, pack, where, a, b, block, squares, turned, rate, rows, values)
        put_first_node(elements, group, pack, rows, values)

    @wp.func
    def add_corotated_stiffness(
        elements: Elements,
        group: int,
        pack: int,
        where: T,
        R: Mat,
        X: Mat,
        F_ahead: Mat,
        rate: Real,
        values: wp.array2d(dtype=GroupMat),
    ):
        gradients = spread(elements.gradients[pack])
        squares = F_ahead * transpose(F_ahead)
        turned = gradients * transpose(F_ahead)
        extension = trace(X)
        rows = Rows()
        for a in range(dim):
            g = row(gradients, a)
            r = R * g
            turns = turning(R, X, r)
            for b in range(a, dim):
                h = row(gradients, b)
                block = corotated_block(elements.material, extension, g, h, r, R * h, turns)
                rows = put_block(elements, group, pack, where, a, b, block, squares, turned, rate, rows, values)
        put_first_node(elements, group, pack, rows, values)

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
                        if any_positive(of_axes):
                            add_stiffness_of_axes(
                                elements, group, pack, of_axes, U, s, V, F_ahead, rate, projects, values
                            )
                        if any_positive(others):
                            if is_corotated:
                                add_corotated_stiffness(elements, group, pack, others, U, X, F_ahead, rate, values)
                            else:
                                add_neo_hookean_stiffness(elements, group, pack, others, G, F_ahead, rate, values)
            block_sum(flag - flag)
        of_block = block_sum(total_of(totals))
        if is_asked and lane == 0 and energy.shape[0] > 0:
            set_number_of(energy, environments, group, flag, of_block)
        if wp.static(in_lanes):
            if is_asked and forces.shape[0] > 0:
                for node in range(forces.shape[1]):
                    set_vector_at(forces, environments, group, node, flag, pulls[group, node])

    return differentiate, assemble

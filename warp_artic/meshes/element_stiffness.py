"""Stiffness of elements: a block for each two of their nodes, of the elastic law and of damping.

The law gives the blocks of two gradients of shape functions; those of the first node are what makes the sum of each row
of blocks zero. Damping of a rate r adds, with F* of `meshes.elastic` and p, q the gradients g, h turned by F*,
    r (damping mu ((g h) F* F*^T + q p^T) + damping lambda p q^T).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.meshes.corotated import corotated
from warp_artic.meshes.element_access import element_access
from warp_artic.meshes.element_numbers import add, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.materials import material_functions
from warp_artic.meshes.neo_hookean import neo_hookean
from warp_artic.meshes.types import Material, MeshTypes


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
def stiffness_functions(types: MeshTypes, wide: bool, in_lanes: bool) -> SimpleNamespace:
    """The functions `damping`, of F* and a rate, and those that add the stiffness of packs: `add_by_axes`, which
    projects it where that is asked for, `add_neo_hookean` and `add_corotated`."""
    numbers, access = element_numbers(types, wide), element_access(types, wide, in_lanes)
    dim, Real, T, Vec, Mat = types.dim, types.real, numbers.real, numbers.vec, numbers.mat
    corners, size, GroupMat = dim + 1, access.pack, access.group_mat
    spread, scatter, choose, row = access.spread, access.scatter, numbers.choose, numbers.row
    entry, with_entry, outer = numbers.entry, numbers.with_entry, numbers.outer
    dot, trace, transpose = numbers.dot, numbers.trace, numbers.transpose
    Elements = elements_struct(types, wide, in_lanes)
    spectrum = material_functions(types, wide).spectrum
    of_neo_hookean, of_corotated = neo_hookean(types, wide), corotated(types, wide)
    slopes, neo_hookean_block = of_neo_hookean.slopes, of_neo_hookean.block
    turning, corotated_block = of_corotated.turning, of_corotated.block
    table = numbers.items(dim**3)
    Rows, item, with_item = table.type, table.item, table.with_item

    @wp.struct
    class Damping:
        """Of a pack."""

        rate: Real
        squares: Mat
        """F* F*^T."""
        turned: Mat
        """Gradients that F* turns."""

    @wp.func
    def damping_of(elements: Elements, pack: int, F_ahead: Mat, rate: Real):
        return Damping(rate, F_ahead * transpose(F_ahead), spread(elements.gradients[pack]) * transpose(F_ahead))

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
    def viscous_block(elements: Elements, gradients: Mat, damping: Damping, a: int, b: int):
        """Stiffness of damping of two gradients, for a rate of one."""
        p = row(damping.turned, a)
        q = row(damping.turned, b)
        across = dot(row(gradients, a), row(gradients, b)) * damping.squares
        return elements.damping_mu * (across + outer(q, p)) + elements.damping_lambda * outer(p, q)

    @wp.func
    def put_block(
        elements: Elements,
        group: int,
        pack: int,
        where: T,
        a: int,
        b: int,
        elastic: Mat,
        damping: Damping,
        rows: Rows,
        values: wp.array2d(dtype=GroupMat),
    ):
        """Add the block of two gradients, and that across the diagonal, which is its transpose, where that is asked
        for; gives the sums of rows with them."""
        block = elements.volume[pack] * elastic
        first = pack * size
        count = elements.counts[pack]
        if damping.rate > Real(0.0):
            viscous = viscous_block(elements, spread(elements.gradients[pack]), damping, a, b)
            block = block + (damping.rate * elements.volume[pack]) * viscous
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
        damping: Damping,
        projects: T,
        values: wp.array2d(dtype=GroupMat),
    ):
        D, A, B = spectrum(elements.material, s, projects)
        gradients = spread(elements.gradients[pack])
        in_axes = gradients * V
        rows = Rows()
        for a in range(dim):
            for b in range(a, dim):
                block = U * block_of_axes(D, A, B, in_axes, a, b) * transpose(U)
                rows = put_block(elements, group, pack, where, a, b, block, damping, rows, values)
        put_first_node(elements, group, pack, rows, values)

    @wp.func
    def add_neo_hookean_stiffness(
        elements: Elements,
        group: int,
        pack: int,
        where: T,
        G: Mat,
        damping: Damping,
        values: wp.array2d(dtype=GroupMat),
    ):
        gradients = spread(elements.gradients[pack])
        F, C, share, curve, pressure = slopes(elements.material, G)
        rows = Rows()
        for a in range(dim):
            for b in range(a, dim):
                g = row(gradients, a)
                h = row(gradients, b)
                block = neo_hookean_block(elements.material, F, C, share, curve, pressure, g, h)
                rows = put_block(elements, group, pack, where, a, b, block, damping, rows, values)
        put_first_node(elements, group, pack, rows, values)

    @wp.func
    def add_corotated_stiffness(
        elements: Elements,
        group: int,
        pack: int,
        where: T,
        R: Mat,
        X: Mat,
        damping: Damping,
        values: wp.array2d(dtype=GroupMat),
    ):
        gradients = spread(elements.gradients[pack])
        extension = trace(X)
        rows = Rows()
        for a in range(dim):
            g = row(gradients, a)
            r = R * g
            turns = turning(R, X, r)
            for b in range(a, dim):
                h = row(gradients, b)
                block = corotated_block(elements.material, extension, g, h, r, R * h, turns)
                rows = put_block(elements, group, pack, where, a, b, block, damping, rows, values)
        put_first_node(elements, group, pack, rows, values)

    return SimpleNamespace(
        damping=damping_of,
        add_by_axes=add_stiffness_of_axes,
        add_neo_hookean=add_neo_hookean_stiffness,
        add_corotated=add_corotated_stiffness,
    )

"""Cofactors and the determinant J of F = I + G, with their derivatives, without loss of digits at small G."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math.numbers import neg, real
from warp_artic.meshes.element_numbers import add, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.types import MeshTypes


@cache
def determinants(types: MeshTypes, wide: bool) -> SimpleNamespace:
    """The functions of a dimension, of elements in lanes or of one."""
    numbers = element_numbers(types, wide)
    dim, Real, T, Vec, Mat = types.dim, types.real, numbers.real, numbers.vec, numbers.mat
    component, with_component, entry, with_entry = (
        numbers.component, numbers.with_component, numbers.entry, numbers.with_entry,
    )  # fmt: skip
    trace = numbers.trace

    @wp.func
    def with_diagonal_added(A: Mat, x: T):
        """A + x I."""
        found = Mat(A)
        for i in range(dim):
            found = with_entry(found, i, i, entry(found, i, i) + x)
        return found

    if dim == 2:

        @wp.func
        def cofactors(G: Mat):
            """cof(I + G) - I - tr(G) I + G^T, which is of second order."""
            return Mat()

        @wp.func
        def volume_excess(G: Mat):
            """J - 1 - tr(G)."""
            return entry(G, 0, 0) * entry(G, 1, 1) - entry(G, 0, 1) * entry(G, 1, 0)

        @wp.func
        def rest_of_product(s: Vec, i: int, j: int):
            """d2J / ds_i ds_j."""
            return real(1.0, component(s, 0))

        @wp.func
        def volume_block(F: Mat, g: Vec, h: Vec):
            """W."""
            area = component(g, 0) * component(h, 1) - component(g, 1) * component(h, 0)
            return with_entry(with_entry(Mat(), 0, 1, area), 1, 0, neg(area))

        @wp.func
        def times_across(A: Mat, r: Vec):
            """A [r], where the first row of [r] is that of r x, as all turn about one axis."""
            found = Mat()
            for i in range(2):
                found = with_entry(found, i, 0, neg(entry(A, i, 0) * component(r, 1)))
                found = with_entry(found, i, 1, entry(A, i, 0) * component(r, 0))
            return found

    else:

        @wp.func
        def cofactors(G: Mat):
            """cof(I + G) - I - tr(G) I + G^T = cof(G), which is of second order."""
            found = Mat()
            for i in range(3):
                k = (i + 1) % 3
                m = (i + 2) % 3
                for j in range(3):
                    p = (j + 1) % 3
                    q = (j + 2) % 3
                    found = with_entry(found, i, j, entry(G, k, p) * entry(G, m, q) - entry(G, k, q) * entry(G, m, p))
            return found

        @wp.func
        def volume_excess(G: Mat):
            """J - 1 - tr(G)."""
            minors = cofactors(G)
            first = entry(G, 0, 0) * entry(minors, 0, 0)
            for j in range(1, 3):
                first = first + entry(G, 0, j) * entry(minors, 0, j)
            return trace(minors) + first

        @wp.func
        def rest_of_product(s: Vec, i: int, j: int):
            """d2J / ds_i ds_j."""
            return component(s, 3 - i - j)

        @wp.func
        def volume_block(F: Mat, g: Vec, h: Vec):
            """W."""
            area = Vec()
            for i in range(3):
                j = (i + 1) % 3
                k = (i + 2) % 3
                area = with_component(area, i, component(g, j) * component(h, k) - component(g, k) * component(h, j))
            w = F * area
            found = Mat()
            for i in range(3):
                j = (i + 1) % 3
                k = (i + 2) % 3
                found = with_entry(found, j, k, component(w, i))
                found = with_entry(found, k, j, neg(component(w, i)))
            return found

        @wp.func
        def times_across(A: Mat, r: Vec):
            """A [r], where [r] makes r x y of y: rows of A x r."""
            found = Mat()
            for i in range(3):
                for j in range(3):
                    k = (j + 1) % 3
                    m = (j + 2) % 3
                    found = with_entry(found, i, j, entry(A, i, k) * component(r, m) - entry(A, i, m) * component(r, k))
            return found

    @wp.func
    def cofactors_of(G: Mat):
        """cof(I + G)."""
        found = cofactors(G)
        for i in range(dim):
            for j in range(dim):
                if i == j:
                    found = with_entry(found, i, i, Real(1.0) + trace(G) - entry(G, i, i) + entry(found, i, i))
                else:
                    found = with_entry(found, i, j, entry(found, i, j) - entry(G, j, i))
        return found

    @wp.func
    def J_without(s: Vec, i: int):
        """dJ / ds_i."""
        found = real(1.0, component(s, 0))
        for j in range(dim):
            if j != i:
                found = found * component(s, j)
        return found

    return SimpleNamespace(
        with_diagonal_added=with_diagonal_added,
        cofactors=cofactors,
        cofactors_of=cofactors_of,
        volume_excess=volume_excess,
        volume_block=volume_block,
        J_without=J_without,
        rest_of_product=rest_of_product,
        times_across=times_across,
    )

"""F = U diag(s) V^T with rotations U and V: only the smallest singular value may be negative.

One-sided Jacobi: plane rotations V make the columns of F V orthogonal, to the relative precision of the numbers also
where an element is nearly flat. The column that is left over is the cross product of the others, so that det U = 1.
"""

from functools import cache

import warp as wp

from warp_artic.math.numbers import absolute, any_positive, minimum, neg, real, sqrt, where_positive
from warp_artic.meshes.element_numbers import add, div, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.types import MeshTypes

SWEEPS = 16
"""Most passes over the planes; random matrices take four to six."""


@cache
def plane_rotation_for(types: MeshTypes, wide: bool) -> wp.Function:
    """Cosine and sine of the rotation that makes [[a, c], [c, b]] diagonal; c is not zero."""
    Real, T = types.real, element_numbers(types, wide).real

    @wp.func
    def plane_rotation(a: T, b: T, c: T):
        more = b - a
        twice = Real(2.0) * c
        t = where_positive(neg(more), neg(twice), twice) / (absolute(more) + sqrt(more * more + twice * twice))
        cosine = Real(1.0) / sqrt(Real(1.0) + t * t)
        return cosine, cosine * t

    return plane_rotation


@cache
def signed_svd_for(types: MeshTypes, wide: bool) -> wp.Function:
    """The function for a dimension and a precision, of elements in lanes or of one."""
    numbers = element_numbers(types, wide)
    dim, Real, T, Vec, Mat = types.dim, types.real, numbers.real, numbers.vec, numbers.mat
    orthogonal = types.epsilon**2
    planes = dim * (dim - 1) // 2
    component, with_component, entry, with_entry = (
        numbers.component, numbers.with_component, numbers.entry, numbers.with_entry,
    )  # fmt: skip
    unit, one, column, dot = numbers.unit, numbers.one, numbers.column, numbers.dot
    outer, choose = numbers.outer, numbers.choose
    plane_rotation = plane_rotation_for(types, wide)

    @wp.func
    def direction(v: Vec, otherwise: Vec):
        size = sqrt(dot(v, v))
        return choose(size, (Real(1.0) / where_positive(size, size, real(1.0, size))) * v, otherwise)

    if dim == 2:

        @wp.func
        def left_rotation(A: Mat):
            """Its column beside the smallest one of A has the direction of that of A."""
            x = column(A, 0)
            y = column(A, 1)
            xx = dot(x, x)
            e_x = unit(0, xx)
            e_y = unit(1, xx)
            is_y = dot(y, y) - xx
            u = direction(choose(is_y, y, x), choose(is_y, e_y, e_x))
            # (c, s) of the rotation, of its first or its second column
            c = where_positive(is_y, component(u, 1), component(u, 0))
            s = where_positive(is_y, neg(component(u, 0)), component(u, 1))
            along = with_component(with_component(Vec(), 0, c), 1, s)
            across = with_component(with_component(Vec(), 0, neg(s)), 1, c)
            return outer(along, e_x) + outer(across, e_y)

    else:

        @wp.func
        def cross(a: Vec, b: Vec):
            found = Vec()
            for i in range(3):
                j = (i + 1) % 3
                k = (i + 2) % 3
                found = with_component(found, i, component(a, j) * component(b, k) - component(a, k) * component(b, j))
            return found

        @wp.func
        def least_axis(u: Vec):
            """The axis that is farthest from u."""
            x = absolute(component(u, 0))
            y = absolute(component(u, 1))
            z = absolute(component(u, 2))
            return choose(x - minimum(y, z), choose(y - z, unit(2, x), unit(1, x)), unit(0, x))

        @wp.func
        def left_rotation(A: Mat):
            """Its columns have the directions of those of A, the longest one first, across each other."""
            x = column(A, 0)
            y = column(A, 1)
            z = column(A, 2)
            xx = dot(x, x)
            yy = dot(y, y)
            zz = dot(z, z)
            # The smallest column is z or y or else x; `next` and `other` are those after it.
            is_z = minimum(xx, yy) - zz
            is_y = xx - yy
            next = choose(is_z, x, choose(is_y, z, y))
            other = choose(is_z, y, choose(is_y, x, z))
            e_next = choose(is_z, unit(0, xx), choose(is_y, unit(2, xx), unit(1, xx)))
            e_other = choose(is_z, unit(1, xx), choose(is_y, unit(0, xx), unit(2, xx)))
            e_last = choose(is_z, unit(2, xx), choose(is_y, unit(1, xx), unit(0, xx)))
            is_swapped = dot(other, other) - dot(next, next)
            e_first = choose(is_swapped, e_other, e_next)
            e_second = choose(is_swapped, e_next, e_other)
            u = direction(choose(is_swapped, other, next), e_first)
            across = choose(is_swapped, next, other)
            across = across - dot(across, u) * u
            # A direction across u, where the second column has none.
            v = direction(across, direction(cross(u, least_axis(u)), u))
            w = where_positive(is_swapped, real(-1.0, xx), real(1.0, xx)) * cross(u, v)
            return outer(u, e_first) + outer(v, e_second) + outer(w, e_last)

    @wp.func
    def turned(A: Mat, i: int, j: int, cosine: T, sine: T):
        """Two columns of A turned in their plane."""
        found = Mat(A)
        for k in range(dim):
            a = entry(A, k, i)
            b = entry(A, k, j)
            found = with_entry(found, k, i, cosine * a - sine * b)
            found = with_entry(found, k, j, sine * a + cosine * b)
        return found

    @wp.func
    def signed_svd(F: Mat):
        A = Mat(F)
        V = one(entry(F, 0, 0))
        sweep = int(0)
        while sweep < SWEEPS:
            sweep += 1
            is_turning = int(0)
            for i in range(planes):
                j = (i + 1) % dim
                a = column(A, i)
                b = column(A, j)
                ii = dot(a, a)
                jj = dot(b, b)
                ij = dot(a, b)
                is_askew = ij * ij - Real(orthogonal) * ii * jj
                if any_positive(is_askew):
                    is_turning = 1
                cosine, sine = plane_rotation(ii, jj, ij)
                A = choose(is_askew, turned(A, i, j, cosine, sine), A)
                V = choose(is_askew, turned(V, i, j, cosine, sine), V)
            if is_turning == 0:
                sweep = SWEEPS
        U = left_rotation(A)
        s = Vec()
        for i in range(dim):
            s = with_component(s, i, dot(column(U, i), column(A, i)))
        return U, s, V

    return signed_svd

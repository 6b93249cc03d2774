"""F = U diag(s) V^T with rotations U and V: only the smallest singular value may be negative.

One-sided Jacobi: plane rotations V make the columns of F V orthogonal, to the relative precision of the numbers also
where an element is nearly flat. The column that is left over is the cross product of the others, so that det U = 1.
"""

from functools import cache

import warp as wp

from warp_artic.meshes.types import MeshTypes

SWEEPS = 16
"""Most passes over the planes; random matrices take four to six."""


@cache
def signed_svd_for(types: MeshTypes) -> wp.Function:
    """The function for a dimension and a precision."""
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat
    orthogonal = types.epsilon**2

    @wp.func
    def column(A: Mat, j: int):
        found = Vec()
        for i in range(dim):
            found[i] = A[i, j]
        return found

    @wp.func
    def direction(v: Vec, otherwise: Vec):
        size = wp.length(v)
        return wp.where(size > Real(0.0), v / wp.where(size > Real(0.0), size, Real(1.0)), otherwise)

    @wp.func
    def smallest_column(A: Mat):
        found = int(0)
        for j in range(1, dim):
            if wp.length_sq(column(A, j)) < wp.length_sq(column(A, found)):
                found = j
        return found

    if dim == 2:

        @wp.func
        def left_rotation(A: Mat):
            other = 1 - smallest_column(A)
            unit = Vec(Real(0.0), Real(1.0))
            if other == 0:
                unit = Vec(Real(1.0), Real(0.0))
            u = direction(column(A, other), unit)
            if other == 0:
                return Mat(u[0], -u[1], u[1], u[0])
            return Mat(u[1], u[0], -u[0], u[1])

    else:

        @wp.func
        def left_rotation(A: Mat):
            last = smallest_column(A)
            next = (last + 1) % 3
            other = (last + 2) % 3
            is_swapped = wp.length_sq(column(A, other)) > wp.length_sq(column(A, next))
            first = wp.where(is_swapped, other, next)
            second = wp.where(is_swapped, next, other)
            sign = wp.where(is_swapped, Real(-1.0), Real(1.0))
            unit = Vec()
            unit[first] = Real(1.0)
            u = direction(column(A, first), unit)
            # A direction across u, where the second column has none.
            least = Vec()
            if wp.abs(u[0]) <= wp.abs(u[1]) and wp.abs(u[0]) <= wp.abs(u[2]):
                least[0] = Real(1.0)
            elif wp.abs(u[1]) <= wp.abs(u[2]):
                least[1] = Real(1.0)
            else:
                least[2] = Real(1.0)
            across = column(A, second)
            across = across - wp.dot(across, u) * u
            v = direction(across, wp.normalize(wp.cross(u, least)))
            w = sign * wp.cross(u, v)
            U = Mat()
            for i in range(3):
                U[i, first] = u[i]
                U[i, second] = v[i]
                U[i, last] = w[i]
            return U

    @wp.func
    def signed_svd(F: Mat):
        A = Mat(F)
        V = wp.identity(n=dim, dtype=Real)
        sweep = int(0)
        while sweep < SWEEPS:
            sweep += 1
            turned = int(0)
            for i in range(dim):
                for j in range(i + 1, dim):
                    ii = Real(0.0)
                    jj = Real(0.0)
                    ij = Real(0.0)
                    for k in range(dim):
                        ii += A[k, i] * A[k, i]
                        jj += A[k, j] * A[k, j]
                        ij += A[k, i] * A[k, j]
                    if ij * ij > Real(orthogonal) * ii * jj:
                        turned = 1
                        zeta = (jj - ii) / (Real(2.0) * ij)
                        t = wp.where(zeta < Real(0.0), Real(-1.0), Real(1.0)) / (
                            wp.abs(zeta) + wp.sqrt(Real(1.0) + zeta * zeta)
                        )
                        cosine = Real(1.0) / wp.sqrt(Real(1.0) + t * t)
                        sine = cosine * t
                        for k in range(dim):
                            a = A[k, i]
                            b = A[k, j]
                            A[k, i] = cosine * a - sine * b
                            A[k, j] = sine * a + cosine * b
                            p = V[k, i]
                            q = V[k, j]
                            V[k, i] = cosine * p - sine * q
                            V[k, j] = sine * p + cosine * q
            if turned == 0:
                sweep = SWEEPS
        U = left_rotation(A)
        s = Vec()
        for i in range(dim):
            s[i] = wp.dot(column(U, i), column(A, i))
        return U, s, V

    return signed_svd

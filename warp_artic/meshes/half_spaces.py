"""The nearest point of a few half spaces, n_j u >= b_j, and the space across the normals of those that hold it.

The nearest point u to v is v + sum of mu_j n_j over a set of half spaces in whose boundary it lies, with mu_j > 0. Of a
few half spaces all sets are tried, small ones first. With b = 0 it is the part of a force that moves a node; mu_j are
what obstacles bear.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.meshes.types import MeshTypes

MOST = 3
"""Half spaces."""
SINGULAR = wp.constant(wp.float64(1e-8))
"""Determinant of products of normals, below which they have no dimensions of their own."""
LAST_DIGITS = 32.0
"""Of positions: how far from the boundary of a half space a point counts as in it."""


@cache
def half_spaces(types: MeshTypes) -> SimpleNamespace:
    """Types `Normals` and `Offsets` of the half spaces of a node, and functions for kernels.

    `touched(u, N, b)`       which boundaries a point is in or beyond, as bits
    `nearest(v, N, b, which)` u over the half spaces of these bits, and the bits of those that hold it
    `every`                  the bits of all of them
    `borne(u - v, N, held)`  mu of a nearest point
    `projector(N, which)`    the matrix that gives the part of a vector across these normals
    """
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat
    Normals = wp.types.matrix(shape=(MOST, dim), dtype=Real)
    Offsets = wp.types.vector(length=MOST, dtype=Real)
    digits = LAST_DIGITS * types.epsilon
    sets = 2**MOST

    @wp.func
    def normal(N: Normals, j: int):
        found = Vec()
        for i in range(dim):
            found[i] = N[j, i]
        return found

    @wp.func
    def products(N: Normals, which: int):
        """Products of the normals of some half spaces, and one on the diagonal for others."""
        G = wp.identity(n=MOST, dtype=Real)
        for i in range(MOST):
            for j in range(MOST):
                if i != j and (which >> i) % 2 == 1 and (which >> j) % 2 == 1:
                    G[i, j] = wp.dot(normal(N, i), normal(N, j))
        return G

    @wp.func
    def tolerance(size: Real, offset: Real):
        return Real(digits) * (size + wp.abs(offset))

    @wp.func
    def touched(u: Vec, N: Normals, b: Offsets):
        found = int(0)
        for j in range(MOST):
            if wp.dot(normal(N, j), u) - b[j] <= tolerance(wp.length(u), b[j]):
                found = found + (1 << j)
        return found

    @wp.func
    def is_inside(u: Vec, N: Normals, b: Offsets, which: int, size: Real):
        """Whether a point that was found from one of a size is in half spaces, but for rounding."""
        inside = int(1)
        for j in range(MOST):
            if (which >> j) % 2 == 1 and wp.dot(normal(N, j), u) - b[j] < -tolerance(size, b[j]):
                inside = int(0)
        return inside

    @wp.func
    def held_by(v: Vec, N: Normals, b: Offsets, which: int):
        """The nearest point in the boundaries of some half spaces, and whether all of them push it there."""
        r = Offsets()
        for j in range(MOST):
            if (which >> j) % 2 == 1:
                r[j] = b[j] - wp.dot(normal(N, j), v)
        G = products(N, which)
        pushes = int(0)
        u = v
        if wp.determinant(G) > Real(SINGULAR):
            mu = wp.inverse(G) * r
            pushes = int(1)
            for j in range(MOST):
                if (which >> j) % 2 == 1:
                    u = u + mu[j] * normal(N, j)
                    if mu[j] <= Real(0.0):
                        pushes = int(0)
        return u, pushes

    @wp.func
    def nearest(v: Vec, N: Normals, b: Offsets, which: int):
        found = v
        held = int(0)
        most = Real(0.0)
        size = wp.length(v)
        # Where there is no such point, as between walls, the half space that is missed most counts.
        for j in range(MOST):
            miss = b[j] - wp.dot(normal(N, j), v)
            if (which >> j) % 2 == 1 and miss > most:
                most = miss
                held = 1 << j
                found = v + miss * normal(N, j)
        if held > 0 and is_inside(found, N, b, which, size) == 0:
            for some in range(1, sets):
                if some & which == some:
                    u, pushes = held_by(v, N, b, some)
                    if pushes > 0 and is_inside(u, N, b, which, size) > 0:
                        # Sets that come later have more half spaces, or give the same point.
                        if is_inside(found, N, b, which, size) == 0:
                            found = u
                            held = some
        return found, held

    @wp.func
    def projector(N: Normals, which: int):
        P = wp.identity(n=dim, dtype=Real)
        count = int(0)
        for j in range(MOST):
            count = count + (which >> j) % 2
        if count >= dim:
            P = Mat()
        elif count > 0:
            inverse = wp.inverse(products(N, which))
            for i in range(MOST):
                for j in range(MOST):
                    if (which >> i) % 2 == 1 and (which >> j) % 2 == 1:
                        P = P - inverse[i, j] * wp.outer(normal(N, i), normal(N, j))
        return P

    @wp.func
    def borne(change: Vec, N: Normals, held: int):
        r = Offsets()
        for j in range(MOST):
            if (held >> j) % 2 == 1:
                r[j] = wp.dot(normal(N, j), change)
        return wp.inverse(products(N, held)) * r

    return SimpleNamespace(
        Normals=Normals,
        Offsets=Offsets,
        touched=touched,
        nearest=nearest,
        borne=borne,
        projector=projector,
        every=sets - 1,
    )

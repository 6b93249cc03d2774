"""The corotated law, with its stress and its stiffness.

    psi = mu |F - R|^2 + lambda/2 tr(R^T F - I)^2,   F = I + G = R S,   R = U V^T

It is written in X = V^T (S - I) V, with S = V diag(s) V^T from S^2 - I = G + G^T + G^T G, so that small strains lose no
digits. Where only energy and stress are wanted, it needs R alone, which Newton's iteration of the polar decomposition
finds in a third of the time (Higham, Computing the Polar Decomposition, 1986), from R = F on:

    R becomes (R + cof R / det R) / 2,   then   S - I = (S^2 - I) (S + I)^-1  in place of X

The second derivative along x g^T and y h^T, where nodes of gradients g and h move by x and y, is x^T K y with, by the
axis w of R^T dR, (tr(S) I - S) w = g x (R^T x), and r = R g, q = R h,

    K = 2 mu (g h) I + lambda r q^T + (lambda tr(S - I) - 2 mu) [r]^T T [q],  T = R (tr(S) I - S)^-1 R^T
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math.numbers import absolute, any_positive, maximum, minimum, real, where_positive
from warp_artic.meshes.determinants import determinants
from warp_artic.meshes.element_numbers import add, div, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.types import Material, MeshTypes

ROTATION_TURNS = 8
"""Most turns of the iteration that finds R; elements that are a half longer take five."""
FLAT = 0.01
"""Determinant below which R is found by singular values."""


@cache
def corotated(types: MeshTypes, wide: bool) -> SimpleNamespace:
    """The functions of the law:

    strain      X, of G and its singular values and axes
    rotation    R of G, and what is positive where it is not found: F is turned inside out, or nearly flat
    stretch     S - I of G and R
    energy      psi of X or S - I
    stress      dpsi/dF by the axes U and V, or, where `by_axes` is zero, by R in the place of U
    turning     [r]^T T of R, S - I and r
    block       K, of the trace of S - I, two gradients, r, q and [r]^T T
    spectrum    the second derivative by singular values (`meshes.materials`)
    """
    numbers, of_J = element_numbers(types, wide), determinants(types, wide)
    dim, Real, T, Vec, Mat = types.dim, types.real, numbers.real, numbers.vec, numbers.mat
    component, entry, with_entry, one = numbers.component, numbers.entry, numbers.with_entry, numbers.one
    trace, dot, ddot, transpose = numbers.trace, numbers.dot, numbers.ddot, numbers.transpose
    outer, choose = numbers.outer, numbers.choose
    with_diagonal_added, cofactors_of = of_J.with_diagonal_added, of_J.cofactors_of
    volume_excess, times_across = of_J.volume_excess, of_J.times_across
    epsilon, width = types.epsilon, float(dim)

    if dim == 2:

        @wp.func
        def turning_inverse(X: Mat):
            """1 / tr(S), in the place of the matrix."""
            return (Real(1.0) / (Real(2.0) + trace(X))) * one(entry(X, 0, 0))

    else:

        @wp.func
        def turning_inverse(X: Mat):
            """(tr(S) I - S)^-1."""
            H = (Real(1.0) + trace(X)) * one(entry(X, 0, 0)) - X
            return (Real(1.0) / (Real(1.0) + trace(H) + volume_excess(H))) * cofactors_of(H)

    @wp.func
    def strain(G: Mat, s: Vec, V: Mat):
        """V has axes to rounding only: what is left beside the diagonal counts, where strains are small."""
        squares = transpose(V) * (G + transpose(G) + transpose(G) * G) * V
        X = Mat()
        for i in range(dim):
            s_i = component(s, i)
            is_far = s_i - Real(0.5)
            X = with_entry(X, i, i, where_positive(is_far, entry(squares, i, i) / (s_i + Real(1.0)), s_i - Real(1.0)))
            for j in range(dim):
                if j != i:
                    total = s_i + component(s, j)
                    least = real(0.5, total)
                    part = entry(squares, i, j) / maximum(least, total)
                    X = with_entry(X, i, j, where_positive(total - least, part, real(0.0, total)))
        return X

    @wp.func
    def rotation(G: Mat):
        unit = one(entry(G, 0, 0))
        H = Mat(G)
        going = real(1.0, entry(G, 0, 0))
        # Warp assigns a captured constant where it comes first: in a branch, others would read it unassigned.
        flat = Real(FLAT)
        enough = Real(epsilon)
        turn = int(0)
        while turn < ROTATION_TURNS:
            turn += 1
            J = Real(1.0) + trace(H) + volume_excess(H)
            inverse = Real(1.0) / where_positive(J - flat, J, real(1.0, J))
            change = Real(0.5) * (inverse * cofactors_of(H) - unit - H)
            H = choose(going, H + change, H)
            is_found = where_positive(J - flat, enough - ddot(change, change), real(-1.0, J))
            going = where_positive(is_found, real(0.0, J), going)
            if not any_positive(going):
                turn = ROTATION_TURNS
        return unit + H, going

    @wp.func
    def stretch(G: Mat, R: Mat):
        S = transpose(R) + transpose(R) * G
        X = (G + transpose(G) + transpose(G) * G) * cofactors_of(S)
        X = (Real(0.5) / (Real(1.0) + trace(S) + volume_excess(S))) * X
        return X + transpose(X)

    @wp.func
    def energy(material: Material, X: Mat):
        extension = trace(X)
        return Real(material.mu) * ddot(X, X) + Real(0.5) * Real(material.lambda_) * extension * extension

    @wp.func
    def stress(material: Material, X: Mat, U: Mat, V: Mat, by_axes: T):
        P = U * with_diagonal_added(Real(2.0) * Real(material.mu) * X, Real(material.lambda_) * trace(X))
        if any_positive(by_axes):
            P = choose(by_axes, P * transpose(V), P)
        return P

    @wp.func
    def turning(R: Mat, X: Mat, r: Vec):
        inverse = turning_inverse(X)
        if dim == 3:
            inverse = R * inverse * transpose(R)
        return transpose(times_across(transpose(inverse), r))

    @wp.func
    def block(material: Material, extension: T, g: Vec, h: Vec, r: Vec, q: Vec, turns: Mat):
        twice = Real(2.0) * Real(material.mu)
        lambda_ = Real(material.lambda_)
        K = with_diagonal_added(lambda_ * outer(r, q), twice * dot(g, h))
        return K + (lambda_ * extension - twice) * times_across(turns, q)

    @wp.func
    def spectrum(material: Material, s: Vec, projects: T, lowest: T):
        """psi_ij, and the matrices of a and b, with twist no less than `lowest`."""
        mu = Real(material.mu)
        lambda_ = Real(material.lambda_)
        like = component(s, 0)
        # Warp assigns a captured constant where it comes first: in a branch, others would read it unassigned.
        tiny = Real(epsilon)
        D = Mat()
        A = Mat()
        B = Mat()
        limit = Real(2.0) * mu + Real(width) * wp.abs(lambda_)
        most = where_positive(projects, real(limit, like), real(Real(wp.inf), like))
        extension = real(-width, like)
        for i in range(dim):
            extension = extension + component(s, i)
        for i in range(dim):
            D = with_entry(D, i, i, real(Real(2.0) * mu + lambda_, like))
            for j in range(dim):
                if j != i:
                    # R is not defined where s_i + s_j is zero: the stiffness ends at that of a large stretch.
                    total = component(s, i) + component(s, j)
                    total = where_positive(absolute(total) - tiny, total, real(tiny, total))
                    twist = Real(2.0) * (mu * (total - Real(2.0)) + lambda_ * extension) / total
                    twist = minimum(most, maximum(lowest, twist))
                    D = with_entry(D, i, j, real(lambda_, like))
                    A = with_entry(A, i, j, mu + Real(0.5) * twist)
                    B = with_entry(B, i, j, mu - Real(0.5) * twist)
        return D, A, B

    return SimpleNamespace(
        strain=strain,
        rotation=rotation,
        stretch=stretch,
        energy=energy,
        stress=stress,
        turning=turning,
        block=block,
        spectrum=spectrum,
    )

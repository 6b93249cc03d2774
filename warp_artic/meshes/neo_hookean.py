"""The stable neo-Hookean law of Smith, De Goes and Kim (2018), zero at rest, with its stress and its stiffness.

    psi = mu/2 (I_C - d) - mu/2 log((I_C + 1) / (d + 1)) - mu c (J - 1) + lambda/2 (J - 1)^2,   c = d / (d + 1)

with F = I + G, d the dimension, I_C = |F|^2 and J = det F; they write lambda/2 (J - alpha)^2 with alpha = 1 + c mu /
lambda. It is written in G, so that small strains lose no digits. With C = cof F,

    share = mu I_C / (I_C + 1),  curve = 2 mu / (I_C + 1)^2,  pressure = lambda (J - 1) - mu c

the second derivative along x g^T and y h^T, where nodes of gradients g and h move by x and y, is x^T K y with

    K = share (g h) I + curve (F g)(F h)^T + lambda (C g)(C h)^T + pressure W,  W_ij = eps_ijk (F (g x h))_k

`spectrum` gives it by singular values (`meshes.materials`), without a division.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math.numbers import absolute, any_positive, maximum, neg, real, where_positive
from warp_artic.meshes.determinants import determinants
from warp_artic.meshes.element_numbers import add, div, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.types import Material, MeshTypes

SERIES_TO = 0.05
"""Where y - log(1 + y) is summed as a series."""
SERIES_TERMS = 13


@cache
def neo_hookean(types: MeshTypes, wide: bool) -> SimpleNamespace:
    """The functions `energy`, `stress`, `slopes` and `block`, of G, and `spectrum`.

    `slopes` gives F, C, share, curve and pressure, and `block` K of those and two gradients.
    """
    numbers, of_J = element_numbers(types, wide), determinants(types, wide)
    dim, Real, T, Vec, Mat = types.dim, types.real, numbers.real, numbers.vec, numbers.mat
    component, entry, with_entry, one = numbers.component, numbers.entry, numbers.with_entry, numbers.one
    trace, dot, ddot, transpose = numbers.trace, numbers.dot, numbers.ddot, numbers.transpose
    outer, log = numbers.outer, numbers.log
    with_diagonal_added, cofactors, cofactors_of = of_J.with_diagonal_added, of_J.cofactors, of_J.cofactors_of
    volume_excess, volume_block, J_without = of_J.volume_excess, of_J.volume_block, of_J.J_without
    rest_of_product = of_J.rest_of_product
    c = dim / (dim + 1.0)
    size = dim + 1.0

    @wp.func
    def series_of_excess(y: T):
        total = real(0.0, y)
        for k in range(SERIES_TERMS):
            total = Real(1.0) / Real(SERIES_TERMS + 1 - k) - y * total
        return y * y * total

    @wp.func
    def excess_of_logarithm(y: T):
        """y - log(1 + y)."""
        is_far = absolute(y) - Real(SERIES_TO)
        if any_positive(is_far):
            return where_positive(is_far, y - log(Real(1.0) + y), series_of_excess(y))
        return series_of_excess(y)

    @wp.func
    def energy(material: Material, G: Mat):
        mu = Real(material.mu)
        square = ddot(G, G)
        excess = volume_excess(G)
        y = (Real(2.0) * trace(G) + square) / Real(size)
        J_1 = trace(G) + excess
        small = Real(c) * (Real(0.5) * square - excess) + Real(0.5) * excess_of_logarithm(y)
        return mu * small + Real(0.5) * Real(material.lambda_) * J_1 * J_1

    @wp.func
    def stress(material: Material, G: Mat):
        expansion = trace(G)
        more = Real(2.0) * expansion + ddot(G, G)
        # F - cof F, and 1 - 1 / (I_C + 1) - c
        shear = with_diagonal_added(G + transpose(G), neg(expansion)) - cofactors(G)
        left = more / (Real(size) * (Real(size) + more))
        J_1 = expansion + volume_excess(G)
        F = with_diagonal_added(G, real(1.0, more))
        return Real(material.mu) * (Real(c) * shear + left * F) + Real(material.lambda_) * J_1 * (F - shear)

    @wp.func
    def slopes_at(material: Material, square: T, J: T):
        """share, curve and pressure, of I_C and J."""
        mu = Real(material.mu)
        beyond = square + Real(1.0)
        pressure = Real(material.lambda_) * (J - Real(1.0)) - mu * Real(c)
        return mu * (square / beyond), Real(2.0) * mu / (beyond * beyond), pressure

    @wp.func
    def slopes(material: Material, G: Mat):
        F = one(entry(G, 0, 0)) + G
        C = cofactors_of(G)
        share, curve, pressure = slopes_at(material, ddot(F, F), Real(1.0) + trace(G) + volume_excess(G))
        return F, C, share, curve, pressure

    @wp.func
    def block(material: Material, F: Mat, C: Mat, share: T, curve: T, pressure: T, g: Vec, h: Vec):
        K = with_diagonal_added(curve * outer(F * g, F * h), share * dot(g, h))
        return K + Real(material.lambda_) * outer(C * g, C * h) + pressure * volume_block(F, g, h)

    @wp.func
    def spectrum(material: Material, s: Vec, lowest: T):
        """psi_ij, and the matrices of a and b, with flip and twist no less than `lowest`."""
        lambda_ = Real(material.lambda_)
        D = Mat()
        A = Mat()
        B = Mat()
        square = real(0.0, component(s, 0))
        J = real(1.0, component(s, 0))
        for i in range(dim):
            square = square + component(s, i) * component(s, i)
            J = J * component(s, i)
        share, curve, pressure = slopes_at(material, square, J)
        for i in range(dim):
            s_i = component(s, i)
            J_i = J_without(s, i)
            D = with_entry(D, i, i, share + curve * s_i * s_i + lambda_ * J_i * J_i)
            for j in range(dim):
                if j != i:
                    across = pressure * rest_of_product(s, i, j)
                    both = curve * s_i * component(s, j) + lambda_ * J_i * J_without(s, j)
                    flip = maximum(lowest, share - across)
                    twist = maximum(lowest, share + across)
                    D = with_entry(D, i, j, both + across)
                    A = with_entry(A, i, j, Real(0.5) * (flip + twist))
                    B = with_entry(B, i, j, Real(0.5) * (flip - twist))
        return D, A, B

    return SimpleNamespace(energy=energy, stress=stress, slopes=slopes, block=block, spectrum=spectrum)

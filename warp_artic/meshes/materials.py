"""Energy densities of isotropic materials, their stress, and their stiffness by singular values.

With F = I + G, the singular values s_i of F (the smallest with the sign of det F), d the dimension, I_C = |F|^2 and
J = det F:

    neo-Hookean   psi = mu/2 (I_C - d) - mu/2 log((I_C + 1) / (d + 1)) - mu c (J - 1) + lambda/2 (J - 1)^2
    corotated     psi = mu |F - R|^2 + lambda/2 tr(R^T F - I)^2,  R = U V^T

The first is the stable neo-Hookean energy of Smith, De Goes and Kim (2018), zero at rest, with c = d / (d + 1); they
write lambda/2 (J - alpha)^2 with alpha = 1 + c mu / lambda. With mu and lambda of `moduli` both have the moduli of
Young and Poisson at small strain, in any dimension. The first is written in G and the second in X = V^T (S - I) V, with
S = V diag(s) V^T from S^2 - I = G + G^T + G^T G, so that small strains lose no digits.

Where only energy and stress are wanted, the corotated law needs R alone, which Newton's iteration of the polar
decomposition finds in a third of the time (Higham, Computing the Polar Decomposition, 1986), from R = F on:

    R becomes (R + cof R / det R) / 2,   then   S - I = (S^2 - I) (S + I)^-1  in place of X

In the axes of U and V the second derivative of psi falls into parts (Smith, De Goes and Kim, 2019): the entries (i, i)
have psi_ij = d2 psi / ds_i ds_j, each pair (i, j), (j, i) has [[a, b], [b, a]] with

    a + b = (psi_i - psi_j) / (s_i - s_j)      flip
    a - b = (psi_i + psi_j) / (s_i + s_j)      twist

and no division remains for the first energy. To project it to the positive semi-definite, flip and twist are made
non-negative, and so are the eigenvalues of psi_ij.

What is not projected needs no axes where the law is neo-Hookean. With C = cof F,

    share = mu I_C / (I_C + 1),  curve = 2 mu / (I_C + 1)^2,  pressure = lambda (J - 1) - mu c

the second derivative along x g^T and y h^T, where nodes of gradients g and h move by x and y, is x^T K y with

    K = share (g h) I + curve (F g)(F h)^T + lambda (C g)(C h)^T + pressure W,  W_ij = eps_ijk (F (g x h))_k

and where it is corotated, with the axis w of R^T dR, (tr(S) I - S) w = g x (R^T x), and r = R g, q = R h

    K = 2 mu (g h) I + lambda r q^T + (lambda tr(S - I) - 2 mu) [r]^T T [q],  T = R (tr(S) I - S)^-1 R^T
"""

from functools import cache

import warp as wp

from warp_artic.description.elastic_body import ElasticLaw, ElasticMaterial, PlaneState
from warp_artic.math.numbers import absolute, any_positive, maximum, minimum, neg, real, where_positive
from warp_artic.meshes.element_numbers import add, div, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.signed_svd import plane_rotation_for
from warp_artic.meshes.types import MeshTypes

NEO_HOOKEAN, COROTATED = 0, 1
LAWS = {ElasticLaw.NEO_HOOKEAN: NEO_HOOKEAN, ElasticLaw.COROTATED: COROTATED}
"""Numbers of laws in kernels."""

SERIES_TO = 0.05
"""Where y - log(1 + y) is summed as a series."""
SERIES_TERMS = 13

ROTATION_TURNS = 8
"""Most turns of the iteration that finds R; elements that are a half longer take five."""
FLAT = 0.01
"""Determinant below which R is found by singular values."""


def lame(material: ElasticMaterial, dim: int, plane_state: PlaneState) -> tuple[float, float]:
    """Lame's mu and lambda [Pa]; in plane stress lambda is what is left where the thickness gives way."""
    E, nu = material.young_modulus, material.poisson_ratio
    mu = E / (2.0 * (1.0 + nu))
    if dim == 2 and plane_state is PlaneState.STRESS:
        return mu, E * nu / (1.0 - nu * nu)
    return mu, E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))


def moduli(material: ElasticMaterial, dim: int, plane_state: PlaneState) -> tuple[float, float]:
    """mu and lambda of the law, consistent with those of Lame at small strain."""
    mu, lambda_ = lame(material, dim, plane_state)
    if material.law is ElasticLaw.COROTATED:
        return mu, lambda_
    c = dim / (dim + 1.0)
    return mu / c, lambda_ + mu - 2.0 * mu / c / (dim + 1.0) ** 2


@wp.struct
class Material:
    """The law of a mesh and its moduli."""

    law: int
    mu: wp.float64
    lambda_: wp.float64


class MaterialFunctions:
    """The functions of one dimension, one precision and one number of lanes, for kernels."""

    def __init__(self, strain, rotation, stretch, energy, stress, spectrum, slopes, block, turning, corotated_block):
        self.strain = strain
        """X, of G and its singular values and axes; the others need it where the law is corotated."""
        self.rotation = rotation
        """R of G, and what is positive where it is not found: F is turned inside out, or nearly flat."""
        self.stretch = stretch
        """S - I of G and R."""
        self.energy = energy
        """psi of G."""
        self.stress = stress
        """dpsi/dF; of a corotated material by its axes U and V, or, where `by_axes` is zero, by R in the place of U."""
        self.spectrum = spectrum
        """psi_ij, and the matrices of a and b."""
        self.slopes = slopes
        """F, C, share, curve and pressure of a neo-Hookean material, of G."""
        self.block = block
        """K of those and two gradients."""
        self.turning = turning
        """[r]^T T of R, S - I and r."""
        self.corotated_block = corotated_block
        """K of a corotated material, of the trace of S - I, two gradients, r, q and [r]^T T."""


@cache
def material_functions(types: MeshTypes, wide: bool) -> MaterialFunctions:
    """The functions for a dimension and a precision, of elements in lanes or of one."""
    numbers = element_numbers(types, wide)
    dim, Real, T, Vec, Mat = types.dim, types.real, numbers.real, numbers.vec, numbers.mat
    component, with_component, entry, with_entry = (
        numbers.component, numbers.with_component, numbers.entry, numbers.with_entry,
    )  # fmt: skip
    one, trace, dot, ddot, transpose = numbers.one, numbers.trace, numbers.dot, numbers.ddot, numbers.transpose
    outer, column, choose, log = numbers.outer, numbers.column, numbers.choose, numbers.log
    c = dim / (dim + 1.0)
    size = dim + 1.0
    plane_rotation = plane_rotation_for(types, wide)
    planes = dim * (dim - 1) // 2
    epsilon, width = types.epsilon, float(dim)

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
    def energy(material: Material, G: Mat, X: Mat):
        mu = Real(material.mu)
        lambda_ = Real(material.lambda_)
        if material.law == NEO_HOOKEAN:
            square = ddot(G, G)
            excess = volume_excess(G)
            y = (Real(2.0) * trace(G) + square) / Real(size)
            J_1 = trace(G) + excess
            small = Real(c) * (Real(0.5) * square - excess) + Real(0.5) * excess_of_logarithm(y)
            return mu * small + Real(0.5) * lambda_ * J_1 * J_1
        extension = trace(X)
        return mu * ddot(X, X) + Real(0.5) * lambda_ * extension * extension

    @wp.func
    def stress(material: Material, G: Mat, X: Mat, U: Mat, V: Mat, by_axes: T):
        mu = Real(material.mu)
        lambda_ = Real(material.lambda_)
        if material.law == NEO_HOOKEAN:
            expansion = trace(G)
            more = Real(2.0) * expansion + ddot(G, G)
            # F - cof F, and 1 - 1 / (I_C + 1) - c
            shear = with_diagonal_added(G + transpose(G), neg(expansion)) - cofactors(G)
            left = more / (Real(size) * (Real(size) + more))
            J_1 = expansion + volume_excess(G)
            F = with_diagonal_added(G, real(1.0, more))
            return mu * (Real(c) * shear + left * F) + lambda_ * J_1 * (F - shear)
        P = U * with_diagonal_added(Real(2.0) * mu * X, lambda_ * trace(X))
        if any_positive(by_axes):
            P = choose(by_axes, P * transpose(V), P)
        return P

    @wp.func
    def turned(S: Mat, Q: Mat, i: int, j: int):
        """Makes S[i, j] zero by a rotation in the plane (i, j), which Q collects."""
        cosine, sine = plane_rotation(entry(S, i, i), entry(S, j, j), entry(S, i, j))
        P = with_entry(with_entry(one(sine), i, i, cosine), j, j, cosine)
        P = with_entry(with_entry(P, i, j, sine), j, i, neg(sine))
        is_askew = absolute(entry(S, i, j))
        return choose(is_askew, transpose(P) * S * P, S), choose(is_askew, Q * P, Q)

    @wp.func
    def semi_definite(S: Mat):
        """A symmetric matrix with its negative eigenvalues made zero."""
        A = Mat(S)
        Q = one(entry(S, 0, 0))
        sweep = int(0)
        while sweep < 6:
            sweep += 1
            for i in range(planes):
                A, Q = turned(A, Q, i, (i + 1) % dim)
        found = Mat()
        for k in range(dim):
            value = maximum(real(0.0, entry(A, k, k)), entry(A, k, k))
            found = found + value * outer(column(Q, k), column(Q, k))
        return found

    @wp.func
    def least_minor(S: Mat):
        """The smallest leading minor of a symmetric matrix; it is definite where that is positive."""
        least = minimum(entry(S, 0, 0), entry(S, 0, 0) * entry(S, 1, 1) - entry(S, 0, 1) * entry(S, 1, 0))
        if dim == 3:
            minors = cofactors(S)
            determinant = entry(S, 0, 0) * entry(minors, 0, 0)
            for j in range(1, dim):
                determinant = determinant + entry(S, 0, j) * entry(minors, 0, j)
            least = minimum(least, determinant)
        return least

    @wp.func
    def projected_part(D: Mat, projects: T):
        """D, semi-definite where it is projected."""
        none = real(0.0, projects)
        is_indefinite = where_positive(projects, where_positive(least_minor(D), none, real(1.0, projects)), none)
        if any_positive(is_indefinite):
            return choose(is_indefinite, semi_definite(D), D)
        return D

    @wp.func
    def J_without(s: Vec, i: int):
        """dJ / ds_i."""
        found = real(1.0, component(s, 0))
        for j in range(dim):
            if j != i:
                found = found * component(s, j)
        return found

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
    def turning(R: Mat, X: Mat, r: Vec):
        inverse = turning_inverse(X)
        if dim == 3:
            inverse = R * inverse * transpose(R)
        return transpose(times_across(transpose(inverse), r))

    @wp.func
    def corotated_block(material: Material, extension: T, g: Vec, h: Vec, r: Vec, q: Vec, turns: Mat):
        twice = Real(2.0) * Real(material.mu)
        lambda_ = Real(material.lambda_)
        K = with_diagonal_added(lambda_ * outer(r, q), twice * dot(g, h))
        return K + (lambda_ * extension - twice) * times_across(turns, q)

    @wp.func
    def spectrum(material: Material, s: Vec, projects: T):
        mu = Real(material.mu)
        lambda_ = Real(material.lambda_)
        like = component(s, 0)
        nothing = real(0.0, like)
        lowest = where_positive(projects, nothing, real(Real(-wp.inf), like))
        # Warp assigns a captured constant where it comes first: in a branch, others would read it unassigned.
        tiny = Real(epsilon)
        D = Mat()
        A = Mat()
        B = Mat()
        if material.law == NEO_HOOKEAN:
            square = nothing
            J = real(1.0, like)
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
            D = projected_part(D, projects)
        else:
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

    return MaterialFunctions(
        strain, rotation, stretch, energy, stress, spectrum, slopes, block, turning, corotated_block
    )

"""Energy densities of isotropic materials, their stress, and their stiffness by singular values.

With F = I + G, the singular values s_i of F (the smallest with the sign of det F), d the dimension, I_C = |F|^2 and
J = det F:

    neo-Hookean   psi = mu/2 (I_C - d) - mu/2 log((I_C + 1) / (d + 1)) - mu c (J - 1) + lambda/2 (J - 1)^2
    corotated     psi = mu |F - R|^2 + lambda/2 tr(R^T F - I)^2,  R = U V^T

The first is the stable neo-Hookean energy of Smith, De Goes and Kim (2018), zero at rest, with c = d / (d + 1); they
write lambda/2 (J - alpha)^2 with alpha = 1 + c mu / lambda. With mu and lambda of `moduli` both have the moduli of
Young and Poisson at small strain, in any dimension. The first is written in G and the second in X = V^T (S - I) V, with
S = V diag(s) V^T from S^2 - I = G + G^T + G^T G, so that small strains lose no digits.

In the axes of U and V the second derivative of psi falls into parts (Smith, De Goes and Kim, 2019): the entries (i, i)
have psi_ij = d2 psi / ds_i ds_j, each pair (i, j), (j, i) has [[a, b], [b, a]] with

    a + b = (psi_i - psi_j) / (s_i - s_j)      flip
    a - b = (psi_i + psi_j) / (s_i + s_j)      twist

and no division remains for the first energy. To project it to the positive semi-definite, flip and twist are made
non-negative, and so are the eigenvalues of psi_ij.
"""

from functools import cache

import warp as wp

from warp_artic.description.elastic_body import ElasticLaw, ElasticMaterial, PlaneState
from warp_artic.meshes.types import MeshTypes

NEO_HOOKEAN, COROTATED = 0, 1
LAWS = {ElasticLaw.NEO_HOOKEAN: NEO_HOOKEAN, ElasticLaw.COROTATED: COROTATED}
"""Numbers of laws in kernels."""

SERIES_TO = 0.05
"""Where y - log(1 + y) is summed as a series."""
SERIES_TERMS = 13


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
    """The functions of one dimension and one precision, for kernels."""

    def __init__(self, strain, energy, stress, spectrum):
        self.strain = strain
        """X, of G and its singular values and axes; the others need it where the law is corotated."""
        self.energy = energy
        """psi of G."""
        self.stress = stress
        """dpsi/dF."""
        self.spectrum = spectrum
        """psi_ij, and the matrices of a and b."""


@cache
def material_functions(types: MeshTypes) -> MaterialFunctions:
    """The functions for a dimension and a precision."""
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat
    c = dim / (dim + 1.0)
    size = dim + 1.0
    epsilon, width = types.epsilon, float(dim)

    @wp.func
    def excess_of_logarithm(y: Real):
        """y - log(1 + y)."""
        if wp.abs(y) > Real(SERIES_TO):
            return y - wp.log(Real(1.0) + y)
        total = Real(0.0)
        for k in range(SERIES_TERMS):
            n = Real(SERIES_TERMS + 1 - k)
            total = Real(1.0) / n - y * total
        return y * y * total

    if dim == 2:

        @wp.func
        def cofactors(G: Mat):
            """cof(I + G) - I - tr(G) I + G^T, which is of second order."""
            return Mat()

        @wp.func
        def volume_excess(G: Mat):
            """J - 1 - tr(G)."""
            return G[0, 0] * G[1, 1] - G[0, 1] * G[1, 0]

        @wp.func
        def rest_of_product(s: Vec, i: int, j: int):
            """d2J / ds_i ds_j."""
            return Real(1.0)

    else:

        @wp.func
        def cofactors(G: Mat):
            """cof(I + G) - I - tr(G) I + G^T = cof(G), which is of second order."""
            x = wp.cross(G[1], G[2])
            y = wp.cross(G[2], G[0])
            z = wp.cross(G[0], G[1])
            return Mat(x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])

        @wp.func
        def volume_excess(G: Mat):
            """J - 1 - tr(G)."""
            minors = (
                G[0, 0] * G[1, 1]
                - G[0, 1] * G[1, 0]
                + G[1, 1] * G[2, 2]
                - G[1, 2] * G[2, 1]
                + G[0, 0] * G[2, 2]
                - G[0, 2] * G[2, 0]
            )
            return minors + wp.dot(G[0], wp.cross(G[1], G[2]))

        @wp.func
        def rest_of_product(s: Vec, i: int, j: int):
            """d2J / ds_i ds_j."""
            return s[3 - i - j]

    @wp.func
    def strain(G: Mat, s: Vec, V: Mat):
        """V has axes to rounding only: what is left beside the diagonal counts, where strains are small."""
        squares = wp.transpose(V) * (G + wp.transpose(G) + wp.transpose(G) * G) * V
        X = Mat()
        for i in range(dim):
            X[i, i] = wp.where(s[i] > Real(0.5), squares[i, i] / (s[i] + Real(1.0)), s[i] - Real(1.0))
            for j in range(dim):
                if j != i:
                    total = wp.max(s[i] + s[j], Real(0.5))
                    X[i, j] = wp.where(s[i] + s[j] > Real(0.5), squares[i, j] / total, Real(0.0))
        return X

    @wp.func
    def energy(material: Material, G: Mat, X: Mat):
        mu = Real(material.mu)
        lambda_ = Real(material.lambda_)
        if material.law == NEO_HOOKEAN:
            square = wp.ddot(G, G)
            excess = volume_excess(G)
            y = (Real(2.0) * wp.trace(G) + square) / Real(size)
            J_1 = wp.trace(G) + excess
            small = Real(c) * (Real(0.5) * square - excess) + Real(0.5) * excess_of_logarithm(y)
            return mu * small + Real(0.5) * lambda_ * J_1 * J_1
        stretch = wp.trace(X)
        return mu * wp.ddot(X, X) + Real(0.5) * lambda_ * stretch * stretch

    @wp.func
    def stress(material: Material, G: Mat, X: Mat, U: Mat, V: Mat):
        mu = Real(material.mu)
        lambda_ = Real(material.lambda_)
        one = wp.identity(n=dim, dtype=Real)
        if material.law == NEO_HOOKEAN:
            trace = wp.trace(G)
            cof_G = cofactors(G)
            more = Real(2.0) * trace + wp.ddot(G, G)
            # F - cof F, and 1 - 1 / (I_C + 1) - c
            shear = G + wp.transpose(G) - trace * one - cof_G
            left = more / (Real(size) * (Real(size) + more))
            J_1 = trace + volume_excess(G)
            return mu * (Real(c) * shear + left * (one + G)) + lambda_ * J_1 * (one + G - shear)
        return U * (Real(2.0) * mu * X + lambda_ * wp.trace(X) * one) * wp.transpose(V)

    @wp.func
    def turned(S: Mat, Q: Mat, i: int, j: int):
        """Makes S[i, j] zero by a rotation in the plane (i, j), which Q collects."""
        if S[i, j] != Real(0.0):
            zeta = (S[j, j] - S[i, i]) / (Real(2.0) * S[i, j])
            t = wp.where(zeta < Real(0.0), Real(-1.0), Real(1.0)) / (wp.abs(zeta) + wp.sqrt(Real(1.0) + zeta * zeta))
            cosine = Real(1.0) / wp.sqrt(Real(1.0) + t * t)
            P = wp.identity(n=dim, dtype=Real)
            P[i, i] = cosine
            P[j, j] = cosine
            P[i, j] = cosine * t
            P[j, i] = -cosine * t
            return wp.transpose(P) * S * P, Q * P
        return S, Q

    @wp.func
    def semi_definite(S: Mat):
        """A symmetric matrix with its negative eigenvalues made zero."""
        A = Mat(S)
        Q = wp.identity(n=dim, dtype=Real)
        sweep = int(0)
        while sweep < 6:
            sweep += 1
            for i in range(dim):
                for j in range(i + 1, dim):
                    A, Q = turned(A, Q, i, j)
        found = Mat()
        for k in range(dim):
            value = wp.max(A[k, k], Real(0.0))
            for i in range(dim):
                for j in range(dim):
                    found[i, j] += value * Q[i, k] * Q[j, k]
        return found

    @wp.func
    def is_definite(S: Mat):
        """Whether all leading minors are positive."""
        if dim == 2:
            return S[0, 0] > Real(0.0) and wp.determinant(S) > Real(0.0)
        minor = S[0, 0] * S[1, 1] - S[0, 1] * S[1, 0]
        return S[0, 0] > Real(0.0) and minor > Real(0.0) and wp.determinant(S) > Real(0.0)

    @wp.func
    def spectrum(material: Material, s: Vec, is_projected: bool):
        mu = Real(material.mu)
        lambda_ = Real(material.lambda_)
        D = Mat()
        A = Mat()
        B = Mat()
        if material.law == NEO_HOOKEAN:
            square = Real(0.0)
            J = Real(1.0)
            for i in range(dim):
                square += s[i] * s[i]
                J *= s[i]
            share = mu * (square / (square + Real(1.0)))
            curve = Real(2.0) * mu / ((square + Real(1.0)) * (square + Real(1.0)))
            pressure = lambda_ * (J - Real(1.0)) - mu * Real(c)
            gradient = Vec()
            for i in range(dim):
                gradient[i] = Real(1.0)
                for j in range(dim):
                    if j != i:
                        gradient[i] *= s[j]
            for i in range(dim):
                D[i, i] = share + curve * s[i] * s[i] + lambda_ * gradient[i] * gradient[i]
                for j in range(dim):
                    if j != i:
                        across = rest_of_product(s, i, j)
                        D[i, j] = curve * s[i] * s[j] + lambda_ * gradient[i] * gradient[j] + pressure * across
                        flip = share - pressure * across
                        twist = share + pressure * across
                        if is_projected:
                            flip = wp.max(flip, Real(0.0))
                            twist = wp.max(twist, Real(0.0))
                        A[i, j] = Real(0.5) * (flip + twist)
                        B[i, j] = Real(0.5) * (flip - twist)
            if is_projected and not is_definite(D):
                D = semi_definite(D)
        else:
            stretch = Real(-width)
            for i in range(dim):
                stretch += s[i]
            for i in range(dim):
                D[i, i] = Real(2.0) * mu + lambda_
                for j in range(dim):
                    if j != i:
                        D[i, j] = lambda_
                        # R is not defined where s_i + s_j is zero: the stiffness ends at that of a large stretch.
                        total = s[i] + s[j]
                        total = wp.where(wp.abs(total) > Real(epsilon), total, Real(epsilon))
                        twist = Real(2.0) * (mu * (total - Real(2.0)) + lambda_ * stretch) / total
                        if is_projected:
                            twist = wp.clamp(twist, Real(0.0), Real(2.0) * mu + Real(width) * wp.abs(lambda_))
                        A[i, j] = mu + Real(0.5) * twist
                        B[i, j] = mu - Real(0.5) * twist
        return D, A, B

    return MaterialFunctions(strain, energy, stress, spectrum)

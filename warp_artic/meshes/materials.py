"""Isotropic materials: their moduli, the law that each follows, and their stiffness by singular values.

With the singular values s_i of F (the smallest with the sign of det F), in the axes of U and V, the second derivative
of psi falls into parts (Smith, De Goes and Kim, Analytic eigensystems, 2019): the entries
(i, i) have psi_ij = d2 psi / ds_i ds_j, each pair (i, j), (j, i) has [[a, b], [b, a]] with

    a + b = (psi_i - psi_j) / (s_i - s_j)      flip
    a - b = (psi_i + psi_j) / (s_i + s_j)      twist

To project it to the positive semi-definite, flip and twist are made non-negative, and so are the eigenvalues of psi_ij.
What is not projected needs no axes: `meshes.neo_hookean` and `meshes.corotated` give it by nodes. With mu and lambda of
`moduli` both laws have the moduli of Young and Poisson at small strain, in any dimension.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.description.elastic_body import ElasticLaw, ElasticMaterial, PlaneState
from warp_artic.math.numbers import absolute, any_positive, maximum, minimum, neg, real, where_positive
from warp_artic.meshes.corotated import corotated
from warp_artic.meshes.determinants import determinants
from warp_artic.meshes.element_numbers import add, element_numbers, mul, sub  # noqa: F401 - operators
from warp_artic.meshes.neo_hookean import neo_hookean
from warp_artic.meshes.signed_svd import plane_rotation_for
from warp_artic.meshes.types import Material, MeshTypes

NEO_HOOKEAN, COROTATED = 0, 1
LAWS = {ElasticLaw.NEO_HOOKEAN: NEO_HOOKEAN, ElasticLaw.COROTATED: COROTATED}
"""Numbers of laws in kernels."""


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


@cache
def material_functions(types: MeshTypes, wide: bool) -> SimpleNamespace:
    """The functions `energy`, psi, `stress`, dpsi/dF, and `spectrum`, psi_ij and the matrices of a and b, of any law.

    X, U, V and `by_axes` are those of `meshes.corotated`.
    """
    numbers = element_numbers(types, wide)
    dim, Real, T, Vec, Mat = types.dim, types.real, numbers.real, numbers.vec, numbers.mat
    component, entry, with_entry = numbers.component, numbers.entry, numbers.with_entry
    one, transpose, outer, column, choose = (
        numbers.one, numbers.transpose, numbers.outer, numbers.column, numbers.choose,
    )  # fmt: skip
    cofactors = determinants(types, wide).cofactors
    plane_rotation = plane_rotation_for(types, wide)
    planes = dim * (dim - 1) // 2
    of_neo_hookean, of_corotated = neo_hookean(types, wide), corotated(types, wide)
    neo_hookean_energy, corotated_energy = of_neo_hookean.energy, of_corotated.energy
    neo_hookean_stress, corotated_stress = of_neo_hookean.stress, of_corotated.stress
    neo_hookean_spectrum, corotated_spectrum = of_neo_hookean.spectrum, of_corotated.spectrum

    @wp.func
    def energy(material: Material, G: Mat, X: Mat):
        if material.law == NEO_HOOKEAN:
            return neo_hookean_energy(material, G)
        return corotated_energy(material, X)

    @wp.func
    def stress(material: Material, G: Mat, X: Mat, U: Mat, V: Mat, by_axes: T):
        if material.law == NEO_HOOKEAN:
            return neo_hookean_stress(material, G)
        return corotated_stress(material, X, U, V, by_axes)

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
    def spectrum(material: Material, s: Vec, projects: T):
        nothing = real(0.0, component(s, 0))
        lowest = where_positive(projects, nothing, real(Real(-wp.inf), nothing))
        if material.law == NEO_HOOKEAN:
            D, A, B = neo_hookean_spectrum(material, s, lowest)
            return projected_part(D, projects), A, B
        D_R, A_R, B_R = corotated_spectrum(material, s, projects, lowest)
        return D_R, A_R, B_R

    return SimpleNamespace(energy=energy, stress=stress, spectrum=spectrum)

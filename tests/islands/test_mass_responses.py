"""Responses of mechanisms to impulses at points against products of dense matrices."""

import numpy as np
import pytest
import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.islands.mass_responses import ROWS, SUMS, mass_responses

SIZES = sorted({1, 2, ROWS - 1, ROWS, ROWS + 1, SUMS - 1, SUMS, 2 * SUMS + 3, 61})


def responded(precision, matrix, J, outward, is_free):
    """Y and G, normal and across, of J (dofs, 3): that of the second of two points and mechanisms."""
    types = island_types(precision)
    T, V = types.T, types.V
    Mechanisms = types.Mechanisms
    functions = mass_responses(precision)
    freely, with_constraints = functions.freely, functions.with_constraints

    @wp.kernel(enable_backward=False, module="unique")
    def respond(
        mechanisms: Mechanisms,
        J: wp.array(dtype=V),
        Y: wp.array(dtype=V),
        G: wp.array(dtype=V),
        dofs: int,
        is_free: int,
    ):
        normal = V(T(1.0), T(0.0), T(0.0))
        across = V(T(0.0), T(2.0), T(0.0))
        if is_free == 1:
            normal, across = freely(mechanisms, J, Y, dofs, dofs * dofs, dofs, dofs, normal, across)
        else:
            normal, across = with_constraints(mechanisms, J, Y, dofs, dofs * dofs, dofs, normal, across)
        G[0] = normal
        G[1] = across

    dofs, number = len(J), wp.dtype_to_numpy(T)
    two = np.concatenate([np.full(dofs * dofs, np.nan), matrix.ravel()]).astype(number)
    mechanisms = Mechanisms()
    mechanisms.square_root = mechanisms.inverse = wp.array(two, dtype=T, device="cpu")
    ranges = np.array([[0, 0]] * dofs + outward, dtype=np.int32)
    mechanisms.outward, mechanisms.outward_end = (wp.array(one, dtype=int, device="cpu") for one in ranges.T)
    points = wp.array(np.concatenate([np.full((dofs, 3), np.nan), J]).astype(number), dtype=V, device="cpu")
    Y, G = wp.full(2 * dofs, V(7.0, 7.0, 7.0), dtype=V, device="cpu"), wp.zeros(2, dtype=V, device="cpu")
    wp.launch(respond, dim=1, inputs=[mechanisms, points, Y, G, dofs, int(is_free)], device="cpu")
    assert (Y.numpy()[:dofs] == 7.0).all(), "those of another point"
    return Y.numpy()[dofs:], G.numpy() - np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]])


@pytest.mark.parametrize("dofs", SIZES)
@pytest.mark.parametrize("precision, rounding", [("float32", 2e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("is_free", [True, False])
def test_against_dense_products(is_free, precision, rounding, dofs):
    """Of points on links near the root, in the middle and at the end of a chain, and on none of its links."""
    rng = np.random.default_rng(dofs)
    matrix = np.triu(rng.normal(size=(dofs, dofs)))
    for moved in sorted({0, 1, dofs // 2, dofs}):
        J = rng.normal(size=(dofs, 3))
        J[moved:] = 0.0
        inverse = matrix.T @ matrix
        outward = [[dof, dofs] for dof in range(dofs)]
        Y, (normal, across) = responded(precision, matrix if is_free else inverse, J, outward, is_free)
        scale = np.abs(inverse).sum() + 1.0
        np.testing.assert_allclose(Y, inverse @ J, atol=rounding * scale)
        G = J.T @ inverse @ J
        np.testing.assert_allclose(normal, G[0], atol=rounding * scale * (1.0 + np.abs(J).sum()))
        np.testing.assert_allclose(across, [G[1, 1], G[1, 2], G[2, 2]], atol=rounding * scale * (1.0 + np.abs(J).sum()))


def test_branches():
    """Dofs of two branches that alternate: a row has entries within a range of dofs only."""
    dofs, rng = 12, np.random.default_rng(0)
    matrix, outward = np.zeros((dofs, dofs)), []
    for dof in range(dofs):
        own = list(range(dof, dofs, 2)) if dof else list(range(dofs))
        matrix[dof, own] = rng.normal(size=len(own))
        outward.append([own[0], own[-1] + 1])
    J = rng.normal(size=(dofs, 3))
    J[1::2] = 0.0
    Y, (normal, _) = responded("float64", matrix, J, outward, True)
    np.testing.assert_allclose(Y, matrix.T @ (matrix @ J), atol=1e-13)
    np.testing.assert_allclose(normal, (J.T @ matrix.T @ matrix @ J)[0], atol=1e-12)

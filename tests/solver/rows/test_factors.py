"""The two ways to the impulses of a working set, by themselves: factors with pivots, and Gram-Schmidt."""

from functools import cache

import numpy as np
import pytest
import warp as wp

from tests.solver.rows.problems import Laid, chain, star
from tests.solver.rows.random_problems import random_problems
from warp_artic.kernels.launch import OPTIONS
from warp_artic.math.numbers import sub  # noqa: F401 (operators)
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.solver.rows.activation import activate_rows, prepare_responses
from warp_artic.solver.rows.direct import set_first_working_set
from warp_artic.solver.rows.factors import factor_working_set, set_delassus, solve_factored
from warp_artic.solver.rows.held import give_impulses
from warp_artic.solver.rows.orthogonal import orthogonalize, set_T
from warp_artic.solver.rows.problem import forget_working_set, gather_rows

ROWS, DOFS, COUNT = 6, 8, 300


@cache
def factors_kernel(numbers):
    """G, its factors, the flags for all workers, and the first solution."""
    structs = arrays_for(numbers)
    Model, Work, Real = structs.Model, structs.Work, numbers.real

    @wp.kernel(**OPTIONS)
    def find_factors(model: Model, work: Work, flags: wp.array2d(dtype=Real)):
        slot = wp.tid()
        forget_working_set(model, work, slot, work.v_free[0, slot] - work.v_free[0, slot])
        activate_rows(model, work, slot)
        prepare_responses(model, work, slot)
        count, known, nonsymmetric = gather_rows(model, work, slot)
        set_delassus(model, work, known, count, slot)
        set_first_working_set(model, work, known, count, slot)
        give_impulses(model, work, count, slot)
        factored, inaccurate, smallest = factor_working_set(model, work, count, slot)
        for i in range(factored):
            work.residual[i, slot] = work.rhs[i, slot]
        flags[0, slot] = inaccurate
        flags[1, slot] = smallest
        flags[2, slot] = solve_factored(model, work, factored, slot)

    return find_factors


@cache
def orthogonal_kernel(numbers):
    """Q, its duals, R and T."""
    structs = arrays_for(numbers)
    Model, Work = structs.Model, structs.Work

    @wp.kernel(**OPTIONS)
    def find_orthogonal(model: Model, work: Work):
        slot = wp.tid()
        forget_working_set(model, work, slot, work.v_free[0, slot] - work.v_free[0, slot])
        activate_rows(model, work, slot)
        prepare_responses(model, work, slot)
        count, known, nonsymmetric = gather_rows(model, work, slot)
        set_delassus(model, work, known, count, slot)
        set_first_working_set(model, work, known, count, slot)
        orthogonalize(model, work, 0, count, slot)
        set_T(model, work, count, nonsymmetric, slot)

    return find_orthogonal


def triangle(values, diagonal):
    """Full lower triangles (K, m, m) from rows one after the other; the diagonal is given if it is not stored."""
    full = np.zeros((len(values), ROWS, ROWS))
    full[:, *np.tril_indices(ROWS)] = values
    if diagonal is not None:
        full[:, range(ROWS), range(ROWS)] = diagonal
    return full


def factored(drawn, **options):
    """G, L, 1 / d, flags and solution of problems whose rows are all held, in the order in which they are gathered."""
    laid = Laid(drawn, **options)
    flags = wp.zeros((3, laid.workers), dtype=laid.numbers.real)
    laid.launch(factors_kernel(laid.numbers), flags)
    entries = ROWS * (ROWS + 1) // 2
    G = triangle(laid.read("delassus", entries), None)
    L = triangle(laid.read("L_factor", entries), 1.0)
    found = flags.numpy().reshape(3, -1)[:, : drawn.count].T
    return G, L, laid.read("pivot_inverse", ROWS), found, laid.read("residual", ROWS)


@pytest.mark.parametrize("tree_of", [chain, star])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-14), ("float32", 1e-5)])
def test_factors_are_those_of_the_delassus_matrix(tree_of, precision, tolerance):
    """G = J M^-1 J^T and compliances; L diag(d) L^T = G, and the solution is that of NumPy."""
    drawn = random_problems(1, COUNT, ROWS, DOFS, compliant=0.4).rounded(precision)
    G, L, pivot_inverse, _, z = factored(drawn, tree_of=tree_of, precision=precision, variant="lanes")
    expected = drawn.delassus[:, ::-1, ::-1]
    scale = np.abs(expected).max(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(G / scale, np.tril(expected) / scale, atol=tolerance)
    product = (L / pivot_inverse[:, None, :]) @ np.swapaxes(L, 1, 2)
    np.testing.assert_allclose(product / scale, expected / scale, atol=10 * tolerance)
    missing = (drawn.lower - drawn.y_free)[:, ::-1]
    condition = np.linalg.cond(expected)
    answer = np.linalg.solve(expected, missing[:, :, None])[:, :, 0]
    error = np.abs(z - answer).max(axis=1) / np.abs(answer).max(axis=1)
    assert (error < 10 * tolerance * condition).all()


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_dependent_rows_have_no_pivot(precision):
    """There are as many pivots as the rank of G, and rows that are consistent are said to be so."""
    drawn = random_problems(2, COUNT, ROWS, DOFS, redundant=0.6).rounded(precision)
    rank = np.linalg.matrix_rank(drawn.J, rtol={"float64": 1e-12, "float32": 1e-5}[precision])
    _, _, pivot_inverse, flags, _ = factored(drawn, precision=precision, variant="lanes")
    good = flags[:, 0] <= 0
    assert good.mean() > 0.5 and (rank < ROWS).mean() > 0.5
    np.testing.assert_array_equal((pivot_inverse > 0).sum(axis=1)[good], rank[good])
    assert (flags[good, 2] <= 0).all()


@pytest.mark.parametrize(("precision", "known"), [("float64", 4e-15), ("float32", 2e-6)])
def test_pivots_say_where_factors_are_not_good_enough(precision, known):
    """Pivots below seven times the root of rounding, and nonsymmetric rows: there another way is taken."""
    drawn = random_problems(3, 4000, ROWS, ROWS).rounded(precision)
    _, L, pivot_inverse, flags, _ = factored(drawn, precision=precision)
    with np.errstate(divide="ignore"):
        share = 1.0 / pivot_inverse / np.einsum("kaa->ka", drawn.delassus[:, ::-1, ::-1])
    smallest, good = share.min(axis=1), 7.0 * np.sqrt(known)
    clear = (np.abs(smallest / good - 1.0) > 0.05) & (pivot_inverse > 0).all(axis=1)
    np.testing.assert_array_equal(flags[clear, 0] > 0, smallest[clear] < good)
    np.testing.assert_allclose(flags[clear, 1], smallest[clear], rtol={"float64": 1e-6, "float32": 0.2}[precision])
    if precision == "float32":
        assert 0.05 < (flags[:, 0] > 0).mean() < 0.95
    drawn = random_problems(3, COUNT, ROWS, DOFS, nonsymmetric=1e-3)
    assert (factored(drawn)[3][:, 0] > 0).all()


def test_contradictions_are_seen():
    """A dependent row with a target of its own."""
    drawn = random_problems(4, COUNT, ROWS, DOFS, redundant=0.6, consistent=False)
    rank = np.linalg.matrix_rank(drawn.J, rtol=1e-12)
    _, _, _, flags, _ = factored(drawn)
    good = flags[:, 0] <= 0
    np.testing.assert_array_equal((flags[:, 2] > 0)[good], (rank < ROWS)[good])


@pytest.mark.parametrize("ratio", [1.0, 1e6])
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-13), ("float32", 2e-5)])
@pytest.mark.parametrize("redundant", [0.0, 0.6])
def test_gram_schmidt_makes_orthogonal_rows(redundant, precision, tolerance, ratio):
    """Q_a are at right angles in D^-1 and the compliances, however near rows depend; p = Q R, with J^T Q as T."""
    drawn = random_problems(5, COUNT, ROWS, DOFS, ratio=ratio, redundant=redundant, nonsymmetric=0.3).rounded(precision)
    # A row without J is never active.
    drawn = drawn.chosen(np.abs(drawn.J).max(axis=2).min(axis=1) > 0)
    laid = Laid(drawn, precision=precision, variant="lanes")
    laid.launch(orthogonal_kernel(laid.numbers))
    entries = DOFS + ROWS
    Q = laid.read("Q", ROWS * entries).reshape(-1, ROWS, entries)[:, :, :DOFS]
    R = np.eye(ROWS) + np.tril(laid.read("R_factor", ROWS * ROWS).reshape(-1, ROWS, ROWS), -1)
    T = laid.read("T_factor", ROWS * ROWS).reshape(-1, ROWS, ROWS)
    scaled = Q / np.sqrt(drawn.D)[:, None, :]
    length = np.linalg.norm(scaled, axis=2, keepdims=True)
    unit = scaled / np.where(length > 0, length, 1.0)
    np.testing.assert_allclose(unit @ np.swapaxes(unit, 1, 2), (length > 0) * np.eye(ROWS), atol=tolerance)
    p = np.swapaxes(drawn.push, 1, 2)[:, ::-1] / np.sqrt(drawn.D)[:, None, :]
    size = np.linalg.norm(p, axis=2, keepdims=True)
    np.testing.assert_allclose(R @ scaled / size, p / size, atol=20 * tolerance)
    j = drawn.J[:, ::-1] / np.sqrt(drawn.D)[:, None, :]
    expected = j @ np.swapaxes(unit, 1, 2)
    length = np.swapaxes(length, 1, 2)
    error = np.where(length > 0, np.abs(T * length - expected), 0.0) / size
    assert error.max() < 20 * tolerance

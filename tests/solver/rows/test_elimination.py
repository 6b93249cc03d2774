"""Which rows meet: a symbolic elimination against numeric ones, and what it costs on a wide tree."""

import numpy as np
import pytest

from tests.solver.rows.problems import Laid, bundle
from tests.solver.rows.random_problems import random_problems
from warp_artic.model.row_elimination import all_meet, elimination_tables, meeting_rows, ranges


def random_supports(rng, rows: int, dofs: int) -> list[frozenset[int]]:
    """Dofs of rows, few of each."""
    return [frozenset(map(int, rng.choice(dofs, rng.integers(1, 4), replace=False))) for _ in range(rows)]


@pytest.mark.parametrize("seed", range(20))
def test_rows_meet_where_factors_have_entries(seed):
    """L of random numbers has an entry exactly where the symbolic elimination says so, and R of Gram-Schmidt too."""
    rng = np.random.default_rng(seed)
    supports = random_supports(rng, 14, 20)
    J = np.zeros((14, 20))
    for row, own in enumerate(supports):
        J[row, list(own)] = rng.uniform(0.5, 1.5, len(own))
    L = np.linalg.cholesky(J @ J.T + np.eye(14))
    np.testing.assert_array_equal(meeting_rows(supports), np.abs(np.tril(L, -1)) > 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_ranges_have_the_rows_that_meet(seed):
    """Earlier and later ranges of each row are the rows and columns of the same matrix."""
    supports = random_supports(np.random.default_rng(seed), 11, 12)
    meets, tables = meeting_rows(supports), elimination_tables(supports)
    for name, matrix in (("earlier_range", meets), ("later_range", meets.T)):
        for place in range(11):
            found = np.zeros(11, dtype=bool)
            for k in range(tables[name][place], tables[name][place + 1]):
                found[tables["range_start"][k] : tables["range_end"][k]] = True
            np.testing.assert_array_equal(found, matrix[place])
    assert ranges(np.array([True, True, False, True])) == [(0, 2), (3, 4)]


def test_rows_of_a_floating_tree_all_meet():
    """They share the dofs of the root; rows on branches of a fixed one do not."""
    assert all_meet(elimination_tables([frozenset({0, k}) for k in range(1, 6)]))
    assert not all_meet(elimination_tables([frozenset({k}) for k in range(5)]))


def test_what_meets_grows_as_the_branches():
    """Products of the factors of a tree with N chains, three rows on each: linear in N."""
    products = {}
    for chains in (5, 10, 20, 40):
        supports = [frozenset({2 * k, 2 * k + 1}) for _ in range(3) for k in range(chains)]
        meets = meeting_rows(supports)
        products[chains] = int((meets.sum(axis=1) ** 2).sum())
    assert [products[chains] // chains for chains in products] == [products[5] // 5] * 4


def test_a_model_has_the_ranges_of_its_rows():
    """Rows of five chains meet the row on the same chain alone."""
    own = [(2 * k + end,) for end in range(2) for k in range(5)]
    laid = Laid(random_problems(0, 1, 10, 10), tree_of=bundle, patterns=own)
    assert laid.model.all_rows_meet == 0
    assert list(np.diff(laid.model.earlier_range.numpy()[:11])) == [0] * 5 + [1] * 5

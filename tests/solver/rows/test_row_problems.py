"""Random row problems of three rows and more, solved alone: against all working sets, SciPy, Lemke and the laws."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from tests.solver.rows.problems import bundle, chain, missed, solve, star
from tests.solver.rows.random_problems import enumerated, lemke, nearly_at_rest, random_problems

COUNT = 400
KINDS = {
    "equalities": {},
    "compliant": {"compliant": 0.4},
    "bounded": {"bounded": 0.7},
    "stops": {"stops": 1.0},
    "two-sided stops": {"stops": 1.0, "two_sided": 0.6},
    "mixed": {"stops": 0.4, "bounded": 0.4, "two_sided": 0.5, "compliant": 0.3},
}
SHAPES = [(3, 4), (4, 3), (6, 4), (12, 10)]
"""Rows and dofs: with more rows than dofs some always depend on others."""
NUMBERS = [("float64", "scalar", 1e-13), ("float32", "lanes", 2e-5)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "dofs"), SHAPES)
@pytest.mark.parametrize(("precision", "variant", "tolerance"), NUMBERS)
@pytest.mark.parametrize("tree_of", [chain, star])
def test_impulses_meet_the_laws(kind, rows, dofs, precision, variant, tolerance, tree_of):
    """Velocities and impulses of every row are within its bounds, as a share of the sizes that they are sums of."""
    drawn = random_problems([rows, dofs], COUNT, rows, dofs, **KINDS[kind]).rounded(precision)
    z, _ = solve(drawn, precision=precision, variant=variant, tree_of=tree_of)
    assert missed(drawn, z).max() < tolerance


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("precision", "variant", "tolerance"), NUMBERS)
def test_redundant_rows_meet_the_laws(kind, precision, variant, tolerance):
    """So do problems in which most rows are sums of others."""
    drawn = random_problems(7, COUNT, 6, 8, redundant=0.7, **KINDS[kind]).rounded(precision)
    z, _ = solve(drawn, precision=precision, variant=variant)
    assert missed(drawn, z).max() < tolerance


@pytest.mark.parametrize(
    ("precision", "ratio", "tolerance"), [("float64", 1e6, 1e-13), ("float64", 1e12, 1e-13), ("float32", 1e6, 2e-5)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_mass_ratios_leave_no_error(kind, precision, ratio, tolerance):
    """Masses between 1e-12 and 1 in double and 1e-6 and 1 in single precision."""
    for rows, dofs in ((4, 6), (6, 6), (8, 12)):
        drawn = random_problems(rows, COUNT, rows, dofs, ratio=ratio, **KINDS[kind]).rounded(precision)
        z, _ = solve(drawn, precision=precision, variant="lanes")
        assert missed(drawn, z).max() < tolerance


@pytest.mark.parametrize(("dofs", "stops", "ratio"), [(18, 9, 1e4), (24, 12, 1e3), (24, 12, 1e5)])
def test_friction_beside_stops_ends_at_an_answer(dofs, stops, ratio):
    """Rows that differ by rounding change places for ever if velocities are taken for better known than they are."""
    for seed in range(3):
        drawn = nearly_at_rest(seed, 1000, dofs, stops, ratio).rounded("float32")
        z, _ = solve(drawn, precision="float32", variant="lanes")
        assert missed(drawn, z).max() < 2e-5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("redundant", [0.0, 0.7])
def test_velocities_are_those_of_the_right_working_set(kind, redundant):
    """All working sets, tried in NumPy: the same velocities, and impulses where rows are independent."""
    drawn = random_problems(3, COUNT, 4, 5, redundant=redundant, **KINDS[kind])
    z, v = solve(drawn)
    expected, found = enumerated(drawn)
    assert (found >= 1).all()
    change = np.einsum("knm,km->kn", drawn.push, expected) / drawn.D
    np.testing.assert_allclose(v, drawn.v_free + change, atol=1e-6)
    if not redundant:
        np.testing.assert_allclose(z, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 1e4])
def test_boxes_are_those_of_scipy(ratio):
    """With bounds alone it is a least-squares problem with bounds,  min |D^-1/2 P z + D^1/2 (v_free - v_wanted)|."""
    drawn = random_problems(5, 100, 8, 10, ratio=ratio, bounded=1.0)
    z, _ = solve(drawn)
    for k in range(drawn.count):
        A = drawn.push[k] / np.sqrt(drawn.D[k])[:, None]
        wanted = np.linalg.lstsq(A.T, drawn.lower[k] - drawn.y_free[k], rcond=None)[0]
        found = lsq_linear(A, wanted, bounds=(-drawn.hold[k], drawn.hold[k]), method="bvls", tol=1e-14)
        np.testing.assert_allclose(z[k], found.x, rtol=1e-6, atol=1e-6 * np.abs(found.x).max())


@pytest.mark.parametrize("nonsymmetric", [0.0, 0.2])
def test_one_sided_rows_are_those_of_lemke(nonsymmetric):
    """Nine stops that push up: the linear complementarity problem, solved by Lemke's pivots."""
    drawn = random_problems(6, 60, 9, 12, stops=1.0, nonsymmetric=nonsymmetric)
    flip = np.where(np.isfinite(drawn.upper), -1.0, 1.0)
    lower = np.where(flip < 0, -drawn.upper, drawn.lower)
    J, P = drawn.J * flip[:, :, None], drawn.push * flip[:, None, :]
    drawn = replace(drawn, J=J, P=P, lower=lower, upper=np.full_like(lower, np.inf))
    z, _ = solve(drawn)
    compared = 0
    for k in range(drawn.count):
        expected = lemke(drawn.delassus[k], (drawn.y_free - drawn.lower)[k])
        if expected is not None and positive_minors(drawn.delassus[k]):
            compared += 1
            np.testing.assert_allclose(z[k], expected, rtol=1e-6, atol=1e-8)
    assert compared >= 20


def positive_minors(G) -> bool:
    """Whether all principal minors are positive: then there is one answer, whatever the bounds."""
    rows = range(len(G))
    sets = (list(chosen) for count in range(1, len(G) + 1) for chosen in combinations(rows, count))
    return all(np.linalg.det(G[np.ix_(chosen, chosen)]) > 0 for chosen in sets)


@pytest.mark.parametrize("size", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-10), ("float32", 2e-2)])
def test_forces_that_do_not_follow_from_lengths(kind, size, precision, tolerance):
    """P is not J^T: wherever all principal minors of G are positive, the only answer is found."""
    drawn = random_problems(8, 1000, 3, 4, nonsymmetric=size, **KINDS[kind]).rounded(precision)
    drawn = drawn.chosen([positive_minors(G) and np.linalg.cond(G) < 1e4 for G in drawn.delassus])
    z, _ = solve(drawn, precision=precision, variant="lanes")
    assert drawn.count > 100
    assert missed(drawn, z).max() < tolerance


@pytest.mark.parametrize("kind", ["bounded", "stops", "two-sided stops", "mixed"])
def test_contradictions_stay_within_bounds(kind):
    """Where no velocity is allowed by all rows: impulses are finite and within bounds, and the first rows hold.

    Rows are gathered from the last to the first: with equalities beside them, those that come last are exact.
    """
    drawn = random_problems(9, COUNT, 6, 4, consistent=False, **KINDS[kind])
    z, v = solve(drawn)
    assert np.isfinite(z).all() and np.isfinite(v).all()
    assert (np.abs(z) <= drawn.hold * (1 + 1e-12)).all()


def test_of_contradicting_equalities_the_last_families_hold():
    """Three rows on two dofs, no bounds: the last two are met, the first gets no impulse."""
    drawn = random_problems(10, COUNT, 3, 2, consistent=False)
    z, v = solve(drawn)
    y = np.einsum("kmn,kn->km", drawn.J, v)
    assert (z[:, 0] == 0.0).all()
    np.testing.assert_allclose(y[:, 1:], drawn.lower[:, 1:], atol=1e-9 * np.abs(v).max())


@pytest.mark.parametrize("kind", ["bounded", "mixed"])
def test_rows_that_slide_have_less_than_they_can_hold(kind):
    """With slide = hold / 2 each row is held by no more than hold, or slides with slide, where it is not enough."""
    drawn = random_problems(11, COUNT, 4, 6, **KINDS[kind])
    drawn = replace(drawn, slide=0.5 * drawn.hold)
    z, _ = solve(drawn)
    slides = np.isfinite(drawn.hold) & (np.abs(np.abs(z) - drawn.slide) < 1e-12 * drawn.slide)
    assert slides.any() and (np.abs(z) <= drawn.hold).all()
    assert missed(drawn, z, np.where(slides, np.abs(z), drawn.hold)).max() < 1e-12


PATTERNS = {
    "each its own": [(1,), (3,), (5,), (7,), (9,), (0, 1), (2, 3), (4, 5), (6, 7), (8, 9)],
    "pairs": [(1, 3), (3, 5), (5, 7), (7, 9), (0,), (2,), (4,), (6,), (8,), (9, 1)],
    "far": [(0, 9), (1,), (2, 3), (4, 5), (6,), (7,), (8,), (9, 2), (3, 4), (5, 6)],
}
"""Dofs of rows on five chains of two: rows that never meet, that meet their neighbours, and that meet by fill."""


@pytest.mark.parametrize("tree_of", [star, bundle])
@pytest.mark.parametrize("patterns", PATTERNS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("precision", "variant", "tolerance"), NUMBERS)
@pytest.mark.parametrize("nonsymmetric", [0.0, 0.05])
def test_rows_that_do_not_meet(tree_of, patterns, kind, precision, variant, tolerance, nonsymmetric):
    """Problems of rows on branches, of which few meet."""
    own = PATTERNS[patterns]
    drawn = random_problems(15, 100, len(own), 10, nonsymmetric=nonsymmetric, **KINDS[kind])
    mask = np.zeros((len(own), 10))
    for row, dofs in enumerate(own):
        mask[row, list(dofs)] = 1.0
    # Bounds were drawn for dense rows: targets are those of a velocity that all rows allow.
    J = drawn.J * mask
    shift = np.einsum("kmn,kn->km", J - drawn.J, np.ones((100, 10)))
    P = None if drawn.P is None else drawn.P * mask.T
    drawn = replace(drawn, J=J, P=P, lower=drawn.lower + shift, upper=drawn.upper + shift)
    regular = np.linalg.cond(drawn.delassus) < 1e4
    drawn = drawn.chosen(regular).rounded(precision)
    z, _ = solve(drawn, precision=precision, variant=variant, tree_of=tree_of, patterns=own)
    assert drawn.count >= 20
    good = missed(drawn, z).max(axis=1) < 100 * tolerance
    assert good.all() if not nonsymmetric else good.mean() > 0.9


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_answers_do_not_depend_on_neighbours(precision):
    """Bitwise equal in another order, in which lanes have other neighbours."""
    drawn = random_problems(12, 256, 8, 6, redundant=0.3, nonsymmetric=0.1, **KINDS["mixed"]).rounded(precision)
    order = np.random.default_rng(0).permutation(drawn.count)
    z, v = solve(drawn, precision=precision, variant="lanes")
    other_z, other_v = solve(drawn.chosen(order), precision=precision, variant="lanes")
    np.testing.assert_array_equal(other_z, z[order])
    np.testing.assert_array_equal(other_v, v[order])


@pytest.mark.parametrize("kind", ["equalities", "compliant", "bounded", "stops", "mixed"])
def test_sweeps_come_to_the_same_answer(kind):
    """Projected Gauss-Seidel on well-conditioned problems, after many sweeps."""
    drawn = random_problems(13, 200, 3, 12, **KINDS[kind])
    expected, _ = solve(drawn)
    z, v = solve(drawn, solver="pgs", sweeps=300)
    np.testing.assert_allclose(z, expected, atol=1e-6 * np.abs(expected).max())


def test_rows_on_one_dof_are_met_exactly():
    """Without compliance the velocity of the dof is the target itself, bit by bit."""
    drawn = random_problems(14, COUNT, 3, 5)
    J = np.zeros_like(drawn.J)
    J[:, [0, 1, 2], [4, 0, 2]] = 1.0
    drawn = replace(drawn, J=J)
    _, v = solve(drawn, patterns=[(4,), (0,), (2,)])
    np.testing.assert_array_equal(v[:, [4, 0, 2]], drawn.lower)

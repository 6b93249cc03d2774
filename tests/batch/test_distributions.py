"""Distributions of what varies, against those of SciPy, and what is refused."""

import numpy as np
import pytest
from scipy import stats

from warp_artic.batch.distributions import Distribution, sobol
from warp_artic.batch.philox import uniforms
from warp_artic.errors import SettingsError

COUNT = 50_000
CASES = {
    "uniform": ({"uniform": [-2.0, 3.0]}, stats.uniform(-2.0, 5.0)),
    "log_uniform": ({"log_uniform": [0.01, 100.0]}, stats.loguniform(0.01, 100.0)),
    "normal": ({"normal": [1.0, 0.5]}, stats.truncnorm(-4.0, 4.0, 1.0, 0.5)),
    "normal with bounds": ({"normal": [1.0, 0.5, 0.0, 1.2]}, stats.truncnorm(-2.0, 0.4, 1.0, 0.5)),
    "tail of a normal": ({"normal": [0.0, 1.0, 6.0, 8.0]}, stats.truncnorm(6.0, 8.0)),
    "lower tail of a normal": ({"normal": [0.0, 1.0, -8.0, -6.0]}, stats.truncnorm(-8.0, -6.0)),
}


@pytest.mark.parametrize("given, expected", CASES.values(), ids=CASES)
def test_values_are_distributed_so(given, expected):
    """By Kolmogorov and Smirnov; and the quantiles are those of SciPy."""
    one = Distribution.of("test", given)
    values = one.at(uniforms(3, "kolmogorov", 0, COUNT))
    assert stats.kstest(values, expected.cdf).pvalue > 1e-3
    u = np.linspace(1e-6, 1.0 - 1e-6, 1001)
    assert np.allclose(one.at(u), expected.ppf(u), rtol=1e-9, atol=1e-9)
    low, high = one.bounds
    assert low <= values.min() and values.max() <= high


@pytest.mark.parametrize("given", [[1.0, 0.0, 5.0, 6.0], [1.0, 0.001, 5.0, 6.0], [9.0, 0.001, 3.0, 5.0]])
def test_a_normal_without_a_share_within_its_bounds(given):
    """It is all at the bound that is nearest to the mean."""
    assert (Distribution.of("test", {"normal": given}).at(uniforms(1, "far", 0, 100)) == 5.0).all()


def test_choice_takes_each_as_often():
    """By a chi-squared test."""
    values = Distribution.of("test", {"choice": [1.0, 2.0, 5.0]}).at(uniforms(1, "choice", 0, COUNT))
    counts = [(values == one).sum() for one in (1.0, 2.0, 5.0)]
    assert sum(counts) == COUNT
    assert stats.chisquare(counts).pvalue > 1e-3


def test_sobol_points_of_any_number_are_drawn_without_a_warning(recwarn):
    """SciPy warns of numbers that are no power of two."""
    assert sobol(2, 1, ["a", "b"], 0, 5).shape == (5, 2) and not recwarn.list


def test_sobol_points_are_even_and_the_same_for_any_cut():
    """More even than random points by far (discrepancy), and each point by its index alone."""
    whole = sobol(3, 7, ["a", "b", "c"], 0, 256)
    random = np.random.default_rng(0).random((256, 3))
    assert stats.qmc.discrepancy(whole) < 0.2 * stats.qmc.discrepancy(random)
    for first, last in ((0, 1), (3, 9), (100, 256), (255, 256)):
        assert np.array_equal(sobol(3, 7, ["a", "b", "c"], first, last), whole[first:last])
    assert not np.array_equal(sobol(3, 8, ["a", "b", "c"], 0, 256), whole)
    assert np.array_equal(sobol(4, 7, ["a", "b", "c", "d"], 0, 256)[:, :3], whole)


@pytest.mark.parametrize(
    "given, words",
    [
        ({"unifrom": [0, 1]}, "did you mean uniform?"),
        ({"uniform": [2, 1]}, "the smaller first"),
        ({"uniform": [0, float("nan")]}, "finite numbers"),
        ({"log_uniform": [0.0, 1.0]}, "above 0"),
        ({"normal": [0.0, -1.0]}, "deviation of at least 0"),
        ({"normal": [0.0]}, "mean, deviation"),
        ({"choice": []}, "must be a list"),
        ({"choice": [True]}, "must have numbers"),
        ({"grid": {"from": 0, "to": 1}}, "from, to and count"),
        ({"uniform": [0, 1], "normal": [0, 1]}, "must be one of"),
        (3, "must be one of"),
    ],
)
def test_what_is_no_distribution_is_refused(given, words):
    """With the name of the variable, what was found and what is allowed."""
    with pytest.raises(SettingsError, match="^mass: ") as error:
        Distribution.of("mass", given)
    assert words in str(error.value)

"""Uniform numbers by index: Philox-4x64-10 as Random123 publishes it, the same for any cut."""

import numpy as np
import pytest
from scipy import stats

from warp_artic.batch.philox import uniforms, words

ONES = 2**64 - 1


def philox(counter, key):
    """Philox-4x64-10 by the equations of its paper, on Python's integers."""
    c, k = list(counter), list(key)
    for turn in range(10):
        if turn:
            k = [(k[0] + 0x9E3779B97F4A7C15) & ONES, (k[1] + 0xBB67AE8584CAA73B) & ONES]
        first, second = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [second >> 64 ^ c[1] ^ k[0], second & ONES, first >> 64 ^ c[3] ^ k[1], first & ONES]
    return c


def test_known_answers():
    """Those that Random123 publishes: of zeros, of ones and of digits of pi."""
    zeros = [0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B]
    ones = [0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0]
    pi = [0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6]
    digits = (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89)
    assert philox((0, 0, 0, 0), (0, 0)) == zeros
    assert philox((ONES,) * 4, (ONES, ONES)) == ones
    assert philox(digits, (0x452821E638D01377, 0xBE5466CF34E90C6C)) == pi
    assert words(0, 0, 4).tolist() == zeros


@pytest.mark.parametrize("first, last", [(0, 9), (3, 4), (1021, 1030), (2**31 - 3, 2**31)])
def test_words_are_those_of_counters(first, last):
    """Run k has word k mod 4 of counter k // 4."""
    key = 0x0123456789ABCDEF_FEDCBA9876543210
    limbs = (key & ONES, key >> 64)
    wanted = [philox((run // 4, 0, 0, 0), limbs)[run % 4] for run in range(first, last)]
    assert words(key, first, last).tolist() == wanted


def test_any_cut_gives_the_same():
    """Numbers of a run do not depend on which runs they are drawn with."""
    whole = uniforms(7, "stiffness", 0, 1000)
    cuts = np.random.default_rng(0).integers(0, 1001, size=(200, 2))
    for first, last in np.sort(cuts, axis=1):
        assert np.array_equal(uniforms(7, "stiffness", first, last), whole[first:last])


def test_numbers_are_uniform_and_independent_of_other_variables():
    """By Kolmogorov and Smirnov; two names, and two seeds, are not correlated."""
    one, other = uniforms(1, "a", 0, 100_000), uniforms(1, "b", 0, 100_000)
    assert stats.kstest(one, "uniform").pvalue > 1e-3
    for two in (other, uniforms(2, "a", 0, 100_000), np.roll(one, 1)):
        assert abs(np.corrcoef(one, two)[0, 1]) < 4.0 / np.sqrt(100_000)
    assert 0.0 < one.min() and one.max() < 1.0

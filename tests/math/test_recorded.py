"""Launches that are recorded when they come again, beside those of Warp."""

import numpy as np
import warp as wp

from warp_artic.math import recorded
from warp_artic.math.recorded import RecordedLaunches


@wp.struct
class Terms:
    """What a kernel adds."""

    values: wp.array(dtype=wp.float64)


@wp.kernel
def add_terms(sums: wp.array(dtype=wp.float64), terms: Terms, factor: wp.float64, shift: wp.vec2):
    """Adds terms times a factor, and a shift to the first one."""
    place = wp.tid()
    sums[place] = sums[place] + factor * terms.values[place]
    if place == 0:
        sums[place] = sums[place] + wp.float64(shift[1])


def test_each_has_its_own_inputs(monkeypatch):
    """Arrays, structs, numbers and vectors that take turns, more of them than are kept."""
    monkeypatch.setattr(recorded, "MOST", 5)
    launches, rng = RecordedLaunches("cpu"), np.random.default_rng(0)
    sums = [wp.zeros(3, dtype=wp.float64, device="cpu") for _ in range(2)]
    expected, terms = np.zeros((2, 3)), []
    for _ in range(3):
        terms.append(Terms())
        terms[-1].values = wp.array(rng.normal(size=3), dtype=wp.float64, device="cpu")
    shifts = [wp.vec2(0.0, 1.0), wp.vec2(0.0, -3.0)]
    for turn in rng.integers(0, [2, 3, 2, 2], (200, 4)):
        place, which, factor, shift = turn.tolist()
        launches.launch(add_terms, 3, [sums[place], terms[which], wp.float64(factor), shifts[shift]])
        expected[place] += factor * terms[which].values.numpy()
        expected[place, 0] += shifts[shift][1]
        np.testing.assert_array_equal(sums[place].numpy(), expected[place])
    sums[0].zero_()
    launches.launch(add_terms, 2, [sums[0], terms[0], wp.float64(1.0), shifts[0]])
    assert sums[0].numpy()[2] == 0.0

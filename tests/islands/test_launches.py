"""Launches for contacts among many bodies, whose arguments are packed once for the arrays that they are given."""

import numpy as np
import warp as wp

from warp_artic.sim.islands.launches import MOST_KEPT, IslandLaunches


@wp.struct
class Numbers:
    """What a kernel adds to."""

    sums: wp.array(dtype=wp.float64)
    count: int


@wp.kernel
def add(numbers: Numbers, terms: wp.array(dtype=wp.float64), factor: wp.float64):
    """Adds terms times a factor, but for those beyond the count."""
    place = wp.tid()
    if place < numbers.count:
        numbers.sums[place] = numbers.sums[place] + factor * terms[place]


def test_structs_dimensions_and_arrays_may_change():
    launch = IslandLaunches("cpu")
    numbers = Numbers()
    numbers.sums, numbers.count = wp.zeros(4, dtype=wp.float64, device="cpu"), 4
    ones, twos = (wp.full(4, value, dtype=wp.float64, device="cpu") for value in (1.0, 2.0))
    first = numbers.sums
    launch(add, (4,), [numbers, ones, 1.0])
    numbers.count = 3
    launch(add, (4,), [numbers, ones, 1.0])
    launch(add, (2,), [numbers, ones, 1.0])
    launch(add, (0,), [numbers, ones, 1.0])
    launch(add, (4,), [numbers, ones, 0.5])
    np.testing.assert_array_equal(first.numpy(), [3.5, 3.5, 2.5, 1.0])
    numbers.sums = wp.zeros(4, dtype=wp.float64, device="cpu")
    launch(add, (4,), [numbers, twos, 1.0])
    launch(add, (4,), [numbers, ones, 1.0])
    np.testing.assert_array_equal(first.numpy(), [3.5, 3.5, 2.5, 1.0])
    np.testing.assert_array_equal(numbers.sums.numpy(), [3.0, 3.0, 3.0, 0.0])


def test_arrays_that_are_new_each_time_are_let_go():
    """What is kept is bounded, and an array that has the address of one before is not taken for it."""
    launch = IslandLaunches("cpu")
    numbers = Numbers()
    numbers.sums, numbers.count = wp.zeros(1, dtype=wp.float64, device="cpu"), 1
    for value in range(3 * MOST_KEPT):
        launch(add, (1,), [numbers, wp.full(1, float(value), dtype=wp.float64, device="cpu"), 1.0])
    assert numbers.sums.numpy()[0] == sum(range(3 * MOST_KEPT))

"""Launches whose arguments are packed once, beside those of Warp."""

import numpy as np
import pytest
import warp as wp

from warp_artic.math.packed import PackedLaunch


@wp.struct
class Numbers:
    """What a kernel adds to."""

    sums: wp.array(dtype=wp.float64)
    first: int


@wp.kernel
def add(numbers: Numbers, factor: wp.float64, end: int, term: int):
    """Adds a term times a factor to some of them."""
    for place in range(numbers.first, end):
        numbers.sums[place] = numbers.sums[place] + factor * wp.float64(term)


@pytest.fixture
def packed():
    """A launch that adds 2.5 times 1 to the second and third of four sums, and the sums."""
    numbers = Numbers()
    numbers.sums, numbers.first = wp.zeros(4, dtype=wp.float64, device="cpu"), 1
    launch = wp.launch(add, dim=1, inputs=[numbers, 2.5, 3, 1], device="cpu", record_cmd=True)
    return PackedLaunch(launch), numbers.sums


def test_runs_with_the_numbers_that_were_set_last(packed):
    """And all others as they were recorded."""
    launch, sums = packed
    launch.run()
    np.testing.assert_array_equal(sums.numpy(), [0.0, 2.5, 2.5, 0.0])
    launch.set("term", -3)
    launch.set("end", 4)
    launch.run()
    np.testing.assert_array_equal(sums.numpy(), [0.0, -5.0, -5.0, -7.5])


def test_a_capture_takes_it_in_as_it_is(packed):
    """It does not run then, and later as often as it is replayed, whatever is set meanwhile."""
    launch, sums = packed
    launch.set("term", 2)
    with wp.ScopedCapture(device="cpu") as capture:
        launch.record()
    launch.set("term", 100)
    np.testing.assert_array_equal(sums.numpy(), 0.0)
    wp.capture_launch(capture.graph)
    wp.capture_launch(capture.graph)
    np.testing.assert_array_equal(sums.numpy(), [0.0, 10.0, 10.0, 0.0])

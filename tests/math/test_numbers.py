"""Functions of lane vectors that have a body of their own."""

import numpy as np
import pytest
import warp as wp

from warp_artic.math.numbers import WIDE32, WIDE64, arctan2

SPECIAL = [(0, 1), (0, -1), (1, 0), (-1, 0), (0, 0), (np.nan, 1), (1, np.nan)]
"""(y, x) on the axes, and what is no number."""


@pytest.mark.parametrize("numbers, known", [(WIDE32, 2e-7), (WIDE64, 4e-16)], ids=["float32", "float64"])
def test_arc_tangents_of_lanes_are_those_of_numpy(numbers, known):
    """In all quadrants, of any size and on the axes; to two roundings."""
    T = numbers.real

    @wp.kernel(enable_backward=False, module="unique")
    def angles(y: wp.array(dtype=T), x: wp.array(dtype=T), found: wp.array(dtype=T)):
        i = wp.tid()
        found[i] = arctan2(y[i], x[i])

    rng = np.random.default_rng(0)
    shape, scalar = (2, 500, numbers.lanes), wp.dtype_to_numpy(numbers.scalar)
    y, x = (rng.normal(size=shape) * 10.0 ** rng.uniform(-8, 3, shape)).astype(scalar)
    (y[0, : len(SPECIAL)], x[0, : len(SPECIAL)]) = np.transpose(SPECIAL) if numbers.lanes >= len(SPECIAL) else (0, 1)
    found = wp.zeros(len(y), dtype=T, device="cpu")
    given = [wp.array(side, dtype=T, device="cpu") for side in (y, x)]
    wp.launch(angles, dim=len(y), inputs=[*given, found], device="cpu")
    np.testing.assert_allclose(found.numpy(), np.arctan2(y.astype(float), x.astype(float)), rtol=known, atol=1e-37)

"""Subnormal numbers are zero in kernels that say so, and only there."""

import platform

import numpy as np
import pytest
import warp as wp

from tests.contacts.motion import simulation
from tests.islands.test_ropes_on_pegs import rope
from warp_artic.math.subnormals import flush_subnormals, restore_subnormals

SMALL = np.float32(2e-38)
KNOWN = ("x86_64", "AMD64", "aarch64", "arm64")


@wp.kernel(enable_backward=False, module="unique")
def shares(x: wp.array(dtype=float), by: float, found: wp.array(dtype=float)):
    found[2 * wp.tid()] = x[0] * by
    control_register = flush_subnormals()
    found[2 * wp.tid() + 1] = x[0] * by
    restore_subnormals(control_register)


@pytest.mark.skipif(platform.machine() not in KNOWN, reason="the control register of this processor is not known")
def test_products_in_a_kernel():
    """A product below the smallest normal number, before and after the register is set, in every thread of a launch."""
    x, found = wp.array([SMALL], dtype=float, device="cpu"), wp.zeros(8, dtype=float, device="cpu")
    wp.launch(shares, dim=4, inputs=[x, 0.1, found], device="cpu")
    first, second = found.numpy().reshape(4, 2).T
    np.testing.assert_array_equal(first, SMALL * np.float32(0.1))
    assert (first > 0.0).all() and (second == 0.0).all()


@pytest.mark.parametrize("links", [4, 50])
def test_steps_leave_the_arithmetic_of_callers(links):
    """NumPy has its subnormals after steps of a tree, and of one among many bodies."""
    one = simulation(rope(links, 0.05, 0.0, 0.05), dt=1 / 240, precision="float32")
    assert (one.scene.island_contacts is not None) == (links == 50)
    one.step(30)
    assert SMALL * np.float32(0.1) > 0.0 and np.float64(2e-308) * 0.1 > 0.0

"""Rates of rotation vectors against the integral form of the Jacobian of the exponential."""

import numpy as np
import pytest
import warp as wp
from scipy.linalg import expm

from tests.math.test_rotation import TYPES, run, vectors
from tests.oracles.rigid import cross_matrix
from warp_artic.joints import floating, spherical
from warp_artic.model.arrays import load_vec3, store_vec3


def right_jacobian(phi):
    """The integral of exp(-s [phi]) over s from 0 to 1, by the exponential of a block matrix."""
    block = np.zeros((6, 6))
    block[:3, :3], block[:3, 3:] = -cross_matrix(phi), np.eye(3)
    return expm(block)[:3, 3:]


@pytest.mark.parametrize("name", TYPES)
def test_rates_undo_the_jacobian(name):
    """J_r(phi) phidot is the angular velocity in M, and J_r(-theta) thetadot that in the world; zero to half a turn."""
    number = TYPES[name]
    T = number.real

    @wp.kernel(module="unique", enable_backward=False)
    def compute(given: wp.array2d(dtype=T), found: wp.array2d(dtype=T)):
        i = wp.tid()
        phi = load_vec3(given, 0, i)
        v = load_vec3(given, 3, i)
        store_vec3(found, 0, i, spherical.rates(phi, v))
        store_vec3(found, 3, i, floating.rates(phi, v))

    phi, v = vectors(1), np.random.default_rng(2).normal(size=(3, vectors(1).shape[1]))
    phi[:, 4:12] *= 0.2 / np.linalg.norm(phi[:, 4:12], axis=0) * np.linspace(0.99, 1.01, 8)
    found = run(number, compute, np.concatenate([phi, v]), 6)
    J = np.array([right_jacobian(column) for column in phi.T])
    J_left = np.array([right_jacobian(-column) for column in phi.T])
    tolerance = 5e-6 if number.scalar is wp.float32 else 1e-14
    np.testing.assert_allclose(np.einsum("kij,jk->ik", J, found[:3]), v, atol=tolerance)
    np.testing.assert_allclose(np.einsum("kij,jk->ik", J_left, found[3:]), v, atol=tolerance)

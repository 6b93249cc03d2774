"""Rotations on lanes and scalars against SciPy."""

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

from warp_artic.math import numbers, rotation
from warp_artic.math.numbers import SCALAR32, SCALAR64, WIDE32, WIDE64
from warp_artic.model.arrays import load_mat3, load_vec3, store_mat3, store_vec3

TYPES = {"wide32": WIDE32, "wide64": WIDE64, "scalar32": SCALAR32, "scalar64": SCALAR64}
COUNT = 64


def run(number, compute, values, rows_out):
    """Apply a kernel to columns of numbers."""
    dtype = wp.dtype_to_numpy(number.scalar)
    shape = (-1, COUNT // number.lanes, number.lanes) if number.lanes > 1 else (-1, COUNT)
    values = np.ascontiguousarray(values, dtype).reshape(values.shape[0], *shape[1:])
    given = wp.array(values, dtype=number.real, device="cpu")
    found = wp.zeros((rows_out, COUNT // number.lanes), dtype=number.real, device="cpu")
    wp.launch(compute, dim=COUNT // number.lanes, inputs=[given, found], device="cpu")
    return found.numpy().reshape(rows_out, COUNT).astype(float)


def vectors(seed, scale=1.0):
    """Rotation vectors: zero, tiny ones, and long ones up to 3 rad."""
    phi = np.random.default_rng(seed).normal(size=(3, COUNT)) * scale
    phi *= np.minimum(1.0, 3.0 / np.linalg.norm(phi, axis=0))
    phi[:, :4] *= np.array([0.0, 1e-12, 1e-6, 1e-3])
    return phi


@pytest.mark.parametrize("name", TYPES)
def test_composition_of_rotation_vectors(name):
    """log(exp(a) exp(b)) as SciPy has it."""
    number = TYPES[name]
    T = number.real

    @wp.kernel(module="unique", enable_backward=False)
    def compute(given: wp.array2d(dtype=T), found: wp.array2d(dtype=T)):
        i = wp.tid()
        v, w = rotation.quaternion_exp(load_vec3(given, 0, i))
        u, s = rotation.quaternion_exp(load_vec3(given, 3, i))
        z, t = rotation.quaternion_mul(v, w, u, s)
        store_vec3(found, 0, i, rotation.quaternion_log(z, t))

    values = np.concatenate([vectors(1), vectors(2, 0.3)])
    found = run(number, compute, values, 3)
    expected = (Rotation.from_rotvec(values[:3].T) * Rotation.from_rotvec(values[3:].T)).as_rotvec()
    tolerance = 2e-6 if number.scalar is wp.float32 else 1e-14
    near_pi = np.linalg.norm(expected, axis=1) > 3.1
    np.testing.assert_allclose(found.T[~near_pi], expected[~near_pi], atol=tolerance)


@pytest.mark.parametrize("name", TYPES)
def test_quaternions_of_matrices(name):
    """Matrix of a quaternion, quaternion of the matrix: the same rotation, at every angle."""
    number = TYPES[name]
    T = number.real

    @wp.kernel(module="unique", enable_backward=False)
    def compute(given: wp.array2d(dtype=T), found: wp.array2d(dtype=T)):
        i = wp.tid()
        v, w = rotation.quaternion_exp(load_vec3(given, 0, i))
        R = rotation.quaternion_matrix(v, w)
        store_mat3(found, 0, i, R)
        x, s = rotation.quaternion_from_matrix(load_mat3(found, 0, i))
        store_vec3(found, 9, i, x)
        found[12, i] = s

    phi = vectors(3)
    phi[:, 10:20] *= np.pi / np.linalg.norm(phi[:, 10:20], axis=0)
    found = run(number, compute, phi, 13)
    tolerance = 1e-6 if number.scalar is wp.float32 else 1e-14
    expected = Rotation.from_rotvec(phi.T)
    np.testing.assert_allclose(found[:9].T.reshape(-1, 3, 3), expected.as_matrix(), atol=tolerance)
    np.testing.assert_allclose(Rotation.from_quat(found[9:].T).as_matrix(), expected.as_matrix(), atol=2 * tolerance)
    assert (found[12] >= 0).all()


@pytest.mark.parametrize("name", TYPES)
def test_sine_and_cosine(name):
    """Within a few roundings of NumPy's for angles up to a hundred turns, and elementwise."""
    number = TYPES[name]
    T = number.real
    sine, cosine = numbers.sine, numbers.cosine

    @wp.kernel(module="unique", enable_backward=False)
    def compute(given: wp.array2d(dtype=T), found: wp.array2d(dtype=T)):
        i = wp.tid()
        found[0, i] = sine(given[0, i])
        found[1, i] = cosine(given[0, i])

    angle = np.linspace(-600, 600, COUNT)[None].astype(wp.dtype_to_numpy(number.scalar)).astype(float)
    found = run(number, compute, angle, 2)
    tolerance = 2e-7 if number.scalar is wp.float32 else 1e-15
    np.testing.assert_allclose(found, np.concatenate([np.sin(angle), np.cos(angle)]), atol=tolerance)

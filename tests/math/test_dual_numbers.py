"""Dual numbers against derivatives by hand, and against themselves where a value has none."""

import numpy as np
import pytest
import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    absolute,
    add,
    any_positive,
    arctan2,
    cosine,
    div,
    dual_numbers_for,
    is_finite,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sine,
    sqrt,
    sub,
    vec3,
    where_positive,
    with_derivatives,
)

KINDS = [("float32", True), ("float64", True), ("float32", False), ("float64", False)]
"""Precision, and whether they are those of a CPU."""
COUNT = 15
"""Results of each pair of numbers."""


def kernel_for(precision: str, on_cpu: bool) -> wp.Kernel:
    """Computes all functions of pairs of dual numbers."""
    T = dual_numbers_for(precision, on_cpu).real

    @wp.kernel(enable_backward=False, module="unique")
    def functions(a: wp.array(dtype=T), b: wp.array(dtype=T), found: wp.array2d(dtype=T)):
        i = wp.tid()
        x = a[i]
        y = b[i]
        found[0, i] = x + y
        found[1, i] = x - y
        found[2, i] = x * y
        found[3, i] = x / y
        found[4, i] = neg(x)
        found[5, i] = sqrt(x)
        found[6, i] = sine(x)
        found[7, i] = cosine(x)
        found[8, i] = arctan2(x, y)
        found[9, i] = minimum(x, y)
        found[10, i] = maximum(x, y)
        found[11, i] = absolute(y)
        found[12, i] = where_positive(y, x, real(2.0, x)) + real(wp.float64(3.0), x) + is_finite(x)
        v = vec3(x, y, x) * y
        found[13, i] = v.y
        if any_positive(y - x):
            found[13, i] = v.z
        found[14, i] = with_derivatives(x, x * y)

    return functions


def found_for(precision: str, on_cpu: bool, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What the kernel finds of pairs of dual numbers (N, lanes), shape (COUNT, N, lanes)."""
    T, functions = dual_numbers_for(precision, on_cpu).real, kernel_for(precision, on_cpu)
    given = [wp.array(side.astype(precision), dtype=T, device="cpu") for side in (a, b)]
    found = wp.zeros((COUNT, len(a)), dtype=T, device="cpu")
    wp.launch(functions, dim=len(a), inputs=[*given, found], device="cpu")
    return found.numpy()


def by_hand(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The same of finite numbers, from values and the derivatives of functions by each argument."""
    x, y = a[:, :1], b[:, :1]
    left = x < y
    square = x * x + y * y
    values_and_slopes = [
        (x + y, 1, 1),
        (x - y, 1, -1),
        (x * y, y, x),
        (x / y, 1 / y, -x / (y * y)),
        (-x, -1, 0),
        (np.sqrt(x), 0.5 / np.sqrt(x), 0),
        (np.sin(x), np.cos(x), 0),
        (np.cos(x), -np.sin(x), 0),
        (np.arctan2(x, y), y / square, -x / square),
        (np.minimum(x, y), left, ~left),
        (np.maximum(x, y), ~left, left),
        (np.abs(y), 0, np.sign(y)),
        (np.where(y > 0, x, 2.0) + 4.0, y > 0, 0),
        (np.where(left, x * y, y * y), np.where(left, y, 0), np.where(left, x, 2 * y)),
        (x, y, x),
    ]
    derivatives = [by_x * a[:, 1:] + by_y * b[:, 1:] for _, by_x, by_y in values_and_slopes]
    return np.array([np.hstack([one[0], rest]) for one, rest in zip(values_and_slopes, derivatives)])


@pytest.mark.parametrize("precision, on_cpu", KINDS)
def test_functions_have_their_values_and_derivatives(precision, on_cpu):
    """To a few roundings, of numbers of all sizes and signs; a root has a positive argument."""
    lanes = dual_numbers_for(precision, on_cpu).lanes
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 200, lanes)) * 10.0 ** rng.uniform(-2, 2, (2, 200, 1))
    a[:, 0] = np.abs(a[:, 0])
    a, b = a.astype(precision), b.astype(precision)
    found, wanted = found_for(precision, on_cpu, a, b), by_hand(a.astype(float), b.astype(float))
    size = np.abs(wanted).max(axis=2, keepdims=True) + np.abs(a).max(axis=1)[:, None] + np.abs(b).max(axis=1)[:, None]
    assert (np.abs(found - wanted) / size).max() < 20 * np.finfo(precision).eps


@pytest.mark.parametrize("precision, on_cpu", KINDS)
def test_derivatives_are_finite_where_values_are_not_smooth(precision, on_cpu):
    """At zero, at infinity, among numbers too small to square and of what is no number."""
    lanes = dual_numbers_for(precision, on_cpu).lanes
    tiny = float(np.finfo(precision).smallest_subnormal)
    special = [0.0, -0.0, tiny, 1e-12, -1e-12, 1.0, -1.0, 1e12, np.inf, -np.inf, np.nan]
    pairs = np.array([(x, y) for x in special for y in special])
    rates = np.linspace(-1.0, 1.0, lanes - 1) * np.ones((len(pairs), 1))
    a, b = (np.column_stack([pairs[:, side], rates]) for side in (0, 1))
    with np.errstate(all="ignore"):
        found = found_for(precision, on_cpu, a, b)
    assert np.isfinite(found[:, :, 1:][np.isfinite(found[:, :, 0])]).all()
    bounds = found[2:4, :, 1:][~np.isfinite(found[2:4, :, 0])]
    assert not bounds.any()  # zero times infinity comes of no infinite bound


@pytest.mark.parametrize("precision, on_cpu", KINDS)
def test_values_are_those_of_scalars(precision, on_cpu):
    """Bitwise, in NumPy, where both round correctly."""
    lanes = dual_numbers_for(precision, on_cpu).lanes
    a, b = np.random.default_rng(1).normal(size=(2, 500, lanes)).astype(precision)
    a = np.abs(a)
    found = found_for(precision, on_cpu, a, b)[:, :, 0]
    x, y = a[:, 0], b[:, 0]
    for row, wanted in ((0, x + y), (1, x - y), (2, x * y), (3, x / y), (5, np.sqrt(x))):
        np.testing.assert_array_equal(found[row], wanted)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_those_of_a_gpu_compile_for_one(precision, tmp_path):
    """To PTX for compute capability 9.0, which needs no driver."""
    kernel = kernel_for(precision, False)
    wp.compile_aot_module(kernel.module, arch=90, module_dir=tmp_path, use_ptx=True)
    assert [path.stat().st_size > 1000 for path in tmp_path.glob("*.ptx")] == [True]

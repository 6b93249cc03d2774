from fractions import Fraction

import numpy as np
import warp as wp

from warp_artic.math.double_double import dd_add, dd_div, dd_gather, dd_sqrt, dd_take, renormal

MODULE = wp.get_module(__name__)
wp.set_module_options({"cpu_compiler_flags": "-march=native", "enable_backward": False}, module=MODULE)


@wp.kernel(module=MODULE)
def compute(a: wp.array(dtype=wp.vec2d), b: wp.array(dtype=wp.vec2d), results: wp.array2d(dtype=wp.vec2d)):
    i = wp.tid()
    results[0, i] = dd_add(a[i], b[i])
    results[1, i] = dd_div(a[i], b[i])
    results[2, i] = dd_sqrt(wp.where(a[i][0] > wp.float64(0.0), a[i], -a[i]))
    taken = dd_take(a[i], a[i], b[i])
    results[3, i] = renormal(taken[0], taken[1])


@wp.kernel(module=MODULE)
def dot(a: wp.array2d(dtype=wp.float64), b: wp.array2d(dtype=wp.float64), results: wp.array(dtype=wp.vec2d)):
    i = wp.tid()
    total = wp.vec2d()
    for k in range(a.shape[1]):
        total = dd_gather(total, a[i, k], b[i, k])
    results[i] = renormal(total[0], total[1])


def exact(number):
    """The value of a number in two parts."""
    return Fraction(float(number[0])) + Fraction(float(number[1]))


def random_numbers(rng, count):
    """Numbers with 106 random bits."""
    high = rng.normal(size=count) * 10.0 ** rng.integers(-6, 7, size=count)
    return np.stack([high, high * rng.uniform(-1.0, 1.0, size=count) * 2.0**-53], axis=1)


def test_operations_have_thirty_digits():
    """Sum, quotient, root and a product taken away are within 1e-30 of what exact fractions give."""
    rng = np.random.default_rng(0)
    a, b = random_numbers(rng, 200), random_numbers(rng, 200)
    results = wp.empty((4, 200), dtype=wp.vec2d)
    wp.launch(compute, dim=200, inputs=[wp.array(a, dtype=wp.vec2d), wp.array(b, dtype=wp.vec2d), results])
    for x, y, total, quotient, root, taken in zip(a, b, *results.numpy()):
        x, y = exact(x), exact(y)
        assert abs(exact(total) - (x + y)) <= 1e-30 * (abs(x) + abs(y))
        assert abs(exact(quotient) * y - x) <= 1e-30 * abs(x)
        assert abs(exact(root) ** 2 - abs(x)) <= 1e-30 * abs(x)
        assert abs(exact(taken) - (x - x * y)) <= 1e-30 * (abs(x) + abs(x * y))


def test_long_sums_that_cancel_keep_their_digits():
    """A scalar product of 400 terms that cancel to 1e-16 of their size is right to ten digits and more."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(20, 401)), rng.normal(size=(20, 401))
    totals = [sum(Fraction(x) * Fraction(y) for x, y in zip(row[:-1], other[:-1])) for row, other in zip(a, b)]
    b[:, -1], a[:, -1] = [-float(total) for total in totals], 1.0
    results = wp.empty(20, dtype=wp.vec2d)
    wp.launch(dot, dim=20, inputs=[wp.array(a, dtype=wp.float64), wp.array(b, dtype=wp.float64), results])
    for found, total in zip(results.numpy(), totals):
        expected = total - Fraction(float(total))
        assert abs(exact(found) - expected) <= 1e-27

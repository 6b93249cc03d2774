"""Numbers of twice the digits of float64, as the unevaluated sum of two of them: about 32 decimal digits.

The parts of a `vec2d` are the rounded value and what rounding left. Dekker 1971, Knuth 4.2.2.
"""

import warp as wp

TWO_PRODUCT = """
    wp::vec_t<2, wp::float64> result;
#if defined(__CUDA_ARCH__)
    result[0] = __dmul_rn(a, b);
    result[1] = __fma_rn(a, b, -result[0]);
#elif defined(__FMA__)
    result[0] = a * b;
    result[1] = __builtin_fma(a, b, -result[0]);
#else
    const double factor = 134217729.0;
    double scaled = factor * a;
    const double a_high = scaled - (scaled - a), a_low = a - a_high;
    scaled = factor * b;
    const double b_high = scaled - (scaled - b), b_low = b - b_high;
    result[0] = a * b;
    result[1] = ((a_high * b_high - result[0]) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
    return result;
"""


@wp.func_native(TWO_PRODUCT)
def two_product(a: wp.float64, b: wp.float64) -> wp.vec2d:
    """The exact product."""
    ...


@wp.func
def two_sum(a: wp.float64, b: wp.float64):
    """The exact sum."""
    rounded = a + b
    part = rounded - a
    return wp.vec2d(rounded, (a - (rounded - part)) + (b - part))


@wp.func
def renormal(high: wp.float64, low: wp.float64):
    """The sum of a number and a much smaller one."""
    rounded = high + low
    return wp.vec2d(rounded, low - (rounded - high))


@wp.func
def dd_add(a: wp.vec2d, b: wp.vec2d):
    """a + b."""
    high = two_sum(a[0], b[0])
    low = two_sum(a[1], b[1])
    partial = renormal(high[0], high[1] + low[0])
    return renormal(partial[0], partial[1] + low[1])


@wp.func
def dd_gather(total: wp.vec2d, a: wp.float64, b: wp.float64):
    """total + a b for long sums (Ogita, Rump and Oishi 2005): what rounding left is gathered in the second part."""
    product = two_product(a, b)
    high = two_sum(total[0], product[0])
    return wp.vec2d(high[0], total[1] + (high[1] + product[1]))


@wp.func
def dd_take(total: wp.vec2d, a: wp.vec2d, b: wp.vec2d):
    """total - a b for long sums."""
    product = two_product(-a[0], b[0])
    high = two_sum(total[0], product[0])
    return wp.vec2d(high[0], total[1] + (high[1] + (product[1] - (a[0] * b[1] + a[1] * b[0]))))


@wp.func
def dd_scale(a: wp.vec2d, factor: wp.float64):
    """a times a float64."""
    product = two_product(a[0], factor)
    return renormal(product[0], product[1] + a[1] * factor)


@wp.func
def dd_div(a: wp.vec2d, b: wp.vec2d):
    """a / b."""
    first = a[0] / b[0]
    rest = dd_add(a, dd_scale(b, -first))
    second = rest[0] / b[0]
    rest = dd_add(rest, dd_scale(b, -second))
    quotient = renormal(first, second)
    return dd_add(quotient, wp.vec2d(rest[0] / b[0], wp.float64(0.0)))


@wp.func
def dd_sqrt(a: wp.vec2d):
    """The root of a positive number."""
    root = wp.sqrt(a[0])
    rest = dd_add(a, -two_product(root, root))
    return renormal(root, rest[0] / (root + root))

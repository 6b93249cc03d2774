"""The force of a tendon of either kind:  f = k (rest - L) - d S + k_lim Delta  (Tendon Dynamics, equations 3 to 9).

Delta is the change that brings L back to the nearest of its limits, and zero between them.
"""

import warp as wp

from warp_artic.math.numbers import Real, add, mul, neg, real, sub, where_positive  # noqa: F401 (operators)


@wp.func
def tension(
    length: Real,
    rate: Real,
    rest: Real,
    stiffness: Real,
    damping: Real,
    limit_stiffness: Real,
    lower: Real,
    upper: Real,
):
    """f, positive where it lengthens the tendon."""
    zero = real(0.0, length)
    delta = where_positive(length - upper, upper - length, where_positive(lower - length, lower - length, zero))
    return stiffness * (rest - length) - damping * rate + limit_stiffness * delta


@wp.func
def limit_state(length: Real, lower: Real, upper: Real):
    """Where a length is: -1 below its limits, 0 between them, 1 above."""
    one = real(1.0, length)
    return where_positive(length - upper, one, where_positive(lower - length, neg(one), one - one))

"""What users write on the device: an environment stops in which it is not allowed.

A value x is allowed from `least` to `most` (`model.allowed_values`), which are infinite where infinity is allowed:
    bad = x is no number, or least - x > 0, or x - most > 0
It is looked for once in a launch, before its first step, since nobody writes to an array within one; in those controls,
parameters, and arrays of what steps keep beside the motion, that somebody has asked for. What is found is in
`state.failure`, as one more than the dofs and the rows that come before, with the step that would have been the first,
and the state stays as it is.

`model.given` has the number of rows of such arrays, a multiple of `ROWS_AT_ONCE`, and the number of a failure for
each; `model.given_address` where they lie, and `model.given_bounds` the bounds of each. So many rows are loaded at
once, since a thread of a GPU would wait for each of them otherwise.
"""

from functools import cache

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Numbers,
    Real,
    add,
    any_positive,
    is_finite,
    maximum,
    minimum,
    real,
    sub,
    where_positive,
)

ROWS_AT_ONCE = 8
"""Rows that are loaded before the first of them is looked at."""


@wp.func
def is_outside(x: Real, least: Real, most: Real):
    """One where x is no number or not from `least` to `most`, else zero."""
    one = real(1.0, x)
    zero = one - one
    largest = real(3.0e38, x)
    # Of the extrema the second argument is taken where a comparison with no number fails.
    bounded = minimum(largest, maximum(zero - largest, x))
    beyond = where_positive(least - x, one, where_positive(x - most, one, zero))
    return maximum(beyond, one - is_finite(bounded))


@cache
def check_values_for(numbers: Numbers, Model: type, State: type) -> wp.Function:
    """The function of a number type that stops environments of a block in which an array is not allowed.

    `Model` and `State` are the structs of the number type.
    """
    Number = numbers.real

    @wp.func
    def outside(model: Model, row: int, block: int):
        x = wp.array(ptr=model.given_address[row], shape=(block + 1,), dtype=Number)[block]
        least = real(model.given_bounds[2 * row], x)
        return is_outside(x, least, real(model.given_bounds[2 * row + 1], x))

    @wp.func
    def name_value(model: Model, state: State, block: int):
        failure = state.failure[0, block]
        before = failure
        for row in range(model.given[0]):
            bad = outside(model, row, block) - failure
            failure = where_positive(bad, real(float(model.given[1 + row]), failure), failure)
        step = state.clock[0, block] + real(1.0, failure)
        state.failure[1, block] = where_positive(failure - before, step, state.failure[1, block])
        state.failure[0, block] = failure

    @wp.func
    def check_values(model: Model, state: State, block: int):
        if model.given[0] > 0:
            bad = real(0.0, state.failure[0, block])
            for group in range(model.given[0] // ROWS_AT_ONCE):
                for k in range(ROWS_AT_ONCE):
                    bad = maximum(bad, outside(model, group * ROWS_AT_ONCE + k, block))
            if any_positive(bad - state.failure[0, block]):
                name_value(model, state, block)

    return check_values

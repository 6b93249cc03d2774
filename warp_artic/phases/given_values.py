"""What users write to controls and parameters on the device: an environment stops in which it is not allowed.

A value x is allowed from `least` to `most` (`model.allowed_values`), which are infinite where infinity is allowed:
    bad = x is no number, or least - x > 0, or x - most > 0
It is looked for once in a launch, before its first step, since nobody writes to an array within one; in the controls
and in those parameters that somebody has asked for. What is found is in `state.failure`, as one more than the dofs and
the rows that come before, with the step that would have been the first, and the state stays as it is.

`model.given` has the number of such parameters, and for each, rows, columns from one row to the next, and the first
number of a failure; `model.given_address` where it lies, and `model.given_bounds` its bounds.
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
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, StateArrays, arrays_for

ENTRY = 3
"""Integers of `model.given` for each parameter, behind their number."""


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


@wp.func
def add_differences(values: Array, rows: int, column: int, total: Real):
    """Add x - x of each row: zero, or no number where one of them is not finite."""
    for row in range(rows):
        x = values[row, column]
        total = total + (x - x)
    return total


@wp.func
def name_control(values: Array, rows: int, column: int, first: int, found: Real):
    """The number of the first row that is not finite, where none is found before."""
    one = real(1.0, found)
    for row in range(rows):
        bad = one - is_finite(values[row, column]) - found
        found = where_positive(bad, real(float(first + row), found), found)
    return found


@cache
def check_values_for(numbers: Numbers) -> wp.Function:
    """The function of a number type that stops environments in a column whose controls or parameters are not allowed."""
    Number = numbers.real
    structs = arrays_for(numbers)
    Model, State, Control = structs.Model, structs.State, structs.Control

    @wp.func
    def parameter(model: Model, place: int):
        return wp.array(
            ptr=model.given_address[place],
            shape=(model.given[1 + ENTRY * place], model.given[2 + ENTRY * place]),
            dtype=Number,
        )

    @wp.func
    def outside(model: Model, place: int, x: Number):
        least = real(model.given_bounds[2 * place], x)
        return is_outside(x, least, real(model.given_bounds[2 * place + 1], x))

    @wp.func
    def name_value(model: Model, state: State, control: Control, column: int):
        failure = state.failure[0, column]
        before = failure
        joints = model.dof_count - model.root_dofs
        first = model.dof_count + 1
        failure = name_control(control.drive_position_target, joints, column, first, failure)
        failure = name_control(control.drive_velocity_target, joints, column, first + joints, failure)
        failure = name_control(control.joint_effort, joints, column, first + 2 * joints, failure)
        failure = name_control(
            control.link_external_force, 6 * model.body_count, column, first + 3 * joints, failure
        )
        for place in range(model.given[0]):
            values = parameter(model, place)
            first = model.given[3 + ENTRY * place]
            for row in range(values.shape[0]):
                bad = outside(model, place, values[row, column]) - failure
                failure = where_positive(bad, real(float(first + row), failure), failure)
        step = state.clock[0, column] + real(1.0, failure)
        state.failure[1, column] = where_positive(failure - before, step, state.failure[1, column])
        state.failure[0, column] = failure

    @wp.func
    def check_values(model: Model, state: State, control: Control, column: int):
        one = real(1.0, state.failure[0, column])
        joints = model.dof_count - model.root_dofs
        total = one - one
        total = add_differences(control.drive_position_target, joints, column, total)
        total = add_differences(control.drive_velocity_target, joints, column, total)
        total = add_differences(control.joint_effort, joints, column, total)
        total = add_differences(control.link_external_force, 6 * model.body_count, column, total)
        bad = one - is_finite(total)
        for place in range(model.given[0]):
            values = parameter(model, place)
            for row in range(values.shape[0]):
                bad = maximum(bad, outside(model, place, values[row, column]))
        if any_positive(bad - state.failure[0, column]):
            name_value(model, state, control, column)

    return check_values

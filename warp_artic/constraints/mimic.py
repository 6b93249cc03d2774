"""Mimic joints (Mimic Joints, equations 17-29):  C = sum G_i q_i + offset = 0,  J = G.

With r = J M^-1 J^T, C at the position that forces are evaluated at, and `reach` from there to the end of the step:
    hard:       y = - erp C / reach
    compliant:  k_p = mu^2 / r,  k_d = 2 mu zeta / r,  slope = k_d + reach k_p,   y + z / (h slope) = - k_p C / slope
which for reach = h are the document's cfm = 1 / (h (h k_p + k_d)) and erp = h k_p / (h k_p + k_d).
"""

import warp as wp

from warp_artic.constraints.rows import (
    allow_every_velocity,
    row_response,
    set_coefficient,
    set_unbounded,
    set_window,
)
from warp_artic.math.numbers import Real, add, div, mul, neg, real, where_positive  # noqa: F401 (operators)
from warp_artic.math.rotation import ratio
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays


@wp.func
def mimic_error(model: ModelArrays, state: StateArrays, row: int, column: int):
    """C at the positions of the state."""
    mimic = model.row_item[row]
    first = model.mimic_term[mimic]
    start = model.row_term[row]
    C = model.mimic_offset[mimic, column]
    for k in range(model.row_terms[row]):
        q = state.joint_position[model.term_dof[start + k] - model.root_dofs, column]
        C = C + model.mimic_gear[first + k, column] * q
    return C


@wp.func
def set_mimic_row(
    model: ModelArrays, state: StateArrays, work: WorkArrays, row: int, column: int, slot: int, reach: Real
):
    """Fill the row of a mimic joint as a hard one; `soften_mimic_row` follows when the response is known."""
    mimic = model.row_item[row]
    first = model.mimic_term[mimic]
    start = model.row_term[row]
    for k in range(model.row_terms[row]):
        set_coefficient(work, start + k, slot, model.mimic_gear[first + k, column])
    # The document keeps a tenth of the error for the next step: a whole correction would overshoot what TGS moves.
    goal = neg(mimic_error(model, state, row, column)) * ratio(9.0, 10.0, reach) / reach
    set_window(work, row, slot, goal, goal)
    allow_every_velocity(work, row, slot, model.mimic_enabled[mimic, column])
    work.compliance[row, slot] = real(0.0, reach)
    set_unbounded(work, row, slot, reach)


@wp.func
def soften_mimic_row(
    model: ModelArrays, state: StateArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real, reach: Real
):
    """Give the row of a compliant mimic joint its spring and damper."""
    mimic = model.row_item[row]
    one = real(1.0, h)
    zero = real(0.0, h)
    frequency = model.mimic_natural_frequency[mimic, column]
    r = row_response(model, work, row, slot)
    k_p = frequency * frequency / r
    k_d = real(2.0, h) * frequency * model.mimic_damping_ratio[mimic, column] / r
    slope = k_d + reach * k_p
    safe = where_positive(frequency, slope, one)
    spring = neg(k_p * mimic_error(model, state, row, column)) / safe
    goal = where_positive(frequency, spring, work.window[2 * row, slot])
    set_window(work, row, slot, goal, where_positive(frequency, spring, work.window[2 * row + 1, slot]))
    allow_every_velocity(work, row, slot, model.mimic_enabled[mimic, column])
    work.compliance[row, slot] = where_positive(frequency, one / (h * safe), zero)

"""Mimic joints (Mimic Joints, equations 17-29):  C = sum G_i q_i + offset = 0,  J = G.

With r = J M^-1 J^T, of the mechanism without its drives:
    hard:       y = - erp C_M / h,   C_M = C + (1 - share) h J v, where the joints take up v+
    compliant:  a spring k_p = mu^2 / r and a damper k_d = 2 mu zeta / r on C, as in `spring`
which with share = 1 are the document's cfm = 1 / (h (h k_p + k_d)) and erp = h k_p / (h k_p + k_d).
"""

import warp as wp

from warp_artic.constraints.rows import (
    allow_every_velocity,
    row_rate,
    set_coefficient,
    set_window,
)
from warp_artic.constraints.spring import set_spring_row, spring_theta
from warp_artic.math.numbers import Real, add, any_positive, div, mul, neg, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.math.rotation import ratio
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays


@wp.func
def mimic_error(model: ModelArrays, positions: Array, place: int, row: int, column: int):
    """C at the joint positions in column `place` of an array."""
    mimic = model.row_item[row]
    first = model.mimic_term[mimic]
    start = model.row_term[row]
    C = model.mimic_offset[mimic, column]
    for k in range(model.row_terms[row]):
        q = positions[model.term_dof[start + k] - model.root_dofs, place]
        C = C + model.mimic_gear[first + k, column] * q
    return C


@wp.func
def set_gears(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int):
    """Write J = G; says whether the mimic joint is enabled in any environment of the column."""
    first = model.mimic_term[model.row_item[row]]
    start = model.row_term[row]
    for k in range(model.row_terms[row]):
        set_coefficient(work, start + k, slot, model.mimic_gear[first + k, column])
    return any_positive(model.mimic_enabled[model.row_item[row], column])


@wp.func
def set_mimic_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of a mimic joint."""
    mimic = model.row_item[row]
    one = real(1.0, h)
    zero = real(0.0, h)
    enabled = model.mimic_enabled[mimic, column]
    C = mimic_error(model, work.position, slot, row, column)
    frequency = model.mimic_natural_frequency[mimic, column]
    r = one
    if model.compliant_mimics == 1:
        r = work.mimic_mobility[mimic, slot]
    safe = where_positive(r, r, one)
    k_p = frequency * frequency / safe
    k_d = real(2.0, h) * frequency * model.mimic_damping_ratio[mimic, column] / safe
    set_spring_row(model, work, row, slot, C, k_p, k_d, spring_theta(work, row, slot, k_p, k_d, h), h)
    # The document keeps a tenth of the error for the next step: a whole correction would overshoot what TGS moves.
    share = work.least[0, slot]
    C_M = C + (one - share) * h * row_rate(model, work, work.v, row, slot)
    hard = neg(C_M) * ratio(9.0, 10.0, h) / h
    lower = where_positive(frequency, work.window[2 * row, slot], hard)
    upper = where_positive(frequency, work.window[2 * row + 1, slot], hard)
    set_window(work, row, slot, lower, upper)
    allow_every_velocity(work, row, slot, enabled)
    work.compliance[row, slot] = where_positive(frequency, work.compliance[row, slot], zero)

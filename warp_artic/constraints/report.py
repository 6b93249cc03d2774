"""What is reported of couplings at a state: length, speed, force and limit state of tendons, errors of mimic joints."""

import warp as wp

from warp_artic.constraints.fixed_tendon import tendon_force, tendon_length, tendon_rate
from warp_artic.constraints.mimic import mimic_error
from warp_artic.constraints.spatial_tendon import leaf_force, leaf_length, leaf_rates
from warp_artic.constraints.tension import limit_state
from warp_artic.model.arrays import ModelArrays, ReportArrays, StateArrays, WorkArrays
from warp_artic.model.families import FIXED_TENDON, MIMIC, SPATIAL_TENDON


@wp.func
def report_couplings(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, column: int, slot: int
):
    """Write a row for each tendon, fixed ones first, and each mimic joint, from a work space that is up to date."""
    for row in range(model.row_count):
        family = model.row_family[row]
        item = model.row_item[row]
        if family == FIXED_TENDON:
            length = tendon_length(model, state.joint_position, column, row, column)
            rate = tendon_rate(model, state, row, column)
            report.tendon_length[item, column] = length
            report.tendon_speed[item, column] = rate
            report.tendon_force[item, column] = tendon_force(model, row, column, length, rate)
            lower = model.tendon_lower[item, column]
            report.tendon_limit_state[item, column] = limit_state(length, lower, model.tendon_upper[item, column])
        if family == SPATIAL_TENDON:
            length = leaf_length(model, work, item, column, slot)
            rate, speed = leaf_rates(model, work, item, column, slot)
            tendon = model.fixed_tendons + item
            report.tendon_length[tendon, column] = length
            report.tendon_speed[tendon, column] = speed
            report.tendon_force[tendon, column] = leaf_force(model, item, column, length, rate)
            lower = model.leaf_lower[item, column]
            report.tendon_limit_state[tendon, column] = limit_state(length, lower, model.leaf_upper[item, column])
        if family == MIMIC:
            report.mimic_error[item, column] = mimic_error(model, state.joint_position, column, row, column)

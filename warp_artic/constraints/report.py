"""What is reported of couplings at a state: length, speed, force and limit state of tendons, errors of mimic joints."""

import warp as wp

from warp_artic.constraints.fixed_tendon import tendon_force, tendon_length, tendon_rate
from warp_artic.constraints.mimic import mimic_error
from warp_artic.constraints.spatial_tendon import leaf_force, leaf_length, leaf_rates
from warp_artic.constraints.tension import limit_state
from warp_artic.model.arrays import ModelArrays, ReportArrays, StateArrays, WorkArrays
from warp_artic.model.families import FIXED_TENDON, MIMIC, SPATIAL_TENDON
from warp_artic.phases.outputs import report_value


@wp.func
def report_couplings(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, column: int, slot: int
):
    """Write a row for each tendon, fixed ones first, and each mimic joint, from a work space that is up to date."""
    failure = state.failure[0, column]
    for row in range(model.row_count):
        family = model.row_family[row]
        item = model.row_item[row]
        if family == FIXED_TENDON:
            length = tendon_length(model, state.joint_position, column, row, column)
            rate = tendon_rate(model, state, row, column)
            report_value(report.tendon_length, item, column, failure, length)
            report_value(report.tendon_speed, item, column, failure, rate)
            report_value(report.tendon_force, item, column, failure, tendon_force(model, row, column, length, rate))
            side = limit_state(length, model.tendon_lower[item, column], model.tendon_upper[item, column])
            report_value(report.tendon_limit_state, item, column, failure, side)
        if family == SPATIAL_TENDON:
            length = leaf_length(model, work, item, column, slot)
            rate, speed = leaf_rates(model, work, item, column, slot)
            tendon = model.fixed_tendons + item
            report_value(report.tendon_length, tendon, column, failure, length)
            report_value(report.tendon_speed, tendon, column, failure, speed)
            report_value(report.tendon_force, tendon, column, failure, leaf_force(model, item, column, length, rate))
            side = limit_state(length, model.leaf_lower[item, column], model.leaf_upper[item, column])
            report_value(report.tendon_limit_state, tendon, column, failure, side)
        if family == MIMIC:
            error = mimic_error(model, state.joint_position, column, row, column)
            report_value(report.mimic_error, item, column, failure, error)

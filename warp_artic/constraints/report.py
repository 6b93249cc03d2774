"""What is reported of couplings at a state: lengths and forces of tendons, errors of mimic joints."""

import warp as wp

from warp_artic.constraints.fixed_tendon import tendon_force, tendon_length, tendon_rate
from warp_artic.constraints.mimic import mimic_error
from warp_artic.model.arrays import ModelArrays, ReportArrays, StateArrays
from warp_artic.model.families import FIXED_TENDON, MIMIC


@wp.func
def report_couplings(model: ModelArrays, state: StateArrays, report: ReportArrays, column: int):
    """Write a row for each tendon and each mimic joint."""
    for row in range(model.row_count):
        family = model.row_family[row]
        item = model.row_item[row]
        if family == FIXED_TENDON:
            length = tendon_length(model, state, row, column)
            rate = tendon_rate(model, state, row, column)
            report.tendon_length[item, column] = length
            report.tendon_force[item, column] = tendon_force(model, row, column, length, rate)
        if family == MIMIC:
            report.mimic_error[item, column] = mimic_error(model, state, row, column)

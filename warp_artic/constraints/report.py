"""What families report at a state, such as length, speed, force and limit state of tendons."""

import warp as wp

from warp_artic.constraints.dispatch import report_row
from warp_artic.model.arrays import ModelArrays, ReportArrays, StateArrays, WorkArrays


@wp.func
def report_rows(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, block: int, worker: int
):
    """Write the measures of all rows, from a work space that is up to date."""
    for row in range(model.row_count):
        report_row(model, state, work, report, row, block, worker)

"""The kernels: one thread is one worker, which takes its share of the columns one after the other.

On a CPU a launch has one worker; on CUDA there is one for each column. The work space has one slot for each worker, so
that it stays in the caches however many environments there are.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.report import report_couplings
from warp_artic.kernels.layout import with_known_layout
from warp_artic.math.numbers import Numbers, real
from warp_artic.model.arrays import arrays_for
from warp_artic.phases.outputs import report_links
from warp_artic.solver.direct import settle_direct
from warp_artic.solver.pgs import settle_pgs
from warp_artic.solver.runge_kutta import step_runge_kutta
from warp_artic.solver.step import step_column
from warp_artic.solver.velocities import measure_tendons

CPU_FLAGS = "-march=native -fno-slp-vectorize -mllvm=-inline-threshold=1000000 -mstackrealign"
"""Lanes are explicit, so the compiler's own search for them only costs time. Everything is inlined, because a call
copies all arrays of a model and its work space; it takes the compiler half as long again. Lane vectors on the stack lie
on cache lines only if it is aligned anew: a step takes 4 to 8 % longer otherwise."""

OPTIONS = {
    "enable_backward": False,
    "module": "unique",
    "module_options": {"cpu_compiler_flags": CPU_FLAGS},
    "launch_bounds": (64, 1),
}
"""Options of every kernel."""

SETTLES = {"direct": settle_direct, "pgs": settle_pgs, "tgs": settle_pgs}
"""The function that solves the active constraint rows, by solver."""


@cache
def kernels_for(numbers: Numbers, settle: wp.Function) -> SimpleNamespace:
    """The kernels of a number type, compiled at their first launch.

    `settle` is one of SETTLES.
    """
    structs = arrays_for(numbers)
    Model, State, Control, Work = structs.Model, structs.State, structs.Control, structs.Work
    Report, Forces = structs.Report, structs.Forces
    Real = numbers.real
    known_step_column = with_known_layout(step_column, numbers)

    @wp.kernel(**OPTIONS)
    def step(
        model: Model,
        state: State,
        control: Control,
        forces: Forces,
        work: Work,
        columns: int,
        workers: int,
        steps: int,
        dt: wp.float64,
        has_middle: int,
        substeps: int,
        sweeps: int,
        last_sweeps: int,
        with_forces: int,
    ):
        slot = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for column in range(slot, columns, workers):
            for count in range(steps):
                reports = int(0)
                if count == steps - 1:
                    reports = with_forces
                known_step_column(
                    model,
                    state,
                    control,
                    work,
                    forces,
                    column,
                    slot,
                    h,
                    has_middle,
                    substeps,
                    sweeps,
                    last_sweeps,
                    reports,
                    settle,
                )

    @wp.kernel(**OPTIONS)
    def runge_kutta(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        columns: int,
        workers: int,
        steps: int,
        dt: wp.float64,
    ):
        slot = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for column in range(slot, columns, workers):
            for _step in range(steps):
                step_runge_kutta(model, state, control, work, column, slot, h)

    @wp.kernel(**OPTIONS)
    def mobilities(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        columns: int,
        workers: int,
        mobility: wp.array2d(dtype=Real),
    ):
        slot = wp.tid()
        for column in range(slot, columns, workers):
            measure_tendons(model, state, control, work, mobility, column, slot)

    @wp.kernel(**OPTIONS)
    def report(model: Model, state: State, report: Report, work: Work, columns: int, workers: int):
        slot = wp.tid()
        for column in range(slot, columns, workers):
            report_links(model, state, work, report, column, slot)
            report_couplings(model, state, work, report, column, slot)

    return SimpleNamespace(step=step, runge_kutta=runge_kutta, mobilities=mobilities, report=report)

"""How a step is made: what settings and integrator say of it."""

import warp as wp


@wp.struct
class StepPlan:
    """What a step does, the same in all blocks; `SolverSettings.schedule` has the numbers."""

    has_middle: int
    """1 for Moreau's midpoint, 0 for the semi-implicit Euler step."""
    substeps: int
    sweeps: int
    """Over the active rows, in each substep."""
    last_sweeps: int
    """Further ones in the last substep."""
    with_forces: int
    """1 where forces are reported."""


@wp.func
def sweeps_of(plan: StepPlan, substep: int):
    """Sweeps over the active rows in a substep."""
    sweeps = int(plan.sweeps)
    if substep == plan.substeps - 1:
        sweeps += plan.last_sweeps
    return sweeps


@wp.func
def sweeps_of_step(plan: StepPlan):
    """Sweeps over what is closed once in a step: as many as over the active rows in all its substeps."""
    return plan.substeps * plan.sweeps + plan.last_sweeps

"""Arrays of a run that are asked for: brought up to date, one for each environment, and watched from then on."""

from __future__ import annotations

import warp as wp

from warp_artic.errors import SolveError
from warp_artic.mechanisms.public_rows import COUNTED, FOUND
from warp_artic.sim.arrays.rows import Rows, public_rows
from warp_artic.sim.arrays.views import (
    CONTROL,
    OUTPUTS,
    PARAMETERS,
    ROW_COUNTS,
    STATE,
    STEP_OUTPUTS,
    Member,
    SceneArray,
    scene_array,
)
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import report


def array_of_scene(run: Run, name: str) -> wp.array | SceneArray:
    """The array of a name over all articulations, for a user to keep."""
    kind, size = ROW_COUNTS[name]
    if not run.groups and name == "gravity":
        return run.elastic.gravity
    if not run.groups:
        shape = (0, run.environments) if size == 1 else (0, size, run.environments)
        return wp.zeros(shape, dtype=getattr(wp, run.settings.precision), device=run.device)
    lend(run, name)
    return scene_array(name, run.groups, run.members, run.order[kind], run.array_rows)


def array_of_member(run: Run, member: Member, name: str) -> wp.array:
    """The view of an array of one articulation, for a user to keep."""
    lend(run, name)
    return member.array(name)


def lend(run: Run, name: str) -> None:
    """Prepare an array that a user will have a view of."""
    run.has_lent = run.has_lent or name in STATE or name in PARAMETERS
    open_array(run, name)
    if run.sleep_steps and run.on.is_cpu and name in (*STATE, *CONTROL, *PARAMETERS):
        run.idle.lend(name, run.steps_done)


def open_array(run: Run, name: str) -> None:
    """Get an array ready for writing by the run itself."""
    prepare(run, name)
    _watch(run, name)


def prepare(run: Run, name: str) -> None:
    """Bring outputs up to date; make a parameter that is asked for one that each environment has for itself."""
    if name in STEP_OUTPUTS and not run.has_step_outputs:
        raise SolveError(f"{name}: needs a step with forces, and the last one had none; see step(forces=True)")
    if name in FOUND:
        run.launches.find_contacts()
    elif name in OUTPUTS:
        report(run)
    if name in CONTROL or name in COUNTED:
        for group in run.groups:
            group.check(name)
    if name in PARAMETERS:
        has_moved = any(group.parameters[name].is_shared for group in run.groups)
        if has_moved:
            check_arrays_may_change(run, name)
        for group in run.groups:
            group.expand_parameter(name)
        if has_moved:
            run.launches.pack()


def _watch(run: Run, name: str) -> None:
    """Have steps look for changes of an array, where they wake somebody."""
    if run.sleep_steps and name not in run.watched:
        run.watched.add(name)
        for group in run.groups:
            group.watch(name)
        if name in PARAMETERS:
            run.parameter_watch.add(name)
            run.launches.pack()


def check_arrays_may_change(run: Run, name: str) -> None:
    """Raise an error where a captured step would go on with arrays of before."""
    if run.is_in_graph:
        raise SolveError(
            f"{name}: a step is captured in a graph, which would go on with the one value of all environments; "
            "ask for parameters before the capture, or use simulation.capture"
        )


def rows_of(run: Run, name: str, articulations) -> Rows:
    """The rows of some articulations in an array."""
    kind, size = ROW_COUNTS[name]
    return public_rows(run.groups, run.order[kind], kind, size, articulations)

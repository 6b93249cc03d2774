"""Where the time of a step goes: the looped kernel once more, with a look at the processor's clock around each phase.

The functions that call phases are rewritten, so that they count cycles before and after each call; all else is as it
is. Reading the clock takes part of the time itself: about 40 readings a step and column. On a CPU only.
"""

import ast
import inspect
import linecache
import textwrap
from collections import Counter
from functools import cache

import numpy as np
import warp as wp

from warp_artic.kernels.launch import OPTIONS, step_functions
from warp_artic.kernels.layout import with_known_layout
from warp_artic.math.numbers import Numbers, real
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.sim.run.state import Run
from warp_artic.solver import active_rows as active_rows_file
from warp_artic.solver import step as step_file
from warp_artic.solver import velocities as velocities_file
from warp_artic.solver.plan import StepPlan

OPENED = {
    active_rows_file: ("solve_active_rows", "solve_rows"),
    velocities_file: ("factor", "solve_velocities"),
    step_file: ("place_step", "begin_step", "observe", "move", "keep_invariants", "end_step", "step_block"),
}
"""Functions that are rewritten, those that are called first."""
MOST_FILES = 64
UNCOUNTED = ("math", "model")
"""Folders whose functions count for the caller."""


@wp.func_native(f"""
    static unsigned long long cycles[{MOST_FILES}], last = 0;
    if (place < 0) {{ const unsigned long long own = cycles[~place]; cycles[~place] = 0; return own; }}
    const unsigned long long now = __builtin_readcyclecounter();
    cycles[place] += now - last;
    last = now;
    return 0;""")
def tick(place: int) -> wp.int64:
    """Give the cycles since the last tick to a place; of -1 - place it returns and forgets those."""
    ...


class _Clock(ast.NodeTransformer):
    """Puts a tick before and after each call of a phase; `places` numbers the files that phases are in."""

    def __init__(self, file: str, scope: dict, opened: dict, solver: wp.Function, places: dict[str, int]):
        self._own, self._opened, self._places = places.setdefault(file, len(places)), opened, places
        self._scope = {**scope, "solver": solver}

    def visit_Expr(self, node):
        return self._timed(node)

    def visit_Assign(self, node):
        return self._timed(node)

    def _timed(self, node):
        called = node.value.func.id if _is_call(node.value) else None
        function = self._scope.get(called)
        if not isinstance(function, wp.Function) or called in self._opened:
            return node
        file = function.func.__module__.partition(".")[2]
        if file.partition(".")[0] in UNCOUNTED:
            return node
        place = self._places.setdefault(file, len(self._places))
        return [ast.parse(f"tick({self._own})").body[0], node, ast.parse(f"tick({place})").body[0]]


def _is_call(value) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name)


def clocked_step_block(solver: wp.Function) -> tuple[wp.Function, dict[str, int]]:
    """`step_block` with ticks, and the numbers of the files."""
    opened: dict[str, wp.Function] = {}
    places: dict[str, int] = {}
    for module, names in OPENED.items():
        for name in names:
            function = vars(module)[name].func
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
            tree.body[0].decorator_list = []
            file = module.__name__.partition(".")[2]
            tree = ast.fix_missing_locations(_Clock(file, vars(module), opened, solver, places).visit(tree))
            source, place = ast.unparse(tree), f"<clocked {name}>"
            linecache.cache[place] = len(source), None, source.splitlines(keepends=True), place
            scope = {**vars(module), **opened, "tick": tick, "__name__": __name__}
            exec(compile(source, place, "exec"), scope)
            opened[name] = wp.func(scope[name])
    return opened["step_block"], places


@cache
def _kernel(numbers: Numbers, solver: wp.Function, find_points: wp.Function):
    structs = arrays_for(numbers)
    Model, State, Control, Work, Forces = structs.Model, structs.State, structs.Control, structs.Work, structs.Forces
    clocked, places = clocked_step_block(solver)
    known_clocked = with_known_layout(clocked, numbers)

    @wp.kernel(**OPTIONS)
    def clocked_step(
        model: Model,
        state: State,
        control: Control,
        forces: Forces,
        work: Work,
        columns: int,
        dt: wp.float64,
        has_middle: int,
        substeps: int,
        sweeps: int,
        last_sweeps: int,
        cycles: wp.array(dtype=wp.int64),
    ):
        h = real(dt, model.gravity[0, 0])
        for column in range(columns):
            tick(0)
            known_clocked(
                model,
                state,
                control,
                work,
                forces,
                column,
                0,
                h,
                StepPlan(has_middle, substeps, sweeps, last_sweeps, 0),
                solver,
                find_points,
            )
        for place in range(cycles.shape[0]):
            cycles[place] = tick(-1 - place)

    return clocked_step, places


def profile_step(run: Run, steps: int) -> dict[str, float]:
    """The share of time by the file of the phase, such as "phases.kinematics", the largest first; makes the steps.

    Of each phase the quickest step counts, so that what else the processor does is left out.
    """
    settings = run.settings
    cycles = Counter()
    for group in run.groups:
        kernel, places = _kernel(group.columns.numbers, *step_functions(settings.solver, group.tree))
        arrays, found = group.arrays, wp.zeros(len(places), dtype=wp.int64, device="cpu")
        structs = [arrays.model, arrays.state, arrays.control, arrays.forces, arrays.work]
        numbers = settings.dt, int(settings.integrator == "midpoint"), *settings.schedule
        least = np.inf
        for step in range(steps + 1):
            wp.launch(kernel, dim=1, inputs=[*structs, group.columns.blocks, *numbers, found], device="cpu")
            if step:  # the clock stands at nothing before the first one
                least = np.minimum(least, found.numpy())
        cycles.update(dict(zip(places, least.tolist())))
    total = sum(cycles.values())
    return {file: count / total for file, count in cycles.most_common() if count}

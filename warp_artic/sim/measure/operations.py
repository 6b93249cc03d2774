"""What a step computes: floating-point operations and bytes, counted by running its Warp functions on counting numbers.

The functions of `solver.step` and below are run as the Python that they are written in, for the first environment, from
the state that a simulation has. Additions, subtractions, multiplications, divisions and square roots count one each.
Negations, comparisons and choices count nothing, nor do sines and cosines: the count is a least one. Bytes are those of
state, control and parameters that environments have for themselves: each row once if it is read, and once if it is
written. They have to pass between memory and core; work space and shared parameters stay in the caches.
"""

from __future__ import annotations

import math
from collections import Counter, namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType, SimpleNamespace

import numpy as np
import warp as wp

from warp_artic.kernels.launch import step_functions
from warp_artic.mechanisms.group import Group
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.sim.run.state import Run
from warp_artic.solver.plan import StepPlan
from warp_artic.solver.step import step_block

SUBJECTS = ("phases", "constraints", "solver")
"""Folders whose files operations are listed by; those of other files count for their callers."""


@dataclass(frozen=True)
class Operations:
    """What one environment needs for one step."""

    flops: int
    bytes: int
    by_file: dict[str, int]
    """Operations by the file that asks for them, such as "phases.kinematics", the largest first."""


def count_operations(run: Run) -> Operations:
    """Count the next step of the first environment, without making it."""
    tally, rows_moved = Tally(), 0
    for _, own in step_on_numbers(run, tally):
        rows_moved += sum(len(rows.read) + len(rows.written) for rows in own)
    size = 8 if run.settings.precision == "float64" else 4
    return Operations(sum(tally.counts.values()), size * rows_moved, dict(tally.counts.most_common()))


def step_on_numbers(run: Run, tally: Tally) -> Iterator[tuple[SimpleNamespace, list[_Rows]]]:
    """Step the first environment of each articulation on copies of its arrays, as Python.

    Yields the structs `model`, `state`, `control` and `work` after the step, and the arrays that are not shared.
    """
    settings = run.settings
    functions = _Functions(tally)
    step = functions.counting(step_block)
    dt = Number(settings.dt, tally)
    plan = StepPlan()
    plan.has_middle, plan.with_forces = int(settings.integrator == "midpoint"), 0
    plan.substeps, plan.sweeps, plan.last_sweeps = settings.schedule
    for group in run.groups:
        chosen = [functions.counting(one) for one in step_functions(settings.solver, group.tree)]
        for place in range(len(group.members)):
            structs, own = _column(group, place * group.environments, tally)
            with np.errstate(all="ignore"):  # windows that are open end at 1 / 0
                step(structs.model, structs.state, structs.control, structs.work, None, 0, 0, dt, plan, *chosen)
            yield structs, own


class Tally:
    """Operations so far, by the file whose function is running."""

    def __init__(self):
        self.counts = Counter()
        self.file = ""


class Number:
    """A number that counts what is done to it."""

    __slots__ = ("value", "tally")

    def __init__(self, value: float, tally: Tally):
        self.value, self.tally = value, tally

    def _counted(self, value: float) -> Number:
        self.tally.counts[self.tally.file] += 1
        return Number(value, self.tally)

    def __add__(self, other):
        return self._counted(self.value + other.value)

    def __sub__(self, other):
        return self._counted(self.value - other.value)

    def __mul__(self, other):
        return self._counted(self.value * other.value) if isinstance(other, Number) else other.__rmul__(self)

    def __truediv__(self, other):
        return self._counted(float(np.float64(self.value) / np.float64(other.value)))

    def __neg__(self):
        return Number(-self.value, self.tally)

    def sqrt(self) -> Number:
        """The root, zero of what rounding has made negative."""
        return self._counted(math.sqrt(max(self.value, 0.0)))

    def uncounted(self, function: Callable[..., float], *others: Number) -> Number:
        """A function that counts nothing."""
        return Number(function(self.value, *(other.value for other in others)), self.tally)


class _Compound:
    """A vector or matrix by its components, added and multiplied by a number as `math.numbers` does it."""

    def __init__(self, *parts):
        for name, part in zip(self.names, parts, strict=True):
            setattr(self, name, part)

    def _each(self, function) -> _Compound:
        return type(self)(*(function(getattr(self, name), name) for name in self.names))

    def __add__(self, other):
        return self._each(lambda part, name: part + getattr(other, name))

    def __sub__(self, other):
        return self._each(lambda part, name: part - getattr(other, name))

    def __neg__(self):
        return self._each(lambda part, name: -part)

    def __mul__(self, factor):
        return self._each(lambda part, name: part * factor)


def _dot(row: tuple, v: Vec3):
    return row[0] * v.x + row[1] * v.y + row[2] * v.z


class Vec3(_Compound):
    """(x, y, z)."""

    names = ("x", "y", "z")


class Mat3(_Compound):
    """Three rows."""

    names = ("x", "y", "z")

    def __mul__(self, v):
        return Vec3(*(_dot((row.x, row.y, row.z), v) for row in (self.x, self.y, self.z)))


class Sym3(_Compound):
    """A symmetric matrix."""

    names = ("xx", "xy", "xz", "yy", "yz", "zz")

    def __mul__(self, factor):
        if isinstance(factor, Number):
            return super().__mul__(factor)
        rows = (self.xx, self.xy, self.xz), (self.xy, self.yy, self.yz), (self.xz, self.yz, self.zz)
        return Vec3(*(_dot(row, factor) for row in rows))


LoopPlace = namedtuple("LoopPlace", "loop block worker rotations axes origins x_0 x_1")
"""`constraints.loop_place`."""

OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "real": lambda value, like: Number(value.value if isinstance(value, (Number, wp.float64)) else value, like.tally),
    "sqrt": lambda a: a.sqrt(),
    "sine": lambda a: a.uncounted(math.sin),
    "cosine": lambda a: a.uncounted(math.cos),
    "arctan2": lambda a, b: a.uncounted(math.atan2, b),
    "minimum": lambda a, b: a.uncounted(min, b),
    "maximum": lambda a, b: a.uncounted(max, b),
    "absolute": lambda a: a.uncounted(abs),
    "where_positive": lambda x, a, b: a if x.value > 0.0 else b,
    "any_positive": lambda x: x.value > 0.0,
    "is_finite": lambda x: x.uncounted(lambda value: float(math.isfinite(value))),
    "vec3": Vec3,
    "mat3": Mat3,
    "sym3": Sym3,
    "entry": lambda a, row, column, k: a[row + k, column],
    "set_entry": lambda a, row, column, k, value: a.__setitem__((row + k, column), value),
    "loop_place": LoopPlace,
}
"""The functions of `math.numbers`, those of `model.arrays` that are native, and what makes structs."""


class _Functions:
    """Warp functions as Python functions on `Number`."""

    def __init__(self, tally: Tally):
        self.tally = tally
        self.made: dict[Callable, Callable] = {}

    def counting(self, function: wp.Function) -> Callable:
        """The same function, with all that it calls replaced likewise."""
        source = function.func
        if source not in self.made:
            names = {"__builtins__": __builtins__}
            self.made[source] = self._for_its_file(FunctionType(source.__code__, names), source.__module__)
            names.update(self._names(source.__globals__, source.__code__.co_names))
        return self.made[source]

    def _names(self, scope: dict, wanted: tuple[str, ...]) -> dict:
        """What the names in a function stand for."""
        found = {}
        for name in wanted:
            value = scope.get(name)
            if value is wp:
                found[name] = SimpleNamespace(min=min, max=max)
            elif isinstance(value, ModuleType):
                found[name] = SimpleNamespace(**self._names(vars(value), wanted))
            elif isinstance(value, wp.Function):
                found[name] = OPERATIONS.get(name) or self.counting(value)
            elif name in scope:
                found[name] = value
        return found

    def _for_its_file(self, function: Callable, module: str) -> Callable:
        folder, _, file = module.partition(".")[2].partition(".")
        if folder not in SUBJECTS:
            return function

        def counted(*arguments):
            before, self.tally.file = self.tally.file, f"{folder}.{file}"
            result = function(*arguments)
            self.tally.file = before
            return result

        return counted


class _Rows:
    """An array [row, column] of one column."""

    def __init__(self, values: list):
        self.values = values
        self.read: set[int] = set()
        self.written: set[int] = set()

    def __getitem__(self, place: tuple[int, int]):
        self.read.add(place[0])
        return self.values[place[0]]

    def __setitem__(self, place: tuple[int, int], value) -> None:
        self.written.add(place[0])
        self.values[place[0]] = value


def _column(group: Group, column: int, tally: Tally) -> tuple[SimpleNamespace, list[_Rows]]:
    """The structs of arrays with the values of one column, and the arrays that it has for itself."""
    own = []

    def rows_of(field) -> _Rows:
        values = field.scalars.numpy()[:, 0 if field.is_shared else column]
        rows = _Rows([Number(float(value), tally) for value in values])
        if not field.is_shared:
            own.append(rows)
        return rows

    def values_of(name: str):
        value = getattr(group.arrays.model, name)
        if name in group.parameters:
            return rows_of(group.parameters[name])
        return value.numpy().tolist() if isinstance(value, wp.array) else value

    def empty(array: wp.array) -> _Rows:
        zero = 0 if array.dtype is wp.int32 else Number(0.0, tally)
        return _Rows([zero] * array.shape[0])

    types, work = arrays_for(group.columns.numbers), group.arrays.work
    structs = SimpleNamespace(
        model=SimpleNamespace(**{name: values_of(name) for name in types.Model.vars}),
        state=SimpleNamespace(**{name: rows_of(field) for name, field in group.state.items()}),
        control=SimpleNamespace(**{name: rows_of(field) for name, field in group.control.items()}),
        work=SimpleNamespace(**{name: empty(getattr(work, name)) for name in types.Work.vars}),
    )
    return structs, own

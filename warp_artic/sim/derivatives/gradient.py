"""The gradient of a loss of a run: backward, by the derivatives of its steps.

With x the state, u what the gradient is by and l_t the derivatives of the loss by the state of record t,
    lambda_T = l_T,   lambda_t = A_t^T lambda_t+1 + l_t,   g = sum of B_t^T lambda_t+1
where A_t and B_t are derivatives of step t by all of the state, what it remembers of accelerations included. States
are kept every sqrt(T) steps, and the steps between are made again with their derivatives, so that memory grows with
the root of the number of steps (Griewank and Walther, Evaluating Derivatives, 2008, chapter 12).

Derivatives of a step are dense, from dual numbers along each number of the state: a gradient of a mechanism with V
velocities costs some 5 V / `Twin.width` dual steps for each step of the run, where an adjoint of the step itself, by
the factors that it leaves, would cost a few. By a few numbers `tangent` costs less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from warp_artic.errors import SettingsError
from warp_artic.sim.arrays.views import MOTION
from warp_artic.sim.derivatives.linearize import ORDER
from warp_artic.sim.derivatives.quantities import Quantity, motions, quantity, values
from warp_artic.sim.derivatives.tangent import Motion, advance, control_table, twin_of
from warp_artic.sim.derivatives.twin import Twin, check_differentiable
from warp_artic.sim.derivatives.units import seed_each
from warp_artic.sim.run.state import Run

REMEMBERED = ("smooth_acceleration", "acceleration_change", "smoothness")
"""Fields of numbers that steps remember beside the motion."""

Loss = Callable[[Motion], tuple[float, Mapping[str, np.ndarray]]]
"""Value of a run, and its derivatives by arrays of the motion."""


def gradient(
    run: Run, loss: Loss, steps: int, wrt: Sequence[str], controls: Mapping[str, np.ndarray] | None
) -> tuple[float, dict[str, np.ndarray]]:
    """See `Simulation.gradient`."""
    check_differentiable(run, "gradient")
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise SettingsError(f"steps: {steps!r} is not an integer of at least 1")
    by = [quantity(run, name) for name in wrt if name not in MOTION]
    starts = [quantity(run, name) for name in wrt if name in MOTION]
    steered = {name: control_table(run, name, table, steps) for name, table in (controls or {}).items()}
    walk = _Walk(run, by, steered, int(steps))
    value, slopes = loss(walk.forward())
    sources = _slopes(run, slopes, int(steps))
    adjoint, found = walk.backward(sources)
    names = {one.name: one for one in by}
    gradients = {}
    for name, table in found.items():
        shaped = table.reshape(len(table), run.environments, *names[name].shape)
        gradients[name] = shaped if name in steered else shaped[0]
    for one in starts:
        first = _first(run, one.name)
        gradients[one.name] = adjoint[:, first : first + one.numbers].reshape(run.environments, *one.shape)
    return value, {name: gradients[name] for name in wrt}


class _Walk:
    """Steps forward with states that are kept, and back with derivatives."""

    def __init__(self, run: Run, by: Sequence[Quantity], controls: Mapping[str, np.ndarray], steps: int):
        self._run, self._by, self._controls, self._steps = run, by, controls, steps
        self._stride = max(1, math.isqrt(steps))
        self._kept: dict[int, list[dict[str, np.ndarray]]] = {}
        self._rows = sum(quantity(run, name).numbers for name in ORDER)
        self._remembered = [
            (place, mechanism, name, group.state[name].scalars.shape[0])
            for place, group in enumerate(run.groups)
            for mechanism in range(len(group.members))
            for name in (REMEMBERED if run.settings.integrator == "midpoint" else ())
        ]
        self._numbers = self._rows + sum(rows for *_, rows in self._remembered)

    def forward(self) -> Motion:
        """Make all steps, and keep a state every so many."""
        run = self._run
        twin = twin_of(run, self._directions, [one.name for one in self._by])
        records = []
        for step in range(self._steps + 1):
            if step % self._stride == 0 and step < self._steps:
                self._kept[step] = [
                    {name: twin.values(place, name) for name in group.state} for place, group in enumerate(run.groups)
                ]
            records.append([values(run, twin, name) for name in MOTION])
            if step < self._steps:
                advance(run, twin, step, 1, self._controls)
        return Motion(*map(np.array, zip(*records)))

    def backward(self, sources: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The derivatives by the start (E, numbers), and by other quantities: a sum over steps, or each step's own."""
        E = self._run.environments
        adjoint = np.zeros((E, self._numbers))
        adjoint[:, : self._rows] = sources[-1]
        found = {
            one.name: np.zeros((self._steps if one.name in self._controls else 1, E, one.numbers)) for one in self._by
        }
        for start in sorted(self._kept, reverse=True):
            matrices = self._derivatives(start)
            for step in range(start + len(matrices) - 1, start - 1, -1):
                back = np.einsum("enk,en->ek", matrices[step - start], adjoint)
                first = self._numbers
                for one in self._by:
                    place = step if one.name in self._controls else 0
                    found[one.name][place] += back[:, first : first + one.numbers]
                    first += one.numbers
                adjoint = back[:, : self._numbers]
                adjoint[:, : self._rows] += sources[step]
        return adjoint, found

    @property
    def _directions(self) -> int:
        return self._numbers + sum(one.numbers for one in self._by)

    def _derivatives(self, start: int) -> list[np.ndarray]:
        """Derivatives of the steps from a kept state to the next one, each (E, numbers, directions)."""
        run = self._run
        twin = twin_of(run, self._directions, [one.name for one in self._by])
        for place, state in enumerate(self._kept[start]):
            for name, kept in state.items():
                twin.set_values(place, name, slice(None), slice(None), kept)
        matrices = []
        for step in range(start, min(start + self._stride, self._steps)):
            for place, group in enumerate(run.groups):
                for name in group.state:
                    twin.clear(place, name)
            self._seed(twin)
            advance(run, twin, step, 1, self._controls)
            matrices.append(self._read(twin))
        return matrices

    def _seed(self, twin: Twin) -> None:
        run = self._run
        first = seed_each(run, twin, [quantity(run, name) for name in ORDER])
        for place, mechanism, name, rows in self._remembered:
            units = np.zeros((rows, 1, twin.directions))
            units[np.arange(rows), 0, first + np.arange(rows)] = 1.0
            twin.seed(place, name, slice(None), self._columns(mechanism), units)
            first += rows
        seed_each(run, twin, self._by, first)

    def _read(self, twin: Twin) -> np.ndarray:
        parts = [motions(self._run, twin, quantity(self._run, name)).transpose(1, 0, 2) for name in ORDER]
        for place, mechanism, name, _ in self._remembered:
            parts.append(twin.derivatives(place, name, slice(None), self._columns(mechanism)).transpose(1, 0, 2))
        return np.concatenate(parts, axis=1)

    def _columns(self, mechanism: int) -> slice:
        first = mechanism * self._run.environments
        return slice(first, first + self._run.environments)


def _first(run: Run, name: str) -> int:
    return sum(quantity(run, other).numbers for other in ORDER[: ORDER.index(name)])


def _slopes(run: Run, slopes: Mapping[str, np.ndarray], steps: int) -> np.ndarray:
    """Derivatives of a loss by the motion of each record, (steps + 1, E, numbers)."""
    sources = np.zeros((steps + 1, run.environments, sum(quantity(run, name).numbers for name in ORDER)))
    for name, given in slopes.items():
        one = quantity(run, name, MOTION)
        wanted = (steps + 1, run.environments, *one.shape)
        table = np.asarray(given, float)
        if table.shape != wanted:
            raise SettingsError(f"loss: derivatives by {name} of shape {table.shape} are not of shape {wanted}")
        first = _first(run, name)
        sources[:, :, first : first + one.numbers] = table.reshape(*wanted[:2], one.numbers)
    return sources

"""Steps forward, and back by derivatives along every number of the state: `gradient` where there is no tape.

A_t^T lambda is by a step of dual numbers along each number of the state, of which only the product is read.
Mechanisms do not see each other and share directions. What a step does not read of what is remembered is left out, and
where drives act on joints with one axis, what it reads of changes of accelerations follows from what it reads of these.
With V velocities that is 2 V directions for each step without a middle, 3 V with one, where joints have several
rotations and drives 4 V, and 7 V where nothing but forces of links acts on the motion, with one more for each given
force that the gradient is by.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial

import numpy as np

from warp_artic.sim.arrays.row_table import Held
from warp_artic.sim.arrays.views import MOTION
from warp_artic.sim.change.chosen import on_device
from warp_artic.sim.change.moment import as_it_was, take_moment
from warp_artic.sim.derivatives.adjoint_state import AccelerationChanges, StateField, state_fields
from warp_artic.sim.derivatives.quantities import Quantity, layouts, quantity, values_of_run
from warp_artic.sim.derivatives.steering import Steering
from warp_artic.sim.derivatives.tangent import Motion, twin_of
from warp_artic.sim.derivatives.twin import Twin
from warp_artic.sim.derivatives.units import seed_each
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import step


class DualWalk:
    """Steps forward with states that are kept, and back with derivatives, of a run that others put back."""

    def __init__(self, run: Run, by: Sequence[Quantity], controls: Mapping[str, np.ndarray], steps: int):
        self._run, self._by, self._controls, self._steps = run, by, controls, steps
        self._stride = max(1, math.isqrt(steps))
        self._state = run.tables.of_state(tuple(run.groups[0].state), range(len(run.members)))
        self._every = on_device(np.arange(run.environments), run.device)
        self._kept: dict[int, Held] = {}
        self._steering = Steering(run, controls)
        self._layouts = {name: list(layouts(run, name)) for name in MOTION}
        self._names = [one.name for one in by]
        self._fields = [state_fields(group, run.settings.integrator, self._names) for group in run.groups]
        self._own = [max(field.place.stop for field in fields if field.has_directions) for fields in self._fields]
        """Directions of the state of each group, which groups and mechanisms share."""
        self._first = max(self._own)
        self._changes = [AccelerationChanges.of(group) for group in run.groups]
        self._arrays = {name: list(self._places(name)) for name in MOTION}
        self._directions = self._first + sum(one.numbers for one in by)

    @staticmethod
    def unchanged(run: Run, controls: Mapping[str, np.ndarray]) -> AbstractContextManager:
        """Put the run back after a walk to where it is now."""
        return as_it_was(run, take_moment(run))

    def forward(self) -> Motion:
        """Make all steps, and keep a state every so many."""
        records = []
        for number in range(self._steps + 1):
            if number % self._stride == 0 and number < self._steps:
                self._kept[number] = self._state.take(self._every)
            records.append([values_of_run(self._run, name, self._layouts[name]) for name in MOTION])
            if number < self._steps:
                self._steering.apply(number)
                step(self._run, 1, False)
        return Motion(*map(np.array, zip(*records)))

    def backward(self, sources: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Slopes by the start, one record, and by other quantities: a sum over steps, or those of each step.

        Sources are slopes by each record; slopes of motions are by the numbers of arrays.
        """
        run = self._run
        found = {
            one.name: np.zeros((self._steps if one.name in self._controls else 1, run.environments, one.numbers))
            for one in self._by
        }
        adjoint = [
            np.zeros((fields[-1].place.stop, group.columns.count)) for fields, group in zip(self._fields, run.groups)
        ]
        self._add(adjoint, sources, self._steps)
        twin = twin_of(run, self._directions, self._names)
        for start in sorted(self._kept, reverse=True):
            states = self._states_from(start)
            for number in reversed(range(start, start + len(states))):
                self._go_to(number, states[number - start])
                self._dual_step(twin)
                adjoint, others = self._pull_back(twin, adjoint)
                first = 0
                for one in self._by:
                    place = number if one.name in self._controls else 0
                    found[one.name][place] += others[:, first : first + one.numbers]
                    first += one.numbers
                self._add(adjoint, sources, number)
        return self._of_arrays(adjoint), found

    def _go_to(self, number: int, state: Held) -> None:
        """Be at a state before a step, with the controls of the step and what follows time at its end."""
        self._state.put(state, self._every)
        self._steering.go_to(number)
        self._steering.apply(number)

    def _states_from(self, start: int) -> list[Held]:
        """The states before all steps from a kept one to the next."""
        states = [self._kept[start]]
        self._go_to(start, states[0])
        for number in range(start + 1, min(start + self._stride, self._steps)):
            step(self._run, 1, False)
            states.append(self._state.take(self._every))
            self._steering.apply(number)
        return states

    def _dual_step(self, twin: Twin) -> None:
        """Make a step of the twin from where the run is, with a direction for each number."""
        twin.begin(seeds=("gradient", *(one.name for one in self._by)))
        for place, fields in enumerate(self._fields):
            for field in fields:
                if field.rows and field.has_directions:
                    at = twin.once(("numbers", place, field.name), partial(self._diagonal, twin, place, field))
                    twin.write_at(place, field.name, at, 1.0)
        if not twin.stands:
            seed_each(self._run, twin, self._by, self._first)
        twin.step(1)

    def _diagonal(self, twin: Twin, place: int, field: StateField) -> np.ndarray:
        """Where the derivatives of the rows of a field by themselves lie."""
        rows, columns = np.arange(field.rows)[:, None], np.arange(self._run.groups[place].columns.count)
        return twin.positions(place, field.name, rows, columns, rows + field.place.start)

    def _pull_back(self, twin: Twin, adjoint: list[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
        """A^T lambda of each group, and B^T lambda of each environment."""
        found, others = [], 0.0
        for place, (fields, after) in enumerate(zip(self._fields, adjoint)):
            back = np.zeros((after.shape[1], 1, twin.blocks * twin.numbers.lanes))
            for field in fields:
                if field.rows:
                    entries = twin.entries(place, field.name)[: field.rows].swapaxes(0, 1)
                    back += after[field.place].T[:, None] @ entries.reshape(*entries.shape[:2], -1)
            back = back.reshape(len(back), twin.blocks, -1)[..., 1:].reshape(len(back), -1)
            before = back[:, : self._own[place]].T
            *_, accelerations, changes = fields
            if not changes.has_directions:
                ends = [twin.values(place, field.name)[: field.rows] for field in (accelerations, changes)]
                slopes = self._changes[place].slopes(before[accelerations.place], after[changes.place], ends)
                before = np.concatenate([before, slopes])
            found.append(before)
            others = others + back.reshape(-1, self._run.environments, back.shape[1])[..., self._first :].sum(axis=0)
        return found, others

    def _places(self, name: str) -> Iterator[tuple[int, tuple, np.ndarray]]:
        """A group, where in its adjoint numbers of an array are, and which ones."""
        for layout in self._layouts[name]:
            (field,) = (one for one in self._fields[layout.place] if one.name == name)
            yield layout.place, np.ix_(field.place.start + layout.own, np.r_[layout.columns]), layout.rows

    def _add(self, adjoint: list[np.ndarray], sources: Mapping[str, np.ndarray], number: int) -> None:
        """Add the slopes by a record."""
        for name, table in sources.items():
            flat = table[number].reshape(self._run.environments, -1).T
            for place, at, rows in self._arrays[name]:
                adjoint[place][at] += flat[rows]

    def _of_arrays(self, adjoint: list[np.ndarray]) -> dict[str, np.ndarray]:
        """Slopes by arrays of the motion, one record."""
        E, found = self._run.environments, {}
        for name in MOTION:
            one = quantity(self._run, name)
            size = 7 if name == "root_pose" else one.size
            table = np.zeros((one.count * size, E))
            for place, at, rows in self._arrays[name]:
                table[rows] = adjoint[place][at]
            found[name] = table.T.reshape(1, E, *((one.count,) if size == 1 else (one.count, size)))
        return found

"""Steps forward, and back on tapes: `gradient` on a CPU.

A step of numbers that leave on a tape what they are made of is pulled back at once, by all that it depends on
(`kernels.pull_back`): with the derivatives A and B of a step by its state and by what the gradient is by, A^T lambda
and B^T lambda cost some steps, however many numbers there are. States are kept every 2 sqrt(T) steps; those between
are made again by ordinary steps, each with a record of the state.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from warp_artic.sim.arrays.views import MOTION
from warp_artic.sim.change.chosen import on_device
from warp_artic.sim.change.moment import as_it_was, take_moment
from warp_artic.sim.derivatives.quantities import Quantity, layouts, quantity, values_of_records
from warp_artic.sim.derivatives.steering import Steering
from warp_artic.sim.derivatives.tangent import Motion
from warp_artic.sim.derivatives.taped_group import TapedGroup
from warp_artic.sim.derivatives.taped_twin import TapedTwin
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import count_steps


class TapeIsFullError(Exception):
    """A step has more operations than a tape has room for."""


class TapedWalk:
    """Steps forward with states that are kept, and back with derivatives, of a run that others put back.

    Args:
        run: The run.
        by: What else than the start the gradient is by.
        controls: Values of controls for each step, shape (steps, E or 1, numbers).
        steps: How many.
    """

    def __init__(self, run: Run, by: Sequence[Quantity], controls: Mapping[str, np.ndarray], steps: int):
        self._run, self._by, self._controls, self._steps = run, by, controls, steps
        self._stride = min(2 * math.isqrt(steps), steps)
        self._steering = Steering(run, controls)
        self._steering.apply(0)
        if not isinstance(run.taped_twin, TapedTwin):
            run.taped_twin = TapedTwin(run)
        self._twin = twin = run.taped_twin
        known = {name for group in run.groups for name in group.parameters}
        names = tuple(dict.fromkeys(one.name for one in by))
        twin.begin(known.intersection(names))
        self._layouts = {name: self._layouts_of(name) for name in (*MOTION, *names)}
        steered = self._steering.names
        self._groups: list[TapedGroup] = [
            twin.once(
                ("walk", place, names, steered, self._stride),
                lambda: TapedGroup(run, place, twin, names, steered, self._stride),  # noqa: B023 (called at once)
            )
            for place in range(len(run.groups))
        ]
        for group in self._groups:
            group.seed()
        self._kept: dict[int, list[np.ndarray]] = {}

    def _layouts_of(self, name: str) -> list:
        return self._twin.once(("layouts", name), lambda: list(layouts(self._run, name)))

    @staticmethod
    @contextmanager
    def unchanged(run: Run, controls: Mapping[str, np.ndarray]) -> Iterator[None]:
        """Put the run back after a walk to where it is now."""
        if run.tracks:
            with as_it_was(run, take_moment(run)):
                yield
            return
        run.idle.end(run.steps_done)
        every = on_device(np.arange(run.environments), run.device)
        names = (*run.groups[0].state, *controls) if run.groups else ()
        table = run.tables.of_state(names, range(len(run.members)))
        present, steps_done = table.take(every), run.steps_done
        try:
            yield
        finally:
            run.idle.end(run.steps_done)
            run.tables.of_state(names, range(len(run.members))).put(present, every)
            run.steps_done = steps_done
            run.set_anew()

    def forward(self) -> Motion:
        """Make all steps, and keep a state every so many."""
        parts = [
            {name: np.empty((self._steps + 1, *group.records(name).shape[1:])) for name in MOTION}
            for group in self._groups
        ]
        state = [group.take() for group in self._groups]
        for first in range(0, self._steps, self._stride):
            count = min(self._stride, self._steps - first)
            self._kept[first] = state
            self._make(first, state, count, count)
            for group, own in zip(self._groups, parts):
                for name, values in own.items():
                    values[first : first + count + 1] = group.records(name)[: count + 1]
            state = [group.state_of(count) for group in self._groups]
        return Motion(
            *(
                values_of_records(self._run, name, self._layouts[name], lambda place, name=name: parts[place][name])
                for name in MOTION
            )
        )

    @property
    def memory(self) -> int:
        """Bytes of the states that are kept, of records and of slopes."""
        states = (state.nbytes for kept in self._kept.values() for state in kept)
        return sum(states) + sum(group.memory for group in self._groups)

    def _make(self, first: int, state: Sequence[np.ndarray], count: int, made: int) -> None:
        """Make some steps from a state that the run is in, with records before each of `count` and after those made."""
        for group, own in zip(self._groups, state):
            group.note_state(own)
        if not self._steering.is_needed:
            self._step(made, 1)
            return
        for number in range(count):
            self._steering.apply(first + number)
            for group in self._groups:
                group.note_steered(number)
            self._step(int(number < made), 1 + number)

    def _step(self, count: int, record: int) -> None:
        run = self._run
        if count:
            run.parameter_watch.look()
            run.launches.step_and_keep(count, 1, record, [group.kept for group in self._groups])
            count_steps(run, count, False)

    def backward(self, sources: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Slopes by the start, one record, and by other quantities: a sum over steps, or those of each step.

        Sources are slopes by each record; slopes of motions are by the numbers of arrays.

        Raises:
            TapeIsFullError: There was not room enough.
        """
        run = self._run
        found = {
            one.name: np.zeros((self._steps if one.name in self._controls else 1, run.environments, one.numbers))
            for one in self._by
        }
        flat = {name: table.reshape(len(table), run.environments, -1) for name, table in sources.items()}
        for place, group in enumerate(self._groups):
            self._note_slopes(flat, place, group.adjoint[None], self._steps)
        self._twin.tape.was_full()
        for first in sorted(self._kept, reverse=True):
            count = min(self._stride, self._steps - first)
            for group, state in zip(self._groups, self._kept[first]):
                group.put(state)
            self._steering.go_to(first)
            self._make(first, self._kept[first], count, count - 1)
            for place, group in enumerate(self._groups):
                self._note_slopes(flat, place, group.sources[:count], first)
                group.pull_back(count)
            self._gather(found, first, count)
        if self._twin.tape.was_full():
            raise TapeIsFullError
        return self._of_arrays(), found

    def _note_slopes(self, flat: Mapping[str, np.ndarray], place: int, slopes: np.ndarray, first: int) -> None:
        """Write slopes of a group by records from one on, shape (records, rows of the adjoint, columns)."""
        slopes[:] = 0.0
        for name, table in flat.items():
            for layout in self._layouts[name]:
                if layout.place == place:
                    rows = self._groups[place].first_of[name] + layout.own
                    own = table[first : first + len(slopes), :, layout.rows]
                    slopes[:, rows, layout.columns] = own.transpose(0, 2, 1)

    def _gather(self, found: Mapping[str, np.ndarray], first: int, count: int) -> None:
        """Add what steps have found of other quantities, or write it where each step has its own."""
        for one in self._by:
            for layout in self._layouts[one.name]:
                group = self._groups[layout.place]
                own = group.found[:count, group.first_of[one.name] + layout.own, layout.columns].transpose(0, 2, 1)
                own = own * layout.share
                if one.name in self._controls:
                    found[one.name][first : first + count][:, :, layout.rows] += own
                else:
                    found[one.name][0][:, layout.rows] += own[::-1].sum(axis=0)

    def _of_arrays(self) -> dict[str, np.ndarray]:
        """Slopes by arrays of the motion, one record."""
        E, found = self._run.environments, {}
        for name in MOTION:
            one = quantity(self._run, name)
            size = 7 if name == "root_pose" else one.size
            table = np.zeros((one.count * size, E))
            for layout in self._layouts[name]:
                group = self._groups[layout.place]
                table[layout.rows] = group.adjoint[group.first_of[name] + layout.own, layout.columns]
            found[name] = table.T.reshape(1, E, *((one.count,) if size == 1 else (one.count, size)))
        return found

"""Records of joint states alone: the steps keep them, many records with one launch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import warp as wp

from warp_artic.mechanisms.group import Group
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import count_steps

JOINT_STATES = ("joint_position", "joint_velocity")
"""What steps can keep."""
MOST_BYTES = 1 << 22
"""Of the records of a launch."""
MOST_STEPS = 1000
"""Of a launch: an interrupt waits for its end."""


class JointRecords:
    """Has the steps of a simulation keep joint states.

    Args:
        run: To step.
        kept: Arrays to fill by their names, shape (records, environments, dofs), as `records_of_zeros` makes them.
        rows: For each group and each name, the dofs of the scene that its rows are, shape (members, rows).
    """

    def __init__(self, run: Run, kept: dict[str, np.ndarray], rows: list[dict[str, np.ndarray]]):
        self._run = run
        self._kept = {name: values for name, values in kept.items() if rows and name in rows[0]}
        self._rows = rows
        bytes_each = sum(values[0].nbytes for values in self._kept.values())
        self._most = max(1, MOST_BYTES // max(bytes_each, 1))

    def make(self, records: int, every: int, first: int) -> Iterator[int]:
        """Step, with a record after each `every` steps, from the record `first` on; says how many were made so far."""
        run = self._run
        most = max(1, min(records, self._most, MOST_STEPS // every))
        if self._is_in_place():
            as_written = {name: values.swapaxes(1, 2) for name, values in self._kept.items()}
            own = {name: wp.array(values, device="cpu", copy=False) for name, values in as_written.items()}
            structs = [self._struct(run.groups[0], own)]
            for done in range(0, records, most):
                count = min(most, records - done)
                self._step(count * every, every, first + done, structs)
                yield done + count
            return
        buffers = [self._buffers(group, rows, most) for group, rows in zip(run.groups, self._rows)]
        structs = [self._struct(group, own) for group, own in zip(run.groups, buffers)]
        for done in range(0, records, most):
            count = min(most, records - done)
            self._step(count * every, every, 0, structs)
            for own, rows in zip(buffers, self._rows):
                self._put(own, rows, first + done, count)
            yield done + count

    def _step(self, steps: int, every: int, record: int, structs: list) -> None:
        run = self._run
        run.idle.end(run.steps_done)
        run.parameter_watch.look()
        run.launches.step_and_keep(steps, every, record, structs)
        count_steps(run, steps, False)

    def _is_in_place(self) -> bool:
        """Whether records are as steps can write them: on a CPU, of one articulation with its dofs in order."""
        if not self._run.on.is_cpu or len(self._rows) != 1:
            return False
        own = [self._rows[0][name] for name in self._kept]
        return all(len(rows) == 1 and np.array_equal(rows[0], np.arange(rows.shape[1])) for rows in own)

    def _buffers(self, group: Group, rows: dict[str, np.ndarray], records: int) -> dict[str, wp.array]:
        scalar, count = group.columns.numbers.scalar, group.columns.count
        return {
            name: wp.empty((records, rows[name].shape[1], count), dtype=scalar, device=self._run.device)
            for name in self._kept
        }

    def _struct(self, group: Group, buffers: dict[str, wp.array]):
        struct = arrays_for(group.columns.numbers).Kept()
        for name, array in buffers.items():
            setattr(struct, name, array)
        return struct

    def _put(self, buffers: dict[str, wp.array], rows: dict[str, np.ndarray], first: int, count: int) -> None:
        """Write so many records where they belong."""
        for name, array in buffers.items():
            target, own = self._kept[name][first : first + count], rows[name]
            values = array.numpy()[:count].reshape(count, own.shape[1], len(own), self._run.environments)
            values = values.transpose(0, 2, 3, 1)
            for member, columns in enumerate(own):
                start = columns[0] if columns.size else 0
                if np.array_equal(columns, np.arange(start, start + columns.size)):
                    target[:, :, start : start + columns.size] = values[:, member]
                else:
                    target[:, :, columns] = values[:, member]

"""The kernels that a simulation launches, again and again: the arguments of each are packed once.

They are packed anew when the arrays of a model have moved: a parameter has become one that each environment has for
itself, or a step reports forces in another way.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import warp as wp

from warp_artic.kernels.dynamics import dynamics_kernels_for
from warp_artic.kernels.launch import (
    BLOCK,
    contacts_kernel,
    displace_kernel,
    load,
    mobilities_kernel,
    report_kernel,
    runge_kutta_kernel,
    sleep_kernel,
    step_functions,
    step_kernel,
    watch_kernel,
)
from warp_artic.kernels.threads import ColumnLaunch, run_all
from warp_artic.mechanisms.group import Group
from warp_artic.mechanisms.public_rows import FOUND
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.field import Field
from warp_artic.solver.settings import SolverSettings


class Launches:
    """Launches of kernels for every group; in a capture, which is of one thread, as one launch of Warp each."""

    def __init__(self, groups: Sequence[Group], settings: SolverSettings, device: wp.Device, threads: int):
        self._groups = groups
        self._settings = settings
        self._device = device
        self._threads = threads
        self.pack()

    def pack(self) -> None:
        """Pack the arguments of steps; other kernels pack theirs when launched."""
        self._next = 1, False
        self.steps = [self._pack_steps(group) for group in self._groups]
        self._measures: list[ColumnLaunch] | None = None
        self._reports: list[ColumnLaunch] | None = None
        self._contacts: list[ColumnLaunch] | None = None
        self._dynamics: dict[tuple[int, str], wp.Launch] = {}
        self._displacements: dict[int, ColumnLaunch] = {}

    def step(self, count: int, with_forces: bool, is_captured: bool = False) -> None:
        """Make steps, the last of which may report forces; a capture may take them in."""
        if (count, with_forces) != self._next:
            for launch in self.steps:
                launch.set("steps", count)
                if self._settings.integrator != "rk4":
                    launch.set("with_forces", int(with_forces))
            self._next = count, with_forces
        self._run(self.steps, is_captured, count)

    def step_aside(self, chosen: Sequence[tuple[Group, Any]]) -> None:
        """Make one step of some groups, each with a struct `Forces` of its own for what it reports, or None."""
        self._next = 1, False
        own = {id(group): forces for group, forces in chosen}
        launches = [(group, launch) for group, launch in zip(self._groups, self.steps) if id(group) in own]
        for launch in self.steps:
            launch.set("steps", 1)
            launch.set("with_forces", 0)
        reports = [(group, launch) for group, launch in launches if own[id(group)] is not None]
        for group, launch in reports:
            launch.set("forces", own[id(group)])
            launch.set("with_forces", 1)
        self._run([launch for _, launch in launches], self._device.is_capturing)
        for group, launch in reports:
            launch.set("forces", group.arrays.forces)
            launch.set("with_forces", 0)

    def step_and_keep(self, count: int, every: int, record: int, kept: Sequence) -> None:
        """Make steps, and keep joint states after each `every`: structs `Kept` of the groups, from a record on."""
        for launch, own in zip(self.steps, kept):
            launch.set("kept", own)
            launch.set("every", every)
            launch.set("record", record)
        try:
            self.step(count, False, self._device.is_capturing)
        finally:
            for launch in self.steps:
                launch.set("every", 0)

    def report(self) -> None:
        """Bring what is reported up to date with the state."""
        if self._reports is None:
            self._reports = [
                self._pack(group, report_kernel(group.columns.numbers), ("report",), ()) for group in self._groups
            ]
        self._run(self._reports, self._device.is_capturing)

    def measure_tendons(self) -> None:
        """Bring the mobilities of tendons up to date with the state."""
        if self._measures is None:
            self._measures = [
                self._pack(group, mobilities_kernel(group.columns.numbers), ("control",), ("tendon_mobility",))
                for group in self._groups
                if group.tree.tendon_count and "tendon_mobility" in group.outputs
            ]
        self._run(self._measures, self._device.is_capturing)

    def find_contacts(self) -> None:
        """Bring what is found of contacts up to date with the state."""
        if self._contacts is None:
            self._contacts = [
                self._pack(group, contacts_kernel(group.columns.numbers), (), tuple(FOUND))
                for group in self._groups
                if group.tree.kinds["contact"]
            ]
        self._run(self._contacts, self._device.is_capturing)

    def put_to_sleep(self) -> None:
        """Let trees sleep that are marked."""
        for group in self._groups:
            arrays = group.arrays
            wp.launch(
                sleep_kernel(group.columns.numbers),
                dim=group.columns.blocks,
                inputs=[arrays.model, arrays.state, arrays.control],
                device=self._device,
                block_dim=BLOCK,
            )

    def displace(self, group: Group, path: Field) -> None:
        """Move the mechanisms of a group by what is given for each dof, without velocity."""
        if id(group) not in self._displacements:
            kernel = displace_kernel(group.columns.numbers)
            self._displacements[id(group)] = self._pack(group, kernel, (), (), (path.numbers,))
        self._run([self._displacements[id(group)]], self._device.is_capturing)

    def watch(self, groups: Collection[Group], keeps: bool) -> None:
        """Wake what somebody has changed since the last step, or remember all as it is now."""
        for group in groups:
            kernel, arrays = watch_kernel(group.columns.numbers), group.arrays
            load(kernel, self._device)
            wp.launch(
                kernel,
                dim=group.columns.blocks,
                inputs=[arrays.model, arrays.state, arrays.control, int(keeps)],
                device=self._device,
                block_dim=BLOCK,
            )

    def dynamics(self, group: Group, kernel: str, control, *arguments, constraints=None) -> None:
        """Launch a kernel of the dynamics suite, which may be about registered constraints."""
        arrays = group.arrays if constraints is None else constraints.arrays
        before = [arrays.model, group.arrays.state]
        if control is not None:
            before.append(control)
        if constraints is not None:
            before.append(arrays.contacts)
        inputs = (*before, arrays.work, group.columns.blocks, group.workers, *arguments)
        launch = self._dynamics.get((id(group), kernel)) if constraints is None else None
        if launch is None:
            found = getattr(dynamics_kernels_for(group.columns.numbers), kernel)
            load(found, self._device)
            launch = wp.launch(
                found, dim=group.workers, inputs=inputs, device=self._device, block_dim=BLOCK, record_cmd=True
            )
            if constraints is None:
                self._dynamics[id(group), kernel] = launch
        for index in (*range(2, len(before)), *range(len(before) + 3, len(inputs))):
            launch.set_param_at_index(index, inputs[index])
        launch.launch()

    def _run(self, launches: list[ColumnLaunch], is_captured: bool, steps: int = 1) -> None:
        if is_captured:
            for launch in launches:
                launch.record()
        else:
            run_all(launches, self._threads, steps)

    def _pack_steps(self, group: Group) -> ColumnLaunch:
        settings, numbers = self._settings, group.columns.numbers
        unkept = arrays_for(numbers).Kept(), 0, 0
        if settings.integrator == "rk4":
            return self._pack(group, runge_kutta_kernel(numbers), ("control",), (), (1, settings.dt, *unkept))
        kernel = step_kernel(numbers, *step_functions(settings.solver, group.tree))
        arguments = (1, settings.dt, int(settings.integrator == "midpoint"), *settings.schedule, 0, *unkept)
        return self._pack(group, kernel, ("control", "forces"), (), arguments)

    def _pack(self, group: Group, kernel: wp.Kernel, structs, outputs, numbers=()) -> ColumnLaunch:
        """Pack the arguments of a kernel of a group, once for each work space."""
        arrays = group.arrays
        load(kernel, self._device)
        launches = [
            wp.launch(
                kernel,
                dim=group.workers,
                inputs=[
                    arrays.model,
                    arrays.state,
                    *(getattr(arrays, name) for name in structs),
                    work,
                    0,
                    group.columns.blocks,
                    group.workers,
                    *numbers,
                    *(group.outputs[name].numbers for name in outputs),
                ],
                device=self._device,
                block_dim=BLOCK,
                record_cmd=True,
            )
            for work in group.works
        ]
        return ColumnLaunch(launches, group.columns.blocks, group.tree.dof_count)

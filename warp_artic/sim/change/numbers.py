"""All numbers that a scene gives to steps, as one vector, and such numbers written to chosen environments.

The vector has parameters, start state and control of each group, one after the other; each has a part of shape (rows,
mechanisms). Gravity of elastic bodies comes last. Scenes that differ in numbers only (`sim.revise.same_structure`) have
vectors of the same layout.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warp_artic.description.scene import Scene
from warp_artic.mechanisms.group import Group, mechanisms_in
from warp_artic.mechanisms.parameters import parameter_rows
from warp_artic.mechanisms.start import initial_control, initial_state
from warp_artic.sim.arrays.views import ROW_COUNTS
from warp_artic.sim.change.sleep import wake
from warp_artic.sim.run.access import check_arrays_may_change
from warp_artic.sim.run.layout import laid_out
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import follow_links

BODIES = -1
"""Stands for elastic bodies, where others have the index of a group."""


@dataclass(frozen=True)
class Part:
    """The numbers of one array of a group."""

    group: int
    name: str
    first: int
    """Its first number in the vector."""
    rows: int
    mechanisms: int

    @property
    def end(self) -> int:
        """The number after its last one."""
        return self.first + self.rows * self.mechanisms


@dataclass(frozen=True, eq=False)
class SceneNumbers:
    """The numbers of the scene of a run."""

    run: Run

    @cached_property
    def authored(self) -> np.ndarray:
        """Those of the scene of the run."""
        return self.of(self.run.scene)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Which numbers are of which array."""
        found, first = [], 0
        for index, group in enumerate(self.run.groups):
            for name, values in _arrays(group, laid_out(self.run.scene, self.run.settings)).items():
                found.append(Part(index, name, first, *values.shape))
                first = found[-1].end
        return (*found, Part(BODIES, "gravity", first, 3, 1)) if self.run.elastic else tuple(found)

    @cached_property
    def _firsts(self) -> np.ndarray:
        """The first number of each part; of parts that begin alike only the last one has any."""
        return np.array([part.first for part in self.parts])

    def of(self, scene: Scene) -> np.ndarray:
        """The numbers of a scene of the same structure."""
        laid = laid_out(scene, self.run.settings)
        arrays = [values.ravel() for group in self.run.groups for values in _arrays(group, laid).values()]
        arrays += [np.asarray(laid.gravity, float)] if self.run.elastic else []
        return np.concatenate(arrays) if arrays else np.zeros(0)

    def places(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows of a public array of parameters, motion or control are, and what was taken off their values.

        Both of shape (scene rows, components). Places of floating roots are relative to the origins of their groups.
        """
        run = self.run
        kind, size = ROW_COUNTS[name]
        found = np.zeros((sum(len(own) for own in run.order[kind]), size), int)
        origins = np.zeros(found.shape)
        parts = {(part.group, part.name): part for part in self.parts}
        for member, order in zip(run.members, run.order[kind]):
            part = parts[run.groups.index(member.group), name]
            rows = size * member.first_row(kind) + np.arange(len(order) * size)
            found[order] = (part.first + rows * part.mechanisms + member.place).reshape(-1, size)
            if name == "root_pose":
                origins[order, :3] = member.group.origins[member.place]
        return found, origins

    def write(self, places: np.ndarray, values: np.ndarray, environments: np.ndarray | None = None) -> None:
        """Write numbers, at places in the vector, to chosen environments, all by default.

        Args:
            places: Which numbers.
            values: Shape (places, chosen environments).
            environments: Their indices.
        """
        run, is_new = self.run, False
        own = slice(None) if environments is None else environments
        check_arrays_may_change(run, "numbers of the scene")
        run.idle.end(run.steps_done)
        part_of = np.searchsorted(self._firsts, places, side="right") - 1
        for index in np.unique(part_of):
            part, chosen = self.parts[index], np.flatnonzero(part_of == index)
            if part.group == BODIES:
                for body in run.elastic.bodies:
                    table = body.gravity.numpy().copy()
                    for row, of_row in zip(places[chosen] - part.first, values[chosen]):
                        table[row, own] = of_row
                    body.gravity.assign(table)
            else:
                group = run.groups[part.group]
                is_new |= part.name in group.parameters and group.parameters[part.name].is_shared
                rows, mechanisms = np.divmod(places[chosen] - part.first, part.mechanisms)
                _write(group, part.name, zip(rows, mechanisms, values[chosen]), own)
        wake(run, environments)
        if is_new:
            run.launches.pack()
        run.set_anew()
        follow_links(run)


def _arrays(group: Group, laid: Scene) -> dict[str, np.ndarray]:
    """The arrays of a group, each of shape (rows, mechanisms)."""
    mechanisms = mechanisms_in(laid, group.members)
    parameters = [parameter_rows(mechanism, origin) for mechanism, origin in zip(mechanisms, group.origins)]
    found = {name: np.array([own[name] for own in parameters]) for name in parameters[0]}
    found["gravity"] = np.tile(np.asarray(laid.gravity, float), (len(mechanisms), 1))
    found |= initial_state(mechanisms, group.origins) | initial_control(mechanisms)
    return {name: np.asarray(values, float).reshape(len(mechanisms), -1).T for name, values in found.items()}


def _write(group: Group, name: str, given: Iterable[tuple], environments: slice | np.ndarray) -> None:
    """Write rows of mechanisms, each with a value for each of some environments."""
    if name in group.parameters:
        group.expand_parameter(name)
    elif name in group.control:
        group.check(name)
    scalars = group.field(name).scalars
    written = scalars.numpy()
    for row, mechanism, values in given:
        first = mechanism * group.environments
        written[row, first : first + group.environments][environments] = values
    if not scalars.device.is_cpu:
        scalars.assign(written)

"""A stage with one selection of variants, ready for runs: what is simulated, what differs, what is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from warp_artic.batch.columns import VariedColumn, array_columns, attribute_columns, drawn_values, table_of
from warp_artic.batch.distributions import Distribution
from warp_artic.batch.inputs import Input
from warp_artic.batch.outcome import Column, StopRule
from warp_artic.batch.plan import Plan, name_of
from warp_artic.batch.quantities import Entry, check_quantity, entries_of, has_forces, recorded_names
from warp_artic.batch.response import Reader, Response, response_of
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.sim.change.numbers import SceneNumbers
from warp_artic.sim.record.recorder import Recorder
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.run.step import prepare_forces
from warp_artic.sim.simulation import Simulation
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.vary import Place, VariedStage

TRIED_RUNS = 3
"""Runs of a plan whose values are read from the stage before the first step."""
LEAST_ENVIRONMENTS = 1
"""Of a simulation that steps runs."""


@dataclass(eq=False)
class Case:
    """A plan on a stage with one selection of variants.

    Args:
        plan: What is to be run.
        variants: The selection, by prim path and variant set.
        device: "cpu" or "cuda:N".
        threads: As `Simulation` has them.
    """

    plan: Plan
    variants: Mapping[tuple[str, str], str]
    device: str = "cpu"
    threads: int | None = None
    _simulations: dict[int, Simulation] = field(default_factory=dict)
    _scene_numbers: dict[int, SceneNumbers] = field(default_factory=dict)
    _recorders: dict[tuple, Recorder] = field(default_factory=dict)

    @cached_property
    def stage(self) -> VariedStage:
        """The stage, with its variants."""
        return VariedStage(self.plan.stage_path, self.variants, self.plan.dialects)

    @cached_property
    def _of_attributes(self) -> tuple[VariedColumn, ...]:
        return attribute_columns(self.plan, self.stage)

    @cached_property
    def _base(self) -> dict[Place, float]:
        """Values of attributes that have no finite one as authored."""
        unset = [column for column in self._of_attributes if column.authored is None]
        return {one.place: float(self.stage.rounded(one.place, np.array(one.ends))[0]) for one in unset}

    @cached_property
    def scene(self) -> Scene:
        """What is simulated; runs differ from it in numbers."""
        return self.stage.scene(self._base)

    @cached_property
    def settings(self) -> SolverSettings:
        """How steps are made: on a CPU on lanes, however few runs there are, so that runs do not depend on how many."""
        given = self.plan.solver_settings
        is_free = given.variant == "auto" and self.device.startswith("cpu")
        return replace(given, variant="lanes") if is_free else given

    @cached_property
    def steps(self) -> int:
        """Time steps of a run."""
        plan, dt = self.plan, self.settings.resolved(self.scene).dt
        steps = plan.steps if plan.steps is not None else round(plan.duration / dt)
        if steps % plan.record.every:
            raise SettingsError(f"record: every {plan.record.every} steps does not divide the {steps} steps of a run")
        return steps

    @cached_property
    def columns(self) -> tuple[VariedColumn, ...]:
        """What is varied."""
        own = {column.name: column for column in (*self._of_attributes, *self._of_arrays)}
        order = {name_of(vary): k for k, vary in enumerate(self.plan.vary)}
        return tuple(sorted(own.values(), key=lambda column: order[name_of(column.vary)]))

    @cached_property
    def _of_arrays(self) -> tuple[VariedColumn, ...]:
        if all(vary.kind not in ("parameter", "start") for vary in self.plan.vary):
            return ()
        return array_columns(self.plan, self.stage, self.scene_numbers(LEAST_ENVIRONMENTS))

    @cached_property
    def response(self) -> Response:
        """How numbers depend on what is varied."""
        numbers = self.scene_numbers(LEAST_ENVIRONMENTS)
        reader = Reader(self.stage, self.settings, numbers, self._base)
        return response_of(self.columns, reader, self.table(0, min(TRIED_RUNS, self.plan.run_count)))

    def refuse_given(self, one: Input) -> None:
        """Refuse columns that act on nothing but what an input gives in their place."""
        numbers, response = self.response.reader.scene_numbers, self.response
        names = self.simulation(LEAST_ENVIRONMENTS).joint_names
        rows = [names.index(name) for name in one.given(names)]
        is_given = np.isin(response.places, numbers.places(one.name)[0][rows])
        for k, column in enumerate(self.columns):
            of_column = response.slope[:, k] != 0.0 if response.is_affine else response.places == column.number
            if of_column.any() and is_given[of_column].all():
                raise SettingsError(f"{column.name}: acts on {one.name} alone, which inputs give; leave one out")

    def table(self, first: int, last: int) -> np.ndarray:
        """The values of columns in runs first to last - 1, shape (runs, columns)."""
        return table_of(self.plan, self.columns, self.stage, first, last)

    def simulation(self, environments: int) -> Simulation:
        """A simulation of so many runs at once; it is kept for later ones."""
        found = self._simulations.get(environments)
        if found is None:
            options = {"device": self.device, "settings": self.settings, "threads": self.threads}
            found = Simulation(self.scene, environments=environments, **options)
            self._simulations[environments] = found
        return found

    def scene_numbers(self, environments: int) -> SceneNumbers:
        """The numbers of the scene in that simulation."""
        found = self._scene_numbers.get(environments)
        if found is None:
            found = self._scene_numbers[environments] = SceneNumbers(self.simulation(environments).run)
        return found

    def room_for(self, runs: int, most: int) -> int:
        """How many environments a simulation has that steps so many runs, of at most so many."""
        found = max(most, LEAST_ENVIRONMENTS)
        while found // 2 >= max(runs, LEAST_ENVIRONMENTS):
            found //= 2
        return found

    @cached_property
    def reductions(self) -> tuple[Column, ...]:
        """What the table of runs says of each."""
        found = tuple(Column.of(text) for text in self.plan.summary)
        for column in found:
            check_quantity("summary", column.quantity)
        return tuple(column for column in found if self.entries[column.quantity])

    @cached_property
    def stop(self) -> StopRule | None:
        """When a run is over."""
        if self.plan.stop is None:
            return None
        rule = StopRule.of(self.plan.stop)
        check_quantity("stop", rule.quantity)
        return rule

    @cached_property
    def quantities(self) -> set[str]:
        """All quantities that are looked at."""
        found = {Column.of(text).quantity for text in self.plan.summary} | set(self.plan.record.quantities)
        for name in self.plan.record.quantities:
            check_quantity("record", name)
        for text in self.plan.summary:
            check_quantity("summary", Column.of(text).quantity)
        return found | ({self.stop.quantity} if self.stop else set())

    @cached_property
    def looks_at_each_record(self) -> bool:
        """Whether more is wanted than the end of runs."""
        is_final = all(Column.of(text).reduction == "final" for text in self.plan.summary)
        return not is_final or self.stop is not None

    @cached_property
    def entries(self) -> dict[str, tuple[Entry, ...]]:
        """What the numbers of each quantity are of."""
        none = self.recorded(self.simulation(LEAST_ENVIRONMENTS), 0, 1, self.quantities)
        return {name: entries_of(none, name, self.scene) for name in sorted(self.quantities)}

    def recorded(
        self, simulation: Simulation, steps: int, every: int, quantities: set[str], room: int = 0
    ) -> Recording:
        """Records of the next steps, with the one before them, in memory that the next call uses again.

        `room`: for how many records there is memory, where later calls need more.
        """
        records = max(room, steps // every + 1)
        key = simulation.environments, records, tuple(sorted(recorded_names(quantities)))
        forces = prepare_forces(simulation.run, has_forces(quantities))
        recorder = self._recorders.get(key)
        if recorder is None:
            recorder = self._recorders[key] = Recorder(simulation.run, records, forces, key[2])
        else:
            recorder.rewind()
        recorder.run(steps // every, every, None)
        found = recorder.recording()
        found.metadata["root_names"] = simulation.root_names
        return found


@dataclass(eq=False)
class Cases:
    """The cases of a plan: one for each selection of variants."""

    plan: Plan
    device: str = "cpu"
    threads: int | None = None
    _known: dict[tuple[str, ...], Case] = field(default_factory=dict)

    @cached_property
    def _varied(self) -> list[tuple[str, tuple[str, str], Distribution]]:
        """The names of variables that select variants, the prim and the set, and which variants."""
        found = []
        for vary in self.plan.vary:
            if vary.kind == "variant":
                path, brace, rest = vary.variant.partition("{")
                if not brace or not rest.endswith("}"):
                    raise SettingsError(f"variant: {vary.variant!r} is not like /World/robot{{hand}}")
                name = name_of(vary)
                if twice := [other for other, where, _ in found if where == (path, rest[:-1])]:
                    raise SettingsError(f"{name}: is varied by {twice[0]} already")
                found.append((name, (path, rest[:-1]), Distribution.of(name, vary.distribution)))
        return found

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of variables that select variants."""
        return tuple(name for name, _, _ in self._varied)

    def selections(self, first: int, last: int) -> np.ndarray:
        """Which variants runs first to last - 1 have, shape (runs, variables)."""
        own = [(name_of(vary), vary) for vary in self.plan.vary if vary.kind == "variant"]
        draws = drawn_values(self.plan, own, first, last)
        columns = [draws[name].astype(str) for name in self.variables]
        return np.stack(columns, axis=1) if columns else np.zeros((last - first, 0), "U1")

    def of(self, selection) -> Case:
        """The case of a selection."""
        key = tuple(map(str, selection))
        if key not in self._known:
            variants = {where: choice for (_, where, _), choice in zip(self._varied, key)}
            self._known[key] = Case(self.plan, variants, self.device, self.threads)
        return self._known[key]

    def all(self) -> list[Case]:
        """Those of all selections that runs may have."""
        selections: list[tuple[str, ...]] = [()]
        for _, _, one in self._varied:
            selections = [(*chosen, str(name)) for chosen in selections for name in dict.fromkeys(one.numbers)]
        return [self.of(selection) for selection in selections]

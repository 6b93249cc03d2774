"""Values of the control for each run and step, from files that are read by slices.

.npz or .npy: an array of the name of the control, shape (runs, steps, rows), or (steps, rows) for all runs, with rows
in the order of the scene. .parquet: columns run and step, and one for each dof by its name; dofs that are left out keep
what is authored. The last step holds on to the end of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warp_artic.batch.files import parquet
from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.arrays.views import CONTROL
from warp_artic.sim.files.npz import Entry, open_npz
from warp_artic.sim.simulation import Simulation

SHAPES = (("runs", "steps", "rows"), ("steps", "rows"))


@dataclass(frozen=True, eq=False)
class Input:
    """A file with values of one array of the control."""

    name: str
    path: Path
    values: np.ndarray | None = None
    """Of an .npz or .npy file."""

    @classmethod
    def open(cls, name: str, path: Path) -> Input:
        """Look whether there is such a file, and read or map what it has.

        Raises:
            SettingsError: There is none, or it is not what it must be.
        """
        if name not in CONTROL or name == "link_external_force":
            allowed = CONTROL[:3]
            raise SettingsError(f"inputs: {name!r} is not one of {', '.join(allowed)}{did_you_mean(name, allowed)}")
        if not path.is_file():
            raise SettingsError(f"inputs: {path}: there is no such file")
        if path.suffix == ".npz":
            with open_npz(path, "inputs") as file:
                return cls(name, path, file.read({name: Entry("iuf", SHAPES)})[name])
        if path.suffix == ".npy":
            values = np.load(path, mmap_mode="r", allow_pickle=False)
            if values.ndim not in (2, 3) or values.dtype.kind not in "iuf":
                raise SettingsError(f"inputs: {path}: has shape {values.shape}, must be (runs, steps, rows) of numbers")
            return cls(name, path, values)
        if path.suffix != ".parquet":
            raise SettingsError(f"inputs: {path}: the name must end in .npz, .npy or .parquet")
        columns = parquet("inputs").read_schema(path).names
        if wrong := [column for column in ("run", "step") if column not in columns]:
            raise SettingsError(f"inputs: {path}: has no column {wrong[0]!r}")
        return cls(name, path)

    def given(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of some dofs that have values."""
        if self.values is not None:
            return tuple(names)
        columns = parquet("inputs").read_schema(self.path).names
        return tuple(name for name in names if name in columns)

    def check(self, runs: int, simulation: Simulation) -> None:
        """Refuse values of too few runs, or of other rows than a scene has."""
        names = simulation.joint_names
        if self.values is None:
            columns = set(parquet("inputs").read_schema(self.path).names) - {"run", "step"}
            if unknown := sorted(columns - set(names)):
                raise SettingsError(
                    f"inputs: {self.path}: no dof is called {unknown[0]!r}{did_you_mean(unknown[0], names)}"
                )
            return
        if self.values.shape[-1] != len(names):
            raise SettingsError(f"inputs: {self.path}: has {self.values.shape[-1]} rows, there are {len(names)} dofs")
        if self.values.ndim == 3 and len(self.values) < runs:
            raise SettingsError(f"inputs: {self.path}: has {len(self.values)} runs, {runs} are needed")

    def of(self, runs: np.ndarray, simulation: Simulation) -> np.ndarray:
        """The values of chosen runs, shape (steps, runs, rows)."""
        if self.values is None:
            return self._from_parquet(runs, simulation)
        values = self.values if self.values.ndim == 2 else self.values[runs]
        found = np.asarray(values, float)
        return np.repeat(found[:, None], len(runs), axis=1) if found.ndim == 2 else found.transpose(1, 0, 2)

    def _from_parquet(self, runs: np.ndarray, simulation: Simulation) -> np.ndarray:
        limits = [("run", ">=", int(runs.min())), ("run", "<=", int(runs.max()))]
        table = parquet("inputs").read_table(self.path, filters=limits)
        own, step = (table[name].to_numpy().astype(int) for name in ("run", "step"))
        steps = int(step.max()) + 1 if len(step) else 0
        authored = getattr(simulation.control, self.name).numpy().T[: len(runs)]
        found = np.repeat(authored[None].astype(float), max(steps, 1), axis=0)
        given = np.zeros((len(runs), steps), int)
        order = {int(run): place for place, run in enumerate(runs)}
        chosen = np.array([order.get(int(run), -1) for run in own], int)
        is_own = chosen >= 0
        np.add.at(given, (chosen[is_own], step[is_own]), 1)
        if not (given == 1).all() or not steps:
            run = int(runs[np.argmax((given != 1).any(axis=1))]) if steps else int(runs[0])
            raise SettingsError(f"inputs: {self.path}: run {run} has not one row for each of {steps} steps")
        for name in set(table.column_names) - {"run", "step"}:
            row = simulation.joint_names.index(name)
            found[step[is_own], chosen[is_own], row] = table[name].to_numpy()[is_own]
        return found

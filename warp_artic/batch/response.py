"""How numbers that steps read depend on what is varied on a stage.

The stage is read with other values of each varied attribute, which tells what it acts on, in any unit and schema. Where
numbers are then affine in the values,
    number = offset + sum over columns of slope * value
runs are not read from the stage; that this holds is tested by reading the stage at the ends of the distributions,
between them and as it is in some runs. Else each run is read from the stage, which takes as long as reading it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.batch.columns import VariedColumn
from warp_artic.description.scene import Scene
from warp_artic.errors import ArticError, SettingsError, StageError
from warp_artic.sim.change.numbers import SceneNumbers
from warp_artic.sim.revise import same_over_time, same_structure
from warp_artic.solver.settings import SolverSettings
from warp_artic.usd.vary import Place, VariedStage

ROUNDING = {"float32": 0.5e-7, "float64": 4e-15}
"""Share of a number by which one that is computed may miss the one that is read."""


@dataclass(frozen=True, eq=False)
class Response:
    """The numbers that differ from run to run."""

    columns: tuple[VariedColumn, ...]
    reader: Reader
    places: np.ndarray
    """Of the numbers, in `SceneNumbers`."""
    offset: np.ndarray
    slope: np.ndarray
    """Shape (places, columns)."""
    is_affine: bool
    """Whether slopes say all; else runs are read from the stage."""

    def numbers(self, values: np.ndarray) -> np.ndarray:
        """The numbers of runs with such values (runs, columns), shape (places, runs).

        Raises:
            StageError: A run cannot be simulated with its values.
        """
        if self.is_affine:
            found = np.tile(self.offset[:, None], len(values))
            for column in range(values.shape[1]):  # a product of matrices would depend on how many runs there are
                rows = np.flatnonzero(self.slope[:, column])
                found[rows] += self.slope[rows, column, None] * values[:, column]
            return found
        found = np.stack([self.reader.numbers(self.columns, row) for row in values], axis=1)
        return found[self.places]


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads the numbers of a stage with other values."""

    stage: VariedStage
    given: SolverSettings
    scene_numbers: SceneNumbers
    base: Mapping[Place, float]
    """Of attributes that have no finite value as authored: what they have in the scene of `scene_numbers`."""

    def numbers(self, columns: Sequence[VariedColumn], values: np.ndarray) -> np.ndarray:
        """All numbers, with columns that have such values.

        Raises:
            StageError: The stage cannot be simulated with them.
            SettingsError: Something else than numbers would differ.
        """
        authored = {column.place: float(value) for column, value in zip(columns, values) if column.place is not None}
        found = self.scene_numbers.authored.copy()
        if authored:
            scene = self.stage.scene({**self.base, **authored})
            if not self.is_alike(scene):
                names = ", ".join(f"{place} = {value:g}" for place, value in list(authored.items())[:3])
                raise SettingsError(
                    f"{names}: changes an elastic body, which joints, limits, tendons or settings there are, or what "
                    "follows time samples; runs may differ in numbers only, or in variants"
                )
            found = self.scene_numbers.of(scene)
        for column, value in zip(columns, values):
            if column.place is None:
                found[column.number] = value - column.origin
        return found

    def is_alike(self, scene: Scene) -> bool:
        """Whether a scene can be simulated in place of the one of the run."""
        run = self.scene_numbers.run
        are_settings_same = self.given.resolved(scene) == run.settings
        return are_settings_same and same_structure(run, scene) and same_over_time(run.scene, scene)


def response_of(columns: tuple[VariedColumn, ...], reader: Reader, table: np.ndarray) -> Response:
    """Find out how numbers depend on columns, of which `table` has the values in some runs.

    Raises:
        SettingsError, StageError: A column acts on nothing, or has values that are not allowed.
    """
    authored = reader.scene_numbers.authored
    ends = np.array([_kept(reader, column) for column in columns]).reshape(-1, 2)
    base = np.array([reader.base.get(column.place, column.authored) for column in columns], float)
    slopes, touched = np.zeros((len(authored), len(columns))), np.zeros(len(authored), bool)
    for k, column in enumerate(columns):
        if column.place is None:
            slopes[column.number, k] = 1.0
            touched[column.number] = True
            continue
        other = ends[k, 1] if ends[k, 1] != base[k] else ends[k, 0]
        if other == base[k]:
            continue
        found = _tried(reader, [column], np.array([other]), column)
        moved = _differ(authored, found)
        if not moved.any():
            raise StageError(f"{column.place}: nothing that is simulated depends on it; see `warp-artic inspect`")
        touched |= moved
        with np.errstate(invalid="ignore"):
            slopes[moved, k] = (found[moved] - authored[moved]) / (other - base[k])
    response = _fitted(columns, reader, base, slopes, touched)
    return _tested(response, reader, ends, table)


def _fitted(columns, reader: Reader, base: np.ndarray, slopes: np.ndarray, touched: np.ndarray) -> Response:
    start = reader.scene_numbers.authored
    places = np.flatnonzero(touched)
    slope = slopes[places]
    is_finite = bool(np.isfinite(slope).all() and np.isfinite(start[places]).all())
    offset = start[places] - slope @ base if is_finite else start[places]
    # A number that is proportional to one value has no offset but by rounding.
    size = np.abs(start[places]) + np.abs(slope) @ np.abs(base) if is_finite else offset
    offset = np.where(np.abs(offset) <= 1e-14 * size, 0.0, offset)
    for k, column in enumerate(columns):
        if column.place is None:  # a parameter or a start goes before what the stage says
            own = places == column.number
            offset[own], slope[own] = -column.origin, np.arange(len(columns)) == k
    return Response(tuple(columns), reader, places, offset, slope, is_finite)


def _tested(response: Response, reader: Reader, ends: np.ndarray, table: np.ndarray) -> Response:
    """The response, or one that reads runs, where reading the stage says something else."""
    columns = response.columns
    if all(column.place is None for column in columns):
        return response
    middle = _rounded(reader, columns, ends.mean(axis=1))
    mixed = np.where(np.arange(len(columns)) % 2, ends[:, 0], ends[:, 1])
    precision = reader.scene_numbers.run.settings.precision
    places, is_affine = response.places, response.is_affine
    for name, values in (("least values", ends[:, 0]), ("largest values", ends[:, 1]), ("values", middle), ("", mixed)):
        found = _tried(reader, columns, values, name or "mixed values")
        places, is_affine = _compare(response, found, values, precision, places, is_affine)
    for run, values in enumerate(table):
        found = _tried(reader, columns, values, f"run {run}")
        places, is_affine = _compare(response, found, values, precision, places, is_affine)
    if is_affine:
        return response
    return Response(columns, reader, places, np.zeros(0), np.zeros((0, len(columns))), False)


def _compare(response: Response, found, values, precision, places, is_affine):
    """The places that differ from what is authored, with those of before, and whether the response says the same."""
    moved = np.flatnonzero(_differ(found, response.reader.scene_numbers.authored))
    union = np.union1d(places, moved)
    if not is_affine or len(union) > len(response.places):
        return union, False
    said = response.numbers(values[None])[:, 0]
    read = found[response.places]
    return union, bool((np.abs(said - read) <= ROUNDING[precision] * np.abs(read)).all())


def _rounded(reader: Reader, columns: Sequence[VariedColumn], values: np.ndarray) -> np.ndarray:
    """Values as their attributes keep them."""
    found = values.copy()
    for k, column in enumerate(columns):
        if column.place is not None:
            found[k] = reader.stage.rounded(column.place, values[k : k + 1])[0]
    return found


def _kept(reader: Reader, column: VariedColumn) -> np.ndarray:
    """The least and the largest value of a column as its attribute keeps them."""
    ends = np.array(column.ends)
    return ends if column.place is None else reader.stage.rounded(column.place, ends)


def _tried(reader: Reader, columns, values: np.ndarray, what: object) -> np.ndarray:
    """The numbers with some values; an error names what was tried."""
    try:
        return reader.numbers(columns, values)
    except ArticError as error:
        name = f"{what.place} = {values[0]:g}" if isinstance(what, VariedColumn) else f"{what} of what is varied"
        raise type(error)(f"{error}" if str(error).startswith(f"{name}:") else f"{name}: {error}") from None


def _differ(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (one != other) & ~(np.isnan(one) & np.isnan(other))

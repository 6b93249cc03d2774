"""What a plan varies on a stage: a column for each number that runs have for themselves, and its values.

A column has a draw of its own, or shares one; the operation makes a value of it and of what is authored, in the units
of the stage for attributes and in SI units for parameters and starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.batch.distributions import Distribution, sobol
from warp_artic.batch.philox import uniforms
from warp_artic.batch.plan import Plan, Vary, name_of
from warp_artic.errors import SettingsError, StageError, did_you_mean
from warp_artic.sim.arrays.failures import owners_of_rows
from warp_artic.sim.arrays.views import MOTION, PARAMETERS, ROW_COUNTS
from warp_artic.sim.change.numbers import SceneNumbers
from warp_artic.usd.vary import Place, VariedStage

TARGETS_OF_DRIVES = ("drive_position_target", "drive_velocity_target", "joint_effort")


@dataclass(frozen=True)
class VariedColumn:
    """One number that differs from run to run."""

    vary: Vary
    name: str
    """How tables call it."""
    draw: str
    """What its draw goes by; columns of one variable that vary together have the same."""
    prim: str
    authored: float | None
    """None where there is no finite value."""
    place: Place | None = None
    """Where it is on the stage; None for parameters and starts."""
    number: int = -1
    """Of a parameter or a start: its place in `SceneNumbers`."""
    origin: float = 0.0
    """What is taken off its value there."""

    @property
    def distribution(self) -> Distribution:
        """Of its draws."""
        return Distribution.of(self.name, self.vary.distribution)

    def value(self, drawn: np.ndarray) -> np.ndarray:
        """What draws make of the authored value."""
        if self.vary.operation == "add":
            return self.authored + drawn
        return self.authored * drawn if self.vary.operation == "scale" else drawn

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value."""
        found = self.value(np.array(self.distribution.bounds))
        return float(found.min()), float(found.max())


def attribute_columns(plan: Plan, stage: VariedStage) -> tuple[VariedColumn, ...]:
    """The columns of attributes, in the order of the plan and of the stage.

    Raises:
        StageError: A name matches nothing, or what it matches cannot be varied.
    """
    found = [column for vary in plan.vary if vary.kind == "attribute" for column in _of_attribute(vary, stage)]
    _refuse_twice(found)
    return tuple(found)


def array_columns(plan: Plan, stage: VariedStage, numbers: SceneNumbers) -> tuple[VariedColumn, ...]:
    """The columns of parameters and starts, in the order of the plan and of the scene.

    Raises:
        SettingsError, StageError: A name matches nothing, or what it matches cannot be varied.
    """
    kinds = ("parameter", "start")
    found = [column for vary in plan.vary if vary.kind in kinds for column in _of_array(vary, stage, numbers)]
    _refuse_twice(found)
    return tuple(found)


def drawn_values(plan: Plan, draws: Sequence[tuple[str, Vary]], first: int, last: int) -> dict[str, np.ndarray]:
    """Values of draws by what they go by, for runs first to last - 1."""
    varied = dict(draws)
    unique = {draw: Distribution.of(name_of(vary), vary.distribution) for draw, vary in varied.items()}
    evenly = [name for name, one in unique.items() if one.kind == "sobol"]
    points = sobol(len(evenly), plan.seed, evenly, first, last) if evenly else None
    runs, found = np.arange(first, last), {}
    grids = [vary for vary in plan.vary if "grid" in vary.distribution]
    for name, one in unique.items():
        if one.kind == "values":
            found[name] = np.array(one.numbers)[first:last]
        elif one.kind == "grid":
            place = next(k for k, vary in enumerate(grids) if vary is varied[name])
            repeated = int(np.prod(plan.grids[place + 1 :], dtype=int))
            found[name] = np.array(one.numbers)[runs // repeated % len(one.numbers)]
        elif one.kind == "sobol":
            found[name] = one.at(points[:, evenly.index(name)])
        elif one.kind == "constant":
            found[name] = np.array(one.numbers * len(runs))
        else:
            found[name] = one.at(uniforms(plan.seed, name, first, last))
    return found


def table_of(plan: Plan, columns: Sequence[VariedColumn], stage: VariedStage, first: int, last: int) -> np.ndarray:
    """The values of columns in runs first to last - 1, shape (runs, columns)."""
    draws = drawn_values(plan, [(column.draw, column.vary) for column in columns], first, last)
    found = np.zeros((last - first, len(columns)))
    for k, column in enumerate(columns):
        values = column.value(draws[column.draw])
        found[:, k] = values if column.place is None else stage.rounded(column.place, values)
    return found


def refuse_idle(plan: Plan, columns: Sequence[VariedColumn]) -> None:
    """Refuse variables that change nothing.

    Args:
        plan: What is to be run.
        columns: Those of all its stages.

    Raises:
        SettingsError: Nothing has what is varied, or all that has it is 0 and is scaled.
    """
    for vary in plan.vary:
        own = [column for column in columns if column.vary is vary]
        if not own and vary.kind != "variant":
            raise SettingsError(f"{name_of(vary)}: nothing on the stage has {vary.target}")
        if own and vary.operation == "scale" and not any(column.authored for column in own):
            raise SettingsError(f"{own[0].name}: is 0, which scale cannot change; set it, or author a value")


def _refuse_grids(columns: list[VariedColumn]) -> None:
    """A grid for each prim would be more combinations than a plan says it has."""
    draws = {column.draw for column in columns}
    if len(draws) > 1 and "grid" in columns[0].vary.distribution:
        raise SettingsError(
            f"{name_of(columns[0].vary)}: a grid is of one draw, and there are {len(draws)} prims; take "
            'draw = "together", or a [[vary]] for each prim'
        )


def _refuse_twice(columns: Sequence[VariedColumn]) -> None:
    places = [column.place or column.number for column in columns]
    for k, place in enumerate(places):
        if place in places[:k]:
            first = columns[places.index(place)]
            raise SettingsError(f"{columns[k].name}: is varied by {name_of(first.vary)} already")


def _of_attribute(vary: Vary, stage: VariedStage) -> list[VariedColumn]:
    name, found = name_of(vary), []
    matched = stage.matching(vary.prims)
    is_pattern = isinstance(vary.prims, str) and "*" in vary.prims
    having = [prim for prim in matched if vary.attribute in stage.attributes_of(prim)]
    if is_pattern and having:
        matched = tuple(having)
    for prim in matched:
        place = Place(prim, vary.attribute, vary.component)
        authored = stage.value(place)
        if vary.operation != "set" and (authored is None or not np.isfinite(authored)):
            raise StageError(f"{place}: is {authored}, which {vary.operation} cannot change; set it, or author a value")
        authored = authored if authored is not None and np.isfinite(authored) else None
        found.append(_column(vary, name, prim, prim, authored, place=place))
    _refuse_grids(found)
    return found


def _of_array(vary: Vary, stage: VariedStage, numbers: SceneNumbers) -> list[VariedColumn]:
    name, array = name_of(vary), vary.target
    allowed = MOTION if vary.kind == "start" else (*PARAMETERS, *TARGETS_OF_DRIVES)
    if array not in allowed:
        raise SettingsError(f"{vary.kind}: {array!r} is not one of {', '.join(allowed)}{did_you_mean(array, allowed)}")
    kind, size = ROW_COUNTS[array]
    places, origins = numbers.places(array)
    owners = _owners(numbers, kind)
    if size == 1 and vary.component is not None:
        raise SettingsError(f"{name}: has one number for each {kind}; component is {vary.component}, must be left out")
    components = [0] if size == 1 else [vary.component]
    if components == [None] or not 0 <= components[0] < size or (array == "root_pose" and components[0] > 2):
        most = 2 if array == "root_pose" else size - 1
        raise SettingsError(f"{name}: has {size} numbers for each {kind}; component must be 0 to {most}")
    chosen = set(_named(vary, owners, stage)) if vary.prims else set(owners)
    found = []
    for row, owner in enumerate(owners):
        if owner in chosen:
            place, origin = int(places[row, components[0]]), float(origins[row, components[0]])
            authored = float(numbers.authored[place]) + origin
            if vary.operation != "set" and not np.isfinite(authored):
                raise StageError(f"{owner}: {array} is {authored}, which {vary.operation} cannot change; set it")
            if (array, "xyz"[components[0]] if array == "gravity" else owner) in numbers.run.tracks:
                raise StageError(f"{owner}: {array} follows time samples, must have one value to be varied")
            prim = owner.partition(":")[0]
            found.append(_column(vary, name, owner, prim, authored, number=place, origin=origin))
    _refuse_grids(found)
    return found


def _column(vary: Vary, name: str, of: str, prim: str, authored: float | None, **where) -> VariedColumn:
    component = "" if vary.component is None else f"[{vary.component}]"
    draw = f"{name} {of}" if vary.draw == "each" else name
    return VariedColumn(vary, f"{name}:{of}{component}", draw, prim, authored, **where)


def _owners(numbers: SceneNumbers, kind: str) -> list[str]:
    """What the rows of a kind are of, in the order of the scene."""
    run = numbers.run
    if kind == "root":
        return list(run.names.root)
    found = [""] * sum(len(own) for own in run.order[kind])
    for member, order in zip(run.members, run.order[kind]):
        for row, owner in zip(order, owners_of_rows(run.scene.articulations[member.index])[kind]):
            found[row] = " on ".join(owner) if isinstance(owner, tuple) else str(owner)
    return found


def _named(vary: Vary, owners: list[str], stage: VariedStage) -> list[str]:
    """Those of rows that prims of a variable say, by their own name or by that of their prim."""
    texts = (vary.prims,) if isinstance(vary.prims, str) else vary.prims
    found: list[str] = []
    for text in texts:
        matched = {text} if text in owners else set(stage.matching(text))
        own = [owner for owner in owners if owner in matched or owner.partition(":")[0] in matched]
        if not own:
            raise StageError(f"{text}: nothing there has {vary.target}{did_you_mean(text, owners)}")
        found += own
    return found

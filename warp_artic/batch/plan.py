"""A plan of many runs: which stage, how many runs, what varies, what is kept. It is a file of TOML or made in Python.

stage = "arm.usda"
runs = 10_000
seed = 7
duration = 2.0

[[vary]]
prims = "/World/arm//*{isa:PhysicsRevoluteJoint}"
attribute = "drive:angular:physics:stiffness"
operation = "scale"
distribution = { log_uniform = [0.5, 2.0] }
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING

from warp_artic.batch.distributions import BY_INDEX, Distribution
from warp_artic.batch.outcome import Column, StopRule
from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.files.text import read_text
from warp_artic.sim.files.whole_file import path_of
from warp_artic.solver.settings import SolverSettings

if TYPE_CHECKING:
    from warp_artic.batch.engine import Report

OPERATIONS = ("set", "add", "scale")
DRAWS = ("each", "together")
TARGETS = ("attribute", "parameter", "start", "variant")
DEFAULT_SHARD = 8192
"""Most runs in a shard."""
DEFAULT_SUMMARY = ("final joint_position", "final joint_velocity")
FAILED = "failed"
"""In place of a slice: the runs that fail, which nobody knows before they do."""
SLICE = re.compile(r"\d*:\d*(:[1-9]\d*)?")
COLUMNS = ("run", "end_step", "status", "failure")
"""Of the table of runs, beside values and summary."""
LARGEST_COUNT = 2**31 - 1
NO_LIST = "vary: is not a list of Vary, such as [Vary(start=..., distribution=...)]"


def _names(where: str, given: object) -> tuple[str, ...]:
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) for one in given):
        raise SettingsError(f"{where}: is {given!r}, must be a list of names")
    return tuple(given)


@dataclass(frozen=True, kw_only=True)
class Vary:
    """A quantity that differs from run to run: one of `attribute`, `parameter`, `start` and `variant`."""

    distribution: Mapping
    """Its kind and values, such as {"uniform": [0.5, 2.0]}; see `Distribution`."""
    attribute: str | None = None
    """Of prims of the stage, in the units of the stage."""
    parameter: str | None = None
    """Of `Simulation.parameters` or a drive target of `Simulation.control`, in SI units and radians."""
    start: str | None = None
    """joint_position, joint_velocity, root_pose or root_velocity at the start, in SI units and radians."""
    variant: str | None = None
    """A variant set on a prim, such as /World/robot{hand}; the distribution is a choice of its variants."""
    prims: str | Sequence[str] = ()
    """Path expressions of OpenUSD, or paths; all prims that have rows of a parameter or a start by default."""
    component: int | None = None
    """Of a vector."""
    operation: str = "set"
    """One of OPERATIONS, on what is authored."""
    draw: str = "each"
    """"each": a draw for each prim; "together": one draw for all."""
    name: str = ""
    """Key of the random draws, beside the seed; by default derived from what is varied."""

    @property
    def target(self) -> str:
        """What is varied."""
        return self.attribute or self.parameter or self.start or self.variant or ""

    @property
    def kind(self) -> str:
        """Which of TARGETS."""
        return next(kind for kind in TARGETS if getattr(self, kind) is not None)


@dataclass(frozen=True, kw_only=True)
class Record:
    """Which motion of runs is recorded."""

    quantities: Sequence[str] = ()
    """Names of arrays of a `Recording`, root_pose and root_velocity; none by default."""
    every: int = 1
    """Steps from one record to the next; summaries and stop conditions are evaluated at these steps."""
    runs: str = ":"
    """Runs whose motion is recorded, as a slice of their indices such as "0:1000"; or "failed", those that fail."""

    def __post_init__(self):
        object.__setattr__(self, "quantities", _names("record: quantities", self.quantities))

    @property
    def of_failed(self) -> bool:
        """Whether the motion of runs that fail is recorded, and no other."""
        return self.runs == FAILED

    def slice(self) -> slice:
        """The indices of runs whose motion may be kept: all runs where failed ones are kept."""
        if self.of_failed:
            return slice(None)
        return slice(*(int(part) if part.strip() else None for part in self.runs.split(":")))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Many runs of a stage.

    Arguments that are not given have the defaults of `warp-artic simulate`.

    Raises:
        SettingsError: A value is not allowed.
    """

    stage: str
    """A USD file; relative paths are relative to the folder of the plan."""
    runs: int | None = None
    """By default the number of combinations of grids and lists of values."""
    seed: int = 0
    duration: float | None = None
    """[s]; or `steps`."""
    steps: int | None = None
    settings: Mapping = field(default_factory=dict)
    """Fields of `SolverSettings`."""
    dialects: Sequence[str] = ()
    """As `read_stage` has them."""
    vary: Sequence[Vary] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    """By the names of arrays of `Simulation.control`, files with values for each run and step; see `batch.inputs`."""
    record: Record = Record()
    summary: Sequence[str] = DEFAULT_SUMMARY
    """Columns of the table of runs, such as "final joint_position" or "max abs joint_velocity"."""
    stop: str | None = None
    """Condition that ends a run, such as "root_pose[2] < 0.3"."""
    shard: int | None = None
    """Largest number of runs that are stepped and written together; by default 8192, or fewer if records are large."""
    folder: str = "."
    """What relative paths start from."""

    def __post_init__(self):
        if not isinstance(self.vary, (list, tuple)):
            raise SettingsError(NO_LIST)
        object.__setattr__(self, "vary", tuple(self.vary))
        for name in ("dialects", "summary"):
            object.__setattr__(self, name, _names(name, getattr(self, name)))
        object.__setattr__(self, "stage", _path("stage", self.stage))
        object.__setattr__(self, "inputs", {k: _path(f"inputs: {k}", one) for k, one in self.inputs.items()})
        if not all(isinstance(one, Vary) for one in self.vary):
            raise SettingsError(NO_LIST)
        _check_counts(self)
        for vary in self.vary:
            _check_vary(vary)
        names = [name_of(vary) for vary in self.vary]
        if twice := {name for name in names if names.count(name) > 1}:
            raise SettingsError(f"vary: {min(twice)!r} is there twice; give each a name of its own")
        for text in self.summary:
            Column.of(text)
        if self.stop is not None:
            StopRule.of(self.stop)
        self.solver_settings  # noqa: B018
        if self.run_count < 1:
            raise SettingsError("runs: is missing, and no grid and no list of values says how many")

    @property
    def run_count(self) -> int:
        """Number of runs."""
        if self.runs is not None:
            return self.runs
        counts = self._list_lengths()
        return counts[0] if counts else self.grid_size if self.grids else 0

    @property
    def grids(self) -> tuple[int, ...]:
        """Number of values of each variable with a grid, in order."""
        found = (Distribution.of(name_of(vary), vary.distribution) for vary in self.vary)
        return tuple(len(one.numbers) for one in found if one.kind == "grid")

    @property
    def grid_size(self) -> int:
        """Number of combinations of the grids."""
        size = 1
        for count in self.grids:
            size *= count
        return size

    @property
    def solver_settings(self) -> SolverSettings:
        """How steps are made."""
        allowed = {one.name for one in fields(SolverSettings)}
        for name in self.settings:
            if name not in allowed:
                raise SettingsError(
                    f"settings: {name!r} is not one of {', '.join(sorted(allowed))}{did_you_mean(name, allowed)}"
                )
        given = dict(self.settings)
        for name in ("dt", "sleep_after"):
            if isinstance(given.get(name), str):
                given[name] = _fraction(f"settings: {name}", given[name])
        return SolverSettings(**given)

    @property
    def stage_path(self) -> Path:
        """The stage, from where the process is."""
        return Path(self.folder, self.stage)

    def moved(self) -> Plan:
        """The same plan for processes in other working directories."""
        return replace(self, folder=os.path.abspath(self.folder))

    def authored(self) -> dict:
        """The plan as plain values, without those that have their default."""
        found: dict = {}
        for one in fields(self):
            value = getattr(self, one.name)
            default = one.default if one.default is not MISSING else {}
            if one.name != "folder" and value is not None and value != default:
                found[one.name] = value
        if "vary" in found:
            kept = ({k: v for k, v in asdict(one).items() if v not in (None, (), "")} for one in self.vary)
            found["vary"] = [one | {"distribution": dict(one["distribution"])} for one in kept]
        if "record" in found:
            found["record"] = asdict(self.record)
        if "summary" in found:
            found["summary"] = {"columns": list(self.summary)}
        if "stop" in found:
            found["stop"] = {"when": self.stop}
        return json.loads(json.dumps(found, default=lambda value: value.tolist()))  # arrays and numbers of NumPy

    def to_toml(self) -> str:
        """The text of a file with this plan."""
        found = self.authored()
        tables = {
            name: found.pop(name) for name in ("settings", "inputs", "record", "summary", "stop") if name in found
        }
        varied = found.pop("vary", [])
        lines = [f"{key} = {_toml(value)}" for key, value in found.items()]
        for name, table in tables.items():
            lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
        for one in varied:
            lines += ["", "[[vary]]", *(f"{key} = {_toml(value)}" for key, value in one.items())]
        return "\n".join(lines) + "\n"

    def run(self, output: str | os.PathLike, **options) -> Report:
        """Step all runs and write the results to a folder; see `batch.engine.run_plan` for the options."""
        from warp_artic.batch.engine import run_plan

        return run_plan(self, output, **options)

    def _list_lengths(self) -> list[int]:
        found = (Distribution.of(name_of(vary), vary.distribution) for vary in self.vary)
        return [len(one.numbers) for one in found if one.kind == "values"]


def read_plan(path: str | os.PathLike) -> Plan:
    """Read a plan from a .toml or .json file.

    Raises:
        SettingsError: It cannot be read, or something in it is not allowed.
    """
    path = path_of(path)
    try:
        text = read_text(path)
        given = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path}: is no {'JSON' if path.suffix == '.json' else 'TOML'}: {error}") from None
    try:
        return plan_of(given, str(path.parent))
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def plan_of(given: Mapping, folder: str = ".") -> Plan:
    """Make a plan from the content of a file."""
    if not isinstance(given, Mapping):
        raise SettingsError("is no table of names and values")
    given = dict(given)
    _refuse_unknown("", given, [one.name for one in fields(Plan) if one.name != "folder"])
    if not isinstance(given.get("stage"), str):
        raise SettingsError(f"stage: is {given.get('stage')!r}, must be the name of a USD file")
    varied = given.get("vary", [])
    if not isinstance(varied, list) or not all(isinstance(one, Mapping) for one in varied):
        raise SettingsError("vary: must be tables, each of which begins with [[vary]]")
    for one in varied:
        _refuse_unknown("vary: ", one, [one.name for one in fields(Vary)])
        if "distribution" not in one:
            raise SettingsError("vary: a table has no distribution")
    given["vary"] = tuple(Vary(**{k: tuple(v) if isinstance(v, list) else v for k, v in one.items()}) for one in varied)
    for name in ("settings", "inputs", "record", "summary", "stop"):
        if not isinstance(given.get(name, {}), Mapping):
            raise SettingsError(f"{name}: must be a table, which begins with [{name}]")
    if "record" in given:
        _refuse_unknown("record: ", given["record"], [one.name for one in fields(Record)])
        given["record"] = Record(**given["record"])
    for name, key in (("summary", "columns"), ("stop", "when")):
        if name in given:
            _refuse_unknown(f"{name}: ", given[name], [key])
            if key not in given[name]:
                raise SettingsError(f"{name}: has no {key}")
            given[name] = given[name][key]
    return Plan(**given, folder=folder)


def name_of(vary: Vary) -> str:
    """The key of the random draws of a variable."""
    return vary.name or vary.target


def _check_counts(plan: Plan) -> None:
    for name, least in (("runs", 1), ("steps", 0), ("seed", 0), ("shard", 1)):
        value = getattr(plan, name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < least):
            raise SettingsError(f"{name}: {value!r} is not an integer of at least {least}")
        if value is not None and name != "seed" and value > LARGEST_COUNT:
            raise SettingsError(f"{name}: {value} is more than {LARGEST_COUNT}")
    if (plan.duration is None) == (plan.steps is None):
        raise SettingsError("duration: one of duration and steps is needed")
    is_number = isinstance(plan.duration, Real) and not isinstance(plan.duration, bool)
    if plan.duration is not None and not (is_number and 0 <= plan.duration < 1e12):
        raise SettingsError(f"duration: {plan.duration!r} is not a time of at least 0")
    every = plan.record.every
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise SettingsError(f"record: every is {every!r}, must be an integer of at least 1")
    runs = plan.record.runs
    if not isinstance(runs, str) or (runs != FAILED and not SLICE.fullmatch(runs)):
        raise SettingsError(f"record: runs is {runs!r}, must be a slice such as 0:1000, or failed")
    if runs != ":" and not plan.record.quantities:
        raise SettingsError(f"record: runs is {runs!r}, and no quantities are recorded")
    lengths, size = plan._list_lengths(), plan.grid_size
    if len(set(lengths)) > 1:
        raise SettingsError(f"vary: lists of values have {' and '.join(map(str, lengths))} values, must have as many")
    if plan.runs is not None and lengths and plan.runs > lengths[0]:
        raise SettingsError(f"runs: {plan.runs} is more than the {lengths[0]} values of a list")
    if plan.grids and plan.run_count < size:
        raise SettingsError(f"runs: {plan.run_count} is fewer than the {size} combinations of the grids")


def _check_vary(vary: Vary) -> None:
    given = [kind for kind in TARGETS if getattr(vary, kind) is not None]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise SettingsError(f"vary: one of {', '.join(TARGETS)} is needed, there is {found}")
    where = name_of(vary)
    if not isinstance(vary.target, str) or not vary.target:
        raise SettingsError(f"vary: {given[0]} is {vary.target!r}, must be a name")
    if not isinstance(where, str) or where in COLUMNS:
        raise SettingsError(f"vary: name is {where!r}, must be a word other than {', '.join(COLUMNS)}")
    _names(f"{where}: prims", (vary.prims,) if isinstance(vary.prims, str) else vary.prims)
    for name, allowed in (("operation", OPERATIONS), ("draw", DRAWS)):
        value = getattr(vary, name)
        if value not in allowed:
            raise SettingsError(f"{where}: {name} {value!r} is not one of {', '.join(allowed)}")
    distribution = Distribution.of(where, vary.distribution)
    words = any(isinstance(one, str) for one in distribution.numbers)
    is_variant = vary.kind == "variant"
    if is_variant and (distribution.kind not in ("choice", "constant", *BY_INDEX) or not words):
        raise SettingsError(f"{where}: the distribution of variants must be a choice, a grid or values of their names")
    if words and not (is_variant and all(isinstance(one, str) for one in distribution.numbers)):
        raise SettingsError(f"{where}: {distribution.kind} has words, must have numbers")
    if vary.kind == "attribute" and not vary.prims:
        raise SettingsError(f"{where}: prims is missing: a path, a path expression or a list of them")
    if vary.component is not None and (isinstance(vary.component, bool) or not isinstance(vary.component, int)):
        raise SettingsError(f"{where}: component is {vary.component!r}, must be an integer")


def _refuse_unknown(where: str, given: Mapping, allowed: Sequence[str]) -> None:
    for name in given:
        if name not in allowed:
            raise SettingsError(f"{where}{name!r} is not one of {', '.join(allowed)}{did_you_mean(name, allowed)}")


def _path(where: str, given: object) -> str:
    if not isinstance(given, (str, os.PathLike)):
        raise SettingsError(f"{where}: is {given!r}, must be the name of a file")
    return os.fspath(given)


def _fraction(where: str, text: str) -> float:
    above, slash, below = text.partition("/")
    try:
        return float(above) / float(below) if slash else float(text)
    except (ValueError, ZeroDivisionError):
        raise SettingsError(f"{where} is {text!r}, must be a number such as 0.005 or 1/240") from None


def _toml(value: object) -> str:
    """A value as TOML writes it; strings, numbers and truth values are those of JSON."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)

"""The folder of a batch, which is all that is known of it:

    plan.toml            the plan
    plan.json            the same in full, with digests of the stage, of the inputs and of the package
    runs/part-000000000-000008192.parquet           a row for each of the runs 0 to 8191
    trajectories/part-000000000-000008192.parquet   their records, written before

A shard is done when its table of runs is there: it is written last, whole, and says which batch it is of and what its
trajectories must be. So a batch that was stopped goes on where it was, whoever was killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from warp_artic.batch.files import FORMATS, Table, digest_of, has_parquet, read_metadata, read_table, write_table
from warp_artic.batch.object_path import Place, place_of, written
from warp_artic.batch.plan import Plan, plan_of
from warp_artic.errors import SettingsError, SolveError
from warp_artic.sim.files.whole_file import remove_left

NAME = re.compile(r"part-(\d{9,})-(\d{9,})(\.parquet|\.npz)")
LEFT = re.compile(r"\.plan\.json\..*")
"""What a writer of a new folder may leave that is killed."""
MAY_CHANGE = ("runs", "shard")
"""What may differ of a plan that goes on."""
RUNS, MOTION = "runs", "trajectories"


@dataclass(frozen=True)
class Shard:
    """Runs that are stepped and written together, first to last - 1."""

    first: int
    last: int

    @property
    def name(self) -> str:
        """Of its files, without the ending."""
        return f"part-{self.first:09d}-{self.last:09d}"


@dataclass(frozen=True)
class Store:
    """The files of a batch in a folder."""

    folder: Place
    format: str
    """One of FORMATS."""
    identity: str
    """The digest of what makes results what they are."""

    def changed(self, digests: dict[str, dict[str, str]]) -> list[str]:
        """What differs, in words, of the stage and the inputs since the batch was made."""
        return _other_content(_described(self.folder / "plan.json")["digests"], digests)

    def path(self, kind: str, shard: Shard) -> Place:
        """A file of a shard."""
        return self.folder / kind / (shard.name + FORMATS[self.format])

    def listed(self) -> list[Shard]:
        """The shards whose tables of runs are there, in order."""
        try:
            names = [found for one in (self.folder / RUNS).iterdir() if (found := NAME.fullmatch(one.name))]
        except FileNotFoundError:
            return []
        return sorted((Shard(int(one[1]), int(one[2])) for one in names), key=lambda one: (one.first, -one.last))

    def complete(self, every_byte: bool = False) -> list[Shard]:
        """Those that are whole; what is damaged, or has lost its trajectories, is taken away.

        Args:
            every_byte: Whether to compare all bytes with digests and checksums, and not sizes alone.
        """
        found = []
        for shard in self.listed():
            reason = self.damage(shard, every_byte)
            if reason:
                self.path(RUNS, shard).unlink(missing_ok=True)
            else:
                found.append(shard)
        return found

    def damage(self, shard: Shard, every_byte: bool) -> str:
        """What is wrong with the files of a shard; empty where nothing is.

        Raises:
            SettingsError: They are of another batch.
        """
        path, motion = self.path(RUNS, shard), self.path(MOTION, shard)
        try:
            about = read_metadata(path)
            if every_byte:
                read_table(path)
        except SettingsError as error:
            return str(error)
        if about.get("identity") != self.identity:
            raise SettingsError(f"{path}: is of another plan")
        expected = about.get("trajectories")
        if expected is None:
            return ""
        if not motion.is_file():
            return f"{motion}: is not there"
        if motion.stat().st_size != expected["bytes"]:
            return f"{motion}: has {motion.stat().st_size} bytes, had {expected['bytes']}"
        if every_byte and digest_of(motion) != expected["sha256"]:
            return f"{motion}: has other bytes than were written"
        return ""

    def commit(self, shard: Shard, runs: Table, motion: Table | None) -> None:
        """Write a shard: first its trajectories, then its table of runs.

        Raises:
            SolveError: It cannot be written, as where the disk is full.
        """
        about = dict(runs.metadata) | {"identity": self.identity, "first": shard.first, "last": shard.last}
        if motion is not None:
            path = self.path(MOTION, shard)
            write_table(path, motion)
            about["trajectories"] = {"bytes": path.stat().st_size, "sha256": digest_of(path)}
        write_table(self.path(RUNS, shard), Table(runs.columns, runs.fields, about))

    def tidy(self) -> None:
        """Remove what writers have left that were killed."""
        for kind in (RUNS, MOTION):
            place = self.folder / kind
            if isinstance(place, Path) and place.is_dir():  # an upload that is cut off leaves no object
                remove_left(place)

    def pending(self, runs: int, size: int, every_byte: bool = False) -> list[Shard]:
        """What is still to be done: shards of so many runs, without what is complete."""
        done = self.complete(every_byte)
        found, place = [], 0
        for shard in [*done, Shard(runs, runs)]:
            while place < min(shard.first, runs):
                last = min((place // size + 1) * size, shard.first, runs)
                found.append(Shard(place, last))
                place = last
            place = max(place, shard.last)
        return found


def create(plan: Plan, folder: str | os.PathLike, digests: dict[str, dict[str, str]]) -> Store:
    """The folder of a batch, which is made or gone on with.

    Raises:
        SettingsError: It has a batch of another plan, or something else.
    """
    folder = place_of(folder)
    content = {
        "plan": {name: value for name, value in plan.authored().items() if name not in MAY_CHANGE},
        "digests": digests,
        "version": version("warp-artic"),
    }
    identity = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    described = folder / "plan.json"
    if described.is_file():
        before = _described(described)
        if before["identity"] != identity:
            changed = ", ".join(_differences(before, content)) or "it was made by another version"
            raise SettingsError(f"{folder}: has runs of another plan: {changed}; choose another folder")
        store = Store(folder, before["format"], identity)
        if store.format == "parquet" and not has_parquet():
            raise SettingsError(f'{folder}: is in Parquet, which needs pyarrow: pip install "warp-artic[batch]"')
        is_described = before["runs"] >= plan.run_count
    elif folder.exists() and (not folder.is_dir() or any(not LEFT.fullmatch(one.name) for one in folder.iterdir())):
        raise SettingsError(f"{folder}: is there already, and is no batch")
    else:
        store, is_described = Store(folder, "parquet" if has_parquet() else "npz", identity), False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not is_described:
            about = content | {"identity": identity, "format": store.format, "runs": plan.run_count}
            about |= {"stage": os.path.abspath(plan.stage_path), "folder": os.path.abspath(plan.folder)}
            # It comes first: who is killed after it has a batch that goes on.
            _write_text(described, json.dumps(about, indent=1))
            _write_text(folder / "plan.toml", plan.to_toml())
        for kind in (RUNS, MOTION):
            (folder / kind).mkdir(exist_ok=True)
    except OSError as error:
        raise SolveError(f"{folder}: cannot be written: {error.strerror}") from None
    return store


def opened(folder: str | os.PathLike) -> tuple[Store, Plan]:
    """The files and the plan of a batch that is there.

    Raises:
        SettingsError: There is none.
    """
    folder = place_of(folder)
    if not (folder / "plan.json").is_file():
        raise SettingsError(f"{folder}: is no folder of a batch: it has no plan.json")
    about = _described(folder / "plan.json")
    given = dict(about["plan"]) | {"runs": about["runs"]}
    return Store(folder, about["format"], about["identity"]), plan_of(given, about["folder"])


def digests_of(layers: Iterable[dict[str, str]], inputs: dict[str, Path]) -> dict[str, dict[str, str]]:
    """What tells stages and inputs from others."""
    found: dict[str, str] = {}
    for one in layers:
        found |= one
    return {"stage": found, "inputs": {name: digest_of(path) for name, path in inputs.items()}}


def _described(path: Place) -> dict:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not all(name in found for name in ("identity", "format", "runs", "plan", "digests", "folder")):
            raise ValueError
        return found
    except (OSError, ValueError, RecursionError):
        raise SettingsError(f"{path}: is damaged, or not of a batch") from None


def _differences(before: dict, after: dict) -> list[str]:
    """What has changed, in words."""
    found = []
    for name in sorted({*before["plan"], *after["plan"]}):
        one, other = before["plan"].get(name), after["plan"].get(name)
        if one != other:
            found.append(f"{name} was {_short(one)} and is {_short(other)}")
    found += _other_content(before["digests"], after["digests"])
    if before.get("version") != after["version"]:
        found.append(f"the version was {before.get('version')} and is {after['version']}")
    return found


def _other_content(before: dict, after: dict) -> list[str]:
    return [
        f"{name} has other content"
        for kind in ("stage", "inputs")
        for name in sorted({*before[kind], *after[kind]})
        if before[kind].get(name) != after[kind].get(name)
    ]


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _write_text(path: Place, text: str) -> None:
    with written(path) as partial:
        partial.write_text(text, encoding="utf-8")

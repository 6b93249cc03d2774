"""The stages that others wrote: where they are, and what is used and reported of each.

`python -m tests.stages_elsewhere` writes the page `data/elsewhere.md`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warp_artic import Simulation
from warp_artic.sim.record.recording import Recording
from warp_artic.usd import tokens
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.read_stage import Inspection, inspect_stage

DATA = Path(__file__).parent / "data"
PAGE = DATA / "elsewhere.md"
NEWTON = importlib.util.find_spec("newton")  # not imported: only its assets are wanted
FASTEST = 1e3
"""No link is faster after a second [m/s or rad/s]."""
FIELDS = ("joint_position", "joint_velocity", "link_pose", "link_velocity", "energy")
HEAD = """# Stages from elsewhere, with Newton {version}

Written by `python -m tests.stages_elsewhere`; a test compares it with what is found. *Used* counts the authored
properties of physics families that are read, of all there are. *Reported* are errors (E), warnings (W) and notes
(N), by rule. *Speed* is the largest one of a link within one second, in m/s or rad/s.

| stage | links | dofs | drives | tendons | mimics | used | reported | speed |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Asset:
    """A stage in a collection."""

    collection: str
    path: Path
    name: str


@functools.cache
def assets() -> tuple[Asset, ...]:
    """All stages, by collection and name; those of Newton where it is installed."""
    folders = {"oracle": DATA / "oracle" / "stages", "mujoco": DATA / "mujoco"}
    if NEWTON is not None:
        root = Path(NEWTON.submodule_search_locations[0])
        folders["newton examples"] = root / "examples" / "assets"
        folders["newton tests"] = root / "tests" / "assets"
    found = []
    for collection, folder in folders.items():
        paths = sorted(folder.rglob("*.usd*"))
        found += [Asset(collection, path, path.relative_to(folder).as_posix()) for path in paths]
    return tuple(found)


@functools.cache
def inspection(asset: Asset) -> Inspection:
    """What is understood of a stage."""
    return inspect_stage(asset.path)


@functools.cache
def second(asset: Asset) -> Recording:
    """One second of a stage that can be read."""
    scene = inspection(asset).scene
    simulation = Simulation(scene, device="cpu")
    steps = round(1.0 / simulation.settings.dt)
    return simulation.record(steps, every=max(1, steps // 60))


def is_finite(recording: Recording) -> bool:
    """Whether all that is recorded is."""
    return all(np.isfinite(getattr(recording, name)).all() for name in FIELDS)


def speed(recording: Recording) -> float:
    """The largest of a link [m/s or rad/s]."""
    return float(np.abs(recording.link_velocity).max(initial=0.0))


def used(asset: Asset) -> tuple[int, int]:
    """How many of the authored properties of physics families are read, and how many there are."""
    stage = open_stage(asset.path)
    names = [name for prim in stage.Traverse() for name in prim.GetAuthoredPropertyNames()]
    own = [name for name in names if name.startswith(tokens.NAMESPACES)]
    rules = Counter(finding.rule for finding in inspection(asset).diagnostics)
    return len(own) - rules["attribute-not-used"] - rules["not-simulated"], len(own)


def row(asset: Asset) -> list[str]:
    """The cells of a stage in the table."""
    found = inspection(asset)
    rules = Counter((one.severity.value[0].upper(), one.rule) for one in found.diagnostics)
    reported = ", ".join(f"{kind} {rule} {count}" for (kind, rule), count in rules.items()) or "-"
    counts = ["-"] * 5
    if found.scene:
        trees = found.scene.articulations
        drives = sum(dof.drive is not None for tree in trees for dof in tree.dofs)
        tendons = sum(len(tree.tendon_names) for tree in trees)
        mimics = sum(len(tree.mimics) for tree in trees)
        counts = [str(n) for n in (len(found.scene.link_names), len(found.scene.dof_names), drives, tendons, mimics)]
    counted, every = used(asset)
    fast = f"{speed(second(asset)):.2g}" if found.scene else "-"
    return [f"{asset.collection}/{asset.name}", *counts, f"{counted} of {every}", reported, fast]


def newton_version() -> str:
    """Of the package that is installed; empty where there is none."""
    return "" if NEWTON is None else importlib.metadata.version("newton")


def page() -> str:
    """The page."""
    return HEAD.format(version=newton_version()) + "".join(f"| {' | '.join(row(asset))} |\n" for asset in assets())


if __name__ == "__main__":
    PAGE.write_text(page())

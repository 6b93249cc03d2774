"""Whether this machine has room for what `warp-artic simulate` records and bakes."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warp_artic.description.joint_guides import joint_guides
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.sim.record.recording import SHAPES
from warp_artic.sim.run.layout import named_entries

SHARE = 0.8
"""Of the memory that is free, what a run may take: others go on, and what is recorded is not all that it has."""
OF_NUMBER, OF_RECORD = 150, 16
"""Bytes that baking takes for a number in each frame, which USD keeps as a sample, and in each record (measured)."""
NUMBERS_OF_GUIDE = 14
"""What a guide of a joint has in each frame: two poses, of 7 numbers each."""
OF_COORDINATE = 48
"""The same for a coordinate of a node in each frame; USD keeps those of a body in one sample."""


@dataclass(frozen=True)
class Wanted:
    """What a run is to hold at once."""

    environments: int
    records: int
    """Of them, at most."""
    frames: int
    """Samples of a run layer, at most; 0 where none is written."""
    quantities: tuple[str, ...]
    is_double: bool
    is_joined: bool
    """Whether the recording is put together of several."""
    is_guided: bool = False
    """Whether the layer has guides of joints."""


def check_room(scene: Scene, wanted: Wanted) -> None:
    """Refuse a run whose recording, or the layer of it, this machine cannot hold beside what else it does."""
    there = free_memory()
    recorded, baked = bytes_needed(scene, wanted)
    if there is None or recorded + baked <= SHARE * there:
        return
    steps, environments = wanted.records - 1, wanted.environments
    run = (
        f"{float(steps):g} step{'s' * (steps != 1)} and {float(environments):g} environment{'s' * (environments != 1)}"
    )
    layer = f", and its run layer {baked / 1e9:.3g} GB" if baked else ""
    raise SettingsError(
        f"a recording of {run} takes {recorded / 1e9:.3g} GB{layer}; this machine has {there / 1e9:.3g} GB free, of "
        f"which {SHARE:.0%} may be used: use fewer of either, or write a run layer in --clips"
    )


def bytes_needed(scene: Scene, wanted: Wanted) -> tuple[float, float]:
    """What a recording takes, and what baking it takes."""
    rows = {
        "joint_names": len(scene.dof_names),
        "link_names": len(scene.link_names),
        **named_entries(scene),
        "mesh_nodes": sum(len(body.points) for body in scene.elastic_bodies),
        "mesh_tendon_names": len(scene.mesh_tendons),
    }
    counts = {
        name: math.prod(rows.get(size, 0) if isinstance(size, str) else size for size in SHAPES[name])
        for name in wanted.quantities
        if name in SHAPES  # contacts of many bodies are as many as there will be
    }
    numbers, coordinates = sum(counts.values()), counts.get("mesh_points", 0)
    size = (8 if wanted.is_double else 4) * (2 if wanted.is_joined else 1)
    recorded = float(wanted.records) * (size * wanted.environments * numbers + 8)
    if not wanted.frames:
        return recorded, 0.0
    guided = NUMBERS_OF_GUIDE * sum(1 for _ in joint_guides(scene)) if wanted.is_guided else 0
    per_frame = OF_NUMBER * (numbers - coordinates + guided) + OF_COORDINATE * coordinates
    return recorded, float(wanted.frames) * per_frame + float(wanted.records) * OF_RECORD * numbers


def free_memory() -> float | None:
    """Bytes that this process may still take without swapping, of the machine and of its control groups."""
    found = [*_of_machine(), *_of_groups()]
    return min(found) if found else None


def _of_machine() -> Iterator[float]:
    for line in _read(Path("/proc/meminfo")).splitlines():
        if line.startswith("MemAvailable:"):
            yield 1024.0 * int(line.split()[1])
            return
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        yield float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _of_groups(own: Path = Path("/proc/self/cgroup"), top: Path = Path("/sys/fs/cgroup")) -> Iterator[float]:
    """What the control group of this process, and those that it is in, leave of what they allow."""
    for line in _read(own).splitlines():
        kinds, _, path = line.partition(":")[2].partition(":")
        if kinds and "memory" not in kinds.split(","):
            continue
        most, used = ("memory.limit_in_bytes", "memory.usage_in_bytes") if kinds else ("memory.max", "memory.current")
        root, inside = top / "memory" if kinds else top, Path(path.lstrip("/"))
        # In a container the path may be that outside, and the group of the process is at the top.
        for folder in (root / part for part in (inside, *inside.parents)):
            limit, now = _read(folder / most).strip(), _read(folder / used).strip()
            if limit.isdigit() and now.isdigit():
                lines = map(str.split, _read(folder / "memory.stat").splitlines())
                cached = next((float(count) for name, count in lines if name == "inactive_file"), 0.0)
                yield max(0.0, float(limit) - float(now) + cached)


def _read(path: Path) -> str:
    """A small text, or nothing where there is none to be read."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""

"""What derivatives are taken of and by: names, shapes, and where the rows lie in the groups of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.arrays.rows import Rows
from warp_artic.sim.arrays.views import CONTROL, MOTION, PARAMETERS, ROW_COUNTS
from warp_artic.sim.derivatives.coordinates import joint_maps, root_maps
from warp_artic.sim.derivatives.twin import Twin
from warp_artic.sim.run.access import rows_of
from warp_artic.sim.run.state import Run

NOT_BY = ("sleep_threshold",)
"""Parameters that no motion depends on in a smooth way."""
SEEDED = (*MOTION, *CONTROL, *(name for name in PARAMETERS if name not in NOT_BY))
"""Quantities that derivatives are taken by."""
AXES = ("x", "y", "z", "rotX", "rotY", "rotZ")
"""Components of what has six: along axes and about them."""


@dataclass(frozen=True)
class Quantity:
    """An array of a run with a derivative by each of its numbers."""

    name: str
    count: int
    """Rows, such as dofs or links."""
    size: int
    """Numbers of each row; of poses of roots the six of a motion."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its numbers in one environment."""
        return (self.count,) if self.size == 1 else (self.count, self.size)

    @property
    def numbers(self) -> int:
        """How many there are in one environment."""
        return self.count * self.size


def quantity(run: Run, name: str, allowed: tuple[str, ...] = SEEDED) -> Quantity:
    """The quantity of a name.

    Raises:
        SettingsError: There is none, or it is not among those that are allowed.
    """
    if name not in allowed:
        raise SettingsError(f"{name!r} is not one of {', '.join(allowed)}{did_you_mean(name, allowed)}")
    kind, size = ROW_COUNTS[name]
    count = sum(len(own) for own in run.order[kind])
    return Quantity(name, count, 6 if name == "root_pose" else size)


def labels(run: Run, one: Quantity) -> tuple[str, ...]:
    """Names of the numbers of a quantity: array, what has the row, and the component where there are several."""
    kind, _ = ROW_COUNTS[one.name]
    known = {"dof": run.names.joint, "link": run.names.link, "root": run.names.root, **run.names.entries}
    rows = known.get(kind, ())
    if kind in ("mechanism", "articulation"):
        rows = tuple(tree.path for tree in run.scene.articulations)
    if len(rows) != one.count:
        rows = tuple(map(str, range(one.count)))
    if one.size == 1:
        return tuple(f"{one.name}:{row}" for row in rows)
    parts = AXES[: one.size] if one.size in (3, 6) else tuple(map(str, range(one.size)))
    return tuple(f"{one.name}:{row}:{part}" for row in rows for part in parts)


def seed(run: Run, twin: Twin, one: Quantity, values: np.ndarray) -> None:
    """Write derivatives of a quantity into a twin, shape (directions, E or 1, numbers), at the state of its start."""
    flat = values.transpose(2, 1, 0)
    if one.name == "root_pose":
        seed_roots(run, twin, flat)
        return
    for place, part, rows, own in places(run, one.name):
        columns = part.columns
        written = flat[rows]
        if one.name == "joint_position":
            written = _as_positions(twin, place, columns, own, written)
        twin.seed(place, one.name, own, columns, written)


def seed_each(run: Run, twin: Twin, by: Sequence[Quantity], first: int = 0) -> int:
    """Give each number of some quantities a direction of its own, in their order; the direction after the last one."""
    for one in by:
        if one.numbers:
            units = np.zeros((twin.directions, 1, one.numbers))
            units[first + np.arange(one.numbers), 0, np.arange(one.numbers)] = 1.0
            seed(run, twin, one, units)
        first += one.numbers
    return first


def seed_roots(run: Run, twin: Twin, flat: np.ndarray) -> None:
    """The same of poses of floating roots, given by motions of shape (6 * roots, E or 1, directions)."""
    for place, part, rows, own in places(run, "root_pose"):
        pose = twin.values(place, "root_pose")[:, part.columns]
        for map_ in root_maps(run.groups[place], pose):
            at = np.searchsorted(own, map_.first)
            if at == len(own) or own[at] != map_.first:
                continue
            motion = flat[6 * (rows[at] // 7) + np.arange(6)]
            motion = np.broadcast_to(motion, (6, pose.shape[1], motion.shape[2]))
            twin.seed(place, "root_pose", map_.first + np.arange(7), part.columns, map_.positions(motion))


def _as_positions(twin: Twin, place: int, columns: slice, own: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Changes of joint positions by motions along the axes of velocities."""
    position = twin.values(place, "joint_position")[:, columns]
    maps = joint_maps(twin.groups[place], position)
    if not maps:
        return motion
    changed = np.broadcast_to(motion, (len(motion), position.shape[1], motion.shape[2])).copy()
    order = {row: k for k, row in enumerate(own)}
    for map_ in maps:
        if map_.rows[0] in order:
            at = [order[row] for row in map_.rows]
            changed[at] = map_.positions(changed[at])
    return changed


def motions(run: Run, twin: Twin, name: str) -> np.ndarray:
    """Derivatives of one of MOTION, positions as motions, shape (directions, E, numbers)."""
    one = quantity(run, name, MOTION)
    found = np.zeros((one.numbers, run.environments, twin.directions))
    for place, part, rows, own in places(run, name):
        change = twin.derivatives(place, name)[own][:, part.columns].astype(float)
        if name == "joint_position":
            position = twin.values(place, name)[:, part.columns]
            order = {row: k for k, row in enumerate(own)}
            for map_ in joint_maps(twin.groups[place], position):
                if map_.rows[0] in order:
                    at = [order[row] for row in map_.rows]
                    change[at] = map_.motions(change[at])
        if name == "root_pose":
            pose = twin.values(place, name)[:, part.columns]
            for map_ in root_maps(run.groups[place], pose):
                at = np.searchsorted(own, map_.first)
                if at < len(own) and own[at] == map_.first:
                    found[6 * (rows[at] // 7) + np.arange(6)] = map_.motions(change[at : at + 7])
            continue
        found[rows] = change
    return found.transpose(2, 1, 0)


def values(run: Run, twin: Twin, name: str) -> np.ndarray:
    """Values of one of MOTION in a twin, shape (E, rows) or (E, roots, 7 or 6); places are those of the world."""
    rows = rows_of(run, name, range(len(run.members)))
    found = np.zeros((rows.count, run.environments))
    for place, part, own_rows, own in places(run, name):
        found[own_rows] = twin.values(place, name)[own][:, part.columns]
    _, size = ROW_COUNTS[name]
    found = found.T if size == 1 else found.T.reshape(run.environments, -1, size)
    if name == "root_pose":
        floating = [member for member in run.members if member.rows(name)]
        found[..., :3] += np.array([member.group.origins[member.place] for member in floating]).reshape(-1, 3)
    return found


@dataclass(frozen=True)
class Part:
    """A mechanism of a group."""

    columns: slice
    """Of the group of the run."""


def places(run: Run, name: str) -> Iterator[tuple[int, Part, np.ndarray, np.ndarray]]:
    """Where an array lies: group, mechanism, rows of the array, and rows of the field, which ascend."""
    rows: Rows = rows_of(run, name, range(len(run.members)))
    for place, table in enumerate(rows.tables):
        for mechanism in np.unique(table[:, 0]):
            own = table[table[:, 0] == mechanism]
            own = own[np.argsort(own[:, 1], kind="stable")]
            first = int(mechanism) * run.environments
            yield place, Part(slice(first, first + run.environments)), own[:, 2], own[:, 1]

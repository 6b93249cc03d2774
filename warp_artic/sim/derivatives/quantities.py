"""What derivatives are taken of and by: names, shapes, and where the rows lie in the groups of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.mechanisms.group import Group
from warp_artic.sim.arrays.rows import Rows
from warp_artic.sim.arrays.views import CONTROL, MOTION, PARAMETERS, ROW_COUNTS
from warp_artic.sim.derivatives.coordinates import Joints, Roots, as_motions, as_positions, joints_of, roots_of
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


def named(argument: str, names) -> tuple[str, ...]:
    """The names that an argument lists; a string is one name.

    Raises:
        SettingsError: It is no list.
    """
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Iterable):
        raise SettingsError(f"{argument}: {names!r} is no list of names")
    return tuple(names)


def mapped(argument: str, given) -> Mapping[str, object]:
    """What an argument maps names to, nothing where it is None.

    Raises:
        SettingsError: It is no mapping.
    """
    if not isinstance(given, Mapping | None):
        raise SettingsError(f"{argument}: a {type(given).__name__} is no mapping of names to arrays")
    return given or {}


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
    for layout in places(run, twin, one.name):
        place, columns = layout.place, layout.columns
        if one.name == "root_pose":
            motion = flat[6 * (layout.rows[::7, None] // 7) + np.arange(6)]
            pose = twin.values(place, one.name)[:, columns][layout.roots.rows]
            written = as_positions(layout.roots.matrices(layout.group, columns, pose), motion).reshape(
                len(layout.own), pose.shape[2], -1
            )
        else:
            written = flat[layout.rows]
        if one.name == "joint_position" and layout.joints:
            position = twin.values(place, one.name)[:, columns]
            written = np.broadcast_to(written, (len(written), position.shape[1], written.shape[2])).copy()
            for joints in layout.joints:
                at = np.searchsorted(layout.own, joints.rows)
                written[at] = as_positions(joints.matrices(layout.group, position[joints.rows]), written[at])
        if (layout.share < 1.0).any():
            own = np.unique(layout.own)
            written = np.tensordot((own[:, None] == layout.own) * layout.share, written, 1)
            twin.seed(place, one.name, own, columns, written)
            continue
        twin.seed(place, one.name, layout.own, columns, written)


def motions(run: Run, twin: Twin, one: Quantity) -> np.ndarray:
    """Derivatives of one of MOTION, positions as motions, shape (numbers, E, directions)."""
    name = one.name
    found = np.zeros((one.numbers, run.environments, twin.directions))
    for layout in places(run, twin, name):
        place, columns = layout.place, layout.columns
        change = twin.derivatives(place, name, layout.own, columns)
        if name == "root_pose":
            pose = twin.values(place, name)[:, columns][layout.roots.rows]
            matrices = layout.roots.inverses(layout.group, columns, pose)
            moved = as_positions(matrices, change.reshape(-1, 7, *change.shape[1:]))
            found[6 * (layout.rows[::7, None] // 7) + np.arange(6)] = moved
            continue
        if name == "joint_position" and layout.joints:
            position = twin.values(place, name)[:, columns]
            for joints in layout.joints:
                at = np.searchsorted(layout.own, joints.rows)
                change[at] = as_motions(joints.matrices(layout.group, position[joints.rows]), change[at])
        found[layout.rows] = change
    return found


def values(run: Run, twin: Twin, name: str) -> np.ndarray:
    """Values of one of MOTION in a twin, shape (E, rows) or (E, roots, 7 or 6); places are those of the world."""
    return values_of_records(run, name, places(run, twin, name), lambda place: twin.values(place, name)[None])[0]


def values_of_run(run: Run, name: str, parts: Iterable[Layout]) -> np.ndarray:
    """The same of a run itself, in float64; `parts` are the `layouts` of the array."""
    return values_of_records(run, name, parts, lambda place: run.groups[place].field(name).scalars.numpy()[None])[0]


def values_of_records(run: Run, name: str, parts: Iterable[Layout], records: Callable[[int], np.ndarray]) -> np.ndarray:
    """The same of records of the field of each group, (records, rows, columns or more); the records come first."""
    kind, size = ROW_COUNTS[name]
    found = None
    rows = size * sum(len(own) for own in run.order[kind])
    for layout in parts:
        own = records(layout.place)
        if found is None:
            found = np.zeros((len(own), run.environments, rows))
        found[:, :, layout.rows] = own[:, layout.own, layout.columns].transpose(0, 2, 1)
    if found is None:
        found = np.zeros((len(records(0)) if run.groups else 1, run.environments, rows))
    found = found if size == 1 else found.reshape(len(found), run.environments, -1, size)
    if name == "root_pose":
        floating = [member for member in run.members if member.rows(name)]
        found[..., :3] += np.array([member.group.origins[member.place] for member in floating]).reshape(-1, 3)
    return found


@dataclass(frozen=True)
class Layout:
    """Where the rows of an array lie that are of one mechanism."""

    place: int
    """Of its group."""
    group: Group
    """Of the run."""
    columns: slice
    """Of the group of the run."""
    rows: np.ndarray
    """Of the array."""
    own: np.ndarray
    """Of the field, which ascend."""
    share: np.ndarray
    """Of each the part that it has in its row of the field: one, or less where articulations have that in common."""
    joints: tuple[Joints, ...]
    """All of the mechanism with several rotations."""
    roots: Roots


def places(run: Run, twin: Twin, name: str) -> list[Layout]:
    """Where an array lies, for each mechanism, found once for a twin."""
    return twin.once(("places", name), lambda: list(layouts(run, name)))


def layouts(run: Run, name: str) -> Iterator[Layout]:
    """Where an array lies, for each mechanism."""
    rows: Rows = rows_of(run, name, range(len(run.members)))
    for place, table in enumerate(rows.tables):
        for mechanism in np.unique(table[:, 0]):
            own = table[table[:, 0] == mechanism]
            own = own[np.argsort(own[:, 1], kind="stable")]
            first = int(mechanism) * run.environments
            columns = slice(first, first + run.environments)
            group = run.groups[place]
            _, which, counts = np.unique(own[:, 1], return_inverse=True, return_counts=True)
            share = 1.0 / counts[which]
            yield Layout(place, group, columns, own[:, 2], own[:, 1], share, joints_of(group), roots_of(group))

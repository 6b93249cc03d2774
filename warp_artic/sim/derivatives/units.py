"""A direction for each number of a quantity: where the derivatives of fields that are not zero lie in a twin.

They are ones, or parts of one where articulations have a number in common, but of positions of joints with several
rotations, and of poses of roots: those are the matrices T of `coordinates`, at the present state. Where they lie is
found once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from warp_artic.sim.derivatives.coordinates import Joints, Roots
from warp_artic.sim.derivatives.quantities import Layout, Quantity, places
from warp_artic.sim.derivatives.twin import Twin
from warp_artic.sim.run.state import Run


@dataclass(frozen=True)
class Shares:
    """Derivatives that stay as they are."""

    at: np.ndarray
    """Where they lie, shape (rows, columns)."""
    of_rows: np.ndarray
    """What they are."""

    def values(self, twin: Twin) -> np.ndarray:
        """What they are."""
        return self.of_rows[:, None]


@dataclass(frozen=True)
class Matrices:
    """Derivatives of positions in a mechanism, by motions."""

    at: np.ndarray
    """Where they lie, shape (joints or roots, columns, positions, velocities)."""
    name: str
    layout: Layout
    of: Joints | Roots
    """Those of the mechanism."""

    def values(self, twin: Twin) -> np.ndarray:
        """T at the present values."""
        layout = self.layout
        present = twin.values(layout.place, self.name)[:, layout.columns][self.of.rows]
        if isinstance(self.of, Roots):
            return self.of.matrices(layout.group, layout.columns, present)
        return self.of.matrices(layout.group, present)


def seed_each(run: Run, twin: Twin, by: Sequence[Quantity], first: int = 0) -> int:
    """Give each number of some quantities a direction of its own, in their order; the direction after the last one."""
    for one in by:
        if one.numbers:
            for place, part in twin.once(("units", one, first), partial(_units, run, twin, one, first)):
                twin.write_at(place, one.name, part.at, part.values(twin))
        first += one.numbers
    return first


def _units(run: Run, twin: Twin, one: Quantity, first: int) -> list[tuple[int, Shares | Matrices]]:
    """Derivatives of the fields of a quantity, with their groups; `first` is the direction of its first number."""
    found = []
    for layout in places(run, twin, one.name):
        place, columns, rows, own = layout.place, layout.columns, layout.rows, layout.own
        each = np.arange(columns.start, columns.stop)
        if one.name == "root_pose":
            number = 6 * (rows[::7] // 7)[:, None] + np.arange(6)
            at = _at(twin, place, one.name, own.reshape(-1, 7), each, first + number)
            found.append((place, Matrices(at, one.name, layout, layout.roots)))
            continue
        at = twin.positions(place, one.name, own[:, None], each, (first + rows)[:, None])
        if one.name != "joint_position":
            found.append((place, Shares(at, layout.share)))
            continue
        of_row = np.full(own.max(initial=0) + 1, -1)
        of_row[own] = rows
        alone = ~np.isin(own, [row for joints in layout.joints for row in joints.rows.ravel()])
        found.append((place, Shares(at[alone], layout.share[alone])))
        for joints in layout.joints:
            at = _at(twin, place, one.name, joints.rows, each, first + of_row[joints.rows])
            found.append((place, Matrices(at, one.name, layout, joints)))
    return found


def _at(twin: Twin, place: int, name: str, rows: np.ndarray, columns: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Where the derivatives of some rows of joints (J, n) by directions (J, m) lie, shape (J, columns, n, m)."""
    return twin.positions(place, name, rows[:, None, :, None], columns[:, None, None], directions[:, None, None, :])

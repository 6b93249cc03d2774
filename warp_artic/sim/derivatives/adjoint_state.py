"""What steps depend on of the state of a group, and which of it has directions of its own.

A mechanism with V velocities has V positions, or one more for each floating root, and V velocities. A step with a
middle also reads the smooth accelerations a of the step before, in trees with drives their changes a', and in trees
that move freely those of the changes (`solver.history`), and the inputs (`solver.held_inputs`). Points of contact have
impulses and velocities of the step before (`constraints.contact_memory`), and trees what violent steps have given them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.mechanisms.group import Group

ACCELERATION, CHANGE = "smooth_acceleration", "acceleration_change"
INPUTS, INPUT_CHANGE = {"effort_before": "joint_effort", "force_before": "link_external_force"}, "input_change"
"""What steps read of the controls of the step before, and of what these have changed."""
ENERGY_GAIN = "energy_gain"
"""What steps of trees that move violently know of the energy that those before have given (`solver.violent_trees`)."""
BEARING = "bearing_impulse"
"""What sweeps begin with (`constraints.bearing_rows`); what a direct solution begins with does not change it."""
CONTACT_MEMORY = ("contact_impulse", "contact_velocity", "contact_bias")
"""What steps read of each point of contact in the step before, but for whether it was an impact."""
CONTACT_LEAD = "contact_lead"
"""What they read of it where there are drives."""


@dataclass(frozen=True)
class StateField:
    """Rows of the state of a group."""

    name: str
    place: slice
    """Among the rows of the adjoint, and among directions."""
    has_directions: bool = True
    """Whether derivatives by them are from directions of their own."""

    @property
    def rows(self) -> int:
        """How many."""
        return self.place.stop - self.place.start


def state_fields(group: Group, integrator: str, by: Iterable[str]) -> list[StateField]:
    """All of the state of a group that steps depend on in a smooth way; rows without directions come last.

    Controls of the step before are only what they are by themselves: they count where derivatives are `by` them.
    Friction in proportion to the load reads accelerations in any step. How smooth they were, steps only choose by.
    Changes have no directions where joints have one axis: then they follow (`AccelerationChanges`).
    """
    model, tree = group.arrays.model, group.tree
    joints, roots = tree.dof_count - tree.root_dofs, tree.root_dofs // 6
    tables = max(1 + model.driven, 3 * model.free_motion) if integrator == "midpoint" else model.load_friction
    counts = {"joint_position": joints, "joint_velocity": joints, "root_pose": 7 * roots, "root_velocity": 6 * roots}
    counts |= {name: 3 * tree.kinds["contact"] for name in CONTACT_MEMORY}
    counts[CONTACT_LEAD] = model.driven * tree.kinds["contact"]
    counts[BEARING] = (1 - model.innovations_only) * len(group.field(BEARING).scalars)
    counts[ENERGY_GAIN] = model.guards_trees * len(group.field(ENERGY_GAIN).scalars)
    if tables == 3:
        inputs = {"effort_before": joints, "force_before": 6 * tree.link_count}
        counts |= {name: rows for name, rows in inputs.items() if INPUTS[name] in by}
        counts[INPUT_CHANGE] = 2 * tree.dof_count
    counts[ACCELERATION] = tree.dof_count * min(tables, 1)
    counts[CHANGE] = tree.dof_count * max(tables - 1, 0)
    follows = tables == 2 and model.finite_rotations == 0 and model.load_friction == 0
    found, first = [], 0
    for name, count in counts.items():
        found.append(StateField(name, slice(first, first + count), not (follows and name == CHANGE)))
        first += count
    return found


@dataclass(frozen=True)
class AccelerationChanges:
    """Slopes by the changes a' of smooth accelerations a, which follow from those by a.

    Steps of driven islands read both in  v_M = v + h (a / 2 + 3 a' / 8)  alone, the second one where |a'| < |a| / 2
    (`solver.history.expect_middle`), and write  a'+ = a+ - a,  but for a'+ = 0 of trees whose velocities are changed
    because they move violently (`solver.violent_trees`).
    """

    group: Group
    is_read: np.ndarray
    """Of each dof one or zero, shape (V, 1)."""
    is_written: np.ndarray

    @classmethod
    def of(cls, group: Group) -> AccelerationChanges:
        """Those of a group."""
        model = group.arrays.model
        island = model.dof_island.numpy()[: group.tree.dof_count]
        driven, looped = (table.numpy()[island][:, None] for table in (model.island_is_driven, model.island_is_looped))
        return cls(group, driven * (1 - looped), driven)

    def slopes(self, by_acceleration: np.ndarray, after: np.ndarray, ends: Sequence[np.ndarray]) -> np.ndarray:
        """A^T lambda by a' before a step, from that by a, lambda by a' after it, and a+ and a'+, shape (V, columns)."""
        rows, columns = len(self.is_read), slice(self.group.columns.count)
        started, a, change = (
            self.group.state[name].scalars.numpy()[:rows, columns].astype(float)
            for name in ("started", ACCELERATION, CHANGE)
        )
        is_read = self.is_read * (np.abs(change) < 0.5 * np.abs(a))
        is_written = self.is_written * ((ends[1] != 0.0) | (ends[0] == a))
        return is_read * 0.75 * started[:1] * (by_acceleration + is_written * started[:1] * after)

"""Environments that have stopped, by name: what ran away, or what was written that is not allowed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.scene import Scene
from warp_artic.mechanisms.group import BY_BODY, Group
from warp_artic.mechanisms.public_rows import ALLOWED, KINDS_OF_ENTRIES, ROW_COUNTS, entry_names
from warp_artic.sim.arrays.views import Member

POSITIONS = ("root_pose", "joint_position")


@dataclass(frozen=True)
class Failure:
    """An environment that has stopped: a velocity or a position ran away, or what was written is not allowed."""

    environment: int
    articulation: str
    """Prim path of the articulation, or of the elastic body."""
    quantity: str
    """What has the first such velocity or value: a dof name, or the root; or a link, a tendon, a node and so on."""
    step: int
    """The step that it would have been, counted from 1; the environment keeps the state before it."""
    array: str = ""
    """The array of such a value, in `control` or `parameters`, or of a position; none where a velocity ran away; and
    "elastic_body" of an articulation that an elastic body is attached to which has stopped."""
    allowed: str = ""
    """What such a value must be."""

    def __str__(self) -> str:
        stopped = f"{self.articulation}: environment {self.environment} stopped at step {self.step}: "
        if self.array in (*POSITIONS, "points"):
            return f"{stopped}the position of {self.quantity} leaves the range of numbers"
        if self.array == "velocities":
            return f"{stopped}the velocity of {self.quantity} runs away"
        if self.array == BY_BODY:
            return f"{stopped}an elastic body that is attached to it has"
        if self.array:
            of = "" if self.quantity == self.articulation else f" of {self.quantity}"
            return f"{stopped}{self.array}{of} must be {self.allowed}"
        return f"{stopped}the velocity of {self.quantity} runs away"


def find_failures(scene: Scene, groups: Sequence[Group], members: Sequence[Member]) -> list[Failure]:
    """All environments that have stopped, from the arrays of the groups."""
    if not any(group.field("failure").scalars.numpy().any() for group in groups):
        return []
    found = []
    for member in members:
        numbers, steps = member.array("failure").numpy()[0]
        tree = scene.articulations[member.index]
        for environment in np.flatnonzero(numbers > 0):
            quantity, array = _what(tree, member.group, int(numbers[environment]))
            allowed = ALLOWED[array].words if array in ALLOWED else ""
            found.append(Failure(int(environment), tree.path, quantity, int(steps[environment]), array, allowed))
    return found


def _what(tree: Articulation, group: Group, number: int) -> tuple[str, str]:
    """What a failure of a number is of, and the array with a value that is not allowed."""
    dof, roots = number - 1, group.tree.root_dofs
    if dof < group.tree.dof_count:
        return "the root" if dof < roots else tree.dofs[dof - roots].name, ""
    if number >= group.first_values[BY_BODY]:
        return tree.path, BY_BODY
    item = number - group.first_values["root_pose"]
    if item >= 0:
        return ("the root", "root_pose") if item == 0 else (tree.dofs[item - 1].name, "joint_position")
    array = next(
        name
        for name, first in reversed(group.first_values.items())
        if name in ALLOWED and first <= number and group.tree.row_counts[ROW_COUNTS[name][0]]
    )
    kind, size = ROW_COUNTS[array]
    owner = owners_of_rows(tree)[kind][(number - group.first_values[array]) // size]
    return " on ".join(owner) if isinstance(owner, tuple) else str(owner), array


def owners_of_rows(tree: Articulation) -> dict[str, list[Hashable]]:
    """What the rows of parameters are of, by what they are counted by."""
    names = [dof.name for dof in tree.dofs]
    return {
        "articulation": [tree.path],
        "dof": names,
        "link": list(tree.bodies),
        "cone": [joint.path for joint in tree.joints if joint.cone_limit is not None],
        "fixed_tendon": [tendon.name for tendon in tree.fixed_tendons],
        "tendon_term": [(tendon.name, names[dof]) for tendon in tree.fixed_tendons for dof in tendon.dofs],
        "spatial_tendon": [tendon.name for tendon in tree.spatial_tendons],
        "leaf": [name for tendon in tree.spatial_tendons for name in tendon.leaf_names],
        "attachment": [(one.name, point.name) for one in tree.spatial_tendons for point in one.attachments],
        **{kind: list(entry_names(tree, kind)) for kind in KINDS_OF_ENTRIES},
        "mimic_term": [(mimic.name, names[dof]) for mimic in tree.mimics for dof in mimic.dofs],
    }


def unresolved_steps(members: Sequence[Member], environments: int) -> np.ndarray:
    """See `Simulation.unresolved_steps`."""
    if not members:
        return np.zeros((environments, 0), int)
    fields = [(member.group.field("unresolved"), member.first_column) for member in members]
    counts = [field.view(first, environments).numpy()[0] for field, first in fields]
    return np.stack(counts, axis=1).astype(int)

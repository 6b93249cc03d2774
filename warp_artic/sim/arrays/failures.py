"""Environments that have stopped, by name: what ran away, or what was written that is not allowed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.constraints.contact_tables import pairs
from warp_artic.description.articulation import Articulation
from warp_artic.description.loop_joint import loop_axes
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
    """The array of such a value, in `control`, `parameters` or `state`, or of a position; none where a velocity ran
    away; and "elastic_body" of an articulation that an elastic body is attached to which has stopped."""
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
        if member.part > 0:
            continue
        numbers, steps = member.array("failure").numpy()[0]
        trees = [scene.articulations[index] for index in member.group.members[member.place]]
        for environment in np.flatnonzero(numbers > 0):
            tree, quantity, array = _what(trees, member.group, int(numbers[environment]))
            allowed = ALLOWED[array].words if array in ALLOWED else ""
            found.append(Failure(int(environment), tree.path, quantity, int(steps[environment]), array, allowed))
    return found


def _what(trees: Sequence[Articulation], group: Group, number: int) -> tuple[Articulation, str, str]:
    """What a failure of a number is of, in an articulation of a mechanism, and the array with a value not allowed."""
    dof, roots = number - 1, group.tree.root_dofs
    if dof < group.tree.dof_count:
        kind, place = ("root", dof // 6) if dof < roots else ("dof", dof - roots)
        return *_named(trees, kind, place), ""
    if number >= group.first_values[BY_BODY]:
        return trees[0], trees[0].path, BY_BODY
    item = number - group.first_values["root_pose"]
    if item >= 0:
        poses = max(group.tree.row_counts["root"], 1)
        if item < poses:
            return *_named(trees, "root", item), "root_pose"
        return *_named(trees, "dof", item - poses), "joint_position"
    array = next(
        name
        for name, first in reversed(group.first_values.items())
        if name in ALLOWED and first <= number and group.tree.row_counts[ROW_COUNTS[name][0]]
    )
    kind, size = ROW_COUNTS[array]
    return *_named(trees, kind, (number - group.first_values[array]) // size), array


def _named(trees: Sequence[Articulation], kind: str, place: int) -> tuple[Articulation, str]:
    """The articulation of a mechanism that has the thing of a kind at a place, and its name."""
    for tree in trees:
        owners = ["the root"] * tree.is_floating if kind == "root" else owners_of_rows(tree)[kind]
        if place < len(owners):
            owner = owners[place]
            return tree, " on ".join(owner) if isinstance(owner, tuple) else str(owner)
        place -= len(owners)
    return trees[0], "the root"


def owners_of_rows(tree: Articulation) -> dict[str, list[Hashable]]:
    """What the rows of parameters are of, by what they are counted by."""
    names = [dof.name for dof in tree.dofs]
    return {
        "articulation": [tree.path],
        "mechanism": [tree.path],
        "dof": names,
        "link": list(tree.bodies),
        "cone": [joint.path for joint in tree.joints if joint.cone_limit is not None],
        "fixed_tendon": [tendon.name for tendon in tree.fixed_tendons],
        "tendon_term": [(tendon.name, names[dof]) for tendon in tree.fixed_tendons for dof in tendon.dofs],
        "spatial_tendon": [tendon.name for tendon in tree.spatial_tendons],
        "leaf": [name for tendon in tree.spatial_tendons for name in tendon.leaf_names],
        "attachment": [(one.name, point.name) for one in tree.spatial_tendons for point in one.attachments],
        **{kind: list(entry_names(tree, kind)) for kind in KINDS_OF_ENTRIES},
        "loop_axis": [axis.name for axis in loop_axes(tree)],
        "contact_pair": [one.name for one in pairs(tree)],
        "mimic_term": [(mimic.name, names[dof]) for mimic in tree.mimics for dof in mimic.dofs],
    }


def unresolved_steps(members: Sequence[Member], environments: int) -> np.ndarray:
    """See `Simulation.unresolved_steps`."""
    if not members:
        return np.zeros((environments, 0), int)
    counts = [
        member.group.field("unresolved").view(member.first_column, environments).numpy()[member.island]
        for member in members
    ]
    return np.stack(counts, axis=1).astype(int)

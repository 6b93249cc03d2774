"""What each public array has rows for, how many, and what may be written to it: our own, and those of families."""

from __future__ import annotations

from warp_artic.constraints.table import FAMILIES
from warp_artic.description.articulation import Articulation
from warp_artic.model.allowed_values import ALLOWED as ALLOWED_OTHERWISE
from warp_artic.model.allowed_values import FINITE
from warp_artic.model.families import ConstraintFamily, Entries, Measure
from warp_artic.model.force_parts import PART_NAMES

PARAMETERS = tuple(parameter for family in FAMILIES for parameter in family.parameters)
"""Of all families."""
MEASURES: dict[str, Measure] = {measure.name: measure for family in FAMILIES for measure in family.measures}
"""What is reported of a state by families."""
FOUND: dict[str, Measure] = {measure.name: measure for family in FAMILIES for measure in family.found}
"""What detection of contacts finds at a state."""
MULTIPLIERS: dict[str, Measure] = {
    family.multiplier.name: family.multiplier for family in FAMILIES if family.multiplier is not None
}
"""What is reported of a step by families."""
MEMORY: dict[str, Measure] = {measure.name: measure for family in FAMILIES for measure in family.memory}
"""What steps remember for families, beside the motion."""


def entry_families() -> list[ConstraintFamily]:
    """One family for each entry that the dynamics suite registers, in the order of the list."""
    found: dict[int, ConstraintFamily] = {}
    for family in FAMILIES:
        if family.entries is not None:
            found.setdefault(id(family.entries), family)
    return list(found.values())


ENTRIES: tuple[Entries, ...] = tuple(family.entries for family in entry_families())
"""What people know by name and the dynamics suite registers, in its order."""
KINDS_OF_ENTRIES = tuple(dict.fromkeys(entries.kind for entries in ENTRIES))
"""How the names of their arrays begin."""


def entry_names(articulation: Articulation, kind: str) -> tuple[str, ...]:
    """The names of the entries of a kind."""
    return tuple(name for entries in ENTRIES if entries.kind == kind for name in entries.names(articulation))


def count_kinds(articulation: Articulation) -> dict[str, int]:
    """How many there are of what parameters and measures of families have rows for."""
    return {
        **{kind: len(entry_names(articulation, kind)) for kind in KINDS_OF_ENTRIES},
        **{kind: count(articulation) for family in FAMILIES for kind, count in family.kinds.items()},
    }


KINDS = (*KINDS_OF_ENTRIES, *(kind for family in FAMILIES for kind in family.kinds))
"""All that `count_kinds` counts."""


def kind_of(name: str) -> str:
    """What a measure has a row for: how its name begins."""
    return name.split("_")[0]


JOINT_FORCES = tuple(f"joint_{part}_force" for part in PART_NAMES)
"""Outputs of a step that reports forces, with a row for each dof of a joint; see `model.force_parts`."""

ROOT_FORCES = tuple(f"root_{part}_force" for part in PART_NAMES)
"""The same parts, with six rows for a floating root."""

ROW_COUNTS = {
    "joint_position": ("dof", 1),
    "joint_velocity": ("dof", 1),
    "root_pose": ("root", 7),
    "root_velocity": ("root", 6),
    "failure": ("mechanism", 2),
    "steps_at_rest": ("mechanism", 1),
    "link_pose": ("link", 7),
    "link_velocity": ("link", 6),
    "energy": ("articulation", 2),
    **dict.fromkeys(JOINT_FORCES, ("dof", 1)),
    **dict.fromkeys(ROOT_FORCES, ("root", 6)),
    "joint_acceleration": ("dof", 1),
    "root_acceleration": ("root", 6),
    "link_acceleration": ("link", 6),
    "link_incoming_joint_force": ("link", 6),
    "drive_position_target": ("dof", 1),
    "drive_velocity_target": ("dof", 1),
    "joint_effort": ("dof", 1),
    "link_external_force": ("link", 6),
    "gravity": ("mechanism", 3),
    "sleep_threshold": ("articulation", 1),
    "armature": ("dof", 1),
    "link_mass": ("link", 1),
    "link_linear_damping": ("link", 1),
    "link_angular_damping": ("link", 1),
    "link_gravity_scale": ("link", 1),
    **{one.name: (one.of, one.size) for one in PARAMETERS if one.allowed is not None},
    **{name: (kind_of(name), one.size) for name, one in (MEASURES | FOUND | MULTIPLIERS | MEMORY).items()},
}
"""What each public array has a row, or several, for, and how many.

What is of a mechanism all its articulations have, in the same memory.
"""

COUNTED = ("steps_at_rest", *MEMORY)
"""What steps keep of the state beside the motion, which users may write to."""

ALLOWED = {
    **ALLOWED_OTHERWISE,
    **{one.name: one.allowed for one in PARAMETERS if one.allowed is not None},
    **dict.fromkeys(COUNTED, FINITE),
}
"""Of each array that users write to; its rows are counted in this order, from where those of the dofs end, to say which
one it was."""

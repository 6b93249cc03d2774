"""The struct of a model: counts, switches, tables of links, dofs, islands and rows, and parameters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import warp as wp

from warp_artic.constraints.joint_friction import FRICTION
from warp_artic.constraints.table import FAMILIES
from warp_artic.math.numbers import Numbers
from warp_artic.mechanisms.guarded_trees import GuardedTrees
from warp_artic.mechanisms.public_rows import ALLOWED, ROW_COUNTS
from warp_artic.mechanisms.row_tables import entry_places, row_tables, shared_dofs, supports
from warp_artic.mechanisms.tree import Tree
from warp_artic.model.families import (
    HOLDS_POSITIONS,
    IS_CURVED,
    LOOKS_AT_ACCELERATIONS,
    MOVES_DOFS_ALIKE,
    ON_ONE_DOF,
    PUSHES_LINKS,
    RETURNS,
    ConstraintFamily,
)
from warp_artic.model.field import Field
from warp_artic.model.kinds import JointKind
from warp_artic.model.row_elimination import all_meet, elimination_tables
from warp_artic.phases.given_values import ROWS_AT_ONCE

WATCHED = (
    "joint_position",
    "joint_velocity",
    "root_pose",
    "root_velocity",
    "drive_position_target",
    "drive_velocity_target",
    "joint_effort",
    "link_external_force",
    "loop_broken",
)
"""Arrays whose changes wake a tree, in the order of `phases.sleep`."""


def model_struct(struct, tree: Tree, parameters: dict[str, Field], numbers: Numbers, device: str, dense_rows: bool):
    """Fill a struct; with tables of the couplings of rows with each other if `dense_rows`."""
    field_struct(struct, parameters)
    struct.link_count = tree.link_count
    struct.body_count = tree.body_count
    struct.dof_count = tree.dof_count
    struct.root_dofs = tree.root_dofs
    struct.tree_count = len(tree.parts)
    struct.island_count = tree.island_count
    struct.placed_rows = sum(row.family.needs_places for row in tree.rows)
    struct.held_positions = tree.count_with(HOLDS_POSITIONS | RETURNS)
    struct.tying_rows = tree.count_with(HOLDS_POSITIONS | MOVES_DOFS_ALIKE)
    struct.is_dual = int(numbers.is_dual)
    struct.pushing_rows = tree.count_with(PUSHES_LINKS)
    struct.rotation_rows = tree.count_with(IS_CURVED)
    struct.finite_rotations = sum(kind in (JointKind.SWING, JointKind.SPHERICAL) for kind in tree.kind)
    struct.rotation_drives = sum(tree.is_coupled)
    struct.swing_joints = tree.kind.count(JointKind.SWING)
    struct.stop_row = sum(not row.family.is_stop for row in tree.rows)
    struct.free_motion = int(tree.moves_freely)
    struct.turns_and_slides = int(tree.moves_freely and len(set(tree.dof_is_linear)) == 2)
    guards = GuardedTrees(tree)
    struct.guards_trees = int(any(guards.is_guarded))
    struct.closed_assemblies = sum(guards.keeps_energy)
    struct.guards_impacts = int(any(guards.guards_impacts))
    struct.watched_dofs = len(_watched_dofs(tree, guards))
    struct.driven = int(tree.is_driven)
    struct.limit_row = next((k for k, row in enumerate(tree.rows) if row.family.rows_each > 1), len(tree.rows))
    struct.speed_limits = tree.speed_limit_count
    for name, has in tree.flags.items():
        setattr(struct, name, int(has))
    for family in FAMILIES:
        for name, count in family.counts.items():
            setattr(struct, name, count(tree))
    islands = _island_tables(tree, guards)
    struct.restarts = int(any(islands["island_restarts"]))
    terms, response_rows, response_count = row_tables(tree, dense_rows)
    struct.row_count = len(tree.rows)
    struct.response_count = response_count
    struct.innovations_only = int(dense_rows)
    elimination = elimination_tables(supports(terms) if dense_rows else [])
    struct.all_rows_meet = int(all_meet(elimination))
    tables = {
        "order": tree.order,
        "links_by_path": tree.links_by_path,
        **islands,
        "link_parent": tree.parent,
        "link_joint": [int(kind) for kind in tree.kind],
        "link_joint_end": tree.joint_ends,
        "link_joint_parts": tree.joint_parts,
        "link_dof": tree.first_dof,
        "link_dofs": tree.dof_counts,
        "link_is_coupled": [int(coupled) for coupled in tree.is_coupled],
        "dof_link": [tree.link_of_dof[dof] for dof in range(tree.dof_count)],
        "dof_is_linear": [int(linear) for linear in tree.dof_is_linear],
        "dof_axis": tree.dof_axis,
        "dof_friction": _rows_on_dofs(tree, lambda family: family is FRICTION),
        "dof_stop": _rows_on_dofs(tree, lambda family: family.is_stop),
        "row_family": [row.family.order for row in tree.rows],
        "row_traits": [row.family.traits for row in tree.rows],
        "row_part": [int(row.family.part) for row in tree.rows],
        "row_place": entry_places(tree),
        "row_dof": [row.dofs[0] for row in tree.rows],
        "row_item": [row.item for row in tree.rows],
        **terms,
        **elimination,
        "response_row": response_rows,
        **{name: table(tree) for family in FAMILIES for name, table in family.tables.items()},
        "watched": [0] * len(WATCHED),
        "pushed": [0],
        "shared_dofs": shared_dofs(tree).ravel() if dense_rows else (),
    }
    _set_tables(struct, {name: [*values, 0] for name, values in tables.items()}, device)
    given = sum(size * tree.row_counts[kind] for kind, size in (ROW_COUNTS[name] for name in ALLOWED)) + ROWS_AT_ONCE
    struct.given = wp.zeros(1 + given, dtype=int, device=device)
    struct.given_address = wp.zeros(given, dtype=wp.uint64, device=device)
    struct.given_bounds = wp.zeros(2 * given, dtype=wp.float64, device=device)
    return struct


def field_struct(struct, fields: dict[str, Field]):
    """Fill a struct with fields by their names."""
    for name, field in fields.items():
        setattr(struct, name, field.numbers)
    return struct


def _set_tables(struct, tables: dict[str, list[int]], device: str) -> None:
    """Fill a struct with tables of integers, which lie in one array."""
    ends = np.cumsum([len(values) for values in tables.values()]).tolist()
    whole = wp.array(np.concatenate(list(tables.values())).astype(np.int32), dtype=int, device=device)
    for name, first, end in zip(tables, [0, *ends], ends):
        setattr(struct, name, whole[first:end])


def _island_tables(tree: Tree, guards: GuardedTrees) -> dict[str, list[int]]:
    """Which links and dofs each tree and each island has, and what decides how an island is stepped."""
    ends = np.cumsum([0, *(len(part.links) for part in tree.parts)])
    floating = [[link for link in part.links if tree.kind[link] is JointKind.FLOATING] for part in tree.parts]
    roots = [[tree.first_dof[link] for link in own] for own in floating]
    joints = range(tree.root_dofs, tree.dof_count)
    dof_island = [tree.island_of_dof(dof) for dof in range(tree.dof_count)]
    row_island = [tree.island_of_dof(row.dofs[0]) for row in tree.rows]
    links = [[link for part in own for link in part.links] for own in tree.parts_of_island]
    turns = [sum(tree.kind[link] in (JointKind.SWING, JointKind.SPHERICAL) for link in own) for own in links]
    traits = [0] * tree.island_count
    for row, own in zip(tree.rows, row_island):
        traits[own] |= row.family.traits
    return {
        "tendon_place": _tendon_places(tree),
        "tree_link": list(ends),
        "tree_root": [own[0] if own else -1 for own in roots],
        "tree_island": list(tree.islands),
        "tree_assembly": list(guards.assemblies),
        "tree_next": list(guards.following),
        "tree_floats": list(map(int, guards.floats)),
        "tree_tied": list(guards.tied),
        "tree_is_core": list(map(int, guards.is_core)),
        "tree_keeps_energy": list(map(int, guards.keeps_energy)),
        "tree_keeps_motion": list(map(int, guards.keeps_motion)),
        "tree_is_summed": list(map(int, guards.is_summed)),
        "tree_is_limited": list(map(int, guards.is_limited)),
        "tree_is_guarded": list(map(int, guards.is_guarded)),
        "tree_has_drag": list(map(int, guards.has_drag)),
        "tree_is_acted": list(map(int, guards.is_acted)),
        "tree_guards_impacts": list(map(int, guards.guards_impacts)),
        "watched_dof": _watched_dofs(tree, guards),
        "link_tree": [tree.part_of_link[link] for link in range(tree.link_count)],
        "island_first": list(np.searchsorted(np.sort(dof_island), range(tree.island_count + 1))),
        "island_dof": list(np.argsort(dof_island, kind="stable")),
        "island_moves_freely": [int(free) for free in tree.island_moves_freely],
        "island_is_driven": [int(any(part.is_driven for part in own)) for own in tree.parts_of_island],
        "island_turns": turns,
        "island_joints": [sum(dof_island[dof] == k for dof in joints) for k in range(tree.island_count)],
        "island_restarts": [int(own & LOOKS_AT_ACCELERATIONS != 0) for own in traits],
        "island_is_looped": [int(own & (HOLDS_POSITIONS | RETURNS) != 0) for own in traits],
        "dof_island": dof_island,
        "row_island": row_island,
    }


def _watched_dofs(tree: Tree, guards: GuardedTrees) -> list[int]:
    """The dofs whose angular velocity tells whether an assembly that is acted on turns far in a step."""
    first = [guards.assemblies[tree.part_of_link[tree.link_of_dof[dof]]] for dof in range(tree.dof_count)]
    return [
        dof
        for dof, assembly in enumerate(first)
        if guards.is_guarded[assembly] and not guards.guards_impacts[assembly] and not tree.dof_is_linear[dof]
    ]


def _rows_on_dofs(tree: Tree, is_meant: Callable[[ConstraintFamily], bool]) -> list[int]:
    """Of each dof the row on it alone of a family that is meant, or -1."""
    found = [-1] * tree.dof_count
    for number, row in enumerate(tree.rows):
        if row.family.traits & ON_ONE_DOF and is_meant(row.family):
            found[row.dofs[0]] = number
    return found


def _tendon_places(tree: Tree) -> list[int]:
    """Where public arrays have each fixed tendon, and then each leaf: articulation by articulation."""
    fixed, leaves, place = [], [], 0
    for counts in (dict(part.row_counts) for part in tree.parts):
        fixed += range(place, place + counts["fixed_tendon"])
        place += counts["fixed_tendon"]
        leaves += range(place, place + counts["leaf"])
        place += counts["leaf"]
    return fixed + leaves

"""The struct of a work space: how much room a mechanism needs in each of its arrays."""

from __future__ import annotations

import warp as wp

from warp_artic.constraints.contact_pair import CONTACT_PAIR, MOST_POINTS
from warp_artic.constraints.table import FAMILIES
from warp_artic.math.numbers import Numbers
from warp_artic.mechanisms.row_tables import row_tables
from warp_artic.mechanisms.tree import Tree
from warp_artic.model.families import HOLDS_POSITIONS, RETURNS
from warp_artic.model.row_problem import ROW_ARRAYS, row_array_sizes


def work_struct(struct, tree: Tree, numbers: Numbers, workers: int, device: str, dense_rows: bool):
    """A work space of some workers, zero; with room for the couplings of rows with each other if `dense_rows`."""
    terms, slots, slot_count = row_tables(tree, dense_rows)
    links, dofs, rows = tree.link_count + 1, tree.dof_count, len(tree.rows)
    looped = 3 * links * (tree.count_with(HOLDS_POSITIONS | RETURNS) > 0)
    islands, poses = tree.island_count, 7 * tree.root_dofs // 6
    room = rows - tree.count(CONTACT_PAIR) + min(tree.count(CONTACT_PAIR), 3 * MOST_POINTS)
    sizes = {
        "R_WM": 9 * links, "p_PM": 3 * links, "p_WM": 3 * links, "w": 3 * links, "velocity_moment": 3 * links,
        "velocity_force": 3 * links, "A": 6 * links, "B": 9 * links, "M": 6 * links, "moment": 3 * links,
        "force": 3 * links, "angular": 3 * links, "linear": 3 * links, "drag_moment": 3 * links,
        "drag_force": 3 * links, "axis": 3 * dofs, "U_moment": 3 * dofs, "U_force": 3 * dofs, "D_inverse": dofs,
        "u": dofs, "v": dofs, "v_free": dofs, "v_next": dofs, "v_middle": dofs, "recalled": 3 * dofs,
        "vdot": dofs, "rest_vdot": dofs, "unresolved": islands, "projected": islands, "slowed": islands,
        "v_reported": dofs, "watched": 4 * islands,
        "motion_sums": 36 * len(tree.parts), "calm": 1, "changed": islands, "anew": islands, "stopped": islands,
        "touched": islands, "unbound": islands, "uneven": islands, "bending": islands,
        "stop_work": islands, "has_bounced": islands, "near_limit": islands, "turned": islands,
        "missed": islands,
        "bent_now": islands,
        "effort": dofs, "spring": dofs, "damper": dofs, "theta": dofs, "reach": dofs, "load": dofs, "drive_bias": dofs,
        "measured": dofs, "layer": islands, "drive_spring": dofs, "rotation_spring": dofs, "cross_spring": dofs,
        "coupled_entry": dofs,
        "drive_scale": dofs, "drive_theta": dofs,
        "drive_reach": dofs, "drive_side": dofs,
        "saturated": dofs, "least": 1, "free_share": 1, "share": dofs, "joint_load": dofs, "position": dofs,
        "root": poses, "middle": dofs, "middle_root": poses, "shift": dofs,
        "since_placed": 1, "end_weight": 1, "given": rows, "end_rotation": 3 * looped,
        "closed_energy": 4 * islands * any(tree.island_keeps_energy),
        "end_origin": looped, "end_spin": looped, "end_velocity": looped, "end_axis": 3 * dofs * (looped > 0),
        "smooth": rows, "row_mobility": rows,
        "bend": rows, "slack": rows, "impact_share": rows, "rest_share": rows, "bounced": rows,
        "stretch": 3 * rows * any(row.family.keeps_stretch for row in tree.rows), "resolved": rows,
        "spring_displacement": dofs, "tendon_load": dofs, **_speed_limit_sizes(tree),
        **row_array_sizes(rows, len(terms["term_dof"]), slot_count, dofs, room if dense_rows else 0, islands),
    }  # fmt: skip
    sizes |= {name: size(tree) for family in FAMILIES for name, size in family.scratch.items()}
    for name, size in sizes.items():
        dtype = int if name in ROW_ARRAYS and ROW_ARRAYS[name].is_index else numbers.real
        setattr(struct, name, wp.zeros((max(size, 1), workers), dtype=dtype, device=device))
    return struct


def _speed_limit_sizes(tree: Tree) -> dict[str, int]:
    """Rows of the work space of limits on speeds."""
    limits, dofs = tree.speed_limit_count, tree.dof_count * (tree.speed_limit_count > 0)
    trees, islands = len(tree.parts), tree.island_count
    return {
        "direction": 3 * len(tree.rows) * (limits > 0), "motion": 3 * limits, "bent": 3 * limits, "turns": islands,
        "bends": islands, "settled": islands, "kept": dofs, "end_position": tree.dof_count,
        "end_root": 7 * tree.root_dofs // 6, "tree_center": 3 * trees, "tree_mobility": 7 * trees,
        "tree_jacobian": 6 * dofs,
    }  # fmt: skip

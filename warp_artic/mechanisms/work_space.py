"""The struct of a work space: how much room a mechanism needs in each of its arrays."""

from __future__ import annotations

import warp as wp

from warp_artic.constraints.contact_pair import CONTACT_PAIR, MOST_POINTS
from warp_artic.constraints.table import FAMILIES
from warp_artic.math.numbers import Numbers
from warp_artic.mechanisms.row_tables import row_tables
from warp_artic.mechanisms.tree import Tree
from warp_artic.model.families import HOLDS_POSITIONS, RETURNS
from warp_artic.model.row_problem import ROW_ARRAYS, row_counts
from warp_artic.model.work_arrays import WORK_ARRAYS, sizes_of


def work_struct(struct, tree: Tree, numbers: Numbers, workers: int, device: str, dense_rows: bool):
    """A work space of some workers, zero; with room for the couplings of rows with each other if `dense_rows`.

    Arrays without entries, most of them, are one for each type.
    """
    arrays = {**WORK_ARRAYS, **ROW_ARRAYS}
    sizes = sizes_of(arrays, _counts(tree, dense_rows))
    sizes |= {name: size(tree) for family in FAMILIES for name, size in family.scratch.items()}
    empty = {dtype: wp.zeros((1, workers), dtype=dtype, device=device) for dtype in (int, numbers.real)}
    for name, size in sizes.items():
        dtype = int if name in arrays and arrays[name].is_index else numbers.real
        array = wp.zeros((size, workers), dtype=dtype, device=device) if size else empty[dtype]
        setattr(struct, name, array)
    return struct


def _counts(tree: Tree, dense_rows: bool) -> dict[str, int]:
    """How many there are of what has entries in a work space."""
    terms, _, response_count = row_tables(tree, dense_rows)
    links, dofs, rows = tree.link_count + 1, tree.dof_count, len(tree.rows)
    is_looped = tree.count_with(HOLDS_POSITIONS | RETURNS) > 0
    has_speed_limits = tree.speed_limit_count > 0
    points = tree.count(CONTACT_PAIR)
    gathered = rows - points + min(points, 3 * MOST_POINTS) if dense_rows else 0
    has_loops = int(tree.kinds["loop"] > 0)
    return {
        **row_counts(rows, len(terms["term_dof"]), response_count, dofs, gathered, tree.island_count, has_loops),
        "link": links,
        "looped link": links * is_looped,
        "looped dof": dofs * is_looped,
        "root": tree.root_dofs // 6,
        "tree": len(tree.parts),
        "range row": rows * any(row.family.keeps_coordinate for row in tree.rows),
        "speed limit": tree.speed_limit_count,
        "direction row": rows * has_speed_limits,
        "limited dof": dofs * has_speed_limits,
    }

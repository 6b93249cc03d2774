"""Which dofs and rows an island of a mechanism has (`mechanisms.tree`): for one island, all, without a look at tables.

And which assembly a dof belongs to (`mechanisms.guarded_trees`), and whether it still does (`solver.joined_trees`).

Most mechanisms are one island. What is found of islands row by row is then kept in registers, not in arrays.
"""

import warp as wp

from warp_artic.math.numbers import Real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def island_dof(model: ModelArrays, k: int):
    """The dof at a place from `island_first` on."""
    dof = int(k)
    if model.island_count > 1:
        dof = model.island_dof[k]
    return dof


@wp.func
def assembly_of_dof(model: ModelArrays, dof: int):
    """The first tree of the assembly that a dof moves."""
    return model.tree_assembly[model.link_tree[model.dof_link[dof]]]


@wp.func
def if_joined(model: ModelArrays, work: WorkArrays, tree: int, worker: int, value: Real):
    """A value where a tree is joined to what its assembly is known by, zero where it has come off."""
    if model.breakable_loops == 0:
        return value
    return where_positive(work.tree_joined[tree, worker], value, value - value)


@wp.func
def if_dof_joined(model: ModelArrays, work: WorkArrays, dof: int, worker: int, value: Real):
    """The same of the tree that a dof moves."""
    return if_joined(model, work, model.link_tree[model.dof_link[dof]], worker, value)


@wp.func
def in_mask(model: ModelArrays, work: WorkArrays, row: int, worker: int, value: Real):
    """A value where the environment mask of the row's island is one, else zero.

    With a single island it is the value itself: `in_only_mask` applies the mask once for all rows.
    """
    if model.island_count == 1:
        return value
    return where_positive(work.environment_mask[model.row_island[row], worker], value, value - value)


@wp.func
def in_only_mask(model: ModelArrays, work: WorkArrays, worker: int, value: Real):
    """A sum of such values, masked where there is a single island."""
    if model.island_count > 1:
        return value
    return where_positive(work.environment_mask[0, worker], value, value - value)

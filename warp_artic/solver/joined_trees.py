"""Which trees are still joined to what their assembly is known by (`mechanisms.guarded_trees`), as loop joints break.

An assembly that the world holds is what is joined to a tree on a fixed base, or to the world; one that floats is what
is joined to its first tree. What has come off moves as a step finds it: its energy and momenta are no part of those of
the assembly, and what keeps or limits these does not change its velocities.
"""

import warp as wp

from warp_artic.constraints.loop_joint import read_broken
from warp_artic.math.numbers import Real, add, any_positive, maximum, mul, real, sub  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays


@wp.func
def load_joined(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Read which loop joints are broken, and write one for each tree that is joined, else zero."""
    read_broken(model, state, work, block, worker)
    one = real(1.0, work.loop_is_broken[0, worker])
    broken = one - one
    for loop in range(model.loop_count):
        broken = maximum(broken, work.loop_is_broken[loop, worker])
    for tree in range(model.tree_count):
        work.tree_joined[tree, worker] = one
    if any_positive(broken):
        for tree in range(model.tree_count):
            work.tree_joined[tree, worker] = real(float(model.tree_is_core[tree]), one)
        for _way in range(model.tree_count):
            join_trees(model, work, worker, one)


@wp.func
def join_trees(model: ModelArrays, work: WorkArrays, worker: int, one: Real):
    """Join trees to those next to them, and to the world: by loop joints that hold, and by what does not break."""
    for loop in range(model.loop_count):
        holds = one - work.loop_is_broken[loop, worker]
        inner = model.loop_link0[loop]
        outer = model.loop_link1[loop]
        if inner == model.link_count:
            join_two(model, work, model.link_tree[outer], model.link_tree[outer], worker, holds)
        elif outer == model.link_count:
            join_two(model, work, model.link_tree[inner], model.link_tree[inner], worker, holds)
        else:
            near = maximum(
                work.tree_joined[model.link_tree[inner], worker], work.tree_joined[model.link_tree[outer], worker]
            )
            join_two(model, work, model.link_tree[inner], model.link_tree[outer], worker, holds * near)
    for tree in range(model.tree_count):
        tied = model.tree_tied[tree]
        near = maximum(work.tree_joined[tree, worker], work.tree_joined[tied, worker])
        join_two(model, work, tree, tied, worker, near)


@wp.func
def join_two(model: ModelArrays, work: WorkArrays, tree: int, other: int, worker: int, joins: Real):
    """Join two trees where `joins` is one."""
    work.tree_joined[tree, worker] = maximum(work.tree_joined[tree, worker], joins)
    work.tree_joined[other, worker] = maximum(work.tree_joined[other, worker], joins)

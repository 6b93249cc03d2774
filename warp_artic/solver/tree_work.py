"""Work and impulses of rows and joints on trees in a step, W, F and M of `solver.violent_trees`.

What joins trees to one assembly (`mechanisms.guarded_trees`) leaves its momentum. Loop joints do no work, and what
springs of soft limits take is part of the potential.
"""

import warp as wp

from warp_artic.constraints.drive import folded_force, mean_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    maximum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import FROM_OUTSIDE, HOLDS_POSITIONS, IS_CONTACT, IS_SOFT_LIMIT, has_trait
from warp_artic.model.islands import assembly_of_dof


@wp.func
def begin_trees(model: ModelArrays, work: WorkArrays, worker: int):
    """Write that nothing acts on a tree yet."""
    zero = real(0.0, work.v[0, worker])
    for tree in range(model.tree_count):
        work.tree_pushed[tree, worker] = zero
        work.tree_stopped[tree, worker] = zero
        work.tree_work[tree, worker] = zero
        work.tree_inner_work[tree, worker] = zero
        work.tree_hit[tree, worker] = zero
        for k in range(3 * tree, 3 * tree + 3):
            work.tree_arm[k, worker] = zero
        for k in range(6 * tree, 6 * tree + 6):
            work.tree_impulse[k, worker] = zero


@wp.func
def add_joint_work(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Add the work of drives and of viscous friction through the factors in a substep of h."""
    half = real(0.5, h)
    for dof in range(model.root_dofs, model.dof_count):
        viscous = model.friction_viscous[dof - model.root_dofs, block]
        force = folded_force(model, work, dof, block, worker, h)
        force = force - viscous * mean_velocity(work, dof, worker, work.theta[dof, worker])
        path = half * h * (work.v[dof, worker] + work.v_next[dof, worker])
        tree = assembly_of_dof(model, dof)
        work.tree_inner_work[tree, worker] = work.tree_inner_work[tree, worker] + force * path


@wp.func
def add_rows(model: ModelArrays, work: WorkArrays, worker: int):
    """Add the work and impulses of rows; what springs of soft limits have is part of the potential, loops do none."""
    half = real(0.5, work.v[0, worker])
    for row in range(model.row_count):
        z = work.impulse[row, worker] + work.given[row, worker]
        if any_positive(absolute(z)):
            is_inner = is_within(model, row)
            for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
                dof = model.term_dof[term]
                tree = assembly_of_dof(model, dof)
                f = work.P[term, worker] * z
                path = half * (work.v[dof, worker] + work.v_next[dof, worker])
                if has_trait(model, row, FROM_OUTSIDE):
                    add_outer_impulse(model, work, dof, f, path, z, worker, is_inner)
                    if has_trait(model, row, IS_CONTACT):
                        hit = where_positive(absolute(z), work.contact_hits[model.row_item[row] // 3, worker], z - z)
                        work.tree_hit[tree, worker] = maximum(work.tree_hit[tree, worker], hit)
                else:
                    if not has_trait(model, row, IS_SOFT_LIMIT | HOLDS_POSITIONS):
                        work.tree_inner_work[tree, worker] = work.tree_inner_work[tree, worker] + f * path
                    stops = where_positive(real(float(has_trait(model, row, HOLDS_POSITIONS)), z), z - z, z)
                    add_impulse(model, work, dof, f, stops, worker, is_inner)


@wp.func
def is_within(model: ModelArrays, row: int):
    """Whether a row acts between two trees of one assembly, and leaves its momentum as it is."""
    one = model.term_dof[model.row_term[row]]
    other = model.term_dof[model.row_term[row] + model.row_terms[row] - 1]
    is_between = model.link_tree[model.dof_link[one]] != model.link_tree[model.dof_link[other]]
    return is_between and assembly_of_dof(model, one) == assembly_of_dof(model, other)


@wp.func
def add_outer_impulse(
    model: ModelArrays, work: WorkArrays, dof: int, f: Real, path: Real, z: Real, worker: int, is_inner: bool
):
    """Add what f of the impulse z of a row from outside does to a tree, with the mean velocity of the dof."""
    tree = assembly_of_dof(model, dof)
    work.tree_work[tree, worker] = work.tree_work[tree, worker] + f * path
    work.tree_pushed[tree, worker] = maximum(work.tree_pushed[tree, worker], absolute(z))
    add_impulse(model, work, dof, f, z, worker, is_inner)


@wp.func
def add_impulse(model: ModelArrays, work: WorkArrays, dof: int, f: Real, z: Real, worker: int, is_inner: bool):
    """Add f of a row's impulse z to what acts on the root of a tree, and that its assembly is stopped."""
    tree = assembly_of_dof(model, dof)
    if dof < model.root_dofs and not is_inner:
        own = model.link_tree[model.dof_link[dof]]
        k = 6 * own + dof - model.tree_root[own]
        work.tree_impulse[k, worker] = work.tree_impulse[k, worker] + f
    work.tree_stopped[tree, worker] = maximum(work.tree_stopped[tree, worker], absolute(z))

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
from warp_artic.model.islands import assembly_of_dof, if_dof_joined


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
        done = if_dof_joined(model, work, dof, worker, force * path)
        work.tree_inner_work[tree, worker] = work.tree_inner_work[tree, worker] + done


@wp.func
def add_rows(model: ModelArrays, work: WorkArrays, worker: int):
    """Add the work and impulses of rows; what springs of soft limits have is part of the potential, loops do none."""
    half = real(0.5, work.v[0, worker])
    for row in range(model.row_count):
        z = work.impulse[row, worker] + work.given[row, worker]
        if any_positive(absolute(z)):
            outer = share_from_outside(model, work, row, worker)
            for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
                dof = model.term_dof[term]
                tree = assembly_of_dof(model, dof)
                own = if_dof_joined(model, work, dof, worker, z)
                f = work.P[term, worker] * own
                path = half * (work.v[dof, worker] + work.v_next[dof, worker])
                if has_trait(model, row, FROM_OUTSIDE):
                    add_outer_impulse(model, work, dof, f, path, own, worker, outer)
                    if has_trait(model, row, IS_CONTACT):
                        hit = where_positive(absolute(own), work.contact_hits[model.row_item[row] // 3, worker], z - z)
                        work.tree_hit[tree, worker] = maximum(work.tree_hit[tree, worker], hit)
                else:
                    if not has_trait(model, row, IS_SOFT_LIMIT | HOLDS_POSITIONS):
                        work.tree_inner_work[tree, worker] = work.tree_inner_work[tree, worker] + f * path
                    stops = where_positive(real(float(has_trait(model, row, HOLDS_POSITIONS)), z), z - z, own)
                    add_impulse(model, work, dof, f, stops, worker, outer)


@wp.func
def share_from_outside(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Zero where a row acts between two trees of one assembly, and leaves its momentum as it is, elsewhere one."""
    one = real(1.0, work.v[0, worker])
    first = model.term_dof[model.row_term[row]]
    last = model.term_dof[model.row_term[row] + model.row_terms[row] - 1]
    is_between = model.link_tree[model.dof_link[first]] != model.link_tree[model.dof_link[last]]
    if is_between and assembly_of_dof(model, first) == assembly_of_dof(model, last):
        within = if_dof_joined(model, work, first, worker, one) * if_dof_joined(model, work, last, worker, one)
        return one - within
    return one


@wp.func
def add_outer_impulse(
    model: ModelArrays, work: WorkArrays, dof: int, f: Real, path: Real, z: Real, worker: int, outer: Real
):
    """Add what f of the impulse z of a row from outside does to a tree, with the mean velocity of the dof."""
    tree = assembly_of_dof(model, dof)
    work.tree_work[tree, worker] = work.tree_work[tree, worker] + f * path
    work.tree_pushed[tree, worker] = maximum(work.tree_pushed[tree, worker], absolute(z))
    add_impulse(model, work, dof, f, z, worker, outer)


@wp.func
def add_impulse(model: ModelArrays, work: WorkArrays, dof: int, f: Real, z: Real, worker: int, outer: Real):
    """Add the outer share of f of a row's impulse z to what acts on the root of a tree, and that its assembly stops."""
    tree = assembly_of_dof(model, dof)
    if dof < model.root_dofs:
        own = model.link_tree[model.dof_link[dof]]
        k = 6 * own + dof - model.tree_root[own]
        work.tree_impulse[k, worker] = work.tree_impulse[k, worker] + outer * f
    work.tree_stopped[tree, worker] = maximum(work.tree_stopped[tree, worker], absolute(z))

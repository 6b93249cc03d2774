"""Trees in an impact, or that turn by a good part of a radian in a step, have no more energy than contacts leave them.

Trees that move freely, and touch nothing, have `solver.energy_projection`. Contacts pass energy and momentum between
trees, but what they give to each is known. With W = sum z P^T (v + v+) / 2 of all rows and of given forces, F and M the
impulse of rows on a floating tree and its moment about the centre of mass,
    T(q+, s v+) = T(q, v) + V(q) - V(q+) + W,   P+ = P + h m g + F,   L_C+ = L_C + M.
Trees that touch have no more energy together than before, where no drive acts, all contacts are hard and nothing is
moved from outside.

Where anything acts on a tree s is at most one; where that is drag or a given force V_C and Omega are as they are found.
A tree that nothing touches stays at q where q+ has no such s. One that is touched is slowed down as a whole where the
momentum alone would be more energy than there is: impulses may answer velocities that a step does not resolve.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    is_finite,
    maximum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays, store_vec3
from warp_artic.model.families import FROM_OUTSIDE, IS_CONTACT, has_trait
from warp_artic.solver.energy_projection import (
    MOST,
    energy_left,
    energy_of_whole,
    kinetic_energy_given,
    root_arm,
    scale_of,
    scale_tree,
    stay,
)
from warp_artic.solver.motion_sums import END, KINETIC, add_up_end, add_up_start
from warp_artic.solver.unresolved_motion import base_motion, find_inputs
from warp_artic.solver.violent_spin import VIOLENT


@wp.func
def begin_trees(model: ModelArrays, work: WorkArrays, worker: int):
    """Write that no row acts on a tree yet."""
    zero = real(0.0, work.v[0, worker])
    for tree in range(model.tree_count):
        work.tree_pushed[tree, worker] = zero
        work.tree_stopped[tree, worker] = zero
        work.tree_work[tree, worker] = zero
        work.tree_hit[tree, worker] = zero
        for k in range(6 * tree, 6 * tree + 6):
            work.tree_impulse[k, worker] = zero


@wp.func
def watch_trees(model: ModelArrays, work: WorkArrays, worker: int):
    """After a substep: add what rows do to the trees that they act on."""
    half = real(0.5, work.v[0, worker])
    for row in range(model.row_count):
        z = work.impulse[row, worker] + work.given[row, worker]
        if any_positive(absolute(z)):
            for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
                dof = model.term_dof[term]
                tree = model.link_tree[model.dof_link[dof]]
                f = work.P[term, worker] * z
                path = half * (work.v[dof, worker] + work.v_next[dof, worker])
                work.tree_work[tree, worker] = work.tree_work[tree, worker] + f * path
                if dof < model.root_dofs:
                    k = 6 * tree + dof - model.tree_root[tree]
                    work.tree_impulse[k, worker] = work.tree_impulse[k, worker] + f
                work.tree_stopped[tree, worker] = maximum(work.tree_stopped[tree, worker], absolute(z))
                if has_trait(model, row, FROM_OUTSIDE):
                    if has_trait(model, row, IS_CONTACT):
                        hit = where_positive(absolute(z), work.contact_hits[model.row_item[row] // 3, worker], z - z)
                        work.tree_hit[tree, worker] = maximum(work.tree_hit[tree, worker], hit)
                    work.tree_pushed[tree, worker] = maximum(work.tree_pushed[tree, worker], absolute(z))


@wp.func
def keep_tree_energies(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real
):
    """Change the velocities of such trees at the end of a step of length h; `state` is still q and v."""
    zero = real(0.0, h)
    one = real(1.0, h)
    moving = base_motion(model, block, zero)
    found = bool(False)
    for tree in range(model.tree_count):
        work.tree_chosen[tree, worker] = zero
        if model.tree_is_guarded[tree] == 1:
            rate = largest_rate(model, work, tree, worker)
            violent = where_positive(h * h * rate * rate - real(VIOLENT, h), one, zero)
            if model.island_moves_freely[model.tree_island[tree]] == 1:
                violent = where_positive(work.tree_pushed[tree, worker], violent, zero)
            violent = where_positive(work.tree_hit[tree, worker], one, violent)
            work.tree_chosen[tree, worker] = where_positive(moving, zero, violent)
            if any_positive(work.tree_chosen[tree, worker]):
                found = bool(True)
    if found:
        add_up_start(model, state, control, work, block, worker)
        for tree in range(model.tree_count):
            store_vec3(work.tree_arm, 3 * tree, worker, root_arm(model, work, tree, 0, worker))
        add_up_end(model, control, work, block, worker)
        for tree in range(model.tree_count):
            if model.tree_is_guarded[tree] == 1:
                is_free = is_only_touched(model, control, work, tree, block, worker)
                left = energy_left(model, state, work, tree, is_free, block, worker, h)
                stuck = where_positive(left, zero, work.tree_chosen[tree, worker] * is_free)
                stuck = where_positive(work.tree_pushed[tree, worker], zero, stuck)
                stay(model, state, work, tree, block, worker, stuck, h)
        add_up_end(model, control, work, block, worker)
        share_energies(model, state, work, block, worker, h)
        for tree in range(model.tree_count):
            if model.tree_is_guarded[tree] == 1:
                is_free = is_only_touched(model, control, work, tree, block, worker)
                given = work.tree_given[tree, worker]
                left = given
                if model.tree_root[tree] >= 0:
                    left = given - energy_of_whole(model, work, tree, is_free, block, worker, h)
                acts = maximum(one - is_free, work.tree_stopped[tree, worker])
                most = where_positive(acts, one, real(MOST, h))
                chosen = work.tree_chosen[tree, worker]
                scale_tree(model, work, tree, chosen, left, most, is_free, block, worker, h)
                touched = where_positive(work.tree_pushed[tree, worker], chosen, zero)
                scale_whole(model, work, tree, where_positive(neg(left), touched, zero), given, given - left, worker)


@wp.func
def share_energies(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write the kinetic energy that each tree is to have: of those that touch no more together than they have had."""
    zero = real(0.0, h)
    one = real(1.0, h)
    gives = real(float(model.contact_motions), h)
    for pair in range(model.contact_count):
        gives = gives + is_finite(model.contact_stiffness[pair, block])
    for island in range(model.island_count):
        before = zero
        after = zero
        guarded = zero
        is_open = gives
        for tree in range(model.tree_count):
            if model.tree_is_summed[tree] == 1 and model.tree_island[tree] == island:
                pushed = where_positive(work.tree_pushed[tree, worker], one, zero)
                own = kinetic_energy_given(model, state, work, tree, block, worker, h)
                given = own + work.tree_work[tree, worker]
                before = before + pushed * own
                if model.tree_is_guarded[tree] == 1:
                    given = maximum(given, zero)
                    guarded = guarded + pushed * given
                else:
                    given = work.motion_sums[2 * END * tree + END + KINETIC, worker]
                    is_open = is_open + pushed * real(float(model.island_is_driven[island]), h)
                after = after + pushed * given
                work.tree_given[tree, worker] = given
        most = maximum(guarded - after + before, zero)
        excess = where_positive(is_open, zero, guarded - most)
        share = where_positive(excess, most / where_positive(guarded, guarded, one), one)
        for tree in range(model.tree_count):
            if model.tree_is_guarded[tree] == 1 and model.tree_island[tree] == island:
                pushed = work.tree_pushed[tree, worker]
                work.tree_given[tree, worker] = work.tree_given[tree, worker] * where_positive(pushed, share, one)


@wp.func
def scale_whole(model: ModelArrays, work: WorkArrays, tree: int, chosen: Real, given: Real, found: Real, worker: int):
    """Slow a tree down as a whole, from an energy found to that given, where chosen."""
    s = scale_of(found, given)
    for dof in range(model.dof_count):
        if model.link_tree[model.dof_link[dof]] == tree:
            v = work.v[dof, worker]
            work.v[dof, worker] = where_positive(chosen, s * v, v)


@wp.func
def is_only_touched(model: ModelArrays, control: ControlArrays, work: WorkArrays, tree: int, block: int, worker: int):
    """One where no drag and no given force acts on a tree, else zero."""
    island = model.tree_island[tree]
    zero = real(0.0, work.v[0, worker])
    drag = real(float(model.island_has_drag[island]), zero)
    given = drag + find_inputs(model, control, island, block, zero)
    return where_positive(given, zero, real(1.0, zero))


@wp.func
def largest_rate(model: ModelArrays, work: WorkArrays, tree: int, worker: int):
    """The largest angular velocity of a dof of a tree at the end of a step."""
    largest = real(0.0, work.v[0, worker])
    for dof in range(model.dof_count):
        if model.dof_is_linear[dof] == 0 and model.link_tree[model.dof_link[dof]] == tree:
            largest = maximum(largest, absolute(work.v[dof, worker]))
    return largest

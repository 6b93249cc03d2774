"""Trees that turn by a good part of a radian in a step, have an impact, or are pressed into a shape, gain no energy.

Trees that move freely and touch nothing follow `solver.energy_projection` but for their first step. For the others,
with W = sum f.(v + v+) h / 2 of rows, of drives and viscous friction in the factors, and of given forces, F and M the
impulse of rows on a floating tree and its moment about the centre of mass,
    T(q+, s v+) = T(q, v) + V(q) - V(q+) + W,   P+ = P + h m g + F,   L_C+ = L_C + M.
Trees that touch have together no more energy than before, plus the work in their joints, where all contacts are hard
and no body is kinematic. So what lifts a tree as it is moved out of a shape (`constraints.overlap_projection`) is taken
from its motion: else a rope that is pressed into a peg is lifted in each step, and falls faster each time.
Bodies without joints that touch and turn so far are slowed down by that alone.

So it is with trees that have loop joints between their own links, and may touch or have forces in their joints: s times
J v+ = 0 is zero, as is J of a motion of the whole, and loop joints do no work, whatever f.(v + v+) is with J of the
middle. Without it a track that is too short for its wheels, which locks, gained energy in each step from what presses
it onto them, and damped rope bridges that whip flew apart.

Where anything acts on a tree, s is at most one; under drag or a given force, V_C and Omega stay as found. A tree that
nothing touches or drives stays at q where q+ has no such s. One with forces in its joints does so where all of W is not
enough for that, and loses what joints have taken: at rest W is positive, and it sets off. What is pressed into a shape
goes to q+, and rests there. A tree in contact is slowed down as a whole where its momentum alone would need more energy
than there is: impulses may respond to velocities that a step does not resolve.
Impacts of trees with forces in their joints are not changed, unless they turn so far.

Trees with drives, friction, tendons or mimic joints may gain GAIN of their kinetic energy by the errors of all such
steps together, after the first one of a run: `state.energy_gain` counts it, and only the excess is removed. So a single
violent step is made as usual, and the forces reported for it are those that move it.
"""

import warp as wp

from warp_artic.constraints.drive import folded_force, mean_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    is_finite,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, StateArrays, WorkArrays, store_vec3
from warp_artic.model.families import FROM_OUTSIDE, HOLDS_POSITIONS, IS_CONTACT, IS_SOFT_LIMIT, has_trait
from warp_artic.solver.energy_projection import (
    MOST,
    energy_left,
    energy_of_whole,
    kinetic_energy_given,
    root_arm,
    scale_tree,
    scale_whole,
    stay,
)
from warp_artic.solver.history import nearer, velocity_before
from warp_artic.solver.motion_sums import END, KINETIC, add_up_end, add_up_start
from warp_artic.solver.unresolved_motion import base_motion, find_inputs, uneven_weights
from warp_artic.solver.violent_spin import VIOLENT, is_single

PRESSED = wp.constant(0.1)
"""Overlap, as a share of half of the thinner shape, from which on what moves a tree apart is taken from its motion."""
GAIN = wp.constant(0.05)
"""Of the kinetic energy of a tree that is acted on, what it may gain in all violent steps by their own errors."""


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
def watch_trees(model: ModelArrays, work: WorkArrays, block: int, worker: int, h_sub: Real, h: Real, substep: int):
    """After a substep of a step of h: add what rows and joints do to trees, where it is needed."""
    is_violent = find_watched(model, work, worker, h, substep)
    if is_violent or model.guards_impacts == 1:
        if substep == 0 and model.guards_impacts == 0:
            begin_trees(model, work, worker)
        add_rows(model, work, worker)
        if model.driven == 1:
            add_joint_work(model, work, block, worker, h_sub)


@wp.func
def find_watched(model: ModelArrays, work: WorkArrays, worker: int, h: Real, substep: int):
    """Write which trees have needed it in all substeps, those whose impacts are guarded always; says if others do."""
    zero = real(0.0, h)
    one = real(1.0, h)
    largest = zero
    for k in range(model.watched_dofs):
        largest = maximum(largest, absolute(work.v_next[model.watched_dof[k], worker]))
    is_violent = any_positive(h * h * largest * largest - real(VIOLENT, h))
    found = bool(False)
    for tree in range(model.tree_count):
        watched = zero
        deep = depth_of(model, work, tree, worker)
        if model.tree_guards_impacts[tree] == 1:
            watched = one
        elif (is_violent or any_positive(deep)) and model.tree_is_guarded[tree] == 1:
            turned = h * largest_rate(model, work, work.v_next, tree, worker)
            watched = where_positive(maximum(turned * turned - real(VIOLENT, h), deep), one, zero)
            if substep > 0:
                watched = minimum(work.tree_watched[tree, worker], watched)
            found = found or any_positive(watched)
        work.tree_watched[tree, worker] = watched
    return found


@wp.func
def add_joint_work(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Add the work of drives and of viscous friction through the factors in a substep of h."""
    half = real(0.5, h)
    for dof in range(model.root_dofs, model.dof_count):
        viscous = model.friction_viscous[dof - model.root_dofs, block]
        force = folded_force(model, work, dof, block, worker, h)
        force = force - viscous * mean_velocity(work, dof, worker, work.theta[dof, worker])
        path = half * h * (work.v[dof, worker] + work.v_next[dof, worker])
        tree = model.link_tree[model.dof_link[dof]]
        work.tree_inner_work[tree, worker] = work.tree_inner_work[tree, worker] + force * path


@wp.func
def add_rows(model: ModelArrays, work: WorkArrays, worker: int):
    """Add the work and impulses of rows; what springs of soft limits have is part of the potential, loops do none."""
    half = real(0.5, work.v[0, worker])
    for row in range(model.row_count):
        z = work.impulse[row, worker] + work.given[row, worker]
        if any_positive(absolute(z)):
            for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
                dof = model.term_dof[term]
                tree = model.link_tree[model.dof_link[dof]]
                f = work.P[term, worker] * z
                path = half * (work.v[dof, worker] + work.v_next[dof, worker])
                if has_trait(model, row, FROM_OUTSIDE):
                    add_outer_impulse(model, work, dof, f, path, z, worker)
                    if has_trait(model, row, IS_CONTACT):
                        hit = where_positive(absolute(z), work.contact_hits[model.row_item[row] // 3, worker], z - z)
                        work.tree_hit[tree, worker] = maximum(work.tree_hit[tree, worker], hit)
                else:
                    if not has_trait(model, row, IS_SOFT_LIMIT | HOLDS_POSITIONS):
                        work.tree_inner_work[tree, worker] = work.tree_inner_work[tree, worker] + f * path
                    add_impulse(model, work, dof, f, z, worker)


@wp.func
def add_outer_impulse(model: ModelArrays, work: WorkArrays, dof: int, f: Real, path: Real, z: Real, worker: int):
    """Add what f of the impulse z of a row from outside does to a tree, with the mean velocity of the dof."""
    tree = model.link_tree[model.dof_link[dof]]
    work.tree_work[tree, worker] = work.tree_work[tree, worker] + f * path
    work.tree_pushed[tree, worker] = maximum(work.tree_pushed[tree, worker], absolute(z))
    add_impulse(model, work, dof, f, z, worker)


@wp.func
def add_impulse(model: ModelArrays, work: WorkArrays, dof: int, f: Real, z: Real, worker: int):
    """Add f of a row's impulse z to what acts on the root of a tree, and that the tree is stopped."""
    tree = model.link_tree[model.dof_link[dof]]
    if dof < model.root_dofs:
        k = 6 * tree + dof - model.tree_root[tree]
        work.tree_impulse[k, worker] = work.tree_impulse[k, worker] + f
    work.tree_stopped[tree, worker] = maximum(work.tree_stopped[tree, worker], absolute(z))


@wp.func
def any_watched(model: ModelArrays, work: WorkArrays, worker: int):
    """Whether any tree may have to be changed."""
    found = bool(False)
    for tree in range(model.tree_count):
        found = found or any_positive(work.tree_watched[tree, worker])
    return found


@wp.func
def keep_tree_energies(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real
):
    """Change the velocities of such trees at the end of a step of length h; `state` is still q and v."""
    zero = real(0.0, h)
    one = real(1.0, h)
    moving = base_motion(model, block, zero)
    starts = one - state.started[0, block]
    is_violent = bool(False)
    for tree in range(model.tree_count):
        work.tree_chosen[tree, worker] = zero
        if any_positive(work.tree_watched[tree, worker]):
            rate = largest_rate(model, work, work.v, tree, worker)
            violent = where_positive(h * h * rate * rate - real(VIOLENT, h), one, zero)
            if is_single(model, tree):
                violent = where_positive(work.tree_pushed[tree, worker], violent, zero)
            elif model.island_moves_freely[model.tree_island[tree]] == 1:
                violent = where_positive(maximum(work.tree_pushed[tree, worker], starts), violent, zero)
            if model.tree_guards_impacts[tree] == 1:
                violent = where_positive(work.tree_hit[tree, worker], one, violent)
            violent = where_positive(depth_of(model, work, tree, worker) * work.tree_pushed[tree, worker], one, violent)
            if model.tree_is_acted[tree] == 1:
                violent = where_positive(starts, zero, violent)
            violent = violent * work.tree_watched[tree, worker]
            work.tree_chosen[tree, worker] = where_positive(moving, zero, violent)
            if any_positive(work.tree_chosen[tree, worker]):
                is_violent = bool(True)
    if is_violent:
        add_up_start(model, state, control, work, block, worker)
        for tree in range(model.tree_count):
            store_vec3(work.tree_arm, 3 * tree, worker, root_arm(model, work, tree, 0, worker))
        add_up_end(model, control, work, block, worker)
        for tree in range(model.tree_count):
            if model.tree_is_guarded[tree] == 1:
                is_free = is_only_touched(model, control, work, tree, block, worker)
                left = energy_left(model, state, work, tree, is_free, block, worker, h)
                if model.tree_is_acted[tree] == 1:
                    left = left + work.tree_inner_work[tree, worker] + work.tree_work[tree, worker]
                left = left + room_to_gain(model, state, work, tree, left, block, worker)
                stuck = where_positive(left, zero, work.tree_chosen[tree, worker] * is_free)
                uneven = uneven_weights(model, model.tree_island[tree], block, zero)
                stuck = where_positive(maximum(uneven, depth_of(model, work, tree, worker)), zero, stuck)
                if model.tree_is_acted[tree] == 0:
                    stuck = where_positive(work.tree_pushed[tree, worker], zero, stuck)
                inner = work.tree_inner_work[tree, worker]
                work.tree_inner_work[tree, worker] = where_positive(stuck, minimum(inner, zero), inner)
                stay(model, state, work, tree, block, worker, stuck, h)
        add_up_end(model, control, work, block, worker)
        share_energies(model, state, work, block, worker, h)
        for tree in range(model.tree_count):
            if model.tree_is_guarded[tree] == 1:
                is_free = is_only_touched(model, control, work, tree, block, worker)
                given = work.tree_given[tree, worker]
                if model.tree_is_acted[tree] == 1:
                    given = count_gain(model, state, work, tree, given, block, worker)
                left = given
                if model.tree_root[tree] >= 0:
                    left = given - energy_of_whole(model, work, tree, is_free, block, worker, h)
                acts = maximum(one - is_free, work.tree_stopped[tree, worker])
                acts = acts + real(float(model.tree_is_acted[tree]), h)
                most = where_positive(acts, one, real(MOST, h))
                chosen = work.tree_chosen[tree, worker]
                scale_tree(model, work, tree, chosen, left, most, is_free, block, worker, h)
                touched = where_positive(work.tree_pushed[tree, worker], chosen, zero)
                scale_whole(model, work, tree, where_positive(neg(left), touched, zero), given, given - left, worker)
        limit_accelerations(model, state, work, block, worker, h)


@wp.func
def most_gain(model: ModelArrays, work: WorkArrays, tree: int, given: Real, worker: int):
    """What energy a tree that is acted on may gain in all, of what it has or is given; zero of others."""
    kinetic = maximum(work.motion_sums[2 * END * tree + KINETIC, worker], given)
    return real(GAIN, given) * kinetic * real(float(model.tree_is_acted[tree]), given)


@wp.func
def room_to_gain(
    model: ModelArrays, state: StateArrays, work: WorkArrays, tree: int, given: Real, block: int, worker: int
):
    """What energy a tree may still gain."""
    return maximum(most_gain(model, work, tree, given, worker) - state.energy_gain[tree, block], given - given)


@wp.func
def count_gain(
    model: ModelArrays, state: StateArrays, work: WorkArrays, tree: int, given: Real, block: int, worker: int
):
    """Count what a chosen tree gains beyond the energy that it is given, and choose it only where that is too much."""
    kinetic = work.motion_sums[2 * END * tree + END + KINETIC, worker]
    zero = kinetic - kinetic
    most = most_gain(model, work, tree, given, worker)
    room = room_to_gain(model, state, work, tree, given, block, worker)
    chosen = work.tree_chosen[tree, worker]
    gain = state.energy_gain[tree, block]
    counted = minimum(maximum(gain + minimum(kinetic - given, room), zero), most)
    keeps = maximum(state.failure[0, block], real(1.0, chosen) - chosen)
    state.energy_gain[tree, block] = where_positive(keeps, gain, counted)
    work.tree_chosen[tree, worker] = where_positive(kinetic - given - room, chosen, zero)
    return given + where_positive(chosen, room, zero)


@wp.func
def limit_accelerations(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Have later steps expect no more of trees whose velocities are changed than these have been accelerated by."""
    for dof in range(model.dof_count):
        chosen = work.tree_chosen[model.link_tree[model.dof_link[dof]], worker]
        if any_positive(chosen):
            v = velocity_before(model, state, dof, block)
            smooth = state.smooth_acceleration[dof, block]
            limited = nearer((work.v[dof, worker] - v) / h, smooth)
            state.smooth_acceleration[dof, block] = where_positive(chosen, limited, smooth)
            if model.driven == 1:
                change = state.acceleration_change[dof, block]
                state.acceleration_change[dof, block] = where_positive(chosen, change - change, change)


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
                own = own + work.tree_inner_work[tree, worker]
                given = own + work.tree_work[tree, worker]
                before = before + pushed * own
                if model.tree_is_guarded[tree] == 1 and not is_single(model, tree):
                    given = maximum(given, zero)
                    guarded = guarded + pushed * given
                else:
                    given = work.motion_sums[2 * END * tree + END + KINETIC, worker]
                    is_open = is_open + pushed * real(float(model.island_is_driven[island]), h)
                    guarded = guarded + work.tree_chosen[tree, worker] * given
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
def is_only_touched(model: ModelArrays, control: ControlArrays, work: WorkArrays, tree: int, block: int, worker: int):
    """One where no drag and no given force acts on a tree with joints, else zero."""
    island = model.tree_island[tree]
    zero = real(0.0, work.v[0, worker])
    drag = real(float(model.island_has_drag[island]), zero)
    given = drag + find_inputs(model, control, island, block, zero)
    return where_positive(given, zero, real(float(1 - int(is_single(model, tree))), zero))


@wp.func
def depth_of(model: ModelArrays, work: WorkArrays, tree: int, worker: int):
    """Positive where a tree with joints is in an island that is pressed into a shape."""
    deep = real(0.0, work.v[0, worker])
    if model.contact_count > 0 and not is_single(model, tree):
        deep = maximum(work.is_deep[model.tree_island[tree], worker] - real(PRESSED, deep), deep)
    return deep


@wp.func
def largest_rate(model: ModelArrays, work: WorkArrays, rates: Array, tree: int, worker: int):
    """The largest of the angular velocities of the dofs of a tree."""
    largest = real(0.0, work.v[0, worker])
    for dof in range(model.dof_count):
        if model.dof_is_linear[dof] == 0 and model.link_tree[model.dof_link[dof]] == tree:
            largest = maximum(largest, absolute(rates[dof, worker]))
    return largest

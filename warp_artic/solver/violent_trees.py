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
it onto them, and damped rope bridges that whip flew apart. Trees that loop joints or distances join are one assembly
(`mechanisms.guarded_trees`), which is meant wherever a tree is spoken of here: it has the sums of all, and is known by
its first tree. What comes off as a loop joint breaks is no part of it any more (`solver.joined_trees`). One that the
world holds, at a fixed base or by loop joints, is scaled by s as it is. Loop joints that scale masses need not keep
energy: with them nothing is changed.

Where anything acts on a tree, s is at most one; under drag or a given force, V_C and Omega stay as found. A tree that
nothing touches or drives stays at q where q+ has no such s. One with forces in its joints does so where all of W is not
enough for that, and loses what joints have taken: at rest W is positive, and it sets off. What is pressed into a shape
goes to q+, and rests there. A tree in contact is slowed down as a whole where its momentum alone would need more energy
than there is: impulses may respond to velocities that a step does not resolve.
Impacts of trees with forces in their joints are not changed, unless they turn so far.

Trees with drives, friction, tendons or mimic joints may gain GAIN of their kinetic energy by the errors of all such
steps together, after the first one of a run: `state.energy_gain` counts it, and only the excess is removed. So a single
violent step is made as usual, and the forces reported for it are those that move it. What floats and touches nothing
keeps its momenta in more than violent steps (`solver.floating_motion`).
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
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays, store_vec3
from warp_artic.model.islands import assembly_of_dof, if_dof_joined
from warp_artic.solver.closed_energy import CHANGED
from warp_artic.solver.energy_projection import (
    MOST,
    energy_found,
    energy_left,
    energy_of_whole,
    kinetic_energy_given,
    move_whole,
    root_arm,
    scale_tree,
    scale_whole,
    stay,
)
from warp_artic.solver.floating_motion import (
    is_only_touched,
    keeps_momenta,
    keeps_motion,
    kept_energy,
    nearest_kept_energy,
)
from warp_artic.solver.history import nearer, velocity_before
from warp_artic.solver.motion_sums import END, INNER, KINETIC, add_up_end, add_up_start, relative_energy
from warp_artic.solver.tree_rates import (
    depth_of,
    is_lone_body,
    largest_rate,
    largest_rate_before,
    scaled_loop,
    turn_allowed,
    turn_watched,
)
from warp_artic.solver.tree_work import add_joint_work, add_rows, begin_trees
from warp_artic.solver.unresolved_motion import base_motion, uneven_weights

GAIN = wp.constant(0.05)
"""Of the kinetic energy of a tree that is acted on, what it may gain in all violent steps by their own errors."""


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
        dof = model.watched_dof[k]
        rate = maximum(absolute(work.v[dof, worker]), absolute(work.v_next[dof, worker]))
        largest = maximum(largest, h * h * rate * rate - turn_watched(model, assembly_of_dof(model, dof), h))
    is_violent = any_positive(largest)
    found = bool(False)
    for tree in range(model.tree_count):
        watched = zero
        deep = depth_of(model, work, tree, worker)
        if model.tree_guards_impacts[tree] == 1:
            watched = one
        elif (is_violent or any_positive(deep)) and model.tree_is_guarded[tree] == 1:
            rate = maximum(largest_rate(model, work.v, tree, worker), largest_rate(model, work.v_next, tree, worker))
            watched = where_positive(maximum(h * h * rate * rate - turn_watched(model, tree, h), deep), one, zero)
            if substep > 0:
                watched = minimum(work.tree_watched[tree, worker], watched)
            found = found or any_positive(watched)
        work.tree_watched[tree, worker] = watched
    return found


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
    if choose_trees(model, state, control, work, block, worker, h):
        add_up_start(model, state, control, work, block, worker)
        for tree in range(model.tree_count):
            store_vec3(work.tree_arm, 3 * tree, worker, root_arm(model, work, tree, 0, worker))
        add_up_end(model, control, work, block, worker)
        for tree in range(model.tree_count):
            if model.tree_is_guarded[tree] == 1:
                place_tree(model, state, control, work, tree, block, worker, h)
        add_up_end(model, control, work, block, worker)
        share_energies(model, state, work, block, worker, h)
        for tree in range(model.tree_count):
            if model.tree_is_guarded[tree] == 1:
                change_tree(model, state, control, work, tree, block, worker, h)
        limit_accelerations(model, state, work, block, worker, h)


@wp.func
def choose_trees(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real
):
    """Write which trees turn far, whose energy is kept, and whose momenta; says if any is kept."""
    zero = real(0.0, h)
    one = real(1.0, h)
    starts = one - state.started[0, block]
    found = bool(False)
    for tree in range(model.tree_count):
        work.tree_chosen[tree, worker] = zero
        work.tree_flies[tree, worker] = zero
        if any_positive(work.tree_watched[tree, worker]):
            moving = base_motion(model, block, zero)
            if model.scaled_loops == 1:
                moving = maximum(moving, scaled_loop(model, tree, block, zero))
            rate = maximum(largest_rate(model, work.v, tree, worker), largest_rate_before(model, state, tree, block))
            allowed = turn_allowed(model, tree, work.tree_stopped[tree, worker])
            turns = where_positive(h * h * rate * rate - allowed, one, zero)
            violent = moves_violently(model, work, tree, turns, starts, worker)
            violent = maximum(violent, keeps_motion(model, control, work, tree, block, worker))
            flies = keeps_momenta(model, control, work, tree, rate, block, worker, h) * work.tree_watched[tree, worker]
            work.tree_turns[tree, worker] = turns
            work.tree_chosen[tree, worker] = where_positive(moving, zero, violent)
            work.tree_flies[tree, worker] = where_positive(moving, zero, flies)
            found = found or any_positive(maximum(work.tree_chosen[tree, worker], work.tree_flies[tree, worker]))
    return found


@wp.func
def moves_violently(model: ModelArrays, work: WorkArrays, tree: int, turns: Real, starts: Real, worker: int):
    """One where a tree that is watched turns far, has a guarded impact or is pressed into a shape, else zero."""
    one = real(1.0, turns)
    zero = one - one
    pushed = work.tree_pushed[tree, worker]
    violent = turns
    if is_lone_body(model, tree):
        violent = where_positive(pushed, violent, zero)
    elif model.island_moves_freely[model.tree_island[tree]] == 1:
        violent = where_positive(maximum(pushed, starts), violent, zero)
    if model.tree_guards_impacts[tree] == 1:
        violent = where_positive(work.tree_hit[tree, worker], one, violent)
    violent = where_positive(depth_of(model, work, tree, worker) * pushed, one, violent)
    if model.tree_is_acted[tree] == 1:
        violent = where_positive(starts, zero, violent)
    return violent * work.tree_watched[tree, worker]


@wp.func
def place_tree(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    tree: int,
    block: int,
    worker: int,
    h: Real,
):
    """Leave a tree at q where q+ is out of reach, and move one that keeps its momenta as these move its whole."""
    zero = real(0.0, h)
    is_free = is_only_touched(model, control, work, tree, block, worker)
    left = energy_left(model, state, work, tree, is_free, block, worker, h)
    if model.tree_is_acted[tree] == 1:
        left = left + work.tree_inner_work[tree, worker] + work.tree_work[tree, worker]
    left = left + room_to_gain(model, state, work, tree, left, block, worker)
    keeps = keeps_motion(model, control, work, tree, block, worker)
    left = where_positive(keeps, kept_energy(work, tree, worker), left)
    stuck = where_positive(left, zero, work.tree_chosen[tree, worker] * is_free)
    goes_on = maximum(uneven_weights(model, tree, block, zero), depth_of(model, work, tree, worker))
    goes_on = maximum(goes_on, keeps * (real(1.0, h) - work.tree_turns[tree, worker]))
    stuck = where_positive(goes_on, zero, stuck)
    if model.tree_is_acted[tree] == 0:
        stuck = where_positive(work.tree_pushed[tree, worker], zero, stuck)
    inner = work.tree_inner_work[tree, worker]
    work.tree_inner_work[tree, worker] = where_positive(stuck, minimum(inner, zero), inner)
    stay(model, state, work, tree, block, worker, stuck, h)
    flies = maximum(keeps * work.tree_chosen[tree, worker], work.tree_flies[tree, worker])
    move_whole(model, state, work, tree, where_positive(stuck, zero, flies), block, worker, h)


@wp.func
def change_tree(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    tree: int,
    block: int,
    worker: int,
    h: Real,
):
    """Give v+ of a tree the energy and momenta that it is to have."""
    zero = real(0.0, h)
    one = real(1.0, h)
    is_free = is_only_touched(model, control, work, tree, block, worker)
    flies = work.tree_flies[tree, worker]
    keeps = keeps_motion(model, control, work, tree, block, worker)
    whole = zero
    found = energy_found(model, work, tree, worker)
    if model.tree_floats[tree] == 1:
        whole = energy_of_whole(model, work, tree, maximum(is_free, flies), block, worker, h)
        inner = relative_energy(work, 2 * END * tree + END, worker)
        found = where_positive(maximum(keeps, flies), inner, found)
    given = work.tree_given[tree, worker]
    if model.tree_is_acted[tree] == 1:
        given = count_gain(model, state, work, tree, given, found, whole, block, worker)
    chosen = work.tree_chosen[tree, worker]
    left = where_positive(where_positive(chosen, zero, flies), found, given - whole)
    left = where_positive(keeps, nearest_kept_energy(work, tree, worker), left)
    acts = maximum(one - is_free, work.tree_stopped[tree, worker])
    acts = acts + real(float(model.tree_is_acted[tree] + model.island_is_looped[model.tree_island[tree]]), h)
    most = where_positive(acts * (one - keeps), one, real(MOST, h))
    scale_tree(model, work, tree, maximum(chosen, flies), found, left, most, maximum(is_free, flies), block, worker, h)
    touched = where_positive(work.tree_pushed[tree, worker], chosen, zero)
    scale_whole(model, work, tree, where_positive(neg(left), touched, zero), given, given - left, worker)
    changed = where_positive(absolute(left - found) - real(2.0 * float(CHANGED), h) * found, one, zero)
    work.tree_chosen[tree, worker] = where_positive(keeps, changed, one) * chosen


@wp.func
def most_gain(model: ModelArrays, work: WorkArrays, tree: int, left: Real, worker: int):
    """What energy a tree that is acted on may gain in all, of what it has or is left; zero of others.

    Of one that floats, that of the motion of its centre of mass does not count.
    """
    sums = 2 * END * tree
    kinetic = work.motion_sums[sums + KINETIC, worker]
    if model.tree_floats[tree] == 1:
        kinetic = work.motion_sums[sums + INNER, worker]
    return real(GAIN, left) * maximum(kinetic, left) * real(float(model.tree_is_acted[tree]), left)


@wp.func
def room_to_gain(
    model: ModelArrays, state: StateArrays, work: WorkArrays, tree: int, left: Real, block: int, worker: int
):
    """What energy a tree may still gain."""
    return maximum(most_gain(model, work, tree, left, worker) - state.energy_gain[tree, block], left - left)


@wp.func
def count_gain(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    tree: int,
    given: Real,
    found: Real,
    whole: Real,
    block: int,
    worker: int,
):
    """Count what a chosen tree gains beyond the energy that it is given, and choose it only where that is too much.

    If it keeps its momenta anyhow, it has what is found relative to the whole, and that of the whole which it is to
    have.
    """
    kinetic = work.motion_sums[2 * END * tree + END + KINETIC, worker]
    kinetic = where_positive(work.tree_flies[tree, worker], found + whole, kinetic)
    zero = kinetic - kinetic
    most = most_gain(model, work, tree, given - whole, worker)
    room = room_to_gain(model, state, work, tree, given - whole, block, worker)
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
        chosen = if_dof_joined(model, work, dof, worker, work.tree_chosen[assembly_of_dof(model, dof), worker])
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
            is_first = model.tree_assembly[tree] == tree
            if is_first and model.tree_is_summed[tree] == 1 and model.tree_island[tree] == island:
                pushed = where_positive(work.tree_pushed[tree, worker], one, zero)
                own = kinetic_energy_given(model, state, work, tree, block, worker, h)
                own = own + work.tree_inner_work[tree, worker]
                given = own + work.tree_work[tree, worker]
                before = before + pushed * own
                if model.tree_is_guarded[tree] == 1 and not is_lone_body(model, tree):
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

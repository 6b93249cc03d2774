"""Trees that touch something among many bodies end a step with no more energy than their contacts leave them.

There contacts are solved before a step, for the velocities v_free that it would end with if nothing touched, and change
these to v_c (`islands`); the step then responds to their forces. With T(q, v) the kinetic energy of a tree, q_free its
positions after the step without contacts, and M its mass matrix at the positions q that contacts are solved at,
    T(q+, v+) <= T(q_free, v_free) + dE,   dE = (v_c - v_free)^T M (v_c + v_free) / 2,
and in a tree on which no spring, damper, friction, tendon or mimic joint acts, as well
    dE <= (v_c - v_free)^T M (v_c + v) / 2 + h F.(v_c - v_free) / 2,
the work of the contacts over the mean of the velocities, and what they change of that of weights and given forces F.
The first contains work of velocity forces, which do none. Where links turn far in a step, the forces of contacts times
the velocities v+ that they lead to would be work of its own, which feeds on itself.

Where there is more, what is scaled is the motion relative to that of the whole tree (`solver.energy_projection`), and
the tree as a whole only where its momentum alone has more. Trees that loop joints join are one, as in
`solver.violent_trees`.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.model.islands import assembly_of_dof
from warp_artic.phases.integrate import load_state, move_joints, store_state
from warp_artic.solver.energy_projection import energy_found, energy_of_whole, scale_tree, scale_whole
from warp_artic.solver.joined_trees import load_joined
from warp_artic.solver.motion_sums import (
    END,
    KINETIC,
    MASS,
    MOMENTUM,
    POWER,
    WEIGHT,
    add_up_end,
    add_up_motion,
    add_up_start,
)
from warp_artic.solver.unresolved_motion import base_motion


@wp.func
def is_summed(model: ModelArrays, tree: int):
    """Whether the energies of a tree are known: it moves freely, or only what is known of it acts on it."""
    return model.island_moves_freely[model.tree_island[tree]] == 1 or model.tree_is_limited[tree] == 1


@wp.func
def keep_free_energies(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    energy: Array,
    block: int,
    worker: int,
):
    """Write T(q_free, v_free) of trees, of the state after a step without contacts."""
    if model.breakable_loops == 1:
        load_joined(model, state, work, block, worker)
    add_up_start(model, state, control, work, block, worker)
    for tree in range(model.tree_count):
        energy[tree, block] = work.motion_sums[2 * END * tree + KINETIC, worker]


@wp.func
def add_up_change(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    free: Array,
    found: Array,
    from_start: int,
    block: int,
    worker: int,
):
    """Add up x + y, from END on x - y: x = v_c - v_free, y = v_c + v_free or, if `from_start` is 1, y = v_c + v."""
    for sign in range(2):
        for dof in range(model.dof_count):
            x = found[dof, block] - free[dof, block]
            y = found[dof, block] + free[dof, block]
            if from_start == 1:
                y = found[dof, block] + work.v[dof, worker]
            work.u[dof, worker] = x + y
            if sign == 1:
                work.u[dof, worker] = x - y
        add_up_motion(model, control, work, sign * END, block, worker)


@wp.func
def change_of(work: WorkArrays, tree: int, half: Real, worker: int):
    """x^T M y / 2, of such sums."""
    sums = 2 * END * tree
    change = work.motion_sums[sums + KINETIC, worker] - work.motion_sums[sums + END + KINETIC, worker]
    return half * half * change


@wp.func
def add_contact_work(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    free: Array,
    found: Array,
    energy: Array,
    touched: Array,
    block: int,
    worker: int,
    h: Real,
    ahead: Real,
):
    """Add what contacts change of the energies of trees, with q of the state, and write which ones they touch."""
    half = real(0.5, h)
    zero = half - half
    for tree in range(model.tree_count):
        touched[tree, block] = zero
    is_touched = bool(False)
    for dof in range(model.dof_count):
        tree = assembly_of_dof(model, dof)
        change = absolute(found[dof, block] - free[dof, block])
        is_touched = is_touched or any_positive(change)
        touched[tree, block] = maximum(touched[tree, block], change)
    if is_touched:
        if model.breakable_loops == 1:
            load_joined(model, state, work, block, worker)
        load_state(model, state, work, block, worker)
        for dof in range(model.dof_count):
            work.v_next[dof, worker] = ahead * work.v[dof, worker]
        move_joints(model, work, work.end_position, work.end_root, block, worker, real(1.0, h), 0, 1)
        add_up_change(model, control, work, free, found, 0, block, worker)
        for tree in range(model.tree_count):
            work.tree_work[tree, worker] = change_of(work, tree, half, worker)
        add_up_change(model, control, work, free, found, 1, block, worker)
        g = load_vec3(model.gravity, 0, block)
        for tree in range(model.tree_count):
            if is_summed(model, tree):
                sums = 2 * END * tree
                change = work.tree_work[tree, worker]
                if model.tree_is_acted[tree] == 0:
                    power = work.motion_sums[sums + POWER, worker] + work.motion_sums[sums + END + POWER, worker]
                    P = load_vec3(work.motion_sums, sums + MOMENTUM, worker)
                    P = P + load_vec3(work.motion_sums, sums + END + MOMENTUM, worker)
                    share = work.motion_sums[sums + WEIGHT, worker] / work.motion_sums[sums + MASS, worker]
                    given = half * half * h * (power + share * dot(g, P))
                    change = minimum(change, change_of(work, tree, half, worker) + given)
                energy[tree, block] = energy[tree, block] + change


@wp.func
def limit_energies(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    energy: Array,
    touched: Array,
    block: int,
    worker: int,
):
    """Slow such trees down at the end of a step, of which the state is."""
    is_touched = bool(False)
    for tree in range(model.tree_count):
        is_touched = is_touched or any_positive(touched[tree, block])
    if is_touched:
        if model.breakable_loops == 1:
            load_joined(model, state, work, block, worker)
        load_state(model, state, work, block, worker)
        add_up_end(model, control, work, block, worker)
        for tree in range(model.tree_count):
            slow_down(model, work, energy, touched, tree, block, worker)
        store_state(model, state, work, block, worker)


@wp.func
def slow_down(model: ModelArrays, work: WorkArrays, energy: Array, touched: Array, tree: int, block: int, worker: int):
    """Give v+ of a tree that is touched no more energy than is left, where its base does not turn or accelerate."""
    zero = real(0.0, model.gravity[0, block])
    one = real(1.0, zero)
    if is_summed(model, tree):
        given = maximum(energy[tree, block], zero)
        excess = work.motion_sums[2 * END * tree + END + KINETIC, worker] - given
        chosen = where_positive(touched[tree, block], where_positive(excess, one, zero), zero)
        chosen = where_positive(base_motion(model, block, zero), zero, chosen)
        left = given
        if model.tree_floats[tree] == 1:
            left = given - energy_of_whole(model, work, tree, zero, block, worker, zero)
        found = energy_found(model, work, tree, worker)
        scale_tree(model, work, tree, chosen, found, left, one, zero, block, worker, zero)
        scale_whole(model, work, tree, where_positive(neg(left), chosen, zero), given, given - left, worker)

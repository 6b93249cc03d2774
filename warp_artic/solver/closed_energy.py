"""Closed mechanisms that the world holds, and on which only weights act, keep their energy.

After a step and its closing (`solver.close_loops`) v+ becomes s v+, with
    T(q+, s v+) = T(q, v) + V(q) - V(q+),   s^2 = (T(q, v) + V(q) - V(q+)) / T(q+, v+),
T the kinetic energy and V that of weights. J s v+ = 0 holds as J v+ = 0 does. A step misses its energy by terms of
third order, so that s differs from one by as much and the order of the motion stays; without it the energy of a
four-bar linkage at 240 Hz is wrong by 0.5 % of the largest kinetic energy within 10 s. Where an environment starts,
(q, v) are those that its loop joints allow (`solver.closed_start`).

What is left open is s^2 beyond a tenth of one: below that it is nine tenths, or what leaves nine tenths of T(q, v), so
that at most a tenth of the kinetic energy goes in a step where q+ is too high up, and none that contradicting rows have
made stays; above that s is one: a closed mechanism that runs into a pose beyond which it cannot go loses its energy as
in an inelastic impact, and at rest there is none to be scaled.

Where s is far from one, a step does not resolve the motion, and what it has accelerated dofs by may be anything: the
next one expects no more than v+ - v says, else chains that whip are thrown apart by their own expectations.

Where stops have acted, which take energy and give none, s^2 is from 1/100 to one; after bounces with the whole speed,
which take none, up to two.
In steps in which efforts or wrenches are given, the base moves, or another row that is no held axis of a loop joint
acts (a limit of its axes, a contact), or a loop joint scales masses, which need not keep energy, v+ stays as it is.
So it does where springs, dampers, drives, drag, friction or tendons act, of what only floats (`solver.floating_motion`
has theirs), and without a middle, where the energy of a step is of first order. Hard mimic joints do no work, but where
they are open, or at a start; as springs they act. All this is for each assembly of trees that joints join
(`mechanisms.guarded_trees.GuardedTrees.keeps_energy`): what flies by is no part of it, nor is what has come off as a
loop joint broke (`solver.joined_trees`).
"""

import warp as wp

from warp_artic.constraints.bouncing_limit import BOUNCING_LIMIT_ORDER
from warp_artic.constraints.mimic import mimic_error
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
    sqrt,
    sub,
    where_positive,
)
from warp_artic.math.rotation import ratio
from warp_artic.math.spatial import cross, dot, transpose_mul
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays, load_mat3, load_sym3, load_vec3
from warp_artic.model.base import BASE_ANGULAR, BASE_ANGULAR_RATE, BASE_LINEAR, BASE_LINEAR_RATE
from warp_artic.model.families import HOLDS_POSITIONS, IS_SOFT_LIMIT, MOVES_DOFS_ALIKE, has_trait
from warp_artic.model.islands import assembly_of_dof, if_dof_joined, if_joined
from warp_artic.model.kinds import FLOATING
from warp_artic.phases.link_frames import pose_links
from warp_artic.solver.history import nearer, velocity_before
from warp_artic.solver.tree_rates import scaled_loop
from warp_artic.solver.unresolved_motion import find_inputs

# Rows of `work.closed_energy` of an assembly.
START = wp.constant(0)
"""T + V at the start of the step [J]."""
KINETIC = wp.constant(1)
"""T of the state that was added up last [J]."""
POTENTIAL = wp.constant(2)
"""V of it, and the work that is to come, or less that is done [J]."""
ACTED = wp.constant(3)
"""Positive where anything but weights has acted in the step."""
BEFORE = wp.constant(4)
"""T at the start of the step [J]."""
STOPPED = wp.constant(5)
"""Positive where stops have acted in the step."""
LOST = wp.constant(6)
"""Positive where they may have taken energy."""
ROWS = wp.constant(7)

CHANGED = wp.constant(0.02)
"""Change of a velocity, as a share, by which a step does not resolve the motion."""
OPEN = wp.constant(1e-4)
"""Error of a hard mimic joint from which its return may do work [rad or m]."""


@wp.func
def note_start(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write the energies at the start of a step, and which assemblies are given anything."""
    zero = real(0.0, model.gravity[0, block])
    moving = zero
    for k in range(3):
        moving = moving + absolute(model.base[BASE_LINEAR + k, block]) + absolute(model.base[BASE_ANGULAR + k, block])
        moving = moving + absolute(model.base[BASE_LINEAR_RATE + k, block])
        moving = moving + absolute(model.base[BASE_ANGULAR_RATE + k, block])
    add_up_energies(model, control, work, block, worker, h * real(0.5, h))
    for tree in range(model.tree_count):
        if model.tree_keeps_energy[tree] == 1:
            own = ROWS * tree
            given = find_inputs(model, control, tree, block, zero)
            work.closed_energy[own + BEFORE, worker] = work.closed_energy[own + KINETIC, worker]
            energy = work.closed_energy[own + KINETIC, worker] + work.closed_energy[own + POTENTIAL, worker]
            work.closed_energy[own + START, worker] = energy
            work.closed_energy[own + ACTED, worker] = moving + given
            work.closed_energy[own + STOPPED, worker] = zero
            work.closed_energy[own + LOST, worker] = zero
            if model.scaled_loops == 1:
                scaled = scaled_loop(model, tree, block, zero)
                work.closed_energy[own + ACTED, worker] = maximum(work.closed_energy[own + ACTED, worker], scaled)


@wp.func
def note_acting_rows(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Write where rows have acted, of which the impulses are known, that are no held axes of loop joints."""
    for row in range(model.row_count):
        if not has_trait(model, row, HOLDS_POSITIONS):
            last = model.row_term[row] + model.row_terms[row] - 1
            one = assembly_of_dof(model, model.row_dof[row])
            other = assembly_of_dof(model, model.term_dof[last])
            if model.tree_keeps_energy[one] == 1:
                note_acting_row(model, work, row, one, block, worker)
            if other != one and model.tree_keeps_energy[other] == 1:
                note_acting_row(model, work, row, other, block, worker)


@wp.func
def note_acting_row(model: ModelArrays, work: WorkArrays, row: int, tree: int, block: int, worker: int):
    """Write where such a row has acted on an assembly."""
    own = ROWS * tree
    acts = absolute(work.impulse[row, worker])
    if has_trait(model, row, MOVES_DOFS_ALIKE):
        acts = acts * mimic_works(model, work, row, block, worker)
    if has_trait(model, row, IS_SOFT_LIMIT):
        acts = maximum(acts, absolute(work.given[row, worker]))
    if row < model.stop_row:
        work.closed_energy[own + ACTED, worker] = work.closed_energy[own + ACTED, worker] + acts
    else:
        work.closed_energy[own + STOPPED, worker] = work.closed_energy[own + STOPPED, worker] + acts
        if model.row_family[row] == BOUNCING_LIMIT_ORDER:
            acts = acts * elastic_loss(model, work, row, block, worker)
        work.closed_energy[own + LOST, worker] = work.closed_energy[own + LOST, worker] + acts


@wp.func
def mimic_works(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """One where a mimic joint is a spring, is open, or takes velocities that contradict it, at a start; else zero."""
    one = real(1.0, work.impulse[row, worker])
    zero = one - one
    is_open = absolute(mimic_error(model, work.position, worker, row, block)) - real(OPEN, one)
    starts = work.position_weight[0, worker] - ratio(3.0, 4.0, one)
    is_spring = model.mimic_natural_frequency[model.row_item[row], block]
    return where_positive(maximum(is_spring, maximum(is_open, starts)), one, zero)


@wp.func
def elastic_loss(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """Zero where a bouncing limit throws back as fast as it was met, one elsewhere."""
    bounced = work.bounced[row, worker]
    one = real(1.0, bounced)
    loss = one - model.limit_restitution[model.row_item[row], block]
    return where_positive(bounced, where_positive(loss, one, loss), one)


@wp.func
def keep_energies(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real
):
    """Give the velocities after a step the energy of its start, where nothing but weights has acted.

    Where that changes them much, and no stop has, later steps expect no more than they have been accelerated by.
    """
    add_up_energies(model, control, work, block, worker, h * real(-0.5, h))
    for tree in range(model.tree_count):
        if model.tree_keeps_energy[tree] == 1:
            own = ROWS * tree
            kinetic = work.closed_energy[own + KINETIC, worker]
            wanted = work.closed_energy[own + START, worker] - work.closed_energy[own + POTENTIAL, worker]
            s = energy_scale(kinetic, wanted, work.closed_energy[own + BEFORE, worker])
            stopped = work.closed_energy[own + STOPPED, worker]
            s = where_positive(stopped, stopped_scale(kinetic, wanted, work.closed_energy[own + LOST, worker]), s)
            s = where_positive(work.closed_energy[own + ACTED, worker], real(1.0, s), s)
            changed = where_positive(stopped, s - s, absolute(s - real(1.0, s)) - real(CHANGED, s))
            for dof in range(model.dof_count):
                if assembly_of_dof(model, dof) == tree:
                    joined = if_dof_joined(model, work, dof, worker, real(1.0, s))
                    v = work.v[dof, worker]
                    work.v[dof, worker] = where_positive(joined, s * v, v)
                    if any_positive(changed):
                        smooth = state.smooth_acceleration[dof, block]
                        limited = nearer((work.v[dof, worker] - velocity_before(model, state, dof, block)) / h, smooth)
                        limited = where_positive(minimum(changed, joined), limited, smooth)
                        state.smooth_acceleration[dof, block] = limited


@wp.func
def energy_scale(kinetic: Real, wanted: Real, before: Real):
    """s, of a kinetic energy found, the one that it should be, and the one before."""
    one = real(1.0, kinetic)
    tenth = ratio(1.0, 10.0, one)
    found = where_positive(kinetic, kinetic, one)
    square = maximum(wanted / found, (one - tenth) * minimum(one, before / found))
    square = where_positive(square - one - tenth, one, square)
    return sqrt(where_positive(kinetic, square, one))


@wp.func
def stopped_scale(kinetic: Real, wanted: Real, lost: Real):
    """s where stops have acted, of a kinetic energy found and the largest that it may be, with less where `lost`."""
    one = real(1.0, kinetic)
    most = where_positive(lost, one, real(2.0, one))
    square = where_positive(kinetic, wanted / where_positive(kinetic, kinetic, one), one)
    return sqrt(minimum(most, maximum(square, ratio(1.0, 100.0, one))))


@wp.func
def add_up_energies(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, time: Real):
    """Write T and V of assemblies, of positions and velocities in the work space.

    With derivatives, V has what efforts and wrenches do in some time at these velocities too.
    """
    pose_links(model, work, work.position, work.root, work.v, block, worker)
    g = load_vec3(model.gravity, 0, block)
    half = real(0.5, g.x)
    for tree in range(model.tree_count):
        work.closed_energy[ROWS * tree + KINETIC, worker] = half - half
        work.closed_energy[ROWS * tree + POTENTIAL, worker] = half - half
    for k in range(model.link_count):
        link = model.links_by_path[k]
        tree = model.link_tree[link]
        own = ROWS * model.tree_assembly[tree]
        R_WM = load_mat3(work.end_rotation, 9 * link, worker)
        c = R_WM * load_vec3(model.link_center, 3 * link, block)
        w = load_vec3(work.end_spin, 3 * link, worker)
        v_C = load_vec3(work.end_velocity, 3 * link, worker) + cross(w, c)
        w_M = transpose_mul(R_WM, w)
        m = model.link_mass[link, block]
        T = half * (m * dot(v_C, v_C) + dot(w_M, load_sym3(model.link_inertia, 6 * link, block) * w_M))
        V = model.link_gravity_scale[link, block] * m * dot(g, load_vec3(work.end_origin, 3 * link, worker) + c)
        if model.is_dual == 1:
            force = load_vec3(control.link_external_force, 6 * link, block)
            V = V - time * (dot(force, v_C) + dot(load_vec3(control.link_external_force, 6 * link + 3, block), w))
        if model.link_joint[link] != FLOATING:
            for dof in range(model.link_dof[link], model.link_dof[link] + model.link_dofs[link]):
                v = work.v[dof, worker]
                T = T + half * model.armature[dof - model.root_dofs, block] * v * v
                if model.is_dual == 1:
                    V = V - time * control.joint_effort[dof - model.root_dofs, block] * v
        V = work.closed_energy[own + POTENTIAL, worker] - if_joined(model, work, tree, worker, V)
        work.closed_energy[own + POTENTIAL, worker] = V
        T = work.closed_energy[own + KINETIC, worker] + if_joined(model, work, tree, worker, T)
        work.closed_energy[own + KINETIC, worker] = T

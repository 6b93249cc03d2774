"""The new velocities of one column, as a list of phases.

Drives are folded into the factors until one exceeds its maximum force. Then it leaves them, and the step is solved
again with the rest: each pass can only take further drives out, so the passes end.

Where velocity forces are found again (`expect_velocities`) the factors stay, and so do rows and their responses unless
they look at accelerations: the solution goes on from the rows that are active and what is known of their curvature, in
the environments that change. Limits of finite rotations follow their curves only once velocities are as expected.

The factors, and the forces of gravity and velocities, are those where `solver.step` has placed the links. They are kept
for the following substeps, in which only the loads of springs and dampers are new.

What is solved again is decided for each island of a mechanism, as for each environment: `work.anew` says where, and the
others keep their answers bitwise.
"""

import warp as wp

from warp_artic.constraints.bouncing_limit import drop_bounces, prepare_bounces
from warp_artic.constraints.dispatch import measure_row, set_rows, set_unit_row
from warp_artic.constraints.drive import clear_efforts, fold_drives, leave_drives_out, saturate_drives
from warp_artic.constraints.rows import (
    add_responses,
    mobility,
)
from warp_artic.constraints.speed_limit import turn_limits
from warp_artic.constraints.tree_velocity import place_tree
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import IS_JOINT_TENDON, IS_TENDON, has_trait
from warp_artic.model.islands import island_dof
from warp_artic.phases.articulated_inertia import factor_inertias
from warp_artic.phases.implicit import joint_resistance
from warp_artic.phases.impulse_response import respond_to_loads
from warp_artic.phases.integrate import load_state, note_failure
from warp_artic.phases.joint_accelerations import accelerate_links
from warp_artic.phases.joint_springs import cross_loss
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_drag import forget_drag
from warp_artic.phases.link_inertias import set_link_inertias
from warp_artic.phases.link_positions import locate_links
from warp_artic.solver.boundary_layers import find_layer, forget_weights, measure_weights
from warp_artic.solver.curvature import bend_windows
from warp_artic.solver.energy_projection import find_unresolved, nearness
from warp_artic.solver.history import largest_of_islands
from warp_artic.solver.rows.activation import activate_rows, prepare_responses
from warp_artic.solver.rows.impacts import begin_impacts, pass_impacts_on
from warp_artic.solver.rows.problem import forget_working_set

TURNED = wp.constant(0.02)
"""Angle of a step from which on velocity forces may be found again [rad]."""
EXPECTATIONS = wp.constant(2)
"""Times that velocity forces are found again where they were found at velocities that the step does not have."""
EXPECTED = wp.constant(0.002)
"""Share of the largest angular rate by which the rates in the middle may be other than expected; once they have been
found again in midpoint steps of trees that move freely, whose energy is watched, five times as much."""
PASSES = wp.constant(4)
"""Times that saturated drives may leave the factors within a step."""


@wp.func
def measure_inertias(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Write what laws need of the mechanism without drives, from factors without them.

    Of acceleration drives the effective inertia 1 / (M^-1)_ii of their dof or 1 / (J M^-1 J^T) of their row, of
    compliant mimic joints r = J M^-1 J^T.
    """
    for row in range(model.row_count):
        measure_row(model, work, row, column, slot, h)


@wp.func
def factor(model: ModelArrays, control: ControlArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Write the factors with what is to be folded into them."""
    set_link_inertias(model, control, work, column, slot)
    factor_inertias(model, work, column, slot, h)


@wp.func
def forget_responses(model: ModelArrays, work: WorkArrays, slot: int):
    """Know no response, as there are other factors."""
    for response in range(model.slot_count):
        work.ready[response, slot] = 0


@wp.func
def solve_rows(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
    has_middle: int,
    sweeps: int,
    settle: wp.Function,
    goes_on: int,
    bends: int,
):
    """v+ with constraint rows, from that without them.

    Where an island `begins` its rows are set. If `goes_on` is 1, rows and factors of the others are those of the answer
    before, v+ is to be found again where `work.changed`, and what is known of that answer is where to begin.
    """
    zero = real(0.0, h)
    begins = int(0)
    for island in range(model.island_count):
        begins = wp.max(begins, work.begins[island, slot])
    if begins == 1:
        if model.bouncing_limits > 0:
            prepare_bounces(model, control, work, column, slot, h)
        if model.tree_limits > 0:
            place_tree(model, work, column, slot)
        set_rows(model, work, column, slot, h)
        if model.innovations_only == 1:
            forget_working_set(model, work, slot, zero)
    has_changed = any_positive(largest_of_islands(model, work.changed, slot))
    if has_changed:
        for dof in range(model.dof_count):
            work.v_free[dof, slot] = work.v[dof, slot] + h * work.vdot[dof, slot]
        add_responses(model, work, work.given, 0, model.row_count, work.v_free, slot)
        for dof in range(model.dof_count):
            changed = work.changed[model.dof_island[dof], slot]
            work.v_next[dof, slot] = where_positive(changed, work.v_free[dof, slot], work.v_next[dof, slot])
    if goes_on == 1 and has_changed:
        for row in range(model.row_count):
            changed = work.changed[model.row_island[row], slot]
            work.impulse[row, slot] = where_positive(changed, zero, work.impulse[row, slot])
            if row >= model.limit_row and row < model.limit_row + 3 * model.speed_limits:
                work.active[row, slot] = where_positive(changed, zero, work.active[row, slot])
    settle_rows(model, work, column, slot, h, has_middle, sweeps, settle, goes_on, begins, bends)


@wp.func
def settle_rows(
    model: ModelArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
    has_middle: int,
    sweeps: int,
    settle: wp.Function,
    goes_on: int,
    begins: int,
    bends: int,
):
    """Let rows join the active ones, and solve those, until no row is outside its window.

    Limits of finite rotations are corrected for curvature: before the first solution with what it is expected to be,
    and afterwards if `bends` is 1, or in islands that do not leave it for later (`model.island_bends_late`).
    """
    zero = real(0.0, h)
    for island in range(model.island_count):
        changed = work.changed[island, slot]
        work.bends[island, slot] = where_positive(changed, zero, work.bends[island, slot])
        work.turns[island, slot] = where_positive(changed, zero, work.turns[island, slot])
        work.settled[island, slot] = where_positive(changed, zero, work.settled[island, slot])
    passes = bool(False)
    if model.contact_rows > 0:
        passes = begin_impacts(model, work, slot, h)
    unsolved = activate_rows(model, work, slot)
    if goes_on == 1:
        for row in range(model.row_count):
            if any_positive(work.active[row, slot] * work.changed[model.row_island[row], slot]):
                unsolved = bool(True)
        for island in range(model.island_count):
            if work.begins[island, slot] == 0:
                work.environment_mask[island, slot] = work.changed[island, slot]
    is_start = unsolved and begins == 1
    rounds = int(0)
    goes = bool(True)
    while goes:
        if unsolved and not is_start:
            prepare_responses(model, work, slot)
            settle(model, work, slot, sweeps)
            unsolved = activate_rows(model, work, slot)
            if not unsolved and model.bouncing_limits > 0:
                unsolved = drop_bounces(model, work, column, slot, h)
        if passes and not unsolved:
            rounds += 1
            found, again = pass_impacts_on(model, work, column, slot, h, has_middle, rounds)
            unsolved = found
            passes = again
        if model.rotation_rows > 0 and (is_start or (bends + model.early_bends > 0 and not unsolved)):
            bent = bend_windows(model, work, column, slot, h, is_start, bends)
            unsolved = unsolved or bent
        if not unsolved and model.speed_limits > 0:
            unsolved = turn_limits(model, work, column, slot, h, has_middle)
        is_start = bool(False)
        goes = unsolved


@wp.func
def expect_velocities(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
    step: Real,
    has_middle: int,
    expectations: int,
):
    """Write the velocities of the middle of the step where those that it was placed with differ.

    Writes where to `work.anew`.

    It was placed with what the acceleration of the step before promised. Where joints turn by a good part of a radian
    in a step, what velocity forces do at other velocities than those of the middle is work: a chain of ball joints, or
    a spinning rod that slides along its cone, would gain energy without end. Without a middle the step was placed with
    v, at which what turns about several axes gains energy, however slow it is: so it is where it moves freely. Free
    trees of other joints are looked at once, for motion that the step does not resolve (`solver.energy_projection`).
    Boundary layers have been placed anew.
    """
    for island in range(model.island_count):
        work.anew[island, slot] = real(0.0, h)
        if expectations <= most_expectations(model, island, has_middle):
            expect_island(model, control, work, island, column, slot, h, step, has_middle, expectations)


@wp.func
def expect_island(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    island: int,
    column: int,
    slot: int,
    h: Real,
    step: Real,
    has_middle: int,
    expectations: int,
):
    """The same of an island."""
    one = real(1.0, h)
    zero = one - one
    size = zero
    miss = zero
    change = zero
    is_free = model.island_moves_freely[island]
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        v = work.v[dof, slot]
        smooth = work.vdot[dof, slot]
        mean = real(0.5, h) * (v + work.v_next[dof, slot] + (step - h) * smooth)
        work.u[dof, slot] = mean
        if model.dof_is_linear[dof] == 0:
            size = maximum(size, absolute(v))
            miss = maximum(miss, absolute(mean - work.v_middle[dof, slot]))
            change = maximum(change, absolute(mean - v))
    differs = zero
    if spins(model, island, has_middle):
        times = 1 + 4 * has_middle * is_free * (expectations - 1)
        differs = miss - size * real(EXPECTED * float(times), h)
        if has_middle == 1:
            differs = minimum(differs, step * size - real(TURNED, h))
        differs = maximum(where_positive(work.layer[island, slot], zero, differs), zero)
    if is_free == 1 and has_middle == 1 and expectations == 1:
        find_unresolved(model, control, work, island, column, slot, step, h)
    unresolved = work.unresolved[island, slot]
    differs = maximum(differs, unresolved)
    take_means(model, work, island, slot, differs, where_positive(unresolved, nearness(size, change), one))
    work.anew[island, slot] = differs


@wp.func
def spins(model: ModelArrays, island: int, has_middle: int):
    """Whether joints, or without a middle a body without any, turn about several axes; then if nothing else acts."""
    if has_middle == 1:
        return model.island_turns[island] > 0
    turns = model.island_turns[island] > 0 or model.island_joints[island] == 0
    return model.island_moves_freely[island] == 1 and turns


@wp.func
def most_expectations(model: ModelArrays, island: int, has_middle: int):
    """Times that velocity forces of an island may be found again."""
    most = int(0)
    if model.island_moves_freely[island] == 1 and has_middle == 1:
        most = 1
    if spins(model, island, has_middle):
        most = EXPECTATIONS
    return most


@wp.func
def take_means(model: ModelArrays, work: WorkArrays, island: int, slot: int, chosen: Real, near: Real):
    """Make the means in `work.u` the velocities of the middle where chosen, as near to v as `near` says."""
    far = chosen - near * chosen
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        v = work.v[dof, slot]
        mean = work.u[dof, slot]
        mean = where_positive(far, v + near * (mean - v), mean)
        work.v_middle[dof, slot] = where_positive(chosen, mean, work.v_middle[dof, slot])


@wp.func
def solve_velocities(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
    step: Real,
    has_middle: int,
    substep: int,
    substeps: int,
    sweeps: int,
    settle: wp.Function,
):
    """v+ in `work.v_next`, from `work.v`, the positions at the start of the substep and the placement of the step.

    It is found again until nothing more is to be changed: with drives out of the factors that exceed their force, with
    weights measured in two halves where the step is in a boundary layer, and then with velocity forces at the
    velocities of the middle.
    """
    has_layers = model.driven == 1 and has_middle == 1 and substeps == 1
    halves = int(0)
    zero = real(0.0, h)
    measures = int(0)
    most = int(0)
    for island in range(model.island_count):
        work.layer[island, slot] = zero
        work.anew[island, slot] = real(1.0, h)
        if substep == 0:
            work.unresolved[island, slot] = zero
            most = wp.max(most, most_expectations(model, island, has_middle))
    is_anew = bool(True)
    if substep == 0:
        clear_efforts(model, work, slot, zero)
        if model.acceleration_drives == 1 or model.compliant_mimics == 1 or model.acceleration_loop_drives == 1:
            measures = int(1)
    passes = int(0)
    expectations = int(0)
    goes_on = int(0)
    bends = int(1)
    if most > 0 and has_middle == 1:
        bends = 1 - model.late_bends
    goes = bool(True)
    while goes:
        is_placed = int(1)
        if measures == 1:
            leave_drives_out(model, control, work, column, slot)
        elif goes_on == 0 or (is_anew and model.restarts == 1):
            fold_drives(model, control, work, column, slot, h * whole_or_half(halves, h), int(substep == 0))
        if is_anew and (substep == 0 or passes > 0):
            factor(model, control, work, column, slot, h * whole_or_half(halves, h))
            if goes_on == 0 or model.restarts == 1:
                forget_responses(model, work, slot)
            if measures == 0:
                accelerate_links(model, work, work.v_free, column, slot)
                for dof in range(model.dof_count):
                    anew = work.anew[model.dof_island[dof], slot]
                    work.vdot[dof, slot] = where_positive(anew, work.v_free[dof, slot], work.vdot[dof, slot])
        elif substep > 0 and passes == 0:
            change_loads(model, work, slot, h)
        if measures == 1:
            measure_inertias(model, work, column, slot, h)
            measures = 0
        elif halves == 1:
            measure_weights(model, work, slot, h)
            halves = 2
            is_placed = 0
        else:
            begin_islands(model, work, slot, h, goes_on)
            if model.row_count == 0:
                for dof in range(model.dof_count):
                    work.v_next[dof, slot] = work.v[dof, slot] + h * work.vdot[dof, slot]
            else:
                solve_rows(model, control, work, column, slot, h, has_middle, sweeps, settle, goes_on, bends)
                passes += 1
                if passes < PASSES and expectations == 0:
                    saturate_drives(model, work, column, slot, h, halves)
            is_anew = any_positive(largest_of_islands(model, work.anew, slot))
            goes = is_anew
            if has_layers and halves == 0 and expectations == 0 and not goes:
                is_anew = any_positive(find_layer(model, work, slot, h))
                goes = is_anew
                if goes:
                    halves = 1
                    passes = 1
                    is_placed = 0
            if most > 0 and not goes:
                # Limits follow curves once velocities are about those of the step.
                goes = bends == 0
                if goes:
                    bends = 1
                    goes_on = 1
                if expectations < most:
                    expectations += 1
                    expect_velocities(model, control, work, column, slot, h, step, has_middle, expectations)
                    is_anew = any_positive(largest_of_islands(model, work.anew, slot))
                    if is_anew:
                        is_placed = 0
                        goes = bool(True)
                        goes_on = 1
        if is_placed == 0:
            place_links(model, work, work.middle, work.middle_root, work.v_middle, column, slot)
    if halves == 2:
        forget_weights(model, work, slot, h)


@wp.func
def whole_or_half(halves: int, like: Real):
    """The part of a step that is solved for: a half where weights are measured."""
    return real(1.0 - 0.5 * float(int(halves == 1)), like)


@wp.func
def begin_islands(model: ModelArrays, work: WorkArrays, slot: int, like: Real, goes_on: int):
    """Write which islands begin anew, and where v+ is to be found again; from then on nothing is `work.anew`.

    If `goes_on` is 1 these are, of islands with rows that look at the accelerations without rows, those that have other
    velocity forces; the rows of the others are as they were.
    """
    zero = real(0.0, like)
    one = real(1.0, like)
    for island in range(model.island_count):
        anew = work.anew[island, slot]
        begins = int(1)
        if goes_on == 1 and not (model.island_restarts[island] == 1 and any_positive(anew)):
            begins = 0
        work.begins[island, slot] = begins
        if begins == 1:
            work.changed[island, slot] = one
        else:
            work.changed[island, slot] = where_positive(anew, one, zero)
        work.anew[island, slot] = zero


@wp.func
def change_loads(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Bring `work.vdot` up to date with the loads that springs and dampers have now, by the factors of before."""
    changed = bool(False)
    for dof in range(model.dof_count):
        work.u[dof, slot] = real(0.0, h)
    for dof in range(model.root_dofs, model.dof_count):
        k = work.spring[dof, slot]
        d = work.damper[dof, slot]
        resistance = joint_resistance(k, d, work.reach[dof, slot], h)
        load = work.effort[dof, slot] - resistance * work.v[dof, slot] - cross_loss(model, work, dof, slot, work.v, h)
        change = load - work.load[dof, slot]
        work.u[dof, slot] = change
        work.load[dof, slot] = load
        if any_positive(absolute(change)):
            changed = bool(True)
    if changed:
        respond_to_loads(model, work, work.v_next, slot)
        for dof in range(model.dof_count):
            work.vdot[dof, slot] = work.vdot[dof, slot] + work.v_next[dof, slot]


@wp.func
def solve_accelerations(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    joint_force: Array,
    column: int,
    slot: int,
):
    """vdot in `work.vdot` under gravity, external link forces and given generalized forces alone, without drag."""
    for dof in range(model.dof_count):
        work.effort[dof, slot] = joint_force[dof, column]
    factor_bare(model, state, control, work, column, slot)
    accelerate_links(model, work, work.vdot, column, slot)


@wp.func
def measure_tendons(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    mobilities: Array,
    column: int,
    slot: int,
):
    """Write J M^-1 push of every tendon at a state, J the gradient of its length; fixed tendons first.

    An environment stops in which that is no number: inertias are further apart than their precision resolves.
    """
    zero = real(0.0, model.gravity[0, column])
    for dof in range(model.dof_count):
        work.effort[dof, slot] = zero
    factor_bare(model, state, control, work, column, slot)
    if model.placed_rows > 0:
        locate_links(model, work, work.root, column, slot)
    for row in range(model.row_count):
        if has_trait(model, row, IS_TENDON | IS_JOINT_TENDON):
            if set_unit_row(model, work, row, column, slot, zero):
                found = mobility(model, work, row, slot)
                mobilities[model.tendon_place[model.row_place[row]], column] = found
                note_failure(model, state, column, model.term_dof[model.row_term[row]], found)


@wp.func
def factor_bare(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, column: int, slot: int
):
    """Write the factors at a state without springs, dampers and drag, under `work.effort`."""
    zero = real(0.0, model.gravity[0, column])
    load_state(model, state, work, column, slot)
    place_links(model, work, work.position, work.root, work.v, column, slot)
    work.least[0, slot] = real(1.0, zero)
    work.free_share[0, slot] = real(1.0, zero)
    forget_drag(model, work, slot)
    for dof in range(model.dof_count):
        work.spring[dof, slot] = zero
        work.cross_spring[dof, slot] = zero
        work.damper[dof, slot] = zero
    set_link_inertias(model, control, work, column, slot)
    factor_inertias(model, work, column, slot, zero)

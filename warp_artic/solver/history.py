"""What the accelerations of the steps before tell of this one.

With a, a', a'' the smooth acceleration of the step before, its change in a step and the change of that, the middle is
    q_M = q moved by h v / 2 + f h^2 (a / 8 + a' / 12 + 9 a'' / 128),   v_M = v + h (a / 2 + f (3 a' / 8 + a'' / 3))
and what this step adds to them, A to A''', corrects its end:
    q+ moved by - f h^2 (A' / 12 + A'' / 48 + 13 A''' / 1440),   v+ + f h (A'' + A''') / 24.
With f = 1 these are the integrals of the curve through the last three accelerations, and of that through four: errors
are of fourth order where joints have one axis, and what turns gains no energy from velocities that are expected wrong.
Where drives or viscous friction act, positions are left alone and
    v_M = v + h (a / 2 + 3 a' / 8),   |a'| at most |a| / 2:
while drives settle, accelerations decay over many steps, and a alone would lag behind for all of them. Where loop
joints act too, a alone gives v_M: with a' the energy of a four-bar linkage drifts by 9 % in 10 s at 240 Hz, else 0.7 %.
f is zero where the accelerations are not on a smooth curve: after a start or an impact, and in whips
that the step does not resolve; nor where springs, dampers or rows act, which look at the ends of the step, or elastic
bodies. Each island of a mechanism has its own f. Where inputs change, a is with those of this step (`held_inputs`).
"""

import warp as wp

from warp_artic.constraints.contact_bias import contact_lasts
from warp_artic.constraints.loop_joint import starts_on_path
from warp_artic.constraints.rows import add_responses, is_tangent
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
from warp_artic.math.rotation import ratio
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import (
    ENDS,
    FROM_OUTSIDE,
    HOLDS_POSITIONS,
    IS_CONTACT,
    IS_CURVED,
    IS_RESOLVED,
    IS_SOFT_LIMIT,
    RETURNS,
    has_trait,
)
from warp_artic.model.islands import island_dof
from warp_artic.phases.implicit import joint_resistance
from warp_artic.phases.integrate import turn_rates

ROUGH = wp.constant(0.07)
"""Part of the squares of accelerations from which on the squares of their second differences are not smooth motion."""


@wp.func
def expect_middle(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write what leads to the middle: in `work.v_next` over h, in `work.u` the velocities there."""
    dofs = model.dof_count
    tables = wp.max(1 + model.driven, 3 * model.free_motion)
    for dof in range(dofs):
        work.acceleration_history[dof, worker] = state.smooth_acceleration[dof, block]
        if tables > 1:
            work.acceleration_history[dofs + dof, worker] = state.acceleration_change[dof, block]
        if model.free_motion == 1:
            work.acceleration_history[2 * dofs + dof, worker] = state.acceleration_change[dofs + dof, block]
    has_changed = bool(False)
    if model.free_motion == 1:
        has_changed = inputs_have_changed(model, state, block)
        if has_changed:
            tables = 5
            for row in range(2 * dofs):
                work.acceleration_history[3 * dofs + row, worker] = state.input_change[row, block]
    if model.finite_rotations > 0:
        turn_rates(model, work, work.acceleration_history, tables, block, worker, h)
    half = real(0.5, h)
    bent = real(0.375, h) * h * state.started[0, block]
    for island in range(model.island_count):
        is_free = model.island_moves_freely[island]
        is_driven = model.island_is_driven[island] * (1 - model.island_is_looped[island])
        third = ratio(1.0, 3.0, h) * h * state.smoothness[2 * island, block]
        for k in range(model.island_first[island], model.island_first[island + 1]):
            dof = island_dof(model, k)
            v = work.v[dof, worker]
            a = work.acceleration_history[dof, worker]
            if is_free == 1 and has_changed:
                a = a + work.acceleration_history[4 * dofs + dof, worker]
                work.acceleration_history[dof, worker] = a
            moved = half * v
            expected = v + h * half * a
            if is_free == 1:
                change = work.acceleration_history[dofs + dof, worker]
                second = work.acceleration_history[2 * dofs + dof, worker]
                bend = real(0.375, h) * a + real(0.25, h) * change + real(0.2109375, h) * second
                moved = moved + third * bend
                expected = expected + third * (real(1.125, h) * change + second)
            if is_driven == 1:
                most = real(0.5, h) * absolute(a)
                # Where both are zero, derivatives are those of a'.
                change = minimum(most, work.acceleration_history[dofs + dof, worker])
                expected = expected + bent * maximum(neg(most), change)
            work.v_next[dof, worker] = moved
            work.u[dof, worker] = expected


@wp.func
def inputs_have_changed(model: ModelArrays, state: StateArrays, block: int):
    """Whether held inputs have changed anywhere in the step before, or are expected to go on."""
    return model.is_dual == 1 or any_positive(state.input_change[2 * model.dof_count, block])


@wp.func
def keep_smooth_acceleration(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    substep: int,
    substeps: int,
):
    """Write the smooth acceleration of a step, or add that of a further substep to the mean."""
    started = state.started[0, block]
    is_stopped = find_stops(model, work, work.v_free, started, worker, h)
    weight = real(1.0, h) / real(float(substeps), h)
    for dof in range(model.dof_count):
        mean = weight * smooth_acceleration(model, work, work.v_free, dof, started, is_stopped, worker, h)
        if substep > 0:
            mean = mean + state.smooth_acceleration[dof, block]
        state.smooth_acceleration[dof, block] = mean
        if model.driven == 1:
            if model.island_is_driven[model.dof_island[dof]] == 1:
                state.acceleration_change[dof, block] = started * (mean - work.acceleration_history[dof, worker])


@wp.func
def find_stops(model: ModelArrays, work: WorkArrays, smooth: Array, started: Real, worker: int, h: Real):
    """Write the islands in which stops act, and to `smooth` the accelerations without their impulses.

    Soft stops count by the part of their impulses that the step does not resolve.
    In the first step of an environment, which no earlier motion predicts and which has not `started`, these are also
    without nearly all other rows. Says whether a stop acts anywhere; else nothing is written to `smooth`.
    """
    one = real(1.0, h)
    zero = real(0.0, h)
    rate = started / h
    most = one - started
    for island in range(model.island_count):
        work.stop_acts[island, worker] = most
    for row in range(model.stop_row):
        z = work.impulse[row, worker]
        work.smooth[row, worker] = rate * z
        if has_trait(model, row, HOLDS_POSITIONS):
            work.smooth[row, worker] = z * maximum(started, starts_on_path(model, work, row, worker, h)) / h
        if has_trait(model, row, RETURNS):
            lasting = starts_on_path(model, work, row, worker, h)
            work.smooth[row, worker] = rate * z * lasting
            impact = absolute(z) * (one - lasting)
            most = maximum(most, impact)
            add_stop(model, work, row, worker, impact)
        if has_trait(model, row, ENDS | FROM_OUTSIDE):
            z = z + work.given[row, worker]
            work.smooth[row, worker] = zero
            if has_trait(model, row, IS_SOFT_LIMIT | IS_RESOLVED):
                resolved = work.spring_resolution[row, worker]
                work.smooth[row, worker] = rate * z * resolved
                z = z * (one - resolved)
            if has_trait(model, row, IS_CONTACT):
                lasts = contact_lasts(model, work, row, worker)
                work.smooth[row, worker] = rate * z * lasts
                z = z * (one - lasts)
            most = maximum(most, absolute(z))
            add_stop(model, work, row, worker, z)
    for row in range(model.stop_row, model.row_count):
        z = work.impulse[row, worker]
        work.smooth[row, worker] = zero
        if has_trait(model, row, IS_CURVED):
            lasting = started * is_tangent(model, work, row, worker, work.limit_bend[row, worker])
            work.smooth[row, worker] = rate * z * lasting
            z = z * (one - lasting)
        most = maximum(most, absolute(z))
        add_stop(model, work, row, worker, z)
    if model.island_count == 1:
        work.stop_acts[0, worker] = most
    is_stopped = any_positive(most)
    if is_stopped:
        for dof in range(model.dof_count):
            smooth[dof, worker] = work.vdot[dof, worker]
        add_responses(model, work, work.smooth, 0, model.row_count, smooth, worker)
    return is_stopped


@wp.func
def smooth_acceleration(
    model: ModelArrays,
    work: WorkArrays,
    smooth: Array,
    dof: int,
    started: Real,
    is_stopped: bool,
    worker: int,
    h: Real,
):
    """The acceleration without the impulses of stops, after `find_stops`.

    In the first step it is also less by what springs and dampers take away within the step. Of a dof on which a stop
    acts it is the actual acceleration, clamped between zero and the smooth one. Where no stop acts it is what the step
    does: not to find it there from the rows takes 4 % off a step of a hand with tendons.
    """
    one = real(1.0, h)
    mean = (work.v_next[dof, worker] - work.v[dof, worker]) * (one / h)
    if is_stopped:
        stopped = work.stop_acts[model.dof_island[dof], worker]
        free = smooth[dof, worker] * where_positive(started, one, what_goes_on(model, work, dof, worker, h))
        # Where both are zero, derivatives are those of the actual one.
        stopped = minimum(stopped, absolute(mean) + absolute(free))
        mean = where_positive(stopped, nearer(mean, free), mean)
    return mean


@wp.func
def add_stop(model: ModelArrays, work: WorkArrays, row: int, worker: int, impulse: Real):
    """Mark the island of a row, of several islands, as one in which a stop acts, if its impulse is not zero."""
    if model.island_count > 1:
        island = model.row_island[row]
        work.stop_acts[island, worker] = maximum(work.stop_acts[island, worker], absolute(impulse))


@wp.func
def largest_of_islands(model: ModelArrays, values: Array, worker: int):
    """The largest of the values that islands have."""
    largest = values[0, worker]
    for island in range(1, model.island_count):
        largest = maximum(largest, values[island, worker])
    return largest


@wp.func
def what_goes_on(model: ModelArrays, work: WorkArrays, dof: int, worker: int, h: Real):
    """The part of its velocity that the spring and damper of a dof leave it in a step."""
    one = real(1.0, h)
    if dof < model.root_dofs:
        return one
    resistance = joint_resistance(work.spring[dof, worker], work.damper[dof, worker], work.reach[dof, worker], h)
    return maximum(one - h * resistance * work.D_inverse[dof, worker], one - one)


@wp.func
def velocity_before(model: ModelArrays, state: StateArrays, dof: int, block: int):
    """The velocity of a dof at the start of a step, which is still in the state."""
    if dof < model.root_dofs:
        return state.root_velocity[dof, block]
    return state.joint_velocity[dof - model.root_dofs, block]


@wp.func
def nearer(actual: Real, smooth: Real):
    """The actual acceleration, clamped between zero and the smooth one."""
    zero = real(0.0, smooth)
    return where_positive(smooth, maximum(minimum(actual, smooth), zero), minimum(maximum(actual, smooth), zero))


@wp.func
def compare_accelerations(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Write a', a'' and f of a step to the state, and a', a'' and a''' to the acceleration history, of free islands."""
    zero = real(0.0, state.smoothness[0, block])
    one = real(1.0, zero)
    for island in range(model.island_count):
        work.soft_limit_acts[island, worker] = zero
        work.is_unconstrained[island, worker] = one
    for row in range(model.row_count):
        island = model.row_island[row]
        work.is_unconstrained[island, worker] = where_positive(
            work.active[row, worker], zero, work.is_unconstrained[island, worker]
        )
        if has_trait(model, row, IS_SOFT_LIMIT):
            touched = absolute(work.impulse[row, worker] + work.given[row, worker])
            work.soft_limit_acts[island, worker] = maximum(work.soft_limit_acts[island, worker], touched)
    for island in range(model.island_count):
        if model.island_moves_freely[island] == 1:
            compare_island(model, state, work, island, block, worker)


@wp.func
def compare_island(model: ModelArrays, state: StateArrays, work: WorkArrays, island: int, block: int, worker: int):
    """The same of an island, whose `work.is_unconstrained` and `work.soft_limit_acts` are known."""
    dofs = model.dof_count
    zero = real(0.0, state.smoothness[0, block])
    rough = zero
    size = zero
    rough_linear = zero
    size_linear = zero
    one = real(1.0, zero)
    free = work.is_unconstrained[island, worker]
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        a = state.smooth_acceleration[dof, block]
        b = work.acceleration_history[dof, worker]
        change_before = work.acceleration_history[dofs + dof, worker]
        second_before = work.acceleration_history[2 * dofs + dof, worker]
        c = b - change_before
        change = a - b
        second = change - change_before
        state.acceleration_change[dof, block] = change
        state.acceleration_change[dofs + dof, block] = second
        work.acceleration_history[dof, worker] = change
        work.acceleration_history[dofs + dof, worker] = second
        work.acceleration_history[2 * dofs + dof, worker] = second - second_before
        own_rough = second * second + second_before * second_before
        own_size = a * a + b * b + c * c
        if model.dof_is_linear[dof] == 1:
            rough_linear = rough_linear + own_rough
            size_linear = size_linear + own_size
        else:
            rough = rough + own_rough
            size = size + own_size
        free = where_positive(work.spring[dof, worker] + work.damper[dof, worker], zero, free)
    free = where_positive(rough - real(ROUGH, one) * size, zero, free)
    free = where_positive(rough_linear - real(ROUGH, one) * size_linear, zero, free)
    # What does not accelerate is on no curve: derivatives there are those of f = 0, which any change gives.
    free = where_positive(size + size_linear, free, zero)
    if model.turns_and_slides == 1:
        free = where_positive(changes_or_both(model, work, island, worker, size, size_linear), free, zero)
    known = minimum(state.smoothness[2 * island + 1, block] + one, real(4.0, one))
    known = where_positive(work.soft_limit_acts[island, worker], zero, known)
    state.smoothness[2 * island, block] = where_positive(known - real(3.5, one), free, zero)
    state.smoothness[2 * island + 1, block] = known


@wp.func
def changes_or_both(model: ModelArrays, work: WorkArrays, island: int, worker: int, size: Real, size_linear: Real):
    """Not zero where accelerations of an island change, or there are those of turning and those of sliding.

    Derivatives of constant motion beside a constant acceleration of the other kind are those of f = 0.
    """
    dofs = model.dof_count
    turns = int(0)
    slides = int(0)
    changes = minimum(size, size_linear)
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        slides = wp.max(slides, model.dof_is_linear[dof])
        turns = wp.max(turns, 1 - model.dof_is_linear[dof])
        for table in range(3):
            change = work.acceleration_history[table * dofs + dof, worker]
            changes = changes + change * change
    if slides + turns < 2:
        return size + size_linear
    return changes


@wp.func
def correct_end(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Change v+ so that moving positions by h v+ / 2 corrects q+ as well; `work.v_corrected` is v+ after that."""
    dofs = model.dof_count
    for island in range(model.island_count):
        if model.island_moves_freely[island] == 1:
            free = h * state.smoothness[2 * island, block]
            part = ratio(1.0, 24.0, h) * free
            late = ratio(1.0, 720.0, h) * free
            for k in range(model.island_first[island], model.island_first[island + 1]):
                dof = island_dof(model, k)
                v = work.v_next[dof, worker]
                change = work.acceleration_history[dof, worker]
                second = work.acceleration_history[dofs + dof, worker]
                third = work.acceleration_history[2 * dofs + dof, worker]
                bend = real(120.0, h) * change + real(30.0, h) * second + real(13.0, h) * third
                work.v_next[dof, worker] = v - late * bend
                work.v_corrected[dof, worker] = v + part * (second + third)


@wp.func
def take_corrected(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Make the corrected v+ the velocities, where there is anything to correct."""
    for island in range(model.island_count):
        if model.island_moves_freely[island] == 1:
            free = state.smoothness[2 * island, block]
            for k in range(model.island_first[island], model.island_first[island + 1]):
                dof = island_dof(model, k)
                work.v[dof, worker] = where_positive(free, work.v_corrected[dof, worker], work.v[dof, worker])

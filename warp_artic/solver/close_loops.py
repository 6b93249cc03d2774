"""Brings the frames of loop joints together again at the end of a step.

With phi, y and J of the held axes at q+, the factors of M from the step, and G = J M^-1 J^T:
    q+ moved by - M^-1 J^T G^-1 phi, and once more;   then v+ - M^-1 J^T G^-1 y.
The second time is only for islands, each by itself, that the first one leaves open by more than numbers are known to:
in double precision nearly all, in single precision those that move violently. Further ones are for those that are still
WIDE open, as after steps in which joints turn by a third of a radian and bounce, as long as each of them closes most.
That is the shortest way in terms of M, with the armatures of loop joints. What else is held stays: stops that the step
has used, and hard mimic joints; after two times stops hold on their own side only.
Then J v+ = 0, so that the step after starts on the path. J of q_M in place of that of q+ would do work: the energy of a
four-bar linkage at 240 Hz drifts by 3 % in 10 s, and stays within 0.5 % with that of q+.
Where velocities so found press shapes into each other that push, they are changed once more together with these
(`solver.closing_contacts`).
Limits of free axes that are passed at q+ take part: positions are brought back to the end, by bounds of the change, and
a velocity that leads on beyond it is taken.
Islands without loop joints are left as they are; joints that have broken hold nothing.
"""

import warp as wp

from warp_artic.constraints.bouncing_limit import BOUNCING_LIMIT_ORDER
from warp_artic.constraints.limit_projection import limit_range, linearize_limit, stop_value
from warp_artic.constraints.loop_armature import resists
from warp_artic.constraints.loop_gap import find_gaps
from warp_artic.constraints.loop_geometry import is_first_row
from warp_artic.constraints.loop_joint import holds
from warp_artic.constraints.loop_limit import set_return
from warp_artic.constraints.loop_loads import add_closing_limit_load, add_closing_load
from warp_artic.constraints.rows import allow_every_velocity, forget_response, set_velocity_bounds
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import Array, ForceArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import (
    HOLDS_POSITIONS,
    IS_CONTACT,
    IS_CURVED,
    MOVES_DOFS_ALIKE,
    RESISTS,
    RETURNS,
    has_trait,
)
from warp_artic.model.roots import pose_rows
from warp_artic.phases.integrate import move_joints
from warp_artic.phases.link_frames import pose_links
from warp_artic.solver.closed_energy import note_acting_rows
from warp_artic.solver.closing_contacts import add_contact_changes, find_pressed, hold_contacts
from warp_artic.solver.plan import StepPlan, sweeps_of_step
from warp_artic.solver.rows.activation import prepare_responses
from warp_artic.solver.rows.least_norm import share_redundant_loads
from warp_artic.solver.rows.problem import forget_working_set

WAYS = wp.constant(8)
"""Times that the frames are brought together in a step, at most."""
WIDE = wp.constant(1e-5)
"""Relative to the lever arm of a row: a gap that is left after two times, and wider, is closed further."""
LESS = wp.constant(0.9)
"""Part of the largest gap before that is left where this has closed any: loops that contradict each other stay open."""
KNOWN = wp.constant(0.2)
"""Times the relative rounding error of solved numbers and the lever arm of a row: a gap below that counts as closed."""


@wp.func
def close_loops(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
    plan: StepPlan,
    solver: wp.Function,
):
    """Change positions and velocities at the end of a step of length h so that loop joints hold.

    What brings velocities back is a part of what the joints transmit in the step: without a middle it is half of what
    turns their paths.
    """
    one = real(1.0, work.D_inverse[0, worker])
    hold_others(model, work, block, worker, one)
    has_moved = bool(True)
    goes = bool(True)
    way = int(0)
    while goes:
        if has_moved or way > WAYS:
            pose_links(model, work, work.position, work.root, work.v, block, worker)
            find_all_gaps(model, work, block, worker)
        has_moved = set_changes(model, work, block, worker, h, way, one)
        if way > WAYS:
            hold_contacts(model, work, worker)
        if has_moved or way >= WAYS:
            find_change(model, work, model.island_is_looped, worker, sweeps_of_step(plan), solver, one)
            if model.closed_assemblies > 0:
                note_acting_rows(model, work, block, worker)
        if way >= WAYS:
            goes = bool(False)
            if way == WAYS and model.contact_count > 0:
                goes = find_pressed(model, work, block, worker, h)
            elif way > WAYS:
                add_contact_changes(model, state, work, forces, block, worker, h, plan.with_forces)
            add_closing_loads(model, state, work, forces, block, worker, h, plan.with_forces)
            for dof in range(model.dof_count):
                if model.island_is_looped[model.dof_island[dof]] == 1:
                    work.v[dof, worker] = work.v[dof, worker] + work.v_next[dof, worker]
        elif has_moved:
            move_joints(model, work, work.end_position, work.end_root, block, worker, one, 0, 1)
            take_moved(model, work, model.island_is_looped, worker)
        way += 1
        if not has_moved and way < WAYS:
            way = WAYS


@wp.func
def find_all_gaps(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Write gaps, their rates and J of all held axes where the links are posed."""
    for row in range(model.stop_row):
        if has_trait(model, row, HOLDS_POSITIONS) and is_first_row(model, row, model.row_item[row] // 6):
            find_gaps(model, work, row, block, worker)


@wp.func
def set_changes(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, way: int, one: Real):
    """Write what is to change of positions, and from WAYS on of velocities; in which islands, `work.loop_is_open`.

    Says whether there are any. In the first way and of velocities it is all islands with loop joints.
    """
    zero = one - one
    is_some = way > 0 and way < WAYS
    for island in range(model.island_count):
        work.loop_is_open[island, worker] = real(float(model.island_is_looped[island]), one)
        if is_some:
            work.loop_is_open[island, worker] = zero
        if way < WAYS:
            work.loop_gap_before[island, worker] = work.loop_gap_largest[island, worker] * real(LESS * LESS, one)
            work.loop_gap_largest[island, worker] = zero
    known = model.rounding[0, 0] * real(KNOWN, one)
    if way > 1:
        known = maximum(known, real(WIDE, one))
    is_any = not is_some
    for row in range(model.stop_row):
        opens = zero
        if has_trait(model, row, HOLDS_POSITIONS):
            phi = work.loop_gap[row, worker]
            active = holds(work, row, model.row_item[row] // 6, worker)
            opens = where_positive(phi * phi - known * known * work.loop_gap_reach[row, worker], active, zero)
            if way < WAYS:
                island = model.row_island[row]
                largest = maximum(work.loop_gap_largest[island, worker], active * phi * phi)
                work.loop_gap_largest[island, worker] = largest
            if way >= WAYS:
                phi = work.loop_gap_rate[row, worker]
            set_velocity_bounds(work, row, worker, neg(phi), neg(phi))
            work.active[row, worker] = active
            allow_every_velocity(work, row, worker, active)
        elif has_trait(model, row, RETURNS):
            opens = set_return(model, work, row, block, worker, h, way >= WAYS)
            forget_response(model, work, row, worker)
            work.active[row, worker] = opens
            if way > 1:
                opens = zero
        if is_some and any_positive(opens):
            island = model.row_island[row]
            work.loop_is_open[island, worker] = maximum(work.loop_is_open[island, worker], opens)
            is_any = bool(True)
    if is_some and way > 2 and is_any:
        is_any = bool(False)
        for island in range(model.island_count):
            left = work.loop_gap_before[island, worker] - work.loop_gap_largest[island, worker]
            opens = where_positive(left, work.loop_is_open[island, worker], zero)
            work.loop_is_open[island, worker] = opens
            if any_positive(opens):
                is_any = bool(True)
    if any_positive(set_stop_changes(model, work, block, worker, way, model.rounding[0, 0])):
        is_any = bool(True)
    return is_any


@wp.func
def set_stop_changes(model: ModelArrays, work: WorkArrays, block: int, worker: int, way: int, known: Real):
    """Write what stops allow to change: nothing, then positions up to their ends, and velocities of what bounces away.

    After the first way stops that it has passed hold, too: returns one where it has just passed any.
    """
    zero = known - known
    one = real(1.0, zero)
    found = zero
    for row in range(model.stop_row, model.row_count):
        island = model.row_island[row]
        if model.island_is_looped[island] == 1 and not has_trait(model, row, IS_CONTACT):
            least, most = limit_range(model, work, row, block, worker)
            if way >= WAYS:
                bounces = zero
                if model.row_family[row] == BOUNCING_LIMIT_ORDER:
                    bounces = work.bounced[row, worker]
                at_lower = least + most
                unbounded = one / zero
                least = where_positive(bounces, where_positive(at_lower, zero, neg(unbounded)), zero)
                most = where_positive(bounces, where_positive(at_lower, unbounded, zero), zero)
            elif way < 2:
                least = zero
                most = zero
            if way > 0 and way < WAYS and row < model.row_count - model.rotation_rows:
                q, lower, upper = stop_value(model, work, row, block, worker)
                passed = maximum(lower - q, q - upper) - work.tolerance[row, worker] - known
                passed = where_positive(passed, one, zero)
                if any_positive(passed):
                    # What was beyond at the start of the step may be so still.
                    least = where_positive(passed, lower - work.tolerance[row, worker] - q, least)
                    most = where_positive(passed, upper + work.tolerance[row, worker] - q, most)
                    work.active[row, worker] = maximum(work.active[row, worker], passed)
                    if way == 1:
                        work.loop_is_open[island, worker] = maximum(work.loop_is_open[island, worker], passed)
                        found = maximum(found, passed)
            set_velocity_bounds(work, row, worker, least, most)
    return found


@wp.func
def add_closing_loads(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
    with_forces: int,
):
    """Add the mean forces of what brings velocities back to what loop joints have transmitted."""
    failure = state.failure[0, block]
    if with_forces == 1 or model.breakable_loops == 1:
        share_redundant_loads(model, work, worker)
    for row in range(model.stop_row):
        if has_trait(model, row, HOLDS_POSITIONS | RETURNS):
            z = work.impulse[row, worker] + work.redundant_impulse[row, worker]
            force = where_positive(failure, failure - failure, z / h)
            if any_positive(absolute(force)):
                if model.breakable_loops == 1:
                    add_closing_load_of(model, work, work.loop_force, row, worker, block, worker, force)
                if with_forces == 1:
                    add_closing_load_of(model, work, forces.loop_force, row, block, block, worker, force)


@wp.func
def add_closing_load_of(
    model: ModelArrays, work: WorkArrays, values: Array, row: int, place: int, block: int, worker: int, force: Real
):
    """Add the force of a held axis, or of a limit, to the load of its joint."""
    if has_trait(model, row, RETURNS):
        add_closing_limit_load(model, work, values, row, place, block, worker, force)
    else:
        add_closing_load(model, work, values, row, place, block, worker, force)


@wp.func
def take_moved(model: ModelArrays, work: WorkArrays, takes_part: wp.array(dtype=int), worker: int):
    """Make what the joints of islands that were open have moved to their positions, of those that take part."""
    for item in range(model.dof_count - model.root_dofs):
        island = model.dof_island[model.root_dofs + item]
        if takes_part[island] == 1:
            q = where_positive(
                work.loop_is_open[island, worker], work.end_position[item, worker], work.position[item, worker]
            )
            work.position[item, worker] = q
    for k in range(pose_rows(model.root_dofs)):
        island = model.dof_island[6 * (k // 7)]
        if takes_part[island] == 1:
            q = where_positive(work.loop_is_open[island, worker], work.end_root[k, worker], work.root[k, worker])
            work.root[k, worker] = q


@wp.func
def hold_others(model: ModelArrays, work: WorkArrays, block: int, worker: int, one: Real):
    """Of the other rows of islands with loops have those hold that a step has held: stops and hard mimic joints.

    Armatures resist.
    """
    zero = one - one
    for row in range(model.row_count):
        held = zero
        if model.island_is_looped[model.row_island[row]] == 0:
            held = zero
        elif row >= model.stop_row:
            held = where_positive(absolute(work.impulse[row, worker]), one, zero)
            if has_trait(model, row, IS_CURVED) and any_positive(held):
                # `hold_limits` has turned J where any environment needed it: here it is that of q+ in all.
                linearize_limit(model, work, row, block, worker)
                forget_response(model, work, row, worker)
        elif has_trait(model, row, MOVES_DOFS_ALIKE):
            held = where_positive(work.compliance[row, worker], zero, work.active[row, worker])
        elif has_trait(model, row, RESISTS):
            held = resists(model, work, row, block, worker)
        work.active[row, worker] = held
        set_velocity_bounds(work, row, worker, zero, zero)


@wp.func
def find_change(
    model: ModelArrays,
    work: WorkArrays,
    takes_part: wp.array(dtype=int),
    worker: int,
    sweeps: int,
    solver: wp.Function,
    one: Real,
):
    """Write the least change in terms of M that satisfies the active rows to `work.v_next`, where islands take part."""
    zero = one - one
    for dof in range(model.dof_count):
        if takes_part[model.dof_island[dof]] == 1:
            work.v_free[dof, worker] = zero
            work.v_next[dof, worker] = zero
    for row in range(model.row_count):
        if takes_part[model.row_island[row]] == 1:
            work.impulse[row, worker] = zero
    for island in range(model.island_count):
        work.environment_mask[island, worker] = work.loop_is_open[island, worker]
        work.begins[island, worker] = 1
    if model.innovations_only == 1:
        forget_working_set(model, work, worker, zero)
    prepare_responses(model, work, worker)
    solver(model, work, worker, sweeps)

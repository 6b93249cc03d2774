"""What the registered constraints do in a step of length h from a state, under given joint forces tau:

    M (v+ - v) / h + c + g = tau + J^T external + K z / h

with everything at the present positions. Constraints are tendons, mimic joints and contact points; their laws hold at
the end of the step, as with the semi-implicit integrator. Drives, limits, friction and damping of joints, and drag of
links are left out. The impulses z are solved for directly, and v+ is found anew from them to say by how much it misses
their laws.
"""

import warp as wp

from warp_artic.constraints.contact import (
    friction_impulse,
    friction_miss,
    guess_sliding,
    judge_friction,
    normal_row,
    set_contact_rows,
)
from warp_artic.constraints.dispatch import set_rows
from warp_artic.constraints.rows import add_responses, row_velocity
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
from warp_artic.model.arrays import Array, ContactArrays, ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import HAS_NO_COMPLIANCE, IS_JUDGED_APART, has_trait
from warp_artic.phases.impulse_response import respond_to_loads
from warp_artic.phases.link_positions import locate_links
from warp_artic.solver.break_loops import load_loops
from warp_artic.solver.rows.activation import activate_rows, prepare_responses
from warp_artic.solver.rows.direct import solve_direct
from warp_artic.solver.rows.problem import forget_working_set
from warp_artic.solver.velocities import measure_inertias, solve_accelerations

BOLD_TURNS = wp.constant(6)
"""Times that all contradictions of a guess of what slides are changed, before it is done one by one."""
CAREFUL_TURNS = wp.constant(24)
"""Times for each contact point that one is changed."""


@wp.func
def solve_impulses(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    contacts: ContactArrays,
    work: WorkArrays,
    joint_force: Array,
    column: int,
    slot: int,
    h: Real,
):
    """Find the impulses of all rows, v+ without them in `work.v_free` and the accelerations with them, `work.vdot`."""
    solve_accelerations(model, state, control, work, joint_force, column, slot)
    if model.loop_count > 0:
        load_loops(model, state, work, column, slot)
    locate_links(model, work, work.root, column, slot)
    for response in range(model.slot_count):
        work.ready[response, slot] = 0
    for row in range(model.row_count):
        work.row_mobility[row, slot] = real(0.0, h)
    work.since_placed[0, slot] = real(0.0, h)
    work.end_weight[0, slot] = real(1.0, h)
    for dof in range(model.dof_count):
        work.shift[dof, slot] = real(0.0, h)
        work.v_middle[dof, slot] = work.v[dof, slot]
    measure_inertias(model, work, column, slot, h)
    for dof in range(model.dof_count):
        work.v_next[dof, slot] = work.v[dof, slot] + h * work.vdot[dof, slot]
    set_contact_rows(model, contacts, work, column, slot, h)
    for island in range(model.island_count):
        work.begins[island, slot] = 1
    set_rows(model, work, column, slot, h)
    add_responses(model, work, work.given, 0, model.row_count, work.v_next, slot)
    for dof in range(model.dof_count):
        work.v_free[dof, slot] = work.v_next[dof, slot]
    forget_working_set(model, work, slot, real(0.0, h))
    if contacts.count > 0:
        guess_sliding(model, contacts, work, column, slot)
    settle_constraints(model, contacts, work, column, slot)
    add_accelerations(model, work, slot, h)


@wp.func
def settle_constraints(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, column: int, slot: int):
    """Let rows join the active ones, and solve those, until none is outside its window and what is to slide does."""
    turns = int(0)
    unsolved = activate_rows(model, work, slot)
    while unsolved:
        prepare_responses(model, work, slot)
        solve_direct(model, work, slot, 0)
        unsolved = activate_rows(model, work, slot)
        if not unsolved and turns < BOLD_TURNS + CAREFUL_TURNS * contacts.count:
            # Changes in a fixed order go in circles where points are wedged; triangular numbers mix them.
            first = int(-1)
            if turns >= BOLD_TURNS:
                first = turns * (turns + 1) / 2
            changed = judge_friction(model, contacts, work, column, slot, first)
            unsolved = any_positive(changed)
            if unsolved:
                activate_rows(model, work, slot)
                for island in range(model.island_count):
                    work.environment_mask[island, slot] = maximum(work.environment_mask[island, slot], changed)
            turns += 1


@wp.func
def add_accelerations(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Add the accelerations that the impulses give to `work.vdot`, and write v+ with them."""
    for dof in range(model.dof_count):
        work.u[dof, slot] = real(0.0, h)
    for row in range(model.row_count):
        force = (work.impulse[row, slot] + work.given[row, slot]) / h
        start = model.row_term[row]
        for term in range(start, start + model.row_terms[row]):
            dof = model.term_dof[term]
            work.u[dof, slot] = work.u[dof, slot] + work.push[term, slot] * force
    for dof in range(model.dof_count):
        work.load[dof, slot] = work.u[dof, slot]
    respond_to_loads(model, work, work.v_next, slot)
    for dof in range(model.dof_count):
        vdot = work.vdot[dof, slot] + work.v_next[dof, slot]
        work.vdot[dof, slot] = vdot
        work.v_next[dof, slot] = work.v[dof, slot] + h * vdot


@wp.func
def report_impulses(
    model: ModelArrays,
    contacts: ContactArrays,
    work: WorkArrays,
    impulses: Array,
    effort: Array,
    vdot: Array,
    residual: Array,
    count: int,
    column: int,
    slot: int,
    h: Real,
):
    """Write the impulses in the order of the coefficient matrix, K z / h, vdot, and by how much laws are missed."""
    for dof in range(model.dof_count):
        effort[dof, column] = work.load[dof, slot]
        vdot[dof, column] = work.vdot[dof, slot]
    for place in range(count):
        impulses[place, column] = real(0.0, h)
    couplings = count - 3 * contacts.count
    for row in range(model.row_count - 3 * contacts.count):
        place = model.row_place[row]
        z = work.impulse[row, slot] + work.given[row, slot]
        impulses[place, column] = impulses[place, column] + z
    for contact in range(contacts.count):
        place = couplings + 3 * contact
        impulses[place, column] = work.impulse[normal_row(model, contacts, contact), slot]
        for k in range(2):
            z = friction_impulse(model, contacts, work, contact, k, column, slot)
            impulses[place + 1 + k, column] = z
    residual[0, column] = missed_share(model, contacts, work, column, slot)


@wp.func
def missed_share(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, column: int, slot: int):
    """The largest velocity by which v+ misses a law, as a share of the largest sum of terms of a row."""
    one = real(1.0, work.v_next[0, slot])
    missed = one - one
    scale = one - one
    for row in range(model.row_count):
        y = row_velocity(model, work, row, slot)
        r = work.row_mobility[row, slot]
        terms = (r + work.compliance[row, slot]) * absolute(work.impulse[row, slot])
        start = model.row_term[row]
        for term in range(start, start + model.row_terms[row]):
            dof = model.term_dof[term]
            speed = maximum(absolute(work.v_next[dof, slot]), absolute(work.v_free[dof, slot]))
            terms = terms + absolute(work.coefficient[term, slot]) * speed
        scale = maximum(scale, terms)
        if not has_trait(model, row, IS_JUDGED_APART):
            missed = maximum(missed, law_miss(model, work, row, slot, y, r))
    for contact in range(contacts.count):
        for k in range(2):
            missed = maximum(missed, friction_miss(model, contacts, work, contact, k, column, slot))
    return missed / where_positive(scale, scale, one)


@wp.func
def law_miss(model: ModelArrays, work: WorkArrays, row: int, slot: int, y: Real, r: Real):
    """By how much a row misses its law: s = y + compliance z is where s - r z is clamped to. A contact has s = y."""
    z = work.impulse[row, slot]
    s = y
    if not has_trait(model, row, HAS_NO_COMPLIANCE):
        s = y + work.compliance[row, slot] * z
    return absolute(s - minimum(maximum(s - r * z, work.window[2 * row, slot]), work.window[2 * row + 1, slot]))

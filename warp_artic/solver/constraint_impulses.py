"""What the registered constraints do in a step of length h from a state, under given joint forces tau:

    M (v+ - v) / h + c + g = tau + J^T external + K z / h

with everything at the present positions. Constraints are tendons, mimic joints, loop joints, distances and contact
points; their laws hold at the end of the step, as with the semi-implicit integrator. Drives, limits, friction and
damping of joints, and drag of links are left out. The impulses z are solved for directly, and v+ is found again from
them to say by how much it misses their laws.
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
from warp_artic.constraints.forces import row_impulse
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
from warp_artic.solver.bare_dynamics import solve_accelerations
from warp_artic.solver.break_loops import load_loops
from warp_artic.solver.rows.activation import activate_rows, prepare_responses
from warp_artic.solver.rows.direct import solve_direct
from warp_artic.solver.rows.least_norm import share_redundant_loads
from warp_artic.solver.rows.problem import forget_working_set
from warp_artic.solver.velocities import measure_inertias

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
    block: int,
    worker: int,
    h: Real,
):
    """Find the impulses of all rows, v+ without them in `work.v_free` and the accelerations with them, `work.vdot`."""
    solve_accelerations(model, state, control, work, joint_force, block, worker)
    place_rows(model, state, work, block, worker, h)
    set_contact_rows(model, contacts, work, block, worker, h)
    for island in range(model.island_count):
        work.begins[island, worker] = 1
    set_rows(model, work, block, worker, h)
    add_responses(model, work, work.given, 0, model.row_count, work.v_next, worker)
    for dof in range(model.dof_count):
        work.v_free[dof, worker] = work.v_next[dof, worker]
    forget_working_set(model, work, worker, real(0.0, h))
    if contacts.count > 0:
        guess_sliding(model, contacts, work, block, worker)
    solve_constraints(model, contacts, work, block, worker)
    add_accelerations(model, work, worker, h)


@wp.func
def place_rows(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Bring what laws of rows read up to date, at the present positions, with accelerations in `work.vdot`."""
    if model.loop_count > 0:
        load_loops(model, state, work, block, worker)
    locate_links(model, work, work.root, block, worker)
    for response in range(model.response_count):
        work.ready[response, worker] = 0
    for row in range(model.row_count):
        work.row_delassus[row, worker] = real(0.0, h)
    work.since_placed[0, worker] = real(0.0, h)
    work.stopped[0, worker] = real(0.0, h)
    work.end_weight[0, worker] = real(1.0, h)
    for dof in range(model.dof_count):
        work.shift[dof, worker] = real(0.0, h)
        work.v_middle[dof, worker] = work.v[dof, worker]
    measure_inertias(model, work, block, worker, h)
    for dof in range(model.dof_count):
        work.v_next[dof, worker] = work.v[dof, worker] + h * work.vdot[dof, worker]


@wp.func
def solve_constraints(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, block: int, worker: int):
    """Activate rows and solve them until none is outside its velocity bounds and what is to slide does."""
    turns = int(0)
    unsolved = activate_rows(model, work, worker)
    while unsolved:
        prepare_responses(model, work, worker)
        solve_direct(model, work, worker, 0)
        unsolved = activate_rows(model, work, worker)
        if not unsolved and turns < BOLD_TURNS + CAREFUL_TURNS * contacts.count:
            # Changes in a fixed order go in circles where points are wedged; triangular numbers mix them.
            first = int(-1)
            if turns >= BOLD_TURNS:
                first = turns * (turns + 1) / 2
            changed = judge_friction(model, contacts, work, block, worker, first)
            unsolved = any_positive(changed)
            if unsolved:
                activate_rows(model, work, worker)
                for island in range(model.island_count):
                    work.environment_mask[island, worker] = maximum(work.environment_mask[island, worker], changed)
            turns += 1


@wp.func
def add_accelerations(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Add the accelerations that the impulses give to `work.vdot`, and write v+ with them."""
    for dof in range(model.dof_count):
        work.u[dof, worker] = real(0.0, h)
    for row in range(model.row_count):
        force = (work.impulse[row, worker] + work.given[row, worker]) / h
        start = model.row_term[row]
        for term in range(start, start + model.row_terms[row]):
            dof = model.term_dof[term]
            work.u[dof, worker] = work.u[dof, worker] + work.P[term, worker] * force
    for dof in range(model.dof_count):
        work.load[dof, worker] = work.u[dof, worker]
    respond_to_loads(model, work, work.v_next, worker)
    for dof in range(model.dof_count):
        vdot = work.vdot[dof, worker] + work.v_next[dof, worker]
        work.vdot[dof, worker] = vdot
        work.v_next[dof, worker] = work.v[dof, worker] + h * vdot


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
    block: int,
    worker: int,
    h: Real,
):
    """Write the impulses in the order of the coefficient matrix, K z / h, vdot, and by how much laws are missed."""
    for dof in range(model.dof_count):
        effort[dof, block] = work.load[dof, worker]
        vdot[dof, block] = work.vdot[dof, worker]
    if model.loop_count > 0:
        share_redundant_loads(model, work, worker)
    for place in range(count):
        impulses[place, block] = real(0.0, h)
    couplings = count - 3 * contacts.count
    for row in range(3 * contacts.count, model.row_count):
        place = model.row_place[row]
        impulses[place, block] = impulses[place, block] + row_impulse(model, work, row, worker)
    for contact in range(contacts.count):
        place = couplings + 3 * contact
        impulses[place, block] = work.impulse[normal_row(contacts, contact), worker]
        for k in range(2):
            z = friction_impulse(model, contacts, work, contact, k, block, worker)
            impulses[place + 1 + k, block] = z
    residual[0, block] = missed_share(model, contacts, work, block, worker)


@wp.func
def missed_share(model: ModelArrays, contacts: ContactArrays, work: WorkArrays, block: int, worker: int):
    """The largest velocity by which v+ misses a law, as a share of the largest sum of terms of a row."""
    one = real(1.0, work.v_next[0, worker])
    missed = one - one
    scale = one - one
    for row in range(model.row_count):
        y = row_velocity(model, work, row, worker)
        r = work.row_delassus[row, worker]
        terms = (r + work.compliance[row, worker]) * absolute(work.impulse[row, worker])
        start = model.row_term[row]
        for term in range(start, start + model.row_terms[row]):
            dof = model.term_dof[term]
            speed = maximum(absolute(work.v_next[dof, worker]), absolute(work.v_free[dof, worker]))
            terms = terms + absolute(work.J[term, worker]) * speed
        scale = maximum(scale, terms)
        if not has_trait(model, row, IS_JUDGED_APART):
            missed = maximum(missed, law_miss(model, work, row, worker, y, r))
    for contact in range(contacts.count):
        for k in range(2):
            missed = maximum(missed, friction_miss(model, contacts, work, contact, k, block, worker))
    return missed / where_positive(scale, scale, one)


@wp.func
def law_miss(model: ModelArrays, work: WorkArrays, row: int, worker: int, y: Real, r: Real):
    """By how much a row misses its law: s = y + compliance z is where s - r z is clamped to. A contact has s = y."""
    z = work.impulse[row, worker]
    s = y
    if not has_trait(model, row, HAS_NO_COMPLIANCE):
        s = y + work.compliance[row, worker] * z
    return absolute(
        s
        - minimum(maximum(s - r * z, work.velocity_bounds[2 * row, worker]), work.velocity_bounds[2 * row + 1, worker])
    )

"""The direct solver with points of contact: their impulses first, then all other rows exactly beside them.

Impulses of points are found by splitting (`solver.rows.contact_splitting`), or from those of the step before where they
rest (`resting_contacts`). Where impacts give way by more than ANCHORED of the velocities, the impulses found become the
anchors, and the splitting goes on. What sticks, slides and holds is known then, and `sticking_contacts` takes the
give of what sticks away. The impulses found become the anchors of the next ones, of bodies without joints, where it is
not known, as many supports share a load or friction is near its bound, and where friction is not against the slip of
what slides, as that is slow: the method of proximal points, which needs no such knowledge.

An answer has  z G z <= z (target - y_free), as z pushes nothing beyond its target. Where shapes that start in each
other contradict each other, turns end before there is an answer: impulses that do more work are made smaller until they
have it.

Last the impulses of contacts are given, and `solver.rows.active_set` solves the rest without an iteration error,
starting from what rows hold here. Each environment ends its turns by itself, and each starts from the impulses before.

Source: coefficients and turns as measured for one-step problems; see the tests for figures.
"""

import warp as wp

from warp_artic.constraints.rows import add_innovations
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
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.active_set import find_working_set
from warp_artic.solver.rows.contact_derivatives import differentiate_impulses
from warp_artic.solver.rows.contact_rows import (
    is_contact,
    largest_velocity,
)
from warp_artic.solver.rows.contact_splitting import (
    change_penalties,
    factor_penalized,
    solve_penalized,
    split_rows,
    take_nearest,
)
from warp_artic.solver.rows.direct import set_first_working_set, take_solution
from warp_artic.solver.rows.factors import set_delassus
from warp_artic.solver.rows.held import scale_innovations
from warp_artic.solver.rows.problem import gather_rows
from warp_artic.solver.rows.resting_contacts import LEFT, find_resting_impulses
from warp_artic.solver.rows.sticking_contacts import stiffen_contacts

IMBALANCE = wp.constant(5.0)
DOUBLE = wp.constant(1e-10)
"""Relative rounding error below which numbers are of double precision."""
TURNS_BETWEEN = wp.constant(10)
"""Turns after which rho may change."""
MOST_TURNS = wp.constant(100)
"""After these the impulses are accepted, in single precision."""
MORE_TURNS = wp.constant(4)
"""Times as many in double precision, which has more digits to find."""
ANCHORED = wp.constant(1e-6)
"""Part of the velocities that contacts may give way by."""
ANCHORS = wp.constant(4)
"""Times that impulses found become the anchors."""
ROUNDS = wp.constant(8)
"""Times that impulses are found from anchors."""
SHRINKS = wp.constant(0.7)
"""What is left of a miss of velocities, at most, with the next anchors."""
ANSWERED = wp.constant(0.9)
"""Part of the work of impulses that targets have for, from which on they are an answer."""


@wp.func
def solve_with_contacts(model: ModelArrays, work: WorkArrays, worker: int, iterations: int):
    """Solve the active rows together; `iterations` is not used."""
    count, known, first_nonsymmetric = gather_rows(model, work, worker)
    if count > 0:
        set_delassus(model, work, known, count, worker)
        has_slides = set_first_working_set(model, work, known, count, worker)
        if split_rows(model, work, count, worker):
            find_contact_impulses(model, work, count, worker)
        find_working_set(model, work, known, count, first_nonsymmetric, has_slides, worker)
        take_solution(model, work, count, worker)


@wp.func
def find_contact_impulses(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write the impulses of contacts as given ones, and the first working set of the other rows."""
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    scale = largest_velocity(model, work, count, worker)
    touches = touching(model, work, count, worker)
    rests = find_resting_impulses(model, work, count, scale, worker)
    moves = where_positive(scale, one - rests, zero)
    if any_positive(moves):
        approach_impulses(model, work, count, moves, touches, scale, worker)
        limit_work(model, work, count, moves, worker)
    else:
        give_contacts(model, work, count, touches, worker)


@wp.func
def approach_impulses(
    model: ModelArrays, work: WorkArrays, count: int, chosen: Real, touches: Real, scale: Real, worker: int
):
    """Find impulses by splitting, and without the give of what sticks, where `chosen`; give those that it `touches`.

    Where what sticks, slides and holds is not known well enough, or friction is not against the slip, the impulses
    found become the anchors, from which the next ones differ less, until velocities miss what they are to be by less
    than LEFT, or hardly less than before. Joints may press on what cannot give way, where impulses would grow each
    time: mechanisms with joints take the first ones.
    """
    zero = real(0.0, scale)
    tolerance = scale * real(LEFT, scale)
    left = scale
    goes = bool(True)
    rounds = int(0)
    while goes:
        split_impulses(model, work, count, chosen, touches, scale, worker)
        give_contacts(model, work, count, touches, worker)
        missed = stiffen_contacts(model, work, count, chosen, tolerance, worker)
        shrinks = where_positive(missed - left * real(SHRINKS, scale), zero, chosen)
        chosen = where_positive(missed - tolerance, shrinks, zero)
        touches = chosen
        left = missed
        rounds += 1
        goes = any_positive(chosen) and rounds < ROUNDS and model.dof_count == model.root_dofs
        if goes:
            anchor_contacts(model, work, count, chosen, worker)


@wp.func
def split_impulses(
    model: ModelArrays, work: WorkArrays, count: int, chosen: Real, touches: Real, scale: Real, worker: int
):
    """Take turns of the splitting where `chosen`."""
    one = real(1.0, scale)
    zero = one - one
    tolerance = scale * model.rounding[2, 0] * real(10.0, one)
    going = chosen
    goes = bool(True)
    factored = factor_penalized(model, work, count, touches, worker)
    most = int(MOST_TURNS)
    if any_positive(real(DOUBLE, one) - model.rounding[0, 0]):
        most = MORE_TURNS * MOST_TURNS
    turns = int(0)
    anchors = int(0)
    while goes:
        solve_penalized(model, work, factored, worker)
        miss, change = take_nearest(model, work, count, going, worker)
        turns += 1
        going = where_positive(maximum(miss, change) - tolerance, going, zero)
        if turns % TURNS_BETWEEN == 0:
            wider = where_positive(miss - change * real(IMBALANCE, one), going, zero)
            narrower = where_positive(change - miss * real(IMBALANCE, one), going, zero)
            if any_positive(wider + narrower):
                change_penalties(work, count, wider, narrower, worker)
                factored = factor_penalized(model, work, count, touches, worker)
        goes = any_positive(going) and turns < most
        if not goes and model.is_dual == 1:
            differentiate_impulses(model, work, count, worker)
        if not goes and anchors < ANCHORS:
            anchors += 1
            most_given = maximum(scale * real(ANCHORED, one), tolerance)
            going = move_anchors(model, work, count, most_given, chosen, worker)
            goes = any_positive(going)
            turns = 0


@wp.func
def anchor_contacts(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, worker: int):
    """Where `chosen`, let the impulses found be the anchors, and the turns begin anew."""
    zero = real(0.0, chosen)
    for a in range(count):
        work.split_dual[a, worker] = where_positive(chosen, zero, work.split_dual[a, worker])
        if is_contact(model, work, a, worker):
            item = model.row_item[work.gathered[a, worker]]
            takes = chosen * work.row_mask[a, worker]
            before = work.contact_anchor[item, worker]
            work.contact_anchor[item, worker] = where_positive(takes, work.split_impulse[a, worker], before)


@wp.func
def move_anchors(model: ModelArrays, work: WorkArrays, count: int, most: Real, chosen: Real, worker: int):
    """Where `chosen`, let the impulses found be the anchors where impacts give way by more than `most`; says where."""
    zero = real(0.0, most)
    given = zero
    for a in range(count):
        if is_contact(model, work, a, worker):
            item = model.row_item[work.gathered[a, worker]]
            gives = work.contact_give[item, worker] * (
                work.split_impulse[a, worker] - work.contact_anchor[item, worker]
            )
            hits = work.contact_hits[item // 3, worker] * work.row_mask[a, worker]
            given = maximum(given, absolute(gives) * hits)
    moves = where_positive(given - most, chosen, zero)
    for a in range(count):
        if is_contact(model, work, a, worker):
            item = model.row_item[work.gathered[a, worker]]
            takes = moves * work.row_mask[a, worker]
            before = work.contact_anchor[item, worker]
            work.contact_anchor[item, worker] = where_positive(takes, work.split_impulse[a, worker], before)
            start = work.contact_start[item, worker]
            work.contact_start[item, worker] = where_positive(chosen, work.split_impulse[a, worker], start)
    return moves


@wp.func
def touching(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """One where a point of contact takes part, else zero: there rows are solved as if no neighbour had one."""
    touches = real(0.0, work.y_free[0, worker])
    for a in range(count):
        if is_contact(model, work, a, worker):
            touches = maximum(touches, work.row_mask[a, worker])
    return touches


@wp.func
def give_contacts(model: ModelArrays, work: WorkArrays, count: int, touches: Real, worker: int):
    """Give contacts their impulses, and have the other rows start as they are here, where anything `touches`."""
    one = real(1.0, touches)
    zero = one - one
    for a in range(count):
        row = work.gathered[a, worker]
        mask = work.row_mask[a, worker]
        z = work.split_impulse[a, worker]
        if is_contact(model, work, a, worker):
            work.in_working_set[a, worker] = zero
            work.trial_impulse[a, worker] = z * mask
        else:
            lower = work.velocity_bounds[2 * row, worker]
            upper = work.velocity_bounds[2 * row + 1, worker]
            bound = work.present_bound[a, worker]
            is_stop = where_positive(upper - lower, touches, zero)
            is_open = is_stop * where_positive(absolute(z), zero, one)
            at_bound = where_positive(bound - absolute(z), zero, one)
            target = where_positive(z, lower, where_positive(neg(z), upper, work.target[a, worker]))
            work.target[a, worker] = where_positive(is_stop, target, work.target[a, worker])
            known = mask * (one - maximum(is_open, at_bound))
            given = where_positive(is_open, zero, where_positive(z, bound, neg(bound)))
            given = where_positive(maximum(is_open, at_bound), mask * given, zero)
            work.in_working_set[a, worker] = where_positive(touches, known, work.in_working_set[a, worker])
            work.trial_impulse[a, worker] = where_positive(touches, given, work.trial_impulse[a, worker])


@wp.func
def limit_work(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, worker: int):
    """Where `chosen`, make the impulses of contacts smaller in islands whose rows do more work than targets have."""
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    for island in range(model.island_count):
        work.island_work[island, worker] = zero
        work.island_wanted[island, worker] = zero
    for dof in range(model.dof_count):
        work.innovation[dof, worker] = zero
    for a in range(count):
        row = work.gathered[a, worker]
        z = work.split_impulse[a, worker]
        compliance = work.compliance[row, worker]
        target = work.target[a, worker]
        if is_contact(model, work, a, worker):
            item = model.row_item[row]
            z = work.trial_impulse[a, worker]
            compliance = compliance - work.contact_give[item, worker]
            target = zero
            if item % 3 == 0:
                target = work.contact_speed[item // 3, worker]
        z = z * work.row_mask[a, worker]
        target = where_positive(absolute(z), target, zero)
        island = model.row_island[row]
        work.island_work[island, worker] = work.island_work[island, worker] + compliance * z * z
        wanted = work.island_wanted[island, worker]
        work.island_wanted[island, worker] = wanted + z * (target - work.y_free[a, worker])
        if any_positive(absolute(z)):
            add_innovations(model, work, row, z, worker)
    scale_innovations(model, work, worker)
    for dof in range(model.dof_count):
        island = model.dof_island[dof]
        done = work.innovation[dof, worker] * work.scaled_innovation[dof, worker]
        work.island_work[island, worker] = work.island_work[island, worker] + done
    for a in range(count):
        if is_contact(model, work, a, worker):
            island = model.row_island[work.gathered[a, worker]]
            done = work.island_work[island, worker]
            share = maximum(work.island_wanted[island, worker], zero) / where_positive(done, done, one)
            share = where_positive(share - real(ANSWERED, one), one, share)
            z = work.trial_impulse[a, worker]
            work.trial_impulse[a, worker] = where_positive(where_positive(chosen, done, zero), z * share, z)

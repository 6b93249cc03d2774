"""The direct solver with points of contact: their impulses by splitting, then all other rows exactly beside them.

With G = J M^-1 P with compliances, y = y_free + G x and the set Z of impulses that a row may have, it is to be
    x in Z,   with the velocity y of each row as its law has it for x.
The method of multipliers takes turns (Boyd et al., Distributed optimization by the alternating direction method of
multipliers, 2011), with a penalty rho for each row and u, which becomes y beyond what the row wants:
    (G + rho) x = - y_free + u + rho z,   z = the impulse that is nearest to x - u / rho,   u = u + rho (z - x)
until z = x and z stays. What is nearest is, for velocity bounds [lower, upper] and an impulse bound,  clamp(x - u / rho
+ end / rho), and for a point of contact the projection onto the cone |z_t| <= mu z_n. Its normal wants y_n = b less mu
|u_t| (De Saxce and Feng), with which the answer is that of Coulomb's law, where friction is along the slip. Every z
obeys the cone. Equalities without a bound are solved for, with no penalty. The penalties, PENALTY G_aa at first, follow
what is left of both conditions. The rows of a point have the same, as the cone is one of all three.

Rows of contacts give way a little, by what the impulses differ from anchors (`constraints.contact_pair`). Where impacts
would do so by more than ANCHORED of the velocities, the impulses found become the anchors, and the turns go on.

Then it is known what sticks, slides and holds. There the velocities with a small part of R and without an anchor follow
from linear equations, which are solved twice, for what each answer leaves. Points that leave the cone by it are let go,
as other rows that leave their bounds, and it is done again; points that come nearer than they may join. Where that
leaves more, because they are not known well enough, the answer is not taken.

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
    Vec3,
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
    vec3,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.active_set import find_working_set
from warp_artic.solver.rows.contact_rows import (
    STICKS,
    bound_excess,
    friction_excess,
    is_contact,
    is_normal,
    largest_miss,
    largest_velocity,
    missing_velocity,
    slip_miss,
    solve_stiffened,
    stiffen_row,
)
from warp_artic.solver.rows.direct import set_first_working_set, take_solution
from warp_artic.solver.rows.factors import factor_working_set, set_delassus, solve_consistent, triangle
from warp_artic.solver.rows.held import scale_innovations
from warp_artic.solver.rows.levers import is_equality, slow_overlaps
from warp_artic.solver.rows.problem import gather_rows
from warp_artic.solver.rows.resting_contacts import LEFT, find_resting_impulses

PENALTY = wp.constant(0.4)
"""rho at first, as a share of G_aa."""
PENALTY_STEP = wp.constant(4.0)
"""By which rho changes, where one condition is left by IMBALANCE times more than the other."""
IMBALANCE = wp.constant(5.0)
DOUBLE = wp.constant(1e-10)
"""Relative rounding error below which numbers are of double precision."""
TURNS_BETWEEN = wp.constant(10)
"""Turns after which rho may change."""
MOST_TURNS = wp.constant(100)
"""After which the impulses are taken as they are, in single precision."""
MORE_TURNS = wp.constant(4)
"""Times as many turns in double precision, which has more digits to find."""
ANCHORED = wp.constant(1e-6)
"""Part of the velocities that contacts may give way by."""
ANCHORS = wp.constant(4)
"""Times that impulses found become the anchors."""
ROUNDS = wp.constant(5)
"""Times that points may leave those that stick."""
ANSWERED = wp.constant(0.9)
"""Part of the work of impulses that targets have for, from which on they are an answer."""


@wp.func
def solve_with_contacts(model: ModelArrays, work: WorkArrays, worker: int, iterations: int):
    """Solve the active rows together; `iterations` is not used."""
    count, known, first_nonsymmetric = gather_rows(model, work, worker)
    if count > 0:
        set_delassus(model, work, known, count, worker)
        if model.tying_rows > 0:
            slow_overlaps(model, work, count, worker)
        has_slides = set_first_working_set(model, work, known, count, worker)
        if split_rows(model, work, count, worker):
            find_contact_impulses(model, work, count, worker)
        find_working_set(model, work, known, count, first_nonsymmetric, has_slides, worker)
        take_solution(model, work, count, worker)


@wp.func
def split_rows(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write where the turns start; says whether there is any point of contact."""
    found = bool(False)
    zero = real(0.0, work.y_free[0, worker])
    one = real(1.0, zero)
    for a in range(count):
        row = work.gathered[a, worker]
        diagonal = work.delassus[triangle(a) + a, worker]
        work.split_diagonal[a, worker] = diagonal
        penalty = where_positive(
            is_equality(work, row, worker), zero, real(PENALTY, one) * where_positive(diagonal, diagonal, one)
        )
        work.split_penalty[a, worker] = penalty
        work.split_impulse[a, worker] = work.impulse[row, worker]
        work.split_dual[a, worker] = zero
        if is_normal(model, work, a, worker):
            found = bool(True)
            mean = (
                diagonal
                + work.delassus[triangle(a - 1) + a - 1, worker]
                + work.delassus[triangle(a - 2) + a - 2, worker]
            )
            mean = mean * real(1.0 / 3.0, one) * real(PENALTY, one)
            first = model.row_item[row]
            for k in range(3):
                work.split_penalty[a - k, worker] = mean
                work.split_impulse[a - k, worker] = work.contact_start[first + k, worker]
    return found


@wp.func
def find_contact_impulses(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write the impulses of contacts as given ones, and the first working set of the other rows."""
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    scale = largest_velocity(model, work, count, worker)
    tolerance = scale * model.rounding[2, 0] * real(10.0, one)
    rests = find_resting_impulses(model, work, count, scale, worker)
    moves = where_positive(scale, one - rests, zero)
    going = moves
    goes = any_positive(going)
    factored = int(0)
    if goes:
        factored = factor_penalized(model, work, count, worker)
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
                factored = factor_penalized(model, work, count, worker)
        goes = any_positive(going) and turns < most
        if not goes and anchors < ANCHORS:
            anchors += 1
            going = move_anchors(model, work, count, maximum(scale * real(ANCHORED, one), tolerance), worker)
            goes = any_positive(going)
            turns = 0
    give_contacts(model, work, count, worker)
    if any_positive(moves):
        stiffen_contacts(model, work, count, moves, scale * real(LEFT, one), worker)
        limit_work(model, work, count, moves, worker)


@wp.func
def factor_penalized(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Write the factors of G + rho of all rows that take part, in any environment; returns how many these are."""
    for a in range(count):
        work.in_working_set[a, worker] = work.row_mask[a, worker]
        work.delassus[triangle(a) + a, worker] = work.split_diagonal[a, worker] + work.split_penalty[a, worker]
    factored, _inaccurate, _refines = factor_working_set(model, work, count, worker)
    for a in range(count):
        work.delassus[triangle(a) + a, worker] = work.split_diagonal[a, worker]
    return factored


@wp.func
def solve_penalized(model: ModelArrays, work: WorkArrays, factored: int, worker: int):
    """Write x of the rows of the factors to `work.residual`."""
    for i in range(factored):
        a = work.factored[i, worker]
        row = work.gathered[a, worker]
        penalty = work.split_penalty[a, worker]
        right = work.split_dual[a, worker] + penalty * work.split_impulse[a, worker] - work.y_free[a, worker]
        if is_contact(model, work, a, worker):
            item = model.row_item[row]
            right = right + work.contact_give[item, worker] * work.contact_anchor[item, worker]
            if is_normal(model, work, a, worker):
                u_1 = work.split_dual[a - 1, worker]
                u_2 = work.split_dual[a - 2, worker]
                slip = sqrt(u_1 * u_1 + u_2 * u_2)
                right = right + work.contact_speed[item // 3, worker] - work.contact_friction[item // 3, worker] * slip
        else:
            right = right + where_positive(penalty, penalty - penalty, work.target[a, worker])
        work.residual[i, worker] = right * work.row_mask[a, worker]
    solve_consistent(model, work, factored, worker)


@wp.func
def take_nearest(model: ModelArrays, work: WorkArrays, count: int, going: Real, worker: int):
    """Write z and u where `going`; returns by what z misses x, and by what it has changed, as velocities."""
    miss = real(0.0, going)
    change = real(0.0, going)
    for a in range(count):
        if is_normal(model, work, a, worker):
            one_miss, one_change = take_contact(model, work, a, going, worker)
            miss = maximum(miss, one_miss)
            change = maximum(change, one_change)
        elif not is_contact(model, work, a, worker):
            one_miss, one_change = take_row(model, work, a, going, worker)
            miss = maximum(miss, one_miss)
            change = maximum(change, one_change)
    return miss, change


@wp.func
def solved_impulse(work: WorkArrays, a: int, worker: int):
    """x of a gathered row; zero where it does not take part."""
    mask = work.row_mask[a, worker]
    x = mask - mask
    if any_positive(mask):
        x = work.residual[work.factored_before[a, worker], worker]
    return x * mask


@wp.func
def take_row(model: ModelArrays, work: WorkArrays, a: int, going: Real, worker: int):
    """z and u of a row with velocity bounds and an impulse bound."""
    row = work.gathered[a, worker]
    x = solved_impulse(work, a, worker)
    zero = real(0.0, x)
    penalty = work.split_penalty[a, worker]
    split = where_positive(penalty, real(1.0, x), zero)
    rho = where_positive(penalty, penalty, real(1.0, x))
    near = x - work.split_dual[a, worker] / rho
    lower = maximum(near + work.velocity_bounds[2 * row, worker] / rho, zero)
    upper = minimum(near + work.velocity_bounds[2 * row + 1, worker] / rho, zero)
    bound = work.impulse_bounds[2 * row, worker]
    z = minimum(maximum(lower + upper, neg(bound)), bound)
    z = where_positive(split, z, x)
    return keep_split(work, a, x, z, going * work.row_mask[a, worker], worker)


@wp.func
def keep_split(work: WorkArrays, a: int, x: Real, z: Real, going: Real, worker: int):
    """Write z and u of a row where `going`; returns by what z misses x, and by what it has changed, as velocities."""
    penalty = work.split_penalty[a, worker]
    u = work.split_dual[a, worker]
    old = work.split_impulse[a, worker]
    zero = x - x
    work.split_dual[a, worker] = where_positive(going, u + penalty * (z - x), u)
    work.split_impulse[a, worker] = where_positive(going, z, old)
    miss = absolute(z - x) * work.split_diagonal[a, worker]
    return where_positive(going, miss, zero), where_positive(going, absolute(z - old) * penalty, zero)


@wp.func
def take_contact(model: ModelArrays, work: WorkArrays, a: int, going: Real, worker: int):
    """z and u of a point of contact, whose normal is at a place."""
    point = model.row_item[work.gathered[a, worker]] // 3
    x = vec3(solved_impulse(work, a, worker), solved_impulse(work, a - 1, worker), solved_impulse(work, a - 2, worker))
    u = vec3(work.split_dual[a, worker], work.split_dual[a - 1, worker], work.split_dual[a - 2, worker])
    penalty = work.split_penalty[a, worker]
    rho = where_positive(penalty, penalty, real(1.0, penalty))
    z = nearest_in_cone(x - u * (real(1.0, rho) / rho), work.contact_friction[point, worker])
    takes = going * work.row_mask[a, worker]
    miss_n, change_n = keep_split(work, a, x.x, z.x, takes, worker)
    miss_1, change_1 = keep_split(work, a - 1, x.y, z.y, takes, worker)
    miss_2, change_2 = keep_split(work, a - 2, x.z, z.z, takes, worker)
    return maximum(miss_n, maximum(miss_1, miss_2)), maximum(change_n, maximum(change_1, change_2))


@wp.func
def nearest_in_cone(z: Vec3, mu: Real):
    """The impulse (normal, tangents) nearest to another with a normal part that pushes, and |z_t| <= mu z_n."""
    zero = real(0.0, mu)
    one = real(1.0, mu)
    t = sqrt(z.y * z.y + z.z * z.z)
    n = (mu * t + z.x) / (mu * mu + one)
    side = mu * n / where_positive(t, t, one)
    inside = where_positive(t - mu * z.x, zero, where_positive(neg(z.x), zero, one))
    pulls = where_positive(n, zero, one)
    n = where_positive(inside, z.x, where_positive(pulls, zero, n))
    side = where_positive(inside, one, where_positive(pulls, zero, side))
    return vec3(n, z.y * side, z.z * side)


@wp.func
def change_penalties(work: WorkArrays, count: int, wider: Real, narrower: Real, worker: int):
    """Make rho larger, or smaller, in some environments."""
    step = real(PENALTY_STEP, wider)
    one = real(1.0, wider)
    factor = where_positive(wider, step, where_positive(narrower, one / step, one))
    for a in range(count):
        work.split_penalty[a, worker] = work.split_penalty[a, worker] * factor


@wp.func
def move_anchors(model: ModelArrays, work: WorkArrays, count: int, most: Real, worker: int):
    """Let the impulses found be the anchors where impacts give way by more than `most`; says where."""
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
    moves = where_positive(given - most, real(1.0, most), zero)
    for a in range(count):
        if is_contact(model, work, a, worker):
            item = model.row_item[work.gathered[a, worker]]
            takes = moves * work.row_mask[a, worker]
            before = work.contact_anchor[item, worker]
            work.contact_anchor[item, worker] = where_positive(takes, work.split_impulse[a, worker], before)
            work.contact_start[item, worker] = work.split_impulse[a, worker]
    return moves


@wp.func
def give_contacts(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Give contacts their impulses, and have the other rows start as they are here."""
    one = real(1.0, work.y_free[0, worker])
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
            is_stop = where_positive(upper - lower, one, zero)
            is_open = is_stop * where_positive(absolute(z), zero, one)
            at_bound = where_positive(bound - absolute(z), zero, one)
            target = where_positive(z, lower, where_positive(neg(z), upper, work.target[a, worker]))
            work.target[a, worker] = where_positive(is_stop, target, work.target[a, worker])
            work.in_working_set[a, worker] = mask * (one - maximum(is_open, at_bound))
            given = where_positive(is_open, zero, where_positive(z, bound, neg(bound)))
            work.trial_impulse[a, worker] = where_positive(maximum(is_open, at_bound), mask * given, zero)


@wp.func
def stiffen_contacts(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, tolerance: Real, worker: int):
    """Where `chosen`, have the points that stick give way by a part of R only, with the working set of other rows."""
    one = real(1.0, work.y_free[0, worker])
    zero = one - one
    for a in range(count):
        work.split_found[a, worker] = work.split_impulse[a, worker]
        work.split_dual[a, worker] = work.split_impulse[a, worker]
        if is_normal(model, work, a, worker):
            pushes = where_positive(work.split_impulse[a, worker], work.row_mask[a, worker], zero)
            sticks = where_positive(friction_excess(model, work, a, worker, real(STICKS, one)), zero, pushes)
            work.in_working_set[a, worker] = pushes
            work.in_working_set[a - 1, worker] = sticks
            work.in_working_set[a - 2, worker] = sticks
            for k in range(3):
                stiffen_row(model, work, a - k, worker)
    wrong = chosen
    missed = largest_miss(model, work, count, worker)
    rounds = int(0)
    while rounds < ROUNDS and any_positive(wrong):
        for a in range(count):
            z = work.split_impulse[a, worker]
            work.split_impulse[a, worker] = where_positive(wrong, work.split_dual[a, worker], z)
        solve_stiffened(model, work, count, wrong, worker)
        wrong = correct_rows(model, work, count, wrong, tolerance, worker)
        rounds += 1
    slide_with_normals(model, work, count, worker)
    gains = where_positive(wrong, zero, missed - largest_miss(model, work, count, worker))
    for a in range(count):
        work.delassus[triangle(a) + a, worker] = work.split_diagonal[a, worker]
        taken = gains * work.row_mask[a, worker]
        z = where_positive(taken, work.split_impulse[a, worker], work.split_found[a, worker])
        work.split_impulse[a, worker] = z
        if is_contact(model, work, a, worker):
            work.trial_impulse[a, worker] = where_positive(taken, z, work.trial_impulse[a, worker])
            work.in_working_set[a, worker] = zero


@wp.func
def slide_with_normals(model: ModelArrays, work: WorkArrays, count: int, worker: int):
    """Give what slides the friction of its normal."""
    one = real(1.0, work.y_free[0, worker])
    for a in range(count):
        if is_normal(model, work, a, worker):
            before = work.split_found[a, worker]
            share = work.split_impulse[a, worker] / where_positive(before, before, one)
            share = where_positive(before, share, one - one)
            share = where_positive(work.in_working_set[a - 1, worker], one, share)
            for k in range(1, 3):
                work.split_impulse[a - k, worker] = work.split_impulse[a - k, worker] * share


@wp.func
def correct_rows(model: ModelArrays, work: WorkArrays, count: int, chosen: Real, tolerance: Real, worker: int):
    """Take rows out of the working set that leave their bounds, and points into it that come nearer than they may.

    What pulls has no impulse then, what would need more than friction has that of the splitting, or of its bound. Says
    where there are any.
    """
    one = real(1.0, chosen)
    zero = one - one
    found = zero
    for a in range(count):
        if is_normal(model, work, a, worker):
            is_in = work.in_working_set[a, worker] * chosen
            pulls = where_positive(work.split_impulse[a, worker], zero, is_in)
            exceeds = where_positive(friction_excess(model, work, a, worker, one), is_in, zero)
            slides = exceeds * work.in_working_set[a - 1, worker]
            out = (one - work.in_working_set[a, worker]) * work.row_mask[a, worker] * chosen
            joins = where_positive(missing_velocity(model, work, a, worker) - tolerance, out, zero)
            found = maximum(found, maximum(joins, maximum(pulls, slides)))
            for k in range(3):
                leaves = pulls
                if k > 0:
                    leaves = maximum(pulls, slides)
                stays = where_positive(leaves, zero, work.in_working_set[a - k, worker])
                work.in_working_set[a - k, worker] = where_positive(joins, one, stays)
                base = work.split_dual[a - k, worker]
                base = where_positive(joins, work.split_found[a - k, worker], base)
                work.split_dual[a - k, worker] = where_positive(pulls, zero, base)
        elif not is_contact(model, work, a, worker):
            is_in = work.in_working_set[a, worker] * work.row_mask[a, worker] * chosen
            pull, excess = bound_excess(work, a, is_in, worker)
            leaves = where_positive(maximum(pull, excess), is_in, zero)
            joins = where_positive(slip_miss(model, work, a, worker) - tolerance, chosen, zero)
            found = maximum(found, maximum(joins, leaves))
            bound = where_positive(excess, work.present_bound[a, worker], zero)
            end = where_positive(work.split_impulse[a, worker], bound, neg(bound))
            stays = where_positive(leaves, zero, work.in_working_set[a, worker])
            work.in_working_set[a, worker] = where_positive(joins, one, stays)
            base = where_positive(joins, work.split_found[a, worker], work.split_dual[a, worker])
            work.split_dual[a, worker] = where_positive(leaves, end, base)
            given = where_positive(joins, zero, work.trial_impulse[a, worker])
            work.trial_impulse[a, worker] = where_positive(leaves, end, given)
    return found


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

"""Impulses of points of contact and of the rows beside them by splitting.

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

Rows of contacts give way a little, by what the impulses differ from anchors (`constraints.contact_law`).
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
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
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.solver.rows.contact_rows import (
    is_contact,
    is_normal,
)
from warp_artic.solver.rows.factors import factor_working_set, solve_consistent, triangle

PENALTY = wp.constant(0.4)
"""rho at first, as a share of G_aa."""
PENALTY_STEP = wp.constant(4.0)
"""By which rho changes, where one condition is left by IMBALANCE times more than the other."""


@wp.func
def is_equality(work: WorkArrays, row: int, worker: int):
    """One where a row has one velocity to have, and no bound on its impulse."""
    one = real(1.0, work.velocity_bounds[2 * row, worker])
    zero = one - one
    single = where_positive(
        work.velocity_bounds[2 * row + 1, worker] - work.velocity_bounds[2 * row, worker], zero, one
    )
    return single * (one - is_finite(work.impulse_bounds[2 * row, worker]))


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
        z = work.impulse[row, worker]
        borne = work.active[row, worker] * work.row_start[row, worker]
        work.split_impulse[a, worker] = where_positive(absolute(z), z, borne)
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
def factor_penalized(model: ModelArrays, work: WorkArrays, count: int, touches: Real, worker: int):
    """Write the factors of G + rho of all rows that take part in an environment that `touches`; returns how many."""
    for a in range(count):
        is_active = where_positive(touches, work.row_mask[a, worker], work.in_working_set[a, worker])
        work.in_working_set[a, worker] = is_active
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
            one_miss, one_change = take_row(work, a, going, worker)
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
def take_row(work: WorkArrays, a: int, going: Real, worker: int):
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

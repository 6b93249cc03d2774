"""Contact of two shapes at points where they touch, or are about to, hard or with a spring along the normal.

At a point x with the unit normal n from shape 0 to shape 1, two tangents t_1 and t_2, and the gap g beyond the distance
at which contacts rest, y = d^T (velocity of x on shape 1 - on shape 0) for each of the directions d, Coulomb's law is
    normal:    y_n >= b,  z_n >= 0,  one of them with equality
    friction:  |z_t| <= mu z_n,  y_t = 0, or z_t = - mu z_n y_t / |y_t|
The points are those where a step places the links (`constraints.contact_detection`). At the start of the step the gap
is  g_0 = g + J_n shift. With the closing speed u = - y_n before the step and the acceleration a_n without rows along n:
    new contact       b = - g_0 / h  where g_0 > 0: the gap may close at the end of the step
    contact, overlap  b = share min(- s g_0 / (2 n h), depenetration speed),  s = min(|g_0| / deep, 1),  with the share
                      by the lever that joints leave the point (`constraints.contact_lever`), in each of n substeps
    deep overlap      b = 0 where |g_0| > deep, or where b would be more than |gravity| h: positions are moved apart by
                      h times that speed, those of single bodies at most by MOST_MOVED of the half thickness, and no
                      velocity lasts (`constraints.overlap_projection`)
    impact            u h > g_0,  u > STILL (|a_n| h + |gravity| h + G_nn z_before), at  tau = g_0 / u  after the start:
                      b = e (u - a_n tau) + a_n (h - tau)  where u is above the bounce threshold, else 0
    landing           b = - g_0 / h  of an impact where g_0 > 0, in islands with joints and several points without e
A sweep in a substep leaves a share r of each error, 3/4 where two heavy bodies press a light one, and taking back the
share k of an overlap is stable for  r (1 + k) < 1  only. So it is half of it in a step, not in each substep.
A point that stays in contact moves as the rest of a midpoint step, and what it ties together moves alike
(`constraints.dof_weights`); what an impact changes acts for the rest of the step, 1 - tau / h, so that points are moved
by that part of it, instead of the weight of their dofs. What lands moves with v+ for all of the step, with all that is
joined to it: then no other point, stop or loop of the island ends beyond its bound (`constraints.contact_impacts`).

Every row gives way a little, by R times what its impulse differs from an anchor, so that the solvers have a well
conditioned problem, in which supports share loads as they did before:
    y + R (z - anchor) = ...,   R = NORMAL_GIVE G_nn,  TANGENT_GIVE G_tt,   G = J M^-1 J^T
The anchor is the impulse in the step before, so that what holds still gives way to nothing, for ever. It is zero in
and after an impact, where there was no contact, and of the friction of what slides, which is to be against the slip.
What slips by less than CREEPS R z within its cone does not slide: R alone lets it, and would for ever.
With R alone that would be stable for R up to 3 times the least eigenvalue of G only if b brought back all of a small
gap that R leaves: s does not, and `solver.rows.contacts` makes R smaller.
Soft: a spring k and damper d along the normal that push and never pull, as in `phases.implicit`, with the same R,
    y_n + z_n / (h slope) = (drag u - k g_0) / slope

J is that in the middle of a step. At its end y has h/2 dJ/dt v more (`constraints.contact_bias`); and a kinematic body
carries and pushes by the velocity of its points (`constraints.contact_motion`).

Points that slide, faster than SLIDES, have the dynamic coefficient of friction, others the static one.

Source: Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988); De Saxce and Feng, The
bipotential method (1998) for the law; Rockafellar, Monotone operators and the proximal point algorithm (1976) for R.
"""

import warp as wp

from warp_artic.constraints.contact import tangents
from warp_artic.constraints.contact_bias import DEEP, limit_bias, measure_bias
from warp_artic.constraints.contact_lever import LEAST_LEVER, lever_share, reach_of_path, write_joint_response
from warp_artic.constraints.contact_motion import (
    acceleration_before,
    add_bias,
    contact_sign,
    drift_of,
    gap_before,
    set_drift,
    time_of_rate,
    velocity_before,
)
from warp_artic.constraints.rows import allow_every_velocity, row_rate, set_unbounded_impulse, set_velocity_bounds
from warp_artic.constraints.spring import spring_theta
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
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
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.phases.implicit import spring_drag, spring_slope
from warp_artic.phases.point_motion import set_point_gradient
from warp_artic.phases.transmitted_forces import subtract_force

NORMAL_GIVE = wp.constant(0.025)
"""R of a normal as a share of G_nn."""
TANGENT_GIVE = wp.constant(0.01)
"""R of a tangent as a share of G_tt."""
STILL = wp.constant(0.6)
"""What closes no faster than by this share of what forces and impulses do in a step is in contact already."""
TOUCHES = wp.constant(0.01)
"""Overlap, as a share of `deep`, up to which shapes that rest without any force do not move apart: some is rounding."""
MOST_MOVED = wp.constant(0.25)
"""Part of the half thickness of a shape by which a body without joints is moved out of another in a step, so that it
turns little. What joints press into a shape needs more."""
SLIDES = wp.constant(1e-3)
"""Speed above which a point slides [m/s]."""
CREEPS = wp.constant(2.0)
"""Of R z: a slip that is less is of R alone, and not of a point that slides, where friction is within its cone."""
LEFT = wp.constant(0.1)
"""Of h |c| along tangents: a point whose friction is at its bound, and that slips by less, does not slide."""
STUCK = wp.constant(0.999)
"""Part of the cone in which the friction of the step before was that of a point that sticks."""


@wp.func
def set_contact_pair_gradient(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J of the normal or a tangent of a point; says whether it may touch in any environment."""
    point = model.row_item[row] // 3
    axis = model.row_item[row] % 3
    near = any_positive(work.contact_near[point, worker])
    if near:
        pair = model.contact_of_point[point]
        x = load_vec3(work.contact_point, 7 * point, worker)
        d = load_vec3(work.contact_point, 7 * point + 3, worker)
        t_1, t_2 = tangents(d)
        if axis == 1:
            d = t_1
        if axis == 2:
            d = t_2
        meet = model.contact_meet[pair]
        term = set_point_gradient(model, work, model.row_term[row], model.contact_link1[pair], meet, x, d, worker)
        set_point_gradient(model, work, term, model.contact_link0[pair], meet, x, neg(d), worker)
    return near


@wp.func
def set_contact_pair_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the normal or a tangent of a point that may touch; tangents take part where their normal does."""
    point = model.row_item[row] // 3
    axis = model.row_item[row] % 3
    zero = real(0.0, h)
    near = work.contact_near[point, worker]
    if any_positive(near):
        share = real(TANGENT_GIVE, h)
        if axis == 0:
            share = real(NORMAL_GIVE, h)
        give = work.row_delassus[row, worker] * share
        work.contact_give[model.row_item[row], worker] = give
        work.compliance[row, worker] = give
        set_unbounded_impulse(work, row, worker, h)
        set_velocity_bounds(work, row, worker, zero, zero)
        allow_every_velocity(work, row, worker, zero)
        if axis == 0:
            set_drift(model, work, point, block, worker, h)
            g = load_vec3(model.gravity, 0, block)
            # `contact_roll`, the part of a fast spin, is left out here and in `state.contact_velocity`.
            moved = work.contact_drift_before[3 * point, worker] - work.contact_roll[point, worker]
            y = row_rate(model, work, work.v, row, worker) + moved
            free = row_rate(model, work, work.vdot, row, worker)
            limit_bias(model, work, row, point, free, sqrt(dot(g, g)), worker, h)
            measure_bias(work, 3 * point, y, worker)
            add_bias(work, 3 * point, worker, h)
            acts = set_normal_row(model, work, row, point, give, block, worker, h)
            allow_every_velocity(work, row, worker, near * acts)
        if axis == 2:
            set_friction(model, work, row, point, block, worker, h)


@wp.func
def set_friction(model: ModelArrays, work: WorkArrays, row: int, point: int, block: int, worker: int, h: Real):
    """Write the coefficient and the anchors of the tangents of a point, for J of both; `row` is of the second one."""
    pair = model.contact_of_point[point]
    y_1 = row_rate(model, work, work.v, row - 1, worker) + work.contact_drift_before[3 * point + 1, worker]
    y_2 = row_rate(model, work, work.v, row, worker) + work.contact_drift_before[3 * point + 2, worker]
    measure_bias(work, 3 * point + 1, y_1, worker)
    measure_bias(work, 3 * point + 2, y_2, worker)
    t = time_of_rate(work, point, worker, h)
    c_1 = work.contact_bias[3 * point + 1, worker]
    c_2 = work.contact_bias[3 * point + 2, worker]
    y_1 = y_1 + c_1 * t
    y_2 = y_2 + c_2 * t
    speed = sqrt(y_1 * y_1 + y_2 * y_2)
    slip = speed - real(SLIDES, y_1)
    sticks = model.contact_static_friction[pair, block]
    z_1 = work.contact_start[3 * point + 1, worker]
    z_2 = work.contact_start[3 * point + 2, worker]
    pressed = work.contact_start[3 * point, worker] * real(STUCK, sticks)
    along = sqrt(z_1 * z_1 + z_2 * z_2)
    keeps = maximum(sticks * pressed - along, real(LEFT, h) * h * sqrt(c_1 * c_1 + c_2 * c_2) - speed)
    dynamic = model.contact_dynamic_friction[pair, block]
    give = maximum(work.contact_give[3 * point + 1, worker], work.contact_give[3 * point + 2, worker])
    creeps = real(CREEPS, slip) * give * along - slip
    creeps = where_positive(dynamic * pressed - along, creeps, slip - slip)
    slides = where_positive(creeps, slip - slip, slip)
    for item in range(3 * point + 1, 3 * point + 3):
        # Friction of what slides is against the slip in the middle of the step.
        work.contact_bias[item, worker] = where_positive(keeps, work.contact_bias[item, worker], slip - slip)
        add_bias(work, item, worker, h)
    work.contact_friction[point, worker] = where_positive(slip, dynamic, sticks)
    for k in range(3 * point + 1, 3 * point + 3):
        # Without friction, what the impulse before had along a tangent is that of a normal which has turned since.
        start = where_positive(work.contact_friction[point, worker], work.contact_start[k, worker], slip - slip)
        work.contact_start[k, worker] = start
        work.contact_anchor[k, worker] = where_positive(slides, slip - slip, start)


@wp.func
def set_normal_row(
    model: ModelArrays, work: WorkArrays, row: int, point: int, give: Real, block: int, worker: int, h: Real
):
    """Write the velocity that a normal is to have, how its point moves, and the impulses of the step before.

    Returns one where the point acts, zero where it overlaps and joints do not let it move along the normal.
    """
    pair = model.contact_of_point[point]
    zero = real(0.0, h)
    one = real(1.0, h)
    u = neg(velocity_before(model, work, row, worker))
    a = acceleration_before(model, work, row, worker, h)
    gap = gap_before(model, work, row, block, worker)
    deepest = model.contact_depenetration[pair, block]
    n = load_vec3(work.contact_point, 7 * point + 3, worker)
    before = load_vec3(work.contact_memory, 3 * point, worker)
    depth = absolute(gap) / (model.contact_thickness[pair, block] * real(DEEP, h))
    part = minimum(depth, one) * work.contact_recovery[0, worker]
    back = minimum(neg(gap) * part / h, deepest)
    G_nn = work.row_delassus[row, worker]
    reach = zero
    if model.dof_count > model.root_dofs and any_positive(neg(gap)):
        reach = where_positive(gap, zero, point_reach(model, work, row, point, block, worker))
    moves = where_positive(G_nn - real(LEAST_LEVER, h) * reach, one, zero)
    acts = where_positive(neg(gap), moves, one)
    jointed = where_positive(reach, reach, one)
    share = where_positive(reach, lever_share(maximum(G_nn, zero), jointed), one)
    back = back * share
    g = load_vec3(model.gravity, 0, block)
    fall = sqrt(dot(g, g)) * h
    throws = minimum(back - fall, depth - real(TOUCHES, h))
    projected = where_positive(maximum(depth - one, throws), acts, zero) * where_positive(neg(gap), one, zero)
    projected = where_positive(is_finite(model.contact_stiffness[pair, block]), zero, projected)
    most = where_positive(reach, one / zero, model.contact_thickness[pair, block] * real(MOST_MOVED, h))
    work.contact_gap_change[point, worker] = projected * minimum(back * h, most)
    back = where_positive(projected, zero, back)
    closes = neg(gap) * where_positive(dot(n, before), part, one) / h
    resting = where_positive(gap, closes, back)
    e = model.contact_restitution[pair, block]
    # The impulse of an impact in the step before is not counted as one at rest, where something bounces.
    held = where_positive(
        where_positive(e, work.contact_hit_before[point, worker], zero), zero, maximum(dot(n, before), zero)
    )
    still = absolute(a) * h + fall + G_nn * held
    hits = where_positive(u - real(STILL, h) * still, where_positive(u * h - gap, acts, zero), zero)
    tau = minimum(maximum(gap, zero) / where_positive(hits, u, one), h)
    bounce = e * (u - a * tau) + a * (h - tau)
    bounces = where_positive(u - model.contact_bounce_threshold[pair, block], hits, zero)
    bounces = where_positive(e, bounces, zero)
    # One that would come back within the step ends on the other shape.
    bounces = where_positive(bounce, bounces, zero)
    lands = work.contact_lands[model.row_island[row], worker]
    landing = where_positive(lands, neg(maximum(gap, zero)) / h, zero)
    after = maximum(where_positive(bounces, bounce, landing), where_positive(neg(gap), back, landing))
    b = where_positive(hits, after, resting)
    work.contact_resting[point, worker] = resting
    k = model.contact_stiffness[pair, block]
    d = model.contact_damping[pair, block]
    soft = is_finite(k)
    k = where_positive(soft, k, one)
    theta = spring_theta(work, row, worker, k, d, h)
    slope = spring_slope(k, d, theta, h)
    drag = spring_drag(k, d, theta, work.position_weight[0, worker], h)
    b = where_positive(soft, (drag * u - k * gap) / slope, b)
    hits = where_positive(soft, zero, hits)
    overlaps = where_positive(gap, zero, where_positive(depth - real(TOUCHES, h), one, zero))
    work.contact_back[point, worker] = overlaps * maximum(b, zero)
    work.contact_reach[point, worker] = where_positive(projected, reach, zero)
    work.contact_still[point, worker] = where_positive(soft, one / zero, real(STILL, h) * still)
    work.compliance[row, worker] = give + where_positive(soft, one / (h * slope), zero)
    work.contact_weight[point, worker] = one - where_positive(lands, zero, tau) / h
    t_1, t_2 = tangents(n)
    is_new = maximum(hits, work.contact_hit_before[point, worker])
    work.contact_hits[point, worker] = hits
    near = work.contact_near[point, worker]
    island = model.row_island[row]
    work.contact_bounces[island, worker] = maximum(work.contact_bounces[island, worker], near * e)
    work.contact_passing[island, worker] = maximum(work.contact_passing[island, worker], near * hits)
    begins = is_new
    if model.innovations_only == 0:
        # Sweeps that have not ended an impact yet go on from the impulse they have found.
        begins = where_positive(e, is_new, zero)
    work.contact_start[3 * point, worker] = where_positive(begins, zero, maximum(dot(n, before), zero))
    work.contact_start[3 * point + 1, worker] = where_positive(begins, zero, dot(t_1, before))
    work.contact_start[3 * point + 2, worker] = where_positive(begins, zero, dot(t_2, before))
    work.contact_speed[point, worker] = b
    work.contact_anchor[3 * point, worker] = where_positive(is_new, zero, work.contact_start[3 * point, worker])
    lower = b + give * work.contact_anchor[3 * point, worker]
    set_velocity_bounds(work, row, worker, lower - drift_of(model, work, row, worker), one / zero)
    return acts


@wp.func
def point_reach(model: ModelArrays, work: WorkArrays, row: int, point: int, block: int, worker: int):
    """`reach` of a point (`constraints.contact_lever`)."""
    write_joint_response(model, work, row, worker)
    pair = model.contact_of_point[point]
    x = load_vec3(work.contact_point, 7 * point, worker)
    thickness = model.contact_thickness[pair, block]
    meet = model.contact_meet[pair]
    inner = reach_of_path(model, work, model.contact_link0[pair], meet, x, thickness, worker)
    outer = reach_of_path(model, work, model.contact_link1[pair], meet, x, thickness, worker)
    G_nn = work.row_delassus[row, worker]
    return (inner + outer) / where_positive(G_nn, G_nn, real(1.0, G_nn))


@wp.func
def take_contact_off(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, force: Real):
    """Take what a contact does to its links off what these need."""
    point = model.row_item[row] // 3
    pair = model.contact_of_point[point]
    x = load_vec3(work.contact_point, 7 * point, worker)
    F = contact_direction(model, work, row, worker) * force
    subtract_force(model, work, model.contact_link1[pair], x, F, worker)
    subtract_force(model, work, model.contact_link0[pair], x, neg(F), worker)


@wp.func
def contact_direction(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """The direction of a row, in world axes."""
    axis = model.row_item[row] % 3
    d = load_vec3(work.contact_point, 7 * (model.row_item[row] // 3) + 3, worker)
    t_1, t_2 = tangents(d)
    if axis == 1:
        d = t_1
    if axis == 2:
        d = t_2
    return d


@wp.func
def add_contact_load(
    model: ModelArrays, work: WorkArrays, values: Array, row: int, place: int, block: int, worker: int, force: Real
):
    """Add the force of a row to that on the second shape at its point, in world axes."""
    point = model.row_item[row] // 3
    first = 3 * point
    F = contact_direction(model, work, row, worker) * (contact_sign(model, point, force) * force)
    store_vec3(values, first, place, load_vec3(values, first, place) + F)

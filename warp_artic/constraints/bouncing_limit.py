"""Hard limits of one dof with restitution:  an impact that is faster than a threshold leaves with e times its speed.

Towards a limit at the distance g the dof has the closing speed u, and u+ = u + h b at the end of the step without the
limit. Of b the part b_0 is that of the forces of the configuration (`phases.rest_acceleration`), and b_v = b - b_0 that
of the velocities, which does no work and turns round with them. The dof moves by h ((1 - theta) u + theta u+), with the
weight theta of `solver.step`, and there is an impact in the step where this is more than g. It is at
    t with g = u t + b t^2 / 2,  at the speed u_t = sqrt(u^2 + 2 b g),
and after it, for the rest tau = h - t of the step, the dof moves away from the limit. At the end its speed is
    w - b_0 tau,  and its distance  w tau - b_0 tau^2 / 2,  w = e (u_t + min(b_v, 0) tau).
The speed is the target of the row, and the part of the step in which the dof has it gives the distance; the other
joints have their new velocities for tau. Under a constant force this is the true bounce. A step without a middle
reverses the velocity as it is, with t = 0, u_t = u and no b_0: for e = 1 the motion is run backwards.

An impact slower than the threshold, or one that leaves more slowly than b_0 h, which would come back within a step,
ends on the limit as without restitution: a bouncing dof comes to rest. So do the impacts of an environment in a step in
which the stops together would do work, as when one impact throws another joint back onto a stop that it is leaving.

Where there are rows that are no stops, such as those of gears, loops, springs and friction, they are solved first: b is
of the motion that they and limits with a dof at rest on them leave, and b_0 has what is left of that without friction
and the like. Of a dof that gears or loops tie to others, which turn round with it, all of b is b_0.
"""

import warp as wp

from warp_artic.constraints.joint_limit import is_limited, reach_beyond, set_joint_limit_row
from warp_artic.constraints.rows import (
    add_responses,
    gap_velocity,
    row_rate,
    row_velocity,
    set_unbounded_impulse,
    set_unit_jacobian,
    set_velocity_bounds,
    violation_of,
)
from warp_artic.constraints.single_dofs import places_of_joints
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Dof, Joint
from warp_artic.description.limit import Limit
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
from warp_artic.model.allowed_values import NOT_NEGATIVE, SHARE
from warp_artic.model.arrays import ControlArrays, ModelArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import (
    HOLDS_POSITIONS,
    LOOKS_AT_ACCELERATIONS,
    MOVES_DOFS_ALIKE,
    ON_ONE_DOF,
    TURNS_ROUND,
    ConstraintFamily,
    has_trait,
    of_dofs,
)
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.islands import island_dof
from warp_artic.model.row import Place
from warp_artic.phases.rest_acceleration import accelerate_from_rest

BOUNCING_LIMIT_ORDER = wp.constant(901)
"""Of the family, in kernels."""
AT_LIMIT = wp.constant(1e-6)
"""How near to a limit a dof rests on it that does not come nearer by more than that in a step [m or rad]."""


@wp.func
def prepare_bounces(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write b_0 of all dofs to `work.rest_vdot` where any environment of the block may meet a bouncing limit.

    And b of the islands that begin, without rows, to `work.led_vdot`.
    """
    for dof in range(model.dof_count):
        if work.begins[model.dof_island[dof], worker] == 1:
            work.led_vdot[dof, worker] = work.vdot[dof, worker]
    meets = bool(False)
    for row in range(model.row_count):
        if model.row_family[row] == BOUNCING_LIMIT_ORDER:
            if any_positive(reach_beyond(model, work, row, block, worker, h)):
                meets = bool(True)
    if meets:
        accelerate_from_rest(model, control, work, work.rest_vdot, block, worker)


@wp.func
def rest_acceleration(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """b_0 of a dof; away from the limits, where it is of no account and not known, the whole acceleration."""
    dof = model.row_dof[row]
    near = reach_beyond(model, work, row, block, worker, h)
    led = work.led_vdot[dof, worker]
    at_rest = work.rest_vdot[dof, worker]
    if model.stop_row > 0:
        at_rest = at_rest + work.row_vdot[dof, worker]
    if model.tying_rows > 0 and is_tied(model, dof):
        at_rest = led
    return where_positive(near, at_rest, led)


@wp.func
def is_tied(model: ModelArrays, dof: int):
    """Whether a dof is one of those that positions to hold or mimic joints tie together."""
    found = bool(False)
    for row in range(model.stop_row):
        if has_trait(model, row, HOLDS_POSITIONS | MOVES_DOFS_ALIKE):
            for k in range(model.row_terms[row]):
                if model.term_dof[model.row_term[row] + k] == dof:
                    found = bool(True)
    return found


@wp.func
def put_off_bounces(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Open the bouncing limits of islands that begin, but those that dofs rest on; says whether there are any."""
    found = bool(False)
    infinite = real(1.0, h) / real(0.0, h)
    near = real(AT_LIMIT, h)
    for row in range(model.stop_row, model.row_count):
        if model.row_family[row] == BOUNCING_LIMIT_ORDER and work.begins[model.row_island[row], worker] == 1:
            item = model.row_item[row]
            q = work.position[item, worker]
            v = work.v[model.row_dof[row], worker]
            below = q - model.limit_lower[item, block]
            above = model.limit_upper[item, block] - q
            rests_below = minimum(near - below, near + h * v)
            rests_above = minimum(near - above, near - h * v)
            down = where_positive(rests_below, gap_velocity(below, h), infinite)
            up = where_positive(rests_above, gap_velocity(above, h), infinite)
            set_velocity_bounds(work, row, worker, neg(down), up)
            found = bool(True)
    return found


@wp.func
def place_bounces(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Set the bouncing limits of islands that begin, with what the velocities of their other rows say of b."""
    for dof in range(model.dof_count):
        if work.begins[model.dof_island[dof], worker] == 1:
            work.row_vdot[dof, worker] = real(0.0, h)
    for row in range(model.stop_row):
        if has_trait(model, row, TURNS_ROUND) and work.begins[model.row_island[row], worker] == 1:
            add_responses(model, work, work.impulse, row, row + 1, work.row_vdot, worker)
    for dof in range(model.dof_count):
        if work.begins[model.dof_island[dof], worker] == 1:
            led = (work.v_next[dof, worker] - work.v[dof, worker]) / h
            turning = work.row_vdot[dof, worker] / h
            work.row_vdot[dof, worker] = led - work.led_vdot[dof, worker] - turning
            work.led_vdot[dof, worker] = led
    for row in range(model.stop_row, model.row_count):
        if model.row_family[row] == BOUNCING_LIMIT_ORDER and work.begins[model.row_island[row], worker] == 1:
            set_bouncing_limit_row(model, work, row, block, worker, h)


@wp.func
def drop_bounces(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Give up the bounces of islands in which the stops gave energy, and take back all impulses there.

    Says whether there are any; they are to be solved again.
    """
    zero = real(0.0, h)
    for island in range(model.island_count):
        work.stop_work[island, worker] = zero
        work.has_bounced[island, worker] = zero
    for row in range(model.stop_row, model.row_count):
        island = model.row_island[row]
        z = work.impulse[row, worker]
        if any_positive(absolute(z)):
            y = row_velocity(model, work, row, worker)
            y_free = row_rate(model, work, work.v, row, worker) + h * row_rate(model, work, work.led_vdot, row, worker)
            known = (absolute(y) + absolute(y_free)) * model.rounding[0, 0]
            if model.row_family[row] == BOUNCING_LIMIT_ORDER:
                bounced = work.bounced[row, worker] * absolute(z)
                work.has_bounced[island, worker] = maximum(work.has_bounced[island, worker], bounced)
                known = known + absolute(rest_acceleration(model, work, row, block, worker, h)) * h * real(2.0, h)
            work.stop_work[island, worker] = work.stop_work[island, worker] + z * (y + y_free) - absolute(z) * known
    any_dropped = zero
    for island in range(model.island_count):
        gave = where_positive(work.stop_work[island, worker], real(1.0, h), zero)
        dropped = where_positive(work.has_bounced[island, worker], gave, zero)
        work.has_bounced[island, worker] = dropped
        any_dropped = maximum(any_dropped, dropped)
    found = any_positive(any_dropped)
    if found:
        for island in range(model.island_count):
            work.environment_mask[island, worker] = work.has_bounced[island, worker]
        for dof in range(model.dof_count):
            dropped = work.environment_mask[model.dof_island[dof], worker]
            work.v_next[dof, worker] = where_positive(dropped, work.v_free[dof, worker], work.v_next[dof, worker])
        for row in range(model.row_count):
            dropped = work.environment_mask[model.row_island[row], worker]
            work.impulse[row, worker] = where_positive(dropped, zero, work.impulse[row, worker])
            work.active[row, worker] = where_positive(dropped, zero, work.active[row, worker])
            if model.row_family[row] == BOUNCING_LIMIT_ORDER:
                lower = work.velocity_bounds[2 * row, worker]
                upper = work.velocity_bounds[2 * row + 1, worker]
                set_joint_limit_row(model, work, row, block, worker, h)
                set_velocity_bounds(
                    work,
                    row,
                    worker,
                    where_positive(dropped, work.velocity_bounds[2 * row, worker], lower),
                    where_positive(dropped, work.velocity_bounds[2 * row + 1, worker], upper),
                )
                work.bounced[row, worker] = where_positive(dropped, zero, work.bounced[row, worker])
                work.impact_weight[row, worker] = where_positive(dropped, real(1.0, h), work.impact_weight[row, worker])
    return found


@wp.func
def weigh_bounces(model: ModelArrays, work: WorkArrays, worker: int):
    """Give the joints of an island with an impact, if not at a stop, their new velocities for the rest of the step."""
    for row in range(model.stop_row, model.row_count):
        if model.row_family[row] == BOUNCING_LIMIT_ORDER:
            active = work.active[row, worker]
            bounced = active * work.bounced[row, worker]
            if any_positive(bounced):
                one = real(1.0, bounced)
                rest = work.rest_weight[row, worker]
                island = model.row_island[row]
                for k in range(model.island_first[island], model.island_first[island + 1]):
                    dof = island_dof(model, k)
                    weight = work.dof_weight[dof, worker]
                    work.dof_weight[dof, worker] = where_positive(bounced * (one - weight), rest, weight)
    for row in range(model.stop_row, model.row_count):
        if model.row_family[row] == BOUNCING_LIMIT_ORDER:
            dof = model.row_dof[row]
            weight = work.dof_weight[dof, worker]
            work.dof_weight[dof, worker] = where_positive(
                work.active[row, worker], work.impact_weight[row, worker], weight
            )


@wp.func
def meet_limit(
    gap: Real,
    u: Real,
    b: Real,
    b_0: Real,
    e: Real,
    threshold: Real,
    theta: Real,
    no_middle: Real,
    h: Real,
):
    """The largest closing speed that a limit allows, what follows from it, and the rest of the step after an impact.

    These are the part of the step in which the dof has that speed, and 1 if it bounces. Accelerations are closing
    ones; `no_middle` is positive where velocities are reversed as they are.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    half = real(0.5, h)
    u_free = u + h * b
    stop = gap_velocity(gap, h)
    passed = h * ((one - theta) * u + theta * u_free) - gap

    near = maximum(gap, zero)
    u_t = sqrt(maximum(u * u + b * near * real(2.0, h), zero))
    both = u + u_t
    t = minimum(near * real(2.0, h) / where_positive(both, both, one), h)
    t = where_positive(no_middle, zero, t)
    u_t = where_positive(no_middle, u, u_t)
    slowing = where_positive(no_middle, zero, b_0)
    tau = h - t
    w = e * (u_t + minimum(b - b_0, zero) * tau)
    away = w - slowing * tau
    path = (w - half * slowing * tau) * tau - near
    weight = (path / h + u) / (away + u)
    weight = where_positive(no_middle, one, weight)

    is_fast = minimum(minimum(u, u_t - threshold), w - maximum(b_0 * h, zero))
    bounces = where_positive(minimum(is_fast, passed), one, zero)
    waits = where_positive(passed, zero, where_positive(u_free - stop, one, zero))
    allowed = where_positive(bounces, minimum(neg(away), stop), where_positive(waits, u_free, stop))
    weight = where_positive(bounces, weight, where_positive(waits, theta, one))
    return allowed, weight, bounces, tau / h


@wp.func
def set_bouncing_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the limits of a revolute or prismatic dof with restitution."""
    item = model.row_item[row]
    dof = model.row_dof[row]
    q = work.position[item, worker]
    v = work.v[dof, worker]
    a = work.led_vdot[dof, worker]
    a_0 = rest_acceleration(model, work, row, block, worker, h)
    e = model.limit_restitution[item, block]
    threshold = model.limit_bounce_threshold[item, block]
    free = work.free_weight[0, worker]
    theta = where_positive(work.spring[dof, worker] + work.damper[dof, worker], work.theta[dof, worker], free)
    no_middle = free - real(0.5, h)
    below = q - model.limit_lower[item, block]
    above = model.limit_upper[item, block] - q
    down, share_down, bounces_down, rest_down = meet_limit(
        below, neg(v), neg(a), neg(a_0), e, threshold, theta, no_middle, h
    )
    up, share_up, bounces_up, rest_up = meet_limit(above, v, a, a_0, e, threshold, theta, no_middle, h)
    lower = neg(down)
    upper = up
    # What leaves one limit does not pass the other.
    set_velocity_bounds(
        work,
        row,
        worker,
        where_positive(bounces_down, minimum(lower, upper), lower),
        where_positive(bounces_up, maximum(lower, upper), upper),
    )
    weight = where_positive(
        bounces_down, share_down, where_positive(bounces_up, share_up, minimum(share_down, share_up))
    )
    work.tolerance[row, worker] = violation_of(q, model.limit_lower[item, block], model.limit_upper[item, block])
    work.impact_weight[row, worker] = weight
    work.bounced[row, worker] = bounces_down + bounces_up
    work.rest_weight[row, worker] = where_positive(bounces_down, rest_down, rest_up)
    work.compliance[row, worker] = real(0.0, h)
    set_unbounded_impulse(work, row, worker, h)
    set_unit_jacobian(model, work, row, worker, h)


def _bounces(joint: Joint, dof: Dof) -> bool:
    return len(joint.dofs) == 1 and is_limited(dof, is_soft=False) and dof.limit.restitution > 0


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    return places_of_joints(layout, _bounces, is_whole=False)


BOUNCING_LIMIT = ConstraintFamily(
    name="bouncing limit",
    order=BOUNCING_LIMIT_ORDER,
    label=("joint limit", "joint limits"),
    part=ForcePart.LIMIT,
    places=_places,
    is_stop=True,
    traits=ON_ONE_DOF | LOOKS_AT_ACCELERATIONS,
    law=set_bouncing_limit_row,
    parameters=(
        of_dofs("limit_restitution", lambda dof: (dof.limit or Limit()).restitution, SHARE),
        of_dofs("limit_bounce_threshold", lambda dof: (dof.limit or Limit()).bounce_threshold, NOT_NEGATIVE),
    ),
    counts={"bouncing_limits": lambda tree: tree.count(BOUNCING_LIMIT)},
)

"""Limits of the free axes of loop joints, on the coordinates of `loop_axis`: hard stops, or springs and dampers.

Hard: the law of `curved_stop`, without velocities that take back what is violated. What a step has passed is taken back
at its end, together with the axes that are held (`solver.close_loops`): positions to the end, of what was violated
before the step a share (`rows.RECOVERY`), and of velocities what leads on beyond it.
With restitution an end that is reached within a step at a speed u_t above a threshold is left at its end with at least
e u_t: from y at the start of the step, its speed u and its acceleration b, that of the velocities in its middle,
    u_t^2 = u^2 + 2 b gap,
so that energy is that of the impact, whenever in the step it is. What comes back within a step, e u_t < b h, stays.
Soft: a spring and damper beyond the ends, as in `spring`, with e = y + J shift.
A cone bounds y by zero.
"""

import math

import warp as wp

from warp_artic.constraints.curved_stop import at_start, stop_bounds, tangent_speed
from warp_artic.constraints.loop_axis import (
    LoopItem,
    axis_places,
    leave_broken,
    loop_items,
    of_axes,
    place_loop_axis,
    place_loop_axis_at_end,
    take_loop_axis_off,
)
from warp_artic.constraints.loop_loads import LOOP_FORCE, add_limit_load, loop_of_axis
from warp_artic.constraints.loop_scales import SCALED_LOOPS
from warp_artic.constraints.rows import RECOVERY, row_rate, set_unbounded_impulse, set_velocity_bounds
from warp_artic.constraints.soft_rotation_limit import near_end, set_soft_end_row
from warp_artic.description.articulation import Articulation
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.loop_joint import LoopAxis
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
from warp_artic.model.allowed_values import ANGLE, LOWER, NOT_NEGATIVE, SHARE, UPPER
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import ENDS, IS_RESOLVED, LOOKS_AT_ACCELERATIONS, PUSHES_LINKS, RETURNS, ConstraintFamily
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.kinds import LOOP_CONE, LOOP_CONE_ANGLE, LOOP_RANGE

AT_END = wp.constant(1e-6)
"""How near to an end a coordinate counts as at it [m or rad]."""
KNOWN = wp.constant(0.1)
"""Part of what a coordinate curves by in a step that its place at the start of the step may be off by."""


@wp.func
def loop_limit_ends(model: ModelArrays, item: int, block: int):
    """The least and the largest value that a limit allows for its coordinate."""
    kind = model.loop_axis_kind[item]
    if kind == LOOP_RANGE or kind == LOOP_CONE or kind == LOOP_CONE_ANGLE:
        zero = real(0.0, model.loop_limit_lower[item, block])
        return neg(real(1.0, zero) / zero), zero
    return model.loop_limit_lower[item, block], model.loop_limit_upper[item, block]


@wp.func
def set_loop_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a hard limit."""
    zero = real(0.0, h)
    y, c = place_loop_axis(model, work, row, block, worker)
    lower, upper = loop_limit_ends(model, model.row_item[row], block)
    before = at_start(model, work, row, worker, y, c)
    tau = work.since_placed[0, worker]
    weight = work.position_weight[0, worker]
    tangent = tangent_speed(c, tau, weight, h)
    least, most = stop_bounds(model, work, row, worker, c, tau, weight, tangent, before, lower, upper, zero, h)
    set_velocity_bounds(work, row, worker, least, most)
    set_unbounded_impulse(work, row, worker, h)
    leave_broken(model, work, row, worker)
    work.compliance[row, worker] = zero
    work.row_bias[row, worker] = c
    # The coordinate at the start is known to a share of |c| h^2; a smaller violation counts as being at the limit.
    known = real(AT_END, h) + absolute(c) * h * h * real(KNOWN, h)
    violation = maximum(maximum(lower - before, before - upper) - known, zero)
    # Stored plus one: zero says that no substep has written it yet.
    one = real(1.0, h)
    left = one + violation * (one - real(RECOVERY, h))
    told = work.tolerance[row, worker]
    work.tolerance[row, worker] = where_positive(told, minimum(told, left), left)
    if model.loop_bounces == 1:
        expect_rebound(model, work, row, block, worker, before - lower, upper - before, c, h)


@wp.func
def expect_rebound(
    model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, below: Real, above: Real, c: Real, h: Real
):
    """Write the speed with which an end is left that is reached within a substep, from the gaps to both."""
    item = model.row_item[row]
    zero = real(0.0, h)
    tau = work.since_placed[0, worker]
    now = row_rate(model, work, work.v, row, worker)
    gained = now - row_rate(model, work, work.v_middle, row, worker)
    is_apart = absolute(tau) - h * real(KNOWN, h)
    b = c + where_positive(is_apart, gained / where_positive(is_apart, tau, h), zero)
    u = now + c * tau
    down = rebound(model, item, block, below, neg(u), neg(b), h)
    up = rebound(model, item, block, above, u, b, h)
    work.loop_rebound[row, worker] = maximum(work.loop_rebound[row, worker], maximum(down, up))


@wp.func
def rebound(model: ModelArrays, item: int, block: int, gap: Real, u: Real, b: Real, h: Real):
    """The rebound speed at an end that is approached with u and b, if it is reached; else zero.

    What comes as near as AT_END has reached it: its velocity beyond the end is taken at the end of the step.
    """
    zero = real(0.0, h)
    two = real(2.0, h)
    near = maximum(gap, zero)
    u_t = sqrt(maximum(u * u + two * b * near, zero))
    w = u_t * model.loop_limit_restitution[item, block]
    is_fast = minimum(minimum(u, u_t - model.loop_limit_bounce_threshold[item, block]), w - maximum(b * h, zero))
    passes = h * (u + maximum(b * h, zero) / two) - near + real(AT_END, h)
    return where_positive(minimum(is_fast, passes), w, zero)


@wp.func
def take_rebound(model: ModelArrays, work: WorkArrays, row: int, worker: int, like: Real):
    """The speed with which an end that a step has reached is left, of which nothing is kept."""
    if model.loop_bounces == 0:
        return real(0.0, like)
    away = work.loop_rebound[row, worker]
    work.loop_rebound[row, worker] = real(0.0, like)
    return away


@wp.func
def set_return(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, step: Real, is_last: bool):
    """Write J of a hard limit at the end of a step, and the bounds of the change that brings it within its ends.

    The change is of positions, or if `is_last` of velocities, after a step of a length. Returns one where there has to
    be any, else zero.
    """
    y, rate = place_loop_axis_at_end(model, work, row, block, worker)
    lower, upper = loop_limit_ends(model, model.row_item[row], block)
    one = real(1.0, y)
    infinite = one / real(0.0, y)
    holds = one - work.loop_is_broken[model.loop_axis_loop[model.row_item[row]], worker]
    if is_last:
        work.tolerance[row, worker] = one - one
        away = take_rebound(model, work, row, worker, y)
        near = real(AT_END, y) + away * step * real(KNOWN, y)
        least = where_positive(lower + near - y, away - rate, neg(infinite))
        most = where_positive(y - upper + near, neg(away) - rate, infinite)
        set_velocity_bounds(work, row, worker, least, most)
        leave_broken(model, work, row, worker)
        return where_positive(maximum(least, neg(most)), holds, one - one)
    tolerance = work.tolerance[row, worker] - one
    set_velocity_bounds(work, row, worker, lower - tolerance - y, upper + tolerance - y)
    leave_broken(model, work, row, worker)
    return where_positive(maximum(lower - tolerance - y, y - upper - tolerance), holds, one - one)


@wp.func
def set_soft_loop_limit_gradient(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J, and e with its ends to `work.coordinate`; says whether any of the block comes near an end."""
    y, c = place_loop_axis(model, work, row, block, worker)
    lower, upper = loop_limit_ends(model, model.row_item[row], block)
    work.coordinate[3 * row, worker] = y + row_rate(model, work, work.shift, row, worker)
    work.coordinate[3 * row + 1, worker] = lower
    work.coordinate[3 * row + 2, worker] = upper
    return any_positive(near_end(model, work, row, worker, h))


@wp.func
def set_soft_loop_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a soft limit."""
    item = model.row_item[row]
    k = model.loop_limit_stiffness[item, block]
    set_soft_end_row(model, work, row, worker, k, model.loop_limit_damping[item, block], h)
    leave_broken(model, work, row, worker)


def _is_limited(own: LoopAxis, is_soft: bool) -> bool:
    """Whether an axis has a limit, hard or soft."""
    limit = own.cone or own.limit
    if limit is None or limit.is_soft != is_soft:
        return False
    if isinstance(limit, ConeLimit):
        return min(limit.angle_1, limit.angle_2) < math.inf
    least = 0.0 if own.axis is None else -math.inf
    return limit.lower > least or limit.upper < math.inf


def _bounces(item: LoopItem) -> bool:
    """Whether a hard limit has restitution."""
    return _is_limited(item.own, False) and item.own.limit is not None and item.own.limit.restitution > 0.0


def _number(name: str, allowed):
    return of_axes(f"loop_limit_{name}", lambda own: [getattr(own.cone or own.limit or Limit(), name)], allowed)


def _end(name: str, allowed):
    return of_axes(f"loop_limit_{name}", lambda own: [getattr(own.limit or Limit(), name)], allowed)


def _table(value):
    """A table with a number for each axis."""
    return lambda tree: [value(*one) for one in tree.structure_of(LOOP_LIMIT)]


def _structure(articulation: Articulation) -> tuple[tuple[int, ...], ...]:
    """Of each axis the loop joint, the coordinate, its part, and what its rate and its drive turn about."""
    return tuple(map(_numbers, loop_items(articulation)))


def _numbers(item: LoopItem) -> tuple[int, ...]:
    return item.loop, int(item.kind), item.part, int(item.turn)


LOOP_LIMIT = ConstraintFamily(
    name="loop limit",
    order=880,
    label=("limit of a loop joint", "limits of loop joints"),
    part=ForcePart.LOOP,
    places=lambda articulation, layout: axis_places(articulation, layout, lambda own: _is_limited(own, False)),
    traits=RETURNS | PUSHES_LINKS,
    acts_always=True,
    needs_places=True,
    has_own_force_jacobian=SCALED_LOOPS,
    law=set_loop_limit_row,
    subtract_wrench=take_loop_axis_off,
    multiplier=LOOP_FORCE,
    entry=loop_of_axis,
    add_load=add_limit_load,
    kinds={"loop_axis": lambda articulation: len(loop_items(articulation))},
    parameters=(
        _end("lower", LOWER),
        _end("upper", UPPER),
        _end("restitution", SHARE),
        _end("bounce_threshold", NOT_NEGATIVE),
        _number("stiffness", NOT_NEGATIVE),
        _number("damping", NOT_NEGATIVE),
        of_axes(
            "loop_cone_angle",
            lambda own: [(own.cone or ConeLimit()).angle_1, (own.cone or ConeLimit()).angle_2],
            ANGLE,
            size=2,
        ),
    ),
    structure=_structure,
    flags={"loop_bounces": lambda articulation: any(map(_bounces, loop_items(articulation)))},
    scratch={"loop_rebound": lambda tree: len(tree.rows) * tree.flags["loop_bounces"]},
    tables={
        "loop_axis_loop": _table(lambda loop, kind, part, turn: loop),
        "loop_axis_kind": _table(lambda loop, kind, part, turn: kind),
        "loop_axis_part": _table(lambda loop, kind, part, turn: part),
        "loop_axis_turn": _table(lambda loop, kind, part, turn: turn),
    },
)

SOFT_LOOP_LIMIT = ConstraintFamily(
    name="soft loop limit",
    order=720,
    label=LOOP_LIMIT.label,
    part=ForcePart.LOOP,
    places=lambda articulation, layout: axis_places(articulation, layout, lambda own: _is_limited(own, True)),
    traits=ENDS | IS_RESOLVED | LOOKS_AT_ACCELERATIONS | PUSHES_LINKS,
    acts_always=True,
    needs_places=True,
    has_own_force_jacobian=SCALED_LOOPS,
    keeps_coordinate=True,
    law=set_soft_loop_limit_row,
    subtract_wrench=take_loop_axis_off,
    multiplier=LOOP_FORCE,
    entry=loop_of_axis,
    add_load=add_limit_load,
    gradient=set_soft_loop_limit_gradient,
)

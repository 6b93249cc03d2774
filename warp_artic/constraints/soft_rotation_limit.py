"""Soft limits of joints with two or three free rotations:  f = k (limit - y) - d ydot beyond the limit, never pulling.

y and ydot = J v are those of `rotation_limit`: a component of the rotation vector or of the swing, the twist, or the
swing theta against the angle of the cone in its direction, of which J is the gradient of theta - angle. The torque is
J^T f, along the axes of the velocities.

The spring and damper are those beyond the ends in `spring`, with y and J where the step places links:
    e = y(q_M) - (h / 2) J(q_M) v,   edot = J(q_M) v;   e = y(q) in steps without a middle.
With the trapezoidal rule the force is then that at the middle, along the J of the middle: what the curvature of y does
in the first half of a step is undone in the second, so that a bounce without a damper gives back what it took.
"""

from collections.abc import Callable

import warp as wp

from warp_artic.constraints.rotation_coordinates import (
    CONE_LIMIT_ORDER,
    HARD_FROM_SOFT,
    ROTATION_LIMIT_ORDER,
    SWING_LIMIT_ORDER,
    TWIST_LIMIT_ORDER,
    in_axes,
    limit_at,
    limit_value,
    moved_rotation,
    set_rotation_jacobian,
    start_rotation,
)
from warp_artic.constraints.rotation_limit import cone_places, cones, rotation_places, swing_places, twist_places
from warp_artic.constraints.rows import row_rate
from warp_artic.constraints.soft_limit import SOFT_LIMIT_ORDER
from warp_artic.constraints.spring import set_resolved, set_stop_spring_row, spring_theta
from warp_artic.description.limit import ConeLimit
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    maximum,
    minimum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.allowed_values import NOT_NEGATIVE, Allowed
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.model.families import ENDS, IS_SOFT_LIMIT, LOOKS_AT_ACCELERATIONS, ConstraintFamily, Parameter
from warp_artic.model.force_parts import ForcePart

SOFT_CONE_LIMIT_ORDER = wp.constant(CONE_LIMIT_ORDER - HARD_FROM_SOFT)
"""Of the family, in kernels."""


@wp.func
def set_soft_rotation_limit_gradient(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J, and e with its ends to `work.coordinate`; says whether any of the block comes near an end."""
    dof = model.term_dof[model.row_term[row]]
    item = dof - model.root_dofs
    count = model.row_terms[row]
    start = start_rotation(model, work, dof, item, count, worker)
    v = in_axes(model, dof, count, work.v[dof, worker], work.v[dof + 1, worker], work.v[dof + count - 1, worker])
    before = (real(1.0, h) - work.free_weight[0, worker]) * h
    placed = moved_rotation(model, item, count, block, start, v, before)
    y, J, lower, upper = limit_at(model, row, block, placed)
    set_rotation_jacobian(model, work, row, worker, J)
    e = y - before * row_rate(model, work, work.v, row, worker)
    work.coordinate[3 * row, worker] = e
    work.coordinate[3 * row + 1, worker] = lower
    work.coordinate[3 * row + 2, worker] = upper
    return any_positive(near_end(model, work, row, worker, h))


@wp.func
def near_end(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """Positive where y might pass an end in a whole step after its middle."""
    e = work.coordinate[3 * row, worker]
    speed = row_rate(model, work, work.v, row, worker)
    change = h * row_rate(model, work, work.vdot, row, worker)
    before = (real(1.0, h) - work.position_weight[0, worker]) * h
    reach = before * absolute(speed) + h * maximum(absolute(speed), absolute(speed + change))
    return reach - minimum(e - work.coordinate[3 * row + 1, worker], work.coordinate[3 * row + 2, worker] - e)


@wp.func
def set_soft_rotation_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a soft limit of two or three free rotations."""
    item = model.row_item[row]
    if model.row_family[row] == SOFT_CONE_LIMIT_ORDER:
        set_soft_end_row(
            model, work, row, worker, model.cone_stiffness[item, block], model.cone_damping[item, block], h
        )
    else:
        set_soft_end_row(
            model, work, row, worker, model.limit_stiffness[item, block], model.limit_damping[item, block], h
        )


@wp.func
def set_soft_end_row(model: ModelArrays, work: WorkArrays, row: int, worker: int, k: Real, d: Real, h: Real):
    """Fill a row whose e and ends are in `work.coordinate`."""
    near = near_end(model, work, row, worker, h)
    theta = where_positive(near, spring_theta(work, row, worker, k, d, h), real(1.0, h))
    set_resolved(work, row, worker, theta)
    set_stop_spring_row(
        model,
        work,
        row,
        worker,
        work.coordinate[3 * row, worker],
        work.coordinate[3 * row + 1, worker],
        work.coordinate[3 * row + 2, worker],
        k,
        d,
        theta,
        h,
    )


@wp.func
def soft_limit_gains(model: ModelArrays, row: int, block: int):
    """Stiffness and damping of a soft limit of whatever kind."""
    item = model.row_item[row]
    if model.row_family[row] == SOFT_CONE_LIMIT_ORDER:
        return model.cone_stiffness[item, block], model.cone_damping[item, block]
    return model.limit_stiffness[item, block], model.limit_damping[item, block]


@wp.func
def soft_limit_value(model: ModelArrays, q: Array, row: int, block: int, worker: int):
    """What a soft limit of whatever kind bounds at positions of joints, and its ends."""
    item = model.row_item[row]
    if model.row_family[row] == SOFT_LIMIT_ORDER:
        return q[item, worker], model.limit_lower[item, block], model.limit_upper[item, block]
    dof = model.term_dof[model.row_term[row]]
    first = dof - model.root_dofs
    count = model.row_terms[row]
    phi = in_axes(model, dof, count, q[first, worker], q[first + 1, worker], q[first + count - 1, worker])
    y, lower, upper = limit_value(model, row, block, phi)
    return y, lower, upper


def _soft(hard_order: int, name: str, places, label: str = "joint limit", **own) -> ConstraintFamily:
    return ConstraintFamily(
        name=name,
        order=hard_order - HARD_FROM_SOFT,
        label=(label, f"{label}s"),
        part=ForcePart.LIMIT,
        places=lambda articulation, layout: places(articulation, layout, True),
        traits=ENDS | IS_SOFT_LIMIT | LOOKS_AT_ACCELERATIONS,
        keeps_coordinate=True,
        law=set_soft_rotation_limit_row,
        gradient=set_soft_rotation_limit_gradient,
        **own,
    )


def _of_cones(name: str, value: Callable[[ConeLimit], float], allowed: Allowed) -> Parameter:
    return Parameter(
        name=f"cone_{name}",
        of="cone",
        values=lambda articulation: [value(cone) for cone in cones(articulation)],
        allowed=allowed,
    )


SOFT_ROTATION_LIMIT = _soft(ROTATION_LIMIT_ORDER, "soft rotation limit", rotation_places)
SOFT_TWIST_LIMIT = _soft(TWIST_LIMIT_ORDER, "soft twist limit", twist_places)
SOFT_SWING_LIMIT = _soft(SWING_LIMIT_ORDER, "soft swing limit", swing_places)
SOFT_CONE_LIMIT = _soft(
    CONE_LIMIT_ORDER,
    "soft cone limit",
    cone_places,
    "cone limit",
    parameters=(
        _of_cones("stiffness", lambda cone: cone.stiffness, NOT_NEGATIVE),
        _of_cones("damping", lambda cone: cone.damping, NOT_NEGATIVE),
    ),
)

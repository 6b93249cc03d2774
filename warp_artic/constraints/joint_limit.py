"""Hard limits of one dof:  lower <= q + h v+ <= upper with q at the start of the step, an inelastic stop.

The stop acts in the step in which the limit would be crossed and brings q onto it, not past it. A limit that is
violated at the start of a step stops what leads on beyond it. A share of the violation is taken back in a step, no
faster than the velocity limit of the dof, by moving positions and not by a velocity, which would last
(`constraints.limit_projection`): a bad start pose does not become a shot.

A dof that moves with v and then with v+ may pass its limit though neither h v nor h v+ does, or reach it too early in a
step in which another joint has an impact. It then has v+ for the part of the step that brings it onto the limit, or
no further beyond one that it has passed already.
"""

import math

import warp as wp

from warp_artic.constraints.rows import set_position_bounds, set_unbounded_impulse, set_unit_jacobian, violation_of
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
    sub,
    where_positive,
)
from warp_artic.model.allowed_values import LOWER, UPPER
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import ON_ONE_DOF, ConstraintFamily, of_dofs
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place


@wp.func
def set_joint_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the limits of a revolute or prismatic dof."""
    item = model.row_item[row]
    q = work.position[item, worker]
    lower = model.limit_lower[item, block]
    upper = model.limit_upper[item, block]
    set_position_bounds(work, row, worker, q, lower, upper, h)
    work.tolerance[row, worker] = violation_of(q, lower, upper)
    work.compliance[row, worker] = real(0.0, h)
    set_unbounded_impulse(work, row, worker, h)
    set_unit_jacobian(model, work, row, worker, h)


@wp.func
def reach_beyond(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """How far a dof might pass the nearer limit within the step, without the limit."""
    item = model.row_item[row]
    dof = model.row_dof[row]
    v = work.v[dof, worker]
    q = work.position[item, worker]
    reach = h * maximum(absolute(v), absolute(v + h * work.vdot[dof, worker]))
    return reach - minimum(q - model.limit_lower[item, block], model.limit_upper[item, block] - q)


@wp.func
def land_on_limits(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Change the weights with which dofs would pass their limits."""
    zero = real(0.0, h)
    one = real(1.0, h)
    for row in range(model.stop_row, model.row_count - model.rotation_rows):
        item = model.row_item[row]
        dof = model.row_dof[row]
        q = work.position[item, worker]
        v = work.v[dof, worker]
        change = work.v_next[dof, worker] - v
        weight = work.dof_weight[dof, worker]
        path = h * (v + weight * change)
        below = maximum(q - model.limit_lower[item, block], zero)
        above = maximum(model.limit_upper[item, block] - q, zero)
        passes = maximum(path - above, neg(path) - below)
        if any_positive(passes):
            edge = where_positive(path, above, neg(below)) / h
            onto = minimum(maximum((edge - v) / change, zero), one)
            work.dof_weight[dof, worker] = where_positive(passes, onto, weight)


def is_limited(dof: Dof, is_soft: bool) -> bool:
    """Whether a dof has limits, hard or soft."""
    limit = dof.limit or Limit()
    return (math.isfinite(limit.lower) or math.isfinite(limit.upper)) and limit.is_soft == is_soft


def _has_stop(joint: Joint, dof: Dof) -> bool:
    return len(joint.dofs) == 1 and is_limited(dof, is_soft=False) and not dof.limit.restitution > 0


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    return places_of_joints(layout, _has_stop, is_whole=False)


JOINT_LIMIT = ConstraintFamily(
    name="joint limit",
    order=900,
    label=("joint limit", "joint limits"),
    part=ForcePart.LIMIT,
    places=_places,
    is_stop=True,
    traits=ON_ONE_DOF,
    law=set_joint_limit_row,
    parameters=(
        of_dofs("limit_lower", lambda dof: (dof.limit or Limit()).lower, LOWER),
        of_dofs("limit_upper", lambda dof: (dof.limit or Limit()).upper, UPPER),
    ),
)

"""Soft limits of one dof:  f = k (lower - q) - d v below lower, and likewise above upper, pushing and never pulling.

The spring and damper are those beyond the ends in `spring`, with e = q. The response of the dof, which tells how stiff
the spring is for the step, is only computed where the dof may come near an end; elsewhere theta is one, with which a
spring looks a whole step ahead of the middle. So an end is near from there on: a spring that acted before it is reached
would take energy.
"""

import warp as wp

from warp_artic.constraints.joint_limit import is_limited, reach_beyond
from warp_artic.constraints.rows import set_unit_jacobian
from warp_artic.constraints.single_dofs import places_of_joints
from warp_artic.constraints.spring import set_resolved, set_stop_spring_row, spring_theta
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Dof, Joint
from warp_artic.description.limit import Limit
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
from warp_artic.model.allowed_values import NOT_NEGATIVE
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import ENDS, IS_SOFT_LIMIT, ON_ONE_DOF, ConstraintFamily, of_dofs
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place

SOFT_LIMIT_ORDER = wp.constant(700)
"""Of the family, in kernels."""


@wp.func
def set_soft_limit_gradient(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J = 1; says whether any environment of the block comes near an end."""
    set_unit_jacobian(model, work, row, worker, h)
    return any_positive(near_end(model, work, row, block, worker, h))


@wp.func
def near_end(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Positive where a dof might pass an end in a whole step after its middle."""
    before = (real(1.0, h) - work.position_weight[0, worker]) * h
    return reach_beyond(model, work, row, block, worker, h) + before * absolute(work.v[model.row_dof[row], worker])


@wp.func
def set_soft_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the soft limits of a revolute or prismatic dof."""
    item = model.row_item[row]
    k = model.limit_stiffness[item, block]
    d = model.limit_damping[item, block]
    near = near_end(model, work, row, block, worker, h)
    theta = where_positive(near, spring_theta(work, row, worker, k, d, h), real(1.0, h))
    set_resolved(work, row, worker, theta)
    set_stop_spring_row(
        model,
        work,
        row,
        worker,
        work.position[item, worker],
        model.limit_lower[item, block],
        model.limit_upper[item, block],
        k,
        d,
        theta,
        h,
    )


def _is_soft(joint: Joint, dof: Dof) -> bool:
    return len(joint.dofs) == 1 and is_limited(dof, is_soft=True)


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    return places_of_joints(layout, _is_soft, is_whole=False)


SOFT_LIMIT = ConstraintFamily(
    name="soft limit",
    order=SOFT_LIMIT_ORDER,
    label=("joint limit", "joint limits"),
    part=ForcePart.LIMIT,
    places=_places,
    traits=ON_ONE_DOF | ENDS | IS_SOFT_LIMIT,
    law=set_soft_limit_row,
    gradient=set_soft_limit_gradient,
    parameters=(
        of_dofs("limit_stiffness", lambda dof: (dof.limit or Limit()).stiffness, NOT_NEGATIVE),
        of_dofs("limit_damping", lambda dof: (dof.limit or Limit()).damping, NOT_NEGATIVE),
    ),
)

"""Soft limits of one dof:  f = k (lower - q) - d v below lower, and likewise above upper, pushing and never pulling.

The spring and damper are those beyond the ends in `spring`, with e = q. The response of the dof, which tells how stiff
the spring is for the step, is only computed where the dof may come near an end; elsewhere theta is one.
"""

import warp as wp

from warp_artic.constraints.joint_limit import reach_beyond
from warp_artic.constraints.rows import set_single_coefficient
from warp_artic.constraints.spring import set_stop_spring_row, spring_theta
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
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def set_soft_limit_gradient(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Write J = 1; says whether any environment of the column comes near an end."""
    set_single_coefficient(model, work, row, slot, h)
    return any_positive(reach_beyond(model, work, row, column, slot, h))


@wp.func
def set_soft_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the soft limits of a revolute or prismatic dof."""
    item = model.row_item[row]
    k = model.limit_stiffness[item, column]
    d = model.limit_damping[item, column]
    near = reach_beyond(model, work, row, column, slot, h)
    theta = where_positive(near, spring_theta(work, row, slot, k, d, h), real(1.0, h))
    set_stop_spring_row(
        model,
        work,
        row,
        slot,
        work.position[item, slot],
        model.limit_lower[item, column],
        model.limit_upper[item, column],
        k,
        d,
        theta,
        h,
    )

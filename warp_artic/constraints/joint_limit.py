"""Hard limits of one dof:  lower <= q + h v+ <= upper with q at the start of the step, an inelastic stop.

The stop acts in the step in which the limit would be crossed and brings q onto it, not past it. A limit that is
violated at the start of a step is recovered by a share a step, and no faster than the velocity limit of the dof, so
that a bad start pose does not become a shot.

A dof that moves with v and then with v+ may pass its limit though neither h v nor h v+ does, or reach it too early in a
step in which another joint has an impact. It then has v+ for the share of the step that brings it onto the limit, or
no further beyond one that it has passed already.
"""

import warp as wp

from warp_artic.constraints.rows import set_position_window, set_single_coefficient, set_unbounded
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
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def set_joint_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the limits of a revolute or prismatic dof."""
    item = model.row_item[row]
    q = work.position[item, slot]
    lower = model.limit_lower[item, column]
    upper = model.limit_upper[item, column]
    set_position_window(work, row, slot, q, lower, upper, model.velocity_limit[item, column], h)
    work.compliance[row, slot] = real(0.0, h)
    set_unbounded(work, row, slot, h)
    set_single_coefficient(model, work, row, slot, h)


@wp.func
def reach_beyond(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """How far a dof might pass the nearer limit within the step, without the limit."""
    item = model.row_item[row]
    dof = model.row_dof[row]
    v = work.v[dof, slot]
    q = work.position[item, slot]
    reach = h * maximum(absolute(v), absolute(v + h * work.vdot[dof, slot]))
    return reach - minimum(q - model.limit_lower[item, column], model.limit_upper[item, column] - q)


@wp.func
def land_on_limits(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Change the shares with which dofs would pass their limits."""
    zero = real(0.0, h)
    one = real(1.0, h)
    for row in range(model.stop_row, model.row_count - model.rotation_rows):
        item = model.row_item[row]
        dof = model.row_dof[row]
        q = work.position[item, slot]
        v = work.v[dof, slot]
        change = work.v_next[dof, slot] - v
        share = work.share[dof, slot]
        path = h * (v + share * change)
        below = maximum(q - model.limit_lower[item, column], zero)
        above = maximum(model.limit_upper[item, column] - q, zero)
        passes = maximum(path - above, neg(path) - below)
        if any_positive(passes):
            edge = where_positive(path, above, neg(below)) / h
            onto = minimum(maximum((edge - v) / change, zero), one)
            work.share[dof, slot] = where_positive(passes, onto, share)

"""Friction of the free axes of loop joints, on the rates ydot of `loop_rate`, as on axes of joints of trees.

Dry:      ydot+ = 0 while the impulse z that this takes is at most h static_effort, else |z| = h dynamic_effort
Viscous:  f = - viscous ydot, a damper as in `spring`
The law of the old friction of PhysX, a share of the load, is for joints of trees.
"""

import warp as wp

from warp_artic.constraints.loop_axis import leave_broken, of_axes
from warp_artic.constraints.loop_rate import acts_on_rates, place_loop_rate
from warp_artic.constraints.rows import set_impulse_bounds, set_velocity_bounds
from warp_artic.constraints.spring import set_spring_row, spring_theta
from warp_artic.description.friction import Friction
from warp_artic.math.numbers import Real, any_positive, mul, real  # noqa: F401 (an operator)
from warp_artic.model.allowed_values import NOT_NEGATIVE
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import TURNS_ROUND


@wp.func
def set_loop_friction_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of dry friction."""
    zero = real(0.0, h)
    item = model.row_item[row]
    place_loop_rate(model, work, row, block, worker)
    set_velocity_bounds(work, row, worker, zero, zero)
    work.compliance[row, worker] = zero
    hold = model.loop_friction_static[item, block]
    set_impulse_bounds(work, row, worker, h * hold, h * model.loop_friction_dynamic[item, block])
    leave_broken(model, work, row, worker)


@wp.func
def set_loop_damper_gradient(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J; says whether any environment has viscous friction."""
    place_loop_rate(model, work, row, block, worker)
    return any_positive(model.loop_friction_viscous[model.row_item[row], block])


@wp.func
def set_loop_damper_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of viscous friction."""
    zero = real(0.0, h)
    d = model.loop_friction_viscous[model.row_item[row], block]
    set_spring_row(model, work, row, worker, zero, zero, d, spring_theta(work, row, worker, zero, d, h), h)
    leave_broken(model, work, row, worker)


def _number(name: str, field: str):
    return of_axes(f"loop_friction_{name}", lambda own: [getattr(own.friction or Friction(), field)], NOT_NEGATIVE)


def _is_dry(own) -> bool:
    return own.friction is not None and max(own.friction.static_effort, own.friction.dynamic_effort) > 0.0


def _is_viscous(own) -> bool:
    return own.friction is not None and own.friction.viscous > 0.0


LOOP_FRICTION = acts_on_rates(
    _is_dry,
    name="loop friction",
    order=220,
    traits=TURNS_ROUND,
    label=("free axis of a loop joint with dry friction", "free axes of loop joints with dry friction"),
    law=set_loop_friction_row,
    parameters=(
        _number("static", "static_effort"),
        _number("dynamic", "dynamic_effort"),
        _number("viscous", "viscous"),
    ),
)

LOOP_DAMPER = acts_on_rates(
    _is_viscous,
    name="loop damper",
    order=130,
    traits=TURNS_ROUND,
    label=("free axis of a loop joint with viscous friction", "free axes of loop joints with viscous friction"),
    law=set_loop_damper_row,
    gradient=set_loop_damper_gradient,
)

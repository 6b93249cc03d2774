"""Velocity limits:  |v+| <= v_max, by whatever impulse it takes."""

import math

import warp as wp

from warp_artic.constraints.rows import set_unbounded_impulse, set_unit_jacobian, set_velocity_bounds
from warp_artic.constraints.single_dofs import places_of_dofs
from warp_artic.description.articulation import Articulation
from warp_artic.math.numbers import Real, neg, real
from warp_artic.model.allowed_values import LARGEST
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import ON_ONE_DOF, TURNS_ROUND, ConstraintFamily, of_dofs
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place


@wp.func
def set_velocity_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the velocity limit of one dof."""
    fastest = model.velocity_limit[model.row_item[row], block]
    set_velocity_bounds(work, row, worker, neg(fastest), fastest)
    work.compliance[row, worker] = real(0.0, h)
    set_unbounded_impulse(work, row, worker, h)
    set_unit_jacobian(model, work, row, worker, h)


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    return places_of_dofs(layout, lambda dof: math.isfinite(dof.velocity_limit))


VELOCITY_LIMIT = ConstraintFamily(
    name="velocity limit",
    order=300,
    label=("velocity limit", "velocity limits"),
    part=ForcePart.LIMIT,
    places=_places,
    traits=ON_ONE_DOF | TURNS_ROUND,
    law=set_velocity_limit_row,
    parameters=(of_dofs("velocity_limit", lambda dof: dof.velocity_limit, LARGEST),),
)

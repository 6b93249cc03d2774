"""Joint friction:  v+ = 0 while the impulse z that this takes is at most h (static_effort + coefficient load), else
|z| = h (dynamic_effort + coefficient load).

Coulomb's law with exact stick. Of several dofs, what slides can depend on what the others hold with: for the direct
solver those slide that do where each has its static effort, and then they have their dynamic one. The load is that of
`phases.joint_loads`. Viscous friction is linear in v+ and is folded into the factors with the drives.
"""

import warp as wp

from warp_artic.constraints.rows import set_impulse_bounds, set_unit_jacobian, set_velocity_bounds
from warp_artic.constraints.single_dofs import places_of_dofs
from warp_artic.description.articulation import Articulation
from warp_artic.description.friction import Friction
from warp_artic.description.joint import Dof
from warp_artic.math.numbers import Real, add, mul, real  # noqa: F401 (operators)
from warp_artic.model.allowed_values import NOT_NEGATIVE
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import ON_ONE_DOF, TURNS_ROUND, ConstraintFamily, of_dofs
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place


@wp.func
def set_friction_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the friction of one dof."""
    zero = real(0.0, h)
    item = model.row_item[row]
    set_velocity_bounds(work, row, worker, zero, zero)
    work.compliance[row, worker] = zero
    hold = model.friction_static[item, block]
    slide = model.friction_dynamic[item, block]
    if model.load_friction == 1:
        proportional = model.friction_coefficient[item, block] * work.joint_load[item, worker]
        hold = hold + proportional
        slide = slide + proportional
    set_impulse_bounds(work, row, worker, h * hold, h * slide)
    set_unit_jacobian(model, work, row, worker, h)


def _has_dry_friction(dof: Dof) -> bool:
    friction = dof.friction or Friction()
    return max(friction.static_effort, friction.dynamic_effort, friction.coefficient) > 0


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    return places_of_dofs(layout, _has_dry_friction)


FRICTION = ConstraintFamily(
    name="friction",
    order=200,
    label=("dof with dry friction", "dofs with dry friction"),
    part=ForcePart.FRICTION,
    places=_places,
    traits=ON_ONE_DOF | TURNS_ROUND,
    acts_always=True,
    law=set_friction_row,
    parameters=(
        of_dofs("friction_static", lambda dof: (dof.friction or Friction()).static_effort, NOT_NEGATIVE),
        of_dofs("friction_dynamic", lambda dof: (dof.friction or Friction()).dynamic_effort, NOT_NEGATIVE),
        of_dofs("friction_viscous", lambda dof: (dof.friction or Friction()).viscous, NOT_NEGATIVE),
        of_dofs(
            "friction_coefficient", lambda dof: (dof.friction or Friction()).coefficient, NOT_NEGATIVE, "load_friction"
        ),
    ),
    flags={
        "load_friction": lambda articulation: any(
            dof.friction is not None and dof.friction.coefficient > 0 for dof in articulation.dofs
        )
    },
)

"""Joint friction:  v+ = 0 while the impulse z that this takes is at most h (static_effort + coefficient load), else
|z| = h (dynamic_effort + coefficient load).

Coulomb's law with exact stick. Of several dofs, what slides can depend on what the others hold with: for the direct
solver those slide that do where each has its static effort, and then they have their dynamic one. The load is that of
`phases.joint_loads`. Viscous friction is linear in v+ and is folded into the factors with the drives.
"""

import warp as wp

from warp_artic.constraints.rows import set_bounds, set_single_coefficient, set_window
from warp_artic.math.numbers import Real, add, mul, real  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def set_friction_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the friction of one dof."""
    zero = real(0.0, h)
    item = model.row_item[row]
    set_window(work, row, slot, zero, zero)
    work.compliance[row, slot] = zero
    hold = model.friction_static[item, column]
    slide = model.friction_dynamic[item, column]
    if model.load_friction == 1:
        proportional = model.friction_coefficient[item, column] * work.joint_load[item, slot]
        hold = hold + proportional
        slide = slide + proportional
    set_bounds(work, row, slot, h * hold, h * slide)
    set_single_coefficient(model, work, row, slot, h)

"""Joint friction:  v+ = 0 while the impulse that this takes is at most h static_effort, else |z| = h dynamic_effort.

Coulomb's law with exact stick. Viscous friction is linear in v+ and is folded into the factors with the drives.
"""

import warp as wp

from warp_artic.constraints.rows import set_bounds, set_single_coefficient, set_window
from warp_artic.math.numbers import Real, mul, real  # noqa: F401 (operators)
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def set_friction_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the friction of one dof."""
    zero = real(0.0, h)
    item = model.row_item[row]
    set_window(work, row, slot, zero, zero)
    work.compliance[row, slot] = zero
    set_bounds(work, row, slot, h * model.friction_static[item, column], h * model.friction_dynamic[item, column])
    set_single_coefficient(model, work, row, slot, h)

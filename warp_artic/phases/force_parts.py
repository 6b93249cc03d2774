"""The parts of the forces of a step (`model.force_parts`), and those of them that links bring:  - J^T load."""

import warp as wp

from warp_artic.math.numbers import Real, add, mul, neg  # noqa: F401 (operators)
from warp_artic.model.arrays import ForceArrays, ModelArrays, WorkArrays
from warp_artic.phases.transmitted_forces import load_along


@wp.func
def add_to_part(model: ModelArrays, forces: ForceArrays, part: int, dof: int, block: int, force: Real):
    """Add a force on a dof."""
    row = part * model.dof_count + dof
    forces.parts[row, block] = forces.parts[row, block] + force


@wp.func
def add_loads(
    model: ModelArrays, work: WorkArrays, forces: ForceArrays, part: int, block: int, worker: int, weight: Real
):
    """Add, with a weight, what the loads that joints transmit are on all dofs."""
    for link in range(model.link_count):
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            load = load_along(model, work, link, dof, worker)
            add_to_part(model, forces, part, dof, block, neg(weight * load))

"""The coefficient matrix: efforts of unit impulses of tendons and mimic joints, where the state has the links."""

import warp as wp

from warp_artic.constraints.fixed_tendon import set_tendon_coefficients
from warp_artic.constraints.mimic import set_gears
from warp_artic.constraints.spatial_tendon import set_leaf_gradients
from warp_artic.math.numbers import real
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import FIXED_TENDON, MIMIC, SPATIAL_TENDON
from warp_artic.phases.integrate import load_state
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_positions import locate_links


@wp.func
def set_coefficients(
    model: ModelArrays, state: StateArrays, work: WorkArrays, matrix: Array, column: int, slot: int, count: int
):
    """Write a row of `count` entries for each dof: fixed tendons, leaves of spatial tendons, mimic joints."""
    one = real(1.0, model.gravity[0, column])
    zero = real(0.0, model.gravity[0, column])
    load_state(model, state, work, column, slot)
    place_links(model, work, work.position, work.root, work.v, column, slot)
    locate_links(model, work, work.root, column, slot)
    for entry in range(model.dof_count * count):
        matrix[entry, column] = zero
    tendons = model.fixed_tendons + model.spatial_leaves
    for row in range(model.row_count):
        family = model.row_family[row]
        place = int(-1)
        if family == FIXED_TENDON:
            set_tendon_coefficients(model, work, row, column, slot)
            place = model.row_item[row]
        if family == SPATIAL_TENDON:
            set_leaf_gradients(model, work, row, column, slot, one, zero)
            place = model.fixed_tendons + model.row_item[row]
        if family == MIMIC:
            set_gears(model, work, row, column, slot)
            place = tendons + model.row_item[row]
        if place >= 0:
            start = model.row_term[row]
            for term in range(start, start + model.row_terms[row]):
                matrix[model.term_dof[term] * count + place, column] = work.push[term, slot]

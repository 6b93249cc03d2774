"""The coefficient matrix: efforts of unit impulses of registered constraints and contact points, at a state."""

import warp as wp

from warp_artic.constraints.contact import friction_row, normal_row, set_contact_gradients
from warp_artic.constraints.dispatch import set_unit_row
from warp_artic.math.numbers import add, real  # noqa: F401 (operators)
from warp_artic.model.arrays import Array, ContactArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.phases.integrate import load_state
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_positions import locate_links


@wp.func
def set_coefficients(
    model: ModelArrays,
    state: StateArrays,
    contacts: ContactArrays,
    work: WorkArrays,
    matrix: Array,
    block: int,
    worker: int,
    count: int,
):
    """Write a row of `count` entries for each dof.

    Those of families in their order, then normal and two tangents of each contact point.
    """
    zero = real(0.0, model.gravity[0, block])
    load_state(model, state, work, block, worker)
    place_links(model, work, work.position, work.root, work.v, block, worker)
    locate_links(model, work, work.root, block, worker)
    for entry in range(model.dof_count * count):
        matrix[entry, block] = zero
    for row in range(model.row_count):
        if set_unit_row(model, work, row, block, worker, zero):
            add_coefficients(model, work, matrix, row, model.row_place[row], block, worker, count)
    set_contact_gradients(model, contacts, work, block, worker)
    for contact in range(contacts.count):
        place = count - 3 * (contacts.count - contact)
        add_coefficients(model, work, matrix, normal_row(contacts, contact), place, block, worker, count)
        for k in range(2):
            row = friction_row(contact, k)
            add_coefficients(model, work, matrix, row, place + 1 + k, block, worker, count)


@wp.func
def add_coefficients(
    model: ModelArrays, work: WorkArrays, matrix: Array, row: int, place: int, block: int, worker: int, count: int
):
    """Add P of a row to a column of the matrix."""
    start = model.row_term[row]
    for term in range(start, start + model.row_terms[row]):
        entry = model.term_dof[term] * count + place
        matrix[entry, block] = matrix[entry, block] + work.P[term, worker]

"""How much of a step each dof moves with v+:  q+ = q moved by (1 - share) h v, then by share h v+."""

import warp as wp

from warp_artic.constraints.bouncing_limit import share_bounces
from warp_artic.constraints.drive import saturated_share
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    is_finite,
    maximum,
    minimum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import HAS_OWN_WEIGHT, HOLDS_POSITIONS, IS_CONTACT, MOVES_DOFS_ALIKE, has_trait


@wp.func
def set_shares(model: ModelArrays, work: WorkArrays, slot: int, like: Real, has_middle: int):
    """Write how much of the step each dof moves with v+; what a mimic joint ties together moves alike."""
    least = work.least[0, slot]
    free = real(1.0, like)
    if has_middle == 1:
        free = real(0.5, like)
    for dof in range(model.root_dofs):
        work.share[dof, slot] = free
    for dof in range(model.root_dofs, model.dof_count):
        stiffness = work.spring[dof, slot] + work.damper[dof, slot]
        work.share[dof, slot] = where_positive(stiffness, work.theta[dof, slot], free)
    widens = any_positive(least - free)
    for row in range(model.row_count):
        widening = widens and not has_trait(model, row, HOLDS_POSITIONS | IS_CONTACT)
        if widening or row >= model.stop_row or has_trait(model, row, HAS_OWN_WEIGHT | MOVES_DOFS_ALIKE):
            active = work.active[row, slot]
            if any_positive(active):
                share_row(model, work, row, slot, active, least, free)
    if model.held_positions + model.contact_count > 0:
        for _turn in range(2):
            tie_weights(model, work, slot)
    if model.bouncing_limits > 0:
        share_bounces(model, work, slot)


@wp.func
def share_row(model: ModelArrays, work: WorkArrays, row: int, slot: int, active: Real, least: Real, free: Real):
    """Widen the shares of the dofs of an active row."""
    share = active
    start = model.row_term[row]
    end = start + model.row_terms[row]
    if has_trait(model, row, HAS_OWN_WEIGHT):
        share = active * saturated_share(model, work, row, slot, free)
    elif row < model.stop_row:
        share = least
        if has_trait(model, row, MOVES_DOFS_ALIKE):
            for term in range(start, end):
                share = maximum(share, work.share[model.term_dof[term], slot])
        share = share * active
    for term in range(start, end):
        dof = model.term_dof[term]
        work.share[dof, slot] = maximum(work.share[dof, slot], share)


@wp.func
def tie_weights(model: ModelArrays, work: WorkArrays, slot: int):
    """Have all dofs that a position to hold, or a contact, ties together move alike, with the largest of their weights.

    Else what has no velocity against each other would slip all the same.
    """
    for row in range(model.stop_row):
        if has_trait(model, row, HOLDS_POSITIONS):
            tie_row(model, work, row, is_finite(work.window[2 * row, slot]), slot)
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        pushes = work.impulse[row, slot]
        if any_positive(pushes):
            tie_row(model, work, row, pushes, slot)


@wp.func
def tie_row(model: ModelArrays, work: WorkArrays, row: int, holds: Real, slot: int):
    """Have the dofs of a row move alike where it holds."""
    first = model.row_term[row]
    end = first + model.row_terms[row]
    share = work.share[model.term_dof[first], slot]
    for term in range(first + 1, end):
        share = maximum(share, work.share[model.term_dof[term], slot])
    for term in range(first, end):
        dof = model.term_dof[term]
        work.share[dof, slot] = where_positive(holds, share, work.share[dof, slot])

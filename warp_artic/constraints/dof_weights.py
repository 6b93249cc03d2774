"""How much of a step each dof moves with v+:  q+ = q moved by (1 - weight) h v, then by weight h v+.

Limits of finite rotations, the last rows, leave that as it is where nothing may touch: they are followed by half of v
and half of v+.
"""

import warp as wp

from warp_artic.constraints.bouncing_limit import BOUNCING_LIMIT_ORDER, weigh_bounces
from warp_artic.constraints.drive import saturated_weight
from warp_artic.constraints.joint_limit import land_on_limits
from warp_artic.constraints.tied_path import ties
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    maximum,
    minimum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays
from warp_artic.model.families import (
    HAS_OWN_WEIGHT,
    HOLDS_POSITIONS,
    IS_CONTACT,
    IS_CURVED,
    MOVES_DOFS_ALIKE,
    has_trait,
)


@wp.func
def set_dof_weights(model: ModelArrays, work: WorkArrays, worker: int, like: Real, has_middle: int):
    """Write how much of the step each dof moves with v+; what a mimic joint ties together moves alike."""
    least = work.position_weight[0, worker]
    free = real(1.0, like)
    if has_middle == 1:
        free = real(0.5, like)
    for dof in range(model.root_dofs):
        work.dof_weight[dof, worker] = free
    for dof in range(model.root_dofs, model.dof_count):
        stiffness = work.spring[dof, worker] + work.damper[dof, worker]
        work.dof_weight[dof, worker] = where_positive(stiffness, work.theta[dof, worker], free)
    widens = any_positive(least - free)
    for row in range(model.row_count):
        widening = widens and not has_trait(model, row, HOLDS_POSITIONS | IS_CONTACT)
        if widening or row >= model.stop_row or has_trait(model, row, HAS_OWN_WEIGHT | MOVES_DOFS_ALIKE):
            active = work.active[row, worker]
            if has_trait(model, row, IS_CURVED) and has_middle == 1:
                active = where_positive(work.is_near[model.row_island[row], worker], active, active - active)
            if model.row_family[row] == BOUNCING_LIMIT_ORDER:
                # What bounces is not at a stop, nor is what loops tie to it.
                active = where_positive(work.bounced[row, worker], active - active, active)
            if any_positive(active):
                widen_weights(model, work, row, worker, active, least, free)
    if model.tying_rows + model.contact_count > 0:
        for turn in range(2):
            tie_weights(model, work, worker, turn)
        note_leads(model, work, worker, least, free)
    if model.bouncing_limits > 0:
        weigh_bounces(model, work, worker)
        if model.tying_rows > 0:
            bounce_alike(model, work, worker, like - like)


@wp.func
def bounce_alike(model: ModelArrays, work: WorkArrays, worker: int, zero: Real):
    """Have what mimic joints tie to a dof that bounces move like it: what differs would come back as a velocity."""
    one = real(1.0, zero)
    for dof in range(model.dof_count):
        work.u[dof, worker] = zero
    for row in range(model.stop_row, model.row_count):
        if model.row_family[row] == BOUNCING_LIMIT_ORDER:
            bounced = work.active[row, worker] * work.bounced[row, worker]
            work.u[model.row_dof[row], worker] = where_positive(bounced, one, zero)
    for turn in range(2):
        for k in range(model.stop_row):
            row = k + turn * (model.stop_row - 1 - 2 * k)
            if has_trait(model, row, MOVES_DOFS_ALIKE):
                first = model.row_term[row]
                end = first + model.row_terms[row]
                known = zero
                weight = zero
                for term in range(first, end):
                    dof = model.term_dof[term]
                    bounces = work.u[dof, worker]
                    weight = where_positive(bounces - known, work.dof_weight[dof, worker], weight)
                    known = maximum(known, bounces)
                known = where_positive(ties(model, work, row, worker), known, zero)
                for term in range(first, end):
                    dof = model.term_dof[term]
                    follows = known - work.u[dof, worker]
                    work.dof_weight[dof, worker] = where_positive(follows, weight, work.dof_weight[dof, worker])
                    work.u[dof, worker] = maximum(work.u[dof, worker], known)


@wp.func
def land_alike(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Change the weights with which dofs would pass their limits, and with them what mimic joints tie to these dofs."""
    land_on_limits(model, work, block, worker, h)
    if model.tying_rows > 0:
        for turn in range(2):
            tie_rows(model, work, MOVES_DOFS_ALIKE, worker, turn)


@wp.func
def widen_weights(model: ModelArrays, work: WorkArrays, row: int, worker: int, active: Real, least: Real, free: Real):
    """Widen the weights of the dofs of an active row."""
    weight = active
    start = model.row_term[row]
    end = start + model.row_terms[row]
    if has_trait(model, row, HAS_OWN_WEIGHT):
        weight = active * saturated_weight(model, work, row, worker, free)
    elif row < model.stop_row:
        weight = least
        if has_trait(model, row, MOVES_DOFS_ALIKE):
            for term in range(start, end):
                weight = maximum(weight, work.dof_weight[model.term_dof[term], worker])
        weight = weight * active
    for term in range(start, end):
        dof = model.term_dof[term]
        work.dof_weight[dof, worker] = maximum(work.dof_weight[dof, worker], weight)


@wp.func
def tie_weights(model: ModelArrays, work: WorkArrays, worker: int, is_back: int):
    """Have all dofs that a position to hold, a mimic joint or a contact ties together move alike, with the largest of
    their weights.

    Else what has no velocity against each other would slip all the same. A compliant mimic joint is a spring, which
    gives way. Rows are followed back if `is_back` is 1, so that a chain of them is tied from either end.
    """
    tie_rows(model, work, HOLDS_POSITIONS | MOVES_DOFS_ALIKE, worker, is_back)
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        pushes = work.impulse[row, worker]
        if any_positive(pushes):
            tie_row(model, work, row, pushes, worker)


@wp.func
def note_leads(model: ModelArrays, work: WorkArrays, worker: int, least: Real, free: Real):
    """Write of pressed points how much more of the step than `free` their dofs move with v+, but where all dofs do."""
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        pushes = work.impulse[row, worker]
        if any_positive(pushes):
            lead = work.dof_weight[model.row_dof[row], worker] - free
            lead = where_positive(least - free, free - free, lead)
            point = model.row_item[row] // 3
            work.contact_lead[point, worker] = where_positive(pushes, lead, free - free)


@wp.func
def tie_rows(model: ModelArrays, work: WorkArrays, traits: int, worker: int, is_back: int):
    """The same for the rows that hold, of those that have one of some traits."""
    for k in range(model.stop_row):
        row = k + is_back * (model.stop_row - 1 - 2 * k)
        if has_trait(model, row, traits):
            tie_row(model, work, row, ties(model, work, row, worker), worker)


@wp.func
def tie_row(model: ModelArrays, work: WorkArrays, row: int, holds: Real, worker: int):
    """Have the dofs of a row move alike where it holds."""
    first = model.row_term[row]
    end = first + model.row_terms[row]
    weight = work.dof_weight[model.term_dof[first], worker]
    for term in range(first + 1, end):
        weight = maximum(weight, work.dof_weight[model.term_dof[term], worker])
    for term in range(first, end):
        dof = model.term_dof[term]
        work.dof_weight[dof, worker] = where_positive(holds, weight, work.dof_weight[dof, worker])

"""How much of a step each dof moves with v+:  q+ = q moved by (1 - share) h v, then by share h v+."""

import warp as wp

from warp_artic.constraints.bouncing_limit import share_bounces
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ModelArrays, WorkArrays


@wp.func
def set_shares(model: ModelArrays, work: WorkArrays, slot: int, like: Real, has_middle: int):
    """Write how much of the step each dof moves with v+."""
    least = work.least[0, slot]
    free = real(1.0, like)
    if has_middle == 1:
        free = real(0.5, like)
    for dof in range(model.dof_count):
        work.share[dof, slot] = free
    first = model.stop_row
    if any_positive(least - free):
        first = 0
        for dof in range(model.root_dofs, model.dof_count):
            stiffness = work.spring[dof, slot] + work.damper[dof, slot]
            work.share[dof, slot] = where_positive(stiffness, least, free)
    for row in range(first, model.row_count):
        active = work.active[row, slot]
        if any_positive(active):
            share = active
            if row < model.stop_row:
                share = least * active
            start = model.row_term[row]
            for term in range(start, start + model.row_terms[row]):
                dof = model.term_dof[term]
                work.share[dof, slot] = maximum(work.share[dof, slot], share)
    if model.bouncing_limits > 0:
        share_bounces(model, work, slot)

"""How impacts of contacts change the path of a midpoint step.

What an impact changes acts for the rest of the step, 1 - tau / h, so that points are moved by that part of it, instead
of the weight of their dofs (`constraints.contact_law`). In islands that land the whole step moves with v+.
Impulses that keep a point in place together, but not at the same time, would move it: the end of a rod that hits beside
one that lies. Where a point would end in the other shape by more than TOLERATED, the island goes so much nearer to the
path with v+ that none does:
    gap + h (y+ + s J_n D) >= min(gap, 0) - TOLERATED thickness,   D the path less that with v+,   0 <= s <= 1
where nothing of the island turns by more than MOST_TURN.
"""

import warp as wp

from warp_artic.constraints.contact_law import contact_direction
from warp_artic.constraints.contact_lever import is_of_single_bodies
from warp_artic.constraints.contact_motion import gap_before, velocity_after
from warp_artic.constraints.rows import add_responses, row_rate
from warp_artic.constraints.tied_path import tie_path
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3

TOLERATED = wp.constant(0.02)
"""Overlap that the path of an impact may lead to, as a share of half of the thinner shape."""
MOST_TURN = wp.constant(0.5)
"""Turn in a step from which on velocities of points do not tell where they end [rad]."""
LEAST_WEIGHT = wp.constant(1e-6)
"""Of a dof that impacts lead: with a smaller one, v+ would leave the range of numbers."""


@wp.func
def lead_by_impacts(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Add to v+, until `follow_impacts`, what impacts change of the path of a midpoint step; before `keep_contacts`.

    In an island with impacts, other contacts of bodies without joints are taken to give what their impulse is larger by
    than in the step before at the mean time of the impacts. Those of trees with joints are left out, whose joints and
    limits would have to move along: they do in islands that land (`path_weight`). What loops and mimic joints tie
    together moves together (`constraints.tied_path`). Of impacts that were passed on (`solver.rows.impacts`) it is
    known when each of them was.
    """
    zero = real(0.0, work.v_next[0, worker])
    end = model.contact_row + model.contact_rows
    found = bool(False)
    for dof in range(model.dof_count):
        work.v_before_lead[dof, worker] = work.v_next[dof, worker]
        work.contact_path[dof, worker] = zero
    rows = int(0)
    if find_impacts(model, work, worker):
        rows = model.contact_rows
        for dof in range(model.dof_count):
            more = path_weight(model, work, dof, worker) - work.dof_weight[dof, worker]
            work.contact_path[dof, worker] = more * (work.v_next[dof, worker] - work.v[dof, worker])
            found = found or any_positive(more)
    for row in range(model.contact_row, model.contact_row + rows):
        item = model.row_item[row]
        island = model.row_island[row]
        own = path_weight(model, work, model.row_dof[row], worker)
        hits = work.contact_hits[item // 3, worker]
        z = work.impulse[row, worker]
        moment = work.island_impact[island, worker]
        before = dot(contact_direction(model, work, row, worker), load_vec3(work.contact_memory, item // 3 * 3, worker))
        others = where_positive(moment, (moment - own) * (z - before), zero)
        if not is_of_single_bodies(model, row):
            others = zero
        extra = where_positive(hits, (work.contact_weight[item // 3, worker] - own) * z, others)
        extra = where_positive(work.active[row, worker], extra, zero)
        passed = work.contact_led[item, worker] - own * work.given[row, worker]
        extra = where_positive(work.contact_has_passed[island, worker], passed, extra)
        work.contact_passed[row, worker] = extra
        if any_positive(absolute(extra)):
            found = bool(True)
    if found:
        add_responses(model, work, work.contact_passed, model.contact_row, end, work.contact_path, worker)
        if model.tying_rows > 0:
            for row in range(model.stop_row):
                work.tie_left[row, worker] = zero
            tie_path(model, work, worker, model.stop_row, 0)
        keep_apart(model, work, block, worker, h)
        for dof in range(model.dof_count):
            lead_dof(work, dof, worker)


@wp.func
def keep_apart(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Bring `contact_path` of islands with impacts nearer to that with v+, where points would end in other shapes."""
    zero = real(0.0, h)
    one = real(1.0, h)
    for island in range(model.island_count):
        pushed = maximum(work.island_push[island, worker], work.contact_has_passed[island, worker])
        work.environment_mask[island, worker] = where_positive(pushed, one, zero)
        work.island_push[island, worker] = one
    for dof in range(model.dof_count):
        if model.dof_is_linear[dof] == 0:
            island = model.dof_island[dof]
            turn = h * maximum(absolute(work.v[dof, worker]), absolute(work.v_next[dof, worker]))
            is_hit = work.environment_mask[island, worker]
            work.environment_mask[island, worker] = where_positive(turn - real(MOST_TURN, h), zero, is_hit)
    for dof in range(model.dof_count):
        is_hit = work.environment_mask[model.dof_island[dof], worker]
        whole = (one - work.dof_weight[dof, worker]) * (work.v_next[dof, worker] - work.v[dof, worker])
        path = work.contact_path[dof, worker]
        work.contact_path[dof, worker] = where_positive(is_hit, path - whole, path)
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        point = model.row_item[row] // 3
        island = model.row_island[row]
        near = work.contact_near[point, worker] * work.environment_mask[island, worker]
        if any_positive(near):
            gap = gap_before(model, work, row, block, worker)
            tolerated = real(TOLERATED, h) * model.contact_thickness[model.contact_of_point[point], block]
            item = model.row_item[row]
            drift = work.contact_drift_before[item, worker] - work.contact_drift[item, worker]
            other = row_rate(model, work, work.contact_path, row, worker)
            other = other + (one - work.dof_weight[model.row_dof[row], worker]) * drift
            left = gap + h * velocity_after(model, work, row, worker) - minimum(gap, zero) + tolerated
            over = where_positive(neg(left + h * other), near, zero)
            share = where_positive(over, maximum(left, zero) / where_positive(over, neg(h * other), one), one)
            work.island_push[island, worker] = minimum(work.island_push[island, worker], share)
    for dof in range(model.dof_count):
        is_hit = work.environment_mask[model.dof_island[dof], worker]
        whole = (one - work.dof_weight[dof, worker]) * (work.v_next[dof, worker] - work.v[dof, worker])
        path = work.contact_path[dof, worker]
        share = work.island_push[model.dof_island[dof], worker]
        work.contact_path[dof, worker] = where_positive(is_hit, whole + share * path, path)


@wp.func
def lead_dof(work: WorkArrays, dof: int, worker: int):
    """Have a dof go further by `contact_path`; one that moves with v alone gets the least weight."""
    own = work.dof_weight[dof, worker]
    path = work.contact_path[dof, worker]
    weight = maximum(own, real(LEAST_WEIGHT, own))
    v = work.v[dof, worker]
    v_next = work.v_next[dof, worker]
    led = v + (own * (v_next - v) + path) / weight
    work.v_next[dof, worker] = where_positive(absolute(path), led, v_next)
    work.dof_weight[dof, worker] = where_positive(absolute(path), weight, own)


@wp.func
def path_weight(model: ModelArrays, work: WorkArrays, dof: int, worker: int):
    """How much of the step a dof moves with v+: all of it where an impact lands, else its own weight."""
    own = work.dof_weight[dof, worker]
    island = model.dof_island[dof]
    lands = work.contact_lands[island, worker] * work.island_impact[island, worker]
    return where_positive(lands, real(1.0, own), own)


@wp.func
def find_impacts(model: ModelArrays, work: WorkArrays, worker: int):
    """Write for each island which part of the step is left after its impacts, by their impulses; zero without any.

    Says whether there are any.
    """
    found = bool(False)
    zero = real(0.0, work.v_next[0, worker])
    one = real(1.0, zero)
    for island in range(model.island_count):
        work.island_impact[island, worker] = zero
        work.island_push[island, worker] = zero
    for row in range(model.contact_row, model.contact_row + model.contact_rows):
        point = model.row_item[row] // 3
        if model.row_item[row] % 3 == 0 and any_positive(work.contact_hits[point, worker] * work.impulse[row, worker]):
            found = bool(True)
            island = model.row_island[row]
            z = where_positive(work.contact_hits[point, worker], work.impulse[row, worker], zero)
            weight = work.contact_weight[point, worker]
            work.island_impact[island, worker] = work.island_impact[island, worker] + z * weight
            work.island_push[island, worker] = work.island_push[island, worker] + z
    for island in range(model.island_count):
        found = found or any_positive(work.contact_has_passed[island, worker])
        total = work.island_push[island, worker]
        work.island_impact[island, worker] = work.island_impact[island, worker] / where_positive(total, total, one)
    return found


@wp.func
def follow_impacts(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Take away from v+ what `lead_by_impacts` has added, and add what that has moved to what dofs have moved by."""
    for dof in range(model.dof_count):
        before = work.v_before_lead[dof, worker]
        led = h * work.dof_weight[dof, worker] * (work.v_next[dof, worker] - before)
        work.shift[dof, worker] = work.shift[dof, worker] + led
        work.v_next[dof, worker] = before

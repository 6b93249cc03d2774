"""How impacts of contacts change the path of a midpoint step.

What an impact changes acts for the rest of the step, 1 - tau / h, so that points are moved by that share of it, instead
of the share of their dofs (`constraints.contact_pair`).
"""

import warp as wp

from warp_artic.constraints.contact_pair import contact_direction
from warp_artic.constraints.rows import add_responses
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3


@wp.func
def lead_by_impacts(model: ModelArrays, work: WorkArrays, slot: int):
    """Add to v+, until `follow_impacts`, what impacts change of the path of a midpoint step; before `keep_contacts`.

    What other contacts of single bodies, in an island with impacts, do more than in the step before, they do when
    these are; in a tree with joints these and their limits would have to be moved with them. Of
    impacts that were passed on (`solver.rows.impacts`) it is known when each of them was.
    """
    zero = real(0.0, work.v_next[0, slot])
    end = model.contact_row + model.contact_rows
    found = bool(False)
    for dof in range(model.dof_count):
        work.v_before_lead[dof, slot] = work.v_next[dof, slot]
    rows = int(0)
    if find_impacts(model, work, slot):
        rows = model.contact_rows
    for row in range(model.contact_row, model.contact_row + rows):
        item = model.row_item[row]
        island = model.row_island[row]
        own = work.share[model.row_dof[row], slot]
        hits = work.contact_hits[item // 3, slot]
        z = work.impulse[row, slot]
        moment = work.island_impact[island, slot]
        before = dot(contact_direction(model, work, row, slot), load_vec3(work.contact_memory, item // 3 * 3, slot))
        others = where_positive(moment, (moment - own) * (z - before), zero)
        if not is_of_single_bodies(model, row):
            others = zero
        extra = where_positive(hits, (work.contact_share[item // 3, slot] - own) * z, others)
        extra = where_positive(work.active[row, slot], extra, zero)
        passed = work.contact_led[item, slot] - own * work.given[row, slot]
        extra = where_positive(work.contact_has_passed[island, slot], passed, extra)
        work.contact_passed[row, slot] = extra
        if any_positive(absolute(extra)):
            found = bool(True)
    if found:
        for dof in range(model.dof_count):
            work.contact_path[dof, slot] = zero
        add_responses(model, work, work.contact_passed, model.contact_row, end, work.contact_path, slot)
        for dof in range(model.dof_count):
            v = work.v_next[dof, slot]
            work.v_next[dof, slot] = v + work.contact_path[dof, slot] / work.share[dof, slot]


@wp.func
def is_of_single_bodies(model: ModelArrays, row: int):
    """Whether the dofs of a row are of trees without joints."""
    single = bool(True)
    for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
        tree = model.link_tree[model.dof_link[model.term_dof[term]]]
        if model.tree_link[tree + 1] - model.tree_link[tree] > 1:
            single = bool(False)
    return single


@wp.func
def find_impacts(model: ModelArrays, work: WorkArrays, slot: int):
    """Write for each island which share of the step is left after its impacts, by their impulses; zero without any.

    Says whether there are any.
    """
    found = bool(False)
    zero = real(0.0, work.v_next[0, slot])
    one = real(1.0, zero)
    for island in range(model.island_count):
        work.island_impact[island, slot] = zero
        work.island_push[island, slot] = zero
    for row in range(model.contact_row, model.contact_row + model.contact_rows):
        point = model.row_item[row] // 3
        if model.row_item[row] % 3 == 0 and any_positive(work.contact_hits[point, slot] * work.impulse[row, slot]):
            found = bool(True)
            island = model.row_island[row]
            z = where_positive(work.contact_hits[point, slot], work.impulse[row, slot], zero)
            share = work.contact_share[point, slot]
            work.island_impact[island, slot] = work.island_impact[island, slot] + z * share
            work.island_push[island, slot] = work.island_push[island, slot] + z
    for island in range(model.island_count):
        found = found or any_positive(work.contact_has_passed[island, slot])
        push = work.island_push[island, slot]
        work.island_impact[island, slot] = work.island_impact[island, slot] / where_positive(push, push, one)
    return found


@wp.func
def follow_impacts(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Take away from v+ what `lead_by_impacts` has added, and add what that has moved to what dofs have moved by."""
    for dof in range(model.dof_count):
        before = work.v_before_lead[dof, slot]
        led = h * work.share[dof, slot] * (work.v_next[dof, slot] - before)
        work.shift[dof, slot] = work.shift[dof, slot] + led
        work.v_next[dof, slot] = before

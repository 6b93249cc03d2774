"""The velocity-product acceleration of a point of contact:  c = dJ/dt v, the rate of its velocity while v is constant.

J is that in the middle of a step of length h, where links are placed. A point that turns with a body, or moves along a
curved surface, has another J at the end of the step and at its start:
    y = J v+ + o+ + (1 - w) h c,   y_before = J v + o - w h c
with the drift o of `constraints.contact_motion`, and the part w of a step that what the point ties together moves with
v+ (`constraints.dof_weights`): a half, and up to all of it where drives are stiff. So the mean of y over a step,
(1 - w) y_before + w y, is that of its middle. w is that of the step before; what it has beyond a half is the lead.
Without c, bodies that tip, roll or spin on a point would slip, and lose energy in proportion to h. It is measured from
one step to the next, as the start of a step is the end of the step before:
    h c = (J v + o) - (J_before v + o+_before)
Of a body that turns with what carries it J and o change by as much, and c is zero. It is found for points that were
pressed in the step before. A point may also jump from one feature of a shape to another, which is no such rate. So c
acts with at most twice its value of the step before, not with the other sign, and not where it is more than forces and
impulses can do in a step. It is zero at points that a host gives, along tangents that slide, as friction acts against
the slip in the middle of a step, and in islands in which jointed bodies overlap other shapes by more than TOO_DEEP.
"""

import warp as wp

from warp_artic.constraints.contact_lever import is_of_single_bodies
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
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.phases.integrate import find_asleep

DEEP = wp.constant(0.005)
"""Overlap or gap, as a share of half of the thinner shape, from which on half of it is taken back in a step; of less a
smaller part: what a turning body has moved in by the curve of its path is not to throw it."""
TOO_DEEP = wp.constant(0.05)
"""Overlap of jointed bodies, as a share of half of the thinner shape and beyond DEEP, from which on c does not act."""
LEAST_SHARE = wp.constant(5e-5)
"""Of what forces and impulses do: less of c than that is rounding of what rests."""


@wp.func
def load_contact_velocities(
    model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, has_middle: int
):
    """Read what the step before has left of points that it pressed."""
    zero = real(0.0, model.gravity[0, block])
    work.measures_bias[0, worker] = zero + real(float(has_middle), zero)
    for island in range(model.island_count):
        work.is_deep[island, worker] = zero
        work.is_near[island, worker] = zero
    for k in range(model.contact_rows // 3):
        row = model.contact_row + 3 * k
        point = model.row_item[row] // 3
        near = work.contact_near[point, worker]
        if any_positive(near) and not is_of_single_bodies(model, row):
            island = model.row_island[row]
            work.is_near[island, worker] = maximum(work.is_near[island, worker], near)
            pair = model.contact_of_point[point]
            gap = work.contact_point[7 * point + 6, worker] - model.contact_rest[pair, block]
            depth = neg(gap) / model.contact_thickness[pair, block] - real(DEEP, zero)
            deeper = where_positive(work.contact_near[point, worker], depth, zero)
            work.is_deep[island, worker] = maximum(work.is_deep[island, worker], deeper)
    for point in range(model.contact_point_count):
        near = work.contact_near[point, worker]
        if any_positive(near):
            work.contact_lead[point, worker] = zero
            for k in range(3 * point, 3 * point + 3):
                work.contact_bias[k, worker] = zero
                work.contact_bias_found[k, worker] = zero
                work.contact_rate[k, worker] = zero
            pressed = near * pressing(work, point, worker)
            if any_positive(pressed):
                lead = state.contact_lead[point, block]
                work.contact_lead[point, worker] = where_positive(pressed, lead, zero)
                for k in range(3 * point, 3 * point + 3):
                    work.contact_rate_before[k, worker] = state.contact_velocity[k, block]
                    work.contact_bias_before[k, worker] = state.contact_bias[k, block]


@wp.func
def pressing(work: WorkArrays, point: int, worker: int):
    """The impulse along the normal in the last substep so far; zero where there was none."""
    n = load_vec3(work.contact_point, 7 * point + 3, worker)
    pressed = dot(n, load_vec3(work.contact_memory, 3 * point, worker))
    return maximum(pressed, pressed - pressed)


@wp.func
def limit_bias(
    model: ModelArrays, work: WorkArrays, row: int, point: int, free: Real, gravity: Real, worker: int, h: Real
):
    """Write how much of c may act at a point whose normal has the row, for the rate `free` of J v without impulses."""
    zero = real(0.0, h)
    G = work.row_delassus[row, worker]
    too_deep = work.is_deep[model.row_island[row], worker] - real(TOO_DEEP, h)
    pressed = where_positive(too_deep, zero, pressing(work, point, worker))
    if model.contact_is_given[model.contact_of_point[point]] == 1:
        pressed = zero
    work.contact_most_bias[point, worker] = where_positive(pressed, absolute(free) + gravity + G * pressed / h, zero)


@wp.func
def measure_bias(work: WorkArrays, item: int, y: Real, worker: int):
    """Write what is found of c along a direction, and what acts of it, in the first substep of a step; y is J v + o."""
    allowed = work.contact_most_bias[item // 3, worker]
    if any_positive(allowed * work.measures_bias[0, worker]):
        zero = y - y
        step = neg(work.since_placed[0, worker]) * real(2.0, y)
        c = where_positive(allowed, (y - work.contact_rate_before[item, worker]) / step, zero)
        twice = where_positive(allowed, work.contact_bias_before[item, worker], zero) * real(2.0, y)
        acts = where_positive(c, maximum(minimum(c, twice), zero), minimum(maximum(c, twice), zero))
        work.contact_bias_found[item, worker] = c
        counts = minimum(allowed - absolute(acts), absolute(acts) - real(LEAST_SHARE, y) * allowed)
        work.contact_bias[item, worker] = where_positive(counts, acts, zero)


@wp.func
def store_contact_velocities(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Write J v + o and c of points that are pressed to the state, but not of environments that failed or sleep."""
    kept = maximum(state.failure[0, block], find_asleep(model, state, block))
    for k in range(model.contact_rows // 3):
        point = model.row_item[model.contact_row + 3 * k] // 3
        near = work.contact_near[point, worker]
        if any_positive(near):
            changes = where_positive(kept, kept - kept, near * pressing(work, point, worker))
            if any_positive(changes):
                lead = where_positive(changes, work.contact_lead[point, worker], state.contact_lead[point, block])
                state.contact_lead[point, block] = lead
                for item in range(3 * point, 3 * point + 3):
                    y = where_positive(changes, work.contact_rate[item, worker], state.contact_velocity[item, block])
                    c = where_positive(changes, work.contact_bias_found[item, worker], state.contact_bias[item, block])
                    state.contact_velocity[item, block] = y
                    state.contact_bias[item, block] = c


@wp.func
def contact_lasts(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """One for the rows of a point that was pressed in the step before and has no impact, else zero."""
    point = model.row_item[row] // 3
    pressed = pressing(work, point, worker)
    zero = pressed - pressed
    lasts = where_positive(pressed, work.contact_near[point, worker], zero)
    return where_positive(work.contact_hits[point, worker], zero, lasts)

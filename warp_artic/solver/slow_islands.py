"""Largest velocities of links hold, too, after steps in which joints turn so far that rows cannot tell what they leave.

Rows of `constraints.speed_limit` know velocities where links are placed, and find those at the end of the step by
iteration. Where joints turn by a good part of a radian in a step that need not end. Then v+ of an island, trees that
rows join, becomes s v+ at the end of the step,
    |s J v+ + b| <= y_max  for all of its limits,   0 <= s <= 1 as large as possible,
with J where the links then are, and b what the body that carries the tree gives. Kinetic energy goes down by s^2, and
whatever is homogeneous in v+ still holds: mimic joints, stops, loops, contacts. Where the carrying body alone is
faster than y_max allows, s leaves the least speed. A step that loses more than a thousandth counts as one that does
not resolve its motion (`Simulation.unresolved_steps`).

In reports it is a force from outside on each link and armature, M (s - 1) v+ / h, a part of the limits; joints transmit
none of it.
"""

import warp as wp

from warp_artic.constraints.link_velocity import LINK_SPIN_ORDER, base_motion
from warp_artic.constraints.speed_limit import DIRECTION_ROUNDS, find_motions, largest_speed, set_limit_direction
from warp_artic.constraints.tree_velocity import place_tree
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ControlArrays, ForceArrays, ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.model.force_parts import INERTIAL, LIMIT_PART
from warp_artic.model.islands import island_dof
from warp_artic.phases.force_parts import add_loads
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.step_accelerations import report_accelerations
from warp_artic.phases.transmitted_forces import load_links, transmit_loads
from warp_artic.solver.reports import add_armatures

FAR = wp.constant(0.1)
"""Angle of a step from which on joints turn far [rad]."""
COUNTED = wp.constant(1e-3)
"""Part of velocities that a step which counts loses."""


@wp.func
def slow_islands(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
    with_forces: int,
):
    """Scale the velocities at the end of a step of length h; its positions are in `work.position` and `work.root`.

    Adds what that is to `forces` if `with_forces` is 1.
    """
    if any_positive(find_far_turns(model, work, worker, h)):
        for dof in range(model.dof_count):
            work.v_next[dof, worker] = work.v[dof, worker]
        place_links(model, work, work.position, work.root, work.v, block, worker)
        if model.tree_limits > 0:
            place_tree(model, work, block, worker)
        find_motions(model, work, work.motion, block, worker)
        for island in range(model.island_count):
            slow_island(model, state, work, island, block, worker)
        if with_forces == 1:
            report_slowing(model, state, control, work, forces, block, worker, h)


@wp.func
def find_far_turns(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Make `work.turns_far` positive where joints turn far, directions are not found, or energy was projected."""
    for island in range(model.island_count):
        work.turns_far[island, worker] = work.direction_rounds[island, worker] - real(0.5 * DIRECTION_ROUNDS, h)
        if model.free_motion == 1:
            work.turns_far[island, worker] = maximum(work.turns_far[island, worker], work.projected[island, worker])
    for dof in range(model.dof_count):
        if model.dof_is_linear[dof] == 0:
            island = model.dof_island[dof]
            fastest = maximum(absolute(work.v[dof, worker]), absolute(work.v_middle[dof, worker]))
            work.turns_far[island, worker] = maximum(work.turns_far[island, worker], h * fastest - real(FAR, h))
    farthest = work.turns_far[0, worker]
    for island in range(1, model.island_count):
        farthest = maximum(farthest, work.turns_far[island, worker])
    return farthest


@wp.func
def slow_island(model: ModelArrays, state: StateArrays, work: WorkArrays, island: int, block: int, worker: int):
    """The same of an island whose links are placed and have their velocities."""
    turned = work.turns_far[island, worker]
    one = real(1.0, turned)
    zero = one - one
    s = one
    for k in range(model.speed_limits):
        if model.row_island[model.limit_row + 3 * k] == island:
            s = minimum(s, scale_for(model, work, k, block, worker))
    s = where_positive(turned, s, one)
    slowed = one - s
    work.slowed[island, worker] = slowed
    if any_positive(slowed):
        for k in range(model.island_first[island], model.island_first[island + 1]):
            dof = island_dof(model, k)
            work.v[dof, worker] = s * work.v[dof, worker]
        # A step whose energy was projected has been counted.
        counts = where_positive(slowed - real(COUNTED, one), one, zero)
        counts = where_positive(maximum(state.failure[0, block], work.unresolved[island, worker]), zero, counts)
        state.unresolved[island, block] = state.unresolved[island, block] + counts
        if model.free_motion == 1:
            # Energy and momentum were taken: their projection after `turn_swings_round` does not put them back.
            for row in range(4 * island + 2, 4 * island + 4):
                work.watched[row, worker] = maximum(work.watched[row, worker], slowed)


@wp.func
def report_slowing(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
):
    """Add what links and armatures lose to the part of limits and to accelerations, where the step places links."""
    zero = h - h
    one = real(1.0, h)
    none = vec3(zero, zero, zero)
    moves = where_positive(state.failure[0, block], zero, one)
    for dof in range(model.dof_count):
        slowed = moves * work.slowed[model.dof_island[dof], worker]
        work.u[dof, worker] = neg(slowed * work.v_reported[dof, worker]) / h
    place_links(model, work, work.middle, work.middle_root, work.v_middle, block, worker)
    load_links(model, control, work, none, zero, zero, zero, zero, block, worker)
    report_accelerations(model, work, forces, none, zero, block, worker, 1, one, moves)
    transmit_loads(model, work, worker)
    add_loads(model, work, forces, INERTIAL, block, worker, one)
    add_loads(model, work, forces, LIMIT_PART, block, worker, neg(one))
    add_armatures(model, work, forces, INERTIAL, block, worker, one)
    add_armatures(model, work, forces, LIMIT_PART, block, worker, neg(one))


@wp.func
def scale_for(model: ModelArrays, work: WorkArrays, k: int, block: int, worker: int):
    """The largest s of a limit; one where it is met but for rounding."""
    row = model.limit_row + 3 * k
    y = load_vec3(work.motion, 3 * k, worker)
    one = real(1.0, y.x)
    zero = one - one
    b = vec3(zero, zero, zero)
    if model.row_family[row] <= LINK_SPIN_ORDER:
        b = base_motion(model, work, row, block, worker)
    fastest = largest_speed(model, row, block)
    rounding = model.rounding[0, 0]
    speed = sqrt(dot(y, y))
    s = one
    if any_positive(speed - fastest):
        d = y * (one / where_positive(speed, speed, one))
        set_limit_direction(model, work, row, block, worker, d)
        known = fastest
        for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
            known = known + absolute(work.J[term, worker] * work.v[model.term_dof[term], worker]) * rounding
        s = where_positive(speed - known, largest_scale(y - b, b, fastest), one)
    return s


@wp.func
def largest_scale(a: Vec3, b: Vec3, most: Real):
    """The largest s from 0 to 1 with |s a + b| <= most, or where there is none the one that makes it least."""
    aa = dot(a, a)
    ab = dot(a, b)
    one = real(1.0, most)
    zero = one - one
    within = ab * ab + aa * (most * most - dot(b, b))
    root = where_positive(within, sqrt(where_positive(within, within, one)), zero)
    s = where_positive(aa, (root - ab) / where_positive(aa, aa, one), zero)
    return maximum(minimum(s, one), zero)

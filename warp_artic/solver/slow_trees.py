"""Largest velocities of links hold, too, after steps in which joints turn so far that rows cannot tell what they leave.

Rows of `constraints.speed_limit` know velocities where links are placed, and find those at the end of the step by
iteration. Where joints turn by a good part of a radian in a step that need not end. Then v+ of a tree becomes s v+ at
the end of the step,
    |s J v+ + b| <= y_max  for all of its limits,   0 <= s <= 1 as large as possible,
with J where the links then are, and b what the body that carries the tree gives. Kinetic energy goes down by s^2, and
whatever is homogeneous in v+ still holds: mimic joints, stops, loops within the tree. Where the carrying body alone is
faster than y_max allows, s leaves the least speed. What is taken is in no reported impulse; the step counts as one that
does not resolve its motion (`Simulation.unresolved_steps`).
"""

import warp as wp

from warp_artic.constraints.link_velocity import LINK_SPIN_ORDER, base_motion
from warp_artic.constraints.speed_limit import TURNS, find_motions, largest_speed, set_coefficients
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
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.phases.kinematics import place_links


FAR = wp.constant(0.1)
"""Angle of a step from which on joints turn far [rad]."""


@wp.func
def slow_trees(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Scale the velocities at the end of a step of length h; its positions are in `work.position` and `work.root`."""
    if any_positive(find_far_turns(model, work, slot, h)):
        for dof in range(model.dof_count):
            work.v_next[dof, slot] = work.v[dof, slot]
        place_links(model, work, work.position, work.root, work.v, column, slot)
        if model.tree_limits > 0:
            place_tree(model, work, column, slot)
        find_motions(model, work, work.motion, column, slot)
        for tree in range(model.tree_count):
            slow_tree(model, state, work, tree, column, slot)


@wp.func
def find_far_turns(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Positive in `work.turned` where joints of an island turn far, rows have not settled, or energy was projected."""
    for island in range(model.island_count):
        work.turned[island, slot] = work.turns[island, slot] - real(0.5 * TURNS, h)
        if model.free_motion == 1:
            work.turned[island, slot] = maximum(work.turned[island, slot], work.projected[island, slot])
    for dof in range(model.dof_count):
        if model.dof_is_linear[dof] == 0:
            island = model.dof_island[dof]
            fastest = maximum(absolute(work.v[dof, slot]), absolute(work.v_middle[dof, slot]))
            work.turned[island, slot] = maximum(work.turned[island, slot], h * fastest - real(FAR, h))
    farthest = work.turned[0, slot]
    for island in range(1, model.island_count):
        farthest = maximum(farthest, work.turned[island, slot])
    return farthest


@wp.func
def slow_tree(model: ModelArrays, state: StateArrays, work: WorkArrays, tree: int, column: int, slot: int):
    """The same of a tree whose links are placed and have their velocities."""
    island = model.tree_island[tree]
    turned = work.turned[island, slot]
    one = real(1.0, turned)
    zero = one - one
    s = one
    for k in range(model.speed_limits):
        row = model.limit_row + 3 * k
        if tree_of_limit(model, row) == tree:
            s = minimum(s, scale_for(model, work, k, column, slot))
    s = where_positive(turned, s, one)
    if any_positive(one - s):
        for k in range(model.tree_link[tree], model.tree_link[tree + 1]):
            link = model.order[k]
            first = model.link_dof[link]
            for dof in range(first, first + model.link_dofs[link]):
                work.v[dof, slot] = s * work.v[dof, slot]
        counts = where_positive(one - s, one, zero)
        counts = where_positive(state.failure[0, column], zero, counts)
        counts = where_positive(work.unresolved[island, slot], zero, counts)
        state.unresolved[island, column] = state.unresolved[island, column] + counts
        work.unresolved[island, slot] = maximum(work.unresolved[island, slot], counts)


@wp.func
def tree_of_limit(model: ModelArrays, row: int):
    """The tree whose velocities a limit is about."""
    if model.row_family[row] <= LINK_SPIN_ORDER:
        return model.link_tree[model.row_item[row]]
    return model.row_item[row]


@wp.func
def scale_for(model: ModelArrays, work: WorkArrays, k: int, column: int, slot: int):
    """The largest s of a limit; one where it is met but for rounding."""
    row = model.limit_row + 3 * k
    y = load_vec3(work.motion, 3 * k, slot)
    one = real(1.0, y.x)
    zero = one - one
    b = vec3(zero, zero, zero)
    if model.row_family[row] <= LINK_SPIN_ORDER:
        b = base_motion(model, work, row, column, slot)
    fastest = largest_speed(model, row, column)
    rounding = model.rounding[0, 0]
    speed = sqrt(dot(y, y))
    s = one
    if any_positive(speed - fastest):
        d = y * (one / where_positive(speed, speed, one))
        set_coefficients(model, work, row, column, slot, d)
        known = fastest
        for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
            known = known + absolute(work.coefficient[term, slot] * work.v[model.term_dof[term], slot]) * rounding
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

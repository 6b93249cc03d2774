"""Torsional and rolling friction at points of contact:  n^T w = 0 and t^T w = 0,  |z| <= r z_n,  else z is against w.

w is the angular velocity of shape 1 against shape 0, n the normal, and r a length: that of torsional friction for n, of
rolling friction for t. Of the tangents t_1 is along the part of w across n, and t_2 across that, so that friction of
what rolls is against w, whatever way it rolls.

z_n is the impulse of the normal in the step before, which a point that rests or rolls has again. So these are rows of
dry friction with a bound that is known. Of an impact, and where none rested in the step before, it is that of the step
itself: such rows have no part in the first solution, which tells z_n, and then it is solved again with the bounds.
"""

import warp as wp

from warp_artic.constraints.contact import tangents
from warp_artic.constraints.contact_motion import shape_turning
from warp_artic.constraints.contact_tables import of_each_pair, point_count, points_of_pairs, sides
from warp_artic.constraints.rows import allow_every_velocity, set_impulse_bounds, set_velocity_bounds
from warp_artic.description.articulation import Articulation
from warp_artic.math.directions import choose, length
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import cross, dot
from warp_artic.model.allowed_values import NOT_NEGATIVE
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import FROM_OUTSIDE, IS_CONTACT, PUSHES_LINKS, ConstraintFamily, Tree
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place
from warp_artic.phases.transmitted_forces import take_turn_off

TORSION, ROLLING = (0,), (1, 2)
"""Rows of a point, by the rest of their items."""


@wp.func
def turn_between(model: ModelArrays, work: WorkArrays, pair: int, block: int, worker: int):
    """w of a pair where a step places the links."""
    outer = angular_of(model, work, model.contact_motion1[pair], model.contact_link1[pair], block, worker)
    return outer - angular_of(model, work, model.contact_motion0[pair], model.contact_link0[pair], block, worker)


@wp.func
def angular_of(model: ModelArrays, work: WorkArrays, motion: int, link: int, block: int, worker: int):
    """The angular velocity of a shape on a link or with a motion."""
    if motion >= 0:
        return shape_turning(model, work, motion, link, block, worker)
    return load_vec3(work.w, 3 * link, worker)


@wp.func
def turn_direction(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """The axis of a row, in world axes."""
    point = model.row_item[row] // 3
    axis = model.row_item[row] % 3
    n = load_vec3(work.contact_point, 7 * point + 3, worker)
    if axis == 0:
        return n
    w = turn_between(model, work, model.contact_of_point[point], block, worker)
    rolls = w - n * dot(n, w)
    speed = length(rolls)
    one = real(1.0, speed)
    t_1, _t_2 = tangents(n)
    t = choose(speed, rolls * (one / where_positive(speed, speed, one)), t_1)
    if axis == 1:
        return t
    return cross(n, t)


@wp.func
def set_contact_turn_gradient(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J of an axis; says whether its point may touch in any environment."""
    point = model.row_item[row] // 3
    near = any_positive(work.contact_near[point, worker])
    if near:
        pair = model.contact_of_point[point]
        d = turn_direction(model, work, row, block, worker)
        meet = model.contact_meet[pair]
        term = set_turn_gradient(model, work, model.row_term[row], model.contact_link1[pair], meet, d, worker)
        set_turn_gradient(model, work, term, model.contact_link0[pair], meet, neg(d), worker)
    return near


@wp.func
def set_turn_gradient(
    model: ModelArrays, work: WorkArrays, first_term: int, tip: int, until: int, along: Vec3, worker: int
):
    """Write J and P: what dofs from a link inward to `until` turn it along a vector; returns the next term."""
    link = int(tip)
    term = int(first_term)
    while link != until:
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            gradient = dot(along, load_vec3(work.axis, 3 * dof, worker))
            gradient = gradient * real(float(1 - model.dof_is_linear[dof]), gradient)
            work.J[term, worker] = gradient
            work.P[term, worker] = gradient
            term += 1
        link = model.link_parent[link]
    return term


@wp.func
def set_contact_turn_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of an axis of a point that may touch."""
    point = model.row_item[row] // 3
    zero = real(0.0, h)
    near = work.contact_near[point, worker]
    # What is far away in all environments of the block is left out, whatever was here before.
    allow_every_velocity(work, row, worker, zero)
    if any_positive(near):
        pair = model.contact_of_point[point]
        d = turn_direction(model, work, row, block, worker)
        bound = turn_reach(model, row, block) * rested_impulse(work, point, worker)
        carried = turning_drift_along(model, work, pair, d, block, worker)
        work.compliance[row, worker] = zero
        set_impulse_bounds(work, row, worker, bound, bound)
        set_velocity_bounds(work, row, worker, neg(carried), neg(carried))
        allow_every_velocity(work, row, worker, where_positive(bound, near, zero))


@wp.func
def turn_reach(model: ModelArrays, row: int, block: int):
    """r of a row."""
    pair = model.contact_of_point[model.row_item[row] // 3]
    if model.row_item[row] % 3 == 0:
        return model.contact_torsional_friction[pair, block]
    return model.contact_rolling_friction[pair, block]


@wp.func
def rested_impulse(work: WorkArrays, point: int, worker: int):
    """z_n of a point in the step before; zero where it had an impact then."""
    n = load_vec3(work.contact_point, 7 * point + 3, worker)
    pressed = dot(n, load_vec3(work.contact_memory, 3 * point, worker))
    zero = pressed - pressed
    return where_positive(work.contact_hit_before[point, worker], zero, maximum(pressed, zero))


@wp.func
def bound_by_impacts(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Bound the rows of points with an impact, or that did not rest before, by z_n.

    Only islands whose bounds change are to be solved then; says whether there are any.
    """
    found = bool(False)
    zero = real(0.0, work.v_next[0, worker])
    one = real(1.0, zero)
    for island in range(model.island_count):
        work.environment_mask[island, worker] = zero
    for k in range(model.turn_rows):
        row = model.turn_row + k
        point = model.row_item[row] // 3
        island = model.row_island[row]
        near = work.contact_near[point, worker] * work.is_changed[island, worker]
        if any_positive(near):
            rested = where_positive(work.contact_hits[point, worker], zero, rested_impulse(work, point, worker))
            normal = model.turn_normal[k]
            z_n = maximum(work.impulse[normal, worker] + work.given[normal, worker], zero)
            before = work.impulse_bounds[2 * row, worker]
            bound = where_positive(rested, before, turn_reach(model, row, block) * z_n)
            changes = where_positive(near, where_positive(absolute(bound - before), one, zero), zero)
            if any_positive(changes):
                found = bool(True)
                d = turn_direction(model, work, row, block, worker)
                pair = model.contact_of_point[point]
                carried = turning_drift_along(model, work, pair, d, block, worker)
                bound = where_positive(changes, bound, before)
                set_impulse_bounds(work, row, worker, bound, bound)
                set_velocity_bounds(work, row, worker, neg(carried), neg(carried))
                allow_every_velocity(work, row, worker, where_positive(bound, near, zero))
                work.active[row, worker] = maximum(work.active[row, worker], changes)
                work.environment_mask[island, worker] = maximum(work.environment_mask[island, worker], changes)
    return found


@wp.func
def turning_drift_along(model: ModelArrays, work: WorkArrays, pair: int, d: Vec3, block: int, worker: int):
    """What d^T w has beside J v+: the turning of a kinematic body, less that of the base of the tree it touches."""
    inner = model.contact_motion0[pair]
    outer = model.contact_motion1[pair]
    if inner < 0 and outer < 0:
        return real(0.0, d.x)
    base = model.link_count
    w = angular_of(model, work, outer, base, block, worker) - angular_of(model, work, inner, base, block, worker)
    return dot(d, w)


@wp.func
def take_contact_turn_off(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, force: Real):
    """Take the torque of a row off what its links need."""
    pair = model.contact_of_point[model.row_item[row] // 3]
    torque = turn_direction(model, work, row, block, worker) * force
    take_turn_off(model, work, model.contact_link1[pair], torque, worker)
    take_turn_off(model, work, model.contact_link0[pair], neg(torque), worker)


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    """A row for torsion and two for rolling, at each point of pairs that have such friction."""
    found = []
    for one, first in points_of_pairs(articulation):
        inner, outer = (layout.inward(link) for link, _ in sides(one))
        dofs = [dof for dof in outer if dof not in inner] + [dof for dof in inner if dof not in outer]
        wanted = TORSION * (one.torsional_friction > 0.0) + ROLLING * (one.rolling_friction > 0.0)
        for point in range(first, first + point_count(one) * bool(dofs)):
            found += [Place(one.name, tuple(dofs), 3 * point + axis) for axis in wanted]
    return found


def _rows(tree: Tree) -> list[int]:
    return [place for place, row in enumerate(tree.rows) if row.family is CONTACT_TURN]


def _normals(tree: Tree) -> list[int]:
    """Of the point of each row the row of its normal."""
    rows = {row.item: place for place, row in enumerate(tree.rows) if row.family.traits & IS_CONTACT}
    return [rows[tree.rows[place].item // 3 * 3] for place in _rows(tree)]


CONTACT_TURN = ConstraintFamily(
    name="contact_turn",
    order=889,
    part=ForcePart.CONTACT,
    places=_places,
    traits=FROM_OUTSIDE | PUSHES_LINKS,
    acts_always=True,
    needs_places=True,
    law=set_contact_turn_row,
    gradient=set_contact_turn_gradient,
    subtract_wrench=take_contact_turn_off,
    parameters=(
        of_each_pair("torsional_friction", lambda one: one.torsional_friction, NOT_NEGATIVE),
        of_each_pair("rolling_friction", lambda one: one.rolling_friction, NOT_NEGATIVE),
    ),
    counts={"turn_rows": lambda tree: len(_rows(tree)), "turn_row": lambda tree: (_rows(tree) or [0])[0]},
    tables={"turn_normal": _normals},
)

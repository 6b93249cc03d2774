"""Limits on the length of a velocity:  |y| <= y_max at the end of the step, y three numbers such as v_C of a link.

    y = J v+ + b,   impulse on y: - z y / |y|,   z >= 0,   z (|y| - y_max) = 0
This is the shortest way, in terms of M, into the ball of velocities that a limit allows, of several limits into what
all of them allow; where rest is allowed, kinetic energy only goes down by it, whatever it turns. b is what the body
that carries the tree gives, and by how much y where the links will be at the end of the step differs from J v+ where
they are placed.

It is found by Newton's method (sequential quadratic programming). A limit has three rows, with d the direction of y so
far, z so far, and t_1, t_2 across:
    d.y <= y_max, a stop,   t.y + (y_max / z) z_t = 0
of which the latter two are how the ball curves. When all rows hold, d is that of their y, and they are solved again
until y is along d. A limit takes part from when it is exceeded, with the z that it alone would need; while it lets go,
it has no curvature. A limit of zero is three equations.
"""

import math
from collections.abc import Callable

import warp as wp

from warp_artic.constraints.joint_limit import land_on_limits
from warp_artic.constraints.link_velocity import (
    LINK_SPEED_ORDER,
    LINK_SPIN_ORDER,
    base_motion,
    center_of,
    link_motion,
    move_all_links,
    set_link_coefficients,
)
from warp_artic.constraints.rows import (
    forget_response,
    prepare_response,
    push_row,
    row_response,
    row_velocity,
    set_unbounded,
    set_window,
)
from warp_artic.constraints.shares import set_shares
from warp_artic.constraints.tree_velocity import (
    TREE_SPEED_ORDER,
    TREE_SPIN_ORDER,
    place_tree,
    set_tree_coefficients,
    take_tree_push_off,
    tree_motion,
)
from warp_artic.description.articulation import Articulation
from warp_artic.math.directions import across, choose, length
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
from warp_artic.math.spatial import cross, dot
from warp_artic.model.allowed_values import LARGEST
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import FROM_OUTSIDE, ConstraintFamily, Parameter
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place
from warp_artic.phases.integrate import move_joints
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.transmitted_forces import take_off

ROWS_EACH = 3
"""Rows of a limit."""
TURNS = wp.constant(40.0)
"""Times that directions are found again in a step."""
NEAR = wp.constant(0.5)
"""Share of a limit from which on it is looked at where the links are at the end of the step."""
TURNED = wp.constant(0.3)
"""Angle of a step from which on limits hold where the links are placed if not at the end of the step [rad]."""
ALONG = wp.constant(1000.0)
"""What y may have across d, in units of what a velocity is known to."""


@wp.func
def set_speed_limit_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Begin a step with a row of a limit that does not take part."""
    infinite = real(1.0, h) / real(0.0, h)
    set_window(work, row, slot, neg(infinite), infinite)
    set_unbounded(work, row, slot, h)
    work.compliance[row, slot] = real(0.0, h)


@wp.func
def largest_speed(model: ModelArrays, row: int, column: int):
    """y_max of a row."""
    family = model.row_family[row]
    tree = int(0)
    if family >= TREE_SPEED_ORDER:
        tree = model.row_item[row]
    fastest = model.tree_max_velocity[2 * tree, column]
    if family == TREE_SPIN_ORDER:
        fastest = model.tree_max_velocity[2 * tree + 1, column]
    if family == LINK_SPEED_ORDER:
        fastest = model.link_max_linear_velocity[model.row_item[row], column]
    if family == LINK_SPIN_ORDER:
        fastest = model.link_max_angular_velocity[model.row_item[row], column]
    return fastest


@wp.func
def find_motions(model: ModelArrays, work: WorkArrays, motions: Array, column: int, slot: int):
    """Write y of all limits where the links are placed, with the velocities so far."""
    if model.row_family[model.limit_row] <= LINK_SPIN_ORDER:
        move_all_links(model, work, work.v_next, column, slot)
    for k in range(model.speed_limits):
        row = model.limit_row + 3 * k
        if model.row_family[row] >= TREE_SPEED_ORDER:
            store_vec3(motions, 3 * k, slot, tree_motion(model, work, work.v_next, row, slot))
        else:
            store_vec3(motions, 3 * k, slot, link_motion(model, work, row, column, slot))


@wp.func
def bend_motions(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real, has_middle: int):
    """Write to `work.bent` by how much y at the end of the step is other than where the links are placed.

    Where joints turn so far in a step that J is another at its end, or no answer is found, it is no more than y_max:
    then rest is allowed, and no impulse gives energy. Nothing where the step is not `work.settled`. Says whether any
    environment is near a limit.
    """
    one = real(1.0, h)
    for island in range(model.island_count):
        work.near_limit[island, slot] = one - one
        work.turned[island, slot] = work.turns[island, slot] - real(0.5 * TURNS, h)
    any_near = one - one
    any_turned = work.turned[0, slot]
    for k in range(model.speed_limits):
        row = model.limit_row + 3 * k
        island = model.row_island[row]
        speed = length(load_vec3(work.motion, 3 * k, slot))
        near = maximum(speed - real(NEAR, h) * largest_speed(model, row, column), work.active[row, slot])
        near = work.settled[island, slot] * near
        any_near = maximum(any_near, near)
        if model.island_count > 1:
            work.near_limit[island, slot] = maximum(work.near_limit[island, slot], near)
    if model.island_count == 1:
        work.near_limit[0, slot] = any_near
    found = any_positive(any_near)
    if found:
        for dof in range(model.dof_count):
            work.kept[dof, slot] = work.v_next[dof, slot]
            if model.dof_is_linear[dof] == 0:
                island = model.dof_island[dof]
                turned = h * absolute(work.v_next[dof, slot]) - real(TURNED, h)
                any_turned = maximum(any_turned, turned)
                if model.island_count > 1:
                    work.turned[island, slot] = maximum(work.turned[island, slot], turned)
        if model.island_count == 1:
            work.turned[0, slot] = any_turned
        set_shares(model, work, slot, h, has_middle)
        if has_middle == 1:
            land_on_limits(model, work, column, slot, h)
        move_joints(model, work, work.end_position, work.end_root, column, slot, h, has_middle, 1)
        place_links(model, work, work.end_position, work.end_root, work.v_next, column, slot)
        if model.tree_limits > 0:
            place_tree(model, work, column, slot)
        find_motions(model, work, work.bent, column, slot)
        for dof in range(model.dof_count):
            work.v_next[dof, slot] = work.kept[dof, slot]
        place_links(model, work, work.middle, work.middle_root, work.v_middle, column, slot)
        if model.tree_limits > 0:
            place_tree(model, work, column, slot)
        for k in range(model.speed_limits):
            y = load_vec3(work.motion, 3 * k, slot)
            bend = load_vec3(work.bent, 3 * k, slot) - y
            size = length(bend)
            fastest = largest_speed(model, model.limit_row + 3 * k, column)
            island = model.row_island[model.limit_row + 3 * k]
            excess = minimum(work.turned[island, slot], size - fastest)
            part = where_positive(excess, fastest / where_positive(size, size, one), one)
            part = where_positive(work.near_limit[island, slot], part, one - one)
            store_vec3(work.bent, 3 * k, slot, bend * part)
    return found


@wp.func
def turn_limits(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real, has_middle: int):
    """Bring the rows of limits up to date with the velocities so far where one is missed; these environments join.

    First limits are met where the links are placed. That settles about where they will be at the end of the step, and
    then limits are met there. Says whether there are any that join.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    find_motions(model, work, work.motion, column, slot)
    for k in range(model.speed_limits):
        store_vec3(work.bent, 3 * k, slot, vec3(zero, zero, zero))
    find_missed(model, work, column, slot, zero)
    for island in range(model.island_count):
        joining = work.missed[island, slot]
        work.environment_mask[island, slot] = joining
        work.settled[island, slot] = maximum(work.settled[island, slot], one - joining)
    if bend_motions(model, work, column, slot, h, has_middle):
        find_missed(model, work, column, slot, zero)
    any_joining = zero
    for island in range(model.island_count):
        before = work.environment_mask[island, slot]
        joining = where_positive(work.settled[island, slot], work.missed[island, slot], before)
        # So many times in each environment, whatever its neighbours need.
        count = work.turns[island, slot] + joining
        joining = where_positive(count - real(TURNS, h) - real(0.5, h), zero, joining)
        work.turns[island, slot] = count
        work.environment_mask[island, slot] = joining
        any_joining = maximum(any_joining, joining)
    found = any_positive(any_joining)
    if found:
        for k in range(model.speed_limits):
            turn_limit(model, work, k, column, slot)
    return found


@wp.func
def find_missed(model: ModelArrays, work: WorkArrays, column: int, slot: int, none: Real):
    """Write one to `work.missed` where any limit of an island is missed, else zero."""
    for island in range(model.island_count):
        work.missed[island, slot] = none
    found = none
    for k in range(model.speed_limits):
        island = model.row_island[model.limit_row + 3 * k]
        own = missed(model, work, k, column, slot)
        found = maximum(found, own)
        if model.island_count > 1:
            work.missed[island, slot] = maximum(work.missed[island, slot], own)
    if model.island_count == 1:
        work.missed[0, slot] = found


@wp.func
def missed(model: ModelArrays, work: WorkArrays, k: int, column: int, slot: int):
    """One where a limit is exceeded by more than its rows know, or these have another direction, else zero."""
    row = model.limit_row + 3 * k
    active = work.active[row, slot]
    one = real(1.0, active)
    zero = one - one
    fastest = largest_speed(model, row, column)
    y = load_vec3(work.motion, 3 * k, slot) + load_vec3(work.bent, 3 * k, slot)
    excess = length(y) - fastest
    miss = where_positive(active, zero, excess)
    if any_positive(active):
        known = (fastest + largest_terms(model, work, row, slot)) * model.rounding[0, 0]
        short = zero
        if model.innovations_only == 1:
            # What the row itself could not hold is not for its direction to mend; sweeps mend that too.
            short = maximum(row_velocity(model, work, row, slot) - work.window[2 * row + 1, slot], zero)
        miss = where_positive(active, excess - short - known, miss)
        pushes = where_positive(absolute(work.impulse[row, slot]), active, zero)
        curved = maximum(work.active[row + 1, slot], work.active[row + 2, slot])
        if model.innovations_only == 1:
            d = load_vec3(work.direction, 3 * row, slot)
            aside = length(y - d * dot(d, y)) - known * real(ALONG, one)
            miss = maximum(miss, pushes * where_positive(fastest, aside, zero))
        miss = maximum(miss, (active - pushes) * where_positive(fastest, curved, zero))
    return where_positive(miss, one, zero)


@wp.func
def largest_terms(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """What the velocity of a row is made of, without constraints: the sum of |J_i v_i|."""
    start = model.row_term[row]
    total = absolute(work.coefficient[start, slot] * work.v_free[model.term_dof[start], slot])
    for term in range(start + 1, start + model.row_terms[row]):
        total = total + absolute(work.coefficient[term, slot] * work.v_free[model.term_dof[term], slot])
    return total


@wp.func
def turn_limit(model: ModelArrays, work: WorkArrays, k: int, column: int, slot: int):
    """Give the rows of a limit the direction of y and the curvature that its impulse makes, where they join."""
    row = model.limit_row + 3 * k
    joining = work.environment_mask[model.row_island[row], slot]
    one = real(1.0, joining)
    zero = one - one
    infinite = one / zero
    active = work.active[row, slot]
    fastest = largest_speed(model, row, column)
    bent = load_vec3(work.bent, 3 * k, slot)
    y = load_vec3(work.motion, 3 * k, slot) + bent
    speed = length(y)
    takes_part = where_positive(active, one, where_positive(speed - fastest, one, zero))
    turns = joining * takes_part
    if any_positive(takes_part):
        push = take_back(model, work, row, slot, turns)
        is_new = one - active
        is_point = where_positive(fastest, zero, one)
        # Where a limit does not take part its rows have a direction too, for those beside it in a lane.
        old = load_vec3(work.direction, 3 * row, slot)
        unit = choose(speed, y * (one / where_positive(speed, speed, one)), vec3(one, zero, zero))
        stays = where_positive(active, maximum(maximum(one - turns, is_point), where_positive(speed, zero, one)), zero)
        d = choose(stays, old, unit)
        t_1, t_2 = across(d)
        set_coefficients(model, work, row, column, slot, d)
        set_coefficients(model, work, row + 1, column, slot, t_1)
        set_coefficients(model, work, row + 2, column, slot, t_2)

        prepare_response(model, work, row, slot)
        r = row_response(model, work, row, slot)
        guess = maximum(speed - fastest, zero) / where_positive(r, r, one)
        z_n = where_positive(is_new, guess, maximum(neg(work.impulse[row, slot]), zero))
        z_n = where_positive(is_point * active, maximum(z_n, length(push)), z_n)
        radius = fastest + largest_terms(model, work, row, slot) * model.rounding[0, 0]
        curved = where_positive(z_n, turns, zero)
        curvature = radius / where_positive(z_n, z_n, one)
        constant = bent
        if model.row_family[row] <= LINK_SPIN_ORDER:
            constant = constant + base_motion(model, work, row, column, slot)
        for j in range(3):
            own = row + j
            direction = load_vec3(work.direction, 3 * own, slot)
            offset = neg(dot(direction, constant))
            lower = where_positive(is_point, offset, neg(infinite))
            upper = fastest + offset
            compliance = zero
            takes = turns
            if j > 0:
                lower = where_positive(curved, offset, neg(infinite))
                upper = where_positive(curved, offset, infinite)
                compliance = where_positive(curved, curvature, zero)
                takes = curved
            lower = where_positive(turns, lower, work.window[2 * own, slot])
            upper = where_positive(turns, upper, work.window[2 * own + 1, slot])
            set_window(work, own, slot, lower, upper)
            work.compliance[own, slot] = where_positive(turns, compliance, work.compliance[own, slot])
            work.active[own, slot] = where_positive(turns, takes, work.active[own, slot])
            z = where_positive(takes, dot(direction, push), zero)
            give_again(model, work, own, slot, z, turns)


@wp.func
def set_coefficients(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, d: Vec3):
    """Write the direction of a row and d^T J."""
    store_vec3(work.direction, 3 * row, slot, d)
    if model.row_family[row] >= TREE_SPEED_ORDER:
        set_tree_coefficients(model, work, row, slot, d)
    else:
        set_link_coefficients(model, work, row, column, slot, d)
    forget_response(model, work, row, slot)


@wp.func
def take_back(model: ModelArrays, work: WorkArrays, row: int, slot: int, turns: Real):
    """The impulse of three rows on y; what it has changed is taken off the velocities so far where they turn.

    The direct solver starts anew anyway.
    """
    zero = turns - turns
    push = vec3(zero, zero, zero)
    for j in range(3):
        z = work.impulse[row + j, slot]
        push = push + choose(absolute(z), load_vec3(work.direction, 3 * (row + j), slot) * z, vec3(zero, zero, zero))
        change = where_positive(turns, neg(z), zero)
        if model.innovations_only == 0 and any_positive(absolute(change)):
            push_row(model, work, row + j, slot, change)
    return push


@wp.func
def give_again(model: ModelArrays, work: WorkArrays, row: int, slot: int, impulse: Real, turns: Real):
    """Give a row its part of that impulse along its new direction, with what it changes."""
    work.impulse[row, slot] = where_positive(turns, impulse, work.impulse[row, slot])
    change = where_positive(turns, impulse, turns - turns)
    if model.innovations_only == 0 and any_positive(absolute(change)):
        prepare_response(model, work, row, slot)
        push_row(model, work, row, slot, change)


@wp.func
def take_clamp_off(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, force: Real):
    """Take what a row of a limit pushes links by off what these need."""
    family = model.row_family[row]
    link = model.row_item[row]
    push = load_vec3(work.direction, 3 * row, slot) * force
    if family >= TREE_SPEED_ORDER:
        take_tree_push_off(model, work, row, column, slot, push)
    elif family == LINK_SPEED_ORDER:
        take_off(work, link, slot, push, cross(center_of(model, work, link, column, slot), push))
    else:
        take_off(work, link, slot, push - push, push)


def _speed_limit(order: int, name: str, label: tuple[str, str], **own) -> ConstraintFamily:
    return ConstraintFamily(
        name=name,
        order=order,
        label=label,
        part=ForcePart.LIMIT,
        rows_each=ROWS_EACH,
        traits=FROM_OUTSIDE,
        law=set_speed_limit_row,
        take_off=take_clamp_off,
        **own,
    )


def _of_links(name: str) -> dict:
    """Limits of links that move, each on the dofs from its link to the root, in this order."""

    def places(articulation: Articulation, layout: DofLayout) -> list[Place]:
        limited = [(k, link.path) for k, link in enumerate(articulation.links) if math.isfinite(getattr(link, name))]
        return [Place(path, dofs, link) for link, path in limited if (dofs := layout.inward(link))]

    return {
        "places": places,
        "parameters": (
            Parameter(
                name=f"link_{name}",
                of="link",
                values=lambda articulation: [getattr(link, name) for link in articulation.links],
                allowed=LARGEST,
            ),
        ),
    }


def _of_tree(name: str) -> Callable[[Articulation, DofLayout], list[Place]]:
    """Limits of floating trees as a whole, each on all its dofs."""

    def places(articulation: Articulation, layout: DofLayout) -> list[Place]:
        trees = enumerate(zip(articulation.articulations, articulation.link_numbers))
        return [
            Place(one.path, layout.towards_root(links), item)
            for item, (one, links) in trees
            if one.is_floating and math.isfinite(getattr(one, name))
        ]

    return places


LINK_SPEED = _speed_limit(
    LINK_SPEED_ORDER,
    "link speed",
    ("limit on the speed of a link", "limits on the speed of links"),
    **_of_links("max_linear_velocity"),
)
LINK_SPIN = _speed_limit(
    LINK_SPIN_ORDER,
    "link spin",
    ("limit on the spin of a link", "limits on the spin of links"),
    **_of_links("max_angular_velocity"),
)
TREE_SPEED = _speed_limit(
    TREE_SPEED_ORDER,
    "tree speed",
    ("limit on the speed of its centre of mass", "limits on the speed of its centre of mass"),
    places=_of_tree("max_linear_velocity"),
    parameters=(
        Parameter(
            name="tree_max_velocity",
            of="articulation",
            values=lambda articulation: [
                limit
                for one in articulation.articulations
                for limit in (one.max_linear_velocity, one.max_angular_velocity)
            ],
            size=2,
        ),
    ),
    counts={"tree_limits": lambda tree: tree.count(TREE_SPEED) + tree.count(TREE_SPIN)},
)
TREE_SPIN = _speed_limit(
    TREE_SPIN_ORDER,
    "tree spin",
    ("limit on its spin as a whole", "limits on its spin as a whole"),
    places=_of_tree("max_angular_velocity"),
)

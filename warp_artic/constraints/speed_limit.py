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

from warp_artic.constraints.dof_weights import land_alike, set_dof_weights
from warp_artic.constraints.link_velocity import (
    LINK_SPEED_ORDER,
    LINK_SPIN_ORDER,
    base_motion,
    center_of,
    link_motion,
    move_all_links,
    set_link_limit_jacobian,
)
from warp_artic.constraints.rows import (
    apply_impulse,
    forget_response,
    prepare_response,
    row_response,
    row_velocity,
    set_unbounded_impulse,
    set_velocity_bounds,
)
from warp_artic.constraints.tree_velocity import (
    TREE_SPEED_ORDER,
    TREE_SPIN_ORDER,
    place_tree,
    set_tree_jacobian,
    subtract_tree_impulse,
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
from warp_artic.model.families import FROM_OUTSIDE, TURNS_ROUND, ConstraintFamily, Parameter
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place
from warp_artic.phases.integrate import move_joints
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.transmitted_forces import subtract_wrench

ROWS_EACH = 3
"""Rows of a limit."""
DIRECTION_ROUNDS = wp.constant(40.0)
"""Times that directions are found again in a step."""
NEAR = wp.constant(0.5)
"""Share of a limit from which on it is looked at where the links are at the end of the step."""
TURNED = wp.constant(0.3)
"""Angle of a step from which on limits hold where the links are placed if not at the end of the step [rad]."""
ALONG = wp.constant(1000.0)
"""What y may have across d, in units of what a velocity is known to."""


@wp.func
def set_speed_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Begin a step with a row of a limit that does not take part."""
    infinite = real(1.0, h) / real(0.0, h)
    set_velocity_bounds(work, row, worker, neg(infinite), infinite)
    set_unbounded_impulse(work, row, worker, h)
    work.compliance[row, worker] = real(0.0, h)


@wp.func
def largest_speed(model: ModelArrays, row: int, block: int):
    """y_max of a row."""
    family = model.row_family[row]
    tree = int(0)
    if family >= TREE_SPEED_ORDER:
        tree = model.row_item[row]
    fastest = model.tree_max_velocity[2 * tree, block]
    if family == TREE_SPIN_ORDER:
        fastest = model.tree_max_velocity[2 * tree + 1, block]
    if family == LINK_SPEED_ORDER:
        fastest = model.link_max_linear_velocity[model.row_item[row], block]
    if family == LINK_SPIN_ORDER:
        fastest = model.link_max_angular_velocity[model.row_item[row], block]
    return fastest


@wp.func
def find_motions(model: ModelArrays, work: WorkArrays, motions: Array, block: int, worker: int):
    """Write y of all limits where the links are placed, with the velocities so far."""
    if model.row_family[model.limit_row] <= LINK_SPIN_ORDER:
        move_all_links(model, work, work.v_next, block, worker)
    for k in range(model.speed_limits):
        row = model.limit_row + 3 * k
        if model.row_family[row] >= TREE_SPEED_ORDER:
            store_vec3(motions, 3 * k, worker, tree_motion(model, work, work.v_next, row, worker))
        else:
            store_vec3(motions, 3 * k, worker, link_motion(model, work, row, block, worker))


@wp.func
def correct_motions(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, has_middle: int):
    """Write to `work.motion_correction` by how much y at the end of the step is other than where the links are placed.

    Where joints turn so far in a step that J is another at its end, or no answer is found, it is no more than y_max:
    then rest is allowed, and no impulse gives energy. Nothing where the step is not `work.is_met_where_placed`. Says
    whether any environment is near a limit.
    """
    one = real(1.0, h)
    for island in range(model.island_count):
        work.is_near_limit[island, worker] = one - one
        work.turns_far[island, worker] = work.direction_rounds[island, worker] - real(0.5 * DIRECTION_ROUNDS, h)
    any_near = one - one
    any_turned = work.turns_far[0, worker]
    for k in range(model.speed_limits):
        row = model.limit_row + 3 * k
        island = model.row_island[row]
        speed = length(load_vec3(work.motion, 3 * k, worker))
        near = maximum(speed - real(NEAR, h) * largest_speed(model, row, block), work.active[row, worker])
        near = work.is_met_where_placed[island, worker] * near
        any_near = maximum(any_near, near)
        if model.island_count > 1:
            work.is_near_limit[island, worker] = maximum(work.is_near_limit[island, worker], near)
    if model.island_count == 1:
        work.is_near_limit[0, worker] = any_near
    found = any_positive(any_near)
    if found:
        for dof in range(model.dof_count):
            work.kept_velocity[dof, worker] = work.v_next[dof, worker]
            if model.dof_is_linear[dof] == 0:
                island = model.dof_island[dof]
                turned = h * absolute(work.v_next[dof, worker]) - real(TURNED, h)
                any_turned = maximum(any_turned, turned)
                if model.island_count > 1:
                    work.turns_far[island, worker] = maximum(work.turns_far[island, worker], turned)
        if model.island_count == 1:
            work.turns_far[0, worker] = any_turned
        set_dof_weights(model, work, worker, h, has_middle)
        if has_middle == 1:
            land_alike(model, work, block, worker, h)
        move_joints(model, work, work.end_position, work.end_root, block, worker, h, has_middle, 1)
        place_links(model, work, work.end_position, work.end_root, work.v_next, block, worker)
        if model.tree_limits > 0:
            place_tree(model, work, block, worker)
        find_motions(model, work, work.motion_correction, block, worker)
        for dof in range(model.dof_count):
            work.v_next[dof, worker] = work.kept_velocity[dof, worker]
        place_links(model, work, work.middle, work.middle_root, work.v_middle, block, worker)
        if model.tree_limits > 0:
            place_tree(model, work, block, worker)
        for k in range(model.speed_limits):
            y = load_vec3(work.motion, 3 * k, worker)
            bend = load_vec3(work.motion_correction, 3 * k, worker) - y
            size = length(bend)
            fastest = largest_speed(model, model.limit_row + 3 * k, block)
            island = model.row_island[model.limit_row + 3 * k]
            excess = minimum(work.turns_far[island, worker], size - fastest)
            part = where_positive(excess, fastest / where_positive(size, size, one), one)
            part = where_positive(work.is_near_limit[island, worker], part, one - one)
            store_vec3(work.motion_correction, 3 * k, worker, bend * part)
    return found


@wp.func
def turn_limits(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real, has_middle: int):
    """Bring the rows of limits up to date with the velocities so far where one is missed; these environments join.

    First limits are met where the links are placed. That settles about where they will be at the end of the step, and
    then limits are met there. Says whether there are any that join.
    """
    zero = real(0.0, h)
    one = real(1.0, h)
    find_motions(model, work, work.motion, block, worker)
    for k in range(model.speed_limits):
        store_vec3(work.motion_correction, 3 * k, worker, vec3(zero, zero, zero))
    find_missed(model, work, block, worker, zero)
    for island in range(model.island_count):
        mask = work.is_missed[island, worker]
        work.environment_mask[island, worker] = mask
        work.is_met_where_placed[island, worker] = maximum(work.is_met_where_placed[island, worker], one - mask)
    if correct_motions(model, work, block, worker, h, has_middle):
        find_missed(model, work, block, worker, zero)
    any_mask = zero
    for island in range(model.island_count):
        before = work.environment_mask[island, worker]
        mask = where_positive(work.is_met_where_placed[island, worker], work.is_missed[island, worker], before)
        # So many times in each environment, whatever its neighbours need.
        count = work.direction_rounds[island, worker] + mask
        mask = where_positive(count - real(DIRECTION_ROUNDS, h) - real(0.5, h), zero, mask)
        work.direction_rounds[island, worker] = count
        work.environment_mask[island, worker] = mask
        any_mask = maximum(any_mask, mask)
    found = any_positive(any_mask)
    if found:
        for k in range(model.speed_limits):
            turn_limit(model, work, k, block, worker)
    return found


@wp.func
def find_missed(model: ModelArrays, work: WorkArrays, block: int, worker: int, none: Real):
    """Write one to `work.is_missed` where any limit of an island is missed, else zero."""
    for island in range(model.island_count):
        work.is_missed[island, worker] = none
    found = none
    for k in range(model.speed_limits):
        island = model.row_island[model.limit_row + 3 * k]
        own = missed(model, work, k, block, worker)
        found = maximum(found, own)
        if model.island_count > 1:
            work.is_missed[island, worker] = maximum(work.is_missed[island, worker], own)
    if model.island_count == 1:
        work.is_missed[0, worker] = found


@wp.func
def missed(model: ModelArrays, work: WorkArrays, k: int, block: int, worker: int):
    """One where a limit is exceeded by more than its rows know, or these have another direction, else zero."""
    row = model.limit_row + 3 * k
    active = work.active[row, worker]
    one = real(1.0, active)
    zero = one - one
    fastest = largest_speed(model, row, block)
    y = load_vec3(work.motion, 3 * k, worker) + load_vec3(work.motion_correction, 3 * k, worker)
    excess = length(y) - fastest
    miss = where_positive(active, zero, excess)
    if any_positive(active):
        known = (fastest + largest_terms(model, work, row, worker)) * model.rounding[0, 0]
        short = zero
        if model.innovations_only == 1:
            # What the row itself could not hold is not for its direction to mend; sweeps mend that too.
            short = maximum(row_velocity(model, work, row, worker) - work.velocity_bounds[2 * row + 1, worker], zero)
        miss = where_positive(active, excess - short - known, miss)
        pushes = where_positive(absolute(work.impulse[row, worker]), active, zero)
        curved = maximum(work.active[row + 1, worker], work.active[row + 2, worker])
        if model.innovations_only == 1:
            d = load_vec3(work.direction, 3 * row, worker)
            aside = length(y - d * dot(d, y)) - known * real(ALONG, one)
            miss = maximum(miss, pushes * where_positive(fastest, aside, zero))
        miss = maximum(miss, (active - pushes) * where_positive(fastest, curved, zero))
    return where_positive(miss, one, zero)


@wp.func
def largest_terms(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """What the velocity of a row is made of, without constraints: the sum of |J_i v_i|."""
    start = model.row_term[row]
    total = absolute(work.J[start, worker] * work.v_free[model.term_dof[start], worker])
    for term in range(start + 1, start + model.row_terms[row]):
        total = total + absolute(work.J[term, worker] * work.v_free[model.term_dof[term], worker])
    return total


@wp.func
def turn_limit(model: ModelArrays, work: WorkArrays, k: int, block: int, worker: int):
    """Give the rows of a limit the direction of y and the curvature that its impulse makes, where they join."""
    row = model.limit_row + 3 * k
    mask = work.environment_mask[model.row_island[row], worker]
    one = real(1.0, mask)
    zero = one - one
    infinite = one / zero
    active = work.active[row, worker]
    fastest = largest_speed(model, row, block)
    bent = load_vec3(work.motion_correction, 3 * k, worker)
    y = load_vec3(work.motion, 3 * k, worker) + bent
    speed = length(y)
    takes_part = where_positive(active, one, where_positive(speed - fastest, one, zero))
    turns = mask * takes_part
    if any_positive(takes_part):
        F = take_back(model, work, row, worker, turns)
        is_new = one - active
        is_point = where_positive(fastest, zero, one)
        # Where a limit does not take part its rows have a direction too, for those beside it in a lane.
        old = load_vec3(work.direction, 3 * row, worker)
        unit = choose(speed, y * (one / where_positive(speed, speed, one)), vec3(one, zero, zero))
        stays = where_positive(active, maximum(maximum(one - turns, is_point), where_positive(speed, zero, one)), zero)
        d = choose(stays, old, unit)
        t_1, t_2 = across(d)
        set_limit_direction(model, work, row, block, worker, d)
        set_limit_direction(model, work, row + 1, block, worker, t_1)
        set_limit_direction(model, work, row + 2, block, worker, t_2)

        prepare_response(model, work, row, worker)
        r = row_response(model, work, row, worker)
        guess = maximum(speed - fastest, zero) / where_positive(r, r, one)
        z_n = where_positive(is_new, guess, maximum(neg(work.impulse[row, worker]), zero))
        z_n = where_positive(is_point * active, maximum(z_n, length(F)), z_n)
        radius = fastest + largest_terms(model, work, row, worker) * model.rounding[0, 0]
        curved = where_positive(z_n, turns, zero)
        curvature = radius / where_positive(z_n, z_n, one)
        constant = bent
        if model.row_family[row] <= LINK_SPIN_ORDER:
            constant = constant + base_motion(model, work, row, block, worker)
        for j in range(3):
            own = row + j
            direction = load_vec3(work.direction, 3 * own, worker)
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
            lower = where_positive(turns, lower, work.velocity_bounds[2 * own, worker])
            upper = where_positive(turns, upper, work.velocity_bounds[2 * own + 1, worker])
            set_velocity_bounds(work, own, worker, lower, upper)
            work.compliance[own, worker] = where_positive(turns, compliance, work.compliance[own, worker])
            work.active[own, worker] = where_positive(turns, takes, work.active[own, worker])
            z = where_positive(takes, dot(direction, F), zero)
            give_again(model, work, own, worker, z, turns)


@wp.func
def set_limit_direction(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, d: Vec3):
    """Write the direction of a row and d^T J."""
    store_vec3(work.direction, 3 * row, worker, d)
    if model.row_family[row] >= TREE_SPEED_ORDER:
        set_tree_jacobian(model, work, row, worker, d)
    else:
        set_link_limit_jacobian(model, work, row, block, worker, d)
    forget_response(model, work, row, worker)


@wp.func
def take_back(model: ModelArrays, work: WorkArrays, row: int, worker: int, turns: Real):
    """The impulse of three rows on y; its effect is removed from the velocities where they turn.

    The direct solver starts from nothing anyway.
    """
    zero = turns - turns
    F = vec3(zero, zero, zero)
    for j in range(3):
        z = work.impulse[row + j, worker]
        F = F + choose(absolute(z), load_vec3(work.direction, 3 * (row + j), worker) * z, vec3(zero, zero, zero))
        change = where_positive(turns, neg(z), zero)
        if model.innovations_only == 0 and any_positive(absolute(change)):
            apply_impulse(model, work, row + j, worker, change)
    return F


@wp.func
def give_again(model: ModelArrays, work: WorkArrays, row: int, worker: int, impulse: Real, turns: Real):
    """Give a row its part of that impulse along its new direction, with what it changes."""
    work.impulse[row, worker] = where_positive(turns, impulse, work.impulse[row, worker])
    change = where_positive(turns, impulse, turns - turns)
    if model.innovations_only == 0 and any_positive(absolute(change)):
        prepare_response(model, work, row, worker)
        apply_impulse(model, work, row, worker, change)


@wp.func
def take_clamp_off(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, force: Real):
    """Take what a row of a limit pushes links by off what these need."""
    family = model.row_family[row]
    link = model.row_item[row]
    F = load_vec3(work.direction, 3 * row, worker) * force
    if family >= TREE_SPEED_ORDER:
        subtract_tree_impulse(model, work, row, block, worker, F)
    elif family == LINK_SPEED_ORDER:
        subtract_wrench(work, link, worker, F, cross(center_of(model, work, link, block, worker), F))
    else:
        subtract_wrench(work, link, worker, F - F, F)


def _speed_limit(order: int, name: str, label: tuple[str, str], **own) -> ConstraintFamily:
    return ConstraintFamily(
        name=name,
        order=order,
        label=label,
        part=ForcePart.LIMIT,
        rows_each=ROWS_EACH,
        traits=FROM_OUTSIDE | TURNS_ROUND,
        law=set_speed_limit_row,
        subtract_wrench=take_clamp_off,
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

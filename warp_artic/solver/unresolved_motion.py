"""Which islands move so that a step does not resolve it, and what acts on them (`energy_projection` has the law)."""

import warp as wp

from warp_artic.constraints.soft_rotation_limit import soft_limit_gains
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
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.base import BASE_ANGULAR, BASE_ANGULAR_RATE, BASE_LINEAR_RATE
from warp_artic.model.families import FROM_OUTSIDE, IS_SOFT_LIMIT, has_trait
from warp_artic.model.islands import assembly_of_dof, island_dof
from warp_artic.solver.violent_spin import VIOLENT

UNRESOLVED = wp.constant(1e-5)
"""h^2 miss rate from which on a step is not resolved [rad^2]; with 3e-5 a chain of 200 links that falls loses 1.4 %."""


UNRESOLVED_CURVE = wp.constant(6e-5)
"""The same where accelerations are on a smooth curve, of which more is promised (`solver.history`): with 1e-5 a double
pendulum at 1/120, whose errors are of fourth order, is taken for unresolved in 8 of 240 steps, with 6e-5 in none. So it
is where soft limits act, whose forces a promise is late by a step to know: with 1e-5 half of the steps of trees that
these push are taken for unresolved. Not so with substeps, which look at velocity forces but once for many such pushes.
"""


RESOLVED = wp.constant(0.5)
"""`work.spring_resolution` below which the spring of a soft limit takes energy: angular frequency times step of one."""


@wp.func
def begin_watch(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write whether a step is looked at and accelerations before it are on a smooth curve, and that no row acts.

    The first step, which no motion before it tells of, and so the one after a contact among many bodies, is looked at
    where single bodies turn fast.
    The rows of `work.watched` are, for each island, these two, whether energy is taken, and whether anything changes
    the momentum.
    """
    started = state.started[0, block]
    zero = started - started
    moving = base_motion(model, block, zero)
    for island in range(model.island_count):
        looks = started
        if model.island_joints[island] == 0:
            looks = where_positive(fast_turn(model, work, island, worker, h), real(1.0, h), started)
        watched = real(float(model.island_moves_freely[island]), started) * looks
        work.watched[4 * island, worker] = where_positive(moving, zero, watched)
        work.watched[4 * island + 1, worker] = state.smoothness[2 * island, block]
        work.watched[4 * island + 2, worker] = zero
        work.watched[4 * island + 3, worker] = zero
        work.projected[island, worker] = zero


@wp.func
def fast_turn(model: ModelArrays, work: WorkArrays, island: int, worker: int, h: Real):
    """Positive where an island turns by a good part of a radian in a step, at the velocities before it."""
    largest = h - h
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        if model.dof_is_linear[dof] == 0:
            largest = maximum(largest, absolute(work.v[dof, worker]))
    return h * h * largest * largest - real(VIOLENT, h)


@wp.func
def base_motion(model: ModelArrays, block: int, zero: Real):
    """Positive where the base turns, or accelerates."""
    moving = zero
    for k in range(3):
        moving = moving + absolute(model.base[BASE_ANGULAR + k, block])
        moving = moving + absolute(model.base[BASE_ANGULAR_RATE + k, block])
        moving = moving + absolute(model.base[BASE_LINEAR_RATE + k, block])
    return moving


@wp.func
def find_unresolved(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    island: int,
    block: int,
    worker: int,
    h: Real,
    h_sub: Real,
):
    """Write one where a step of h, in substeps of h_sub, does not resolve an island; `work.u` are means of v and v+."""
    watched = work.watched[4 * island, worker]
    smooth = work.watched[4 * island + 1, worker]
    zero = watched - watched
    half = real(0.5, h)
    miss = zero
    rate = zero
    dofs = model.dof_count
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        if model.dof_is_linear[dof] == 0:
            changes = work.acceleration_history[dofs + dof, worker] + work.acceleration_history[2 * dofs + dof, worker]
            promised = work.v[dof, worker] + half * h * (work.acceleration_history[dof, worker] + smooth * changes)
            mean = work.u[dof, worker]
            free = work.v[dof, worker] + half * h * work.vdot[dof, worker]
            miss = maximum(miss, minimum(absolute(mean - promised), absolute(free - promised)))
            rate = maximum(rate, maximum(absolute(mean), absolute(promised)))
    one_solution = h_sub + h_sub - h
    smooth = maximum(smooth, where_positive(one_solution, find_springs(model, work, island, worker, zero), zero))
    allowed = where_positive(smooth, real(UNRESOLVED_CURVE, h), real(UNRESOLVED, h))
    work.unresolved[island, worker] = where_positive(h * h * miss * rate - allowed, watched, zero)
    if any_positive(work.unresolved[island, worker]):
        tree = only_tree(model, island)
        given = find_inputs(model, control, tree, block, zero)
        if model.island_joints[island] == 0:
            work.unresolved[island, worker] = where_positive(given, zero, work.unresolved[island, worker])
        taken = maximum(given, uneven_weights(model, tree, block, zero))
        work.watched[4 * island + 2, worker] = maximum(work.watched[4 * island + 2, worker], taken)
        work.watched[4 * island + 3, worker] = maximum(work.watched[4 * island + 3, worker], given)


@wp.func
def only_tree(model: ModelArrays, island: int):
    """The tree of an island that moves freely, which has no other."""
    return model.link_tree[model.dof_link[island_dof(model, model.island_first[island])]]


@wp.func
def uneven_weights(model: ModelArrays, tree: int, block: int, zero: Real):
    """Positive where other shares of gravity act on links than on the root of an assembly: weights then turn it."""
    uneven = zero
    if model.scales_gravity == 1:
        root = model.order[model.tree_link[tree]]
        for link in range(model.link_count):
            if model.tree_assembly[model.link_tree[link]] == tree:
                change = model.link_gravity_scale[link, block] - model.link_gravity_scale[root, block]
                uneven = maximum(uneven, absolute(change) * model.link_mass[link, block])
    return uneven


@wp.func
def find_inputs(model: ModelArrays, control: ControlArrays, tree: int, block: int, zero: Real):
    """Positive where forces are given to joints or links of an assembly."""
    given = zero
    for item in range(model.dof_count - model.root_dofs):
        if assembly_of_dof(model, model.root_dofs + item) == tree:
            given = maximum(given, absolute(control.joint_effort[item, block]))
    return maximum(given, find_pushes(model, control, tree, block, zero))


@wp.func
def find_pushes(model: ModelArrays, control: ControlArrays, tree: int, block: int, zero: Real):
    """Positive where forces are given to links of an assembly."""
    given = zero
    for link in range(model.link_count):
        if model.tree_assembly[model.link_tree[link]] == tree:
            for row in range(6 * link, 6 * link + 6):
                given = maximum(given, absolute(control.link_external_force[row, block]))
    return given


@wp.func
def nearness(size: Real, change: Real):
    """What to take of a change from v to the mean of v and v+, so that it is no larger than v is."""
    return where_positive(change - size, size / change, real(1.0, size))


@wp.func
def watch_rows(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """After a substep: write whether drag, rows that take energy, or rows that change the momentum act."""
    for island in range(model.island_count):
        drag = real(float(model.tree_has_drag[only_tree(model, island)]), h)
        work.watched[4 * island + 2, worker] = maximum(work.watched[4 * island + 2, worker], drag)
        work.watched[4 * island + 3, worker] = maximum(work.watched[4 * island + 3, worker], drag)
    for row in range(model.row_count):
        watched = 4 * model.row_island[row]
        acts = maximum(work.active[row, worker], absolute(work.impulse[row, worker]))
        if has_trait(model, row, IS_SOFT_LIMIT):
            acts = maximum(acts, absolute(work.given[row, worker])) * takes_energy(model, work, row, block, worker)
        work.watched[watched + 2, worker] = maximum(work.watched[watched + 2, worker], acts)
        if has_trait(model, row, FROM_OUTSIDE):
            work.watched[watched + 3, worker] = maximum(work.watched[watched + 3, worker], acts)


@wp.func
def watch_turns(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int):
    """Have steps projected, again, in which armatures have made or lost energy where a swing was turned round."""
    for island in range(model.island_count):
        uneven = work.armature_change[island, worker]
        zero = uneven - uneven
        uneven = uneven * work.watched[4 * island, worker]
        if any_positive(uneven):
            uneven = where_positive(find_inputs(model, control, only_tree(model, island), block, zero), zero, uneven)
        work.unresolved[island, worker] = uneven


@wp.func
def find_springs(model: ModelArrays, work: WorkArrays, island: int, worker: int, zero: Real):
    """Positive where a soft limit of an island acts."""
    sprung = zero
    for row in range(model.row_count):
        if has_trait(model, row, IS_SOFT_LIMIT) and model.row_island[row] == island:
            sprung = maximum(sprung, absolute(work.impulse[row, worker]) + absolute(work.given[row, worker]))
    return sprung


@wp.func
def takes_energy(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """Positive where a soft limit has a damper, or is so stiff that the step damps its swing."""
    stiff = real(RESOLVED, work.spring_resolution[row, worker]) - work.spring_resolution[row, worker]
    _k, d = soft_limit_gains(model, row, block)
    return maximum(maximum(d, stiff), stiff - stiff)

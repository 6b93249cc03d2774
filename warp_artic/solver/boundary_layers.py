"""Steps in which drives bring coupled dofs to where these follow: the boundary layers after a start or a new target.

A drive whose relaxation the step does not resolve pulls its dof, and by the inertia between them all others, within a
part of the step. Two things are then other than the step supposes: the mean velocity w of `phases.implicit`, at which
velocity forces are wanted, is not what the accelerations before promised; and the weights theta, which each dof has
from its own pivot, are those of a dof on its own. Such a step is done again:
    in two halves, with the inertia and the velocity forces of the whole step, those forces at w; of the accelerations
    a1 and a2 of a dof in the halves, and theta_h of its pivot there,
        w - v = h/4 ((1 + theta_h) a1 + theta_h a2),   v+ - v = h/2 (a1 + a2),
        theta = (w - v) / (v+ - v) = (theta_h + a1 / (a1 + a2)) / 2
    and then as a whole with these theta, and with velocity forces at the w of the halves. Everything else of the step,
    rows included, is as ever.
A layer is where any driven dof misses what was expected of its w by LAYER of the largest angular rate, counted by the
part of a velocity that its drive takes in a step; and by enough to matter, as velocity forces are products of rates: h
rate times h miss is above LEAST_MISS. Each island is looked at for itself. It is none where motion is resolved, which
costs nothing more then; and none in a step in which contacts among many bodies push the mechanism
(`control.is_touched`), as their impulses are found for the weights that dofs have on their own
(`solver.held_response`).
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ModelArrays, WorkArrays
from warp_artic.model.islands import island_dof
from warp_artic.phases.impulse_response import respond_to_loads
from warp_artic.phases.joint_springs import pair
from warp_artic.solver.history import largest_of_islands, what_goes_on

LAYER = wp.constant(0.02)
"""Share of the largest angular rate by which mean velocities may be other than expected."""
LEAST_MISS = wp.constant(1e-7)
"""Product of the angles of a step and of its miss that may be left alone [rad^2]."""


@wp.func
def forget_weights(model: ModelArrays, work: WorkArrays, worker: int, like: Real):
    """Leave no weights to the next step."""
    for dof in range(model.dof_count):
        work.measured_theta[dof, worker] = real(0.0, like)


@wp.func
def find_layer(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write w to the velocities of the middle of islands that are in a boundary layer; says where, as
    `work.in_boundary_layer`.

    It is written to `work.is_solved_again` as well, for all islands.
    """
    zero = real(0.0, h)
    half = real(0.5, h)
    for island in range(model.island_count):
        size = real(0.0, h)
        miss = real(0.0, h)
        for k in range(model.island_first[island], model.island_first[island + 1]):
            dof = island_dof(model, k)
            v = work.v[dof, worker]
            change = work.v_next[dof, worker] - v
            if dof < model.root_dofs:
                work.u[dof, worker] = v + half * change
            else:
                work.u[dof, worker] = v + work.theta[dof, worker] * change
            if model.dof_is_linear[dof] == 0:
                w = work.u[dof, worker]
                size = maximum(size, maximum(absolute(v), absolute(w)))
                taken = real(1.0, h) - what_goes_on(model, work, dof, worker, h)
                miss = maximum(miss, taken * absolute(w - work.v_middle[dof, worker]))
        matters = h * size * (h * miss) - real(LEAST_MISS, h)
        layer = maximum(minimum(miss - real(LAYER, h) * size, matters), zero)
        layer = where_positive(control.is_touched[0, block], zero, layer)
        work.is_solved_again[island, worker] = layer
        if any_positive(layer):
            work.in_boundary_layer[island, worker] = layer
            for k in range(model.island_first[island], model.island_first[island + 1]):
                dof = island_dof(model, k)
                work.v_middle[dof, worker] = where_positive(layer, work.u[dof, worker], work.v_middle[dof, worker])
    return largest_of_islands(model, work.is_solved_again, worker)


@wp.func
def measure_weights(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Write theta, and w to the velocities of the middle, where the step is in a boundary layer.

    The factors are those of steps of h / 2, and `work.v_free` has the accelerations of the first half.
    """
    zero = real(0.0, h)
    half = real(0.5, h)
    one = real(1.0, h)
    part = half * h
    for dof in range(model.dof_count):
        a = work.v_free[dof, worker]
        work.spring_displacement[dof, worker] = zero
        if dof >= model.root_dofs:
            # How far the spring has been moved for the second half, as far as its force looks ahead.
            moved = part * (work.v[dof, worker] + (work.theta[dof, worker] + work.reach[dof, worker]) * part * a)
            work.spring_displacement[dof, worker] = moved
    for dof in range(model.dof_count):
        work.u[dof, worker] = zero
        if dof >= model.root_dofs:
            lost = work.spring[dof, worker] * work.spring_displacement[dof, worker]
            lost = lost + work.damper[dof, worker] * part * work.v_free[dof, worker]
            work.u[dof, worker] = zero - lost - cross_change(model, work, dof, worker, h)
    respond_to_loads(model, work, work.v_next, worker)
    for dof in range(model.dof_count):
        layer = work.in_boundary_layer[model.dof_island[dof], worker]
        first = work.v_free[dof, worker]
        second = first + work.v_next[dof, worker]
        theta = half
        if dof >= model.root_dofs:
            theta = work.theta[dof, worker]
        w = work.v[dof, worker] + half * part * ((one + theta) * first + theta * second)
        work.v_middle[dof, worker] = where_positive(layer, w, work.v_middle[dof, worker])
        total = first + second
        safe = where_positive(absolute(total), total, one)
        measured = maximum(minimum(half * (theta + first / safe), one), half)
        stiffness = work.spring[dof, worker] + work.damper[dof, worker]
        measured = where_positive(stiffness, measured, zero)
        if dof < model.root_dofs:
            measured = zero
        work.measured_theta[dof, worker] = where_positive(layer, measured, zero)


@wp.func
def cross_change(model: ModelArrays, work: WorkArrays, dof: int, worker: int, h: Real):
    """What springs between the dofs of a joint take from the effort of one in the second half."""
    link = model.dof_link[dof]
    total = real(0.0, h)
    if model.link_is_coupled[link] == 0:
        return total
    first = model.link_dof[link]
    for k in range(model.link_dofs[link]):
        other = first + k
        if other != dof:
            total = (
                total + work.cross_spring[pair(first, dof - first, k), worker] * work.spring_displacement[other, worker]
            )
    return total

"""Velocity forces at the velocities of the middle of a step, where those that it was placed with differ.

A step is placed with what the acceleration of the step before promised. Where velocities are others, it is evaluated
again at the mean of v and v+; how often, and from which difference on, is decided for each island.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
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
from warp_artic.solver.history import find_stops, smooth_acceleration
from warp_artic.solver.unresolved_motion import find_unresolved, nearness

TURNED = wp.constant(0.02)
"""Angle of a step from which on velocity forces may be found again [rad]."""


EXPECTATIONS = wp.constant(2)
"""Times that velocity forces are found again where they were found at velocities that the step does not have."""


EXPECTED = wp.constant(0.002)
"""Share of the largest angular rate by which the rates in the middle of a step may differ from those that velocity
forces were found at; beyond it they are found again. After the first time it is five times as much in midpoint steps of
trees that move freely, whose energy is watched."""


@wp.func
def expect_velocities(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    step: Real,
    has_middle: int,
    expectations: int,
    substeps: int,
):
    """Write the velocities of the middle of the step where those that it was placed with differ.

    Writes where to `work.is_solved_again`.

    It was placed with what the acceleration of the step before promised. Where joints turn by a good part of a radian
    in a step, what velocity forces do at other velocities than those of the middle is work: a chain of ball joints, or
    a spinning rod that slides along its cone, would gain energy without end. Without a middle the step was placed with
    v, and bodies that turn about several axes then gain energy at any speed; islands that move freely are found again
    there, too. Free trees of other joints are looked at once, for motion that the step does not resolve
    (`solver.energy_projection`). Boundary layers have been placed again.
    After the first substep the smooth acceleration goes on for the rest of a step; in the first step without what
    brings velocities to where loops and mimic joints allow them.
    """
    is_stopped = bool(False)
    started = real(1.0, h)
    if substeps > 1:
        if has_middle == 1:
            started = real(2.0, h) * (started - work.position_weight[0, worker])
        is_stopped = find_stops(model, work, work.v_free, started, worker, h)
    for island in range(model.island_count):
        work.is_solved_again[island, worker] = real(0.0, h)
        if expectations <= most_expectations(model, island, has_middle):
            expect_island(
                model, control, work, island, block, worker, h, step, has_middle, expectations, started, is_stopped
            )


@wp.func
def expect_island(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    island: int,
    block: int,
    worker: int,
    h: Real,
    step: Real,
    has_middle: int,
    expectations: int,
    started: Real,
    is_stopped: bool,
):
    """The same of an island."""
    one = real(1.0, h)
    zero = one - one
    size = zero
    miss = zero
    change = zero
    is_free = model.island_moves_freely[island]
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        v = work.v[dof, worker]
        smooth = smooth_acceleration(model, work, work.v_free, dof, started, is_stopped, worker, h)
        mean = real(0.5, h) * (v + work.v_next[dof, worker] + (step - h) * smooth)
        work.u[dof, worker] = mean
        if model.dof_is_linear[dof] == 0:
            size = maximum(size, absolute(v))
            miss = maximum(miss, absolute(mean - work.v_middle[dof, worker]))
            change = maximum(change, absolute(mean - v))
    differs = zero
    if spins(model, island, has_middle):
        times = 1 + 4 * has_middle * is_free * (expectations - 1)
        differs = miss - size * real(EXPECTED * float(times), h)
        if has_middle == 1:
            differs = minimum(differs, step * size - real(TURNED, h))
        differs = maximum(where_positive(work.in_boundary_layer[island, worker], zero, differs), zero)
    if is_free == 1 and has_middle == 1 and expectations == 1:
        find_unresolved(model, control, work, island, block, worker, step, h)
    unresolved = work.unresolved[island, worker]
    differs = maximum(differs, unresolved)
    take_means(model, work, island, worker, differs, where_positive(unresolved, nearness(size, change), one))
    work.is_solved_again[island, worker] = differs


@wp.func
def spins(model: ModelArrays, island: int, has_middle: int):
    """Whether joints of an island turn about several axes.

    In a step without a middle, a body without joints counts as well, and either only where the island moves freely.
    """
    if has_middle == 1:
        return model.island_turns[island] > 0
    turns = model.island_turns[island] > 0 or model.island_joints[island] == 0
    return model.island_moves_freely[island] == 1 and turns


@wp.func
def most_expectations(model: ModelArrays, island: int, has_middle: int):
    """Times that velocity forces of an island may be found again."""
    most = int(0)
    if model.island_moves_freely[island] == 1 and has_middle == 1:
        most = 1
    if spins(model, island, has_middle):
        most = EXPECTATIONS
    return most


@wp.func
def take_means(model: ModelArrays, work: WorkArrays, island: int, worker: int, chosen: Real, near: Real):
    """Make the means in `work.u` the velocities of the middle where chosen, as near to v as `near` says."""
    far = chosen - near * chosen
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        v = work.v[dof, worker]
        mean = work.u[dof, worker]
        mean = where_positive(far, v + near * (mean - v), mean)
        work.v_middle[dof, worker] = where_positive(chosen, mean, work.v_middle[dof, worker])

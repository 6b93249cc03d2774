"""How far trees turn in a step, and from where on that is violent, or is watched (`solver.violent_trees`)."""

import warp as wp

from warp_artic.constraints.loop_scales import scaling
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    div,
    maximum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import HOLDS_POSITIONS, has_trait
from warp_artic.model.islands import assembly_of_dof
from warp_artic.solver.history import velocity_before
from warp_artic.solver.violent_spin import VIOLENT, is_single

VIOLENT_LOOPS = wp.constant(0.02)
"""Square of the angle of a step from which on a turn is violent where loop joints close or join trees, and no stop or
other row acts, whose work at mean velocities is not that along the path [rad^2]."""
FLIGHT = wp.constant(4e-4)
"""Square of the angle of a step from which on `solver.floating_motion` keeps the momenta of what floats [rad^2]."""
PRESSED = wp.constant(0.1)
"""Overlap, as a share of half of the thinner shape, from which on what moves a tree apart is taken from its motion."""


@wp.func
def turn_allowed(model: ModelArrays, tree: int, stopped: Real):
    """The square of the angle of a step from which on a turn of an assembly is violent [rad^2]; rows may act on it."""
    allowed = real(VIOLENT, stopped)
    if model.island_is_looped[model.tree_island[tree]] == 1:
        allowed = where_positive(stopped, allowed, real(VIOLENT_LOOPS, stopped))
    return allowed


@wp.func
def turn_watched(model: ModelArrays, tree: int, h: Real):
    """The square of the angle of a step from which on anything is to be known of an assembly [rad^2]."""
    watched = turn_allowed(model, tree, h - h)
    if model.tree_floats[tree] == 1 and model.tree_is_acted[tree] == 1:
        watched = real(FLIGHT, h)
    return watched


@wp.func
def largest_rate(model: ModelArrays, rates: Array, tree: int, worker: int):
    """The largest of the angular velocities of the dofs of a tree."""
    largest = real(0.0, rates[0, worker])
    for dof in range(model.dof_count):
        if model.dof_is_linear[dof] == 0 and assembly_of_dof(model, dof) == tree:
            largest = maximum(largest, absolute(rates[dof, worker]))
    return largest


@wp.func
def largest_rate_before(model: ModelArrays, state: StateArrays, tree: int, block: int):
    """The same before the step."""
    largest = real(0.0, model.gravity[0, block])
    for dof in range(model.dof_count):
        if model.dof_is_linear[dof] == 0 and assembly_of_dof(model, dof) == tree:
            largest = maximum(largest, absolute(velocity_before(model, state, dof, block)))
    return largest


@wp.func
def is_lone_body(model: ModelArrays, tree: int):
    """Whether an assembly is a body without joints."""
    return is_single(model, tree) and model.tree_next[tree] < 0


@wp.func
def depth_of(model: ModelArrays, work: WorkArrays, tree: int, worker: int):
    """Positive where a tree with joints is in an island that is pressed into a shape."""
    deep = real(0.0, work.v[0, worker])
    if model.contact_count > 0 and not is_lone_body(model, tree):
        deep = maximum(work.is_deep[model.tree_island[tree], worker] - real(PRESSED, deep), deep)
    return deep


@wp.func
def scaled_loop(model: ModelArrays, tree: int, block: int, zero: Real):
    """Positive where a loop joint of an assembly scales masses."""
    scaled = zero
    for row in range(model.row_count):
        if has_trait(model, row, HOLDS_POSITIONS) and assembly_of_dof(model, model.row_dof[row]) == tree:
            scaled = maximum(scaled, scaling(model, model.row_item[row] // 6, block))
    return scaled

"""Accelerations and tendons of a mechanism at a state, without springs, dampers and drag in its factors."""

import warp as wp

from warp_artic.constraints.dispatch import set_unit_row
from warp_artic.constraints.rows import delassus_entry
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    add,
    div,
    mul,
    real,
    sub,
)
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import IS_JOINT_TENDON, IS_TENDON, has_trait
from warp_artic.phases.articulated_inertia import factor_inertias
from warp_artic.phases.integrate import load_state, note_failure
from warp_artic.phases.joint_accelerations import accelerate_links
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_drag import forget_drag
from warp_artic.phases.link_inertias import set_link_inertias
from warp_artic.phases.link_positions import locate_links


@wp.func
def solve_accelerations(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    joint_force: Array,
    block: int,
    worker: int,
):
    """vdot in `work.vdot` under gravity, external link forces and given generalized forces alone, without drag."""
    for dof in range(model.dof_count):
        work.effort[dof, worker] = joint_force[dof, block]
    factor_bare(model, state, control, work, block, worker)
    accelerate_links(model, work, work.vdot, block, worker)


@wp.func
def measure_tendons(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    mobilities: Array,
    block: int,
    worker: int,
):
    """Write J M^-1 P of every tendon at a state, J the gradient of its length; fixed tendons first.

    An environment stops in which that is no number: inertias are further apart than their precision resolves.
    """
    zero = real(0.0, model.gravity[0, block])
    for dof in range(model.dof_count):
        work.effort[dof, worker] = zero
    factor_bare(model, state, control, work, block, worker)
    if model.placed_rows > 0:
        locate_links(model, work, work.root, block, worker)
    for row in range(model.row_count):
        if has_trait(model, row, IS_TENDON | IS_JOINT_TENDON):
            if set_unit_row(model, work, row, block, worker, zero):
                found = delassus_entry(model, work, row, worker)
                mobilities[model.tendon_place[model.row_place[row]], block] = found
                note_failure(model, state, block, model.term_dof[model.row_term[row]], found)


@wp.func
def factor_bare(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int
):
    """Write the factors at a state without springs, dampers and drag, under `work.effort`."""
    zero = real(0.0, model.gravity[0, block])
    load_state(model, state, work, block, worker)
    place_links(model, work, work.position, work.root, work.v, block, worker)
    work.position_weight[0, worker] = real(1.0, zero)
    work.free_weight[0, worker] = real(1.0, zero)
    forget_drag(model, work, worker)
    for dof in range(model.dof_count):
        work.spring[dof, worker] = zero
        work.cross_spring[dof, worker] = zero
        work.damper[dof, worker] = zero
    set_link_inertias(model, control, work, block, worker)
    factor_inertias(model, work, block, worker, zero)

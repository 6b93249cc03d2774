"""The forces that act in joints over a step, by what they come from; see `model.force_parts`.

    actuation   efforts
    drive       a folded one: bias - drag v - slope v+ of `phases.implicit`; a saturated one: its row
    friction    the row of Coulomb's law, and the viscous friction that is folded into the factors
    limit       stops, soft limits and limits of rotations, and the limits of velocities, of dofs and of links
    tendon      fixed and spatial ones with their limits, along their P
    mimic       mimic joints; beside it z / h of each, the multiplier of C
    loop        loop joints and distances
Of a row these are (z + given) P / h. With substeps they are the mean over them. They are where `solver.step` places
the links, for joints with several dofs along the axes in which their velocities are public.
"""

import warp as wp

from warp_artic.constraints.dispatch import add_multiplier, clear_multiplier, drop_multiplier
from warp_artic.constraints.drive import folded_force, mean_velocity
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    mul,
    neg,
    where_positive,
)
from warp_artic.model.arrays import ControlArrays, ForceArrays, ModelArrays, WorkArrays
from warp_artic.model.force_parts import ACTUATION, DRIVE_PART, FRICTION_PART, PART_COUNT
from warp_artic.phases.force_parts import add_to_part


@wp.func
def clear_forces(model: ModelArrays, forces: ForceArrays, block: int, zero: Real):
    """Begin with no force."""
    for row in range(PART_COUNT * model.dof_count):
        forces.parts[row, block] = zero
    for row in range(model.row_count):
        clear_multiplier(model, forces, row, block, zero)


@wp.func
def drop_forces(model: ModelArrays, forces: ForceArrays, block: int, moves: Real):
    """Make the forces zero where `moves` is."""
    for row in range(PART_COUNT * model.dof_count):
        forces.parts[row, block] = where_positive(moves, forces.parts[row, block], moves)
    for row in range(model.row_count):
        drop_multiplier(model, forces, row, block, moves)


@wp.func
def row_impulse(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """What a row transmits in a substep."""
    z = work.impulse[row, worker] + work.given[row, worker]
    if model.loop_count > 0:
        z = z + work.redundant_impulse[row, worker]
    return z


@wp.func
def row_force(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """The mean force of a row over a substep."""
    return row_impulse(model, work, row, worker) / h


@wp.func
def report_forces(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
    weight: Real,
):
    """Add the forces of a substep of length h, with its weight."""
    for dof in range(model.root_dofs, model.dof_count):
        effort = control.joint_effort[dof - model.root_dofs, block]
        add_to_part(model, forces, ACTUATION, dof, block, weight * effort)
        report_folded(model, work, forces, dof, block, worker, h, weight)
    for row in range(model.row_count):
        force = weight * row_force(model, work, row, worker, h)
        if any_positive(absolute(force)):
            part = model.row_part[row]
            add_multiplier(model, work, forces, row, block, worker, force)
            start = model.row_term[row]
            for term in range(start, start + model.row_terms[row]):
                add_to_part(model, forces, part, model.term_dof[term], block, work.P[term, worker] * force)


@wp.func
def report_folded(
    model: ModelArrays,
    work: WorkArrays,
    forces: ForceArrays,
    dof: int,
    block: int,
    worker: int,
    h: Real,
    weight: Real,
):
    """Add what the drive and the viscous friction of a dof give through the factors."""
    viscous = model.friction_viscous[dof - model.root_dofs, block]
    w = mean_velocity(work, dof, worker, work.theta[dof, worker])
    driven = folded_force(model, work, dof, block, worker, h)
    add_to_part(model, forces, DRIVE_PART, dof, block, weight * driven)
    add_to_part(model, forces, FRICTION_PART, dof, block, neg(weight * viscous * w))

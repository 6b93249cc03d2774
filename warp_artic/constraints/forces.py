"""The forces that act on the dofs of joints over a step, by what they come from:  M (v+ - v) / h + c + g - external.

    drive       a folded one: bias - drag v - slope v+ of `phases.implicit`; a saturated one: its row
    friction    the row of Coulomb's law, and the viscous friction that is folded into the factors
    limit       stops, soft limits and limits of rotations, and the limits of velocities, of dofs and of links
    tendon      fixed and spatial ones with their limits, along their pushes
    mimic       mimic joints; beside it z / h of each, the multiplier of C
Of a row these are (z + given) push / h. With substeps they are the mean over them. They are where `solver.step` places
the links, for joints with several dofs along the axes in which their velocities are public.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.model.arrays import Array, ForceArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import DRIVE, FIXED_TENDON, FRICTION, MIMIC, SPATIAL_TENDON_LIMIT
from warp_artic.phases.implicit import spring_drag, spring_slope


@wp.func
def report_forces(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    forces: ForceArrays,
    column: int,
    slot: int,
    h: Real,
    substep: int,
    substeps: int,
):
    """Write the forces of a step, or add those of a further substep of length h; zero where an environment stops."""
    one = real(1.0, h)
    weight = one / real(float(substeps), h)
    moves = where_positive(state.failure[0, column], one - one, one)
    if substep == 0:
        clear_forces(model, forces, column, one - one)
    report_folded(model, work, forces, column, slot, h, weight, moves)
    for row in range(model.row_count):
        force = weight * (work.impulse[row, slot] + work.given[row, slot]) / h
        force = where_positive(moves, force, one - one)
        if any_positive(absolute(force)):
            family = model.row_family[row]
            if family == DRIVE:
                add_push(model, work, forces.joint_drive_force, row, column, slot, force)
            elif family == FRICTION:
                add_push(model, work, forces.joint_friction_force, row, column, slot, force)
            elif family == MIMIC:
                add_push(model, work, forces.joint_mimic_force, row, column, slot, force)
                item = model.row_item[row]
                forces.mimic_force[item, column] = forces.mimic_force[item, column] + force
            elif family >= FIXED_TENDON and family <= SPATIAL_TENDON_LIMIT:
                add_push(model, work, forces.joint_tendon_force, row, column, slot, force)
            else:
                add_push(model, work, forces.joint_limit_force, row, column, slot, force)


@wp.func
def clear_forces(model: ModelArrays, forces: ForceArrays, column: int, zero: Real):
    """Begin with no force."""
    for item in range(model.dof_count - model.root_dofs):
        forces.joint_drive_force[item, column] = zero
        forces.joint_limit_force[item, column] = zero
        forces.joint_friction_force[item, column] = zero
        forces.joint_tendon_force[item, column] = zero
        forces.joint_mimic_force[item, column] = zero
    for row in range(model.row_count):
        if model.row_family[row] == MIMIC:
            forces.mimic_force[model.row_item[row], column] = zero


@wp.func
def report_folded(
    model: ModelArrays,
    work: WorkArrays,
    forces: ForceArrays,
    column: int,
    slot: int,
    h: Real,
    weight: Real,
    moves: Real,
):
    """Add what drives and viscous friction give through the factors."""
    zero = weight - weight
    share = work.least[0, slot]
    for dof in range(model.root_dofs, model.dof_count):
        item = dof - model.root_dofs
        v = work.v[dof, slot]
        v_next = work.v_next[dof, slot]
        theta = work.theta[dof, slot]
        viscous = model.friction_viscous[item, column]
        k = work.spring[dof, slot]
        d = work.damper[dof, slot] - viscous
        bias = where_positive(work.saturated[item, slot], zero, work.drive_bias[item, slot])
        driven = bias - spring_drag(k, d, theta, share, h) * v - spring_slope(k, d, theta, h) * v_next
        rubbed = spring_drag(zero, viscous, theta, share, h) * v + spring_slope(zero, viscous, theta, h) * v_next
        driven = where_positive(moves, weight * driven, zero)
        rubbed = where_positive(moves, weight * rubbed, zero)
        forces.joint_drive_force[item, column] = forces.joint_drive_force[item, column] + driven
        forces.joint_friction_force[item, column] = forces.joint_friction_force[item, column] - rubbed


@wp.func
def add_push(model: ModelArrays, work: WorkArrays, part: Array, row: int, column: int, slot: int, force: Real):
    """Add a force along the push of a row to the dofs of joints that it has."""
    start = model.row_term[row]
    for term in range(start, start + model.row_terms[row]):
        item = model.term_dof[term] - model.root_dofs
        if item >= 0:
            part[item, column] = part[item, column] + work.push[term, slot] * force

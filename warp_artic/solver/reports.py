"""What is reported of a step: the parts of its forces, the forces by joints on links, and accelerations.

With substeps all of it is the mean over them. Forces on links, gravity and the forces of velocities are those of the
first substep, where the links are placed for all of them. A tree that sleeps has no accelerations: the parts add up to
what is too little to wake it.
"""

import warp as wp

from warp_artic.constraints.forces import clear_forces, drop_forces, report_forces
from warp_artic.constraints.margins import report_margins
from warp_artic.constraints.outside_forces import take_joint_tendons_off, take_links_off
from warp_artic.math.numbers import Real, add, div, mul, neg, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import ControlArrays, ForceArrays, ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.model.families import FROM_OUTSIDE, IS_TENDON, PUSHES_LINKS
from warp_artic.model.force_parts import CORIOLIS, DAMPING, EXTERNAL, GRAVITY, INERTIAL, PART_COUNT
from warp_artic.phases.force_parts import add_loads, add_to_part
from warp_artic.phases.incoming_joint_forces import report_incoming_forces
from warp_artic.phases.integrate import find_asleep
from warp_artic.phases.step_accelerations import report_accelerations
from warp_artic.phases.transmitted_forces import load_links, transmit_loads

WHOLE = PART_COUNT
"""All parts that links bring together, beside each of them."""


@wp.func
def report_step(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    h: Real,
    substep: int,
    substeps: int,
):
    """Write what a step has done, or add a further substep of length h; all is zero where an environment stops."""
    one = real(1.0, h)
    weight = one / real(float(substeps), h)
    moves = where_positive(state.failure[0, block], one - one, one)
    if substep == 0:
        clear_forces(model, forces, block, one - one)
    report_forces(model, control, work, forces, block, worker, h, weight)
    report_margins(model, work, forces, block, worker, h, substep)
    # A loop over a range of constants would be unrolled, and be six times as much code.
    part = int(EXTERNAL)
    while part <= WHOLE:
        acts = part != DAMPING or model.link_damping == 1
        if part >= INERTIAL or (substep == 0 and acts):
            load_part(model, state, control, work, part, block, worker, h)
            if part == WHOLE:
                g = load_vec3(model.gravity, 0, block)
                report_accelerations(model, work, forces, g, one, block, worker, substep, weight, moves)
                if model.speed_limits > 0:
                    take_links_off(model, work, FROM_OUTSIDE, block, worker, h)
                if model.pushing_rows > 0:
                    take_links_off(model, work, PUSHES_LINKS, block, worker, h)
                if forces.without_tendons == 1:
                    take_links_off(model, work, IS_TENDON, block, worker, h)
            transmit_loads(model, work, worker)
            if part == WHOLE:
                if forces.without_tendons == 1:
                    take_joint_tendons_off(model, work, worker, h)
                report_incoming_forces(model, work, forces, block, worker, substep, weight, moves)
            else:
                share = one
                if part == INERTIAL:
                    share = weight
                    add_armatures(model, work, forces, INERTIAL, block, worker, weight)
                add_loads(model, work, forces, part, block, worker, share)
        part += 1
    if model.speed_limits > 0:
        for dof in range(model.dof_count):
            work.v_reported[dof, worker] = work.v_next[dof, worker]
    drop_forces(model, forces, block, moves)


@wp.func
def load_part(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    part: int,
    block: int,
    worker: int,
    h: Real,
):
    """Write what links need for a part of the forces that they bring, and to `work.u` the accelerations in it."""
    change = where_positive(find_asleep(model, state, block), real(0.0, h), has(part, INERTIAL, h) / h)
    for dof in range(model.dof_count):
        work.u[dof, worker] = (work.v_next[dof, worker] - work.v[dof, worker]) * change
    load_links(
        model,
        control,
        work,
        load_vec3(model.gravity, 0, block) * has(part, GRAVITY, h),
        has(part, INERTIAL, h),
        has(part, CORIOLIS, h),
        has(part, EXTERNAL, h),
        has(part, DAMPING, h),
        block,
        worker,
    )


@wp.func
def has(part: int, other: int, like: Real):
    """One where a part is another or the whole, else zero."""
    return real(float(int(part == other or part == WHOLE)), like)


@wp.func
def add_armatures(
    model: ModelArrays, work: WorkArrays, forces: ForceArrays, part: int, block: int, worker: int, weight: Real
):
    """Add, with a weight, what armatures take by the accelerations `work.u` to a part."""
    for dof in range(model.root_dofs, model.dof_count):
        inertia = model.armature[dof - model.root_dofs, block]
        add_to_part(model, forces, part, dof, block, neg(weight * inertia * work.u[dof, worker]))

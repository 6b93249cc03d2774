"""The force and the torque by its inbound joint on each link over a step, about the origin of the joint frame.

They are in the axes of the child-side joint frame, or of the world, as wanted. They are those of `transmitted_forces`
for the accelerations (v+ - v) / h of the step, with its impacts, where the links are placed; with substeps the mean
over them. Velocity limits of links act from outside of the tree: their force on a link is no force of its joint. Along
the axes of a joint they are what acts there, without the effort that its armature takes. A root that floats has no
joint, and no force.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    any_positive,
    div,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import cross, transpose_mul
from warp_artic.model.arrays import (
    ControlArrays,
    ForceArrays,
    ModelArrays,
    StateArrays,
    WorkArrays,
    load_mat3,
    load_vec3,
    store_vec3,
)
from warp_artic.model.families import LINK_SPEED, LINK_SPIN
from warp_artic.model.kinds import FLOATING
from warp_artic.phases.integrate import find_asleep
from warp_artic.phases.step_accelerations import report_accelerations
from warp_artic.phases.transmitted_forces import load_links, transmit_loads


@wp.func
def report_incoming_forces(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    forces: ForceArrays,
    column: int,
    slot: int,
    h: Real,
    substep: int,
    substeps: int,
    in_world: int,
):
    """Write the forces and the accelerations of a step, or add those of a further substep of length h.

    They are zero where an environment stops; a tree that sleeps has no acceleration, and they are what holds it.
    """
    one = real(1.0, h)
    zero = one - one
    weight = one / real(float(substeps), h)
    moves = where_positive(state.failure[0, column], zero, one)
    asleep = find_asleep(model, state, column)
    for dof in range(model.dof_count):
        work.u[dof, slot] = where_positive(asleep, zero, (work.v_next[dof, slot] - work.v[dof, slot]) / h)
    g = load_vec3(model.gravity, 0, column)
    load_links(model, control, work, g, work.u, column, slot)
    report_accelerations(model, work, forces, g, column, slot, substep, weight, moves)
    if model.link_limits > 0:
        take_clamps_off(model, work, column, slot, h)
    transmit_loads(model, work, slot)
    for link in range(model.link_count):
        F = load_vec3(work.force, 3 * link, slot) * weight
        N = load_vec3(work.moment, 3 * link, slot) * weight
        if in_world == 0:
            R_WM = load_mat3(work.R_WM, 9 * link, slot)
            R_JM = load_mat3(model.joint_turn, 9 * link, column)
            F = R_JM * transpose_mul(R_WM, F)
            N = R_JM * transpose_mul(R_WM, N)
        row = 6 * link
        if model.link_joint[link] == FLOATING:
            F = F * zero
            N = N * zero
        if substep > 0:
            F = F + load_vec3(forces.link_incoming_joint_force, row, column)
            N = N + load_vec3(forces.link_incoming_joint_force, row + 3, column)
        store_vec3(forces.link_incoming_joint_force, row, column, F)
        store_vec3(forces.link_incoming_joint_force, row + 3, column, N)
        for k in range(6):
            value = forces.link_incoming_joint_force[row + k, column]
            forces.link_incoming_joint_force[row + k, column] = where_positive(moves, value, zero)


@wp.func
def take_clamps_off(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Take what velocity limits push links by off what joints have to transmit to them."""
    for row in range(model.row_count):
        family = model.row_family[row]
        impulse = work.impulse[row, slot]
        if family == LINK_SPEED or family == LINK_SPIN:
            if any_positive(impulse * impulse):
                link = model.row_item[row]
                push = load_vec3(work.direction, 3 * row, slot) * (impulse / h)
                if family == LINK_SPEED:
                    c = load_mat3(work.R_WM, 9 * link, slot) * load_vec3(model.link_center, 3 * link, column)
                    store_vec3(work.force, 3 * link, slot, load_vec3(work.force, 3 * link, slot) - push)
                    push = cross(c, push)
                store_vec3(work.moment, 3 * link, slot, load_vec3(work.moment, 3 * link, slot) - push)

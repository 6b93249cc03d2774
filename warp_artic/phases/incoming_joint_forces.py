"""The force and the torque by its inbound joint on each link over a step, about the origin of the joint frame.

They are in the axes of the child-side joint frame, or of the world, as wanted. They are those of `transmitted_forces`
for the accelerations (v+ - v) / h of the step, with its impacts, where the links are placed; with substeps the mean
over them. What `constraints.outside_forces` leaves out is no force of a joint. Along the axes of a joint they are what
acts there, without the effort that its armature takes. A root that floats has no joint, and no force.
"""

import warp as wp

from warp_artic.math.numbers import Real, add, mul, sub, where_positive  # noqa: F401 (operators)
from warp_artic.math.spatial import transpose_mul
from warp_artic.model.arrays import ForceArrays, ModelArrays, WorkArrays, load_mat3, load_vec3
from warp_artic.model.kinds import FLOATING
from warp_artic.phases.step_accelerations import put_vec3


@wp.func
def report_incoming_forces(
    model: ModelArrays,
    work: WorkArrays,
    forces: ForceArrays,
    block: int,
    worker: int,
    substep: int,
    weight: Real,
    moves: Real,
):
    """Write the forces that joints transmit in a step, or add those of a further substep; zero where `moves` is."""
    for link in range(model.link_count):
        F = load_vec3(work.force, 3 * link, worker) * weight
        N = load_vec3(work.moment, 3 * link, worker) * weight
        if forces.in_world == 0:
            R_WM = load_mat3(work.R_WM, 9 * link, worker)
            R_JM = load_mat3(model.joint_turn, 9 * link, block)
            F = R_JM * transpose_mul(R_WM, F)
            N = R_JM * transpose_mul(R_WM, N)
        if model.link_joint[link] == FLOATING:
            F = F * (weight - weight)
            N = N * (weight - weight)
        put_vec3(forces.link_incoming_joint_force, 6 * link, block, F, substep, moves)
        put_vec3(forces.link_incoming_joint_force, 6 * link + 3, block, N, substep, moves)

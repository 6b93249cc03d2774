"""Accelerations that the forces of the configuration alone give:  vdot = M^-1 (load + sum J^T (m g + external)).

They leave out what velocities cause, the Coriolis, centrifugal and gyroscopic forces, and the drag.
"""

import warp as wp

from warp_artic.math.numbers import add, mul, neg, real, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, WorkArrays, load_mat3, load_vec3, store_vec3
from warp_artic.phases.impulse_response import pass_inward, pass_on
from warp_artic.phases.joint_accelerations import accelerate_base


@wp.func
def set_link_load(model: ModelArrays, control: ControlArrays, work: WorkArrays, link: int, block: int, worker: int):
    """Write the bias force of a link at rest."""
    c = load_mat3(work.R_WM, 9 * link, worker) * load_vec3(model.link_center, 3 * link, block)
    force = load_vec3(model.gravity, 0, block) * (model.link_mass[link, block] * model.link_gravity_scale[link, block])
    force = force + load_vec3(control.link_external_force, 6 * link, block)
    moment = load_vec3(control.link_external_force, 6 * link + 3, block) + cross(c, force)
    store_vec3(work.force, 3 * link, worker, neg(force))
    store_vec3(work.moment, 3 * link, worker, neg(moment))


@wp.func
def accelerate_from_rest(
    model: ModelArrays, control: ControlArrays, work: WorkArrays, vdot: Array, block: int, worker: int
):
    """Write vdot from the factors and `work.load`."""
    zero = real(0.0, work.D_inverse[0, worker])
    for link in range(model.link_count):
        set_link_load(model, control, work, link, block, worker)
    for dof in range(model.root_dofs):
        work.u[dof, worker] = zero
    for dof in range(model.root_dofs, model.dof_count):
        work.u[dof, worker] = work.load[dof, worker]
    for k in range(model.link_count):
        pass_inward(model, work, model.order[model.link_count - 1 - k], worker)
    accelerate_base(model, work, vec3(zero, zero, zero), real(1.0, zero), block, worker)
    pass_on(model, work, vdot, 0, worker)

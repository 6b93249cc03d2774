"""Efforts that given accelerations need:  tau = M vdot + c + g - J^T external,  c of velocities and g of weights.

What each joint transmits, from `transmitted_forces`, along its axes, and armature vdot beside it. Each part has a
weight; without accelerations these are the efforts that compensate the others.
"""

import warp as wp

from warp_artic.math.numbers import add, mul, real  # noqa: F401 (operators)
from warp_artic.model.arrays import Array, ControlArrays, ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.phases.integrate import load_state
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_drag import forget_drag
from warp_artic.phases.transmitted_forces import load_along, load_links, transmit_loads


@wp.func
def find_efforts(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    efforts: Array,
    block: int,
    worker: int,
    with_gravity: int,
    with_velocities: int,
):
    """Write the efforts of all dofs for the accelerations in `work.u`, under the external forces of `control`."""
    g = load_vec3(model.gravity, 0, block)
    load_state(model, state, work, block, worker)
    place_links(model, work, work.position, work.root, work.v, block, worker)
    forget_drag(model, work, worker)
    one = real(1.0, g.x)
    weighing = real(float(with_gravity), g.x)
    moving = real(float(with_velocities), g.x)
    load_links(model, control, work, g * weighing, weighing, moving, one, one, block, worker)
    transmit_loads(model, work, worker)
    for link in range(model.link_count):
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            effort = load_along(model, work, link, dof, worker)
            if dof >= model.root_dofs:
                effort = effort + model.armature[dof - model.root_dofs, block] * work.u[dof, worker]
            efforts[dof, block] = effort

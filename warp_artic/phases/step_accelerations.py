"""The accelerations of a step: (v+ - v) / h of the dofs, with its impacts, and what links have by them.

    a_C = a_M + alpha x c + w x (w x c),   a_M and alpha from those of the dofs, outward
where the links are placed: the classical acceleration of the centre of mass and the angular one, in world axes, as link
velocities are reported; with substeps the mean over them. v+ is what forces and impulses make of v: in smooth motion a
step corrects it afterwards (`solver.history`).
"""

import warp as wp

from warp_artic.math.numbers import Real, Vec3, add, mul, where_positive  # noqa: F401 (operators)
from warp_artic.math.spatial import cross
from warp_artic.model.arrays import Array, ForceArrays, ModelArrays, WorkArrays, load_mat3, load_vec3


@wp.func
def report_accelerations(
    model: ModelArrays,
    work: WorkArrays,
    forces: ForceArrays,
    g: Vec3,
    moving: Real,
    block: int,
    worker: int,
    substep: int,
    weight: Real,
    moves: Real,
):
    """Write the accelerations `work.u` of dofs and those of the links, or add those of a further substep.

    `work.linear` and `work.angular` are those of the links against gravity, and `moving` is the weight of what
    velocities add to them at centres of mass; zero where `moves` is.
    """
    for dof in range(model.dof_count):
        if dof < model.root_dofs:
            put(forces.root_acceleration, dof, block, work.u[dof, worker] * weight, substep, moves)
        else:
            put(forces.joint_acceleration, dof - model.root_dofs, block, work.u[dof, worker] * weight, substep, moves)
    for link in range(model.link_count):
        c = load_mat3(work.R_WM, 9 * link, worker) * load_vec3(model.link_center, 3 * link, block)
        w = load_vec3(work.w, 3 * link, worker)
        angular = load_vec3(work.angular, 3 * link, worker)
        linear = load_vec3(work.linear, 3 * link, worker) + g + cross(angular, c) + cross(w, cross(w, c)) * moving
        put_vec3(forces.link_acceleration, 6 * link, block, linear * weight, substep, moves)
        put_vec3(forces.link_acceleration, 6 * link + 3, block, angular * weight, substep, moves)


@wp.func
def put(values: Array, row: int, block: int, value: Real, substep: int, moves: Real):
    """Write the part of a substep in the mean over them, or add it; zero where `moves` is."""
    if substep > 0:
        value = value + values[row, block]
    values[row, block] = where_positive(moves, value, moves)


@wp.func
def put_vec3(values: Array, row: int, block: int, v: Vec3, substep: int, moves: Real):
    """The same for a vector."""
    put(values, row, block, v.x, substep, moves)
    put(values, row + 1, block, v.y, substep, moves)
    put(values, row + 2, block, v.z, substep, moves)

"""Velocity limits of links:  |v_C| <= v_max of the centre of mass, and |w| <= w_max; the law is in `speed_limit`.

The impulse is that of a force on the centre of mass of the link, or of a torque on it, in which the tree shares. PhysX
instead gives each link the force that would slow it if it were alone.
"""

import warp as wp

from warp_artic.constraints.rows import set_jacobian_entry
from warp_artic.math.numbers import Vec3, add, mul, real  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, dot
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3
from warp_artic.model.base import BASE_ANGULAR, BASE_LINEAR
from warp_artic.phases.link_velocities import move_base, move_link
from warp_artic.phases.point_motion import point_motion

LINK_SPEED_ORDER = wp.constant(400)
LINK_SPIN_ORDER = wp.constant(401)
"""Of the families, in kernels."""


@wp.func
def motion_of(model: ModelArrays, work: WorkArrays, row: int, dof: int, r: Vec3, worker: int):
    """What a unit velocity of a dof gives: the angular velocity, or the velocity of the point at r from the dof."""
    if model.row_family[row] == LINK_SPIN_ORDER:
        axis = load_vec3(work.axis, 3 * dof, worker)
        if model.dof_is_linear[dof] == 1:
            return axis * real(0.0, r.x)
        return axis
    return point_motion(model, work, dof, r, worker)


@wp.func
def center_of(model: ModelArrays, work: WorkArrays, link: int, block: int, worker: int):
    """From the origin of a link to its centre of mass."""
    return load_mat3(work.R_WM, 9 * link, worker) * load_vec3(model.link_center, 3 * link, block)


@wp.func
def move_all_links(model: ModelArrays, work: WorkArrays, rates: Array, block: int, worker: int):
    """Write the angular and linear velocities that links have with rates of the dofs, outward."""
    move_base(model, work, block, worker)
    for k in range(model.link_count):
        move_link(model, work, rates, model.order[k], worker)


@wp.func
def link_motion(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """w or v_C of the link of a row, from `move_all_links`."""
    link = model.row_item[row]
    angular = load_vec3(work.angular, 3 * link, worker)
    if model.row_family[row] == LINK_SPIN_ORDER:
        return angular
    return load_vec3(work.linear, 3 * link, worker) + cross(angular, center_of(model, work, link, block, worker))


@wp.func
def base_motion(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """The part of `link_motion` that is not J v: what the body that carries the tree gives to its link."""
    w = load_vec3(model.base, BASE_ANGULAR, block)
    if model.row_family[row] == LINK_SPIN_ORDER:
        return w
    link = model.row_item[row]
    r = center_of(model, work, link, block, worker)
    while link < model.link_count:
        r = r + load_vec3(work.p_PM, 3 * link, worker)
        link = model.link_parent[link]
    return load_vec3(model.base, BASE_LINEAR, block) + cross(w, r)


@wp.func
def set_link_limit_jacobian(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, d: Vec3):
    """Write d^T J of the link of a row; the terms of the row are the dofs from its link inward."""
    link = model.row_item[row]
    r = center_of(model, work, link, block, worker)
    term = model.row_term[row]
    while link < model.link_count:
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            set_jacobian_entry(work, term, worker, dot(d, motion_of(model, work, row, dof, r, worker)))
            term += 1
        r = r + load_vec3(work.p_PM, 3 * link, worker)
        link = model.link_parent[link]

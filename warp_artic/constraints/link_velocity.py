"""Velocity limits of links:  |v_C| <= v_max of the centre of mass, and |w| <= w_max.

A link that would be faster without constraints is slowed by an impulse against its motion, with the direction d of
that motion:  d . v_C+ <= v_max,  J = d^T J_C.  The impulse is that of a force on the link, in which the tree shares. It
only takes energy; what it turns the motion by is left for the next step.
PhysX instead gives each link the force that would slow it if it were alone.
"""

import warp as wp

from warp_artic.constraints.rows import forget_response, set_coefficient, set_unbounded, set_window
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    add,
    any_positive,
    div,
    mul,
    neg,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.math.spatial import cross, dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_mat3, load_vec3, store_vec3
from warp_artic.model.families import LINK_SPIN
from warp_artic.phases.link_velocities import move_base, move_link


@wp.func
def motion_of(model: ModelArrays, work: WorkArrays, row: int, dof: int, r: Vec3, slot: int):
    """What a unit velocity of a dof gives: the angular velocity, or the velocity of the point at r from the dof."""
    axis = load_vec3(work.axis, 3 * dof, slot)
    is_linear = model.dof_is_linear[dof] == 1
    if model.row_family[row] == LINK_SPIN:
        if is_linear:
            return axis * real(0.0, r.x)
        return axis
    if is_linear:
        return axis
    return cross(axis, r)


@wp.func
def center_of(model: ModelArrays, work: WorkArrays, link: int, column: int, slot: int):
    """From the origin of a link to its centre of mass."""
    return load_mat3(work.R_WM, 9 * link, slot) * load_vec3(model.link_center, 3 * link, column)


@wp.func
def find_link_motions(model: ModelArrays, work: WorkArrays, column: int, slot: int):
    """Write the angular and linear velocities that links have without constraints, outward."""
    move_base(model, work, column, slot)
    for k in range(model.link_count):
        move_link(model, work, work.v_next, model.order[k], slot)


@wp.func
def free_motion(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int):
    """The velocity of the link of a row without constraints, from `find_link_motions`."""
    link = model.row_item[row]
    angular = load_vec3(work.angular, 3 * link, slot)
    if model.row_family[row] == LINK_SPIN:
        return angular
    return load_vec3(work.linear, 3 * link, slot) + cross(angular, center_of(model, work, link, column, slot))


@wp.func
def set_direction(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, d: Vec3):
    """Write d and J = d^T J_C; the terms of the row are the dofs from its link inward."""
    store_vec3(work.direction, 3 * row, slot, d)
    link = model.row_item[row]
    r = center_of(model, work, link, column, slot)
    term = model.row_term[row]
    while link < model.link_count:
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            set_coefficient(work, term, slot, dot(d, motion_of(model, work, row, dof, r, slot)))
            term += 1
        r = r + load_vec3(work.p_PM, 3 * link, slot)
        link = model.link_parent[link]
    forget_response(model, work, row, slot)


@wp.func
def set_link_velocity_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of a velocity limit of a link, linear or angular; it allows every velocity of a slower link."""
    zero = real(0.0, h)
    one = real(1.0, h)
    infinite = one / zero
    link = model.row_item[row]
    fastest = model.link_max_linear_velocity[link, column]
    if model.row_family[row] == LINK_SPIN:
        fastest = model.link_max_angular_velocity[link, column]
    motion = free_motion(model, work, row, column, slot)
    excess = dot(motion, motion) - fastest * fastest
    set_window(work, row, slot, neg(infinite), where_positive(excess, fastest, infinite))
    if any_positive(excess):
        speed = sqrt(dot(motion, motion))
        set_direction(model, work, row, column, slot, motion * (one / where_positive(speed, speed, one)))
    work.compliance[row, slot] = zero
    set_unbounded(work, row, slot, h)

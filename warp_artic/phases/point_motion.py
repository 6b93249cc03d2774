"""How points of links move with the dofs, where the links are placed:  v_x = sum over the dofs inward of motion v.

The motion of a point at r from the origin of the joint frame is  axis x r  of a rotation, the axis of a translation.
"""

import warp as wp

from warp_artic.math.numbers import Vec3, add, mul, sub, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, dot
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3


@wp.func
def point_motion(model: ModelArrays, work: WorkArrays, dof: int, r: Vec3, worker: int):
    """What a unit velocity of a dof gives to a point at r from the origin of the link that it moves [m or m/rad]."""
    axis = load_vec3(work.axis, 3 * dof, worker)
    if model.dof_is_linear[dof] == 1:
        return axis
    return cross(axis, r)


@wp.func
def point_place(work: WorkArrays, link: int, points: Array, point: int, block: int, worker: int):
    """Where a point of a link is in the world [m], for located links; `points` has it in the moving frame."""
    R_WM = load_mat3(work.R_WM, 9 * link, worker)
    return load_vec3(work.p_WM, 3 * link, worker) + R_WM * load_vec3(points, 3 * point, block)


@wp.func
def point_velocity(model: ModelArrays, work: WorkArrays, tip: int, until: int, x: Vec3, rates: Array, worker: int):
    """The velocity [m/s] that rates of the dofs from a link inward give to a point of it; without those of `until`."""
    link = int(tip)
    zero = x.x - x.x
    v = vec3(zero, zero, zero)
    while link != until:
        r = x - load_vec3(work.p_WM, 3 * link, worker)
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            v = v + point_motion(model, work, dof, r, worker) * rates[dof, worker]
        link = model.link_parent[link]
    return v


@wp.func
def point_bias(model: ModelArrays, work: WorkArrays, tip: int, until: int, x: Vec3, worker: int):
    """The acceleration [m/s^2] of a point of a link while vdot is zero, without what is that of the link `until`.

    It is by the velocities that links are placed with: each link inward adds  alpha x (x - p) + a  of
    `phases.kinematics`, and the tip  w x (w x (x - p)).
    """
    link = int(tip)
    w = load_vec3(work.w, 3 * link, worker)
    a = cross(w, cross(w, x - load_vec3(work.p_WM, 3 * link, worker)))
    while link != until:
        r = x - load_vec3(work.p_WM, 3 * link, worker)
        a = a + cross(load_vec3(work.velocity_moment, 3 * link, worker), r)
        a = a + load_vec3(work.velocity_force, 3 * link, worker)
        link = model.link_parent[link]
    return a


@wp.func
def set_point_gradient(
    model: ModelArrays, work: WorkArrays, first_term: int, tip: int, until: int, x: Vec3, along: Vec3, worker: int
):
    """Write J and P: what dofs from a link inward to `until` move x along a vector; returns the next term."""
    link = int(tip)
    term = int(first_term)
    while link != until:
        r = x - load_vec3(work.p_WM, 3 * link, worker)
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            gradient = dot(along, point_motion(model, work, dof, r, worker))
            work.J[term, worker] = gradient
            work.P[term, worker] = gradient
            term += 1
        link = model.link_parent[link]
    return term

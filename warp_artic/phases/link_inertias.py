"""Rigid-body inertias about link origins in world axes, and the forces that velocities, drag and wrenches need.

With c = R_WM p_MC and m c its moment:
    A = R I_C R^T + m (c.c 1 - c c^T),  B = m [c],  M = m 1
    moment = w x A w + drag - external,  force = m w x (w x c) + drag - external.
A share s of gravity that acts on a link in place of all of it is (s - 1) m g beside the external forces, at its centre.
"""

import warp as wp

from warp_artic.math.numbers import Real, Vec3, add, div, mul, neg, real, sub, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, dot, skew, sym_outer, sym_rotate, sym_scalar
from warp_artic.model.arrays import (
    Array,
    ControlArrays,
    ModelArrays,
    WorkArrays,
    load_mat3,
    load_sym3,
    load_vec3,
    store_mat3,
    store_sym3,
    store_vec3,
)


@wp.func
def with_drag(model: ModelArrays, drag: Array, p: Vec3, link: int, worker: int):
    """A force or moment on a link, with drag where the tree has any."""
    if model.link_damping == 1:
        return p + load_vec3(drag, 3 * link, worker)
    return p


@wp.func
def with_scaled_gravity(model: ModelArrays, force: Vec3, g: Vec3, link: int, block: int):
    """A force at the centre of mass of a link, with what the share of gravity differs by from all of it."""
    if model.scales_gravity == 1:
        scale = model.link_gravity_scale[link, block]
        return force + g * (model.link_mass[link, block] * (scale - real(1.0, scale)))
    return force


@wp.func
def set_link_inertias(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int):
    """Write A, B, M, moment and force of every link."""
    g = load_vec3(model.gravity, 0, block)
    for link in range(model.link_count):
        R_WM = load_mat3(work.R_WM, 9 * link, worker)
        w = load_vec3(work.w, 3 * link, worker)
        mass = model.link_mass[link, block]
        c = R_WM * load_vec3(model.link_center, 3 * link, block)
        mc = c * mass
        about_center = sym_rotate(R_WM, load_sym3(model.link_inertia, 6 * link, block))
        A = about_center + sym_scalar(dot(mc, c)) - sym_outer(c) * mass
        external_force = load_vec3(control.link_external_force, 6 * link, block)
        external_force = with_scaled_gravity(model, external_force, g, link, block)
        external_moment = load_vec3(control.link_external_force, 6 * link + 3, block) + cross(c, external_force)
        force = with_drag(model, work.drag_force, cross(w, cross(w, mc)) - external_force, link, worker)
        moment = with_drag(model, work.drag_moment, cross(w, A * w) - external_moment, link, worker)
        store_sym3(work.A, 6 * link, worker, A)
        store_mat3(work.B, 9 * link, worker, skew(mc))
        store_sym3(work.M, 6 * link, worker, sym_scalar(mass))
        store_vec3(work.moment, 3 * link, worker, moment)
        store_vec3(work.force, 3 * link, worker, force)

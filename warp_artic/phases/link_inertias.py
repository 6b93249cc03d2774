"""Rigid-body inertias about link origins in world axes, and the forces that velocities, damping and wrenches need.

With c = R_WM p_MC and m c its moment:
    A = R I_C R^T + m (c.c 1 - c c^T),  B = m [c],  M = m 1
    moment = w x A w - external,  force = m w x (w x c) - external.
Link damping is the implicit step of vdot = -d v for the link alone, which no time step makes unstable:
    d / (1 + h d).
"""

import warp as wp

from warp_artic.math.numbers import Real, add, div, mul, neg, real, sub, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross, dot, skew, sym_outer, sym_rotate, sym_scalar
from warp_artic.model.arrays import (
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
def set_link_inertias(model: ModelArrays, control: ControlArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Write A, B, M, moment and force of every link."""
    one = real(1.0, h)
    for link in range(model.link_count):
        R_WM = load_mat3(work.R_WM, 9 * link, slot)
        w = load_vec3(work.w, 3 * link, slot)
        mass = model.link_mass[link, column]
        c = R_WM * load_vec3(model.link_center, 3 * link, column)
        mc = c * mass
        about_center = sym_rotate(R_WM, load_sym3(model.link_inertia, 6 * link, column))
        A = about_center + sym_scalar(dot(mc, c)) - sym_outer(c) * mass
        external_force = load_vec3(control.link_external_force, 6 * link, column)
        external_moment = load_vec3(control.link_external_force, 6 * link + 3, column) + cross(c, external_force)
        angular_damping = model.link_angular_damping[link, column]
        angular_damping = angular_damping / (one + h * angular_damping)
        force = cross(w, cross(w, mc)) - external_force
        moment = cross(w, A * w) + (about_center * w) * angular_damping - external_moment
        if model.linear_damping == 1:
            linear_damping = model.link_linear_damping[link, column]
            linear_damping = linear_damping / (one + h * linear_damping)
            drag = (load_vec3(work.linear, 3 * link, slot) + cross(w, c)) * (mass * linear_damping)
            force = force + drag
            moment = moment + cross(c, drag)
        store_sym3(work.A, 6 * link, slot, A)
        store_mat3(work.B, 9 * link, slot, skew(mc))
        store_sym3(work.M, 6 * link, slot, sym_scalar(mass))
        store_vec3(work.moment, 3 * link, slot, moment)
        store_vec3(work.force, 3 * link, slot, force)

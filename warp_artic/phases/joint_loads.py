"""Loads of joints: |F| + |N| of what a joint transmits by its locked directions.

F is without its components along slides of the joint, N without those about its rotations, which are what drives,
friction and limits of the joint give. That is so of a joint which is several in a row between massless links too
(`description.massless_links`): all of its axes have the load of the whole, about the origin of its last frame.

The accelerations are those of the step before, with its stops but without its impacts, and zero in the first step of an
environment, where a joint at rest has its static load. Forces of spatial tendons are not counted.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Vec3,
    add,
    div,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import cross, dot
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.phases.transmitted_forces import load_links, transmit_loads


@wp.func
def without(v: Vec3, axis: Vec3):
    """The part of a vector that is normal to an axis of any length."""
    one = real(1.0, v.x)
    square = dot(axis, axis)
    return v - axis * (dot(axis, v) / where_positive(square, square, one))


@wp.func
def locked_part(model: ModelArrays, work: WorkArrays, link: int, worker: int, F: Vec3, N: Vec3):
    """F and N in the locked directions of the joint of a link."""
    first = model.link_dof[link]
    count = model.link_dofs[link]
    axis = load_vec3(work.axis, 3 * first, worker)
    if model.dof_is_linear[first] == 1:
        F = without(F, axis)
    elif count == 1:
        N = without(N, axis)
    elif count == 2:
        locked = cross(axis, load_vec3(work.axis, 3 * (first + 1), worker))
        N = N - without(N, locked)
    else:
        N = N - N
    return F, N


@wp.func
def locked_load(model: ModelArrays, work: WorkArrays, link: int, worker: int):
    """|F| + |N| in the locked directions of the whole joint that moves a link; its slides and rotations are normal to
    each other, or those of one link."""
    end = model.link_joint_end[link]
    F = load_vec3(work.force, 3 * end, worker)
    N = load_vec3(work.moment, 3 * end, worker)
    mover = int(end)
    for _part in range(model.link_joint_parts[link]):
        F, N = locked_part(model, work, mover, worker, F, N)
        mover = model.link_parent[mover]
    return sqrt(dot(F, F)) + sqrt(dot(N, N))


@wp.func
def set_joint_loads(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int
):
    """Write the load of every joint dof to `work.joint_load`, where the links are placed."""
    for dof in range(model.dof_count):
        work.u[dof, worker] = state.smooth_acceleration[dof, block]
    g = load_vec3(model.gravity, 0, block)
    one = real(1.0, g.x)
    load_links(model, control, work, g, one, one, one, one, block, worker)
    transmit_loads(model, work, worker)
    for link in range(model.link_count):
        first = model.link_dof[link]
        if first >= model.root_dofs:
            load = locked_load(model, work, link, worker)
            for dof in range(first, first + model.link_dofs[link]):
                work.joint_load[dof - model.root_dofs, worker] = load

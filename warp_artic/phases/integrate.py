"""Velocities take their new values; positions move on their manifold with a velocity that is constant meanwhile.

An environment whose v+ runs away keeps its last state from then on, and `state.failure` names the first dof (counted
from 1, root dofs first) that did, and the step. The other environments do not notice. Running away means that the cube
of a velocity is not finite, beyond 7e12 m/s in float32: what is reported of the last state is then finite too.
"""

import warp as wp

from warp_artic.joints import floating, prismatic, revolute, spherical, swing
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    add,
    is_finite,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import column as matrix_column  # noqa: F401
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.model.kinds import FLOATING, PRISMATIC, REVOLUTE, SPHERICAL, SWING
from warp_artic.phases.kinematics import signed_triple


@wp.func
def find_failure(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Count the step, and remember it with the first dof whose velocity runs away."""
    failure = state.failure[0, column]
    zero = real(0.0, failure)
    clock = state.clock[0, column] + real(1.0, failure)
    state.clock[0, column] = clock
    for dof in range(model.dof_count):
        v = work.v_next[dof, slot]
        bad = real(1.0, failure) - is_finite(v * v * v) - failure
        failure = where_positive(bad, zero + real(float(dof + 1), failure), failure)
    newly = failure - state.failure[0, column]
    state.failure[0, column] = failure
    state.failure[1, column] = where_positive(newly, clock, state.failure[1, column])


@wp.func
def keep_if_failed(failure: Real, old: Real, new: Real):
    """`old` in columns that have failed, else `new`."""
    return where_positive(failure, old, new)


@wp.func
def set_triple(model: ModelArrays, values: Array, dof: int, item: int, count: int, column: int, v: Array, failed: Real):
    """Write a vector in the axes of M to the positions of a rotational joint, in their public direction."""
    for k in range(count):
        sign = model.dof_sign[item + k, column]
        axis = model.dof_axis[dof + k]
        value = v.x
        if axis == 1:
            value = v.y
        if axis == 2:
            value = v.z
        values[item + k, column] = keep_if_failed(failed, values[item + k, column], value * sign)


@wp.func
def set_velocities(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Replace v by `work.v_next`."""
    failed = state.failure[0, column]
    for dof in range(model.root_dofs):
        state.root_velocity[dof, column] = keep_if_failed(
            failed, state.root_velocity[dof, column], work.v_next[dof, slot]
        )
    for dof in range(model.root_dofs, model.dof_count):
        item = dof - model.root_dofs
        state.joint_velocity[item, column] = keep_if_failed(
            failed, state.joint_velocity[item, column], work.v_next[dof, slot]
        )


@wp.func
def remember_start(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Keep the positions at the start of the step."""
    for item in range(model.dof_count - model.root_dofs):
        work.start_position[item, slot] = state.joint_position[item, column]
    if model.root_dofs > 0:
        for k in range(7):
            work.start_root[k, slot] = state.root_pose[k, column]


@wp.func
def go_back(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Put failed environments back to their positions at the start of the step."""
    failed = state.failure[0, column]
    for item in range(model.dof_count - model.root_dofs):
        q = state.joint_position[item, column]
        state.joint_position[item, column] = keep_if_failed(failed, work.start_position[item, slot], q)
    if model.root_dofs > 0:
        for k in range(7):
            p = state.root_pose[k, column]
            state.root_pose[k, column] = keep_if_failed(failed, work.start_root[k, slot], p)


@wp.func
def set_spans(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Let all joints drift for h."""
    for item in range(model.dof_count - model.root_dofs):
        work.span[item, slot] = h


@wp.func
def drift(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Advance the root by h and each joint by its span, with the velocities of the state."""
    failed = state.failure[0, column]
    for link in range(model.link_count):
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        if kind == REVOLUTE:
            q = state.joint_position[item, column]
            moved = revolute.advance(
                q, state.joint_velocity[item, column], work.span[item, slot], model.wraps[item, column]
            )
            state.joint_position[item, column] = keep_if_failed(failed, q, moved)
        if kind == PRISMATIC:
            q = state.joint_position[item, column]
            moved = prismatic.advance(q, state.joint_velocity[item, column], work.span[item, slot])
            state.joint_position[item, column] = keep_if_failed(failed, q, moved)
        if kind == SPHERICAL:
            phi = signed_triple(model, state.joint_position, dof, item, 3, column)
            v = signed_triple(model, state.joint_velocity, dof, item, 3, column)
            phi = spherical.advance(phi, v, work.span[item, slot])
            set_triple(model, state.joint_position, dof, item, 3, column, phi, failed)
        if kind == SWING:
            phi = signed_triple(model, state.joint_position, dof, item, 2, column)
            v = signed_triple(model, state.joint_velocity, dof, item, 2, column)
            a, b = swing.advance(phi.x, phi.y, v.x, v.y, work.span[item, slot])
            phi.x = a
            phi.y = b
            set_triple(model, state.joint_position, dof, item, 2, column, phi, failed)
        if kind == FLOATING:
            integrate_root(model, state, link, column, h, failed)


@wp.func
def integrate_root(model: ModelArrays, state: StateArrays, link: int, column: int, h: Real, failed: Real):
    """Advance the pose of a free root."""
    p_WL = load_vec3(state.root_pose, 0, column)
    x = load_vec3(state.root_pose, 3, column)
    p_LM = load_vec3(model.link_frame, 12 * link + 9, column)
    v_M = load_vec3(state.root_velocity, 0, column)
    w_M = load_vec3(state.root_velocity, 3, column)
    p, z, w = floating.advance(p_WL, x, state.root_pose[6, column], p_LM, v_M, w_M, h)
    state.root_pose[0, column] = keep_if_failed(failed, p_WL.x, p.x)
    state.root_pose[1, column] = keep_if_failed(failed, p_WL.y, p.y)
    state.root_pose[2, column] = keep_if_failed(failed, p_WL.z, p.z)
    state.root_pose[3, column] = keep_if_failed(failed, x.x, z.x)
    state.root_pose[4, column] = keep_if_failed(failed, x.y, z.y)
    state.root_pose[5, column] = keep_if_failed(failed, x.z, z.z)
    state.root_pose[6, column] = keep_if_failed(failed, state.root_pose[6, column], w)

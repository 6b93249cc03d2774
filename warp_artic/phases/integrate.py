"""Positions move on their manifold, first with v, then with v+:
    q+ = q moved by (1 - weight) h v, then by weight h v+,   weight of a joint: the largest of its dofs.

A step loads the state of an environment into the work space and stores it at its end. An environment whose v+ runs away
keeps its last state from then on, and `state.failure` names the first dof (counted from 1, root dofs first) that did,
and the step. So it does where a position is not finite; positions have the numbers from `model.first_position` on, that
of the root first, and numbers between are of values that were given (`phases.given_values`). What was not finite before
the step is named before what came of it. The other environments do not notice. Running away means that the cube of a
velocity is not finite, beyond 7e12 m/s in float32: what is reported of the last state is then finite too. One that
sleeps keeps its state as well.
"""

import warp as wp

from warp_artic.joints import floating, revolute, spherical, swing
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    is_finite,
    maximum,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_exp, quaternion_matrix
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.model.kinds import FLOATING, PRISMATIC, REVOLUTE, SPHERICAL, SWING
from warp_artic.model.roots import pose_row, pose_rows
from warp_artic.phases.kinematics import signed_triple


@wp.func
def load_state(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Copy positions and velocities to the work space."""
    for dof in range(model.root_dofs):
        work.v[dof, worker] = state.root_velocity[dof, block]
    for item in range(model.dof_count - model.root_dofs):
        work.position[item, worker] = state.joint_position[item, block]
        work.v[model.root_dofs + item, worker] = state.joint_velocity[item, block]
    for k in range(pose_rows(model.root_dofs)):
        work.root[k, worker] = state.root_pose[k, block]


@wp.func
def store_state(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Copy positions and velocities back, but not those of environments that have failed or sleep.

    Where one of them is not finite, with a velocity that is, it has failed as well.
    """
    total = sum_differences(model, work, worker)
    if any_positive(real(1.0, total) - is_finite(total) - state.failure[0, block]):
        name_position(model, state, work, block, worker)
    kept = maximum(state.failure[0, block], find_asleep(model, state, block))
    for dof in range(model.root_dofs):
        old = state.root_velocity[dof, block]
        state.root_velocity[dof, block] = where_positive(kept, old, work.v[dof, worker])
    for item in range(model.dof_count - model.root_dofs):
        q = state.joint_position[item, block]
        v = state.joint_velocity[item, block]
        state.joint_position[item, block] = where_positive(kept, q, work.position[item, worker])
        state.joint_velocity[item, block] = where_positive(kept, v, work.v[model.root_dofs + item, worker])
    for k in range(pose_rows(model.root_dofs)):
        old = state.root_pose[k, block]
        state.root_pose[k, block] = where_positive(kept, old, work.root[k, worker])


@wp.func
def sum_differences(model: ModelArrays, work: WorkArrays, worker: int):
    """The sum of x - x for all positions and velocities: zero, or no number where one of them is not finite."""
    total = work.position_weight[0, worker] - work.position_weight[0, worker]
    for dof in range(model.dof_count):
        total = total + (work.v[dof, worker] - work.v[dof, worker])
    for item in range(model.dof_count - model.root_dofs):
        total = total + (work.position[item, worker] - work.position[item, worker])
    for k in range(pose_rows(model.root_dofs)):
        total = total + (work.root[k, worker] - work.root[k, worker])
    return total


@wp.func
def name_position(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Remember the step and the first position or velocity that is not finite."""
    failure = state.failure[0, block]
    one = real(1.0, failure)
    before = failure
    for k in range(pose_rows(model.root_dofs)):
        bad = one - is_finite(work.root[k, worker]) - failure
        failure = where_positive(bad, real(float(model.first_position + k // 7), failure), failure)
    joints = model.first_position + wp.max(model.root_dofs // 6, 1)
    for item in range(model.dof_count - model.root_dofs):
        bad = one - is_finite(work.position[item, worker]) - failure
        failure = where_positive(bad, real(float(joints + item), failure), failure)
    for dof in range(model.dof_count):
        bad = one - is_finite(work.v[dof, worker]) - failure
        failure = where_positive(bad, real(float(dof + 1), failure), failure)
    state.failure[0, block] = failure
    state.failure[1, block] = where_positive(failure - before, state.clock[0, block], state.failure[1, block])


@wp.func
def find_asleep(model: ModelArrays, state: StateArrays, block: int):
    """One where a tree sleeps (`phases.sleep`), zero elsewhere."""
    rest = state.steps_at_rest[0, block]
    one = real(1.0, rest)
    asleep = one - one
    if model.sleep_steps > 0:
        asleep = where_positive(rest + real(0.5, rest) - real(float(model.sleep_steps), rest), one, asleep)
    return asleep


@wp.func
def count_step(state: StateArrays, block: int):
    """Count the step that begins."""
    clock = state.clock[0, block]
    state.clock[0, block] = clock + real(1.0, clock)


@wp.func
def find_failure(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Remember the step and the first dof whose velocity runs away in it."""
    failure = state.failure[0, block]
    zero = real(0.0, failure)
    for dof in range(model.dof_count):
        v = work.v_next[dof, worker]
        bad = real(1.0, failure) - is_finite(v * v * v) - failure
        failure = where_positive(bad, zero + real(float(dof + 1), failure), failure)
    take_failure(model, state, failure, block)


@wp.func
def note_failure(model: ModelArrays, state: StateArrays, block: int, dof: int, found: Real):
    """Stop environments by a dof where what is found of it is no number."""
    failure = state.failure[0, block]
    bad = real(1.0, failure) - is_finite(found) - failure
    take_failure(model, state, where_positive(bad, real(float(dof + 1), failure), failure), block)


@wp.func
def take_failure(model: ModelArrays, state: StateArrays, failure: Real, block: int):
    """Write numbers of failures, and the step of those that are new."""
    newly = failure - state.failure[0, block]
    state.failure[0, block] = failure
    state.failure[1, block] = where_positive(newly, state.clock[0, block], state.failure[1, block])
    if any_positive(newly):
        name_lost_before(model, state, newly, block)


@wp.func
def name_lost_before(model: ModelArrays, state: StateArrays, newly: Real, block: int):
    """Where an environment has just failed, name the first position or velocity that was lost before the step."""
    one = real(1.0, newly)
    found = one - one
    failed = where_positive(newly, one, found)
    for k in range(pose_rows(model.root_dofs)):
        bad = failed - is_finite(state.root_pose[k, block]) - found
        found = where_positive(bad, real(float(model.first_position + k // 7), one), found)
    joints = model.first_position + wp.max(model.root_dofs // 6, 1)
    for item in range(model.dof_count - model.root_dofs):
        bad = failed - is_finite(state.joint_position[item, block]) - found
        found = where_positive(bad, real(float(joints + item), one), found)
    for dof in range(model.root_dofs):
        bad = failed - is_finite(state.root_velocity[dof, block]) - found
        found = where_positive(bad, real(float(dof + 1), one), found)
    for item in range(model.dof_count - model.root_dofs):
        bad = failed - is_finite(state.joint_velocity[item, block]) - found
        found = where_positive(bad, real(float(model.root_dofs + item + 1), one), found)
    state.failure[0, block] = where_positive(found, found, state.failure[0, block])


@wp.func
def joint_share(work: WorkArrays, dof: int, count: int, worker: int, with_v: int):
    """The largest weight of the dofs of a joint; one in a step with v+ alone, a half where there is no dof."""
    one = real(1.0, work.position_weight[0, worker])
    if with_v == 0:
        return one
    if count == 0:
        return real(0.5, one)
    weight = work.dof_weight[dof, worker]
    for k in range(1, count):
        weight = maximum(weight, work.dof_weight[dof + k, worker])
    return weight


@wp.func
def move_dof(
    work: WorkArrays, item: int, dof: int, worker: int, before: Real, after: Real, with_v: int, with_next: int
):
    """The position of the only dof of a joint after a step."""
    q = work.position[item, worker]
    if with_next == 0:
        return q
    if with_v == 0:
        return q + after * work.v_next[dof, worker]
    return q + before * work.v[dof, worker] + after * work.v_next[dof, worker]


@wp.func
def move_joints(
    model: ModelArrays,
    work: WorkArrays,
    positions: Array,
    root: Array,
    block: int,
    worker: int,
    h: Real,
    with_v: int,
    with_next: int,
):
    """Write positions after a step with v and v+, one with v+ alone, or none with neither."""
    for link in range(model.link_count):
        kind = model.link_joint[link]
        dof = model.link_dof[link]
        item = dof - model.root_dofs
        after = h * joint_share(work, dof, model.link_dofs[link], worker, with_v)
        before = h - after
        if kind == REVOLUTE:
            q = move_dof(work, item, dof, worker, before, after, with_v, with_next)
            positions[item, worker] = revolute.wrap(q, model.wraps[item, block])
        if kind == PRISMATIC:
            positions[item, worker] = move_dof(work, item, dof, worker, before, after, with_v, with_next)
        if kind == SPHERICAL:
            phi = signed_triple(model, work.position, item, dof, 3, block, worker)
            if with_v == 1:
                phi = spherical.advance(phi, signed_triple(model, work.v, dof, dof, 3, block, worker), before)
            if with_next == 1:
                if with_v == 1:
                    turn_late(model, work, dof, block, worker, after - h * real(0.5, h))
                phi = spherical.advance(phi, signed_triple(model, work.v_next, dof, dof, 3, block, worker), after)
                phi = spherical.wrap(phi, model.wraps[item, block])
            set_triple(model, positions, item, dof, 3, block, worker, phi)
        if kind == SWING:
            phi = signed_triple(model, work.position, item, dof, 2, block, worker)
            if with_v == 1:
                phi = move_swing(phi, signed_triple(model, work.v, dof, dof, 2, block, worker), before)
            if with_next == 1:
                phi = move_swing(phi, signed_triple(model, work.v_next, dof, dof, 2, block, worker), after)
            set_triple(model, positions, item, dof, 2, block, worker, phi)
        if kind == FLOATING:
            row = pose_row(dof)
            p_LM = load_vec3(model.link_frame, 12 * link + 9, block)
            p = load_vec3(work.root, row, worker)
            x = load_vec3(work.root, row + 3, worker)
            w = work.root[row + 6, worker]
            if with_v == 1:
                v_M = load_vec3(work.v, dof, worker)
                p, x, w = floating.advance(p, x, w, p_LM, v_M, load_vec3(work.v, dof + 3, worker), before)
            if with_next == 1:
                v_M = load_vec3(work.v_next, dof, worker)
                p, x, w = floating.advance(p, x, w, p_LM, v_M, load_vec3(work.v_next, dof + 3, worker), after)
            store_vec3(root, row, worker, p)
            store_vec3(root, row + 3, worker, x)
            root[row + 6, worker] = w


@wp.func
def displace_block(model: ModelArrays, state: StateArrays, work: WorkArrays, path: Array, block: int, worker: int):
    """Move the positions of a state by what is given for each dof, without velocity; where nothing is, they stay."""
    load_state(model, state, work, block, worker)
    if displace(model, work, path, block, worker):
        store_state(model, state, work, block, worker)


@wp.func
def displace(model: ModelArrays, work: WorkArrays, path: Array, block: int, worker: int):
    """Move positions by what is given for each dof, where anything is; says whether it is anywhere."""
    one = real(1.0, model.gravity[0, block])
    moves = one - one
    for dof in range(model.dof_count):
        work.v_next[dof, worker] = path[dof, block]
        moves = maximum(moves, absolute(path[dof, block]))
    if any_positive(moves):
        move_joints(model, work, work.end_position, work.end_root, block, worker, one, 0, 1)
        for item in range(model.dof_count - model.root_dofs):
            q = work.position[item, worker]
            work.position[item, worker] = where_positive(moves, work.end_position[item, worker], q)
        for k in range(pose_rows(model.root_dofs)):
            work.root[k, worker] = where_positive(moves, work.end_root[k, worker], work.root[k, worker])
    return any_positive(moves)


@wp.func
def move_swing(phi: Vec3, v: Vec3, h: Real):
    """The rotation vector of two free rotations after h."""
    a, b = swing.advance(phi.x, phi.y, v.x, v.y, h)
    return vec3(a, b, phi.z)


@wp.func
def turn_swings_round(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Give joints of two free rotations that have passed half a turn, and are not followed, those of the other side.

    These coordinates are of the same poses and velocities, and so is the acceleration; how it changed is forgotten.
    But armatures along two axes that are not equal have another energy for the mirror image: writes where that is so
    for each island to `work.armature_change`.
    """
    zero = real(0.0, model.armature[0, block])
    for island in range(model.island_count):
        work.armature_change[island, worker] = zero
    for link in range(model.link_count):
        if model.link_joint[link] == SWING:
            dof = model.link_dof[link]
            phi = signed_triple(model, work.position, dof - model.root_dofs, dof, 2, block, worker)
            if any_positive(swing.beyond(phi.x, phi.y, model.wraps[dof - model.root_dofs, block])):
                turn_swing_round(model, state, work, dof, block, worker, phi)
                uneven = unevenness(model, dof - model.root_dofs, block, phi)
                island = model.dof_island[dof]
                work.armature_change[island, worker] = maximum(work.armature_change[island, worker], uneven)


@wp.func
def unevenness(model: ModelArrays, item: int, block: int, phi: Vec3):
    """How far armatures along the axes of two free rotations differ, where these have passed half a turn."""
    beyond = swing.beyond(phi.x, phi.y, model.wraps[item, block])
    differs = absolute(model.armature[item, block] - model.armature[item + 1, block])
    return where_positive(beyond, differs, differs - differs)


@wp.func
def turn_swing_round(
    model: ModelArrays, state: StateArrays, work: WorkArrays, dof: int, block: int, worker: int, phi: Vec3
):
    """The same for the joint whose first dof is given, where it has passed half a turn."""
    zero = phi.z
    beyond = swing.beyond(phi.x, phi.y, model.wraps[dof - model.root_dofs, block])
    v = signed_triple(model, work.v, dof, dof, 2, block, worker)
    vdot = signed_triple(model, state.smooth_acceleration, dof, dof, 2, block, block)
    a, b = swing.turn_round(phi.x, phi.y)
    w_1, w_2 = swing.mirror(phi.x, phi.y, v.x, v.y)
    w_1dot, w_2dot = swing.mirror_rate(phi.x, phi.y, v.x, v.y, vdot.x, vdot.y)
    turned = vec3(where_positive(beyond, a, phi.x), where_positive(beyond, b, phi.y), zero)
    set_triple(model, work.position, dof - model.root_dofs, dof, 2, block, worker, turned)
    turned = vec3(where_positive(beyond, w_1, v.x), where_positive(beyond, w_2, v.y), zero)
    set_triple(model, work.v, dof, dof, 2, block, worker, turned)
    turned = vec3(where_positive(beyond, w_1dot, vdot.x), where_positive(beyond, w_2dot, vdot.y), zero)
    set_triple(model, state.smooth_acceleration, dof, dof, 2, block, block, turned)
    island = model.dof_island[dof]
    for k in range(2 * island, 2 * island + 2):
        state.smoothness[k, block] = where_positive(beyond, zero, state.smoothness[k, block])


@wp.func
def set_triple(model: ModelArrays, values: Array, row: int, dof: int, count: int, block: int, worker: int, v: Vec3):
    """Write a vector in the axes of M to the rows from `row` on, in the public direction of the joint."""
    for k in range(count):
        axis = model.dof_axis[dof + k]
        value = v.x
        if axis == 1:
            value = v.y
        if axis == 2:
            value = v.z
        values[row + k, worker] = value * model.dof_sign[dof - model.root_dofs + k, block]


@wp.func
def turn_late(model: ModelArrays, work: WorkArrays, dof: int, block: int, worker: int, late: Real):
    """Give v+ of a ball joint, which is in the axes of the middle, in those that M has where it takes v+ up.

    With a weight above a half that is earlier, by `late`, than the middle; below, later.
    """
    if any_positive(absolute(late)):
        x, w = quaternion_exp(signed_triple(model, work.v, dof, dof, 3, block, worker) * late)
        turned = quaternion_matrix(x, w) * signed_triple(model, work.v_next, dof, dof, 3, block, worker)
        set_triple(model, work.v_next, dof, dof, 3, block, worker, turned)


@wp.func
def turn_rates(model: ModelArrays, work: WorkArrays, rates: Array, count: int, block: int, worker: int, h: Real):
    """Give `count` tables of rates, which belong to the pose a step before, in the axes M has now.

    That is exp(- h v) of them, in ball joints.
    """
    for link in range(model.link_count):
        if model.link_joint[link] == SPHERICAL:
            dof = model.link_dof[link]
            v = signed_triple(model, work.v, dof, dof, 3, block, worker)
            x, w = quaternion_exp(v * neg(h))
            R = quaternion_matrix(x, w)
            for table in range(count):
                row = table * model.dof_count + dof
                turned = R * signed_triple(model, rates, row, dof, 3, block, worker)
                set_triple(model, rates, row, dof, 3, block, worker, turned)

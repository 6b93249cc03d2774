"""Continuous collision detection: how bodies move in a step once contacts act, and what they come to touch by that.

Contacts are found where bodies are at the start of a step, and are speculative: those whose gap may close in the step
at the velocities of the start take part. A body that is hit moves otherwise. Once impulses are known, its motion in
the step is predicted anew. Where that differs from each earlier prediction by more than the contact offset and by more
than TOLERATED_OVERLAP, or where the body turns by more than LARGE_TURN, contacts are found again: with the predicted
velocities, and at the predicted pose at the end of the step. If there are new ones, impulses of their islands are
found again. Links of mechanisms with joints do not cause this: where they end up is not known well enough before the
step.

A contact at the end of the step, with an overlap that the predicted motion has made, takes part at the start, with J
there and the mean velocities u of the prediction, with the gap
    g = gap at the end - h J_n u, but no less than zero.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.collision.kinds import CAPSULE, CONE, CYLINDER, SPHERE
from warp_artic.collision.places import UNUSED
from warp_artic.constraints.contact_detection import FAST_SPIN
from warp_artic.islands.arrays import island_types
from warp_artic.kernels.launch import OPTIONS

MAX_PREDICTIONS = 3
"""Predictions of a step, at most, beside the velocities at its start."""
TOLERATED_OVERLAP = wp.constant(0.02)
"""Overlap at the end of a predicted motion that is ignored, as a share of the half thickness of a collider."""
LARGE_TURN = wp.constant(0.05)
"""Rotation of a body in a step from which on other features of it may come to touch [rad]."""


@cache
def prediction_functions(precision: str) -> SimpleNamespace:
    """The struct `Contact`, and functions of points, from `velocity_at` on."""
    types = island_types(precision)
    T, V, M, Colliders, Bodies = types.T, types.V, types.M, types.Colliders, types.Bodies

    @wp.struct
    class Contact:
        """A contact point that may take part."""

        x: wp.vec3d  # [m]
        n: V
        gap: T  # [m]; UNUSED: it does not take part

    @wp.func
    def rotated(turn: V):
        """The rotation matrix of a rotation vector."""
        angle = wp.length(turn)
        axis = V(T(1.0), T(0.0), T(0.0))
        if angle > T(0.0):
            axis = turn / angle
        return wp.quat_to_matrix(wp.quat_from_axis_angle(axis, angle))

    @wp.func
    def arm_at(bodies: Bodies, b: int, x: wp.vec3d, lead: T):
        """From the centre of mass of a body, a time after the start of the step, to a point."""
        arm = x - bodies.center[b]
        return V(T(arm[0]), T(arm[1]), T(arm[2])) - bodies.linear[b] * lead

    @wp.func
    def velocity_at(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, lead: T):
        """Velocity of a point of a collider, where it is after a time, with the velocities of the start of the step."""
        body = colliders.body[i]
        v = V()
        if body >= 0:
            b = env * bodies.count + body
            v = bodies.linear[b] + wp.cross(bodies.angular[b], arm_at(bodies, b, x, lead))
        return v

    @wp.func
    def moved_pose(
        bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, R: M, linear: V, angular: V, t: T
    ):
        """Position of a point, and axes, of a collider after a time with the velocities of its body."""
        body = colliders.body[i]
        if body >= 0:
            b = env * bodies.count + body
            turn = rotated(angular * t)
            arm = x - bodies.center[b]
            x = bodies.center[b] + wp.vec3d(linear * t + turn * V(T(arm[0]), T(arm[1]), T(arm[2])))
            R = turn * R
        return x, R

    @wp.func
    def pose_ahead(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, R: M, lead: T):
        """The same with those of the start of the step."""
        body = colliders.body[i]
        if body >= 0 and lead > T(0.0):
            b = env * bodies.count + body
            x, R = moved_pose(bodies, colliders, env, i, x, R, bodies.linear[b], bodies.angular[b], lead)
        return x, R

    @wp.func
    def spin_of(bodies: Bodies, colliders: Colliders, env: int, i: int, w: V):
        """The part of an angular velocity about the axis of a round collider; a ball turns about any axis.

        Turning like that does not move such a surface along its normals.
        """
        spin = V()
        body = colliders.body[i]
        kind = colliders.kind[i]
        if body >= 0 and kind == SPHERE:
            spin = w
        elif body >= 0 and (kind == CAPSULE or kind == CYLINDER or kind == CONE):
            axis = bodies.axes[env * bodies.count + body] * (colliders.axes[i] * V(T(0.0), T(0.0), T(1.0)))
            spin = axis * wp.dot(axis, w)
        return spin

    @wp.func
    def fast_spin_of(bodies: Bodies, colliders: Colliders, env: int, i: int, w: V, h: T):
        """The same of a cylinder or cone that turns far by it in a step h."""
        spin = V()
        if colliders.kind[i] == CYLINDER or colliders.kind[i] == CONE:
            spin = spin_of(bodies, colliders, env, i, w)
            if wp.length_sq(spin) * h * h <= T(FAST_SPIN):
                spin = V()
        return spin

    @wp.func
    def rolling_at(bodies: Bodies, colliders: Colliders, env: int, i: int, spin: V, x: wp.vec3d, lead: T):
        """Velocity of a point of a collider, where it is after a time, by such a spin."""
        v = V()
        if wp.length_sq(spin) > T(0.0):
            b = env * bodies.count + colliders.body[i]
            R = bodies.axes[b]
            at = colliders.position[i]
            place = bodies.position[b] + wp.vec3d(R * V(T(at[0]), T(at[1]), T(at[2])))
            place, R = pose_ahead(bodies, colliders, env, i, place, R, lead)
            arm = x - place
            v = wp.cross(spin, V(T(arm[0]), T(arm[1]), T(arm[2])))
        return v

    @wp.func
    def angular_of(bodies: Bodies, colliders: Colliders, env: int, i: int):
        """Angular velocity of a collider at the start of the step."""
        w = V()
        if colliders.body[i] >= 0:
            w = bodies.angular[env * bodies.count + colliders.body[i]]
        return w

    @wp.func
    def roll(bodies: Bodies, colliders: Colliders, env: int, i: int, j: int, x: wp.vec3d, n: V, h: T, lead: T):
        """What fast spins of two colliders at the start of the step seem to close of a gap at x, and do not."""
        spin_0 = fast_spin_of(bodies, colliders, env, i, angular_of(bodies, colliders, env, i), h)
        spin_1 = fast_spin_of(bodies, colliders, env, j, angular_of(bodies, colliders, env, j), h)
        v_0 = rolling_at(bodies, colliders, env, i, spin_0, x, lead)
        v_1 = rolling_at(bodies, colliders, env, j, spin_1, x, lead)
        return wp.dot(n, v_0 - v_1)

    @wp.func
    def predicted_velocity(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, prediction: int):
        """Predicted mean velocity of a point of a collider in a step, without that of its spin."""
        body = colliders.body[i]
        v = V()
        if body >= 0:
            b = env * bodies.count + body
            arm = x - bodies.center[b]
            w = bodies.predicted_angular[prediction, b]
            v = bodies.predicted_linear[prediction, b] + wp.cross(w, V(T(arm[0]), T(arm[1]), T(arm[2])))
            v -= rolling_at(bodies, colliders, env, i, spin_of(bodies, colliders, env, i, w), x, T(0.0))
        return v

    @wp.func
    def tolerated_overlap(colliders: Colliders, i: int, j: int):
        return T(TOLERATED_OVERLAP) * wp.min(colliders.thickness[i], colliders.thickness[j])

    @wp.func
    def closing(colliders: Colliders, bodies: Bodies, env: int, i: int, j: int, found: Contact, h: T, lead: T):
        """How fast a gap that is found after a time closes, at the velocities of the start of the step."""
        v = velocity_at(bodies, colliders, env, i, found.x, lead) - velocity_at(
            bodies, colliders, env, j, found.x, lead
        )
        return wp.dot(found.n, v) - roll(bodies, colliders, env, i, j, found.x, found.n, h, lead)

    @wp.func
    def may_close(colliders: Colliders, bodies: Bodies, env: int, i: int, j: int, found: Contact, closing: T, h: T):
        """Whether a gap is below the contact offsets, or may close in the step at the start or a predicted velocity."""
        x = found.x
        n = found.n
        may = found.gap < colliders.contact_offset[i] + colliders.contact_offset[j] + h * wp.max(closing, T(0.0))
        least = found.gap - colliders.rest_offset[i] - colliders.rest_offset[j] + tolerated_overlap(colliders, i, j)
        for prediction in range(bodies.prediction_count[env]):
            along = predicted_velocity(bodies, colliders, env, i, x, prediction)
            along -= predicted_velocity(bodies, colliders, env, j, x, prediction)
            may = may or least < h * wp.dot(n, along)
        return may

    @wp.func
    def predicted_pose(
        bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, R: M, h: T, prediction: int
    ):
        """Predicted position of a point, and axes, of a collider after a time."""
        body = colliders.body[i]
        if body >= 0:
            b = env * bodies.count + body
            linear, angular = bodies.predicted_linear[prediction, b], bodies.predicted_angular[prediction, b]
            x, R = moved_pose(bodies, colliders, env, i, x, R, linear, angular, h)
        return x, R

    @wp.func
    def half_displacement(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, h: T, prediction: int):
        """Half of the predicted displacement of a point that ends at x, and 1 for a collider that moves, else 0."""
        body = colliders.body[i]
        half = V()
        moves = T(0.0)
        if body >= 0:
            b = env * bodies.count + body
            moved = bodies.predicted_linear[prediction, b] * h
            end = x - bodies.center[b] - wp.vec3d(moved)
            arm = V(T(end[0]), T(end[1]), T(end[2]))
            w = bodies.predicted_angular[prediction, b]
            w -= spin_of(bodies, colliders, env, i, w)
            half = T(0.5) * (moved + arm - wp.transpose(rotated(w * h)) * arm)
            moves = T(1.0)
        return half, moves

    @wp.func
    def at_start(colliders: Colliders, bodies: Bodies, env: int, i: int, j: int, end: Contact, h: T, prediction: int):
        """A contact at the end of the predicted motion, as one at the start of the step."""
        half_0, moves_0 = half_displacement(bodies, colliders, env, i, end.x, h, prediction)
        half_1, moves_1 = half_displacement(bodies, colliders, env, j, end.x, h, prediction)
        x = end.x - wp.vec3d((half_0 + half_1) / wp.max(moves_0 + moves_1, T(1.0)))
        v_0 = predicted_velocity(bodies, colliders, env, i, x, prediction)
        v_1 = predicted_velocity(bodies, colliders, env, j, x, prediction)
        approach = h * wp.dot(end.n, v_0 - v_1)
        rest = colliders.rest_offset[i] + colliders.rest_offset[j]
        deep = tolerated_overlap(colliders, i, j)
        gap = T(UNUSED)
        if end.gap < rest - deep and approach > deep:
            gap = wp.max(end.gap + approach, rest)
        return Contact(x, end.n, gap)

    @wp.func
    def has_no_joints(bodies: Bodies, colliders: Colliders, i: int):
        body = colliders.body[i]
        return body < 0 or bodies.jacobian[wp.max(body, 0)] < 0

    @wp.func
    def are_free(bodies: Bodies, colliders: Colliders, i: int, j: int):
        return has_no_joints(bodies, colliders, i) and has_no_joints(bodies, colliders, j)

    @wp.func
    def is_deflected(bodies: Bodies, colliders: Colliders, env: int, i: int):
        body = colliders.body[i]
        return body >= 0 and bodies.is_deflected[env * bodies.count + wp.max(body, 0)] == 1

    @wp.func
    def prediction_count(bodies: Bodies, colliders: Colliders, env: int, i: int, j: int):
        """At how many predicted poses contacts of two colliders are found."""
        if are_free(bodies, colliders, i, j) and (
            is_deflected(bodies, colliders, env, i) or is_deflected(bodies, colliders, env, j)
        ):
            return bodies.prediction_count[env]
        return int(0)

    return SimpleNamespace(
        Contact=Contact,
        velocity_at=velocity_at,
        angular_of=angular_of,
        arm_at=arm_at,
        roll=roll,
        closing=closing,
        may_close=may_close,
        are_free=are_free,
        pose_ahead=pose_ahead,
        rotated=rotated,
        pose=predicted_pose,
        at_start=at_start,
        count=prediction_count,
    )


@cache
def prediction_kernel(precision: str) -> wp.Kernel:
    """Predict the mean velocities of bodies in a step, and tell in which environments contacts are found again."""
    types = island_types(precision)
    T, V, Bodies, Mechanisms = types.T, types.V, types.Bodies, types.Mechanisms

    @wp.func
    def mean_velocity(mechanisms: Mechanisms, dof: int, h: T):
        """Of a dof, with what contacts add to its displacement."""
        weight = mechanisms.end_weight[dof]
        mean = (T(1.0) - weight) * mechanisms.start[dof] + weight * mechanisms.v[dof]
        return mean + mechanisms.displacement[dof] / h

    @wp.func
    def mean_rate(mechanisms: Mechanisms, env: int, mechanism: int, row: int, h: T):
        """A row of the Jacobian of a link times the mean velocities."""
        first = env * mechanisms.dof_count + mechanisms.first[mechanism]
        total = T(0.0)
        for dof in range(mechanisms.dofs[mechanism]):
            total += mechanisms.jacobian[row + dof] * mean_velocity(mechanisms, first + dof, h)
        return total

    @wp.kernel(**OPTIONS)
    def predict_motion(bodies: Bodies, mechanisms: Mechanisms, h: T, prediction: int):
        env, body = wp.tid()
        b = env * bodies.count + body
        mechanism = bodies.mechanism[body]
        linear = bodies.linear[b]
        angular = bodies.angular[b]
        if mechanism >= 0:
            first = env * mechanisms.dof_count + mechanisms.first[mechanism]
            dofs = mechanisms.dofs[mechanism]
            row = env * mechanisms.jacobian_count + bodies.jacobian[body]
            for axis in range(3):
                if bodies.jacobian[body] < 0:
                    linear[axis] = mean_velocity(mechanisms, first + axis, h)
                    angular[axis] = mean_velocity(mechanisms, first + 3 + axis, h)
                else:
                    linear[axis] = mean_rate(mechanisms, env, mechanism, row + axis * dofs, h)
                    angular[axis] = mean_rate(mechanisms, env, mechanism, row + (3 + axis) * dofs, h)
        bodies.predicted_linear[prediction, b] = linear
        bodies.predicted_angular[prediction, b] = angular
        arm = bodies.center[b] - bodies.position[b]
        reach = bodies.radius[body] + wp.length(V(T(arm[0]), T(arm[1]), T(arm[2])))
        change = wp.length(linear - bodies.linear[b]) + wp.length(angular - bodies.angular[b]) * reach
        for earlier in range(prediction):
            shift = wp.length(linear - bodies.predicted_linear[earlier, b])
            change = wp.min(change, shift + wp.length(angular - bodies.predicted_angular[earlier, b]) * reach)
        turns = wp.length(angular) * h > T(LARGE_TURN) and bodies.is_aspherical[body] == 1 and prediction == 0
        if mechanism >= 0 and bodies.jacobian[body] < 0 and (change * h > bodies.motion_tolerance[body] or turns):
            bodies.prediction_count[env] = prediction + 1
            bodies.is_deflected[b] = 1

    return predict_motion

"""How bodies move in a step once contacts act, and whether that leads to contacts that were not looked for.

Contacts are looked for where bodies are at the start of a step, with the velocities that they have there. A body that
is hit moves otherwise. Where its motion in the step, its way, differs from all those by which contacts were looked
for, by more than the gap at which contacts are looked at anyway and by more than OVERLAPS, or where it turns by more
than TURN, contacts are looked for again: by that way, and at its end. If there are new ones, impulses of their
islands are found again. Links of mechanisms with joints do not cause this: where they end up is not known well enough
before the step.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.islands.arrays import island_types
from warp_artic.kernels.launch import OPTIONS

MOST_LOOKS = 3
"""Ways by which contacts are looked for beside that of the velocities before a step, at most."""
OVERLAPS = wp.constant(0.02)
"""Part of the half thickness of a collider by which it may overlap at the end of a way without being looked at."""
TURN = wp.constant(0.05)
"""Rotation of a body in a step from which on other features of it may come to touch [rad]."""


@cache
def way_functions(precision: str) -> SimpleNamespace:
    """The functions `velocity`, of a point by a way, `end` and `half`, of the way itself, and `of_pair`."""
    types = island_types(precision)
    T, V, M, Colliders, Bodies = types.T, types.V, types.M, types.Colliders, types.Bodies

    @wp.func
    def turned(turn: V):
        """The rotation matrix of a rotation vector."""
        angle = wp.length(turn)
        axis = V(T(1.0), T(0.0), T(0.0))
        if angle > T(0.0):
            axis = turn / angle
        return wp.quat_to_matrix(wp.quat_from_axis_angle(axis, angle))

    @wp.func
    def velocity_along(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, look: int):
        """Mean velocity of a point of a collider by a way in the step."""
        body = colliders.body[i]
        v = V()
        if body >= 0:
            b = env * bodies.count + body
            arm = x - bodies.center[b]
            turn = wp.cross(bodies.path_angular[look, b], V(T(arm[0]), T(arm[1]), T(arm[2])))
            v = bodies.path_linear[look, b] + turn
        return v

    @wp.func
    def end_of_way(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, R: M, h: T, look: int):
        """Where a point and the axes of a collider get to by a way in a time."""
        body = colliders.body[i]
        if body >= 0:
            b = env * bodies.count + body
            turn = turned(bodies.path_angular[look, b] * h)
            arm = x - bodies.center[b]
            x = bodies.center[b] + wp.vec3d(bodies.path_linear[look, b] * h + turn * V(T(arm[0]), T(arm[1]), T(arm[2])))
            R = turn * R
        return x, R

    @wp.func
    def half_of_way(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, h: T, look: int):
        """Half of how far a point that ends at x has come by a way, and 1 for a collider that moves, else 0."""
        body = colliders.body[i]
        half = V()
        moves = T(0.0)
        if body >= 0:
            b = env * bodies.count + body
            way = bodies.path_linear[look, b] * h
            end = x - bodies.center[b] - wp.vec3d(way)
            arm = V(T(end[0]), T(end[1]), T(end[2]))
            half = T(0.5) * (way + arm - wp.transpose(turned(bodies.path_angular[look, b] * h)) * arm)
            moves = T(1.0)
        return half, moves

    @wp.func
    def is_known_well(bodies: Bodies, colliders: Colliders, i: int):
        """Whether the end of a way is: of colliders that no joints move."""
        body = colliders.body[i]
        return body < 0 or bodies.jacobian[wp.max(body, 0)] < 0

    @wp.func
    def is_looked_at(bodies: Bodies, colliders: Colliders, env: int, i: int):
        """Whether a collider is on a body whose ways are looked at."""
        body = colliders.body[i]
        return body >= 0 and bodies.is_looked_at[env * bodies.count + wp.max(body, 0)] == 1

    @wp.func
    def ways_of_pair(bodies: Bodies, colliders: Colliders, env: int, i: int, j: int):
        """At the ends of how many ways two colliders are looked at."""
        are_known = is_known_well(bodies, colliders, i) and is_known_well(bodies, colliders, j)
        if are_known and (is_looked_at(bodies, colliders, env, i) or is_looked_at(bodies, colliders, env, j)):
            return bodies.looks[env]
        return int(0)

    return SimpleNamespace(velocity=velocity_along, end=end_of_way, half=half_of_way, of_pair=ways_of_pair)


@cache
def path_kernel(precision: str) -> wp.Kernel:
    """Write the mean velocities of bodies in a step, and in which environments contacts are to be looked for again."""
    types = island_types(precision)
    T, V, Bodies, Movers = types.T, types.V, types.Bodies, types.Movers

    @wp.func
    def mean_velocity(movers: Movers, dof: int, h: T):
        """Of a dof, with what contacts add to its path."""
        return T(0.5) * (movers.start[dof] + movers.v[dof]) + movers.path[dof] / h

    @wp.func
    def moved_by(movers: Movers, env: int, mover: int, row: int, h: T):
        """A row of the Jacobian of a link times the mean velocities."""
        first = env * movers.dof_count + movers.first[mover]
        total = T(0.0)
        for dof in range(movers.dofs[mover]):
            total += movers.jacobian[row + dof] * mean_velocity(movers, first + dof, h)
        return total

    @wp.kernel(**OPTIONS)
    def take_paths(bodies: Bodies, movers: Movers, h: T, look: int):
        env, body = wp.tid()
        b = env * bodies.count + body
        mover = bodies.mover[body]
        linear = bodies.linear[b]
        angular = bodies.angular[b]
        if mover >= 0:
            first = env * movers.dof_count + movers.first[mover]
            row = env * movers.jacobian_count + bodies.jacobian[body]
            for axis in range(3):
                if bodies.jacobian[body] < 0:
                    linear[axis] = mean_velocity(movers, first + axis, h)
                    angular[axis] = mean_velocity(movers, first + 3 + axis, h)
                else:
                    linear[axis] = moved_by(movers, env, mover, row + axis * movers.dofs[mover], h)
                    angular[axis] = moved_by(movers, env, mover, row + (3 + axis) * movers.dofs[mover], h)
        bodies.path_linear[look, b] = linear
        bodies.path_angular[look, b] = angular
        arm = bodies.center[b] - bodies.place[b]
        reach = bodies.radius[body] + wp.length(V(T(arm[0]), T(arm[1]), T(arm[2])))
        other = wp.length(linear - bodies.linear[b]) + wp.length(angular - bodies.angular[b]) * reach
        for known in range(look):
            way = wp.length(linear - bodies.path_linear[known, b])
            other = wp.min(other, way + wp.length(angular - bodies.path_angular[known, b]) * reach)
        turns = wp.length(angular) * h > T(TURN) and bodies.turns[body] == 1 and look == 0
        if mover >= 0 and bodies.jacobian[body] < 0 and (other * h > bodies.slack[body] or turns):
            bodies.looks[env] = look + 1
            bodies.is_looked_at[b] = 1

    return take_paths

"""How velocities at points answer their impulses.

    y = J v   the velocity of the second side against the first one, along n, t_1 and t_2
    Y = M^-1 J^T,   G = J Y

What is done with them says `solve`.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.contact import tangents
from warp_artic.constraints.contact_pair import SLIDES
from warp_artic.islands.arrays import island_types
from warp_artic.islands.narrow_phase import narrow_phase_kernels
from warp_artic.math.numbers import vec3

OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def response_kernels(precision: str) -> SimpleNamespace:
    """The kernels `count_terms` and `respond`, and the function `tangents_of`."""
    types = island_types(precision)
    T, V = types.T, types.V
    Colliders, Bodies, Movers, Points = types.Colliders, types.Bodies, types.Movers, types.Points
    velocity_at = narrow_phase_kernels(precision).velocity_at

    @wp.func
    def tangents_of(n: V):
        a, b = tangents(vec3(n[0], n[1], n[2]))
        return V(a.x, a.y, a.z), V(b.x, b.y, b.z)

    @wp.func
    def mover_of(colliders: Colliders, bodies: Bodies, i: int):
        """The mechanism of a collider, -1 where it stays."""
        mover = int(-1)
        if colliders.body[i] >= 0:
            mover = bodies.mover[colliders.body[i]]
        return mover

    @wp.kernel(**OPTIONS)
    def count_terms(
        colliders: Colliders, bodies: Bodies, movers: Movers, points: Points, count: int, terms: wp.array(dtype=int)
    ):
        """How many dofs each point has; two links of one mechanism share theirs."""
        point = wp.tid()
        found = int(0)
        if point < count:
            first = mover_of(colliders, bodies, points.first[point])
            second = mover_of(colliders, bodies, points.second[point])
            if first >= 0:
                found += movers.dofs[first]
            if second >= 0 and second != first:
                found += movers.dofs[second]
        terms[point] = found

    @wp.func
    def add_gradient(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        point: int,
        i: int,
        term: int,
        sign: T,
        t_1: V,
        t_2: V,
    ):
        """Add the gradient of one side to the terms from `term` on."""
        env = points.environment[point]
        body = colliders.body[i]
        n = points.n[point]
        arm = points.place[point] - bodies.center[env * bodies.count + body]
        r = V(T(arm[0]), T(arm[1]), T(arm[2]))
        first = bodies.jacobian[body]
        if first < 0:
            a, b, c = wp.cross(r, n), wp.cross(r, t_1), wp.cross(r, t_2)
            for axis in range(3):
                points.J[term + axis] = points.J[term + axis] + V(n[axis], t_1[axis], t_2[axis]) * sign
                points.J[term + 3 + axis] = points.J[term + 3 + axis] + V(a[axis], b[axis], c[axis]) * sign
        else:
            dofs = movers.dofs[bodies.mover[body]]
            row = env * movers.jacobian_count + first
            for dof in range(dofs):
                linear = V(
                    movers.jacobian[row + dof],
                    movers.jacobian[row + dofs + dof],
                    movers.jacobian[row + 2 * dofs + dof],
                )
                angular = V(
                    movers.jacobian[row + 3 * dofs + dof],
                    movers.jacobian[row + 4 * dofs + dof],
                    movers.jacobian[row + 5 * dofs + dof],
                )
                v = linear + wp.cross(angular, r)
                points.J[term + dof] = points.J[term + dof] + V(wp.dot(n, v), wp.dot(t_1, v), wp.dot(t_2, v)) * sign

    @wp.func
    def answer(movers: Movers, points: Points, point: int, mover: int, term: int):
        """Write M^-1 J^T of a mechanism, and add to G."""
        env = points.environment[point]
        dofs = movers.dofs[mover]
        row = env * movers.inverse_count + movers.inverse_first[mover]
        for dof in range(dofs):
            total = V()
            for k in range(dofs):
                total += points.J[term + k] * movers.inverse[row + dof * dofs + k]
            points.Y[term + dof] = total
            J = points.J[term + dof]
            points.normal[point] = points.normal[point] + total * J[0]
            across = V(J[1] * total[1], J[1] * total[2], J[2] * total[2])
            points.across[point] = points.across[point] + across

    @wp.kernel(**OPTIONS)
    def respond(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        old_count: int,
        old_key: wp.array(dtype=wp.int64),
        old_warm: wp.array(dtype=V),
        old_world: wp.array(dtype=V),
        old_hit: wp.array(dtype=T),
    ):
        """Write J, Y and G of a point, its friction, and the impulses that it has had in the step before."""
        point = wp.tid()
        env = points.environment[point]
        i = points.first[point]
        j = points.second[point]
        n = points.n[point]
        t_1, t_2 = tangents_of(n)
        first = mover_of(colliders, bodies, i)
        second = mover_of(colliders, bodies, j)
        points.first_dofs[point] = 0
        points.second_dofs[point] = 0
        if first >= 0:
            points.first_dof[point] = env * movers.dof_count + movers.first[first]
            points.first_dofs[point] = movers.dofs[first]
        if second >= 0 and second != first:
            points.second_dof[point] = env * movers.dof_count + movers.first[second]
            points.second_dofs[point] = movers.dofs[second]
        term = points.term[point]
        for k in range(term, points.term[point + 1]):
            points.J[k] = V()
        points.normal[point] = V()
        points.across[point] = V()
        if first >= 0:
            add_gradient(colliders, bodies, movers, points, point, i, term, T(-1.0), t_1, t_2)
        other = term
        if first >= 0 and first != second:
            other += movers.dofs[first]
        if second >= 0:
            add_gradient(colliders, bodies, movers, points, point, j, other, T(1.0), t_1, t_2)
        if first >= 0:
            answer(movers, points, point, first, term)
        if second >= 0 and first != second:
            answer(movers, points, point, second, other)
        before = V()
        total = V()
        hit = T(0.0)
        if old_count > 0:
            place = wp.lower_bound(old_key, 0, old_count, points.key[point])
            if old_key[place] == points.key[point]:
                before = old_warm[place]
                total = old_world[place]
                hit = old_hit[place]
        points.warm[point] = before
        points.world[point] = total
        points.hit[point] = hit
        points.z[point] = V(wp.max(wp.dot(n, before), T(0.0)), wp.dot(t_1, before), wp.dot(t_2, before))
        x = points.place[point]
        y = velocity_at(bodies, colliders, env, j, x) - velocity_at(bodies, colliders, env, i, x)
        slip = wp.length(y - n * wp.dot(n, y))
        carried = V()
        if second < 0:
            carried += velocity_at(bodies, colliders, env, j, x)
        if first < 0:
            carried -= velocity_at(bodies, colliders, env, i, x)
        points.carried[point] = V(wp.dot(n, carried), wp.dot(t_1, carried), wp.dot(t_2, carried))
        pair = colliders.surface[i] * colliders.surfaces + colliders.surface[j]
        points.friction[point] = colliders.static_friction[pair]
        if slip > T(SLIDES):
            points.friction[point] = colliders.dynamic_friction[pair]

    return SimpleNamespace(count_terms=count_terms, respond=respond, tangents_of=tangents_of, mover_of=mover_of)

"""How impulses at points change their velocities.

    y = J v   the velocity of the second side against the first one, along n, t_1 and t_2
    Y = M^-1 J^T,   G = J Y                                  (`mass_responses`)

and likewise its angular velocity w = J_w v, about the same axes, where surfaces resist turning. `point_law` says which
impulses follow.

Where joints hardly let a point move along its normal, its `reach` says how fast it takes an overlap back
(`constraints.contact_lever`), with Y of all dofs. Where G_nn is below LEAST_LEVER of what it could be, the point does
not act: Y of what constraints hold is rounding. That is with (M^-1)_dd of the trees without constraints in place of
Y_d^2 / G_nn, and no more than without joints: levers of a long chain add up to any size.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.contact import tangents
from warp_artic.constraints.contact_law import SLIDES
from warp_artic.constraints.contact_lever import LEAST_LEVER
from warp_artic.islands.arrays import island_types
from warp_artic.islands.lasting_contacts import lasting_functions
from warp_artic.islands.mass_responses import mass_responses
from warp_artic.islands.predicted_motion import prediction_functions
from warp_artic.math.numbers import vec3
from warp_artic.math.subnormals import flush_subnormals, restore_subnormals

OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def point_functions(precision: str) -> SimpleNamespace:
    """Functions of a point, which has the dofs of its first mechanism, then those of its second one."""
    types = island_types(precision)
    T, V, Mechanisms, Points = types.T, types.V, types.Mechanisms, types.Points
    Colliders, Bodies = types.Colliders, types.Bodies

    @wp.func
    def tangents_of(n: V):
        a, b = tangents(vec3(n[0], n[1], n[2]))
        return V(a.x, a.y, a.z), V(b.x, b.y, b.z)

    @wp.func
    def mechanism_of(colliders: Colliders, bodies: Bodies, i: int):
        """The mechanism of a collider, -1 where it is static or kinematic."""
        mechanism = int(-1)
        if colliders.body[i] >= 0:
            mechanism = bodies.mechanism[colliders.body[i]]
        return mechanism

    @wp.func
    def point_rate(points: Points, J: wp.array(dtype=V), point: int, x: wp.array(dtype=T), start: V):
        """start + J x, with the J of velocities or of turning."""
        y = start
        term = points.term[point]
        other = term + points.first_dofs[point]
        dof_a = points.first_dof[point]
        dof_b = points.second_dof[point]
        for d in range(points.first_dofs[point]):
            y += J[term + d] * x[dof_a + d]
        # Sums of both sides do not wait for each other.
        y_b = V()
        for d in range(points.second_dofs[point]):
            y_b += J[other + d] * x[dof_b + d]
        return y + y_b

    @wp.func
    def point_motion(points: Points, mechanisms: Mechanisms, point: int, elapsed: T):
        """The velocity y of a point, and its gap some time after the start of the step."""
        y = points.carried[point]
        later = elapsed - points.lead[point]
        gap = points.gap[point] + y[0] * elapsed
        gap += T(0.5) * points.carried_rate[point][0] * later * later
        term = points.term[point]
        other = term + points.first_dofs[point]
        dof_a = points.first_dof[point]
        dof_b = points.second_dof[point]
        for d in range(points.first_dofs[point]):
            J = points.J[term + d]
            y += J * mechanisms.v[dof_a + d]
            gap += J[0] * mechanisms.displacement[dof_a + d]
        y_b = V()
        gap_b = T(0.0)
        for d in range(points.second_dofs[point]):
            J = points.J[other + d]
            y_b += J * mechanisms.v[dof_b + d]
            gap_b += J[0] * mechanisms.displacement[dof_b + d]
        return y + y_b, gap + gap_b

    @wp.func
    def acceleration_along(mechanisms: Mechanisms, points: Points, point: int, h: T):
        """Normal acceleration in a step h without contacts."""
        y = point_rate(points, points.J, point, mechanisms.free, V())
        return (y[0] - point_rate(points, points.J, point, mechanisms.start, V())[0]) / h

    @wp.func
    def push_point(points: Points, Y: wp.array(dtype=V), point: int, x: wp.array(dtype=T), z: V):
        """x += Y z, with the Y of J."""
        term = points.term[point]
        other = term + points.first_dofs[point]
        dof_a = points.first_dof[point]
        dof_b = points.second_dof[point]
        for d in range(points.first_dofs[point]):
            x[dof_a + d] = x[dof_a + d] + wp.dot(Y[term + d], z)
        for d in range(points.second_dofs[point]):
            x[dof_b + d] = x[dof_b + d] + wp.dot(Y[other + d], z)

    return SimpleNamespace(
        tangents_of=tangents_of,
        mechanism_of=mechanism_of,
        rate=point_rate,
        motion=point_motion,
        acceleration_along=acceleration_along,
        push=push_point,
    )


@cache
def jacobian_functions(precision: str) -> SimpleNamespace:
    """The functions `clear` and `add`, of one side, which write J of a point, and `way_of_dofs`, with Y."""
    types = island_types(precision)
    T, V = types.T, types.V
    Colliders, Bodies, Mechanisms, Points = types.Colliders, types.Bodies, types.Mechanisms, types.Points
    arm_at = prediction_functions(precision).arm_at

    @wp.func
    def angular_by(mechanisms: Mechanisms, row: int, dofs: int, dof: int):
        """The angular velocity of a body by a dof."""
        return V(
            mechanisms.jacobian[row + 3 * dofs + dof],
            mechanisms.jacobian[row + 4 * dofs + dof],
            mechanisms.jacobian[row + 5 * dofs + dof],
        )

    @wp.func
    def has_joints(bodies: Bodies, body: int, mechanism: int):
        """Whether a body is of a mechanism with joints."""
        joints = bool(False)
        if body >= 0:
            joints = bodies.mechanism[body] == mechanism and bodies.jacobian[body] >= 0
        return joints

    @wp.func
    def turning_by(bodies: Bodies, mechanisms: Mechanisms, env: int, body: int, mechanism: int, dof: int):
        """The same, zero of a body of another mechanism."""
        w = V()
        if body >= 0:
            if bodies.mechanism[body] == mechanism:
                row = env * mechanisms.jacobian_count + bodies.jacobian[body]
                w = angular_by(mechanisms, row, mechanisms.dofs[mechanism], dof)
        return w

    @wp.func
    def way_of_dofs(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        point: int,
        mechanism: int,
        term: int,
    ):
        """G_nn `reach` by the dofs of a mechanism, and what G_nn could be; zero without joints."""
        env = points.environment[point]
        first = colliders.body[points.first[point]]
        second = colliders.body[points.second[point]]
        thickness = wp.min(colliders.thickness[points.first[point]], colliders.thickness[points.second[point]])
        if not wp.isfinite(thickness):
            thickness = T(0.0)
        own = env * mechanisms.dof_count + mechanisms.first[mechanism]
        way = T(0.0)
        most = T(0.0)
        if has_joints(bodies, first, mechanism) or has_joints(bodies, second, mechanism):
            for dof in range(mechanisms.dofs[mechanism]):
                w = turning_by(bodies, mechanisms, env, second, mechanism, dof)
                w -= turning_by(bodies, mechanisms, env, first, mechanism, dof)
                J = points.J[term + dof]
                size = wp.dot(J, J) + thickness * thickness * wp.dot(w, w)
                Y = points.Y[term + dof][0]
                way += size * Y * Y
                most += size * mechanisms.mobility[own + dof]
        return way, most

    @wp.func
    def free_mobility(colliders: Colliders, bodies: Bodies, points: Points, point: int, i: int):
        """What G_nn could be with the body of a collider, if that had no joints; zero of what has none."""
        body = colliders.body[i]
        found = T(0.0)
        if body >= 0:
            if bodies.jacobian[body] >= 0:
                b = points.environment[point] * bodies.count + body
                r = arm_at(bodies, b, points.position[point], points.lead[point])
                thickness = wp.min(colliders.thickness[points.first[point]], colliders.thickness[points.second[point]])
                reach = wp.length_sq(r)
                if wp.isfinite(thickness):
                    reach += thickness * thickness
                found = bodies.mobility[b] + wp.where(reach > T(0.0), reach * bodies.turning_mobility[b], T(0.0))
        return found

    @wp.func
    def clear(colliders: Colliders, points: Points, point: int):
        """Make J zero."""
        for k in range(points.term[point], points.term[point + 1]):
            points.J[k] = V()
            if colliders.resist_turning == 1:
                points.J_w[k] = V()

    @wp.func
    def add_gradient(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
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
        r = arm_at(bodies, env * bodies.count + body, points.position[point], points.lead[point])
        first = bodies.jacobian[body]
        if first < 0:
            a, b, c = wp.cross(r, n), wp.cross(r, t_1), wp.cross(r, t_2)
            for axis in range(3):
                points.J[term + axis] = points.J[term + axis] + V(n[axis], t_1[axis], t_2[axis]) * sign
                points.J[term + 3 + axis] = points.J[term + 3 + axis] + V(a[axis], b[axis], c[axis]) * sign
                if colliders.resist_turning == 1:
                    points.J_w[term + 3 + axis] = points.J_w[term + 3 + axis] + V(n[axis], t_1[axis], t_2[axis]) * sign
        else:
            mechanism = bodies.mechanism[body]
            dofs = mechanisms.dofs[mechanism]
            row = env * mechanisms.jacobian_count + first
            for dof in range(dofs):
                linear = V(
                    mechanisms.jacobian[row + dof],
                    mechanisms.jacobian[row + dofs + dof],
                    mechanisms.jacobian[row + 2 * dofs + dof],
                )
                angular = angular_by(mechanisms, row, dofs, dof)
                v = linear + wp.cross(angular, r)
                points.J[term + dof] = points.J[term + dof] + V(wp.dot(n, v), wp.dot(t_1, v), wp.dot(t_2, v)) * sign
                if colliders.resist_turning == 1:
                    about = V(wp.dot(n, angular), wp.dot(t_1, angular), wp.dot(t_2, angular))
                    points.J_w[term + dof] = points.J_w[term + dof] + about * sign

    return SimpleNamespace(clear=clear, add=add_gradient, way_of_dofs=way_of_dofs, free_mobility=free_mobility)


@cache
def response_functions(precision: str) -> SimpleNamespace:
    """The functions `write`, of Y and G, `recall`, of impulses, and `along_axes`."""
    types = island_types(precision)
    T, V, Colliders, Mechanisms, Points = types.T, types.V, types.Colliders, types.Mechanisms, types.Points
    Bodies = types.Bodies
    tangents_of = point_functions(precision).tangents_of
    of_dofs = jacobian_functions(precision)
    way_of_dofs, free_mobility = of_dofs.way_of_dofs, of_dofs.free_mobility
    by_mass = mass_responses(precision)
    respond_freely, respond_with_constraints = by_mass.freely, by_mass.with_constraints

    @wp.func
    def along_axes(x: V, n: V, t_1: V, t_2: V):
        return V(wp.dot(n, x), wp.dot(t_1, x), wp.dot(t_2, x))

    @wp.func
    def write_response(
        colliders: Colliders, mechanisms: Mechanisms, points: Points, point: int, mechanism: int, term: int
    ):
        """Write Y of a mechanism, and add to G."""
        env = points.environment[point]
        dofs = mechanisms.dofs[mechanism]
        row = env * mechanisms.inverse_count + mechanisms.inverse_first[mechanism]
        is_free = mechanisms.has_square_root[env * mechanisms.count + mechanism] == 1
        own = mechanisms.first[mechanism]
        normal = V()
        across = V()
        n = points.normal[point] + V()
        t = points.across[point] + V()
        if is_free:
            normal, across = respond_freely(mechanisms, points.J, points.Y, term, row, own, dofs, n, t)
        else:
            normal, across = respond_with_constraints(mechanisms, points.J, points.Y, term, row, dofs, n, t)
        points.normal[point] = normal
        points.across[point] = across
        if colliders.resist_turning == 1:
            n = V(points.turn_normal[point], T(0.0), T(0.0))
            t = points.turn_across[point] + V()
            if is_free:
                normal, across = respond_freely(mechanisms, points.J_w, points.Y_w, term, row, own, dofs, n, t)
            else:
                normal, across = respond_with_constraints(mechanisms, points.J_w, points.Y_w, term, row, dofs, n, t)
            points.turn_normal[point] = normal[0]
            points.turn_across[point] = across

    @wp.func
    def write_responses(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        point: int,
        first: int,
        second: int,
    ):
        """Write Y, G and the reach, with the mechanisms of both sides, -1 where there is none."""
        term = points.term[point]
        points.normal[point] = V()
        points.across[point] = V()
        points.turn_normal[point] = T(0.0)
        points.turn_across[point] = V()
        if first >= 0:
            write_response(colliders, mechanisms, points, point, first, term)
        if second >= 0 and first != second:
            write_response(colliders, mechanisms, points, point, second, term + points.first_dofs[point])
        way = T(0.0)
        most = T(0.0)
        if first >= 0:
            way, most = way_of_dofs(colliders, bodies, mechanisms, points, point, first, term)
        if second >= 0 and first != second:
            other = term + points.first_dofs[point]
            a, b = way_of_dofs(colliders, bodies, mechanisms, points, point, second, other)
            way += a
            most += b
        free = free_mobility(colliders, bodies, points, point, points.first[point])
        most = wp.min(most, free + free_mobility(colliders, bodies, points, point, points.second[point]))
        response = points.normal[point][0]
        points.reach[point] = way / response
        if response <= T(LEAST_LEVER) * most:
            points.normal[point] = V()
            points.reach[point] = most

    @wp.func
    def recall(points: Points, point: int, old: Points, index: int):
        """Write the impulses that a point begins with, those of an earlier one; -1: none."""
        n = points.n[point]
        t_1, t_2 = tangents_of(n)
        before = V()
        total = V()
        turn_before = V()
        turn_total = V()
        if index >= 0:
            before = old.warm[index]
            total = old.world[index]
            turn_before = old.turn_warm[index]
            turn_total = old.turn_world[index]
        points.warm[point] = before
        points.world[point] = total
        points.turn_warm[point] = turn_before
        points.turn_world[point] = turn_total
        points.z[point] = V(wp.max(wp.dot(n, before), T(0.0)), wp.dot(t_1, before), wp.dot(t_2, before))
        points.turn[point] = along_axes(turn_before, n, t_1, t_2)

    return SimpleNamespace(write=write_responses, recall=recall, along_axes=along_axes)


@cache
def response_kernels(precision: str) -> SimpleNamespace:
    """The kernels `count_terms` and `respond`."""
    types = island_types(precision)
    T, V = types.T, types.V
    Colliders, Bodies, Mechanisms, Points = types.Colliders, types.Bodies, types.Mechanisms, types.Points
    predicted = prediction_functions(precision)
    velocity_at, angular_of, roll = predicted.velocity_at, predicted.angular_of, predicted.roll
    of_points, of_J, of_responses = (
        point_functions(precision),
        jacobian_functions(precision),
        response_functions(precision),
    )
    tangents_of, mechanism_of = of_points.tangents_of, of_points.mechanism_of
    point_rate, bias_of, arm_at = of_points.rate, lasting_functions(precision).bias, predicted.arm_at
    are_free = predicted.are_free
    acceleration_along = of_points.acceleration_along
    clear, add_gradient = of_J.clear, of_J.add
    write_responses, recall, along_axes = of_responses.write, of_responses.recall, of_responses.along_axes

    @wp.kernel(**OPTIONS)
    def count_terms(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        terms: wp.array(dtype=int),
    ):
        """How many dofs each point has; two links of one mechanism share theirs."""
        point = wp.tid()
        found = int(0)
        if point < points.count:
            first = mechanism_of(colliders, bodies, points.first[point])
            second = mechanism_of(colliders, bodies, points.second[point])
            points.first_mechanism[point] = first
            points.second_mechanism[point] = second
            if first >= 0:
                found += mechanisms.dofs[first]
            if second >= 0 and second != first:
                found += mechanisms.dofs[second]
        terms[point] = found

    @wp.func
    def surface_rate(bodies: Bodies, colliders: Colliders, env: int, i: int, x: wp.vec3d, lead: T):
        """Velocity of the surface of a collider beside that of its body."""
        body = colliders.body[i]
        v = V()
        if body >= 0:
            b = env * bodies.count + body
            v = bodies.surface_linear[b] + wp.cross(bodies.surface_angular[b], arm_at(bodies, b, x, lead))
        return v

    @wp.func
    def turning_rate(bodies: Bodies, colliders: Colliders, env: int, i: int, other: int):
        """How fast the velocity of a surface that is moved from outside changes where another collider touches it.

        The point goes with the centre of mass of the body of that, as what rolls takes it along [m/s^2].
        """
        a = V()
        if colliders.body[i] >= 0 and colliders.body[other] >= 0:
            b = env * bodies.count + colliders.body[i]
            u = bodies.linear[env * bodies.count + colliders.body[other]]
            a = wp.cross(bodies.angular[b] + bodies.surface_angular[b], u - bodies.linear[b])
        return a

    @wp.kernel(**OPTIONS)
    def respond(
        colliders: Colliders,
        bodies: Bodies,
        mechanisms: Mechanisms,
        points: Points,
        old: Points,
        h: T,
    ):
        """Write J, Y and G of a point, its friction, and the impulses that it has had in the step before."""
        point = wp.tid()
        control_register = flush_subnormals()
        env = points.environment[point]
        i = points.first[point]
        j = points.second[point]
        n = points.n[point]
        t_1, t_2 = tangents_of(n)
        first = points.first_mechanism[point]
        second = points.second_mechanism[point]
        term = points.term[point]
        other = term
        points.first_dofs[point] = 0
        points.second_dofs[point] = 0
        clear(colliders, points, point)
        if first >= 0:
            points.first_dof[point] = env * mechanisms.dof_count + mechanisms.first[first]
            points.first_dofs[point] = mechanisms.dofs[first]
            add_gradient(colliders, bodies, mechanisms, points, point, i, term, T(-1.0), t_1, t_2)
        if second >= 0:
            if second != first:
                points.second_dof[point] = env * mechanisms.dof_count + mechanisms.first[second]
                points.second_dofs[point] = mechanisms.dofs[second]
                other += points.first_dofs[point]
            add_gradient(colliders, bodies, mechanisms, points, point, j, other, T(1.0), t_1, t_2)
        points.is_free[point] = int(are_free(bodies, colliders, i, j))
        write_responses(colliders, bodies, mechanisms, points, point, first, second)
        recall(points, point, old, points.earlier[point])
        x = points.position[point]
        lead = points.lead[point]
        v_0 = velocity_at(bodies, colliders, env, i, x, lead)
        v_1 = velocity_at(bodies, colliders, env, j, x, lead)
        s_0 = surface_rate(bodies, colliders, env, i, x, lead)
        s_1 = surface_rate(bodies, colliders, env, j, x, lead)
        carried = V()
        slides = s_1 - s_0
        turn_carried = V()
        rate = V()
        if second < 0:
            carried += v_1
            rate += turning_rate(bodies, colliders, env, j, i)
            turn_carried += angular_of(bodies, colliders, env, j)
        if first < 0:
            carried -= v_0
            rate -= turning_rate(bodies, colliders, env, i, j)
            turn_carried -= angular_of(bodies, colliders, env, i)
        moved = along_axes(carried + slides - n * wp.dot(n, slides), n, t_1, t_2)
        turns = V(T(0.0), wp.dot(t_1, rate), wp.dot(t_2, rate))
        points.carried[point] = moved + V(roll(bodies, colliders, env, i, j, x, n, h, lead), T(0.0), T(0.0))
        points.turn_carried[point] = along_axes(turn_carried, n, t_1, t_2)
        slip = v_1 - v_0 + slides
        pair = colliders.surface[i] * colliders.surfaces + colliders.surface[j]
        points.surfaces[point] = pair
        points.friction[point] = colliders.static_friction[pair]
        if wp.length(slip - n * wp.dot(n, slip)) > T(SLIDES):
            points.friction[point] = colliders.dynamic_friction[pair]
        y = point_rate(points, points.J, point, mechanisms.start, moved - turns * lead)
        c = bias_of(points, point, old, y, acceleration_along(mechanisms, points, point, h), h)
        points.carried_rate[point] = c + turns
        points.rate[point] = moved + turns * (h - lead)
        restore_subnormals(control_register)

    return SimpleNamespace(count_terms=count_terms, respond=respond)

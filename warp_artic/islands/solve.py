"""Impulses of the points of an island: small steps, with sweeps over the points in each, and one without a bias.

The step h is cut into n substeps k = h / n. M^-1, J and normals stay; velocities v, what is moved dx, and with it gaps
g = g_0 + J_n dx, go on. Impulses z go on from one substep to the next, and from one step to the next:
    v += k a + Y z,   a that of the step without contacts
    sweeps      z_n = max(0, (1 - c) z_n - m (y_n - b) / G_nn),   |z_t| <= mu z_n,  against y_t,
                of turning  |z| <= r_T z_n  about n, against w_n, and  |z| <= r_R z_n  across it, against w_t
    dx += k v
    sweep       the same with b = 0 for overlaps, c = 0, m = 1: what takes overlaps back leaves no velocity
    apart       b = - g / k
    overlap     b = min(- s g, depenetration speed), a spring and damper with s, c and m (`softness`)
    impact      y_n before a substep closes the gap within it, faster than the bounce threshold: in the next one
                b = e sqrt(y_n^2 - 2 a_n g) + k a_n,   from the speed at which it has come to the other side
    deep, of trees with joints, by more than PROJECTED: b = 0
    soft        z_n = max(0, - k (stiffness (g + k y_n) + damping y_n))
What is deep and jointed is moved apart in the end of the step (`overlaps`).
What holds single joints is solved after the points in each sweep (`joint_rows`). M^-1 and J of mechanisms with joints
are those of the middle of a midpoint step, where it evaluates forces.
Small steps are worth more than sweeps: what is left of an error in a substep is smaller by n^2. But with one sweep in
each, and the last one in the other direction, a pyramid of ten rows sways more and more; with several of one direction
it comes to rest. What is soft in contacts keeps sweeps that have not converged from feeding velocities with overlaps.

Source: Macklin et al., Small steps in physics simulation (2019); Catto, Soft constraints (2011), Solver2D (2024).
"""

from functools import cache

import warp as wp

from warp_artic.constraints.contact_lever import lever_share
from warp_artic.islands.arrays import island_types
from warp_artic.islands.find_islands import island_struct
from warp_artic.islands.joint_rows import joint_rows
from warp_artic.islands.overlaps import overlap_functions
from warp_artic.islands.responses import response_kernels
from warp_artic.kernels.launch import OPTIONS

SUBSTEPS = 6
"""Of a step."""
SWEEPS = wp.constant(3)
"""Of a substep, with a bias."""
FREQUENCY = wp.constant(0.25)
"""Of the spring of an overlap, as a share of that of substeps."""
DAMPING = wp.constant(10.0)
"""Damping ratio of that spring."""
LEAST_LEFT = wp.constant(0.05)
"""Of the response of a point, where joints bear what it pushes."""
NEARLY_SINGULAR = {"float32": 1e-6, "float64": 1e-14}
"""What rounding leaves of the determinant of responses in two directions, of which a hinge has one and a slide none."""


@cache
def solve_kernel(precision: str) -> wp.Kernel:
    """Find the impulses of all islands, each in a thread, and what they do to bodies."""
    types = island_types(precision)
    T, V = types.T, types.V
    SINGULAR = NEARLY_SINGULAR[precision]
    Colliders, Bodies, Movers, Points = types.Colliders, types.Bodies, types.Movers, types.Points
    Islands = island_struct()
    kernels = response_kernels(precision)
    tangents_of, mover_of = kernels.tangents_of, kernels.mover_of
    rows = joint_rows(precision)
    first_dof, borne_response, solve_bearing = rows.first_dof, rows.borne_response, rows.solve_bearing
    solve_rows, go_on_rows, forget_rows = rows.solve, rows.go_on, rows.forget
    overlaps = overlap_functions(precision)
    is_projected, project_overlaps = overlaps.is_projected, overlaps.project

    @wp.struct
    class Softness:
        """Of overlaps in a substep."""

        s: T
        m: T
        c: T

    @wp.func
    def softness(k: T):
        omega = T(2.0 * wp.PI * FREQUENCY) / k
        a = T(2.0 * DAMPING) + k * omega
        b = k * omega * a
        return Softness(omega / a, b / (T(1.0) + b), T(1.0) / (T(1.0) + b))

    @wp.func
    def push(movers: Movers, points: Points, point: int, dof_a: int, n_a: int, dof_b: int, n_b: int, dz: V):
        """v += Y dz"""
        term = points.term[point]
        for k in range(n_a):
            movers.v[dof_a + k] = movers.v[dof_a + k] + wp.dot(points.Y[term + k], dz)
        for k in range(n_b):
            movers.v[dof_b + k] = movers.v[dof_b + k] + wp.dot(points.Y[term + n_a + k], dz)

    @wp.func
    def turn(movers: Movers, points: Points, point: int, dz: V):
        """v += Y_w dz"""
        term = points.term[point]
        dof_a = points.first_dof[point]
        n_a = points.first_dofs[point]
        dof_b = points.second_dof[point]
        for k in range(n_a):
            movers.v[dof_a + k] = movers.v[dof_a + k] + wp.dot(points.Y_w[term + k], dz)
        for k in range(points.second_dofs[point]):
            movers.v[dof_b + k] = movers.v[dof_b + k] + wp.dot(points.Y_w[term + n_a + k], dz)

    @wp.func
    def in_disc(z_1: T, z_2: T, y_1: T, y_2: T, G: V, most: T):
        """The impulse across the normal after one that leaves velocities y, of the response G_11, G_12 and G_22: it
        ends them, or is as large as it may be."""
        half = T(0.5) * (G[0] - G[2])
        response = T(0.5) * (G[0] + G[2]) + wp.sqrt(half * half + G[1] * G[1])
        determinant = G[0] * G[2] - G[1] * G[1]
        x_1 = T(0.0)
        x_2 = T(0.0)
        if response > T(0.0):
            is_whole = determinant > T(SINGULAR) * response * response
            if is_whole:
                x_1 = z_1 - (G[2] * y_1 - G[1] * y_2) / determinant
                x_2 = z_2 - (G[0] * y_2 - G[1] * y_1) / determinant
            if not is_whole or x_1 * x_1 + x_2 * x_2 > most * most:
                # No further than by the largest response, so that sweeps do not go round the friction that slides.
                x_1 = z_1 - y_1 / response
                x_2 = z_2 - y_2 / response
            size = wp.sqrt(x_1 * x_1 + x_2 * x_2)
            if size > most:
                x_1 = x_1 * most / size
                x_2 = x_2 * most / size
        return x_1, x_2

    @wp.func
    def solve_turning(colliders: Colliders, movers: Movers, points: Points, point: int, pair: int):
        """Have a point resist turning, as far as the impulse along its normal lets it."""
        w = points.turn_carried[point]
        term = points.term[point]
        dof_a = points.first_dof[point]
        n_a = points.first_dofs[point]
        dof_b = points.second_dof[point]
        for d in range(n_a):
            w += points.J_w[term + d] * movers.v[dof_a + d]
        for d in range(points.second_dofs[point]):
            w += points.J_w[term + n_a + d] * movers.v[dof_b + d]
        z_n = points.z[point][0]
        z = points.turn[point]
        most = colliders.torsional_friction[pair] * z_n
        about = T(0.0)
        if points.turn_normal[point] > T(0.0):
            about = wp.clamp(z[0] - w[0] / points.turn_normal[point], -most, most)
        roll_1, roll_2 = in_disc(
            z[1], z[2], w[1], w[2], points.turn_across[point], colliders.rolling_friction[pair] * z_n
        )
        found = V(about, roll_1, roll_2)
        points.turn[point] = found
        turn(movers, points, point, found - z)

    @wp.func
    def solve_point(
        colliders: Colliders,
        movers: Movers,
        points: Points,
        point: int,
        k: T,
        elapsed: T,
        soft: Softness,
        is_biased: int,
        borne: V,
    ):
        """Solve a point with the velocities that others leave it, some time after the start, and apply what changes."""
        i = points.first[point]
        j = points.second[point]
        dof_a = points.first_dof[point]
        n_a = points.first_dofs[point]
        dof_b = points.second_dof[point]
        n_b = points.second_dofs[point]
        term = points.term[point]
        y = points.carried[point]
        gap = points.gap[point] + y[0] * elapsed
        for d in range(n_a):
            J = points.J[term + d]
            y += J * movers.v[dof_a + d]
            gap += J[0] * movers.path[dof_a + d]
        for d in range(n_b):
            J = points.J[term + n_a + d]
            y += J * movers.v[dof_b + d]
            gap += J[0] * movers.path[dof_b + d]
        z = points.z[point]
        normal = points.normal[point] - borne
        normal[0] = wp.max(normal[0], T(LEAST_LEFT) * points.normal[point][0])
        pair = colliders.surface[i] * colliders.surfaces + colliders.surface[j]
        stiffness = colliders.stiffness[pair]
        # z = z - m ((y - b) / G) - c z
        bias = T(0.0)
        m = T(1.0)
        c = T(0.0)
        if wp.isfinite(stiffness):
            slope = k * stiffness + colliders.damping[pair]
            give = T(1.0) / (k * slope)
            bias = -stiffness * gap / slope
            m = normal[0] / (normal[0] + give)
            c = give / (normal[0] + give)
        elif gap > T(0.0):
            bias = -gap / k
        elif is_biased == 1 and not is_projected(colliders, points, point, gap):
            deepest = wp.min(colliders.depenetration[i], colliders.depenetration[j])
            bias = wp.min(-gap * soft.s, deepest)
            m = soft.m * lever_share(normal[0], points.reach[point])
            c = soft.c
        bias = wp.max(bias, points.bounce[point])
        z_n = wp.max(z[0] - m * (y[0] - bias) / normal[0] - c * z[0], T(0.0))
        change = z_n - z[0]
        across = points.across[point]
        y_1 = y[1] + normal[1] * change
        y_2 = y[2] + normal[2] * change
        most = points.friction[point] * z_n
        z_1, z_2 = in_disc(z[1], z[2], y_1, y_2, across, most)
        found = V(z_n, z_1, z_2)
        points.z[point] = found
        push(movers, points, point, dof_a, n_a, dof_b, n_b, found - z)
        if colliders.resist_turning == 1:
            solve_turning(colliders, movers, points, point, pair)

    @wp.func
    def watch_impact(
        colliders: Colliders, movers: Movers, points: Points, point: int, k: T, substep: int, substeps: int
    ):
        """Find whether a point closes in this substep, and how it bounces if it has in the one before."""
        points.bounce[point] = T(-1.0e9)
        e = colliders.restitution[
            colliders.surface[points.first[point]] * colliders.surfaces + colliders.surface[points.second[point]]
        ]
        if e > T(0.0):
            dof_a = points.first_dof[point]
            n_a = points.first_dofs[point]
            dof_b = points.second_dof[point]
            n_b = points.second_dofs[point]
            term = points.term[point]
            y = points.carried[point][0]
            gap = points.gap[point] + y * k * T(substep)
            a = T(0.0)
            for d in range(n_a):
                J = points.J[term + d]
                y += J[0] * movers.v[dof_a + d]
                gap += J[0] * movers.path[dof_a + d]
                a += J[0] * (movers.free[dof_a + d] - movers.start[dof_a + d])
            for d in range(n_b):
                J = points.J[term + n_a + d]
                y += J[0] * movers.v[dof_b + d]
                gap += J[0] * movers.path[dof_b + d]
                a += J[0] * (movers.free[dof_b + d] - movers.start[dof_b + d])
            a = a / (k * T(substeps))
            if points.hit[point] > T(0.0):
                points.bounce[point] = e * points.hit[point] + k * a
            points.hit[point] = T(0.0)
            if -y > colliders.bounce_threshold and -y * k > gap:
                points.hit[point] = wp.sqrt(wp.max(y * y - T(2.0) * a * wp.max(gap, T(0.0)), T(0.0)))

    @wp.func
    def go_on(colliders: Colliders, movers: Movers, points: Points, point: int):
        """Apply the impulse of the substep before."""
        if points.normal[point][0] > T(0.0):
            push(
                movers,
                points,
                point,
                points.first_dof[point],
                points.first_dofs[point],
                points.second_dof[point],
                points.second_dofs[point],
                points.z[point],
            )
            if colliders.resist_turning == 1:
                turn(movers, points, point, points.turn[point])
        else:
            points.z[point] = V()
            points.turn[point] = V()

    @wp.func
    def add_to_bodies(colliders: Colliders, bodies: Bodies, points: Points, point: int, rate: T):
        """Add the force of a point to its bodies."""
        env = points.environment[point]
        F = points.world[point] * rate
        N = points.turn_world[point] * rate
        for side in range(2):
            body = colliders.body[points.first[point]]
            sign = T(-1.0)
            if side == 1:
                body = colliders.body[points.second[point]]
                sign = T(1.0)
            if body >= 0:
                b = env * bodies.count + body
                arm = points.place[point] - bodies.center[b]
                bodies.force[b] = bodies.force[b] + F * sign
                bodies.moment[b] = bodies.moment[b] + (wp.cross(V(T(arm[0]), T(arm[1]), T(arm[2])), F) + N) * sign

    @wp.func
    def start(movers: Movers, islands: Islands, env: int, first: int, end: int):
        """Have mechanisms begin with the velocities before the step."""
        for place in range(first, end):
            m = islands.movers[place]
            begin = first_dof(movers, env, m)
            for dof in range(begin, begin + movers.dofs[m]):
                movers.v[dof] = movers.start[dof]
                movers.path[dof] = T(0.0)
            forget_rows(movers, env, m)

    @wp.func
    def advance(movers: Movers, islands: Islands, env: int, first: int, end: int, share: T, k: T):
        """Add a share of what velocities change by without contacts, and move on by velocities times k."""
        for place in range(first, end):
            m = islands.movers[place]
            begin = first_dof(movers, env, m)
            for dof in range(begin, begin + movers.dofs[m]):
                movers.v[dof] = movers.v[dof] + share * (movers.free[dof] - movers.start[dof])
                movers.path[dof] = movers.path[dof] + k * movers.v[dof]

    @wp.func
    def sweep(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        islands: Islands,
        begin: int,
        end: int,
        k: T,
        substep: int,
        is_relaxed: int,
        soft: Softness,
        part: T,
    ):
        """Solve one point after the other: forward, backward in every other substep, and the reverse without a bias."""
        elapsed = k * T(substep + is_relaxed)
        for number in range(end - begin):
            place = begin + number
            if (substep + is_relaxed) % 2 == 1:
                place = end - 1 - number
            point = islands.points[place]
            # What has no impulse is apart: slowed down without a bias, it would not come to where it closes.
            is_idle = is_relaxed == 1 and points.z[point][0] == T(0.0)
            if points.normal[point][0] > T(0.0) and not is_idle:
                first = mover_of(colliders, bodies, points.first[point])
                second = mover_of(colliders, bodies, points.second[point])
                term = points.term[point]
                other = term + points.first_dofs[point]
                borne = borne_response(movers, points, point, first, term)
                if second != first:
                    borne += borne_response(movers, points, point, second, other)
                before = points.z[point]
                solve_point(colliders, movers, points, point, k, elapsed, soft, 1 - is_relaxed, borne)
                if wp.length_sq(points.z[point] - before) > T(0.0):
                    solve_bearing(movers, points, point, first, term, part)
                    if second != first:
                        solve_bearing(movers, points, point, second, other, part)

    @wp.func
    def finish(movers: Movers, points: Points, islands: Islands, env: int, island: int, h: T):
        """Turn impulses to world axes, and take the mean of velocities off paths: the step itself moves by that."""
        base = env * movers.count + env + island
        for place in range(islands.point_start[base], islands.point_start[base + 1]):
            point = islands.points[place]
            n = points.n[point]
            t_1, t_2 = tangents_of(n)
            z = points.z[point]
            total = points.world[point]
            points.warm[point] = n * z[0] + t_1 * z[1] + t_2 * z[2]
            points.world[point] = n * total[0] + t_1 * total[1] + t_2 * total[2]
            z = points.turn[point]
            total = points.turn_world[point]
            points.turn_warm[point] = n * z[0] + t_1 * z[1] + t_2 * z[2]
            points.turn_world[point] = n * total[0] + t_1 * total[1] + t_2 * total[2]
        for place in range(islands.mover_start[base], islands.mover_start[base + 1]):
            m = islands.movers[place]
            first = first_dof(movers, env, m)
            for dof in range(first, first + movers.dofs[m]):
                mean = T(0.5) * (movers.start[dof] + movers.v[dof])
                movers.path[dof] = movers.path[dof] - h * mean

    @wp.kernel(**OPTIONS)
    def solve(
        colliders: Colliders,
        bodies: Bodies,
        movers: Movers,
        points: Points,
        islands: Islands,
        h: T,
        substeps: int,
        workers: int,
    ):
        env, worker = wp.tid()
        k = h / T(substeps)
        soft = softness(k)
        for island in range(worker, islands.count[env], workers):
            base = env * movers.count + env + island
            begin = islands.point_start[base]
            end = islands.point_start[base + 1]
            mover_begin = islands.mover_start[base]
            mover_end = islands.mover_start[base + 1]
            if islands.asleep[env * movers.count + island] == 0:
                start(movers, islands, env, mover_begin, mover_end)
                for place in range(begin, end):
                    points.world[islands.points[place]] = V()
                    points.turn_world[islands.points[place]] = V()
                for substep in range(substeps):
                    for place in range(begin, end):
                        watch_impact(colliders, movers, points, islands.points[place], k, substep, substeps)
                    advance(movers, islands, env, mover_begin, mover_end, T(1.0) / T(substeps), T(0.0))
                    for place in range(begin, end):
                        go_on(colliders, movers, points, islands.points[place])
                    go_on_rows(movers, islands, env, mover_begin, mover_end)
                    part = T(substep + 1) / T(substeps)
                    for _ in range(SWEEPS):
                        sweep(colliders, bodies, movers, points, islands, begin, end, k, substep, 0, soft, part)
                        solve_rows(movers, islands, env, mover_begin, mover_end, part)
                    advance(movers, islands, env, mover_begin, mover_end, T(0.0), k)
                    sweep(colliders, bodies, movers, points, islands, begin, end, k, substep, 1, soft, part)
                    solve_rows(movers, islands, env, mover_begin, mover_end, part)
                    for place in range(begin, end):
                        point = islands.points[place]
                        points.world[point] = points.world[point] + points.z[point]
                        points.turn_world[point] = points.turn_world[point] + points.turn[point]
                project_overlaps(colliders, movers, points, islands, env, island, h)
                finish(movers, points, islands, env, island, h)
            for place in range(begin, end):
                add_to_bodies(colliders, bodies, points, islands.points[place], T(1.0) / h)

    return solve

"""The law of a point in a substep k of an island: a sweep solves it against the velocities that others leave it.

With the velocity y = J v of the point, its gap g, and the response G = J M^-1 J^T (`responses`):
    normal    z_n = max(0, z_n - c (z_n - z_kept) - m (y_n - b) / G_nn),  z_kept = 0 but for overlaps
    friction  |z_t| <= mu z_n,  against y_t
    turning   |z| <= r_T z_n  about n, against w_n, and  |z| <= r_R z_n  across it, against w_t
    apart     b = - g / k,  c = 0,  m = 1
    overlap   b = min(- s g, depenetration speed),  s = omega / a,  c = 1 / (1 + k omega a),  m = k omega a c: an
              implicit spring of omega = 2 pi FREQUENCY / k with the damping ratio DAMPING,  a = 2 DAMPING + k omega;
              m is less where joints leave the point a short lever (`constraints.contact_lever`). At rest the spring
              would bear z_n with an overlap of c G_nn z_n / (m s). It bears no more than one of d = RESTING_OVERLAP of
              half of the thinner shape does, z_kept = min(max(0, z_0 - m s d / (c G_nn)), MOST_KEPT k / G_nn) between
              bodies without joints, with z_0 at the start of the substep: thin and small bodies below others would
              sink in by much of their size
    relaxed   b = 0 for overlaps, c = 0, m = 1: the overlap correction leaves no velocity
    impact    y_n before a substep closes the gap after a time t within it, faster than the bounce threshold: then
              b = e sqrt(y_n^2 - 2 a_n g) - a_n t,  c = 0,  m = 1,   from the speed at which it has come to the other
              side; sweeps over those points alone come before others (`impacts`), with z of their own
    deep, of trees with joints, by more than PROJECTED: b = 0; it is moved apart at the end of the step (`overlaps`)
    soft      z_n = max(0, - k (stiffness (g + k y_before / 2 + theta k y_n) + damping y_n)),  theta = r / (4 + r),
              r = stiffness k^2 G: a leapfrog step keeps the energy of a spring, and theta is what makes one that swings
              fast stable; that of r from STIFF on is no different from an overlap. Jointed bodies move by k v, and
              y_before is left out there. When relaxed, z_n is as it was
    hit       z_n more than IMPACT_GROWTH times that at the start of the substep, and the velocity of either body
              changes there by more than (IMPACT_ACCELERATION + |c_n|) k, with c of `lasting_contacts`, as J v of what
              rolls has to change by - c k: the next one does not begin with the impact, nor do rows of joints
              (`joint_rows`).
              It would be applied twice, and sweeps remove little of it where a heavy body lies on a light one
Softness keeps sweeps that have not converged from turning overlaps into velocities.

Source: Catto, Soft constraints (2011), Solver2D (2024).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.contact_lever import lever_share
from warp_artic.islands.arrays import island_types
from warp_artic.islands.joint_rows import IMPACT_GROWTH
from warp_artic.islands.overlaps import overlap_functions
from warp_artic.islands.responses import point_functions

FREQUENCY = wp.constant(0.25)
"""Of the spring of an overlap, as a share of that of substeps."""
DAMPING = wp.constant(10.0)
"""Damping ratio of that spring."""
RESTING_OVERLAP = wp.constant(0.01)
"""Share of half of the thinner shape."""
MOST_KEPT = wp.constant(500.0)
"""Of G_nn z_kept / k, the acceleration of what the point pushes, if that were free [m/s^2]: what is wedged between
others would be pressed more and more."""
STIFF = wp.constant(3.0)
"""r of a spring from which on it is as good as hard: by its weight a body sinks in by less than g k^2 / STIFF."""
LEAST_THETA = wp.constant(1.0e-3)
"""Of theta, so that a spring without a damper has a slope."""
LEAST_LEFT = wp.constant(0.05)
"""Share of the response of a point that joint limits leave it, at least."""
IMPACT_ACCELERATION = wp.constant(20.0)
"""Acceleration beyond what weights cause [m/s^2]."""
NO_BOUNCE = wp.constant(-1.0e9)
"""Bound of a normal velocity that bounds nothing [m/s]."""
NEARLY_SINGULAR = {"float32": 1e-6, "float64": 1e-14}
"""What rounding leaves of the determinant of responses in two directions, of which a hinge has one and a slide none."""


@cache
def friction_functions(precision: str) -> SimpleNamespace:
    """The functions `disc_response`, `in_disc`, of impulses across the normal, and `solve_turning`."""
    types = island_types(precision)
    T, V, Colliders, Mechanisms, Points = types.T, types.V, types.Colliders, types.Mechanisms, types.Points
    SINGULAR = NEARLY_SINGULAR[precision]
    functions = point_functions(precision)
    point_rate, push_point = functions.rate, functions.push

    @wp.func
    def disc_response(G: V):
        """The largest response across a normal, of G_11, G_12 and G_22, and their inverse, zero where singular."""
        half = T(0.5) * (G[0] - G[2])
        most = T(0.5) * (G[0] + G[2]) + wp.sqrt(half * half + G[1] * G[1])
        determinant = G[0] * G[2] - G[1] * G[1]
        inverse = V()
        if determinant > T(SINGULAR) * most * most:
            inverse = V(G[2], -G[1], G[0]) / determinant
        return most, inverse

    @wp.func
    def in_disc(z_1: T, z_2: T, y_1: T, y_2: T, response: T, inverse: V, most: T):
        """The impulse across the normal after z, which leaves the velocities y: it ends them, or has its largest size.

        `response` and `inverse` are those of `disc_response`.
        """
        x_1 = T(0.0)
        x_2 = T(0.0)
        if response > T(0.0):
            x_1 = z_1 - inverse[0] * y_1 - inverse[1] * y_2
            x_2 = z_2 - inverse[1] * y_1 - inverse[2] * y_2
            if inverse[0] == T(0.0) or x_1 * x_1 + x_2 * x_2 > most * most:
                # No further than by the largest response, so that sweeps do not go round the friction that slides.
                x_1 = z_1 - y_1 / response
                x_2 = z_2 - y_2 / response
                size = wp.sqrt(x_1 * x_1 + x_2 * x_2)
                if size > most:
                    x_1 = x_1 * most / size
                    x_2 = x_2 * most / size
        return x_1, x_2

    @wp.func
    def solve_turning(colliders: Colliders, mechanisms: Mechanisms, points: Points, point: int, surfaces: int):
        """Have a point resist turning, as far as the impulse along its normal lets it."""
        w = point_rate(points, points.J_w, point, mechanisms.v, points.turn_carried[point])
        z_n = points.z[point][0]
        z = points.turn[point]
        most = colliders.torsional_friction[surfaces] * z_n
        about = T(0.0)
        if points.turn_normal[point] > T(0.0):
            about = wp.clamp(z[0] - w[0] / points.turn_normal[point], -most, most)
        most = colliders.rolling_friction[surfaces] * z_n
        response, inverse = disc_response(points.turn_across[point])
        roll_1, roll_2 = in_disc(z[1], z[2], w[1], w[2], response, inverse, most)
        found = V(about, roll_1, roll_2)
        points.turn[point] = found
        push_point(points, points.Y_w, point, mechanisms.v, found - z)

    return SimpleNamespace(disc_response=disc_response, in_disc=in_disc, solve_turning=solve_turning)


@cache
def impact_functions(precision: str) -> SimpleNamespace:
    """The functions `find_impact`, `warm_start` and `discard_impact`."""
    types = island_types(precision)
    T, V, Colliders, Mechanisms, Points = types.T, types.V, types.Colliders, types.Mechanisms, types.Points
    functions = point_functions(precision)
    point_motion, push_point = functions.motion, functions.push
    acceleration_along = functions.acceleration_along

    @wp.func
    def find_impact(colliders: Colliders, mechanisms: Mechanisms, points: Points, point: int, k: T, elapsed: T, h: T):
        """Find whether a rigid point closes in a time k that begins, when, and how it is to bounce; says so."""
        points.bounce[point] = T(NO_BOUNCE)
        surfaces = points.surfaces[point]
        e = colliders.restitution[surfaces]
        found = int(0)
        if e > T(0.0) and points.normal[point][0] > T(0.0) and not wp.isfinite(colliders.stiffness[surfaces]):
            motion, gap = point_motion(points, mechanisms, point, elapsed)
            y = motion[0]
            a = acceleration_along(mechanisms, points, point, h)
            if -y > colliders.bounce_threshold and -(y + k * a) * k > gap:
                left = wp.max(gap, T(0.0))
                speed = wp.sqrt(wp.max(y * y - T(2.0) * a * left, T(0.0)))
                points.hit[point] = wp.min(T(2.0) * left / (speed - y), k)
                points.bounce[point] = e * speed - a * points.hit[point]
                found = 1
        return found

    @wp.func
    def warm_start(colliders: Colliders, mechanisms: Mechanisms, points: Points, point: int):
        """Apply the impulse of the substep before."""
        if points.normal[point][0] > T(0.0):
            push_point(points, points.Y, point, mechanisms.v, points.z[point])
            if colliders.resist_turning == 1:
                push_point(points, points.Y_w, point, mechanisms.v, points.turn[point])
        else:
            points.z[point] = V()
            points.turn[point] = V()
        points.initial[point] = points.z[point][0]

    @wp.func
    def change_at(mechanisms: Mechanisms, points: Points, term: int, first: int, dofs: int):
        """How much the velocity of one side along the normal has changed in a substep."""
        change = T(0.0)
        for d in range(dofs):
            change += points.J[term + d][0] * (mechanisms.v[first + d] - mechanisms.before[first + d])
        return wp.abs(change)

    @wp.func
    def is_impact(mechanisms: Mechanisms, points: Points, point: int, k: T):
        """Whether z_n of a point grows, and changes velocities by more than weights and rolling do."""
        if points.z[point][0] <= T(IMPACT_GROWTH) * points.initial[point]:
            return False
        dofs = points.first_dofs[point]
        term = points.term[point]
        change = change_at(mechanisms, points, term, points.first_dof[point], dofs)
        other = change_at(mechanisms, points, term + dofs, points.second_dof[point], points.second_dofs[point])
        usual = T(IMPACT_ACCELERATION) + wp.abs(points.carried_rate[point][0])
        return wp.max(change, other) > usual * k

    @wp.func
    def discard_impact(points: Points, point: int):
        """Drop the impact of a point from the next warm start."""
        share = points.initial[point] / points.z[point][0]
        points.z[point] = points.z[point] * share
        points.turn[point] = points.turn[point] * share

    @wp.func
    def mark_hit(mechanisms: Mechanisms, env: int, mechanism: int, mark: int):
        """Mark a mechanism, -1 for none, as hit, 1, or as touching jointed bodies, 2."""
        if mechanism >= 0:
            m = env * mechanisms.count + mechanism
            if mark == 1 or mechanisms.is_hit[m] == 0:
                mechanisms.is_hit[m] = mark

    return SimpleNamespace(
        find_impact=find_impact,
        warm_start=warm_start,
        is_impact=is_impact,
        discard_impact=discard_impact,
        mark_hit=mark_hit,
    )


@cache
def point_law(precision: str) -> SimpleNamespace:
    """The struct `Softness`, and the functions `softness` and `solve`, of a point."""
    types = island_types(precision)
    T, V, Colliders, Mechanisms, Points = types.T, types.V, types.Colliders, types.Mechanisms, types.Points
    functions, friction = point_functions(precision), friction_functions(precision)
    point_motion, push_point = functions.motion, functions.push
    point_rate = functions.rate
    in_disc, solve_turning = friction.in_disc, friction.solve_turning
    is_projected = overlap_functions(precision).is_projected

    @wp.struct
    class Softness:
        """Of overlaps in a substep."""

        s: T  # [1/s]
        m: T
        c: T

    @wp.struct
    class NormalLaw:
        """What is wanted along a normal."""

        b: T  # [m/s]
        m: T
        c: T
        kept: T  # z_kept [N s]

    @wp.func
    def softness(k: T):
        """s, m and c of overlaps."""
        omega = T(2.0 * wp.PI * FREQUENCY) / k
        a = T(2.0 * DAMPING) + k * omega
        b = k * omega * a
        return Softness(omega / a, b / (T(1.0) + b), T(1.0) / (T(1.0) + b))

    @wp.func
    def normal_law(
        colliders: Colliders,
        points: Points,
        point: int,
        surfaces: int,
        gap: T,
        response: T,
        k: T,
        soft: Softness,
        is_relaxed: int,
        ahead: T,
    ):
        law = NormalLaw(T(0.0), T(1.0), T(0.0), T(0.0))
        stiffness = colliders.stiffness[surfaces]
        turn = stiffness * k * k * response  # square of the angle of its swing
        if turn < T(STIFF):
            theta = wp.max(turn / (T(4.0) + turn), T(LEAST_THETA))
            slope = theta * k * stiffness + colliders.damping[surfaces]
            compliance = T(1.0) / (k * slope)
            law.b = -stiffness * (gap + ahead) / slope
            law.m = response / (response + compliance)
            law.c = compliance / (response + compliance)
            if is_relaxed == 1:
                law = NormalLaw(T(0.0), T(0.0), T(0.0), T(0.0))
        elif gap > T(0.0):
            law.b = -gap / k
        elif is_relaxed == 0 and not is_projected(colliders, points, point, gap):
            i = points.first[point]
            j = points.second[point]
            fastest = wp.min(colliders.depenetration_speed[i], colliders.depenetration_speed[j])
            resting = T(RESTING_OVERLAP) * wp.min(colliders.thickness[i], colliders.thickness[j])
            law.b = wp.min(-gap * soft.s, fastest)
            law.m = soft.m * lever_share(response, points.reach[point])
            law.c = soft.c
            if points.is_free[point] == 1:
                most = T(MOST_KEPT) * k / response
                borne = law.m * soft.s * resting / (soft.c * response)
                law.kept = wp.clamp(points.initial[point] - borne, T(0.0), most)
        if points.bounce[point] > T(NO_BOUNCE):
            law = NormalLaw(points.bounce[point], T(1.0), T(0.0), T(0.0))
        return law

    @wp.func
    def solve_point(
        colliders: Colliders,
        mechanisms: Mechanisms,
        points: Points,
        point: int,
        k: T,
        elapsed: T,
        soft: Softness,
        is_relaxed: int,
        supported: V,
    ):
        """Solve a point some time after the start of the step; joint limits take `supported` off its response.

        Springs between bodies without joints act by their gap in the middle of the substep.
        """
        y, gap = point_motion(points, mechanisms, point, elapsed)
        # What moves by (1 - w) k v_before + w k v has v at k / (2 w) of a substep, and at last, relaxed, at its end.
        later = T(0.5) * k
        if points.is_free[point] == 1:
            dof = points.first_dof[point]
            if points.second_dofs[point] > 0:
                dof = points.second_dof[point]
            later = later / mechanisms.end_weight[dof]
        y += points.carried_rate[point] * (elapsed + later * T(1 - is_relaxed) - points.lead[point])
        response = points.normal[point] - supported
        response[0] = wp.max(response[0], T(LEAST_LEFT) * points.normal[point][0])
        surfaces = points.surfaces[point]
        ahead = T(0.0)
        if points.is_free[point] == 1 and wp.isfinite(colliders.stiffness[surfaces]):
            before = point_rate(points, points.J, point, mechanisms.before, points.carried[point])
            ahead = T(0.5) * k * before[0]
        law = normal_law(colliders, points, point, surfaces, gap, response[0], k, soft, is_relaxed, ahead)
        z = points.z[point]
        z_n = wp.max(z[0] - law.m * (y[0] - law.b) / response[0] - law.c * (z[0] - law.kept), T(0.0))
        change = z_n - z[0]
        y_1 = y[1] + response[1] * change
        y_2 = y[2] + response[2] * change
        most = points.friction[point] * z_n
        z_1, z_2 = in_disc(z[1], z[2], y_1, y_2, points.across_most[point], points.across_inverse[point], most)
        found = V(z_n, z_1, z_2)
        points.z[point] = found
        push_point(points, points.Y, point, mechanisms.v, found - z)
        if colliders.resist_turning == 1:
            solve_turning(colliders, mechanisms, points, point, surfaces)

    return SimpleNamespace(Softness=Softness, softness=softness, solve=solve_point)

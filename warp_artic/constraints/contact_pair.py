"""Contact of two shapes at points where they touch, or are about to, hard or with a spring along the normal.

At a point x with the unit normal n from shape 0 to shape 1, two tangents t_1 and t_2, and the gap g beyond the distance
at which contacts rest, y = d^T (velocity of x on shape 1 - on shape 0) for each of the directions d, Coulomb's law is
    normal:    y_n >= b,  z_n >= 0,  one of them with equality
    friction:  |z_t| <= mu z_n,  y_t = 0, or z_t = - mu z_n y_t / |y_t|
The points are those where a step places the links. Shapes that move against each other by more than the half of the
thinner one until then might have passed each other: there the points are those at the start of the step, with the gap
that their velocity leaves. At the start of the step the gap is  g_0 = g + J_n shift. With the
closing speed u = - y_n before the step and the acceleration a_n without rows along n:
    new contact       b = - g_0 / h  where g_0 > 0: the gap may close at the end of the step
    contact, overlap  b = min(- s g_0 / (2 h), depenetration speed),  s = min(|g_0| / deep, 1)
    impact            u h > g_0,  u > STILL (|a_n| h + |gravity| h + G_nn z_before), at  tau = g_0 / u  after the start:
                      b = e (u - a_n tau) + a_n (h - tau)  where u is above the bounce threshold, else 0
A point that stays in contact moves as the rest of a midpoint step, and what it ties together moves alike
(`constraints.shares`); what an impact changes acts for the rest of the step, 1 - tau / h, so that points are moved by
that share of it, instead of the share of their dofs.

Every row gives way a little, by R times what its impulse differs from an anchor, so that the solvers have a well
conditioned problem, in which supports share loads as they did before:
    y + R (z - anchor) = ...,   R = NORMAL_GIVE G_nn,  TANGENT_GIVE G_tt,   G = J M^-1 J^T
The anchor is the impulse in the step before, so that what holds still gives way to nothing, for ever. It is zero in
and after an impact, where there was no contact, and of the friction of what slides, which is to be against the slip.
With R alone that would be stable for R up to 3 times the least eigenvalue of G only if b brought back all of a small
gap that R leaves: s does not, and `solver.rows.contacts` makes R smaller.
Soft: a spring k and damper d along the normal,  y_n + z_n / (h (h k + d)) = - k g_0 / (h k + d), with the same R.

Points that slide, faster than SLIDES, have the dynamic coefficient of friction, others the static one.

Source: Moreau, Unilateral contact and dry friction in finite freedom dynamics (1988); De Saxce and Feng, The
bipotential method (1998) for the law; Rockafellar, Monotone operators and the proximal point algorithm (1976) for R.
"""

from collections.abc import Callable

import numpy as np
import warp as wp

from warp_artic.collision.collide import collide, contact_points
from warp_artic.collision.kinds import PLANE, Solid
from warp_artic.collision.places import set_unused
from warp_artic.constraints.contact import tangents
from warp_artic.constraints.loop_geometry import frame_axes, frame_origin
from warp_artic.constraints.rows import (
    add_responses,
    allow_every_velocity,
    row_rate,
    set_unbounded,
    set_window,
)
from warp_artic.description.articulation import Articulation
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD
from warp_artic.description.reach import ball_of
from warp_artic.description.shape import Seam, Shape, ShapeKind
from warp_artic.math.directions import length
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    is_finite,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.math.spatial import column as matrix_column
from warp_artic.math.spatial import cross, dot, transpose_mul
from warp_artic.model.allowed_values import ANGLE, FINITE, NOT_NEGATIVE, SHARE, Allowed
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import (
    ENDS,
    FROM_OUTSIDE,
    IS_CONTACT,
    LOOKS_AT_ACCELERATIONS,
    PUSHES_LINKS,
    ConstraintFamily,
    Entries,
    Measure,
    Parameter,
)
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.frames import link_to_moving, origin_of
from warp_artic.model.row import Place
from warp_artic.phases.integrate import find_asleep
from warp_artic.phases.link_velocities import move_base, move_link
from warp_artic.phases.point_motion import set_point_gradient
from warp_artic.phases.transmitted_forces import take_push_off

NORMAL_GIVE = wp.constant(0.025)
"""R of a normal as a share of G_nn."""
TANGENT_GIVE = wp.constant(0.01)
"""R of a tangent as a share of G_tt."""
STILL = wp.constant(0.6)
"""What closes no faster than by this share of what forces and impulses do in a step is in contact already."""
DEEP = wp.constant(0.005)
"""Overlap or gap, as a share of half of the thinner shape, from which on half of it is taken back in a step; of less a
smaller part: what a turning body has moved in by the curve of its path is not to throw it."""
MOST_POINTS = 400
"""Points of a mechanism that can touch at a time: the direct solver has room for each two of their rows."""
ROOM = 1.01
"""By how much balls around shapes are larger than these: for rounding, and for what searches leave."""
TILT = wp.constant(1e-3)
"""Sine of the angle up to which what touches a patch of a surface at an edge to another one touches both."""
SLIDES = wp.constant(1e-3)
"""Speed above which a point slides [m/s]."""


@wp.func
def find_contacts(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Find the points of all pairs, for located links, and which of them may touch in a step of length h.

    Those of pairs whose balls do not come near in any environment of the column are unused.
    """
    find_contacts_within(model, work, column, slot, h, h - h)


@wp.func
def find_contacts_within(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real, further: Real):
    """The same, but the points of pairs are found too that are further apart than may touch, by so much [m]."""
    move_base(model, work, column, slot)
    for k in range(model.link_count):
        move_link(model, work, work.v, model.order[k], slot)
    for pair in range(model.contact_count):
        inner = model.contact_link0[pair]
        outer = model.contact_link1[pair]
        first = model.contact_first[pair]
        x_0 = frame_origin(work.R_WM, work.p_WM, inner, model.contact_frame0, pair, column, slot)
        x_1 = frame_origin(work.R_WM, work.p_WM, outer, model.contact_frame1, pair, column, slot)
        moved = (velocity_at(work, outer, x_1, slot) - velocity_at(work, inner, x_0, slot)) * work.since_placed[0, slot]
        thin = model.contact_thickness[pair, column]
        moved = moved * where_positive(dot(moved, moved) - thin * thin, real(1.0, thin), thin - thin)
        if any_positive(ball_reach(model, work, pair, x_0, x_1, moved, column, slot, h) + further):
            collide(
                model.contact_hull_point,
                column,
                work.contact_point,
                first,
                slot,
                model.contact_kind0[pair],
                model.contact_kind1[pair],
                x_0,
                frame_axes(work.R_WM, inner, model.contact_frame0, pair, column, slot),
                load_vec3(model.contact_size0, 3 * pair, column),
                model.contact_hull0[pair],
                model.contact_hull0_count[pair],
                x_1 + moved,
                frame_axes(work.R_WM, outer, model.contact_frame1, pair, column, slot),
                load_vec3(model.contact_size1, 3 * pair, column),
                model.contact_hull1[pair],
                model.contact_hull1_count[pair],
            )
            for point in range(first, first + model.contact_points[pair]):
                n = load_vec3(work.contact_point, 7 * point + 3, slot)
                work.contact_point[7 * point + 6, slot] = work.contact_point[7 * point + 6, slot] - dot(n, moved)
                work.contact_near[point, slot] = nearness(model, work, pair, point, column, slot, h)
        else:
            for point in range(first, first + model.contact_points[pair]):
                set_unused(work.contact_point, point, slot, x_0)
                work.contact_near[point, slot] = h - h


@wp.func
def ball_reach(
    model: ModelArrays,
    work: WorkArrays,
    pair: int,
    x_0: Vec3,
    x_1: Vec3,
    moved: Vec3,
    column: int,
    slot: int,
    h: Real,
):
    """Not positive where no point of a pair may touch in a step, by the balls about the frames of its shapes.

    Points are in the ball of the second shape, but for what they are away from it along their normals.
    """
    x = x_1 + moved
    inner = model.contact_link0[pair]
    outer = model.contact_link1[pair]
    radius = model.contact_radius1[pair, column]
    turning = length(load_vec3(work.angular, 3 * outer, slot) - load_vec3(work.angular, 3 * inner, slot))
    closing = length(velocity_at(work, outer, x, slot) - velocity_at(work, inner, x, slot)) + turning * radius
    height = pair_distance(model, work, pair, x - x_0, column, slot)
    reach = model.contact_distance[pair, column] + h * closing + length(moved)
    return reach + model.contact_radius0[pair, column] + radius - height


@wp.func
def pair_distance(model: ModelArrays, work: WorkArrays, pair: int, c: Vec3, column: int, slot: int):
    """How far the second frame of a pair is from the first one, or over it where that is of a plane."""
    if model.contact_kind0[pair] == PLANE:
        R = frame_axes(work.R_WM, model.contact_link0[pair], model.contact_frame0, pair, column, slot)
        return dot(matrix_column(R, 2), c)
    return length(c)


@wp.func
def velocity_at(work: WorkArrays, link: int, x: Vec3, slot: int):
    """The velocity of a point of a link, with the velocities that `find_contacts` has found."""
    r = x - load_vec3(work.p_WM, 3 * link, slot)
    return load_vec3(work.linear, 3 * link, slot) + cross(load_vec3(work.angular, 3 * link, slot), r)


@wp.func
def nearness(model: ModelArrays, work: WorkArrays, pair: int, point: int, column: int, slot: int, h: Real):
    """One where a point may touch in a step, zero elsewhere."""
    x = load_vec3(work.contact_point, 7 * point, slot)
    n = load_vec3(work.contact_point, 7 * point + 3, slot)
    gap = work.contact_point[7 * point + 6, slot]
    one = real(1.0, gap)
    v_0 = velocity_at(work, model.contact_link0[pair], x, slot)
    v_1 = velocity_at(work, model.contact_link1[pair], x, slot)
    closing = maximum(dot(n, v_0 - v_1), one - one)
    reach = model.contact_distance[pair, column] + h * closing - gap
    near = where_positive(reach, one, one - one)
    if model.contact_patch[pair] >= 0 and any_positive(near):
        return near * is_of_patch(model, work, pair, n, column, slot)
    return near


@wp.func
def is_of_patch(model: ModelArrays, work: WorkArrays, pair: int, n: Vec3, column: int, slot: int):
    """One where n, toward the second shape, is a normal of the patch and not of what it goes on in, else zero.

    Beyond an edge, n is tilted from the normal of the patch to the side, at most by the angle that the surface bends.
    """
    if model.contact_patch[pair] == 0:
        R_0 = frame_axes(work.R_WM, model.contact_link0[pair], model.contact_frame0, pair, column, slot)
        return is_of_surface(model, pair, transpose_mul(R_0, n), column)
    R_1 = frame_axes(work.R_WM, model.contact_link1[pair], model.contact_frame1, pair, column, slot)
    return is_of_surface(model, pair, neg(transpose_mul(R_1, n)), column)


@wp.func
def is_of_surface(model: ModelArrays, pair: int, n: Vec3, column: int):
    """The same, for n in the frame of the patch and away from it."""
    one = real(1.0, n.x)
    zero = one - one
    found = where_positive(n.z + real(float(2 - 2 * model.contact_one_sided[pair]), one), one, zero)
    first = model.contact_seam[pair]
    for seam in range(first, first + model.contact_seams[pair]):
        row = 4 * seam
        out = n.x * model.contact_seam_way[row, column] + n.y * model.contact_seam_way[row + 1, column]
        bent = out * model.contact_seam_way[row + 2, column] - n.z * model.contact_seam_way[row + 3, column]
        # From behind, what bends away bends towards.
        found = where_positive(where_positive(n.z, bent, out) - real(TILT, one), zero, found)
    return found


@wp.func
def set_contact_pair_gradient(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Write J of the normal or a tangent of a point; says whether it may touch in any environment."""
    point = model.row_item[row] // 3
    axis = model.row_item[row] % 3
    near = any_positive(work.contact_near[point, slot])
    if near:
        pair = model.contact_of_point[point]
        x = load_vec3(work.contact_point, 7 * point, slot)
        d = load_vec3(work.contact_point, 7 * point + 3, slot)
        t_1, t_2 = tangents(d)
        if axis == 1:
            d = t_1
        if axis == 2:
            d = t_2
        meet = model.contact_meet[pair]
        term = set_point_gradient(model, work, model.row_term[row], model.contact_link1[pair], meet, x, d, slot)
        set_point_gradient(model, work, term, model.contact_link0[pair], meet, x, neg(d), slot)
    return near


@wp.func
def set_contact_pair_row(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, h: Real):
    """Fill the row of the normal or a tangent of a point that may touch; tangents take part where their normal does."""
    point = model.row_item[row] // 3
    axis = model.row_item[row] % 3
    zero = real(0.0, h)
    near = work.contact_near[point, slot]
    if any_positive(near):
        share = real(TANGENT_GIVE, h)
        if axis == 0:
            share = real(NORMAL_GIVE, h)
        give = work.row_mobility[row, slot] * share
        work.contact_give[model.row_item[row], slot] = give
        work.compliance[row, slot] = give
        set_unbounded(work, row, slot, h)
        set_window(work, row, slot, zero, zero)
        allow_every_velocity(work, row, slot, zero)
        if axis == 0:
            set_normal_row(model, work, row, point, give, column, slot, h)
            allow_every_velocity(work, row, slot, near)


@wp.func
def set_normal_row(
    model: ModelArrays, work: WorkArrays, row: int, point: int, give: Real, column: int, slot: int, h: Real
):
    """Write the velocity that a normal is to have, how its point moves, and the impulses of the step before."""
    pair = model.contact_of_point[point]
    zero = real(0.0, h)
    one = real(1.0, h)
    u = neg(row_rate(model, work, work.v, row, slot))
    a = row_rate(model, work, work.vdot, row, slot)
    gap = work.contact_point[7 * point + 6, slot] - model.contact_rest[pair, column]
    gap = gap + row_rate(model, work, work.shift, row, slot)
    deepest = model.contact_depenetration[pair, column]
    n = load_vec3(work.contact_point, 7 * point + 3, slot)
    before = load_vec3(work.contact_memory, 3 * point, slot)
    part = minimum(absolute(gap) / (model.contact_thickness[pair, column] * real(DEEP, h)), one) * real(0.5, h)
    back = minimum(neg(gap) * part / h, deepest)
    closes = neg(gap) * where_positive(dot(n, before), part, one) / h
    resting = where_positive(gap, closes, back)
    g = load_vec3(model.gravity, 0, column)
    e = model.contact_restitution[pair, column]
    # What an impact gave in the step before does not hold what bounces.
    held = where_positive(where_positive(e, work.contact_hits[point, slot], zero), zero, maximum(dot(n, before), zero))
    still = (absolute(a) + sqrt(dot(g, g))) * h + work.row_mobility[row, slot] * held
    hits = where_positive(u - real(STILL, h) * still, where_positive(u * h - gap, one, zero), zero)
    tau = minimum(maximum(gap, zero) / where_positive(hits, u, one), h)
    bounce = e * (u - a * tau) + a * (h - tau)
    bounces = where_positive(u - model.contact_bounce_threshold[pair, column], hits, zero)
    bounces = where_positive(e, bounces, zero)
    # One that would come back within the step ends on the other shape.
    bounces = where_positive(bounce, bounces, zero)
    after = maximum(where_positive(bounces, bounce, zero), where_positive(neg(gap), back, zero))
    b = where_positive(hits, after, resting)
    work.contact_resting[point, slot] = resting
    k = model.contact_stiffness[pair, column]
    d = model.contact_damping[pair, column]
    soft = is_finite(k)
    k = where_positive(soft, k, one)
    slope = h * k + d
    b = where_positive(soft, neg(k * gap) / slope, b)
    hits = where_positive(soft, zero, hits)
    work.contact_still[point, slot] = where_positive(soft, one / zero, real(STILL, h) * still)
    work.compliance[row, slot] = give + where_positive(soft, one / (h * slope), zero)
    work.contact_share[point, slot] = one - tau / h
    t_1, t_2 = tangents(n)
    is_new = maximum(hits, work.contact_hits[point, slot])
    work.contact_hits[point, slot] = hits
    near = work.contact_near[point, slot]
    island = model.row_island[row]
    work.contact_bounces[island, slot] = maximum(work.contact_bounces[island, slot], near * e)
    work.contact_passing[island, slot] = maximum(work.contact_passing[island, slot], near * hits)
    work.contact_start[3 * point, slot] = where_positive(is_new, zero, maximum(dot(n, before), zero))
    work.contact_start[3 * point + 1, slot] = where_positive(is_new, zero, dot(t_1, before))
    work.contact_start[3 * point + 2, slot] = where_positive(is_new, zero, dot(t_2, before))
    work.contact_speed[point, slot] = b
    y_1 = row_rate(model, work, work.v, row + 1, slot)
    y_2 = row_rate(model, work, work.v, row + 2, slot)
    slip = sqrt(y_1 * y_1 + y_2 * y_2) - real(SLIDES, h)
    sticks = model.contact_static_friction[pair, column]
    work.contact_friction[point, slot] = where_positive(slip, model.contact_dynamic_friction[pair, column], sticks)
    work.contact_anchor[3 * point, slot] = work.contact_start[3 * point, slot]
    for k in range(3 * point + 1, 3 * point + 3):
        work.contact_anchor[k, slot] = where_positive(slip, zero, work.contact_start[k, slot])
    set_window(work, row, slot, b + give * work.contact_anchor[3 * point, slot], one / zero)


@wp.func
def contact_sign(model: ModelArrays, point: int, like: Real):
    """-1 where detection takes the shapes of the pair the other way round, else 1."""
    return real(float(model.contact_sense[model.contact_of_point[point]]), like)


@wp.func
def load_contacts(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Read the impulses of the step before."""
    for point in range(model.contact_point_count):
        sign = contact_sign(model, point, state.contact_impact[point, column])
        for k in range(3 * point, 3 * point + 3):
            work.contact_memory[k, slot] = sign * state.contact_impulse[k, column]
        work.contact_hits[point, slot] = state.contact_impact[point, column]
        work.contact_left[point, slot] = real(0.0, model.gravity[0, column])


@wp.func
def keep_contacts(model: ModelArrays, work: WorkArrays, slot: int):
    """Remember the impulses of a substep, in world axes."""
    for row in range(model.contact_row, model.contact_row + model.contact_rows):
        if model.row_item[row] % 3 == 0:
            point = model.row_item[row] // 3
            n = load_vec3(work.contact_point, 7 * point + 3, slot)
            t_1, t_2 = tangents(n)
            z_n = work.impulse[row, slot] + work.given[row, slot]
            z_1 = work.impulse[row + 1, slot] + work.given[row + 1, slot]
            z_2 = work.impulse[row + 2, slot] + work.given[row + 2, slot]
            total = n * z_n + t_1 * z_1 + t_2 * z_2
            store_vec3(work.contact_memory, 3 * point, slot, total)


@wp.func
def store_contacts(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Write the impulses of a step to the state, but not those of environments that have failed or sleep."""
    kept = maximum(state.failure[0, column], find_asleep(model, state, column))
    for point in range(model.contact_point_count):
        sign = contact_sign(model, point, kept)
        for k in range(3 * point, 3 * point + 3):
            old = state.contact_impulse[k, column]
            state.contact_impulse[k, column] = where_positive(kept, old, sign * work.contact_memory[k, slot])
        old = state.contact_impact[point, column]
        state.contact_impact[point, column] = where_positive(kept, old, work.contact_hits[point, slot])
        old = state.contact_crowded[point, column]
        crowded = maximum(old, work.contact_left[point, slot])
        state.contact_crowded[point, column] = where_positive(kept, old, crowded)


@wp.func
def lead_by_impacts(model: ModelArrays, work: WorkArrays, slot: int):
    """Add to v+, until `follow_impacts`, what impacts change of the path of a midpoint step; before `keep_contacts`.

    What other contacts of single bodies, in an island with impacts, do more than in the step before, they do when
    these are; in a tree with joints these and their limits would have to be moved with them. Of
    impacts that were passed on (`solver.rows.impacts`) it is known when each of them was.
    """
    zero = real(0.0, work.v_next[0, slot])
    end = model.contact_row + model.contact_rows
    found = bool(False)
    for dof in range(model.dof_count):
        work.v_before_lead[dof, slot] = work.v_next[dof, slot]
    rows = int(0)
    if find_impacts(model, work, slot):
        rows = model.contact_rows
    for row in range(model.contact_row, model.contact_row + rows):
        item = model.row_item[row]
        island = model.row_island[row]
        own = work.share[model.row_dof[row], slot]
        hits = work.contact_hits[item // 3, slot]
        z = work.impulse[row, slot]
        moment = work.island_impact[island, slot]
        before = dot(contact_direction(model, work, row, slot), load_vec3(work.contact_memory, item // 3 * 3, slot))
        others = where_positive(moment, (moment - own) * (z - before), zero)
        if not is_of_single_bodies(model, row):
            others = zero
        extra = where_positive(hits, (work.contact_share[item // 3, slot] - own) * z, others)
        extra = where_positive(work.active[row, slot], extra, zero)
        passed = work.contact_led[item, slot] - own * work.given[row, slot]
        extra = where_positive(work.contact_has_passed[island, slot], passed, extra)
        work.contact_passed[row, slot] = extra
        if any_positive(absolute(extra)):
            found = bool(True)
    if found:
        for dof in range(model.dof_count):
            work.contact_path[dof, slot] = zero
        add_responses(model, work, work.contact_passed, model.contact_row, end, work.contact_path, slot)
        for dof in range(model.dof_count):
            v = work.v_next[dof, slot]
            work.v_next[dof, slot] = v + work.contact_path[dof, slot] / work.share[dof, slot]


@wp.func
def is_of_single_bodies(model: ModelArrays, row: int):
    """Whether the dofs of a row are of trees without joints."""
    single = bool(True)
    for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
        tree = model.link_tree[model.dof_link[model.term_dof[term]]]
        if model.tree_link[tree + 1] - model.tree_link[tree] > 1:
            single = bool(False)
    return single


@wp.func
def find_impacts(model: ModelArrays, work: WorkArrays, slot: int):
    """Write for each island which share of the step is left after its impacts, by their impulses; zero without any.

    Says whether there are any.
    """
    found = bool(False)
    zero = real(0.0, work.v_next[0, slot])
    one = real(1.0, zero)
    for island in range(model.island_count):
        work.island_impact[island, slot] = zero
        work.island_push[island, slot] = zero
    for row in range(model.contact_row, model.contact_row + model.contact_rows):
        point = model.row_item[row] // 3
        if model.row_item[row] % 3 == 0 and any_positive(work.contact_hits[point, slot] * work.impulse[row, slot]):
            found = bool(True)
            island = model.row_island[row]
            z = where_positive(work.contact_hits[point, slot], work.impulse[row, slot], zero)
            share = work.contact_share[point, slot]
            work.island_impact[island, slot] = work.island_impact[island, slot] + z * share
            work.island_push[island, slot] = work.island_push[island, slot] + z
    for island in range(model.island_count):
        found = found or any_positive(work.contact_has_passed[island, slot])
        push = work.island_push[island, slot]
        work.island_impact[island, slot] = work.island_impact[island, slot] / where_positive(push, push, one)
    return found


@wp.func
def follow_impacts(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """Take away from v+ what `lead_by_impacts` has added, and add what that has moved to what dofs have moved by."""
    for dof in range(model.dof_count):
        before = work.v_before_lead[dof, slot]
        led = h * work.share[dof, slot] * (work.v_next[dof, slot] - before)
        work.shift[dof, slot] = work.shift[dof, slot] + led
        work.v_next[dof, slot] = before


@wp.func
def take_contact_off(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int, force: Real):
    """Take what a contact does to its links off what these need."""
    point = model.row_item[row] // 3
    pair = model.contact_of_point[point]
    x = load_vec3(work.contact_point, 7 * point, slot)
    push = contact_direction(model, work, row, slot) * force
    take_push_off(model, work, model.contact_link1[pair], x, push, slot)
    take_push_off(model, work, model.contact_link0[pair], x, neg(push), slot)


@wp.func
def contact_direction(model: ModelArrays, work: WorkArrays, row: int, slot: int):
    """The direction of a row, in world axes."""
    axis = model.row_item[row] % 3
    d = load_vec3(work.contact_point, 7 * (model.row_item[row] // 3) + 3, slot)
    t_1, t_2 = tangents(d)
    if axis == 1:
        d = t_1
    if axis == 2:
        d = t_2
    return d


@wp.func
def add_contact_load(
    model: ModelArrays, work: WorkArrays, values: Array, row: int, place: int, column: int, slot: int, force: Real
):
    """Add the force of a row to that on the second shape at its point, in world axes."""
    point = model.row_item[row] // 3
    first = 3 * point
    push = contact_direction(model, work, row, slot) * (contact_sign(model, point, force) * force)
    store_vec3(values, first, place, load_vec3(values, first, place) + push)


KINDS = {
    ShapeKind.PLANE: Solid.PLANE,
    ShapeKind.SPHERE: Solid.SPHERE,
    ShapeKind.CAPSULE: Solid.CAPSULE,
    ShapeKind.CYLINDER: Solid.CYLINDER,
    ShapeKind.BOX: Solid.BOX,
    ShapeKind.CONVEX: Solid.CONVEX,
    ShapeKind.CONE: Solid.CONE,
}


def pairs(articulation: Articulation) -> tuple[ContactPair, ...]:
    """The pairs that are enabled."""
    return tuple(one for one in articulation.constraints_of(ContactPair) if one.enabled)


def sides(pair: ContactPair) -> tuple[tuple[int, Shape], tuple[int, Shape]]:
    """Link and shape of both sides, in the order of the kinds in which detection takes them."""
    found = (pair.link0, pair.shape0), (pair.link1, pair.shape1)
    return found[::-1] if KINDS[pair.shape0.kind] > KINDS[pair.shape1.kind] else found


def point_count(pair: ContactPair) -> int:
    """How many points a pair has."""
    return contact_points(*(int(KINDS[shape.kind]) for _, shape in sides(pair)))


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    """Three rows for each point, on the dofs from one link to where the paths meet, then on those from the other."""
    found, point = [], 0
    for one in pairs(articulation):
        inner, outer = (layout.inward(link) for link, _ in sides(one))
        dofs = [dof for dof in outer if dof not in inner] + [dof for dof in inner if dof not in outer]
        count = point_count(one)
        if dofs:
            found += [Place(one.name, tuple(dofs), item) for item in range(3 * point, 3 * (point + count))]
        point += count
    return found


def _structure(articulation: Articulation) -> tuple[tuple[int, ...], ...]:
    """Of each pair its links, where their paths meet, its first point and their number, its kinds, its hulls, -1 where
    these are the other way round than it has them, and which side is a patch of a surface, with its seams."""
    layout, world = DofLayout(articulation), len(articulation.links)
    found, point, hull, seam = [], 0, 0, 0
    for one in pairs(articulation):
        (link0, shape0), (link1, shape1) = sides(one)
        ends = (world if link == WORLD else link for link in (link0, link1))
        count, sizes = point_count(one), (len(_hull(shape0)), len(_hull(shape1)))
        kinds = (int(KINDS[shape0.kind]), int(KINDS[shape1.kind]))
        hulls = (hull, sizes[0], hull + sizes[0], sizes[1])
        sense = 1 if shape0 is one.shape0 else -1
        patch = _patch_side(one)
        seams = len(_seams(one))
        is_one_sided = int(patch >= 0 and (shape0, shape1)[patch].is_one_sided)
        patches = (patch, seam, seams, is_one_sided)
        found.append((*ends, layout.meet(link0, link1), point, count, *kinds, *hulls, sense, *patches))
        point += count
        seam += seams
        hull += sum(sizes)
    return tuple(found)


def _hull(shape: Shape) -> tuple[tuple[float, float, float], ...]:
    """The points of which a shape is the hull."""
    return shape.points if shape.kind is ShapeKind.CONVEX else ()


def _patch_side(pair: ContactPair) -> int:
    """The first side that is a patch of a surface; -1 where there is none."""
    return next((side for side, (_, shape) in enumerate(sides(pair)) if shape.seams or shape.is_one_sided), -1)


def _seams(pair: ContactPair) -> tuple[Seam, ...]:
    """The seams of the side that is a patch."""
    side = _patch_side(pair)
    return sides(pair)[side][1].seams if side >= 0 else ()


def _seam_ways(articulation: Articulation) -> np.ndarray:
    """Of each seam the way out, and cosine and sine of its bend."""
    seams = [seam for one in pairs(articulation) for seam in _seams(one)]
    return np.ravel([(*seam.direction, np.cos(seam.bend), np.sin(seam.bend)) for seam in seams])


def _frames(side: int) -> Parameter:
    """The frames on one side, in the moving frames of their links, or in the world about the origin."""

    def values(articulation: Articulation) -> np.ndarray:
        placed = [link_to_moving(joint, link) for link, joint in zip(articulation.links, articulation.inbound)]
        origin, rows = origin_of(articulation), []
        for one in pairs(articulation):
            link, shape = sides(one)[side]
            R_LM, p_LM = (np.eye(3), origin) if link == WORLD else placed[link]
            turned = R_LM.T @ shape.frame.rotation
            rows.append([*turned.ravel(), *(R_LM.T @ (np.asarray(shape.frame.position) - p_LM))])
        return np.ravel(rows)

    return Parameter(name=f"contact_frame{side}", of="contact_pair", values=values, size=12)


def _sizes(side: int) -> Parameter:
    """The sizes on one side, as detection takes them."""

    def values(articulation: Articulation) -> np.ndarray:
        return np.ravel([_size(sides(one)[side][1]) for one in pairs(articulation)])

    return Parameter(name=f"contact_size{side}", of="contact_pair", values=values, size=3)


def _size(shape: Shape) -> tuple[float, float, float]:
    return shape.half_extents if shape.kind is ShapeKind.BOX else (shape.radius, shape.half_height, 0.0)


def _radius(shape: Shape) -> float:
    """Of a ball about the origin of a shape's frame around it [m]; of a plane zero."""
    if shape.kind is ShapeKind.PLANE:
        return 0.0
    center, radius = ball_of(shape)
    return ROOM * (float(np.linalg.norm(center - shape.frame.position)) + radius)


def _thickness(shape: Shape) -> float:
    """Half of the least extent of a shape [m]; of what is flat infinite: the other shape says what passes it."""
    if shape.kind is ShapeKind.PLANE:
        return np.inf
    if shape.kind is ShapeKind.BOX:
        return min(shape.half_extents)
    if shape.kind is ShapeKind.CONVEX:
        return 0.5 * float(np.min(np.ptp(np.array(shape.points), axis=0))) or np.inf
    if shape.kind in (ShapeKind.CYLINDER, ShapeKind.CONE):
        return min(shape.radius, shape.half_height)
    return shape.radius


def _hull_points(articulation: Articulation) -> np.ndarray:
    return np.ravel([point for one in pairs(articulation) for _, shape in sides(one) for point in _hull(shape)])


def _each(name: str, value: Callable[[ContactPair], float], allowed: Allowed | None = None) -> Parameter:
    """A number of each pair."""
    return Parameter(
        name=f"contact_{name}",
        of="contact_pair",
        values=lambda articulation: [value(one) for one in pairs(articulation)],
        allowed=allowed,
    )


def _names(articulation: Articulation) -> tuple[str, ...]:
    """Of each point the paths of both colliders, and a number: pairs of their patches are counted on."""
    counts: dict[str, int] = {}
    found = []
    for one in pairs(articulation):
        name = f"{one.shape0.path}:{one.shape1.path}"
        first = counts.get(name, 0)
        counts[name] = first + point_count(one)
        found += [f"{name}:{number}" for number in range(first, counts[name])]
    return tuple(found)


def _table(place: int) -> Callable:
    return lambda tree: [one[place] for one in tree.structure_of(CONTACT_PAIR)]


def _points(tree) -> int:
    return tree.kinds["contact"]


def _islands(tree) -> int:
    return tree.island_count * (_points(tree) > 0)


CONTACT_PAIR = ConstraintFamily(
    name="contact",
    order=890,
    label=("contact", "contacts"),
    part=ForcePart.CONTACT,
    places=_places,
    traits=ENDS | FROM_OUTSIDE | IS_CONTACT | LOOKS_AT_ACCELERATIONS | PUSHES_LINKS,
    needs_places=True,
    law=set_contact_pair_row,
    gradient=set_contact_pair_gradient,
    take_off=take_contact_off,
    entries=Entries(
        kind="contact",
        names=_names,
        meaning="Points at which two shapes may touch, by the paths of both and a number",
        row_names=lambda articulation: (),
    ),
    kinds={
        "contact_pair": lambda articulation: len(pairs(articulation)),
        "contact_seam": lambda articulation: sum(len(_seams(one)) for one in pairs(articulation)),
        "hull_point": lambda articulation: len(_hull_points(articulation)) // 3,
    },
    parameters=(
        _frames(0),
        _frames(1),
        _sizes(0),
        _sizes(1),
        _each("radius0", lambda one: _radius(sides(one)[0][1])),
        _each("radius1", lambda one: _radius(sides(one)[1][1])),
        Parameter(name="contact_seam_way", of="contact_seam", values=_seam_ways, size=4),
        Parameter(name="contact_hull_point", of="hull_point", values=_hull_points, size=3),
        _each("static_friction", lambda one: one.static_friction, NOT_NEGATIVE),
        _each("dynamic_friction", lambda one: one.dynamic_friction, NOT_NEGATIVE),
        _each("restitution", lambda one: one.restitution, SHARE),
        _each("bounce_threshold", lambda one: one.bounce_threshold, NOT_NEGATIVE),
        _each("stiffness", lambda one: one.stiffness, ANGLE),
        _each("damping", lambda one: one.damping, NOT_NEGATIVE),
        _each("rest", lambda one: one.rest_distance, FINITE),
        _each("distance", lambda one: one.contact_distance, FINITE),
        _each("thickness", lambda one: min(_thickness(one.shape0), _thickness(one.shape1))),
        _each("depenetration", lambda one: one.depenetration_speed, ANGLE),
    ),
    multiplier=Measure(
        name="contact_force",
        meaning="Mean force at each point of contact on the second shape over the last step before a record [N], world "
        "axes",
        unit="N",
        size=3,
    ),
    add_load=add_contact_load,
    memory=(
        Measure(
            name="contact_impulse",
            meaning="Impulse at each point on the second shape in the last step, or its last substep [N s], world axes",
            size=3,
        ),
        Measure(name="contact_impact", meaning="1 where the last step had an impact, 0 elsewhere"),
        Measure(name="contact_crowded", meaning="1 where a step had no room for a point that touches, 0 elsewhere"),
    ),
    found=(
        Measure(name="contact_gap", meaning="Distance of the shapes at each point, negative where they overlap [m]"),
        Measure(name="contact_position", meaning="Midway between the shapes at each point [m], in the world", size=3),
        Measure(name="contact_normal", meaning="Unit vector toward the second shape at each point, world axes", size=3),
    ),
    structure=_structure,
    counts={
        "contact_count": lambda tree: tree.kinds["contact_pair"],
        "contact_point_count": _points,
        "contact_rows": lambda tree: tree.count(CONTACT_PAIR),
        "contact_room": lambda tree: min(tree.count(CONTACT_PAIR), 3 * MOST_POINTS),
        "contact_row": lambda tree: next((k for k, row in enumerate(tree.rows) if row.family is CONTACT_PAIR), 0),
    },
    tables={
        "contact_link0": _table(0),
        "contact_link1": _table(1),
        "contact_meet": _table(2),
        "contact_first": _table(3),
        "contact_points": _table(4),
        "contact_kind0": _table(5),
        "contact_kind1": _table(6),
        "contact_hull0": _table(7),
        "contact_hull0_count": _table(8),
        "contact_hull1": _table(9),
        "contact_hull1_count": _table(10),
        "contact_sense": _table(11),
        "contact_patch": _table(12),
        "contact_seam": _table(13),
        "contact_seams": _table(14),
        "contact_one_sided": _table(15),
        "contact_of_point": lambda tree: [
            pair for pair, one in enumerate(tree.structure_of(CONTACT_PAIR)) for _point in range(one[4])
        ],
    },
    scratch={
        "contact_point": lambda tree: 7 * _points(tree),
        "contact_near": _points,
        "contact_speed": _points,
        "contact_friction": _points,
        "contact_share": _points,
        "contact_hits": _points,
        "contact_left": _points,
        "contact_still": _points,
        "contact_resting": _points,
        "contact_bounces": _islands,
        "contact_passing": _islands,
        "contact_slow": _islands,
        "contact_has_passed": _islands,
        "contact_kept": lambda tree: 3 * _points(tree),
        "contact_led": lambda tree: 3 * _points(tree),
        "contact_passed": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "contact_start": lambda tree: 3 * _points(tree),
        "contact_anchor": lambda tree: 3 * _points(tree),
        "contact_give": lambda tree: 3 * _points(tree),
        "contact_memory": lambda tree: 3 * _points(tree),
        "contact_path": lambda tree: tree.dof_count * (_points(tree) > 0),
        "v_before_lead": lambda tree: tree.dof_count * (_points(tree) > 0),
        "island_impact": _islands,
        "island_push": _islands,
        "island_work": _islands,
        "island_wanted": _islands,
        "split_impulse": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "split_dual": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "split_penalty": lambda tree: len(tree.rows) * (_points(tree) > 0),
        "split_diagonal": lambda tree: len(tree.rows) * (_points(tree) > 0),
    },
)

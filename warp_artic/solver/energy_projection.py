"""Free motion that a step does not resolve keeps its energy, and on a floating base its momentum.

Where links turn far in a step, or chains have waves that are faster than it, velocities are not those that the steps
before promise. Velocity forces at other velocities than those of the step do work, which feeds on itself. A step of a
tree on which only weights, stops and drag act is not resolved where
    h^2 miss rate > UNRESOLVED
with rate the largest angular rate of a dof in the mean of v and v+, found or promised, and miss how far the two are
apart: by about that angle do velocity forces turn a dof wrongly in a step. An impact alone, a difference that
constraint rows make, does not count. Such a step is evaluated again at the mean of v and v+, which may be no further
from v than v is large (`velocities.expect_velocities`), and then v+ is projected onto the energy of the start:
    T(q+, s v+) = T(q, v) + V(q) - V(q+)
with T the kinetic energy and V that of weights. On a fixed base v+ becomes s v+; where q+ is so high up that there is
no such s, the tree stays at q for this step. On a floating base what is scaled is the motion relative to that of the
whole, V_C and Omega, and the whole gets the momentum that it must have:
    m V_C = P + h m g,   I_C Omega = L_C,   T = m V_C.V_C / 2 + Omega.I_C Omega / 2 + s^2 T_rel.
Where a stop or drag acts, these take energy and may change the momentum: then V_C and Omega are as they are found, and
s is at most one. Nothing is projected where anything else acts: inputs, soft limits that are passed, or a base that
turns or accelerates; nor in a first step, of which nothing is promised. What is projected is on no smooth curve.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import cross, dot, mat_mul, sym_outer, sym_rotate, sym_scalar, sym_solve, transpose_mul
from warp_artic.model.arrays import (
    ControlArrays,
    ModelArrays,
    StateArrays,
    WorkArrays,
    load_mat3,
    load_sym3,
    load_vec3,
    store_sym3,
    store_vec3,
)
from warp_artic.model.base import BASE_ANGULAR, BASE_ANGULAR_RATE, BASE_LINEAR_RATE
from warp_artic.model.kinds import FLOATING
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_velocities import move_link
from warp_artic.solver.history import is_soft_limit

UNRESOLVED = wp.constant(1e-5)
"""h^2 miss rate from which on a step is not resolved [rad^2]; with 3e-5 a chain of 200 links that falls loses 1.4 %."""
UNRESOLVED_CURVE = wp.constant(6e-5)
"""The same where accelerations are on a smooth curve, of which more is promised (`solver.history`): with 1e-5 a double
pendulum at 1/120, whose errors are of fourth order, is taken for unresolved in 8 of 240 steps, with 6e-5 in none."""
MOST = wp.constant(30.0)
"""The largest s; those of passive chains of 200 links are up to 8, and at most 2 would lose most of their energy."""

# Rows of `work.motion_sums`: those of the state before the step, and from END on those of the state after it.
KINETIC = wp.constant(0)
"""[J]"""
POTENTIAL = wp.constant(1)
"""[J]"""
MASS = wp.constant(2)
CENTER = wp.constant(3)
"""Of mass, seen from the origin of the base or of the frame of a floating root [m]."""
MOMENTUM = wp.constant(6)
SPIN = wp.constant(9)
"""Angular momentum about the centre of mass."""
INERTIA = wp.constant(12)
"""About the centre of mass, six rows."""
END = wp.constant(18)


@wp.func
def begin_watch(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """Write whether a step is looked at and accelerations before it are on a smooth curve, and that no row acts."""
    started = state.started[0, column]
    zero = started - started
    moving = zero
    for k in range(3):
        moving = moving + absolute(model.base[BASE_ANGULAR + k, column])
        moving = moving + absolute(model.base[BASE_ANGULAR_RATE + k, column])
        moving = moving + absolute(model.base[BASE_LINEAR_RATE + k, column])
    work.watched[0, slot] = where_positive(moving, zero, started)
    work.watched[1, slot] = state.smoothness[0, column]
    work.watched[2, slot] = zero


@wp.func
def find_unresolved(model: ModelArrays, control: ControlArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Write one where a step of h does not resolve the motion; `work.u` are the means of v and v+."""
    watched = work.watched[0, slot]
    smooth = work.watched[1, slot]
    zero = watched - watched
    half = real(0.5, h)
    miss = zero
    rate = zero
    dofs = model.dof_count
    for dof in range(dofs):
        if model.dof_is_linear[dof] == 0:
            changes = work.recalled[dofs + dof, slot] + work.recalled[2 * dofs + dof, slot]
            promised = work.v[dof, slot] + half * h * (work.recalled[dof, slot] + smooth * changes)
            mean = work.u[dof, slot]
            free = work.v[dof, slot] + half * h * work.vdot[dof, slot]
            miss = maximum(miss, minimum(absolute(mean - promised), absolute(free - promised)))
            rate = maximum(rate, maximum(absolute(mean), absolute(promised)))
    allowed = where_positive(smooth, real(UNRESOLVED_CURVE, h), real(UNRESOLVED, h))
    work.unresolved[0, slot] = where_positive(h * h * miss * rate - allowed, watched, zero)
    if any_positive(work.unresolved[0, slot]):
        driven = find_inputs(model, control, column, zero) + find_springs(model, work, slot, zero)
        work.unresolved[0, slot] = where_positive(driven, zero, work.unresolved[0, slot])


@wp.func
def find_inputs(model: ModelArrays, control: ControlArrays, column: int, zero: Real):
    """Positive where forces are given to joints or links."""
    given = zero
    for item in range(model.dof_count - model.root_dofs):
        given = maximum(given, absolute(control.joint_effort[item, column]))
    for row in range(6 * model.link_count):
        given = maximum(given, absolute(control.link_external_force[row, column]))
    return given


@wp.func
def nearness(size: Real, change: Real):
    """What to take of a change from v to the mean of v and v+, so that it is no larger than v is."""
    return where_positive(change - size, size / change, real(1.0, size))


@wp.func
def watch_rows(model: ModelArrays, work: WorkArrays, slot: int, h: Real):
    """After a substep: write whether rows act; where these are soft limits the step is not looked at any further."""
    held = real(float(model.link_damping), h)
    for row in range(model.row_count):
        held = maximum(held, maximum(work.active[row, slot], absolute(work.impulse[row, slot])))
    work.watched[2, slot] = maximum(work.watched[2, slot], held)
    sprung = find_springs(model, work, slot, held - held)
    work.unresolved[0, slot] = where_positive(sprung, held - held, work.unresolved[0, slot])


@wp.func
def find_springs(model: ModelArrays, work: WorkArrays, slot: int, zero: Real):
    """Positive where a soft limit acts."""
    sprung = zero
    for row in range(model.row_count):
        if is_soft_limit(model, row):
            sprung = maximum(sprung, absolute(work.impulse[row, slot] + work.given[row, slot]))
    return sprung


@wp.func
def add_up_motion(model: ModelArrays, work: WorkArrays, first: int, column: int, slot: int):
    """Write the energies, mass, momenta and inertia of the tree at `work.middle`, `work.middle_root` and `work.u`.

    `first` is the first of their rows; positions are from the origin of the base, or of the frame of a floating root.
    """
    place_links(model, work, work.middle, work.middle_root, work.u, column, slot)
    g = load_vec3(model.gravity, 0, column)
    zero = real(0.0, g.x)
    half = real(0.5, g.x)
    none = vec3(zero, zero, zero)
    base = 3 * model.link_count
    store_vec3(work.angular, base, slot, none)
    store_vec3(work.linear, base, slot, none)
    store_vec3(work.p_WM, base, slot, none)
    kinetic = zero
    mass = zero
    moment = none
    P = none
    L = none
    inertia = sym_scalar(zero)
    for k in range(model.link_count):
        link = model.order[k]
        w, v_M = move_link(model, work, work.u, link, slot)
        R_WM = load_mat3(work.R_WM, 9 * link, slot)
        x = load_vec3(work.p_WM, 3 * model.link_parent[link], slot) + load_vec3(work.p_PM, 3 * link, slot)
        if model.link_joint[link] == FLOATING:
            R_WL = mat_mul(R_WM, load_mat3(model.link_frame, 12 * link, column))
            x = R_WL * load_vec3(model.link_frame, 12 * link + 9, column)
        store_vec3(work.p_WM, 3 * link, slot, x)
        c = R_WM * load_vec3(model.link_center, 3 * link, column)
        m = model.link_mass[link, column]
        v_C = v_M + cross(w, c)
        r = x + c
        own = load_sym3(model.link_inertia, 6 * link, column)
        w_M = transpose_mul(R_WM, w)
        kinetic = kinetic + half * (m * dot(v_C, v_C) + dot(w_M, own * w_M))
        mass = mass + m
        moment = moment + r * m
        P = P + v_C * m
        L = L + R_WM * (own * w_M) + cross(r, v_C) * m
        inertia = inertia + sym_rotate(R_WM, own) + sym_scalar(m * dot(r, r)) - sym_outer(r) * m
    for dof in range(model.root_dofs, model.dof_count):
        v = work.u[dof, slot]
        kinetic = kinetic + half * model.armature[dof - model.root_dofs, column] * v * v
    center = moment * (real(1.0, mass) / mass)
    work.motion_sums[first + KINETIC, slot] = kinetic
    work.motion_sums[first + POTENTIAL, slot] = neg(dot(g, moment))
    work.motion_sums[first + MASS, slot] = mass
    store_vec3(work.motion_sums, first + CENTER, slot, center)
    store_vec3(work.motion_sums, first + MOMENTUM, slot, P)
    store_vec3(work.motion_sums, first + SPIN, slot, L - cross(center, P))
    about_center = inertia - sym_scalar(dot(center, moment)) + sym_outer(center) * mass
    store_sym3(work.motion_sums, first + INERTIA, slot, about_center)


@wp.func
def add_up_start(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int):
    """The sums of q and v, which are still in the state."""
    for item in range(model.dof_count - model.root_dofs):
        work.middle[item, slot] = state.joint_position[item, column]
        work.u[model.root_dofs + item, slot] = state.joint_velocity[item, column]
    if model.root_dofs > 0:
        for row in range(7):
            work.middle_root[row, slot] = state.root_pose[row, column]
        for dof in range(6):
            work.u[dof, slot] = state.root_velocity[dof, column]
    add_up_motion(model, work, 0, column, slot)


@wp.func
def add_up_end(model: ModelArrays, work: WorkArrays, column: int, slot: int):
    """The sums of q+ and v+."""
    for item in range(model.dof_count - model.root_dofs):
        work.middle[item, slot] = work.position[item, slot]
    if model.root_dofs > 0:
        for row in range(7):
            work.middle_root[row, slot] = work.root[row, slot]
    for dof in range(model.dof_count):
        work.u[dof, slot] = work.v[dof, slot]
    add_up_motion(model, work, END, column, slot)


@wp.func
def fallen_energy(work: WorkArrays, slot: int):
    """T(q, v) + V(q) - V(q+) [J]; of a floating base without what its origin has fallen."""
    fallen = work.motion_sums[POTENTIAL, slot] - work.motion_sums[END + POTENTIAL, slot]
    return work.motion_sums[KINETIC, slot] + fallen


@wp.func
def project_energy(model: ModelArrays, state: StateArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """Give v+ the energy and momentum that it must have where the step is unresolved; `state` is still q and v."""
    unresolved = work.unresolved[0, slot]
    held = work.watched[2, slot]
    one = real(1.0, h)
    zero = one - one
    add_up_start(model, state, work, column, slot)
    add_up_end(model, work, column, slot)
    if model.root_dofs == 0:
        stuck = where_positive(held, zero, where_positive(neg(fallen_energy(work, slot)), unresolved, zero))
        if any_positive(stuck):
            for item in range(model.dof_count):
                q = state.joint_position[item, column]
                work.position[item, slot] = where_positive(stuck, q, work.position[item, slot])
            add_up_end(model, work, column, slot)
    found = work.motion_sums[END + KINETIC, slot]
    wanted = fallen_energy(work, slot)
    most = where_positive(held, one, real(MOST, h))
    if model.root_dofs > 0:
        scale_floating(model, state, work, found, wanted, most, column, slot, h)
    else:
        s = minimum(scale_of(found, wanted), most)
        for dof in range(model.dof_count):
            v = work.v[dof, slot]
            work.v[dof, slot] = where_positive(unresolved, s * v, v)
    counts = where_positive(state.failure[0, column], zero, unresolved)
    state.unresolved[0, column] = state.unresolved[0, column] + counts
    for k in range(2):
        state.smoothness[k, column] = where_positive(unresolved, zero, state.smoothness[k, column])


@wp.func
def scale_of(found: Real, wanted: Real):
    """s of a motion of an energy found; one of none."""
    one = real(1.0, found)
    zero = one - one
    s = sqrt(maximum(wanted, zero) / where_positive(found, found, one))
    return where_positive(found, s, one)


@wp.func
def scale_floating(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    found: Real,
    wanted: Real,
    most: Real,
    column: int,
    slot: int,
    h: Real,
):
    """The same on a floating base: v+ = V_C + Omega x r + s v_rel with the momentum that weights leave."""
    unresolved = work.unresolved[0, slot]
    one = real(1.0, h)
    half = real(0.5, h)
    none = vec3(one - one, one - one, one - one)
    mass = work.motion_sums[END + MASS, slot]
    inertia = load_sym3(work.motion_sums, END + INERTIA, slot)
    g = load_vec3(model.gravity, 0, column)
    P = load_vec3(work.motion_sums, END + MOMENTUM, slot)
    L = load_vec3(work.motion_sums, END + SPIN, slot)
    P_change = load_vec3(work.motion_sums, MOMENTUM, slot) + g * (h * mass) - P
    L_change = load_vec3(work.motion_sums, SPIN, slot) - L
    is_free = where_positive(work.watched[2, slot], one - one, one)
    P_change = P_change * is_free
    L_change = L_change * is_free
    V_C = P * (one / mass)
    V_change = P_change * (one / mass)
    Omega = sym_solve(inertia, L)
    Omega_change = sym_solve(inertia, L_change)
    moved = none
    moved.x = work.root[0, slot] - state.root_pose[0, column]
    moved.y = work.root[1, slot] - state.root_pose[1, column]
    moved.z = work.root[2, slot] - state.root_pose[2, column]
    relative = found - half * (dot(P, V_C) + dot(L, Omega))
    carried = half * (dot(P + P_change, V_C + V_change) + dot(L + L_change, Omega + Omega_change))
    s = minimum(scale_of(relative, wanted + mass * dot(g, moved) - carried), most)
    arm = load_vec3(work.p_WM, 3 * model.order[0], slot) - load_vec3(work.motion_sums, END + CENTER, slot)
    more = s - one
    linear = load_vec3(work.v, 0, slot) - V_C - cross(Omega, arm)
    angular = load_vec3(work.v, 3, slot) - Omega
    add_where(work, 0, slot, unresolved, linear * more + V_change + cross(Omega_change, arm))
    add_where(work, 3, slot, unresolved, angular * more + Omega_change)
    for dof in range(6, model.dof_count):
        v = work.v[dof, slot]
        work.v[dof, slot] = where_positive(unresolved, s * v, v)


@wp.func
def add_where(work: WorkArrays, row: int, slot: int, chosen: Real, change: Vec3):
    """Add a change to three velocities, where chosen."""
    v = load_vec3(work.v, row, slot)
    work.v[row, slot] = where_positive(chosen, v.x + change.x, v.x)
    work.v[row + 1, slot] = where_positive(chosen, v.y + change.y, v.y)
    work.v[row + 2, slot] = where_positive(chosen, v.z + change.z, v.z)

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
with T the kinetic energy and V that of weights and of springs of soft limits, sum k (y - limit)^2 / 2 beyond them. On
a fixed base v+ becomes s v+. On a floating base what is scaled is the motion relative to that of the whole, V_C and
Omega, and the whole gets the momentum that it must have:
    m V_C = P + h m g,   I_C Omega = L_C,   T = m V_C.V_C / 2 + Omega.I_C Omega / 2 + s^2 T_rel.
Where q+ is so high up, or so far beyond soft limits, that there is no such s, the tree stays at q for this step, or
goes on as one. Where hard stops or drag act, and soft limits with dampers or with springs that the step does not
resolve, these take energy: then s is at most one. Drag and largest velocities of links may change the momentum too:
then V_C and Omega are as they are found. Nothing is projected where anything else acts: inputs, or a base that turns or
accelerates; nor in a first step, of which nothing is promised. What is projected is on no smooth curve.

All this is for each tree of a mechanism that moves freely, by itself.

Armatures along two free rotations that are not equal have different energies on the two sides of half a turn
(`joints.swing`). A step that ends beyond it is projected onto the energy of its start, too.
"""

import warp as wp

from warp_artic.constraints.soft_rotation_limit import soft_limit_gains, soft_limit_value
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
from warp_artic.model.families import FROM_OUTSIDE, IS_SOFT_LIMIT, has_trait
from warp_artic.model.islands import island_dof
from warp_artic.model.kinds import FLOATING
from warp_artic.model.roots import pose_row, pose_rows
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_velocities import move_link

UNRESOLVED = wp.constant(1e-5)
"""h^2 miss rate from which on a step is not resolved [rad^2]; with 3e-5 a chain of 200 links that falls loses 1.4 %."""
UNRESOLVED_CURVE = wp.constant(6e-5)
"""The same where accelerations are on a smooth curve, of which more is promised (`solver.history`): with 1e-5 a double
pendulum at 1/120, whose errors are of fourth order, is taken for unresolved in 8 of 240 steps, with 6e-5 in none. So it
is where soft limits act, whose forces a promise is late by a step to know: with 1e-5 half of the steps of trees that
these push are taken for unresolved. Not so with substeps, which look at velocity forces but once for many such pushes.
"""
RESOLVED = wp.constant(0.5)
"""`work.resolved` of a soft limit below which its spring takes energy: angular frequency times step of about one."""
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
    """Write whether a step is looked at and accelerations before it are on a smooth curve, and that no row acts.

    The rows of `work.watched` are, for each island, these two, whether energy is taken, and whether anything changes
    the momentum.
    """
    started = state.started[0, column]
    zero = started - started
    moving = zero
    for k in range(3):
        moving = moving + absolute(model.base[BASE_ANGULAR + k, column])
        moving = moving + absolute(model.base[BASE_ANGULAR_RATE + k, column])
        moving = moving + absolute(model.base[BASE_LINEAR_RATE + k, column])
    for island in range(model.island_count):
        watched = real(float(model.island_moves_freely[island]), started) * started
        work.watched[4 * island, slot] = where_positive(moving, zero, watched)
        work.watched[4 * island + 1, slot] = state.smoothness[2 * island, column]
        work.watched[4 * island + 2, slot] = zero
        work.watched[4 * island + 3, slot] = zero
        work.projected[island, slot] = zero


@wp.func
def find_unresolved(
    model: ModelArrays,
    control: ControlArrays,
    work: WorkArrays,
    island: int,
    column: int,
    slot: int,
    h: Real,
    h_sub: Real,
):
    """Write one where a step of h, in substeps of h_sub, does not resolve an island; `work.u` are means of v and v+."""
    watched = work.watched[4 * island, slot]
    smooth = work.watched[4 * island + 1, slot]
    zero = watched - watched
    half = real(0.5, h)
    miss = zero
    rate = zero
    dofs = model.dof_count
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        if model.dof_is_linear[dof] == 0:
            changes = work.recalled[dofs + dof, slot] + work.recalled[2 * dofs + dof, slot]
            promised = work.v[dof, slot] + half * h * (work.recalled[dof, slot] + smooth * changes)
            mean = work.u[dof, slot]
            free = work.v[dof, slot] + half * h * work.vdot[dof, slot]
            miss = maximum(miss, minimum(absolute(mean - promised), absolute(free - promised)))
            rate = maximum(rate, maximum(absolute(mean), absolute(promised)))
    one_solution = h_sub + h_sub - h
    smooth = maximum(smooth, where_positive(one_solution, find_springs(model, work, island, slot, zero), zero))
    allowed = where_positive(smooth, real(UNRESOLVED_CURVE, h), real(UNRESOLVED, h))
    work.unresolved[island, slot] = where_positive(h * h * miss * rate - allowed, watched, zero)
    if any_positive(work.unresolved[island, slot]):
        driven = find_inputs(model, control, island, column, zero)
        work.unresolved[island, slot] = where_positive(driven, zero, work.unresolved[island, slot])


@wp.func
def find_inputs(model: ModelArrays, control: ControlArrays, island: int, column: int, zero: Real):
    """Positive where forces are given to joints or links of an island."""
    given = zero
    for item in range(model.dof_count - model.root_dofs):
        if model.dof_island[model.root_dofs + item] == island:
            given = maximum(given, absolute(control.joint_effort[item, column]))
    for link in range(model.link_count):
        if model.tree_island[model.link_tree[link]] == island:
            for row in range(6 * link, 6 * link + 6):
                given = maximum(given, absolute(control.link_external_force[row, column]))
    return given


@wp.func
def nearness(size: Real, change: Real):
    """What to take of a change from v to the mean of v and v+, so that it is no larger than v is."""
    return where_positive(change - size, size / change, real(1.0, size))


@wp.func
def watch_rows(model: ModelArrays, work: WorkArrays, column: int, slot: int, h: Real):
    """After a substep: write whether drag, rows that take energy, or rows that change the momentum act."""
    for island in range(model.island_count):
        drag = real(float(model.island_has_drag[island]), h)
        work.watched[4 * island + 2, slot] = maximum(work.watched[4 * island + 2, slot], drag)
        work.watched[4 * island + 3, slot] = maximum(work.watched[4 * island + 3, slot], drag)
    for row in range(model.row_count):
        watched = 4 * model.row_island[row]
        acts = maximum(work.active[row, slot], absolute(work.impulse[row, slot]))
        if has_trait(model, row, IS_SOFT_LIMIT):
            acts = maximum(acts, absolute(work.given[row, slot])) * takes_energy(model, work, row, column, slot)
        work.watched[watched + 2, slot] = maximum(work.watched[watched + 2, slot], acts)
        if has_trait(model, row, FROM_OUTSIDE):
            work.watched[watched + 3, slot] = maximum(work.watched[watched + 3, slot], acts)


@wp.func
def watch_turns(model: ModelArrays, control: ControlArrays, work: WorkArrays, column: int, slot: int):
    """Have steps projected, again, in which armatures have made or lost energy where a swing was turned round."""
    for island in range(model.island_count):
        uneven = work.uneven[island, slot]
        zero = uneven - uneven
        uneven = uneven * work.watched[4 * island, slot]
        if any_positive(uneven):
            uneven = where_positive(find_inputs(model, control, island, column, zero), zero, uneven)
        work.unresolved[island, slot] = uneven


@wp.func
def find_springs(model: ModelArrays, work: WorkArrays, island: int, slot: int, zero: Real):
    """Positive where a soft limit of an island acts."""
    sprung = zero
    for row in range(model.row_count):
        if has_trait(model, row, IS_SOFT_LIMIT) and model.row_island[row] == island:
            sprung = maximum(sprung, absolute(work.impulse[row, slot]) + absolute(work.given[row, slot]))
    return sprung


@wp.func
def takes_energy(model: ModelArrays, work: WorkArrays, row: int, column: int, slot: int):
    """Positive where a soft limit has a damper, or is so stiff that the step damps its swing."""
    stiff = real(RESOLVED, work.resolved[row, slot]) - work.resolved[row, slot]
    _k, d = soft_limit_gains(model, row, column)
    return maximum(maximum(d, stiff), stiff - stiff)


@wp.func
def sprung_energy(model: ModelArrays, work: WorkArrays, island: int, column: int, slot: int):
    """The energy of the springs of soft limits of an island at the positions `work.end_position` [J]."""
    zero = real(0.0, model.gravity[0, column])
    energy = zero
    for row in range(model.row_count):
        if has_trait(model, row, IS_SOFT_LIMIT) and model.row_island[row] == island:
            k, _d = soft_limit_gains(model, row, column)
            y, lower, upper = soft_limit_value(model, work.end_position, row, column, slot)
            beyond = maximum(maximum(lower - y, y - upper), zero)
            energy = energy + real(0.5, k) * k * beyond * beyond
    return energy


@wp.func
def add_up_motion(model: ModelArrays, work: WorkArrays, first: int, column: int, slot: int):
    """Write the energies, mass, momenta and inertia of trees at `work.end_position`, `work.end_root` and `work.u`.

    Of those that move freely. `first` is the first of their rows; positions are from the origin of the base, or of the
    frame of a floating root.
    """
    place_links(model, work, work.end_position, work.end_root, work.u, column, slot)
    zero = real(0.0, model.gravity[0, column])
    none = vec3(zero, zero, zero)
    base = 3 * model.link_count
    store_vec3(work.angular, base, slot, none)
    store_vec3(work.linear, base, slot, none)
    store_vec3(work.p_WM, base, slot, none)
    for tree in range(model.tree_count):
        if model.island_moves_freely[model.tree_island[tree]] == 1:
            add_up_tree(model, work, tree, 2 * END * tree + first, column, slot)


@wp.func
def add_up_tree(model: ModelArrays, work: WorkArrays, tree: int, first: int, column: int, slot: int):
    """The same of a tree whose links are placed."""
    g = load_vec3(model.gravity, 0, column)
    zero = real(0.0, g.x)
    half = real(0.5, g.x)
    none = vec3(zero, zero, zero)
    kinetic = zero
    mass = zero
    moment = none
    P = none
    L = none
    inertia = sym_scalar(zero)
    island = model.tree_island[tree]
    for k in range(model.tree_link[tree], model.tree_link[tree + 1]):
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
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        if dof >= model.root_dofs:
            v = work.u[dof, slot]
            kinetic = kinetic + half * model.armature[dof - model.root_dofs, column] * v * v
    center = moment * (real(1.0, mass) / mass)
    work.motion_sums[first + KINETIC, slot] = kinetic
    work.motion_sums[first + POTENTIAL, slot] = sprung_energy(model, work, island, column, slot) - dot(g, moment)
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
        work.end_position[item, slot] = state.joint_position[item, column]
        work.u[model.root_dofs + item, slot] = state.joint_velocity[item, column]
    for row in range(pose_rows(model.root_dofs)):
        work.end_root[row, slot] = state.root_pose[row, column]
    for dof in range(model.root_dofs):
        work.u[dof, slot] = state.root_velocity[dof, column]
    add_up_motion(model, work, 0, column, slot)


@wp.func
def add_up_end(model: ModelArrays, work: WorkArrays, column: int, slot: int):
    """The sums of q+ and v+."""
    for item in range(model.dof_count - model.root_dofs):
        work.end_position[item, slot] = work.position[item, slot]
    for row in range(pose_rows(model.root_dofs)):
        work.end_root[row, slot] = work.root[row, slot]
    for dof in range(model.dof_count):
        work.u[dof, slot] = work.v[dof, slot]
    add_up_motion(model, work, END, column, slot)


@wp.func
def fallen_energy(work: WorkArrays, sums: int, slot: int):
    """T(q, v) + V(q) - V(q+) [J]; of a floating base without what its origin has fallen."""
    fallen = work.motion_sums[sums + POTENTIAL, slot] - work.motion_sums[sums + END + POTENTIAL, slot]
    return work.motion_sums[sums + KINETIC, slot] + fallen


@wp.func
def project_energy(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    column: int,
    slot: int,
    h: Real,
    is_turned: int,
):
    """Give v+ the energy and momentum that it must have where the step is unresolved; `state` is still q and v.

    If `is_turned` is 1, it is for armatures at the end of a step, which does not count as unresolved by that.
    """
    add_up_start(model, state, work, column, slot)
    add_up_end(model, work, column, slot)
    if is_turned == 0:
        is_stuck = bool(False)
        for tree in range(model.tree_count):
            island = model.tree_island[tree]
            if model.island_moves_freely[island] == 1:
                zero = h - h
                left = energy_left(model, state, work, tree, column, slot, h)
                stuck = where_positive(neg(left), work.unresolved[island, slot], zero)
                stuck = where_positive(work.watched[4 * island + 3, slot], zero, stuck)
                if any_positive(stuck):
                    stay(model, state, work, tree, column, slot, stuck, h)
                    is_stuck = bool(True)
        if is_stuck:
            add_up_end(model, work, column, slot)
    for tree in range(model.tree_count):
        if model.island_moves_freely[model.tree_island[tree]] == 1:
            project_tree(model, state, work, tree, column, slot, h, is_turned)


@wp.func
def project_tree(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    tree: int,
    column: int,
    slot: int,
    h: Real,
    is_turned: int,
):
    """The same of a tree whose sums are known."""
    island = model.tree_island[tree]
    unresolved = work.unresolved[island, slot]
    one = real(1.0, h)
    zero = one - one
    left = energy_left(model, state, work, tree, column, slot, h)
    most = where_positive(work.watched[4 * island + 2, slot], one, real(MOST, h))
    if model.tree_root[tree] >= 0:
        scale_floating(model, work, tree, left, most, column, slot, h)
    else:
        s = minimum(scale_of(work.motion_sums[2 * END * tree + END + KINETIC, slot], left), most)
        scale_joints(model, work, island, slot, unresolved, s)
    work.projected[island, slot] = maximum(work.projected[island, slot], unresolved)
    counts = where_positive(state.failure[0, column], zero, unresolved) * real(float(1 - is_turned), h)
    state.unresolved[island, column] = state.unresolved[island, column] + counts
    for k in range(2 * island, 2 * island + 2):
        state.smoothness[k, column] = where_positive(unresolved, zero, state.smoothness[k, column])


@wp.func
def scale_joints(model: ModelArrays, work: WorkArrays, island: int, slot: int, chosen: Real, s: Real):
    """Multiply the velocities of the joints of an island, where chosen."""
    for k in range(model.island_first[island], model.island_first[island + 1]):
        dof = island_dof(model, k)
        if dof >= model.root_dofs:
            v = work.v[dof, slot]
            work.v[dof, slot] = where_positive(chosen, s * v, v)


@wp.func
def scale_of(found: Real, wanted: Real):
    """s of a motion of an energy found; one of none."""
    one = real(1.0, found)
    zero = one - one
    s = sqrt(maximum(wanted, zero) / where_positive(found, found, one))
    return where_positive(found, s, one)


@wp.func
def stay(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    tree: int,
    column: int,
    slot: int,
    stuck: Real,
    h: Real,
):
    """Make q the position of a tree after the step where `stuck`; one that floats goes on as one, without turning."""
    island = model.tree_island[tree]
    for k in range(model.island_first[island], model.island_first[island + 1]):
        item = island_dof(model, k) - model.root_dofs
        if item >= 0:
            q = state.joint_position[item, column]
            work.position[item, slot] = where_positive(stuck, q, work.position[item, slot])
    if model.tree_root[tree] >= 0:
        sums = 2 * END * tree
        row = pose_row(model.tree_root[tree])
        half = real(0.5, h)
        V_C = load_vec3(work.motion_sums, sums + MOMENTUM, slot) * (real(1.0, h) / work.motion_sums[sums + MASS, slot])
        moved = (V_C + load_vec3(model.gravity, 0, column) * (h * half)) * h
        x = load_vec3(state.root_pose, row, column) + moved
        work.root[row, slot] = where_positive(stuck, x.x, work.root[row, slot])
        work.root[row + 1, slot] = where_positive(stuck, x.y, work.root[row + 1, slot])
        work.root[row + 2, slot] = where_positive(stuck, x.z, work.root[row + 2, slot])
        for k in range(row + 3, row + 7):
            work.root[k, slot] = where_positive(stuck, state.root_pose[k, column], work.root[k, slot])


@wp.func
def momentum_changes(model: ModelArrays, work: WorkArrays, tree: int, column: int, slot: int, h: Real):
    """What P and L_C of a tree miss of those that weights leave, where nothing else may change them."""
    sums = 2 * END * tree
    g = load_vec3(model.gravity, 0, column)
    mass = work.motion_sums[sums + END + MASS, slot]
    one = real(1.0, h)
    is_free = where_positive(work.watched[4 * model.tree_island[tree] + 3, slot], one - one, one)
    P = load_vec3(work.motion_sums, sums + MOMENTUM, slot) + g * (h * mass)
    P = P - load_vec3(work.motion_sums, sums + END + MOMENTUM, slot)
    L = load_vec3(work.motion_sums, sums + SPIN, slot) - load_vec3(work.motion_sums, sums + END + SPIN, slot)
    return P * is_free, L * is_free


@wp.func
def energy_left(model: ModelArrays, state: StateArrays, work: WorkArrays, tree: int, column: int, slot: int, h: Real):
    """The kinetic energy that what is scaled is to have: all of it, or that relative to the motion of the whole."""
    sums = 2 * END * tree
    left = fallen_energy(work, sums, slot)
    if model.tree_root[tree] >= 0:
        row = pose_row(model.tree_root[tree])
        mass = work.motion_sums[sums + END + MASS, slot]
        P_change, L_change = momentum_changes(model, work, tree, column, slot, h)
        P = load_vec3(work.motion_sums, sums + END + MOMENTUM, slot) + P_change
        L = load_vec3(work.motion_sums, sums + END + SPIN, slot) + L_change
        Omega = sym_solve(load_sym3(work.motion_sums, sums + END + INERTIA, slot), L)
        moved = load_vec3(work.root, row, slot) - load_vec3(state.root_pose, row, column)
        left = left + mass * dot(load_vec3(model.gravity, 0, column), moved)
        left = left - real(0.5, h) * (dot(P, P) / mass + dot(L, Omega))
    return left


@wp.func
def scale_floating(
    model: ModelArrays, work: WorkArrays, tree: int, left: Real, most: Real, column: int, slot: int, h: Real
):
    """The same on a floating base: v+ = V_C + Omega x r + s v_rel with the momentum that weights leave."""
    sums = 2 * END * tree
    island = model.tree_island[tree]
    root = model.tree_root[tree]
    unresolved = work.unresolved[island, slot]
    one = real(1.0, h)
    mass = work.motion_sums[sums + END + MASS, slot]
    inertia = load_sym3(work.motion_sums, sums + END + INERTIA, slot)
    P = load_vec3(work.motion_sums, sums + END + MOMENTUM, slot)
    L = load_vec3(work.motion_sums, sums + END + SPIN, slot)
    P_change, L_change = momentum_changes(model, work, tree, column, slot, h)
    V_C = P * (one / mass)
    V_change = P_change * (one / mass)
    Omega = sym_solve(inertia, L)
    Omega_change = sym_solve(inertia, L_change)
    relative = work.motion_sums[sums + END + KINETIC, slot] - real(0.5, h) * (dot(P, V_C) + dot(L, Omega))
    s = minimum(scale_of(relative, left), most)
    link = model.order[model.tree_link[tree]]
    arm = load_vec3(work.p_WM, 3 * link, slot) - load_vec3(work.motion_sums, sums + END + CENTER, slot)
    more = s - one
    linear = load_vec3(work.v, root, slot) - V_C - cross(Omega, arm)
    angular = load_vec3(work.v, root + 3, slot) - Omega
    add_where(work, root, slot, unresolved, linear * more + V_change + cross(Omega_change, arm))
    add_where(work, root + 3, slot, unresolved, angular * more + Omega_change)
    scale_joints(model, work, island, slot, unresolved, s)


@wp.func
def add_where(work: WorkArrays, row: int, slot: int, chosen: Real, change: Vec3):
    """Add a change to three velocities, where chosen."""
    v = load_vec3(work.v, row, slot)
    work.v[row, slot] = where_positive(chosen, v.x + change.x, v.x)
    work.v[row + 1, slot] = where_positive(chosen, v.y + change.y, v.y)
    work.v[row + 2, slot] = where_positive(chosen, v.z + change.z, v.z)

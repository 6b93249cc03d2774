"""Energies, mass, momenta and inertia of trees and of their assemblies, before a step and after it.

T = sum (m v_C.v_C + w.I_C w) / 2 + sum armature v^2 / 2,   V = - sum m g.x + sum k beyond^2 / 2 of soft limits
W' = sum (F.v_C + N.w) + sum effort v,   with the forces that are given to links and joints
P = sum m v_C,   L_C = sum (I_C w + (r - c) x m v_C),   I_C = sum (I_C + m ((r.r) 1 - r r^T)) about the whole

Two trees, d from the centre of mass of the first to that of the second, with the relative velocity u of these:
    L_C = L_1 + L_2 + (m_1 m_2 / m) d x u,   I_C = I_1 + I_2 + (m_1 m_2 / m) ((d.d) 1 - d d^T)

What is relative to the whole, L_C and T - P.P / 2 m, is summed up of velocities relative to that of the root: of what
falls fast, rounding would be more than slow motions in it.
"""

import warp as wp

from warp_artic.constraints.soft_rotation_limit import soft_limit_gains, soft_limit_value
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    add,
    div,
    maximum,
    mul,
    neg,
    real,
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
from warp_artic.model.families import IS_SOFT_LIMIT, has_trait
from warp_artic.model.islands import if_joined
from warp_artic.model.kinds import FLOATING
from warp_artic.model.roots import pose_row, pose_rows
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_velocities import move_link

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


POWER = wp.constant(18)
"""W' [W]"""


WEIGHT = wp.constant(19)
"""Sum of s m, of the shares of gravity that act on links [kg]."""


INNER = wp.constant(20)
"""T - P.P / 2 m [J]"""


END = wp.constant(21)


@wp.func
def sprung_energy(model: ModelArrays, work: WorkArrays, tree: int, block: int, worker: int):
    """The energy of the springs of soft limits of a tree at the positions `work.end_position` [J]."""
    zero = real(0.0, model.gravity[0, block])
    energy = zero
    for row in range(model.row_count):
        if has_trait(model, row, IS_SOFT_LIMIT) and model.link_tree[model.dof_link[model.row_dof[row]]] == tree:
            k, _d = soft_limit_gains(model, row, block)
            y, lower, upper = soft_limit_value(model, work.end_position, row, block, worker)
            beyond = maximum(maximum(lower - y, y - upper), zero)
            energy = energy + real(0.5, k) * k * beyond * beyond
    return energy


@wp.func
def add_up_motion(model: ModelArrays, control: ControlArrays, work: WorkArrays, first: int, block: int, worker: int):
    """Write the energies, mass, momenta, inertia and power of trees at `work.end_position`, `end_root` and `u`.

    Of those that move freely, or whose assembly is guarded; the rows of its first tree are those of the assembly.
    `first` is the first of their rows; positions are from the origin of the base, or of the frame of a floating root,
    that of the first tree.
    """
    place_links(model, work, work.end_position, work.end_root, work.u, block, worker)
    zero = real(0.0, model.gravity[0, block])
    none = vec3(zero, zero, zero)
    base = 3 * model.link_count
    store_vec3(work.angular, base, worker, none)
    store_vec3(work.linear, base, worker, none)
    store_vec3(work.p_WM, base, worker, none)
    for tree in range(model.tree_count):
        if model.island_moves_freely[model.tree_island[tree]] + model.tree_is_summed[tree] > 0:
            add_up_tree(model, control, work, tree, 2 * END * tree + first, block, worker)
            if model.breakable_loops == 1:
                leave_out(model, work, tree, first, worker)
            if model.tree_assembly[tree] != tree:
                join_tree(model, work, tree, first, block, worker)


@wp.func
def leave_out(model: ModelArrays, work: WorkArrays, tree: int, first: int, worker: int):
    """Take the sums of a tree away that has come off its assembly, but for its centre of mass.

    The mass of a first tree stays, which others are added to: it comes off what the world holds only, of which mass,
    momenta and inertia are not wanted.
    """
    own = 2 * END * tree + first
    for k in range(END):
        is_first_mass = k == MASS and model.tree_assembly[tree] == tree
        is_center = k >= CENTER and k < MOMENTUM
        if not is_first_mass and not is_center:
            value = work.motion_sums[own + k, worker]
            work.motion_sums[own + k, worker] = if_joined(model, work, tree, worker, value)


@wp.func
def join_tree(model: ModelArrays, work: WorkArrays, tree: int, first: int, block: int, worker: int):
    """Add the sums of a tree to those of the first tree of its assembly."""
    own = 2 * END * tree + first
    sums = 2 * END * model.tree_assembly[tree] + first
    m_own = work.motion_sums[own + MASS, worker]
    m = work.motion_sums[sums + MASS, worker]
    one = real(1.0, m)
    mass = m + m_own
    g = load_vec3(model.gravity, 0, block)
    x = from_assembly(model, work, tree, worker)
    c = load_vec3(work.motion_sums, sums + CENTER, worker)
    d = load_vec3(work.motion_sums, own + CENTER, worker) + x - c
    P = load_vec3(work.motion_sums, sums + MOMENTUM, worker)
    P_own = load_vec3(work.motion_sums, own + MOMENTUM, worker)
    L = load_vec3(work.motion_sums, sums + SPIN, worker) + load_vec3(work.motion_sums, own + SPIN, worker)
    inertia = load_sym3(work.motion_sums, sums + INERTIA, worker) + load_sym3(work.motion_sums, own + INERTIA, worker)
    reduced = m * m_own / mass
    u = P_own * (one / where_positive(m_own, m_own, one)) - P * (one / m)
    lifted = work.motion_sums[own + WEIGHT, worker] * dot(g, x)
    work.motion_sums[own + POTENTIAL, worker] = work.motion_sums[own + POTENTIAL, worker] - lifted
    for k in range(KINETIC, MASS):
        work.motion_sums[sums + k, worker] = work.motion_sums[sums + k, worker] + work.motion_sums[own + k, worker]
    for k in range(POWER, INNER + 1):
        work.motion_sums[sums + k, worker] = work.motion_sums[sums + k, worker] + work.motion_sums[own + k, worker]
    relative = real(0.5, m) * reduced * dot(u, u)
    work.motion_sums[sums + INNER, worker] = work.motion_sums[sums + INNER, worker] + relative
    work.motion_sums[sums + MASS, worker] = mass
    store_vec3(work.motion_sums, sums + CENTER, worker, c + d * (m_own / mass))
    store_vec3(work.motion_sums, sums + MOMENTUM, worker, P + P_own)
    store_vec3(work.motion_sums, sums + SPIN, worker, L + cross(d, u) * reduced)
    inertia = inertia + sym_scalar(reduced * dot(d, d)) - sym_outer(d) * reduced
    store_sym3(work.motion_sums, sums + INERTIA, worker, inertia)


@wp.func
def from_assembly(model: ModelArrays, work: WorkArrays, tree: int, worker: int):
    """From what positions of the first tree of an assembly are from to what those of a tree are from, at `end_root`."""
    first = model.tree_assembly[tree]
    if first == tree:
        zero = real(0.0, work.v[0, worker])
        return vec3(zero, zero, zero)
    return positions_from(model, work, tree, worker) - positions_from(model, work, first, worker)


@wp.func
def positions_from(model: ModelArrays, work: WorkArrays, tree: int, worker: int):
    """What positions of a tree are from, at `end_root`."""
    if model.tree_root[tree] < 0:
        zero = real(0.0, work.v[0, worker])
        return vec3(zero, zero, zero)
    return load_vec3(work.end_root, pose_row(model.tree_root[tree]), worker)


@wp.func
def add_up_tree(
    model: ModelArrays, control: ControlArrays, work: WorkArrays, tree: int, first: int, block: int, worker: int
):
    """The same of a tree whose links are placed."""
    g = load_vec3(model.gravity, 0, block)
    zero = real(0.0, g.x)
    half = real(0.5, g.x)
    none = vec3(zero, zero, zero)
    kinetic = zero
    power = zero
    mass = zero
    weight = zero
    moment = none
    weight_moment = none
    P = none
    L = none
    inertia = sym_scalar(zero)
    inner = zero
    v_root = none
    if model.tree_root[tree] >= 0:
        v_root = load_vec3(work.u, model.tree_root[tree], worker)
    for k in range(model.tree_link[tree], model.tree_link[tree + 1]):
        link = model.order[k]
        w, v_M = move_link(model, work, work.u, link, worker)
        R_WM = load_mat3(work.R_WM, 9 * link, worker)
        x = load_vec3(work.p_WM, 3 * model.link_parent[link], worker) + load_vec3(work.p_PM, 3 * link, worker)
        if model.link_joint[link] == FLOATING:
            R_WL = mat_mul(R_WM, load_mat3(model.link_frame, 12 * link, block))
            x = R_WL * load_vec3(model.link_frame, 12 * link + 9, block)
        store_vec3(work.p_WM, 3 * link, worker, x)
        c = R_WM * load_vec3(model.link_center, 3 * link, block)
        m = model.link_mass[link, block]
        v_C = v_M + cross(w, c)
        r = x + c
        own = load_sym3(model.link_inertia, 6 * link, block)
        w_M = transpose_mul(R_WM, w)
        kinetic = kinetic + half * (m * dot(v_C, v_C) + dot(w_M, own * w_M))
        F = load_vec3(control.link_external_force, 6 * link, block)
        N = load_vec3(control.link_external_force, 6 * link + 3, block)
        power = power + dot(F, v_C) + dot(N, w)
        mass = mass + m
        moment = moment + r * m
        weighing = m * model.link_gravity_scale[link, block]
        weight = weight + weighing
        weight_moment = weight_moment + r * weighing
        u = v_C - v_root
        inner = inner + half * (m * dot(u, u) + dot(w_M, own * w_M))
        P = P + u * m
        L = L + R_WM * (own * w_M) + cross(r, u) * m
        inertia = inertia + sym_rotate(R_WM, own) + sym_scalar(m * dot(r, r)) - sym_outer(r) * m
    for dof in range(model.root_dofs, model.dof_count):
        if model.link_tree[model.dof_link[dof]] == tree:
            v = work.u[dof, worker]
            turning = half * model.armature[dof - model.root_dofs, block] * v * v
            kinetic = kinetic + turning
            inner = inner + turning
            power = power + control.joint_effort[dof - model.root_dofs, block] * v
    center = moment * (real(1.0, mass) / mass)
    work.motion_sums[first + KINETIC, worker] = kinetic
    work.motion_sums[first + POTENTIAL, worker] = sprung_energy(model, work, tree, block, worker)
    work.motion_sums[first + POTENTIAL, worker] = work.motion_sums[first + POTENTIAL, worker] - dot(g, weight_moment)
    work.motion_sums[first + POWER, worker] = power
    work.motion_sums[first + MASS, worker] = mass
    work.motion_sums[first + WEIGHT, worker] = weight
    store_vec3(work.motion_sums, first + CENTER, worker, center)
    work.motion_sums[first + INNER, worker] = inner - half * dot(P, P) / mass
    store_vec3(work.motion_sums, first + MOMENTUM, worker, P + v_root * mass)
    store_vec3(work.motion_sums, first + SPIN, worker, L - cross(center, P))
    about_center = inertia - sym_scalar(dot(center, moment)) + sym_outer(center) * mass
    store_sym3(work.motion_sums, first + INERTIA, worker, about_center)


@wp.func
def add_up_start(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int
):
    """The sums of q and v, which are still in the state."""
    for item in range(model.dof_count - model.root_dofs):
        work.end_position[item, worker] = state.joint_position[item, block]
        work.u[model.root_dofs + item, worker] = state.joint_velocity[item, block]
    for row in range(pose_rows(model.root_dofs)):
        work.end_root[row, worker] = state.root_pose[row, block]
    for dof in range(model.root_dofs):
        work.u[dof, worker] = state.root_velocity[dof, block]
    add_up_motion(model, control, work, 0, block, worker)


@wp.func
def add_up_end(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int):
    """The sums of q+ and v+."""
    for item in range(model.dof_count - model.root_dofs):
        work.end_position[item, worker] = work.position[item, worker]
    for row in range(pose_rows(model.root_dofs)):
        work.end_root[row, worker] = work.root[row, worker]
    for dof in range(model.dof_count):
        work.u[dof, worker] = work.v[dof, worker]
    add_up_motion(model, control, work, END, block, worker)


@wp.func
def relative_energy(work: WorkArrays, sums: int, worker: int):
    """The kinetic energy relative to the motion of the whole, T - P.P / 2 m - L_C.Omega / 2 [J]."""
    spin = load_vec3(work.motion_sums, sums + SPIN, worker)
    return work.motion_sums[sums + INNER, worker] - spin_energy(work, sums, spin, worker)


@wp.func
def spin_energy(work: WorkArrays, sums: int, spin: Vec3, worker: int):
    """L.(I_C^-1 L) / 2 of an angular momentum L [J]."""
    Omega = sym_solve(load_sym3(work.motion_sums, sums + INERTIA, worker), spin)
    return real(0.5, Omega.x) * dot(spin, Omega)


@wp.func
def energy_given(work: WorkArrays, sums: int, worker: int, h: Real):
    """T(q, v) + V(q) - V(q+) + h (W' + W'+) / 2 [J]; of a floating base without what its origin has fallen."""
    fallen = work.motion_sums[sums + POTENTIAL, worker] - work.motion_sums[sums + END + POTENTIAL, worker]
    power = work.motion_sums[sums + POWER, worker] + work.motion_sums[sums + END + POWER, worker]
    return work.motion_sums[sums + KINETIC, worker] + fallen + real(0.5, h) * h * power

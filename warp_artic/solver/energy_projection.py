"""Free motion that a step does not resolve keeps its energy, and on a floating base its momentum.

Where links turn far in a step, or chains have waves that are faster than it, velocities are not those that the steps
before promise. Velocity forces at other velocities than those of the step do work, which feeds on itself. A step of a
tree on which only weights, stops and drag act is not resolved where
    h^2 miss rate > UNRESOLVED
with rate the largest angular rate of a dof in the mean of v and v+, found or promised, and miss how far the two are
apart: by about that angle do velocity forces turn a dof wrongly in a step. An impact alone, a difference that
constraint rows make, does not count. Such a step is evaluated again at the mean of v and v+, which may be no further
from v than v is large (`velocities.expect_velocities`), and then v+ is projected onto the energy of the start:
    T(q+, s v+) = T(q, v) + V(q) - V(q+) + W
with T the kinetic energy, V that of weights and of springs of soft limits, sum k (y - limit)^2 / 2 beyond them, and W
the work of forces that are given to joints and links, the mean of their power before and after the step. On
a fixed base v+ becomes s v+. On a floating base what is scaled is the motion relative to that of the whole, V_C and
Omega, and the whole gets the momentum that it must have:
    m V_C = P + h m g,   I_C Omega = L_C,   T = m V_C.V_C / 2 + Omega.I_C Omega / 2 + s^2 T_rel.
Where q+ is so high up, or so far beyond soft limits, that there is no such s, the tree stays at q for this step, or
goes on as one. Where hard stops or drag act, and soft limits with dampers or with springs that the step does not
resolve, these take energy: then s is at most one. Drag and largest velocities of links may change the momentum too:
then V_C and Omega are as they are found. Forces that are given count as both. Nothing is projected where anything else
acts, such as a base that turns or accelerates; nor bodies without joints to which forces are given; nor in a first
step, of which nothing is promised. What is projected is on no smooth curve.

All this is for each tree of a mechanism that moves freely, by itself. What scales velocities does so for a whole
assembly of trees that loop joints join (`solver.violent_trees`), given by its first tree.

Armatures along two free rotations that are not equal have different energies on the two sides of half a turn
(`joints.swing`). A step that ends beyond it is projected onto the energy of its start, too.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
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
    where_positive,
)
from warp_artic.math.spatial import cross, dot, sym_solve
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays, load_sym3, load_vec3
from warp_artic.model.islands import assembly_of_dof, if_dof_joined, if_joined
from warp_artic.model.roots import pose_row
from warp_artic.solver.motion_sums import (
    CENTER,
    END,
    INERTIA,
    KINETIC,
    MASS,
    MOMENTUM,
    SPIN,
    WEIGHT,
    add_up_end,
    add_up_start,
    energy_given,
    from_assembly,
    spin_energy,
)
from warp_artic.solver.unresolved_motion import uneven_weights

MOST = wp.constant(30.0)
"""The largest s; those of passive chains of 200 links are up to 8, and at most 2 would lose most of their energy."""


@wp.func
def project_energy(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    is_turned: int,
):
    """Give v+ the energy and momentum that it must have where the step is unresolved; `state` is still q and v.

    If `is_turned` is 1, it is for armatures at the end of a step, which does not count as unresolved by that.
    """
    add_up_start(model, state, control, work, block, worker)
    add_up_end(model, control, work, block, worker)
    if is_turned == 0:
        is_stuck = bool(False)
        for tree in range(model.tree_count):
            island = model.tree_island[tree]
            if model.island_moves_freely[island] == 1:
                zero = h - h
                left = energy_left(
                    model, state, work, tree, keeps_momentum(model, work, tree, worker), block, worker, h
                )
                stuck = where_positive(neg(left), work.unresolved[island, worker], zero)
                turned = uneven_weights(model, tree, block, zero)
                stuck = where_positive(work.watched[4 * island + 3, worker] + turned, zero, stuck)
                if any_positive(stuck):
                    stay(model, state, work, tree, block, worker, stuck, h)
                    is_stuck = bool(True)
        if is_stuck:
            add_up_end(model, control, work, block, worker)
    for tree in range(model.tree_count):
        if model.island_moves_freely[model.tree_island[tree]] == 1:
            project_tree(model, state, work, tree, block, worker, h, is_turned)


@wp.func
def project_tree(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    tree: int,
    block: int,
    worker: int,
    h: Real,
    is_turned: int,
):
    """The same of a tree whose sums are known."""
    island = model.tree_island[tree]
    unresolved = work.unresolved[island, worker]
    one = real(1.0, h)
    zero = one - one
    is_free = keeps_momentum(model, work, tree, worker)
    left = energy_left(model, state, work, tree, is_free, block, worker, h)
    most = where_positive(work.watched[4 * island + 2, worker], one, real(MOST, h))
    found = energy_found(model, work, tree, worker)
    scale_tree(model, work, tree, unresolved, found, left, most, is_free, block, worker, h)
    work.projected[island, worker] = maximum(work.projected[island, worker], unresolved)
    counts = where_positive(state.failure[0, block], zero, unresolved) * real(float(1 - is_turned), h)
    state.unresolved[island, block] = state.unresolved[island, block] + counts
    for k in range(2 * island, 2 * island + 2):
        state.smoothness[k, block] = where_positive(unresolved, zero, state.smoothness[k, block])


@wp.func
def scale_tree(
    model: ModelArrays,
    work: WorkArrays,
    tree: int,
    chosen: Real,
    found: Real,
    left: Real,
    most: Real,
    is_free: Real,
    block: int,
    worker: int,
    h: Real,
):
    """Give v+ of an assembly the energy that is left in place of that found, with s of `most` at most, where chosen."""
    s = minimum(scale_of(found, left), most)
    if model.tree_floats[tree] == 1:
        scale_floating(model, work, tree, chosen, s, is_free, block, worker, h)
    else:
        scale_joints(model, work, tree, chosen, s, worker)


@wp.func
def energy_found(model: ModelArrays, work: WorkArrays, tree: int, worker: int):
    """The energy that s scales: of what floats, without that of the whole, with the rounding of `energy_of_whole`."""
    sums = 2 * END * tree + END
    found = work.motion_sums[sums + KINETIC, worker]
    if model.tree_floats[tree] == 1:
        P = load_vec3(work.motion_sums, sums + MOMENTUM, worker)
        spin = load_vec3(work.motion_sums, sums + SPIN, worker)
        V_C = P * (real(1.0, found) / work.motion_sums[sums + MASS, worker])
        found = found - (real(0.5, found) * dot(P, V_C) + spin_energy(work, sums, spin, worker))
    return found


@wp.func
def scale_joints(model: ModelArrays, work: WorkArrays, tree: int, chosen: Real, s: Real, worker: int):
    """Multiply the velocities of the joints of a floating assembly, or all of one that is held, where chosen."""
    first = int(0)
    if model.tree_floats[tree] == 1:
        first = model.root_dofs
    for dof in range(first, model.dof_count):
        if assembly_of_dof(model, dof) == tree:
            v = work.v[dof, worker]
            work.v[dof, worker] = where_positive(if_dof_joined(model, work, dof, worker, chosen), s * v, v)


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
    block: int,
    worker: int,
    stuck: Real,
    h: Real,
):
    """Make q the position of an assembly after the step where `stuck`; one that floats goes on as one, unturned."""
    for item in range(model.dof_count - model.root_dofs):
        if assembly_of_dof(model, model.root_dofs + item) == tree:
            q = state.joint_position[item, block]
            stays = if_dof_joined(model, work, model.root_dofs + item, worker, stuck)
            work.position[item, worker] = where_positive(stays, q, work.position[item, worker])
    moved = path_of_whole(model, work, tree, block, worker, h)
    own = int(tree)
    while own >= 0:
        if model.tree_root[own] >= 0:
            row = pose_row(model.tree_root[own])
            stays = if_joined(model, work, own, worker, stuck)
            place_root(work, row, load_vec3(state.root_pose, row, block) + moved, stays, worker)
            for k in range(row + 3, row + 7):
                work.root[k, worker] = where_positive(stays, state.root_pose[k, block], work.root[k, worker])
        own = model.tree_next[own]


@wp.func
def move_whole(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    tree: int,
    chosen: Real,
    block: int,
    worker: int,
    h: Real,
):
    """Shift a floating assembly so that its centre of mass is where its mean momentum moves it, where chosen."""
    if any_positive(chosen):
        sums = 2 * END * tree
        first = pose_row(model.tree_root[tree])
        found = load_vec3(work.root, first, worker) - load_vec3(state.root_pose, first, block)
        found = found + load_vec3(work.motion_sums, sums + END + CENTER, worker)
        found = found - load_vec3(work.motion_sums, sums + CENTER, worker)
        half_way = h * real(0.5, h) / work.motion_sums[sums + MASS, worker]
        own = int(tree)
        while own >= 0:
            found = found - load_vec3(work.tree_impulse, 6 * own, worker) * half_way
            own = model.tree_next[own]
        shift = path_of_whole(model, work, tree, block, worker, h) - found
        own = int(tree)
        while own >= 0:
            row = pose_row(model.tree_root[own])
            moves = if_joined(model, work, own, worker, chosen)
            place_root(work, row, load_vec3(work.root, row, worker) + shift, moves, worker)
            own = model.tree_next[own]


@wp.func
def place_root(work: WorkArrays, row: int, x: Vec3, chosen: Real, worker: int):
    """Write the position of a root after the step, where chosen."""
    work.root[row, worker] = where_positive(chosen, x.x, work.root[row, worker])
    work.root[row + 1, worker] = where_positive(chosen, x.y, work.root[row + 1, worker])
    work.root[row + 2, worker] = where_positive(chosen, x.z, work.root[row + 2, worker])


@wp.func
def path_of_whole(model: ModelArrays, work: WorkArrays, tree: int, block: int, worker: int, h: Real):
    """How far weights and its momentum move a floating assembly in a step; nowhere one that is held."""
    sums = 2 * END * tree
    g = load_vec3(model.gravity, 0, block) * work.motion_sums[sums + WEIGHT, worker]
    P = load_vec3(work.motion_sums, sums + MOMENTUM, worker) + g * (h * real(0.5, h))
    return P * (h * real(float(model.tree_floats[tree]), h) / work.motion_sums[sums + MASS, worker])


@wp.func
def momentum_changes(model: ModelArrays, work: WorkArrays, tree: int, is_free: Real, block: int, worker: int, h: Real):
    """What P and L_C of an assembly miss of those that weights leave, and rows of guarded ones, where `is_free`.

    Where weights turn it, as shares of gravity differ, its L_C is left as it is.
    """
    sums = 2 * END * tree
    g = load_vec3(model.gravity, 0, block)
    P = load_vec3(work.motion_sums, sums + MOMENTUM, worker) + g * (h * work.motion_sums[sums + WEIGHT, worker])
    P = P - load_vec3(work.motion_sums, sums + END + MOMENTUM, worker)
    L = load_vec3(work.motion_sums, sums + SPIN, worker) - load_vec3(work.motion_sums, sums + END + SPIN, worker)
    if model.tree_is_guarded[tree] == 1:
        own = int(tree)
        while own >= 0:
            arm = load_vec3(work.tree_arm, 3 * own, worker) + root_arm(model, work, own, END, worker)
            impulse = load_vec3(work.tree_impulse, 6 * own, worker)
            P = P + impulse
            L = L + load_vec3(work.tree_impulse, 6 * own + 3, worker) + cross(arm * real(0.5, h), impulse)
            own = model.tree_next[own]
    turned = uneven_weights(model, tree, block, is_free - is_free)
    return P * is_free, L * where_positive(turned, is_free - is_free, is_free)


@wp.func
def root_arm(model: ModelArrays, work: WorkArrays, tree: int, sums: int, worker: int):
    """From the centre of mass of its assembly to where the velocity of a floating root is, at `end_root`."""
    root = model.order[model.tree_link[tree]]
    c = load_vec3(work.motion_sums, 2 * END * model.tree_assembly[tree] + sums + CENTER, worker)
    return load_vec3(work.p_WM, 3 * root, worker) + from_assembly(model, work, tree, worker) - c


@wp.func
def keeps_momentum(model: ModelArrays, work: WorkArrays, tree: int, worker: int):
    """One where only weights may change the momentum of a tree that moves freely, else zero."""
    pushed = work.watched[4 * model.tree_island[tree] + 3, worker]
    one = real(1.0, pushed)
    return where_positive(pushed, one - one, one)


@wp.func
def energy_left(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    tree: int,
    is_free: Real,
    block: int,
    worker: int,
    h: Real,
):
    """The kinetic energy that what is scaled is to have: all of it, or that relative to the motion of the whole."""
    left = kinetic_energy_given(model, state, work, tree, block, worker, h)
    if model.tree_floats[tree] == 1:
        left = left - energy_of_whole(model, work, tree, is_free, block, worker, h)
    return left


@wp.func
def kinetic_energy_given(
    model: ModelArrays, state: StateArrays, work: WorkArrays, tree: int, block: int, worker: int, h: Real
):
    """The kinetic energy that an assembly is to have at q+."""
    sums = 2 * END * tree
    given = energy_given(work, sums, worker, h)
    if model.tree_root[tree] >= 0:
        row = pose_row(model.tree_root[tree])
        moved = load_vec3(work.root, row, worker) - load_vec3(state.root_pose, row, block)
        given = given + work.motion_sums[sums + WEIGHT, worker] * dot(load_vec3(model.gravity, 0, block), moved)
    return given


@wp.func
def energy_of_whole(model: ModelArrays, work: WorkArrays, tree: int, is_free: Real, block: int, worker: int, h: Real):
    """The energy of the momentum that a floating assembly is to have."""
    sums = 2 * END * tree
    mass = work.motion_sums[sums + END + MASS, worker]
    P_change, L_change = momentum_changes(model, work, tree, is_free, block, worker, h)
    P = load_vec3(work.motion_sums, sums + END + MOMENTUM, worker) + P_change
    L = load_vec3(work.motion_sums, sums + END + SPIN, worker) + L_change
    Omega = sym_solve(load_sym3(work.motion_sums, sums + END + INERTIA, worker), L)
    return real(0.5, h) * (dot(P, P) / mass + dot(L, Omega))


@wp.func
def scale_floating(
    model: ModelArrays,
    work: WorkArrays,
    tree: int,
    chosen: Real,
    s: Real,
    is_free: Real,
    block: int,
    worker: int,
    h: Real,
):
    """The same on a floating base: v+ = V_C + Omega x r + s v_rel with the momentum that weights leave."""
    sums = 2 * END * tree
    one = real(1.0, h)
    mass = work.motion_sums[sums + END + MASS, worker]
    inertia = load_sym3(work.motion_sums, sums + END + INERTIA, worker)
    P = load_vec3(work.motion_sums, sums + END + MOMENTUM, worker)
    L = load_vec3(work.motion_sums, sums + END + SPIN, worker)
    P_change, L_change = momentum_changes(model, work, tree, is_free, block, worker, h)
    V_C = P * (one / mass)
    V_change = P_change * (one / mass)
    Omega = sym_solve(inertia, L)
    Omega_change = sym_solve(inertia, L_change)
    more = s - one
    own = int(tree)
    while own >= 0:
        root = model.tree_root[own]
        arm = root_arm(model, work, own, END, worker)
        linear = load_vec3(work.v, root, worker) - V_C - cross(Omega, arm)
        angular = load_vec3(work.v, root + 3, worker) - Omega
        moves = if_joined(model, work, own, worker, chosen)
        add_where(work, root, worker, moves, linear * more + V_change + cross(Omega_change, arm))
        add_where(work, root + 3, worker, moves, angular * more + Omega_change)
        own = model.tree_next[own]
    scale_joints(model, work, tree, chosen, s, worker)


@wp.func
def scale_whole(model: ModelArrays, work: WorkArrays, tree: int, chosen: Real, given: Real, found: Real, worker: int):
    """Slow an assembly down as a whole, from an energy found to that given, where chosen."""
    s = scale_of(found, given)
    for dof in range(model.dof_count):
        if assembly_of_dof(model, dof) == tree:
            v = work.v[dof, worker]
            work.v[dof, worker] = where_positive(if_dof_joined(model, work, dof, worker, chosen), s * v, v)


@wp.func
def add_where(work: WorkArrays, row: int, worker: int, chosen: Real, change: Vec3):
    """Add a change to three velocities, where chosen."""
    v = load_vec3(work.v, row, worker)
    work.v[row, worker] = where_positive(chosen, v.x + change.x, v.x)
    work.v[row + 1, worker] = where_positive(chosen, v.y + change.y, v.y)
    work.v[row + 2, worker] = where_positive(chosen, v.z + change.z, v.z)

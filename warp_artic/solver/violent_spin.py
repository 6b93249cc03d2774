"""Single bodies that turn by a good part of a radian in a step keep their angular momentum, where contacts join them.

In free flight  I+ w+ = s I w / (1 + h d)  about the centre of mass, with the inertia where the body is, the angular
damping d, and s <= 1 so that the energy of rotation does not grow: where the body has turned to in such a step is only
roughly known. Velocity forces at velocities that a step does not resolve would make it grow without end:
those of bodies near others, and of what is pushed as by contacts among many bodies, are implicit there. Trees that
move freely have more, `solver.energy_projection`; those that contacts join with others do not. A body that is touched
in any substep, or pushed from outside, is left as it is.
"""

import warp as wp

from warp_artic.constraints.contact_detection import UNRESOLVED_SPIN
from warp_artic.math.directions import choose
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Sym3,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    mul,
    real,
    sqrt,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_matrix
from warp_artic.math.spatial import cross, dot, sym_solve, transpose_mul
from warp_artic.model.arrays import (
    ControlArrays,
    ModelArrays,
    StateArrays,
    WorkArrays,
    load_sym3,
    load_vec3,
    store_vec3,
)
from warp_artic.model.roots import pose_row

VIOLENT = wp.constant(0.04)
"""Square of the angle of a step from which on a turn is violent [rad^2]."""


@wp.func
def is_single(model: ModelArrays, tree: int):
    """Whether a tree is a body without joints."""
    return model.tree_root[tree] >= 0 and model.tree_link[tree + 1] - model.tree_link[tree] == 1


@wp.func
def find_spins(model: ModelArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Write k for bodies that turn too far for velocity forces in a step of length h; zero for others.

    It is h / 2 of those that are near other shapes, and h of those that are pushed.
    """
    for tree in range(model.tree_count):
        work.tree_spins[tree, worker] = h - h
        if is_single(model, tree):
            w = load_vec3(work.v, model.tree_root[tree] + 3, worker)
            uneven = uneven_inertia(load_sym3(model.link_inertia, 6 * model.order[model.tree_link[tree]], block))
            far = h * h * dot(w, w) * uneven - real(UNRESOLVED_SPIN, h)
            if any_positive(far):
                k = where_positive(far, nearness_or_push(model, control, work, tree, block, worker, h), h - h)
                work.tree_spins[tree, worker] = k


@wp.func
def uneven_inertia(I: Sym3):
    """(9 |I|^2 / tr(I)^2 - 3) 3 / 2, zero of a ball and 0.56 of a coin.

    It is about the square of the largest angle by which w x I w turns w while the body turns by one radian.
    """
    trace = I.xx + I.yy + I.zz
    one = real(1.0, trace)
    two = one + one
    square = I.xx * I.xx + I.yy * I.yy + I.zz * I.zz + two * (I.xy * I.xy + I.xz * I.xz + I.yz * I.yz)
    share = square / where_positive(trace, trace * trace, one)
    return maximum(real(13.5, one) * share - real(4.5, one), one - one)


@wp.func
def nearness_or_push(
    model: ModelArrays, control: ControlArrays, work: WorkArrays, tree: int, block: int, worker: int, h: Real
):
    """k of a body that turns so far."""
    link = model.order[model.tree_link[tree]]
    zero = h - h
    pushed = zero
    for row in range(6 * link, 6 * link + 6):
        pushed = maximum(pushed, absolute(control.link_external_force[row, block]))
    near = zero
    for point in range(model.contact_point_count):
        pair = model.contact_of_point[point]
        if model.contact_link0[pair] == link or model.contact_link1[pair] == link:
            near = maximum(near, work.contact_near[point, worker])
    return where_positive(near, h * real(0.5, h), where_positive(pushed, h, zero))


@wp.func
def damp_velocity_forces(model: ModelArrays, work: WorkArrays, worker: int):
    """Give such bodies the moment  A (A + k ([w] A - [A w]))^-1 (w x A w)  in place of w x A w, with w before the step.

    It is that of an implicit midpoint step, after one step of Newton's method. With k = h it is an Euler step, which
    takes energy: contacts that were found before the step have not known where the body is in its middle.
    """
    for tree in range(model.tree_count):
        k = work.tree_spins[tree, worker]
        if any_positive(k):
            link = model.order[model.tree_link[tree]]
            A = load_sym3(work.A, 6 * link, worker)
            w = load_vec3(work.w, 3 * link, worker)
            moment = load_vec3(work.moment, 3 * link, worker) - cross(w, A * w)
            w = load_vec3(work.v, model.tree_root[tree] + 3, worker)
            moment = moment + A * implicit_turn(A, w, k)
            store_vec3(work.moment, 3 * link, worker, choose(k, moment, load_vec3(work.moment, 3 * link, worker)))


@wp.func
def implicit_turn(A: Sym3, w: Vec3, k: Real):
    """(A + k ([w] A - [A w]))^-1 (w x A w)."""
    zero = k - k
    one = real(1.0, k)
    L = A * w
    a = turn_column(A, w, L, vec3(one, zero, zero), k)
    b = turn_column(A, w, L, vec3(zero, one, zero), k)
    c = turn_column(A, w, L, vec3(zero, zero, one), k)
    g = cross(w, L)
    bc = cross(b, c)
    inverse = one / dot(a, bc)
    return vec3(dot(g, bc) * inverse, dot(g, cross(c, a)) * inverse, dot(g, cross(a, b)) * inverse)


@wp.func
def turn_column(A: Sym3, w: Vec3, L: Vec3, e: Vec3, k: Real):
    """(A + k ([w] A - [L])) e."""
    Ae = A * e
    return Ae + (cross(w, Ae) - cross(L, e)) * k


@wp.func
def note_impulses(model: ModelArrays, work: WorkArrays, worker: int, substep: int):
    """Write the largest impulse so far of each row in the substeps of a step."""
    for row in range(model.row_count):
        z = absolute(work.impulse[row, worker] + work.given[row, worker])
        if substep > 0:
            z = maximum(z, work.largest_impulse[row, worker])
        work.largest_impulse[row, worker] = z


@wp.func
def keep_spins(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int, h: Real
):
    """Change the angular velocities of such bodies at the end of a step of length h."""
    for tree in range(model.tree_count):
        dof = model.tree_root[tree]
        if is_single(model, tree):
            w = load_vec3(state.root_velocity, dof + 3, block)
            violent = h * h * dot(w, w) - real(VIOLENT, h)
            if model.island_moves_freely[model.tree_island[tree]] == 1:
                violent = work.tree_spins[tree, worker]
            if any_positive(violent):
                link = model.order[model.tree_link[tree]]
                acts = what_acts(model, control, work, link, block, worker)
                keep_spin(model, state, work, link, dof, where_positive(acts, acts - acts, violent), block, worker, h)


@wp.func
def what_acts(model: ModelArrays, control: ControlArrays, work: WorkArrays, link: int, block: int, worker: int):
    """Positive where a body is touched, or pushed from outside."""
    acts = absolute(control.link_external_force[6 * link, block])
    for k in range(6 * link + 1, 6 * link + 6):
        acts = maximum(acts, absolute(control.link_external_force[k, block]))
    for row in range(model.row_count):
        z = work.largest_impulse[row, worker]
        if any_positive(z):
            for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
                if model.dof_link[model.term_dof[term]] == link:
                    acts = maximum(acts, z)
    return acts


@wp.func
def keep_spin(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    link: int,
    dof: int,
    chosen: Real,
    block: int,
    worker: int,
    h: Real,
):
    """The same of one body whose first dof is given, where `chosen` is positive."""
    row = pose_row(dof) + 3
    inertia = load_sym3(model.link_inertia, 6 * link, block)
    w = load_vec3(state.root_velocity, dof + 3, block)
    before = quaternion_matrix(load_vec3(state.root_pose, row, block), state.root_pose[row + 3, block])
    after = quaternion_matrix(load_vec3(work.root, row, worker), work.root[row + 3, worker])
    momentum = before * (inertia * transpose_mul(before, w))
    one = real(1.0, h)
    slowed = one / (one + h * model.link_angular_damping[link, block])
    kept = after * sym_solve(inertia, transpose_mul(after, momentum)) * slowed
    energy = dot(momentum, w)
    grown = dot(momentum, kept) * slowed
    kept = kept * where_positive(grown - energy, sqrt(energy / where_positive(grown, grown, one)), one)
    found = load_vec3(work.v, dof + 3, worker)
    share = where_positive(chosen, one, one - one)
    store_vec3(work.v, dof + 3, worker, found + (kept - found) * share)

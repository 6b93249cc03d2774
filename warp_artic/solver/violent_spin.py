"""Single bodies that turn by a good part of a radian in a step keep their angular momentum, where contacts join them.

In free flight  I+ w+ = s I w / (1 + h d)  about the centre of mass, with the inertia where the body is, the angular
damping d, and s <= 1 so that the energy of rotation does not grow: where the body has turned to in such a step is only
roughly known. Velocity forces at velocities that a step does not resolve would make it grow without end. Trees that
move freely have more, `solver.energy_projection`; those that contacts join with others do not. A body that is touched
in any substep, or pushed from outside, is left as it is.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    maximum,
    mul,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.math.rotation import quaternion_matrix
from warp_artic.math.spatial import dot, sym_solve, transpose_mul
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
        is_single = model.tree_link[tree + 1] - model.tree_link[tree] == 1
        if dof >= 0 and is_single and model.island_moves_freely[model.tree_island[tree]] == 0:
            w = load_vec3(state.root_velocity, dof + 3, block)
            violent = h * h * dot(w, w) - real(VIOLENT, h)
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

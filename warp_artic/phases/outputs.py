"""What is reported of a state: link poses and velocities, and energies, outward.

    X_WL = X_WM X_ML,   v_C = v_M + w x c,   E_pot = - sum s m g.p_WC,   s the share of gravity
    E_kin = sum (m v_C^2 + w.I_C w) / 2 + sum armature v^2 / 2
Positions are relative to the origin of the mechanism, which the host adds in double precision.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    add,
    is_finite,
    mul,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.rotation import quaternion_from_matrix
from warp_artic.math.spatial import cross, dot, mat_mul, sym_rotate
from warp_artic.model.arrays import (
    Array,
    ModelArrays,
    ReportArrays,
    StateArrays,
    WorkArrays,
    load_mat3,
    load_sym3,
    load_vec3,
)
from warp_artic.phases.integrate import load_state
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_positions import locate_links
from warp_artic.phases.link_velocities import move_links


@wp.func
def report_links(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    report: ReportArrays,
    block: int,
    worker: int,
):
    """Write poses (7 rows a link), velocities (6 rows a link) and energies (2 rows a tree)."""
    failure = state.failure[0, block]
    load_state(model, state, work, block, worker)
    place_links(model, work, work.position, work.root, work.v, block, worker)
    move_links(model, work, block, worker)
    locate_links(model, work, work.root, block, worker)
    g = load_vec3(model.gravity, 0, block)
    zero = real(0.0, g.x)
    half = real(0.5, g.x)
    for row in range(2 * model.tree_count):
        work.motion_sums[row, worker] = zero
    for k in range(model.link_count):
        link = model.order[k]
        energy = 2 * model.link_tree[link]
        R_WM = load_mat3(work.R_WM, 9 * link, worker)
        w = load_vec3(work.w, 3 * link, worker)
        c = R_WM * load_vec3(model.link_center, 3 * link, block)
        R_WL = mat_mul(R_WM, load_mat3(model.link_frame, 12 * link, block))
        p_LM_W = R_WL * load_vec3(model.link_frame, 12 * link + 9, block)
        p_WM = load_vec3(work.p_WM, 3 * link, worker)
        v_C = load_vec3(work.linear, 3 * link, worker) + cross(w, c)
        mass = model.link_mass[link, block]
        spin = sym_rotate(R_WM, load_sym3(model.link_inertia, 6 * link, block)) * w
        kinetic = half * (mass * dot(v_C, v_C) + dot(w, spin))
        work.motion_sums[energy, worker] = work.motion_sums[energy, worker] + kinetic
        height = model.link_gravity_scale[link, block] * dot(g, p_WM + c)
        work.motion_sums[energy + 1, worker] = work.motion_sums[energy + 1, worker] - mass * height
        x, s = quaternion_from_matrix(R_WL)
        report_vector(report.link_pose, 7 * link, block, failure, p_WM - p_LM_W)
        report_vector(report.link_pose, 7 * link + 3, block, failure, x)
        report_value(report.link_pose, 7 * link + 6, block, failure, s)
        report_vector(report.link_velocity, 6 * link, block, failure, v_C)
        report_vector(report.link_velocity, 6 * link + 3, block, failure, w)
    for dof in range(model.root_dofs, model.dof_count):
        v = work.v[dof, worker]
        energy = 2 * model.link_tree[model.dof_link[dof]]
        kinetic = half * model.armature[dof - model.root_dofs, block] * v * v
        work.motion_sums[energy, worker] = work.motion_sums[energy, worker] + kinetic
    for row in range(2 * model.tree_count):
        report_value(report.energy, row, block, failure, work.motion_sums[row, worker])


@wp.func
def report_value(values: Array, row: int, block: int, failure: Real, value: Real):
    """Write what is reported; where a failed environment has nothing finite, what was reported last stays."""
    kept = where_positive(is_finite(value), value, values[row, block])
    values[row, block] = where_positive(failure, kept, value)


@wp.func
def report_vector(values: Array, row: int, block: int, failure: Real, value: Vec3):
    """The same for the rows of a vector."""
    report_value(values, row, block, failure, value.x)
    report_value(values, row + 1, block, failure, value.y)
    report_value(values, row + 2, block, failure, value.z)

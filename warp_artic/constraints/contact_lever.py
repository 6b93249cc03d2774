"""How far joints let a point of contact move along its normal, and how fast an overlap is taken back there.

Joints may let a point move along the normal hardly, or not at all: a shaft in its bearing, a lever under its axis. An
overlap is taken back more slowly there, as joints would have to move the faster the shorter the lever is. An impulse
that moves the point by G_nn along the normal n moves the dofs d of joints by Y = M^-1 J_n^T, and each of them moves the
point by v_d Y_d, of which the others may take back what is not along n. With
    reach = sum of (|v_d|^2 + (thickness |w_d|)^2) Y_d^2 / G_nn
    share = min(1, max(G_nn - SHORT_LEVER reach, 0) / (LEVER reach))
of the speed is left, with the velocity v_d of the point and the angular velocity w_d by a dof, and the smaller of the
thicknesses of both shapes. Joints then get no more than 1 / sqrt(LEVER) times that speed. Those that hardly move do not
count, as most of a long chain. Where G_nn is below SHORT_LEVER of `reach`, a point keeps from coming closer, and no
more: else it would be pushed to where G_nn is below LEAST_LEVER of `reach`, and points do not act. Free bodies have no
joints, and share 1. Of a single joint, `reach` is what G_nn could be in any direction.

Where positions are moved apart, points give way by `reach` as well (`constraints.overlap_projection`).
"""

import warp as wp

from warp_artic.math.numbers import Real, Vec3, add, div, maximum, minimum, mul, real, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3
from warp_artic.phases.impulse_response import respond_on_path
from warp_artic.phases.point_motion import point_motion

LEVER = wp.constant(0.04)
"""Of `reach`: where joints let a point move by less along the normal, it takes an overlap back more slowly."""
SHORT_LEVER = wp.constant(1e-4)
"""Of `reach`: where joints let a point move by less along the normal, it takes no overlap back."""
YIELD = wp.constant(0.25)
"""Of `reach`: by which points give way where positions are moved apart, beside the give of their law."""
LEAST_LEVER = wp.constant(1e-6)
"""Of `reach`: what is below is rounding of places and axes."""


@wp.func
def lever_share(normal: Real, reach: Real):
    """The share of the speed that is left, with G_nn or `reach` positive."""
    left = maximum(normal - real(SHORT_LEVER, reach) * reach, reach - reach)
    return minimum(left / (real(LEVER, reach) * reach), real(1.0, reach))


@wp.func
def write_joint_response(model: ModelArrays, work: WorkArrays, row: int, worker: int):
    """Write Y of a normal to `work.velocity_change`, of the dofs between its links and the root."""
    response = model.row_response_index[row] * model.dof_count
    if model.innovations_only == 1:
        respond_on_path(model, work, row, response, worker)
    else:
        for k in range(model.row_support[row], model.row_support[row] + model.row_supports[row]):
            dof = model.support_dof[k]
            work.velocity_change[dof, worker] = work.response[response + dof, worker]


@wp.func
def reach_of_path(model: ModelArrays, work: WorkArrays, tip: int, until: int, x: Vec3, thickness: Real, worker: int):
    """What the joints from a link inward to `until` add to G_nn `reach` of a point x of it."""
    link = int(tip)
    reach = real(0.0, thickness)
    while link != until:
        r = x - load_vec3(work.p_WM, 3 * link, worker)
        first = model.link_dof[link]
        for dof in range(wp.max(first, model.root_dofs), first + model.link_dofs[link]):
            v = point_motion(model, work, dof, r, worker)
            w = load_vec3(work.axis, 3 * dof, worker) * real(float(1 - model.dof_is_linear[dof]), thickness)
            Y = work.velocity_change[dof, worker]
            reach = reach + (dot(v, v) + thickness * thickness * dot(w, w)) * Y * Y
        link = model.link_parent[link]
    return reach


@wp.func
def is_of_single_bodies(model: ModelArrays, row: int):
    """Whether the dofs of a row are of trees without joints."""
    single = bool(True)
    for term in range(model.row_term[row], model.row_term[row] + model.row_terms[row]):
        tree = model.link_tree[model.dof_link[model.term_dof[term]]]
        if model.tree_link[tree + 1] - model.tree_link[tree] > 1:
            single = bool(False)
    return single

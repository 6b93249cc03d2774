"""How far joints let a point of contact move along its normal, and how fast an overlap is taken back there.

Joints may let a point move along the normal hardly, or not at all: a shaft in its bearing, a lever under its axis. An
overlap is taken back more slowly there, as joints would have to move the faster the shorter the lever is. With G_nn of
the normal, and what it could be in any direction by the dofs d of joints,
    reach = sum of (|v_d|^2 + (thickness |w_d|)^2) / D_d
    share = min(1, G_nn / (LEVER reach))
of the speed is left, with the velocity v_d of the point and the angular velocity w_d by a dof, the smaller of the
thicknesses of both shapes, and 1 / D_d the response of a dof. Joints then get no more than 1 / sqrt(LEVER) times that
speed. Where G_nn is below LEAST_LEVER of `reach`, the point does not act. Free bodies have no joints, and share 1.

Where positions are moved apart, points give way by `reach` as well (`constraints.overlap_projection`).
"""

import warp as wp

from warp_artic.math.numbers import Real, Vec3, add, div, maximum, mul, real, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3
from warp_artic.phases.point_motion import point_motion

LEVER = wp.constant(0.04)
"""Of `reach`: where joints let a point move by less along the normal, it takes an overlap back more slowly."""
YIELD = wp.constant(0.25)
"""Of `reach`: by which points give way where positions are moved apart, beside the give of their law."""
LEAST_LEVER = wp.constant(1e-6)
"""Of `reach`: what is below is rounding of places and axes."""


@wp.func
def reach_of_dof(v: Vec3, w: Vec3, thickness: Real, response: Real):
    """What a dof adds to `reach`."""
    return (dot(v, v) + thickness * thickness * dot(w, w)) * response


@wp.func
def lever_share(normal: Real, reach: Real):
    """The share of the speed that is left, with G_nn or `reach` positive."""
    return normal / maximum(real(LEVER, reach) * reach, normal)


@wp.func
def reach_of_path(model: ModelArrays, work: WorkArrays, tip: int, until: int, x: Vec3, thickness: Real, worker: int):
    """What the joints from a link inward to `until` add to `reach` of a point x of it."""
    link = int(tip)
    reach = real(0.0, thickness)
    while link != until:
        r = x - load_vec3(work.p_WM, 3 * link, worker)
        first = model.link_dof[link]
        for dof in range(wp.max(first, model.root_dofs), first + model.link_dofs[link]):
            v = point_motion(model, work, dof, r, worker)
            w = load_vec3(work.axis, 3 * dof, worker) * real(float(1 - model.dof_is_linear[dof]), thickness)
            reach = reach + reach_of_dof(v, w, thickness, work.D_inverse[dof, worker])
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

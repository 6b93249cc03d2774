"""Positions of link origins, outward:  p_WM = p_WP + p_PM, relative to the origin of the mechanism."""

import warp as wp

from warp_artic.math.numbers import add, mul  # noqa: F401 (operators)
from warp_artic.math.spatial import mat_mul
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3, store_vec3
from warp_artic.model.base import BASE_POSITION
from warp_artic.model.kinds import FLOATING
from warp_artic.model.roots import pose_row


@wp.func
def locate_links(model: ModelArrays, work: WorkArrays, root: Array, block: int, worker: int):
    """Write p_WM of all links, from what `place_links` has written and the pose of a free root."""
    store_vec3(work.p_WM, 3 * model.link_count, worker, load_vec3(model.base, BASE_POSITION, block))
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        p_WM = load_vec3(work.p_WM, 3 * parent, worker) + load_vec3(work.p_PM, 3 * link, worker)
        if model.link_joint[link] == FLOATING:
            R_WM = load_mat3(work.R_WM, 9 * link, worker)
            R_WL = mat_mul(R_WM, load_mat3(model.link_frame, 12 * link, block))
            row = pose_row(model.link_dof[link])
            p_WM = load_vec3(root, row, worker) + R_WL * load_vec3(model.link_frame, 12 * link + 9, block)
        store_vec3(work.p_WM, 3 * link, worker, p_WM)

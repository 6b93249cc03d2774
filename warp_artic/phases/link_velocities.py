"""Velocities of link origins, outward:  w = w_P + rotary axis v,  v_M = v_P + w_P x p_PM + linear axis v."""

import warp as wp

from warp_artic.math.numbers import add, mul  # noqa: F401 (operators)
from warp_artic.math.spatial import cross
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_vec3, store_vec3
from warp_artic.model.base import BASE_ANGULAR, BASE_LINEAR


@wp.func
def move_links(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Write the linear velocity of every link origin to `work.linear`, where `work.w` are the angular ones."""
    store_vec3(work.linear, 3 * model.link_count, worker, load_vec3(model.base, BASE_LINEAR, block))
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        w_P = load_vec3(work.w, 3 * parent, worker)
        v_M = load_vec3(work.linear, 3 * parent, worker) + cross(w_P, load_vec3(work.p_PM, 3 * link, worker))
        start = model.link_dof[link]
        for dof in range(start, start + model.link_dofs[link]):
            if model.dof_is_linear[dof] == 1:
                v_M = v_M + load_vec3(work.axis, 3 * dof, worker) * work.v[dof, worker]
        store_vec3(work.linear, 3 * link, worker, v_M)


@wp.func
def move_base(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Write the velocities of what the tree is joined to, from which `move_link` goes outward."""
    store_vec3(work.angular, 3 * model.link_count, worker, load_vec3(model.base, BASE_ANGULAR, block))
    store_vec3(work.linear, 3 * model.link_count, worker, load_vec3(model.base, BASE_LINEAR, block))


@wp.func
def move_link(model: ModelArrays, work: WorkArrays, rates: Array, link: int, worker: int):
    """The velocities of a link from those of its parent and rates of dofs, also in `work.angular` and `work.linear`."""
    parent = model.link_parent[link]
    w = load_vec3(work.angular, 3 * parent, worker)
    v_M = load_vec3(work.linear, 3 * parent, worker) + cross(w, load_vec3(work.p_PM, 3 * link, worker))
    start = model.link_dof[link]
    for dof in range(start, start + model.link_dofs[link]):
        change = load_vec3(work.axis, 3 * dof, worker) * rates[dof, worker]
        if model.dof_is_linear[dof] == 1:
            v_M = v_M + change
        else:
            w = w + change
    store_vec3(work.angular, 3 * link, worker, w)
    store_vec3(work.linear, 3 * link, worker, v_M)
    return w, v_M

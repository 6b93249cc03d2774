"""Geometric Jacobian: what unit velocities of dofs give, of each link velocity of the centre of mass, then angular.

Of an angular dof with axis s through the origin o of its joint frame: s x (p_WC - o) and s; of a linear one: s and 0.

A Jacobian has more entries than caches hold, and the environments of an entry lie next to each other. So the few
vectors that it is made of are kept for many columns, and each entry is then written for all of them.
"""

import warp as wp

from warp_artic.math.numbers import Vec3, add, mul, real, sub, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3, set_entry, store_vec3

TOGETHER = wp.constant(256)
"""Columns of a worker whose vectors are kept. On one core, 1024 humanoids: 0.6 us, from 1.6 us with the entries of one
column after the other, both beside other work."""


@wp.func
def keep_vectors(model: ModelArrays, work: WorkArrays, vectors: Array, column: int, worker: int):
    """Write the axis of each dof, then joint frame and centre of mass of each link from the root, for placed links."""
    zero = real(0.0, model.gravity[0, column])
    for dof in range(model.dof_count):
        store_vec3(vectors, 3 * dof, column, load_vec3(work.axis, 3 * dof, worker))
    for k in range(model.link_count):
        link = model.order[k]
        parent = model.link_parent[link]
        origin = vec3(zero, zero, zero)
        if parent < model.link_count:
            origin = load_vec3(vectors, 3 * (model.dof_count + parent), column) + load_vec3(work.p_PM, 3 * link, worker)
        center = load_mat3(work.R_WM, 9 * link, worker) * load_vec3(model.link_center, 3 * link, column)
        store_vec3(vectors, 3 * (model.dof_count + link), column, origin)
        store_vec3(vectors, 3 * (model.dof_count + model.link_count + link), column, origin + center)


@wp.func
def store_entries(jacobian: Array, row: int, count: int, column: int, v: Vec3):
    """Write a vector down a column of the Jacobian, whose rows have `count` entries."""
    set_entry(jacobian, row, column, 0, v.x)
    set_entry(jacobian, row, column, count, v.y)
    set_entry(jacobian, row, column, 2 * count, v.z)


@wp.func
def set_link_jacobian(
    model: ModelArrays,
    vectors: Array,
    movers: wp.array2d(dtype=int),
    jacobian: Array,
    link: int,
    first_entry: int,
    first: int,
    last: int,
    stride: int,
):
    """Write the six rows of a link in every `stride`-th column from `first` to before `last`."""
    count = model.dof_count
    zero = real(0.0, model.gravity[0, first])
    null = vec3(zero, zero, zero)
    for dof in range(count):
        mover = movers[link, dof]
        row = first_entry + dof
        if mover < 0:
            for column in range(first, last, stride):
                store_entries(jacobian, row, count, column, null)
                store_entries(jacobian, row + 3 * count, count, column, null)
        elif model.dof_is_linear[dof] == 1:
            for column in range(first, last, stride):
                store_entries(jacobian, row, count, column, load_vec3(vectors, 3 * dof, column))
                store_entries(jacobian, row + 3 * count, count, column, null)
        else:
            for column in range(first, last, stride):
                s = load_vec3(vectors, 3 * dof, column)
                center = load_vec3(vectors, 3 * (count + model.link_count + link), column)
                arm = center - load_vec3(vectors, 3 * (count + mover), column)
                store_entries(jacobian, row, count, column, cross(s, arm))
                store_entries(jacobian, row + 3 * count, count, column, s)


@wp.func
def set_jacobian(
    model: ModelArrays,
    vectors: Array,
    movers: wp.array2d(dtype=int),
    jacobian: Array,
    first: int,
    last: int,
    stride: int,
):
    """Write six rows for each link that is not fixed to the world.

    `movers` has for each link and each dof the link that the dof moves first, where that moves the link, else -1.
    """
    place = int(0)
    for link in range(model.link_count):
        is_held = model.link_parent[link] == model.link_count and model.link_dofs[link] == 0
        if not is_held:
            first_entry = 6 * model.dof_count * place
            set_link_jacobian(model, vectors, movers, jacobian, link, first_entry, first, last, stride)
            place += 1

"""Geometric Jacobian: what unit velocities of dofs give, of each link velocity of the centre of mass, then angular.

Of an angular dof with axis s through the origin o of its joint frame: s x (p_WC - o) and s; of a linear one: s and 0.
"""

import warp as wp

from warp_artic.math.numbers import Vec3, add, mul, real, vec3  # noqa: F401 (operators)
from warp_artic.math.spatial import cross
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3


@wp.func
def store_entries(jacobian: Array, row: int, count: int, column: int, v: Vec3):
    """Write a vector down a column of the Jacobian, whose rows have `count` entries."""
    jacobian[row, column] = v.x
    jacobian[row + count, column] = v.y
    jacobian[row + 2 * count, column] = v.z


@wp.func
def set_link_jacobian(
    model: ModelArrays, work: WorkArrays, jacobian: Array, link: int, first_entry: int, column: int, slot: int
):
    """Write the entries of a link that are not zero."""
    count = model.dof_count
    r = load_mat3(work.R_WM, 9 * link, slot) * load_vec3(model.link_center, 3 * link, column)
    other = int(link)
    while other < model.link_count:
        first = model.link_dof[other]
        for dof in range(first, first + model.link_dofs[other]):
            s = load_vec3(work.axis, 3 * dof, slot)
            row = first_entry + dof
            if model.dof_is_linear[dof] == 1:
                store_entries(jacobian, row, count, column, s)
            else:
                store_entries(jacobian, row, count, column, cross(s, r))
                store_entries(jacobian, row + 3 * count, count, column, s)
        r = r + load_vec3(work.p_PM, 3 * other, slot)
        other = model.link_parent[other]


@wp.func
def set_jacobian(model: ModelArrays, work: WorkArrays, jacobian: Array, column: int, slot: int):
    """Write six rows for each link that is not fixed to the world, where the links are placed."""
    count = model.dof_count
    zero = real(0.0, model.gravity[0, column])
    place = int(0)
    for link in range(model.link_count):
        is_held = model.link_parent[link] == model.link_count and model.link_dofs[link] == 0
        if not is_held:
            for entry in range(6 * count * place, 6 * count * (place + 1)):
                jacobian[entry, column] = zero
            set_link_jacobian(model, work, jacobian, link, 6 * count * place, column, slot)
            place += 1

"""How kernels of elements reach what is of elements, of nodes and of slots of a matrix.

A CPU core computes several elements of one environment at once, a pack, or one element of several environments side by
side; a CUDA thread one element of one environment. What environments side by side have of nodes and of slots has a row
for each group of them, in lanes as `meshes.system_numbers`; the element is the same for all of them. Sums of an
environment have the same order in whatever way: elements of a pack share no nodes, and energies of elements in the same
place of a pack are added up apart.
"""

from functools import cache
from types import SimpleNamespace

import numpy as np
import warp as wp

from warp_artic.meshes.element_numbers import LaneBodies, element_numbers, sums_of_nodes
from warp_artic.meshes.types import MeshTypes

OPEN_PACKS = 64
"""Packs that are still being filled."""


@cache
def element_access(types: MeshTypes, wide: bool, in_lanes: bool) -> SimpleNamespace:
    """What kernels of elements need beside `element_numbers`; `in_lanes` are environments side by side.

    pack                                     elements at once
    real, vec, mat                           types of what elements have, as many at once
    group_vec, group_mat                     types of a node and of a slot, of one environment or of several
    spread(x)                                a vector or a matrix of elements for all environments side by side
    gather(vectors, group, nodes, first, corner), scatter(sums, group, places, first, count, column, x)
                                             as of `element_numbers`, of a group
    Totals, added(totals, place, x), total(totals)
                                             a sum over elements, each with its place in a pack
    """
    numbers = element_numbers(types, wide)
    if in_lanes:
        return _one_element(types, numbers, element_numbers(types, False))
    T, Vec, Mat = numbers.real, numbers.vec, numbers.mat

    @wp.func
    def spread(x: Vec):
        return x

    @wp.func
    def spread(x: Mat):
        return x

    @wp.func
    def added(totals: T, place: int, x: T):
        return totals + x

    return SimpleNamespace(
        pack=numbers.lanes, real=T, vec=Vec, mat=Mat, group_vec=types.vec, group_mat=types.mat, spread=spread,
        gather=numbers.gather, scatter=numbers.scatter, Totals=T, added=added, total=numbers.total,
    )  # fmt: skip


def _one_element(types: MeshTypes, numbers: SimpleNamespace, of_element: SimpleNamespace) -> SimpleNamespace:
    """Of several environments side by side."""
    T, Vec, Mat, NodeVec, NodeMat = numbers.real, numbers.vec, numbers.mat, types.vec, types.mat
    bodies = LaneBodies(numbers.lanes, types.real)
    lanes, of_lanes = numbers.lanes, numbers.items(numbers.lanes)
    Totals, item, with_item = of_lanes.type, of_lanes.item, of_lanes.with_item

    @wp.func_native(bodies.each(types.dim, f"V(((const {bodies.scalar}*)&x)[k])"))
    def spread(x: NodeVec) -> Vec: ...

    @wp.func_native(bodies.each(types.dim**2, f"V(((const {bodies.scalar}*)&x)[k])"))
    def spread(x: NodeMat) -> Mat: ...

    @wp.func
    def added(totals: Totals, place: int, x: T):
        return with_item(totals, place, item(totals, place) + x)

    @wp.func
    def total(totals: Totals):
        found = item(totals, 0)
        for place in range(1, lanes):
            found = found + item(totals, place)
        return found

    return SimpleNamespace(
        pack=1, real=of_element.real, vec=of_element.vec, mat=of_element.mat, group_vec=Vec, group_mat=Mat,
        spread=spread, Totals=Totals, added=added, total=total, **vars(sums_of_nodes(Vec, Mat)),
    )  # fmt: skip


def packs_of(elements: np.ndarray, size: int) -> np.ndarray:
    """Elements in packs of at most so many that share no nodes, shape (P, size); -1 where there is none."""
    packs: list[list[int]] = []
    first, full = 0, 0
    # Of each node, a bit for each pack from one on that has it.
    known = dict.fromkeys(np.unique(elements).tolist(), (0, 0))
    for element, nodes in enumerate(elements.tolist()):
        used = full
        for node in nodes:
            start, has = known[node]
            used |= has >> (first - start)
        place = (~used & (used + 1)).bit_length() - 1
        if first + place == len(packs):
            packs.append([])
        pack = packs[first + place]
        pack.append(element)
        for node in nodes:
            start, has = known[node]
            known[node] = first, (has >> (first - start)) | (1 << place)
        full |= (len(pack) == size) << place
        while full & 1 or len(packs) - first > OPEN_PACKS:
            full >>= 1
            first += 1
    table = np.full((len(packs), size), -1)
    for row, pack in zip(table, packs):
        row[: len(pack)] = pack
    return table

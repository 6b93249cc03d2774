"""The coarse space of a mesh: rigid motions of groups of nodes, for what a local preconditioner does not see.

Nodes are halved along the longest side of their box until groups are small. With P, which gives the displacements of
nodes that a motion of the groups has, the preconditioner adds P (P^T K P)^-1 P^T to the inverses of the diagonal
blocks. The inverse is dense, and of a few hundred rows.
"""

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np
import warp as wp

from warp_artic.meshes.pattern import BlockPattern
from warp_artic.meshes.system_numbers import add, mul, sub, system_numbers  # noqa: F401 - operators
from warp_artic.meshes.types import MeshTypes

GROUP = 40
"""Most nodes of a group where there are few groups."""
MOST_GROUPS = 16
"""Beyond it groups grow: the inverse would cost more than it saves."""
DROPPED = 1e-7
"""What of its diagonal entry has to be left of a motion that the ones before it do not have already."""


@dataclass(frozen=True, eq=False)
class NodeGroups:
    """Groups of nodes."""

    group: np.ndarray
    """Of each node; -1: none."""
    starts: np.ndarray
    """Where each group begins in `nodes`, and their count."""
    nodes: np.ndarray
    """Group after group."""


def node_groups(points: np.ndarray, free: np.ndarray) -> NodeGroups:
    """Groups of the free nodes."""
    size = max(GROUP, -(-np.count_nonzero(free) // MOST_GROUPS))
    groups, left = [], [np.flatnonzero(free)]
    while left:
        nodes = left.pop()
        if len(nodes) <= size:
            groups.append(np.sort(nodes))
            continue
        axis = np.argmax(np.ptp(points[nodes], axis=0))
        order = np.argsort(points[nodes, axis], kind="stable")
        left += [nodes[order[len(nodes) // 2 :]], nodes[order[: len(nodes) // 2]]]
    groups = [nodes for nodes in groups if len(nodes)]
    group = np.full(len(points), -1)
    for index, nodes in enumerate(groups):
        group[nodes] = index
    starts = np.cumsum([0, *map(len, groups)])
    return NodeGroups(group, starts, np.concatenate([*groups, np.zeros(0, int)]).astype(int))


def group_runs(group: np.ndarray, pattern: BlockPattern) -> tuple[np.ndarray, ...]:
    """The slots of each row by the groups of their columns, which are its own and those before it.

    Gives where the runs of a row begin, their groups, where the slots of a run begin, and the slots.
    """
    of_row, of_column = group[pattern.rows], group[pattern.columns]
    slots = np.flatnonzero((of_column >= 0) & (of_column <= of_row))
    slots = slots[np.lexsort((of_column[slots], pattern.rows[slots]))]
    pairs = np.stack([pattern.rows[slots], of_column[slots]])
    first = np.flatnonzero(np.diff(pairs, prepend=-1).any(axis=0))
    starts = np.searchsorted(pairs[0, first], np.arange(len(group) + 1))
    return starts, pairs[1, first], np.append(first, len(slots)), slots


@dataclass(frozen=True, eq=False)
class RigidMotions:
    """Functions of the rigid motions of a group, for kernels."""

    count: int
    """Motions of a group: translations, then rotations about the origin of the arm."""
    numbers: SimpleNamespace
    """Type of as many numbers; see `system_numbers`."""
    restrict: wp.Function
    """P^T f of a node with an arm."""
    prolong: wp.Function
    """P m of a node with an arm."""


@cache
def rigid_motions(types: MeshTypes, in_lanes: bool) -> RigidMotions:
    """The motions for a dimension and a precision, of one environment or of several in lanes."""
    dim, NodeVec = types.dim, types.vec
    numbers = system_numbers(types, in_lanes)
    Vec, component, with_component = numbers.vec, numbers.component, numbers.with_component
    count = dim * (dim + 1) // 2
    own = numbers.items(count)
    Motion, item, with_item = own.type, own.item, own.with_item

    if dim == 2:

        @wp.func
        def restrict(arm: NodeVec, f: Vec):
            x = component(f, 0)
            y = component(f, 1)
            found = with_item(with_item(Motion(), 0, x), 1, y)
            return with_item(found, 2, arm[0] * y - arm[1] * x)

        @wp.func
        def prolong(arm: NodeVec, m: Motion):
            turn = item(m, 2)
            found = with_component(Vec(), 0, item(m, 0) - arm[1] * turn)
            return with_component(found, 1, item(m, 1) + arm[0] * turn)

    else:

        @wp.func
        def restrict(arm: NodeVec, f: Vec):
            found = Motion()
            for i in range(3):
                found = with_item(found, i, component(f, i))
                moment = arm[(i + 1) % 3] * component(f, (i + 2) % 3) - arm[(i + 2) % 3] * component(f, (i + 1) % 3)
                found = with_item(found, 3 + i, moment)
            return found

        @wp.func
        def prolong(arm: NodeVec, m: Motion):
            found = Vec()
            for i in range(3):
                turned = item(m, 3 + (i + 1) % 3) * arm[(i + 2) % 3] - item(m, 3 + (i + 2) % 3) * arm[(i + 1) % 3]
                found = with_component(found, i, item(m, i) + turned)
            return found

    return RigidMotions(count, own, restrict, prolong)

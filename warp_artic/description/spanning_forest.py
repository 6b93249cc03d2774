"""A graph of bodies and joints becomes trees, and joints that close loops; pure topology.

The result has these properties: every body is in exactly one tree; every edge is a branch of one tree or closes a loop
in it; bodies joined to each other, but not through the world, are in the same tree; a tree with an edge to the world is
rooted there. It depends on nothing but the order of bodies and edges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from warp_artic.description.joint import WORLD
from warp_artic.description.unions import Unions


@dataclass(frozen=True)
class Edge:
    """A joint between two bodies, given by index, or between a body and the WORLD."""

    body0: int
    body1: int

    def other(self, body: int) -> int:
        """The body at the other end."""
        return self.body1 if body == self.body0 else self.body0


@dataclass(frozen=True)
class Branch:
    """An edge of a tree, seen from its root."""

    edge: int
    parent: int
    child: int

    def is_reversed(self, edges: list[Edge]) -> bool:
        """Whether the edge points from the child to the parent."""
        return edges[self.edge].body1 == self.parent


@dataclass(frozen=True)
class Tree:
    """A spanning tree of joined bodies."""

    bodies: tuple[int, ...]
    """In ascending order."""
    root: int
    """The body joined to the world, or the one that floats."""
    branches: tuple[Branch, ...]
    """Parents first."""
    closing: tuple[int, ...]
    """Edges that close loops."""

    @property
    def is_floating(self) -> bool:
        """Whether no branch leads to the world."""
        return len(self.branches) < len(self.bodies)


def components(body_count: int, edges: list[Edge]) -> list[tuple[int, ...]]:
    """Bodies joined to each other, but not through the world; each in ascending order, ordered by their first body."""
    found = Unions(range(body_count))
    for edge in edges:
        if WORLD not in (edge.body0, edge.body1):
            found.join(edge.body0, edge.body1)
    return list(map(tuple, found.sets()))


def edges_by_body(edges: list[Edge]) -> dict[int, list[int]]:
    """The indices of the edges that touch each body, or the world."""
    found: dict[int, list[int]] = {}
    for index, edge in enumerate(edges):
        for body in {edge.body0, edge.body1}:
            found.setdefault(body, []).append(index)
    return found


def span(
    bodies: tuple[int, ...],
    edges: list[Edge],
    root_body: int | None = None,
    root_edge: int | None = None,
    own: Iterable[int] | None = None,
) -> Tree:
    """The breadth-first spanning tree of one component; `own` are the edges that touch it, where they are known.

    It starts at the world: at `root_edge`, else at an edge of `root_body`, else at the first edge that leads there. A
    component without such an edge starts at `root_body`, else at the first body that is body1 of no edge, else at
    the first body. Bodies that `own` joins to the world only are reached from there, by the first such edge.
    """
    members = set(bodies)
    touching: dict[int, list[int]] = {body: [] for body in bodies}
    anchors = []
    for index in range(len(edges)) if own is None else own:
        edge = edges[index]
        ends = members.intersection((edge.body0, edge.body1))
        if WORLD in (edge.body0, edge.body1):
            anchors += [index] * len(ends)
        else:
            for end in ends:
                touching[end].append(index)
    branches: list[Branch] = []
    if anchors:
        anchors.sort(key=lambda index: (index != root_edge, edges[index].other(WORLD) != root_body, index))
        root = edges[anchors[0]].other(WORLD)
        branches.append(Branch(anchors[0], WORLD, root))
    else:
        root = _floating_root(bodies, edges, touching) if root_body is None else root_body
    reached = {root}
    _grow(root, edges, touching, branches, reached)
    for anchor in anchors[1:]:
        body = edges[anchor].other(WORLD)
        if body not in reached:
            reached.add(body)
            branches.append(Branch(anchor, WORLD, body))
            _grow(body, edges, touching, branches, reached)
    used = {branch.edge for branch in branches}
    closing = sorted({*anchors, *(edge for joined in touching.values() for edge in joined)} - used)
    return Tree(bodies, root, tuple(branches), tuple(closing))


def span_by_weight(
    bodies: tuple[int, ...],
    edges: list[Edge],
    root_body: int | None,
    root_edge: int | None,
    weights: dict[int, int],
) -> Tree:
    """The same, where `weights` has the edges that touch the component: those of high weight become branches.

    No closing edge has a higher weight than another edge of its loop, but for `root_edge`.
    """
    left_out: list[int] = []
    while True:
        tree = span(bodies, edges, root_body, root_edge, [edge for edge in weights if edge not in left_out])
        found = _least_wanted(tree, edges, root_edge, weights)
        if found is None:
            return replace(tree, closing=tuple(sorted((*tree.closing, *left_out))))
        left_out.append(found)


def _least_wanted(tree: Tree, edges: list[Edge], root_edge: int | None, weights: dict[int, int]) -> int | None:
    """A branch that closes a loop in place of an edge of higher weight."""
    for closing in tree.closing:
        loop = [edge for edge in loop_edges(tree, edges, closing) if edge != root_edge]
        least = min(loop, key=lambda edge: (weights[edge], -edge), default=closing)
        if weights[least] < weights[closing]:
            return least
    return None


def loop_edges(tree: Tree, edges: list[Edge], closing: int) -> list[int]:
    """The edges of the loop that a closing edge makes, itself included, in ascending order."""
    inbound = {branch.child: branch for branch in tree.branches}

    def way_to_root(body: int) -> set[int]:
        way = set()
        while body in inbound:
            way.add(inbound[body].edge)
            body = inbound[body].parent
        return way

    return sorted(way_to_root(edges[closing].body0) ^ way_to_root(edges[closing].body1) | {closing})


def _floating_root(bodies: tuple[int, ...], edges: list[Edge], touching: dict[int, list[int]]) -> int:
    for body in bodies:
        if all(edges[index].body1 != body for index in touching[body]):
            return body
    return bodies[0]


def _grow(
    root: int, edges: list[Edge], touching: dict[int, list[int]], branches: list[Branch], reached: set[int]
) -> None:
    queue = deque([root])
    while queue:
        parent = queue.popleft()
        for index in touching[parent]:
            child = edges[index].other(parent)
            if child not in reached:
                reached.add(child)
                queue.append(child)
                branches.append(Branch(index, parent, child))

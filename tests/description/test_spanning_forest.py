"""Trees and loops in graphs of bodies."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from warp_artic.description.joint import WORLD
from warp_artic.description.spanning_forest import Edge, components, edges_by_body, loop_edges, span, span_by_weight


def test_chain_is_its_own_tree():
    """Edges are branches away from the root; one that points to its root is reversed."""
    edges = [Edge(0, 1), Edge(2, 1)]
    tree = span((0, 1, 2), edges)
    assert [(branch.edge, branch.parent, branch.child) for branch in tree.branches] == [(0, 0, 1), (1, 1, 2)]
    assert [branch.is_reversed(edges) for branch in tree.branches] == [False, True]
    assert (tree.root, tree.is_floating, tree.closing) == (0, True, ())


def test_world_edge_is_the_root():
    """A tree starts at the world where an edge leads there."""
    edges = [Edge(0, 1), Edge(1, WORLD)]
    tree = span((0, 1), edges)
    assert (tree.root, tree.is_floating) == (1, False)
    assert [branch.is_reversed(edges) for branch in tree.branches] == [True, True]


def test_chosen_root():
    """A root body, or a root edge to the world, may be chosen."""
    edges = [Edge(0, 1), Edge(WORLD, 0), Edge(WORLD, 1)]
    assert span((0, 1), edges[:1], root_body=1).root == 1
    assert span((0, 1), edges, root_edge=2).root == 1
    assert span((0, 1), edges, root_body=1).closing == (1,)


def test_loop_of_a_closing_edge():
    """The loop is the edges between the two ends, without those both have in common."""
    edges = [Edge(WORLD, 0), Edge(0, 1), Edge(1, 2), Edge(0, 3), Edge(2, 3)]
    tree = span((0, 1, 2, 3), edges)
    (closing,) = tree.closing
    assert loop_edges(tree, edges, closing) == [1, 2, 3, 4]


graphs = st.integers(1, 12).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(
            st.tuples(st.integers(WORLD, count - 1), st.integers(WORLD, count - 1))
            .filter(lambda ends: ends[0] != ends[1])
            .map(lambda ends: Edge(*ends)),
            max_size=20,
        ),
    )
)


@given(graphs)
def test_properties_of_the_forest(graph):
    """Every body is in one tree with one way to its root; every edge is a branch or closes a loop, once."""
    count, edges = graph
    trees = [span(group, edges) for group in components(count, edges)]
    assert sorted(body for tree in trees for body in tree.bodies) == list(range(count))
    seen = [branch.edge for tree in trees for branch in tree.branches] + [
        edge for tree in trees for edge in tree.closing
    ]
    assert sorted(seen) == list(range(len(edges)))
    for tree in trees:
        reached = {WORLD} if not tree.is_floating else {tree.root}
        for branch in tree.branches:
            assert branch.parent in reached
            assert branch.child not in reached
            assert {branch.parent, branch.child} == {edges[branch.edge].body0, edges[branch.edge].body1}
            reached.add(branch.child)
        assert reached - {WORLD} == set(tree.bodies)
        anchored = any(
            WORLD in (edge.body0, edge.body1) and {edge.body0, edge.body1} & set(tree.bodies) for edge in edges
        )
        assert tree.is_floating == (not anchored)


def test_known_edges_change_nothing():
    """A tree is the same whether the edges of its component are given or looked for."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        ends = rng.integers(-1, 8, size=(rng.integers(0, 12), 2)).tolist()
        edges = [Edge(*pair) for pair in ends if pair[0] != pair[1]]
        touching = edges_by_body(edges)
        for group in components(8, edges):
            own = sorted({edge for body in group for edge in touching.get(body, ())})
            assert span(group, edges, own=own) == span(group, edges)


def test_legs_that_are_wanted_stay_branches():
    """A platform on three legs of two bodies: the joints of each leg are wanted, so each hangs on the world."""
    edges, weights = [], {}
    for leg in range(3):
        lower, upper = 1 + 2 * leg, 2 + 2 * leg
        for edge, weight in ((Edge(WORLD, lower), 1), (Edge(lower, upper), 2), (Edge(upper, 0), 0)):
            weights[len(edges)] = weight
            edges.append(edge)
    tree = span_by_weight(tuple(range(7)), edges, None, None, weights)
    assert sorted(branch.child for branch in tree.branches) == list(range(7))
    assert [branch.edge for branch in tree.branches if branch.parent == WORLD] == [0, 3, 6]
    assert len(tree.closing) == 2 and {weights[edge] for edge in tree.closing} == {0}

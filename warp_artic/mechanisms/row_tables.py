"""Tables of constraint rows: terms of their Jacobians, dofs and links between them and the root, what they share."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from warp_artic.mechanisms.public_rows import ENTRIES
from warp_artic.mechanisms.tree import Tree
from warp_artic.model.families import ON_ONE_DOF
from warp_artic.model.row import Row


@lru_cache(maxsize=1)  # the model and every work space of a tree ask for them
def row_tables(tree: Tree, dense_rows: bool) -> tuple[dict[str, list[int]], list[int], int]:
    """Terms and inward path of each row, a row for each response to a force Jacobian, and the number of responses.

    Rows on one dof share the response of the dof. The direct solver has further ones of J that may differ from P^T.
    """
    response_of: dict[tuple, int] = {}
    response_rows: list[int] = []
    names = (
        "row_term",
        "row_terms",
        "row_response_index",
        "term_dof",
        "term_span",
        "term_place",
        "row_path",
        "row_steps",
        "path_link",
        "row_first",
        "row_end",
        "row_support",
        "row_supports",
        "support_dof",
        "row_link",
        "row_is_branched",
    )
    tables: dict[str, list[int]] = {name: [] for name in names}
    for index, row in enumerate(tree.rows):
        key = _response_key(row, index)
        if key not in response_of:
            response_of[key] = len(response_rows)
            response_rows.append(index)
        tables["row_term"].append(len(tables["term_dof"]))
        tables["row_terms"].append(len(row.dofs))
        tables["row_response_index"].append(response_of[key])
        tables["term_dof"] += row.dofs
        spans, places = _coupled_terms(tree, row)
        tables["term_span"] += spans
        tables["term_place"] += places
        path = tree.inward_path(row.dofs)
        tables["row_path"].append(len(tables["path_link"]))
        tables["row_steps"].append(len(path))
        tables["path_link"] += path
        moving = [link for link in path if tree.dof_counts[link] > 0]
        tables["row_first"].append(min(tree.first_dof[link] for link in moving))
        tables["row_end"].append(max(tree.first_dof[link] + tree.dof_counts[link] for link in moving))
        support = [tree.first_dof[link] + k for link in reversed(moving) for k in range(tree.dof_counts[link])]
        tables["row_support"].append(len(tables["support_dof"]))
        tables["row_supports"].append(len(support))
        tables["support_dof"] += support
        tables["row_link"].append(path[0])
        tables["row_is_branched"].append(int(any(tree.parent[a] != b for a, b in pairwise(path))))
    tables["row_rate_response_index"] = list(tables["row_response_index"])
    response_count = len(response_rows)
    for index, row in enumerate(tree.rows):
        otherwise = row.family.has_own_force_jacobian
        if dense_rows and (tree.flags[otherwise] if isinstance(otherwise, str) else otherwise):
            tables["row_rate_response_index"][index] = response_count
            response_count += 1
    return tables, response_rows, response_count


def _response_key(row: Row, index: int):
    """Rows with the same key have the same force Jacobian."""
    if row.family.shares_force_jacobian is not None:
        return row.family.shares_force_jacobian, row.item
    if row.family.traits & ON_ONE_DOF:
        return "dof", row.dofs
    return "row", index


def _coupled_terms(tree: Tree, row: Row) -> tuple[list[int], list[int]]:
    """Of the first term of each coefficient of a coupling how many there are, and which one has its dof."""
    spans, places = [1] * len(row.dofs), [0] * len(row.dofs)
    term = 0
    for dof in row.coupled:
        own = tree.dofs_that_turn(dof)
        spans[term], places[term] = len(own), own.index(dof)
        term += len(own)
    return spans, places


def supports(terms: dict[str, list[int]]) -> list[frozenset[int]]:
    """The dofs between each row and the root, in the order of gathering."""
    spans = zip(terms["row_support"], terms["row_supports"])
    return [frozenset(terms["support_dof"][start : start + count]) for start, count in spans][::-1]


def shared_dofs(tree: Tree) -> np.ndarray:
    """Of each two links how many dofs are on the paths of both to the root."""
    shared = np.zeros((tree.link_count, tree.link_count), dtype=np.int32)
    placed: list[int] = []
    for link in tree.order:
        parent = tree.parent[link]
        if parent < tree.link_count:
            shared[link, placed] = shared[placed, link] = shared[parent, placed]
            shared[link, link] = shared[parent, parent]
        shared[link, link] += tree.dof_counts[link]
        placed.append(link)
    return shared


def entry_places(tree: Tree) -> list[int]:
    """Of each row the place of what it is for among all that the dynamics suite registers; else none."""
    places, start = {}, 0
    for entries, count in zip(ENTRIES, tree.entry_counts):
        own = {} if entries.row_places is None else entries.row_places(tree)
        places |= {(id(entries), item): start + own.get(item, item) for item in (own or range(count))}
        start += count
    return [places.get((id(row.family.entries), row.item), -1) for row in tree.rows]

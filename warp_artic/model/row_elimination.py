"""Which constraint rows meet in the elimination of their Delassus matrix, from a symbolic elimination at load.

Rows are gathered from the last to the first. Two rows overlap if the paths of their dofs to the root share a dof: then
G_ab is not zero. Elimination of a row couples all later rows that overlap with it (fill); so row a of L, and the column
R of Gram-Schmidt, have entries at the earlier rows that `a` can be reached from through rows before both. Those of the
rows that are gathered in a step are among them. Rows on branches of the tree that share no dof never meet, and what is
solved costs what the rows of each branch cost, not the square of their number.

Rows that meet are kept as ranges [start, end) of places in the order of gathering: few, as a branch has its dofs and so
its rows of each family one after the other. Neighbours with the same dofs, as all rows of a pair of shapes, are one run
here: contacts have thousands of rows.
"""

from itertools import pairwise

import numpy as np


def meeting_rows(supports: list[frozenset[int]]) -> np.ndarray:
    """Whether row a of L has an entry at b < a (rows, rows), for the dofs of rows in the order of gathering."""
    count = len(supports)
    dofs = 1 + max((max(own, default=0) for own in supports), default=0)
    has = np.zeros((count, dofs), dtype=np.float32)
    for row, own in enumerate(supports):
        has[row, list(own)] = 1.0
    filled = (has @ has.T) > 0.0
    for pivot in range(count):
        later = np.flatnonzero(filled[pivot + 1 :, pivot]) + pivot + 1
        # The first later row stands for the pivot: what it meets from then on includes what the pivot does.
        if later.size:
            filled[later, later[0]] = True
    return np.tril(filled, -1)


def ranges(flags: np.ndarray) -> list[tuple[int, int]]:
    """The ranges of places that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(start), int(end)) for start, end in zip(edges[::2], edges[1::2])]


def run_edges(supports: list[frozenset[int]]) -> list[int]:
    """Where runs of neighbours with the same dofs start, and the end of the last."""
    changes = [row for row in range(1, len(supports)) if supports[row] != supports[row - 1]]
    return [0, *changes, len(supports)] if supports else [0]


def elimination_tables(supports: list[frozenset[int]]) -> dict[str, list[int]]:
    """Of each place in the order of gathering the ranges of earlier places it meets, and of later ones that meet it."""
    edges = run_edges(supports)
    meets = meeting_rows([supports[start] for start in edges[:-1]])
    # Rows of a run meet each other, but where they have no dof.
    meets[np.diag_indices(len(meets))] = [bool(supports[start]) for start in edges[:-1]]
    tables: dict[str, list[int]] = {name: [] for name in ("earlier_range", "later_range", "range_start", "range_end")}
    for name, matrix in (("earlier_range", meets), ("later_range", meets.T)):
        for flags, (first, last) in zip(matrix, pairwise(edges)):
            whole = [(edges[start], edges[end]) for start, end in ranges(flags)]
            for place in range(first, last):
                tables[name].append(len(tables["range_start"]))
                for start, end in whole:
                    if name == "earlier_range":
                        end = min(end, place)
                    else:
                        start = max(start, place + 1)
                    if start < end:
                        tables["range_start"].append(start)
                        tables["range_end"].append(end)
        tables[name].append(len(tables["range_start"]))
    return tables


def all_meet(tables: dict[str, list[int]]) -> bool:
    """Whether every row meets all rows before it."""
    count = len(tables["earlier_range"]) - 1
    firsts = tables["earlier_range"]
    spans = [tables["range_end"][k] - tables["range_start"][k] for k in range(firsts[-1])]
    return all(sum(spans[a:b]) == place for place, (a, b) in zip(range(count), pairwise(firsts)))

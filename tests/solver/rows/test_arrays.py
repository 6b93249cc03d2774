"""Every array of the row problem is declared once, with its meaning."""

import ast
import re
from pathlib import Path

import warp as wp

import warp_artic
from warp_artic.constraints.contact_pair import CONTACT_PAIR
from warp_artic.constraints.table import FAMILIES
from warp_artic.math.numbers import SCALAR64
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.row_problem import DIRECT, PROBLEM, ROW_ARRAYS, row_counts
from warp_artic.model.work_arrays import WORK_ARRAYS, sizes_of

PACKAGE = Path(warp_artic.__file__).parent


def test_declared_arrays_are_those_of_a_work_space():
    """The struct has each of them, as indices where they are declared so; none is declared twice."""
    fields = arrays_for(SCALAR64).Work.vars
    assert not set(PROBLEM) & set(DIRECT) and not set(ROW_ARRAYS) & set(WORK_ARRAYS)
    own = {name for family in FAMILIES for name in family.scratch}
    assert set(fields) == {*ROW_ARRAYS, *WORK_ARRAYS, *own}
    for name, array in ROW_ARRAYS.items():
        assert (fields[name].type.dtype is wp.int32) == array.is_index, name
    assert all(size >= 0 for size in sizes_of(ROW_ARRAYS, row_counts(3, 4, 2, 5, 3)).values())


def test_solvers_of_rows_know_no_other_arrays():
    """What `solver/rows` reads of a work space is the row problem, the velocities and 1 / D of the dofs.

    Where points of contact are solved for, these, what is given to rows and the response of each by itself are read as
    well.
    """
    known = {
        *ROW_ARRAYS,
        "v",
        "v_next",
        "v_free",
        "D_inverse",
        "vdot",
        "given",
        "is_changed",
        "shift",
        "row_delassus",
        *CONTACT_PAIR.scratch,
    }
    for path in sorted((PACKAGE / "solver" / "rows").glob("*.py")):
        used = set(re.findall(r"\bwork\.(\w+)\[", path.read_text())) | {
            node.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "work"
        }
        assert used <= known, (path.name, used - known)

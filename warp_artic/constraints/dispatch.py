"""What is done for a row by the function of its family: the only switches over families, made from their list.

Each is a chain of branches on the family of the row, which is a constant of the model; neighbours in the list with the
same function share a branch.
"""

from collections.abc import Callable, Iterable
from itertools import groupby

import warp as wp

from warp_artic.constraints.rows import prepare_response, row_response
from warp_artic.constraints.table import FAMILIES
from warp_artic.math.defined import defined
from warp_artic.math.numbers import Real, add, real, where_positive  # noqa: F401 (an operator)
from warp_artic.model.arrays import ForceArrays, ModelArrays, ReportArrays, StateArrays, WorkArrays
from warp_artic.model.families import HOLDS, ConstraintFamily

TYPES = {
    "model": ModelArrays,
    "state": StateArrays,
    "work": WorkArrays,
    "report": ReportArrays,
    "forces": ForceArrays,
    "row": int,
    "block": int,
    "worker": int,
    "h": Real,
    "force": Real,
}
"""Types of the arguments of switches."""
OF_ROWS = ("model", "work", "row", "block", "worker", "h")


def switch(
    name: str, arguments: Iterable[str], branches: Iterable[tuple[ConstraintFamily, tuple[str, ...]]], **names
) -> wp.Function:
    """A Warp function that does for a row what the branch of its family says, and returns `found`, at first false.

    Branches are statements; `names` are what they call.
    """
    lines = [f"def {name}({', '.join(f'{argument}: type_of_{argument}' for argument in arguments)}):"]
    lines += ["    family = model.row_family[row]", "    found = bool(False)"]
    word = "if"
    for statements, own in groupby(branches, key=lambda branch: branch[1]):
        orders = [family.order for family, _ in own]
        test = f"family == {orders[0]}"
        if len(orders) > 1:
            test = f"family >= {orders[0]} and family <= {orders[-1]}"
        lines += [f"    {word} {test}:", *(f"        {statement}" for statement in statements)]
        word = "elif"
    lines.append("    return found")
    scope = {f"type_of_{argument}": TYPES[argument] for argument in arguments} | names
    return wp.func(defined(name, "\n".join(lines) + "\n", {"wp": wp, "__name__": __name__, **scope}))


def calls(
    name: str, arguments: tuple[str, ...], aspect: Callable[[ConstraintFamily], wp.Function | None], says: bool = False
) -> wp.Function:
    """A switch over the functions of families; returns their result, or whether the family has one."""
    functions = [(family, aspect(family)) for family in FAMILIES]
    names = {function.func.__name__: function for _, function in functions if function is not None}
    first, last = ("found = ", ()) if says else ("", ("found = bool(True)",))
    branches = [
        (family, (f"{first}{function.func.__name__}({', '.join(arguments)})", *last))
        for family, function in functions
        if function is not None
    ]
    return switch(name, arguments, branches, **names)


def multipliers(name: str, value: str) -> wp.Function:
    """A switch that writes the multiplier of a row, all components of its entry; `old` is its present value."""
    branches, entries = [], {}
    for family in FAMILIES:
        if family.multiplier is not None:
            size, entry = family.multiplier.size, "model.row_item[row]"
            if family.entry is not None:
                entry = f"{family.entry.func.__name__}(model, row)"
                entries[family.entry.func.__name__] = family.entry
            elif size > 1:
                entry = f"({entry} // {size})"
            old = [f"forces.{family.multiplier.name}[{size} * {entry} + {k}, block]" for k in range(size)]
            branches.append((family, tuple(f"{one} = {value.replace('old', one)}" for one in old)))
    arguments = ("model", "forces", "row", "block", "force")
    return switch(name, arguments, branches, where_positive=where_positive, **entries)


def adds(name: str, struct: str) -> wp.Function:
    """A switch that adds a force of a row to its multiplier in the forces of a step, or to its load in a work space."""
    place = {"forces": "block", "work": "worker"}[struct]
    kept = {name for family in FAMILIES for name in family.scratch}
    branches, functions = [], {}
    for family in FAMILIES:
        if family.multiplier is not None and (struct == "forces" or family.multiplier.name in kept):
            own = f"{struct}.{family.multiplier.name}"
            if family.add_load is not None:
                function = family.add_load.func.__name__
                functions[function] = family.add_load
                line = f"{function}(model, work, {own}, row, {place}, block, worker, force)"
                branches.append((family, (line,)))
            elif struct == "forces":
                old = f"{own}[model.row_item[row], block]"
                branches.append((family, (f"{old} = {old} + force",)))
    arguments = ("model", "work", *(("forces",) if struct == "forces" else ()), "row", "block", "worker", "force")
    return switch(name, arguments, branches, add=add, **functions)


set_gradient = calls("set_gradient", OF_ROWS, lambda family: family.gradient, says=True)
"""Write J and P of a row whose law needs J Y; says whether this one does."""
set_law = calls("set_law", OF_ROWS, lambda family: None if family.is_stop else family.law)
"""Write velocity bounds, compliance, impulse bounds and the other J of a row that is no stop."""
set_stop_law = calls("set_stop_law", OF_ROWS, lambda family: family.law if family.is_stop else None)
"""Write the same of a stop."""
set_held_law = calls("set_held_law", OF_ROWS, lambda family: family.law if family.traits & HOLDS else None)
"""Write the same of a row that may hold dofs against each other."""
set_held_gradient = calls(
    "set_held_gradient", OF_ROWS, lambda family: family.gradient if family.traits & HOLDS else None, says=True
)
"""Write J and P of such a row whose law needs J Y; says whether this one does."""
measure_row = calls("measure_row", OF_ROWS, lambda family: family.measure)
"""Write what the law of a row needs of the mechanism without drives."""
set_unit_row = calls("set_unit_row", OF_ROWS, lambda family: family.coefficients)
"""Write J and P of a unit impulse at a state; says whether the family of the row has such."""
report_row = calls(
    "report_row", ("model", "state", "work", "report", "row", "block", "worker"), lambda family: family.report
)
"""Write the measures of a row at a state."""
subtract_row_wrench = calls(
    "subtract_row_wrench", ("model", "work", "row", "block", "worker", "force"), lambda family: family.subtract_wrench
)
"""Take what a row does to links off what these need."""
add_multiplier = adds("add_multiplier", "forces")
"""Add the force of a row over a substep."""
add_load = adds("add_load", "work")
"""Add it to the loads that steps themselves look at."""
clear_multiplier = multipliers("clear_multiplier", "force")
"""Begin with a force."""
drop_multiplier = multipliers("drop_multiplier", "where_positive(force, old, force)")
"""Leave what there is only where the argument is positive."""


@wp.func
def set_rows(model: ModelArrays, work: WorkArrays, block: int, worker: int, h: Real):
    """Fill all rows of islands that begin for this step; none is active yet."""
    zero = real(0.0, h)
    for row in range(model.row_count):
        if work.begins[model.row_island[row], worker] == 1:
            work.active[row, worker] = zero
            work.impulse[row, worker] = zero
            work.given[row, worker] = zero
            if row < model.stop_row:
                if set_gradient(model, work, row, block, worker, h):
                    prepare_response(model, work, row, worker)
                    work.row_delassus[row, worker] = row_response(model, work, row, worker)
                set_law(model, work, row, block, worker, h)
            else:
                set_stop_law(model, work, row, block, worker, h)

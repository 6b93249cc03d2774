"""What the compiler of a kernel is told of the layout of its arrays.

An index of a Warp array costs two products, and for each of its parts a test and a sum, because a negative one counts
from the end: as much as the arithmetic of a lane vector. No index of ours is negative, and tables have no gaps. A work
space has one worker on a CPU, so that its rows have no gaps either; on CUDA each worker has a column in all its arrays.
A compiler that knows this leaves most of it out. Results are bitwise the same.
"""

import inspect

import warp as wp

from warp_artic.math.defined import defined
from warp_artic.math.lean_source import NO_GAPS, ON_CPU
from warp_artic.math.numbers import Numbers
from warp_artic.mechanisms.structs import arrays_for

DROP_LENGTHS = """
#ifdef NDEBUG
a.shape[0] = 0;
a.shape[1] = 0;
#endif"""
"""With a length of zero the test and the sum do nothing. Where Warp checks bounds, in its debug mode, lengths stay."""

NO_GAPS_ON_CPU = f"""
{ON_CPU}
{NO_GAPS}
#endif"""


def with_known_layout(function: wp.Function, numbers: Numbers) -> wp.Function:
    """The same Warp function for one number type, with what is known of the arrays of its `model` and `work`.

    Those of the state and of controls are indexed too seldom: they would only take the compiler longer.
    """
    structs = arrays_for(numbers)
    parameters = inspect.signature(function.func).parameters
    names = {f"type_of_{name}": parameter.annotation for name, parameter in parameters.items()}
    names |= {"function": function, "known_model": _known(numbers), "known_work": _known(numbers, NO_GAPS_ON_CPU)}
    names["__name__"] = __name__
    name = f"known_{function.func.__name__}"
    lines = [f"def {name}({', '.join(f'{parameter}: type_of_{parameter}' for parameter in parameters)}):"]
    for owner, struct in (("model", structs.Model), ("work", structs.Work)):
        kinds = numbers.real, wp.int32
        arrays = [field for field, variable in struct.vars.items() if getattr(variable.type, "dtype", None) in kinds]
        lines += [f"{owner}.{array} = known_{owner}({owner}.{array})" for array in arrays]
    lines.append(f"function({', '.join(parameters)})")
    return wp.func(defined(name, "\n    ".join(lines) + "\n", names))


def _known(numbers: Numbers, statements: str = ""):
    """A Warp function: an array of whose layout it is known what there is to know."""
    Reals, Integers, Table = wp.array2d(dtype=numbers.real), wp.array2d(dtype=int), wp.array(dtype=int)

    @wp.func_native(f"{DROP_LENGTHS}{statements}\nreturn a;")
    def known(a: Reals) -> Reals: ...

    @wp.func_native(f"{DROP_LENGTHS}{statements}\nreturn a;")
    def known(a: Integers) -> Integers: ...  # noqa: F811 (an overload)

    @wp.func_native(f"{DROP_LENGTHS}\n{NO_GAPS}\nreturn a;")
    def known(a: Table) -> Table: ...  # noqa: F811 (an overload)

    return known

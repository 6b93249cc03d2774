"""What the compiler of a kernel is told of the arrays of a struct, as `kernels.layout` does for articulations.

No index is negative, and the last dimension of an array has no gaps: an index costs one product less, and a test and a
sum less for each of its parts. Kernels do not ask such arrays for their lengths.
"""

import warp as wp

from warp_artic.math.defined import defined


def with_known_layout(struct) -> wp.Function:
    """A Warp function that gives a struct whose arrays are known to lie like that."""
    fields = {name: variable.type for name, variable in struct.vars.items() if isinstance(variable.type, wp.array)}
    kinds = {(kind.dtype, kind.ndim): kind for kind in fields.values()}
    # Functions of their own: Warp does not tell overloads apart by the number of dimensions.
    known = {key: (f"known_{place}", _known(kind)) for place, (key, kind) in enumerate(kinds.items())}
    name = f"known_{struct.cls.__name__.lower()}"
    lines = [f"def {name}(struct: Struct):"]
    lines += [f"struct.{field} = {known[kind.dtype, kind.ndim][0]}(struct.{field})" for field, kind in fields.items()]
    lines.append("return struct")
    names = {"__name__": __name__, "Struct": struct, **dict(known.values())}
    return wp.func(defined(name, "\n    ".join(lines) + "\n", names))


def _known(Array) -> wp.Function:
    """The function for a type of arrays."""
    lengths = "".join(f"a.shape[{axis}] = 0;\n" for axis in range(Array.ndim))
    gaps = f"a.strides[{Array.ndim - 1}] = sizeof(*a.data);"

    @wp.func_native(f"\n#ifdef NDEBUG\n{lengths}#endif\n{gaps}\nreturn a;")
    def known(a: Array) -> Array: ...

    return known

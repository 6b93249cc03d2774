"""Arrays as kernels read and write them: their annotations, and vectors and matrices in their rows.

Every array of reals has shape [row, column], and a quantity of several components takes consecutive rows. A column is
a *block*: one environment of one mechanism (scalar numbers), or as many of them as there are lanes (wide numbers); in a
work space it is a *worker*, which steps one block after the other. A parameter that is the same for all blocks is
stored once and has a column stride of zero, so that kernels read shared and per-environment parameters alike.

Letters: W world, P parent link, F joint frame fixed in the parent, M moving joint frame of a link, L link frame.
Link rows have one entry more than there are links: the last is the world, the parent of every root.
"""

from typing import Any

import warp as wp

from warp_artic.math.numbers import NUMBERS, Mat3, Numbers, Sym3, Vec3, mat3, sym3, vec3

ModelArrays = Any
"""Annotation of the constants of a group of equal trees, `arrays_for(numbers).Model`."""
StateArrays = Any
"""Annotation of `arrays_for(numbers).State`."""
ControlArrays = Any
"""Annotation of `arrays_for(numbers).Control`."""
WorkArrays = Any
"""Annotation of `arrays_for(numbers).Work`."""
ReportArrays = Any
"""Annotation of `arrays_for(numbers).Report`."""
KeptArrays = Any
"""Annotation of `arrays_for(numbers).Kept`."""
ForceArrays = Any
"""Annotation of `arrays_for(numbers).Forces`."""
ContactArrays = Any
"""Annotation of `arrays_for(numbers).Contacts`."""
Array = Any
"""Annotation of one array [row, column] of reals."""


def _entry_functions(numbers: Numbers, entry, set_entry):
    """Add the overloads for a number type.

    An index of an array is a product, which weighs as much as the arithmetic of a lane vector. These leave it to the
    compiler to find the first of several rows once. On one core, 1024 environments: place_links of a humanoid takes
    0.058 us, from 0.079 us with indices.
    """
    T = numbers.real
    place = """
    auto first = (char*)a.data + (wp::int64)row * a.strides[0] + (wp::int64)column * a.strides[1];
    auto place = (decltype(a.data))(first + k * (wp::int64)a.strides[0]);"""

    @wp.func_native(f"{place} return *place;")
    def entry(a: wp.array2d(dtype=T), row: int, column: int, k: int) -> T: ...

    @wp.func_native(f"{place} *place = value;")
    def set_entry(a: wp.array2d(dtype=T), row: int, column: int, k: int, value: T): ...

    return entry, set_entry


entry = set_entry = None
for _type in NUMBERS:
    entry, set_entry = _entry_functions(_type, entry, set_entry)


def add_entry_functions(numbers: Numbers) -> None:
    """Let the accessors below read arrays of a further number type."""
    _entry_functions(numbers, entry, set_entry)


@wp.func
def load_vec3(a: Array, row: int, column: int):
    """The vector in rows `row` to `row + 2`."""
    return vec3(entry(a, row, column, 0), entry(a, row, column, 1), entry(a, row, column, 2))


@wp.func
def store_vec3(a: Array, row: int, column: int, v: Vec3):
    """Write a vector to rows `row` to `row + 2`."""
    set_entry(a, row, column, 0, v.x)
    set_entry(a, row, column, 1, v.y)
    set_entry(a, row, column, 2, v.z)


@wp.func
def load_mat3(a: Array, row: int, column: int):
    """The matrix in rows `row` to `row + 8`."""
    return mat3(
        vec3(entry(a, row, column, 0), entry(a, row, column, 1), entry(a, row, column, 2)),
        vec3(entry(a, row, column, 3), entry(a, row, column, 4), entry(a, row, column, 5)),
        vec3(entry(a, row, column, 6), entry(a, row, column, 7), entry(a, row, column, 8)),
    )


@wp.func
def store_mat3(a: Array, row: int, column: int, m: Mat3):
    """Write a matrix to rows `row` to `row + 8`."""
    set_entry(a, row, column, 0, m.x.x)
    set_entry(a, row, column, 1, m.x.y)
    set_entry(a, row, column, 2, m.x.z)
    set_entry(a, row, column, 3, m.y.x)
    set_entry(a, row, column, 4, m.y.y)
    set_entry(a, row, column, 5, m.y.z)
    set_entry(a, row, column, 6, m.z.x)
    set_entry(a, row, column, 7, m.z.y)
    set_entry(a, row, column, 8, m.z.z)


@wp.func
def load_sym3(a: Array, row: int, column: int):
    """The symmetric matrix in rows `row` to `row + 5`."""
    return sym3(
        entry(a, row, column, 0),
        entry(a, row, column, 1),
        entry(a, row, column, 2),
        entry(a, row, column, 3),
        entry(a, row, column, 4),
        entry(a, row, column, 5),
    )


@wp.func
def store_sym3(a: Array, row: int, column: int, m: Sym3):
    """Write a symmetric matrix to rows `row` to `row + 5`."""
    set_entry(a, row, column, 0, m.xx)
    set_entry(a, row, column, 1, m.xy)
    set_entry(a, row, column, 2, m.xz)
    set_entry(a, row, column, 3, m.yy)
    set_entry(a, row, column, 4, m.yz)
    set_entry(a, row, column, 5, m.zz)

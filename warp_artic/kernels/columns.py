"""Chosen environments of a group copied out of its fields, and into them, on the device.

`rows[place, row]` is the row outside of row `row` of the articulation at a place in the group; -1 where it has none.
Environments are int32 indices; those out of range are left out.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def column_kernels_for(scalar: type) -> SimpleNamespace:
    """The kernels `take`, `put` and `see` of a scalar type."""

    @wp.kernel(**OPTIONS)
    def take(
        inside: wp.array2d(dtype=scalar),
        rows: wp.array2d(dtype=int),
        environments: int,
        chosen: wp.array(dtype=int),
        outside: wp.array2d(dtype=scalar),
    ):
        """Copy environment `chosen[k]` of each articulation to column k."""
        place, row, k = wp.tid()
        environment = chosen[k]
        if rows[place, row] >= 0 and environment >= 0 and environment < environments:
            outside[rows[place, row], k] = inside[row, place * environments + environment]

    @wp.kernel(**OPTIONS)
    def put(
        inside: wp.array2d(dtype=scalar),
        rows: wp.array2d(dtype=int),
        environments: int,
        chosen: wp.array(dtype=int),
        outside: wp.array2d(dtype=scalar),
    ):
        """Copy column k, or the only one, to environment `chosen[k]` of each articulation."""
        place, row, k = wp.tid()
        environment = chosen[k]
        if rows[place, row] >= 0 and environment >= 0 and environment < environments:
            column = wp.min(k, outside.shape[1] - 1)
            inside[row, place * environments + environment] = outside[rows[place, row], column]

    @wp.kernel(**OPTIONS)
    def see(values: wp.array2d(dtype=scalar), seen: wp.array2d(dtype=scalar), changed: wp.array2d(dtype=scalar)):
        """Write zero to the first row of `changed` where a value is another than the one seen last, and see it."""
        row, column = wp.tid()
        if values[row, column] != seen[row, column]:
            seen[row, column] = values[row, column]
            changed[0, column] = scalar(0.0)

    return SimpleNamespace(take=take, put=put, see=see)


@cache
def row_kernels_for(scalar: type) -> SimpleNamespace:
    """The kernels `take`, `put` and `fill` of a scalar type, for rows of many arrays at once.

    Each row is given by the address of its environments, 0 where there is none.
    """
    name = "float" if scalar is wp.float32 else "double"

    @wp.func_native(f"return (({name}*)row)[environment];")
    def read(row: wp.uint64, environment: int) -> scalar: ...

    @wp.func_native(f"(({name}*)row)[environment] = value;")
    def write(row: wp.uint64, environment: int, value: scalar): ...

    @wp.kernel(**OPTIONS)
    def take(
        rows: wp.array(dtype=wp.uint64), environments: int, chosen: wp.array(dtype=int), table: wp.array2d(dtype=scalar)
    ):
        """Copy environment `chosen[k]` of each row to column k."""
        row, k = wp.tid()
        environment = chosen[k]
        value = scalar(0.0)
        if rows[row] != wp.uint64(0) and environment >= 0 and environment < environments:
            value = read(rows[row], environment)
        table[row, k] = value

    @wp.kernel(**OPTIONS)
    def put(
        rows: wp.array(dtype=wp.uint64),
        environments: int,
        chosen: wp.array(dtype=int),
        table: wp.array2d(dtype=scalar),
        has_own_columns: int,
    ):
        """Copy column k, that of the number of the environment, or the only one, to `chosen[k]` of each row."""
        row, k = wp.tid()
        environment = chosen[k]
        if rows[row] != wp.uint64(0) and environment >= 0 and environment < environments:
            column = k
            if has_own_columns > 0:
                column = environment
            write(rows[row], environment, table[row, wp.min(column, table.shape[1] - 1)])

    @wp.kernel(**OPTIONS)
    def fill(rows: wp.array(dtype=wp.uint64), environments: int, chosen: wp.array(dtype=int), value: scalar):
        """Write a value to environment `chosen[k]` of each row."""
        row, k = wp.tid()
        environment = chosen[k]
        if rows[row] != wp.uint64(0) and environment >= 0 and environment < environments:
            write(rows[row], environment, value)

    return SimpleNamespace(take=take, put=put, fill=fill)


@cache
def axis_kernels_for(scalar: type) -> SimpleNamespace:
    """The kernels `unpack` and `pack` of a scalar type: between a row for each dof and one for each axis of a joint."""

    @wp.kernel(**OPTIONS)
    def unpack(dofs: wp.array2d(dtype=scalar), places: wp.array(dtype=int), axes: wp.array2d(dtype=scalar)):
        """Copy the row of dof k to row `places[k]`."""
        k, column = wp.tid()
        axes[places[k], column] = dofs[k, column]

    @wp.kernel(**OPTIONS)
    def pack(axes: wp.array2d(dtype=scalar), places: wp.array(dtype=int), dofs: wp.array2d(dtype=scalar)):
        """Copy row `places[k]` to the row of dof k."""
        k, column = wp.tid()
        dofs[k, column] = axes[places[k], column]

    return SimpleNamespace(unpack=unpack, pack=pack)


@wp.kernel(**OPTIONS)
def indices_of_mask(mask: wp.array(dtype=wp.bool), chosen: wp.array(dtype=int)):
    """Write the index of each entry that is set, and -1 for the others."""
    k = wp.tid()
    chosen[k] = wp.where(mask[k], k, -1)


@wp.kernel(**OPTIONS)
def indices_of_longs(longs: wp.array(dtype=wp.int64), chosen: wp.array(dtype=int)):
    """Write indices of 64 bits as such of 32; -1 where they do not fit."""
    k = wp.tid()
    fits = longs[k] >= wp.int64(0) and longs[k] < wp.int64(2147483647)
    chosen[k] = wp.where(fits, int(longs[k]), -1)

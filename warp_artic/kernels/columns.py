"""Chosen environments of a group copied out of its fields, and into them, on the device.

`rows` has for each row that is copied the place of its mechanism in the group, its row there, and the row outside.
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
        """Copy environment `chosen[k]` of each row to column k."""
        entry, k = wp.tid()
        environment = chosen[k]
        if environment >= 0 and environment < environments:
            outside[rows[entry, 2], k] = inside[rows[entry, 1], rows[entry, 0] * environments + environment]

    @wp.kernel(**OPTIONS)
    def put(
        inside: wp.array2d(dtype=scalar),
        rows: wp.array2d(dtype=int),
        environments: int,
        chosen: wp.array(dtype=int),
        outside: wp.array2d(dtype=scalar),
    ):
        """Copy column k, or the only one, to environment `chosen[k]` of each row."""
        entry, k = wp.tid()
        environment = chosen[k]
        if environment >= 0 and environment < environments:
            column = wp.min(k, outside.shape[1] - 1)
            inside[rows[entry, 1], rows[entry, 0] * environments + environment] = outside[rows[entry, 2], column]

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

    Everything is given by its address, so that a launch is the same for all: `rows` has that of the environments of
    each row, 0 where there is none; `chosen` has `count` int32 indices of environments; `table` has `width` scalars for
    each row. A thread has each of `stride` indices of a row: all of them on a CPU, one on a GPU.
    """
    name = "float" if scalar is wp.float32 else "double"

    @wp.func_native(
        f"""
        const {name}* inside = ({name}*)row;
        {name}* outside = ({name}*)table + (size_t)place * width;
        for (int k = first; k < count; k += stride) {{
            const int environment = ((int*)chosen)[k];
            const bool is_there = inside && environment >= 0 && environment < environments;
            outside[k] = is_there ? inside[environment] : ({name})0;
        }}
        """
    )
    def copy_out(
        row: wp.uint64, environments: int, chosen: wp.uint64, count: int, table: wp.uint64, width: int, place: int,
        first: int, stride: int,
    ): ...  # fmt: skip

    @wp.func_native(
        f"""
        {name}* inside = ({name}*)row;
        const {name}* outside = ({name}*)table + (size_t)place * width;
        for (int k = first; k < count; k += stride) {{
            const int environment = ((int*)chosen)[k];
            if (environment >= 0 && environment < environments) {{
                const int column = has_own_columns ? environment : k;
                inside[environment] = outside[column < width ? column : width - 1];
            }}
        }}
        """
    )
    def copy_in(
        row: wp.uint64, environments: int, chosen: wp.uint64, count: int, table: wp.uint64, width: int, place: int,
        has_own_columns: int, first: int, stride: int,
    ): ...  # fmt: skip

    @wp.func_native(
        f"""
        {name}* inside = ({name}*)row;
        for (int k = first; k < count; k += stride) {{
            const int environment = ((int*)chosen)[k];
            if (environment >= 0 && environment < environments)
                inside[environment] = value;
        }}
        """
    )
    def write(
        row: wp.uint64, environments: int, chosen: wp.uint64, count: int, value: scalar, first: int, stride: int
    ): ...

    @wp.kernel(**OPTIONS)
    def take(
        rows: wp.array(dtype=wp.uint64), environments: int, chosen: wp.uint64, count: int, stride: int,
        table: wp.uint64, width: int,
    ):  # fmt: skip
        """Copy environment `chosen[k]` of each row to column k."""
        row, first = wp.tid()
        copy_out(rows[row], environments, chosen, count, table, width, row, first, stride)

    @wp.kernel(**OPTIONS)
    def put(
        rows: wp.array(dtype=wp.uint64), environments: int, chosen: wp.uint64, count: int, stride: int,
        table: wp.uint64, width: int, has_own_columns: int,
    ):  # fmt: skip
        """Copy column k, that of the number of the environment, or the only one, to `chosen[k]` of each row."""
        row, first = wp.tid()
        if rows[row] != wp.uint64(0):
            copy_in(rows[row], environments, chosen, count, table, width, row, has_own_columns, first, stride)

    @wp.kernel(**OPTIONS)
    def fill(
        rows: wp.array(dtype=wp.uint64), environments: int, chosen: wp.uint64, count: int, stride: int, value: scalar
    ):
        """Write a value to environment `chosen[k]` of each row."""
        row, first = wp.tid()
        if rows[row] != wp.uint64(0):
            write(rows[row], environments, chosen, count, value, first, stride)

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


@cache
def gather_kernel_for(scalar: type) -> wp.Kernel:
    """The kernel that copies some rows of a field."""

    @wp.kernel(**OPTIONS)
    def gather(values: wp.array2d(dtype=scalar), rows: wp.array(dtype=int), chosen: wp.array2d(dtype=scalar)):
        """Copy row `rows[k]` to row k."""
        k, column = wp.tid()
        chosen[k, column] = values[rows[k], column]

    return gather


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

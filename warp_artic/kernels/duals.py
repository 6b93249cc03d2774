"""Values of fields copied to where dual numbers have theirs, on the device.

A dual number has `lanes` scalars, its value first. A column of the fields that are copied has `blocks` numbers, one
after the other, all with the same value, for `lanes - 1` directions each. A field that is shared has one.
"""

from functools import cache

import warp as wp

OPTIONS = {"enable_backward": False, "module": "unique"}
SHARED, OWN = 0, 1
"""What a row of a field has: one value, or one for each column."""


@cache
def spread_kernel_for(scalar: type, lanes: int) -> wp.Kernel:
    """The kernel that copies rows of scalars, given by their addresses, to rows of dual numbers of so many scalars."""
    name = "float" if scalar is wp.float32 else "double"

    @wp.func_native(f"""
        const {name}* from = (const {name}*)source;
        {name}* to = ({name}*)target + (target_kind ? (size_t)column * blocks * {lanes} : 0);
        const {name} value = from[source_kind ? column : 0];
        for (int block = 0; block < (target_kind ? blocks : 1); ++block, to += {lanes}) {{
            to[0] = value;
            for (int k = 1; clears && k < {lanes}; ++k)
                to[k] = 0;
        }}""")
    def copy(
        source: wp.uint64, target: wp.uint64, source_kind: int, target_kind: int, column: int, blocks: int, clears: int
    ): ...

    @wp.kernel(**OPTIONS)
    def spread(
        sources: wp.array(dtype=wp.uint64),
        targets: wp.array(dtype=wp.uint64),
        kinds: wp.array2d(dtype=int),
        blocks: int,
        clears: int,
    ):
        """Copy the value of a column in a row; derivatives become zero where `clears` is not."""
        row, column = wp.tid()
        if column == 0 or kinds[row, 1] > 0:
            copy(sources[row], targets[row], kinds[row, 0], kinds[row, 1], column, blocks, clears)

    return spread

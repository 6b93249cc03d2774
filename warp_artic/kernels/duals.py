"""Values of fields copied to where dual numbers have theirs, and rates of rotation vectors, on the device.

A dual number has `lanes` scalars, its value first. A column of the fields that are copied has `blocks` numbers, one
after the other, all with the same value, for `lanes - 1` directions each. A field that is shared has one.
"""

from functools import cache

import warp as wp

from warp_artic.joints import spherical, swing
from warp_artic.math.numbers import vec3

OPTIONS = {"enable_backward": False, "module": "unique"}
SHARED, OWN = 0, 1
"""What a row of a field has: one value, or one for each column."""
CLEARS_NOTHING, CLEARS_STATE, CLEARS_ALL = 0, 1, 2
"""Of which rows derivatives become zero."""


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
        """Copy the value of a column in a row, and make derivatives zero."""
        row, column = wp.tid()
        zeros = int(clears > 1 or (clears == 1 and kinds[row, 2] > 0))
        if column == 0 or kinds[row, 1] > 0:
            copy(sources[row], targets[row], kinds[row, 0], kinds[row, 1], column, blocks, zeros)

    return spread


@cache
def rates_kernel(is_ball: bool) -> wp.Kernel:
    """The kernel that finds T of joints with several rotations, by which rotation vectors change with velocities."""

    @wp.kernel(**OPTIONS)
    def ball_rates(rotation: wp.array2d(dtype=wp.float64), T: wp.array3d(dtype=wp.float64)):
        """Those of ball joints at rotation vectors (joints, 3)."""
        joint, axis = wp.tid()
        phi = vec3(rotation[joint, 0], rotation[joint, 1], rotation[joint, 2])
        zero, one = wp.float64(0.0), wp.float64(1.0)
        v = vec3(wp.where(axis == 0, one, zero), wp.where(axis == 1, one, zero), wp.where(axis == 2, one, zero))
        rate = spherical.rates(phi, v)
        T[joint, 0, axis] = rate.x
        T[joint, 1, axis] = rate.y
        T[joint, 2, axis] = rate.z

    @wp.kernel(**OPTIONS)
    def swing_rates(rotation: wp.array2d(dtype=wp.float64), T: wp.array3d(dtype=wp.float64)):
        """Those of joints with both swings free, whose third component is zero."""
        joint, axis = wp.tid()
        zero, one = wp.float64(0.0), wp.float64(1.0)
        along, across = wp.where(axis == 0, one, zero), wp.where(axis == 1, one, zero)
        x, y = swing.rates(rotation[joint, 0], rotation[joint, 1], along, across)
        T[joint, 0, axis] = x
        T[joint, 1, axis] = y
        T[joint, 2, axis] = wp.where(axis == 2, one, zero)

    return ball_rates if is_ball else swing_rates

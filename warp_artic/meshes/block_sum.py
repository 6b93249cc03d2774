"""The sum over the threads of a block, which has one environment."""

from functools import cache

import warp as wp


@cache
def block_sum_for(real: type, wide: bool) -> wp.Function:
    """The sum over the threads of the block of an environment, for all of them, which wait for each other.

    On a CPU the block is one thread: no memory is shared, so that several may be at work.
    """
    if wide:

        @wp.func
        def block_sum(value: real):
            return value

    else:

        @wp.func
        def block_sum(value: real):
            return wp.tile_extract(wp.tile_sum(wp.tile(value)), 0)

    return block_sum

"""A step of taped numbers pulled back: from the slopes by what it has made of the state to those by what it began with.

With the tape that a step has left (`math.taped_functions`), lambda+ the slopes by the state after it, and s those that
a loss adds at its start,
    lambda = A^T lambda+ + s,   g = B^T lambda+
where A and B are derivatives of the step by the state, and by other numbers. Each number that derivatives are taken by,
of the state or else, has a leaf at the beginning of the tape, in the same order. Then the state is that before the step
before, and the tape is as it was. What is to be done is a table of integers, WALK.
"""

from functools import cache

import warp as wp

from warp_artic.math.numbers import Numbers
from warp_artic.math.taped_functions import ENTRY, FIRST, NEXT

WALK = (
    "tape", "leaves", "slopes", "rows", "addresses", "row_leaves", "is_own", "steps", "values", "pitch", "columns",
    "adjoint", "sources", "found",
)  # fmt: skip
"""Addresses and counts: of the tape; leaves, and of these slopes of the state, the first ones; rows that a step begins
with, the addresses of these, the leaf of each or -1, whether it has a number for each column, here (1) and in the
values (2); steps, values (steps, rows, pitch) of the rows before each; columns; slopes (slopes, columns), slopes that a
loss adds at the start of each step (steps, slopes, columns), and where those by other numbers are to be
(steps, others, columns)."""


@cache
def pull_back_for(numbers: Numbers, State: type, Kept: type) -> wp.Function:
    """The function of taped numbers that pulls back the step of a column, the last one first.

    `State` and `Kept` are the structs of the number type.
    """
    begin_step = _begin_step(numbers)

    @wp.func_native(f"""{_walk(numbers)}
    const long long step = steps - 1 - record;
    char* const tape_end = *(char**)(tape + {NEXT});
    char* const leaves_end = tape + {FIRST} + {ENTRY} * leaves;
    for (long long row = 0; row < rows; ++row) {{
        const int leaf = row_leaves[row];
        if (leaf < 0 || leaf >= slopes)
            continue;
        char* const node = *(char**)((char*)addresses[row] + column * (long long)(is_own[row] & 1) * 16 + 8);
        if (node) {{
            double sum;
            __builtin_memcpy(&sum, node, 8);
            sum += adjoint[leaf * columns + column];
            __builtin_memcpy(node, &sum, 8);
        }}
    }}
    for (char* end = tape_end; end > leaves_end;) {{
        char* const node = end - {ENTRY};
        double slope;
        unsigned length;
        __builtin_memcpy(&slope, node, 8);
        __builtin_memcpy(&length, node + 8, 4);
        end = node - length;
        if (slope != 0)
            for (char* entry = end; entry < node; entry += {ENTRY}) {{
                double by, sum;
                unsigned place;
                __builtin_memcpy(&by, entry, 8);
                __builtin_memcpy(&place, entry + 8, 4);
                __builtin_memcpy(&sum, tape + place, 8);
                sum += by * slope;
                __builtin_memcpy(tape + place, &sum, 8);
            }}
    }}
    const long long others = leaves - slopes;
    for (long long leaf = 0; leaf < leaves; ++leaf) {{
        double slope;
        __builtin_memcpy(&slope, tape + {FIRST} + {ENTRY} * leaf, 8);
        if (leaf < slopes)
            adjoint[leaf * columns + column] = slope + sources[(step * slopes + leaf) * columns + column];
        else
            found[(step * others + leaf - slopes) * columns + column] = slope;
    }}""")
    def sweep(walk: wp.uint64, record: int, column: int): ...

    @wp.func_native(f"{_walk(numbers)} return (int)steps;")
    def steps_of(walk: wp.uint64) -> int: ...

    @wp.func
    def pull_back(state: State, kept: Kept, record: int, column: int):
        sweep(kept.walk, record, column)
        begin_step(kept.walk, wp.max(steps_of(kept.walk) - 2 - record, 0), column)

    return pull_back


@cache
def begin_kernel(numbers: Numbers) -> wp.Kernel:
    """Has all columns be before the last step of a walk, with an empty tape."""
    begin_step = _begin_step(numbers)

    @wp.kernel(enable_backward=False, module="unique")
    def begin(walk: wp.uint64, step: int):
        begin_step(walk, step, wp.tid())

    return begin


@cache
def _begin_step(numbers: Numbers) -> wp.Function:
    @wp.func_native(f"""{_walk(numbers)}
    typedef wp::uint64 U;
    for (long long leaf = 0; leaf < leaves; ++leaf) {{
        char* const node = tape + {FIRST} + {ENTRY} * leaf;
        const double none = 0;
        const unsigned length = 0;
        __builtin_memcpy(node, &none, 8);
        __builtin_memcpy(node + 8, &length, 4);
    }}
    *(char**)(tape + {NEXT}) = tape + {FIRST} + {ENTRY} * leaves;
    for (long long row = 0; row < rows; ++row) {{
        const int leaf = row_leaves[row];
        U* const place = (U*)((char*)addresses[row] + column * (long long)(is_own[row] & 1) * 16);
        const S value = values[(step * rows + row) * pitch + (is_own[row] & 2 ? column : 0)];
        place[0] = (U)__builtin_bit_cast(B, value);
        place[1] = leaf < 0 ? 0 : (U)(tape + {FIRST} + {ENTRY} * leaf);
    }}""")
    def begin_step(walk: wp.uint64, step: int, column: int): ...

    return begin_step


def _walk(numbers: Numbers) -> str:
    """Definitions of a native body: the entries of a walk by their names."""
    scalar, bits = ("float", "wp::uint32") if numbers.scalar is wp.float32 else ("double", "wp::uint64")
    kinds = {
        "tape": "char*", "addresses": "const wp::uint64*", "row_leaves": "const int*", "is_own": "const int*",
        "values": "const S*", "adjoint": "double*", "sources": "const double*", "found": "double*",
    }  # fmt: skip
    lines = (
        f"{kinds.get(name, 'long long')} const {name} = ({kinds.get(name, 'long long')})((const long long*)walk)[{k}];"
        for k, name in enumerate(WALK)
    )
    return f"typedef {scalar} S; typedef {bits} B;" + "\n".join(lines)

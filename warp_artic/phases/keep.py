"""States of a record, kept by the step that ends with it:  kept[record, dof, environment] = q, v, or chosen rows."""

from functools import cache

import warp as wp

from warp_artic.math.numbers import Numbers


@cache
def keep_state_for(numbers: Numbers, State: type, Kept: type) -> wp.Function:
    """The function of a number type that writes states of a column to a record; those of joints have no gaps.

    `State` and `Kept` are the structs of the number type.
    """
    T, S, lanes = numbers.real, numbers.scalar, numbers.lanes
    # Whole lanes go past the caches, which steps need; they are on CPUs only.
    put = "__builtin_nontemporal_store(from[lane], to + lane)" if lanes > 1 else "to[lane] = from[lane]"

    @wp.func_native(f"""
    typedef decltype(kept.data) Place;
    const int environment = column * {lanes};
    const int count = kept.shape[2] - environment;
    for (int dof = 0; dof < kept.shape[1]; ++dof) {{
        const Place from = (Place)((const char*)values.data + dof * (wp::int64)values.strides[0]
            + column * (wp::int64)values.strides[1]);
        Place to = (Place)((char*)kept.data + record * (wp::int64)kept.strides[0]
            + dof * (wp::int64)kept.strides[1]) + environment;
        if (count >= {lanes})
            for (int lane = 0; lane < {lanes}; ++lane)
                {put};
        else
            for (int lane = 0; lane < count; ++lane)
                to[lane] = from[lane];
    }}""")
    def keep(kept: wp.array3d(dtype=S), record: int, column: int, values: wp.array2d(dtype=T)): ...

    @wp.func_native(f"""
    typedef decltype(records.data) Place;
    for (int row = 0; row < rows.shape[0]; ++row) {{
        const Place from = (Place)rows.data[row] + column * {lanes};
        Place to = (Place)((char*)records.data + record * (wp::int64)records.strides[0]
            + row * (wp::int64)records.strides[1]) + column * {lanes};
        for (int lane = 0; lane < {lanes}; ++lane)
            to[lane] = from[lane];
    }}""")
    def keep_rows(rows: wp.array(dtype=wp.uint64), records: wp.array3d(dtype=S), record: int, column: int): ...

    @wp.func
    def keep_state(state: State, kept: Kept, record: int, column: int):
        keep(kept.joint_position, record, column, state.joint_position)
        keep(kept.joint_velocity, record, column, state.joint_velocity)
        keep_rows(kept.rows, kept.records, record, column)

    return keep_state

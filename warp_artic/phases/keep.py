"""Joint states of a record, kept by the step that ends with it:  kept[record, environment, dof] = q, v."""

from functools import cache

import warp as wp

from warp_artic.math.numbers import Numbers


@cache
def keep_joints_for(numbers: Numbers, State: type, Kept: type) -> wp.Function:
    """The function of a number type that writes the joint states of a column to a record, which has no gaps.

    `State` and `Kept` are the structs of the number type.
    """
    T, S, lanes = numbers.real, numbers.scalar, numbers.lanes

    @wp.func_native(f"""
    typedef decltype(kept.data) Place;
    for (int lane = 0; lane < {lanes}; ++lane) {{
        const int environment = column * {lanes} + lane;
        if (environment >= kept.shape[1])
            break;
        Place to = (Place)((char*)kept.data + record * (wp::int64)kept.strides[0]
            + environment * (wp::int64)kept.strides[1]);
        const char* from = (const char*)values.data + column * (wp::int64)values.strides[1];
        for (int dof = 0; dof < kept.shape[2]; ++dof)
            to[dof] = ((Place)(from + dof * (wp::int64)values.strides[0]))[lane];
    }}""")
    def keep(kept: wp.array3d(dtype=S), record: int, column: int, values: wp.array2d(dtype=T)): ...

    @wp.func
    def keep_joints(state: State, kept: Kept, record: int, column: int):
        keep(kept.joint_position, record, column, state.joint_position)
        keep(kept.joint_velocity, record, column, state.joint_velocity)

    return keep_joints

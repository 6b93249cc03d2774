"""Joint states of a record, kept by the step that ends with it:  kept[record, environment, dof] = q, v."""

import warp as wp

from warp_artic.math.numbers import SCALAR32, SCALAR64, WIDE32, WIDE64, Numbers
from warp_artic.model.arrays import KeptArrays, StateArrays


def _put_function(numbers: Numbers, put):
    """Add the overload for a number type."""
    T, S, lanes = numbers.real, numbers.scalar, numbers.lanes
    value = "value[lane]" if lanes > 1 else "value"

    @wp.func_native(f"""
    for (int lane = 0; lane < {lanes}; ++lane) {{
        const int environment = column * {lanes} + lane;
        if (environment < kept.shape[1])
            *(decltype(kept.data))((char*)kept.data + (wp::int64)record * kept.strides[0]
                + (wp::int64)environment * kept.strides[1] + (wp::int64)dof * kept.strides[2]) = {value};
    }}""")
    def put(kept: wp.array3d(dtype=S), record: int, column: int, dof: int, value: T): ...

    return put


put = None
for _type in (WIDE32, WIDE64, SCALAR32, SCALAR64):
    put = _put_function(_type, put)


@wp.func
def keep_joints(state: StateArrays, kept: KeptArrays, record: int, column: int):
    """Write the joint states of a column to a record."""
    for dof in range(kept.joint_position.shape[2]):
        put(kept.joint_position, record, column, dof, state.joint_position[dof, column])
    for dof in range(kept.joint_velocity.shape[2]):
        put(kept.joint_velocity, record, column, dof, state.joint_velocity[dof, column])

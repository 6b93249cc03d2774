"""How far loop joints are open at the end of a step: phi, y and J of their held axes, as `loop_joint` has them.

The links are where `phases.link_frames.pose_links` has placed them.
"""

import warp as wp

from warp_artic.constraints.loop_geometry import frame_axes, held_rotation, set_held_axes
from warp_artic.constraints.rows import forget_response
from warp_artic.math.numbers import add, mat3, mul, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import column as matrix_column
from warp_artic.math.spatial import cross, dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_mat3, load_vec3


@wp.func
def find_gaps(model: ModelArrays, work: WorkArrays, first_row: int, column: int, slot: int):
    """Write phi to `work.loop_gap`, y to `work.loop_gap_rate`, and J, of the held axes of a loop joint.

    To `work.loop_gap_reach` goes the sum of the squares of the arms [m^2] of the rotations that change phi, or of held
    rotations how many these are: phi is known to a part of its root.
    """
    loop = model.row_item[first_row] // 6
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    R_0 = frame_axes(work.end_rotation, inner, model.loop_frame0, loop, column, slot)
    R_1 = frame_axes(work.end_rotation, outer, model.loop_frame1, loop, column, slot)
    w_0 = load_vec3(work.end_spin, 3 * inner, slot)
    w_1 = load_vec3(work.end_spin, 3 * outer, slot)
    r_1 = load_mat3(work.end_rotation, 9 * outer, slot) * load_vec3(model.loop_frame1, 12 * loop + 9, column)
    r_0 = load_mat3(work.end_rotation, 9 * inner, slot) * load_vec3(model.loop_frame0, 12 * loop + 9, column)
    x_1 = load_vec3(work.end_origin, 3 * outer, slot) + r_1
    x_0 = load_vec3(work.end_origin, 3 * inner, slot) + r_0
    d = x_1 - x_0
    if model.loop_slides[loop] == 1:
        r_0 = r_0 + x_1 - x_0
        x_0 = x_1
    v_1 = load_vec3(work.end_velocity, 3 * outer, slot) + cross(w_1, r_1)
    v_0 = load_vec3(work.end_velocity, 3 * inner, slot) + cross(w_0, r_0)
    n_0 = d - d
    n_1 = n_0
    n_2 = n_0
    end = first_row + model.loop_rows[loop]
    turns = int(end)
    for k in range(model.loop_rows[loop]):
        row = end - 1 - k
        axis = model.row_item[row] % 6
        if axis < 3:
            e = matrix_column(R_0, axis)
            work.loop_gap[row, slot] = dot(e, d)
            work.loop_gap_rate[row, slot] = dot(e, v_1 - v_0)
        else:
            turns = int(row)
            n, ndot, phi = held_rotation(model, loop, axis - 3, R_0, R_1, w_0, w_1)
            work.loop_gap[row, slot] = phi
            work.loop_gap_rate[row, slot] = dot(n, w_1 - w_0)
            if axis == 3:
                n_0 = n
            if axis == 4:
                n_1 = n
            if axis == 5:
                n_2 = n
    arms, turning = set_held_axes(
        model,
        work,
        work.end_rotation,
        work.end_axis,
        work.end_origin,
        first_row,
        turns,
        end,
        loop,
        column,
        slot,
        R_0,
        mat3(n_0, n_1, n_2),
        x_0,
        x_1,
    )
    for row in range(first_row, end):
        forget_response(model, work, row, slot)
        work.loop_gap_reach[row, slot] = turning
        if row < turns:
            work.loop_gap_reach[row, slot] = arms

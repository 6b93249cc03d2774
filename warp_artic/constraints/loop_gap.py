"""How far loop joints are open at the end of a step: phi, y and J of their held axes, as `loop_joint` has them.

The links are where `phases.link_frames.pose_links` has placed them.
"""

import warp as wp

from warp_artic.constraints.loop_geometry import frame_axes, held_rotation, set_doubt, set_held_axes, with_row
from warp_artic.constraints.loop_place import loop_place
from warp_artic.constraints.rows import forget_response
from warp_artic.math.numbers import add, mat3, mul, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import column, cross, dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_mat3, load_vec3


@wp.func
def find_gaps(model: ModelArrays, work: WorkArrays, first_row: int, block: int, worker: int):
    """Write phi to `work.loop_gap`, y to `work.loop_gap_rate`, and J, of the held axes of a loop joint.

    To `work.loop_gap_reach` goes the sum of the squares of the arms [m^2] of the rotations that change phi, or of held
    rotations how many these are: phi is known to a part of its root.
    """
    loop = model.row_item[first_row] // 6
    inner = model.loop_link0[loop]
    outer = model.loop_link1[loop]
    R_0 = frame_axes(work.end_rotation, inner, model.loop_frame0, loop, block, worker)
    R_1 = frame_axes(work.end_rotation, outer, model.loop_frame1, loop, block, worker)
    w_0 = load_vec3(work.end_spin, 3 * inner, worker)
    w_1 = load_vec3(work.end_spin, 3 * outer, worker)
    r_1 = load_mat3(work.end_rotation, 9 * outer, worker) * load_vec3(model.loop_frame1, 12 * loop + 9, block)
    r_0 = load_mat3(work.end_rotation, 9 * inner, worker) * load_vec3(model.loop_frame0, 12 * loop + 9, block)
    x_1 = load_vec3(work.end_origin, 3 * outer, worker) + r_1
    x_0 = load_vec3(work.end_origin, 3 * inner, worker) + r_0
    d = x_1 - x_0
    if model.loop_slides[loop] == 1:
        r_0 = r_0 + x_1 - x_0
        x_0 = x_1
    v_1 = load_vec3(work.end_velocity, 3 * outer, worker) + cross(w_1, r_1)
    v_0 = load_vec3(work.end_velocity, 3 * inner, worker) + cross(w_0, r_0)
    none = d - d
    along = mat3(none, none, none)
    end = first_row + model.loop_rows[loop]
    turns = int(end)
    for k in range(model.loop_rows[loop]):
        row = end - 1 - k
        axis = model.row_item[row] % 6
        if axis < 3:
            e = column(R_0, axis)
            work.loop_gap[row, worker] = dot(e, d)
            work.loop_gap_rate[row, worker] = dot(e, v_1 - v_0)
        else:
            turns = int(row)
            n, ndot, phi = held_rotation(model, loop, axis - 3, R_0, R_1, w_0, w_1)
            work.loop_gap[row, worker] = phi
            work.loop_gap_rate[row, worker] = dot(n, w_1 - w_0)
            along = with_row(along, axis - 3, n)
    at = loop_place(loop, block, worker, work.end_rotation, work.end_axis, work.end_origin, x_0, x_1)
    arms, turning = set_held_axes(model, work, at, first_row, turns, end, R_0, along)
    set_doubt(model, work, first_row, turns, end, arms, worker)
    for row in range(first_row, end):
        forget_response(model, work, row, worker)
        work.loop_gap_reach[row, worker] = turning
        if row < turns:
            work.loop_gap_reach[row, worker] = arms

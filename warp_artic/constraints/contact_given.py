"""Where a contact is that a host gives, some time after it was given: with its bodies, which have moved and turned.

At that time the frames M of both links had the origins p_i and axes R_i, and the point was r_i from them, in world
axes, with the gap g along the normal n. Since then the frames have moved to p_i' and R_i':
    gap = g + n . (p_1' - p_0' - p_1 + p_0) + turn_1 - turn_0,
    turn_i = n . (A_i - A_i^T) r_i / 2,   A_i = R_i' R_i^T
The skew part of A r is what r turns by, without what it falls back by: that of a corner is of second order, and that of
a ball or a wheel is none, whose lowest point is not a point of its material. For the same reason n and r_i do not turn.
The point is midway between p_i' + r_i, or that of the one that moves where the other is the world.

Of a pair of this kind n is in the place of the sizes of its first shape, G = g - n . (p_1 - p_0) in that of the second
one, and R_i and r_i are in those of the frames of its shapes; while there is no contact, its contact distance is
UNUSED_DISTANCE.
"""

import warp as wp

from warp_artic.collision.places import set_place
from warp_artic.constraints.contact_tables import UNUSED_DISTANCE
from warp_artic.math.numbers import Vec3, add, mul, real, sub  # noqa: F401 (operators)
from warp_artic.math.spatial import dot, transpose_mul
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays, load_mat3, load_vec3

NO_DISTANCE = wp.constant(0.5 * UNUSED_DISTANCE)
"""Contact distance below which a pair has no contact [m]."""


@wp.func
def set_given_place(model: ModelArrays, work: WorkArrays, pair: int, place: int, block: int, worker: int):
    """Write the place of the contact of a pair."""
    inner = model.contact_link0[pair]
    outer = model.contact_link1[pair]
    n = load_vec3(model.contact_size0, 3 * pair, block)
    p_1 = load_vec3(work.p_WM, 3 * outer, worker)
    x_1 = p_1 + load_vec3(model.contact_frame1, 12 * pair + 9, block)
    gap = model.contact_size1[3 * pair, block] + dot(n, p_1)
    gap = gap + turned_by(work, model.contact_frame1, pair, outer, n, block, worker)
    if inner < model.link_count:
        p_0 = load_vec3(work.p_WM, 3 * inner, worker)
        x_0 = p_0 + load_vec3(model.contact_frame0, 12 * pair + 9, block)
        gap = gap - dot(n, p_0)
        gap = gap - turned_by(work, model.contact_frame0, pair, inner, n, block, worker)
        set_place(work.contact_point, place, worker, (x_0 + x_1) * real(0.5, gap), n, gap)
    else:
        set_place(work.contact_point, place, worker, x_1 - n * (gap * real(0.5, gap)), n, gap)


@wp.func
def turned_by(work: WorkArrays, frames: Array, pair: int, link: int, n: Vec3, block: int, worker: int):
    """turn_i."""
    R_then = load_mat3(frames, 12 * pair, block)
    R_now = load_mat3(work.R_WM, 9 * link, worker)
    r = load_vec3(frames, 12 * pair + 9, block)
    forward = dot(n, R_now * transpose_mul(R_then, r))
    back = dot(r, R_now * transpose_mul(R_then, n))
    return (forward - back) * real(0.5, forward)


@wp.func
def has_contact(model: ModelArrays, pair: int, block: int):
    """Positive where a pair has a contact, or is of shapes."""
    distance = model.contact_distance[pair, block]
    return distance - real(NO_DISTANCE, distance)

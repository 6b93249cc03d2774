"""Where points of contact are at a state: midway between both shapes, with the normal and the gap.

A pair whose contact a host gives has no point while there is none, nor has one that joints keep apart.
"""

import warp as wp

from warp_artic.collision.places import UNUSED
from warp_artic.constraints.contact_detection import find_contacts_within
from warp_artic.constraints.contact_given import has_contact
from warp_artic.constraints.contact_motion import contact_sign
from warp_artic.constraints.loop_joint import read_broken
from warp_artic.math.numbers import mul, real, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import Array, ModelArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.phases.integrate import load_state
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_positions import locate_links
from warp_artic.phases.outputs import report_value, report_vector

ANYWHERE = wp.constant(1.0e9)
"""More than shapes are apart [m]."""


@wp.func
def report_contacts(
    model: ModelArrays,
    state: StateArrays,
    work: WorkArrays,
    gap: Array,
    position: Array,
    normal: Array,
    block: int,
    worker: int,
):
    """Write gaps (a row a point), positions and normals (3 rows a point) at the state; normals toward second shapes."""
    failure = state.failure[0, block]
    zero = real(0.0, failure)
    load_state(model, state, work, block, worker)
    place_links(model, work, work.position, work.root, work.v, block, worker)
    locate_links(model, work, work.root, block, worker)
    work.since_placed[0, worker] = zero
    read_broken(model, state, work, block, worker)
    find_contacts_within(model, work, block, worker, zero, real(ANYWHERE, zero))
    for point in range(model.contact_point_count):
        n = load_vec3(work.contact_point, 7 * point + 3, worker) * contact_sign(model, point, zero)
        is_there = has_contact(model, model.contact_of_point[point], block)
        found = where_positive(is_there, work.contact_point[7 * point + 6, worker], real(UNUSED, zero))
        report_value(gap, point, block, failure, found)
        report_vector(position, 3 * point, block, failure, load_vec3(work.contact_point, 7 * point, worker))
        report_vector(normal, 3 * point, block, failure, n)

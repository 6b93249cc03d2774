"""Forces on links that are left out of what joints transmit, as if they came from outside of the tree.

Velocity limits of links and of whole trees do come from there. Tendons are left out on request, as PhysX does it:
    spatial   its forces on the links of attachments, along the segments where the links are placed
    fixed     its effort tau on the dofs of a joint, which is a pair of forces on the two links of the joint: along an
              axis a of translation a force tau a, at the origin of the joint frame of body 1, about which the joint
              turns; about axes of rotation the moment N in their span with N.a = tau for each of them
Both forces of such a pair are beyond any other joint, or neither is.
"""

import warp as wp

from warp_artic.constraints.dispatch import subtract_row_wrench
from warp_artic.constraints.forces import row_force
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    absolute,
    add,
    any_positive,
    div,
    mul,
    neg,
    real,
    sub,
    vec3,
)
from warp_artic.math.spatial import cross, dot
from warp_artic.model.arrays import ModelArrays, WorkArrays, load_vec3
from warp_artic.model.families import IS_JOINT_TENDON, has_trait
from warp_artic.model.kinds import PRISMATIC
from warp_artic.phases.transmitted_forces import subtract_wrench


@wp.func
def take_links_off(model: ModelArrays, work: WorkArrays, traits: int, block: int, worker: int, h: Real):
    """Take what rows with some traits do to links off what these need."""
    for row in range(model.row_count):
        if has_trait(model, row, traits):
            force = row_force(model, work, row, worker, h)
            if any_positive(absolute(force)):
                subtract_row_wrench(model, work, row, block, worker, force)


@wp.func
def take_joint_tendons_off(model: ModelArrays, work: WorkArrays, worker: int, h: Real):
    """Take the pairs of fixed tendons off what joints transmit to bodies, with what massless links pass on."""
    zero = real(0.0, h)
    for dof in range(model.dof_count):
        work.tendon_load[dof, worker] = zero
    for row in range(model.row_count):
        if has_trait(model, row, IS_JOINT_TENDON):
            force = row_force(model, work, row, worker, h)
            start = model.row_term[row]
            for term in range(start, start + model.row_terms[row]):
                dof = model.term_dof[term]
                work.tendon_load[dof, worker] = work.tendon_load[dof, worker] + work.P[term, worker] * force
    for body in range(model.body_count):
        F = vec3(zero, zero, zero)
        turn = vec3(zero, zero, zero)
        shift = vec3(zero, zero, zero)
        is_reversed = bool(False)
        link = int(body)
        while link == body or (link >= model.body_count and link < model.link_count):
            first = model.link_dof[link]
            # Then body 1 is the parent: `description.massless_links`.
            if model.link_joint[body] == PRISMATIC and first > model.link_dof[body]:
                is_reversed = bool(True)
            if model.link_joint[link] == PRISMATIC:
                axis = load_vec3(work.axis, 3 * first, worker)
                F = F + axis * work.tendon_load[first, worker]
                shift = shift + axis * work.middle[first - model.root_dofs, worker]
            elif model.link_dofs[link] > 0:
                turn = turn + couple(work, first, model.link_dofs[link], worker)
            link = model.link_parent[link]
        if is_reversed:
            turn = turn - cross(shift, F)
        subtract_wrench(work, body, worker, F, turn)


@wp.func
def couple(work: WorkArrays, first: int, count: int, worker: int):
    """The moment in the span of the axes of a joint that does what `work.tendon_load` has on its rotations."""
    x = load_vec3(work.axis, 3 * first, worker)
    a = work.tendon_load[first, worker]
    moment = x * a
    if count == 2:
        y = load_vec3(work.axis, 3 * (first + 1), worker)
        b = work.tendon_load[first + 1, worker]
        xy = dot(x, y)
        area = dot(x, x) * dot(y, y) - xy * xy
        moment = x * ((a * dot(y, y) - b * xy) / area) + y * ((b * dot(x, x) - a * xy) / area)
    if count == 3:
        moment = moment + load_vec3(work.axis, 3 * (first + 1), worker) * work.tendon_load[first + 1, worker]
        moment = moment + load_vec3(work.axis, 3 * (first + 2), worker) * work.tendon_load[first + 2, worker]
    return moment

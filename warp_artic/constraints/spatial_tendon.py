"""Spatial tendons (Tendon Dynamics, equations 6-9). For the sub-tendon of leaf s, over its segments from leaf to root,
    L = offset + sum c_i |x_i - x_parent|
    S = rate of the segment at the leaf and of the segment at the root (counted once when they are the same)
    f = k (rest - L) - d S + k_lim Delta,   Delta = the change that brings L back to the nearest limit.
f pushes the leaf and the root apart along those two segments, on the links of the leaf and of the root. With force
routing through all segments, S is the rate of L and every segment pushes its ends apart with c_i f: virtual work.

The spring and the limit are a row each, of the kinds of `spring`. J_L and J_S are the gradients of L and of the two
segments where forces are evaluated; L elsewhere in the step is L + J_L shift, shift the motion of the dofs from there.
The row of the spring has  J = (theta h k J_L + d J_S) / (theta h k + d),  that of the limit J_L.
The direction of a segment whose ends coincide is taken as zero: it has a length, but no force until it opens.
"""

from collections.abc import Callable

import numpy as np
import warp as wp

from warp_artic.constraints.rows import forget_rate, row_rate
from warp_artic.constraints.spring import set_law_row, set_resolved, set_stop_spring_row, spring_theta
from warp_artic.constraints.tendon_routes import Routes, leaf_dof_terms, routes_of
from warp_artic.constraints.tension import limit_state, tension
from warp_artic.description.articulation import Articulation
from warp_artic.description.start_pose import start_poses
from warp_artic.description.tendon import SpatialTendon, TendonLeaf
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    add,
    any_positive,
    div,
    mul,
    neg,
    real,
    sqrt,
    sub,
    where_positive,
)
from warp_artic.math.rotation import ratio
from warp_artic.math.spatial import cross, dot
from warp_artic.model.allowed_values import FINITE, LOWER, NOT_NEGATIVE, SHARE, UPPER, Allowed
from warp_artic.model.arrays import ModelArrays, ReportArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import ENDS, IS_RESOLVED, IS_TENDON, ConstraintFamily, Entries, Parameter
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.frames import in_moving_frame
from warp_artic.model.row import Place
from warp_artic.phases.implicit import spring_slope
from warp_artic.phases.outputs import report_value
from warp_artic.phases.point_motion import point_motion, point_place
from warp_artic.phases.transmitted_forces import subtract_force

SPATIAL_TENDON_ORDER = wp.constant(600)
"""Of the family, in kernels."""


@wp.func
def attachment_place(model: ModelArrays, work: WorkArrays, attachment: int, block: int, worker: int):
    """x of an attachment."""
    link = model.attachment_link[attachment]
    return point_place(work, link, model.attachment_position, attachment, block, worker)


@wp.func
def attachment_velocity(model: ModelArrays, work: WorkArrays, attachment: int, x: Vec3, worker: int):
    """Velocity of the point x of the link of an attachment."""
    link = model.attachment_link[attachment]
    arm = x - load_vec3(work.p_WM, 3 * link, worker)
    return load_vec3(work.linear, 3 * link, worker) + cross(load_vec3(work.w, 3 * link, worker), arm)


@wp.func
def direction(a: Vec3):
    """Length and unit vector of a segment; the unit vector of a closed one is zero."""
    length = sqrt(dot(a, a))
    enough = length - ratio(1.0, 1000000000.0, length)
    one = real(1.0, length)
    inverse = where_positive(enough, one / where_positive(enough, length, one), real(0.0, length))
    return length, a * inverse


@wp.func
def leaf_length(model: ModelArrays, work: WorkArrays, leaf: int, block: int, worker: int):
    """L of a sub-tendon."""
    length = model.spatial_offset[model.leaf_tendon[leaf], block]
    first = model.leaf_segment[leaf]
    for k in range(first, first + model.leaf_segments[leaf]):
        attachment = model.segment_attachment[k]
        x = attachment_place(model, work, attachment, block, worker)
        x_parent = attachment_place(model, work, model.attachment_parent[attachment], block, worker)
        distance, _unit = direction(x - x_parent)
        length = length + model.attachment_coefficient[attachment, block] * distance
    return length


@wp.func
def leaf_rates(model: ModelArrays, work: WorkArrays, leaf: int, block: int, worker: int):
    """S of a sub-tendon, and the rate of L, with the velocities of the links in the work space."""
    first = model.leaf_segment[leaf]
    count = model.leaf_segments[leaf]
    everywhere = model.spatial_all_segments[model.leaf_tendon[leaf]]
    rate = real(0.0, model.gravity[0, block])
    speed = rate
    for k in range(first, first + count):
        attachment = model.segment_attachment[k]
        parent = model.attachment_parent[attachment]
        x = attachment_place(model, work, attachment, block, worker)
        x_parent = attachment_place(model, work, parent, block, worker)
        _distance, unit = direction(x - x_parent)
        v = attachment_velocity(model, work, attachment, x, worker)
        opening = dot(unit, v - attachment_velocity(model, work, parent, x_parent, worker))
        change = opening * model.attachment_coefficient[attachment, block]
        speed = speed + change
        if everywhere == 1:
            rate = rate + change
        elif k == first or k == first + count - 1:
            rate = rate + opening
    return rate, speed


@wp.func
def leaf_force(model: ModelArrays, leaf: int, block: int, length: Real, rate: Real):
    """The force of a sub-tendon; zero where its tendon is not enabled."""
    tendon = model.leaf_tendon[leaf]
    force = tension(
        length,
        rate,
        model.leaf_rest_length[leaf, block],
        model.spatial_stiffness[tendon, block],
        model.spatial_damping[tendon, block],
        model.spatial_limit_stiffness[tendon, block],
        model.leaf_lower[leaf, block],
        model.leaf_upper[leaf, block],
    )
    return where_positive(model.spatial_enabled[tendon, block], force, real(0.0, force))


@wp.func
def add_pull(
    model: ModelArrays,
    work: WorkArrays,
    row: int,
    attachment: int,
    worker: int,
    x: Vec3,
    along: Vec3,
    weight: Real,
    force: Real,
):
    """Add weight times the gradient of along.x to J, and a force along `along` at x to P, up to the root."""
    start = model.row_term[row]
    table = model.row_item[row] * model.dof_count
    link = model.attachment_link[attachment]
    while link < model.link_count:
        arm = x - load_vec3(work.p_WM, 3 * link, worker)
        first = model.link_dof[link]
        for dof in range(first, first + model.link_dofs[link]):
            gradient = dot(along, point_motion(model, work, dof, arm, worker))
            term = start + model.leaf_dof_term[table + dof]
            work.J[term, worker] = work.J[term, worker] + gradient * weight
            work.P[term, worker] = work.P[term, worker] + gradient * force
        link = model.link_parent[link]


@wp.func
def end_forces(model: ModelArrays, leaf: int, segment: int, c: Real):
    """What a unit force of a sub-tendon does at the outer and the inner end of a segment, outward and inward along it.

    c is the coefficient of the segment.
    """
    one = real(1.0, c)
    zero = real(0.0, c)
    first = model.leaf_segment[leaf]
    outer = c
    inner = c
    if model.spatial_all_segments[model.leaf_tendon[leaf]] == 0:
        outer = zero
        inner = zero
        if segment == first:
            outer = one
        if segment == first + model.leaf_segments[leaf] - 1:
            inner = one
    return outer, inner


@wp.func
def set_leaf_gradients(
    model: ModelArrays,
    work: WorkArrays,
    row: int,
    block: int,
    worker: int,
    by_length: Real,
    by_rate: Real,
):
    """J = by_length J_L + by_rate J_S, and P of a unit force."""
    leaf = model.row_item[row]
    zero = real(0.0, by_length)
    start = model.row_term[row]
    forget_rate(model, work, row, worker)
    for term in range(start, start + model.row_terms[row]):
        work.J[term, worker] = zero
        work.P[term, worker] = zero
    first = model.leaf_segment[leaf]
    count = model.leaf_segments[leaf]
    everywhere = model.spatial_all_segments[model.leaf_tendon[leaf]]
    for k in range(first, first + count):
        attachment = model.segment_attachment[k]
        parent = model.attachment_parent[attachment]
        x = attachment_place(model, work, attachment, block, worker)
        x_parent = attachment_place(model, work, parent, block, worker)
        _distance, unit = direction(x - x_parent)
        c = model.attachment_coefficient[attachment, block]
        weight = by_length * c
        outer_force, inner_force = end_forces(model, leaf, k, c)
        if everywhere == 1:
            weight = weight + by_rate * c
        elif k == first or k == first + count - 1:
            weight = weight + by_rate
        add_pull(model, work, row, attachment, worker, x, unit, weight, outer_force)
        add_pull(model, work, row, parent, worker, x_parent, neg(unit), weight, inner_force)


@wp.func
def spatial_gains(model: ModelArrays, leaf: int, block: int):
    """Stiffness and damping of a sub-tendon; zero where its tendon is not enabled."""
    tendon = model.leaf_tendon[leaf]
    enabled = model.spatial_enabled[tendon, block]
    zero = real(0.0, enabled)
    k = where_positive(enabled, model.spatial_stiffness[tendon, block], zero)
    return k, where_positive(enabled, model.spatial_damping[tendon, block], zero)


@wp.func
def set_spatial_tendon_gradients(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write P of a unit force and J, of a spring that of its law with theta = 1, of a limit J_L.

    Says whether the tendon is enabled in any environment of the block.
    """
    leaf = model.row_item[row]
    spring = real(1.0, h)
    damper = real(0.0, h)
    if model.row_family[row] == SPATIAL_TENDON_ORDER:
        k, damper = spatial_gains(model, leaf, block)
        spring = h * k
    weigh_gradients(model, work, row, block, worker, spring, damper)
    return any_positive(model.spatial_enabled[model.leaf_tendon[leaf], block])


@wp.func
def set_spatial_tendon_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the spring and damper of a sub-tendon."""
    leaf = model.row_item[row]
    one = real(1.0, h)
    k, d = spatial_gains(model, leaf, block)
    set_leaf_gradients(model, work, row, block, worker, one, one - one)
    e = leaf_length_now(model, work, row, block, worker) - model.leaf_rest_length[leaf, block]
    stretching = row_rate(model, work, work.v, row, worker)
    theta = spring_theta(work, row, worker, k, d, h)
    reach = theta * h * k
    weigh_gradients(model, work, row, block, worker, reach, d)
    # d J_S v is what the weighted J leaves beside the part of J_L.
    damping = (reach + d) * row_rate(model, work, work.v, row, worker) - reach * stretching
    weight = work.position_weight[0, worker]
    lost = k * e + reach * (one - weight) * stretching + (one - theta) * damping
    set_law_row(work, row, worker, lost, spring_slope(k, d, theta, h), h)


@wp.func
def leaf_length_now(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """L at the start of the substep, from that where the links are placed and J = J_L."""
    return leaf_length(model, work, model.row_item[row], block, worker) + row_rate(model, work, work.shift, row, worker)


@wp.func
def weigh_gradients(
    model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, spring: Real, damper: Real
):
    """J = (spring J_L + damper J_S) / (spring + damper)."""
    total = spring + damper
    safe = where_positive(total, total, real(1.0, total))
    set_leaf_gradients(model, work, row, block, worker, spring / safe, damper / safe)


@wp.func
def set_spatial_tendon_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the limits of a sub-tendon."""
    leaf = model.row_item[row]
    tendon = model.leaf_tendon[leaf]
    zero = real(0.0, h)
    k = where_positive(model.spatial_enabled[tendon, block], model.spatial_limit_stiffness[tendon, block], zero)
    theta = spring_theta(work, row, worker, k, zero, h)
    set_resolved(work, row, worker, theta)
    set_stop_spring_row(
        model,
        work,
        row,
        worker,
        leaf_length_now(model, work, row, block, worker),
        model.leaf_lower[leaf, block],
        model.leaf_upper[leaf, block],
        k,
        zero,
        theta,
        h,
    )


@wp.func
def set_unit_gradients(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J_L and P of a unit force; says that the row acts."""
    one = real(1.0, h)
    set_leaf_gradients(model, work, row, block, worker, one, one - one)
    return True


@wp.func
def report_spatial_tendon(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, row: int, block: int, worker: int
):
    """Write length, speed, force and limit state of a sub-tendon."""
    item = model.row_item[row]
    failure = state.failure[0, block]
    length = leaf_length(model, work, item, block, worker)
    rate, speed = leaf_rates(model, work, item, block, worker)
    tendon = model.tendon_place[model.fixed_tendons + item]
    report_value(report.tendon_length, tendon, block, failure, length)
    report_value(report.tendon_speed, tendon, block, failure, speed)
    report_value(report.tendon_force, tendon, block, failure, leaf_force(model, item, block, length, rate))
    side = limit_state(length, model.leaf_lower[item, block], model.leaf_upper[item, block])
    report_value(report.tendon_limit_state, tendon, block, failure, side)


@wp.func
def take_spatial_tendon_off(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, force: Real):
    """Take what a sub-tendon pushes links by off what these need."""
    leaf = model.row_item[row]
    first = model.leaf_segment[leaf]
    for k in range(first, first + model.leaf_segments[leaf]):
        attachment = model.segment_attachment[k]
        parent = model.attachment_parent[attachment]
        x = attachment_place(model, work, attachment, block, worker)
        x_parent = attachment_place(model, work, parent, block, worker)
        _distance, unit = direction(x - x_parent)
        outer, inner = end_forces(model, leaf, k, model.attachment_coefficient[attachment, block])
        subtract_force(model, work, model.attachment_link[attachment], x, unit * (force * outer), worker)
        subtract_force(model, work, model.attachment_link[parent], x_parent, unit * neg(force * inner), worker)


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    names = [name for tendon in articulation.spatial_tendons for name in tendon.leaf_names]
    links = routes_of(articulation).leaf_links
    places = [Place(name, layout.towards_root(own), leaf) for leaf, (name, own) in enumerate(zip(names, links))]
    return [place for place in places if place.dofs]


def _limit_places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    tendons = [tendon for tendon in articulation.spatial_tendons for _ in tendon.leaves]
    return [place for place in _places(articulation, layout) if tendons[place.item].limit_stiffness > 0]


def _leaves(articulation: Articulation) -> list[tuple[SpatialTendon, TendonLeaf]]:
    return [(tendon, leaf) for tendon in articulation.spatial_tendons for leaf in tendon.leaves]


def _rest_lengths(articulation: Articulation) -> list[float]:
    """The authored rest length of each leaf, else its length at the start pose without the offset of the tendon."""
    leaves = _leaves(articulation)
    start = start_poses(articulation) if leaves else ()
    return [_rest_length(tendon, leaf, start) for tendon, leaf in leaves]


def _rest_length(tendon: SpatialTendon, leaf: TendonLeaf, start) -> float:
    if leaf.rest_length is not None:
        return leaf.rest_length
    length, outer = 0.0, tendon.attachments[leaf.attachment]
    while outer.parent is not None:
        inner = tendon.attachments[outer.parent]
        segment = start[outer.link].apply(outer.position) - start[inner.link].apply(inner.position)
        length += outer.coefficient * float(np.linalg.norm(segment))
        outer = inner
    return length


def _attachments(articulation: Articulation) -> list:
    return [attachment for tendon in articulation.spatial_tendons for attachment in tendon.attachments]


def _positions(articulation: Articulation) -> np.ndarray:
    """In the moving frames of links [m]."""
    points = [(attachment.link, attachment.position) for attachment in _attachments(articulation)]
    return np.ravel(in_moving_frame(articulation, points))


def _each(name: str, value: Callable[[SpatialTendon], float], allowed: Allowed) -> Parameter:
    """A number of each tendon."""
    return Parameter(
        name=f"spatial_{name}",
        of="spatial_tendon",
        values=lambda articulation: [value(tendon) for tendon in articulation.spatial_tendons],
        allowed=allowed,
    )


def _of_leaves(name: str, values: Callable[[Articulation], list[float]], allowed: Allowed) -> Parameter:
    """A number of each leaf."""
    return Parameter(name=f"leaf_{name}", of="leaf", values=values, allowed=allowed)


def _table(table: Callable[[Routes], list[int]]) -> Callable:
    """A table of the routes of a tree."""
    return lambda tree: table(tree.structure_of(SPATIAL_TENDON))


SPATIAL_TENDON = ConstraintFamily(
    name="spatial tendon",
    order=SPATIAL_TENDON_ORDER,
    label=("spatial tendon leaf", "spatial tendon leaves"),
    part=ForcePart.TENDON,
    places=_places,
    traits=IS_TENDON,
    acts_always=True,
    has_own_force_jacobian=True,
    shares_force_jacobian="leaf",
    needs_places=True,
    law=set_spatial_tendon_row,
    gradient=set_spatial_tendon_gradients,
    coefficients=set_unit_gradients,
    report=report_spatial_tendon,
    subtract_wrench=take_spatial_tendon_off,
    entries=Entries(
        kind="tendon",
        names=lambda articulation: tuple(name for tendon in articulation.spatial_tendons for name in tendon.leaf_names),
    ),
    kinds={
        "spatial_tendon": lambda articulation: len(articulation.spatial_tendons),
        "leaf": lambda articulation: len(_leaves(articulation)),
        "attachment": lambda articulation: len(_attachments(articulation)),
    },
    parameters=(
        _each("stiffness", lambda tendon: tendon.stiffness, NOT_NEGATIVE),
        _each("damping", lambda tendon: tendon.damping, NOT_NEGATIVE),
        _each("limit_stiffness", lambda tendon: tendon.limit_stiffness, NOT_NEGATIVE),
        _each("offset", lambda tendon: tendon.offset, FINITE),
        _each("enabled", lambda tendon: float(tendon.enabled), SHARE),
        _of_leaves("rest_length", _rest_lengths, NOT_NEGATIVE),
        _of_leaves("lower", lambda articulation: [leaf.lower for _, leaf in _leaves(articulation)], LOWER),
        _of_leaves("upper", lambda articulation: [leaf.upper for _, leaf in _leaves(articulation)], UPPER),
        Parameter(
            name="attachment_coefficient",
            of="attachment",
            values=lambda articulation: [attachment.coefficient for attachment in _attachments(articulation)],
            allowed=FINITE,
        ),
        Parameter(name="attachment_position", of="attachment", values=_positions, size=3),
    ),
    structure=routes_of,
    tables={
        "leaf_tendon": _table(lambda routes: list(routes.leaf_tendon)),
        "leaf_segment": _table(lambda routes: routes.first_segments),
        "leaf_segments": _table(lambda routes: [len(own) for own in routes.leaf_segments]),
        "segment_attachment": _table(lambda routes: [outer for own in routes.leaf_segments for outer in own]),
        "attachment_parent": _table(lambda routes: list(routes.attachment_parent)),
        "attachment_link": _table(lambda routes: list(routes.attachment_link)),
        "spatial_all_segments": _table(lambda routes: [int(everywhere) for everywhere in routes.all_segments]),
        "leaf_dof_term": lambda tree: leaf_dof_terms(tree, SPATIAL_TENDON),
    },
)

SPATIAL_TENDON_LIMIT = ConstraintFamily(
    name="limits of a spatial tendon",
    order=601,
    part=ForcePart.TENDON,
    places=_limit_places,
    traits=IS_TENDON | ENDS | IS_RESOLVED,
    has_own_force_jacobian=True,
    shares_force_jacobian="leaf",
    needs_places=True,
    law=set_spatial_tendon_limit_row,
    gradient=set_spatial_tendon_gradients,
    subtract_wrench=take_spatial_tendon_off,
    entries=SPATIAL_TENDON.entries,
)

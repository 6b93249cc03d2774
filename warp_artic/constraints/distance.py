"""Distances between points of two links, or of one and the world:

    lower <= L <= upper,   L = |x1 - x0|,   J = u^T (J_1 - J_0),   u = (x1 - x0) / L.

J turns while the links move, with the acceleration of L by velocities alone
    c = u.(a_1 - a_0) + (|v_r|^2 - (u.v_r)^2) / L,   v_r the velocity of x1 relative to x0.
Hard: the law of `curved_stop`. Of an end that is passed already a share is
taken back in a step (`rows.RECOVERY`), where both ends are the same, a rod, all of it; where a run starts beyond one,
links are moved first (`solver.distance_start`).
Soft: a spring and damper beyond the ends, as in `spring`, with e = L + J shift; where both are the same, always.

A distance of zero has no direction: there the row is left out of the step.
"""

from collections.abc import Callable

import numpy as np
import warp as wp

from warp_artic.constraints.curved_stop import at_start, stop_bounds, tangent_speed
from warp_artic.constraints.rows import (
    RECOVERY,
    allow_every_velocity,
    row_rate,
    set_unbounded_impulse,
    set_velocity_bounds,
)
from warp_artic.constraints.spatial_tendon import direction
from warp_artic.constraints.spring import set_resolved, set_spring_row, set_stop_spring_row, spring_theta
from warp_artic.description.articulation import Articulation
from warp_artic.description.distance import Distance
from warp_artic.description.joint import WORLD
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    Vec3,
    add,
    any_positive,
    div,
    maximum,
    minimum,
    mul,
    neg,
    real,
    sub,
    where_positive,
)
from warp_artic.math.rotation import ratio
from warp_artic.math.spatial import cross, dot
from warp_artic.model.allowed_values import ANGLE, NOT_NEGATIVE, SHARE, Allowed
from warp_artic.model.arrays import Array, ModelArrays, ReportArrays, StateArrays, WorkArrays, load_vec3
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import ENDS, IS_RESOLVED, PUSHES_LINKS, ConstraintFamily, Entries, Measure, Parameter
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.frames import in_moving_frame
from warp_artic.model.row import Place
from warp_artic.phases.outputs import report_value
from warp_artic.phases.point_motion import point_bias, point_place, point_velocity, set_point_gradient
from warp_artic.phases.transmitted_forces import subtract_force


@wp.func
def distance_ends(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """x0 and x1, for located links."""
    x0 = point_place(work, model.distance_link0[item], model.distance_position0, item, block, worker)
    x1 = point_place(work, model.distance_link1[item], model.distance_position1, item, block, worker)
    return x0, x1


@wp.func
def relative_velocity(model: ModelArrays, work: WorkArrays, item: int, x0: Vec3, x1: Vec3, rates: Array, worker: int):
    """v_r with rates of the dofs; the link where the paths meet turns both points as the links are placed with."""
    meet = model.distance_meet[item]
    v = point_velocity(model, work, model.distance_link1[item], meet, x1, rates, worker)
    v = v - point_velocity(model, work, model.distance_link0[item], meet, x0, rates, worker)
    return v + cross(load_vec3(work.w, 3 * meet, worker), x1 - x0)


@wp.func
def distance_bend(model: ModelArrays, work: WorkArrays, item: int, block: int, worker: int):
    """c, with the velocities that the links are placed with; zero where the points coincide."""
    meet = model.distance_meet[item]
    x0, x1 = distance_ends(model, work, item, block, worker)
    length, u = direction(x1 - x0)
    v = relative_velocity(model, work, item, x0, x1, work.v_middle, worker)
    a = point_bias(model, work, model.distance_link1[item], meet, x1, worker)
    a = a - point_bias(model, work, model.distance_link0[item], meet, x0, worker)
    along = dot(u, v)
    across = dot(u, u) * dot(v, v) - along * along
    return dot(u, a) + across / where_positive(length, length, real(1.0, length))


@wp.func
def is_open(length: Real, enabled: Real):
    """Positive where a distance has a direction and is enabled."""
    return where_positive(length - ratio(1.0, 1000000000.0, length), enabled, real(0.0, length))


@wp.func
def set_distance_gradient(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J and P; says whether the distance is enabled in any environment of the block."""
    item = model.row_item[row]
    meet = model.distance_meet[item]
    x0, x1 = distance_ends(model, work, item, block, worker)
    _length, u = direction(x1 - x0)
    term = set_point_gradient(model, work, model.row_term[row], model.distance_link1[item], meet, x1, u, worker)
    set_point_gradient(model, work, term, model.distance_link0[item], meet, x0, neg(u), worker)
    return any_positive(model.distance_enabled[item, block])


@wp.func
def set_distance_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a hard distance."""
    item = model.row_item[row]
    set_distance_gradient(model, work, row, block, worker, h)
    x0, x1 = distance_ends(model, work, item, block, worker)
    placed, _u = direction(x1 - x0)
    c = distance_bend(model, work, item, block, worker)
    before = at_start(model, work, row, worker, placed, c)
    lower = model.distance_lower[item, block]
    upper = model.distance_upper[item, block]
    tau = work.since_placed[0, worker]
    weight = work.position_weight[0, worker]
    tangent = tangent_speed(c, tau, weight, h)
    back = real(RECOVERY, h)
    least, most = stop_bounds(model, work, row, worker, c, tau, weight, tangent, before, lower, upper, back, h)
    rod = tangent + (upper - before) / h
    spans = upper - lower
    set_velocity_bounds(work, row, worker, where_positive(spans, least, rod), where_positive(spans, most, rod))
    allow_every_velocity(work, row, worker, is_open(placed, model.distance_enabled[item, block]))
    work.compliance[row, worker] = real(0.0, h)
    set_unbounded_impulse(work, row, worker, h)


@wp.func
def set_soft_distance_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a distance with a spring and damper."""
    item = model.row_item[row]
    zero = real(0.0, h)
    x0, x1 = distance_ends(model, work, item, block, worker)
    placed, _u = direction(x1 - x0)
    acts = is_open(placed, model.distance_enabled[item, block])
    k = where_positive(acts, model.distance_stiffness[item, block], zero)
    d = where_positive(acts, model.distance_damping[item, block], zero)
    lower = model.distance_lower[item, block]
    upper = model.distance_upper[item, block]
    spans = upper - lower
    length = placed + row_rate(model, work, work.shift, row, worker)
    theta = spring_theta(work, row, worker, k, d, h)
    set_resolved(work, row, worker, theta)
    set_stop_spring_row(model, work, row, worker, length, lower, upper, k, d, theta, h)
    least = work.velocity_bounds[2 * row, worker]
    most = work.velocity_bounds[2 * row + 1, worker]
    work.given[row, worker] = where_positive(spans, work.given[row, worker], zero)
    set_spring_row(model, work, row, worker, length - lower, k, d, theta, h)
    least = where_positive(spans, least, work.velocity_bounds[2 * row, worker])
    most = where_positive(spans, most, work.velocity_bounds[2 * row + 1, worker])
    set_velocity_bounds(work, row, worker, least, most)


@wp.func
def report_distance(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, row: int, block: int, worker: int
):
    """Write L and its rate."""
    item = model.row_item[row]
    failure = state.failure[0, block]
    x0, x1 = distance_ends(model, work, item, block, worker)
    length, u = direction(x1 - x0)
    speed = dot(u, relative_velocity(model, work, item, x0, x1, work.v, worker))
    report_value(report.distance_length, item, block, failure, length)
    report_value(report.distance_speed, item, block, failure, speed)


@wp.func
def take_distance_off(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, force: Real):
    """Take what a distance does to its links off what these need."""
    item = model.row_item[row]
    x0, x1 = distance_ends(model, work, item, block, worker)
    _length, u = direction(x1 - x0)
    subtract_force(model, work, model.distance_link1[item], x1, u * force, worker)
    subtract_force(model, work, model.distance_link0[item], x0, u * neg(force), worker)


def _distances(articulation: Articulation) -> tuple[Distance, ...]:
    return articulation.constraints_of(Distance)


def _ends(articulation: Articulation) -> tuple[tuple[int, int, int], ...]:
    """The links of both points, and the link where their paths to the root meet; their number stands for the world."""
    layout, world = DofLayout(articulation), len(articulation.links)
    found = []
    for one in _distances(articulation):
        links = (world if link == WORLD else link for link in (one.link0, one.link1))
        found.append((*links, layout.meet(one.link0, one.link1)))
    return tuple(found)


def _places(articulation: Articulation, layout: DofLayout, is_soft: bool) -> list[Place]:
    """A row on the dofs from the second link to where the paths meet, then on those from the first one."""
    found = []
    for item, one in enumerate(_distances(articulation)):
        first, second = layout.inward(one.link0), layout.inward(one.link1)
        dofs = [dof for dof in second if dof not in first] + [dof for dof in first if dof not in second]
        if dofs and one.is_soft == is_soft:
            found.append(Place(one.name, tuple(dofs), item))
    return found


def _each(name: str, value: Callable[[Distance], float], allowed: Allowed) -> Parameter:
    """A number of each distance."""
    return Parameter(
        name=f"distance_{name}",
        of="distance",
        values=lambda articulation: [value(one) for one in _distances(articulation)],
        allowed=allowed,
    )


def _points(side: int) -> Parameter:
    """The points on one side, in the moving frames of their links, or in the world about the origin [m]."""

    def values(articulation: Articulation) -> np.ndarray:
        points = [((one.link0, one.position0), (one.link1, one.position1))[side] for one in _distances(articulation)]
        return np.ravel(in_moving_frame(articulation, points))

    return Parameter(name=f"distance_position{side}", of="distance", values=values, size=3)


def _table(place: int) -> Callable:
    return lambda tree: [one[place] for one in tree.structure_of(DISTANCE)]


def _have_distances(tree) -> list[int]:
    """Whether an island has hard distances."""
    have = {tree.island_of_dof(row.dofs[0]) for row in tree.rows if row.family is DISTANCE}
    return [int(island in have) for island in range(tree.island_count)]


ENTRIES = Entries(
    kind="distance",
    names=lambda articulation: tuple(one.name for one in _distances(articulation)),
    meaning="Distance joints",
)

DISTANCE = ConstraintFamily(
    name="distance",
    order=850,
    label=("distance", "distances"),
    part=ForcePart.LOOP,
    places=lambda articulation, layout: _places(articulation, layout, False),
    traits=PUSHES_LINKS,
    acts_always=True,
    needs_places=True,
    law=set_distance_row,
    coefficients=set_distance_gradient,
    report=report_distance,
    subtract_wrench=take_distance_off,
    entries=ENTRIES,
    parameters=(
        _each("lower", lambda one: one.lower, NOT_NEGATIVE),
        _each("upper", lambda one: one.upper, ANGLE),
        _each("stiffness", lambda one: one.stiffness, NOT_NEGATIVE),
        _each("damping", lambda one: one.damping, NOT_NEGATIVE),
        _each("enabled", lambda one: float(one.enabled), SHARE),
        _points(0),
        _points(1),
    ),
    measures=(
        Measure(name="distance_length", meaning="[m]", unit="m"),
        Measure(name="distance_speed", meaning="Rate of the length [m/s]", unit="m/s"),
    ),
    multiplier=Measure(
        name="distance_force",
        meaning="Mean force over the last step before a record [N], positive where it pushes the points apart",
        unit="N",
    ),
    structure=_ends,
    counts={
        "distance_rows": lambda tree: tree.count(DISTANCE),
        "distance_row": lambda tree: next((k for k, row in enumerate(tree.rows) if row.family is DISTANCE), 0),
    },
    tables={
        "distance_link0": _table(0),
        "distance_link1": _table(1),
        "distance_meet": _table(2),
        "island_has_distances": _have_distances,
    },
)

SOFT_DISTANCE = ConstraintFamily(
    name="soft distance",
    order=650,
    label=("distance", "distances"),
    part=ForcePart.LOOP,
    places=lambda articulation, layout: _places(articulation, layout, True),
    traits=ENDS | IS_RESOLVED | PUSHES_LINKS,
    acts_always=True,
    needs_places=True,
    law=set_soft_distance_row,
    gradient=set_distance_gradient,
    coefficients=set_distance_gradient,
    report=report_distance,
    subtract_wrench=take_distance_off,
    entries=ENTRIES,
    multiplier=DISTANCE.multiplier,
)

"""Mimic joints (Mimic Joints, equations 17-29):  C = sum G_i q_i + curve(q_1) + offset = 0,  J the gradient of C in v
(`coupling`); curve(x) = c_2 x^2 + c_3 x^3 + c_4 x^4 of the leader, where there is one.

With r = J M^-1 J^T, of the mechanism without its drives:
    hard:       y = - erp C_M / h - (J v - Cdot),   C_M = C + (1 - weight) h Cdot, where the joints take up v+
    compliant:  a spring k_p = mu^2 / r and a damper k_d = 2 mu zeta / r on C, as in `spring`
Cdot is the rate of C at the start of the step. It is J v but for joints with several rotations and on a curve, where J,
which is that in the middle, has turned: what it turned by until then it turns by once more until the end. The laws
with weight = 1 are the document's cfm = 1 / (h (h k_p + k_d)) and erp = h k_p / (h k_p + k_d).

A rotation vector that becomes longer than `spherical.LONGEST` is replaced by that of the other way round, and C jumps.
So a hard mimic joint of such components takes errors back at most at RETURN rad/s of each.
"""

import math
from collections.abc import Callable

import warp as wp

from warp_artic.constraints.coupling import (
    combination_in_step,
    combine_positions,
    combine_rates,
    set_combination,
    time_with_v,
)
from warp_artic.constraints.rows import (
    allow_every_velocity,
    delassus_entry,
    forget_response,
    row_rate,
    set_velocity_bounds,
)
from warp_artic.constraints.spring import set_spring_row, spring_theta
from warp_artic.description.articulation import Articulation
from warp_artic.description.mimic import Mimic
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
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
from warp_artic.model.allowed_values import FINITE, NOT_NEGATIVE, SHARE, Allowed
from warp_artic.model.arrays import Array, ModelArrays, ReportArrays, StateArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import MOVES_DOFS_ALIKE, ConstraintFamily, Entries, Measure, Parameter, term_starts
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place
from warp_artic.phases.outputs import report_value

RETURN = wp.constant(wp.float64(math.pi))
"""The largest velocity of a component of a rotation vector at which errors are taken back [rad/s]."""


@wp.func
def mimic_error(model: ModelArrays, positions: Array, place: int, row: int, block: int):
    """C at the joint positions in column `place` of an array."""
    mimic = model.row_item[row]
    first = model.mimic_term[mimic]
    C = combine_positions(model, model.mimic_gear, first, positions, place, row, block)
    return model.mimic_offset[mimic, block] + with_curve(model, positions, place, row, block, C)


@wp.func
def with_curve(model: ModelArrays, positions: Array, place: int, row: int, block: int, C: Real):
    """C with curve(q_1)."""
    if model.curved_mimics == 0:
        return C
    return C + curve_value(model, model.row_item[row], positions[leader_of(model, row), place], block)


@wp.func
def leader_of(model: ModelArrays, row: int):
    """The row among positions of the leader of a mimic joint between two joints with one axis."""
    return model.term_dof[model.row_term[row] + 1] - model.root_dofs


@wp.func
def curve_value(model: ModelArrays, mimic: int, x: Real, block: int):
    """curve(x)."""
    c_2, c_3, c_4 = curve_factors(model, mimic, block)
    return x * x * (c_2 + x * (c_3 + x * c_4))


@wp.func
def curve_slope(model: ModelArrays, mimic: int, x: Real, block: int):
    """The derivative of curve(x)."""
    c_2, c_3, c_4 = curve_factors(model, mimic, block)
    return x * (c_2 * real(2.0, x) + x * (c_3 * real(3.0, x) + x * c_4 * real(4.0, x)))


@wp.func
def curve_factors(model: ModelArrays, mimic: int, block: int):
    """c_2, c_3 and c_4."""
    first = 3 * mimic
    return model.mimic_curve[first, block], model.mimic_curve[first + 1, block], model.mimic_curve[first + 2, block]


@wp.func
def mimic_rate(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """The rate of C at the start of a step."""
    first = model.mimic_term[model.row_item[row]]
    rate = combine_rates(model, model.mimic_gear, first, work.position, work.v, model.root_dofs, worker, row, block)
    return with_curve_rate(model, work, row, block, worker, rate)


@wp.func
def with_curve_rate(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, rate: Real):
    """The rate with that of curve(q_1)."""
    if model.curved_mimics == 0:
        return rate
    leader = leader_of(model, row)
    slope = curve_slope(model, model.row_item[row], work.position[leader, worker], block)
    return rate + slope * work.v[model.root_dofs + leader, worker]


@wp.func
def set_gears(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J in a step of h; says whether the mimic joint is enabled in any environment of the block."""
    first = model.mimic_term[model.row_item[row]]
    start = model.row_term[row]
    set_combination(model, work, work.J, model.mimic_gear, first, row, block, worker, h)
    if model.curved_mimics == 1:
        slope = curve_slope(model, model.row_item[row], middle_of_leader(model, work, row, worker, h), block)
        work.J[start + 1, worker] = work.J[start + 1, worker] + slope
        forget_response(model, work, row, worker)
    for term in range(start, start + model.row_terms[row]):
        work.P[term, worker] = work.J[term, worker]
    return any_positive(model.mimic_enabled[model.row_item[row], block])


@wp.func
def middle_of_leader(model: ModelArrays, work: WorkArrays, row: int, worker: int, h: Real):
    """The position of the leader where J is taken in a step of h."""
    leader = leader_of(model, row)
    return work.position[leader, worker] + time_with_v(work, worker, h) * work.v[model.root_dofs + leader, worker]


@wp.func
def with_curve_in_step(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real, C: Real):
    """C with curve(q_1) as `combination_in_step` has it: what is there in the middle, back along J."""
    if model.curved_mimics == 0:
        return C
    mimic = model.row_item[row]
    x = middle_of_leader(model, work, row, worker, h)
    back = x - work.position[leader_of(model, row), worker]
    return C + curve_value(model, mimic, x, block) - curve_slope(model, mimic, x, block) * back


@wp.func
def set_mimic_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of a mimic joint."""
    mimic = model.row_item[row]
    one = real(1.0, h)
    zero = real(0.0, h)
    enabled = model.mimic_enabled[mimic, block]
    first = model.mimic_term[mimic]
    C = combination_in_step(model, work, model.mimic_gear, first, row, block, worker, h)
    C = model.mimic_offset[mimic, block] + with_curve_in_step(model, work, row, block, worker, h, C)
    frequency = model.mimic_natural_frequency[mimic, block]
    r = one
    if model.compliant_mimics == 1:
        r = work.mimic_delassus[mimic, worker]
    safe = where_positive(r, r, one)
    k_p = frequency * frequency / safe
    k_d = real(2.0, h) * frequency * model.mimic_damping_ratio[mimic, block] / safe
    set_spring_row(model, work, row, worker, C, k_p, k_d, spring_theta(work, row, worker, k_p, k_d, h), h)
    # The document keeps a tenth of the error for the next step: a whole correction would overshoot what TGS moves.
    weight = work.position_weight[0, worker]
    rate = mimic_rate(model, work, row, block, worker)
    C_M = mimic_error(model, work.position, worker, row, block) + (one - weight) * h * rate
    turned = row_rate(model, work, work.v, row, worker) - rate
    hard = neg(within_return(model, row, block, C_M * ratio(9.0, 10.0, h) / h)) - turned
    lower = where_positive(frequency, work.velocity_bounds[2 * row, worker], hard)
    upper = where_positive(frequency, work.velocity_bounds[2 * row + 1, worker], hard)
    set_velocity_bounds(work, row, worker, lower, upper)
    allow_every_velocity(work, row, worker, enabled)
    work.compliance[row, worker] = where_positive(frequency, work.compliance[row, worker], zero)


@wp.func
def within_return(model: ModelArrays, row: int, block: int, speed: Real):
    """A rate at which an error is taken back, within what components of rotation vectors allow."""
    largest = real(0.0, speed)
    turns = bool(False)
    term = int(model.row_term[row])
    end = term + model.row_terms[row]
    k = int(model.mimic_term[model.row_item[row]])
    while term < end:
        span = model.term_span[term]
        if span > 1:
            largest = largest + absolute(model.mimic_gear[k, block]) * real(RETURN, speed)
            turns = bool(True)
        term += span
        k += 1
    if turns:
        return maximum(neg(largest), minimum(speed, largest))
    return speed


@wp.func
def measure_mimic(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write r = J M^-1 J^T, which compliant mimic joints need."""
    set_gears(model, work, row, block, worker, h)
    work.mimic_delassus[model.row_item[row], worker] = delassus_entry(model, work, row, worker)


@wp.func
def report_mimic(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, row: int, block: int, worker: int
):
    """Write C."""
    error = mimic_error(model, state.joint_position, block, row, block)
    report_value(report.mimic_error, model.row_item[row], block, state.failure[0, block], error)


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    found = []
    for item, mimic in enumerate(articulation.mimics):
        dofs, coupled = layout.coupled(mimic.dofs)
        found.append(Place(mimic.name, dofs, item, coupled))
    return found


def _each(name: str, value: Callable[[Mimic], float], allowed: Allowed, flag: str | None = None) -> Parameter:
    """A number of each mimic joint."""
    return Parameter(
        name=f"mimic_{name}",
        of="mimic",
        values=lambda articulation: [value(mimic) for mimic in articulation.mimics],
        allowed=allowed,
        flag=flag,
    )


MIMIC = ConstraintFamily(
    name="mimic joint",
    order=800,
    label=("mimic joint", "mimic joints"),
    part=ForcePart.MIMIC,
    places=_places,
    traits=MOVES_DOFS_ALIKE,
    acts_always=True,
    law=set_mimic_row,
    gradient=set_gears,
    measure=measure_mimic,
    coefficients=set_gears,
    report=report_mimic,
    entries=Entries(
        kind="mimic",
        names=lambda articulation: tuple(mimic.name for mimic in articulation.mimics),
        meaning="Following joints",
    ),
    kinds={"mimic_term": lambda articulation: sum(len(mimic.dofs) for mimic in articulation.mimics)},
    parameters=(
        Parameter(
            name="mimic_gear",
            of="mimic_term",
            values=lambda articulation: [gear for mimic in articulation.mimics for gear in mimic.gears],
            allowed=FINITE,
        ),
        Parameter(
            name="mimic_curve",
            of="mimic",
            values=lambda articulation: [factor for mimic in articulation.mimics for factor in mimic.curve],
            size=3,
        ),
        _each("offset", lambda mimic: mimic.offset, FINITE),
        _each("natural_frequency", lambda mimic: mimic.natural_frequency, FINITE, "compliant_mimics"),
        _each("damping_ratio", lambda mimic: mimic.damping_ratio, NOT_NEGATIVE),
        _each("enabled", lambda mimic: float(mimic.enabled), SHARE),
    ),
    measures=(Measure(name="mimic_error", meaning="Value of the constraint [m or rad]"),),
    multiplier=Measure(
        name="mimic_force", meaning="Multiplier of the constraint over the last step before a record [N or N m]"
    ),
    counts={"mimic_rows": lambda tree: tree.count(MIMIC)},
    flags={
        "compliant_mimics": lambda articulation: any(not mimic.is_hard for mimic in articulation.mimics),
        "curved_mimics": lambda articulation: any(mimic.is_curved for mimic in articulation.mimics),
    },
    tables={"mimic_term": lambda tree: term_starts(tree, MIMIC)},
    scratch={"mimic_delassus": lambda tree: tree.count(MIMIC)},
)

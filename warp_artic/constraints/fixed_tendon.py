"""Fixed tendons (Tendon Dynamics, equations 1-5):  L = offset + sum c_i q_i,  S its rate, and on each dof
    (k (rest - L) - d S) r_i + k_lim Delta r_i,   Delta = the change that brings L back to the nearest limit.
S = sum c_i qdot_i, and (...) r_i is the force on qdot_i: of joints with several rotations see `coupling`.

The spring and the limit are a row each, of the kinds of `spring`, with e = L - rest, J the gradient of L and the push
that of sum r_i q_i.
"""

from collections.abc import Callable, Sequence

import warp as wp

from warp_artic.constraints.coupling import combination_in_step, combine_positions, combine_rates, set_combination
from warp_artic.constraints.spring import set_resolved, set_spring_row, set_stop_spring_row, spring_theta
from warp_artic.constraints.tension import limit_state, tension
from warp_artic.description.articulation import Articulation
from warp_artic.description.tendon import FixedTendon
from warp_artic.math.numbers import Real, add, any_positive, mul, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.allowed_values import FINITE, LOWER, NOT_NEGATIVE, SHARE, UPPER, Allowed
from warp_artic.model.arrays import Array, ModelArrays, ReportArrays, StateArrays, WorkArrays
from warp_artic.model.dofs import DofLayout
from warp_artic.model.families import (
    ENDS,
    IS_JOINT_TENDON,
    IS_RESOLVED,
    ConstraintFamily,
    Entries,
    Measure,
    Parameter,
    term_starts,
)
from warp_artic.model.force_parts import ForcePart
from warp_artic.model.row import Place
from warp_artic.phases.outputs import report_value


@wp.func
def tendon_length(model: ModelArrays, positions: Array, place: int, row: int, block: int):
    """L at the joint positions in column `place` of an array."""
    tendon = model.row_item[row]
    first = model.tendon_term[tendon]
    length = combine_positions(model, model.tendon_coefficient, first, positions, place, row, block)
    return model.tendon_offset[tendon, block] + length


@wp.func
def tendon_rate(model: ModelArrays, state: StateArrays, row: int, block: int):
    """S at a state."""
    first = model.tendon_term[model.row_item[row]]
    return combine_rates(
        model, model.tendon_coefficient, first, state.joint_position, state.joint_velocity, 0, block, row, block
    )


@wp.func
def tendon_length_in_step(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """L as the rows of a tendon see it at the start of a step of h, after their J is written."""
    tendon = model.row_item[row]
    first = model.tendon_term[tendon]
    length = combination_in_step(model, work, model.tendon_coefficient, first, row, block, worker, h)
    return model.tendon_offset[tendon, block] + length


@wp.func
def tendon_force(model: ModelArrays, row: int, block: int, length: Real, rate: Real):
    """The force of a tendon; zero where it is not enabled."""
    tendon = model.row_item[row]
    force = tension(
        length,
        rate,
        model.tendon_rest_length[tendon, block],
        model.tendon_stiffness[tendon, block],
        model.tendon_damping[tendon, block],
        model.tendon_limit_stiffness[tendon, block],
        model.tendon_lower[tendon, block],
        model.tendon_upper[tendon, block],
    )
    return where_positive(model.tendon_enabled[tendon, block], force, real(0.0, force))


@wp.func
def set_tendon_coefficients(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Write J and P in a step of h; says whether the tendon is enabled in any environment of the block."""
    first = model.tendon_term[model.row_item[row]]
    set_combination(model, work, work.J, model.tendon_coefficient, first, row, block, worker, h)
    set_combination(model, work, work.P, model.tendon_force_coefficient, first, row, block, worker, h)
    return any_positive(model.tendon_enabled[model.row_item[row], block])


@wp.func
def set_fixed_tendon_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the spring and damper of a tendon."""
    tendon = model.row_item[row]
    enabled = model.tendon_enabled[tendon, block]
    k = where_positive(enabled, model.tendon_stiffness[tendon, block], real(0.0, h))
    d = where_positive(enabled, model.tendon_damping[tendon, block], real(0.0, h))
    e = tendon_length_in_step(model, work, row, block, worker, h) - model.tendon_rest_length[tendon, block]
    set_spring_row(model, work, row, worker, e, k, d, spring_theta(work, row, worker, k, d, h), h)


@wp.func
def set_fixed_tendon_limit_row(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Fill the row of the limits of a tendon."""
    tendon = model.row_item[row]
    zero = real(0.0, h)
    k = where_positive(model.tendon_enabled[tendon, block], model.tendon_limit_stiffness[tendon, block], zero)
    theta = spring_theta(work, row, worker, k, zero, h)
    set_resolved(work, row, worker, theta)
    set_stop_spring_row(
        model,
        work,
        row,
        worker,
        tendon_length_in_step(model, work, row, block, worker, h),
        model.tendon_lower[tendon, block],
        model.tendon_upper[tendon, block],
        k,
        zero,
        theta,
        h,
    )


@wp.func
def report_fixed_tendon(
    model: ModelArrays, state: StateArrays, work: WorkArrays, report: ReportArrays, row: int, block: int, worker: int
):
    """Write length, speed, force and limit state of a tendon."""
    item = model.row_item[row]
    tendon = model.tendon_place[item]
    failure = state.failure[0, block]
    length = tendon_length(model, state.joint_position, block, row, block)
    rate = tendon_rate(model, state, row, block)
    report_value(report.tendon_length, tendon, block, failure, length)
    report_value(report.tendon_speed, tendon, block, failure, rate)
    report_value(report.tendon_force, tendon, block, failure, tendon_force(model, row, block, length, rate))
    side = limit_state(length, model.tendon_lower[item, block], model.tendon_upper[item, block])
    report_value(report.tendon_limit_state, tendon, block, failure, side)


def _places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    found = []
    for item, tendon in enumerate(articulation.fixed_tendons):
        dofs, coupled = layout.coupled(tendon.dofs)
        found.append(Place(tendon.name, dofs, item, coupled))
    return found


def _limit_places(articulation: Articulation, layout: DofLayout) -> list[Place]:
    tendons = zip(_places(articulation, layout), articulation.fixed_tendons)
    return [place for place, tendon in tendons if tendon.limit_stiffness > 0]


def _each(name: str, value: Callable[[FixedTendon], float], allowed: Allowed) -> Parameter:
    """A number of each tendon."""
    return Parameter(
        name=f"tendon_{name}",
        of="fixed_tendon",
        values=lambda articulation: [value(tendon) for tendon in articulation.fixed_tendons],
        allowed=allowed,
    )


def _terms(name: str, values: Callable[[FixedTendon], Sequence[float]]) -> Parameter:
    """A number of each dof of each tendon."""
    return Parameter(
        name=f"tendon_{name}",
        of="tendon_term",
        values=lambda articulation: [one for tendon in articulation.fixed_tendons for one in values(tendon)],
        allowed=FINITE,
    )


FIXED_TENDON = ConstraintFamily(
    name="fixed tendon",
    order=500,
    label=("fixed tendon", "fixed tendons"),
    part=ForcePart.TENDON,
    places=_places,
    traits=IS_JOINT_TENDON,
    acts_always=True,
    has_own_force_jacobian=True,
    shares_force_jacobian="tendon",
    law=set_fixed_tendon_row,
    gradient=set_tendon_coefficients,
    coefficients=set_tendon_coefficients,
    report=report_fixed_tendon,
    entries=Entries(
        kind="tendon",
        names=lambda articulation: tuple(tendon.name for tendon in articulation.fixed_tendons),
        meaning="Fixed tendons, and the leaf of each spatial sub-tendon",
    ),
    kinds={
        "fixed_tendon": lambda articulation: len(articulation.fixed_tendons),
        "tendon_term": lambda articulation: sum(len(tendon.dofs) for tendon in articulation.fixed_tendons),
    },
    parameters=(
        _terms("coefficient", lambda tendon: tendon.coefficients),
        _terms("force_coefficient", lambda tendon: tendon.force_coefficients),
        _each("stiffness", lambda tendon: tendon.stiffness, NOT_NEGATIVE),
        _each("damping", lambda tendon: tendon.damping, NOT_NEGATIVE),
        _each("limit_stiffness", lambda tendon: tendon.limit_stiffness, NOT_NEGATIVE),
        _each("rest_length", lambda tendon: tendon.rest_length, FINITE),
        _each("offset", lambda tendon: tendon.offset, FINITE),
        _each("lower", lambda tendon: tendon.lower, LOWER),
        _each("upper", lambda tendon: tendon.upper, UPPER),
        _each("enabled", lambda tendon: float(tendon.enabled), SHARE),
    ),
    measures=(
        Measure(name="tendon_length", meaning="[m]"),
        Measure(name="tendon_speed", meaning="Rate of the length [m/s]"),
        Measure(name="tendon_force", meaning="[N]"),
        Measure(name="tendon_limit_state", meaning="-1 where the length is below its limits, 0 between them, 1 above"),
    ),
    counts={"fixed_tendons": lambda tree: tree.kinds["fixed_tendon"]},
    tables={"tendon_term": lambda tree: term_starts(tree, FIXED_TENDON)},
)

FIXED_TENDON_LIMIT = ConstraintFamily(
    name="limits of a fixed tendon",
    order=501,
    part=ForcePart.TENDON,
    places=_limit_places,
    traits=IS_JOINT_TENDON | ENDS | IS_RESOLVED,
    has_own_force_jacobian=True,
    shares_force_jacobian="tendon",
    law=set_fixed_tendon_limit_row,
    gradient=set_tendon_coefficients,
    entries=FIXED_TENDON.entries,
)

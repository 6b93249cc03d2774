"""Rows with bounds, for solvers that find contact impulses beside the steps of a tree.

    least <= J v+ + C z <= most,   |z| <= h force
of dry friction (0, 0), velocity limits (- v_max, v_max), hard limits, (lower - y) / h and (upper - y) / h, and soft
ones, C = 1 / (h (d + h k)), as if their springs were implicit. Of drives with a maximum force only J is written here.
Rows of OF_LINKS follow their own laws (`solver.held_response`). Friction that is proportional to loads is left out.
"""

import warp as wp

from warp_artic.constraints.distance import DISTANCE, SOFT_DISTANCE
from warp_artic.constraints.drive import DRIVE
from warp_artic.constraints.fixed_tendon import FIXED_TENDON_LIMIT
from warp_artic.constraints.joint_friction import FRICTION
from warp_artic.constraints.limit_projection import limit_range
from warp_artic.constraints.loop_drive import LOOP_DRIVE
from warp_artic.constraints.loop_friction import LOOP_FRICTION
from warp_artic.constraints.loop_limit import LOOP_LIMIT, SOFT_LOOP_LIMIT
from warp_artic.constraints.loop_velocity_limit import LOOP_VELOCITY_LIMIT
from warp_artic.constraints.rotation_coordinates import limit_at, set_rotation_jacobian, start_rotation
from warp_artic.constraints.rows import set_unit_jacobian
from warp_artic.constraints.soft_rotation_limit import soft_limit_gains, soft_limit_value
from warp_artic.constraints.spatial_tendon import SPATIAL_TENDON_LIMIT
from warp_artic.constraints.spring import free_speed
from warp_artic.constraints.velocity_limit import VELOCITY_LIMIT
from warp_artic.math.numbers import Real, add, any_positive, div, mul, neg, real, sub, where_positive  # noqa: F401 (operators)
from warp_artic.model.arrays import Array, ModelArrays, WorkArrays
from warp_artic.model.families import HOLDS, IS_SOFT_LIMIT, ON_ONE_DOF, has_trait
from warp_artic.model.row import Row

FRICTION_ORDER = wp.constant(FRICTION.order)
VELOCITY_LIMIT_ORDER = wp.constant(VELOCITY_LIMIT.order)
SIZE = wp.constant(4)
"""Numbers of a row: least, most, force, C."""
DRIVE_SIZE = wp.constant(3)
"""Numbers of a drive: start and slope of its law  f = start - slope v+,  and its largest force."""

OF_LINKS = frozenset(
    (DISTANCE, SOFT_DISTANCE, FIXED_TENDON_LIMIT, SPATIAL_TENDON_LIMIT, LOOP_LIMIT, SOFT_LOOP_LIMIT)
    + (LOOP_DRIVE, LOOP_FRICTION, LOOP_VELOCITY_LIMIT)
)
"""Families that may hold dofs against each other, with bounds."""


def bounded_rows(rows: tuple[Row, ...]) -> list[int]:
    """The numbers of such rows among all rows of a tree."""
    families = OF_LINKS | {DRIVE, FRICTION, VELOCITY_LIMIT}
    return [
        number
        for number, row in enumerate(rows)
        if row.family.is_stop or row.family in families or row.family.traits & IS_SOFT_LIMIT
    ]


@wp.func
def measure_bounds(
    model: ModelArrays,
    work: WorkArrays,
    rows: wp.array(dtype=int),
    bounds: Array,
    gradients: Array,
    pushes: Array,
    block: int,
    worker: int,
    h: Real,
):
    """Write the numbers of these rows, their J and P at the positions so far, by terms, but not of what may hold."""
    place = int(0)
    for number in range(rows.shape[0]):
        row = rows[number]
        first = model.row_term[row]
        if has_trait(model, row, ON_ONE_DOF):
            set_unit_jacobian(model, work, row, worker, h)
            gradients[place, block] = real(1.0, h)
            pushes[place, block] = real(1.0, h)
        elif not has_trait(model, row, HOLDS):
            dof = model.term_dof[first]
            phi = start_rotation(model, work, dof, dof - model.root_dofs, model.row_terms[row], worker)
            _y, J, _lower, _upper = limit_at(model, row, block, phi)
            set_rotation_jacobian(model, work, row, worker, J)
            for term in range(model.row_terms[row]):
                gradients[place + term, block] = work.J[first + term, worker]
                pushes[place + term, block] = work.J[first + term, worker]
        place += model.row_terms[row]
        if not has_trait(model, row, HOLDS):
            least, most, force, compliance = bounds_of(model, work, row, block, worker, h)
            write_bounds(bounds, number, block, least, most, force, compliance)


@wp.func
def write_bounds(bounds: Array, number: int, block: int, least: Real, most: Real, force: Real, compliance: Real):
    """Write the numbers of a row."""
    bounds[SIZE * number, block] = least
    bounds[SIZE * number + 1, block] = most
    bounds[SIZE * number + 2, block] = force
    bounds[SIZE * number + 3, block] = compliance


@wp.func
def bounds_of(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int, h: Real):
    """Least, most, force and C of a row."""
    zero = real(0.0, h)
    one = real(1.0, h)
    least = zero
    most = zero
    unbounded = one / zero
    force = unbounded
    compliance = zero
    if row >= model.stop_row:
        low, high = limit_range(model, work, row, block, worker)
        least = low / h
        most = high / h
    elif has_trait(model, row, IS_SOFT_LIMIT):
        k, d = soft_limit_gains(model, row, block)
        y, lower, upper = soft_limit_value(model, work.position, row, block, worker)
        slope = h * (d + h * k)
        compliance = where_positive(slope, one / where_positive(slope, slope, one), zero)
        least = where_positive(slope, neg(free_speed(y - lower, k, d, one, h)), neg(unbounded))
        most = where_positive(slope, free_speed(upper - y, k, d, one, h), unbounded)
    elif model.row_family[row] == FRICTION_ORDER:
        force = model.friction_static[model.row_item[row], block]
    elif model.row_family[row] == VELOCITY_LIMIT_ORDER:
        most = model.velocity_limit[model.row_item[row], block]
        least = neg(most)
    return least, most, force, compliance

"""A start that hard distances do not allow, moved to one next to it that they do.

With L, J the gradient of L, and M at the positions so far, by the smallest dq in terms of M with
    lower <= L + J dq <= upper,
and once more until no length is off by more than SETTLED, each time by at most TURN of any rotation. Joints stay within
their limits, loop joints close, and hard mimic joints stay as far off as they are. Velocities stay as they are: in the
step, what leads on beyond an end is taken as in an inelastic impact.

By the law of a step a violation would be taken back by a velocity, which lasts.
"""

import warp as wp

from warp_artic.constraints.distance import distance_ends, is_open, set_distance_gradient
from warp_artic.constraints.drive import clear_efforts, leave_drives_out
from warp_artic.constraints.limit_projection import SETTLED, limit_range, linearize_limit
from warp_artic.constraints.loop_joint import holds
from warp_artic.constraints.mimic import set_gears
from warp_artic.constraints.rows import (
    allow_every_velocity,
    set_unbounded_impulse,
    set_unit_jacobian,
    set_velocity_bounds,
)
from warp_artic.constraints.spatial_tendon import direction
from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
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
from warp_artic.model.arrays import ControlArrays, ModelArrays, StateArrays, WorkArrays
from warp_artic.model.families import HOLDS_POSITIONS, MOVES_DOFS_ALIKE, ON_ONE_DOF, has_trait
from warp_artic.model.islands import island_dof
from warp_artic.model.roots import pose_rows
from warp_artic.phases.integrate import move_joints
from warp_artic.phases.kinematics import place_links
from warp_artic.phases.link_frames import pose_links
from warp_artic.phases.link_positions import locate_links
from warp_artic.solver.close_loops import find_all_gaps, find_change, take_moved
from warp_artic.solver.plan import StepPlan, sweeps_of_step
from warp_artic.solver.velocities import factor, forget_responses

WAYS = wp.constant(12)
"""Times that a start is moved, at most."""

TURN = wp.constant(0.3)
"""How far a rotation is moved at a time, at most [rad]: of a length that is out of reach J says little."""


@wp.func
def reach_distances(
    model: ModelArrays,
    state: StateArrays,
    control: ControlArrays,
    work: WorkArrays,
    block: int,
    worker: int,
    h: Real,
    plan: StepPlan,
    solver: wp.Function,
):
    """Move the positions of islands that start with a hard distance beyond an end, and those of the state.

    Environments that have failed stay as they are.
    """
    one = real(1.0, h)
    starts = where_positive(state.failure[0, block], one - one, one - state.started[0, block])
    ways = int(0)
    while ways < WAYS and is_beyond(model, work, block, worker, starts):
        clear_efforts(model, work, worker, one - one)
        leave_drives_out(model, control, work, block, worker)
        factor(model, control, work, block, worker, h)
        forget_responses(model, work, worker)
        set_changes(model, work, block, worker, one)
        find_change(model, work, model.island_has_distances, worker, sweeps_of_step(plan), solver, one)
        bound_turns(model, work, worker)
        move_joints(model, work, work.end_position, work.end_root, block, worker, one, 0, 1)
        take_moved(model, work, model.island_has_distances, worker)
        ways += 1
    if ways > 0:
        for item in range(model.dof_count - model.root_dofs):
            state.joint_position[item, block] = work.position[item, worker]
        for k in range(pose_rows(model.root_dofs)):
            state.root_pose[k, block] = work.root[k, worker]


@wp.func
def is_beyond(model: ModelArrays, work: WorkArrays, block: int, worker: int, starts: Real):
    """Place the links and say whether there is anything to be moved; in which islands, `work.loop_is_open`."""
    zero = starts - starts
    for island in range(model.island_count):
        work.loop_is_open[island, worker] = zero
    if not any_positive(starts):
        return False
    place_links(model, work, work.position, work.root, work.v, block, worker)
    locate_links(model, work, work.root, block, worker)
    found = bool(False)
    for row in range(model.distance_row, model.distance_row + model.distance_rows):
        least, most = allowed_changes(model, work, row, block, worker)
        beyond = where_positive(maximum(least, neg(most)) - real(SETTLED, zero), starts, zero)
        if any_positive(beyond):
            found = bool(True)
            island = model.row_island[row]
            work.loop_is_open[island, worker] = maximum(work.loop_is_open[island, worker], beyond)
    return found


@wp.func
def allowed_changes(model: ModelArrays, work: WorkArrays, row: int, block: int, worker: int):
    """The least and the largest change of L that leads to what is allowed; any where a distance is not enabled."""
    item = model.row_item[row]
    x0, x1 = distance_ends(model, work, item, block, worker)
    length, _u = direction(x1 - x0)
    acts = is_open(length, model.distance_enabled[item, block])
    infinite = real(1.0, length) / real(0.0, length)
    least = where_positive(acts, model.distance_lower[item, block] - length, neg(infinite))
    most = where_positive(acts, model.distance_upper[item, block] - length, infinite)
    return least, most


@wp.func
def set_changes(model: ModelArrays, work: WorkArrays, block: int, worker: int, one: Real):
    """Write J of the rows that take part, and what they are to change by."""
    zero = one - one
    work.since_placed[0, worker] = zero
    if model.held_positions > 0:
        pose_links(model, work, work.position, work.root, work.v, block, worker)
        find_all_gaps(model, work, block, worker)
    for row in range(model.row_count):
        active = zero
        least = zero
        most = zero
        if has_trait(model, row, ON_ONE_DOF):
            # All rows on one dof have the response of the first of them, active or not.
            set_unit_jacobian(model, work, row, worker, one)
        if model.island_has_distances[model.row_island[row]] == 0:
            active = zero
        elif row >= model.distance_row and row < model.distance_row + model.distance_rows:
            set_distance_gradient(model, work, row, block, worker, one)
            least, most = allowed_changes(model, work, row, block, worker)
            active = one
        elif has_trait(model, row, HOLDS_POSITIONS):
            least = neg(work.loop_gap[row, worker])
            most = least
            active = holds(work, row, model.row_item[row] // 6, worker)
        elif has_trait(model, row, MOVES_DOFS_ALIKE):
            set_gears(model, work, row, block, worker, zero)
            mimic = model.row_item[row]
            hard = where_positive(model.mimic_natural_frequency[mimic, block], zero, one)
            active = hard * model.mimic_enabled[mimic, block]
        elif row >= model.stop_row:
            linearize_limit(model, work, row, block, worker)
            least, most = limit_range(model, work, row, block, worker)
            active = one
        work.active[row, worker] = active
        work.compliance[row, worker] = zero
        set_velocity_bounds(work, row, worker, least, most)
        allow_every_velocity(work, row, worker, active)
        set_unbounded_impulse(work, row, worker, one)


@wp.func
def bound_turns(model: ModelArrays, work: WorkArrays, worker: int):
    """Shorten the change of islands that would turn any joint further than by TURN."""
    zero = real(0.0, work.v_next[0, worker])
    most = real(TURN, zero)
    for island in range(model.island_count):
        if model.island_has_distances[island] == 1:
            largest = most
            for k in range(model.island_first[island], model.island_first[island + 1]):
                dof = island_dof(model, k)
                if model.dof_is_linear[dof] == 0:
                    largest = maximum(largest, absolute(work.v_next[dof, worker]))
            for k in range(model.island_first[island], model.island_first[island + 1]):
                dof = island_dof(model, k)
                work.v_next[dof, worker] = work.v_next[dof, worker] * (most / largest)

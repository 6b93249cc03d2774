"""What a change of held inputs adds to the accelerations that `solver.history` draws a curve through.

Efforts u on joints, forces F on links and accelerations of the base are held over a step, and may be others in the next
one. Such a jump is no part of a smooth curve, which would bend where it is. So the acceleration of the step before is
taken as it would have been with the inputs of this one, and a' and a'' stay as they are:
    a + d,   d = the response of the factors of this step to u - u_before, F - F_before and the change of the base
A change of u then adds h M^-1 of it to v+, and h/2 of that to q+, once and in full. That M^-1 u changes as links move
is on the curve.

The middle of a step is placed before M^-1 is known. There the inputs are expected to go on changing as they have, by
    e = d clamped between zero and the d of the step before,   per dof
so that velocity forces follow inputs that are samples of something smooth, and ignore a jump. Steps keep d and e, the
sum of their sizes, and the inputs; where no input changes, nothing else is done.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    mul,
    neg,
    real,
    sub,
    vec3,
    where_positive,
)
from warp_artic.math.spatial import cross
from warp_artic.model.arrays import (
    Array,
    ControlArrays,
    ModelArrays,
    StateArrays,
    WorkArrays,
    load_mat3,
    load_vec3,
    store_vec3,
)
from warp_artic.model.base import BASE_ANGULAR_RATE, BASE_LINEAR_RATE
from warp_artic.phases.impulse_response import pass_inward, pass_on
from warp_artic.solver.history import inputs_have_changed, nearer


@wp.func
def take_inputs(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int
):
    """Add d to the accelerations before, which had e; write d and e, and the inputs of this step, to the state."""
    dofs = model.dof_count
    started = state.started[0, block]
    zero = started - started
    changes = model.is_dual == 1 or any_positive(input_change(model, state, control, block, zero))
    has_changed = inputs_have_changed(model, state, block)
    if changes or has_changed:
        for dof in range(dofs):
            work.v_corrected[dof, worker] = zero
        if changes:
            respond_to_change(model, state, control, work, block, worker)
            keep_inputs(model, state, control, block)
        total = zero
        for dof in range(dofs):
            d = where_positive(started, work.v_corrected[dof, worker], zero)
            d_before = zero
            e = zero
            if has_changed:
                d_before = work.acceleration_history[3 * dofs + dof, worker]
                e = work.acceleration_history[4 * dofs + dof, worker]
            work.acceleration_history[dof, worker] = work.acceleration_history[dof, worker] + (d - e)
            e = nearer(d, d_before)
            keep(state.input_change, dof, d, state.failure[0, block], block)
            keep(state.input_change, dofs + dof, e, state.failure[0, block], block)
            total = total + absolute(d) + absolute(e)
        keep(state.input_change, 2 * dofs, total, state.failure[0, block], block)


@wp.func
def input_change(model: ModelArrays, state: StateArrays, control: ControlArrays, block: int, zero: Real):
    """The sum of the changes of all inputs; nobody looks at forces on links that have never been asked for."""
    change = zero
    for item in range(model.dof_count - model.root_dofs):
        change = change + absolute(control.joint_effort[item, block] - state.effort_before[item, block])
    if model.pushed[0] + model.is_dual > 0:
        for row in range(6 * model.link_count):
            change = change + absolute(control.link_external_force[row, block] - state.force_before[row, block])
    if model.base_moves == 1:
        for row in range(6):
            change = change + absolute(model.base[BASE_ANGULAR_RATE + row, block] - state.base_before[row, block])
    return change


@wp.func
def keep_inputs(model: ModelArrays, state: StateArrays, control: ControlArrays, block: int):
    """Write the inputs to the state."""
    failed = state.failure[0, block]
    for item in range(model.dof_count - model.root_dofs):
        keep(state.effort_before, item, control.joint_effort[item, block], failed, block)
    for row in range(6 * model.link_count):
        keep(state.force_before, row, control.link_external_force[row, block], failed, block)
    if model.base_moves == 1:
        for row in range(6):
            keep(state.base_before, row, model.base[BASE_ANGULAR_RATE + row, block], failed, block)


@wp.func
def keep(values: Array, row: int, value: Real, failed: Real, block: int):
    """Write a value of the state, but in environments that have failed."""
    values[row, block] = where_positive(failed, values[row, block], value)


@wp.func
def respond_to_change(
    model: ModelArrays, state: StateArrays, control: ControlArrays, work: WorkArrays, block: int, worker: int
):
    """Write d to `work.v_corrected`, from the factors of the step."""
    zero = real(0.0, work.D_inverse[0, worker])
    for dof in range(model.root_dofs):
        work.u[dof, worker] = zero
    for item in range(model.dof_count - model.root_dofs):
        work.u[model.root_dofs + item, worker] = control.joint_effort[item, block] - state.effort_before[item, block]
    for link in range(model.link_count):
        c = load_mat3(work.R_WM, 9 * link, worker) * load_vec3(model.link_center, 3 * link, block)
        F = load_vec3(control.link_external_force, 6 * link, block) - load_vec3(state.force_before, 6 * link, block)
        N = load_vec3(control.link_external_force, 6 * link + 3, block)
        N = N - load_vec3(state.force_before, 6 * link + 3, block) + cross(c, F)
        store_vec3(work.force, 3 * link, worker, neg(F))
        store_vec3(work.moment, 3 * link, worker, neg(N))
    for k in range(model.link_count):
        pass_inward(model, work, model.order[model.link_count - 1 - k], worker)
    angular = vec3(zero, zero, zero)
    linear = vec3(zero, zero, zero)
    if model.base_moves == 1:
        angular = load_vec3(model.base, BASE_ANGULAR_RATE, block) - load_vec3(state.base_before, 0, block)
        linear = load_vec3(model.base, BASE_LINEAR_RATE, block) - load_vec3(state.base_before, 3, block)
    store_vec3(work.angular, 3 * model.link_count, worker, angular)
    store_vec3(work.linear, 3 * model.link_count, worker, linear)
    pass_on(model, work, work.v_corrected, 0, worker)

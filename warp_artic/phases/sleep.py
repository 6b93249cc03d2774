"""A tree that is at rest for long enough falls asleep: it has no velocity, and stays as it is until something changes.

    e = (v_C.v_C + w.I_C w / m) / 2 < threshold of all links   [m^2/s^2]
A step whose end is so, with links where the step has placed them, is one at rest. After `model.sleep_steps` of them in
a row the tree sleeps, all links together; the trees of a mechanism sleep and wake as one. Falling asleep takes away
what velocity there is, without a force, and what steps remember of accelerations: a tree that wakes goes on as one that
is put there by `set_state`.

What wakes it is any change of its state or its control since the launch before, whoever wrote it: a drive target, a
joint effort, an external force. Loads that stay as they were when it came to rest do not. A change also counts while it
is falling asleep, so that nobody sleeps through the first steps after one. Changes of parameters count too
(`sim.launch.parameter_watch`).

What moves so slowly for so long is stopped, also where it would become faster later: a tree that stands on its head, or
falls in very little gravity. A step that reports forces is computed for a sleeping tree too: they are those of a step
from where it is, at rest; but its state stays, and it has no acceleration.
"""

import warp as wp

from warp_artic.math.numbers import (  # noqa: F401 (operators)
    Real,
    absolute,
    add,
    any_positive,
    div,
    is_finite,
    maximum,
    minimum,
    mul,
    real,
    sub,
    where_positive,
)
from warp_artic.math.spatial import cross, dot, transpose_mul
from warp_artic.model.arrays import (
    Array,
    ControlArrays,
    ModelArrays,
    StateArrays,
    WorkArrays,
    load_mat3,
    load_sym3,
    load_vec3,
)
from warp_artic.model.roots import pose_rows
from warp_artic.phases.integrate import find_asleep
from warp_artic.phases.link_velocities import move_base, move_link


@wp.func
def is_awake(model: ModelArrays, state: StateArrays, block: int):
    """Whether a step changes anything in a block: not where all its environments sleep or have failed."""
    still = maximum(find_asleep(model, state, block), state.failure[0, block])
    return any_positive(real(0.5, still) - maximum(still, model.padding[0, block]))


@wp.func
def wake_changed(model: ModelArrays, state: StateArrays, control: ControlArrays, block: int):
    """Begin to count again where state or control are not as they were left."""
    rest = state.steps_at_rest[0, block]
    if any_positive(rest):
        change = look(model, state, control, block, 0, rest)
        zero = rest - rest
        unchanged = where_positive(change, zero, is_finite(change))
        state.steps_at_rest[0, block] = where_positive(unchanged, rest, zero)


@wp.func
def remember(model: ModelArrays, state: StateArrays, control: ControlArrays, block: int):
    """Keep state and control as they are left, where a tree is at rest."""
    rest = state.steps_at_rest[0, block]
    if any_positive(rest):
        look(model, state, control, block, 1, rest)


@wp.func
def put_to_sleep(model: ModelArrays, state: StateArrays, control: ControlArrays, block: int):
    """Put to sleep the trees that are marked with more steps at rest than are ever counted."""
    rest = state.steps_at_rest[0, block]
    most = real(float(model.sleep_steps), rest)
    if any_positive(rest - most):
        look(model, state, control, block, 1, rest - most)
        state.steps_at_rest[0, block] = minimum(rest, most)


@wp.func
def look(model: ModelArrays, state: StateArrays, control: ControlArrays, block: int, keeps: int, chosen: Real):
    """The sum of the changes of what is watched, or, if `keeps` is 1, see all as it is now where `chosen` is positive.

    The arrays are those of `mechanisms.model_struct.WATCHED`, in its order.
    """
    joints = model.dof_count - model.root_dofs
    forces = 6 * model.link_count
    poses = pose_rows(model.root_dofs)
    first = int(0)
    change = look_at(model, state, state.joint_position, 0, first, joints, block, keeps, chosen)
    first += joints
    change = change + look_at(model, state, state.joint_velocity, 1, first, joints, block, keeps, chosen)
    first += joints
    change = change + look_at(model, state, state.root_pose, 2, first, poses, block, keeps, chosen)
    first += poses
    change = change + look_at(model, state, state.root_velocity, 3, first, model.root_dofs, block, keeps, chosen)
    first += model.root_dofs
    change = change + look_at(model, state, control.drive_position_target, 4, first, joints, block, keeps, chosen)
    first += joints
    change = change + look_at(model, state, control.drive_velocity_target, 5, first, joints, block, keeps, chosen)
    first += joints
    change = change + look_at(model, state, control.joint_effort, 6, first, joints, block, keeps, chosen)
    first += joints
    change = change + look_at(model, state, control.link_external_force, 7, first, forces, block, keeps, chosen)
    first += forces
    return change + look_at(model, state, state.loop_broken, 8, first, model.loop_count, block, keeps, chosen)


@wp.func
def look_at(
    model: ModelArrays,
    state: StateArrays,
    values: Array,
    place: int,
    first: int,
    rows: int,
    block: int,
    keeps: int,
    chosen: Real,
):
    """The same for one array, with its place among them and its first row in what was seen."""
    change = chosen - chosen
    if keeps == 1:
        for row in range(rows):
            seen = state.seen[first + row, block]
            state.seen[first + row, block] = where_positive(chosen, values[row, block], seen)
    elif model.watched[place] == 1:
        for row in range(rows):
            change = change + absolute(values[row, block] - state.seen[first + row, block])
    return change


@wp.func
def measure_calm(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """Write by how much a tree is calmer than it must be to fall asleep, while links are where a step placed them."""
    work.calm[0, worker] = energy_margin(model, work, block, worker)


@wp.func
def fall_asleep(model: ModelArrays, state: StateArrays, work: WorkArrays, block: int, worker: int):
    """Count the steps at rest, after a step to the positions and velocities in the work space."""
    before = find_asleep(model, state, block)
    rest = state.steps_at_rest[0, block]
    zero = rest - rest
    calm = where_positive(state.failure[0, block], zero, work.calm[0, worker])
    counted = minimum(rest + real(1.0, rest), real(float(model.sleep_steps), rest))
    counted = where_positive(calm, counted, zero)
    state.steps_at_rest[0, block] = where_positive(before, rest, counted)
    asleep = find_asleep(model, state, block)
    if any_positive(asleep):
        stand_still(model, state, block, asleep)


@wp.func
def energy_margin(model: ModelArrays, work: WorkArrays, block: int, worker: int):
    """By how much the energies of all links are below the threshold, at v+ where the step has placed the links.

    Zero or less where one is not; where that is so everywhere, the links further outward are not looked at.
    """
    spare = model.sleep_threshold[model.link_tree[model.order[0]], block]
    move_base(model, work, block, worker)
    k = int(0)
    while k < model.link_count and any_positive(spare):
        link = model.order[k]
        threshold = model.sleep_threshold[model.link_tree[link], block]
        spare = minimum(threshold - link_energy(model, work, link, block, worker), spare)
        k += 1
    return spare


@wp.func
def link_energy(model: ModelArrays, work: WorkArrays, link: int, block: int, worker: int):
    """The kinetic energy of a link by its mass, from the velocities of its parent; none of a massless link."""
    w, v_M = move_link(model, work, work.v, link, worker)
    R_WM = load_mat3(work.R_WM, 9 * link, worker)
    v_C = v_M + cross(w, R_WM * load_vec3(model.link_center, 3 * link, block))
    w_M = transpose_mul(R_WM, w)
    mass = model.link_mass[link, block]
    spin = dot(w_M, load_sym3(model.link_inertia, 6 * link, block) * w_M)
    energy = (dot(v_C, v_C) + spin / mass) * real(0.5, mass)
    return where_positive(mass, energy, mass)


@wp.func
def stand_still(model: ModelArrays, state: StateArrays, block: int, asleep: Real):
    """Take away velocities, and what is remembered of accelerations."""
    dofs = model.dof_count
    for dof in range(model.root_dofs):
        clear(state.root_velocity, dof, block, asleep)
    for item in range(dofs - model.root_dofs):
        clear(state.joint_velocity, item, block, asleep)
    forget_accelerations(model, state, block, asleep)


@wp.func
def forget_accelerations(model: ModelArrays, state: StateArrays, block: int, chosen: Real):
    """Take away what is remembered of accelerations and loads where `chosen` is positive: asleep, or failed."""
    dofs = model.dof_count
    for dof in range(dofs):
        clear(state.smooth_acceleration, dof, block, chosen)
        clear(state.acceleration_change, dof, block, chosen)
        clear(state.acceleration_change, dofs + dof, block, chosen)
    for row in range(model.free_motion * (2 * dofs + 1)):
        clear(state.input_change, row, block, chosen)
    for row in range(2 * model.island_count):
        clear(state.smoothness, row, block, chosen)
    for row in range(2 * model.bearing_rows):
        clear(state.bearing_impulse, row, block, chosen)
    clear(state.started, 0, block, chosen)


@wp.func
def clear(values: Array, row: int, block: int, chosen: Real):
    """Write zero where `chosen` is positive."""
    value = values[row, block]
    values[row, block] = where_positive(chosen, chosen - chosen, value)

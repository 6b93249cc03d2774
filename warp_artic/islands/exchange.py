"""Kernels that copy links, velocities and forces between groups of mechanisms and the arrays of a large stage.

All arrays of a group have a row for each number and a column for each environment of each mechanism.

A body without joints, of mass m and inertia I about its centre of mass, moves in a step h without contacts by
    v_free = v + h (g + F / m - linear damping v)
    w_free = w + h (K^-1 (N - w x I w) - angular damping w)
    M^-1 = diag(1 / m, K^-1),   K = I + h / 2 ([w] I - [I w])
with the force F and the moment N that are given, and I after half of the step: w x I w is that at the mean of w and w+,
whatever contacts do. What they push is told to expect it (`give_expectations`). Without a middle K = I, where it is.
Where w x I w may turn w by more than VIOLENT in the step (`turns_far`), K = I and w x I w is left out: it would feed
itself; where it turns w further it is implicit, as in the step (`solver.violent_spin`). What is nearly a ball may turn
by far more itself. After the step w is scaled down there so that  w^T I w <= w_c^T I_0 w_c,  with w_c as contacts have
left it and I_0 before the step: a step turns the moments of contacts and the inertia against each other, but contacts
take energy and never give any.

Mechanisms with joints make that step aside, and it is taken back.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.contact_detection import UNRESOLVED_SPIN
from warp_artic.islands.arrays import island_types
from warp_artic.islands.predicted_motion import prediction_functions

VIOLENT = wp.constant(0.2)
"""Turn of w in a step from which bodies may not gain energy by it [rad]."""
OPTIONS = {"enable_backward": False, "module": "unique"}


@cache
def exchange_functions(precision: str) -> SimpleNamespace:
    """The struct `Masses`, and functions that read arrays of a group."""
    types = island_types(precision)
    T, V, Mechanisms = types.T, types.V, types.Mechanisms
    Rows = wp.array2d(dtype=T)

    @wp.struct
    class Masses:
        """Parameters of a group."""

        link_center: Rows
        link_frame: Rows
        link_mass: Rows
        link_inertia: Rows
        linear_damping: Rows
        angular_damping: Rows
        gravity_scale: Rows
        gravity: Rows

    @wp.func
    def vector_at(rows: Rows, row: int, column: int):
        return V(rows[row, column], rows[row + 1, column], rows[row + 2, column])

    @wp.func
    def is_moving(failure: Rows, column: int):
        """1, and 0 of a mechanism that has stopped."""
        return wp.where(failure[0, column] > T(0.0), T(0.0), T(1.0))

    @wp.func
    def take_rest(failure: Rows, steps_at_rest: Rows, column: int, mechanisms: Mechanisms, mechanism: int):
        mechanisms.steps_at_rest[mechanism] = steps_at_rest[0, column]
        mechanisms.failed[mechanism] = failure[0, column]

    return SimpleNamespace(Masses=Masses, vector_at=vector_at, is_moving=is_moving, take_rest=take_rest)


@cache
def exchange_kernels(precision: str) -> SimpleNamespace:
    """The kernels of links, of joints that break, and of displacements."""
    types = island_types(precision)
    T, V, Bodies, JointFilters, Mechanisms = types.T, types.V, types.Bodies, types.JointFilters, types.Mechanisms
    Quat = wp.types.quaternion(dtype=T)
    Rows = wp.array2d(dtype=T)
    functions = exchange_functions(precision)
    Masses, vector_at = functions.Masses, functions.vector_at

    @wp.func
    def turning_mobility(masses: Masses, link: int, column: int):
        """The trace of I^-1, infinite where an axis has no inertia."""
        row = 6 * link
        xx, xy, xz = (
            masses.link_inertia[row, column],
            masses.link_inertia[row + 1, column],
            masses.link_inertia[row + 2, column],
        )
        yy, yz, zz = (
            masses.link_inertia[row + 3, column],
            masses.link_inertia[row + 4, column],
            masses.link_inertia[row + 5, column],
        )
        minors = (yy * zz - yz * yz) + (xx * zz - xz * xz) + (xx * yy - xy * xy)
        det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
        return wp.where(det > T(0.0), minors / det, T(wp.inf))

    @wp.kernel(**OPTIONS)
    def take_links(
        pose: Rows,
        velocity: Rows,
        masses: Masses,
        links: wp.array(dtype=int),
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        origins: wp.array(dtype=wp.vec3d),
        bodies: Bodies,
    ):
        """Where links are and how they move; nothing pushes them yet."""
        env, k = wp.tid()
        column = columns[k] + env
        link = links[k]
        b = env * bodies.count + numbers[k]
        row = 7 * link
        R = wp.quat_to_matrix(
            Quat(pose[row + 3, column], pose[row + 4, column], pose[row + 5, column], pose[row + 6, column])
        )
        center = vector_at(masses.link_center, 3 * link, column)
        frame = 12 * link
        arm = vector_at(masses.link_frame, frame + 9, column)
        for axis in range(3):
            arm += vector_at(masses.link_frame, frame + 3 * axis, column) * center[axis]
        x = origins[k] + wp.vec3d(vector_at(pose, row, column))
        bodies.position[b] = x
        bodies.axes[b] = R
        bodies.center[b] = x + wp.vec3d(R * arm)
        bodies.mobility[b] = T(3.0) / masses.link_mass[link, column]
        bodies.turning_mobility[b] = turning_mobility(masses, link, column)
        bodies.linear[b] = vector_at(velocity, 6 * link, column)
        bodies.angular[b] = vector_at(velocity, 6 * link + 3, column)
        bodies.force[b] = V()
        bodies.moment[b] = V()

    @wp.kernel(**OPTIONS)
    def take_broken(
        broken: Rows,
        rows: wp.array(dtype=int),
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        joint_filters: JointFilters,
    ):
        """Which joints of a group have broken that keep colliders apart."""
        env, k = wp.tid()
        joint_filters.broken[env * joint_filters.count + numbers[k]] = broken[rows[k], columns[k] + env]

    @wp.kernel(**OPTIONS)
    def give_forces(
        links: wp.array(dtype=int),
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        bodies: Bodies,
        mechanisms: Mechanisms,
        wrench: Rows,
        steps_at_rest: Rows,
    ):
        """Add the forces of contacts to those on links, and let what is of one island be at rest for as long."""
        env, k = wp.tid()
        column = columns[k] + env
        b = env * bodies.count + numbers[k]
        row = 6 * links[k]
        F = bodies.force[b]
        N = bodies.moment[b]
        for axis in range(3):
            wrench[row + axis, column] = wrench[row + axis, column] + F[axis]
            wrench[row + 3 + axis, column] = wrench[row + 3 + axis, column] + N[axis]
        steps_at_rest[0, column] = mechanisms.steps_at_rest[env * mechanisms.count + bodies.mechanism[numbers[k]]]

    @wp.kernel(**OPTIONS)
    def give_motion(
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        mechanisms: Mechanisms,
        motion: wp.array(dtype=T),
        given: Rows,
    ):
        """Write velocities or displacements of mechanisms, a row a dof."""
        env, k = wp.tid()
        column = columns[k] + env
        first = env * mechanisms.dof_count + mechanisms.first[numbers[k]]
        for dof in range(mechanisms.dofs[numbers[k]]):
            given[dof, column] = motion[first + dof]

    return SimpleNamespace(
        take_links=take_links, take_broken=take_broken, give_forces=give_forces, give_motion=give_motion
    )


@cache
def single_body_kernels(precision: str) -> SimpleNamespace:
    """The kernels `take_bodies` and `give_expectations`, before a step, and `keep_spins`, after it."""
    types = island_types(precision)
    T, V, M, Bodies, Mechanisms = types.T, types.V, types.M, types.Bodies, types.Mechanisms
    Quat = wp.types.quaternion(dtype=T)
    Rows = wp.array2d(dtype=T)
    functions, rotated = exchange_functions(precision), prediction_functions(precision).rotated
    Masses, vector_at = functions.Masses, functions.vector_at
    is_moving, take_rest = functions.is_moving, functions.take_rest

    @wp.func
    def inertia_of(masses: Masses, R: M, column: int):
        """The inertia of a body without joints about its centre of mass, world axes."""
        I = M(
            masses.link_inertia[0, column], masses.link_inertia[1, column], masses.link_inertia[2, column],
            masses.link_inertia[1, column], masses.link_inertia[3, column], masses.link_inertia[4, column],
            masses.link_inertia[2, column], masses.link_inertia[4, column], masses.link_inertia[5, column],
        )  # fmt: skip
        return R * I * wp.transpose(R)

    @wp.func
    def uneven_inertia(I: M):
        """That of `solver.violent_spin`."""
        trace = wp.trace(I)
        return T(13.5) * wp.ddot(I, I) / (trace * trace) - T(4.5)

    @wp.func
    def turns_far(masses: Masses, column: int, w: V, h: T):
        """Whether w x I w may turn w by more than VIOLENT in a step; by no more than the body turns itself."""
        uneven = wp.min(uneven_inertia(inertia_of(masses, wp.identity(3, dtype=T), column)), T(1.0))
        return wp.length_sq(w) * h * h * uneven > T(VIOLENT * VIOLENT)

    @wp.func
    def write_inverse(mechanisms: Mechanisms, row: int, I_inverse: M, m_inverse: T):
        """Write M^-1, six rows of six."""
        for axis in range(3):
            for other in range(3):
                mechanisms.inverse[row + 6 * axis + other] = T(0.0)
                mechanisms.inverse[row + 6 * axis + 3 + other] = T(0.0)
                mechanisms.inverse[row + 18 + 6 * axis + other] = T(0.0)
                mechanisms.inverse[row + 18 + 6 * axis + 3 + other] = I_inverse[axis, other]
            mechanisms.inverse[row + 7 * axis] = m_inverse

    @wp.kernel(**OPTIONS)
    def take_bodies(
        masses: Masses,
        failure: Rows,
        steps_at_rest: Rows,
        given: Rows,
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        own_bodies: wp.array(dtype=int),
        h: T,
        end_weight: T,
        bodies: Bodies,
        mechanisms: Mechanisms,
    ):
        """Of bodies without joints: M^-1, and velocities that they have after a step without contacts."""
        env, k = wp.tid()
        column = columns[k] + env
        mechanism = env * mechanisms.count + numbers[k]
        take_rest(failure, steps_at_rest, column, mechanisms, mechanism)
        mechanisms.is_pushed[mechanism] = 0
        b = env * bodies.count + own_bodies[k]
        first = env * mechanisms.dof_count + mechanisms.first[numbers[k]]
        row = env * mechanisms.inverse_count + mechanisms.inverse_first[numbers[k]]
        mass = masses.link_mass[0, column]
        w = bodies.angular[b]
        R = bodies.axes[b]
        is_resolved = not turns_far(masses, column, w, h)
        if is_resolved and end_weight < T(1.0):
            R = rotated(w * (T(0.5) * h)) * R
        I = inertia_of(masses, R, column)
        K = wp.skew(w) * I - wp.skew(I * w)
        I_inverse = wp.inverse(I)
        if is_resolved and end_weight < T(1.0):
            I_inverse = wp.inverse(I + K * (T(0.5) * h))
        v = bodies.linear[b]
        F = vector_at(given, 0, column)
        N = vector_at(given, 3, column)
        turns = wp.cross(w, I * w)
        if is_resolved:
            N -= turns  # beyond it would feed itself
        elif wp.length_sq(w) * h * h * uneven_inertia(I) > T(UNRESOLVED_SPIN):
            N -= I * wp.inverse(I + h * K) * turns
        g = vector_at(masses.gravity, 0, column) * masses.gravity_scale[0, column]
        v = v + (g + F / mass - v * masses.linear_damping[0, column]) * h
        w = w + (I_inverse * N - w * masses.angular_damping[0, column]) * h
        moves = is_moving(failure, column)
        for axis in range(3):
            mechanisms.start[first + axis] = bodies.linear[b][axis] * moves
            mechanisms.start[first + 3 + axis] = bodies.angular[b][axis] * moves
            mechanisms.displacement[first + axis] = T(0.0)
            mechanisms.displacement[first + 3 + axis] = T(0.0)
            mechanisms.end_weight[first + axis] = end_weight
            mechanisms.end_weight[first + 3 + axis] = end_weight
            mechanisms.free[first + axis] = v[axis] * moves
            mechanisms.free[first + 3 + axis] = w[axis] * moves
        write_inverse(mechanisms, row, I_inverse * moves, moves / mass)

    @wp.kernel(**OPTIONS)
    def give_expectations(
        masses: Masses,
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        h: T,
        mechanisms: Mechanisms,
        acceleration: Rows,
        change: Rows,
        smoothness: Rows,
    ):
        """Have the step of what contacts push find velocity forces at the velocities that they lead to."""
        env, k = wp.tid()
        column = columns[k] + env
        first = env * mechanisms.dof_count + mechanisms.first[numbers[k]]
        w = V()
        for axis in range(3):
            dof = first + 3 + axis
            w[axis] = wp.max(wp.abs(mechanisms.start[dof]), wp.abs(mechanisms.v[dof]))
        is_pushed = mechanisms.is_pushed[env * mechanisms.count + numbers[k]] == 1
        if is_pushed and not turns_far(masses, column, w, h):
            for dof in range(6):
                acceleration[dof, column] = (mechanisms.v[first + dof] - mechanisms.start[first + dof]) / h
            for row in range(change.shape[0]):
                change[row, column] = T(0.0)
            for row in range(smoothness.shape[0]):
                smoothness[row, column] = T(0.0)

    @wp.kernel(**OPTIONS)
    def keep_spins(
        masses: Masses,
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        own_bodies: wp.array(dtype=int),
        h: T,
        bodies: Bodies,
        mechanisms: Mechanisms,
        root_pose: Rows,
        root_velocity: Rows,
    ):
        """Let bodies whose w turns far have no more energy of rotation than contacts have left them."""
        env, k = wp.tid()
        column = columns[k] + env
        b = env * bodies.count + own_bodies[k]
        w = vector_at(root_velocity, 3, column)
        if turns_far(masses, column, w, h) and wp.length_sq(bodies.force[b]) + wp.length_sq(bodies.moment[b]) > T(0.0):
            first = env * mechanisms.dof_count + mechanisms.first[numbers[k]]
            left = V(mechanisms.v[first + 3], mechanisms.v[first + 4], mechanisms.v[first + 5])
            most = wp.dot(left, inertia_of(masses, bodies.axes[b], column) * left)
            R = wp.quat_to_matrix(
                Quat(root_pose[3, column], root_pose[4, column], root_pose[5, column], root_pose[6, column])
            )
            found = wp.dot(w, inertia_of(masses, R, column) * w)
            if found > most:
                for axis in range(3):
                    root_velocity[3 + axis, column] = w[axis] * wp.sqrt(most / found)

    return SimpleNamespace(take_bodies=take_bodies, give_expectations=give_expectations, keep_spins=keep_spins)


@cache
def tree_kernels(precision: str) -> SimpleNamespace:
    """The kernels of mechanisms with joints."""
    types = island_types(precision)
    T, Bodies, Mechanisms = types.T, types.Bodies, types.Mechanisms
    Rows = wp.array2d(dtype=T)
    functions = exchange_functions(precision)
    is_moving, take_rest = functions.is_moving, functions.take_rest

    @wp.kernel(**OPTIONS)
    def take_velocities(
        root_velocity: Rows,
        joint_velocity: Rows,
        failure: Rows,
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        root_dofs: int,
        ahead: T,
        mechanisms: Mechanisms,
        velocities: wp.array(dtype=T),
    ):
        """Generalized velocities of mechanisms with joints, and displacements by them in a time ahead."""
        env, k = wp.tid()
        column = columns[k] + env
        first = env * mechanisms.dof_count + mechanisms.first[numbers[k]]
        moves = is_moving(failure, column)
        for dof in range(mechanisms.dofs[numbers[k]]):
            if dof < root_dofs:
                velocities[first + dof] = root_velocity[dof, column] * moves
            else:
                velocities[first + dof] = joint_velocity[dof - root_dofs, column] * moves
            mechanisms.displacement[first + dof] = ahead * velocities[first + dof]

    @wp.kernel(**OPTIONS)
    def take_trees(
        free: Rows,
        held: Rows,
        square_root: Rows,
        has_square_root: Rows,
        jacobian: Rows,
        failure: Rows,
        steps_at_rest: Rows,
        started: Rows,
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        own_bodies: wp.array2d(dtype=int),
        jacobian_links: wp.array(dtype=int),
        end_weight: T,
        bodies: Bodies,
        mechanisms: Mechanisms,
    ):
        """Of mechanisms with joints: M^-1 of the trees and with what constraints hold, and the Jacobians of links."""
        env, k = wp.tid()
        column = columns[k] + env
        number = numbers[k]
        mechanism = env * mechanisms.count + number
        take_rest(failure, steps_at_rest, column, mechanisms, mechanism)
        dofs = mechanisms.dofs[number]
        row = env * mechanisms.inverse_count + mechanisms.inverse_first[number]
        moves = is_moving(failure, column)
        first = env * mechanisms.dof_count + mechanisms.first[number]
        mechanisms.has_square_root[mechanism] = int(has_square_root[0, column])
        for dof in range(dofs):
            mechanisms.mobility[first + dof] = free[dof * (dofs + 1), column] * moves
            mechanisms.end_weight[first + dof] = end_weight
            if mechanisms.is_held[mechanisms.first[number] + dof] == 1 and started[0, column] == T(0.0):
                mechanisms.end_weight[first + dof] = T(1.0)
            for other in range(dofs):
                entry = dof * dofs + other
                mechanisms.inverse[row + entry] = held[entry, column] * moves
                if mechanisms.has_square_root[mechanism] == 1:
                    mechanisms.square_root[row + entry] = square_root[entry, column] * moves
        for index in range(jacobian_links.shape[0]):
            source = 6 * dofs * jacobian_links[index]
            target = env * mechanisms.jacobian_count + bodies.jacobian[own_bodies[k, index]]
            for entry in range(6 * dofs):
                mechanisms.jacobian[target + entry] = jacobian[source + entry, column]

    @wp.kernel(**OPTIONS)
    def mark_touched(columns: wp.array(dtype=int), own_bodies: wp.array2d(dtype=int), bodies: Bodies, is_touched: Rows):
        """Mark the mechanisms with joints that contacts push in the step."""
        env, k = wp.tid()
        touched = T(0.0)
        for index in range(own_bodies.shape[1]):
            b = env * bodies.count + own_bodies[k, index]
            touched += wp.length_sq(bodies.force[b]) + wp.length_sq(bodies.moment[b])
        is_touched[0, columns[k] + env] = wp.where(touched > T(0.0), T(1.0), T(0.0))

    @wp.kernel(**OPTIONS)
    def keep_accelerations(
        columns: wp.array(dtype=int),
        numbers: wp.array(dtype=int),
        h: T,
        mechanisms: Mechanisms,
        is_touched: Rows,
        acceleration: Rows,
        change: Rows,
        input_change: Rows,
        smoothness: Rows,
    ):
        """Leave impacts out of the accelerations by which steps expect velocities, as steps leave out stops.

        They are those of the step, clamped between zero and those without contacts: what rests has none.
        """
        env, k = wp.tid()
        column = columns[k] + env
        if is_touched[0, column] > T(0.0):
            first = env * mechanisms.dof_count + mechanisms.first[numbers[k]]
            for dof in range(mechanisms.dofs[numbers[k]]):
                free = (mechanisms.free[first + dof] - mechanisms.start[first + dof]) / h
                found = acceleration[dof, column]
                acceleration[dof, column] = wp.clamp(found, wp.min(free, T(0.0)), wp.max(free, T(0.0)))
            for row in range(change.shape[0]):
                change[row, column] = T(0.0)
            for row in range(input_change.shape[0]):
                input_change[row, column] = T(0.0)
            for row in range(smoothness.shape[0]):
                smoothness[row, column] = T(0.0)

    return SimpleNamespace(
        take_velocities=take_velocities,
        take_trees=take_trees,
        mark_touched=mark_touched,
        keep_accelerations=keep_accelerations,
    )

"""The kernels of the dynamics suite, apart from those that step: a simulation that only steps does not compile them."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.bounded_rows import measure_bounds
from warp_artic.constraints.coefficients import set_coefficients
from warp_artic.kernels.launch import OPTIONS
from warp_artic.kernels.touched_energies import energy_kernels_for
from warp_artic.math.numbers import Numbers, add, mul, real  # noqa: F401 (operators)
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.arrays import load_vec3, store_vec3
from warp_artic.phases.composite_inertias import compose_inertias, find_center, set_centroidal_matrix, set_mass_matrix
from warp_artic.phases.impulse_response import respond_to_loads
from warp_artic.phases.integrate import load_state
from warp_artic.phases.inverse_dynamics import find_efforts
from warp_artic.phases.jacobian import TOGETHER, keep_vectors, set_jacobian
from warp_artic.phases.link_frames import orient_links
from warp_artic.phases.link_positions import locate_links
from warp_artic.solver.bare_dynamics import factor_bare, solve_accelerations
from warp_artic.solver.constraint_impulses import report_impulses, solve_impulses
from warp_artic.solver.held_response import hold_constraints, hold_drives, measure_held_rows
from warp_artic.solver.step import set_position_weight


@cache
def dynamics_kernels_for(numbers: Numbers) -> SimpleNamespace:
    """The kernels of a number type, compiled at their first launch."""
    structs = arrays_for(numbers)
    Model, State, Control, Work = structs.Model, structs.State, structs.Control, structs.Work
    Contacts = structs.Contacts
    Array = wp.array2d(dtype=numbers.real)

    @wp.kernel(**OPTIONS)
    def accelerate(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        columns: int,
        workers: int,
        joint_force: Array,
        vdot: Array,
    ):
        slot = wp.tid()
        for column in range(slot, columns, workers):
            solve_accelerations(model, state, control, work, joint_force, column, slot)
            for dof in range(model.dof_count):
                vdot[dof, column] = work.vdot[dof, slot]

    @wp.kernel(**OPTIONS)
    def efforts(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        columns: int,
        workers: int,
        with_gravity: int,
        with_velocities: int,
        acceleration: Array,
        effort: Array,
    ):
        slot = wp.tid()
        for column in range(slot, columns, workers):
            for dof in range(model.dof_count):
                work.u[dof, slot] = acceleration[dof, column]
            find_efforts(model, state, control, work, effort, column, slot, with_gravity, with_velocities)

    @wp.kernel(**OPTIONS)
    def solutions(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        columns: int,
        workers: int,
        count: int,
        right: Array,
        solution: Array,
    ):
        slot = wp.tid()
        for column in range(slot, columns, workers):
            for dof in range(model.dof_count):
                work.effort[dof, slot] = real(0.0, model.gravity[0, column])
            factor_bare(model, state, control, work, column, slot)
            for k in range(count):
                for dof in range(model.dof_count):
                    work.u[dof, slot] = right[dof * count + k, column]
                respond_to_loads(model, work, work.vdot, slot)
                for dof in range(model.dof_count):
                    solution[dof * count + k, column] = work.vdot[dof, slot]

    @wp.kernel(**OPTIONS)
    def held_solutions(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        columns: int,
        workers: int,
        has_middle: int,
        dt: wp.float64,
        free: Array,
        held: Array,
        yielding: Array,
        drives: Array,
        rows: wp.array(dtype=int),
        bounds: Array,
        gradients: Array,
        pushes: Array,
    ):
        slot = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for column in range(slot, columns, workers):
            hold_constraints(model, state, control, work, free, held, column, slot, has_middle, h)
            measure_held_rows(model, work, rows, bounds, gradients, pushes, column, slot, has_middle, h)
            set_position_weight(state, work, column, slot, has_middle)
            if model.driven == 1:
                hold_drives(model, control, work, held, yielding, drives, column, slot, has_middle, h)

    @wp.kernel(**OPTIONS)
    def bounds(
        model: Model,
        state: State,
        work: Work,
        columns: int,
        workers: int,
        dt: wp.float64,
        rows: wp.array(dtype=int),
        bounds: Array,
        gradients: Array,
        pushes: Array,
    ):
        slot = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for column in range(slot, columns, workers):
            load_state(model, state, work, column, slot)
            measure_bounds(model, work, rows, bounds, gradients, pushes, column, slot, h)

    @wp.kernel(**OPTIONS)
    def mass_matrix(
        model: Model,
        state: State,
        work: Work,
        columns: int,
        workers: int,
        with_armature: int,
        apart: wp.array(dtype=int),
        matrix: Array,
    ):
        slot = wp.tid()
        for column in range(slot, columns, workers):
            orient_links(model, state, work, column, slot)
            compose_inertias(model, work, column, slot)
            share = real(float(with_armature), model.gravity[0, column])
            set_mass_matrix(model, work, apart, matrix, column, slot, share)

    @wp.kernel(**OPTIONS)
    def jacobian(
        model: Model,
        state: State,
        work: Work,
        columns: int,
        workers: int,
        movers: wp.array2d(dtype=int),
        vectors: Array,
        matrix: Array,
    ):
        slot = wp.tid()
        for first in range(slot, columns, workers * TOGETHER):
            last = wp.min(first + workers * TOGETHER, columns)
            for column in range(first, last, workers):
                orient_links(model, state, work, column, slot)
                keep_vectors(model, work, vectors, column, slot)
            set_jacobian(model, vectors, movers, matrix, first, last, workers)

    @wp.kernel(**OPTIONS)
    def centroid(
        model: Model,
        state: State,
        work: Work,
        columns: int,
        workers: int,
        tree: int,
        origin: Array,
        center: Array,
        momentum: Array,
        matrix: Array,
    ):
        slot = wp.tid()
        for column in range(slot, columns, workers):
            load_state(model, state, work, column, slot)
            orient_links(model, state, work, column, slot)
            locate_links(model, work, work.root, column, slot)
            compose_inertias(model, work, column, slot)
            place = find_center(model, work, tree, column, slot)
            store_vec3(center, 0, column, place + load_vec3(origin, 0, column))
            set_centroidal_matrix(model, work, matrix, column, slot, place)
            for row in range(6):
                total = real(0.0, place.x)
                for dof in range(model.dof_count):
                    if model.link_tree[model.dof_link[dof]] == tree:
                        total = total + matrix[row * model.dof_count + dof, column] * work.v[dof, slot]
                momentum[row, column] = total

    @wp.kernel(**OPTIONS)
    def coefficients(
        model: Model,
        state: State,
        contacts: Contacts,
        work: Work,
        columns: int,
        workers: int,
        count: int,
        matrix: Array,
    ):
        slot = wp.tid()
        for column in range(slot, columns, workers):
            set_coefficients(model, state, contacts, work, matrix, column, slot, count)

    @wp.kernel(**OPTIONS)
    def impulses(
        model: Model,
        state: State,
        control: Control,
        contacts: Contacts,
        work: Work,
        columns: int,
        workers: int,
        count: int,
        dt: wp.float64,
        joint_force: Array,
        impulse: Array,
        effort: Array,
        vdot: Array,
        residual: Array,
    ):
        slot = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for column in range(slot, columns, workers):
            solve_impulses(model, state, control, contacts, work, joint_force, column, slot, h)
            report_impulses(model, contacts, work, impulse, effort, vdot, residual, count, column, slot, h)

    return SimpleNamespace(
        accelerate=accelerate,
        efforts=efforts,
        solutions=solutions,
        held_solutions=held_solutions,
        bounds=bounds,
        mass_matrix=mass_matrix,
        jacobian=jacobian,
        centroid=centroid,
        coefficients=coefficients,
        impulses=impulses,
        **vars(energy_kernels_for(numbers)),
    )

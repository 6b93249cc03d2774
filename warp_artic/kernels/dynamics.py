"""The kernels of the dynamics suite, apart from those that step: a simulation that only steps does not compile them."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.bounded_rows import measure_bounds
from warp_artic.constraints.coefficients import set_coefficients
from warp_artic.kernels.launch import OPTIONS
from warp_artic.kernels.touched_energies import energy_kernels_for
from warp_artic.math.numbers import Numbers, add, mul, real  # noqa: F401 (operators)
from warp_artic.math.subnormals import flush_subnormals, restore_subnormals
from warp_artic.mechanisms.structs import arrays_for
from warp_artic.model.arrays import load_vec3, store_vec3
from warp_artic.phases.composite_inertias import compose_inertias, find_center, set_centroidal_matrix, set_mass_matrix
from warp_artic.phases.impulse_response import respond_to_loads, write_square_root
from warp_artic.phases.integrate import load_state
from warp_artic.phases.inverse_dynamics import find_efforts
from warp_artic.phases.jacobian import TOGETHER, keep_vectors, set_jacobian
from warp_artic.phases.link_frames import orient_links
from warp_artic.phases.link_positions import locate_links
from warp_artic.solver.bare_dynamics import factor_bare, solve_accelerations
from warp_artic.solver.constraint_impulses import report_impulses, solve_impulses
from warp_artic.solver.held_response import are_drives_steady, hold_constraints, hold_drives, measure_held_rows
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
        blocks: int,
        workers: int,
        joint_force: Array,
        vdot: Array,
    ):
        worker = wp.tid()
        for block in range(worker, blocks, workers):
            solve_accelerations(model, state, control, work, joint_force, block, worker)
            for dof in range(model.dof_count):
                vdot[dof, block] = work.vdot[dof, worker]

    @wp.kernel(**OPTIONS)
    def efforts(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        blocks: int,
        workers: int,
        with_gravity: int,
        with_velocities: int,
        acceleration: Array,
        effort: Array,
    ):
        worker = wp.tid()
        for block in range(worker, blocks, workers):
            for dof in range(model.dof_count):
                work.u[dof, worker] = acceleration[dof, block]
            find_efforts(model, state, control, work, effort, block, worker, with_gravity, with_velocities)

    @wp.kernel(**OPTIONS)
    def solutions(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        blocks: int,
        workers: int,
        count: int,
        right: Array,
        solution: Array,
    ):
        worker = wp.tid()
        control_register = flush_subnormals()
        for block in range(worker, blocks, workers):
            for dof in range(model.dof_count):
                work.effort[dof, worker] = real(0.0, model.gravity[0, block])
            factor_bare(model, state, control, work, block, worker)
            for k in range(count):
                for dof in range(model.dof_count):
                    work.u[dof, worker] = right[dof * count + k, block]
                respond_to_loads(model, work, work.vdot, worker)
                for dof in range(model.dof_count):
                    solution[dof * count + k, block] = work.vdot[dof, worker]
        restore_subnormals(control_register)

    @wp.kernel(**OPTIONS)
    def square_roots(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        blocks: int,
        workers: int,
        square_root: Array,
        has_square_root: Array,
    ):
        worker = wp.tid()
        control_register = flush_subnormals()
        for block in range(worker, blocks, workers):
            for dof in range(model.dof_count):
                work.effort[dof, worker] = real(0.0, model.gravity[0, block])
            factor_bare(model, state, control, work, block, worker)
            write_square_root(model, work, square_root, block, worker)
            has_square_root[0, block] = real(1.0, model.gravity[0, block])
        restore_subnormals(control_register)

    @wp.kernel(**OPTIONS)
    def held_solutions(
        model: Model,
        state: State,
        control: Control,
        work: Work,
        blocks: int,
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
        square_root: Array,
        has_square_root: Array,
        has_holding_rows: int,
    ):
        worker = wp.tid()
        control_register = flush_subnormals()
        h = real(dt, model.gravity[0, 0])
        for block in range(worker, blocks, workers):
            hold_constraints(model, state, control, work, free, held, block, worker, has_middle, h)
            measure_held_rows(model, work, rows, bounds, gradients, pushes, block, worker, has_middle, h)
            set_position_weight(state, work, block, worker, has_middle)
            if model.driven == 1:
                hold_drives(model, control, work, held, yielding, drives, block, worker, has_middle, h)
                if has_holding_rows == 0:
                    write_square_root(model, work, square_root, block, worker)
                    has_square_root[0, block] = are_drives_steady(model, work, block, worker, h)
        restore_subnormals(control_register)

    @wp.kernel(**OPTIONS)
    def bounds(
        model: Model,
        state: State,
        work: Work,
        blocks: int,
        workers: int,
        dt: wp.float64,
        rows: wp.array(dtype=int),
        bounds: Array,
        gradients: Array,
        pushes: Array,
    ):
        worker = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for block in range(worker, blocks, workers):
            load_state(model, state, work, block, worker)
            measure_bounds(model, work, rows, bounds, gradients, pushes, block, worker, h)

    @wp.kernel(**OPTIONS)
    def mass_matrix(
        model: Model,
        state: State,
        work: Work,
        blocks: int,
        workers: int,
        with_armature: int,
        apart: wp.array(dtype=int),
        matrix: Array,
    ):
        worker = wp.tid()
        for block in range(worker, blocks, workers):
            orient_links(model, state, work, block, worker)
            compose_inertias(model, work, block, worker)
            share = real(float(with_armature), model.gravity[0, block])
            set_mass_matrix(model, work, apart, matrix, block, worker, share)

    @wp.kernel(**OPTIONS)
    def jacobian(
        model: Model,
        state: State,
        work: Work,
        blocks: int,
        workers: int,
        movers: wp.array2d(dtype=int),
        vectors: Array,
        matrix: Array,
    ):
        worker = wp.tid()
        for first in range(worker, blocks, workers * TOGETHER):
            last = wp.min(first + workers * TOGETHER, blocks)
            for block in range(first, last, workers):
                orient_links(model, state, work, block, worker)
                keep_vectors(model, work, vectors, block, worker)
            set_jacobian(model, vectors, movers, matrix, first, last, workers)

    @wp.kernel(**OPTIONS)
    def centroid(
        model: Model,
        state: State,
        work: Work,
        blocks: int,
        workers: int,
        tree: int,
        origin: Array,
        center: Array,
        momentum: Array,
        matrix: Array,
    ):
        worker = wp.tid()
        for block in range(worker, blocks, workers):
            load_state(model, state, work, block, worker)
            orient_links(model, state, work, block, worker)
            locate_links(model, work, work.root, block, worker)
            compose_inertias(model, work, block, worker)
            place = find_center(model, work, tree, block, worker)
            store_vec3(center, 0, block, place + load_vec3(origin, 0, block))
            set_centroidal_matrix(model, work, matrix, block, worker, place)
            for row in range(6):
                total = real(0.0, place.x)
                for dof in range(model.dof_count):
                    if model.link_tree[model.dof_link[dof]] == tree:
                        total = total + matrix[row * model.dof_count + dof, block] * work.v[dof, worker]
                momentum[row, block] = total

    @wp.kernel(**OPTIONS)
    def coefficients(
        model: Model,
        state: State,
        contacts: Contacts,
        work: Work,
        blocks: int,
        workers: int,
        count: int,
        matrix: Array,
    ):
        worker = wp.tid()
        for block in range(worker, blocks, workers):
            set_coefficients(model, state, contacts, work, matrix, block, worker, count)

    @wp.kernel(**OPTIONS)
    def impulses(
        model: Model,
        state: State,
        control: Control,
        contacts: Contacts,
        work: Work,
        blocks: int,
        workers: int,
        count: int,
        dt: wp.float64,
        joint_force: Array,
        impulse: Array,
        effort: Array,
        vdot: Array,
        residual: Array,
    ):
        worker = wp.tid()
        h = real(dt, model.gravity[0, 0])
        for block in range(worker, blocks, workers):
            solve_impulses(model, state, control, contacts, work, joint_force, block, worker, h)
            report_impulses(model, contacts, work, impulse, effort, vdot, residual, count, block, worker, h)

    return SimpleNamespace(
        accelerate=accelerate,
        efforts=efforts,
        solutions=solutions,
        square_roots=square_roots,
        held_solutions=held_solutions,
        bounds=bounds,
        mass_matrix=mass_matrix,
        jacobian=jacobian,
        centroid=centroid,
        coefficients=coefficients,
        impulses=impulses,
        **vars(energy_kernels_for(numbers)),
    )

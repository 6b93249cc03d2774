"""The kernels that bring A, forces and tensions of the inverse together; sums in A are those of its few entries."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math.double_double import dd_gather, renormal
from warp_artic.meshes.tension_law import law_functions


@cache
def inverse_kernels(dim: int, real: type) -> SimpleNamespace:
    """The kernels for meshes of a dimension and numbers of a precision; all but A and forces is float64."""
    vec = wp.types.vector(length=dim, dtype=real)
    wide = wp.types.vector(length=dim, dtype=wp.float64)
    module = wp.get_module(f"{__name__}_{dim}_{real.__name__}")
    wp.set_module_options({"cpu_compiler_flags": "-march=native"}, module=module)
    laws = law_functions(wp.float64)

    @wp.func
    def widen(v: vec):
        result = wide()
        for axis in range(wp.static(dim)):
            result[axis] = wp.float64(v[axis])
        return result

    @wp.func
    def gather(total: wp.vec2d, a: vec, b: vec, root_weight: wide):
        # The weight is shared, so that A^T W A is exactly that of one matrix W^(1/2) A.
        for axis in range(wp.static(dim)):
            root = root_weight[axis]
            total = dd_gather(total, root * wp.float64(a[axis]), root * wp.float64(b[axis]))
        return total

    @wp.kernel(module=module, enable_backward=False)
    def fill_gram(
        column: wp.array2d(dtype=vec),
        column_point: wp.array(dtype=int),
        root_weight: wp.array(dtype=wide),
        penalty: wp.array(dtype=wp.float64),
        first: wp.array(dtype=int),
        second: wp.array(dtype=int),
        entries_start: wp.array(dtype=int),
        first_entry: wp.array(dtype=int),
        second_entry: wp.array(dtype=int),
        gram: wp.array3d(dtype=wp.vec2d),
    ):
        # A^T W A + lambda of two tendons that share nodes
        env, pair = wp.tid()
        total = wp.vec2d()
        for number in range(entries_start[pair], entries_start[pair + 1]):
            a = first_entry[number]
            total = gather(total, column[env, a], column[env, second_entry[number]], root_weight[column_point[a]])
        if first[pair] == second[pair]:
            total = dd_gather(total, penalty[first[pair]], wp.float64(1.0))
        gram[env, first[pair], second[pair]] = renormal(total[0], total[1])

    @wp.kernel(module=module, enable_backward=False)
    def project_forces(
        column: wp.array2d(dtype=vec),
        column_start: wp.array(dtype=int),
        column_point: wp.array(dtype=int),
        node_count: int,
        root_weight: wp.array(dtype=wide),
        forces: wp.array2d(dtype=vec),
        projected: wp.array2d(dtype=wp.vec2d),
    ):
        # A^T W f
        env, tendon = wp.tid()
        total = wp.vec2d()
        for entry in range(column_start[tendon], column_start[tendon + 1]):
            node = column_point[entry]
            if node < node_count:
                total = gather(total, column[env, entry], forces[env, node], root_weight[node])
        projected[env, tendon] = renormal(total[0], total[1])

    @wp.kernel(module=module, enable_backward=False)
    def measure_rest(
        column: wp.array2d(dtype=vec),
        column_tendon: wp.array(dtype=int),
        entries_start: wp.array(dtype=int),
        entries: wp.array(dtype=int),
        forces: wp.array2d(dtype=vec),
        tension: wp.array2d(dtype=wp.float64),
        rest: wp.array2d(dtype=wide),
    ):
        # f - A tau
        env, node = wp.tid()
        total = widen(forces[env, node])
        for number in range(entries_start[node], entries_start[node + 1]):
            entry = entries[number]
            total -= widen(column[env, entry]) * tension[env, column_tendon[entry]]
        rest[env, node] = total

    @wp.kernel(module=module, enable_backward=False)
    def measure_gradient(
        column: wp.array2d(dtype=vec),
        column_start: wp.array(dtype=int),
        column_point: wp.array(dtype=int),
        node_count: int,
        weight: wp.array(dtype=wide),
        penalty: wp.array(dtype=wp.float64),
        rest: wp.array2d(dtype=wide),
        tension: wp.array2d(dtype=wp.float64),
        gradient: wp.array2d(dtype=wp.float64),
    ):
        # A^T W (f - A tau) - lambda tau, which is -dU/dtau
        env, tendon = wp.tid()
        total = -penalty[tendon] * tension[env, tendon]
        for entry in range(column_start[tendon], column_start[tendon + 1]):
            node = column_point[entry]
            if node < node_count:
                total += wp.dot(widen(column[env, entry]), wp.cw_mul(weight[node], rest[env, node]))
        gradient[tendon, env] = total

    @wp.kernel(module=module, enable_backward=False)
    def sum_objective(
        weight: wp.array(dtype=wide),
        penalty: wp.array(dtype=wp.float64),
        rest: wp.array2d(dtype=wide),
        tension: wp.array2d(dtype=wp.float64),
        objective: wp.array(dtype=wp.float64),
    ):
        # U = 1/2 |f - A tau|_W^2 + 1/2 lambda tau^2
        env = wp.tid()
        total = wp.float64(0.0)
        for node in range(rest.shape[1]):
            total += wp.dot(rest[env, node], wp.cw_mul(weight[node], rest[env, node]))
        for tendon in range(tension.shape[1]):
            total += penalty[tendon] * tension[env, tendon] * tension[env, tendon]
        objective[env] = wp.float64(0.5) * total

    @wp.kernel(module=module, enable_backward=False)
    def apply_laws(
        law: wp.array(dtype=int),
        smoothing: wp.array(dtype=real),
        stiffness: wp.array2d(dtype=real),
        change: wp.array2d(dtype=wp.float64),
        tension: wp.array2d(dtype=wp.float64),
        slope: wp.array2d(dtype=wp.float64),
        curvature: wp.array2d(dtype=wp.float64),
    ):
        env, tendon = wp.tid()
        u = change[tendon, env]
        K = wp.float64(stiffness[tendon, env])
        eps = wp.float64(smoothing[tendon])
        tension[env, tendon] = laws.tension(law[tendon], u, K, eps, wp.float64(0.0))
        slope[env, tendon] = laws.slope(law[tendon], u, K, eps)
        curvature[env, tendon] = laws.curvature(law[tendon], u, K, eps)

    @wp.kernel(module=module, enable_backward=False)
    def find_changes(
        law: wp.array(dtype=int),
        smoothing: wp.array(dtype=real),
        stiffness: wp.array2d(dtype=real),
        tension: wp.array2d(dtype=wp.float64),
        change: wp.array2d(dtype=wp.float64),
    ):
        env, tendon = wp.tid()
        K = wp.float64(stiffness[tendon, env])
        change[tendon, env] = laws.change(law[tendon], tension[tendon, env], K, wp.float64(smoothing[tendon]))

    @wp.kernel(module=module, enable_backward=False)
    def fill_hessian(
        gram: wp.array3d(dtype=wp.vec2d),
        slope: wp.array2d(dtype=wp.float64),
        curvature: wp.array2d(dtype=wp.float64),
        gradient: wp.array2d(dtype=wp.float64),
        hessian: wp.array3d(dtype=wp.float64),
    ):
        # tau'' dU/dtau on the diagonal + tau' A^T A tau'
        env, row, column = wp.tid()
        total = gram[env, wp.min(row, column), wp.max(row, column)][0] * slope[env, row] * slope[env, column]
        if row == column:
            total -= curvature[env, row] * gradient[row, env]
        hessian[env, row, column] = total

    return SimpleNamespace(
        wide=wide,
        fill_gram=fill_gram,
        project_forces=project_forces,
        measure_rest=measure_rest,
        measure_gradient=measure_gradient,
        sum_objective=sum_objective,
        apply_laws=apply_laws,
        find_changes=find_changes,
        fill_hessian=fill_hessian,
    )

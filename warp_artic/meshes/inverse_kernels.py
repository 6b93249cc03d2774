"""The kernels that bring A, forces and tensions of the inverse together; sums in A are those of its few entries."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math.double_double import dd_gather, renormal
from warp_artic.math.processor import native


@cache
def inverse_kernels(dim: int, real: type) -> SimpleNamespace:
    """The kernels for meshes of a dimension and numbers of a precision; all but A and forces is float64."""
    vec = wp.types.vector(length=dim, dtype=real)
    wide = wp.types.vector(length=dim, dtype=wp.float64)
    module = wp.get_module(f"{__name__}_{dim}_{real.__name__}")
    wp.set_module_options({"cpu_compiler_flags": native("")}, module=module)

    @wp.struct
    class ForceMatrix:
        column: wp.array2d(dtype=vec)
        start: wp.array(dtype=int)
        point: wp.array(dtype=int)
        tendon: wp.array(dtype=int)
        node_start: wp.array(dtype=int)
        node_entries: wp.array(dtype=int)
        node_count: int
        weight: wp.array(dtype=wide)
        root_weight: wp.array(dtype=wide)
        penalty: wp.array(dtype=wp.float64)

    @wp.struct
    class SharedNodes:
        first: wp.array(dtype=int)
        second: wp.array(dtype=int)
        start: wp.array(dtype=int)
        first_entry: wp.array(dtype=int)
        second_entry: wp.array(dtype=int)

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
    def fill_gram(A: ForceMatrix, pairs: SharedNodes, gram: wp.array3d(dtype=wp.vec2d)):
        # A^T W A + lambda of two tendons that share nodes
        env, pair = wp.tid()
        total = wp.vec2d()
        for number in range(pairs.start[pair], pairs.start[pair + 1]):
            a = pairs.first_entry[number]
            b = pairs.second_entry[number]
            total = gather(total, A.column[env, a], A.column[env, b], A.root_weight[A.point[a]])
        first = pairs.first[pair]
        second = pairs.second[pair]
        if first == second:
            total = dd_gather(total, A.penalty[first], wp.float64(1.0))
        gram[env, first, second] = renormal(total[0], total[1])

    @wp.kernel(module=module, enable_backward=False)
    def project_forces(A: ForceMatrix, forces: wp.array2d(dtype=vec), projected: wp.array2d(dtype=wp.vec2d)):
        # A^T W f
        env, tendon = wp.tid()
        total = wp.vec2d()
        for entry in range(A.start[tendon], A.start[tendon + 1]):
            node = A.point[entry]
            if node < A.node_count:
                total = gather(total, A.column[env, entry], forces[env, node], A.root_weight[node])
        projected[env, tendon] = renormal(total[0], total[1])

    @wp.kernel(module=module, enable_backward=False)
    def measure_rest(
        A: ForceMatrix,
        forces: wp.array2d(dtype=vec),
        tension: wp.array2d(dtype=wp.float64),
        rest: wp.array2d(dtype=wide),
    ):
        # f - A tau
        env, node = wp.tid()
        total = widen(forces[env, node])
        for number in range(A.node_start[node], A.node_start[node + 1]):
            entry = A.node_entries[number]
            total -= widen(A.column[env, entry]) * tension[env, A.tendon[entry]]
        rest[env, node] = total

    @wp.kernel(module=module, enable_backward=False)
    def measure_gradient(
        A: ForceMatrix,
        rest: wp.array2d(dtype=wide),
        tension: wp.array2d(dtype=wp.float64),
        gradient: wp.array2d(dtype=wp.float64),
    ):
        # A^T W (f - A tau) - lambda tau, which is -dU/dtau
        env, tendon = wp.tid()
        total = -A.penalty[tendon] * tension[env, tendon]
        for entry in range(A.start[tendon], A.start[tendon + 1]):
            node = A.point[entry]
            if node < A.node_count:
                total += wp.dot(widen(A.column[env, entry]), wp.cw_mul(A.weight[node], rest[env, node]))
        gradient[tendon, env] = total

    @wp.kernel(module=module, enable_backward=False)
    def sum_objective(
        A: ForceMatrix,
        rest: wp.array2d(dtype=wide),
        tension: wp.array2d(dtype=wp.float64),
        objective: wp.array(dtype=wp.float64),
    ):
        # U = 1/2 |f - A tau|_W^2 + 1/2 lambda tau^2
        env = wp.tid()
        total = wp.float64(0.0)
        for node in range(rest.shape[1]):
            total += wp.dot(rest[env, node], wp.cw_mul(A.weight[node], rest[env, node]))
        for tendon in range(tension.shape[1]):
            total += A.penalty[tendon] * tension[env, tendon] * tension[env, tendon]
        objective[env] = wp.float64(0.5) * total

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
        total = gram[env, wp.min(row, column), wp.max(row, column)][0] * (slope[row, env] * slope[column, env])
        if row == column:
            total -= curvature[row, env] * gradient[row, env]
        hessian[env, row, column] = total

    return SimpleNamespace(
        wide=wide,
        ForceMatrix=ForceMatrix,
        SharedNodes=SharedNodes,
        fill_gram=fill_gram,
        project_forces=project_forces,
        measure_rest=measure_rest,
        measure_gradient=measure_gradient,
        sum_objective=sum_objective,
        fill_hessian=fill_hessian,
    )

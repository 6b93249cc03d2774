"""Solves K x = b for the free nodes of every environment by preconditioned conjugate gradients, in one launch.

A block of threads has one environment, on a CPU one thread, so that an environment stops on its own and its result is
bitwise that of it alone. Sums are in a fixed order, of components apart where they would wait for each other. Carried
nodes move with the coordinates of `meshes.carried`. What makes few iterations do is in `meshes.preconditioner`.
"""

from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.carried import CarriedNodes, carried_struct
from warp_artic.meshes.coarse_space import group_runs, node_groups, rigid_motions
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.preconditioner import preconditioner, system_struct
from warp_artic.meshes.types import OPTIONS, MeshTypes, is_wide, zeros_to_read_beyond


@cache
def row_product(types: MeshTypes, wide: bool) -> wp.Function:
    """A row of blocks from `first` to before `end`, times a vector of an environment.

    On a CPU a row of a block is one lane vector of 2 or 4 numbers, which reads beyond blocks and vectors of 3.
    """
    dim, Vec, Mat = types.dim, types.vec, types.mat
    if not wide:

        @wp.func
        def row_product(
            values: wp.array2d(dtype=Mat),
            vectors: wp.array2d(dtype=Vec),
            columns: wp.array(dtype=int),
            env: int,
            first: int,
            end: int,
        ):
            found = Vec()
            for slot in range(first, end):
                found += values[env, slot] * vectors[env, columns[slot]]
            return found

        return row_product

    scalar, size = ("float", 4) if types.real is wp.float32 else ("double", 8)

    @wp.func_native(
        f"""
        typedef {scalar} V __attribute__((ext_vector_type({2 if dim == 2 else 4}), aligned({size})));
        const auto* blocks = wp::address(values, env, 0);
        const auto* vector = wp::address(vectors, env, 0);
        V sums[{dim}] = {{}};
        for (int slot = first; slot < end; ++slot)
            for (int i = 0; i < {dim}; ++i)
                sums[i] += *(const V*)blocks[slot].data[i] * *(const V*)&vector[columns.data[slot]];
        wp::vec_t<{dim}, {scalar}> found;
        for (int i = 0; i < {dim}; ++i) {{
            found[i] = sums[i][0];
            for (int j = 1; j < {dim}; ++j) found[i] += sums[i][j];
        }}
        return found;"""
    )
    def row_product(
        values: wp.array2d(dtype=Mat),
        vectors: wp.array2d(dtype=Vec),
        columns: wp.array(dtype=int),
        env: int,
        first: int,
        end: int,
    ) -> Vec: ...

    return row_product


@cache
def solver_kernels(types: MeshTypes, wide: bool):
    """The kernels `prepare`, which makes the preconditioner, and `solve`; rows of blocks are in lanes where `wide`."""
    row_times = row_product(types, wide)
    Real, Vec = types.real, types.vec
    System, Carried = system_struct(types), carried_struct(types)
    shared = preconditioner(types, wide)
    known_system, precondition = shared.known_system, shared.precondition
    block_sum, sum_of = shared.block_sum, shared.sum_of

    @wp.func
    def take_along(system: System, carried: Carried, env: int, lane: int, lanes: int):
        """Give carried nodes the direction of their coordinates, which are written."""
        block_sum(Real(0.0))
        for c in range(lane, carried.nodes.shape[0], lanes):
            direction = Vec()
            for k in range(carried.stiffness.shape[1]):
                direction += system.carried_direction[env, k] * carried.shapes[env, k, c]
            system.direction[env, carried.nodes[c]] = direction
        block_sum(Real(0.0))

    @wp.kernel(**OPTIONS)
    def solve(
        given: System,
        carried: Carried,
        b: wp.array2d(dtype=Vec),
        tolerance: wp.array(dtype=Real),
        most: int,
        asked: wp.array(dtype=int),
        lanes: int,
        x: wp.array2d(dtype=Vec),
        iterations: wp.array(dtype=int),
        slope: wp.array(dtype=Real),
        is_convex: wp.array(dtype=int),
    ):
        thread = wp.tid()
        system = known_system(given)
        env = thread // lanes
        lane = thread % lanes
        if asked[env] > 0:
            nodes = system.node_count
            coordinates = carried.stiffness.shape[1]
            square = Real(0.0)
            for node in range(lane, nodes, lanes):
                force = b[env, node]
                if system.is_held[node] > 0:
                    force = Vec()
                x[env, node] = Vec()
                system.residual[env, node] = force
                square += wp.dot(force, force)
            for k in range(lane, coordinates, lanes):
                system.carried_residual[env, k] = carried.force[env, k]
                system.carried_solution[env, k] = Real(0.0)
                square += carried.force[env, k] * carried.force[env, k]
            square = block_sum(square)
            target = tolerance[env] * tolerance[env] * square
            rz = precondition(system, carried, env, lane, lanes)
            for k in range(lane, coordinates, lanes):
                system.carried_direction[env, k] = system.carried_step[env, k]
            for node in range(lane, nodes, lanes):
                if system.is_held[node] > 0:
                    system.step[env, node] = Vec()
                system.direction[env, node] = system.step[env, node]
            take_along(system, carried, env, lane, lanes)
            count = int(0)
            convex = int(1)
            while count < most and square > target and square > Real(0.0):
                curvature = Real(0.0)
                curvatures = Vec()
                for node in range(lane, nodes, lanes):
                    if system.is_held[node] == 0 or carried.place[node] >= 0:
                        first = system.starts[node]
                        end = system.starts[node + 1]
                        product = row_times(system.values, system.direction, system.columns, env, first, end)
                        system.product[env, node] = product
                        curvatures += wp.cw_mul(product, system.direction[env, node])
                for k in range(lane, coordinates, lanes):
                    along = system.carried_direction[env, k]
                    curvature += carried.stiffness[env, k] * along * along
                curvature = block_sum(curvature + sum_of(curvatures))
                count += 1
                length = rz / curvature
                if curvature <= Real(0.0):
                    # Downhill without end: as far as the first guess goes, or stay with what there is.
                    length = wp.where(count == 1, Real(1.0), Real(0.0))
                square = Real(0.0)
                squares = Vec()
                for node in range(lane, nodes, lanes):
                    if system.is_held[node] == 0:
                        x[env, node] = x[env, node] + length * system.direction[env, node]
                        residual = system.residual[env, node] - length * system.product[env, node]
                        system.residual[env, node] = residual
                        squares += wp.cw_mul(residual, residual)
                for k in range(lane, coordinates, lanes):
                    along = system.carried_direction[env, k]
                    system.carried_solution[env, k] = system.carried_solution[env, k] + length * along
                    change = carried.stiffness[env, k] * along
                    for c in range(carried.nodes.shape[0]):
                        change += wp.dot(carried.shapes[env, k, c], system.product[env, carried.nodes[c]])
                    rest = system.carried_residual[env, k] - length * change
                    system.carried_residual[env, k] = rest
                    square += rest * rest
                square = block_sum(square + sum_of(squares))
                if curvature <= Real(0.0):
                    square = Real(0.0)
                    convex = 0
                if square > target:
                    before = rz
                    rz = precondition(system, carried, env, lane, lanes)
                    share = rz / before
                    for node in range(lane, nodes, lanes):
                        if system.is_held[node] == 0:
                            system.direction[env, node] = system.step[env, node] + share * system.direction[env, node]
                    for k in range(lane, coordinates, lanes):
                        along = system.carried_step[env, k] + share * system.carried_direction[env, k]
                        system.carried_direction[env, k] = along
                    take_along(system, carried, env, lane, lanes)
            total = Real(0.0)
            for node in range(lane, nodes, lanes):
                if system.is_held[node] == 0:
                    total += wp.dot(x[env, node], b[env, node])
            for k in range(lane, coordinates, lanes):
                total += system.carried_solution[env, k] * carried.force[env, k]
            for c in range(lane, carried.nodes.shape[0], lanes):
                way = Vec()
                for k in range(coordinates):
                    way += system.carried_solution[env, k] * carried.shapes[env, k, c]
                x[env, carried.nodes[c]] = way
            total = block_sum(total)
            if lane == 0:
                iterations[env] = count
                slope[env] = total
                is_convex[env] = convex

    return shared.prepare, solve


class ConjugateGradients:
    """The matrices of the environments of a mesh, and solutions with them.

    Args:
        mesh: Whose pattern the matrices have.
        is_held: Nodes that do not move, shape (N).
        coarse: Whether the preconditioner has a coarse space.
        carried: Nodes that others carry, which count as held.
    """

    def __init__(self, mesh: ElasticMesh, is_held: np.ndarray, coarse: bool, carried: CarriedNodes):
        self._mesh = mesh
        self._carried = carried.arrays
        environments, device, types, pattern = mesh.environments, mesh.device, mesh.types, mesh.pattern
        points = np.asarray(mesh.body.points, float)
        nodes = len(points)
        groups = node_groups(points, ~is_held if coarse else np.zeros(nodes, bool))
        count = len(groups.starts) - 1
        arms = np.zeros_like(points)
        for first, end in zip(groups.starts, groups.starts[1:]):
            members = groups.nodes[first:end]
            arms[members] = points[members] - points[members].mean(axis=0)
        system = system_struct(types)()

        def upload(values, dtype=int):
            return wp.array(np.ascontiguousarray(values), dtype=dtype, device=device)

        def zeros(*shape, dtype=types.real):
            return wp.zeros(shape, dtype=dtype, device=device)

        system.starts, system.columns = upload(pattern.starts), upload(pattern.columns)
        system.diagonal = upload(pattern.slots(np.arange(nodes), np.arange(nodes)))
        system.is_held = upload(is_held.astype(np.int32))
        system.values = mesh.matrix()
        system.inverse = zeros(environments, nodes, dtype=types.mat)
        system.group, system.group_starts, system.group_nodes = map(upload, (groups.group, groups.starts, groups.nodes))
        runs = group_runs(groups.group, pattern)
        system.run_starts, system.run_group, system.run_slot_starts, system.run_slots = map(upload, runs)
        system.arms = upload(arms, types.vec)
        size = count * rigid_motions(types).count + carried.most
        system.node_count, system.group_count, system.coarse_size = nodes, count, size
        system.coarse = zeros(environments, size, size)
        system.coarse_diagonal = zeros(environments, size)
        system.coarse_force = zeros(environments, size)
        system.coarse_motion = zeros(environments, size)
        for name in ("residual", "step", "direction", "product"):
            setattr(system, name, zeros_to_read_beyond(environments, nodes, types.vec, device))
        for name in ("carried_residual", "carried_step", "carried_direction", "carried_solution"):
            setattr(system, name, zeros(environments, carried.most))
        self._system = system
        self.values = system.values
        """To be filled before `prepare`, shape (environments, pattern.count)."""
        self.solution = zeros(environments, nodes, dtype=types.vec)
        """Zero at nodes that are held; carried ones go along."""
        self.carried_solution = system.carried_solution
        """Of the coordinates of carried nodes, shape (environments, K)."""
        self.iterations = zeros(environments, dtype=int)
        self.slope = zeros(environments)
        """Of the last solution, x b."""
        self.is_convex = zeros(environments, dtype=int)
        """Whether the last solution met no direction without stiffness."""
        self._tolerance = zeros(environments)
        self._prepare, self._solve = solver_kernels(types, is_wide(device))

    def prepare(self, asked: wp.array) -> None:
        """Make the preconditioner of the values there are, in the environments that are asked for."""
        self._launch(self._prepare, asked, self._mesh.lanes)

    def solve(self, b: wp.array, tolerance: np.ndarray, most: int, asked: wp.array) -> None:
        """Solve with forces of nodes and of coordinates of carried ones, to a residual relative to them."""
        host = self._mesh.host
        host.write(self._tolerance, tolerance, where=host.read(asked) > 0)
        outputs = self.solution, self.iterations, self.slope, self.is_convex
        self._launch(self._solve, b, self._tolerance, most, asked, self._mesh.lanes, *outputs)

    def _launch(self, kernel: wp.Kernel, *inputs) -> None:
        mesh = self._mesh
        dim = mesh.environments * mesh.lanes
        mesh.launches.launch(kernel, dim, [self._system, self._carried, *inputs], mesh.lanes)

"""Solves K x = b for the free nodes of every environment by preconditioned conjugate gradients, in one launch.

A block of threads has one environment; on a CPU one thread has one, or a group of as many as a number has lanes. Each
stops on its own: what a solution has come to is kept while others of its group go on, and its result is bitwise that of
it alone. Sums are in a fixed order, of components apart where they would wait for each other. Carried nodes move with
the coordinates of `meshes.carried`. What makes few iterations do is in `meshes.preconditioner`.
"""

from functools import cache

import numpy as np
import warp as wp

from warp_artic.math.numbers import any_positive, real, where_positive
from warp_artic.meshes.carried import CarriedNodes, carried_struct
from warp_artic.meshes.coarse_space import group_runs, node_groups, rigid_motions
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.preconditioner import preconditioner, system_struct
from warp_artic.meshes.system_numbers import LaneBodies, add, div, mul, sub, system_numbers  # noqa: F401 - operators
from warp_artic.meshes.types import OPTIONS, MeshTypes, is_wide, zeros_to_read_beyond


@cache
def row_product(types: MeshTypes, wide: bool, in_lanes: bool) -> wp.Function:
    """A row of blocks from `first` to before `end`, times a vector of an environment, or of several in lanes.

    On a CPU a row of a block of one environment is one lane vector of 2 or 4 numbers, which reads beyond blocks and
    vectors of 3. Products of an entry of blocks are added up apart, and then those of a row, as they are in lanes.
    """
    dim, Vec, Mat = types.dim, types.vec, types.mat
    if in_lanes:
        return _row_product_in_lanes(types)
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

    statements = f"""
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
    return _native_row_product(statements, Vec, Mat)


def _row_product_in_lanes(types: MeshTypes) -> wp.Function:
    dim, numbers = types.dim, system_numbers(types, True)
    Vec, Mat = numbers.vec, numbers.mat
    statements = f"""
        const auto* blocks = wp::address(values, env, 0);
        const auto* vector = wp::address(vectors, env, 0);
        V sums[{dim * dim}] = {{}};
        for (int slot = first; slot < end; ++slot) {{
            const V* block = (const V*)&blocks[slot];
            const V* v = (const V*)&vector[columns.data[slot]];
            for (int i = 0; i < {dim}; ++i)
                for (int j = 0; j < {dim}; ++j) sums[i * {dim} + j] += block[i * {dim} + j] * v[j];
        }}
        for (int i = 0; i < {dim}; ++i) {{
            R[i] = sums[i * {dim}];
            for (int j = 1; j < {dim}; ++j) R[i] += sums[i * {dim} + j];
        }}"""

    return _native_row_product(LaneBodies(numbers.lanes, types.real).rows(dim, statements), Vec, Mat)


def _native_row_product(statements: str, Vec: type, Mat: type) -> wp.Function:
    @wp.func_native(statements)
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
def solver_kernels(types: MeshTypes, wide: bool, in_lanes: bool = False):
    """The kernels `prepare`, which makes the preconditioner, and `solve`; rows of blocks are in lanes where `wide`,
    environments where `in_lanes`."""
    row_times = row_product(types, wide, in_lanes)
    numbers = system_numbers(types, in_lanes)
    Real, NodeVec, T, Vec = types.real, types.vec, numbers.real, numbers.vec
    dot, cw_mul, sum_of, choose = numbers.dot, numbers.cw_mul, numbers.sum_of, numbers.choose
    flag_of, number_of, number_at = numbers.flag_of, numbers.number_of, numbers.number_at
    vector_at, shape_at = numbers.vector_at, numbers.shape_at
    set_number_of, set_count_of = numbers.set_number_of, numbers.set_count_of
    set_number_at, set_vector_at, put = numbers.set_number_at, numbers.set_vector_at, numbers.put
    System, Carried = system_struct(types, in_lanes), carried_struct(types)
    shared = preconditioner(types, wide, in_lanes)
    known_system, precondition, block_sum = shared.known_system, shared.precondition, shared.block_sum

    @wp.func
    def take_along(system: System, carried: Carried, env: int, lane: int, lanes: int):
        """Give carried nodes the direction of their coordinates, which are written."""
        block_sum(T(Real(0.0)))
        for c in range(lane, carried.nodes.shape[0], lanes):
            direction = Vec()
            for k in range(carried.stiffness.shape[1]):
                phi = shape_at(carried.shapes, system.environments, env, k, c)
                direction = direction + system.carried_direction[env, k] * phi
            system.direction[env, carried.nodes[c]] = direction
        block_sum(T(Real(0.0)))

    @wp.func
    def begin(system: System, carried: Carried, b: wp.array2d(dtype=NodeVec), env: int, lane: int, lanes: int):
        """Start at zero; gives |b|^2."""
        count = system.environments
        square = T(Real(0.0))
        for node in range(lane, system.node_count, lanes):
            force = Vec()
            if system.is_held[node] == 0:
                force = vector_at(b, count, env, node)
            system.found[env, node] = Vec()
            system.residual[env, node] = force
            square = square + dot(force, force)
        for k in range(lane, carried.stiffness.shape[1], lanes):
            force_k = number_at(carried.force, count, env, k)
            system.carried_residual[env, k] = force_k
            system.carried_found[env, k] = T(Real(0.0))
            square = square + force_k * force_k
        return block_sum(square)

    @wp.func
    def curvature_of(system: System, carried: Carried, env: int, lane: int, lanes: int):
        """K d of the direction d, and d K d."""
        curvature = T(Real(0.0))
        curvatures = Vec()
        for node in range(lane, system.node_count, lanes):
            if system.is_held[node] == 0 or carried.place[node] >= 0:
                first = system.starts[node]
                end = system.starts[node + 1]
                product = row_times(system.blocks, system.direction, system.columns, env, first, end)
                system.product[env, node] = product
                curvatures = curvatures + cw_mul(product, system.direction[env, node])
        for k in range(lane, carried.stiffness.shape[1], lanes):
            along = system.carried_direction[env, k]
            curvature = curvature + number_at(carried.stiffness, system.environments, env, k) * along * along
        return block_sum(curvature + sum_of(curvatures))

    @wp.func
    def advance(system: System, carried: Carried, going: T, length: T, env: int, lane: int, lanes: int):
        """Go along the direction in environments that go on; gives |r|^2."""
        count = system.environments
        square = T(Real(0.0))
        squares = Vec()
        for node in range(lane, system.node_count, lanes):
            if system.is_held[node] == 0:
                before = system.found[env, node]
                put(system.found, env, node, choose(going, before + length * system.direction[env, node], before))
                rest = system.residual[env, node]
                residual = choose(going, rest - length * system.product[env, node], rest)
                put(system.residual, env, node, residual)
                squares = squares + cw_mul(residual, residual)
        for k in range(lane, carried.stiffness.shape[1], lanes):
            along = system.carried_direction[env, k]
            found = system.carried_found[env, k]
            system.carried_found[env, k] = where_positive(going, found + length * along, found)
            change = number_at(carried.stiffness, count, env, k) * along
            for c in range(carried.nodes.shape[0]):
                change = change + dot(shape_at(carried.shapes, count, env, k, c), system.product[env, carried.nodes[c]])
            own = system.carried_residual[env, k]
            own = where_positive(going, own - length * change, own)
            system.carried_residual[env, k] = own
            square = square + own * own
        return block_sum(square + sum_of(squares))

    @wp.func
    def turn(system: System, carried: Carried, going: T, share: T, env: int, lane: int, lanes: int):
        """The next direction, of environments that go on."""
        for node in range(lane, system.node_count, lanes):
            if system.is_held[node] == 0:
                before = system.direction[env, node]
                put(system.direction, env, node, choose(going, system.step[env, node] + share * before, before))
        for k in range(lane, carried.stiffness.shape[1], lanes):
            along = system.carried_direction[env, k]
            along = where_positive(going, system.carried_step[env, k] + share * along, along)
            system.carried_direction[env, k] = along
        take_along(system, carried, env, lane, lanes)

    @wp.func
    def finish(
        system: System,
        carried: Carried,
        where: T,
        b: wp.array2d(dtype=NodeVec),
        x: wp.array2d(dtype=NodeVec),
        carried_x: wp.array2d(dtype=Real),
        env: int,
        lane: int,
        lanes: int,
    ):
        """Give the solution to the environments that asked; gives x b."""
        count = system.environments
        total = T(Real(0.0))
        for node in range(lane, system.node_count, lanes):
            found = system.found[env, node]
            if system.is_held[node] == 0:
                total = total + dot(found, vector_at(b, count, env, node))
            set_vector_at(x, count, env, node, where, found)
        for k in range(lane, carried.stiffness.shape[1], lanes):
            along = system.carried_found[env, k]
            total = total + along * number_at(carried.force, count, env, k)
            set_number_at(carried_x, count, env, k, where, along)
        block_sum(T(Real(0.0)))
        for c in range(lane, carried.nodes.shape[0], lanes):
            way = Vec()
            for k in range(carried.stiffness.shape[1]):
                way = way + system.carried_found[env, k] * shape_at(carried.shapes, count, env, k, c)
            set_vector_at(x, count, env, carried.nodes[c], where, way)
        return block_sum(total)

    @wp.kernel(**OPTIONS)
    def solve(
        given: System,
        carried: Carried,
        b: wp.array2d(dtype=NodeVec),
        tolerance: wp.array(dtype=Real),
        most: int,
        asked: wp.array(dtype=int),
        lanes: int,
        x: wp.array2d(dtype=NodeVec),
        carried_x: wp.array2d(dtype=Real),
        iterations: wp.array(dtype=int),
        slope: wp.array(dtype=Real),
        is_convex: wp.array(dtype=int),
    ):
        thread = wp.tid()
        system = known_system(given)
        env = thread // lanes
        lane = thread % lanes
        count = system.environments
        where = flag_of(asked, count, env)
        if any_positive(where):
            zero = where - where
            one = real(1.0, where)
            square = begin(system, carried, b, env, lane, lanes)
            relative = number_of(tolerance, count, env)
            target = relative * relative * square
            rz = precondition(system, carried, env, lane, lanes)
            for k in range(lane, carried.stiffness.shape[1], lanes):
                system.carried_direction[env, k] = system.carried_step[env, k]
            for node in range(lane, system.node_count, lanes):
                if system.is_held[node] > 0:
                    system.step[env, node] = Vec()
                system.direction[env, node] = system.step[env, node]
            take_along(system, carried, env, lane, lanes)
            made = zero
            convex = one
            left = where_positive(square, square - target, zero)
            going = where_positive(left, where, zero)
            turns = int(0)
            while turns < most and any_positive(going):
                curvature = curvature_of(system, carried, env, lane, lanes)
                made = made + going
                # Downhill without end: as far as the first guess goes, or stay with what there is.
                length = zero
                if turns == 0:
                    length = one
                length = where_positive(curvature, rz / curvature, length)
                square = where_positive(going, advance(system, carried, going, length, env, lane, lanes), square)
                is_bent = where_positive(curvature, one, zero)
                convex = where_positive(going, convex * is_bent, convex)
                going = where_positive(square - target, going * is_bent, zero)
                turns += 1
                if any_positive(going):
                    after = precondition(system, carried, env, lane, lanes)
                    turn(system, carried, going, after / rz, env, lane, lanes)
                    rz = where_positive(going, after, rz)
            total = finish(system, carried, where, b, x, carried_x, env, lane, lanes)
            if lane == 0:
                set_count_of(iterations, count, env, where, made)
                set_number_of(slope, count, env, where, total)
                set_count_of(is_convex, count, env, where, convex)

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
        in_lanes, rows = mesh.in_lanes, mesh.groups
        numbers = system_numbers(types, in_lanes)
        system = system_struct(types, in_lanes)()

        def upload(values, dtype=int):
            return wp.array(np.ascontiguousarray(values), dtype=dtype, device=device)

        def zeros(*shape, dtype=types.real):
            return wp.zeros(shape, dtype=dtype, device=device)

        system.starts, system.columns = upload(pattern.starts), upload(pattern.columns)
        system.diagonal = upload(pattern.slots(np.arange(nodes), np.arange(nodes)))
        system.is_held = upload(is_held.astype(np.int32))
        self.values = mesh.matrix()
        """To be filled before `prepare`."""
        system.blocks = self.values.blocks
        system.inverse = zeros(rows, nodes, dtype=numbers.mat)
        system.group, system.group_starts, system.group_nodes = map(upload, (groups.group, groups.starts, groups.nodes))
        runs = group_runs(groups.group, pattern)
        system.run_starts, system.run_group, system.run_slot_starts, system.run_slots = map(upload, runs)
        system.arms = upload(arms, types.vec)
        size = count * rigid_motions(types, in_lanes).count + carried.most
        system.environments, system.node_count = environments, nodes
        system.group_count, system.coarse_size = count, size
        system.coarse = zeros(rows, size, size, dtype=numbers.real)
        for name in ("coarse_diagonal", "coarse_force", "coarse_motion"):
            setattr(system, name, zeros(rows, size, dtype=numbers.real))
        for name in ("found", "residual", "step", "direction", "product"):
            setattr(system, name, zeros_to_read_beyond(rows, nodes, numbers.vec, device))
        for name in ("carried_found", "carried_residual", "carried_step", "carried_direction"):
            setattr(system, name, zeros(rows, carried.most, dtype=numbers.real))
        self._system = system
        self.solution = zeros(environments, nodes, dtype=types.vec)
        """Zero at nodes that are held; carried ones go along."""
        self.carried_solution = zeros(environments, carried.most)
        """Of the coordinates of carried nodes, shape (environments, K)."""
        self.iterations = zeros(environments, dtype=int)
        self.slope = zeros(environments)
        """Of the last solution, x b."""
        self.is_convex = zeros(environments, dtype=int)
        """Whether the last solution met no direction without stiffness."""
        self._tolerance = zeros(environments)
        self._prepare, self._solve = solver_kernels(types, is_wide(device), in_lanes)

    def prepare(self, asked: wp.array) -> None:
        """Make the preconditioner of the values there are, in the environments that are asked for."""
        self._launch(self._prepare, asked, self._mesh.lanes)

    def solve(self, b: wp.array, tolerance: np.ndarray, most: int, asked: wp.array) -> None:
        """Solve with forces of nodes and of coordinates of carried ones, to a residual relative to them."""
        host = self._mesh.host
        host.write(self._tolerance, tolerance, where=host.read(asked) > 0)
        outputs = self.solution, self.carried_solution, self.iterations, self.slope, self.is_convex
        self._launch(self._solve, b, self._tolerance, most, asked, self._mesh.lanes, *outputs)

    def _launch(self, kernel: wp.Kernel, *inputs) -> None:
        mesh = self._mesh
        dim = mesh.groups * mesh.lanes
        mesh.launches.launch(kernel, dim, [self._system, self._carried, *inputs], mesh.lanes)

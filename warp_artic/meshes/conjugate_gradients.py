"""Solves K x = b for the free nodes of every environment by preconditioned conjugate gradients, in one launch.

A block of threads has one environment, on a CPU one thread, so that an environment stops on its own and its result is
bitwise that of it alone. Sums are in a fixed order. The preconditioner is the inverse of the diagonal blocks and, where
that is asked for, the coarse space of `coarse_space`. Carried nodes move with the coordinates of `carried`; these are
preconditioned likewise, by what they have on the diagonal and as further motions of the coarse space.
"""

from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.carried import CarriedNodes, carried_struct
from warp_artic.meshes.coarse_space import DROPPED, node_groups, rigid_motions
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.types import OPTIONS, MeshTypes, put


@cache
def system_struct(types: MeshTypes):
    """The struct of the matrices and the work space of a solver."""
    Real, Vec, Mat = types.real, types.vec, types.mat

    @wp.struct
    class System:
        starts: wp.array(dtype=int)
        columns: wp.array(dtype=int)
        diagonal: wp.array(dtype=int)
        """Slot of the diagonal block of each node."""
        is_held: wp.array(dtype=int)
        """Of each node."""
        values: wp.array2d(dtype=Mat)
        inverse: wp.array2d(dtype=Mat)
        """Of the diagonal blocks."""
        group: wp.array(dtype=int)
        group_starts: wp.array(dtype=int)
        group_nodes: wp.array(dtype=int)
        arms: wp.array(dtype=Vec)
        """From the middle of the group of each node to the node."""
        coarse: wp.array3d(dtype=Real)
        """(P^T K P)^-1; without rows where there are neither groups nor carried nodes."""
        coarse_diagonal: wp.array2d(dtype=Real)
        """Of P^T K P."""
        coarse_force: wp.array2d(dtype=Real)
        coarse_motion: wp.array2d(dtype=Real)
        residual: wp.array2d(dtype=Vec)
        step: wp.array2d(dtype=Vec)
        direction: wp.array2d(dtype=Vec)
        product: wp.array2d(dtype=Vec)
        carried_residual: wp.array2d(dtype=Real)
        """Of the coordinates of carried nodes, as the following."""
        carried_step: wp.array2d(dtype=Real)
        carried_direction: wp.array2d(dtype=Real)
        carried_solution: wp.array2d(dtype=Real)

    return System


@cache
def solver_kernels(types: MeshTypes):
    """The kernels `prepare`, which makes the preconditioner, and `solve`."""
    Real, Vec, Mat = types.real, types.vec, types.mat
    System, Carried = system_struct(types), carried_struct(types)
    motions = rigid_motions(types)
    Motion, restrict, prolong = motions.motion, motions.restrict, motions.prolong
    modes = motions.count

    @wp.func
    def block_sum(value: Real):
        """The sum over the threads of a block, for all of them; they wait for each other."""
        return wp.tile_extract(wp.tile_sum(wp.tile(value)), 0)

    @wp.func
    def restrict_matrix(system: System, env: int, group: int):
        """Rows of P^T K P of a group."""
        for place in range(system.group_starts[group], system.group_starts[group + 1]):
            node = system.group_nodes[place]
            for slot in range(system.starts[node], system.starts[node + 1]):
                other = system.columns[slot]
                if system.group[other] >= 0:
                    K = system.values[env, slot]
                    for mode in range(modes):
                        unit = Motion()
                        unit[mode] = Real(1.0)
                        found = restrict(system.arms[node], K * prolong(system.arms[other], unit))
                        column = system.group[other] * modes + mode
                        for k in range(modes):
                            row = group * modes + k
                            system.coarse[env, row, column] = system.coarse[env, row, column] + found[k]

    @wp.func
    def restrict_carried(system: System, carried: Carried, env: int, k: int):
        """The row and the column of P^T K P of a coordinate of carried nodes, which come after those of groups."""
        own = system.coarse.shape[1] - carried.stiffness.shape[1]
        for c in range(carried.nodes.shape[0]):
            node = carried.nodes[c]
            phi = carried.shapes[env, k, c]
            for slot in range(system.starts[node], system.starts[node + 1]):
                other = system.columns[slot]
                pull = wp.transpose(system.values[env, slot]) * phi
                if system.group[other] >= 0:
                    found = restrict(system.arms[other], pull)
                    for mode in range(modes):
                        column = system.group[other] * modes + mode
                        system.coarse[env, own + k, column] = system.coarse[env, own + k, column] + found[mode]
                place = carried.place[other]
                if place >= 0:
                    for l in range(carried.stiffness.shape[1]):
                        entry = wp.dot(pull, carried.shapes[env, l, place])
                        system.coarse[env, own + k, own + l] = system.coarse[env, own + k, own + l] + entry
        for column in range(own):
            system.coarse[env, column, own + k] = system.coarse[env, own + k, column]
        system.coarse[env, own + k, own + k] = system.coarse[env, own + k, own + k] + carried.stiffness[env, k]

    @wp.func
    def eliminate(system: System, env: int, pivot: int, lane: int, lanes: int):
        """One step of the inversion in place, of Gauss and Jordan; motions that others have already are left out."""
        size = system.coarse.shape[1]
        value = system.coarse[env, pivot, pivot]
        keeps = value > Real(DROPPED) * system.coarse_diagonal[env, pivot]
        inverse = Real(0.0)
        if keeps:
            inverse = Real(1.0) / value
        block_sum(Real(0.0))
        for j in range(lane, size, lanes):
            system.coarse[env, pivot, j] = system.coarse[env, pivot, j] * inverse
        block_sum(Real(0.0))
        for i in range(lane, size, lanes):
            if i != pivot:
                factor = system.coarse[env, i, pivot]
                if keeps and factor != Real(0.0):
                    for j in range(size):
                        system.coarse[env, i, j] = system.coarse[env, i, j] - factor * system.coarse[env, pivot, j]
                system.coarse[env, i, pivot] = -factor * inverse
        block_sum(Real(0.0))
        if lane == 0:
            system.coarse[env, pivot, pivot] = inverse
        block_sum(Real(0.0))

    @wp.kernel(**OPTIONS)
    def prepare(system: System, carried: Carried, asked: wp.array(dtype=int), lanes: int):
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        if asked[env] > 0:
            for node in range(lane, system.is_held.shape[0], lanes):
                inverse = Mat()
                if system.is_held[node] == 0:
                    inverse = wp.inverse(system.values[env, system.diagonal[node]])
                system.inverse[env, node] = inverse
            size = system.coarse.shape[1]
            if size > 0:
                for row in range(lane, size, lanes):
                    for column in range(size):
                        system.coarse[env, row, column] = Real(0.0)
                block_sum(Real(0.0))
                for group in range(lane, system.group_starts.shape[0] - 1, lanes):
                    restrict_matrix(system, env, group)
                for k in range(lane, carried.stiffness.shape[1], lanes):
                    restrict_carried(system, carried, env, k)
                block_sum(Real(0.0))
                for row in range(lane, size, lanes):
                    system.coarse_diagonal[env, row] = system.coarse[env, row, row]
                block_sum(Real(0.0))
                for pivot in range(size):
                    eliminate(system, env, pivot, lane, lanes)

    @wp.func
    def precondition(system: System, carried: Carried, env: int, lane: int, lanes: int):
        """The step M^-1 r, and r M^-1 r."""
        total = Real(0.0)
        size = system.coarse.shape[1]
        own = size - carried.stiffness.shape[1]
        if size > 0:
            for k in range(lane, carried.stiffness.shape[1], lanes):
                system.coarse_force[env, own + k] = system.carried_residual[env, k]
            for group in range(lane, system.group_starts.shape[0] - 1, lanes):
                force = Motion()
                for place in range(system.group_starts[group], system.group_starts[group + 1]):
                    node = system.group_nodes[place]
                    force += restrict(system.arms[node], system.residual[env, node])
                for k in range(modes):
                    system.coarse_force[env, group * modes + k] = force[k]
            block_sum(Real(0.0))
            for row in range(lane, size, lanes):
                entry = Real(0.0)
                for k in range(size):
                    entry += system.coarse[env, row, k] * system.coarse_force[env, k]
                system.coarse_motion[env, row] = entry
            block_sum(Real(0.0))
        for k in range(lane, carried.stiffness.shape[1], lanes):
            along = system.coarse_motion[env, own + k]
            diagonal = system.coarse_diagonal[env, own + k]
            if diagonal > Real(0.0):
                along += system.carried_residual[env, k] / diagonal
            system.carried_step[env, k] = along
            total += along * system.carried_residual[env, k]
        for node in range(lane, system.is_held.shape[0], lanes):
            if system.is_held[node] == 0:
                step = system.inverse[env, node] * system.residual[env, node]
                if own > 0:
                    motion = Motion()
                    for k in range(modes):
                        motion[k] = system.coarse_motion[env, system.group[node] * modes + k]
                    step += prolong(system.arms[node], motion)
                system.step[env, node] = step
                total += wp.dot(step, system.residual[env, node])
        return block_sum(total)

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
        system: System,
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
        env = thread // lanes
        lane = thread % lanes
        if asked[env] > 0:
            nodes = system.is_held.shape[0]
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
                for node in range(lane, nodes, lanes):
                    if system.is_held[node] == 0 or carried.place[node] >= 0:
                        product = Vec()
                        for slot in range(system.starts[node], system.starts[node + 1]):
                            product += system.values[env, slot] * system.direction[env, system.columns[slot]]
                        system.product[env, node] = product
                        curvature += wp.dot(product, system.direction[env, node])
                for k in range(lane, coordinates, lanes):
                    along = system.carried_direction[env, k]
                    curvature += carried.stiffness[env, k] * along * along
                curvature = block_sum(curvature)
                count += 1
                length = rz / curvature
                if curvature <= Real(0.0):
                    # Downhill without end: as far as the first guess goes, or stay with what there is.
                    length = wp.where(count == 1, Real(1.0), Real(0.0))
                square = Real(0.0)
                for node in range(lane, nodes, lanes):
                    if system.is_held[node] == 0:
                        x[env, node] = x[env, node] + length * system.direction[env, node]
                        residual = system.residual[env, node] - length * system.product[env, node]
                        system.residual[env, node] = residual
                        square += wp.dot(residual, residual)
                for k in range(lane, coordinates, lanes):
                    along = system.carried_direction[env, k]
                    system.carried_solution[env, k] = system.carried_solution[env, k] + length * along
                    change = carried.stiffness[env, k] * along
                    for c in range(carried.nodes.shape[0]):
                        change += wp.dot(carried.shapes[env, k, c], system.product[env, carried.nodes[c]])
                    rest = system.carried_residual[env, k] - length * change
                    system.carried_residual[env, k] = rest
                    square += rest * rest
                square = block_sum(square)
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

    return prepare, solve


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
        system.arms = upload(arms, types.vec)
        size = count * rigid_motions(types).count + carried.most
        system.coarse = zeros(environments, size, size)
        system.coarse_diagonal = zeros(environments, size)
        system.coarse_force = zeros(environments, size)
        system.coarse_motion = zeros(environments, size)
        for name in ("residual", "step", "direction", "product"):
            setattr(system, name, zeros(environments, nodes, dtype=types.vec))
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
        self._prepare, self._solve = solver_kernels(types)

    def prepare(self, asked: wp.array) -> None:
        """Make the preconditioner of the values there are, in the environments that are asked for."""
        self._launch(self._prepare, asked, self._mesh.lanes)

    def solve(self, b: wp.array, tolerance: np.ndarray, most: int, asked: wp.array) -> None:
        """Solve with forces of nodes and of coordinates of carried ones, to a residual relative to them."""
        put(self._tolerance, tolerance)
        outputs = self.solution, self.iterations, self.slope, self.is_convex
        self._launch(self._solve, b, self._tolerance, most, asked, self._mesh.lanes, *outputs)

    def _launch(self, kernel: wp.Kernel, *inputs) -> None:
        mesh = self._mesh
        dim = mesh.environments * mesh.lanes
        mesh.launches.launch(kernel, dim, [self._system, self._carried, *inputs], mesh.lanes)

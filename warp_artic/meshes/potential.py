"""What a solve makes least: the energies of elements, tendons, loads and, in a step, of inertia and damping.

    Phi(x) = elements + tendons - sum of f (x - x_0) + sum of m s / 2 |x - z|^2 + carriers

with loads f on nodes, x_0 the points at the start, inertia of factor s about the points z, and what `carried` says of
those who carry nodes. With obstacles points are those at which no node is in one (`meshes.node_contacts`).

Positions are numbers with so many digits: a node that is moved by the last one of x feels about eps |x| (k + m s), with
the stiffness k of the elements at it, damping included. Forces that are no larger may be rounding alone.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from warp_artic.math.double_double import two_sum
from warp_artic.meshes.block_sum import block_sum_for
from warp_artic.meshes.carried import CarriedNodes, carried_struct
from warp_artic.meshes.conjugate_gradients import ConjugateGradients
from warp_artic.meshes.elastic import Damping, ElasticMesh, node_stiffness
from warp_artic.meshes.node_contacts import NodeContacts
from warp_artic.meshes.tendons import MeshTendons
from warp_artic.meshes.types import OPTIONS, MeshTypes, is_wide


@cache
def potential_structs(types: MeshTypes) -> tuple:
    """The structs `Nodes`, N in number, and `Tendons`, of a body and its linear system."""
    Real, Vec = types.real, types.vec

    @wp.struct
    class Nodes:
        mass: wp.array(dtype=Real)
        """Shape (N) [kg]."""
        stiffness: wp.array(dtype=Real)
        """Of the elements at each, shape (N) [N/m]."""
        is_held: wp.array(dtype=int)
        """Shape (N)."""
        loads: wp.array2d(dtype=Vec)
        """Shape (environments, N) [N]."""
        step: wp.array2d(dtype=Vec)
        """The last solution of the system, shape (environments, N) [m]."""
        carried_step: wp.array2d(dtype=Real)
        """That of the coordinates of carried nodes."""

    @wp.struct
    class Tendons:
        """Empty where there are none."""

        energy: wp.array(dtype=Real)
        tension: wp.array2d(dtype=Real)
        length: wp.array2d(dtype=Real)

    return Nodes, Tendons


@cache
def potential_kernels(types: MeshTypes, wide: bool):
    """The kernels `add_nodes`, of energies and forces, and `add_inertia`, of stiffness."""
    block_sum = block_sum_for(types.real, wide)
    dim, Real, Vec = types.dim, types.real, types.vec
    Carried, (Nodes, Tendons) = carried_struct(types), potential_structs(types)

    @wp.func
    def added(total: wp.vec2d, part: Real):
        """A sum with a further part, and what rounding has left: parts may be larger than their sum."""
        found = two_sum(total[0], wp.float64(part))
        return wp.vec2d(found[0], total[1] + found[1])

    @wp.kernel(**OPTIONS)
    def add_nodes(
        points: wp.array2d(dtype=Vec),
        start: wp.array2d(dtype=Vec),
        nodes: Nodes,
        tendons: Tendons,
        carried: Carried,
        inertia: Real,
        center: wp.array2d(dtype=Vec),
        rate: Real,
        asked: wp.array(dtype=int),
        lanes: int,
        forces: wp.array2d(dtype=Vec),
        found: wp.array2d(dtype=Real),
    ):
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        potential = wp.vec2d()
        magnitude = Real(0.0)
        square = Real(0.0)
        of_loads = Real(0.0)
        slope = Real(0.0)
        rounding = Real(0.0)
        if asked[env] > 0:
            if lane == 0:
                potential = wp.vec2d(wp.float64(found[0, env]), wp.float64(0.0))
                if tendons.energy.shape[0] > 0:
                    potential = added(potential, tendons.energy[env])
            for node in range(lane, nodes.mass.shape[0], lanes):
                load = nodes.loads[env, node]
                force = forces[env, node] + load
                work = wp.dot(load, points[env, node] - start[env, node])
                potential = added(potential, -work)
                magnitude += wp.abs(work)
                if nodes.is_held[node] == 0:
                    if inertia > Real(0.0):
                        push = points[env, node] - center[env, node]
                        weight = inertia * nodes.mass[node]
                        moving = Real(0.5) * weight * wp.length_sq(push)
                        potential = added(potential, moving)
                        magnitude += moving
                        force -= weight * push
                    square += wp.length_sq(force)
                    of_loads += wp.length_sq(load)
                    stiff = (Real(1.0) + rate) * nodes.stiffness[node] + inertia * nodes.mass[node]
                    rounding += stiff * stiff * wp.length_sq(points[env, node])
                    slope += wp.dot(force, nodes.step[env, node])
                forces[env, node] = force
        # The block waits here for the forces of all nodes.
        block_sum(Real(0.0))
        if asked[env] > 0:
            for k in range(lane, carried.stiffness.shape[1], lanes):
                s = Real(0.0)
                rest = -carried.before[env, k]
                of_load = Real(0.0)
                for c in range(carried.nodes.shape[0]):
                    phi = carried.shapes[env, k, c]
                    s += wp.dot(phi, points[env, carried.nodes[c]] - carried.center[env, c])
                    rest += wp.dot(phi, forces[env, carried.nodes[c]])
                    of_load += wp.dot(phi, nodes.loads[env, carried.nodes[c]])
                rest -= carried.stiffness[env, k] * s
                carried.force[env, k] = rest
                of_spring = Real(0.5) * carried.stiffness[env, k] * s * s
                of_force = s * carried.before[env, k]
                potential = added(potential, of_spring + of_force)
                magnitude += of_spring + wp.abs(of_force)
                square += rest * rest
                of_loads += of_load * of_load
                slope += rest * nodes.carried_step[env, k]
        energy = block_sum(Real(potential[0] + potential[1]))
        magnitude = block_sum(magnitude)
        square = block_sum(square)
        of_loads = block_sum(of_loads)
        slope = block_sum(slope)
        rounding = block_sum(rounding)
        if asked[env] > 0 and lane == 0:
            magnitude += found[0, env]
            if tendons.energy.shape[0] > 0:
                # A length has digits of its own, its change only what is left of them.
                for tendon in range(tendons.tension.shape[0]):
                    magnitude += wp.abs(tendons.tension[tendon, env]) * tendons.length[tendon, env]
            found[0, env] = energy
            found[1, env] = magnitude
            found[2, env] = square
            found[3, env] = of_loads
            found[4, env] = slope
            found[5, env] = rounding

    @wp.kernel(**OPTIONS)
    def add_inertia(
        inertia: Real,
        mass: wp.array(dtype=Real),
        diagonal: wp.array(dtype=int),
        asked: wp.array(dtype=int),
        values: wp.array4d(dtype=Real),
        threads: int,
    ):
        env, first = wp.tid()
        if asked[env] > 0:
            row = env // values.shape[3]
            lane = env % values.shape[3]
            for node in range(first, mass.shape[0], threads):
                for i in range(dim):
                    k = i * (dim + 1)
                    before = values[row, diagonal[node], k, lane]
                    values[row, diagonal[node], k, lane] = before + inertia * mass[node]

    return add_nodes, add_inertia


@dataclass(frozen=True, eq=False)
class Inertia:
    """Of a step: s [1/s^2] and z, shape (environments, N)."""

    factor: float
    center: wp.array


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Of a potential; arrays have an entry for each environment, which is zero where it was not asked for."""

    energy: np.ndarray
    """Phi [J]."""
    magnitude: np.ndarray
    """Sum of its parts without their signs [J]."""
    force: np.ndarray
    """Size of the forces on free nodes [N]."""
    loads: np.ndarray
    """Size of the loads on free nodes [N]."""
    slope: np.ndarray
    """By how much Phi falls here along the last solution of the system, to first order [J]; with obstacles the sum of
    that here and there, along what they let nodes go of it."""
    rounding: np.ndarray
    """Size of the forces on free nodes that the last digit of their positions makes [N]."""

    def replaced(self, where: np.ndarray, other: "Evaluation") -> "Evaluation":
        """With the values of another one in some environments."""
        if where.all():
            return other
        fields = ("energy", "magnitude", "force", "loads", "slope", "rounding")
        return Evaluation(*(np.where(where, getattr(other, name), getattr(self, name)) for name in fields))


class Potential:
    """Phi of a body with its tendons: its values, and its forces with their stiffness.

    Args:
        mesh: With a pattern that has the pairs of the tendons.
        tendons: Of the body, if any.
        is_held: Nodes that do not move, shape (N).
        coarse: Whether linear systems have a coarse space.
        carried: Nodes that others carry; none by default.
    """

    def __init__(
        self,
        mesh: ElasticMesh,
        tendons: MeshTendons | None,
        is_held: np.ndarray,
        coarse: bool,
        carried: CarriedNodes | None = None,
    ):
        self.mesh = mesh
        self.tendons = tendons
        count = len(is_held)
        carried = carried or CarriedNodes(mesh.types, np.zeros(0, int), count, 0, mesh.environments, mesh.device)
        self.carried = carried
        # Their own coordinates do not count.
        is_held = is_held | np.isin(np.arange(count), carried.nodes)
        self.system = ConjugateGradients(mesh, is_held, coarse, carried)
        types, device, environments = mesh.types, mesh.device, mesh.environments
        nodes = len(mesh.body.points)
        self.loads = mesh.array(np.zeros(mesh.body.points.shape))
        """Forces on nodes that do not change while they move [N], shape (environments, N)."""
        self.start = mesh.array(mesh.body.points)
        """Where loads have no energy, shape (environments, N) [m]."""
        self.inertia: Inertia | None = None
        self.damping: Damping | None = None
        self.contacts: NodeContacts | None = None
        """With obstacles that nodes do not enter; they are then held in some directions."""
        self.foreign_points: wp.array | None = None
        """Of the tendons, shape (environments, F); at rest by default."""
        self.forces = wp.zeros((environments, nodes), dtype=types.vec, device=device)
        """-dPhi/dx of all nodes at the last points of `evaluate` [N]."""
        self._found = wp.zeros((6, environments), dtype=types.real, device=device)
        self._of_elements = self._found[0]
        self.mass = wp.array(mesh.node_mass, dtype=types.real, device=device)
        """Of nodes [kg], shape (N)."""
        diagonal = mesh.pattern.slots(np.arange(nodes), np.arange(nodes))
        self._diagonal = wp.array(diagonal, dtype=int, device=device)
        self._slots = tendons.slots(mesh.pattern.starts, mesh.pattern.columns) if tendons else None
        Nodes, Tendons = potential_structs(types)
        self._nodes, self._of_tendons = Nodes(), Tendons()
        self._nodes.mass, self._nodes.loads = self.mass, self.loads
        self._nodes.stiffness = wp.array(node_stiffness(mesh.body), dtype=types.real, device=device)
        self._nodes.is_held = wp.array(is_held.astype(np.int32), dtype=int, device=device)
        self._nodes.step, self._nodes.carried_step = self.system.solution, self.system.carried_solution
        if tendons:
            self._of_tendons.energy = wp.zeros(environments, dtype=types.real, device=device)
            self._of_tendons.tension, self._of_tendons.length = tendons.shape.tension, tendons.shape.length
        self._add_nodes, self._add_inertia = potential_kernels(types, is_wide(device))

    def evaluate(self, points: wp.array, asked: wp.array, projected: wp.array | None = None) -> Evaluation:
        """Phi and `forces` at some points, where environments are asked for; with `projected` also what `stiffen` fills
        in of elements, in the same pass."""
        mesh, tendons = self.mesh, self.tendons
        wanted = {} if projected is None else {"values": self.system.values, "projected": projected}
        mesh.fill(points, energy=self._of_elements, forces=self.forces, asked=asked, damping=self.damping, **wanted)
        if tendons:
            tendons.evaluate(points, self.foreign_points, asked)
            tendons.add_forces(self.forces, asked=asked)
            tendons.energy(self._of_tendons.energy, asked)
        inertia, center = self._inertia()
        rate = mesh.types.real(0.0 if self.damping is None else self.damping.rate)
        inputs = [points, self.start, self._nodes, self._of_tendons, self.carried.arrays, inertia, center, rate]
        inputs += [asked, mesh.lanes, self.forces, self._found]
        mesh.launches.launch(self._add_nodes, mesh.environments * mesh.lanes, inputs, mesh.lanes)
        if self.contacts:
            self.contacts.split(points, self.forces, asked, self._found)
        is_asked = mesh.host.read(asked) > 0
        found = np.where(is_asked, mesh.host.read(self._found), 0.0).astype(float)
        energy, magnitude, force, loads, slope, rounding = found
        rounding = mesh.types.epsilon * np.sqrt(rounding)
        return Evaluation(energy, magnitude, np.sqrt(force), np.sqrt(loads), slope, rounding)

    def stiffen(self, points: wp.array, asked: wp.array, projected: wp.array | None) -> None:
        """Fill the matrix of `system` at the last points of `evaluate`, and make its preconditioner.

        The stiffness of elements is projected to the positive semi-definite where `projected` is positive; without it,
        it is that of the last evaluation. That of tendons always is: it differs only where springs push.
        """
        mesh, values = self.mesh, self.system.values
        if projected is not None:
            mesh.fill(points, values=values, asked=asked, projected=projected, damping=self.damping)
        if self.tendons:
            self.tendons.add_stiffness(values, self._slots, psd=True, asked=asked)
        if self.inertia is not None:
            inputs = [self._inertia()[0], self.mass, self._diagonal, asked, values.numbers]
            mesh.launch_over_nodes(self._add_inertia, inputs)
        if self.contacts:
            self.contacts.hold(values, asked)
        self.system.prepare(asked)

    def find_step(self, tolerance: np.ndarray, most: int, asked: wp.array) -> None:
        """Solve with the matrix for the step along which the forces of the last evaluation would vanish."""
        contacts = self.contacts
        self.system.solve(contacts.free if contacts else self.forces, tolerance, most, asked)
        if contacts:
            contacts.begin_step(self.system.solution, self.forces, asked)

    def fall_by_forces(self, length: np.ndarray, slope: np.ndarray, there: Evaluation) -> np.ndarray:
        """By how much Phi falls on the way to some points, to third order: a share of the step, which falls by a slope
        here, or, with obstacles, what they let nodes go of it."""
        return 0.5 * (there.slope if self.contacts else length * (slope + there.slope))

    def _inertia(self) -> tuple:
        if self.inertia is None:
            return self.mesh.types.real(0.0), self.start
        return self.mesh.types.real(self.inertia.factor), self.inertia.center

"""What a solve makes least: the energies of elements, tendons, loads and, in a step, of inertia and damping.

    Phi(x) = elements + tendons - sum of f (x - x_0) + sum of m s / 2 |x - z|^2

with loads f on nodes, x_0 the points at the start, and inertia of factor s about the points z.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.conjugate_gradients import ConjugateGradients
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.tendons import MeshTendons
from warp_artic.meshes.types import OPTIONS, MeshTypes


@cache
def potential_kernels(types: MeshTypes):
    """The kernels `node_energies` and `node_forces`."""
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat

    @wp.kernel(**OPTIONS)
    def node_energies(
        points: wp.array2d(dtype=Vec),
        start: wp.array2d(dtype=Vec),
        loads: wp.array2d(dtype=Vec),
        mass: wp.array(dtype=Real),
        inertia: Real,
        center: wp.array2d(dtype=Vec),
        of_tendons: wp.array(dtype=Real),
        tension: wp.array2d(dtype=Real),
        length: wp.array2d(dtype=Real),
        asked: wp.array(dtype=int),
        lanes: int,
        energy: wp.array(dtype=Real),
        magnitude: wp.array(dtype=Real),
    ):
        """Adds what nodes and tendons have; `magnitude` is the sum of what the parts are without their signs."""
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        total = Real(0.0)
        size = Real(0.0)
        if asked[env] > 0:
            for node in range(lane, mass.shape[0], lanes):
                work = wp.dot(loads[env, node], points[env, node] - start[env, node])
                value = -work
                if inertia > Real(0.0):
                    value += Real(0.5) * inertia * mass[node] * wp.length_sq(points[env, node] - center[env, node])
                total += value
                size += wp.abs(work) + wp.abs(value)
        total = wp.tile_extract(wp.tile_sum(wp.tile(total)), 0)
        size = wp.tile_extract(wp.tile_sum(wp.tile(size)), 0)
        if asked[env] > 0 and lane == 0:
            magnitude[env] = size + energy[env]
            if of_tendons.shape[0] > 0:
                total += of_tendons[env]
                # A length has digits of its own, its change only what is left of them.
                for tendon in range(tension.shape[0]):
                    magnitude[env] = magnitude[env] + wp.abs(tension[tendon, env]) * length[tendon, env]
            energy[env] = energy[env] + total

    @wp.kernel(**OPTIONS)
    def node_forces(
        points: wp.array2d(dtype=Vec),
        loads: wp.array2d(dtype=Vec),
        mass: wp.array(dtype=Real),
        inertia: Real,
        center: wp.array2d(dtype=Vec),
        is_held: wp.array(dtype=int),
        diagonal: wp.array(dtype=int),
        asked: wp.array(dtype=int),
        lanes: int,
        forces: wp.array2d(dtype=Vec),
        values: wp.array2d(dtype=Mat),
        squares: wp.array2d(dtype=Real),
    ):
        """Adds loads, and inertia of free nodes; gives the squares of the forces, and of the loads, on free nodes."""
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        total = Real(0.0)
        of_loads = Real(0.0)
        if asked[env] > 0:
            for node in range(lane, mass.shape[0], lanes):
                force = forces[env, node] + loads[env, node]
                if inertia > Real(0.0) and is_held[node] == 0:
                    weight = inertia * mass[node]
                    force -= weight * (points[env, node] - center[env, node])
                    slot = diagonal[node]
                    values[env, slot] = values[env, slot] + weight * wp.identity(n=dim, dtype=Real)
                forces[env, node] = force
                if is_held[node] == 0:
                    total += wp.length_sq(force)
                    of_loads += wp.length_sq(loads[env, node])
        total = wp.tile_extract(wp.tile_sum(wp.tile(total)), 0)
        of_loads = wp.tile_extract(wp.tile_sum(wp.tile(of_loads)), 0)
        if asked[env] > 0 and lane == 0:
            squares[0, env] = total
            squares[1, env] = of_loads

    return node_energies, node_forces


@dataclass(frozen=True, eq=False)
class Inertia:
    """Of a step: s [1/s^2] and z, shape (environments, N)."""

    factor: float
    center: wp.array


class Potential:
    """Phi of a body with its tendons: its values, and its forces with their stiffness.

    Args:
        mesh: With a pattern that has the pairs of the tendons.
        tendons: Of the body, if any.
        is_held: Nodes that do not move, shape (N).
        coarse: Whether linear systems have a coarse space.
    """

    def __init__(self, mesh: ElasticMesh, tendons: MeshTendons | None, is_held: np.ndarray, coarse: bool):
        self.mesh = mesh
        self.tendons = tendons
        self.system = ConjugateGradients(mesh, is_held, coarse)
        types, device, environments = mesh.types, mesh.device, mesh.environments
        nodes = len(mesh.body.points)
        self.loads = mesh.array(np.zeros(mesh.body.points.shape))
        """Forces on nodes that do not change while they move [N], shape (environments, N)."""
        self.start = mesh.array(mesh.body.points)
        """Where loads have no energy, shape (environments, N) [m]."""
        self.inertia: Inertia | None = None
        self.damping: tuple | None = None
        self.foreign_points: wp.array | None = None
        """Of the tendons, shape (environments, F); at rest by default."""
        self.forces = wp.zeros((environments, nodes), dtype=types.vec, device=device)
        """At the last points of `linearize`, of all nodes [N]."""
        self.squares = wp.zeros((2, environments), dtype=types.real, device=device)
        """Of `forces` and of loads, over free nodes."""
        self.energy = wp.zeros(environments, dtype=types.real, device=device)
        self.magnitude = wp.zeros(environments, dtype=types.real, device=device)
        """Sum of the parts of `energy` without their signs."""
        self.mass = wp.array(mesh.node_mass, dtype=types.real, device=device)
        """Of nodes [kg], shape (N)."""
        self._is_held = wp.array(is_held.astype(np.int32), dtype=int, device=device)
        diagonal = mesh.pattern.slots(np.arange(nodes), np.arange(nodes))
        self._diagonal = wp.array(diagonal, dtype=int, device=device)
        self._slots = tendons.slots(mesh.pattern.starts, mesh.pattern.columns) if tendons else None
        self._no_energy = wp.zeros(0, dtype=types.real, device=device)
        self._no_table = wp.zeros((0, 0), dtype=types.real, device=device)
        self._node_energies, self._node_forces = potential_kernels(types)

    def evaluate(self, points: wp.array, asked: wp.array) -> tuple[np.ndarray, np.ndarray]:
        """Phi [J] and its magnitude at some points, where environments are asked for."""
        self.energy.zero_()
        self.mesh.add_energy(points, self.energy, asked, self.damping)
        of_tendons = self._no_energy, self._no_table, self._no_table
        if self.tendons:
            shape = self.tendons.evaluate(points, self.foreign_points)
            of_tendons = self.tendons.energy(), shape.tension, shape.length
        inputs = [points, self.start, self.loads, self.mass, *self._inertia(), *of_tendons, asked]
        self._launch(self._node_energies, inputs, [self.energy, self.magnitude])
        return self.energy.numpy().astype(float), self.magnitude.numpy().astype(float)

    def linearize(self, points: wp.array, asked: wp.array, projected: wp.array) -> tuple[np.ndarray, np.ndarray]:
        """Forces and stiffness at some points; gives the sizes of the forces and of the loads on free nodes [N].

        The stiffness of elements is projected to the positive semi-definite where `projected` is positive. That of
        tendons always is: it differs only where springs push.
        """
        self.forces.zero_()
        self.system.values.zero_()
        self.mesh.add_stiffness(points, self.system.values, asked, self.damping, projected, self.forces)
        if self.tendons:
            self.tendons.evaluate(points, self.foreign_points)
            self.tendons.check()
            self.tendons.add_forces(self.forces)
            self.tendons.add_stiffness(self.system.values, self._slots, psd=True)
        inputs = [points, self.loads, self.mass, *self._inertia(), self._is_held, self._diagonal, asked]
        self._launch(self._node_forces, inputs, [self.forces, self.system.values, self.squares])
        forces, loads = np.sqrt(self.squares.numpy().astype(float))
        return forces, loads

    def _inertia(self) -> tuple:
        if self.inertia is None:
            return self.mesh.types.real(0.0), self.start
        return self.mesh.types.real(self.inertia.factor), self.inertia.center

    def _launch(self, kernel: wp.Kernel, inputs: list, outputs: list) -> None:
        mesh = self.mesh
        dim = mesh.environments * mesh.lanes
        wp.launch(kernel, dim=dim, inputs=[*inputs, mesh.lanes, *outputs], device=mesh.device, block_dim=mesh.lanes)

"""Tensions whose forces on nodes are those wanted where the body has come to rest under them.

The tensions tau move the nodes to the equilibrium x(tau), at which the forces q(x, tau) on nodes are compared with the
wanted f:  U = 1/2 |q - f|_W^2 + 1/2 lambda |tau|^2  within bounds. There are two such forces, `NodalForces`. With the
stiffness K of the equilibrium, of which F are the free nodes, the implicit function theorem gives

    dx_F/dtau = K_FF^-1 A_F,    dq/dtau = A - M_F dx_F/dtau,    M = -dq/dx

so the gradient A^T (W r - mu) + lambda tau with r = q - f needs one solution K_FF mu_F = (M W r)_F, the adjoint. The
best tensions are found by Gauss and Newton with the damping of Levenberg and Marquardt: each step is a small least
squares with bounds, of the columns of dq/dtau.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import MeshTendon, TensionLaw
from warp_artic.description.pose import Pose
from warp_artic.errors import SettingsError, SolveError
from warp_artic.meshes.block_product import product_kernel
from warp_artic.meshes.equilibrium import Equilibrium, held_nodes, mesh_with_tendons, start_points
from warp_artic.meshes.inverse import not_negative
from warp_artic.meshes.newton import NewtonOptions
from warp_artic.meshes.tension_search import TensionSearch

EXACT = NewtonOptions(tolerance=1e-12)
"""Of the equilibria: derivatives want forces that have vanished."""
LINEAR_TOLERANCE = 1e-12
COARSE_TOLERANCE = 1e-6
"""Of the columns of dq/dtau with which steps are found: they decide how long the search is, not where it ends."""
LINEAR_ITERATIONS = 20000
DEPENDENCE = 1e-7
"""A column of dq/dtau this near to the span of others is in it: its squares have the digits of float64."""
STEPS = 100
STILL = 1e-10
"""Slopes this small, relative to the columns and to the forces, end the search."""
LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e8
"""Relative to the squares of the columns; below the least there is none, above the most no step helps."""


class NodalForces(enum.Enum):
    """Which forces on nodes are wanted."""

    OF_TENDONS = enum.auto()
    """What tendons do to nodes, A(x) tau, on all nodes."""
    ON_HOLDERS = enum.auto()
    """What pinned and attached nodes hand on to those who hold them; free nodes hand on nothing."""


@dataclass(frozen=True)
class DeformedTensions:
    """The best tensions, and where they bring the body."""

    tension: np.ndarray
    """tau [N], shape (tendons, environments)."""
    bound: np.ndarray
    """-1 where tau is the smallest allowed, 1 where it is the largest, 0 between; same shape."""
    points: np.ndarray
    """The equilibrium x(tau) [m], shape (environments, N, dim)."""
    length: np.ndarray
    """Lengths of the tendons there [m], shape (tendons, environments)."""
    unreachable: np.ndarray
    """f - q [N], shape (environments, N, dim)."""
    optimality: np.ndarray
    """The largest slope of U along which a tension could still go [N], shape (environments)."""
    converged: np.ndarray
    """Whether that is as small as is asked for, or as rounding lets it be, shape (environments)."""
    objectives: list[np.ndarray] = field(default_factory=list)
    """U at the start and after each step [N^2], each of shape (environments)."""


class DeformedInverse:
    """The problem for the tendons of one body in all environments.

    Loads on nodes are those of `equilibrium`. Everything is float64.
    """

    def __init__(
        self,
        body: ElasticBody,
        tendons: tuple[MeshTendon, ...],
        *,
        wanted: NodalForces = NodalForces.OF_TENDONS,
        weights=1.0,
        regularisation=0.0,
        link_poses: Mapping[str, Pose] | None = None,
        environments: int = 1,
        device: str = "cpu",
    ):
        """`weights`, `regularisation` and `link_poses` are those of `InverseProblem` and `MeshTendons`."""
        for tendon in tendons:
            if tendon.min_tension < 0.0:
                text = f"smallest tension {tendon.min_tension:g} N must not be negative where the body deforms"
                raise SettingsError(f"{tendon.name}: {text}")
        given = tuple(replace(tendon, law=TensionLaw.TENSION) for tendon in tendons)
        mesh, self.tendons = mesh_with_tendons(body, given, environments, device=device, poses=link_poses)
        self.equilibrium = Equilibrium(mesh, self.tendons, EXACT)
        self.points = mesh.array(start_points(body))
        """Of the last equilibrium, from which the next one is sought, shape (environments, N)."""
        self._wanted = wanted
        self._weight = not_negative("weights", weights, body.points.shape)
        self._flat_weight = self._weight.reshape(-1)
        self._penalty = not_negative("regularisation", regularisation, (len(tendons),))
        self.min_tension = self._spread([tendon.min_tension for tendon in tendons])
        """Smallest tensions [N], shape (tendons, environments), writable like the next."""
        self.max_tension = self._spread([tendon.max_tension for tendon in tendons])
        """Largest tensions [N], shape (tendons, environments)."""
        self._pattern = [
            wp.array(part, dtype=int, device=device) for part in (mesh.pattern.starts, mesh.pattern.columns)
        ]
        self._values = mesh.matrix()
        self._slots = self.tendons.slots(mesh.pattern.starts, mesh.pattern.columns)
        self._search = TensionSearch(len(tendons), environments, DEPENDENCE, device)
        self._everywhere = wp.ones(environments, dtype=int, device=device)
        self._nowhere = wp.zeros(environments, dtype=int, device=device)

    def forces(self, tension: np.ndarray) -> np.ndarray:
        """q [N] at the equilibrium of tensions, shapes (environments, N, dim) and (tendons, environments).

        Raises:
            SolveError: There is no equilibrium near the last one.
        """
        found = self._move(tension)
        if not found.all():
            environment = int(np.argmin(found))
            raise SolveError(f"{self.tendons.body.name}: no equilibrium of environment {environment} was found")
        return self._linearise(tension)

    def objective(self, tension: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U and, by the adjoint, dU/dtau, of shapes (environments) and (tendons, environments), for wanted forces of
        shape (environments, N, dim)."""
        rest = self.forces(tension) - wanted
        return self._value(rest, tension), self._gradient(rest, tension)

    def jacobian(self, tolerance: float = LINEAR_TOLERANCE) -> np.ndarray:
        """dq/dtau at the last equilibrium, shape (environments, tendons, N, dim).

        `tolerance`: of the linear systems, relative to the forces of each tendon.
        """
        mesh, count = self.equilibrium.mesh, len(self.tendons.tendons)
        columns = []
        for tendon in range(count):
            unit = np.zeros((count, mesh.environments))
            unit[tendon] = 1.0
            column = mesh.array(np.zeros(mesh.body.points.shape))
            self.tendons.add_forces(column, tension=wp.array(unit, dtype=wp.float64, device=mesh.device))
            moved = mesh.array(self._solve(column, tolerance))
            columns.append(column.numpy() - self._multiply(moved).numpy())
        return np.stack(columns, axis=1)

    def solve(self, wanted: np.ndarray, start: np.ndarray | None = None) -> DeformedTensions:
        """The best tensions for wanted forces [N], shape (environments, N, dim), near `start`.

        Raises:
            SolveError: There is no equilibrium of the tensions at the start.
        """
        lower, upper = self.min_tension.numpy(), self.max_tension.numpy()
        tension = np.clip(np.zeros_like(lower) if start is None else start, lower, upper)
        forces = self.forces(tension)
        value = self._value(forces - wanted, tension)
        damping = np.zeros_like(value)
        history = [value]
        for step in range(STEPS + 1):
            jacobian = self.jacobian(COARSE_TOLERANCE)
            gradient = self._gradient(forces - wanted, tension)
            optimality, done = self._slopes(gradient, jacobian, forces, wanted, tension)
            done |= damping > MOST_DAMPING
            if done.all() or step == STEPS:
                break
            trial = np.where(done, tension, self._step(jacobian, gradient, tension, damping))
            before = self.points.numpy().copy()
            found = self._move(trial)
            trial_value = np.where(found, self._value(self._linearise(trial) - wanted, trial), np.inf)
            better = ~done & (trial_value < value)
            # Where rounding hides what is left to gain, no step is better, and the search ends as well.
            damping = np.where(better, 0.1 * damping, np.maximum(10.0 * damping, LEAST_DAMPING))
            damping[better & (damping < LEAST_DAMPING)] = 0.0
            tension, value = np.where(better, trial, tension), np.where(better, trial_value, value)
            self.points.assign(np.where(better[:, None, None], self.points.numpy(), before))
            forces = self._linearise(tension)
            history.append(value)
        bound = np.where(tension <= lower, -1, np.where(tension >= upper, 1, 0))
        lengths = self.tendons.shape.length.numpy().copy()
        points = self.points.numpy().copy()
        return DeformedTensions(tension, bound, points, lengths, wanted - forces, optimality, done, history)

    def _move(self, tension: np.ndarray) -> np.ndarray:
        """Bring the points to the equilibrium of tensions; gives where there is one."""
        self.tendons.tension.assign(tension)
        try:
            return self.equilibrium.solve(self.points).converged
        except SolveError:  # waypoints that meet
            return np.zeros(self.tendons.environments, bool)

    def _linearise(self, tension: np.ndarray) -> np.ndarray:
        """q at the points; prepares for derivatives."""
        self.tendons.tension.assign(tension)
        mesh, potential = self.equilibrium.mesh, self.equilibrium.potential
        potential.evaluate(self.points, self._everywhere)
        potential.stiffen(self.points, self._everywhere, self._nowhere)
        if self._wanted is NodalForces.ON_HOLDERS:
            return np.where(held_nodes(mesh.body)[:, None], potential.forces.numpy(), 0.0)
        self._values.zero_()
        self.tendons.add_stiffness(self._values, self._slots)
        forces = mesh.array(np.zeros(mesh.body.points.shape))
        self.tendons.add_forces(forces)
        return forces.numpy()

    def _multiply(self, vectors: wp.array) -> wp.array:
        """M times vectors of nodes."""
        mesh = self.equilibrium.mesh
        values = self.equilibrium.potential.system.values if self._wanted is NodalForces.ON_HOLDERS else self._values
        result = mesh.array(np.zeros(mesh.body.points.shape))
        inputs = [*self._pattern, values, vectors, result]
        wp.launch(product_kernel(mesh.types), dim=vectors.shape, inputs=inputs, device=mesh.device)
        return result

    def _solve(self, forces: wp.array, tolerance: float = LINEAR_TOLERANCE) -> np.ndarray:
        """K_FF^-1 of forces on free nodes; zero on held ones."""
        system = self.equilibrium.potential.system
        system.solve(forces, np.full(self.tendons.environments, tolerance), LINEAR_ITERATIONS, self._everywhere)
        if not (system.is_convex.numpy() > 0).all():
            environment = int(np.argmin(system.is_convex.numpy()))
            raise SolveError(f"{self.tendons.body.name}: the equilibrium of environment {environment} is not stable")
        return system.solution.numpy().copy()

    def _spread(self, values: list[float]) -> wp.array:
        """One value a tendon, for all environments."""
        table = np.repeat(np.array(values, np.float64)[:, None], self.tendons.environments, axis=1)
        return wp.array(table, dtype=wp.float64, device=self.tendons.device)

    def _value(self, rest: np.ndarray, tension: np.ndarray) -> np.ndarray:
        """U."""
        squares = _products(self._flat_weight * _flat(rest) ** 2, 1.0)
        return 0.5 * (squares + _products(self._penalty * tension.T**2, 1.0))

    def _gradient(self, rest: np.ndarray, tension: np.ndarray) -> np.ndarray:
        """dU/dtau at the last equilibrium, for q - f there."""
        mesh = self.equilibrium.mesh
        pulled = mesh.array(self._weight * rest)
        adjoint = self._solve(self._multiply(pulled))
        gradient = self.tendons.project(mesh.array(pulled.numpy() - adjoint)).numpy()
        return gradient + self._penalty[:, None] * tension

    def _slopes(self, gradient, jacobian, forces, wanted, tension) -> tuple[np.ndarray, np.ndarray]:
        """The largest slope along which a tension could still go, and where it is small enough."""
        down = np.where(tension > self.min_tension.numpy(), gradient, 0.0)
        up = np.where(tension < self.max_tension.numpy(), -gradient, 0.0)
        optimality = np.maximum(down, up).max(axis=0, initial=0.0)
        columns = jacobian.reshape(*jacobian.shape[:2], -1)
        longest = np.sqrt(_products(columns**2, self._flat_weight).max(axis=1, initial=0.0))
        largest = np.sqrt(np.maximum(*(_products(_flat(one) ** 2, self._flat_weight) for one in (forces, wanted))))
        return optimality, optimality <= STILL * longest * largest

    def _step(self, jacobian, gradient, tension, damping) -> np.ndarray:
        """The best tensions if q were linear."""
        columns = np.sqrt(self._flat_weight) * jacobian.reshape(*jacobian.shape[:2], -1)
        gram = columns @ columns.swapaxes(1, 2) + np.diag(self._penalty)
        diagonal = np.einsum("ett->et", gram)
        diagonal += damping[:, None] * diagonal
        projected = _products(gram, tension.T) - gradient.T
        self._search.gram.assign(np.stack([gram, np.zeros_like(gram)], axis=-1))
        self._search.projected.assign(np.stack([projected, np.zeros_like(projected)], axis=-1))
        self._search.factorise()
        self._search.settle(self.min_tension, self.max_tension, tension)
        return self._search.tension.numpy().T.copy()


def _flat(vectors: np.ndarray) -> np.ndarray:
    """Vectors of nodes as rows of numbers, one an environment."""
    return vectors.reshape(len(vectors), -1)


def _products(rows: np.ndarray, vectors) -> np.ndarray:
    """Scalar products of rows with the vector of each environment; sums do not depend on how many there are."""
    vectors = np.broadcast_to(vectors, (len(rows), rows.shape[-1]))
    if rows.ndim == 2:
        return (rows[:, None, :] @ vectors[:, :, None])[:, 0, 0]
    return (rows @ vectors[:, :, None])[:, :, 0]

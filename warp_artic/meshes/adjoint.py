"""Tensions whose forces on nodes are those wanted where the body has come to rest under them.

The tensions tau move the nodes to the equilibrium x(tau), at which the forces q(x, tau) on nodes are compared with the
wanted f:  U = 1/2 |q - f|_W^2 + 1/2 lambda |tau|^2  within bounds. There are two such forces, `NodalForces`. With the
stiffness K of the equilibrium, of which F are the free nodes, the implicit function theorem gives

    dx_F/dtau = K_FF^-1 A_F,    dq/dtau = A - M_F dx_F/dtau,    M = -dq/dx

so the gradient A^T (W r - mu) + lambda tau with r = q - f needs one solution K_FF mu_F = (M W r)_F, the adjoint. The
best tensions are found by Gauss and Newton with the damping of Levenberg and Marquardt: each step is a small least
squares with bounds, of the columns of dq/dtau. Where forces are out of reach, second derivatives of q bend U as well;
they are learned from the steps (Dennis, Gay and Welsch 1981), and taken where they explain the last one better.
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
from warp_artic.meshes.tendons import require_shape
from warp_artic.meshes.tension_search import TensionSearch

EXACT = NewtonOptions(tolerance=1e-12)
"""Of the equilibria: derivatives want forces that have vanished."""
LINEAR_TOLERANCE = 1e-12
COARSE_TOLERANCE = 1e-6
"""Of the columns of dq/dtau with which steps are found: they decide how long the search is, not where it ends."""
LINEAR_ITERATIONS = 20000
DEPENDENCE = 1e-7
"""A column of dq/dtau this near to the span of others is in it: its squares have the digits of float64."""
FLAT = 1e-12
"""Smallest curvature of U in a step, relative to the largest; where it is bent downwards its size counts."""
STEPS = 100
STILL = 1e-12
"""Slopes this small, relative to the columns and to the forces wanted and at the start, end the search."""
ROUNDING = 1e-12
"""Of forces, relative to those wanted and at the start."""
LEAST_DAMPING, LOST_DAMPING, MOST_DAMPING = 1e-3, 1.0, 1e8
"""Relative to the squares of the columns: below the least there is none, where an equilibrium is lost there is at least
the second, and above the most no step helps."""


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


@dataclass(frozen=True)
class _Linear:
    """Tensions, and U with its derivatives at their equilibrium; shapes as in `DeformedInverse`."""

    tension: np.ndarray
    forces: np.ndarray
    value: np.ndarray
    jacobian: np.ndarray
    gradient: np.ndarray

    def replaced(self, chosen: np.ndarray, other: _Linear) -> _Linear:
        """With those of another in some environments."""
        rows = chosen[:, None, None]
        return _Linear(
            np.where(chosen, other.tension, self.tension),
            np.where(rows, other.forces, self.forces),
            np.where(chosen, other.value, self.value),
            np.where(rows[..., None], other.jacobian, self.jacobian),
            np.where(chosen, other.gradient, self.gradient),
        )


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
        return self._prepare(tension)

    def objective(self, tension: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U and, by the adjoint, dU/dtau, of shapes (environments) and (tendons, environments), for wanted forces of
        shape (environments, N, dim).

        Raises:
            SolveError: There is no stable equilibrium near the last one.
        """
        rest = self.forces(tension) - wanted
        gradient, is_stable = self._gradient(rest, tension)
        self._require_stable(is_stable)
        return self._value(rest, tension), gradient

    def jacobian(self) -> np.ndarray:
        """dq/dtau at the last equilibrium, shape (environments, tendons, N, dim).

        Raises:
            SolveError: The equilibrium is not stable.
        """
        jacobian, is_stable = self._jacobian(LINEAR_TOLERANCE)
        self._require_stable(is_stable)
        return jacobian

    def solve(self, wanted: np.ndarray, start: np.ndarray | None = None) -> DeformedTensions:
        """The best tensions for wanted forces [N], shape (environments, N, dim), near `start`.

        Raises:
            SettingsError: An array has another shape.
            SolveError: There is no stable equilibrium of the tensions at the start.
        """
        require_shape("wanted forces", wanted, (self.tendons.environments, *self._weight.shape))
        lower, upper = self.min_tension.numpy(), self.max_tension.numpy()
        first = np.zeros_like(lower) if start is None else start
        require_shape("tensions at the start", first, lower.shape)
        at, is_stable = self._linearise(np.clip(first, lower, upper), wanted)
        self._require_stable(is_stable)
        size = np.sqrt(np.max([_products(_flat(one) ** 2, self._flat_weight) for one in (at.forces, wanted)], axis=0))
        bend = np.zeros((*at.jacobian.shape[:2], len(lower)))
        history, damping = [at.value], np.zeros_like(at.value)
        hidden, trusted = np.zeros((2, len(size)), bool)
        for step in range(STEPS + 1):
            optimality, converged = self._slopes(at, size)
            converged |= hidden
            active = ~converged & (damping <= MOST_DAMPING)
            if not active.any() or step == STEPS:
                break
            bends = np.where(trusted[:, None, None], bend, 0.0)
            tension = np.where(active, self._step(at, bends, damping), at.tension)
            before = self.points.numpy().copy()
            trial, is_found = self._linearise(tension, wanted)
            better = active & is_found & (trial.value < at.value)
            gain = (at.gradient * (at.tension - tension)).sum(axis=0)
            hidden |= active & ~better & (gain <= ROUNDING * (at.value + np.sqrt(2.0 * at.value) * size))
            more = np.maximum(10.0 * damping, np.where(is_found, LEAST_DAMPING, LOST_DAMPING))
            damping = np.where(better, 0.1 * damping, more)
            damping[better & (damping < LEAST_DAMPING)] = 0.0
            self._put_back(better, before)
            trusted = better & self._explains(bend, at, trial)
            bend = np.where(better[:, None, None], self._secant(bend, at, trial, wanted), bend)
            at = at.replaced(better, trial)
            history.append(at.value)
        self._prepare(at.tension)
        lengths = self.tendons.shape.length.numpy().copy()
        bound = np.where(at.tension <= lower, -1, np.where(at.tension >= upper, 1, 0))
        points = self.points.numpy().copy()
        return DeformedTensions(at.tension, bound, points, lengths, wanted - at.forces, optimality, converged, history)

    def _linearise(self, tension: np.ndarray, wanted: np.ndarray) -> tuple[_Linear, np.ndarray]:
        """The equilibrium of tensions and its derivatives, and where there is a stable one."""
        before = self.points.numpy().copy()
        is_found = self._move(tension)
        self._put_back(is_found, before)
        forces = self._prepare(tension)
        jacobian, is_stable = self._jacobian(COARSE_TOLERANCE)
        gradient, is_stable_too = self._gradient(forces - wanted, tension)
        value = self._value(forces - wanted, tension)
        return _Linear(tension, forces, value, jacobian, gradient), is_found & is_stable & is_stable_too

    def _move(self, tension: np.ndarray) -> np.ndarray:
        """Bring the points to the equilibrium of tensions; gives where there is one."""
        self.tendons.tension.assign(tension)
        try:
            return self.equilibrium.solve(self.points).converged
        except SolveError:  # waypoints that meet
            return np.zeros(self.tendons.environments, bool)

    def _put_back(self, moved: np.ndarray, before: np.ndarray) -> None:
        """Take the points before in environments that have not moved."""
        self.points.assign(np.where(moved[:, None, None], self.points.numpy(), before))

    def _prepare(self, tension: np.ndarray) -> np.ndarray:
        """q at the points, for tensions; prepares for derivatives there."""
        self.tendons.tension.assign(tension)
        mesh, potential = self.equilibrium.mesh, self.equilibrium.potential
        potential.evaluate(self.points, self._everywhere)
        potential.stiffen(self.points, self._everywhere, self._nowhere)
        if self._wanted is NodalForces.ON_HOLDERS:
            return np.where(held_nodes(mesh.body)[:, None], potential.forces.numpy(), 0.0)
        self._values.blocks.zero_()
        self.tendons.add_stiffness(self._values, self._slots)
        forces = mesh.array(np.zeros(mesh.body.points.shape))
        self.tendons.add_forces(forces)
        return forces.numpy()

    def _multiply(self, vectors: wp.array) -> wp.array:
        """M times vectors of nodes."""
        mesh = self.equilibrium.mesh
        values = self.equilibrium.potential.system.values if self._wanted is NodalForces.ON_HOLDERS else self._values
        result = mesh.array(np.zeros(mesh.body.points.shape))
        inputs = [*self._pattern, values.numbers, vectors, result]
        wp.launch(product_kernel(mesh.types), dim=vectors.shape, inputs=inputs, device=mesh.device)
        return result

    def _solve(self, forces: wp.array, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """K_FF^-1 of forces on free nodes, zero on held ones, and where no direction without stiffness was met."""
        system = self.equilibrium.potential.system
        system.solve(forces, np.full(self.tendons.environments, tolerance), LINEAR_ITERATIONS, self._everywhere)
        return system.solution.numpy().copy(), system.is_convex.numpy() > 0

    def _require_stable(self, is_stable: np.ndarray) -> None:
        if not is_stable.all():
            environment = int(np.argmin(is_stable))
            raise SolveError(f"{self.tendons.body.name}: environment {environment} is in no stable equilibrium")

    def _jacobian(self, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """dq/dtau with linear systems solved to a tolerance, and where the equilibrium is stable."""
        mesh, count = self.equilibrium.mesh, len(self.tendons.tendons)
        columns, is_stable = [], np.ones(mesh.environments, bool)
        for tendon in range(count):
            unit = np.zeros((count, mesh.environments))
            unit[tendon] = 1.0
            column = mesh.array(np.zeros(mesh.body.points.shape))
            self.tendons.add_forces(column, tension=wp.array(unit, dtype=wp.float64, device=mesh.device))
            moved, is_convex = self._solve(column, tolerance)
            columns.append(column.numpy() - self._multiply(mesh.array(moved)).numpy())
            is_stable &= is_convex
        return np.stack(columns, axis=1), is_stable

    def _spread(self, values: list[float]) -> wp.array:
        """One value a tendon, for all environments."""
        table = np.repeat(np.array(values, np.float64)[:, None], self.tendons.environments, axis=1)
        return wp.array(table, dtype=wp.float64, device=self.tendons.device)

    def _value(self, rest: np.ndarray, tension: np.ndarray) -> np.ndarray:
        """U."""
        squares = _products(self._flat_weight * _flat(rest) ** 2, 1.0)
        return 0.5 * (squares + _products(self._penalty * tension.T**2, 1.0))

    def _gradient(self, rest: np.ndarray, tension: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """dU/dtau for q - f, and where the equilibrium is stable."""
        mesh = self.equilibrium.mesh
        pulled = mesh.array(self._weight * rest)
        adjoint, is_stable = self._solve(self._multiply(pulled), LINEAR_TOLERANCE)
        gradient = self.tendons.project(mesh.array(pulled.numpy() - adjoint)).numpy()
        return gradient + self._penalty[:, None] * tension, is_stable

    def _slopes(self, at: _Linear, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The largest slope along which a tension could still go, and where it is small for forces of a size."""
        down = np.where(at.tension > self.min_tension.numpy(), at.gradient, 0.0)
        up = np.where(at.tension < self.max_tension.numpy(), -at.gradient, 0.0)
        optimality = np.maximum(down, up).max(axis=0, initial=0.0)
        columns = at.jacobian.reshape(*at.jacobian.shape[:2], -1)
        longest = np.sqrt(_products(columns**2, self._flat_weight).max(axis=1, initial=0.0))
        return optimality, optimality <= STILL * longest * size

    def _explains(self, bend: np.ndarray, at: _Linear, there: _Linear) -> np.ndarray:
        """Where U after a step is nearer to what is expected with what bends it than to what is without."""
        s = (there.tension - at.tension).T
        rows = at.jacobian.reshape(*at.jacobian.shape[:2], -1).swapaxes(1, 2)
        straight = self._value(_products(rows, s).reshape(at.forces.shape), s.T)
        off = at.value + _products(at.gradient.T, s) + straight - there.value
        return np.abs(off + 0.5 * _products(_products(bend, s), s)) < np.abs(off)

    def _secant(self, bend: np.ndarray, at: _Linear, there: _Linear, wanted: np.ndarray) -> np.ndarray:
        """The part of the Hessian of U that is of second derivatives of q, from what a step changed."""
        s, y = (there.tension - at.tension).T, (there.gradient - at.gradient).T
        turned = (there.jacobian - at.jacobian).reshape(*at.jacobian.shape[:2], -1)
        part = _products(turned, self._flat_weight * _flat(there.forces - wanted))
        known = _products(bend, s)
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = bend * np.fmin(1.0, np.abs(_products(s, part) / _products(s, known)))[:, None, None]
            rest = part - _products(bend, s)
            along = _products(y, s)[:, None, None]
            outer = rest[:, :, None] * y[:, None, :]
            square = y[:, :, None] * y[:, None, :]
            found = bend + (outer + outer.swapaxes(1, 2)) / along
            found -= _products(s, rest)[:, None, None] * square / along**2
        return np.where(along > 0.0, found, 0.0)

    def _step(self, at: _Linear, bend: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """The best tensions if q were linear, or by the Hessian with what bends it."""
        columns = np.sqrt(self._flat_weight) * at.jacobian.reshape(*at.jacobian.shape[:2], -1)
        gram = columns @ columns.swapaxes(1, 2) + np.diag(self._penalty)
        values, vectors = np.linalg.eigh(gram + bend)
        convex = (vectors * np.maximum(np.abs(values), FLAT * values[:, -1:])[:, None, :]) @ vectors.swapaxes(1, 2)
        gram = np.where(bend.any(axis=(1, 2))[:, None, None], convex, gram)
        diagonal = np.einsum("ett->et", gram)
        diagonal += damping[:, None] * diagonal
        projected = _products(gram, at.tension.T) - at.gradient.T
        self._search.gram.assign(np.stack([gram, np.zeros_like(gram)], axis=-1))
        self._search.projected.assign(np.stack([projected, np.zeros_like(projected)], axis=-1))
        self._search.factorise()
        self._search.settle(self.min_tension, self.max_tension, at.tension)
        return self._search.tension.numpy().T.copy()


def _flat(vectors: np.ndarray) -> np.ndarray:
    """Vectors of nodes as rows of numbers, one an environment."""
    return vectors.reshape(len(vectors), -1)


def _products(rows: np.ndarray, vectors) -> np.ndarray:
    """Scalar products of rows with the vector of each environment; sums do not depend on how many there are."""
    # NumPy adds strided numbers in another order.
    rows = np.ascontiguousarray(rows)
    vectors = np.ascontiguousarray(np.broadcast_to(vectors, (len(rows), rows.shape[-1])))
    if rows.ndim == 2:
        return (rows[:, None, :] @ vectors[:, :, None])[:, 0, 0]
    return (rows @ vectors[:, :, None])[:, :, 0]

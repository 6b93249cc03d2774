"""Newton's method with a line search: every step makes the potential smaller, in each environment on its own.

A step takes the true stiffness once a step before it has been taken whole, so that it converges quadratically. Where
that has a direction without stiffness, and at first, the stiffness of each element is projected to the positive
semi-definite, so that the step goes downhill. It is halved until the potential falls by a share of what the slope
promises. Where rounding hides what is left to fall, a step is taken if forces become smaller, and else the environment
is done. Linear systems are solved as precisely as the forces that are left deserve.
"""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.potential import Potential
from warp_artic.meshes.types import OPTIONS, MeshTypes

SUFFICIENT = 1e-4
"""Of what the slope promises: how much the potential has to fall."""
HALVINGS = 40
"""Most halvings of a step."""
ROUNDING = 64.0
"""Of the magnitude of the potential, in units of its last digit: what rounding may hide."""
COARSEST = 0.1
"""Largest relative residual of a linear system."""


@dataclass(frozen=True)
class NewtonOptions:
    """When Newton's method ends."""

    tolerance: float | None = None
    """Size of the forces on free nodes, of that of the loads and of the forces at the start; by default 1e-8, and 1e-4
    in float32."""
    most_steps: int = 100
    most_linear_iterations: int = 10000
    """Of a linear system."""


@dataclass(eq=False)
class Convergence:
    """How Newton's method went; arrays have an entry for each environment."""

    converged: np.ndarray
    """Whether forces have become as small as was asked for, or as rounding lets them."""
    steps: np.ndarray
    linear_iterations: np.ndarray
    """Of all steps."""
    force: np.ndarray
    """Size of the forces that are left on free nodes [N]."""
    reference: np.ndarray
    """What the tolerance is relative to [N]."""
    energies: list[np.ndarray] = field(default_factory=list)
    """The potential at the start and after each step [J]; it stays the same where an environment is done."""


@cache
def newton_kernels(types: MeshTypes):
    """The kernel `move`."""
    Real, Vec = types.real, types.vec

    @wp.kernel(**OPTIONS)
    def move(
        points: wp.array2d(dtype=Vec),
        step: wp.array2d(dtype=Vec),
        length: wp.array(dtype=Real),
        found: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        found[env, node] = points[env, node] + length[env] * step[env, node]

    return move


class Newton:
    """Newton's method for a potential, with work space of its own."""

    def __init__(self, potential: Potential, options: NewtonOptions | None = None):
        self.potential = potential
        self.options = options or NewtonOptions()
        mesh = potential.mesh
        tolerance = self.options.tolerance
        self._tolerance = (1e-8 if mesh.precision == "float64" else 1e-4) if tolerance is None else tolerance
        self._trial = wp.zeros((mesh.environments, len(mesh.body.points)), dtype=mesh.types.vec, device=mesh.device)
        self._length = wp.zeros(mesh.environments, dtype=mesh.types.real, device=mesh.device)
        self._asked = wp.zeros(mesh.environments, dtype=int, device=mesh.device)
        self._projected = wp.zeros(mesh.environments, dtype=int, device=mesh.device)
        self._move = newton_kernels(mesh.types)

    def solve(self, points: wp.array) -> Convergence:
        """Move free nodes, shape (environments, N), to where the potential is least; forces are then those there."""
        potential, count = self.potential, self.potential.mesh.environments
        active = np.ones(count, bool)
        found = Convergence(np.zeros(count, bool), *np.zeros((2, count), int), *np.zeros((2, count)))
        energy, magnitude = potential.evaluate(points, self._ask(active))
        if not np.isfinite(energy).all():
            energy = np.where(np.isfinite(energy), energy, np.inf)
        found.energies.append(energy)
        hidden, whole = np.zeros((2, count), bool)
        for step in range(self.options.most_steps + 1):
            force, loads = self._linearize(points, active, ~whole)
            # A step that the potential could not judge is judged by forces; it is the last one where they do not fall.
            stuck = active & hidden & (force > 0.5 * found.force)
            found.force = np.where(active, force, found.force)
            if step == 0:
                found.reference = np.maximum(force, loads)
            done = active & ((force <= self._tolerance * found.reference) | stuck)
            found.converged |= done
            active &= ~done
            if not active.any() or step == self.options.most_steps:
                break
            is_convex = self._solve(active, found)
            if (again := active & ~is_convex & whole).any():
                self._linearize(points, again, again)
                self._solve(again, found)
            energy, magnitude, hidden, length = self._step(points, energy, magnitude, active)
            moved, whole = length > 0.0, (length == 1.0) & (is_convex | ~whole)
            found.steps += active
            found.energies.append(energy)
            found.converged |= active & ~moved & hidden
            active &= moved
            if not active.any():
                break
        return found

    def _linearize(self, points: wp.array, active: np.ndarray, projected: np.ndarray):
        self._projected.assign(projected.astype(np.int32))
        return self.potential.linearize(points, self._ask(active), self._projected)

    def _solve(self, active: np.ndarray, found: Convergence) -> np.ndarray:
        """Find steps; gives where all directions met had stiffness."""
        system, asked = self.potential.system, self._ask(active)
        system.prepare(asked)
        relative = np.sqrt(found.force / np.where(found.reference > 0.0, found.reference, 1.0))
        most = self.options.most_linear_iterations
        system.solve(self.potential.forces, np.minimum(COARSEST, relative), most, asked)
        found.linear_iterations += np.where(active, system.iterations.numpy(), 0)
        return system.is_convex.numpy() > 0

    def _step(self, points: wp.array, energy: np.ndarray, magnitude: np.ndarray, active: np.ndarray):
        """Take a step; gives the potential, its magnitude, where rounding hides the fall, and the share of the step."""
        potential = self.potential
        slope = potential.system.slope.numpy().astype(float)
        noise = ROUNDING * potential.mesh.types.epsilon * magnitude
        hidden = active & (0.5 * slope <= noise)
        length = np.where(active, 1.0, 0.0)
        trying = active.copy()
        for _ in range(HALVINGS):
            self._move_to(points, length)
            value, size = potential.evaluate(self._trial, self._ask(trying))
            taken = trying & (value <= energy - SUFFICIENT * length * slope + np.where(hidden, noise, 0.0))
            energy, magnitude = np.where(taken, value, energy), np.where(taken, size, magnitude)
            trying &= ~taken
            if not trying.any():
                break
            length = np.where(trying, 0.5 * length, length)
        length = np.where(trying, 0.0, length)
        self._move_to(points, length)
        wp.copy(points, self._trial)
        return energy, magnitude, hidden, length

    def _move_to(self, points: wp.array, length: np.ndarray) -> None:
        """Set trial points."""
        self._length.assign(length)
        system = self.potential.system
        inputs = [points, system.solution, self._length, self._trial]
        wp.launch(self._move, dim=points.shape, inputs=inputs, device=self.potential.mesh.device)

    def _ask(self, active: np.ndarray) -> wp.array:
        self._asked.assign(active.astype(np.int32))
        return self._asked

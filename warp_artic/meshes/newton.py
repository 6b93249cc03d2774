"""Newton's method with a line search: every step makes the potential smaller, in each environment on its own.

A step takes the true stiffness once a step before it has been taken whole, so that it converges quadratically, and from
the first on where there is inertia. Where that has a direction without stiffness, and else at first, the stiffness of
each element is projected to the positive semi-definite, so that the step goes downhill. It is halved until the
potential falls by a share of what the slope promises. Where rounding of energies hides what is left to fall, the forces
f and f+ at both ends of a step d tell it, as such steps are short:

    fall = 1/2 (f + f+) d

A step like that is the last one where forces do not become smaller by it. Where no step makes the potential fall,
forces that are no larger than rounding of positions makes them count as none: those of a body that rests without a
load. Linear systems are solved as precisely as the forces that are left deserve, and stiffness is kept while forces
fall fast.
"""

from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
import warp as wp

from warp_artic.math.pool import run_at_once
from warp_artic.meshes.potential import Evaluation, Potential
from warp_artic.meshes.types import OPTIONS, MeshTypes

SUFFICIENT = 1e-4
"""Of what the slope promises: how much the potential has to fall."""
HALVINGS = 40
"""Most halvings of a step."""
SHORT = 0.02
"""Share of a step. Where no more of it makes the potential fall, and it promises less than half of the digits of the
potential, these are lost: in elements, positions have fewer digits than energies."""
ROUNDING = 64.0
"""Of the magnitude of the potential, in units of its last digit: what rounding may hide."""
FAST = 0.1
"""Of the forces before a step: where no more are left, the next step has the same stiffness."""

LEAST_SHARE = 1000
"""Elements whose part of a step takes as long as what a further thread costs: the host does its own part once more, for
0.6 ms on a core with AVX2."""


@dataclass(frozen=True)
class NewtonOptions:
    """When Newton's method ends."""

    tolerance: float | None = None
    """Size of the forces on free nodes, of that of the loads and of the forces at the start; by default 1e-8, and 1e-4
    in float32."""
    most_steps: int = 100
    coarsest: float = 0.1
    """Largest relative residual of a linear system."""
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
    falls: list[np.ndarray] = field(default_factory=list)
    """By how much it falls in each step [J], also where that is less than the digits of energies."""

    def beside(self, other: "Convergence", where: np.ndarray) -> "Convergence":
        """With another solve, of some environments that this one left out; one that ends earlier stays as it is."""
        count = max(len(self.energies), len(other.energies))

        def merged(own: list[np.ndarray], others: list[np.ndarray], length: int) -> list[np.ndarray]:
            return [np.where(where, _at(others, k), _at(own, k)) for k in range(length)]

        return Convergence(
            *(
                np.where(where, getattr(other, name), getattr(self, name))
                for name in ("converged", "steps", "linear_iterations", "force", "reference")
            ),
            merged(self.energies, other.energies, count),
            merged(_ended(self.falls), _ended(other.falls), count)[:-1],
        )

    def followed_by(self, again: "Convergence", where: np.ndarray) -> "Convergence":
        """With another solve in some environments after this one; steps add up, potentials are those of the other."""
        return Convergence(
            np.where(where, again.converged, self.converged),
            self.steps + again.steps,
            self.linear_iterations + again.linear_iterations,
            np.where(where, again.force, self.force),
            np.where(where, again.reference, self.reference),
            again.energies,
            again.falls,
        )


def _at(values: list[np.ndarray], place: int) -> np.ndarray:
    """The last one goes on."""
    return values[min(place, len(values) - 1)]


def _ended(falls: list[np.ndarray]) -> list[np.ndarray]:
    """Falls, and none after them."""
    return [*falls, np.array(0.0)]


@cache
def newton_kernels(types: MeshTypes):
    """The kernels `move` and `take`."""
    Real, Vec = types.real, types.vec

    @wp.kernel(**OPTIONS)
    def move(
        points: wp.array2d(dtype=Vec),
        step: wp.array2d(dtype=Vec),
        length: wp.array(dtype=Real),
        own: wp.array(dtype=int),
        found: wp.array2d(dtype=Vec),
        threads: int,
    ):
        env, first = wp.tid()
        if own[env] > 0:
            for node in range(first, points.shape[1], threads):
                found[env, node] = points[env, node] + length[env] * step[env, node]

    @wp.kernel(**OPTIONS)
    def take(found: wp.array2d(dtype=Vec), own: wp.array(dtype=int), points: wp.array2d(dtype=Vec), threads: int):
        env, first = wp.tid()
        if own[env] > 0:
            for node in range(first, points.shape[1], threads):
                points[env, node] = found[env, node]

    return move, take


class Newton:
    """Newton's method for a potential, with work space of its own.

    Args:
        potential: What is made least.
        options: When it ends.
        own: Environments that it may solve, shape (environments); all by default. Others are not touched.
    """

    def __init__(self, potential: Potential, options: NewtonOptions | None = None, own: np.ndarray | None = None):
        self.potential = potential
        self.options = options or NewtonOptions()
        mesh = potential.mesh
        tolerance = self.options.tolerance
        self._tolerance = (1e-8 if mesh.precision == "float64" else 1e-4) if tolerance is None else tolerance
        self._trial = wp.zeros((mesh.environments, len(mesh.body.points)), dtype=mesh.types.vec, device=mesh.device)
        self._length = wp.zeros(mesh.environments, dtype=mesh.types.real, device=mesh.device)
        self._asked = wp.zeros(mesh.environments, dtype=int, device=mesh.device)
        self._projected = wp.zeros(mesh.environments, dtype=int, device=mesh.device)
        self.own = np.ones(mesh.environments, bool) if own is None else own
        self._is_own = wp.array(self.own.astype(np.int32), dtype=int, device=mesh.device)
        self._rests = True
        """Whether the last solve took no step: the next one then looks at forces first."""
        self._host = mesh.host
        self._move, self._take = newton_kernels(mesh.types)

    def solve(self, points: wp.array, asked: np.ndarray | None = None) -> Convergence:
        """Move free nodes, shape (environments, N), to where the potential is least; forces are then those there.

        `asked` says in which environments, in all by default.
        """
        potential, count = self.potential, self.potential.mesh.environments
        active = self.own.copy() if asked is None else asked & self.own
        contacts = potential.contacts
        if contacts:
            contacts.admit(points, self._ask(active))
        whole = np.full(count, potential.inertia is not None)
        # Where bodies move, the first step will want the stiffness at the start.
        is_stiff = not self._rests
        self._host.write(self._projected, ~whole)
        at = potential.evaluate(points, self._ask(active), self._projected if is_stiff else None)
        reference = np.maximum(at.force, at.loads)
        found = Convergence(np.zeros(count, bool), *np.zeros((2, count), int), at.force, reference, [at.energy])
        hidden, kept = np.zeros((2, count), bool)
        while True:
            done = active & np.isfinite(at.force) & (at.force <= self._tolerance * reference)
            found.converged |= done
            active &= ~done
            if not active.any() or len(found.energies) > self.options.most_steps:
                break
            force = at.force
            is_convex = self._find_step(points, at, active, kept, whole, is_stiff, found)
            is_stiff = False
            at, fall, hidden, length = self._step(points, at, active)
            moved = active & (length > 0.0)
            found.steps += moved
            found.energies.append(at.energy)
            found.falls.append(fall)
            found.force = at.force
            # A step that the potential could not judge is judged by forces; it is the last one where they do not fall.
            stuck = active & (~moved | (hidden & (at.force > 0.5 * force)))
            if contacts:
                # Other directions are held now, unless forces are those of rounding.
                stuck &= ~moved | ~contacts.has_changed | (at.force <= at.rounding)
            enough = np.maximum(self._tolerance * reference, at.rounding)
            found.converged |= stuck & np.isfinite(at.force) & (hidden | (at.force <= enough))
            active &= ~stuck
            kept = moved & (at.force <= FAST * force)
            if contacts:
                kept &= ~contacts.has_changed
            whole = (length == 1.0) & (is_convex | ~whole)
        self._rests = not found.steps.any()
        return found

    def _find_step(self, points, at: Evaluation, active, kept, whole, is_stiff, found: Convergence) -> np.ndarray:
        """Solve for steps; gives where all directions met had stiffness. `is_stiff`: that of elements is known."""
        if (anew := active & ~kept).any():
            self._stiffen(points, anew, None if is_stiff else ~whole)
        is_convex = self._solve(active, at, found)
        if (again := active & ~is_convex & whole).any():
            self._stiffen(points, again, again)
            self._solve(again, at, found)
        return is_convex

    def _stiffen(self, points: wp.array, asked: np.ndarray, projected: np.ndarray | None) -> None:
        if projected is not None:
            self._host.write(self._projected, projected)
        self.potential.stiffen(points, self._ask(asked), None if projected is None else self._projected)

    def _solve(self, active: np.ndarray, at: Evaluation, found: Convergence) -> np.ndarray:
        system = self.potential.system
        with np.errstate(invalid="ignore"):  # of what overflows
            relative = np.sqrt(at.force / np.where(found.reference > 0.0, found.reference, 1.0))
        tolerance = np.minimum(self.options.coarsest, relative)
        self.potential.find_step(tolerance, self.options.most_linear_iterations, self._ask(active))
        found.linear_iterations += np.where(active, self._host.read(system.iterations), 0)
        return self._host.read(system.is_convex) > 0

    def _step(self, points: wp.array, at: Evaluation, active: np.ndarray):
        """Take a step; gives the evaluation there, the fall, where energies hide it, and the share of the step."""
        potential = self.potential
        slope = self._host.read(potential.system.slope).astype(float)
        noise = ROUNDING * potential.mesh.types.epsilon * at.magnitude
        hidden = active & (0.5 * slope <= noise)
        small = slope <= np.sqrt(potential.mesh.types.epsilon) * at.magnitude
        length = np.where(active, 1.0, 0.0)
        trying, start, fall = active.copy(), at, np.zeros(len(active))
        for _ in range(HALVINGS):
            self._move_to(points, length)
            trial = potential.evaluate(self._trial, self._ask(trying))
            with np.errstate(invalid="ignore"):  # of what overflows
                by_energy, by_forces = start.energy - trial.energy, potential.fall_by_forces(length, slope, trial)
            gone = np.where(hidden, by_forces, by_energy)
            taken = trying & (gone >= SUFFICIENT * length * slope)
            at, fall = at.replaced(taken, trial), np.where(taken, gone, fall)
            trying &= ~taken
            if not trying.any():
                break
            length = np.where(trying, 0.5 * length, length)
        if trying.any():
            length = np.where(trying, 0.0, length)
            self._move_to(points, length)
            potential.evaluate(self._trial, self._ask(trying))
        potential.mesh.launch_over_nodes(self._take, [self._trial, self._is_own, points])
        return at, fall, hidden | (active & small & (length < SHORT)), length

    def _move_to(self, points: wp.array, length: np.ndarray) -> None:
        """Set trial points."""
        self._host.write(self._length, length)
        potential = self.potential
        inputs = [points, potential.system.solution, self._length, self._is_own]
        if potential.contacts:
            potential.contacts.move(*inputs, self._trial)
        else:
            potential.mesh.launch_over_nodes(self._move, [*inputs, self._trial])

    def _ask(self, active: np.ndarray) -> wp.array:
        self._host.write(self._asked, active)
        return self._asked


class NewtonOnThreads:
    """Newton's method by several threads, each with environments of its own; one environment notices nothing of it.

    Args:
        potential: What is made least.
        options: When it ends.
        threads: At most; as many work as have more to do than what they cost.
    """

    def __init__(self, potential: Potential, options: NewtonOptions | None = None, threads: int = 1):
        mesh = potential.mesh
        # What threads cost is done by one at a time: k of them have to take less time for it than each for the rest.
        worth = int((len(mesh.body.elements) * mesh.environments / LEAST_SHARE) ** 0.5)
        # Environments that are solved side by side are of one thread.
        group = np.arange(mesh.environments) // mesh.together
        groups = int(group[-1]) + 1
        count = max(1, min(threads, groups, worth))
        share = group * count // groups
        self.parts = [Newton(potential, options, share == part) for part in range(count)]

    def solve(self, points: wp.array, asked: np.ndarray | None = None) -> Convergence:
        """See `Newton.solve`."""
        if len(self.parts) == 1:
            return self.parts[0].solve(points, asked)
        parts = [part for part in self.parts if asked is None or (asked & part.own).any()]
        found = run_at_once([partial(part.solve, points, asked) for part in parts])
        whole = found[0]
        for part, convergence in zip(parts[1:], found[1:]):
            whole = whole.beside(convergence, part.own)
        return whole

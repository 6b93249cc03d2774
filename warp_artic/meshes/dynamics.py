"""Motion of elastic bodies by the implicit midpoint rule.

With k = h / 2, the point y in the middle of a step makes least

    elements + tendons - f y + m / (2 k^2) |y - x - k v|^2 + a m / (2 k) |y - x|^2 + damping of the elements over k

with Rayleigh's factor a of the mass; then x+ = 2 y - x and v+ = 2 (y - x) / k - v. The rule is of second order. It
keeps momentum, and angular momentum too, to what Newton's method leaves; energy stays near its value without drift,
and damping takes exactly what it takes in the middle. Nothing but the damping of the material takes energy: an implicit
Euler step would take from a free vibration of period T the share 2 pi^2 h / T in each step. High frequencies that the
step cannot resolve go on ringing where a body has no `stiffness_damping`; with b they fall by (b - k) / (b + k) a step.

Where motion is too violent for the step, the rule gives elements and tendons more energy than their forces do in the
middle:

    gain = V(x+) - V(x) + f(y) (x+ - x)

of their energy V and forces f, damping among these. Once the sum of gains is above a share of the energy of the body,
the step is made by implicit Euler in two halves, of which the first one is the one to y. That only loses energy, so
that no body explodes. With b above k elements do not ring, and gains are not computed, which would take a tenth of a
step of a corotated body.

Nodes do not enter obstacles (`meshes.node_contacts`).

Nodes that are held go where they are taken: from their place to the one given for the end of the step, on a line. Nodes
that others carry give way in the middle as `carried` says, and go on as far from there.
"""

from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.carried import CarriedNodes
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.equilibrium import held_nodes, start_points
from warp_artic.meshes.newton import Convergence, NewtonOnThreads, NewtonOptions
from warp_artic.meshes.node_contacts import NodeContacts
from warp_artic.meshes.potential import Inertia, Potential
from warp_artic.meshes.tendons import MeshTendons
from warp_artic.meshes.types import OPTIONS, MeshTypes

TOLERANCE = {"float64": 1e-6, "float32": 1e-4}
"""Of a step: forces that are left, of those where velocities would last."""
MOST_GAIN = 0.05
"""Share of the energy of a body that steps may have added to it."""

MOST_PASSES = 10
"""Most further solves of a step for the normal forces of friction."""
FAR = 0.05
"""Share of a body that a wave runs through in half a step, from which on a coarse space is worth what it costs."""


def step_options(precision: str) -> NewtonOptions:
    """When the solve of a step ends; its linear systems are easy, and are solved so well that mostly two are enough."""
    tolerance = TOLERANCE[precision]
    return NewtonOptions(tolerance=tolerance, coarsest=tolerance**0.5)


@cache
def dynamics_kernels(types: MeshTypes):
    """The kernels `load`, `begin` and `finish`."""
    dim, Real, Vec = types.dim, types.real, types.vec
    Vec3 = wp.types.vector(length=3, dtype=Real)
    Quat = wp.types.quaternion(dtype=Real)

    @wp.kernel(**OPTIONS)
    def load(
        mass: wp.array2d(dtype=Real),
        gravity: wp.array2d(dtype=Real),
        turn: Quat,
        forces: wp.array2d(dtype=Vec),
        loads: wp.array2d(dtype=Vec),
        threads: int,
    ):
        env, first = wp.tid()
        g = wp.quat_rotate_inv(turn, Vec3(gravity[0, env], gravity[1, env], gravity[2, env]))
        for node in range(first, loads.shape[1], threads):
            total = forces[env, node]
            for i in range(dim):
                total[i] = total[i] + mass[env, node] * g[i]
            loads[env, node] = total

    @wp.kernel(**OPTIONS)
    def begin(
        points: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
        end: wp.array2d(dtype=Vec),
        is_held: wp.array(dtype=int),
        k: Real,
        mass_damping: Real,
        middle: wp.array2d(dtype=Vec),
        ahead: wp.array2d(dtype=Vec),
        center: wp.array2d(dtype=Vec),
        threads: int,
    ):
        env, first = wp.tid()
        for node in range(first, points.shape[1], threads):
            x = points[env, node]
            free = x + k * velocities[env, node]
            ahead[env, node] = free
            center[env, node] = (free + (mass_damping * k) * x) / (Real(1.0) + mass_damping * k)
            middle[env, node] = free
            if is_held[node] > 0:
                middle[env, node] = Real(0.5) * (x + end[env, node])

    @wp.kernel(**OPTIONS)
    def finish(
        middle: wp.array2d(dtype=Vec),
        end: wp.array2d(dtype=Vec),
        end_velocities: wp.array2d(dtype=Vec),
        is_held: wp.array(dtype=int),
        mass: wp.array(dtype=Real),
        k: Real,
        points: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
        forces: wp.array2d(dtype=Vec),
        threads: int,
    ):
        env, first = wp.tid()
        for node in range(first, points.shape[1], threads):
            x = points[env, node]
            v = velocities[env, node]
            if is_held[node] > 0:
                # What is left once the node is accelerated is for those who hold it.
                v_end = end_velocities[env, node]
                forces[env, node] = forces[env, node] - (mass[node] / (Real(2.0) * k)) * (v_end - v)
                points[env, node] = end[env, node]
                velocities[env, node] = v_end
            else:
                y = middle[env, node]
                points[env, node] = Real(2.0) * y - x
                velocities[env, node] = Real(2.0) * ((y - x) / k) - v

    return load, begin, finish


class ElasticDynamics:
    """Steps of a body with its tendons.

    Args:
        mesh: The elements; its pattern has the pairs of the tendons.
        tendons: Of the body, if any.
        dt: Time step [s].
        options: When Newton's method ends.
        is_carried: Attached nodes that others carry, shape (N); the others are held, by default all.
        coordinates: Of carried nodes, that there is room for.
        threads: Most that solve environments at once, on a CPU.
    """

    def __init__(
        self,
        mesh: ElasticMesh,
        tendons: MeshTendons | None,
        dt: float,
        options: NewtonOptions | None = None,
        is_carried: np.ndarray | None = None,
        coordinates: int = 0,
        threads: int = 1,
    ):
        body, material = mesh.body, mesh.body.material
        self.mesh = mesh
        self.tendons = tendons
        self.dt = dt
        count = len(body.points)
        is_carried = np.zeros(count, bool) if is_carried is None else is_carried
        held = held_nodes(body) & ~is_carried
        self.carried = CarriedNodes(
            mesh.types, np.flatnonzero(is_carried), count, coordinates, mesh.environments, mesh.device
        )
        """To be told before each step what those know who carry."""
        # A preconditioner that sees the whole body pays where a wave runs far within half a step.
        wave = 0.5 * dt * np.sqrt((body.moduli / body.densities).max(initial=0.0))
        extent = np.linalg.norm(np.ptp(np.asarray(body.points, float), axis=0))
        self.potential = Potential(mesh, tendons, held, coarse=bool(wave > FAR * extent), carried=self.carried)
        if body.obstacles:
            self.potential.contacts = NodeContacts(mesh, held | is_carried)
        self.newton = NewtonOnThreads(self.potential, options or step_options(mesh.precision), threads)
        self.points = mesh.array(start_points(body))
        """Shape (environments, N) [m]."""
        start = np.zeros(body.points.shape) if body.start_velocities is None else body.start_velocities
        self.velocities = mesh.array(np.where(held[:, None], 0.0, start))
        """Shape (environments, N) [m/s]."""
        self.end = wp.clone(self.points)
        """Where held nodes are taken in the next step, shape (environments, N) [m]; others do not count."""
        self.end_velocities = mesh.array(np.zeros(body.points.shape))
        """Velocities that they have then [m/s]."""
        types = mesh.types
        self._middle, self._ahead, self._center = (mesh.array(np.zeros(body.points.shape)) for _ in range(3))
        self._k = types.real(0.5 * dt)
        self._mass_damping = types.real(material.mass_damping)
        self._is_held = wp.array(held.astype(np.int32), dtype=int, device=mesh.device)
        factor = (1.0 + material.mass_damping * 0.5 * dt) / (0.5 * dt) ** 2
        self.node_mass = mesh.node_mass.copy()
        """Of the nodes that belong to the body [kg], shape (N); that of attached ones is of those who hold them."""
        self.node_mass[[one.node for one in body.attachments]] = 0.0
        self.potential.mass.assign(self.node_mass)
        weighed = np.repeat(self.node_mass[None], mesh.environments, axis=0)
        self.weighed = wp.array(weighed, dtype=mesh.types.real, device=mesh.device)
        """Mass of nodes by which `weigh` weighs them [kg], shape (environments, N); write to it."""
        self._coordinate_mass = np.repeat(self.node_mass, body.dim)
        self.potential.inertia = Inertia(factor, self._center)
        self.potential.start = self.points
        if material.stiffness_damping > 0.0:
            self.potential.damping = mesh.damping(material.stiffness_damping / (0.5 * dt))
        self._turn = wp.types.quaternion(dtype=types.real)(*body.pose.quaternion)
        self._load, self._begin, self._finish = dynamics_kernels(types)
        self.gained = wp.zeros(mesh.environments, dtype=wp.float64, device=mesh.device)
        """What steps have added to stored energy, shape (environments) [J]; a run goes on from it."""
        self._rings = material.stiffness_damping < 0.5 * dt
        self._may_gain = self._rings or tendons is not None
        self._seen: tuple[np.ndarray, np.ndarray] | None = None
        self._of_tendons = wp.zeros_like(self.points)
        self._stored_in_tendons = wp.zeros(mesh.environments, dtype=mesh.types.real, device=mesh.device)

    @property
    def loads(self) -> wp.array:
        """Forces on nodes, weights among them [N], shape (environments, N); write to it."""
        return self.potential.loads

    @property
    def forces(self) -> wp.array:
        """After a solve: what free nodes still lack, and what others do to those who hold or carry them [N]."""
        return self.potential.forces

    @property
    def middle(self) -> wp.array:
        """After a solve: points in the middle of the step, where forces are taken, shape (environments, N) [m]."""
        return self._middle

    @property
    def contact_forces(self) -> wp.array | None:
        """What obstacles have done to nodes in the last step, on average, shape (environments, N) [N]; where that was
        made in halves, in the second one. None where there are no obstacles."""
        return self.potential.contacts.forces if self.potential.contacts else None

    def follow_obstacles(self, time: float) -> None:
        """Know where obstacles that move are in the step from a time since the start on [s]."""
        if self.potential.contacts:
            self.potential.contacts.follow(time, self.dt)

    def weigh(self, gravity: wp.array, forces: wp.array) -> None:
        """Set loads: weights in gravity in world axes [m/s^2], shape (3, environments), and forces on nodes [N]."""
        inputs = [self.weighed, gravity, self._turn, forces, self.loads]
        self.mesh.launch_over_nodes(self._load, inputs)

    def step(self) -> Convergence:
        """Advance `points` and `velocities` by one time step; it is `begin`, `solve` and `finish`."""
        self.begin()
        found = self.solve()
        self.finish(found)
        return found

    def begin(self) -> None:
        """Guess the middle of the step."""
        self._begin_from(self.end)
        if self.potential.contacts:
            self.potential.contacts.place(self.points, self.velocities, self.dt, 2.0)

    def solve(self, asked: np.ndarray | None = None) -> Convergence:
        """Find the middle of the step, and again in environments that are asked for: carriers are known better."""
        if asked is None:
            self._place_carried(np.ones(self.mesh.environments, bool), 0.0)
        else:
            self._place_carried(asked, 1.0)
        found = self.newton.solve(self._middle, asked)
        return self._rub(found, self.dt, 2.0, np.ones(self.mesh.environments, bool) if asked is None else asked)

    def finish(self, found: Convergence) -> np.ndarray:
        """Go on from the middle to the end of the step.

        Gives the environments that had to be solved once more, in halves; `found` then knows of that.
        """
        mesh, potential = self.mesh, self.potential
        if self._may_gain:
            read = mesh.host.read
            pushes, forces = self._pushes(), read(potential.forces).copy()
            x, v, before = read(self.points).copy(), read(self.velocities).copy(), self._stored()
        inputs = [self._middle, self.end, self.end_velocities, self._is_held, potential.mass, self._k]
        outputs = [self.points, self.velocities, potential.forces]
        mesh.launch_over_nodes(self._finish, [*inputs, *outputs])
        if potential.contacts:
            every = np.ones(mesh.environments, bool)
            potential.contacts.end(self.velocities, potential.forces, potential.mass, self.dt, every)
        if self._may_gain:
            explodes = self._explodes(before, pushes, read(self.points).astype(float) - x)
            if explodes.any():
                second = self._halve(x, v, forces, explodes)
                found.converged &= second.converged | ~explodes
            return explodes
        return np.full(mesh.environments, False)

    def _rub(self, found: Convergence, duration: float, extent: float, where: np.ndarray) -> Convergence:
        """Solve again where friction is not yet that of the forces that obstacles bear, some times at most."""
        contacts = self.potential.contacts
        if not contacts or not contacts.has_friction:
            return found
        for _ in range(MOST_PASSES):
            arrays = self._middle, self.velocities, self.potential.forces, self.potential.mass
            where = contacts.press(*arrays, duration, extent, where)
            if not where.any():
                break
            found = found.followed_by(self.newton.solve(self._middle, where), where)
        return found

    def _explodes(self, before: np.ndarray, pushes: np.ndarray, way: np.ndarray) -> np.ndarray:
        """Where a step has added too much to the energy that was stored before, by forces along a way."""
        after = self._stored()
        host = self.mesh.host
        gained = np.maximum(host.read(self.gained) + after - before + np.einsum("eni,eni->e", pushes, way), 0.0)
        with np.errstate(over="ignore"):  # of what is far too violent
            v = host.read(self.velocities).reshape(len(after), -1).astype(float)
            moving = 0.5 * np.einsum("ek,ek,k->e", v, v, self._coordinate_mass)
        # What is not finite is above everything.
        explodes = ~(gained <= MOST_GAIN * (moving + np.abs(after)))
        host.write(self.gained, np.where(explodes, 0.0, gained))
        return explodes

    def forget(self, environments: np.ndarray) -> None:
        """Go on as if there had been no step before."""
        table = self.gained.numpy().copy()
        table[environments] = 0.0
        self.gained.assign(table)

    def _begin_from(self, end: wp.array) -> None:
        """Guess the middle of a step from where nodes are, held ones on their way to `end`."""
        outputs = [self._middle, self._ahead, self._center]
        inputs = [self.points, self.velocities, end, self._is_held, self._k, self._mass_damping, *outputs]
        self.mesh.launch_over_nodes(self._begin, inputs)
        if self.potential.damping is not None:
            self.mesh.follow(self.potential.damping, self.points, self._ahead)

    def _place_carried(self, where: np.ndarray, share: float) -> None:
        """Take carried nodes to their centers, and a share of the way from there to where they are that they can go."""
        nodes = self.carried.nodes
        if len(nodes):
            middle, center = self._middle.numpy().copy(), self.carried.arrays.center.numpy().astype(float)
            placed = center + share * self.carried.along(middle[:, nodes] - center)
            middle[:, nodes] = np.where(where[:, None, None], placed, middle[:, nodes])
            self._middle.assign(middle)

    def _stored(self) -> np.ndarray:
        """Energy now of what may gain some, shape (environments) [J]."""
        energy = np.zeros(self.mesh.environments)
        if self._rings:
            points = self.mesh.host.read(self.points)
            if self._seen is None or not np.array_equal(self._seen[0], points):
                self._seen = points.copy(), self.mesh.energy(self.points).numpy().astype(float)
            energy += self._seen[1]
        if self.tendons:
            self.tendons.measure(self.points, self.potential.foreign_points)
            energy += self.mesh.host.read(self.tendons.energy(self._stored_in_tendons))
        return energy

    def _pushes(self) -> np.ndarray:
        """Forces on nodes of what may gain energy, in the middle of the step, shape (environments, N, dim) [N]."""
        if not self._rings:
            self._of_tendons.zero_()
            self.tendons.add_forces(self._of_tendons)
            return self.mesh.host.read(self._of_tendons).copy()
        potential, middle, center = self.potential, self._middle.numpy(), self._center.numpy()
        weight = np.where(self._is_held.numpy() > 0, 0.0, potential.inertia.factor * self.node_mass)
        return potential.forces.numpy() - potential.loads.numpy() + weight[:, None] * (middle - center)

    def _halve(self, x: np.ndarray, v: np.ndarray, forces: np.ndarray, where: np.ndarray) -> Convergence:
        """Make the step again from x, v by implicit Euler in some environments; `forces` are those in the middle."""
        potential, k = self.potential, float(self._k)
        arrays = (self.points, self.velocities, potential.forces, self._middle)
        done = [array.numpy().copy() for array in arrays]
        middle, chosen = done[3], where[:, None, None]
        self.points.assign(np.where(chosen, middle, x))
        self.velocities.assign(np.where(chosen, (middle - x) / k, v))
        end, end_velocities = self.end.numpy(), self.end_velocities.numpy()
        # Held nodes go half the way to the end that is given, from where they are in the middle.
        self._begin_from(self.mesh.array(2.0 * end - middle))
        nodes = self.carried.nodes
        if len(nodes):
            # Their carriers go on from c + G (f - f_0) by as much as it is from x, and answer the second half too.
            self.carried.shift((middle - x)[:, nodes])
            self._place_carried(where, 1.0)
        contacts = potential.contacts
        if contacts:
            contacts.place(self.mesh.array(x), self.mesh.array(v), self.dt, 1.0, self.points)
        found = self._rub(self.newton.solve(self._middle, where), k, 1.0, where)
        last, held = self._middle.numpy().copy(), (self._is_held.numpy() > 0)[:, None]
        forces = 0.5 * (forces + potential.forces.numpy())
        forces = forces - held * (self.node_mass[:, None] / (2.0 * k)) * (end_velocities - v)
        new = np.where(held, end, last), np.where(held, end_velocities, (last - middle) / k), forces, middle
        left = potential.forces.numpy().copy() if contacts else None
        for array, one, other in zip(arrays, new, done):
            array.assign(np.where(chosen, one, other))
        if contacts:
            contacts.end(self.velocities, self.mesh.array(left), potential.mass, k, where)
        return found

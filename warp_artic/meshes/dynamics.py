"""Motion of elastic bodies by the implicit midpoint rule.

With k = h / 2, the point y in the middle of a step makes least

    elements + tendons - f y + m / (2 k^2) |y - x - k v|^2 + a m / (2 k) |y - x|^2 + damping of the elements over k

with Rayleigh's factor a of the mass; then x+ = 2 y - x and v+ = 2 (y - x) / k - v. The rule is of second order. It
keeps momentum, and angular momentum too, to what Newton's method leaves; energy stays near its value without drift,
and damping takes exactly what it takes in the middle. Nothing but the damping of the material takes energy: an implicit
Euler step would take from a free vibration of period T the share 2 pi^2 h / T in each step. High frequencies that the
step cannot resolve go on ringing where a body has no `stiffness_damping`; with b they fall by (b - k) / (b + k) a step.

Nodes that are held go where they are taken: from their place to the one given for the end of the step, on a line. Nodes
that others carry along move freely, with a share of the mass of those others in place of their own.
"""

from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.equilibrium import held_nodes, start_points
from warp_artic.meshes.newton import Convergence, Newton, NewtonOptions
from warp_artic.meshes.potential import Inertia, Potential
from warp_artic.meshes.tendons import MeshTendons
from warp_artic.meshes.types import OPTIONS, MeshTypes

TOLERANCE = {"float64": 1e-6, "float32": 1e-4}
"""Of a step: forces that are left, of those where velocities would last."""

FAR = 0.05
"""Share of a body that a wave runs through in half a step, from which on a coarse space is worth what it costs."""


def step_options(precision: str) -> NewtonOptions:
    """When the solve of a step ends; its linear systems are easy, and are solved well at once."""
    return NewtonOptions(tolerance=TOLERANCE[precision], coarsest=0.01)


@cache
def dynamics_kernels(types: MeshTypes):
    """The kernels `load`, `begin` and `finish`."""
    dim, Real, Vec = types.dim, types.real, types.vec
    Vec3 = wp.types.vector(length=3, dtype=Real)
    Quat = wp.types.quaternion(dtype=Real)

    @wp.kernel(**OPTIONS)
    def load(
        mass: wp.array(dtype=Real),
        gravity: wp.array2d(dtype=Real),
        turn: Quat,
        forces: wp.array2d(dtype=Vec),
        loads: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        g = wp.quat_rotate_inv(turn, Vec3(gravity[0, env], gravity[1, env], gravity[2, env]))
        total = forces[env, node]
        for i in range(dim):
            total[i] = total[i] + mass[node] * g[i]
        loads[env, node] = total

    @wp.kernel(**OPTIONS)
    def begin(
        points: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
        end: wp.array2d(dtype=Vec),
        is_held: wp.array(dtype=int),
        is_carried: wp.array(dtype=int),
        k: Real,
        mass_damping: Real,
        middle: wp.array2d(dtype=Vec),
        ahead: wp.array2d(dtype=Vec),
        center: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        x = points[env, node]
        free = x + k * velocities[env, node]
        ahead[env, node] = free
        center[env, node] = (free + (mass_damping * k) * x) / (Real(1.0) + mass_damping * k)
        middle[env, node] = free
        if is_held[node] > 0:
            middle[env, node] = Real(0.5) * (x + end[env, node])
        elif is_carried[node] > 0:
            center[env, node] = free

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
    ):
        env, node = wp.tid()
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
        carried: Mass that nodes have which belong to others, infinite where these hold them, zero for other nodes,
            shape (N) [kg]. By default none does, and attached nodes are held.
    """

    def __init__(
        self,
        mesh: ElasticMesh,
        tendons: MeshTendons | None,
        dt: float,
        options: NewtonOptions | None = None,
        carried: np.ndarray | None = None,
    ):
        body, material = mesh.body, mesh.body.material
        self.mesh = mesh
        self.tendons = tendons
        self.dt = dt
        carried = np.zeros(len(body.points)) if carried is None else carried
        is_carried = (carried > 0.0) & np.isfinite(carried)
        held = held_nodes(body) & ~is_carried
        # A preconditioner that sees the whole body pays where a wave runs far within half a step.
        wave = 0.5 * dt * np.sqrt(material.young_modulus / material.density)
        extent = np.linalg.norm(np.ptp(np.asarray(body.points, float), axis=0))
        self.potential = Potential(mesh, tendons, held, coarse=bool(wave > FAR * extent))
        self._newton = Newton(self.potential, options or step_options(mesh.precision))
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
        self._is_carried = wp.array(is_carried.astype(np.int32), dtype=int, device=mesh.device)
        drag = 1.0 + material.mass_damping * 0.5 * dt
        factor = drag / (0.5 * dt) ** 2
        self.node_mass = np.where(carried > 0.0, 0.0, mesh.node_mass)
        """Of the nodes that belong to the body [kg], shape (N)."""
        self.carried_inertia = np.where(is_carried, carried, 0.0) / (0.5 * dt) ** 2
        """Of the potential of a step, for carried nodes [N/m], shape (N)."""
        # There is no drag on what others have.
        self.potential.mass.assign(np.where(is_carried, carried / drag, self.node_mass))
        self._weighed = wp.array(self.node_mass, dtype=types.real, device=mesh.device)
        self.potential.inertia = Inertia(factor, self._center)
        self.potential.start = self.points
        self.potential.damping = self.points, self._ahead, material.stiffness_damping / (0.5 * dt)
        self._turn = wp.types.quaternion(dtype=types.real)(*body.pose.quaternion)
        self._load, self._begin, self._finish = dynamics_kernels(types)

    @property
    def loads(self) -> wp.array:
        """Forces on nodes, weights among them [N], shape (environments, N); write to it."""
        return self.potential.loads

    @property
    def forces(self) -> wp.array:
        """After a step: what free nodes still lack, and what held ones do to those who hold them [N]."""
        return self.potential.forces

    @property
    def center(self) -> wp.array:
        """After a step: where free nodes would be in its middle without forces, shape (environments, N) [m]."""
        return self._center

    @property
    def middle(self) -> wp.array:
        """After a step: points in its middle, where forces are taken, shape (environments, N) [m]."""
        return self._middle

    def weigh(self, gravity: wp.array, forces: wp.array) -> None:
        """Set loads: weights in gravity in world axes [m/s^2], shape (3, environments), and forces on nodes [N]."""
        inputs = [self._weighed, gravity, self._turn, forces, self.loads]
        wp.launch(self._load, dim=self.points.shape, inputs=inputs, device=self.mesh.device)

    def step(self) -> Convergence:
        """Advance `points` and `velocities` by one time step.

        Raises:
            SolveError: Neighbouring waypoints of a tendon coincide.
        """
        mesh, potential = self.mesh, self.potential
        outputs = [self._middle, self._ahead, self._center]
        of_nodes = [self._is_held, self._is_carried]
        inputs = [self.points, self.velocities, self.end, *of_nodes, self._k, self._mass_damping]
        wp.launch(self._begin, dim=self.points.shape, inputs=inputs, outputs=outputs, device=mesh.device)
        found = self._newton.solve(self._middle)
        inputs = [self._middle, self.end, self.end_velocities, self._is_held, self._weighed, self._k]
        outputs = [self.points, self.velocities, potential.forces]
        wp.launch(self._finish, dim=self.points.shape, inputs=inputs, outputs=outputs, device=mesh.device)
        return found

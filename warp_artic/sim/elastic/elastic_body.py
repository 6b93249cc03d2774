"""One elastic body of a simulation, with its tendons: what a user holds of it, and its part of a step beside links."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import MeshTendon
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError, UnknownNameError, did_you_mean
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.equilibrium import mesh_with_tendons, start_points
from warp_artic.meshes.newton import Convergence
from warp_artic.sim.arrays.failures import Failure
from warp_artic.sim.arrays.views import Member, checked, environment_indices
from warp_artic.sim.elastic.given_to_bodies import BY_NODE, GIVEN, MOTION, GivenToBody, Wrong
from warp_artic.sim.elastic.link_coupling import LinkCoupling, coordinates, mobile_links
from warp_artic.sim.elastic.link_waypoints import with_link_waypoints
from warp_artic.solver.settings import SolverSettings

TENDON_CONTROL = ("target_length", "stiffness", "tension")
"""What of a tendon may be steered, and follow a track."""


@dataclass(frozen=True)
class RunOfBodies:
    """What all bodies of a run share."""

    settings: SolverSettings
    environments: int
    device: str
    threads: int


class SimulatedElasticBody:
    """One elastic body in all environments; its arrays are on the device, and what is written to them acts."""

    def __init__(
        self,
        body: ElasticBody,
        tendons: tuple[MeshTendon, ...],
        scene: Scene,
        run: RunOfBodies,
        members: tuple[Member, ...],
        gravity: wp.array,
    ):
        environments, device, poses = run.environments, run.device, _link_poses(scene)
        coupled, through = with_link_waypoints(body, tendons, poses)
        mesh, on_body = mesh_with_tendons(coupled, through, environments, run.settings.precision, device)
        moving = mobile_links(scene)
        is_carried = np.zeros(len(coupled.points), bool)
        is_carried[[one.node for one in coupled.attachments if one.link in moving]] = True
        room = coordinates(coupled, scene)
        self._dynamics = ElasticDynamics(
            mesh, on_body, run.settings.dt, is_carried=is_carried, coordinates=room, threads=run.threads
        )
        self._tendons = on_body
        self.body = body
        """Its description."""
        self.path = body.name
        self.tendons = tendons
        """Their descriptions."""
        self.tendon_names = tuple(tendon.name for tendon in tendons)
        self.points: wp.array = self._own(self._dynamics.points)
        """Positions of nodes in the frame of the body [m], shape (environments, N) of vectors of its dimension."""
        self.velocities: wp.array = self._own(self._dynamics.velocities)
        """Of nodes [m/s], shape as `points`."""
        self._node_force = mesh.array(np.zeros(coupled.points.shape))
        self.node_force: wp.array = self._own(self._node_force)
        """Forces on nodes beside weights, in the axes of the body [N], shape as `points`."""
        self._described_gravity = scene.gravity
        self.gravity: wp.array = gravity
        """In world axes [m/s^2], shape (3, environments). Where a step finds that `parameters.gravity` has changed,
        that of articulations at the body, or else of all, takes its place."""
        self._followed_gravity = wp.clone(gravity)
        self.convergence: Convergence | None = None
        """How the solves of the last step went."""
        self.unconverged = np.zeros(environments, int)
        """Steps so far whose forces were not balanced in the end, shape (environments)."""
        self._measured: dict[str, np.ndarray] = {}
        self.coupling: LinkCoupling | None = None
        """With links, if it has to do with any."""
        if coupled.attachments:
            self.coupling = LinkCoupling(self._dynamics, scene, members, run.settings)
        given = {"gravity": self.gravity, "node_force": self.node_force}
        self.given = GivenToBody(self._controls() | given | self._motion(), environments)
        """What users write, and where it has stopped the body."""

    def __setattr__(self, name: str, value: object) -> None:
        """Write values into an array, of its shape, or what NumPy broadcasts to it; refuse what no step would see.

        Motion is written as by `set_state`.
        """
        is_made = "given" in self.__dict__
        if is_made and name in GIVEN:
            array = getattr(self, name)
            values = value.numpy() if isinstance(value, wp.array) else value
            if name in MOTION:
                self.set_state(**{name: values})
            else:
                array.assign(np.ascontiguousarray(checked(name, values, array.numpy().shape)))
        elif is_made and name not in self.__dict__ and not name.startswith("_"):
            raise UnknownNameError(f"{name}: is nothing of an elastic body that is written{did_you_mean(name, GIVEN)}")
        else:
            super().__setattr__(name, value)

    @property
    def node_mass(self) -> np.ndarray:
        """Of each node [kg], shape (N); that of attached nodes is of their links, and zero here."""
        return self._dynamics.node_mass[: len(self.body.points)]

    @property
    def contact_force(self) -> wp.array | None:
        """What obstacles did to nodes in the last step, on average, in the axes of the body [N], shape as `points`; of
        a step that was made in halves, in the second one. None where it has no obstacles."""
        forces = self._dynamics.contact_forces
        return None if forces is None else self._own(forces)

    @property
    def target_length(self) -> wp.array:
        """Of tendons [m], shape (tendons, environments)."""
        return self._of_tendons().target_length

    @property
    def stiffness(self) -> wp.array:
        """Of tendons [N/m], shape (tendons, environments)."""
        return self._of_tendons().stiffness

    @property
    def tension(self) -> wp.array:
        """Of tendons whose tension is given [N], shape (tendons, environments)."""
        return self._of_tendons().tension

    def measure_tendons(self) -> tuple[np.ndarray, np.ndarray]:
        """Lengths [m] and tensions [N] of tendons now, shape (tendons, environments)."""
        if self._tendons is None:
            none = np.zeros((0, self.points.shape[0]))
            return none, none
        shape = self._tendons.evaluate(self._dynamics.points)
        length, tension = shape.length.numpy().copy(), shape.tension.numpy().copy()
        return self._as_it_stopped("length", length), self._as_it_stopped("tension", tension)

    def energy(self) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and that of elements and tendons [J], shape (environments)."""
        speed = self.velocities.numpy().astype(float)
        stored = self._dynamics.mesh.energy(self._dynamics.points).numpy().astype(float)
        if self._tendons is not None:
            self.measure_tendons()
            stored += self._tendons.energy().numpy()
        kinetic = 0.5 * np.einsum("n,eni,eni->e", self.node_mass, speed, speed)
        return self._as_it_stopped("kinetic", kinetic), self._as_it_stopped("stored", stored)

    def world_points(self) -> np.ndarray:
        """Positions of nodes in the world [m], shape (environments, N, 3)."""
        pose = self.body.pose
        with np.errstate(invalid="ignore"):  # of what users write
            turned = self.points.numpy().astype(float) @ pose.rotation.T[: self.body.dim]
        return turned + np.asarray(pose.position)

    def world_contact_force(self) -> np.ndarray:
        """What obstacles did to nodes in the last step, world axes [N], shape (environments, N, 3)."""
        return self.contact_force.numpy().astype(float) @ self.body.pose.rotation.T[: self.body.dim]

    def set_state(self, points=None, velocities=None, environments=None) -> None:
        """Set positions [m] or velocities [m/s] of nodes, shape (N, dim) or (E, N, dim), of E chosen environments.

        Pinned nodes stay where they are put; attached ones go to their links in the next step.

        Raises:
            SettingsError: An array has another shape or is not finite, or there is no such environment.
        """
        chosen = environment_indices(environments, self.points.shape[0])
        for name, array, values in (("points", self.points, points), ("velocities", self.velocities, velocities)):
            if values is not None:
                table = array.numpy().copy()
                table[chosen] = checked(name, values, (len(chosen), *np.shape(self.body.points)))
                array.assign(table)
        if points is not None:
            wp.copy(self._dynamics.end, self._dynamics.points)
        self._dynamics.forget(chosen)
        self.given.forget(chosen)
        if self.contact_force is not None:
            table = self.contact_force.numpy().copy()
            table[chosen] = 0.0
            self.contact_force.assign(table)
        if self.coupling is not None:
            self.coupling.points.forget(chosen)

    def reset(self, environments: np.ndarray) -> None:
        """Put environments back to the start."""
        body = self.body
        start = np.zeros(body.points.shape) if body.start_velocities is None else body.start_velocities
        velocities = np.array(start, float)
        velocities[list(body.pinned)] = 0.0
        self.set_state(start_points(body), velocities, environments)
        self.given.restart(environments)

    def carry_over(self, old: SimulatedElasticBody) -> None:
        """Go on with the motion of another body of as many nodes, and with controls that an edit leaves alone."""
        self._carry_controls(old)
        if old._described_gravity == self._described_gravity:
            self.gravity.assign(old.gravity.numpy())
            self._followed_gravity.assign(old._followed_gravity.numpy())
        if old.body.points.shape != self.body.points.shape:
            return
        here, there = (one._motion() | {"node_force": one.node_force} for one in (self, old))
        if None not in (self.contact_force, old.contact_force):
            here, there = (one | {"contact_force": own.contact_force} for one, own in ((here, self), (there, old)))
        for name, array in here.items():
            array.assign(there[name].numpy())
        wp.copy(self._dynamics.end, self._dynamics.points)

    def _carry_controls(self, old: SimulatedElasticBody) -> None:
        """Go on with controls that are described as for the tendon of this name before."""
        rows = {tendon.name: row for row, tendon in enumerate(old.tendons)}
        is_at_rest_as_before = np.array_equal(old.body.points, self.body.points)
        for name, array in self._controls().items():
            table = array.numpy().copy()
            for row, tendon in enumerate(self.tendons):
                before = rows.get(tendon.name)
                if before is None or getattr(old.tendons[before], name) != getattr(tendon, name):
                    continue
                has_length = is_at_rest_as_before and old.tendons[before].waypoints == tendon.waypoints
                if name != "target_length" or has_length:
                    table[row] = old._controls()[name].numpy()[before]
            array.assign(table)

    def state_arrays(self) -> dict[str, wp.array]:
        """What a run goes on from; environments come first, but last in those of tendons and gravity."""
        found = self._motion() | self._controls() | {"gravity": self.gravity, "node_force": self.node_force}
        found |= {"followed_gravity": self._followed_gravity}
        found |= {"end": self._dynamics.end, "gained": self._dynamics.gained}
        found |= {"failure": self.given.failure, "clock": self.given.clock}
        if self.contact_force is not None:
            found["contact_force"] = self.contact_force
        if self.coupling is not None:
            found["reaction"] = self.coupling.points.reaction
        return found

    def failures(self) -> list[Failure]:
        """The environments in which it has stopped."""
        return [
            Failure(one.environment, self.path, self._owner(one), one.step, one.array, GIVEN[one.array].words)
            for one in self.given.wrong()
        ]

    def array(self, name: str) -> wp.array:
        """What follows tracks, rows first; see `sim.run.targets`."""
        return self.gravity if name == "gravity" else self._controls()[name.removeprefix("mesh_tendon_")]

    def follow_gravity(self, given: np.ndarray, where: np.ndarray) -> None:
        """Take up the gravity of articulations, shape (3, environments), in some environments, if it has changed."""
        seen = self._followed_gravity.numpy()
        changed = where & (given != seen).any(axis=0)
        if changed.any():
            for array in (self.gravity, self._followed_gravity):
                array.assign(np.where(changed, given, array.numpy()))

    def follow_obstacles(self, time: float) -> None:
        """Know where obstacles that move are in the step from a time since the start on [s]."""
        self._dynamics.follow_obstacles(time)

    def begin(self) -> None:
        """Begin a step, with links at the places they have now."""
        self.given.begin()
        self._dynamics.weigh(self.gravity, self._node_force)
        self._dynamics.begin()

    def solve(self, asked: np.ndarray | None = None) -> None:
        """Find the middle of the step, and again in environments that are asked for."""
        found = self._dynamics.solve(asked)
        self.convergence = found if asked is None else self.convergence.followed_by(found, asked)
        if self.coupling is not None:
            self.coupling.points.take(asked)

    def meet(self, push: Callable, is_first: bool) -> bool:
        """Find it together with links; gives whether the body had to be solved."""
        before = self.convergence
        apart = self.coupling.meet(self.solve, push, is_first)
        self.convergence.converged &= ~apart
        return self.convergence is not before

    def look_again(self, push: Callable) -> None:
        """Count environments as not converged in which links do not go where the body has them, by what others do."""
        self.convergence.converged &= ~self.coupling.is_apart(push)

    def finish(self) -> None:
        """End the step."""
        halved = self._dynamics.finish(self.convergence)
        self.unconverged += ~self.convergence.converged & ~self.given.stopped
        if self.coupling is not None and halved.any():
            self.coupling.points.take(halved)
        self.given.finish()

    def _own(self, array: wp.array) -> wp.array:
        """Without the nodes that are waypoints on links."""
        count = len(self.body.points)
        return array if array.shape[1] == count else array[:, :count]

    def _motion(self) -> dict[str, wp.array]:
        return {"points": self.points, "velocities": self.velocities}

    def _controls(self) -> dict[str, wp.array]:
        """What of tendons may be steered, if there are any."""
        own = self._tendons
        arrays = () if own is None else (own.target_length, own.stiffness, own.tension)
        return dict(zip(TENDON_CONTROL, arrays))

    def _owner(self, wrong: Wrong) -> str:
        """What has a value that is not allowed."""
        if wrong.array in TENDON_CONTROL:
            return self.tendon_names[wrong.row]
        return f"node {wrong.row}" if wrong.array in BY_NODE else self.path

    def _as_it_stopped(self, name: str, values: np.ndarray) -> np.ndarray:
        """What is measured, the last axis being environments: of those that have stopped what was measured last."""
        if self.given.stopped.any():
            known = self._measured.get(name, np.where(np.isfinite(values), values, 0.0))
            values = np.where(self.given.stopped, known, values)
        self._measured[name] = values
        return values

    def _of_tendons(self):
        if self._tendons is None:
            raise SettingsError(f"{self.path}: has no tendons")
        return self._tendons


def _link_poses(scene: Scene) -> dict:
    return {link.path: link.pose for tree in scene.articulations for link in tree.links if not link.is_massless}

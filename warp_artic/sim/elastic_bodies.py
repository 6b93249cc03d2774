"""The elastic bodies of a simulation, with their tendons: what a user holds of each, and their steps beside links.

In each step of the simulation each body makes one implicit step (`meshes.dynamics`), then articulations make theirs
with what bodies do to their links; `sim.link_coupling` says how the two meet. Bodies that have to do with the same
articulations are solved in turn, until all agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import warp as wp

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import MeshTendon
from warp_artic.description.scene import Scene
from warp_artic.description.validate_meshes import parts_of
from warp_artic.errors import SettingsError, SolveError
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.equilibrium import mesh_with_tendons, start_points
from warp_artic.meshes.newton import Convergence
from warp_artic.sim.link_coupling import LinkCoupling, coordinates, mobile_links
from warp_artic.sim.link_waypoints import with_link_waypoints
from warp_artic.sim.views import Member, checked, environment_indices
from warp_artic.solver.settings import SolverSettings

TENDON_CONTROL = ("target_length", "stiffness", "tension")
"""What of a tendon may be steered, and follow a track."""
MOST_ROUNDS = 8
"""Over bodies that have to do with the same articulations, in a step."""


class SimulatedElasticBody:
    """One elastic body in all environments; its arrays are on the device, and what is written to them acts."""

    def __init__(self, body: ElasticBody, tendons: tuple[MeshTendon, ...], scene: Scene, run: _Run, members):
        environments, device, poses = run.environments, run.device, _link_poses(scene)
        coupled, through = with_link_waypoints(body, tendons, poses)
        mesh, on_body = mesh_with_tendons(coupled, through, environments, run.settings.precision, device)
        moving = mobile_links(scene)
        is_carried = np.zeros(len(coupled.points), bool)
        is_carried[[one.node for one in coupled.attachments if one.link in moving]] = True
        room = coordinates(coupled, scene)
        self._dynamics = ElasticDynamics(mesh, on_body, run.settings.dt, is_carried=is_carried, coordinates=room)
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
        gravity = np.repeat(np.array([scene.gravity], float).T, environments, axis=1)
        self.gravity: wp.array = wp.array(gravity, dtype=mesh.types.real, device=device)
        """In world axes [m/s^2], shape (3, environments)."""
        self.convergence: Convergence | None = None
        """How the solves of the last step went."""
        self.unconverged = np.zeros(environments, int)
        """Steps so far whose forces were not balanced in the end, shape (environments)."""
        self.coupling: LinkCoupling | None = None
        """With links, if it has to do with any."""
        if coupled.attachments:
            self.coupling = LinkCoupling(self._dynamics, scene, members, run.settings)

    @property
    def node_mass(self) -> np.ndarray:
        """Of each node [kg], shape (N); that of attached nodes is of their links, and zero here."""
        return self._dynamics.node_mass[: len(self.body.points)]

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
        return shape.length.numpy().copy(), shape.tension.numpy().copy()

    def energy(self) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and that of elements and tendons [J], shape (environments)."""
        speed = self.velocities.numpy().astype(float)
        stored = self._dynamics.mesh.energy(self._dynamics.points).numpy().astype(float)
        if self._tendons is not None:
            self.measure_tendons()
            stored += self._tendons.energy().numpy()
        return 0.5 * np.einsum("n,eni,eni->e", self.node_mass, speed, speed), stored

    def world_points(self) -> np.ndarray:
        """Positions of nodes in the world [m], shape (environments, N, 3)."""
        pose = self.body.pose
        return self.points.numpy().astype(float) @ pose.rotation.T[: self.body.dim] + np.asarray(pose.position)

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
        if self.coupling is not None:
            self.coupling.points.forget(chosen)

    def reset(self, environments: np.ndarray) -> None:
        """Put environments back to the start."""
        body = self.body
        start = np.zeros(body.points.shape) if body.start_velocities is None else body.start_velocities
        velocities = np.array(start, float)
        velocities[list(body.pinned)] = 0.0
        self.set_state(start_points(body), velocities, environments)

    def carry_over(self, old: SimulatedElasticBody) -> None:
        """Go on with the motion of another body of as many nodes, and with the controls of the same tendons."""
        if old.body.points.shape != self.body.points.shape:
            return
        here, there = self._motion(), old._motion()
        if old.tendons == self.tendons:
            here, there = here | self._controls(), there | old._controls()
        for name, array in here.items():
            array.assign(there[name].numpy())
        wp.copy(self._dynamics.end, self._dynamics.points)

    def state_arrays(self) -> dict[str, wp.array]:
        """What a run goes on from; environments come first, but last in those of tendons and gravity."""
        found = self._motion() | self._controls() | {"gravity": self.gravity}
        found |= {"end": self._dynamics.end, "gained": self._dynamics.gained}
        if self.coupling is not None:
            found["reaction"] = self.coupling.points.reaction
        return found

    def array(self, name: str) -> wp.array:
        """What follows tracks, rows first; see `sim.targets`."""
        return self.gravity if name == "gravity" else self._controls()[name.removeprefix("mesh_tendon_")]

    def begin(self) -> None:
        """Begin a step, with links at the places they have now."""
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
        self.unconverged += ~self.convergence.converged
        if self.coupling is not None and halved.any():
            self.coupling.points.take(halved)

    def _own(self, array: wp.array) -> wp.array:
        """Without the nodes that are waypoints on links."""
        count = len(self.body.points)
        return array if array.shape[1] == count else array[:, :count]

    def _motion(self) -> dict[str, wp.array]:
        return {"points": self.points, "velocities": self.velocities, "node_force": self.node_force}

    def _controls(self) -> dict[str, wp.array]:
        """What of tendons may be steered, if there are any."""
        own = self._tendons
        arrays = () if own is None else (own.target_length, own.stiffness, own.tension)
        return dict(zip(TENDON_CONTROL, arrays))

    def _of_tendons(self):
        if self._tendons is None:
            raise SettingsError(f"{self.path}: has no tendons")
        return self._tendons


class ElasticBodies:
    """All elastic bodies of a simulation."""

    def __init__(
        self, scene: Scene, members: Sequence[Member], settings: SolverSettings, environments: int, device: str
    ):
        """`scene` is as it is laid out."""
        of_body = {body.name: [] for body in scene.elastic_bodies}
        for tendon in scene.mesh_tendons:
            of_body[tendon.body].append(tendon)
        run = _Run(settings, environments, device)
        self.bodies = tuple(
            SimulatedElasticBody(body, tuple(of_body[body.name]), scene, run, tuple(members))
            for body in scene.elastic_bodies
        )
        self._coupled = [body for body in self.bodies if body.coupling is not None]
        groups = {id(group): group for body in self._coupled for group in body.coupling.points.groups}
        fields = {key: group.field("link_external_force").scalars for key, group in groups.items()}
        self._given = {key: (field, wp.clone(field)) for key, field in fields.items()}
        self._neighbours = [self._neighbours_of(bodies) for bodies in _sharing_links(self._coupled)]

    def __bool__(self) -> bool:
        return bool(self.bodies)

    @property
    def is_coupled(self) -> bool:
        """Whether links have to do with any of them."""
        return bool(self._coupled)

    def follow(self) -> None:
        """Put attached nodes where links are, whose poses are up to date."""
        for body in self._coupled:
            body.coupling.points.follow()

    def see_bases(self) -> None:
        """Keep where moving bases are now, which is where they will be at the end of the next step."""
        for body in self._coupled:
            body.coupling.see_bases()

    def step(self) -> None:
        """Advance, and add what bodies do to links to the external forces of these, until `give_back`."""
        for field, given in self._given.values():
            wp.copy(given, field)
        for body in self.bodies:
            body.begin()
            if body.coupling is None:
                body.solve()
        for those in self._neighbours:
            self._meet(those)
        for body in self.bodies:
            body.finish()
        self.give_back()
        for body in self._coupled:
            body.coupling.points.push()

    def give_back(self) -> None:
        """Leave external forces as they were given."""
        for field, given in self._given.values():
            wp.copy(field, given)

    def _meet(self, those: _Neighbours) -> None:
        """Solve bodies in turn, until none has to be solved again."""
        push = partial(self._push, those)
        rounds = MOST_ROUNDS if len(those.bodies) > 1 else 1
        for turn in range(rounds):
            solved = [body.meet(push, turn == 0) for body in those.bodies]
            if not any(solved):
                return
        for body in those.bodies if rounds > 1 else ():
            body.look_again(push)

    def _push(self, those: _Neighbours) -> None:
        """Have links feel what was given and what these bodies do to them; the links of others do not count now."""
        for field, given in those.forces:
            wp.copy(field, given)
        for body in those.bodies:
            body.coupling.points.push()

    def _neighbours_of(self, bodies: list[SimulatedElasticBody]) -> _Neighbours:
        groups = {id(group) for body in bodies for group in body.coupling.points.groups}
        return _Neighbours(bodies, [own for key, own in self._given.items() if key in groups])

    def take(self, environments: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """What a run goes on from, of some environments or of all of them, which come first."""
        chosen = slice(None) if environments is None else environments
        return {name: np.moveaxis(array.numpy(), axis, 0)[chosen].copy() for name, array, axis in self._state()}

    def put(self, values: dict[str, np.ndarray], environments: np.ndarray | None = None) -> None:
        """Write what was taken to some environments; those out of range are left out."""
        for name, array, axis in self._state():
            table = np.moveaxis(array.numpy().copy(), axis, 0)
            chosen = np.arange(len(table)) if environments is None else environments
            kept = (chosen >= 0) & (chosen < len(table))
            table[chosen[kept]] = np.broadcast_to(values[name], (len(chosen), *table.shape[1:]))[kept]
            array.assign(np.ascontiguousarray(np.moveaxis(table, 0, axis)))

    def check(self, path, content: dict[str, np.ndarray]) -> None:
        """Raise a SolveError where the content of a file cannot be put."""
        for name, array in self.take().items():
            if name not in content or content[name].shape != array.shape:
                raise SolveError(f"{path}: {name} is missing; the checkpoint is of another version of warp_artic")

    def _state(self) -> Iterator[tuple[str, wp.array, int]]:
        """Names and arrays of everything that a run goes on from, and the axis of environments."""
        for index, body in enumerate(self.bodies):
            for name, array in body.state_arrays().items():
                yield f"elastic/{index}/{name}", array, int(name in (*TENDON_CONTROL, "gravity"))


@dataclass(frozen=True)
class _Run:
    """What all bodies share."""

    settings: SolverSettings
    environments: int
    device: str


@dataclass(frozen=True, eq=False)
class _Neighbours:
    """Bodies that have to do with the same articulations, directly or by way of each other."""

    bodies: list[SimulatedElasticBody]
    forces: list[tuple[wp.array, wp.array]]
    """External forces on links of the groups of these articulations, and what was given of them."""


def _sharing_links(bodies: list[SimulatedElasticBody]) -> list[list[SimulatedElasticBody]]:
    """Bodies by what has to do with the same articulations."""
    trees = [{own.member.index for own in body.coupling.points.trees} for body in bodies]
    first = len(bodies)
    pairs = [(number, first + tree) for number, own in enumerate(trees) for tree in own]
    labels = parts_of(first + 1 + max((max(own) for own in trees), default=0), np.array(pairs, int).reshape(-1, 2))
    found: dict[int, list[SimulatedElasticBody]] = {}
    for body, label in zip(bodies, labels[:first].tolist()):
        found.setdefault(label, []).append(body)
    return list(found.values())


def _link_poses(scene: Scene) -> dict:
    return {link.path: link.pose for tree in scene.articulations for link in tree.links if not link.is_carriage}

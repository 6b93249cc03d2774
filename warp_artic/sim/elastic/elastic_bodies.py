"""The steps of all elastic bodies of a simulation, beside links.

In each step of the simulation each body makes one implicit step (`meshes.dynamics`), then articulations make theirs
with what bodies do to their links; `sim.elastic.link_coupling` says how the two meet. Bodies that have to do with the
same articulations are solved in turn, until all agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import warp as wp

from warp_artic.description.scene import Scene
from warp_artic.description.validate_meshes import parts_of
from warp_artic.mechanisms.group import BY_BODY
from warp_artic.sim.arrays.failures import Failure
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.elastic.elastic_body import TENDON_CONTROL, RunOfBodies, SimulatedElasticBody

MOST_ROUNDS = 8
"""Over bodies that have to do with the same articulations, in a step."""


class ElasticBodies:
    """All elastic bodies of a simulation."""

    def __init__(self, scene: Scene, members: Sequence[Member], run: RunOfBodies):
        """`scene` is as it is laid out."""
        of_body = {body.name: [] for body in scene.elastic_bodies}
        for tendon in scene.mesh_tendons:
            of_body[tendon.body].append(tendon)
        real = getattr(wp, run.settings.precision)
        each = np.broadcast_to(np.array(scene.gravity)[:, None], (len(scene.elastic_bodies), 3, run.environments))
        self.gravity = wp.array(np.ascontiguousarray(each), dtype=real, device=run.device)
        """Of bodies, in world axes [m/s^2], shape (bodies, 3, environments)."""
        self.bodies = tuple(
            SimulatedElasticBody(body, tuple(of_body[body.name]), scene, run, tuple(members), self.gravity[row])
            for row, body in enumerate(scene.elastic_bodies)
        )
        self._members = tuple(members)
        self._seen: list[np.ndarray] = []
        """Gravity of groups at the last look."""
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

    def follow_obstacles(self, time: float) -> None:
        """Know where obstacles that move are in the step from a time since the start on [s]."""
        for body in self.bodies:
            body.follow_obstacles(time)

    def step(self) -> None:
        """Advance, and add what bodies do to links to the external forces of these, until `give_back`."""
        for field, given in self._given.values():
            wp.copy(given, field)
        self._follow_gravity()
        for body in self.bodies:
            body.begin()
        self._stop_carriers()
        for body in self.bodies:
            if body.coupling is None:
                body.solve()
        for those in self._neighbours:
            self._meet(those)
        for body in self.bodies:
            body.finish()
        self._stop_carriers()
        self.give_back()
        for body in self._coupled:
            body.coupling.points.push()

    def give_back(self) -> None:
        """Leave external forces, and what has stopped, as they were given."""
        for field, given in self._given.values():
            wp.copy(field, given)
        for body in self.bodies:
            body.given.end()

    def failures(self) -> list[Failure]:
        """Of all bodies."""
        return [failure for body in self.bodies for failure in body.failures()]

    def _follow_gravity(self) -> None:
        """Have bodies feel what has been written to the gravity of the articulations that have to do with them, or, of
        those that hang on none, of all; where these differ, bodies go on with theirs."""
        groups = {id(member.group): member.group for member in self._members if self.bodies}
        now = [group.parameters["gravity"].scalars.numpy() for group in groups.values()]
        if len(now) == len(self._seen) and all(map(np.array_equal, now, self._seen)):
            return
        self._seen = [values.copy() for values in now]
        found = [_gravity_of(member) for member in self._members]
        for body in self.bodies if found else ():
            trees = set() if body.coupling is None else body.coupling.articulations
            own = np.array([found[tree] for tree in sorted(trees)] or found)
            body.follow_gravity(own[0], (own == own[0]).all(axis=(0, 1)))

    def _stop_carriers(self) -> None:
        """Stop articulations together with what is attached to them."""
        for body in self._coupled:
            stopped = body.given.stopped
            for own in body.coupling.points.trees if stopped.any() else ():
                group, first = own.member.group, own.member.first_column
                failure = group.field("failure").scalars
                values, clock = failure.numpy().copy(), group.field("clock").scalars.numpy()[0]
                for column in first + np.flatnonzero(stopped):
                    if values[0, column] == 0.0:
                        values[:, column] = group.first_values[BY_BODY], clock[column] + 1.0
                failure.assign(values)

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
        """Write what was taken, of bodies that are meant, to some environments; those out of range are left out."""
        self._seen = []
        for name, array, axis in self._state():
            if name not in values:
                continue
            table = np.moveaxis(array.numpy().copy(), axis, 0)
            chosen = np.arange(len(table)) if environments is None else environments
            kept = (chosen >= 0) & (chosen < len(table))
            table[chosen[kept]] = np.broadcast_to(values[name], (len(chosen), *table.shape[1:]))[kept]
            array.assign(np.ascontiguousarray(np.moveaxis(table, 0, axis)))

    def names_of(self, articulations: Collection[int]) -> frozenset[str]:
        """Names of what there is to take of the bodies that belong to some articulations: those that hang on no other
        one, and where all are meant, all bodies."""
        every, meant = {member.index for member in self._members}, set(articulations)
        owners = [every if body.coupling is None else body.coupling.articulations for body in self.bodies]
        chosen = {str(index) for index, own in enumerate(owners) if own <= meant}
        return frozenset(name for name, _, _ in self._state() if name.split("/")[1] in chosen)

    def _state(self) -> Iterator[tuple[str, wp.array, int]]:
        """Names and arrays of everything that a run goes on from, and the axis of environments."""
        for index, body in enumerate(self.bodies):
            for name, array in body.state_arrays().items():
                yield f"elastic/{index}/{name}", array, int(name in (*TENDON_CONTROL, "gravity", "followed_gravity"))


@dataclass(frozen=True, eq=False)
class _Neighbours:
    """Bodies that have to do with the same articulations, directly or by way of each other."""

    bodies: list[SimulatedElasticBody]
    forces: list[tuple[wp.array, wp.array]]
    """External forces on links of the groups of these articulations, and what was given of them."""


def _gravity_of(member: Member) -> np.ndarray:
    """That an articulation feels, shape (3, environments)."""
    field, count = member.group.parameters["gravity"], member.group.environments
    if field.is_shared:
        return np.repeat(field.scalars.numpy()[:3, :1], count, axis=1)
    return field.scalars.numpy()[:3, member.first_column : member.first_column + count]


def _sharing_links(bodies: list[SimulatedElasticBody]) -> list[list[SimulatedElasticBody]]:
    """Bodies by what has to do with the same articulations."""
    trees = [body.coupling.articulations for body in bodies]
    first = len(bodies)
    pairs = [(number, first + tree) for number, own in enumerate(trees) for tree in own]
    labels = parts_of(first + 1 + max((max(own) for own in trees), default=0), np.array(pairs, int).reshape(-1, 2))
    found: dict[int, list[SimulatedElasticBody]] = {}
    for body, label in zip(bodies, labels[:first].tolist()):
        found.setdefault(label, []).append(body)
    return list(found.values())

"""Contacts that a host gives: which slots a scene has for them, and what is in these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.constraints.contact_tables import points_of_pairs
from warp_artic.description.joint import WORLD
from warp_artic.description.scene import Scene
from warp_artic.kernels.given_contacts import PLACE, given_contact_kernels
from warp_artic.mechanisms.group import Group, mechanisms_in
from warp_artic.sim.arrays.rows import Rows

SIZES = {
    "contact_frame0": 12,
    "contact_frame1": 12,
    "contact_size0": 3,
    "contact_size1": 3,
    "contact_distance": 1,
    "contact_static_friction": 1,
    "contact_dynamic_friction": 1,
    "contact_restitution": 1,
    "contact_stiffness": 1,
    "contact_damping": 1,
}
"""Parameters that contacts are written to, with the rows of each pair."""
MATERIALS = ("friction", "restitution", "stiffness", "damping")
NO_LINK = -1
"""The world, among the links of a scene."""


@dataclass(frozen=True)
class _Sets:
    """The sets of slots of a group, and where its mechanisms are in the world."""

    group: Group
    table: wp.array
    """Shape (mechanisms, sets, 8), see `kernels.given_contacts`; of what a mechanism does not have the slots are 0."""
    origins: wp.array
    """Shape (mechanisms, 3) [m]."""


class GivenContacts:
    """Slots for contacts that a host gives, and the contacts of the last `Simulation.set_contacts`.

    Args:
        scene: What is simulated, as it is laid out.
        groups: Its mechanisms.
        environments: Number of environments.
        device: "cpu" or "cuda:N".
    """

    def __init__(self, scene: Scene, groups: Sequence[Group], environments: int, device: str):
        self._environments, self._device = environments, device
        self.slots: dict[tuple[int, int], int] = {}
        """How many contacts two bodies may have, by their indices in the scene, -1 for the world."""
        link_of = {path: row for row, path in enumerate(scene.link_names)}
        tables = [_table(scene, group, link_of, self.slots) for group in groups]
        self.rows = _rows(tables, device) if self.slots else ()
        """Parameters that contacts are written to, with the rows that are."""
        self._sets: list[_Sets] = []
        for group, table in zip(groups, tables):
            for name in SIZES if self.slots else ():
                group.expand_parameter(name)
            if table.size:
                uploaded = wp.array(table, dtype=int, device=device)
                origins = wp.array(group.origins, dtype=group.columns.numbers.scalar, device=device)
                self._sets.append(_Sets(group, uploaded, origins))
        self._counts = wp.zeros(environments, dtype=int, device=device)
        self._room(0)
        self.left_out = wp.zeros(environments, dtype=int, device=device)
        """How many contacts were left out, of bodies without slots or beyond these, shape (E), on the device."""

    def __bool__(self) -> bool:
        return bool(self.slots)

    def impulse(self) -> wp.array:
        """Impulses of the contacts in the last step on the second body of each, shape (E, K, 3), world axes [N s].

        In the order in which they were given; zero where one has no slot. With substeps, of the last of them.
        """
        found = wp.zeros((self._environments, self._owner.shape[1], 3), dtype=self.scalar, device=self._device)
        for one in self._sets:
            impulse = one.group.field("contact_impulse").scalars
            self._launch("gather", one, self._counts, self._owner, self._slot, self._sign, impulse, found)
        return found

    @property
    def scalar(self) -> type:
        """The type of numbers."""
        return self._sets[0].group.columns.numbers.scalar if self._sets else wp.float32

    def give(
        self,
        counts: wp.array,
        bodies: wp.array,
        normals: wp.array,
        points: tuple[wp.array, wp.array, wp.array | None],
        materials: Mapping[str, wp.array],
    ) -> None:
        """Write contacts to slots, for links whose poses are up to date.

        Args:
            counts: Shape (E).
            bodies: Shape (E, K, 2).
            normals: Shape (E, K, 3).
            points: Of both bodies in their frames, and None; or both those midway in the world, and the gaps.
            materials: By the names of MATERIALS, shape (E, K) each.
        """
        kernels = given_contact_kernels(self.scalar)
        self._counts = counts
        self._room(bodies.shape[1])
        first, second, gaps = points
        nothing = wp.zeros((0, 0), dtype=self.scalar, device=self._device)
        own = [materials.get(name, nothing) for name in MATERIALS]
        for one in self._sets:
            group = one.group
            field = {name: group.field(name).scalars for name in (*SIZES, "contact_thickness", "link_frame")}
            pose = group.field("link_pose").scalars
            where = one.origins, pose, field["link_frame"], counts, bodies, int(gaps is None), first, second, normals
            self._launch(
                "locate", one, *where, nothing if gaps is None else gaps, self._places, self._owner, self._sign
            )
            state = [group.field(name).scalars for name in ("contact_impulse", "contact_impact", "steps_at_rest")]
            written = [field[name] for name in SIZES]
            self._launch(
                "assign",
                one,
                *(
                    pose,
                    field["link_frame"],
                    counts,
                    self._places,
                    self._owner,
                    self._rank,
                    self._slot,
                    *own,
                    field["contact_thickness"],
                ),
                *written,
                *state,
            )
        wp.launch(
            kernels.count, dim=self._environments, inputs=[counts, self._slot, self.left_out], device=self._device
        )

    def _room(self, count: int) -> None:
        """Make room for so many contacts of each environment, none of which has an owner or a slot."""
        shape = self._environments, count
        self._places = wp.zeros((*shape, PLACE), dtype=self.scalar, device=self._device)
        self._owner = wp.full(shape, -1, dtype=int, device=self._device)
        self._rank = wp.zeros(shape, dtype=int, device=self._device)
        self._slot = wp.full(shape, -1, dtype=int, device=self._device)
        self._sign = wp.zeros(shape, dtype=self.scalar, device=self._device)

    def _launch(self, kernel: str, one: _Sets, *inputs) -> None:
        dim = (*one.table.shape[:2], self._environments)
        kernels = given_contact_kernels(self.scalar)
        wp.launch(getattr(kernels, kernel), dim=dim, inputs=[one.table, *inputs], device=self._device)


def _table(scene: Scene, group: Group, link_of: Mapping[str, int], slots: dict[tuple[int, int], int]) -> np.ndarray:
    """The table of the sets of a group, which are also added to `slots`."""
    found: list[list[list[int]]] = []
    for mechanism in mechanisms_in(scene, group.members):
        own: dict[tuple[int, int], list[int]] = {}
        for pair, (one, point) in enumerate(points_of_pairs(mechanism)):
            if not one.is_given:
                continue
            ends = [NO_LINK if link == WORLD else link for link in (one.link0, one.link1)]
            bodies = tuple(NO_LINK if link < 0 else link_of[mechanism.links[link].path] for link in ends)
            if bodies not in own:
                slots[bodies] = 0
                own[bodies] = [*bodies, *ends, pair, point, 0, len(slots) - 1]
            own[bodies][6] += 1
            slots[bodies] += 1
        found.append(list(own.values()))
    most = max(map(len, found), default=0)
    table = np.zeros((len(found), most, 8), np.int32)
    for row, own_sets in enumerate(found):
        table[row, : len(own_sets)] = np.array(own_sets, int).reshape(-1, 8)
    return table


def _rows(tables: Sequence[np.ndarray], device: str) -> tuple[tuple[str, Rows], ...]:
    """Of each parameter the rows that contacts are written to, one group after the other."""
    found = []
    for name, size in SIZES.items():
        own, count = [], 0
        for table in tables:
            entries = [
                (mechanism, size * pair + k)
                for mechanism, sets in enumerate(table.tolist())
                for one in sets
                for pair in range(one[4], one[4] + one[6])
                for k in range(size)
            ]
            rows = np.array(entries, int).reshape(-1, 2)
            numbers = count + np.arange(len(rows))
            count += len(rows)
            own.append(np.column_stack([rows, numbers, np.full(len(rows), -1)]))
        found.append((name, Rows(tuple(own), count, device)))
    return tuple(found)

"""Contacts that a host gives: which slots a scene has for them, and what is in these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.constraints.contact_tables import points_of_pairs
from warp_artic.description.joint import WORLD
from warp_artic.description.scene import Scene
from warp_artic.kernels.contact_slots import assign_kernel
from warp_artic.kernels.given_contacts import PLACE, SLOT_SET, given_contact_kernels, given_contact_types
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
MAY_BE_SHARED = ("link_frame", "contact_thickness")
"""Parameters that contacts are found from: a group replaces them where environments have values of their own."""
MATERIALS = ("friction", "restitution", "stiffness", "damping")
NO_LINK = -1
"""The world, among the links of a scene."""


@dataclass(frozen=True)
class _Sets:
    """The sets of slots of a group, and where its mechanisms are in the world."""

    group: Group
    table: wp.array
    """Of SLOT_SET, shape (mechanisms, sets); of what a mechanism does not have the count is 0."""
    origins: wp.array
    """Shape (mechanisms, 3) [m]."""
    slots: object
    """The struct `Slots` of the group."""


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
                scalar = group.columns.numbers.scalar
                types = given_contact_types(scalar)
                uploaded = wp.array(table, dtype=types.SlotSet, device=device)
                origins = wp.array(group.origins, dtype=scalar, device=device)
                slots = types.Slots()
                for name in types.Slots.vars:
                    setattr(slots, name, group.field(name).scalars)
                self._sets.append(_Sets(group, uploaded, origins, slots))
        self._make_room(wp.zeros(environments, dtype=int, device=device), 0)
        self.left_out = wp.zeros(environments, dtype=int, device=device)
        """How many contacts were left out, of bodies without slots or beyond these, shape (E), on the device."""

    def __bool__(self) -> bool:
        return bool(self.slots)

    def impulse(self) -> wp.array:
        """Impulses of the contacts in the last step on the second body of each, shape (E, K, 3), world axes [N s].

        In the order in which they were given; zero where one has no slot. With substeps, of the last of them.
        """
        found = wp.zeros((*self._contacts.slot.shape, 3), dtype=self.scalar, device=self._device)
        gather = given_contact_kernels(self.scalar).gather
        for one in self._sets:
            self._launch(gather, one, self._contacts, one.group.field("contact_impulse").scalars, found)
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
        self._make_room(counts, bodies.shape[1])
        nothing = wp.zeros((0, 0), dtype=self.scalar, device=self._device)
        given = given_contact_types(self.scalar).Given()
        given.bodies, given.normal = bodies, normals
        given.point0, given.point1, gaps = points
        given.in_links, given.gap = int(gaps is None), nothing if gaps is None else gaps
        for name in MATERIALS:
            setattr(given, name, materials.get(name, nothing))
        for one in self._sets:
            for name in MAY_BE_SHARED:
                setattr(one.slots, name, one.group.field(name).scalars)
            self._launch(kernels.locate, one, one.origins, given, one.slots, self._contacts)
            self._launch(assign_kernel(self.scalar), one, given, self._contacts, one.slots)
        inputs = [self._contacts, self.left_out]
        wp.launch(kernels.count, dim=self._environments, inputs=inputs, device=self._device)

    def _make_room(self, counts: wp.array, most: int) -> None:
        """Make room for contacts of each environment, none of which has a set or a slot."""
        contacts, shape = given_contact_types(self.scalar).Contacts(), (self._environments, most)
        contacts.count = counts
        contacts.place = wp.zeros((*shape, PLACE), dtype=self.scalar, device=self._device)
        contacts.set = wp.full(shape, -1, dtype=int, device=self._device)
        contacts.rank = wp.zeros(shape, dtype=int, device=self._device)
        contacts.slot = wp.full(shape, -1, dtype=int, device=self._device)
        contacts.sign = wp.zeros(shape, dtype=self.scalar, device=self._device)
        self._contacts = contacts

    def _launch(self, kernel: wp.Kernel, one: _Sets, *inputs) -> None:
        dim = (*one.table.shape, self._environments)
        wp.launch(kernel, dim=dim, inputs=[one.table, *inputs], device=self._device)


def _table(scene: Scene, group: Group, link_of: Mapping[str, int], slots: dict[tuple[int, int], int]) -> np.ndarray:
    """The table of the sets of a group, which are also added to `slots`."""
    found: list[list[dict[str, int]]] = []
    for mechanism in mechanisms_in(scene, group.members):
        own: dict[tuple[int, int], dict[str, int]] = {}
        for pair, (one, point) in enumerate(points_of_pairs(mechanism)):
            if not one.is_given:
                continue
            link0, link1 = (NO_LINK if link == WORLD else link for link in (one.link0, one.link1))
            bodies = tuple(NO_LINK if link < 0 else link_of[mechanism.links[link].path] for link in (link0, link1))
            if bodies not in own:
                ends = {"body0": bodies[0], "body1": bodies[1], "link0": link0, "link1": link1}
                own[bodies] = {**ends, "pair": pair, "point": point, "count": 0, "number": len(slots)}
                slots[bodies] = 0
            own[bodies]["count"] += 1
            slots[bodies] += 1
        found.append(list(own.values()))
    table = np.zeros((len(found), max(map(len, found), default=0)), SLOT_SET)
    for row, own_sets in enumerate(found):
        for place, values in enumerate(own_sets):
            table[row, place] = tuple(values[name] for name in SLOT_SET.names)
    return table


def _rows(tables: Sequence[np.ndarray], device: str) -> tuple[tuple[str, Rows], ...]:
    """Of each parameter the rows that contacts are written to, one group after the other."""
    found = []
    for name, size in SIZES.items():
        own, count = [], 0
        for table in tables:
            entries = [
                (mechanism, size * pair + k)
                for mechanism, sets in enumerate(table)
                for one in sets
                for pair in range(one["pair"], one["pair"] + one["count"])
                for k in range(size)
            ]
            rows = np.array(entries, int).reshape(-1, 2)
            numbers = count + np.arange(len(rows))
            count += len(rows)
            own.append(np.column_stack([rows, numbers, np.full(len(rows), -1)]))
        found.append((name, Rows(tuple(own), count, device)))
    return tuple(found)

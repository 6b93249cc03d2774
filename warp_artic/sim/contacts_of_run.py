"""Contacts of a run, as methods of its simulation: what touches what, with which force, and what a host gives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warp_artic.sim.arrays.contact_events import ContactChanges, contact_changes
from warp_artic.sim.arrays.contacts import Contact, contact_signs, find_contacts
from warp_artic.sim.change import give_contacts
from warp_artic.sim.islands.report import contacts_of_islands, island_force_on
from warp_artic.sim.run.arrays_of_scene import ArraysOfScene
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import report


class ContactsOfRun(ArraysOfScene):
    """What touches what in a run."""

    run: Run
    link_names: tuple[str, ...]
    contact_names: tuple[str, ...]

    def contacts(self) -> list[Contact]:
        """The colliders that touch now, with forces of the last step; environment by environment.

        For contacts in mechanisms, `state.contact_impulse`, `contact_gap`, `contact_position` and `contact_normal`
        have the same for each point in `contact_names`, on the device.
        """
        run = self.run
        run.launches.find_contacts()
        found = find_contacts(run.scene, run.members, self.run.settings.dt / run.settings.schedule[0])
        if run.islands:
            report(run)
            found += contacts_of_islands(run.islands, run.scene, run.steps_done, self.run.settings.dt)
        return sorted(found, key=lambda one: one.environment)

    def contact_changes(self, before: Sequence[Contact]) -> ContactChanges:
        """Which colliders have begun to touch since an earlier call of `contacts`, still touch, or no longer touch.

        Contacts that begin and end in between are not reported; `Recording.contact_events` has all recorded steps.
        """
        return contact_changes(before, self.contacts())

    def contact_force_on(self, path: str, by: str | None = None) -> np.ndarray:
        """The sum of the forces by contacts on a link in the last step, shape (environments, 3), world axes [N].

        With substeps, in the last of them. `Recording.contact_force_on` has it over time.

        Args:
            path: Of a link, which has the colliders below it that are not below another link; of a collider; or of a
                prim that colliders are below, such as a robot, without what these do to each other.
            by: A path of the same kinds: only forces by its colliders are counted.

        Raises:
            SettingsError: No collider that may touch anything is there.
        """
        run, substep = self.run, self.run.settings.dt / self.run.settings.schedule[0]
        colliders = run.islands.colliders if run.islands else ()
        signs = contact_signs(self.contact_names, self.link_names, path, by, colliders)
        impulses = self.state.contact_impulse.numpy().astype(float)
        found = np.einsum("p,pxe->ex", signs, impulses) / substep
        return (
            found + island_force_on(run.islands, run.names.link, path, by, self.run.settings.dt)
            if run.islands
            else found
        )

    def set_contacts(
        self,
        bodies,
        normal,
        *,
        position=None,
        gap=None,
        point0=None,
        point1=None,
        count=None,
        friction=None,
        restitution=None,
        stiffness=None,
        damping=None,
    ) -> None:
        """Set the contacts that a host has found, in place of those that it has set before.

        They act in steps as contacts of colliders do, and beside these, between bodies that the scene has room for
        (`with_contact_slots`). Points move with their bodies until the next call, and a normal turns with the first
        body. A contact goes on from the impulse of one of before that is near on either body, whatever its number.

        Arrays of Warp, and of others by DLPack, are read on the device, in shapes with E environments and K contacts;
        those of NumPy are copied, and may leave out E. Where a contact is, is said either by `position` and `gap` or by
        `point0` and `point1`.

        Args:
            bodies: Indices of both bodies in `link_names`, or -1 for the world, shape (E, K, 2).
            normal: World axes, from the first body to the second one, shape (E, K, 3); one without length is left out.
            position: Midway between the surfaces, world [m], shape (E, K, 3).
            gap: Distance along the normal, negative where the bodies overlap [m], shape (E, K).
            point0: On the surface of the first body, in its link frame, or in the world [m], shape (E, K, 3).
            point1: The same of the second body.
            count: How many of the K contacts there are in each environment, shape (E); all by default.
            friction: Tangential over normal force, static and dynamic, shape (E, K). Like the three that follow it
                stays as it was in each slot where it is not given; at first it is that of `ContactSlots`.
            restitution: Shape (E, K).
            stiffness: Of a spring along the normal, infinite for a rigid contact [N/m], shape (E, K).
            damping: Of a damper beside it [N s/m], shape (E, K).

        Raises:
            SettingsError: An array has another shape or type, or bodies that are given on the host have no room for
                contacts. Of bodies on the device `given_contacts.left_out` counts what has none.
        """
        give_contacts.set_contacts(
            self.run,
            bodies,
            normal,
            {"position": position, "gap": gap, "point0": point0, "point1": point1},
            count,
            {"friction": friction, "restitution": restitution, "stiffness": stiffness, "damping": damping},
        )

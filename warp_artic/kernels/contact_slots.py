"""Which slot a contact that a host gives has, and what is written to it.

Of each set the deepest contacts are taken, as many as it has slots. A contact and a slot of the step before that are
nearest to each other belong together, and the contact inherits the impulse of the slot; others get the next free slots
and start without an impulse. So results do not depend on the order of contacts. The distance of a contact from a slot
is how far it has moved on the body on which it has moved less.
"""

from functools import cache

import warp as wp

from warp_artic.constraints.contact_tables import UNUSED_DISTANCE
from warp_artic.kernels.given_contacts import OPTIONS, PLACE, given_contact_types, link_frame_functions

ANY_DISTANCE = 1e3
"""The contact distance of a pair with a point [m]: a host has found that the bodies come near."""


@cache
def assign_kernel(scalar: type) -> wp.Kernel:
    """Give the contacts of a set its slots; a thread has a set in a mechanism of a group, and an environment."""
    types = given_contact_types(scalar)
    vec3, mat33 = types.vec3, types.mat33
    SlotSet, Given, Contacts, Slots = types.SlotSet, types.Given, types.Contacts, types.Slots
    frames = link_frame_functions(scalar)
    load, axes, middle = frames.load, frames.axes, frames.middle

    @wp.struct
    class Bodies:
        """The bodies of a set, as they are now."""

        R0: mat33  # R_WM
        R1: mat33
        between: vec3  # from the moving frame of the first one to that of the second one, world axes

    @wp.func
    def bodies_of(slots: Slots, own: SlotSet, column: int):
        return Bodies(
            axes(slots, own.link0, column),
            axes(slots, own.link1, column),
            middle(slots, own.link1, column) - middle(slots, own.link0, column),
        )

    @wp.func
    def is_before(contacts: Contacts, environment: int, one: int, other: int):
        """Whether a contact comes before another one: deeper, else by its places, which no order changes."""
        for k in range(PLACE):
            number = (k + 9) % PLACE
            a = contacts.place[environment, one, number]
            b = contacts.place[environment, other, number]
            if a < b:
                return True
            if b < a:
                return False
        return one < other

    @wp.func
    def rank_contacts(contacts: Contacts, own: SlotSet, environment: int, count: int):
        """Count those that come before each contact of a set."""
        for contact in range(count):
            if contacts.set[environment, contact] == own.number:
                before = int(0)
                for other in range(count):
                    if contacts.set[environment, other] == own.number and other != contact:
                        if is_before(contacts, environment, other, contact):
                            before += 1
                contacts.rank[environment, contact] = before

    @wp.func
    def vector_of(contacts: Contacts, environment: int, contact: int, first: int):
        """A point of a contact or its normal, from its first number on."""
        return vec3(
            contacts.place[environment, contact, first],
            contacts.place[environment, contact, first + 1],
            contacts.place[environment, contact, first + 2],
        )

    @wp.func
    def moved_on(
        contacts: Contacts,
        environment: int,
        contact: int,
        first: int,
        frames: wp.array2d(dtype=scalar),
        pair: int,
        column: int,
        R: mat33,
    ):
        """The square of how far a contact is on a body, whose axes are R now, from where that of a pair was."""
        R_before = mat33()
        for k in range(3):
            for i in range(3):
                R_before[k, i] = frames[12 * pair + 3 * k + i, column]
        r = vector_of(contacts, environment, contact, first)
        r_before = load(frames, 12 * pair + 9, column)
        d = wp.transpose(R) * r - wp.transpose(R_before) * r_before
        return wp.dot(d, d)

    @wp.func
    def moved(contacts: Contacts, slots: Slots, bodies: Bodies, environment: int, contact: int, pair: int, column: int):
        """The same on the body on which that is less."""
        d0 = moved_on(contacts, environment, contact, 0, slots.contact_frame0, pair, column, bodies.R0)
        return wp.min(d0, moved_on(contacts, environment, contact, 3, slots.contact_frame1, pair, column, bodies.R1))

    @wp.func
    def keep_slots(
        contacts: Contacts, slots: Slots, own: SlotSet, bodies: Bodies, environment: int, count: int, column: int
    ):
        """Leave slots to the contacts that had them: those nearest to each other, within the thickness of a shape."""
        thickness = slots.contact_thickness[own.pair, column % slots.contact_thickness.shape[1]]
        for s in range(own.count):
            if slots.contact_distance[own.pair + s, column] >= scalar(0.0):
                nearest = int(-1)
                least = thickness * thickness
                for contact in range(count):
                    is_taken = contacts.rank[environment, contact] < own.count
                    if contacts.set[environment, contact] == own.number and is_taken:
                        d = moved(contacts, slots, bodies, environment, contact, own.pair + s, column)
                        is_nearer = d < least
                        if nearest >= 0 and d == least:
                            is_nearer = contacts.rank[environment, contact] < contacts.rank[environment, nearest]
                        if is_nearer:
                            nearest = contact
                            least = d
                if nearest >= 0:
                    is_mutual = bool(True)
                    for rival in range(own.count):
                        if rival != s and slots.contact_distance[own.pair + rival, column] >= scalar(0.0):
                            d = moved(contacts, slots, bodies, environment, nearest, own.pair + rival, column)
                            if d < least or (d == least and rival < s):
                                is_mutual = False
                    if is_mutual:
                        contacts.slot[environment, nearest] = s

    @wp.func
    def holder(contacts: Contacts, own: SlotSet, environment: int, count: int, s: int):
        """The contact that has a slot of a set, or -1."""
        found = int(-1)
        for contact in range(count):
            if contacts.set[environment, contact] == own.number and contacts.slot[environment, contact] == s:
                found = contact
        return found

    @wp.func
    def clear_impulse(slots: Slots, point: int, column: int):
        for k in range(3):
            slots.contact_impulse[3 * point + k, column] = scalar(0.0)
        slots.contact_impact[point, column] = scalar(0.0)

    @wp.func
    def fill_slots(contacts: Contacts, slots: Slots, own: SlotSet, environment: int, count: int, column: int):
        """Give free slots to the contacts that have none, the deepest first; returns whether any has got one."""
        changed = bool(False)
        for place in range(wp.min(own.count, count)):
            for contact in range(count):
                is_next = (
                    contacts.set[environment, contact] == own.number and contacts.rank[environment, contact] == place
                )
                if is_next and contacts.slot[environment, contact] < 0:
                    free = int(-1)
                    for s in range(own.count):
                        if free < 0 and holder(contacts, own, environment, count, s) < 0:
                            free = s
                    contacts.slot[environment, contact] = free
                    changed = True
                    clear_impulse(slots, own.point + free, column)
        return changed

    @wp.func
    def write_slot(
        given: Given,
        contacts: Contacts,
        slots: Slots,
        bodies: Bodies,
        environment: int,
        contact: int,
        pair: int,
        column: int,
    ):
        """Write a contact to a pair."""
        n = vector_of(contacts, environment, contact, 6)
        for k in range(3):
            for i in range(3):
                slots.contact_frame0[12 * pair + 3 * k + i, column] = bodies.R0[k, i]
                slots.contact_frame1[12 * pair + 3 * k + i, column] = bodies.R1[k, i]
            slots.contact_frame0[12 * pair + 9 + k, column] = contacts.place[environment, contact, k]
            slots.contact_frame1[12 * pair + 9 + k, column] = contacts.place[environment, contact, 3 + k]
            slots.contact_size0[3 * pair + k, column] = n[k]
        slots.contact_size1[3 * pair, column] = contacts.place[environment, contact, 9] - wp.dot(n, bodies.between)
        slots.contact_distance[pair, column] = scalar(ANY_DISTANCE)
        if given.friction.shape[0] > 0:
            slots.contact_static_friction[pair, column] = given.friction[environment, contact]
            slots.contact_dynamic_friction[pair, column] = given.friction[environment, contact]
        if given.restitution.shape[0] > 0:
            slots.contact_restitution[pair, column] = given.restitution[environment, contact]
        if given.stiffness.shape[0] > 0:
            slots.contact_stiffness[pair, column] = given.stiffness[environment, contact]
        if given.damping.shape[0] > 0:
            slots.contact_damping[pair, column] = given.damping[environment, contact]

    @wp.kernel(**OPTIONS)
    def assign(sets: wp.array2d(dtype=SlotSet), given: Given, contacts: Contacts, slots: Slots):
        mechanism, member, environment = wp.tid()
        own = sets[mechanism, member]
        if own.count == 0:
            return
        column = mechanism * contacts.count.shape[0] + environment
        count = wp.min(contacts.count[environment], contacts.slot.shape[1])
        bodies = bodies_of(slots, own, column)
        rank_contacts(contacts, own, environment, count)
        keep_slots(contacts, slots, own, bodies, environment, count, column)
        changed = fill_slots(contacts, slots, own, environment, count, column)
        for s in range(own.count):
            pair = own.pair + s
            contact = holder(contacts, own, environment, count, s)
            if contact >= 0:
                write_slot(given, contacts, slots, bodies, environment, contact, pair, column)
            else:
                if slots.contact_distance[pair, column] >= scalar(0.0):
                    changed = True
                slots.contact_distance[pair, column] = scalar(UNUSED_DISTANCE)
                clear_impulse(slots, own.point + s, column)
        if changed:
            slots.steps_at_rest[0, column] = scalar(0.0)

    return assign

"""Contacts that a host gives, in the contact pairs that have room for them: what they are, and where.

A set of slots is the pairs of two bodies, one point each. `kernels.contact_slots` says which contact has which slot.
What is written there says where the contact is while its bodies move (`constraints.contact_given`).
"""

from functools import cache
from types import SimpleNamespace

import numpy as np
import warp as wp

OPTIONS = {"enable_backward": False, "module": "unique"}
PLACE = 10
"""Numbers of a contact: from the moving frames of its bodies to its points, in world axes, the normal, and the gap."""
SLOT_SET = np.dtype([(name, np.int32) for name in "body0 body1 link0 link1 pair point count number".split()])
"""A set of slots, as the struct `SlotSet` has it."""


@cache
def given_contact_types(scalar: type) -> SimpleNamespace:
    """The structs of a scalar type, for E environments with up to K contacts each."""
    Numbers, Vectors = wp.array2d(dtype=scalar), wp.array3d(dtype=scalar)
    Indices = wp.array2d(dtype=int)

    @wp.struct
    class SlotSet:
        """The slots that two bodies have in a mechanism."""

        body0: int  # its row in the scene, -1: the world
        body1: int
        link0: int  # its number in the mechanism, -1: the world
        link1: int
        pair: int  # the first one
        point: int  # the first one
        count: int  # how many pairs there are, with a point each; 0: the mechanism has no such set
        number: int  # of the set in the scene

    @wp.struct
    class Given:
        """Contacts as a host gives them."""

        bodies: wp.array3d(dtype=int)  # shape (E, K, 2)
        normal: Vectors  # shape (E, K, 3)
        in_links: int  # whether points are in the frames of their bodies; else both are the point midway in the world
        point0: Vectors  # shape (E, K, 3) [m]
        point1: Vectors
        gap: Numbers  # beside points midway, shape (E, K) [m]
        friction: Numbers  # shape (E, K), or empty: that of the pair stays; so do the next ones
        restitution: Numbers
        stiffness: Numbers  # [N/m]
        damping: Numbers  # [N s/m]

    @wp.struct
    class Contacts:
        """Where contacts are, and which slots they have."""

        count: wp.array(dtype=int)  # shape (E)
        place: Vectors  # shape (E, K, PLACE) [m]
        set: Indices  # number of its set, -1: it has none; shape (E, K), as what follows
        rank: Indices  # in its set, from the deepest one on
        slot: Indices  # number among the slots of its set, -1: it has none
        sign: Numbers  # -1 where its bodies are given in the other order, else 1

    @wp.struct
    class Slots:
        """Fields of a group: what contacts are found from, and what they are written to."""

        link_pose: Numbers
        link_frame: Numbers
        contact_thickness: Numbers
        contact_frame0: Numbers
        contact_frame1: Numbers
        contact_size0: Numbers
        contact_size1: Numbers
        contact_distance: Numbers
        contact_static_friction: Numbers
        contact_dynamic_friction: Numbers
        contact_restitution: Numbers
        contact_stiffness: Numbers
        contact_damping: Numbers
        contact_impulse: Numbers
        contact_impact: Numbers
        steps_at_rest: Numbers

    vec3, mat33 = wp.types.vector(3, scalar), wp.types.matrix((3, 3), scalar)
    return SimpleNamespace(vec3=vec3, mat33=mat33, SlotSet=SlotSet, Given=Given, Contacts=Contacts, Slots=Slots)


@cache
def link_frame_functions(scalar: type) -> SimpleNamespace:
    """Where links and their moving frames M are, about the origin of the mechanism; link -1 is the world."""
    types = given_contact_types(scalar)
    vec3, mat33, Slots = types.vec3, types.mat33, types.Slots

    @wp.func
    def load(array: wp.array2d(dtype=scalar), row: int, column: int):
        return vec3(array[row, column], array[row + 1, column], array[row + 2, column])

    @wp.func
    def turned(pose: wp.array2d(dtype=scalar), link: int, column: int, v: vec3):
        """R_WL v."""
        x = pose[7 * link + 3, column]
        y = pose[7 * link + 4, column]
        z = pose[7 * link + 5, column]
        w = pose[7 * link + 6, column]
        return wp.quat_rotate(wp.quaternion(x, y, z, w), v)

    @wp.func
    def to_world(slots: Slots, link: int, column: int, p: vec3):
        """A point of the frame of a link."""
        if link < 0:
            return p
        return turned(slots.link_pose, link, column, p) + load(slots.link_pose, 7 * link, column)

    @wp.func
    def axes(slots: Slots, link: int, column: int):
        """R_WM."""
        if link < 0:
            return mat33(
                scalar(1.0), scalar(0.0), scalar(0.0),
                scalar(0.0), scalar(1.0), scalar(0.0),
                scalar(0.0), scalar(0.0), scalar(1.0),
            )  # fmt: skip
        # What all environments share is in each of its columns.
        place = column % slots.link_frame.shape[1]
        first = 12 * link
        x = turned(slots.link_pose, link, column, load(slots.link_frame, first, place))
        y = turned(slots.link_pose, link, column, load(slots.link_frame, first + 3, place))
        z = turned(slots.link_pose, link, column, load(slots.link_frame, first + 6, place))
        return mat33(x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])

    @wp.func
    def middle(slots: Slots, link: int, column: int):
        """p_WM."""
        if link < 0:
            return vec3()
        place = column % slots.link_frame.shape[1]
        return to_world(slots, link, column, load(slots.link_frame, 12 * link + 9, place))

    return SimpleNamespace(load=load, to_world=to_world, axes=axes, middle=middle)


@cache
def given_contact_kernels(scalar: type) -> SimpleNamespace:
    """The kernels `locate`, `gather` and `count` of a scalar type.

    A thread of the first two has a set of slots in one of the mechanisms of a group, and an environment.
    """
    types = given_contact_types(scalar)
    vec3, SlotSet, Given, Contacts, Slots = types.vec3, types.SlotSet, types.Given, types.Contacts, types.Slots
    frames = link_frame_functions(scalar)
    to_world, middle = frames.to_world, frames.middle

    @wp.func
    def vector_at(array: wp.array3d(dtype=scalar), environment: int, contact: int):
        return vec3(array[environment, contact, 0], array[environment, contact, 1], array[environment, contact, 2])

    @wp.func
    def order_of(given: Given, own: SlotSet, environment: int, contact: int):
        """1 where a contact is of the bodies of a set, -1 in the other order, else 0."""
        one = given.bodies[environment, contact, 0]
        other = given.bodies[environment, contact, 1]
        if one == own.body1 and other == own.body0:
            return scalar(-1.0)
        if one == own.body0 and other == own.body1:
            return scalar(1.0)
        return scalar(0.0)

    @wp.func
    def point_in_world(given: Given, slots: Slots, link: int, column: int, origin: vec3, p: vec3):
        """A given point of a body, about the origin of the mechanism."""
        if given.in_links == 0 or link < 0:
            return p - origin
        return to_world(slots, link, column, p)

    @wp.kernel(**OPTIONS)
    def locate(
        sets: wp.array2d(dtype=SlotSet),
        origins: wp.array2d(dtype=scalar),
        given: Given,
        slots: Slots,
        contacts: Contacts,
    ):
        """Find the contacts of a set, and write them from the frames of its bodies."""
        mechanism, member, environment = wp.tid()
        own = sets[mechanism, member]
        if own.count == 0:
            return
        column = mechanism * given.normal.shape[0] + environment
        origin = vec3(origins[mechanism, 0], origins[mechanism, 1], origins[mechanism, 2])
        for contact in range(wp.min(contacts.count[environment], given.normal.shape[1])):
            sign = order_of(given, own, environment, contact)
            n = vector_at(given.normal, environment, contact)
            size = wp.length(n)
            if sign != scalar(0.0) and size > scalar(0.0):
                n = n / size
                a = vector_at(given.point0, environment, contact)
                b = vector_at(given.point1, environment, contact)
                gap = scalar(0.0)
                if given.in_links == 0:
                    gap = given.gap[environment, contact]
                    a = a - n * (gap * scalar(0.5))
                    b = b + n * (gap * scalar(0.5))
                if sign < scalar(0.0):
                    n = -n
                    moved = a
                    a = b
                    b = moved
                a = point_in_world(given, slots, own.link0, column, origin, a)
                b = point_in_world(given, slots, own.link1, column, origin, b)
                if given.in_links == 1:
                    gap = wp.dot(n, b - a)
                r0 = a - middle(slots, own.link0, column)
                r1 = b - middle(slots, own.link1, column)
                for k in range(3):
                    contacts.place[environment, contact, k] = r0[k]
                    contacts.place[environment, contact, 3 + k] = r1[k]
                    contacts.place[environment, contact, 6 + k] = n[k]
                contacts.place[environment, contact, 9] = gap
                contacts.set[environment, contact] = own.number
                contacts.sign[environment, contact] = sign

    @wp.kernel(**OPTIONS)
    def gather(
        sets: wp.array2d(dtype=SlotSet),
        contacts: Contacts,
        impulse: wp.array2d(dtype=scalar),
        found: wp.array3d(dtype=scalar),
    ):
        """Write the impulses of the contacts of a set, each on the second body that it was given."""
        mechanism, member, environment = wp.tid()
        own = sets[mechanism, member]
        if own.count == 0:
            return
        column = mechanism * contacts.count.shape[0] + environment
        for contact in range(wp.min(contacts.count[environment], contacts.slot.shape[1])):
            s = contacts.slot[environment, contact]
            if contacts.set[environment, contact] == own.number and s >= 0:
                row = 3 * (own.point + s)
                for k in range(3):
                    found[environment, contact, k] = contacts.sign[environment, contact] * impulse[row + k, column]

    @wp.kernel(**OPTIONS)
    def count(contacts: Contacts, left_out: wp.array(dtype=int)):
        """Count the contacts of an environment that have no slot."""
        environment = wp.tid()
        found = int(0)
        for contact in range(contacts.count[environment]):
            if contact >= contacts.slot.shape[1] or contacts.slot[environment, contact] < 0:
                found += 1
        left_out[environment] = found

    return SimpleNamespace(locate=locate, gather=gather, count=count)

"""Contacts that a host gives, in the contact pairs that have room for them.

A set of slots is the pairs of two bodies, one point each. Contacts are in no order: of those of a set the deepest ones
are taken, as many as it has slots. A contact that is the nearest one to a slot of before, which is the nearest one to
it, has that slot, and with it the impulse of the step before; others have the next free slots, without one. So what
comes out does not depend on the order of the contacts.

What is written says where the contact is while its bodies move (`constraints.contact_given`).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.constraints.contact_tables import UNUSED_DISTANCE

OPTIONS = {"enable_backward": False, "module": "unique"}
ANY_DISTANCE = 1e3
"""The contact distance of a pair with a point [m]: a host has found that the bodies come near."""
PLACE = 10
"""Numbers of a contact: from the moving frames of its bodies to its points, in world axes, the normal, and the gap."""
FIRST_BODY, SECOND_BODY, LINK0, LINK1, PAIR, POINT, SLOTS, SET = range(8)
"""What a row of the table of sets has: rows of the scene of both bodies, or -1; their links in the mechanism, or -1;
their first pair and its point; how many there are; and the number of the set in the scene."""


@cache
def given_contact_kernels(scalar: type) -> SimpleNamespace:
    """The kernels `locate`, `assign`, `gather` and `count` of a scalar type.

    A thread of the first three has a set of slots in one of the mechanisms of a group, and an environment.
    """
    vec3 = wp.types.vector(3, scalar)
    mat33 = wp.types.matrix((3, 3), scalar)

    @wp.func
    def load(array: wp.array2d(dtype=scalar), row: int, column: int):
        return vec3(array[row, column], array[row + 1, column], array[row + 2, column])

    @wp.func
    def store(array: wp.array2d(dtype=scalar), row: int, column: int, value: vec3):
        for k in range(3):
            array[row + k, column] = value[k]

    @wp.func
    def given(array: wp.array3d(dtype=scalar), environment: int, contact: int):
        return vec3(array[environment, contact, 0], array[environment, contact, 1], array[environment, contact, 2])

    @wp.func
    def turned(pose: wp.array2d(dtype=scalar), link: int, column: int, v: vec3):
        """R_WL v."""
        x = pose[7 * link + 3, column]
        y = pose[7 * link + 4, column]
        z = pose[7 * link + 5, column]
        w = pose[7 * link + 6, column]
        return wp.quat_rotate(wp.quaternion(x, y, z, w), v)

    @wp.func
    def to_world(pose: wp.array2d(dtype=scalar), link: int, column: int, p: vec3):
        """A point of the frame of a link in the world, about the origin of the mechanism; one of the world stays."""
        if link < 0:
            return p
        return turned(pose, link, column, p) + load(pose, 7 * link, column)

    @wp.func
    def axes(pose: wp.array2d(dtype=scalar), frames: wp.array2d(dtype=scalar), link: int, column: int):
        """R_WM; of the world one."""
        if link < 0:
            return mat33(
                scalar(1.0), scalar(0.0), scalar(0.0),
                scalar(0.0), scalar(1.0), scalar(0.0),
                scalar(0.0), scalar(0.0), scalar(1.0),
            )  # fmt: skip
        # What all environments share is in each of its columns.
        place = column % frames.shape[1]
        first = 12 * link
        x = turned(pose, link, column, load(frames, first, place))
        y = turned(pose, link, column, load(frames, first + 3, place))
        z = turned(pose, link, column, load(frames, first + 6, place))
        return mat33(x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])

    @wp.func
    def middle(pose: wp.array2d(dtype=scalar), frames: wp.array2d(dtype=scalar), link: int, column: int):
        """p_WM; of the world zero."""
        if link < 0:
            return vec3()
        return to_world(pose, link, column, load(frames, 12 * link + 9, column % frames.shape[1]))

    @wp.func
    def is_before(places: wp.array3d(dtype=scalar), environment: int, one: int, other: int):
        """Whether a contact comes before another one: deeper, else by its places, which no order changes."""
        for k in range(PLACE):
            number = (k + 9) % PLACE
            a = places[environment, one, number]
            b = places[environment, other, number]
            if a < b:
                return True
            if b < a:
                return False
        return one < other

    @wp.func
    def moved_on(
        places: wp.array3d(dtype=scalar),
        environment: int,
        contact: int,
        first: int,
        frames: wp.array2d(dtype=scalar),
        pair: int,
        column: int,
        R: mat33,
    ):
        """The square of how far a contact is on a body, whose axes are R now, from where that of a pair was."""
        r = vec3(
            places[environment, contact, first],
            places[environment, contact, first + 1],
            places[environment, contact, first + 2],
        )
        row = 12 * pair
        then = load(frames, row + 9, column)
        x = vec3(frames[row, column], frames[row + 3, column], frames[row + 6, column])
        y = vec3(frames[row + 1, column], frames[row + 4, column], frames[row + 7, column])
        z = vec3(frames[row + 2, column], frames[row + 5, column], frames[row + 8, column])
        d = wp.transpose(R) * r - vec3(wp.dot(x, then), wp.dot(y, then), wp.dot(z, then))
        return wp.dot(d, d)

    @wp.func
    def apart(
        places: wp.array3d(dtype=scalar),
        environment: int,
        contact: int,
        frame0: wp.array2d(dtype=scalar),
        frame1: wp.array2d(dtype=scalar),
        pair: int,
        column: int,
        R0: mat33,
        R1: mat33,
    ):
        """The same on the body on which that is less."""
        d0 = moved_on(places, environment, contact, 0, frame0, pair, column, R0)
        return wp.min(d0, moved_on(places, environment, contact, 3, frame1, pair, column, R1))

    @wp.func
    def holder(
        owner: wp.array2d(dtype=int), taken: wp.array2d(dtype=int), environment: int, count: int, own: int, s: int
    ):
        """The contact that has a slot of a set, or -1."""
        found = int(-1)
        for contact in range(count):
            if owner[environment, contact] == own and taken[environment, contact] == s:
                found = contact
        return found

    @wp.kernel(**OPTIONS)
    def locate(
        sets: wp.array3d(dtype=int),
        origins: wp.array2d(dtype=scalar),
        pose: wp.array2d(dtype=scalar),
        frames: wp.array2d(dtype=scalar),
        counts: wp.array(dtype=int),
        bodies: wp.array3d(dtype=int),
        in_links: int,
        first: wp.array3d(dtype=scalar),
        second: wp.array3d(dtype=scalar),
        normals: wp.array3d(dtype=scalar),
        gaps: wp.array2d(dtype=scalar),
        places: wp.array3d(dtype=scalar),
        owner: wp.array2d(dtype=int),
        sign: wp.array2d(dtype=scalar),
    ):
        """Find the contacts of a set, and write them from the frames of its bodies.

        `first` and `second` are points in the frames of the bodies of contacts, or both the point midway in the world.
        """
        mechanism, member, environment = wp.tid()
        if sets[mechanism, member, SLOTS] == 0:
            return
        column = mechanism * normals.shape[0] + environment
        link0 = sets[mechanism, member, LINK0]
        link1 = sets[mechanism, member, LINK1]
        for contact in range(wp.min(counts[environment], normals.shape[1])):
            one = bodies[environment, contact, 0]
            other = bodies[environment, contact, 1]
            is_same = one == sets[mechanism, member, FIRST_BODY] and other == sets[mechanism, member, SECOND_BODY]
            is_swapped = other == sets[mechanism, member, FIRST_BODY] and one == sets[mechanism, member, SECOND_BODY]
            n = given(normals, environment, contact)
            size = wp.length(n)
            if (is_same or is_swapped) and size > scalar(0.0):
                n = n / size
                a = given(first, environment, contact)
                b = given(second, environment, contact)
                gap = scalar(0.0)
                if in_links == 0:
                    gap = gaps[environment, contact]
                    a = a - n * (gap * scalar(0.5))
                    b = b + n * (gap * scalar(0.5))
                way = scalar(1.0)
                if is_swapped:
                    way = scalar(-1.0)
                    n = -n
                    moved = a
                    a = b
                    b = moved
                origin = vec3(origins[mechanism, 0], origins[mechanism, 1], origins[mechanism, 2])
                # Points of the world are in it already.
                if in_links == 0 or link0 < 0:
                    a = a - origin
                else:
                    a = to_world(pose, link0, column, a)
                if in_links == 0 or link1 < 0:
                    b = b - origin
                else:
                    b = to_world(pose, link1, column, b)
                if in_links == 1:
                    gap = wp.dot(n, b - a)
                r0 = a - middle(pose, frames, link0, column)
                r1 = b - middle(pose, frames, link1, column)
                for k in range(3):
                    places[environment, contact, k] = r0[k]
                    places[environment, contact, 3 + k] = r1[k]
                    places[environment, contact, 6 + k] = n[k]
                places[environment, contact, 9] = gap
                owner[environment, contact] = sets[mechanism, member, SET]
                sign[environment, contact] = way

    @wp.kernel(**OPTIONS)
    def assign(
        sets: wp.array3d(dtype=int),
        pose: wp.array2d(dtype=scalar),
        frames: wp.array2d(dtype=scalar),
        counts: wp.array(dtype=int),
        places: wp.array3d(dtype=scalar),
        owner: wp.array2d(dtype=int),
        rank: wp.array2d(dtype=int),
        taken: wp.array2d(dtype=int),
        friction: wp.array2d(dtype=scalar),
        bounce: wp.array2d(dtype=scalar),
        spring: wp.array2d(dtype=scalar),
        damper: wp.array2d(dtype=scalar),
        thickness: wp.array2d(dtype=scalar),
        frame0: wp.array2d(dtype=scalar),
        frame1: wp.array2d(dtype=scalar),
        size0: wp.array2d(dtype=scalar),
        size1: wp.array2d(dtype=scalar),
        distance: wp.array2d(dtype=scalar),
        static_friction: wp.array2d(dtype=scalar),
        dynamic_friction: wp.array2d(dtype=scalar),
        restitution: wp.array2d(dtype=scalar),
        stiffness: wp.array2d(dtype=scalar),
        damping: wp.array2d(dtype=scalar),
        impulse: wp.array2d(dtype=scalar),
        impact: wp.array2d(dtype=scalar),
        rest: wp.array2d(dtype=scalar),
    ):
        """Give the contacts of a set its slots; friction, restitution, stiffness and damping of contacts may be empty.

        `taken` is the number of a contact among the slots of its set, -1 where it has none.
        """
        mechanism, member, environment = wp.tid()
        slots = sets[mechanism, member, SLOTS]
        if slots == 0:
            return
        column = mechanism * counts.shape[0] + environment
        own = sets[mechanism, member, SET]
        pairs = sets[mechanism, member, PAIR]
        points = sets[mechanism, member, POINT]
        count = wp.min(counts[environment], places.shape[1])
        for contact in range(count):
            if owner[environment, contact] == own:
                before = int(0)
                for other in range(count):
                    if owner[environment, other] == own and other != contact:
                        if is_before(places, environment, other, contact):
                            before += 1
                rank[environment, contact] = before
        link0 = sets[mechanism, member, LINK0]
        link1 = sets[mechanism, member, LINK1]
        R0 = axes(pose, frames, link0, column)
        R1 = axes(pose, frames, link1, column)
        between = middle(pose, frames, link1, column) - middle(pose, frames, link0, column)
        thin = thickness[pairs, column % thickness.shape[1]]
        changed = bool(False)
        for s in range(slots):
            if distance[pairs + s, column] >= scalar(0.0):
                nearest = int(-1)
                least = thin * thin
                for contact in range(count):
                    if owner[environment, contact] == own and rank[environment, contact] < slots:
                        d = apart(places, environment, contact, frame0, frame1, pairs + s, column, R0, R1)
                        is_nearer = d < least
                        if nearest >= 0 and d == least:
                            is_nearer = rank[environment, contact] < rank[environment, nearest]
                        if is_nearer:
                            nearest = contact
                            least = d
                if nearest >= 0:
                    is_mutual = bool(True)
                    for rival in range(slots):
                        if rival != s and distance[pairs + rival, column] >= scalar(0.0):
                            d = apart(places, environment, nearest, frame0, frame1, pairs + rival, column, R0, R1)
                            if d < least or (d == least and rival < s):
                                is_mutual = False
                    if is_mutual:
                        taken[environment, nearest] = s
        for place in range(wp.min(slots, count)):
            for contact in range(count):
                is_next = owner[environment, contact] == own and rank[environment, contact] == place
                if is_next and taken[environment, contact] < 0:
                    free = int(-1)
                    for s in range(slots):
                        if free < 0 and holder(owner, taken, environment, count, own, s) < 0:
                            free = s
                    taken[environment, contact] = free
                    changed = True
                    store(impulse, 3 * (points + free), column, vec3())
                    impact[points + free, column] = scalar(0.0)
        for s in range(slots):
            pair = pairs + s
            found = holder(owner, taken, environment, count, own, s)
            if found >= 0:
                n = vec3(places[environment, found, 6], places[environment, found, 7], places[environment, found, 8])
                store(size0, 3 * pair, column, n)
                size1[3 * pair, column] = places[environment, found, 9] - wp.dot(n, between)
                for k in range(3):
                    for i in range(3):
                        frame0[12 * pair + 3 * k + i, column] = R0[k, i]
                        frame1[12 * pair + 3 * k + i, column] = R1[k, i]
                    frame0[12 * pair + 9 + k, column] = places[environment, found, k]
                    frame1[12 * pair + 9 + k, column] = places[environment, found, 3 + k]
                distance[pair, column] = scalar(ANY_DISTANCE)
                if friction.shape[0] > 0:
                    static_friction[pair, column] = friction[environment, found]
                    dynamic_friction[pair, column] = friction[environment, found]
                if bounce.shape[0] > 0:
                    restitution[pair, column] = bounce[environment, found]
                if spring.shape[0] > 0:
                    stiffness[pair, column] = spring[environment, found]
                if damper.shape[0] > 0:
                    damping[pair, column] = damper[environment, found]
            else:
                if distance[pair, column] >= scalar(0.0):
                    changed = True
                distance[pair, column] = scalar(UNUSED_DISTANCE)
                store(impulse, 3 * (points + s), column, vec3())
                impact[points + s, column] = scalar(0.0)
        if changed:
            rest[0, column] = scalar(0.0)

    @wp.kernel(**OPTIONS)
    def gather(
        sets: wp.array3d(dtype=int),
        counts: wp.array(dtype=int),
        owner: wp.array2d(dtype=int),
        taken: wp.array2d(dtype=int),
        sign: wp.array2d(dtype=scalar),
        impulse: wp.array2d(dtype=scalar),
        found: wp.array3d(dtype=scalar),
    ):
        """Write the impulses of the contacts of a set, each on the second body that it was given."""
        mechanism, member, environment = wp.tid()
        if sets[mechanism, member, SLOTS] == 0:
            return
        column = mechanism * counts.shape[0] + environment
        for contact in range(wp.min(counts[environment], taken.shape[1])):
            s = taken[environment, contact]
            if owner[environment, contact] == sets[mechanism, member, SET] and s >= 0:
                row = 3 * (sets[mechanism, member, POINT] + s)
                for k in range(3):
                    found[environment, contact, k] = sign[environment, contact] * impulse[row + k, column]

    @wp.kernel(**OPTIONS)
    def count(counts: wp.array(dtype=int), taken: wp.array2d(dtype=int), left_out: wp.array(dtype=int)):
        """Count the contacts of an environment that have no slot."""
        environment = wp.tid()
        found = int(0)
        for contact in range(counts[environment]):
            if contact >= taken.shape[1] or taken[environment, contact] < 0:
                found += 1
        left_out[environment] = found

    return SimpleNamespace(locate=locate, assign=assign, gather=gather, count=count)

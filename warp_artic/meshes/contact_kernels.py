"""What `meshes.node_contacts` does for each node, as kernels; a block of threads has one environment where it sums."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.meshes.block_sum import block_sum_for
from warp_artic.meshes.block_values import block_access
from warp_artic.meshes.half_spaces import MOST, half_spaces
from warp_artic.meshes.node_friction import SLIDES, STARTS, STICKS, node_friction
from warp_artic.meshes.types import OPTIONS, MeshTypes

SETTLED = 1e-3
"""Change of the normal forces of friction, relative to them, from which on they are found again."""


@cache
def contacts_struct(types: MeshTypes):
    """The struct of the contacts of nodes; arrays are of shape (environments, N)."""
    Real, Vec, Mat = types.real, types.vec, types.mat
    spaces = half_spaces(types)
    Normals, Offsets = spaces.Normals, spaces.Offsets

    @wp.struct
    class Contacts:
        is_held: wp.array(dtype=int)
        """Which nodes touch nothing, shape (N)."""
        start: wp.array2d(dtype=Vec)
        """Points at the start of the step."""
        normals: wp.array2d(dtype=Normals)
        offsets: wp.array2d(dtype=Offsets)
        static_friction: wp.array2d(dtype=Offsets)
        """Of each half space."""
        dynamic_friction: wp.array2d(dtype=Offsets)
        carried: wp.array2d(dtype=Normals)
        """By as much as the obstacle of each half space moves there in the step."""
        anchor: wp.array2d(dtype=Vec)
        """Where a node sticks."""
        rubs: wp.array2d(dtype=int)
        """Bits of the half spaces that have friction; zero: none."""
        across: wp.array2d(dtype=Mat)
        """T, the projection across their normals."""
        resistance: wp.array2d(dtype=Real)
        """W [N]."""
        static_resistance: wp.array2d(dtype=Real)
        """The same of nodes that stick."""
        free: wp.array2d(dtype=Vec)
        """P f, as the next three at the last evaluation."""
        held: wp.array2d(dtype=int)
        """Bits of the half spaces that bear a node."""
        state: wp.array2d(dtype=int)
        along: wp.array2d(dtype=Vec)
        directions: wp.array2d(dtype=Mat)
        """P."""
        in_matrix: wp.array2d(dtype=int)
        """What was held when the matrix was made."""
        before: wp.array2d(dtype=Vec)
        """Forces before the last step of Newton's method, as the next two."""
        state_before: wp.array2d(dtype=int)
        along_before: wp.array2d(dtype=Vec)
        moved: wp.array2d(dtype=Vec)
        """How far nodes went in it."""
        forces: wp.array2d(dtype=Vec)
        """Of obstacles on nodes in the last step."""

    return Contacts


@cache
def contact_functions(types: MeshTypes) -> SimpleNamespace:
    """The functions `carry`, `resist`, `slid` and `velocities_at_end`, of a node."""
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat
    spaces, most = half_spaces(types), MOST
    nearest, borne, projector, Offsets = spaces.nearest, spaces.borne, spaces.projector, spaces.Offsets
    way = node_friction(types).way
    Contacts = contacts_struct(types)

    @wp.func
    def carry(contacts: Contacts, env: int, node: int, held: int):
        """How far the obstacle of the first half space that bears a node moves there in the step."""
        found = Vec()
        for last in range(most):
            j = most - 1 - last
            if (held >> j) % 2 == 1:
                for i in range(dim):
                    found[i] = contacts.carried[env, node][j, i]
        return found

    @wp.func
    def approaches(contacts: Contacts, env: int, node: int, duration: Real):
        """Speeds of obstacles along the normals of half spaces."""
        found = Offsets()
        N = contacts.normals[env, node]
        carried = contacts.carried[env, node]
        for j in range(most):
            along = Real(0.0)
            for i in range(dim):
                along += N[j, i] * carried[j, i]
            found[j] = along / duration
        return found

    @wp.func
    def resist(contacts: Contacts, env: int, node: int, force: Vec, held: int):
        """Have friction of what half spaces bear; gives the squares of the change of W, and of W."""
        T = Mat()
        W = Real(0.0)
        W_static = Real(0.0)
        rubs = int(0)
        if held > 0:
            N = contacts.normals[env, node]
            mu = borne(force, N, held)
            W = wp.dot(mu, contacts.dynamic_friction[env, node])
            W_static = wp.dot(mu, contacts.static_friction[env, node])
            if W_static > Real(0.0):
                rubs = held
                T = projector(N, held)
        change = W_static - contacts.static_resistance[env, node]
        contacts.rubs[env, node] = rubs
        contacts.anchor[env, node] = contacts.start[env, node] + Real(0.5) * carry(contacts, env, node, rubs)
        contacts.across[env, node] = T
        contacts.resistance[env, node] = W
        contacts.static_resistance[env, node] = W_static
        return change * change, W_static * W_static

    @wp.func
    def slid(contacts: Contacts, env: int, node: int, y: Vec):
        """s"""
        s = Vec()
        if contacts.rubs[env, node] > 0:
            s = way(contacts.across[env, node], y, contacts.anchor[env, node])
        return s

    @wp.func
    def velocities_at_end(contacts: Contacts, env: int, node: int, velocity: Vec, share: Real, force: Vec, whole: Real):
        """v', and that of the impact."""
        before = velocity + share * (force - contacts.free[env, node])
        speeds = approaches(contacts, env, node, whole)
        after, _held = nearest(before, contacts.normals[env, node], speeds, contacts.held[env, node])
        return before, after

    return SimpleNamespace(carry=carry, resist=resist, slid=slid, velocities_at_end=velocities_at_end)


@cache
def evaluation_kernels(types: MeshTypes, wide: bool) -> SimpleNamespace:
    """The kernels of evaluations and steps of Newton's method."""
    dim, Real, Vec = types.dim, types.real, types.vec
    block_sum = block_sum_for(Real, wide)
    spaces, friction = half_spaces(types), node_friction(types)
    touched, nearest, every, states = spaces.touched, spaces.nearest, spaces.every, spaces.every + 1
    react, on_this_side = friction.react, friction.on_this_side
    Contacts, slid = contacts_struct(types), contact_functions(types).slid
    block_at, set_block = block_access(dim, Real)

    @wp.kernel(**OPTIONS)
    def admit(contacts: Contacts, asked: wp.array(dtype=int), points: wp.array2d(dtype=Vec)):
        env, node = wp.tid()
        if asked[env] > 0:
            N = contacts.normals[env, node]
            found, _held = nearest(points[env, node], N, contacts.offsets[env, node], every)
            points[env, node] = found

    @wp.kernel(**OPTIONS)
    def split(
        contacts: Contacts,
        points: wp.array2d(dtype=Vec),
        forces: wp.array2d(dtype=Vec),
        asked: wp.array(dtype=int),
        lanes: int,
        found: wp.array2d(dtype=Real),
        changes: wp.array(dtype=Real),
    ):
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        square = Real(0.0)
        slope = Real(0.0)
        changed = Real(0.0)
        rubbed = Real(0.0)
        if asked[env] > 0:
            for node in range(lane, contacts.is_held.shape[0], lanes):
                if contacts.is_held[node] == 0:
                    force = forces[env, node]
                    y = points[env, node]
                    N = contacts.normals[env, node]
                    s = slid(contacts, env, node, y)
                    W = contacts.resistance[env, node]
                    reaction = react(
                        force,
                        s,
                        N,
                        touched(y, N, contacts.offsets[env, node]),
                        contacts.across[env, node],
                        W,
                        contacts.static_resistance[env, node],
                        contacts.rubs[env, node],
                    )
                    contacts.free[env, node] = reaction.free
                    contacts.held[env, node] = reaction.held
                    contacts.state[env, node] = reaction.state
                    contacts.along[env, node] = reaction.along
                    contacts.directions[env, node] = reaction.directions
                    square += wp.length_sq(reaction.free)
                    moved = contacts.moved[env, node]
                    slope += wp.dot(contacts.before[env, node] + force, moved)
                    if W > Real(0.0):
                        size = wp.length(s)
                        slope -= Real(2.0) * W * (size - wp.length(slid(contacts, env, node, y - moved)))
                        rubbed += W * size
                    code = reaction.held + states * reaction.state
                    if code != contacts.in_matrix[env, node] or reaction.state == STARTS:
                        changed += Real(1.0)
        square = block_sum(square)
        slope = block_sum(slope)
        changed = block_sum(changed)
        rubbed = block_sum(rubbed)
        if asked[env] > 0 and lane == 0:
            found[0, env] = found[0, env] + rubbed
            found[1, env] = found[1, env] + rubbed
            found[2, env] = square
            found[4, env] = slope
            changes[env] = changed

    @wp.kernel(**OPTIONS)
    def hold(
        contacts: Contacts,
        starts: wp.array(dtype=int),
        columns: wp.array(dtype=int),
        asked: wp.array(dtype=int),
        values: wp.array4d(dtype=Real),
    ):
        env, node = wp.tid()
        if asked[env] > 0:
            own = contacts.held[env, node] + states * contacts.state[env, node]
            contacts.in_matrix[env, node] = own
            for slot in range(starts[node], starts[node + 1]):
                column = columns[slot]
                if own > 0 or contacts.held[env, column] + contacts.state[env, column] > 0:
                    K = block_at(values, env, slot)
                    stiffness = wp.trace(K) / Real(float(dim))
                    P = wp.identity(n=dim, dtype=Real)
                    if own > 0:
                        P = contacts.directions[env, node]
                    P_column = P
                    if column != node:
                        P_column = wp.identity(n=dim, dtype=Real)
                        if contacts.held[env, column] + contacts.state[env, column] > 0:
                            P_column = contacts.directions[env, column]
                    elif contacts.state[env, node] == SLIDES:
                        s = contacts.along[env, node]
                        size = wp.length(s)
                        turning = contacts.across[env, node] - wp.outer(s, s) / (size * size)
                        K = K + (contacts.resistance[env, node] / size) * turning
                    projected = P * K * P_column
                    if column == node:
                        projected = projected + stiffness * (wp.identity(n=dim, dtype=Real) - P)
                    set_block(values, env, slot, projected)

    @wp.kernel(**OPTIONS)
    def begin_step(
        contacts: Contacts, step: wp.array2d(dtype=Vec), forces: wp.array2d(dtype=Vec), asked: wp.array(dtype=int)
    ):
        env, node = wp.tid()
        if asked[env] > 0:
            contacts.before[env, node] = forces[env, node]
            contacts.state_before[env, node] = contacts.state[env, node]
            contacts.along_before[env, node] = contacts.along[env, node]
            if contacts.in_matrix[env, node] > 0:
                step[env, node] = contacts.directions[env, node] * step[env, node]

    @wp.kernel(**OPTIONS)
    def move(
        contacts: Contacts,
        points: wp.array2d(dtype=Vec),
        step: wp.array2d(dtype=Vec),
        length: wp.array(dtype=Real),
        own: wp.array(dtype=int),
        trial: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        if own[env] > 0:
            at = points[env, node]
            there = at
            if length[env] > Real(0.0):
                there = at + length[env] * step[env, node]
                if contacts.rubs[env, node] > 0:
                    s = slid(contacts, env, node, there)
                    if not on_this_side(s, contacts.state_before[env, node], contacts.along_before[env, node]):
                        there = there - contacts.across[env, node] * (there - contacts.anchor[env, node])
                found, _held = nearest(there, contacts.normals[env, node], contacts.offsets[env, node], every)
                there = found
            contacts.moved[env, node] = there - at
            trial[env, node] = there

    return SimpleNamespace(admit=admit, split=split, hold=hold, begin_step=begin_step, move=move)


@cache
def contact_kernels(types: MeshTypes, wide: bool) -> SimpleNamespace:
    """All kernels, each named after the method of `NodeContacts` that launches it."""
    Real, Vec = types.real, types.vec
    block_sum, settled = block_sum_for(Real, wide), SETTLED
    spaces, functions = half_spaces(types), contact_functions(types)
    touched, nearest, borne, Offsets = spaces.touched, spaces.nearest, spaces.borne, spaces.Offsets
    carry, resist, velocities_at_end = functions.carry, functions.resist, functions.velocities_at_end
    Contacts = contacts_struct(types)

    @wp.kernel(**OPTIONS)
    def begin(contacts: Contacts, points: wp.array2d(dtype=Vec)):
        env, node = wp.tid()
        x = points[env, node]
        contacts.start[env, node] = x
        held = int(0)
        bears = Vec()
        if contacts.is_held[node] == 0:
            N = contacts.normals[env, node]
            pressing = -contacts.forces[env, node]
            rest, held_now = nearest(pressing, N, Offsets(), touched(x, N, contacts.offsets[env, node]))
            held = held_now
            bears = rest - pressing
        _change, _size = resist(contacts, env, node, bears, held)

    @wp.kernel(**OPTIONS)
    def press(
        contacts: Contacts,
        points: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
        forces: wp.array2d(dtype=Vec),
        mass: wp.array(dtype=Real),
        duration: Real,
        extent: Real,
        whole: Real,
        asked: wp.array(dtype=int),
        lanes: int,
        unsettled: wp.array(dtype=int),
    ):
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        changes = Real(0.0)
        sizes = Real(0.0)
        if asked[env] > 0:
            for node in range(lane, contacts.is_held.shape[0], lanes):
                if contacts.is_held[node] == 0:
                    held = contacts.held[env, node]
                    bears = Vec()
                    if held > 0:
                        way_now = points[env, node] - contacts.start[env, node]
                        velocity = (extent * extent / duration) * way_now - (extent - Real(1.0)) * velocities[env, node]
                        force = forces[env, node]
                        share = duration / mass[node]
                        before, after = velocities_at_end(contacts, env, node, velocity, share, force, whole)
                        bears = (after - before) / share
                    change, size = resist(contacts, env, node, bears, held)
                    changes += change
                    sizes += size
        changes = block_sum(changes)
        sizes = block_sum(sizes)
        if lane == 0:
            unsettled[env] = 0
            if asked[env] > 0 and changes > Real(settled * settled) * sizes:
                unsettled[env] = 1

    @wp.kernel(**OPTIONS)
    def end(
        contacts: Contacts,
        velocities: wp.array2d(dtype=Vec),
        forces: wp.array2d(dtype=Vec),
        mass: wp.array(dtype=Real),
        duration: Real,
        whole: Real,
        asked: wp.array(dtype=int),
    ):
        env, node = wp.tid()
        if asked[env] > 0:
            force = Vec()
            held = contacts.held[env, node]
            if contacts.is_held[node] == 0 and held > 0:
                share = duration / mass[node]
                velocity = velocities[env, node]
                pushed = forces[env, node]
                before, after = velocities_at_end(contacts, env, node, velocity, share, pushed, whole)
                force = (after - before) / share
                state = contacts.state[env, node]
                along = contacts.along[env, node]
                if state == STICKS:
                    N = contacts.normals[env, node]
                    limit = wp.dot(borne(force, N, held), contacts.static_friction[env, node])
                    beside = before - carry(contacts, env, node, contacts.rubs[env, node]) / whole
                    pull = (contacts.across[env, node] * beside) / share
                    if wp.length(pull) > limit:
                        pull = (limit / wp.length(pull)) * pull
                    force = force - pull
                elif state == STARTS or state == SLIDES:
                    force = force - (contacts.resistance[env, node] / wp.length(along)) * along
                velocities[env, node] = before + share * force
            contacts.forces[env, node] = force

    return SimpleNamespace(begin=begin, press=press, end=end, **vars(evaluation_kernels(types, wide)))

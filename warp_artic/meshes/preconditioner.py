"""The preconditioner of a mesh: what K of the free nodes of every environment is near to, inverted.

It is the inverse of the diagonal blocks and, where that is asked for, the coarse space of `meshes.coarse_space`:
M^-1 = D^-1 + P (P^T K P)^-1 P^T. Carried nodes move with the coordinates of `meshes.carried`; these are preconditioned
likewise, by what they have on the diagonal and as further motions of the coarse space. Sums are in a fixed order, of
components apart where they would wait for each other.

One thread, or one block of them, has one environment, or a group of them in lanes (`meshes.system_numbers`).
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.math.numbers import absolute, any_positive, neg, real, where_positive
from warp_artic.meshes.block_sum import block_sum_for
from warp_artic.meshes.carried import carried_struct
from warp_artic.meshes.coarse_space import DROPPED, rigid_motions
from warp_artic.meshes.layout import with_known_layout
from warp_artic.meshes.system_numbers import add, div, mul, sub, system_numbers  # noqa: F401 - operators
from warp_artic.meshes.types import OPTIONS, MeshTypes


@cache
def system_struct(types: MeshTypes, in_lanes: bool):
    """The struct of the matrices and the work space of a solver; of G groups of environments."""
    numbers = system_numbers(types, in_lanes)
    T, Vec, Mat, NodeVec = numbers.real, numbers.vec, numbers.mat, types.vec

    @wp.struct
    class System:
        environments: int
        starts: wp.array(dtype=int)
        columns: wp.array(dtype=int)
        diagonal: wp.array(dtype=int)
        """Slot of the diagonal block of each node."""
        node_count: int
        group_count: int
        """Groups of nodes in the coarse space."""
        coarse_size: int
        """Rows of the coarse space; zero where there are neither groups nor carried nodes."""
        is_held: wp.array(dtype=int)
        """Of each node."""
        blocks: wp.array2d(dtype=Mat)
        """Of the matrix, shape (G, slots)."""
        inverse: wp.array2d(dtype=Mat)
        """Of the diagonal blocks, shape (G, N) as all that follows of nodes."""
        group: wp.array(dtype=int)
        group_starts: wp.array(dtype=int)
        group_nodes: wp.array(dtype=int)
        run_starts: wp.array(dtype=int)
        """Of each node, its first run: slots whose columns are nodes of one group, its own or one before it."""
        run_group: wp.array(dtype=int)
        run_slot_starts: wp.array(dtype=int)
        run_slots: wp.array(dtype=int)
        arms: wp.array(dtype=NodeVec)
        """From the middle of the group of each node to the node."""
        coarse: wp.array3d(dtype=T)
        """(P^T K P)^-1, shape (G, rows, rows)."""
        coarse_diagonal: wp.array2d(dtype=T)
        """Of P^T K P."""
        coarse_force: wp.array2d(dtype=T)
        coarse_motion: wp.array2d(dtype=T)
        found: wp.array2d(dtype=Vec)
        """The solution so far."""
        residual: wp.array2d(dtype=Vec)
        step: wp.array2d(dtype=Vec)
        direction: wp.array2d(dtype=Vec)
        product: wp.array2d(dtype=Vec)
        carried_found: wp.array2d(dtype=T)
        """Of the coordinates of carried nodes, as the following, shape (G, K)."""
        carried_residual: wp.array2d(dtype=T)
        carried_step: wp.array2d(dtype=T)
        carried_direction: wp.array2d(dtype=T)

    return System


@cache
def preconditioner(types: MeshTypes, wide: bool, in_lanes: bool) -> SimpleNamespace:
    """The kernel `prepare`, the function `precondition`, and what they share with the solver."""
    dim, Real = types.dim, types.real
    numbers = system_numbers(types, in_lanes)
    T, Vec, Mat = numbers.real, numbers.vec, numbers.mat
    with_component, row_of = numbers.with_component, numbers.row
    dot, transpose, product, cw_mul = numbers.dot, numbers.transpose, numbers.product, numbers.cw_mul
    inverse_of, sum_of = numbers.inverse, numbers.sum_of
    number_at, shape_at, flag_of = numbers.number_at, numbers.shape_at, numbers.flag_of
    System, Carried = system_struct(types, in_lanes), carried_struct(types)
    motions = rigid_motions(types, in_lanes)
    restrict, prolong, modes = motions.restrict, motions.prolong, motions.count
    Motion, mode_of, with_mode = motions.numbers.type, motions.numbers.item, motions.numbers.with_item
    table = numbers.items(modes * dim)
    Motions, entry_of, with_entry_of = table.type, table.item, table.with_item

    known_system = with_known_layout(System)
    block_sum = block_sum_for(T, wide)

    @wp.func
    def restrict_matrix(system: System, env: int, group: int):
        """Blocks of P^T K P of a group with itself and with those before it, and with their transposes."""
        for place in range(system.group_starts[group], system.group_starts[group + 1]):
            node = system.group_nodes[place]
            for run in range(system.run_starts[node], system.run_starts[node + 1]):
                # Row k of K P is restrict(arm, row k of K).
                K_P = Motions()
                for step in range(system.run_slot_starts[run], system.run_slot_starts[run + 1]):
                    slot = system.run_slots[step]
                    K = system.blocks[env, slot]
                    for i in range(dim):
                        motion = restrict(system.arms[system.columns[slot]], row_of(K, i))
                        for mode in range(modes):
                            place_of = mode * dim + i
                            K_P = with_entry_of(K_P, place_of, entry_of(K_P, place_of) + mode_of(motion, mode))
                for mode in range(modes):
                    force = Vec()
                    for i in range(dim):
                        force = with_component(force, i, entry_of(K_P, mode * dim + i))
                    found = restrict(system.arms[node], force)
                    column = system.run_group[run] * modes + mode
                    for k in range(modes):
                        row = group * modes + k
                        entry_now = system.coarse[env, row, column] + mode_of(found, k)
                        system.coarse[env, row, column] = entry_now
                        if system.run_group[run] != group:
                            system.coarse[env, column, row] = entry_now

    @wp.func
    def restrict_carried(system: System, carried: Carried, env: int, k: int):
        """The row and the column of P^T K P of a coordinate of carried nodes, which come after those of groups."""
        own = system.coarse_size - carried.stiffness.shape[1]
        count = system.environments
        for c in range(carried.nodes.shape[0]):
            node = carried.nodes[c]
            phi = shape_at(carried.shapes, count, env, k, c)
            for slot in range(system.starts[node], system.starts[node + 1]):
                other = system.columns[slot]
                pull = product(transpose(system.blocks[env, slot]), phi)
                if system.group[other] >= 0:
                    found = restrict(system.arms[other], pull)
                    for mode in range(modes):
                        column = system.group[other] * modes + mode
                        system.coarse[env, own + k, column] = system.coarse[env, own + k, column] + mode_of(found, mode)
                place = carried.place[other]
                if place >= 0:
                    for l in range(carried.stiffness.shape[1]):
                        along = dot(pull, shape_at(carried.shapes, count, env, l, place))
                        system.coarse[env, own + k, own + l] = system.coarse[env, own + k, own + l] + along
        for column in range(own):
            system.coarse[env, column, own + k] = system.coarse[env, own + k, column]
        stiffness = number_at(carried.stiffness, count, env, k)
        system.coarse[env, own + k, own + k] = system.coarse[env, own + k, own + k] + stiffness

    @wp.func
    def subtract_row(system: System, env: int, row: int, other: int, factor: T):
        """Take a multiple of another row away, all motions of a group at once."""
        for group in range(system.group_count):
            changed = Motion()
            for mode in range(modes):
                column = group * modes + mode
                rest = system.coarse[env, row, column] - factor * system.coarse[env, other, column]
                changed = with_mode(changed, mode, rest)
            for mode in range(modes):
                system.coarse[env, row, group * modes + mode] = mode_of(changed, mode)
        for column in range(system.group_count * modes, system.coarse_size):
            rest = system.coarse[env, row, column] - factor * system.coarse[env, other, column]
            system.coarse[env, row, column] = rest

    @wp.func
    def eliminate(system: System, env: int, pivot: int, lane: int, lanes: int):
        """One step of the inversion in place, of Gauss and Jordan; motions that others have already are left out."""
        size = system.coarse_size
        value = system.coarse[env, pivot, pivot]
        keeps = value - Real(DROPPED) * system.coarse_diagonal[env, pivot]
        inverse = where_positive(keeps, real(1.0, value) / value, real(0.0, value))
        block_sum(T(Real(0.0)))
        for j in range(lane, size, lanes):
            system.coarse[env, pivot, j] = system.coarse[env, pivot, j] * inverse
        block_sum(T(Real(0.0)))
        for i in range(lane, size, lanes):
            if i != pivot:
                factor = system.coarse[env, i, pivot]
                # The row of a motion that is left out is zero now.
                if any_positive(absolute(factor)):
                    subtract_row(system, env, i, pivot, factor)
                system.coarse[env, i, pivot] = neg(factor) * inverse
        block_sum(T(Real(0.0)))
        if lane == 0:
            system.coarse[env, pivot, pivot] = inverse
        block_sum(T(Real(0.0)))

    @wp.kernel(**OPTIONS)
    def prepare(given: System, carried: Carried, asked: wp.array(dtype=int), lanes: int):
        thread = wp.tid()
        system = known_system(given)
        env = thread // lanes
        lane = thread % lanes
        if any_positive(flag_of(asked, system.environments, env)):
            for node in range(lane, system.node_count, lanes):
                inverse = Mat()
                if system.is_held[node] == 0:
                    inverse = inverse_of(system.blocks[env, system.diagonal[node]])
                system.inverse[env, node] = inverse
            size = system.coarse_size
            if size > 0:
                for row in range(lane, size, lanes):
                    for column in range(size):
                        system.coarse[env, row, column] = T(Real(0.0))
                block_sum(T(Real(0.0)))
                for group in range(lane, system.group_count, lanes):
                    restrict_matrix(system, env, group)
                for k in range(lane, carried.stiffness.shape[1], lanes):
                    restrict_carried(system, carried, env, k)
                block_sum(T(Real(0.0)))
                for row in range(lane, size, lanes):
                    system.coarse_diagonal[env, row] = system.coarse[env, row, row]
                block_sum(T(Real(0.0)))
                for pivot in range(size):
                    eliminate(system, env, pivot, lane, lanes)

    @wp.func
    def restrict_residual(system: System, env: int, group: int):
        """Forces on a group of nodes."""
        force = Motion()
        for place in range(system.group_starts[group], system.group_starts[group + 1]):
            node = system.group_nodes[place]
            found = restrict(system.arms[node], system.residual[env, node])
            for k in range(modes):
                force = with_mode(force, k, mode_of(force, k) + mode_of(found, k))
        for k in range(modes):
            system.coarse_force[env, group * modes + k] = mode_of(force, k)

    @wp.func
    def coarse_entry(system: System, env: int, row: int):
        """A row of the inverse times forces; entries of motions are added up apart."""
        parts = Motion()
        for group in range(system.group_count):
            for k in range(modes):
                column = group * modes + k
                part = system.coarse[env, row, column] * system.coarse_force[env, column]
                parts = with_mode(parts, k, mode_of(parts, k) + part)
        found = mode_of(parts, 0)
        for k in range(1, modes):
            found = found + mode_of(parts, k)
        for column in range(system.group_count * modes, system.coarse_size):
            found = found + system.coarse[env, row, column] * system.coarse_force[env, column]
        return found

    @wp.func
    def along_motion(system: System, env: int, node: int):
        """What the motion of its group is at a node."""
        motion = Motion()
        for k in range(modes):
            motion = with_mode(motion, k, system.coarse_motion[env, system.group[node] * modes + k])
        return prolong(system.arms[node], motion)

    @wp.func
    def precondition(system: System, carried: Carried, env: int, lane: int, lanes: int):
        """The step M^-1 r, and r M^-1 r."""
        total = T(Real(0.0))
        totals = Vec()
        size = system.coarse_size
        own = size - carried.stiffness.shape[1]
        if size > 0:
            for k in range(lane, carried.stiffness.shape[1], lanes):
                system.coarse_force[env, own + k] = system.carried_residual[env, k]
            for group in range(lane, system.group_count, lanes):
                restrict_residual(system, env, group)
            block_sum(T(Real(0.0)))
            for row in range(lane, size, lanes):
                system.coarse_motion[env, row] = coarse_entry(system, env, row)
            block_sum(T(Real(0.0)))
        for k in range(lane, carried.stiffness.shape[1], lanes):
            diagonal = system.coarse_diagonal[env, own + k]
            residual = system.carried_residual[env, k]
            along = system.coarse_motion[env, own + k]
            along = where_positive(diagonal, along + residual / diagonal, along)
            system.carried_step[env, k] = along
            total = total + along * residual
        for node in range(lane, system.node_count, lanes):
            if system.is_held[node] == 0:
                step = product(system.inverse[env, node], system.residual[env, node])
                if own > 0:
                    step = step + along_motion(system, env, node)
                system.step[env, node] = step
                totals = totals + cw_mul(step, system.residual[env, node])
        return block_sum(total + sum_of(totals))

    return SimpleNamespace(prepare=prepare, precondition=precondition, known_system=known_system, block_sum=block_sum)

"""The preconditioner of a mesh: what K of the free nodes of every environment is near to, inverted.

It is the inverse of the diagonal blocks and, where that is asked for, the coarse space of `meshes.coarse_space`:
M^-1 = D^-1 + P (P^T K P)^-1 P^T. Carried nodes move with the coordinates of `meshes.carried`; these are preconditioned
likewise, by what they have on the diagonal and as further motions of the coarse space. Sums are in a fixed order, of
components apart where they would wait for each other.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from warp_artic.meshes.block_sum import block_sum_for
from warp_artic.meshes.carried import carried_struct
from warp_artic.meshes.coarse_space import DROPPED, rigid_motions
from warp_artic.meshes.layout import with_known_layout
from warp_artic.meshes.types import OPTIONS, MeshTypes


@cache
def system_struct(types: MeshTypes):
    """The struct of the matrices and the work space of a solver."""
    Real, Vec, Mat = types.real, types.vec, types.mat

    @wp.struct
    class System:
        starts: wp.array(dtype=int)
        columns: wp.array(dtype=int)
        diagonal: wp.array(dtype=int)
        """Slot of the diagonal block of each node."""
        node_count: int
        group_count: int
        coarse_size: int
        """Rows of the coarse space; zero where there are neither groups nor carried nodes."""
        is_held: wp.array(dtype=int)
        """Of each node."""
        values: wp.array2d(dtype=Mat)
        inverse: wp.array2d(dtype=Mat)
        """Of the diagonal blocks."""
        group: wp.array(dtype=int)
        group_starts: wp.array(dtype=int)
        group_nodes: wp.array(dtype=int)
        run_starts: wp.array(dtype=int)
        """Of each node, its first run: slots whose columns are nodes of one group, its own or one before it."""
        run_group: wp.array(dtype=int)
        run_slot_starts: wp.array(dtype=int)
        run_slots: wp.array(dtype=int)
        arms: wp.array(dtype=Vec)
        """From the middle of the group of each node to the node."""
        coarse: wp.array3d(dtype=Real)
        """(P^T K P)^-1."""
        coarse_diagonal: wp.array2d(dtype=Real)
        """Of P^T K P."""
        coarse_force: wp.array2d(dtype=Real)
        coarse_motion: wp.array2d(dtype=Real)
        residual: wp.array2d(dtype=Vec)
        step: wp.array2d(dtype=Vec)
        direction: wp.array2d(dtype=Vec)
        product: wp.array2d(dtype=Vec)
        carried_residual: wp.array2d(dtype=Real)
        """Of the coordinates of carried nodes, as the following."""
        carried_step: wp.array2d(dtype=Real)
        carried_direction: wp.array2d(dtype=Real)
        carried_solution: wp.array2d(dtype=Real)

    return System


@cache
def preconditioner(types: MeshTypes, wide: bool) -> SimpleNamespace:
    """The kernel `prepare`, the function `precondition`, and what they share with the solver."""
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat
    System, Carried = system_struct(types), carried_struct(types)
    motions = rigid_motions(types)
    Motion, restrict, prolong = motions.motion, motions.restrict, motions.prolong
    modes = motions.count
    Motions = wp.types.matrix(shape=(modes, dim), dtype=Real)

    known_system = with_known_layout(System)
    block_sum = block_sum_for(Real, wide)

    @wp.func
    def sum_of(parts: Vec):
        """Of components, which are added up apart so that no sum waits for the one before it."""
        total = parts[0]
        for i in range(1, dim):
            total += parts[i]
        return total

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
                    K = system.values[env, slot]
                    for i in range(dim):
                        motion = restrict(system.arms[system.columns[slot]], K[i])
                        for mode in range(modes):
                            K_P[mode, i] += motion[mode]
                for mode in range(modes):
                    found = restrict(system.arms[node], K_P[mode])
                    column = system.run_group[run] * modes + mode
                    for k in range(modes):
                        row = group * modes + k
                        entry = system.coarse[env, row, column] + found[k]
                        system.coarse[env, row, column] = entry
                        if system.run_group[run] != group:
                            system.coarse[env, column, row] = entry

    @wp.func
    def restrict_carried(system: System, carried: Carried, env: int, k: int):
        """The row and the column of P^T K P of a coordinate of carried nodes, which come after those of groups."""
        own = system.coarse_size - carried.stiffness.shape[1]
        for c in range(carried.nodes.shape[0]):
            node = carried.nodes[c]
            phi = carried.shapes[env, k, c]
            for slot in range(system.starts[node], system.starts[node + 1]):
                other = system.columns[slot]
                pull = wp.transpose(system.values[env, slot]) * phi
                if system.group[other] >= 0:
                    found = restrict(system.arms[other], pull)
                    for mode in range(modes):
                        column = system.group[other] * modes + mode
                        system.coarse[env, own + k, column] = system.coarse[env, own + k, column] + found[mode]
                place = carried.place[other]
                if place >= 0:
                    for l in range(carried.stiffness.shape[1]):
                        entry = wp.dot(pull, carried.shapes[env, l, place])
                        system.coarse[env, own + k, own + l] = system.coarse[env, own + k, own + l] + entry
        for column in range(own):
            system.coarse[env, column, own + k] = system.coarse[env, own + k, column]
        system.coarse[env, own + k, own + k] = system.coarse[env, own + k, own + k] + carried.stiffness[env, k]

    @wp.func
    def subtract_row(system: System, env: int, row: int, other: int, factor: Real):
        """Take a multiple of another row away, all motions of a group at once."""
        for group in range(system.group_count):
            changed = Motion()
            for mode in range(modes):
                column = group * modes + mode
                changed[mode] = system.coarse[env, row, column] - factor * system.coarse[env, other, column]
            for mode in range(modes):
                system.coarse[env, row, group * modes + mode] = changed[mode]
        for column in range(system.group_count * modes, system.coarse_size):
            entry = system.coarse[env, row, column] - factor * system.coarse[env, other, column]
            system.coarse[env, row, column] = entry

    @wp.func
    def eliminate(system: System, env: int, pivot: int, lane: int, lanes: int):
        """One step of the inversion in place, of Gauss and Jordan; motions that others have already are left out."""
        size = system.coarse_size
        value = system.coarse[env, pivot, pivot]
        keeps = value > Real(DROPPED) * system.coarse_diagonal[env, pivot]
        inverse = Real(0.0)
        if keeps:
            inverse = Real(1.0) / value
        block_sum(Real(0.0))
        for j in range(lane, size, lanes):
            system.coarse[env, pivot, j] = system.coarse[env, pivot, j] * inverse
        block_sum(Real(0.0))
        for i in range(lane, size, lanes):
            if i != pivot:
                factor = system.coarse[env, i, pivot]
                if keeps and factor != Real(0.0):
                    subtract_row(system, env, i, pivot, factor)
                system.coarse[env, i, pivot] = -factor * inverse
        block_sum(Real(0.0))
        if lane == 0:
            system.coarse[env, pivot, pivot] = inverse
        block_sum(Real(0.0))

    @wp.kernel(**OPTIONS)
    def prepare(given: System, carried: Carried, asked: wp.array(dtype=int), lanes: int):
        thread = wp.tid()
        system = known_system(given)
        env = thread // lanes
        lane = thread % lanes
        if asked[env] > 0:
            for node in range(lane, system.node_count, lanes):
                inverse = Mat()
                if system.is_held[node] == 0:
                    inverse = wp.inverse(system.values[env, system.diagonal[node]])
                system.inverse[env, node] = inverse
            size = system.coarse_size
            if size > 0:
                for row in range(lane, size, lanes):
                    for column in range(size):
                        system.coarse[env, row, column] = Real(0.0)
                block_sum(Real(0.0))
                for group in range(lane, system.group_count, lanes):
                    restrict_matrix(system, env, group)
                for k in range(lane, carried.stiffness.shape[1], lanes):
                    restrict_carried(system, carried, env, k)
                block_sum(Real(0.0))
                for row in range(lane, size, lanes):
                    system.coarse_diagonal[env, row] = system.coarse[env, row, row]
                block_sum(Real(0.0))
                for pivot in range(size):
                    eliminate(system, env, pivot, lane, lanes)

    @wp.func
    def precondition(system: System, carried: Carried, env: int, lane: int, lanes: int):
        """The step M^-1 r, and r M^-1 r."""
        total = Real(0.0)
        totals = Vec()
        size = system.coarse_size
        own = size - carried.stiffness.shape[1]
        if size > 0:
            for k in range(lane, carried.stiffness.shape[1], lanes):
                system.coarse_force[env, own + k] = system.carried_residual[env, k]
            for group in range(lane, system.group_count, lanes):
                force = Motion()
                for place in range(system.group_starts[group], system.group_starts[group + 1]):
                    node = system.group_nodes[place]
                    force += restrict(system.arms[node], system.residual[env, node])
                for k in range(modes):
                    system.coarse_force[env, group * modes + k] = force[k]
            block_sum(Real(0.0))
            for row in range(lane, size, lanes):
                parts = Motion()
                for group in range(system.group_count):
                    for k in range(modes):
                        column = group * modes + k
                        parts[k] += system.coarse[env, row, column] * system.coarse_force[env, column]
                entry = Real(0.0)
                for k in range(modes):
                    entry += parts[k]
                for column in range(own, size):
                    entry += system.coarse[env, row, column] * system.coarse_force[env, column]
                system.coarse_motion[env, row] = entry
            block_sum(Real(0.0))
        for k in range(lane, carried.stiffness.shape[1], lanes):
            along = system.coarse_motion[env, own + k]
            diagonal = system.coarse_diagonal[env, own + k]
            if diagonal > Real(0.0):
                along += system.carried_residual[env, k] / diagonal
            system.carried_step[env, k] = along
            total += along * system.carried_residual[env, k]
        for node in range(lane, system.node_count, lanes):
            if system.is_held[node] == 0:
                step = system.inverse[env, node] * system.residual[env, node]
                if own > 0:
                    motion = Motion()
                    for k in range(modes):
                        motion[k] = system.coarse_motion[env, system.group[node] * modes + k]
                    step += prolong(system.arms[node], motion)
                system.step[env, node] = step
                totals += wp.cw_mul(step, system.residual[env, node])
        return block_sum(total + sum_of(totals))

    return SimpleNamespace(
        prepare=prepare, precondition=precondition, known_system=known_system, block_sum=block_sum, sum_of=sum_of
    )

"""Contacts of the nodes of a body with obstacles: what of the forces moves nodes, and what obstacles bear.

The potential is made least over points y of which every node is in its half spaces, n y >= b (`meshes.obstacles`). No
spring is in it. Where a node touches and its force f = -dPhi/dy presses, it is held in the directions of the normals
that bear it, and P f is left, with P the projection across them. A step of Newton's method solves

    (P K P + S) d = P f

with a stiffness S in the directions that are held, along which d is zero; then nodes go to the points of their half
spaces that are nearest to y + a d, for a length a for which the potential falls: a projected Newton method (Bertsekas,
Projected Newton methods for optimization problems with simple constraints, 1982). Nodes that obstacles pull are let
go, nodes that would pass stay at the boundary: any number of them in a step. At the end no node is pulled, and P f = 0.

A step of time is one of the midpoint rule for positions, x+ = 2 y - x, which are outside of all obstacles; velocities
are those of an inelastic impact of each node,

    v+ = nearest to v' in n v >= 0,   v' = 2 (y - x) / k - v + (h / m) (f - P f),   force = m (v+ - v') / h

where v' is what the node would have after it with all forces but those of obstacles. So forces push, momentum changes
by them exactly, and a step of a body that touches loses energy: of each node at most what an inelastic impact takes,
which is less the finer the mesh is.
"""

from functools import cache

import numpy as np
import warp as wp

from warp_artic.meshes.block_sum import block_sum_for
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.half_spaces import half_spaces
from warp_artic.meshes.obstacles import place_kernel, upload_obstacles
from warp_artic.meshes.types import OPTIONS, MeshTypes, is_wide


@cache
def contact_kernels(types: MeshTypes, wide: bool):
    """The kernels `admit`, `split`, `keep`, `hold`, `clean`, `move` and `end`."""
    dim, Real, Vec, Mat = types.dim, types.real, types.vec, types.mat
    block_sum = block_sum_for(Real, wide)
    spaces = half_spaces(types)
    Normals, Offsets = spaces.Normals, spaces.Offsets
    touched, nearest, projector, every = spaces.touched, spaces.nearest, spaces.projector, spaces.every

    @wp.kernel(**OPTIONS)
    def admit(
        normals: wp.array2d(dtype=Normals),
        offsets: wp.array2d(dtype=Offsets),
        asked: wp.array(dtype=int),
        points: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        if asked[env] > 0:
            found, _held = nearest(points[env, node], normals[env, node], offsets[env, node], every)
            points[env, node] = found

    @wp.kernel(**OPTIONS)
    def split(
        normals: wp.array2d(dtype=Normals),
        offsets: wp.array2d(dtype=Offsets),
        is_held: wp.array(dtype=int),
        points: wp.array2d(dtype=Vec),
        forces: wp.array2d(dtype=Vec),
        before: wp.array2d(dtype=Vec),
        moved: wp.array2d(dtype=Vec),
        matrix_held_by: wp.array2d(dtype=int),
        asked: wp.array(dtype=int),
        lanes: int,
        free: wp.array2d(dtype=Vec),
        held_by: wp.array2d(dtype=int),
        found: wp.array2d(dtype=Real),
        changes: wp.array(dtype=Real),
    ):
        thread = wp.tid()
        env = thread // lanes
        lane = thread % lanes
        square = Real(0.0)
        slope = Real(0.0)
        changed = Real(0.0)
        if asked[env] > 0:
            for node in range(lane, is_held.shape[0], lanes):
                if is_held[node] == 0:
                    force = forces[env, node]
                    N = normals[env, node]
                    which = touched(points[env, node], N, offsets[env, node])
                    rest, held = nearest(force, N, Offsets(), which)
                    free[env, node] = rest
                    held_by[env, node] = held
                    square += wp.length_sq(rest)
                    slope += wp.dot(before[env, node] + force, moved[env, node])
                    if held != matrix_held_by[env, node]:
                        changed += Real(1.0)
        square = block_sum(square)
        slope = block_sum(slope)
        changed = block_sum(changed)
        if asked[env] > 0 and lane == 0:
            found[2, env] = square
            found[4, env] = slope
            changes[env] = changed

    @wp.kernel(**OPTIONS)
    def keep(forces: wp.array2d(dtype=Vec), asked: wp.array(dtype=int), before: wp.array2d(dtype=Vec)):
        env, node = wp.tid()
        if asked[env] > 0:
            before[env, node] = forces[env, node]

    @wp.kernel(**OPTIONS)
    def hold(
        normals: wp.array2d(dtype=Normals),
        held_by: wp.array2d(dtype=int),
        starts: wp.array(dtype=int),
        columns: wp.array(dtype=int),
        asked: wp.array(dtype=int),
        matrix_held_by: wp.array2d(dtype=int),
        values: wp.array2d(dtype=Mat),
    ):
        env, node = wp.tid()
        if asked[env] > 0:
            own = held_by[env, node]
            matrix_held_by[env, node] = own
            P = projector(normals[env, node], own)
            for slot in range(starts[node], starts[node + 1]):
                column = columns[slot]
                other = held_by[env, column]
                if own > 0 or other > 0:
                    K = values[env, slot]
                    projected = P * K * projector(normals[env, column], other)
                    if column == node:
                        stiffness = wp.trace(K) / Real(float(dim))
                        projected = projected + stiffness * (wp.identity(n=dim, dtype=Real) - P)
                    values[env, slot] = projected

    @wp.kernel(**OPTIONS)
    def clean(
        normals: wp.array2d(dtype=Normals),
        matrix_held_by: wp.array2d(dtype=int),
        asked: wp.array(dtype=int),
        step: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        if asked[env] > 0:
            held = matrix_held_by[env, node]
            if held > 0:
                step[env, node] = projector(normals[env, node], held) * step[env, node]

    @wp.kernel(**OPTIONS)
    def move(
        points: wp.array2d(dtype=Vec),
        step: wp.array2d(dtype=Vec),
        length: wp.array(dtype=Real),
        own: wp.array(dtype=int),
        normals: wp.array2d(dtype=Normals),
        offsets: wp.array2d(dtype=Offsets),
        moved: wp.array2d(dtype=Vec),
        trial: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        if own[env] > 0:
            at = points[env, node]
            there = at
            if length[env] > Real(0.0):
                there, _held = nearest(
                    at + length[env] * step[env, node], normals[env, node], offsets[env, node], every
                )
            moved[env, node] = there - at
            trial[env, node] = there

    @wp.kernel(**OPTIONS)
    def end(
        normals: wp.array2d(dtype=Normals),
        held_by: wp.array2d(dtype=int),
        is_held: wp.array(dtype=int),
        mass: wp.array(dtype=Real),
        forces: wp.array2d(dtype=Vec),
        free: wp.array2d(dtype=Vec),
        duration: Real,
        asked: wp.array(dtype=int),
        velocities: wp.array2d(dtype=Vec),
        contact_forces: wp.array2d(dtype=Vec),
    ):
        env, node = wp.tid()
        if asked[env] > 0:
            force = Vec()
            held = held_by[env, node]
            if is_held[node] == 0 and held > 0:
                share = duration / mass[node]
                before = velocities[env, node] + share * (forces[env, node] - free[env, node])
                after, _held = nearest(before, normals[env, node], Offsets(), held)
                velocities[env, node] = after
                force = (after - before) / share
            contact_forces[env, node] = force

    return admit, split, keep, hold, clean, move, end


class NodeContacts:
    """Contacts of the free nodes of a body in all environments.

    Args:
        mesh: Of the body, whose obstacles they are.
        is_held: Nodes that touch nothing, shape (N): those that are pinned or attached.
    """

    def __init__(self, mesh: ElasticMesh, is_held: np.ndarray):
        types, device, environments = mesh.types, mesh.device, mesh.environments
        self._mesh = mesh
        self._obstacles = upload_obstacles(mesh.body.obstacles, mesh.body.pose, types, device)
        self._is_held = wp.array(is_held.astype(np.int32), dtype=int, device=device)
        self._shape = environments, len(is_held)
        spaces = half_spaces(types)

        def zeros(dtype):
            return wp.zeros(self._shape, dtype=dtype, device=device)

        self._normals, self._offsets = zeros(spaces.Normals), zeros(spaces.Offsets)
        self.free = zeros(types.vec)
        """P f of nodes at the last evaluation [N], shape (environments, N)."""
        self.forces = zeros(types.vec)
        """What obstacles have done to nodes in the last step, on average [N], shape (environments, N)."""
        self._before, self._moved = zeros(types.vec), zeros(types.vec)
        self._held_by, self._matrix_held_by = zeros(int), zeros(int)
        self._changes = wp.zeros(environments, dtype=types.real, device=device)
        pattern = mesh.pattern
        self._starts = wp.array(pattern.starts, dtype=int, device=device)
        self._columns = wp.array(pattern.columns, dtype=int, device=device)
        self._every = wp.full(environments, 1, dtype=int, device=device)
        self._place = place_kernel(types)
        kernels = contact_kernels(types, is_wide(device))
        self._admit, self._split, self._keep, self._hold, self._clean, self._move, self._end = kernels

    @property
    def has_changed(self) -> np.ndarray:
        """Where other directions are held since the matrix was made, shape (environments)."""
        return self._mesh.host.read(self._changes) > 0.0

    def place(self, points: wp.array, velocities: wp.array, duration: float, share: float) -> None:
        """Find the half spaces of a step.

        Args:
            points: At its start, shape (environments, N) [m].
            velocities: Likewise [m/s].
            duration: Of the step [s].
            share: How far nodes are at its end, of how far they are where the potential is least: 2 or 1.
        """
        real = self._mesh.types.real
        inputs = [points, velocities, self._is_held, self._obstacles, real(duration), real(share)]
        self._launch(self._place, *inputs, self._normals, self._offsets)

    def admit(self, points: wp.array, asked: wp.array) -> None:
        """Take nodes to the nearest points of their half spaces."""
        self._launch(self._admit, self._normals, self._offsets, asked, points)

    def split(self, points: wp.array, forces: wp.array, asked: wp.array, found: wp.array) -> None:
        """Find P f, and set in the sums of a potential those of its square, and twice the fall since the last step."""
        mesh = self._mesh
        inputs = [self._normals, self._offsets, self._is_held, points, forces, self._before, self._moved]
        inputs += [self._matrix_held_by, asked, mesh.lanes, self.free, self._held_by, found, self._changes]
        mesh.launches.launch(self._split, mesh.environments * mesh.lanes, inputs, mesh.lanes)

    def hold(self, values: wp.array, asked: wp.array) -> None:
        """Hold what is held in matrices."""
        inputs = [self._normals, self._held_by, self._starts, self._columns, asked, self._matrix_held_by, values]
        self._launch(self._hold, *inputs)

    def begin_step(self, step: wp.array, forces: wp.array, asked: wp.array) -> None:
        """Take what is left along held directions out of a step of Newton's method, and keep the forces before it."""
        self._launch(self._clean, self._normals, self._matrix_held_by, asked, step)
        self._launch(self._keep, forces, asked, self._before)

    def move(self, points: wp.array, step: wp.array, length: wp.array, own: wp.array, trial: wp.array) -> None:
        """Set trial points, in half spaces."""
        self._launch(self._move, points, step, length, own, self._normals, self._offsets, self._moved, trial)

    def end(self, velocities: wp.array, forces: wp.array, mass: wp.array, duration: float, asked=None) -> None:
        """Make velocities at the end of a step those after impacts; `asked` says in which environments."""
        inputs = [self._normals, self._held_by, self._is_held, mass, forces, self.free]
        inputs += [self._mesh.types.real(duration), self._every if asked is None else asked]
        self._launch(self._end, *inputs, velocities, self.forces)

    def _launch(self, kernel: wp.Kernel, *inputs) -> None:
        self._mesh.launches.launch(kernel, self._shape, list(inputs))

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
which is less the finer the mesh is. Nodes that stick do not move along the surface, and have no velocity along it in
the end, as far as static friction can stop them; W of nodes that slide is found again until it is that of the forces
that obstacles bear in this step.
"""

import numpy as np
import warp as wp

from warp_artic.meshes.block_values import BlockValues
from warp_artic.meshes.contact_kernels import contact_kernels, contacts_struct
from warp_artic.meshes.elastic import ElasticMesh
from warp_artic.meshes.half_spaces import half_spaces
from warp_artic.meshes.obstacles import ObstaclePlaces, place_kernel, upload_obstacles
from warp_artic.meshes.types import is_wide


class NodeContacts:
    """Contacts of the free nodes of a body in all environments.

    Args:
        mesh: Of the body, whose obstacles they are.
        is_held: Nodes that touch nothing, shape (N): those that are pinned or attached.
    """

    def __init__(self, mesh: ElasticMesh, is_held: np.ndarray):
        types, device, environments = mesh.types, mesh.device, mesh.environments
        obstacles, shape = mesh.body.obstacles, (environments, len(is_held))
        self.has_friction = any(one.static_friction > 0.0 for one in obstacles)
        """Whether nodes rub on any of them."""
        self._mesh = mesh
        self._shape = shape
        self._obstacles = upload_obstacles(obstacles, types, device)
        self._places = ObstaclePlaces(obstacles, mesh.body.pose)
        self._set_places(np.zeros(2))
        spaces, arrays = half_spaces(types), contacts_struct(types)()

        def zeros(dtype):
            return wp.zeros(shape, dtype=dtype, device=device)

        arrays.is_held = wp.array(is_held.astype(np.int32), dtype=int, device=device)
        for name in ("normals", "carried"):
            setattr(arrays, name, zeros(spaces.Normals))
        for name in ("offsets", "static_friction", "dynamic_friction"):
            setattr(arrays, name, zeros(spaces.Offsets))
        for name in ("rubs", "held", "state", "in_matrix", "state_before"):
            setattr(arrays, name, zeros(int))
        for name in ("across", "directions"):
            setattr(arrays, name, zeros(types.mat))
        for name in ("resistance", "static_resistance"):
            setattr(arrays, name, zeros(types.real))
        for name in ("start", "anchor", "free", "along", "before", "along_before", "moved", "forces"):
            setattr(arrays, name, zeros(types.vec))
        self._arrays = arrays
        self.free = arrays.free
        """P f of nodes at the last evaluation [N], shape (environments, N)."""
        self.forces = arrays.forces
        """What obstacles have done to nodes in the last step, on average [N], shape (environments, N); a run goes on
        from it."""
        self._duration = types.real(0.0)
        self._changes = wp.zeros(environments, dtype=types.real, device=device)
        self._unsettled = wp.zeros(environments, dtype=int, device=device)
        self._asked = wp.full(environments, 1, dtype=int, device=device)
        pattern = mesh.pattern
        self._starts = wp.array(pattern.starts, dtype=int, device=device)
        self._columns = wp.array(pattern.columns, dtype=int, device=device)
        self._place = place_kernel(types)
        self._kernels = contact_kernels(types, is_wide(device))

    @property
    def has_changed(self) -> np.ndarray:
        """Where other directions are held since the matrix was made, shape (environments)."""
        return self._mesh.host.read(self._changes) > 0.0

    def follow(self, time: float, duration: float) -> None:
        """Know where obstacles are in the step from a time on [s]."""
        if self._places.move:
            self._set_places(time + duration * np.array([0.0, 1.0]))

    def _set_places(self, times: np.ndarray) -> None:
        position, axes = self._places.at(times)
        self._obstacles.position.assign(position)
        self._obstacles.axes.assign(axes)

    def place(
        self, points: wp.array, velocities: wp.array, duration: float, extent: float, start: wp.array | None = None
    ) -> None:
        """Begin a step: find half spaces, and the friction of the forces of the step before.

        Args:
            points: At its start, shape (environments, N) [m].
            velocities: Likewise [m/s].
            duration: Of the step [s].
            extent: How far nodes are at its end, of how far they are where the potential is least: 2, or, in the second
                half of a step, 1.
            start: Points at the start of this half; those of the step by default.
        """
        real, arrays = self._mesh.types.real, self._arrays
        self._duration = real(duration)
        inputs = [points, velocities, arrays.is_held, self._obstacles, real(duration), real(extent)]
        outputs = [arrays.normals, arrays.offsets, arrays.static_friction, arrays.dynamic_friction, arrays.carried]
        self._mesh.launches.launch(self._place, self._shape, [*inputs, *outputs])
        self._launch(self._kernels.begin, points if start is None else start)

    def admit(self, points: wp.array, asked: wp.array) -> None:
        """Take nodes to the nearest points of their half spaces."""
        self._launch(self._kernels.admit, asked, points)

    def split(self, points: wp.array, forces: wp.array, asked: wp.array, found: wp.array) -> None:
        """Find P f, and make the sums of a potential those with contacts: that of friction is added, the square is that
        of P f, and the slope twice the fall since the last step."""
        self._launch_sums(self._kernels.split, points, forces, asked, self._mesh.lanes, found, self._changes)

    def hold(self, values: BlockValues, asked: wp.array) -> None:
        """Hold what is held in matrices."""
        self._launch(self._kernels.hold, self._starts, self._columns, asked, values.numbers)

    def begin_step(self, step: wp.array, forces: wp.array, asked: wp.array) -> None:
        """Take what is left along held directions out of a step of Newton's method, and keep what was before it."""
        self._launch(self._kernels.begin_step, step, forces, asked)

    def move(self, points: wp.array, step: wp.array, length: wp.array, own: wp.array, trial: wp.array) -> None:
        """Set trial points, in half spaces, and on the side of the kinks of friction on which they were."""
        self._launch(self._kernels.move, points, step, length, own, trial)

    def press(
        self, points: wp.array, velocities: wp.array, forces: wp.array, mass: wp.array, duration, extent, asked
    ) -> np.ndarray:
        """Have friction of what obstacles bear now; gives in which of the asked environments it was other than that.

        `points` and `forces` are those of the solution, `velocities` those at the start, `duration` is that of the step
        or of its half, `extent` as in `place`; `asked` is of shape (environments).
        """
        real, host = self._mesh.types.real, self._mesh.host
        host.write(self._asked, asked)
        inputs = [points, velocities, forces, mass, real(duration), real(extent), self._duration, self._asked]
        inputs += [self._mesh.lanes]
        self._launch_sums(self._kernels.press, *inputs, self._unsettled)
        return host.read(self._unsettled) > 0

    def end(self, velocities: wp.array, forces: wp.array, mass: wp.array, duration: float, asked: np.ndarray) -> None:
        """Make velocities at the end of a step those after impacts, and find what obstacles did, where it is asked."""
        self._mesh.host.write(self._asked, asked)
        real = self._mesh.types.real(duration)
        self._launch(self._kernels.end, velocities, forces, mass, real, self._duration, self._asked)

    def _launch(self, kernel: wp.Kernel, *inputs) -> None:
        self._mesh.launches.launch(kernel, self._shape, [self._arrays, *inputs])

    def _launch_sums(self, kernel: wp.Kernel, *inputs) -> None:
        mesh = self._mesh
        mesh.launches.launch(kernel, mesh.environments * mesh.lanes, [self._arrays, *inputs], mesh.lanes)

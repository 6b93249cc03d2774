"""The points of links that an elastic body has to do with: where they are, and what the body does to them.

They are its attached nodes, in their order, those that are waypoints of tendons among them.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import warp as wp

from warp_artic.description.scene import Scene
from warp_artic.mechanisms.group import Group
from warp_artic.meshes.carried import carried_struct
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.types import OPTIONS, MeshTypes
from warp_artic.sim.arrays.views import Member


@cache
def coupling_kernels(types: MeshTypes):
    """The kernels `find`, `put`, `take` and `push`."""
    dim, Real, Vec = types.dim, types.real, types.vec
    Carried = carried_struct(types)
    Vec3 = wp.types.vector(length=3, dtype=Real)
    Quat = wp.types.quaternion(dtype=Real)

    @wp.func
    def in_space(v: Vec):
        found = Vec3()
        for i in range(dim):
            found[i] = v[i]
        return found

    @wp.func
    def in_body(v: Vec3):
        found = Vec()
        for i in range(dim):
            found[i] = v[i]
        return found

    @wp.func
    def load(array: wp.array2d(dtype=Real), row: int, column: int):
        return Vec3(array[row, column], array[row + 1, column], array[row + 2, column])

    @wp.func
    def rotation_of(pose: wp.array2d(dtype=Real), link: int, column: int):
        row = 7 * link + 3
        return Quat(pose[row, column], pose[row + 1, column], pose[row + 2, column], pose[row + 3, column])

    @wp.kernel(**OPTIONS)
    def find(
        pose: wp.array2d(dtype=Real),
        velocity: wp.array2d(dtype=Real),
        first_column: int,
        links: wp.array(dtype=int),
        positions: wp.array(dtype=Vec3),
        centers: wp.array2d(dtype=Vec3),
        turn: Quat,
        offset: Vec3,
        points: wp.array(dtype=int),
        lead: Real,
        places: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
        arms: wp.array2d(dtype=Vec3),
    ):
        """Where points of links are and how they move, in the frame of the body, and their arms some time later."""
        env, place = wp.tid()
        column = first_column + env
        link = links[place]
        R = rotation_of(pose, link, column)
        w = load(velocity, 6 * link + 3, column)
        p_LP_W = wp.quat_rotate(R, positions[place])
        p_CP_W = p_LP_W - wp.quat_rotate(R, centers[env, place])
        rate = wp.cross(w, p_CP_W)
        point = points[place]
        x = wp.quat_rotate_inv(turn, load(pose, 7 * link, column) + p_LP_W) + offset
        places[env, point] = in_body(x)
        velocities[env, point] = in_body(wp.quat_rotate_inv(turn, load(velocity, 6 * link, column) + rate))
        arms[env, point] = p_CP_W + lead * rate

    @wp.kernel(**OPTIONS)
    def put(
        places: wp.array2d(dtype=Vec),
        place_velocities: wp.array2d(dtype=Vec),
        nodes: wp.array(dtype=int),
        h: Real,
        points: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
        end: wp.array2d(dtype=Vec),
        end_velocities: wp.array2d(dtype=Vec),
    ):
        """Put nodes where their links are."""
        env, point = wp.tid()
        x = places[env, point]
        v = place_velocities[env, point]
        node = nodes[point]
        points[env, node] = x
        velocities[env, node] = v
        end[env, node] = x + h * v
        end_velocities[env, node] = v

    @wp.kernel(**OPTIONS)
    def take(
        nodes: wp.array(dtype=int),
        carried: Carried,
        forces: wp.array2d(dtype=Vec),
        asked: wp.array(dtype=int),
        reaction: wp.array2d(dtype=Vec),
    ):
        """Forces on those who hold or carry nodes, without what is left of balance: links go where nodes are then."""
        env, point = wp.tid()
        if asked[env] > 0:
            force = forces[env, nodes[point]]
            place = carried.place[nodes[point]]
            if place >= 0:
                for k in range(carried.stiffness.shape[1]):
                    force -= carried.force[env, k] * carried.shapes[env, k, place]
            reaction[env, point] = force

    @wp.kernel(**OPTIONS)
    def push(
        pushed: wp.array(dtype=int),
        starts: wp.array(dtype=int),
        turn: Quat,
        points: wp.array(dtype=int),
        arms: wp.array2d(dtype=Vec3),
        reaction: wp.array2d(dtype=Vec),
        first_column: int,
        wrench: wp.array2d(dtype=Real),
    ):
        """Add what the points of a link bear to its force and moment about the centre of mass."""
        env, place = wp.tid()
        column = first_column + env
        total = Vec3()
        moment = Vec3()
        for k in range(starts[place], starts[place + 1]):
            F = wp.quat_rotate(turn, in_space(reaction[env, points[k]]))
            total += F
            moment += wp.cross(arms[env, points[k]], F)
        for i in range(3):
            row = 6 * pushed[place] + i
            wrench[row, column] = wrench[row, column] + total[i]
            wrench[row + 3, column] = wrench[row + 3, column] + moment[i]

    return find, put, take, push


@dataclass(frozen=True, eq=False)
class PointsOfTree:
    """The points of the links of one articulation, link after link."""

    member: Member
    rows: np.ndarray
    """Links of each point."""
    links: wp.array
    """The same on the device."""
    positions: wp.array
    """In the link frames, of each point."""
    centers: wp.array
    """Centres of mass in the link frames, shape (environments, points)."""
    points: wp.array
    """Of each: its number among all."""
    pushed: wp.array
    """Links that have points."""
    starts: wp.array
    """Where the points of each begin, and the count of points."""
    offset: object
    """From the origin of the body to that of the articulation, in the frame of the body."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Of all points, shape (environments, points); in the frame of the body, but for arms."""

    places: wp.array
    """[m]."""
    velocities: wp.array
    """[m/s]."""
    arms: wp.array
    """From centres of mass, in world axes, as velocities turn them until half a step later [m]."""


class LinkPoints:
    """The points of one body.

    Args:
        dynamics: Of the body; attachments come in the order of nodes.
        scene: What has the links, as it is laid out.
        members: Of its articulations.
    """

    def __init__(self, dynamics: ElasticDynamics, scene: Scene, members: tuple[Member, ...]):
        mesh, body = dynamics.mesh, dynamics.mesh.body
        types = mesh.types
        self._dynamics = dynamics
        self._device = mesh.device
        self._h = types.real(dynamics.dt)
        self._turn = wp.types.quaternion(dtype=types.real)(*body.pose.quaternion)
        self._nodes = self._upload([one.node for one in body.attachments], int)
        self.motion = self.room()
        """Now."""
        self.reaction = wp.zeros_like(self.motion.places)
        """What the body does to points, in its frame [N], shape (environments, points); a run goes on from it."""
        found = (self._points_of(scene, member) for member in members)
        self.trees = tuple(own for own in found if own is not None)
        """Articulations that have points."""
        self._find, self._put, self._take, self._push = coupling_kernels(types)

    @property
    def groups(self) -> list[Group]:
        """Of these articulations."""
        return [own.member.group for own in self.trees]

    def follow(self) -> None:
        """Put attached nodes where their links are."""
        dynamics, motion = self._dynamics, self.motion
        for own in self.trees:
            # A revised scene, mass properties and checkpoints move them.
            own.centers.assign(_centers(own.member, own.rows))
            self.find(own, own.member.group, own.member.first_column, motion)
            if own.member.group.arrays.model.scales_gravity:
                self._weigh(own)
        inputs = [motion.places, motion.velocities, self._nodes, self._h]
        outputs = [dynamics.points, dynamics.velocities, dynamics.end, dynamics.end_velocities]
        self._launch(self._put, motion.places.shape, [*inputs, *outputs])

    def find(self, own: PointsOfTree, group: Group, first_column: int, motion: Motion) -> None:
        """Find the motion of the points of an articulation whose links move as those of a group."""
        pose, velocity = (group.field(name).scalars for name in ("link_pose", "link_velocity"))
        inputs = [pose, velocity, first_column, own.links, own.positions, own.centers, self._turn, own.offset]
        inputs += [own.points, 0.5 * self._dynamics.dt]
        outputs = [motion.places, motion.velocities, motion.arms]
        self._launch(self._find, (motion.places.shape[0], own.links.size), [*inputs, *outputs])

    def take(self, asked: np.ndarray | None = None) -> None:
        """Take what the body does to links from where it has been solved, in the environments that are asked for."""
        everywhere = self._dynamics.mesh.everywhere
        asked = everywhere if asked is None else self._upload(asked.astype(np.int32), int)
        inputs = [self._nodes, self._dynamics.carried.arrays, self._dynamics.forces, asked, self.reaction]
        self._launch(self._take, self.reaction.shape, inputs)

    def push(self) -> None:
        """Add what the body does to links to their external forces."""
        for own in self.trees:
            wrench = own.member.group.field("link_external_force").scalars
            inputs = [own.pushed, own.starts, self._turn, own.points, self.motion.arms, self.reaction]
            dim = self.reaction.shape[0], own.pushed.size
            self._launch(self._push, dim, [*inputs, own.member.first_column, wrench])

    def forget(self, environments: np.ndarray) -> None:
        """Go on as if there had been no step before."""
        table = self.reaction.numpy().copy()
        table[environments] = 0.0
        self.reaction.assign(table)

    def room(self) -> Motion:
        """Room for the motion of all points."""
        mesh = self._dynamics.mesh
        types, shape = mesh.types, (mesh.environments, len(mesh.body.attachments))
        vec3 = wp.types.vector(length=3, dtype=types.real)
        return Motion(*(wp.zeros(shape, dtype=kind, device=self._device) for kind in (types.vec, types.vec, vec3)))

    def _weigh(self, own: PointsOfTree) -> None:
        """Have attached nodes bear what of their weights the shares of gravity on their links leave out."""
        mesh, weighed = self._dynamics.mesh, self._dynamics.weighed.numpy().copy()
        nodes = [mesh.body.attachments[point].node for point in own.points.numpy()]
        shares = _of_links(own.member, own.rows, "link_gravity_scale", 1)[..., 0]
        weighed[:, nodes] = (1.0 - shares) * mesh.node_mass[nodes]
        self._dynamics.weighed.assign(weighed)

    def _points_of(self, scene: Scene, member: Member) -> PointsOfTree | None:
        """The points of the links of one articulation, if there are any."""
        body, tree = self._dynamics.mesh.body, scene.articulations[member.index]
        rows = np.array([tree.bodies.get(point.link, -1) for point in body.attachments], int)
        order = np.argsort(rows, kind="stable")
        order = order[rows[order] >= 0]
        if not len(order):
            return None
        links, first = np.unique(rows[order], return_index=True)
        upload, vec3 = self._upload, self.motion.arms.dtype
        return PointsOfTree(
            member,
            rows[order],
            upload(rows[order], int),
            upload([body.attachments[point].position for point in order], vec3),
            upload(_centers(member, rows[order]), vec3),
            upload(order, int),
            upload(links, int),
            upload([*first, len(order)], int),
            vec3(*(body.pose.rotation.T @ (member.group.origins[member.place] - np.asarray(body.pose.position)))),
        )

    def _upload(self, values, dtype) -> wp.array:
        return wp.array(np.ascontiguousarray(values), dtype=dtype, device=self._device)

    def _launch(self, kernel: wp.Kernel, dim, inputs: list) -> None:
        wp.launch(kernel, dim=dim, inputs=inputs, device=self._device)


def _centers(member: Member, links: np.ndarray) -> np.ndarray:
    """Centres of mass of links of an articulation in the link frames, shape (environments, links, 3)."""
    center, frame = (_of_links(member, links, *one) for one in (("link_center", 3), ("link_frame", 12)))
    return np.einsum("elji,elj->eli", frame[..., :9].reshape(*frame.shape[:2], 3, 3), center) + frame[..., 9:]


def _of_links(member: Member, links: np.ndarray, name: str, size: int) -> np.ndarray:
    """Parameters of links of an articulation, shape (environments, links, size)."""
    field = member.group.field(name)
    first = 0 if field.is_shared else member.first_column
    count = 1 if field.is_shared else member.group.environments
    values = field.scalars.numpy()[size * links[:, None] + np.arange(size), first : first + count]
    return np.broadcast_to(values.transpose(2, 0, 1), (member.group.environments, len(links), size))

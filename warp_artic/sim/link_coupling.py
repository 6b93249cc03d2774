"""Couples an elastic body with links: nodes that are attached to them, and waypoints of tendons on them.

An attached node is a point of its link: the link has its mass, and its weight (`with_node_masses`). A step first moves
the body, then the links, each once, with the same impulse between them. While the body moves, the node is where its
link would be at its velocity, and gives way to the body with a share mu of the mass of its link:

    mu a = f,   F = f

Shares are such that together they are no more than half of what the link alone is, which joints and other links only
make heavier:

    sum over the nodes of a link of mu (1 / M + r^2 / I) = 1 / 2

with its mass M, its least moment of inertia I and distances r from its centre of mass. Linear analysis (a spring to a
wall or to a mass, both kinds of steps of links) then finds no growth, whatever the masses and the stiffness are; with
more than one half there is, where links make steps of first order. After the step nodes are put to where their link
is. In the middle of the step they have been off by what the estimate of the acceleration a was, times h^2 / 4: the
exchange is of second order where the steps of links are (the integrator "midpoint"), and a link that is held by drives
or limits gives way to the body as if on springs 4 mu / h^2. Links that nothing can move hold their nodes.

Momentum is kept to what the solve leaves, but for the corrections of smooth motion that the integrator "midpoint"
makes of links; angular momentum to the order of steps.

Waypoints on links are taken where these would be in the middle of the step at their velocity, and their forces act on
the links in the same step. Springs between them and the rest are explicit that way: stiffness K between links of mu,
as above with one point, is stable up to h = 2 sqrt(mu / K).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import warp as wp

from warp_artic.description.articulation import Articulation
from warp_artic.description.elastic_body import ElasticBody, NodeAttachment
from warp_artic.description.joint import WORLD
from warp_artic.description.link import Link
from warp_artic.description.mesh_tendon import LinkPoint
from warp_artic.description.scene import Scene
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.meshes.elastic import node_masses
from warp_artic.meshes.types import OPTIONS, MeshTypes
from warp_artic.sim.views import Member

SHARE = 0.5
"""Of a link, that its nodes together have while the body moves."""


@cache
def coupling_kernels(types: MeshTypes):
    """The kernels `find`, `put`, `answer` and `push`."""
    dim, Real, Vec = types.dim, types.real, types.vec
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
        places: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
    ):
        """Where points of links are and how they move, in the frame of the body."""
        env, place = wp.tid()
        column = first_column + env
        link = links[place]
        R = rotation_of(pose, link, column)
        p_LP_W = wp.quat_rotate(R, positions[place])
        p_CP_W = p_LP_W - wp.quat_rotate(R, centers[env, place])
        v = load(velocity, 6 * link, column) + wp.cross(load(velocity, 6 * link + 3, column), p_CP_W)
        point = points[place]
        x = wp.quat_rotate_inv(turn, load(pose, 7 * link, column) + p_LP_W) + offset
        places[env, point] = in_body(x)
        velocities[env, point] = in_body(wp.quat_rotate_inv(turn, v))

    @wp.kernel(**OPTIONS)
    def put(
        places: wp.array2d(dtype=Vec),
        place_velocities: wp.array2d(dtype=Vec),
        nodes: wp.array(dtype=int),
        foreign: wp.array(dtype=int),
        h: Real,
        lead: Real,
        points: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
        end: wp.array2d(dtype=Vec),
        end_velocities: wp.array2d(dtype=Vec),
        foreign_points: wp.array2d(dtype=Vec),
    ):
        """Put nodes where their links are, and waypoints where these will be in some time."""
        env, point = wp.tid()
        x = places[env, point]
        v = place_velocities[env, point]
        if point < nodes.shape[0]:
            node = nodes[point]
            points[env, node] = x
            velocities[env, node] = v
            end[env, node] = x + h * v
            end_velocities[env, node] = v
        else:
            foreign_points[env, foreign[point - nodes.shape[0]]] = x + lead * v

    @wp.kernel(**OPTIONS)
    def answer(
        nodes: wp.array(dtype=int),
        foreign: wp.array(dtype=int),
        inertia: wp.array(dtype=Real),
        middle: wp.array2d(dtype=Vec),
        center: wp.array2d(dtype=Vec),
        forces: wp.array2d(dtype=Vec),
        foreign_points: wp.array2d(dtype=Vec),
        foreign_forces: wp.array2d(dtype=Vec),
        at: wp.array2d(dtype=Vec),
        force: wp.array2d(dtype=Vec),
    ):
        """Forces on the points of links, and where they act."""
        env, point = wp.tid()
        if point < nodes.shape[0]:
            node = nodes[point]
            at[env, point] = middle[env, node]
            # What the potential of the step has beside inertia.
            force[env, point] = forces[env, node] + inertia[node] * (middle[env, node] - center[env, node])
        else:
            index = foreign[point - nodes.shape[0]]
            at[env, point] = foreign_points[env, index]
            force[env, point] = foreign_forces[env, index]

    @wp.kernel(**OPTIONS)
    def push(
        pose: wp.array2d(dtype=Real),
        velocity: wp.array2d(dtype=Real),
        first_column: int,
        pushed: wp.array(dtype=int),
        starts: wp.array(dtype=int),
        centers: wp.array2d(dtype=Vec3),
        turn: Quat,
        offset: Vec3,
        points: wp.array(dtype=int),
        at: wp.array2d(dtype=Vec),
        force: wp.array2d(dtype=Vec),
        h: Real,
        wrench: wp.array2d(dtype=Real),
    ):
        """Add what the points of a link bear to its force and moment about the centre of mass."""
        env, place = wp.tid()
        column = first_column + env
        link = pushed[place]
        p_C = load(pose, 7 * link, column)
        p_C += wp.quat_rotate(rotation_of(pose, link, column), centers[env, starts[place]])
        p_C += (Real(0.5) * h) * load(velocity, 6 * link, column)
        total = Vec3()
        moment = Vec3()
        for k in range(starts[place], starts[place + 1]):
            F = wp.quat_rotate(turn, in_space(force[env, points[k]]))
            x = wp.quat_rotate(turn, in_space(at[env, points[k]]) - offset)
            total += F
            moment += wp.cross(x - p_C, F)
        for i in range(3):
            row = 6 * link + i
            wrench[row, column] = wrench[row, column] + total[i]
            wrench[row + 3, column] = wrench[row + 3, column] + moment[i]

    return find, put, answer, push


def with_node_masses(scene: Scene) -> Scene:
    """A scene whose links have the masses of the nodes that are attached to them."""
    loads: dict[str, list[tuple[float, np.ndarray]]] = {}
    for body in scene.elastic_bodies:
        mass = node_masses(body) if body.attachments else ()
        for one in body.attachments:
            loads.setdefault(one.link, []).append((mass[one.node], np.asarray(one.position, float)))
    if not loads:
        return scene
    trees = (
        replace(tree, links=tuple(_loaded(link, loads.get(link.path, [])) for link in tree.links))
        for tree in scene.articulations
    )
    return replace(scene, articulations=tuple(trees))


def _loaded(link: Link, points: list[tuple[float, np.ndarray]]) -> Link:
    """A link with masses at some of its points; its motion stays."""
    if not points or link.is_carriage:
        return link
    before = np.asarray(link.center_of_mass, float)
    parts = [(link.mass, before), *points]
    mass = sum(part for part, _ in parts)
    center = sum(part * place for part, place in parts) / mass
    inertia = _matrix(link.inertia)
    for part, place in parts:
        arm = place - center
        inertia = inertia + part * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    moved = np.cross(link.angular_velocity, link.pose.rotation @ (center - before))
    return replace(
        link,
        mass=float(mass),
        center_of_mass=tuple(map(float, center)),
        inertia=tuple(map(float, inertia[np.triu_indices(3)])),
        linear_velocity=tuple(map(float, link.linear_velocity + moved)),
    )


def _matrix(inertia) -> np.ndarray:
    xx, xy, xz, yy, yz, zz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def shares(scene: Scene) -> dict[str, np.ndarray]:
    """Mass that attached nodes of each elastic body have of their links, which have the masses of nodes [kg].

    In the order of attachments; infinite where nothing can move the link.
    """
    mobile = {path: link for tree in scene.articulations for path, link in _mobile_links(tree)}
    counts: dict[str, int] = {}
    for body in scene.elastic_bodies:
        for one in body.attachments:
            counts[one.link] = counts.get(one.link, 0) + 1

    def share(one: NodeAttachment) -> float:
        if one.link not in mobile:
            return np.inf
        return SHARE * _mass_at(mobile[one.link], one.position) / counts[one.link]

    return {body.name: np.array([share(one) for one in body.attachments]) for body in scene.elastic_bodies}


def _mobile_links(tree: Articulation) -> Iterator[tuple[str, Link]]:
    """Paths and links that a joint, or a floating root, lets move."""
    for path, link in tree.bodies.items():
        joint = tree.inbound[link]
        while joint is not None and not joint.dofs and joint.parent != WORLD:
            joint = tree.inbound[joint.parent]
        if joint is None or joint.dofs:
            yield path, tree.links[link]


def _mass_at(link: Link, position) -> float:
    """The least mass that a point of a link alone can have in any direction [kg]."""
    least = np.linalg.eigvalsh(_matrix(link.inertia))[0]
    arm = np.subtract(position, link.center_of_mass)
    return 1.0 / (1.0 / link.mass + arm @ arm / least)


@dataclass(frozen=True, eq=False)
class _PointsOfMember:
    """The points of the links of one articulation, link after link."""

    member: Member
    links: wp.array
    """Of each point."""
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


class LinkCoupling:
    """The points of links that one elastic body has to do with.

    Args:
        dynamics: Of the body.
        scene: What has the links, with the masses of nodes.
        members: Of its articulations.
    """

    def __init__(self, dynamics: ElasticDynamics, scene: Scene, members: tuple[Member, ...]):
        mesh, body = dynamics.mesh, dynamics.mesh.body
        self._dynamics = dynamics
        self._device = mesh.device
        types, environments = mesh.types, mesh.environments
        self._vec3 = wp.types.vector(length=3, dtype=types.real)
        self._h = types.real(dynamics.dt)
        self._turn = wp.types.quaternion(dtype=types.real)(*body.pose.quaternion)
        waypoints = list(dynamics.tendons.foreign) if dynamics.tendons else []
        foreign = [index for index, point in enumerate(waypoints) if isinstance(point, LinkPoint)]
        points = [*body.attachments, *(waypoints[index] for index in foreign)]
        self._count = len(points)
        self._nodes = self._upload([one.node for one in body.attachments], int)
        self._foreign = self._upload(foreign, int)
        self._inertia = self._upload(dynamics.carried_inertia, types.real)

        def zeros(count: int) -> wp.array:
            return wp.zeros((environments, count), dtype=types.vec, device=mesh.device)

        self._places, self._velocities, self._at, self._force = (zeros(len(points)) for _ in range(4))
        self._foreign_points, self._foreign_forces = zeros(len(waypoints)), zeros(len(waypoints))
        if waypoints:
            start = np.broadcast_to(dynamics.tendons.foreign_start, (environments, len(waypoints), body.dim))
            self._foreign_points.assign(np.ascontiguousarray(start))
            dynamics.potential.foreign_points = self._foreign_points
        self._members = [_points_of(self, scene, member, body, points) for member in members]
        self._members = [own for own in self._members if own is not None]
        self.articulations = tuple(own.member.index for own in self._members)
        """Those that have the links."""
        self._find, self._put, self._answer, self._push = coupling_kernels(types)

    def follow(self, lead: float) -> None:
        """Put attached nodes where their links are, and waypoints where they will be in the time `lead` [s]."""
        dynamics = self._dynamics
        for own in self._members:
            pose, velocity = (own.member.group.field(name).scalars for name in ("link_pose", "link_velocity"))
            where = [pose, velocity, own.member.first_column, own.links, own.positions, own.centers, self._turn]
            where += [own.offset, own.points, self._places, self._velocities]
            self._launch(self._find, own.links.size, where)
        inputs = [self._places, self._velocities, self._nodes, self._foreign, self._h, lead]
        outputs = [dynamics.points, dynamics.velocities, dynamics.end, dynamics.end_velocities, self._foreign_points]
        self._launch(self._put, self._count, [*inputs, *outputs])

    def act(self) -> None:
        """Add what the body does to links in the step that it has made to their external forces."""
        dynamics = self._dynamics
        self._foreign_forces.zero_()
        if dynamics.tendons:
            dynamics.tendons.add_forces(None, self._foreign_forces)
        inputs = [self._nodes, self._foreign, self._inertia, dynamics.middle, dynamics.center, dynamics.forces]
        outputs = [self._foreign_points, self._foreign_forces, self._at, self._force]
        self._launch(self._answer, self._count, [*inputs, *outputs])
        for own in self._members:
            fields = (own.member.group.field(name) for name in ("link_pose", "link_velocity", "link_external_force"))
            pose, velocity, wrench = (field.scalars for field in fields)
            where = [pose, velocity, own.member.first_column, own.pushed, own.starts, own.centers, self._turn]
            where += [own.offset, own.points, self._at, self._force, self._h, wrench]
            self._launch(self._push, own.pushed.size, where)

    def place_centers(self) -> None:
        """Take the centres of mass of links from where they are now."""
        for own in self._members:
            own.centers.assign(_centers(own.member, own.links.numpy()))

    def _upload(self, values, dtype) -> wp.array:
        return wp.array(np.ascontiguousarray(values), dtype=dtype, device=self._device)

    def _launch(self, kernel: wp.Kernel, count: int, inputs: list) -> None:
        environments = self._dynamics.mesh.environments
        wp.launch(kernel, dim=(environments, count), inputs=inputs, device=self._device)


def _points_of(coupling: LinkCoupling, scene: Scene, member: Member, body: ElasticBody, points: list):
    """The points of the links of one articulation; None where there are none."""
    tree = scene.articulations[member.index]
    rows = np.array([tree.bodies.get(point.link, -1) for point in points], int)
    order = np.argsort(rows, kind="stable")
    order = order[rows[order] >= 0]
    if not len(order):
        return None
    links, first = np.unique(rows[order], return_index=True)
    upload, vec3 = coupling._upload, coupling._vec3
    return _PointsOfMember(
        member,
        upload(rows[order], int),
        upload([points[point].position for point in order], vec3),
        upload(_centers(member, rows[order]), vec3),
        upload(order, int),
        upload(links, int),
        upload([*first, len(order)], int),
        vec3(*(body.pose.rotation.T @ (member.group.origins[member.place] - np.asarray(body.pose.position)))),
    )


def _centers(member: Member, links: np.ndarray) -> np.ndarray:
    """Centres of mass of links of an articulation in the link frames, shape (environments, links, 3)."""

    def rows(name: str, size: int) -> np.ndarray:
        field = member.group.field(name)
        first = 0 if field.is_shared else member.first_column
        count = 1 if field.is_shared else member.group.environments
        values = field.scalars.numpy()[size * links[:, None] + np.arange(size), first : first + count]
        return np.broadcast_to(values.transpose(2, 0, 1), (member.group.environments, len(links), size))

    center, frame = rows("link_center", 3), rows("link_frame", 12)
    return np.einsum("elji,elj->eli", frame[..., :9].reshape(*frame.shape[:2], 3, 3), center) + frame[..., 9:]

"""Obstacles of the nodes of a body, as half spaces that nodes stay in for a step.

An obstacle is convex, so that what is beyond the tangent plane at any point of its surface is outside of it. A node on
the way from x to p has the plane at the place of this way that is nearest to the obstacle, or, where the way enters it,
at the place where it does. So no node that starts outside is ever inside, the plane is exact where the node rests, and
what the way passes by does not stop it. A node that starts inside by g goes out, by no more than a given speed lets it.

Of an obstacle that moves all this is seen from itself, where it is at the end of the step: x is then the place to which
it would have carried the node.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import warp as wp

from warp_artic.collision.kinds import Solid
from warp_artic.collision.point_distance import from_solid
from warp_artic.description.base_motion import MotionTable
from warp_artic.description.obstacle import Obstacle
from warp_artic.description.pose import Pose
from warp_artic.math.numbers import numbers_for
from warp_artic.meshes.half_spaces import MOST, half_spaces
from warp_artic.meshes.types import OPTIONS, MeshTypes

HALVINGS = {"float64": 50, "float32": 22}
"""Of a way, to find a place on it."""
FLAT = 1e-6
"""Length of the part of a normal in the plane of a mesh of triangles, below which no push of the obstacle is there."""
FAR = 1e30
"""Offset of a half space that is everything, negative [m]."""


@cache
def obstacles_struct(types: MeshTypes):
    """The struct of the obstacles of a body, in its frame."""
    Real = types.real
    Vec3, Mat33 = wp.types.vector(length=3, dtype=Real), wp.types.matrix(shape=(3, 3), dtype=Real)

    @wp.struct
    class Obstacles:
        kind: wp.array(dtype=int)
        """As `collision.kinds` has it."""
        size: wp.array(dtype=Vec3)
        position: wp.array2d(dtype=Vec3)
        """At the start and at the end of a step, as the next one."""
        axes: wp.array2d(dtype=Mat33)
        """Columns are the axes of its frame."""
        rest_distance: wp.array(dtype=Real)
        static_friction: wp.array(dtype=Real)
        dynamic_friction: wp.array(dtype=Real)
        speed: wp.array(dtype=Real)
        """Largest with which nodes come out."""

    return Obstacles


def upload_obstacles(obstacles: Sequence[Obstacle], types: MeshTypes, device: str):
    """The struct of some obstacles, without their places."""
    struct, count = obstacles_struct(types)(), len(obstacles)

    def upload(values, dtype, width=()):
        return wp.array(np.reshape(values, (count, *width)), dtype=dtype, device=device)

    vec3, mat33 = wp.types.vector(length=3, dtype=types.real), wp.types.matrix(shape=(3, 3), dtype=types.real)
    struct.kind = upload([int(Solid[one.shape.kind.name]) for one in obstacles], int)
    struct.size = upload([one.shape.size for one in obstacles], vec3, (3,))
    struct.position = wp.zeros((2, count), dtype=vec3, device=device)
    struct.axes = wp.zeros((2, count), dtype=mat33, device=device)
    struct.rest_distance = upload([one.rest_distance for one in obstacles], types.real)
    struct.static_friction = upload([one.static_friction for one in obstacles], types.real)
    struct.dynamic_friction = upload([one.dynamic_friction for one in obstacles], types.real)
    struct.speed = upload([one.depenetration_speed for one in obstacles], types.real)
    return struct


class ObstaclePlaces:
    """Where obstacles are in the frame of a body at a pose in the world."""

    def __init__(self, obstacles: Sequence[Obstacle], pose: Pose):
        self._pose = pose
        self._R = np.array([one.shape.frame.rotation for one in obstacles])
        self._p = np.array([one.shape.frame.position for one in obstacles])
        self._moving = [number for number, one in enumerate(obstacles) if one.motion is not None]
        self._table = MotionTable([obstacles[number].motion for number in self._moving])

    @property
    def move(self) -> bool:
        """Whether some of them do."""
        return bool(self._moving)

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (times, M, 3) and axes (times, M, 3, 3) at some times [s]."""
        p, R = np.repeat(self._p[None], len(times), axis=0), np.repeat(self._R[None], len(times), axis=0)
        if self._moving:
            turns, places, _ = self._table.displacements(times, self._p[self._moving])
            R[:, self._moving] = turns @ R[:, self._moving]
            p[:, self._moving] += places
        axes = self._pose.rotation
        return (p - self._pose.position) @ axes, axes.T @ R


@cache
def place_kernel(types: MeshTypes) -> wp.Kernel:
    """The kernel that finds the half spaces of the nodes of environments."""
    dim, Real, Vec = types.dim, types.real, types.vec
    Vec3 = wp.types.vector(length=3, dtype=Real)
    Vec4 = wp.types.vector(length=4, dtype=Real)
    Number3 = numbers_for(types.precision, wide=False).vec3
    Obstacles = obstacles_struct(types)
    spaces = half_spaces(types)
    Normals, Offsets = spaces.Normals, spaces.Offsets
    halvings, shortest, far, most = HALVINGS[types.precision], FLAT, FAR, MOST

    @wp.func
    def in_space(v: Vec):
        found = Vec3()
        for i in range(dim):
            found[i] = v[i]
        return found

    @wp.func
    def seen_from(obstacles: Obstacles, k: int, x: Vec3):
        """Normal of the surface, and distance from it, of a point."""
        c = wp.transpose(obstacles.axes[1, k]) * (x - obstacles.position[1, k])
        size = obstacles.size[k]
        distance, n = from_solid(obstacles.kind[k], Number3(c[0], c[1], c[2]), Number3(size[0], size[1], size[2]))
        normal = obstacles.axes[1, k] * Vec3(n.x, n.y, n.z)
        return Vec4(normal[0], normal[1], normal[2], distance - obstacles.rest_distance[k])

    @wp.func
    def normal_of(seen: Vec4):
        return Vec3(seen[0], seen[1], seen[2])

    @wp.func
    def nearest_on_way(obstacles: Obstacles, k: int, x: Vec3, way: Vec3):
        """The share of a way that starts outside after which it is nearest, or enters."""
        low = Real(0.0)
        high = Real(1.0)
        for _step in range(halvings):
            share = Real(0.5) * (low + high)
            if wp.dot(normal_of(seen_from(obstacles, k, x + share * way)), way) < Real(0.0):
                low = share
            else:
                high = share
        if wp.dot(normal_of(seen_from(obstacles, k, x + way)), way) < Real(0.0):
            high = Real(1.0)
        found = high
        if seen_from(obstacles, k, x + high * way)[3] < Real(0.0):
            low = Real(0.0)
            for _step in range(halvings):
                share = Real(0.5) * (low + high)
                if seen_from(obstacles, k, x + share * way)[3] > Real(0.0):
                    low = share
                else:
                    high = share
            found = low
        return found

    @wp.kernel(**OPTIONS)
    def place(
        points: wp.array2d(dtype=Vec),
        velocities: wp.array2d(dtype=Vec),
        is_held: wp.array(dtype=int),
        obstacles: Obstacles,
        duration: Real,
        extent: Real,
        normals: wp.array2d(dtype=Normals),
        offsets: wp.array2d(dtype=Offsets),
        static_friction: wp.array2d(dtype=Offsets),
        dynamic_friction: wp.array2d(dtype=Offsets),
        carried: wp.array2d(dtype=Normals),
    ):
        env, node = wp.tid()
        N = Normals()
        b = Offsets()
        mu_s = Offsets()
        mu_d = Offsets()
        carries = Normals()
        ahead = Offsets()
        for j in range(most):
            b[j] = -Real(far)
            ahead[j] = Real(far)
        if is_held[node] == 0:
            start = points[env, node]
            end = in_space(start) + duration * in_space(velocities[env, node])
            for k in range(obstacles.kind.shape[0]):
                # By as much as the obstacle moves a point of its own there.
                c = wp.transpose(obstacles.axes[0, k]) * (in_space(start) - obstacles.position[0, k])
                x = in_space(start)
                moved = obstacles.position[1, k] + obstacles.axes[1, k] * c - obstacles.position[0, k]
                moved = moved - obstacles.axes[0, k] * c
                x = x + moved
                way = end - x
                seen = seen_from(obstacles, k, x)
                gap = seen[3]
                at = x
                if gap > Real(0.0) and gap <= wp.length(way):
                    at = x + nearest_on_way(obstacles, k, x, way) * way
                    seen = seen_from(obstacles, k, at)
                n = normal_of(seen)
                distance = wp.dot(n, at) - seen[3]
                # Who starts inside comes out as far as it may.
                distance += wp.min(Real(0.0), gap + duration * obstacles.speed[k])
                in_plane = Vec()
                for i in range(dim):
                    in_plane[i] = n[i]
                size = wp.length(in_plane)
                if size > Real(shortest):
                    in_plane = in_plane / size
                    distance = distance / size
                    key = wp.dot(n, end) / size - distance
                    carry = Vec()
                    for i in range(dim):
                        carry[i] = moved[i]
                    static = obstacles.static_friction[k]
                    dynamic = obstacles.dynamic_friction[k]
                    # The half spaces that are left or missed most, in this order.
                    for j in range(most):
                        if key < ahead[j]:
                            other = ahead[j]
                            other_offset = b[j]
                            other_static = mu_s[j]
                            other_dynamic = mu_d[j]
                            other_normal = Vec()
                            other_carry = Vec()
                            for i in range(dim):
                                other_normal[i] = N[j, i]
                                other_carry[i] = carries[j, i]
                                N[j, i] = in_plane[i]
                                carries[j, i] = carry[i]
                            ahead[j] = key
                            b[j] = distance
                            mu_s[j] = static
                            mu_d[j] = dynamic
                            key = other
                            distance = other_offset
                            static = other_static
                            dynamic = other_dynamic
                            in_plane = other_normal
                            carry = other_carry
            for j in range(most):
                if ahead[j] < Real(far):
                    along = Real(0.0)
                    for i in range(dim):
                        along += N[j, i] * start[i]
                    b[j] = along + (b[j] - along) / extent
        normals[env, node] = N
        offsets[env, node] = b
        static_friction[env, node] = mu_s
        dynamic_friction[env, node] = mu_d
        carried[env, node] = carries

    return place

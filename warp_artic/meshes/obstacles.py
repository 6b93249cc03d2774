"""Obstacles of the nodes of a body, as half spaces that nodes stay in for a step.

An obstacle is convex, so that what is beyond the tangent plane at any point of its surface is outside of it. A node on
the way from x to p has the plane at the place of this way that is nearest to the obstacle, or, where the way enters it,
at the place where it does. So no node that starts outside is ever inside, the plane is exact where the node rests, and
what the way passes by does not stop it. A node that starts inside by g goes out, by no more than a given speed lets it.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import warp as wp

from warp_artic.collision.kinds import Solid
from warp_artic.collision.point_distance import from_solid
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
        position: wp.array(dtype=Vec3)
        axes: wp.array(dtype=Mat33)
        """Columns are the axes of its frame."""
        rest_distance: wp.array(dtype=Real)
        static_friction: wp.array(dtype=Real)
        dynamic_friction: wp.array(dtype=Real)
        speed: wp.array(dtype=Real)
        """Largest with which nodes come out."""

    return Obstacles


def upload_obstacles(obstacles: Sequence[Obstacle], pose: Pose, types: MeshTypes, device: str):
    """The struct of some obstacles in the frame of a body at a pose in the world."""
    frames = [pose.inverse() @ one.shape.frame for one in obstacles]
    struct = obstacles_struct(types)()

    def upload(values, dtype, width=()):
        return wp.array(np.reshape(values, (len(obstacles), *width)), dtype=dtype, device=device)

    vec3, mat33 = wp.types.vector(length=3, dtype=types.real), wp.types.matrix(shape=(3, 3), dtype=types.real)
    struct.kind = upload([int(Solid[one.shape.kind.name]) for one in obstacles], int)
    struct.size = upload([one.shape.size for one in obstacles], vec3, (3,))
    struct.position = upload([frame.position for frame in frames], vec3, (3,))
    struct.axes = upload([frame.rotation for frame in frames], mat33, (3, 3))
    struct.rest_distance = upload([one.rest_distance for one in obstacles], types.real)
    struct.static_friction = upload([one.static_friction for one in obstacles], types.real)
    struct.dynamic_friction = upload([one.dynamic_friction for one in obstacles], types.real)
    struct.speed = upload([one.depenetration_speed for one in obstacles], types.real)
    return struct


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
        c = wp.transpose(obstacles.axes[k]) * (x - obstacles.position[k])
        size = obstacles.size[k]
        distance, n = from_solid(obstacles.kind[k], Number3(c[0], c[1], c[2]), Number3(size[0], size[1], size[2]))
        normal = obstacles.axes[k] * Vec3(n.x, n.y, n.z)
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
        share: Real,
        normals: wp.array2d(dtype=Normals),
        offsets: wp.array2d(dtype=Offsets),
        static_friction: wp.array2d(dtype=Offsets),
        dynamic_friction: wp.array2d(dtype=Offsets),
    ):
        env, node = wp.tid()
        N = Normals()
        b = Offsets()
        mu_s = Offsets()
        mu_d = Offsets()
        ahead = Offsets()
        for j in range(most):
            b[j] = -Real(far)
            ahead[j] = Real(far)
        if is_held[node] == 0:
            start = points[env, node]
            x = in_space(start)
            way = duration * in_space(velocities[env, node])
            for k in range(obstacles.kind.shape[0]):
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
                    key = wp.dot(in_plane, start) - distance + wp.dot(n, way) / size
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
                            for i in range(dim):
                                other_normal[i] = N[j, i]
                                N[j, i] = in_plane[i]
                            ahead[j] = key
                            b[j] = distance
                            mu_s[j] = static
                            mu_d[j] = dynamic
                            key = other
                            distance = other_offset
                            static = other_static
                            dynamic = other_dynamic
                            in_plane = other_normal
            for j in range(most):
                if ahead[j] < Real(far):
                    along = Real(0.0)
                    for i in range(dim):
                        along += N[j, i] * start[i]
                    b[j] = along + (b[j] - along) / share
        normals[env, node] = N
        offsets[env, node] = b
        static_friction[env, node] = mu_s
        dynamic_friction[env, node] = mu_d

    return place

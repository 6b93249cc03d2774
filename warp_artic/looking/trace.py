"""Pictures of triangles by ray tracing in Warp: a sun with shadows, a sky, and a ground with a grid.

A pixel first gets one ray. Where neighbours differ, at edges, it gets SAMPLES x SAMPLES of them instead.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import warp as wp

from warp_artic.looking.camera import Camera
from warp_artic.looking.geometry import Geometry

SAMPLES = 4
EDGE = 0.02
"""Neighbours differ where a colour does by more than this."""
PAPER = (0.965, 0.968, 0.972)
SUN = (0.45, -0.35, 1.0)
"""Where the sun is: along the first and second level axis, and up."""
BAND = 8192
"""Pixels of a launch."""


@wp.struct
class View:
    """What a ray needs beside triangles."""

    mesh: wp.uint64
    eye: wp.vec3
    right: wp.vec3
    above: wp.vec3
    back: wp.vec3
    up: wp.vec3
    level: wp.vec3
    across: wp.vec3
    sun: wp.vec3
    paper: wp.vec3
    focal: float
    width: int
    height: int
    ground: float
    has_ground: int
    cell: float
    reach: float
    nudge: float


@wp.func
def shadow(view: View, place: wp.vec3) -> float:
    """How much of the sun comes to a place."""
    query = wp.mesh_query_ray(view.mesh, place, view.sun, 1.0e6)
    light = float(1.0)
    if query.result:
        light = float(0.0)
    return light


@wp.func
def grid_line(at: float, width: float) -> float:
    """How much of a line at whole numbers is at a place, for lines of a width."""
    near = wp.abs(at - wp.round(at))
    return wp.clamp(1.0 - near / width, 0.0, 1.0)


@wp.func
def ground_color(view: View, place: wp.vec3, distance: float) -> wp.vec3:
    """The ground: a grid that fades into the paper, and shadows."""
    x = wp.dot(place, view.level)
    y = wp.dot(place, view.across)
    thin = 1.2 * distance / (view.focal * view.cell)
    slant = wp.max(wp.abs(wp.dot(wp.normalize(place - view.eye), view.up)), 0.08)
    wide = thin / slant
    fine = wp.min(0.08 / wide, 1.0)
    coarse = wp.min(0.8 / wide, 1.0)
    one = wp.max(grid_line(x / view.cell, wide), grid_line(y / view.cell, wide)) * fine * fine
    ten = wp.max(grid_line(0.1 * x / view.cell, 0.14 * wide), grid_line(0.1 * y / view.cell, 0.14 * wide))
    color = wp.vec3(0.93, 0.935, 0.94) * (1.0 - 0.07 * one) * (1.0 - 0.14 * ten * coarse * coarse)
    color = color * (0.74 + 0.26 * shadow(view, place + view.nudge * view.up))
    far = wp.clamp(distance / view.reach - 0.35, 0.0, 1.0)
    return color + (view.paper - color) * far


@wp.func
def seen(
    view: View,
    column: float,
    row: float,
    triangles: wp.array(dtype=wp.int32),
    normals: wp.array(dtype=wp.vec3),
    colors: wp.array(dtype=wp.vec3),
    moving: wp.array(dtype=wp.int32),
) -> wp.vec4:
    """Colour along the ray through a place of the picture; last whether it is of something that moves."""
    x = (column - 0.5 * float(view.width)) / view.focal
    y = (0.5 * float(view.height) - row) / view.focal
    ray = wp.normalize(x * view.right + y * view.above - view.back)
    fall = wp.dot(ray, view.up)
    to_ground = float(1.0e6)
    if view.has_ground == 1 and fall < -1.0e-6:
        to_ground = (view.ground - wp.dot(view.eye, view.up)) / fall
    query = wp.mesh_query_ray(view.mesh, view.eye, ray, 1.0e6)
    color = view.paper
    mark = float(0.0)
    if query.result and query.t < to_ground + view.nudge:
        face = query.face
        n = (
            query.u * normals[triangles[3 * face]]
            + query.v * normals[triangles[3 * face + 1]]
            + (1.0 - query.u - query.v) * normals[triangles[3 * face + 2]]
        )
        flat = query.normal
        if wp.dot(flat, ray) > 0.0:
            flat = -flat
        if wp.length(n) < 0.1:
            n = flat
        n = wp.normalize(n)
        if wp.dot(n, flat) < 0.0:
            n = -n
        place = view.eye + query.t * ray
        sunny = wp.max(wp.dot(n, view.sun), 0.0)
        if wp.dot(flat, view.sun) > 0.0 and sunny > 0.0:
            sunny = sunny * shadow(view, place + view.nudge * flat)
        else:
            sunny = float(0.0)
        sky = 0.5 + 0.5 * wp.dot(n, view.up)
        rim = wp.max(-wp.dot(n, ray), 0.0)
        half = wp.normalize(view.sun - ray)
        shine = 0.14 * wp.pow(wp.max(wp.dot(n, half), 0.0), 40.0) * wp.min(4.0 * sunny, 1.0)
        color = colors[face] * (0.26 + 0.28 * sky + 0.12 * rim + 0.52 * sunny) + wp.vec3(shine, shine, shine)
        mark = float(moving[face])
    elif to_ground < 1.0e6:
        color = ground_color(view, view.eye + to_ground * ray, to_ground)
    return wp.vec4(color[0], color[1], color[2], mark)


@wp.kernel
def trace(
    view: View,
    triangles: wp.array(dtype=wp.int32),
    normals: wp.array(dtype=wp.vec3),
    colors: wp.array(dtype=wp.vec3),
    moving: wp.array(dtype=wp.int32),
    pixels: wp.array(dtype=wp.int32),
    first: int,
    samples: int,
    image: wp.array(dtype=wp.vec4),
):
    """The mean of samples x samples rays of each listed pixel."""
    pixel = pixels[first + wp.tid()]
    column = float(pixel % view.width)
    row = float(pixel // view.width)
    total = wp.vec4(0.0, 0.0, 0.0, 0.0)
    for k in range(samples * samples):
        x = (float(k % samples) + 0.5) / float(samples)
        y = (float(k // samples) + 0.5) / float(samples)
        total = total + seen(view, column + x, row + y, triangles, normals, colors, moving)
    image[pixel] = total / float(samples * samples)


class Tracer:
    """Takes pictures of a geometry, frame after frame.

    Args:
        geometry: What is seen.
        camera: From where.
        up: The axis that points up.
        ground: Its height [m]; None: there is none.
        cell: Distance of the lines on it [m].
        device: Of Warp.
    """

    def __init__(
        self, geometry: Geometry, camera: Camera, up: int, ground: float | None, cell: float, device: str = "cpu"
    ):
        self.geometry, self.camera, self.device = geometry, camera, device
        points, _, _ = geometry.frame(0)
        self.points = wp.array(points, dtype=wp.vec3, device=device)
        self.triangles = wp.array(geometry.triangles.reshape(-1), dtype=wp.int32, device=device)
        self.moving = wp.array(geometry.is_moving.astype(np.int32), dtype=wp.int32, device=device)
        self.mesh = wp.Mesh(self.points, self.triangles)
        axes = np.eye(3)
        level, across = axes[(up + 1) % 3], axes[(up + 2) % 3]
        sun = SUN[0] * level + SUN[1] * across + SUN[2] * axes[up]
        distance = float(np.linalg.norm(camera.eye - points.mean(axis=0)))
        view = View()
        view.mesh = self.mesh.id
        view.eye, view.right, view.above, view.back = (wp.vec3(*row) for row in (camera.eye, *camera.axes))
        view.up, view.level, view.across = wp.vec3(*axes[up]), wp.vec3(*level), wp.vec3(*across)
        view.sun, view.paper = wp.vec3(*(sun / np.linalg.norm(sun))), wp.vec3(*PAPER)
        view.focal, view.width, view.height = camera.focal, camera.width, camera.height
        view.ground, view.has_ground = ground or 0.0, int(ground is not None)
        view.cell, view.reach, view.nudge = cell, 3.0 * distance, 1e-4 * distance
        self.view = view
        self.image = wp.zeros(camera.width * camera.height, dtype=wp.vec4, device=device)

    def take(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """Colours (H, W, 3) from 0 to 1, and how much of a pixel is of what moves (H, W)."""
        points, normals, colors = self.geometry.frame(frame)
        self.points.assign(points.astype(np.float32))
        self.mesh.refit()
        self.normals = wp.array(normals, dtype=wp.vec3, device=self.device)
        self.colors = wp.array(colors, dtype=wp.vec3, device=self.device)
        height, width = self.camera.height, self.camera.width
        self._launch(np.arange(width * height), 1)
        image = self.image.numpy().reshape(height, width, 4)
        self._launch(np.flatnonzero(_edges(image)), SAMPLES)
        image = self.image.numpy().reshape(height, width, 4)
        return np.clip(image[..., :3], 0.0, 1.0), image[..., 3].copy()

    def _launch(self, pixels: np.ndarray, samples: int) -> None:
        """Trace some pixels; on a CPU by two threads or more, a band each."""
        if not pixels.size:
            return
        listed = wp.array(pixels.astype(np.int32), dtype=wp.int32, device=self.device)
        inputs = [self.view, self.triangles, self.normals, self.colors, self.moving, listed]

        def band(first: int) -> None:
            count = min(BAND, pixels.size - first)
            wp.launch(trace, count, inputs=[*inputs, first, samples, self.image], device=self.device)

        firsts = range(0, pixels.size, BAND)
        if self.device != "cpu" or len(firsts) == 1:
            for first in firsts:
                band(first)
            return
        band(firsts[0])  # alone: the kernel may have to be compiled
        with ThreadPoolExecutor() as pool:
            list(pool.map(band, firsts[1:]))


def _edges(image: np.ndarray) -> np.ndarray:
    """Whether a pixel differs from one beside it, shape (H * W)."""
    found = np.zeros(image.shape[:2], bool)
    for axis in (0, 1):
        step = np.abs(np.diff(image, axis=axis)).max(axis=-1) > EDGE
        later, earlier = [slice(None)] * 2, [slice(None)] * 2
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        found[tuple(later)] |= step
        found[tuple(earlier)] |= step
    return found.reshape(-1)


def grid_cell(size: float) -> float:
    """A power of ten [m]: the distance of lines on a ground under something of a size [m]."""
    return 10.0 ** math.floor(math.log10(max(size, 1e-9)) - 0.5)

"""All surfaces of a drawing as one set of triangles that moves, with tendons and trails as tubes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warp_artic.description.drawing import Drawing, Motion, PartKind, Strand, placed, vertex_normals
from warp_artic.errors import SettingsError, did_you_mean

SIDES = 10
"""Of a tube."""
SLACK, TAUT = np.array([0.45, 0.5, 0.56]), np.array([0.88, 0.18, 0.1])
"""Colours of a tendon without force, and with the largest one."""
INK = (0.25, 0.28, 0.32)
"""Of trails."""


class Geometry:
    """Points, normals and colours of all triangles in each frame; the triangles stay.

    Args:
        drawing: What there is.
        motion: Where it is.
        radius: Of tubes [m].
        shares: Force of each tendon by the largest one, by its name, shape (F); none: its own colour.
        trails: Bodies, or prims below them, whose path is shown.
    """

    def __init__(
        self,
        drawing: Drawing,
        motion: Motion,
        radius: float,
        shares: dict[str, np.ndarray] | None = None,
        trails: Sequence[str] = (),
    ):
        visible = {part.body for part in drawing.parts if part.kind is not PartKind.COLLIDER}
        self.parts = [p for p in drawing.parts if p.kind is not PartKind.COLLIDER or p.body not in visible]
        self.motion, self.radius, self.shares = motion, radius, shares or {}
        self.strands = [one for one in drawing.strands if len(one.points) > 1]
        self.trails = [_trail(drawing, motion, name) for name in trails]
        triangles, first = [np.zeros((0, 3), int)], 0
        for part in self.parts:
            triangles.append(part.triangles + first)
            first += len(part.points)
        for count in [*(len(one.points) for one in self.strands), *map(len, self.trails)]:
            triangles.append(_tube_triangles(count) + first)
            first += count * SIDES
        self.triangles = np.concatenate(triangles)
        """Shape (T, 3)."""
        moves = np.array([part.body >= 0 or part.deforms for part in self.parts], bool)
        moving = np.repeat(moves, [len(part.triangles) for part in self.parts])
        self.is_moving = np.concatenate([moving, np.ones(len(self.triangles) - len(moving), bool)])
        """Which triangles are on something that moves, shape (T)."""

    def frame(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points (V, 3) [m], normals (V, 3) and the colour of each triangle (T, 3) in a frame."""
        matrices, none = self.motion.matrices(number), np.zeros((0, 3))
        points, normals, colors = [none], [none], [none]
        for part in self.parts:
            if part.deforms:
                world = self.motion.points[part.path][number]
                turned = vertex_normals(world, part.triangles)
            else:
                world = placed(part.points, part.body, matrices)
                turned = part.normals if part.body < 0 else part.normals @ matrices[part.body, :, :3].T
            points.append(world)
            normals.append(turned)
            colors.append(np.tile(part.color, (len(part.triangles), 1)))
        for strand in self.strands:
            line = self.line(strand, matrices, number)
            tube = _tube(line, self.radius)
            points.append(tube[0])
            normals.append(tube[1])
            share = self.shares.get(strand.tendon)
            color = np.array(strand.color) if share is None else SLACK + share[number] * (TAUT - SLACK)
            colors.append(np.tile(color, (len(_tube_triangles(len(line))), 1)))
        for trail in self.trails:
            tube = _tube(trail, 0.6 * self.radius)
            points.append(tube[0])
            normals.append(tube[1])
            colors.append(np.tile(INK, (len(_tube_triangles(len(trail))), 1)))
        return np.concatenate(points), np.concatenate(normals), np.concatenate(colors)

    def line(self, strand: Strand, matrices: np.ndarray, number: int) -> np.ndarray:
        """World positions of the points of a strand."""
        if strand.deforms:
            return self.motion.points[strand.path][number]
        return placed(strand.points, strand.bodies, matrices)


def _trail(drawing: Drawing, motion: Motion, name: str) -> np.ndarray:
    """Where the middle of a part, or the origin of a body, is over time, shape (F, 3)."""
    part = next((part for part in drawing.parts if part.path == name and part.body >= 0), None)
    if part is not None:
        middle, body = 0.5 * (part.points.min(axis=0) + part.points.max(axis=0)), part.body
    elif name in drawing.bodies:
        middle, body = np.zeros(3), drawing.bodies.index(name)
    else:
        known = [*drawing.bodies, *(part.path for part in drawing.parts if part.body >= 0)]
        raise SettingsError(f"trail: {name} is no body that moves, nor a shape on one{did_you_mean(name, known)}")
    return np.array([placed(middle[None], body, motion.matrices(frame))[0] for frame in range(len(motion.time))])


def _tube_triangles(count: int) -> np.ndarray:
    """The triangles of a tube through so many points."""
    here = np.arange(SIDES)
    there = (here + 1) % SIDES
    found = [np.zeros((0, 3), int)]
    for ring in range(count - 1):
        low, high = ring * SIDES, (ring + 1) * SIDES
        found.append(np.stack([low + here, low + there, high + there], axis=1))
        found.append(np.stack([low + here, high + there, high + here], axis=1))
    return np.concatenate(found)


def _tube(line: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and normals of rings about the points of a line (P, 3)."""
    along = np.gradient(line, axis=0) if len(line) > 1 else np.ones_like(line)
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    # A reference that no part of the line is along: the axis that it turns to least.
    axis = np.eye(3)[np.argmin(np.abs(along).max(axis=0))]
    x = np.cross(along, axis)
    x /= np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    y = np.cross(along, x)
    turns = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)[:, None]
    normals = np.cos(turns) * x[:, None] + np.sin(turns) * y[:, None]
    return (line[:, None] + radius * normals).reshape(-1, 3), normals.reshape(-1, 3)

"""A drawing and its motions as a page has them."""

from __future__ import annotations

import math

import numpy as np

from warp_artic.description.drawing import Drawing, Motion, Part, PartKind, placed
from warp_artic.looking.pack import Pack
from warp_artic.sim.record.recording import Recording

MOST_CONTACTS = 32
"""Of a frame: those with the largest forces are shown."""
FOLLOWED = 2.0
"""The camera follows where bodies travel by as many times their extent."""


def in_order(drawing: Drawing) -> tuple[list[Part], tuple[int, int]]:
    """The parts: those that are shown, those that are seen through, and colliders; where the second and third begin.

    Colliders are shown where a body has nothing else.
    """
    visible = {part.body for part in drawing.parts if part.kind is not PartKind.COLLIDER}
    shown = [part for part in drawing.parts if part.kind is not PartKind.COLLIDER or part.body not in visible]
    hidden = [part for part in drawing.parts if part not in shown]
    solid = [part for part in shown if part.opacity >= 1.0]
    clear = [part for part in shown if part.opacity < 1.0]
    return [*solid, *clear, *hidden], (len(solid), len(solid) + len(clear))


def packed_drawing(drawing: Drawing, motions: list[Motion], pack: Pack) -> dict:
    """What the script of the page takes for `drawing`."""
    parts, (clear, hidden) = in_order(drawing)
    counts = np.cumsum([0, *(len(part.points) for part in parts)])
    faces = np.cumsum([0, *(3 * len(part.triangles) for part in parts)]).tolist()
    none = np.zeros((0, 3))
    points = np.concatenate([none, *(part.points for part in parts)])
    normals = np.concatenate([none, *(np.zeros_like(p.normals) if p.deforms else p.normals for p in parts)])
    triangles = np.concatenate([none.astype(int), *(part.triangles + first for part, first in zip(parts, counts))])
    bodies = [np.full(len(part.points), -1 if part.deforms else part.body) for part in parts]
    colors = [
        np.tile([*part.color, 0.35 if n >= hidden else part.opacity], (len(part.points), 1))
        for n, part in enumerate(parts)
    ]
    low, high = extent(drawing, motions[0])
    size = float(np.linalg.norm(high - low)) or 1.0
    ground = drawing.ground if drawing.ground is not None else lowest(drawing, motions)
    starts, ends = motions[0].poses[0, :, :3], motions[0].poses[-1, :, :3]
    moved = np.linalg.norm(ends - starts, axis=1)
    followed = np.flatnonzero(moved > 1e-9).tolist()
    return {
        "bodies": list(drawing.bodies),
        "up": drawing.up,
        "points": pack.add(points, "float32"),
        "normals": pack.add(np.round(127.0 * normals), "int8"),
        "body": pack.add(np.concatenate([np.zeros(0), *bodies]), "float32"),
        "color": pack.add(np.round(255.0 * np.concatenate([np.zeros((0, 4)), *colors])), "uint8"),
        "triangles": pack.add(triangles, "uint32"),
        "ranges": {
            "solid": [0, faces[clear]],
            "clear": [faces[clear], faces[hidden] - faces[clear]],
            "hidden": [faces[hidden], faces[-1] - faces[hidden]],
        },
        "ground": ground,
        "center": (0.5 * (low + high)).tolist(),
        "size": size,
        "cell": 10.0 ** math.floor(math.log10(size) - 0.5),
        "azimuth": -1.0,
        "elevation": 0.28,
        "follow": bool(moved.size and moved.max() > FOLLOWED * size),
        "followed": followed,
        "strands": [
            {
                "path": strand.path,
                "tendon": strand.tendon,
                "bodies": list(strand.bodies),
                "points": strand.points.tolist(),
                "color": list(strand.color),
                "deforms": strand.deforms,
            }
            for strand in drawing.strands
        ],
        "joints": [
            {"body": mark.body, "position": mark.position, "axes": mark.axes, "linear": mark.are_linear}
            for mark in drawing.joints
        ],
    }


def packed_motion(drawing: Drawing, motion: Motion, pack: Pack) -> dict:
    """What the script takes for the motion of a run."""
    parts, _ = in_order(drawing)
    first, count = {}, 0
    for part in parts:
        first[part.path] = count
        count += len(part.points)
    moved = []
    for path, values in motion.points.items():
        low = values.min(axis=(0, 1))
        step = np.ptp(values, axis=(0, 1)) / 65535.0
        whole = np.round((values - low) / np.where(step > 0.0, step, 1.0))
        moved.append(
            {
                "path": path,
                "first": first.get(path),
                "count": values.shape[1],
                "values": pack.add(whole, "uint16"),
                "low": low.tolist(),
                "step": step.tolist(),
            }
        )
    return {"time": pack.add(motion.time, "float32"), "poses": pack.add(motion.poses, "float32"), "points": moved}


def packed_forces(recording: Recording | None, rows: np.ndarray, environment: int, pack: Pack) -> dict:
    """Forces of tendons and of contacts at the frames of a run, where they are recorded."""
    tendons: dict[str, dict] = {}
    if recording is None:
        return {"forces": {}, "contacts": None}
    for names, quantity in (
        (recording.tendon_names, recording.tendon_force),
        (recording.mesh_tendon_names, recording.mesh_tendon_tension),
    ):
        if not quantity.size:
            continue
        values = quantity[rows, environment].astype(float)
        for column, name in enumerate(names):
            own = np.nan_to_num(values[:, column])
            tendons[name] = {"values": pack.add(own, "float32"), "largest": float(np.abs(own).max(initial=0.0))}
    return {"forces": tendons, "contacts": _packed_contacts(recording, rows, environment, pack)}


def _packed_contacts(recording: Recording, rows: np.ndarray, environment: int, pack: Pack) -> dict | None:
    """Points and forces of contacts, frame after frame."""
    if not recording.contact_force.size or not recording.contact_position.size:
        return None
    first, points, forces = [0], [], []
    for row in rows:
        force = recording.contact_force[row, environment].astype(float)
        sizes = np.linalg.norm(force, axis=1)
        acting = np.flatnonzero((sizes > 0.0) & np.isfinite(sizes))
        acting = acting[np.argsort(-sizes[acting], kind="stable")[:MOST_CONTACTS]]
        points.append(recording.contact_position[row, environment][acting])
        forces.append(force[acting])
        first.append(first[-1] + acting.size)
    sizes = np.linalg.norm(np.concatenate(forces), axis=1)
    return {
        "first": pack.add(np.array(first), "uint32"),
        "points": pack.add(np.concatenate(points), "float32"),
        "forces": pack.add(np.concatenate(forces), "float32"),
        "scale": float(np.median(sizes)) if sizes.size else 1.0,
    }


def extent(drawing: Drawing, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest coordinates of what moves over the first frames, or of all where nothing does.

    Of bodies that travel far the extent at the start is taken, with which the camera can follow them.
    """
    travel = np.ptp(motion.poses[:, :, :3], axis=0) if len(drawing.bodies) else np.zeros((0, 3))
    corners = _corners(drawing, motion, 0)
    if not len(corners):
        return -np.ones(3), np.ones(3)
    low, high = corners.min(axis=0), corners.max(axis=0)
    size = float(np.linalg.norm(high - low))
    if len(travel) and np.linalg.norm(travel, axis=1).max() <= FOLLOWED * size:
        for frame in np.unique(np.linspace(0, len(motion.time) - 1, 24).astype(int)).tolist():
            corners = _corners(drawing, motion, frame)
            low, high = np.minimum(low, corners.min(axis=0)), np.maximum(high, corners.max(axis=0))
    return low, high


def lowest(drawing: Drawing, motions: list[Motion]) -> float:
    """The least height that anything reaches."""
    found = []
    for motion in motions:
        frames = np.unique(np.linspace(0, len(motion.time) - 1, 24).astype(int)).tolist()
        found += [_corners(drawing, motion, frame)[:, drawing.up].min(initial=np.inf) for frame in frames]
    least = min(found)
    return float(least) if np.isfinite(least) else 0.0


def _corners(drawing: Drawing, motion: Motion, frame: int) -> np.ndarray:
    """World positions (N, 3) of the corners of the boxes of all parts, and of points that deform, in a frame."""
    matrices, found = motion.matrices(frame), [np.zeros((0, 3))]
    for part in drawing.parts:
        if part.deforms:
            found.append(motion.points[part.path][frame])
            continue
        low, high = part.points.min(axis=0), part.points.max(axis=0)
        box = np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i, j, k in np.ndindex(2, 2, 2)])
        found.append(placed(box, part.body, matrices))
    found += [placed(strand.points, strand.bodies, matrices) for strand in drawing.strands if not strand.deforms]
    return np.concatenate(found)

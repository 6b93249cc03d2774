"""Colliders of a large stage as tables: what is the same in all environments and in all steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warp_artic.constraints.contact_tables import KINDS, half_thickness, hull_of
from warp_artic.constraints.loop_geometry import loops
from warp_artic.description.articulation import Articulation
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.collider import Collider
from warp_artic.description.island_contacts import IslandContacts
from warp_artic.description.joint import WORLD
from warp_artic.description.scene import Scene
from warp_artic.description.shape import BY_HALF_EXTENTS, Shape, ShapeKind
from warp_artic.description.surface import combined
from warp_artic.description.touching import STATIC, Touching


@dataclass(frozen=True)
class ColliderTables:
    """An entry a collider, and what pairs of them are."""

    colliders: tuple[Collider, ...]
    bodies: tuple[tuple[int, int], ...]
    """Articulation and link of each body that has colliders."""
    motions: tuple[BaseMotion, ...]
    """Of the kinematic bodies, which come after the others."""
    coarse: int
    """How many colliders are of no fine static mesh; those that are come last."""
    columns: dict[str, np.ndarray]
    """By the fields of `islands.arrays.island_types(...).Colliders`."""
    joints: tuple[tuple[int, int], ...]
    """Articulation, and number among its loop joints, of each joint that keeps colliders apart until it breaks."""
    joint_filters: dict[str, np.ndarray]
    """By the fields of `JointFilters`."""


def collider_tables(contacts: IslandContacts, scene: Scene) -> ColliderTables:
    """The tables of the colliders of a scene, as it is laid out."""
    touching = Touching(scene.articulations, contacts.colliders, contacts.kept_apart)
    colliders = touching.colliders
    homes, links = touching.home.tolist(), touching.links.tolist()
    motions = tuple(dict.fromkeys(one.motion for one in colliders if one.motion is not None))
    owners = [one.motion if home == STATIC else (home, link) for one, home, link in zip(colliders, homes, links)]
    bodies = tuple(sorted({owner for owner, home in zip(owners, homes) if home != STATIC}))
    number = {owner: place for place, owner in enumerate((*bodies, *motions))}
    hulls = [hull_of(one.shape) for one in colliders]
    seams = [one.shape.seams for one in colliders]
    surfaces = list(dict.fromkeys(one.surface for one in colliders))
    pairs = [combined(one, other) for one in surfaces for other in surfaces]
    boxes = [_box(one.shape) for one in colliders]
    columns = {
        "body": np.array([number.get(owner, -1) for owner in owners], np.int32),
        "kind": np.array([int(KINDS[one.shape.kind]) for one in colliders], np.int32),
        "axes": np.array([one.shape.frame.rotation for one in colliders]),
        "position": np.array([one.shape.frame.position for one in colliders]),
        "size": np.array([one.shape.size for one in colliders]),
        "middle": np.array([middle for middle, _ in boxes]),
        "half": np.array([half for _, half in boxes]),
        "hull": _starts(hulls),
        "hull_count": np.array(list(map(len, hulls)), np.int32),
        "contact_offset": np.array([one.contact_offset for one in colliders]),
        "rest_offset": np.array([one.rest_offset for one in colliders]),
        "depenetration_speed": np.array([one.depenetration_speed for one in colliders]),
        "thickness": np.array([half_thickness(one.shape) for one in colliders]),
        "family": touching.classes.astype(np.int32),
        "weld": _welds(touching),
        "surface": np.array([surfaces.index(one.surface) for one in colliders], np.int32),
        "is_patch": np.array([bool(one.shape.seams) or one.shape.is_one_sided for one in colliders], np.int32),
        "one_sided": np.array([one.shape.is_one_sided for one in colliders], np.int32),
        "seam": _starts(seams),
        "seams": np.array(list(map(len, seams)), np.int32),
        "hull_points": np.array([x for hull in hulls for point in hull for x in point] or [0.0])[:, None],
        "seam_directions": np.array(
            [(*one.direction, np.cos(one.bend), np.sin(one.bend)) for own in seams for one in own] or [(0.0,) * 4]
        ),
        "allowed": touching.allowed.astype(np.int32),
        "apart": _apart(touching),
        "static_friction": np.array([one.static_friction for one in pairs]),
        "dynamic_friction": np.array([one.dynamic_friction for one in pairs]),
        "restitution": np.array([one.restitution for one in pairs]),
        "stiffness": np.array([one.stiffness for one in pairs]),
        "damping": np.array([one.damping for one in pairs]),
        "torsional_friction": np.array([one.torsional_friction for one in pairs]),
        "rolling_friction": np.array([one.rolling_friction for one in pairs]),
    }
    coarse = sum(one.path not in touching.fine for one in colliders)
    return ColliderTables(
        tuple(colliders), bodies, motions, coarse, columns, *_joint_filters(touching, scene.articulations)
    )


def _starts(several: Sequence[Sequence]) -> np.ndarray:
    """Where the entries of each begin, one after the other."""
    return np.cumsum([0, *map(len, several)])[:-1].astype(np.int32)


def _box(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half extents of a box around a shape in its frame [m]; nothing around a plane."""
    if shape.kind is ShapeKind.CONVEX:
        points = np.array(shape.points)
        lower, upper = points.min(axis=0), points.max(axis=0)
        return 0.5 * (lower + upper), 0.5 * (upper - lower)
    if shape.kind in BY_HALF_EXTENTS:
        return np.zeros(3), np.array(shape.half_extents)
    long = shape.half_height + (shape.radius if shape.kind in (ShapeKind.SPHERE, ShapeKind.CAPSULE) else 0.0)
    return np.zeros(3), np.array([shape.radius, shape.radius, long])


def _welds(touching: Touching) -> np.ndarray:
    """A number for each set of colliders that no joint lets move against each other; -1 for what stays."""
    pairs = list(zip(touching.home.tolist(), touching.welds.tolist()))
    numbers = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    return np.array([-1 if pair[1] == WORLD else numbers[pair] for pair in pairs], np.int32)


def _apart(touching: Touching) -> np.ndarray:
    """Pairs of colliders that are kept apart by name, as first * count + second, in order."""
    return np.array(sorted({key for _, key in _keys(touching, touching.kept_apart.apart)}), np.int64)


def _joint_filters(
    touching: Touching, articulations: Sequence[Articulation]
) -> tuple[tuple[tuple[int, int], ...], dict[str, np.ndarray]]:
    """Joints that keep colliders apart until they break, and the pairs of these."""
    joints_of = dict(touching.kept_apart.joined)
    found: dict[int, set[str]] = {}
    for pair, key in _keys(touching, joints_of):
        found.setdefault(key, set()).update(joints_of[pair])
    places = {
        loop.name: (number, place)
        for number, one in enumerate(articulations if found else ())
        for place, loop in enumerate(loops(one))
    }
    joints = sorted({joint for several in found.values() for joint in several})
    number = {joint: place for place, joint in enumerate(joints)}
    several = [sorted(number[joint] for joint in found[key]) for key in sorted(found)]
    joint_filters = {
        "pairs": np.array(sorted(found), np.int64),
        "first": np.cumsum([0, *map(len, several)]).astype(np.int32),
        "joint": np.array([joint for own in several for joint in own], np.int32),
    }
    return tuple(places[joint] for joint in joints), joint_filters


def _keys(touching: Touching, pairs: Collection[frozenset[str]]) -> Iterator[tuple[frozenset[str], int]]:
    """Each of some pairs of names with each pair of colliders that have them, as first * count + second."""
    count, wanted = len(touching.colliders), frozenset(name for pair in pairs for name in pair)
    by_name: dict[str, list[int]] = {}
    for number, collider in enumerate(touching.colliders):
        for name in wanted.intersection(collider.names):
            by_name.setdefault(name, []).append(number)
    for pair in pairs:
        if pair <= by_name.keys():
            one, other = min(pair), max(pair)  # the same where what has a name does not touch itself
            yield from ((pair, min(a, b) * count + max(a, b)) for a in by_name[one] for b in by_name[other] if a != b)

"""Room for contacts that a host gives, between two bodies of a scene, or a body and the world.

Where the bodies touch, with which normals and materials, is said while a scene is simulated
(`Simulation.set_contacts`); which bodies may touch, and at how many points, before: bodies that may touch are one
mechanism, whose constraints are solved together. Each point has a contact pair of its own, of a plane on the first body
and a point of the second one, so that its law is that of all contacts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.base_motion import AT_REST
from warp_artic.description.constraint import Constraint
from warp_artic.description.contact_mechanisms import MOST_DOFS
from warp_artic.description.contact_pair import BOUNCE_THRESHOLD, DEPENETRATION_SPEED, ContactPair
from warp_artic.description.joint import WORLD
from warp_artic.description.link import Link
from warp_artic.description.mechanism import mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.errors import DescriptionError, did_you_mean

MOST_SLOTS = 256
"""Points of one pair of bodies."""
THE_WORLD = "world"
"""Stands for the world in the names of points of contact."""
THINNEST = 1e-3
"""Least extent of a body as a share of its largest one."""


@dataclass(frozen=True, kw_only=True)
class ContactSlots:
    """Two bodies that may touch at points that a host gives; numbers are as of a `ContactPair`."""

    bodies: tuple[str | None, str | None]
    """Prim paths of links or rigid bodies; None is the world."""
    points: int = 4
    """How many points there are at most; of more the deepest are taken."""
    static_friction: float = 0.5
    dynamic_friction: float = 0.5
    restitution: float = 0.0
    bounce_threshold: float = BOUNCE_THRESHOLD
    """[m/s]"""
    stiffness: float = math.inf
    """[N/m]"""
    damping: float = 0.0
    """[N s/m]"""
    depenetration_speed: float = DEPENETRATION_SPEED
    """[m/s]"""


def with_contact_slots(scene: Scene, slots: Sequence[ContactSlots]) -> Scene:
    """A scene with room for contacts that a host gives (`Simulation.set_contacts`), beside those of its colliders.

    Raises:
        DescriptionError: There is no such body, two bodies cannot move against each other, they are given twice, or
            what may touch is larger than a mechanism.
    """
    homes = {path: (home, link) for home in scene.articulations for path, link in home.bodies.items()}
    in_islands = scene.island_contacts.articulations if scene.island_contacts else frozenset()
    found: dict[str, list[ContactPair]] = {}
    known: set[frozenset[str | None]] = set()
    for one in slots:
        _check(one, homes, known, in_islands)
        known.add(frozenset(one.bodies))
        for home, pair in _pairs(one, homes):
            found.setdefault(home, []).append(pair)
    trees = (replace(one, constraints=(*one.constraints, *found.get(one.path, ()))) for one in scene.articulations)
    made = replace(scene, articulations=tuple(trees))
    _check_size(made, scene)
    return made


def without_contacts(scene: Scene) -> Scene:
    """A scene whose colliders touch nothing, for contacts that a host finds."""

    def kept(tree: Articulation) -> tuple[Constraint, ...]:
        return tuple(one for one in tree.constraints if not isinstance(one, ContactPair))

    trees = (replace(tree, constraints=kept(tree)) for tree in scene.articulations)
    return replace(scene, articulations=tuple(trees), island_contacts=None)


def _check(one: ContactSlots, homes, known, in_islands: frozenset[str]) -> None:
    name = " and ".join(path or THE_WORLD for path in one.bodies)
    for path in one.bodies:
        if path is not None and path not in homes:
            raise DescriptionError(f"{path}: there is no link of this path to have contacts{did_you_mean(path, homes)}")
        if path is not None and homes[path][0].path in in_islands:
            raise DescriptionError(
                f"{path}: its contacts are found in each step, island by island, and none can be given to it; this is "
                "for mechanisms whose colliders are not more than one has room for"
            )
    if one.bodies[0] == one.bodies[1]:
        raise DescriptionError(f"contacts between {name}: two different bodies are needed, or a body and the world")
    if frozenset(one.bodies) in known:
        raise DescriptionError(f"contacts between {name}: are given room twice; points= says how many there may be")
    if isinstance(one.points, bool) or not isinstance(one.points, int) or not 1 <= one.points <= MOST_SLOTS:
        raise DescriptionError(f"contacts between {name}: points is {one.points!r}, must be from 1 to {MOST_SLOTS}")


def _pairs(one: ContactSlots, homes) -> Iterator[tuple[str, ContactPair]]:
    """A contact pair for each point, and the path of the articulation that has it."""
    first, second = one.bodies if one.bodies[1] is not None else one.bodies[::-1]
    home1, link1 = homes[second]
    home0, link0 = (home1, WORLD) if first is None else homes[first]
    links = [home.links[link] for home, link in ((home0, link0), (home1, link1)) if link != WORLD]
    name = f"{second}:{first or THE_WORLD}"
    pair = ContactPair(
        name=name,
        link0=link0,
        link1=link1,
        articulation1=home1.path if home1.path != home0.path else "",
        shape0=Shape(path=first or THE_WORLD, kind=ShapeKind.PLANE),
        shape1=Shape(path=str(second), kind=ShapeKind.SPHERE),
        motion0=AT_REST if first is None and home1.base_motion is not None else None,
        contact_distance=0.0,
        given_thickness=min(map(half_thickness_of, links)),
        static_friction=max(one.static_friction, one.dynamic_friction),
        dynamic_friction=one.dynamic_friction,
        restitution=one.restitution,
        bounce_threshold=one.bounce_threshold,
        stiffness=one.stiffness,
        damping=one.damping,
        depenetration_speed=one.depenetration_speed,
    )
    for number in range(one.points):
        yield home0.path, replace(pair, name=f"{name}:given{number}")


def half_thickness_of(link: Link) -> float:
    """Half of the least extent of the box with the mass and the moments of inertia of a link [m]."""
    xx, xy, xz, yy, yz, zz = link.inertia
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    squares = 1.5 * (moments.sum() - 2.0 * moments) / link.mass
    halves = np.sqrt(np.maximum(squares, 0.0))
    return float(max(halves.min(), THINNEST * halves.max()))


def _check_size(scene: Scene, before: Scene) -> None:
    """Refuse mechanisms that have become larger than one is solved."""
    sizes = [len(one.dofs) + 6 * one.is_floating for one in scene.articulations]
    largest = max(sizes, default=0)
    was = {index: len(group) for group in mechanisms_of(before) for index in group}
    for group in mechanisms_of(scene):
        dofs = sum(sizes[index] for index in group)
        if dofs > max(MOST_DOFS, largest) and any(was[index] < len(group) for index in group):
            names = ", ".join(_short([scene.articulations[index] for index in group]))
            raise DescriptionError(
                f"contacts would make one mechanism with {dofs} degrees of freedom of {names}; at most {MOST_DOFS} are "
                "solved together"
            )


def _short(trees: Sequence[Articulation]) -> list[str]:
    """Some of their paths."""
    paths = [one.path for one in trees[:3]]
    return paths + [f"{len(trees) - 3} more"] * (len(trees) > 3)

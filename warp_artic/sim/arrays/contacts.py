"""What touches what now, by name, and the force that contacts have on a link or on what is below a prim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from warp_artic.constraints.contact_tables import pairs, point_count
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.arrays.views import Member


@dataclass(frozen=True)
class Contact:
    """Two colliders that touch in an environment: the last step has pushed them apart, or they overlap."""

    environment: int
    colliders: tuple[str, str]
    """Prim paths."""
    links: tuple[str, str]
    """Prim paths of the links that have them; empty: the collider is fixed to the world."""
    points: int
    """How many points touch."""
    gap: float
    """The least distance at these points [m]; negative: by how much the colliders overlap where they do most."""
    normal_force: float
    """Sum of the forces along the normals on the second collider in the last step [N]."""
    friction_force: float
    """Magnitude of the sum of the forces across them [N]."""
    force: tuple[float, float, float]
    """Sum of all of them, world axes [N]."""

    def __str__(self) -> str:
        gap = f"overlap by {-self.gap:.3g} m" if self.gap < 0.0 else f"are {self.gap:.3g} m apart"
        return (
            f"{self.colliders[0]} and {self.colliders[1]} touch in environment {self.environment} at {self.points} "
            f"point{'s' * (self.points != 1)}, and {gap}: {self.normal_force:.6g} N along the normals, "
            f"{self.friction_force:.6g} N of friction"
        )


def find_contacts(scene: Scene, members: Sequence[Member], substep: float) -> list[Contact]:
    """See `Simulation.contacts`; gaps and normals are those of the state, and a `substep` [s] had the impulses."""
    found = []
    trees = {tree.path: tree for tree in scene.articulations}
    for member in members:
        tree = scene.articulations[member.index]
        own = pairs(tree)
        if not own:
            continue
        gaps = member.array("contact_gap").numpy().astype(float)
        normals, impulses = (member.array(name).numpy().astype(float) for name in ("contact_normal", "contact_impulse"))
        forces, first = impulses / substep, 0
        for _, several in groupby(own, lambda pair: (pair.shape0.path, pair.shape1.path)):
            patches = list(several)
            pair = patches[0]
            points = slice(first, first + sum(map(point_count, patches)))
            first = points.stop
            ends = (tree, trees.get(pair.articulation1, tree))
            links = tuple(
                "" if link == WORLD else end.links[link].path for end, link in zip(ends, (pair.link0, pair.link1))
            )
            found += _of_pair(pair, links, gaps[points], normals[points], forces[points])
    return sorted(found, key=lambda one: one.environment)


def _of_pair(
    pair: ContactPair, links: tuple[str, str], gaps: np.ndarray, normals: np.ndarray, forces: np.ndarray
) -> list[Contact]:
    """The contacts of a pair, from arrays (points, environments) and (points, 3, environments)."""
    along = (normals * forces).sum(axis=1)
    touch = (along > 0.0) | (gaps < pair.rest_distance)
    found = []
    for environment in np.flatnonzero(touch.any(axis=0)):
        own = touch[:, environment]
        force = forces[own, :, environment]
        pushes = along[own, environment]
        across = force - pushes[:, None] * normals[own, :, environment]
        found.append(
            Contact(
                environment=int(environment),
                colliders=(pair.shape0.path, pair.shape1.path),
                links=links,
                points=int(own.sum()),
                gap=float(gaps[own, environment].min()),
                normal_force=float(pushes.sum()),
                friction_force=float(np.linalg.norm(across.sum(axis=0))),
                force=tuple(force.sum(axis=0).tolist()),
            )
        )
    return found


def contact_signs(
    names: Sequence[str], links: Sequence[str], path: str, by: str | None = None, others: Sequence[str] = ()
) -> np.ndarray:
    """1 for points of contact whose force acts on what is at a path, -1 where its reaction does, else 0.

    Args:
        names: Of the points: the paths of both colliders, and a number.
        others: Paths of further colliders that may touch something.
        links: Paths of all links.
        path: Of a link, which has the colliders below it that are not below another link, or of a collider, or of a
            prim that colliders are below.
        by: Such a path too: only forces by what is there count.

    Raises:
        SettingsError: No collider that may touch anything is there.
    """
    colliders = sorted({*others, *(collider for name in names for collider in name.split(":")[:2])})
    on = _at(path, colliders, links)
    by_whom = None if by is None else _at(by, colliders, links)
    signs = np.zeros(len(names))
    for point, name in enumerate(names):
        first, second = name.split(":")[:2]
        signs[point] += second in on and (by_whom is None or first in by_whom)
        signs[point] -= first in on and (by_whom is None or second in by_whom)
    return signs


def _at(path: str, colliders: Sequence[str], links: Sequence[str]) -> set[str]:
    """The colliders of a link, or those at or below a path."""
    known = set(links)
    if path in known:
        found = {one for one in colliders if _owner(one, known) == path}
    else:
        found = {one for one in colliders if one == path or one.startswith(f"{path.rstrip('/')}/")}
    if not found:
        close = did_you_mean(path, (*colliders, *links))
        raise SettingsError(f"{path}: there is no collider that may touch anything{close}")
    return found


def _owner(collider: str, links: set[str]) -> str:
    """The nearest link that a collider is at or below; empty where there is none."""
    path = collider
    while path and path not in links:
        path = path.rpartition("/")[0]
    return path

"""What touches what now on a large stage, by name, and the force that contacts have on what is below a prim."""

from __future__ import annotations

import numpy as np

from warp_artic.description.scene import Scene
from warp_artic.sim.arrays.contacts import Contact, contact_signs
from warp_artic.sim.islands.contact_islands import ContactIslands


def contacts_of_islands(islands: ContactIslands, scene: Scene, steps_done: int, dt: float) -> list[Contact]:
    """The colliders that touch, for links whose places are up to date, with forces of the last step of dt [s]."""
    tables = islands.layout.tables
    bodies = [scene.articulations[one].links[link].path for one, link in tables.bodies]
    links = [bodies[body] if 0 <= body < len(bodies) else "" for body in tables.columns["body"]]
    points = islands.find_now(steps_done)
    along = (points["world"] * points["n"]).sum(axis=1)
    touching = np.flatnonzero((along > 0.0) | (points["gap"] < 0.0))
    groups: dict[tuple[int, int, int], list[int]] = {}
    for point in touching.tolist():
        pair = tuple(int(points[name][point]) for name in ("environment", "first", "second"))
        groups.setdefault(pair, []).append(point)
    found = []
    for (environment, first, second), own in groups.items():
        force = points["world"][own].astype(float) / dt
        pushes = along[own] / dt
        across = force - pushes[:, None] * points["n"][own]
        found.append(
            Contact(
                environment=environment,
                colliders=(tables.colliders[first].path, tables.colliders[second].path),
                links=(links[first], links[second]),
                points=len(own),
                gap=float(points["gap"][own].min()),
                normal_force=float(pushes.sum()),
                friction_force=float(np.linalg.norm(across.sum(axis=0))),
                force=tuple(force.sum(axis=0).tolist()),
            )
        )
    return found


def island_force_on(
    islands: ContactIslands, links: tuple[str, ...], path: str, by: str | None, dt: float
) -> np.ndarray:
    """The sum of the forces by contacts in the last step on what is at a path, shape (environments, 3) [N]."""
    points, colliders = islands.impulses(), islands.colliders
    names = [f"{colliders[a]}:{colliders[b]}:0" for a, b in zip(points["first"], points["second"])]
    signs = contact_signs(names, links, path, by, colliders)
    found = np.zeros((islands.layout.environments, 3))
    np.add.at(found, points["environment"], signs[:, None] * points["world"].astype(float) / dt)
    return found

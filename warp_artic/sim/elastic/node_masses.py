"""Links with the masses of the nodes of elastic bodies that are attached to them; `parameters.link_mass` is the sum."""

from dataclasses import replace

import numpy as np

from warp_artic.description.link import Link
from warp_artic.description.scene import Scene
from warp_artic.meshes.elastic import node_masses


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
    if not points or link.is_massless:
        return link
    before = np.asarray(link.center_of_mass, float)
    parts = [(link.mass, before), *points]
    mass = sum(part for part, _ in parts)
    center = sum(part * place for part, place in parts) / mass
    inertia = link.inertia_matrix
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

"""The parts of a mesh that hang together, and what holds them."""

from __future__ import annotations

import numpy as np

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import BodyPoint, MeshTendon
from warp_artic.description.validate_meshes import parts_of


def components(body: ElasticBody, joined: tuple[tuple[int, ...], ...] = ()) -> np.ndarray:
    """The first node of the part of each node, shape (N); `joined` are nodes that belong together."""
    elements = np.asarray(body.elements, int)
    pairs = np.array([pair for nodes in joined for pair in zip(nodes, nodes[1:])], int).reshape(-1, 2)
    links = np.concatenate([pairs, np.repeat(pairs[:, 1:], body.dim - 1, axis=1)], axis=1)
    return parts_of(len(body.points), np.concatenate([elements, links]))


def first_free_component(body: ElasticBody, tendons: tuple[MeshTendon, ...] = ()) -> int | None:
    """A node of the first part that no pin, no attachment and no tendon holds; None where there is none."""
    held = {*body.pinned, *(attachment.node for attachment in body.attachments)}
    joined = []
    for tendon in tendons:
        nodes = [node for waypoint in tendon.waypoints if isinstance(waypoint, BodyPoint) for node in waypoint.nodes]
        if nodes:
            joined.append(tuple(nodes))
        if nodes and not all(isinstance(waypoint, BodyPoint) for waypoint in tendon.waypoints):
            held.add(nodes[0])
    label = components(body, tuple(joined))
    free = set(label.tolist()) - set(label[list(held)].tolist())
    return min(free, default=None)

"""Waypoints of tendons on links, as nodes of no element that are attached to these links.

So a tendon pulls links through the same coupling as nodes do, and the stiffness of its springs is known to it.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from warp_artic.description.elastic_body import ElasticBody, NodeAttachment
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon
from warp_artic.description.pose import Pose
from warp_artic.meshes.tendon_paths import foreign_positions


def with_link_waypoints(
    body: ElasticBody, tendons: tuple[MeshTendon, ...], link_poses: Mapping[str, Pose]
) -> tuple[ElasticBody, tuple[MeshTendon, ...]]:
    """A body with such nodes after its own, attachments in the order of nodes, and its tendons through them.

    Args:
        body: What the tendons are on.
        tendons: All of the body.
        link_poses: X_WL at the start, by path.
    """
    found = dict.fromkeys(point for one in tendons for point in one.waypoints if isinstance(point, LinkPoint))
    nodes = {point: len(body.points) + k for k, point in enumerate(found)}
    places = foreign_positions(nodes, body, link_poses)

    def extended(values: np.ndarray | None, more: np.ndarray) -> np.ndarray | None:
        return None if values is None else np.concatenate([np.asarray(values, float), more])

    added = (NodeAttachment(node=node, link=point.link, position=point.position) for point, node in nodes.items())
    attachments = sorted((*body.attachments, *added), key=lambda one: one.node)
    body = replace(
        body,
        points=extended(body.points, places),
        start_points=extended(body.start_points, places),
        start_velocities=extended(body.start_velocities, np.zeros_like(places)),
        attachments=tuple(attachments),
    )

    def through(tendon: MeshTendon) -> MeshTendon:
        waypoints = (BodyPoint(nodes=(nodes[point],)) if point in nodes else point for point in tendon.waypoints)
        return replace(tendon, waypoints=tuple(waypoints))

    return body, tuple(map(through, tendons))

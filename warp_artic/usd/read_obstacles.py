"""Static and animated colliders become obstacles of elastic bodies; those that a body passes through are reported.

An elastic body meets others where its mesh has PhysicsCollisionAPI, enabled; filters, groups and scenes keep them apart
as they do rigid bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warp_artic.description.collider import Collider
from warp_artic.description.contact_pair import DEPENETRATION_SPEED
from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import LinkPoint
from warp_artic.description.obstacle import OF_NODES, Obstacle
from warp_artic.description.surface import combined
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.read_contacts import Contacts, count_of, report_materials, some_of
from warp_artic.usd.read_meshes import Meshes


def with_obstacles(meshes: Meshes, contacts: Contacts, attributes: Attributes) -> Meshes:
    """Elastic bodies with the colliders that their nodes do not enter."""
    own = {one.path: one for one in contacts.soft}
    sets = [one.groups for one in (*contacts.soft, *contacts.colliders)]
    different = list(dict.fromkeys(sets))
    blocked = contacts.kept_apart.blocked(different)
    place = {groups: number for number, groups in enumerate(different)}

    def may_touch(one: Collider, other: Collider) -> bool:
        is_apart = one.owner != other.owner or blocked[place[one.groups], place[other.groups]]
        return one.path != other.path and not is_apart and not contacts.kept_apart.are_apart(one.names, other.names)

    bodies = []
    for body in meshes.elastic_bodies:
        collider = own.get(body.name)
        if collider is not None:
            others = [one for one in (*contacts.colliders, *contacts.soft) if may_touch(collider, one)]
            body = _with_obstacles(body, collider, others, meshes, attributes)
        bodies.append(body)
    _report_materials(bodies, contacts, attributes)
    return replace(meshes, elastic_bodies=tuple(bodies))


def _report_materials(bodies: Sequence[ElasticBody], contacts: Contacts, attributes: Attributes) -> None:
    """Say which colliders that meet have no physics material, where that has not been said."""
    told = any(one.rule == "contact-material" and one.path == "/" for one in attributes.report.found)
    meeting = {one.name for one in bodies if one.obstacles}
    met = {obstacle.shape.path for one in bodies for obstacle in one.obstacles}
    bare = meeting.intersection(contacts.soft_without_material)
    bare |= met.intersection(() if told else contacts.without_material)
    report_materials(sorted(bare), attributes)


def _with_obstacles(
    body: ElasticBody, collider: Collider, others: Sequence[Collider], meshes: Meshes, attributes: Attributes
) -> ElasticBody:
    """A body with those of other colliders that it does not enter; the rest is told."""
    if others and _has_links(body, meshes):
        text = "has to do with links, so that it touches nothing yet, and passes through all colliders"
        attributes.report.warn("elastic-contact", body.name, text)
        return body
    met = [one for one in others if not one.articulation and one.kind in OF_NODES and one.shape is not None]
    passed = sorted({one.path for one in others} - {one.path for one in met})
    if passed:
        text = (
            f"passes through {count_of(len(passed), 'collider')}: {some_of(passed)}; nodes of elastic bodies touch "
            "planes, spheres, capsules and boxes that stay, or move as they are animated"
        )
        attributes.report.warn("elastic-contact", body.name, text)
    if any(map(_is_more_than_rough, (collider, *met) if met else ())):
        text = (
            "touches, or has, a material with restitution, compliance or friction against turning, which do not count "
            "for nodes of elastic bodies: only its friction does"
        )
        attributes.report.warn("elastic-contact", body.name, text)
    if any(one.motion is not None and one.motion.surface is not None for one in met):
        text = "touches a body whose surface has a velocity of its own, which does not carry nodes of elastic bodies"
        attributes.report.warn("elastic-contact", body.name, text)
    return replace(body, obstacles=tuple(_obstacle(one, collider) for one in met))


def _is_more_than_rough(one: Collider) -> bool:
    surface = one.surface
    return surface.restitution > 0.0 or surface.is_compliant or surface.resists_turning


def _has_links(body: ElasticBody, meshes: Meshes) -> bool:
    """Whether links carry nodes of a body, or guide tendons on it."""
    through = (point for one in meshes.mesh_tendons if one.body == body.name for point in one.waypoints)
    return bool(body.attachments) or any(isinstance(point, LinkPoint) for point in through)


def _obstacle(one: Collider, collider: Collider) -> Obstacle:
    surface = combined(one.surface, collider.surface)
    return Obstacle(
        shape=one.shape,
        motion=one.motion,
        rest_distance=one.rest_offset + collider.rest_offset,
        static_friction=surface.static_friction,
        dynamic_friction=surface.dynamic_friction,
        depenetration_speed=DEPENETRATION_SPEED,
    )

"""The spatial tendons of an articulation in our schema: each a prim, with a tree of attachment prims below it."""

from __future__ import annotations

from dataclasses import dataclass

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.pose import Pose
from warp_artic.description.tendon import Attachment, SpatialTendon, TendonLeaf
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.beside import hangs_on_refused
from warp_artic.usd.inventory import TENDON_BODY, Inventory
from warp_artic.usd.lookup import LENGTH_FIELDS, TENDON_FIELDS, Source, resolve, resolve_all
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_track import read_length_tracks

ROUTINGS = ("endSegments", "allSegments")


@dataclass(frozen=True)
class _Point:
    """An attachment prim and its place in the tendon."""

    prim: Usd.Prim
    parent: int | None
    is_leaf: bool

    @property
    def path(self) -> str:
        return str(self.prim.GetPath())


def read_spatial_tendon_prims(
    articulation: Articulation, inventory: Inventory, attributes: Attributes, placements: Placements
) -> tuple[SpatialTendon, ...]:
    """The tendons whose root is on a link of it, in their order; a wrong one is left out, with an error."""
    links = articulation.bodies
    tendons = []
    for prim in inventory.tendons_of(links, tokens.ARTIC_SPATIAL_TENDON):
        points = _points(str(prim.GetPath()), inventory)
        tendon = _read(prim, points, articulation, links, inventory, attributes, placements)
        if tendon is None:
            for part in (prim, *(point.prim for point in points)):
                attributes.pass_over(part)
        else:
            tendons.append(tendon)
    return tuple(tendons)


def _read(
    prim: Usd.Prim,
    points: list[_Point],
    articulation: Articulation,
    links: dict[str, int],
    inventory: Inventory,
    attributes: Attributes,
    placements: Placements,
) -> SpatialTendon | None:
    name = str(prim.GetPath())
    readings = resolve_all(attributes, prim, TENDON_FIELDS)
    attributes.report.readings[name] = list(readings.values())
    enabled = attributes.flag(prim, "warpArtic:enabled", True)
    routing = attributes.token(prim, "warpArtic:forceRouting", ROUTINGS[0], ROUTINGS)
    if len(points) == 1:
        attributes.report.error(
            "tendon-leaf", points[0].path, "has no leaf: no attachment is below it; at least one must be"
        )
        return None
    attachments = [_attachment(one, articulation, links, inventory, attributes, placements) for one in points]
    leaves = [_leaf(number, one, attributes) for number, one in enumerate(points) if one.is_leaf]
    if None in attachments:
        return None
    return SpatialTendon(
        name=name,
        attachments=tuple(attachments),
        leaves=tuple(leaves),
        all_segments=routing == "allSegments",
        enabled=enabled,
        **{field: reading.value for field, reading in readings.items()},
        **read_length_tracks(attributes, prim, readings),
    )


def _points(name: str, inventory: Inventory) -> list[_Point]:
    """The attachments below a tendon, parents before children, branch by branch; the first one is the root."""
    points: list[_Point] = []
    waiting = [(root, None) for root in inventory.attachments_below[name]]
    while waiting:
        prim, parent = waiting.pop()
        below = inventory.attachments_below.get(str(prim.GetPath()), [])
        waiting += [(child, len(points)) for child in reversed(below)]
        points.append(_Point(prim, parent, not below))
    return points


def _attachment(
    point: _Point,
    articulation: Articulation,
    links: dict[str, int],
    inventory: Inventory,
    attributes: Attributes,
    placements: Placements,
) -> Attachment | None:
    target = _target(point, attributes)
    body = None if target is None else inventory.body_of.get(str(target.GetPath()))
    reading = resolve(attributes, point.prim, "coefficient", (Source("warpArtic:coefficient", units.NUMBER),))
    if reading is not None and point.parent is not None:
        attributes.report.readings.setdefault(point.path, []).append(reading)
    if point.parent is None and "warpArtic:coefficient" in attributes.names(point.prim):
        text = "is not used: no segment leads to the root of a spatial tendon"
        attributes.report.note("tendon-root-segment", f"{point.path}.warpArtic:coefficient", text)
    if not point.is_leaf:
        _report_inner_lengths(point, attributes)
    if target is None:
        return None
    if body not in links and hangs_on_refused(body, inventory, articulation):
        return None
    if body not in links:
        moves = "moves with no rigid body" if body is None else f"moves with {body}"
        text = f"leads to {target.GetPath()}, which {moves}: not a link of the articulation {articulation.path}"
        attributes.report.error("tendon-body", f"{point.path}.{TENDON_BODY}", text)
        return None
    position = _position(point, target, inventory.bodies[body], attributes, placements)
    if position is None:
        return None
    return Attachment(
        name=point.path,
        link=links[body],
        position=position,
        parent=point.parent,
        coefficient=1.0 if point.parent is None or reading is None else reading.value,
    )


def _report_inner_lengths(point: _Point, attributes: Attributes) -> None:
    """Warn of a rest length or a limit where no sub-tendon ends."""
    names = {source.attribute for sources in LENGTH_FIELDS.values() for source in sources}
    for name in sorted(names & attributes.names(point.prim)):
        text = "is not used: another attachment follows, and only the end of a sub-tendon has one"
        attributes.report.warn("tendon-inner-length", f"{point.path}.{name}", text)
        attributes.report.used.add(f"{point.path}.{name}")


def _target(point: _Point, attributes: Attributes) -> Usd.Prim | None:
    """The prim that an attachment is on."""
    targets = attributes.targets(point.prim, TENDON_BODY)
    path = f"{point.path}.{TENDON_BODY}"
    if len(targets) != 1:
        if not attributes.report.is_refused(path):
            attributes.report.error("tendon-body", path, f"leads to {len(targets)} prims, must lead to one")
        return None
    target = point.prim.GetStage().GetPrimAtPath(targets[0].GetPrimPath())
    if not target or targets[0].IsPropertyPath():
        found = "is a property" if targets[0].IsPropertyPath() else "does not exist"
        attributes.report.error("tendon-body", path, f"leads to {targets[0]}, which {found}; it must be a link")
        return None
    return target


def _position(
    point: _Point, target: Usd.Prim, body: Usd.Prim, attributes: Attributes, placements: Placements
) -> tuple[float, float, float] | None:
    """Where an attachment is in the link frame [m]; None, and an error, where its prim has no rigid pose."""
    local = attributes.vector(point.prim, "warpArtic:localPos", (0.0, 0.0, 0.0))
    pose = placements.pose(target, body)
    if pose is None:
        return None
    return (pose @ Pose(tuple(placements.of(target).scale * local))).position


def _leaf(number: int, point: _Point, attributes: Attributes) -> TendonLeaf:
    readings = resolve_all(attributes, point.prim, LENGTH_FIELDS)
    attributes.report.readings.setdefault(point.path, []).extend(readings.values())
    values = {field: reading.value for field, reading in readings.items()}
    return TendonLeaf(attachment=number, **values, **read_length_tracks(attributes, point.prim, readings))

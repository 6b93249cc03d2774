"""The spatial tendons of an articulation: trees of attachments, applied to links, each naming the one before it."""

from __future__ import annotations

from dataclasses import dataclass

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.tendon import Attachment, SpatialTendon, TendonLeaf
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.beside import hangs_on_refused
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import LENGTH_FIELDS, TENDON_FIELDS, Source, resolve, resolve_all
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_track import read_length_tracks


@dataclass(frozen=True)
class _Point:
    """An attachment as it is applied to a link."""

    name: str
    instance: str
    link: int
    prim: Usd.Prim
    is_root: bool
    is_leaf: bool

    @property
    def path(self) -> str:
        """Path of the link."""
        return str(self.prim.GetPath())

    @property
    def what(self) -> str:
        """What it is called in a sentence."""
        kind = "spatial tendon" if self.is_root else "tendon leaf" if self.is_leaf else "tendon attachment"
        return f"the {kind} {self.instance}"

    def attribute(self, name: str) -> str:
        """The name of one of its attributes."""
        return f"physxTendon:{self.instance}:{name}"


def read_spatial_tendons(
    articulation: Articulation, inventory: Inventory, attributes: Attributes, placements: Placements
) -> tuple[SpatialTendon, ...]:
    """The spatial tendons of an articulation, in the order of their roots; wrong parts are left out, with errors."""
    points = _points(articulation, inventory, attributes)
    parents = _parents(points, articulation, inventory, attributes)
    _refuse_cycles(points, parents, attributes)
    followed = _followed_beyond(articulation, inventory, attributes)
    tendons = []
    for point in points.values():
        if point.is_root:
            tendons.append(_read(point, points, parents, followed, attributes, placements))
        elif point.name not in parents:
            _pass_over(_from_root(point, points, parents), attributes)
    return tuple(tendon for tendon in tendons if tendon is not None)


def _points(articulation: Articulation, inventory: Inventory, attributes: Attributes) -> dict[str, _Point]:
    """All attachments by name, in the order of their links."""
    points = {}
    for path, link in articulation.bodies.items():
        prim = inventory.bodies[path]
        roots = set(inventory.instances(prim, tokens.ATTACHMENT_ROOT))
        leaves = set(inventory.instances(prim, tokens.ATTACHMENT_LEAF))
        for instance in sorted(roots & leaves):
            text = f"the tendon attachment {instance} is a root and a leaf; it can be one of them"
            attributes.report.error("tendon-attachment", path, text)
        for instance in sorted({*roots, *leaves, *inventory.instances(prim, tokens.ATTACHMENT)}):
            name = f"{path}:{instance}"
            points[name] = _Point(name, instance, link, prim, instance in roots, instance in leaves)
    return points


def _followed_beyond(articulation: Articulation, inventory: Inventory, attributes: Attributes) -> set[str]:
    """The names of attachments that others follow which may only be outside because a joint is refused."""
    found = set()
    for path, prim in inventory.bodies.items() if inventory.refused_joints else ():
        if path in articulation.bodies or not hangs_on_refused(path, inventory, articulation):
            continue
        kinds = (tokens.ATTACHMENT, tokens.ATTACHMENT_LEAF)
        for instance in (one for kind in kinds for one in inventory.instances(prim, kind)):
            attachment = attributes.text(prim, f"physxTendon:{instance}:parentAttachment")
            for target in attributes.targets(prim, f"physxTendon:{instance}:parentLink"):
                found.add(f"{target}:{attachment}")
    return found


def _parents(
    points: dict[str, _Point], articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> dict[str, str]:
    """The name of the attachment before each; those of roots, and of attachments in error, are missing."""
    parents = {}
    for point in points.values():
        if point.is_root:
            _report_unused_of_root(point, attributes)
            continue
        parent = _parent(point, points, articulation, inventory, attributes)
        if parent is not None:
            parents[point.name] = parent
    return parents


def _report_unused_of_root(point: _Point, attributes: Attributes) -> None:
    """Note what a root has of an attachment that follows another."""
    for name in ("gearing", "parentLink", "parentAttachment"):
        if point.attribute(name) in attributes.names(point.prim):
            path = f"{point.path}.{point.attribute(name)}"
            attributes.report.used.add(path)
            text = "is not used: no segment leads to the root of a spatial tendon"
            attributes.report.note("tendon-root-segment", path, text)


def _parent(
    point: _Point,
    points: dict[str, _Point],
    articulation: Articulation,
    inventory: Inventory,
    attributes: Attributes,
) -> str | None:
    targets = attributes.targets(point.prim, point.attribute("parentLink"))
    attachment = attributes.text(point.prim, point.attribute("parentAttachment"))
    if len(targets) != 1 or not attachment:
        text = (
            f"{point.what} has no root: {point.attribute('parentLink')} must lead to one link, and "
            f"{point.attribute('parentAttachment')} name an attachment there (found {len(targets)} links and "
            f"'{attachment}')"
        )
        attributes.report.error("tendon-parent", point.path, text)
        return None
    link, parent = str(targets[0]), f"{targets[0]}:{attachment}"
    if parent in points:
        if points[parent].is_leaf:
            text = f"the parent of {point.what}, {parent}, is a leaf, where a sub-tendon ends"
            attributes.report.error("tendon-parent", point.path, text)
            return None
        return parent
    if link not in articulation.bodies and hangs_on_refused(link, inventory, articulation):
        return None
    if link not in articulation.bodies:
        found = f"{link}, which is not a link of the articulation {articulation.path}"
    else:
        there = [one.instance for one in points.values() if one.path == link]
        found = f"{link}, which has no attachment {attachment} (it has {', '.join(there) or 'none'})"
    text = f"{point.what} follows an attachment of {found}"
    attributes.report.error("tendon-parent", point.path, text)
    return None


def _refuse_cycles(points: dict[str, _Point], parents: dict[str, str], attributes: Attributes) -> None:
    """Report each ring of attachments once."""
    done: set[str] = set()
    for start in points:
        seen: dict[str, None] = {}
        name = start
        while name is not None and name not in done and name not in seen:
            seen[name] = None
            name = parents.get(name)
        if name in seen:
            ring = list(seen)[list(seen).index(name) :]
            text = f"{points[name].what} follows itself: {' -> '.join([*ring, name])}"
            attributes.report.error("tendon-cycle", points[name].path, text)
        done.update(seen)


def _read(
    root: _Point,
    points: dict[str, _Point],
    parents: dict[str, str],
    followed: set[str],
    attributes: Attributes,
    placements: Placements,
) -> SpatialTendon | None:
    order = _from_root(root, points, parents)
    leaves = [point for point in order if point.is_leaf]
    if any(point.name in followed for point in order):
        return _pass_over(order, attributes)
    if not leaves:
        text = f"{root.what} has no leaf: apply {tokens.ATTACHMENT_LEAF} to an attachment that leads to it"
        attributes.report.error("tendon-leaf", root.path, text)
        return None
    used = _drop_dead_ends(order, parents, attributes)
    number = {point.name: index for index, point in enumerate(used)}
    readings = resolve_all(attributes, root.prim, TENDON_FIELDS, root.instance)
    attributes.report.readings[root.name] = list(readings.values())
    attachments = [_attachment(point, number.get(parents.get(point.name)), attributes, placements) for point in used]
    return SpatialTendon(
        name=root.name,
        attachments=tuple(attachments),
        leaves=tuple(_leaf(leaf, number[leaf.name], attributes) for leaf in leaves),
        enabled=attributes.flag(root.prim, root.attribute("tendonEnabled"), True),
        **{field: reading.value for field, reading in readings.items()},
        **read_length_tracks(attributes, root.prim, readings),
    )


def _from_root(root: _Point, points: dict[str, _Point], parents: dict[str, str]) -> list[_Point]:
    """The attachments of a tendon, parents before children, branch by branch."""
    children: dict[str, list[_Point]] = {}
    for name, parent in reversed(parents.items()):
        children.setdefault(parent, []).append(points[name])
    order, waiting = [], [root]
    while waiting:
        order.append(waiting.pop())
        waiting += children.get(order[-1].name, ())
    return order


def _pass_over(order: list[_Point], attributes: Attributes) -> None:
    """Count the attributes of attachments as reported, since their neighbours are."""
    for point in order:
        attributes.pass_over(point.prim, point.attribute(""))


def _drop_dead_ends(order: list[_Point], parents: dict[str, str], attributes: Attributes) -> list[_Point]:
    """The attachments on the way to a leaf; the others are reported."""
    needed: set[str] = {order[0].name}
    for point in reversed(order):
        if point.is_leaf or point.name in needed:
            needed.add(point.name)
            needed.add(parents.get(point.name, point.name))
    for point in order:
        if point.name not in needed:
            text = f"{point.what} has no effect: no leaf follows it"
            attributes.report.warn("tendon-dead-end", point.path, text)
            names = (name for name in attributes.names(point.prim) if name.startswith(point.attribute("")))
            attributes.report.used.update(f"{point.path}.{name}" for name in names)
    return [point for point in order if point.name in needed]


def _attachment(point: _Point, parent: int | None, attributes: Attributes, placements: Placements) -> Attachment:
    position = attributes.vector(point.prim, point.attribute("localPos"), (0.0, 0.0, 0.0))
    scale = placements.of(point.prim).scale
    source = Source(point.attribute("gearing"), units.NUMBER)
    reading = None if parent is None else resolve(attributes, point.prim, "coefficient", (source,))
    if reading is not None:
        attributes.report.readings.setdefault(point.name, []).append(reading)
    return Attachment(
        name=point.name,
        link=point.link,
        position=tuple(float(component) for component in scale * position),
        parent=parent,
        coefficient=1.0 if reading is None else reading.value,
    )


def _leaf(point: _Point, attachment: int, attributes: Attributes) -> TendonLeaf:
    readings = resolve_all(attributes, point.prim, LENGTH_FIELDS, point.instance)
    attributes.report.readings.setdefault(point.name, []).extend(readings.values())
    values = {field: reading.value for field, reading in readings.items()}
    if values.get("rest_length", -1.0) < 0.0:
        return TendonLeaf(attachment=attachment, **{**values, "rest_length": None})
    return TendonLeaf(attachment=attachment, **values, **read_length_tracks(attributes, point.prim, readings))

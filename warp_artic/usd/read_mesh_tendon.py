"""Tendons on meshes: waypoints on nodes, on links and in the world."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from pxr import Usd

from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon, TensionLaw, WorldPoint
from warp_artic.description.validate_meshes import SUM
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import MESH_TENDON_FIELDS, resolve_all
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_targets import read_places
from warp_artic.usd.read_track import read_track

MESH = "warpArtic:mesh"
NODES, COUNTS, WEIGHTS = "warpArtic:nodes", "warpArtic:nodeCounts", "warpArtic:weights"
OUTPUT = "warpArtic:tension"
"""What a run has written, and nobody reads."""
PLACES = ("links", "linkIndices", "positions")
LAWS = tuple(law.value for law in TensionLaw)
DEFAULT_LAW = TensionLaw.CABLE.value
FOLLOWED = ("stiffness", "target_length", "tension", "min_tension", "max_tension")
"""Fields that may change over time."""


def read_mesh_tendon(
    prim: Usd.Prim,
    bodies: dict[str, ElasticBody | None],
    inventory: Inventory,
    attributes: Attributes,
    placements: Placements,
) -> MeshTendon | None:
    """The tendon of a prim; None, and an error, where it cannot be known.

    Args:
        bodies: The elastic bodies of the stage by path; None for one that could not be read.
    """
    name = str(prim.GetPath())
    attributes.pass_over(prim, OUTPUT)
    body = _mesh(prim, bodies, attributes)
    readings = resolve_all(attributes, prim, MESH_TENDON_FIELDS)
    attributes.report.readings[name] = list(readings.values())
    law = TensionLaw(attributes.token(prim, "warpArtic:law", DEFAULT_LAW, LAWS))
    waypoints = _waypoints(prim, inventory, attributes, placements)
    tracks = {
        f"{field}_track": read_track(attributes, prim, name_of(readings[field]), MESH_TENDON_FIELDS[field][0].linear)
        for field in FOLLOWED
        if field in readings
    }
    if waypoints is None or body is None or bodies[body] is None:
        return None
    values = {field: reading.value for field, reading in readings.items()}
    return MeshTendon(name=name, body=body, waypoints=waypoints, law=law, **values, **tracks)


def name_of(reading) -> str:
    """The name of the attribute of a reading."""
    return reading.attribute.rpartition(".")[2]


def _mesh(prim: Usd.Prim, bodies: dict[str, ElasticBody | None], attributes: Attributes) -> str | None:
    """The path of the elastic body that a tendon is on."""
    targets = attributes.targets(prim, MESH)
    path = f"{prim.GetPath()}.{MESH}"
    if len(targets) == 1 and str(targets[0]) in bodies:
        return str(targets[0])
    if not attributes.report.is_refused(path):
        found = f"{len(targets)} prims, must lead to one"
        if len(targets) == 1:
            found = f"{targets[0]}, which has no WarpArticElasticBodyAPI; it must lead to an elastic body"
        attributes.report.error("mesh-tendon-body", path, f"leads to {found}")
    return None


def _waypoints(
    prim: Usd.Prim, inventory: Inventory, attributes: Attributes, placements: Placements
) -> tuple[BodyPoint | LinkPoint | WorldPoint, ...] | None:
    nodes, counts = (attributes.whole_numbers(prim, one) for one in (NODES, COUNTS))
    weights = attributes.numbers(prim, WEIGHTS)
    places = read_places(prim, "warpArtic", None, inventory, attributes, placements, PLACES, may_stay=True)
    if nodes is None or counts is None or weights is None or places is None:
        return None
    counts = counts or [1] * len(nodes)
    wrong = list(_misfits(nodes, counts, weights, len(places)))
    for own, text in wrong:
        attributes.report.error("mesh-tendon-lists", f"{prim.GetPath()}.{own}", text)
    if wrong:
        return None
    shares = weights or [1.0 / count for count in counts for _ in range(count)]
    ends = list(accumulate(counts))
    others = iter(places)
    made = []
    for count, end in zip(counts, ends):
        if count:
            made.append(_body_point(nodes[end - count : end], shares[end - count : end]))
        else:
            target, position = next(others)
            made.append(
                WorldPoint(position=position) if target.link is None else LinkPoint(link=target.link, position=position)
            )
    return tuple(made)


def _misfits(nodes: list[int], counts: list[int], weights: list[float], places: int) -> Iterator[tuple[str, str]]:
    """The lists that do not go together, each with a sentence."""
    for number, count in enumerate(counts):
        if not 0 <= count <= 4:
            yield COUNTS, f"has {count} at index {number}, must be from 0 to 4"
            return
    if sum(counts) != len(nodes):
        yield NODES, f"has {len(nodes)} entries, but nodeCounts adds up to {sum(counts)}"
    if len(weights) not in (0, len(nodes)):
        yield WEIGHTS, f"has {len(weights)} entries for {len(nodes)} nodes, must have one for each or none"
    if counts.count(0) != places:
        yield (
            "warpArtic:positions",
            f"has {places} entries, but nodeCounts has {counts.count(0)} waypoints that are not on the mesh",
        )


def _body_point(nodes: list[int], weights: list[float]) -> BodyPoint:
    """A waypoint on the mesh; weights that add up to one but for rounding do so exactly."""
    total = sum(weights)
    if abs(total - 1.0) <= SUM:
        weights = [weight / total for weight in weights]
    return BodyPoint(nodes=tuple(nodes), weights=tuple(weights))

"""Elastic bodies and the tendons on them, as `warp-artic inspect` has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict

import numpy as np

from warp_artic.cli.inspect_values import plain, sourced, units_of
from warp_artic.cli.table import Column, Table
from warp_artic.cli.value_table import Row, number_text, value_tables
from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.mesh_tendon import BodyPoint, LinkPoint, MeshTendon
from warp_artic.description.validate_meshes import measures, valid
from warp_artic.usd.lookup import ELASTIC_FIELDS, MATERIAL_FIELDS, MESH_TENDON_FIELDS
from warp_artic.usd.read_meshes import Meshes

MATERIAL_NUMBERS = tuple(MATERIAL_FIELDS)
TENDON_NUMBERS = tuple(MESH_TENDON_FIELDS)
TRACKS = ("stiffness", "target_length", "tension", "min_tension", "max_tension")
"""Values of a tendon that may change over time."""
SHOWN = 6
"""How many waypoints are named of those of a tendon; --json has all."""
TENDON_WORDS = {"tension": "given tension", "min_tension": "least tension", "max_tension": "largest tension"}
LAWS = {"neoHookean": "neo-Hookean"}
"""What laws are called, where that is not their word in USD."""


def mesh_totals(meshes: Meshes) -> dict[str, int]:
    """How much there is beside articulations."""
    return {"elastic_bodies": len(meshes.elastic_bodies), "mesh_tendons": len(meshes.mesh_tendons)}


def elastic_body(body: ElasticBody, readings: Mapping) -> dict:
    """An elastic body, with the numbers of its nodes and elements for the arrays."""
    material = asdict(body.material)
    numbers = {name: material[name] for name in MATERIAL_NUMBERS}
    if body.dim == 2:
        numbers |= {"thickness": body.thickness}
    return plain(
        {
            "name": body.name,
            "dim": body.dim,
            "nodes": len(body.points),
            "elements": len(body.elements),
            "extent": np.ptp(body.points, axis=0).tolist(),
            "mass": _mass(body),
            "moduli_of_elements": [] if body.element_moduli is None else [body.moduli.min(), body.moduli.max()],
            "law": body.material.law.value,
            "plane_state": body.plane_state.value if body.dim == 2 else None,
            "position": body.pose.position,
            "quaternion": body.pose.quaternion,
            "starts_at_rest_points": body.start_points is None,
            "pinned": body.pinned,
            "attachments": [asdict(one) for one in body.attachments],
            **numbers,
            "units": units_of(MATERIAL_FIELDS | ELASTIC_FIELDS) | {"mass": "kg"},
            **sourced(numbers, readings.get(body.name, ())),
        }
    )


def _mass(body: ElasticBody) -> float:
    """[kg]"""
    is_valid = valid(body.points, body.elements)
    found = measures(body.points, body.elements[is_valid]) * body.densities[is_valid]
    return float(found.sum()) * (body.thickness if body.dim == 2 else 1.0)


def mesh_tendon(tendon: MeshTendon, readings: Mapping) -> dict:
    """A tendon, each waypoint with what it is on."""
    tracks = {name: getattr(tendon, f"{name}_track") for name in TRACKS}
    return plain(
        {
            "name": tendon.name,
            "body": tendon.body,
            "law": tendon.law.value,
            "waypoints": [{"on": _place(tendon, one)} | asdict(one) for one in tendon.waypoints],
            **{name: getattr(tendon, name) for name in TENDON_NUMBERS},
            "values_over_time": {name: asdict(track) for name, track in tracks.items() if track is not None},
            "units": units_of(MESH_TENDON_FIELDS),
            **sourced(TENDON_NUMBERS, readings.get(tendon.name, ())),
        }
    )


def _place(tendon: MeshTendon, point) -> str:
    if isinstance(point, BodyPoint):
        return tendon.body
    return point.link if isinstance(point, LinkPoint) else "world"


def mesh_blocks(content: dict) -> Iterator[str | Table]:
    """The tables of elastic bodies and of the tendons on them."""
    rows = []
    for body in content["elastic_bodies"]:
        kind = f"{body['elements']} tetrahedra" if body["dim"] == 3 else f"{body['elements']} triangles"
        kind += f", plane {body['plane_state']}" if body["plane_state"] else ""
        if moduli := body["moduli_of_elements"]:
            kind += f" of {number_text(moduli[0], '')} to {number_text(moduli[1], '')} Pa"
        held = f"{len(body['pinned'])} pinned, {len(body['attachments'])} on links"
        law = LAWS.get(body["law"], body["law"])
        keys = (body["name"], kind, str(body["nodes"]), held, law, number_text(body["mass"], "mass"))
        rows.append(Row(keys, body, body["authored"], body["units"]))
    heads = [Column(name, is_text=True) for name in ("elastic body", "elements")]
    heads += [Column("nodes"), Column("held", is_text=True), Column("law", is_text=True), Column("mass", "kg")]
    yield from value_tables("Elastic bodies", tuple(heads), rows, (*MATERIAL_NUMBERS, "thickness"))
    rows = []
    for one in content["mesh_tendons"]:
        keys = (one["name"], one["body"], one["law"], _path(one))
        rows.append(Row(keys, one, one["authored"], one["units"]))
    heads = tuple(Column(name, is_text=True) for name in ("tendon", "body", "law", "waypoints"))
    yield from value_tables("Tendons on meshes", heads, rows, TENDON_NUMBERS, TENDON_WORDS)
    yield from _tracks(content["mesh_tendons"])


def _path(tendon: dict) -> str:
    """The waypoints in a line: nodes by index, those of a mean in brackets, others by the prim that they are on."""
    words = []
    for point in tendon["waypoints"]:
        nodes = " ".join(map(str, point.get("nodes", ())))
        words.append(f"({nodes})" if " " in nodes else nodes or point["on"].rpartition("/")[2])
    return " ".join(words[:SHOWN]) + (f" and {len(words) - SHOWN} more" if len(words) > SHOWN else "")


def _tracks(tendons: list[dict]) -> Iterator[Table]:
    """Values that change over time, between which values."""
    rows = []
    for tendon in tendons:
        for name, track in tendon["values_over_time"].items():
            times, values = track["times"], track["values"]
            bounds = (number_text(value, "") for value in (times[0], times[-1], min(values), max(values)))
            word = TENDON_WORDS.get(name, name.replace("_", " "))
            rows.append((tendon["name"], word, tendon["units"][name], str(len(times)), *bounds))
    heads = [Column(name, is_text=True) for name in ("tendon", "value", "unit")]
    heads += [Column("samples"), Column("from", "s"), Column("to", "s"), Column("least"), Column("greatest")]
    if rows:
        yield Table("Values of tendons over time", tuple(heads), tuple(rows), keys=2)

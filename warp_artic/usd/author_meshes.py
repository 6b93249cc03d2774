"""Authors elastic materials, elastic bodies and the tendons on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral

from pxr import Sdf, Usd, UsdGeom

from warp_artic.description.validate_meshes import SUM
from warp_artic.errors import SettingsError, StageError
from warp_artic.usd import tokens
from warp_artic.usd.author_contacts import bind_physics_material
from warp_artic.usd.edit import Edit, prim_at, prim_of_type
from warp_artic.usd.lookup import MATERIAL
from warp_artic.usd.read_elastic_body import LAWS as MATERIAL_LAWS
from warp_artic.usd.read_elastic_body import OWN, STATES
from warp_artic.usd.read_mesh_tendon import COUNTS, LAWS, MESH, NODES, WEIGHTS
from warp_artic.usd.read_targets import WORLD

MESHES = ("Mesh", "TetMesh")

Waypoint = int | Mapping[int, float] | tuple
"""A node; nodes with their weights; a prim and a point (x, y, z) in its space; or a point (x, y, z) of the world."""


def elastic_material(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    *,
    young_modulus: float | None = None,
    poisson_ratio: float | None = None,
    density: float | None = None,
    law: str | None = None,
    mass_damping: float | None = None,
    stiffness_damping: float | None = None,
) -> Usd.Prim:
    """A Material at a path with WarpArticElasticMaterialAPI, of which at least Young's modulus is needed.

    Units: young_modulus [force/distance^2], density [mass/distance^3], mass_damping [1/s], stiffness_damping [s]. The
    law is neoHookean or corotated.
    """
    prim_of_type(stage, path, "Material")
    edit = Edit(path)
    edit.apply(tokens.ARTIC_ELASTIC_MATERIAL)
    edit.word(f"{MATERIAL}:law", law, MATERIAL_LAWS)
    for name, value in (("youngModulus", young_modulus), ("density", density)):
        edit.number(f"{MATERIAL}:{name}", value, least=0.0)
        if value == 0.0:
            edit.refuse(f"{MATERIAL}:{name}", "is 0, must be above 0")
    edit.number(f"{MATERIAL}:poissonRatio", poisson_ratio, least=-1.0, most=0.5)
    if poisson_ratio in (-1.0, 0.5):
        edit.refuse(f"{MATERIAL}:poissonRatio", f"is {poisson_ratio:g}, must be above -1 and below 0.5")
    edit.not_negative(f"{MATERIAL}:", False, massDamping=mass_damping, stiffnessDamping=stiffness_damping)
    return edit.write(stage.DefinePrim(path, "Material"))


def elastic_body(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    material: str | Sdf.Path | None = None,
    *,
    pinned: Sequence[int] | None = None,
    attached: Sequence[tuple] | None = None,
    rest_points: Sequence[Sequence[float]] | None = None,
    plane_state: str | None = None,
    thickness: float | None = None,
) -> Usd.Prim:
    """WarpArticElasticBodyAPI on a Mesh or a TetMesh, bound to a material.

    `pinned` are nodes that stay; `attached` are nodes on links, each as (node, link), where it is authored, or all as
    (node, link, (x, y, z)), at a point in the space of the link [distance]. `rest_points` [distance] is the shape
    without strain, `thickness` [distance] that of triangles, `plane_state` strain or stress.
    """
    prim = prim_at(stage, path)
    if prim.GetTypeName() not in MESHES:
        raise StageError(f"{path}: is a {prim.GetTypeName() or 'prim without type'}, must be a Mesh or a TetMesh")
    count = len(UsdGeom.PointBased(prim).GetPointsAttr().Get() or ())
    edit = Edit(path)
    edit.apply(tokens.ARTIC_ELASTIC_BODY)
    if material is not None:
        bind_physics_material(stage, edit, material)
    if pinned is not None:
        edit.places(f"{OWN}:pinnedNodes", _nodes(edit, f"{OWN}:pinnedNodes", pinned, count))
    if attached is not None:
        _attach(stage, edit, attached, count)
    edit.points(f"{OWN}:restPoints", rest_points, count)
    edit.word(f"{OWN}:planeState", plane_state, STATES)
    edit.number(f"{OWN}:thickness", thickness, least=0.0, uniform=True)
    if thickness == 0.0:
        edit.refuse(f"{OWN}:thickness", "is 0, must be above 0")
    return edit.write(prim)


def mesh_tendon(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    mesh: str | Sdf.Path,
    waypoints: Sequence[Waypoint],
    *,
    law: str | None = None,
    stiffness: float | None = None,
    smoothing: float | None = None,
    target_length: float | None = None,
    target_tension: float | None = None,
    min_tension: float | None = None,
    max_tension: float | None = None,
) -> Usd.Prim:
    """A WarpArticMeshTendon at a path, on an elastic body.

    A waypoint is a node (3), nodes with their weights ({3: 0.5, 4: 0.5}), a prim and a point in its space
    (("/World/hand", (0, 0, 1))) or a point of the world ((0, 0, 1)). The law is spring, cable or tension. Units:
    stiffness [force/distance], smoothing and target_length [distance], tensions [force].
    """
    prim_of_type(stage, path, tokens.ARTIC_MESH_TENDON)
    body = prim_at(stage, mesh)
    if body.GetTypeName() not in MESHES or tokens.ARTIC_ELASTIC_BODY not in body.GetAppliedSchemas():
        raise StageError(f"{path}.{MESH}: leads to {mesh}, which is no mesh with {tokens.ARTIC_ELASTIC_BODY}")
    count = len(UsdGeom.PointBased(body).GetPointsAttr().Get() or ())
    edit = Edit(path)
    edit.targets(MESH, [body.GetPath()])
    _write_waypoints(stage, edit, waypoints, count)
    edit.word("warpArtic:law", law, LAWS)
    edit.number("warpArtic:smoothing", smoothing, least=0.0, uniform=True)
    edit.not_negative(
        "warpArtic:", False, stiffness=stiffness, targetLength=target_length, targetTension=target_tension
    )
    edit.number("warpArtic:minTension", min_tension, least=0.0)
    edit.number("warpArtic:maxTension", max_tension, least=min_tension or 0.0, infinite=True)
    return edit.write(stage.DefinePrim(path, tokens.ARTIC_MESH_TENDON))


def _write_waypoints(stage: Usd.Stage, edit: Edit, waypoints: Sequence[Waypoint], count: int) -> None:
    """The lists that say what each waypoint is; those that say nothing more are left out."""
    counts, nodes, weights, links, places, points = [], [], [], [], [], []
    seen: dict[tuple, int] = {}
    for number, waypoint in enumerate(edit.listed(NODES, waypoints)):
        if isinstance(waypoint, Integral) and not isinstance(waypoint, bool):
            waypoint = {waypoint: 1.0}
        if isinstance(waypoint, Mapping):
            own, shares = _nodes(edit, NODES, waypoint, count), edit.finite(WEIGHTS, waypoint.values())
            if not 1 <= len(own) <= 4 or abs(sum(shares) - 1.0) > SUM:
                edit.refuse(WEIGHTS, f"of waypoint {number} are {waypoint!r}, must be 1 to 4 that add up to 1")
            counts.append(len(own))
            nodes += own
            weights += shares
            content = tuple(sorted(zip(own, shares)))
        else:
            is_on_prim = isinstance(waypoint, tuple) and len(waypoint) == 2 and isinstance(waypoint[0], (str, Sdf.Path))
            link, point = waypoint if is_on_prim else (None, waypoint)
            counts.append(0)
            points.append(edit.finite("warpArtic:positions", point))
            places.append(WORLD if link is None else _place(stage, links, link))
            content = places[-1], *points[-1]
        if (first := seen.setdefault(content, number)) != number:
            edit.refuse(NODES, f"has waypoint {number} the same as waypoint {first}, no two may be the same")
    if len(counts) < 2:
        edit.refuse(NODES, f"is for {len(counts)} waypoints, must be for at least two")
    edit.places(NODES, nodes)
    is_plain = set(counts) == {1}
    prim = stage.GetPrimAtPath(edit.path)

    def is_said(name: str, values: list) -> bool:
        """Whether a list has anything to say: entries, or none in the place of those that are there."""
        return bool(values) or (bool(prim) and prim.HasProperty(name) and prim.GetProperty(name).IsAuthored())

    for name, values in ((COUNTS, [] if is_plain else counts), ("warpArtic:linkIndices", places)):
        if is_said(name, values):
            edit.places(name, values)
    weights = [] if is_plain else weights
    if is_said(WEIGHTS, weights):
        edit.numbers(WEIGHTS, weights, len(weights), uniform=True)
    if is_said("warpArtic:positions", points):
        edit.points("warpArtic:positions", points, len(points))
    if is_said("warpArtic:links", links):
        edit.targets("warpArtic:links", links)


def _attach(stage: Usd.Stage, edit: Edit, attached: Sequence[tuple], count: int) -> None:
    """The lists of nodes on links."""
    attached = [edit.listed(f"{OWN}:linkNodes", one) for one in edit.listed(f"{OWN}:linkNodes", attached)]
    sizes = set(map(len, attached))
    if not sizes <= {2} and not sizes <= {3}:
        raise SettingsError(f"{edit.path}: attached is (node, link) for each node, or (node, link, point) for each")
    links: list[Sdf.Path] = []
    edit.places(f"{OWN}:linkNodes", _nodes(edit, f"{OWN}:linkNodes", [one[0] for one in attached], count))
    edit.places(f"{OWN}:linkIndices", [_place(stage, links, one[1]) for one in attached])
    edit.targets(f"{OWN}:links", links)
    if sizes == {3}:
        edit.points(f"{OWN}:linkPositions", [one[2] for one in attached], len(attached))


def _place(stage: Usd.Stage, links: list[Sdf.Path], link: str | Sdf.Path) -> int:
    """The place of a prim in a list, to which it is added where it is new."""
    path = prim_at(stage, link).GetPath()
    if path not in links:
        links.append(path)
    return links.index(path)


def _nodes(edit: Edit, name: str, nodes, count: int) -> list[int]:
    """Nodes of a mesh, each once."""
    found = edit.listed(name, nodes)
    for node in found:
        if not isinstance(node, Integral) or isinstance(node, bool) or not 0 <= node < count:
            edit.refuse(name, f"has {node!r}, must have nodes from 0 to {count - 1}")
    if len(set(found)) < len(found):
        edit.refuse(name, f"has a node twice: {found}")
    return [int(node) for node in found]

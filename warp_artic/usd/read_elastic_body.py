"""Elastic bodies: meshes of triangles in a plane, and of tetrahedra, in metres and in a frame of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdShade

from warp_artic.description.elastic_body import ElasticBody, ElasticLaw, ElasticMaterial, NodeAttachment, PlaneState
from warp_artic.description.pose import Pose
from warp_artic.description.validate_meshes import measures, valid
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import ELASTIC_FIELDS, MATERIAL, MATERIAL_FIELDS, resolve_all
from warp_artic.usd.mesh_plane import plane_of
from warp_artic.usd.placement import Placement, Placements
from warp_artic.usd.read_mass import WATER
from warp_artic.usd.read_targets import read_places

OWN = "warpArtic:elastic"
POISSON = 0.3
"""Poisson's ratio where none is authored."""
LAWS = tuple(law.value for law in ElasticLaw)
STATES = tuple(state.value for state in PlaneState)
ORIENTATIONS = ("rightHanded", "leftHanded")
ELEMENTS = ("face", "point", "edge", "segment", "tetrahedron")
SHARED = ("law", "poisson_ratio", "mass_damping", "stiffness_damping")
"""What all elements of a body have in common of their materials."""


@dataclass(frozen=True)
class _Shape:
    """The nodes of a mesh in the axes of its prim, and its elements."""

    points: np.ndarray
    """At rest, shape (N, 3) [m]."""
    elements: np.ndarray
    """Shape (M, 3 or 4)."""
    start_points: np.ndarray | None
    start_velocities: np.ndarray | None


def read_elastic_body(
    prim: Usd.Prim, inventory: Inventory, attributes: Attributes, placements: Placements
) -> ElasticBody | None:
    """The body of a mesh; None, and an error, where it cannot be known."""
    name = str(prim.GetPath())
    is_solid = prim.GetTypeName() == "TetMesh"
    if not is_solid and prim.GetTypeName() != "Mesh":
        text = f"is a {prim.GetTypeName() or 'prim without type'}, must be a Mesh of triangles in a plane or a TetMesh"
        attributes.report.error("elastic-mesh", name, text)
        return None
    if inventory.has_schema(prim, tokens.RIGID_BODY):
        text = f"has {tokens.RIGID_BODY} and {tokens.ARTIC_ELASTIC_BODY}; it can be rigid or elastic"
        attributes.report.error("elastic-mesh", name, text)
    placement = placements.of(prim)
    shape = None if placement is None else _read_shape(prim, is_solid, placement, attributes)
    materials = _read_materials(prim, None if shape is None else len(shape.elements), inventory, attributes)
    pinned = attributes.whole_numbers(prim, f"{OWN}:pinnedNodes")
    plane_state = PlaneState(STATES[0] if is_solid else attributes.token(prim, f"{OWN}:planeState", STATES[0], STATES))
    readings = {} if is_solid else resolve_all(attributes, prim, ELASTIC_FIELDS)
    attributes.report.readings.setdefault(name, []).extend(readings.values())
    starts = None if shape is None else shape.points if shape.start_points is None else shape.start_points
    attachments = _read_attachments(prim, placement, starts, inventory, attributes, placements)
    if None in (shape, materials, pinned, attachments):
        return None
    frame, shape = _turned(name, placement, shape, is_solid, prim, attributes)
    if shape is None:
        return None
    return ElasticBody(
        name=name,
        points=shape.points,
        elements=shape.elements,
        material=materials[0],
        element_moduli=materials[1],
        element_densities=materials[2],
        pose=frame,
        plane_state=plane_state,
        start_points=shape.start_points,
        start_velocities=shape.start_velocities,
        pinned=tuple(pinned),
        attachments=attachments,
        **{field: reading.value for field, reading in readings.items()},
    )


def _read_shape(prim: Usd.Prim, is_solid: bool, placement: Placement, attributes: Attributes) -> _Shape | None:
    """The mesh; None, and an error, where an array is missing or wrong."""
    name = str(prim.GetPath())
    points, velocities = (attributes.vectors(prim, one) for one in ("points", "velocities"))
    rest = attributes.vectors(prim, f"{OWN}:restPoints")
    elements = _read_tetrahedra(prim, attributes) if is_solid else _read_triangles(prim, attributes)
    if points is None or velocities is None or rest is None or elements is None:
        return None
    if not len(points):
        attributes.report.error("elastic-points", f"{name}.points", "is empty, must have the nodes of the mesh")
        return None
    for own, values in ((f"{OWN}:restPoints", rest), ("velocities", velocities)):
        if len(values) not in (0, len(points)):
            text = f"has {len(values)} entries for {len(points)} points, must have one for each or none"
            attributes.report.error("elastic-points", f"{name}.{own}", text)
            return None
    points, rest = points * placement.scale, rest * placement.scale
    velocities = velocities * placement.scale
    return _Shape(
        points=rest if len(rest) else points,
        elements=elements,
        start_points=points if len(rest) else None,
        start_velocities=velocities if velocities.any() else None,
    )


def _read_triangles(prim: Usd.Prim, attributes: Attributes) -> np.ndarray | None:
    counts, corners = (attributes.whole_numbers(prim, f"faceVertex{one}") for one in ("Counts", "Indices"))
    if counts is None or corners is None:
        return None
    path = f"{prim.GetPath()}.faceVertexCounts"
    wrong = [face for face, count in enumerate(counts) if count != 3]
    if wrong:
        more = f"; {len(wrong) - 1} more are not triangles" if len(wrong) > 1 else ""
        text = f"face {wrong[0]} has {counts[wrong[0]]} corners, must have 3{more}"
        attributes.report.error("elastic-triangles", path, text)
        return None
    if len(corners) != 3 * len(counts):
        text = f"has {len(counts)} faces of 3 corners, but faceVertexIndices has {len(corners)} entries"
        attributes.report.error("elastic-triangles", path, text)
        return None
    if attributes.whole_numbers(prim, "holeIndices"):
        text = "is not used: a face that is a hole is an element all the same"
        attributes.report.warn("attribute-not-used", f"{prim.GetPath()}.holeIndices", text)
    return np.array(corners, int).reshape(-1, 3)


def _read_tetrahedra(prim: Usd.Prim, attributes: Attributes) -> np.ndarray | None:
    return attributes.vectors(prim, "tetVertexIndices", 4)


def _turned(
    name: str, placement: Placement, shape: _Shape, is_solid: bool, prim: Usd.Prim, attributes: Attributes
) -> tuple[Pose, _Shape | None]:
    """The frame of the body in the world, and its nodes there, with elements of positive measure if all are alike."""
    if is_solid:
        orientation = attributes.token(prim, "orientation", ORIENTATIONS[0], ORIENTATIONS)
        is_mirrored = (orientation == ORIENTATIONS[1]) != (placement.scale[0] < 0.0)
        elements = shape.elements[:, [0, 1, 3, 2]] if is_mirrored else shape.elements
        return placement.pose, _Shape(shape.points, elements, shape.start_points, shape.start_velocities)
    plane = plane_of(shape.points)
    for where, values, is_point in (
        ("at rest", shape.points, True),
        ("at the start", shape.start_points, True),
        ("by its velocity", shape.start_velocities, False),
    ):
        if values is None:
            continue
        across = np.abs(plane.inside(values, is_point)[:, 2])
        allowed = plane.allowed if is_point else 1e-5 * float(np.abs(values).max())
        off = across > allowed
        if off.any():
            node = int(np.argmax(across))
            text = (
                f"node {node} is {across[node]:.3g} m{'' if is_point else '/s'} off the plane of the mesh {where}; a "
                "Mesh must lie in one plane, and what has a thickness of its own is a TetMesh"
            )
            attributes.report.error("elastic-plane", name, text)
            return placement.pose, None
    points = plane.inside(shape.points)[:, :2]
    areas = measures(points, shape.elements[valid(points, shape.elements)])
    total, size = areas.sum(), np.abs(areas).sum()
    side = total if abs(total) > 1e-9 * size else areas[0] if len(areas) else 1.0
    return placement.pose @ plane.frame, _Shape(
        np.ascontiguousarray(points),
        shape.elements[:, [0, 2, 1]] if side < 0.0 else shape.elements,
        None if shape.start_points is None else plane.inside(shape.start_points)[:, :2].copy(),
        None if shape.start_velocities is None else plane.inside(shape.start_velocities, False)[:, :2].copy(),
    )


def _read_materials(
    prim: Usd.Prim, elements: int | None, inventory: Inventory, attributes: Attributes
) -> tuple[ElasticMaterial, np.ndarray | None, np.ndarray | None] | None:
    """The material of a mesh, and Young's moduli and densities of its elements, where subsets have others.

    `elements`: How many there are; None where that is not known.

    None, and an error, where there is no material, or it has no Young's modulus.
    """
    try:
        bound, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
    except Exception:  # what pxr raises on an attribute of this name
        text = "its material:binding cannot be read; it must be a relationship to a Material"
        attributes.report.error("elastic-material", prim.GetPath(), text)
        return None
    subsets = []
    for subset in UsdShade.MaterialBindingAPI(prim).GetMaterialBindSubsets():
        other, _ = UsdShade.MaterialBindingAPI(subset.GetPrim()).ComputeBoundMaterial("physics")
        if other and inventory.has_schema(other.GetPrim(), tokens.ARTIC_ELASTIC_MATERIAL):
            subsets.append((subset.GetPrim(), other.GetPrim()))
    if not bound:
        more = "; those of subsets are for parts of it" if subsets else ""
        text = f"has no material: bind one with {tokens.ARTIC_ELASTIC_MATERIAL} (material:binding:physics){more}"
        attributes.report.error("elastic-material", prim.GetPath(), text)
        return None
    material = _read_material(prim, bound.GetPrim(), attributes)
    if material is None:
        return None
    if elements is None or all(other == bound.GetPrim() for _, other in subsets):
        return material, None, None
    moduli, densities = np.full(elements, material.young_modulus), np.full(elements, material.density)
    taken = np.zeros(elements, bool)
    for subset, own in subsets:
        other = _read_material(subset, own, attributes)
        indices = _read_indices(subset, prim.GetTypeName(), elements, attributes)
        if other is None or indices is None:
            return None
        if taken[indices].any():
            element = indices[taken[indices]][0]
            text = f"has element {element}, which is in another subset too; each must be in one"
            attributes.report.error("elastic-element", f"{subset.GetPath()}.indices", text)
            return None
        taken[indices] = True
        differ = [name for name in SHARED if getattr(other, name) != getattr(material, name)]
        if differ:
            text = (
                f"its material {own.GetPath()} has another {differ[0].replace('_', ' ')} than {bound.GetPath()}, of "
                "which a body has one; its Young's modulus and density count"
            )
            attributes.report.warn("elastic-subset", subset.GetPath(), text)
        moduli[indices], densities[indices] = other.young_modulus, other.density
    return material, moduli, densities


def _read_indices(subset: Usd.Prim, kind: str, elements: int, attributes: Attributes) -> np.ndarray | None:
    """The elements of a subset of a mesh of some type; None, and an error, where it is one of something else."""
    wanted = "tetrahedron" if kind == "TetMesh" else "face"
    found = attributes.token(subset, "elementType", "face", ELEMENTS)
    if found != wanted:
        text = f"is {found}, must be {wanted} on a {kind}"
        attributes.report.error("elastic-element", f"{subset.GetPath()}.elementType", text)
        return None
    indices = attributes.whole_numbers(subset, "indices")
    if indices is None:
        return None
    wrong = [index for index in indices if not 0 <= index < elements]
    if wrong:
        text = f"has element {wrong[0]}; elements are 0 to {elements - 1}"
        attributes.report.error("elastic-element", f"{subset.GetPath()}.indices", text)
        return None
    return np.unique(np.array(indices, int))


def _read_material(prim: Usd.Prim, material: Usd.Prim, attributes: Attributes) -> ElasticMaterial | None:
    """A material of a mesh or of a subset; None, and an error, where it has no Young's modulus."""
    readings = resolve_all(attributes, material, MATERIAL_FIELDS)
    attributes.report.readings.setdefault(str(prim.GetPath()), []).extend(readings.values())
    law = ElasticLaw(attributes.token(material, f"{MATERIAL}:law", LAWS[0], LAWS))
    if "young_modulus" not in readings:
        path = f"{material.GetPath()}.{MATERIAL}:youngModulus"
        if not attributes.report.is_refused(path):
            attributes.report.error("elastic-material", path, f"is not authored; {prim.GetPath()} is made of it")
        return None
    values = {field: reading.value for field, reading in readings.items()}
    return ElasticMaterial(law=law, **({"poisson_ratio": POISSON, "density": WATER} | values))


def _read_attachments(
    prim: Usd.Prim,
    placement: Placement | None,
    starts: np.ndarray | None,
    inventory: Inventory,
    attributes: Attributes,
    placements: Placements,
) -> tuple[NodeAttachment, ...] | None:
    """The nodes that are at points of links; None, and an error, where lists do not fit or lead to no link."""
    nodes = attributes.whole_numbers(prim, f"{OWN}:linkNodes")
    if nodes is None:
        return None
    places = read_places(prim, OWN, len(nodes), inventory, attributes, placements)
    if places is None:
        return None
    made = []
    for node, (target, position) in zip(nodes, places):
        if target.link is None:
            text = f"leads to {target.path}, which {target.moves}: not a link of an articulation; pin nodes that stay"
            attributes.report.error("elastic-link", f"{prim.GetPath()}.{OWN}:links", text)
            return None
        if position is None:
            if placement is None or starts is None or not 0 <= node < len(starts):
                position = (0.0, 0.0, 0.0)  # an error tells of the mesh or of the node
            else:
                position = tuple(map(float, target.from_world(placement.pose.apply(starts[node]))))
        made.append(NodeAttachment(node=node, link=target.link, position=position))
    return tuple(made)

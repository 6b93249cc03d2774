"""Gprims of a stage as triangles in their own frames, and the colours that they are shown in."""

from __future__ import annotations

import numpy as np
from pxr import Usd, UsdGeom, UsdShade

from warp_artic.usd import tessellate

TURNED = {"X": [2, 0, 1], "Y": [1, 2, 0], "Z": [0, 1, 2]}
"""Components of a point of a shape along Z, of the same shape along another axis."""
DIFFUSE = ("diffuseColor", "diffuse_color_constant", "base_color", "diffuse_tint")
"""Inputs of surface shaders that are a colour."""


def triangles_of(prim: Usd.Prim, code: Usd.TimeCode) -> tuple[np.ndarray, np.ndarray] | None:
    """Points (V, 3) and triangles (T, 3) in the frame of the prim and the unit of the stage; None of other types."""
    kind = str(prim.GetTypeName()).removesuffix("_1")

    def value(name: str, otherwise: float) -> float:
        found = prim.GetAttribute(name).Get(code) if prim.HasAttribute(name) else None
        return otherwise if found is None else found

    if kind == "Cube":
        return tessellate.box(value("size", 2.0))
    if kind == "Sphere":
        return tessellate.sphere(value("radius", 1.0))
    if kind in ("Capsule", "Cylinder", "Cone"):
        radius, height = value("radius", 0.5 if kind == "Capsule" else 1.0), value("height", 1.0)
        bottom, top = value("radiusBottom", radius), value("radiusTop", radius)
        if kind == "Capsule":
            points, triangles = tessellate.capsule(max(bottom, top), height)
        else:
            points, triangles = tessellate.cylinder(bottom, 0.0 if kind == "Cone" else top, height)
        axis = prim.GetAttribute("axis").Get() or "Z"
        return points[:, TURNED[axis]], triangles
    if kind == "Plane":
        x, y = 0.5 * value("width", 2.0), 0.5 * value("length", 2.0)
        points = np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
        return points[:, TURNED[prim.GetAttribute("axis").Get() or "Z"]], np.array([[0, 1, 2], [0, 2, 3]])
    if kind in ("Mesh", "TetMesh"):
        return _of_mesh(prim, code)
    return None


def _of_mesh(prim: Usd.Prim, code: Usd.TimeCode) -> tuple[np.ndarray, np.ndarray] | None:
    """Of a mesh of polygons, or the surface of one of tetrahedra."""
    authored = UsdGeom.PointBased(prim).GetPointsAttr().Get(code)
    points = np.array(authored if authored is not None else [], float).reshape(-1, 3)
    if prim.IsA(UsdGeom.Mesh):
        mesh = UsdGeom.Mesh(prim)
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get(code) or [], int)
        indices = np.array(mesh.GetFaceVertexIndicesAttr().Get(code) or [], int)
        if counts.sum() != indices.size:
            return None
        triangles = tessellate.fan(counts, indices)
    else:
        faces = UsdGeom.TetMesh(prim).GetSurfaceFaceVertexIndicesAttr().Get(code)
        if not faces:
            faces = UsdGeom.TetMesh.ComputeSurfaceFaces(UsdGeom.TetMesh(prim), code)
        triangles = np.array(faces, int).reshape(-1, 3)
    if not len(triangles) or triangles.min() < 0 or triangles.max() >= len(points) or not np.isfinite(points).all():
        return None
    if UsdGeom.Gprim(prim).GetOrientationAttr().Get(code) == UsdGeom.Tokens.leftHanded:
        triangles = triangles[:, ::-1]
    return points, triangles


def color_of(prim: Usd.Prim, code: Usd.TimeCode) -> tuple[float, float, float] | None:
    """The colour of a material that is bound, else the mean of those authored on the prim or above it."""
    material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    if material:
        found = _of_material(material)
        if found is not None:
            return found
    colors = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("displayColor")
    values = colors.Get(code) if colors else None
    if not values:
        return None
    r, g, b = np.clip(np.array(values, float).reshape(-1, 3).mean(axis=0), 0.0, 1.0).tolist()
    return r, g, b


def colors_of_curves(prim: Usd.Prim, code: Usd.TimeCode, count: int) -> list[tuple[float, float, float] | None]:
    """The colour of each curve of a prim, where each has its own; else that of the prim for all."""
    colors = UsdGeom.PrimvarsAPI(prim).GetPrimvar("displayColor")
    if colors and colors.GetInterpolation() == UsdGeom.Tokens.uniform:
        values = np.clip(np.array(colors.ComputeFlattened(code), float).reshape(-1, 3), 0.0, 1.0)
        if len(values) == count:
            return [(r, g, b) for r, g, b in values.tolist()]
    return [color_of(prim, code)] * count


def opacity_of(prim: Usd.Prim, code: Usd.TimeCode) -> float:
    """The mean opacity that is authored on the prim or above it, else 1."""
    opacity = UsdGeom.PrimvarsAPI(prim).FindPrimvarWithInheritance("displayOpacity")
    values = opacity.Get(code) if opacity else None
    return float(np.clip(np.mean(np.array(values, float)), 0.05, 1.0)) if values else 1.0


def _of_material(material: UsdShade.Material) -> tuple[float, float, float] | None:
    """The colour of a surface shader, where it is a constant."""
    for context in ("", "mdl", "mtlx"):
        shader = material.ComputeSurfaceSource(context)[0]
        for name in DIFFUSE if shader else ():
            found = shader.GetInput(name)
            sources = UsdShade.Utils.GetValueProducingAttributes(found) if found else []
            value = sources[0].Get() if sources else None
            if value is not None and len(value) == 3:
                r, g, b = (float(np.clip(one, 0.0, 1.0)) for one in value)
                return r, g, b
    return None

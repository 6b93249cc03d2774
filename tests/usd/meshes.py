"""Small elastic bodies authored as text."""

from __future__ import annotations

from tests.usd.authoring import SI, body, joint, open_text, schemas

SHEET_POINTS = ((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 0))
SHEET_FACES = ((0, 1, 3), (1, 4, 3), (1, 2, 4), (2, 5, 4))
"""Two squares side by side, of two triangles each."""
BLOCK_POINTS = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1))
BLOCK_TETRAHEDRA = ((0, 1, 2, 3), (1, 2, 3, 4))
"""Two tetrahedra on one face."""


def rubber(content: str = "double warpArtic:elasticMaterial:youngModulus = 1000", *applied: str) -> str:
    """The material /World/rubber."""
    return f'def Material "rubber" {schemas("WarpArticElasticMaterialAPI", *applied)} {{\n{content}\n}}\n'


def sheet(content: str = "", points=SHEET_POINTS, faces=SHEET_FACES, name: str = "sheet", counts=None) -> str:
    """A mesh of triangles."""
    counts = [len(face) for face in faces] if counts is None else counts
    corners = [node for face in faces for node in face]
    return mesh(
        "Mesh", name, points, f"int[] faceVertexCounts = {counts}\nint[] faceVertexIndices = {corners}", content
    )


def block(content: str = "", points=BLOCK_POINTS, tetrahedra=BLOCK_TETRAHEDRA, name: str = "block") -> str:
    """A mesh of tetrahedra."""
    return mesh("TetMesh", name, points, f"int4[] tetVertexIndices = {list(map(tuple, tetrahedra))}", content)


def mesh(kind: str, name: str, points, topology: str, content: str) -> str:
    """An elastic body made of /World/rubber."""
    applied = schemas("WarpArticElasticBodyAPI", "MaterialBindingAPI")
    points = f"point3f[] points = {list(map(tuple, points))}" if "points = " not in content else ""
    bound = "rel material:binding:physics = </World/rubber>\n"
    return f'def {kind} "{name}" {applied} {{\n{points}\n{topology}\n{bound}{content}\n}}\n'


def tendon(content: str = "int[] warpArtic:nodes = [0, 1]", mesh: str = "sheet", name: str = "cable") -> str:
    """A tendon on a mesh of /World, of stiffness 40."""
    stiff = "" if "warpArtic:stiffness" in content else "double warpArtic:stiffness = 40\n"
    return f'def WarpArticMeshTendon "{name}" {{\nrel warpArtic:mesh = </World/{mesh}>\n{stiff}{content}\n}}\n'


def world(*parts: str, header: str = SI, material: str | None = None):
    """A stage of the material, an arm of two links 1 unit apart, and other prims."""
    text = rubber() if material is None else material
    text += body("base") + body("tip", at=(1, 0, 0)) + joint("held", "Fixed", "", "/World/base")
    text += joint("hinge", "Revolute", "/World/base", "/World/tip", "point3f physics:localPos0 = (1, 0, 0)")
    return open_text(
        f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}{"".join(parts)}}}\n', header
    )

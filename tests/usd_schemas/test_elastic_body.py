"""WarpArticElasticBodyAPI: meshes that deform."""

import numpy as np
import pytest

from tests.usd.authoring import SI, SMALL_UNITS, errors_of, notes_of, open_text, warnings_of
from tests.usd.meshes import (
    BLOCK_POINTS,
    BLOCK_TETRAHEDRA,
    SHEET_FACES,
    SHEET_POINTS,
    block,
    rubber,
    sheet,
    world,
)
from tests.usd_schemas.source import attributes_of, line
from warp_artic.description.elastic_body import ElasticBody, PlaneState
from warp_artic.usd.read_stage import inspect_stage, read_stage

OWN = "warpArtic:elastic"
ATTRIBUTES = attributes_of("WarpArticElasticBodyAPI")
ROWS = {"restPoints", "planeState", "thickness", "pinnedNodes", "linkNodes", "linkIndices", "linkPositions"}
TURNED = """double3 xformOp:translate = (1, 2, 3)
float xformOp:rotateZ = 90
float3 xformOp:scale = (2, 3, 4)
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ", "xformOp:scale"]
"""
MIRRORED = 'float3 xformOp:scale = (-1, 1, 1)\nuniform token[] xformOpOrder = ["xformOp:scale"]\n'


def body_of(stage) -> ElasticBody:
    (found,) = read_stage(stage).elastic_bodies
    return found


def described(stage) -> str:
    return repr(body_of(stage))


def linked(content: str = "", nodes: str = "[2, 5]") -> str:
    """A sheet with nodes on the arm."""
    return sheet(f"int[] {OWN}:linkNodes = {nodes}\nrel {OWN}:links = </World/tip>\n{content}")


def errors(*parts: str, **more) -> list[str]:
    """The errors of a stage; its attributes are not named once more as unused."""
    stage = world(*parts, **more)
    assert not [text for text in warnings_of(stage) if "is not used" in text and "/World/rubber" not in text]
    return errors_of(stage)


def test_every_attribute_has_a_row():
    """Each is tested below; `links` goes with the nodes on them."""
    assert {f"{OWN}:{name}" for name in ROWS} == set(ATTRIBUTES)


@pytest.mark.parametrize("name", [name for name, spec in ATTRIBUTES.items() if spec.default is not None])
def test_fallbacks(name):
    """To author a fallback changes nothing."""
    assert described(world(sheet(line(ATTRIBUTES[name], name)))) == described(world(sheet()))


def test_what_fallbacks_mean():
    """A free body of plane strain, a metre thick, that starts at rest."""
    found = body_of(world(sheet()))
    assert (found.plane_state, found.thickness, found.pinned, found.attachments) == (PlaneState.STRAIN, 1.0, (), ())
    assert found.start_points is None and found.start_velocities is None
    assert any(note.startswith("/World/sheet: no node is pinned") for note in notes_of(world(sheet())))


@pytest.mark.parametrize("header, metre", [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_triangles(header, metre):
    """Points in the plane in metres, faces as elements."""
    stage = world(sheet(), header=header)
    found = body_of(stage)
    np.testing.assert_allclose(found.points, np.array(SHEET_POINTS)[:, :2] * metre, rtol=1e-15)
    assert np.array_equal(found.elements, SHEET_FACES)
    assert (found.name, found.dim) == ("/World/sheet", 2)
    assert not warnings_of(stage)


@pytest.mark.parametrize("header, metre", [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_tetrahedra(header, metre):
    """Points in metres, the frame of the prim."""
    stage = world(block(TURNED), header=header)
    found = body_of(stage)
    np.testing.assert_allclose(found.points, np.array(BLOCK_POINTS) * metre * (2, 3, 4), rtol=1e-15)
    assert np.array_equal(found.elements, BLOCK_TETRAHEDRA)
    np.testing.assert_allclose(found.pose.position, np.array((1, 2, 3)) * metre)
    np.testing.assert_allclose(found.pose.rotation @ (1, 0, 0), (0, 1, 0), atol=1e-7)
    assert not warnings_of(stage)


@pytest.mark.parametrize("plane", [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)])
def test_planes(plane):
    """A mesh may lie in any plane: across y it is seen as (x, z), across x as (y, z); the world places are the same."""
    points = np.full((6, 3), 7.0)
    points[:, plane] = np.array(SHEET_POINTS)[:, :2] + (3, 4)
    found = body_of(world(sheet(TURNED, points=points.tolist())))
    scaled = points * (2, 3, 4)
    np.testing.assert_allclose(found.points, scaled[:, sorted(plane)], atol=1e-12)
    assert (_areas(found) > 0).all()
    expected = np.stack([1 - scaled[:, 1], 2 + scaled[:, 0], 3 + scaled[:, 2]], axis=1)
    np.testing.assert_allclose([found.pose.apply((*point, 0.0)) for point in found.points], expected, atol=1e-5)


def test_a_tilted_plane():
    """One across no axis."""
    normal = np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
    right = np.cross(normal, (0, 0, 1.0))
    right /= np.linalg.norm(right)
    frame = np.stack([right, np.cross(normal, right), normal])
    points = np.array(SHEET_POINTS) @ frame + (1, 1, 1)
    found = body_of(world(sheet(points=points.tolist())))
    np.testing.assert_allclose(_areas(found), 0.5, rtol=1e-6)
    placed = [found.pose.apply((*point, 0.0)) for point in found.points]
    np.testing.assert_allclose(placed, points, atol=1e-6)


@pytest.mark.parametrize("content", ["", MIRRORED])
def test_winding_of_triangles(content):
    """Clockwise or not, and mirrored or not: elements come out with positive areas."""
    for faces in (SHEET_FACES, [face[::-1] for face in SHEET_FACES]):
        assert (_areas(body_of(world(sheet(content, faces=faces)))) > 0).all()


@pytest.mark.parametrize("is_mirrored", [False, True])
@pytest.mark.parametrize("is_left", [False, True])
def test_winding_of_tetrahedra(is_mirrored, is_left):
    """They are the way round that the orientation of the mesh says, and mirroring turns them."""
    tetrahedra = [(a, c, b, d) if is_left else (a, b, c, d) for a, b, c, d in BLOCK_TETRAHEDRA]
    content = (
        MIRRORED if is_mirrored else ""
    ) + f'uniform token orientation = "{"left" if is_left else "right"}Handed"'
    found = body_of(world(block(content, tetrahedra=tetrahedra)))
    corners = found.points[found.elements]
    assert (np.linalg.det(corners[:, 1:] - corners[:, :1]) > 0).all()


def test_rest_points_and_the_start():
    """Rest points are the body, and points and velocities where and how it starts."""
    rest = np.array(SHEET_POINTS) * 2.0
    content = (
        f"point3d[] {OWN}:restPoints = {list(map(tuple, rest.tolist()))}\n"
        + "vector3f[] velocities = [(0, 0, 0), (0, 0, 0), (1, 2, 0), (0, 0, 0), (0, 0, 0), (3, 4, 0)]\n"
    )
    found = body_of(world(sheet(content), header=SMALL_UNITS))
    np.testing.assert_allclose(found.points, rest[:, :2] * 0.01)
    np.testing.assert_allclose(found.start_points, np.array(SHEET_POINTS)[:, :2] * 0.01)
    np.testing.assert_allclose(found.start_velocities[[0, 2, 5]], [(0, 0), (0.01, 0.02), (0.03, 0.04)])


def test_baked_points_are_a_start():
    """Points over time are what a run has written: those at the start count, and nothing warns."""
    later = (np.array(SHEET_POINTS) + 1).tolist()
    samples = f"0: {list(map(tuple, SHEET_POINTS))}, 24: {list(map(tuple, later))}"
    stage = world(sheet(f"point3f[] points.timeSamples = {{ {samples} }}"))
    np.testing.assert_allclose(body_of(stage).points, np.array(SHEET_POINTS)[:, :2])
    assert not warnings_of(stage)


@pytest.mark.parametrize("word", ["strain", "stress"])
def test_plane_state(word):
    """The words that the schema allows."""
    assert word in ATTRIBUTES[f"{OWN}:planeState"].allowedTokens
    assert body_of(world(sheet(f'uniform token {OWN}:planeState = "{word}"'))).plane_state.value == word


def test_thickness_and_its_reading():
    """In metres, with the attribute that gives it."""
    stage = world(sheet(f"double {OWN}:thickness = 3"), header=SMALL_UNITS)
    assert body_of(stage).thickness == pytest.approx(0.03)
    (reading,) = [one for one in inspect_stage(stage).readings["/World/sheet"] if one.field == "thickness"]
    assert (reading.attribute, reading.authored) == (f"/World/sheet.{OWN}:thickness", 3)


def test_pinned_nodes():
    """Indices of nodes."""
    assert body_of(world(sheet(f"int[] {OWN}:pinnedNodes = [0, 3]"))).pinned == (0, 3)


@pytest.mark.parametrize("header, metre", [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_nodes_on_a_link(header, metre):
    """Where they are authored, or at given points; in the frame of the link."""
    found = body_of(world(linked(), header=header)).attachments
    assert [(one.node, one.link) for one in found] == [(2, "/World/tip"), (5, "/World/tip")]
    np.testing.assert_allclose([one.position for one in found], np.array([(1, 0, 0), (1, 1, 0)]) * metre, atol=1e-12)
    placed = linked(f"point3d[] {OWN}:linkPositions = [(1, 2, 3), (4, 5, 6)]")
    found = body_of(world(placed, header=header)).attachments
    np.testing.assert_allclose([one.position for one in found], np.array([(1, 2, 3), (4, 5, 6)]) * metre)


def test_nodes_on_several_links():
    """The indices say which."""
    content = f"""int[] {OWN}:linkNodes = [2, 5, 0]
    rel {OWN}:links = [</World/base>, </World/tip>]
    int[] {OWN}:linkIndices = [1, 0, 1]"""
    assert [one.link for one in body_of(world(sheet(content))).attachments] == [
        "/World/tip",
        "/World/base",
        "/World/tip",
    ]


BAD_FACE = [*SHEET_FACES[:2], (1, 2, 6), SHEET_FACES[3]]
TWO_PARTS = (*SHEET_POINTS, (9, 0, 0), (9, 1, 0), (8, 0, 0))


@pytest.mark.parametrize(
    "text, error",
    [
        (
            sheet(faces=[*SHEET_FACES[:2], (1, 4, 2), SHEET_FACES[3]]),
            "/World/sheet: element 2 of nodes 1 4 2 is flipped: its area at rest is -0.5 m^2, must be positive",
        ),
        (
            block(tetrahedra=[BLOCK_TETRAHEDRA[0], (1, 3, 2, 4)]),
            "/World/block: element 1 of nodes 1 3 2 4 is flipped: its volume at rest is -0.333 m^3, must be positive",
        ),
        (
            block(tetrahedra=[(0, 2, 1, 3)], points=BLOCK_POINTS[:4]),
            "/World/block: element 0 of nodes 0 2 1 3 is flipped: its volume at rest is -0.167 m^3, must be positive",
        ),
        (sheet(faces=BAD_FACE), "/World/sheet: element 2 has node 6; nodes are 0 to 5"),
        (block(tetrahedra=[(0, 1, 2, -1)]), "/World/block: element 0 has node -1; nodes are 0 to 4"),
        (sheet(faces=[(0, 1, 1), *SHEET_FACES]), "/World/sheet: element 0 has a node twice: 0 1 1"),
        (
            block(tetrahedra=[*BLOCK_TETRAHEDRA, (2, 3, 1, 4)]),
            "/World/block: element 2 has the nodes of element 1, 2 3 1 4: both would count",
        ),
        (
            sheet(faces=[(0, 1, 2), *SHEET_FACES]),
            "/World/sheet: element 0 of nodes 0 1 2 is flat: its area at rest is 0 m^2, must be positive",
        ),
        (
            sheet(faces=[(0, 1, 4, 3), (1, 2, 4)]),
            "/World/sheet.faceVertexCounts: face 0 has 4 corners, must have 3",
        ),
        (
            sheet(counts=[3, 3]),
            "/World/sheet.faceVertexCounts: has 2 faces of 3 corners, but faceVertexIndices has 12 entries",
        ),
        (sheet(faces=[]), "/World/sheet: has no element, must have at least one"),
        (sheet(points=[]), "/World/sheet.points: is empty, must have the nodes of the mesh"),
        (
            sheet(points=[(0, 0, float("nan")), *SHEET_POINTS[1:]]),
            "/World/sheet.points: has (0, 0, nan) at index 0, must be finite",
        ),
        (
            sheet(points=[*SHEET_POINTS[:5], (2, 1, 0.5)]),
            "/World/sheet: node 4 is 0.182 m off the plane of the mesh at rest; a Mesh must lie in one plane, and what "
            "has a thickness of its own is a TetMesh",
        ),
        (
            sheet("vector3f[] velocities = [(0, 0, 2)]", faces=[(0, 1, 2)], points=[(0, 0, 0), (1, 0, 0), (0, 1, 0)]),
            "/World/sheet.velocities: has 1 entries for 3 points, must have one for each or none",
        ),
        (
            sheet("vector3f[] velocities = [(0, 0, 2), (0, 0, 0), (0, 0, 0)]", SHEET_POINTS[:5:2], [(0, 1, 2)]),
            "/World/sheet: node 0 is 2 m/s off the plane of the mesh by its velocity; a Mesh must lie in one plane, "
            "and what has a thickness of its own is a TetMesh",
        ),
        (
            sheet(f"point3d[] {OWN}:restPoints = [(0, 0, 0)]"),
            f"/World/sheet.{OWN}:restPoints: has 1 entries for 6 points, must have one for each or none",
        ),
        (
            sheet(f"int[] {OWN}:pinnedNodes = [0]", TWO_PARTS, [*SHEET_FACES, (8, 6, 7)]),
            "/World/sheet: part 1 of 2 of the mesh (nodes 6 7 8) is joined to no other, and none of its nodes is "
            "pinned or attached to a link; at least one must be",
        ),
        (
            sheet(f"int[] {OWN}:pinnedNodes = [0]", TWO_PARTS[:7]),
            "/World/sheet: part 1 of 2 of the mesh (node 6, which is in no element) is joined to no other, and none of "
            "its nodes is pinned or attached to a link; at least one must be",
        ),
        (sheet(f"int[] {OWN}:pinnedNodes = [6]"), "/World/sheet: node 6 is pinned; nodes are 0 to 5"),
        (sheet(f"int[] {OWN}:pinnedNodes = [2, 2]"), "/World/sheet: node 2 is pinned 2 times, may be once"),
        (linked(nodes="[7]"), "/World/sheet: node 7 is attached; nodes are 0 to 5"),
        (
            linked(f"int[] {OWN}:pinnedNodes = [5]"),
            "/World/sheet: node 5 is pinned and attached to a link; it can be one of the two",
        ),
        (
            linked().replace("/World/tip", "/World/nowhere"),
            f"/World/sheet.{OWN}:links: leads to /World/nowhere, which does not exist; it must be a prim",
        ),
        (
            linked().replace("/World/tip", "/World/rubber"),
            f"/World/sheet.{OWN}:links: leads to /World/rubber, which moves with no rigid body: not a link of an "
            "articulation; pin nodes that stay",
        ),
        (
            linked().replace(f"rel {OWN}:links = </World/tip>", f"double {OWN}:links = 1"),
            f"/World/sheet.{OWN}:links: is no relationship that leads to prims, must be one",
        ),
        (
            sheet(f"int[] {OWN}:linkNodes = [2]"),
            f"/World/sheet.{OWN}:linkIndices: has 0 entries for 1 points on 0 prims, must have one for each point",
        ),
        (
            linked(f"int[] {OWN}:linkIndices = [0, 1]"),
            f"/World/sheet.{OWN}:linkIndices: has 1 at index 1, must be a place in {OWN}:links, which leads to 1 prims",
        ),
        (
            linked(f"point3d[] {OWN}:linkPositions = [(0, 0, 0)]"),
            f"/World/sheet.{OWN}:linkPositions: has 1 entries for 2 points on 1 prims, must have one for each point",
        ),
        (sheet(f"double {OWN}:thickness = 0"), "/World/sheet: thickness 0 m must be positive and finite"),
        (
            sheet(f'token {OWN}:planeState = "flat"'),
            f"/World/sheet.{OWN}:planeState: is 'flat', must be one of strain, stress",
        ),
        (
            sheet().replace('"Warp', '"PhysicsRigidBodyAPI", "Warp'),
            "/World/sheet: has PhysicsRigidBodyAPI and WarpArticElasticBodyAPI; it can be rigid or elastic",
        ),
        (
            sheet().replace("def Mesh", "def Cube"),
            "/World/sheet: is a Cube, must be a Mesh of triangles in a plane or a TetMesh",
        ),
        (
            sheet().replace("rel material:binding:physics = </World/rubber>", "double material:binding:physics = 1"),
            "/World/sheet: its material:binding cannot be read; it must be a relationship to a Material",
        ),
        (
            sheet().replace("</World/rubber>", "</World/nowhere>"),
            "/World/sheet: has no material: bind one with WarpArticElasticMaterialAPI (material:binding:physics)",
        ),
    ],
)
def test_errors(text, error):
    """Each error is one line with the prim, the index, what was found and what is allowed."""
    assert error in errors(text)
    if "can be rigid or elastic" not in error:
        assert len(errors(text)) == 1


def test_many_errors_of_one_kind_are_counted():
    """The first is shown."""
    (error,) = errors(sheet(faces=[*SHEET_FACES[:2], (1, 2, 7), (2, 8, 4)]))
    assert error == "/World/sheet: element 2 has node 7; nodes are 0 to 5; 1 more is like it"


def test_a_link_without_a_node():
    """A relationship in vain is named."""
    assert warnings_of(world(sheet(f"rel {OWN}:links = </World/tip>"))) == [
        f"/World/sheet.{OWN}:links: leads to /World/tip, which no point is on"
    ]


def test_holes_are_named():
    """Faces that are holes are elements."""
    assert warnings_of(world(sheet("int[] holeIndices = [1]"))) == [
        "/World/sheet.holeIndices: is not used: a face that is a hole is an element all the same"
    ]


def test_a_stage_of_elastic_bodies_alone():
    """No articulation is needed."""
    stage = open_text(f'def Xform "World" {{\n{rubber()}{sheet()}{block()}}}\n')
    scene = read_stage(stage)
    assert [body.name for body in scene.elastic_bodies] == ["/World/sheet", "/World/block"]
    assert scene.articulations == ()


def test_copies_are_read_one_by_one():
    """Referenced twice, a mesh is two bodies where each of them is."""
    asset = f'class Xform "asset" {{\n{rubber()}{sheet()}}}\n'.replace("</World/", "</asset/")
    place = 'double3 xformOp:translate = ({}, 0, 0)\nuniform token[] xformOpOrder = ["xformOp:translate"]\n'
    copies = "".join(
        f'def Xform "c{number}" (references = </asset>) {{\n{place.format(number)}}}\n' for number in range(3)
    )
    found = read_stage(open_text(f'{asset}def Xform "World" {{\n{copies}}}\n')).elastic_bodies
    assert [(body.name, body.pose.position[0]) for body in found] == [(f"/World/c{n}/sheet", n) for n in range(3)]


def _areas(body: ElasticBody) -> np.ndarray:
    corners = body.points[body.elements]
    return 0.5 * np.linalg.det(corners[:, 1:] - corners[:, :1])

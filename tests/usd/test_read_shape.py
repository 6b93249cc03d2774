"""Colliders of every type, with every scale, become shapes."""

import ast
import itertools
import math

import numpy as np
import pytest

from tests.usd.authoring import SI, body
from tests.usd.contact_stages import CENTIMETRES, FLOOR, collider, contacts_of, scaled
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.usd import convex_parts, read_shape, tessellate
from warp_artic.usd.solids import mesh

MESH = "PhysicsMeshCollisionAPI"
TETRAHEDRON = (
    "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)]\nint[] faceVertexCounts = [3, 3, 3, 3]\n"
    "int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]\n"
)
L_SHAPE = (
    "point3f[] points = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0), "
    "(0, 0, 1), (2, 0, 1), (2, 1, 1), (1, 1, 1), (1, 2, 1), (0, 2, 1)]\n"
    "int[] faceVertexCounts = [6, 6, 4, 4, 4, 4, 4, 4]\n"
    "int[] faceVertexIndices = [5, 4, 3, 2, 1, 0, 6, 7, 8, 9, 10, 11, 0, 1, 7, 6, 1, 2, 8, 7, 2, 3, 9, 8, "
    "3, 4, 10, 9, 4, 5, 11, 10, 5, 0, 6, 11]\n"
)


def shape_of(kind: str, content: str = "", applied=(), on="", header=None, told=()) -> Shape:
    """The shape of a collider on a body with transform ops."""
    text = body("a", on + collider(kind, "shape", content, applied))
    read = contacts_of(text) if header is None else contacts_of(text, header)
    assert len(read.told) == len(told), read.told
    for one, part in zip(read.told, told):
        assert part in one
    return read.shapes["/a/shape"]


def volume_of(shape: Shape) -> float:
    """Of a hull or a box [m^3]."""
    if shape.kind is ShapeKind.BOX:
        return 8.0 * math.prod(shape.half_extents)
    return mesh(np.array(shape.points), np.array(shape.triangles)).volume


def approximation(word: str) -> str:
    """The token of a mesh."""
    return f'uniform token physics:approximation = "{word}"\n'


def test_sizes():
    """Sizes are those of the prim, with the fallbacks of its schema, in metres."""
    assert shape_of("Sphere").radius == 1.0
    assert shape_of("Sphere", "double radius = 30", header=CENTIMETRES).radius == pytest.approx(0.3)
    assert shape_of("Cube", "double size = 3").half_extents == (1.5, 1.5, 1.5)
    for kind, expected in (("Capsule", (0.5, 0.5)), ("Cylinder", (1.0, 1.0))):
        shape = shape_of(kind)
        assert (shape.kind.value, shape.radius, shape.half_height) == (kind.lower(), *expected)
    shape = shape_of("Capsule_1", "double radiusBottom = 0.3\ndouble radiusTop = 0.3\ndouble height = 3")
    assert (shape.radius, shape.half_height) == (0.3, 1.5)


@pytest.mark.parametrize("axis", "XYZ")
@pytest.mark.parametrize("kind", ["Capsule", "Cylinder"])
def test_axes(kind, axis):
    """The axis of a shape is Z of its frame, and a scale along it lengthens the shape."""
    place = "XYZ".index(axis)
    scale = [2.0, 2.0, 2.0]
    scale[place] = 5.0 if kind == "Cylinder" else 2.0
    content = f'token axis = "{axis}"\ndouble radius = 0.5\ndouble height = 3\n{scaled(*scale, translate=(1, 2, 3))}'
    shape = shape_of(kind, content)
    assert shape.frame.rotation[:, 2] == pytest.approx(np.eye(3)[place])
    assert shape.frame.position == pytest.approx((1, 2, 3))
    assert shape.radius == pytest.approx(1.0) and shape.half_height == pytest.approx(1.5 * scale[place])


def test_scales_of_boxes():
    """A cube under a scale along its axes is a box; under a shear, a hull of its corners."""
    shape = shape_of("Cube", scaled(1, 2, -3))
    assert shape.half_extents == pytest.approx((1, 2, 3))
    inner = 'float3 xformOp:rotateXYZ = (0, 0, 45)\nuniform token[] xformOpOrder = ["xformOp:rotateXYZ"]'
    text = f'def Xform "stretched" {{\n{scaled(1, 4, 1)}{collider("Cube", "shape", inner)}}}\n'
    shape = contacts_of(body("a", text)).shapes["/a/stretched/shape"]
    assert shape.kind is ShapeKind.CONVEX and len(shape.points) == 8
    corners = np.array([shape.frame.apply(point) for point in shape.points])
    assert np.abs(corners).max(axis=0) == pytest.approx((math.sqrt(2.0), 4 * math.sqrt(2.0), 1.0))
    assert mesh(np.array(shape.points), np.array(shape.triangles)).volume == pytest.approx(8 * 4)


def test_scale_of_the_body():
    """The scale of a body scales its colliders, and where they are on it."""
    on = 'float3 xformOp:scale = (2, 2, 2)\nuniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]\n'
    shape = shape_of("Sphere", "double radius = 0.5\n" + scaled(1, 1, 1, (1, 0, 0)), on=on)
    assert shape.radius == pytest.approx(1.0) and shape.frame.position == pytest.approx((2, 0, 0))


@pytest.mark.parametrize(
    "kind, scale, text, radius",
    [
        ("Cylinder", (1, 2, 1), "its scale makes it elliptic", 2.0),
        ("Capsule", (1, 1, 2), "its scale stretches its round ends", 0.5),
    ],
)
def test_scales_that_no_shape_has(kind, scale, text, radius):
    """They are told, and the largest size is taken."""
    assert shape_of(kind, scaled(*scale), told=(text,)).radius == pytest.approx(radius)


def test_scales_of_spheres():
    """A sphere is an ellipsoid under any transform that is not one scale for all axes, sheared or mirrored ones too."""
    shape = shape_of("Sphere", "double radius = 0.5\n" + scaled(1, 2, -3, (0, 0, 4)))
    assert shape.kind is ShapeKind.ELLIPSOID and shape.half_extents == pytest.approx((0.5, 1.0, 1.5))
    assert shape.frame.position == pytest.approx((0, 0, 4))
    assert shape_of("Sphere", scaled(2, -2, 2)).kind is ShapeKind.SPHERE
    inner = 'float3 xformOp:rotateXYZ = (0, 0, 30)\nuniform token[] xformOpOrder = ["xformOp:rotateXYZ"]'
    text = f'def Xform "stretched" {{\n{scaled(1, 4, 2)}{collider("Sphere", "shape", inner)}}}\n'
    shape = contacts_of(body("a", text)).shapes["/a/stretched/shape"]
    # A turned ball is the ball that it was: the scale is all there is.
    across = shape.frame.rotation @ np.diag(np.square(shape.half_extents)) @ shape.frame.rotation.T
    assert across == pytest.approx(np.diag((1.0, 16.0, 4.0)), abs=1e-5)
    assert shape.kind is ShapeKind.ELLIPSOID and np.linalg.det(shape.frame.rotation) == pytest.approx(1.0)


def test_two_radii():
    """A capsule of two radii has the larger one, which is told."""
    content = "double radiusBottom = 0.3\ndouble radiusTop = 0.2\n"
    assert shape_of("Capsule_1", content, told=("it is 0.3 wide at one end and 0.2 at the other",)).radius == 0.3


def test_mirrored_plane():
    """The solid side of a plane is mirrored with it."""
    text = body("a", collider("Sphere")) + collider(
        "Plane", "floor", 'token axis = "Y"\n' + scaled(1, -1, 1, (0, 5, 0))
    )
    frame = contacts_of(text).shapes["/floor"].frame
    assert frame.rotation[:, 2] == pytest.approx((0, -1, 0)) and frame.position == pytest.approx((0, 5, 0))
    upright = contacts_of(body("a", collider("Sphere")) + FLOOR).shapes["/floor"].frame
    assert upright.rotation[:, 2] == pytest.approx((0, 0, 1))


def test_hull_of_a_mesh():
    """A mesh that is its own hull is taken for it silently, mirrored or not, with outward faces."""
    for word, scale in itertools.product(("convexHull", "none", "convexDecomposition"), ((1, 1, 1), (-1, 2, 1))):
        shape = shape_of("Mesh", TETRAHEDRON + approximation(word) + scaled(*scale), (MESH,))
        assert shape.kind is ShapeKind.CONVEX and len(shape.points) == 4
        corners = {tuple(np.round(shape.frame.apply(point), 9) + 0.0) for point in shape.points}
        x, y, z = scale
        assert corners == {(0, 0, 0), (x, 0, 0), (0, 2 * y, 0), (0, 0, 3 * z)}
        a, b, c = (np.array(shape.points)[np.array(shape.triangles)[:, place]] for place in range(3))
        signed = np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6.0
        assert signed == pytest.approx(abs(x * y * z))


@pytest.fixture
def without_coacd(monkeypatch):
    """As where the extra is not installed."""
    monkeypatch.setattr(read_shape, "can_decompose", lambda: False)


@pytest.mark.parametrize("word", ["none", "meshSimplification", "convexDecomposition", "sdf", "sphereFill"])
def test_hollow_meshes_that_move(word, without_coacd):
    """They are their convex hulls, which is told."""
    told = (f"its approximation is {word}, which is not simulated on what moves: its convex hull is taken",)
    shape = shape_of("Mesh", L_SHAPE + approximation(word), (MESH,), told=told)
    assert len(shape.points) == 10
    assert mesh(np.array(shape.points), np.array(shape.triangles)).volume == pytest.approx(3.5)
    assert len(shape_of("Mesh", L_SHAPE + approximation("convexHull"), (MESH,)).points) == 10


def beside(*meshes: str) -> str:
    """The content of one mesh that has the points and faces of several, each a unit further along X than before."""
    points, counts, corners, first = [], [], [], 0
    for place, text in enumerate(meshes):
        own, number, faces = (
            list(ast.literal_eval("[" + line.partition("[] ")[2].partition("[")[2])) for line in text.splitlines()[:3]
        )
        points += [(x + 5.0 * place, y, z) for x, y, z in own]
        counts += number
        corners += [first + corner for corner in faces]
        first += len(own)
    return f"point3f[] points = {points}\nint[] faceVertexCounts = {counts}\nint[] faceVertexIndices = {corners}\n"


@pytest.mark.parametrize("word", ["none", "convexDecomposition", "sphereFill", "sdf"])
def test_a_mesh_of_convex_parts(word):
    """On what moves it is the hulls of its parts, as a decomposition that was made before has them."""
    content = beside(TETRAHEDRON, TETRAHEDRON) + approximation(word)
    read = contacts_of(body("a", collider("Mesh", "shape", content, (MESH,))) + FLOOR)
    shapes = [one.shape for one in read.contacts.colliders if one.path == "/a/shape"]
    assert read.told == [] and len(read.pairs) == 2
    for place, shape in enumerate(shapes):
        corners = {tuple(np.round(shape.frame.apply(point), 9) + 0.0) for point in shape.points}
        x = 5.0 * place
        assert corners == {(x, 0, 0), (x + 1, 0, 0), (x, 2, 0), (x, 0, 3)}
    assert len(shapes) == 2


def test_a_mesh_of_convex_parts_that_touch():
    """Parts that have points of their own are not one where some of these are at the same place."""
    points, triangles = tessellate.box(1.0)
    size = float(np.ptp(points[:, 0]))
    rows = [tuple(row) for place in ((0, 0, 0), (size, 0, 0), (0, size, 0)) for row in (points + place).tolist()]
    corners = np.concatenate([triangles + len(points) * part for part in range(3)])
    content = f"point3f[] points = {rows}\nint[] faceVertexCounts = {[3] * len(corners)}\n"
    content += f"int[] faceVertexIndices = {corners.ravel().tolist()}\n"
    read = contacts_of(body("a", collider("Mesh", "shape", content, (MESH,))) + FLOOR)
    assert read.told == [] and len(read.pairs) == 3


def test_a_mesh_whose_triangles_have_points_of_their_own():
    """It is closed where these are at one place: convex on what moves, a box or one-sided where it stays."""
    points, triangles = tessellate.box(2.0)
    for size, is_hull in ((1.0, True), (-1.0, False)):  # inside out it is a room, whose walls are one-sided
        own = (points * size)[triangles.reshape(-1)]
        content = f"point3f[] points = {list(map(tuple, own.tolist()))}\n"
        content += f"int[] faceVertexCounts = {[3] * len(triangles)}\n"
        content += f"int[] faceVertexIndices = {list(range(triangles.size))}\n"
        read = contacts_of(body("a", collider("Mesh", "shape", content, (MESH,))) + collider("Mesh", "room", content))
        assert read.told == []
        shapes = [one.shape for one in read.contacts.colliders if one.path == "/room"]
        assert [one.kind for one in shapes] == ([ShapeKind.BOX] if is_hull else 6 * [ShapeKind.CONVEX])
        assert is_hull or all(one.is_one_sided for one in shapes)


def test_a_mesh_of_parts_that_are_not_convex(without_coacd):
    """It is decomposed as far as into its parts, which is told; it is one hull where nobody asked for that."""
    text = "its approximation is convexDecomposition, and 1 of its 2 parts are not convex: the convex hull of each"
    content = beside(TETRAHEDRON, L_SHAPE)
    read = contacts_of(
        body("a", collider("Mesh", "shape", content + approximation("convexDecomposition"), (MESH,))) + FLOOR
    )
    assert [len(one.shape.points) for one in read.contacts.colliders if one.path == "/a/shape"] == [4, 10]
    assert len(read.told) == 1 and text in read.told[0]
    assert len(contacts_of(body("a", collider("Mesh", "shape", content, (MESH,))) + FLOOR).pairs) == 1


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    """A cache folder that nobody has used."""
    monkeypatch.setattr(convex_parts, "_folder", lambda: tmp_path / "parts")
    return tmp_path / "parts"


@pytest.mark.parametrize("header, scale", [(SI, (1, 1, 1)), (CENTIMETRES, (-100, 200, 100))])
@pytest.mark.parametrize("word", ["convexDecomposition", "sdf"])
def test_a_solid_is_decomposed(word, header, scale, own_cache):
    """An L becomes parts that fill it, also stretched and mirrored; they are kept, and the same the next time."""
    text = body("a", collider("Mesh", "shape", L_SHAPE + approximation(word) + scaled(*scale), (MESH,))) + FLOOR
    shapes = []
    for _ in range(2):
        read = contacts_of(text, header)
        assert any(f"convex parts by CoACD, as its approximation is {word}" in note for note in read.notes)
        assert read.told == []
        shapes.append([one.shape for one in read.contacts.colliders if one.path == "/a/shape"])
    assert len(list(own_cache.iterdir())) == 1
    assert shapes[0] == shapes[1] and 2 <= len(shapes[0]) <= 4
    volumes = [volume_of(one) for one in shapes[0]]
    whole = 3.0 * abs(math.prod(scale)) * (1.0 if header is SI else 1e-6)
    assert sum(volumes) == pytest.approx(whole, rel=2e-3)


def test_most_parts(own_cache):
    """As many as PhysX's schema says."""
    more = "int physxConvexDecompositionCollision:maxConvexHulls = 1\n"
    content = L_SHAPE + approximation("convexDecomposition") + more
    shape = shape_of("Mesh", content, (MESH, "PhysxConvexDecompositionCollisionAPI"))
    assert mesh(np.array(shape.points), np.array(shape.triangles)).volume == pytest.approx(3.5, rel=0.02)


def test_a_file_of_the_cache_that_is_damaged(own_cache):
    """It is written anew."""
    text = body("a", collider("Mesh", "shape", L_SHAPE + approximation("sdf"), (MESH,))) + FLOOR
    pairs = contacts_of(text).pairs
    (kept,) = own_cache.iterdir()
    size = kept.stat().st_size
    for content in (b"nothing", b"", kept.read_bytes()[: size // 2]):
        kept.write_bytes(content)
        assert contacts_of(text).pairs == pairs and len(pairs) > 1 and kept.stat().st_size == size


def test_a_solid_that_takes_too_long(own_cache, monkeypatch):
    """Its hull is taken, which is told."""
    monkeypatch.setattr(convex_parts, "LONGEST", 1e-3)
    told = ("its approximation is sdf, which is not simulated on what moves: its convex hull is taken",)
    assert len(shape_of("Mesh", L_SHAPE + approximation("sdf"), (MESH,), told=told).points) == 10
    assert not own_cache.exists()


def test_a_mesh_that_stays_and_is_to_be_decomposed():
    """It is its surface, which is nothing to tell."""
    ground = collider("Mesh", "ground", L_SHAPE + approximation("convexDecomposition"), (MESH,))
    read = contacts_of(body("a", collider("Sphere")) + ground)
    assert len([one for one in read.contacts.colliders if one.path == "/ground"]) > 6 and read.told == []


def test_bounds_of_a_mesh():
    """boundingCube and boundingSphere are around its points, with its scale."""
    shape = shape_of("Mesh", L_SHAPE + approximation("boundingCube") + scaled(1, 2, 3, (1, 0, 0)), (MESH,))
    assert shape.half_extents == pytest.approx((1.0, 2.0, 1.5)) and shape.frame.position == pytest.approx((2, 2, 1.5))
    shape = shape_of("Mesh", L_SHAPE + approximation("boundingSphere") + scaled(2, 2, 2), (MESH,))
    assert shape.radius == pytest.approx(3.0) and shape.frame.position == pytest.approx((2, 2, 1))


def test_unknown_approximation():
    """It is told, and taken for none."""
    told = ("physics:approximation: is fancy, which is none of none, meshSimplification",)
    assert shape_of("Mesh", TETRAHEDRON + approximation("fancy"), (MESH,), told=told).kind is ShapeKind.CONVEX


def test_vertices_of_a_hull_are_bounded():
    """64 as in PhysX, or as many as are authored."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    listed = ", ".join(f"({x}, {y}, {z})" for x, y, z in points)
    corners = ", ".join(map(str, range(300)))
    content = (
        f"point3f[] points = [{listed}]\nint[] faceVertexCounts = [{', '.join(['3'] * 100)}]\n"
        f"int[] faceVertexIndices = [{corners}]\n{approximation('convexHull')}"
    )
    for more, count in (
        ("", 64),
        ("int physxConvexHullCollision:hullVertexLimit = 20\n", 20),
        ("int newton:maxHullVertices = -1\n", 300),
    ):
        assert len(shape_of("Mesh", content + more, (MESH,)).points) == count


def test_static_meshes_and_other_kinds():
    """What is no shape touches nothing, and is told together; a mesh has a shape for each patch."""
    text = body("a", collider("Sphere") + collider("BasisCurves", "hair") + collider("Points", "dust")) + collider(
        "Mesh", "ground", L_SHAPE, (MESH,)
    )
    read = contacts_of(text + FLOOR)
    assert set(read.shapes) == {"/a/shape", "/floor", "/ground"}
    assert {name.partition(":")[0] for name in read.pairs} == {"/floor", "/ground"}
    (told,) = read.told
    assert told == (
        "/: 2 colliders of kinds that do not touch others yet (2 other): /a/dust, /a/hair; "
        "everything passes through them"
    )
    hull = collider("Mesh", "ground", L_SHAPE + approximation("convexHull"), (MESH,))
    assert contacts_of(body("a", collider("Sphere")) + hull).shapes["/ground"].kind is ShapeKind.CONVEX


@pytest.mark.parametrize(
    "kind, content",
    [
        ("Sphere", "double radius = 0"),
        ("Cube", scaled(1, 1, 0)),
        (
            "Mesh",
            "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\nint[] faceVertexCounts = [3]\n"
            "int[] faceVertexIndices = [0, 1, 2]",
        ),
        ("Mesh", ""),
    ],
    ids=["ball", "box", "flat", "empty"],
)
def test_shapes_without_size(kind, content):
    """They touch nothing, which is told."""
    read = contacts_of(body("a", collider(kind, "shape", content, (MESH,) if kind == "Mesh" else ())) + FLOOR)
    assert read.pairs == {}
    assert read.told == ["/a/shape: has no size that something could touch, so it touches nothing"]


def test_wrong_sizes_are_errors():
    """A size that cannot be is an error and nothing else."""
    read = contacts_of(body("a", collider("Sphere")) + collider("Sphere", "s", "double radius = -1"))
    assert read.told == ["/s.radius: is -1, must not be negative"]

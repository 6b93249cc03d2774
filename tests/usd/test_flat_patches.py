"""Meshes that stay become flat convex patches."""

import numpy as np
import pytest

from tests.usd.authoring import body, joint
from tests.usd.contact_stages import collider, contacts_of, scaled
from tests.usd.test_read_shape import L_SHAPE, MESH, TETRAHEDRON
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.usd import flat_patches as patches_file
from warp_artic.usd import read_shape
from warp_artic.usd.flat_patches import flat_patches


def grid(count: int, height=lambda x, y: 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a square of cells with sides of one."""
    points = np.array([(x, y, height(x, y)) for y in range(count + 1) for x in range(count + 1)], float)
    cells = [x + (count + 1) * y for y in range(count) for x in range(count)]
    return points, np.array(
        [half for a in cells for half in ((a, a + 1, a + count + 2), (a, a + count + 2, a + count + 1))]
    )


def area(corners: np.ndarray) -> float:
    """Of a polygon (N, 2)."""
    x, y = corners.T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def text(points, triangles) -> str:
    """The content of a mesh."""
    rows = ", ".join(str(tuple(map(float, point))) for point in points)
    corners = ", ".join(str(corner) for corner in np.ravel(triangles).tolist())
    counts = ", ".join("3" for _ in triangles)
    return f"point3f[] points = [{rows}]\nint[] faceVertexCounts = [{counts}]\nint[] faceVertexIndices = [{corners}]\n"


def patches_of(content: str) -> list[Shape]:
    """The shapes of a mesh that stays."""
    read = contacts_of(body("a", collider("Sphere")) + collider("Mesh", "ground", content, (MESH,)))
    assert not read.told
    assert len({*read.pairs}) == sum(pair.shape0.path == "/ground" for pair in read.pairs.values())
    return [one.shape for one in read.contacts.colliders if one.path == "/ground"]


def test_a_flat_grid_is_one_patch():
    """Whatever its triangles, also where each has its own points, with four corners and no seam."""
    points, triangles = grid(4)
    for own in ((points, triangles), (points[triangles.ravel()], np.arange(96).reshape(-1, 3))):
        (patch,) = flat_patches(*own)
        assert len(patch.corners) == 4 and area(patch.corners) == pytest.approx(16.0) and patch.seams == ()


def test_a_face_that_is_not_convex():
    """It is covered by a few patches without overlap, that know of each other."""
    points, triangles = grid(4)
    middles = points[triangles].mean(axis=1)
    found = flat_patches(points, triangles[(middles[:, 0] < 2.0) | (middles[:, 1] < 2.0)])
    assert len(found) == 2 and all(one.seams for one in found)
    assert sum(area(one.corners) for one in found) == pytest.approx(12.0)
    assert {seam.bend for one in found for seam in one.seams} == {0.0}


def test_bends():
    """A ridge bends away from both sides, a valley does not."""
    for slope in (0.5, -0.5):
        found = flat_patches(*grid(2, lambda x, y, slope=slope: -slope * abs(x - 1)))
        assert len(found) == 2
        bends = [seam.bend for one in found for seam in one.seams]
        assert bends == pytest.approx([max(2.0 * np.arctan(slope), 0.0)] * 2)


def test_static_meshes():
    """One that is convex is its hull, another one is as many flat hulls as it has faces; mirrored ones likewise."""
    for scale in ((1, 2, 3), (-1, 1, 1)):
        (hull,) = patches_of(TETRAHEDRON + scaled(*scale))
        assert len(hull.points) == 4 and not hull.seams
        found = patches_of(L_SHAPE + scaled(*scale))
        assert len(found) == 10 and {one.kind for one in found} == {ShapeKind.CONVEX}
        middle = np.mean([one.frame.position for one in found], axis=0)
        outward = [(one.frame.position - middle) @ one.frame.rotation[:, 2] for one in found]
        assert sum(side > 0.0 for side in outward) >= 8 and all(one.is_one_sided and one.seams for one in found)


def test_too_many_triangles_are_told(monkeypatch):
    """With how many there are, and how many there may be."""
    monkeypatch.setattr(patches_file, "MOST_TRIANGLES", 100)
    monkeypatch.setattr(read_shape, "MOST_TRIANGLES", 100)
    content = text(*grid(8, lambda x, y: float(np.sin(x * y))))
    read = contacts_of(body("a", collider("Sphere")) + collider("Mesh", "ground", content, (MESH,)))
    assert set(read.shapes) == {"/a/shape"} and read.pairs == {}
    assert "/ground: its surface has 128 triangles; at most 100 are simulated" in read.told[0]
    assert "1 collider of kinds that do not touch others yet (1 mesh): /ground" in read.told[1]


def test_fine_meshes_are_touched_by_islands():
    """What may touch more patches than a mechanism has room for is solved by islands; what reaches fewer is not."""
    ground = collider("Mesh", "ground", text(*grid(8, lambda x, y: float(np.sin(x * y)))), (MESH,))
    read = contacts_of(body("a", collider("Sphere")) + ground)
    assert read.told == [] and read.pairs == {}
    assert read.islands.articulations == {"/a"} and len(read.islands.colliders) > 100
    arm = body("arm", collider("Sphere", "shape", "double radius = 0.3"), at=(0, 0, 0.2))
    held = contacts_of(arm + joint("hinge", "Revolute", "", "/arm") + ground)
    assert held.islands is None and 0 < len(held.pairs) <= 64


def test_fine_meshes_and_what_is_carried():
    """What a moving kinematic body carries is a mechanism by itself: it passes through, which is told."""
    ground = collider("Mesh", "ground", text(*grid(8, lambda x, y: float(np.sin(x * y)))), (MESH,))
    moves = (
        "bool physics:kinematicEnabled = 1\ndouble3 xformOp:translate.timeSamples = { 0: (0, 0, 2), 24: (1, 0, 2) }\n"
    )
    order = 'uniform token[] xformOpOrder = ["xformOp:translate"]\n'
    base = f'def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{\n{moves}{order}}}\n'
    arm = body("arm", collider("Sphere", "shape", "double radius = 3"), at=(0, 0, 2))
    read = contacts_of(base + arm + joint("hinge", "Revolute", "/base", "/arm") + ground)
    assert read.islands is None and read.pairs == {}
    assert any("could touch and pass through each other: /arm and /ground" in one for one in read.told)

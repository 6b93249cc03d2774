"""What is drawn of a stage: surfaces where USD has them, and their motion as recorded."""

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom

import warp_artic as wa
from tests.usd.skinned import skinned_stage
from tests.usd.test_write_skeletons import skinned_points, thrown
from warp_artic.description.drawing import WORLD_BODY, PartKind, placed
from warp_artic.usd import tessellate
from warp_artic.usd.read_drawing import read_drawing
from warp_artic.usd.read_motion import frame_times, played, read_motion
from warp_artic.usd.source import open_source, with_recording


def volume(points, triangles):
    """By the divergence theorem: positive where triangles face outwards."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0


@pytest.mark.parametrize(
    "surface, exact, share",
    [
        (tessellate.box(2.0), 8.0, 1e-12),
        (tessellate.sphere(1.0), 4 / 3 * np.pi, 0.02),
        (tessellate.capsule(0.5, 2.0), np.pi * 0.25 * (2.0 + 2 / 3), 0.02),
        (tessellate.cylinder(1.0, 1.0, 2.0), 2.0 * np.pi, 0.01),
        (tessellate.cylinder(1.0, 0.0, 3.0), np.pi, 0.01),
    ],
)
def test_shapes_are_closed_and_face_outwards(surface, exact, share):
    """Each edge is there once in each direction, and the volume is that of the shape."""
    points, triangles = surface
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    keys, back = edges @ [len(points), 1], edges @ [1, len(points)]
    assert len(set(keys)) == len(keys) and set(keys) == set(back)
    assert volume(points, triangles) == pytest.approx(exact, rel=share)


def test_normals_keep_edges_sharp_and_curves_smooth():
    """A cube has 24 corners with the normals of its faces; the normals of a ball are its radii."""
    points, normals, triangles = tessellate.with_normals(*tessellate.box(2.0))
    assert len(points) == 24 and set(map(tuple, np.abs(np.round(normals, 9)))) == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    points, normals, _ = tessellate.with_normals(*tessellate.sphere(1.0))
    assert np.abs(normals - points).max() < 0.02


def test_polygons_become_fans():
    """A quadrilateral and a pentagon are five triangles of their corners."""
    found = tessellate.fan(np.array([4, 5]), np.array([0, 1, 2, 3, 4, 5, 6, 7, 8]))
    assert found.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7], [4, 7, 8]]


def test_meshes_are_simplified_to_a_number_of_triangles():
    """A fine grid becomes one with at most so many, of the same extent but for the size of a cell."""
    n = 60
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n))
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(n * n)])
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    quads = np.stack([corner, corner + 1, corner + n + 1, corner + n], axis=1)
    found, faces = tessellate.simplified(points, tessellate.fan(np.full(len(quads), 4), quads.ravel()), 1000)
    assert 300 < len(faces) <= 1000
    assert np.abs(np.ptp(found, axis=0) - [1, 1, 0]).max() < 0.1


def stage_of_one_mesh():
    """In centimetres, Y up: a mirrored mesh on a turned link with a scale, below an offset."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, "Y")
    UsdGeom.Xform.Define(stage, "/World").AddTranslateOp().Set((100, 0, 0))
    link = UsdGeom.Xform.Define(stage, "/World/link")
    link.AddTranslateOp().Set((0, 50, 0), 0)
    link.GetOrderedXformOps()[0].Set((0, 150, 0), 24)
    link.AddRotateZOp().Set(90)
    link.AddScaleOp().Set((2, 2, 2))
    mesh = UsdGeom.Mesh.Define(stage, "/World/link/mesh")
    mesh.AddScaleOp().Set((-1, 1, 1))
    mesh.CreatePointsAttr([(0, 0, 0), (10, 0, 0), (0, 10, 0), (0, 0, 10)])
    mesh.CreateFaceVertexCountsAttr([3, 3, 3, 3])
    mesh.CreateFaceVertexIndicesAttr([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3])
    mesh.CreateDisplayColorAttr([(0.2, 0.4, 0.6)])
    UsdGeom.Plane.Define(stage, "/floor").CreateAxisAttr("Y")
    hidden = UsdGeom.Cube.Define(stage, "/hidden")
    hidden.MakeInvisible()
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(24)
    return stage


def test_points_are_where_usd_has_them():
    """World positions of what is drawn are those of USD in metres, over time; mirrored surfaces still face outwards."""
    stage = stage_of_one_mesh()
    drawing = read_drawing(stage)
    assert drawing.up == 1 and drawing.ground == 0.0 and drawing.bodies == ("/World/link",)
    (part,) = drawing.parts
    assert part.color == pytest.approx((0.2, 0.4, 0.6)) and part.kind is PartKind.VISUAL
    motion = read_motion(stage, drawing, np.array([0.0, 0.5, 1.0]))
    corners = np.array([(0, 0, 0), (10, 0, 0), (0, 10, 0), (0, 0, 10)], float)
    for frame, code in enumerate((0, 12, 24)):
        W = UsdGeom.XformCache(code).GetLocalToWorldTransform(stage.GetPrimAtPath("/World/link/mesh"))
        expected = {tuple(np.round(np.array(W.Transform(Gf.Vec3d(*corner))) * 0.01, 6)) for corner in corners}
        found = placed(part.points, part.body, motion.matrices(frame))
        assert {tuple(row) for row in np.round(found, 6) + 0.0} == expected
        assert volume(found, part.triangles) == pytest.approx(0.2**3 / 6.0)


def test_a_recording_moves_links_as_recorded():
    """Poses that are drawn of a recording are its own; the stage is not touched."""
    path = "samples/scenes/ragdoll.usda"
    stage = Usd.Stage.Open(path)
    scene = wa.read_stage(stage)
    recording = wa.Simulation(scene).record(60)
    before = stage.GetRootLayer().ExportToString()
    times = frame_times(shown := played(stage, recording, 0, recording.time), 240.0)
    drawing = read_drawing(shown, scene)
    motion = read_motion(shown, drawing, recording.time)
    assert times == pytest.approx(recording.time) and stage.GetRootLayer().ExportToString() == before
    order = [drawing.bodies.index(name) for name in recording.link_names]
    assert np.abs(motion.poses[:, order, :3] - recording.link_pose[:, 0, :, :3]).max() < 1e-5
    dots = np.abs(np.einsum("flq,flq->fl", motion.poses[:, order, 3:], recording.link_pose[:, 0, :, 3:]))
    assert np.abs(dots - 1.0).max() < 1e-5
    assert len(drawing.joints) == 12 and {part.kind for part in drawing.parts} == {PartKind.VISUAL}


def test_links_without_a_shape_are_shown_by_their_inertia():
    """A box of the same mass has the inertia of the link, and rods lead to its joints."""
    scene = wa.read_stage("tests/data/oracle/stages/pendulum_double.usda")
    drawing = read_drawing(Usd.Stage.Open("tests/data/oracle/stages/pendulum_double.usda"), scene)
    links = {part.path for part in drawing.parts if part.kind is PartKind.STAND_IN}
    shown = {part.body for part in drawing.parts if part.kind is not PartKind.STAND_IN}
    assert links == {path for path in scene.link_names if drawing.bodies.index(path) not in shown}


def test_tendons_are_lines_through_their_attachments():
    """In the frames of the links that they pass; what is on none stays in the world."""
    scene = wa.read_stage("samples/scenes/tackle.usda")
    drawing = read_drawing(Usd.Stage.Open("samples/scenes/tackle.usda"), scene)
    names = [name for tree in scene.articulations for tendon in tree.spatial_tendons for name in tendon.leaf_names]
    assert [strand.tendon for strand in drawing.strands] == names
    assert all(len(strand.bodies) == len(strand.points) > 1 for strand in drawing.strands)
    assert all(WORLD_BODY <= body < len(drawing.bodies) for strand in drawing.strands for body in strand.bodies)


@pytest.mark.parametrize("environment, word", [(1, "environment 1 is not in the recording")])
def test_environments_that_are_not_there_are_refused(environment, word):
    """With how many there are."""
    stage = Usd.Stage.Open("samples/scenes/pendulum.usda")
    recording = wa.Simulation(wa.read_stage(stage)).record(1)
    with pytest.raises(wa.SettingsError, match=word):
        played(stage, recording, environment, recording.time)


def test_skin_moves_as_usd_has_it(tmp_path):
    """Of a recording of links, of the layer that is baked of it, and of a walk alone; a stage that is to be simulated
    is at rest, with its skin where the walk starts."""
    stage = skinned_stage(tmp_path / "walk.usda")
    UsdGeom.SetStageMetersPerUnit(stage, 0.5)
    stage.GetRootLayer().Save()
    walk = open_source(tmp_path / "walk.usda", frames_per_second=24.0)
    wa.author.ragdoll(stage)
    stage.GetRootLayer().Export(str(tmp_path / "ragdoll.usda"))
    ragdoll = Usd.Stage.Open(str(tmp_path / "ragdoll.usda"))
    recording = thrown(ragdoll)
    wa.write_results(ragdoll, recording, tmp_path / "baked.usdc")
    still = open_source(tmp_path / "ragdoll.usda")
    assert still.times == (0.0,)
    baked = open_source(tmp_path / "baked.usdc", frames_per_second=24.0)
    played = with_recording(still, recording, 0, 24.0)
    for source, own in ((walk, walk), (baked, baked), (played, baked)):
        (part,) = [part for part in source.drawing.parts if part.is_skin]
        assert part.deforms and not source.drawing.without_skin().parts == source.drawing.parts
        points = source.motion().points["/Character/skin"]
        assert len(points) == len(source.times)
        for frame in (0, 5, 11):
            expected = 0.5 * skinned_points(own.stage, 24.0 * source.times[frame])
            np.testing.assert_allclose(points[frame], expected, atol=1e-6)
    crowd = Usd.Stage.CreateNew(str(tmp_path / "crowd.usda"))
    UsdGeom.Xform.Define(crowd, "/Place").AddTranslateOp().Set((3.0, 0.0, 1.0))
    copy = crowd.DefinePrim("/Place/Copy")
    copy.GetReferences().AddReference("./walk.usda")
    copy.SetInstanceable(True)
    (part,) = [part for part in read_drawing(crowd).parts if part.is_skin]
    expected = skinned_points(stage, 0.0) + (3.0, 0.0, 1.0)
    np.testing.assert_allclose(part.points, UsdGeom.GetStageMetersPerUnit(crowd) * expected, atol=1e-6)
    (part,) = [part for part in still.drawing.parts if part.is_skin]
    np.testing.assert_allclose(still.motion().points[part.path][0], 0.5 * skinned_points(stage, 0.0), atol=1e-6)
    np.testing.assert_allclose(part.points[:4], 0.5 * skinned_points(stage, 0.0)[:4], atol=1e-6)

"""A run layer has the points of elastic bodies, lengths and tensions of tendons, and curves that show them."""

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom

from tests.usd.authoring import SI, SMALL_UNITS, body, errors_of, joint, open_text, schemas, warnings_of
from tests.usd.meshes import SHEET_POINTS, block, rubber, sheet, tendon, world
from warp_artic.errors import SolveError
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.write_clips import ClipWriter
from warp_artic.usd.write_meshes import SLACK, TAUT
from warp_artic.usd.write_results import write_results

SHEET, BLOCK, CABLE = "/World/sheet", "/World/block", "/World/cable"
TURNED = """double3 xformOp:translate = (1, 2, 3)
float xformOp:rotateZ = 90
float3 xformOp:scale = (2, 3, 4)
uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateZ", "xformOp:scale"]
"""
PATH = """int[] warpArtic:nodes = [0, 1, 4]
int[] warpArtic:nodeCounts = [1, 2, 0, 0]
rel warpArtic:links = [</World/tip>]
int[] warpArtic:linkIndices = [0, -1]
point3d[] warpArtic:positions = [(1, 0, 0), (5, 6, 7)]
"""
RECORDS, RATE = 25, 24


def stage_file(tmp_path, *parts, header=SI):
    path = str(tmp_path / "soft.usda")
    world(*parts, header=header).GetRootLayer().Export(path)
    return path


def recorded(path, links=("/World/base", "/World/tip"), seed=1, **changes):
    """A recording in which points wander, links turn, and tensions grow from zero."""
    random, scene = np.random.default_rng(seed), read_stage(path)
    t = np.arange(RECORDS) / RATE
    nodes = tuple(one.name for one in scene.elastic_bodies for _ in one.points)
    start = [
        one.pose.apply((*point, 0.0)[:3]) for one in scene.elastic_bodies for point in np.asarray(one.points).tolist()
    ]
    points = np.array(start) + t[:, None, None] * random.normal(size=(len(nodes), 3)) * 0.1
    pose = np.zeros((RECORDS, 1, len(links), 7))
    poses = {link.path: link.pose for tree in scene.articulations for link in tree.links}
    pose[..., :3] = [poses[link].position for link in links]
    pose[..., 2] += 0.1 * t[:, None, None]
    pose[..., 5], pose[..., 6] = np.sin(t)[:, None, None], np.cos(t)[:, None, None]
    names = tuple(one.name for one in scene.mesh_tendons)
    tension = t[:, None, None] * np.arange(1, len(names) + 1) * 3.0
    values = {
        "time": t,
        "joint_names": (),
        "link_names": links,
        "joint_position": np.zeros((RECORDS, 1, 0)),
        "joint_velocity": np.zeros((RECORDS, 1, 0)),
        "link_pose": pose,
        "energy": np.zeros((RECORDS, 1, 2)),
        "mesh_nodes": nodes,
        "mesh_points": points[:, None],
        "mesh_tendon_names": names,
        "mesh_tendon_length": 2.0 + tension,
        "mesh_tendon_tension": tension,
    }
    return Recording(**(values | changes))


def baked(path, recording, tmp_path, name="run.usda"):
    """The stage of a run layer."""
    write_results(path, recording, tmp_path / name)
    return Usd.Stage.Open(str(tmp_path / name))


def world_points(stage, path, code):
    """Points of a prim in the world, in stage units, shape (N, 3)."""
    prim = stage.GetPrimAtPath(path)
    points = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get(code))
    W = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim))
    return points @ W[:3, :3] + W[3, :3]


@pytest.mark.parametrize("header, meters", [(SI, 1.0), (SMALL_UNITS, 0.01)])
def test_points_are_those_of_the_recording(tmp_path, header, meters):
    """Under transforms with scale, in the units of the stage; what is around them holds them."""
    path = stage_file(tmp_path, sheet(TURNED), block(), header=header)
    recording = recorded(path)
    stage = baked(path, recording, tmp_path)
    own = np.array(recording.mesh_nodes)
    for record in (0, 7, 24):
        for name in (SHEET, BLOCK):
            expected = recording.mesh_points[record, 0, own == name] / meters
            found = world_points(stage, name, float(record))
            np.testing.assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())
            low, high = UsdGeom.Boundable(stage.GetPrimAtPath(name)).GetExtentAttr().Get(float(record))
            points = UsdGeom.PointBased(stage.GetPrimAtPath(name)).GetPointsAttr().Get(float(record))
            assert np.allclose(np.min(points, axis=0), low) and np.allclose(np.max(points, axis=0), high)
    assert not stage.GetRootLayer().GetAttributeAtPath(Sdf.Path(f"{SHEET}.xformOpOrder"))
    assert not errors_of(stage) and not warnings_of(stage)


def test_a_run_layer_starts_where_the_run_did(tmp_path):
    """Read again, it is the stage that was simulated; without the layer the mesh is as authored."""
    path = stage_file(tmp_path, sheet(TURNED), tendon())
    stage = baked(path, recorded(path), tmp_path)
    (again,), (before,) = read_stage(stage).elastic_bodies, read_stage(path).elastic_bodies
    np.testing.assert_allclose(again.points, before.points, atol=1e-6)
    source = Usd.Stage.Open(path)
    plain = UsdGeom.Mesh(source.GetPrimAtPath(SHEET)).GetPointsAttr()
    assert plain.GetNumTimeSamples() == 0
    assert np.array_equal(plain.Get(), SHEET_POINTS)


def test_a_mesh_below_a_link(tmp_path):
    """It does not move with the link twice."""
    text = body("base") + body("tip", sheet(points=[(x, y, 0) for x, y, _ in SHEET_POINTS]), at=(1, 0, 0))
    text += joint("held", "Fixed", "", "/World/base")
    text += joint("hinge", "Revolute", "/World/base", "/World/tip", "point3f physics:localPos0 = (1, 0, 0)")
    path = str(tmp_path / "soft.usda")
    root = f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{rubber()}{text}}}\n'
    open_text(root).GetRootLayer().Export(path)
    recording = recorded(path)
    stage = baked(path, recording, tmp_path)
    for record in (0, 24):
        found = world_points(stage, "/World/tip/sheet", float(record))
        np.testing.assert_allclose(found, recording.mesh_points[record, 0], atol=1e-6)


@pytest.mark.parametrize("header, meters, newtons", [(SI, 1.0, 1.0), (SMALL_UNITS, 0.01, 1e-5)])
def test_tendons(tmp_path, header, meters, newtons):
    """Lengths and tensions as outputs of the schema; a curve through the waypoints, coloured by tension."""
    straight = tendon("int[] warpArtic:nodes = [5, 2]", name="other")
    path = stage_file(tmp_path, sheet(TURNED), tendon(PATH), straight, header=header)
    recording = recorded(path)
    stage = baked(path, recording, tmp_path)
    for entry, name in enumerate(recording.mesh_tendon_names):
        for output, values, unit in (
            ("length", recording.mesh_tendon_length, meters),
            ("tension", recording.mesh_tendon_tension, newtons),
        ):
            attribute = stage.GetPrimAtPath(name).GetAttribute(f"warpArtic:{output}")
            assert attribute.Get(12.0) == pytest.approx(values[12, 0, entry] / unit)
    curve = UsdGeom.BasisCurves(stage.GetPrimAtPath(f"{CABLE}/warpArticPath"))
    assert (curve.GetTypeAttr().Get(), list(curve.GetCurveVertexCountsAttr().Get())) == ("linear", [4])
    for record in (0, 12, 24):
        p = recording.mesh_points[record, 0]
        x, y, z, w = recording.link_pose[record, 0, 1, 3:]
        turn = np.array(Gf.Matrix3d(Gf.Quatd(float(w), float(x), float(y), float(z)))).T
        tip = recording.link_pose[record, 0, 1, :3] + turn @ (meters, 0, 0)
        expected = np.array([p[0], (p[1] + p[4]) / 2, tip, np.array((5, 6, 7)) * meters]) / meters
        np.testing.assert_allclose(world_points(stage, curve.GetPath(), float(record)), expected, atol=1e-4)
    color = curve.GetDisplayColorPrimvar()
    assert color.GetInterpolation() == "constant"
    np.testing.assert_allclose(color.Get(0.0)[0], SLACK, atol=1e-6)
    np.testing.assert_allclose(color.Get(24.0)[0], 0.5 * (SLACK + TAUT), atol=1e-6)
    other = UsdGeom.BasisCurves(stage.GetPrimAtPath("/World/other/warpArticPath"))
    np.testing.assert_allclose(other.GetDisplayColorPrimvar().Get(24.0)[0], TAUT, atol=1e-6)
    tension = UsdGeom.PrimvarsAPI(curve).GetPrimvar("tension").Get(24.0)
    assert tension == pytest.approx(recording.mesh_tendon_tension[24, 0, 0] / newtons)
    assert curve.GetWidthsInterpolation() == "constant" and 0 < curve.GetWidthsAttr().Get()[0] < 1
    assert not errors_of(stage) and not warnings_of(stage)


def test_outputs_have_the_types_of_the_schema(tmp_path):
    """A run layer declares what the classes do."""
    path = stage_file(tmp_path, sheet(), tendon())
    stage = baked(path, recorded(path), tmp_path)
    layer = stage.GetRootLayer()
    for name in ("length", "tension"):
        assert str(layer.GetAttributeAtPath(Sdf.Path(f"{CABLE}.warpArtic:{name}")).typeName) == "double"
    assert str(layer.GetAttributeAtPath(Sdf.Path(f"{SHEET}.points")).typeName) == "point3f[]"
    assert layer.GetPrimAtPath(f"{CABLE}/warpArticPath").specifier == Sdf.SpecifierDef


def test_one_record(tmp_path):
    """A run without steps has values, and no samples."""
    path = stage_file(tmp_path, sheet(), tendon())
    recording = recorded(path)
    first = {
        name: getattr(recording, name)[:1]
        for name in ("time", "mesh_points", "mesh_tendon_length", "mesh_tendon_tension", "link_pose", "energy")
    }
    first |= {name: getattr(recording, name)[:1] for name in ("joint_position", "joint_velocity")}
    stage = baked(path, recorded(path, **first), tmp_path)
    assert UsdGeom.Mesh(stage.GetPrimAtPath(SHEET)).GetPointsAttr().GetNumTimeSamples() == 0
    np.testing.assert_allclose(world_points(stage, SHEET, 0.0), SHEET_POINTS, atol=1e-6)


def test_tendons_that_were_not_recorded(tmp_path):
    """The points of the body are written without them."""
    path = stage_file(tmp_path, sheet(), tendon())
    nothing = np.zeros((RECORDS, 1, 0))
    stage = baked(path, recorded(path, mesh_tendon_length=nothing, mesh_tendon_tension=nothing), tmp_path)
    assert UsdGeom.Mesh(stage.GetPrimAtPath(SHEET)).GetPointsAttr().GetNumTimeSamples() > 1
    assert not stage.GetPrimAtPath(CABLE).GetAttribute("warpArtic:length").GetTimeSamples()


def test_a_body_that_is_not_finite(tmp_path):
    """Nothing is written, and the body is named."""
    path = stage_file(tmp_path, sheet())
    points = recorded(path).mesh_points.copy()
    points[3, 0, 2, 1] = np.nan
    with pytest.raises(SolveError, match="/World/sheet: a position is not finite at 0.125 s; nothing is written"):
        write_results(path, recorded(path, mesh_points=points), tmp_path / "run.usda")
    assert not (tmp_path / "run.usda").exists()


def test_clips(tmp_path):
    """In clips a mesh plays as it does in one layer, and so do the curves."""
    path = stage_file(tmp_path, sheet(TURNED), tendon(PATH))
    recording = recorded(path)
    whole = baked(path, recording, tmp_path)
    writer = ClipWriter(path, tmp_path / "clips.usda")
    names = ("time", "mesh_points", "mesh_tendon_length", "mesh_tendon_tension", "link_pose", "energy")
    for first, last in ((0, 13), (12, 25)):
        part = {name: getattr(recording, name)[first:last] for name in (*names, "joint_position", "joint_velocity")}
        writer.write(recorded(path, **part))
    writer.finish()
    clips = Usd.Stage.Open(str(tmp_path / "clips.usda"))
    for code in (0.0, 3.0, 12.0, 17.0, 24.0):
        for prim in (SHEET, f"{CABLE}/warpArticPath"):
            np.testing.assert_allclose(world_points(clips, prim, code), world_points(whole, prim, code), atol=1e-6)
        tension = [one.GetPrimAtPath(CABLE).GetAttribute("warpArtic:tension").Get(code) for one in (clips, whole)]
        assert tension[0] == pytest.approx(tension[1])
        curves = [one.GetPrimAtPath(f"{CABLE}/warpArticPath") for one in (clips, whole)]
        for name in ("widths", "primvars:displayColor"):
            values = [np.array(curve.GetAttribute(name).Get(code)) for curve in curves]
            np.testing.assert_allclose(*values, atol=1e-6, err_msg=name)

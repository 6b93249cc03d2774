"""Guide prims of a run layer show the frames of joints where they are, and what their limits allow."""

import hashlib

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdPhysics
from scipy.spatial.transform import Rotation

import warp_artic as wa
from tests.usd.authoring import SI, SMALL_UNITS, body, joint, open_text, schemas
from tests.usd.test_read_base_motion import animated, stage_of
from tests.usd.test_stacked_joints import planar
from warp_artic.errors import StageError
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.read_drawing import read_drawing
from warp_artic.usd.write_clips import ClipWriter

X, Y, Z = np.eye(3)
BARE = "timeCodesPerSecond = 24\nstartTimeCode = 3\n"
TIMES = BARE + 'defaultPrim = "World"\n'


def run_layer(stage, folder, steps=60, guides=True, velocity=None, **settings):
    """The run layer of a stage, opened, with the recording."""
    stage.GetRootLayer().Export(str(folder / "source.usda"))
    scene = wa.read_stage(folder / "source.usda")
    simulation = wa.Simulation(scene, settings=wa.SolverSettings(precision="float64", **settings))
    if velocity is not None:
        simulation.set_state(joint_velocity=velocity)
    recording = simulation.record(steps)
    wa.write_results(folder / "source.usda", recording, folder / "run.usda", guides=scene if guides else None)
    return Usd.Stage.Open(str(folder / "run.usda")), recording


def world(stage, path, code):
    """World matrix of a prim, for rows."""
    prim = stage.GetPrimAtPath(path)
    assert prim, path
    return np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim))


def drawn(stage, path, code, meters):
    """Origin [m] and unit axes (rows), and the length of the axes in the world, of a frame that is drawn."""
    W = world(stage, path, code)
    ends = np.array(stage.GetPrimAtPath(f"{path}/axes").GetAttribute("points").Get(), float)
    assert np.abs(ends[::2]).max() == 0.0
    axes = (ends[1::2] @ W[:3, :3]) * meters
    lengths = np.linalg.norm(axes, axis=1)
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-5)
    return W[3, :3] * meters, axes / lengths[:, None], lengths[0]


def recorded_frame(source, recording, joint_path, side, record):
    """Origin [m] and unit axes (rows) of a side of a joint: what the stage authors, on the pose that was recorded.

    The only joint to the world fixes its body, where that is.
    """
    prim = UsdPhysics.Joint(source.GetPrimAtPath(joint_path))
    meters = UsdGeom.GetStageMetersPerUnit(source)
    targets = (prim.GetBody0Rel, prim.GetBody1Rel)[side]().GetTargets()
    position = np.array((prim.GetLocalPos0Attr, prim.GetLocalPos1Attr)[side]().Get() or (0, 0, 0), float) * meters
    q = (prim.GetLocalRot0Attr, prim.GetLocalRot1Attr)[side]().Get() or Gf.Quatf(1.0)
    R = Rotation.from_quat([*q.imaginary, q.real])
    if not targets:
        return recorded_frame(source, recording, joint_path, 1 - side, 0)
    scale = np.linalg.norm(world(source, targets[0], source.GetStartTimeCode())[:3, :3], axis=1)
    pose = recording.link_pose[record, 0, recording.link_names.index(str(targets[0]))].astype(float)
    turn = Rotation.from_quat(pose[3:])
    return pose[:3] + turn.apply(scale * position), (turn * R).as_matrix().T


def sides(stage):
    """Paths of joints."""
    return [str(prim.GetPath()) for prim in stage.Traverse() if prim.IsA(UsdPhysics.Joint)]


def name_of(path):
    return path.removeprefix("/World/").replace("/", "_")


PLACED = "point3f physics:localPos0 = (0.2, 0.1, 0)\nquatf physics:localRot0 = (0.8, 0, 0.6, 0)\n"
PLACED += "point3f physics:localPos1 = (-0.3, 0, 0.1)\nquatf physics:localRot1 = (0.6, 0.8, 0, 0)\n"
LIMITED = "float physics:lowerLimit = -20\nfloat physics:upperLimit = 35\n"


def closed(header=TIMES + SI, above="", instance=""):
    """Four links in a ring: a fixed one, a hinge, a ball joint, one whose bodies are reversed, and one of a loop."""
    order = 'uniform token[] xformOpOrder = ["xformOp:scale"]'
    text = (
        f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{above}\n'
        + f'def Xform "scaled" {{\ndouble3 xformOp:scale = (2, 2, 2)\n{order}\n'
        + body("base")
        + body("a")
        + f'}}\ndef Xform "stretched" {{\ndouble3 xformOp:scale = (1, 3, 0.5)\n{order}\n'
        + body("b")
        + "}\n"
        + body("c")
        + joint("held", "Fixed", "", "/World/scaled/base")
        + joint("hinge", "Revolute", "/World/scaled/base", "/World/scaled/a", PLACED + LIMITED)
        + joint("ball", "Spherical", "/World/scaled/a", "/World/stretched/b", PLACED)
        + joint("back", "Revolute", "/World/c", "/World/stretched/b", PLACED)
        + joint("rope", "Distance", "/World/c", "/World/scaled/base", PLACED + "float physics:maxDistance = 50\n")
        + "}\n"
    )
    return open_text(text, header)


@pytest.mark.parametrize("header", [TIMES + SI, TIMES + SMALL_UNITS], ids=["SI", "cm, g, Y up"])
@pytest.mark.parametrize("above", ["", "turned"])
def test_frames_are_those_of_the_recording(header, above, tmp_path):
    """Of trees and loops, below scaled prims, and where what all are below is placed and scaled unevenly."""
    if above:
        above = (
            "double3 xformOp:translate = (1, 2, 3)\ndouble3 xformOp:scale = (2, 2, 4)\n"
            "double xformOp:rotateX = 30\n"
            'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateX", "xformOp:scale"]'
        )
    source = closed(header, above)
    meters = UsdGeom.GetStageMetersPerUnit(source)
    stage, recording = run_layer(source, tmp_path, steps=120)
    assert UsdGeom.GetStageMetersPerUnit(stage) == meters
    assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.GetStageUpAxis(source)
    assert np.ptp(recording.link_pose, axis=0).max() > 0.05
    sizes = set()
    for path in ("/World/held", "/World/hinge", "/World/ball", "/World/back"):
        for frame in range(0, 13):
            for side, name in ((0, "first"), (1, "second")):
                position, axes, length = drawn(stage, f"/World/JointGuides/{name_of(path)}/{name}", 3 + frame, meters)
                expected = recorded_frame(source, recording, path, side, 10 * frame)
                np.testing.assert_allclose(position, expected[0], atol=1e-5)
                np.testing.assert_allclose(axes, expected[1], atol=1e-5)
                sizes.add((name, round(length, 5)))
    assert len(sizes) == 2
    for side, name in ((0, "first"), (1, "second")):
        for frame in (0, 6, 12):
            position, _, _ = drawn(stage, f"/World/JointGuides/rope/{name}", 3 + frame, meters)
            expected = recorded_frame(source, recording, "/World/rope", side, 10 * frame)
            np.testing.assert_allclose(position, expected[0], atol=1e-5)


def guides_of(stage):
    return [prim for prim in stage.Traverse() if "JointGuides" in str(prim.GetPath())]


def test_one_scope_of_guides_with_extents(tmp_path):
    """All are below one scope of the run layer, drawn as guides only, and extend to what USD finds they do."""
    stage, _ = run_layer(closed(), tmp_path)
    (scope,) = [prim for prim in guides_of(stage) if prim.GetName() == "JointGuides"]
    assert scope.GetPath() == "/World/JointGuides" and scope.IsA(UsdGeom.Scope)
    assert sorted(scope.GetChildrenNames()) == sorted(name_of(path) for path in sides(stage))
    curves = [prim for prim in guides_of(stage) if prim.IsA(UsdGeom.BasisCurves)]
    assert len(curves) == 2 * 5 + 2  # axes of both frames of each joint, and the limits of the hinge and the rope
    for prim in curves:
        assert UsdGeom.Imageable(prim).ComputePurpose() == UsdGeom.Tokens.guide
        shape = UsdGeom.BasisCurves(prim)
        counts, points = shape.GetCurveVertexCountsAttr().Get(), shape.GetPointsAttr().Get()
        assert sum(counts) == len(points) and min(counts) >= 2
        found = UsdGeom.Boundable.ComputeExtentFromPlugins(shape, Usd.TimeCode.Default())
        np.testing.assert_allclose(shape.GetExtentAttr().Get(), found, rtol=1e-6, atol=1e-7)
        colors = UsdGeom.PrimvarsAPI(prim).GetPrimvar("displayColor")
        assert colors.GetInterpolation() == UsdGeom.Tokens.uniform and len(colors.Get()) == len(counts)
    box = UsdGeom.BBoxCache(3.0, [UsdGeom.Tokens.default_]).ComputeWorldBound(scope).ComputeAlignedRange()
    assert box.IsEmpty()


def test_the_stage_stays_and_nothing_is_there_unasked(tmp_path):
    """Without guides the layer is as before, and with them all else in it is."""
    source = closed()
    with_guides, _ = run_layer(source, tmp_path)
    digest = hashlib.sha256((tmp_path / "source.usda").read_bytes()).hexdigest()
    layer = with_guides.GetRootLayer().ExportToString()
    assert hashlib.sha256((tmp_path / "source.usda").read_bytes()).hexdigest() == digest
    edits = Usd.Stage.Open(with_guides.GetRootLayer())
    edits.SetEditTarget(edits.GetRootLayer())
    edits.RemovePrim("/World/JointGuides")
    bare = edits.GetRootLayer().ExportToString()
    (tmp_path / "bare").mkdir()
    without, _ = run_layer(source, tmp_path / "bare", guides=False)
    assert guides_of(without) == [] and len(layer) > len(bare)
    assert without.GetRootLayer().ExportToString() == bare


def test_instanced_robots(tmp_path):
    """Of two instances of an asset, each has guides, beside what stays an instance."""
    asset = open_text(
        f'def Xform "Robot" {schemas("PhysicsArticulationRootAPI")} {{\n'
        + body("base")
        + body("rod")
        + joint("held", "Fixed", "", "/Robot/base", "point3f physics:localPos0 = (0, 0, 0)")
        + joint("hinge", "Revolute", "/Robot/base", "/Robot/rod", PLACED + LIMITED)
        + "}\n",
    )
    asset.GetRootLayer().defaultPrim = "Robot"
    asset.GetRootLayer().Export(str(tmp_path / "robot.usda"))
    place = 'double3 xformOp:translate = ({}, 0, 0)\nuniform token[] xformOpOrder = ["xformOp:translate"]\n'
    refer = "(instanceable = true\nprepend references = @{}@)"
    copies = "".join(
        f'def "r{k}" {refer.format(tmp_path / "robot.usda")} {{\n{place.format(3 * k)}}}\n' for k in (0, 1)
    )
    source = open_text(f'def Xform "World" {{\n{copies}}}\n', TIMES + SI)
    stage, recording = run_layer(source, tmp_path)
    assert len(recording.link_names) == 4
    names = stage.GetPrimAtPath("/World/JointGuides").GetChildrenNames()
    assert sorted(names) == ["r0_held", "r0_hinge", "r1_held", "r1_hinge"]
    for k in (0, 1):
        for record, code in ((0, 3), (60, 9)):
            for side, name in ((0, "first"), (1, "second")):
                position, axes, _ = drawn(stage, f"/World/JointGuides/r{k}_hinge/{name}", code, 1.0)
                expected = recorded_frame(source, recording, f"/World/r{k}/hinge", side, record)
                np.testing.assert_allclose(position, expected[0], atol=1e-5)
                np.testing.assert_allclose(axes, expected[1], atol=1e-5)


def shown_at(stage, path, folder, poses):
    """A run layer in which the only link is at given poses (position, rotation), a frame each."""
    stage.GetRootLayer().Export(str(folder / "source.usda"))
    scene = wa.read_stage(folder / "source.usda")
    table = np.array([[*position, *rotation.as_quat()] for position, rotation in poses])[:, None, None]
    recording = Recording(
        time=np.arange(len(poses)) / 24,
        joint_names=scene.dof_names,
        link_names=scene.link_names,
        joint_position=np.zeros((len(poses), 1, len(scene.dof_names))),
        link_pose=table,
    )
    wa.write_results(folder / "source.usda", recording, folder / "run.usda", guides=scene)
    return Usd.Stage.Open(str(folder / "run.usda"))


def lines_of(stage, path, code):
    """Each curve of a prim, in the world."""
    prim = UsdGeom.BasisCurves(stage.GetPrimAtPath(path))
    W = world(stage, path, code)
    points = np.array(prim.GetPointsAttr().Get(), float) @ W[:3, :3] + W[3, :3]
    return np.split(points, np.cumsum(prim.GetCurveVertexCountsAttr().Get())[:-1])


def distance_to(point, line):
    """From a point to a line through points."""
    starts, ends = line[:-1], line[1:]
    along = ends - starts
    share = np.clip(((point - starts) * along).sum(axis=1) / (along**2).sum(axis=1), 0.0, 1.0)
    return np.linalg.norm(starts + share[:, None] * along - point, axis=1).min()


def single(kind, content="", applied=(), header=TIMES + SI):
    """One body on a joint to the world, whose frames are those of the world and of the body."""
    mass = "float physics:mass = 2\nfloat3 physics:diagonalInertia = (0.08, 0.08, 0.08)"
    text = body("rod", mass=mass) + joint("joint", kind, "", "/World/rod", content, applied)
    return open_text(f'def Xform "World" {schemas("PhysicsArticulationRootAPI")} {{\n{text}}}\n', header)


SIZE = 0.5 * np.sqrt(1.5 * 0.08 / 2)
"""Half the radius of gyration of that body."""
LIMITS_OF = "float limit:{0}:physics:low = {1}\nfloat limit:{0}:physics:high = {2}\n"


def generic(*limits, locked=()):
    """A D6 joint with limits (axis, low, high), and with locked axes."""
    limits = [*limits, *((axis, 1, -1) for axis in locked)]
    content = "".join(LIMITS_OF.format(*limit) for limit in limits)
    return single("", content, tuple(f"PhysicsLimitAPI:{limit[0]}" for limit in limits))


ZERO = np.zeros(3)
HELD = ("transX", "transY", "transZ")
DEGREES = np.pi / 180


@pytest.mark.parametrize("axis", range(3))
def test_sectors_end_where_rotations_do(axis, tmp_path):
    """At either limit the next axis of the second frame lies on the arc's end."""
    stage = single("Revolute", f'uniform token physics:axis = "{"XYZ"[axis]}"\n{LIMITED}')
    turns = [Rotation.from_rotvec(angle * DEGREES * np.eye(3)[axis]) for angle in (-20, 35, 10)]
    stage = shown_at(stage, "/World/joint", tmp_path, [(ZERO, turn) for turn in turns])
    guide = "/World/JointGuides/joint"
    arc, low, high = lines_of(stage, f"{guide}/first/limits", 3)
    np.testing.assert_allclose(np.linalg.norm(arc, axis=1), SIZE, rtol=1e-6)
    for code, end, radius in ((3, arc[0], low), (4, arc[-1], high)):
        _, axes, _ = drawn(stage, f"{guide}/second", code, 1.0)
        np.testing.assert_allclose(SIZE * axes[(axis + 1) % 3], end, atol=1e-6)
        np.testing.assert_allclose(radius, [ZERO, end], atol=1e-6)
    _, axes, _ = drawn(stage, f"{guide}/second", 5, 1.0)
    assert distance_to(SIZE * axes[(axis + 1) % 3], arc) < 1e-3 * SIZE


def test_one_end_and_many_turns(tmp_path):
    """Of an arc with one end a quarter turn is shown, and of several turns one."""
    stage = single("Revolute", "float physics:lowerLimit = 10\nfloat physics:upperLimit = inf\n")
    stage = shown_at(stage, "/World/joint", tmp_path, [(ZERO, Rotation.identity())])
    arc, radius = lines_of(stage, "/World/JointGuides/joint/first/limits", 3)
    angles = np.unwrap(np.arctan2(arc[:, 2], arc[:, 1])) / DEGREES
    np.testing.assert_allclose(angles[[0, -1]], [10, 100], atol=1e-4)
    np.testing.assert_allclose(radius[1], arc[0], atol=1e-6)
    stage = single("Revolute", "float physics:lowerLimit = -10\nfloat physics:upperLimit = 800\n")
    stage = shown_at(stage, "/World/joint", tmp_path, [(ZERO, Rotation.identity())])
    arc, *radii = lines_of(stage, "/World/JointGuides/joint/first/limits", 3)
    np.testing.assert_allclose(arc[0], arc[-1], atol=1e-6)
    ends = SIZE * np.array([[0, np.cos(a * DEGREES), np.sin(a * DEGREES)] for a in (-10, 800)])
    np.testing.assert_allclose([one[1] for one in radii], ends, atol=1e-5)


def test_segments_end_where_translations_do(tmp_path):
    """In the units of the stage; at each end there is a cross."""
    header = TIMES + SMALL_UNITS
    text = "float physics:lowerLimit = -30\nfloat physics:upperLimit = 50\n"
    stage = single("Prismatic", f'uniform token physics:axis = "Y"\n{text}', header=header)
    places = [(-0.3 * Y, Rotation.identity()), (0.5 * Y, Rotation.identity())]
    stage = shown_at(stage, "/World/joint", tmp_path, places)
    line, *crosses = lines_of(stage, "/World/JointGuides/joint/first/limits", 3)
    for code, end in ((3, line[0]), (4, line[1])):
        position, _, _ = drawn(stage, "/World/JointGuides/joint/second", code, 0.01)
        np.testing.assert_allclose(0.01 * end, position, atol=1e-6)
    assert [round(cross[0, 1]) for cross in crosses] == [-30, -30, 50, 50]


def test_a_pyramid_is_where_the_twist_axis_may_point(tmp_path):
    """For swings on its edge; and the twist is shown in the frame that has swung."""
    limits = (("rotX", -30, 50), ("rotY", -20, 40), ("rotZ", -10, 60))
    swings = np.array([(-20, 5), (40, -10), (0, 60), (40, 60), (13, -10)]) * DEGREES
    turns = [Rotation.from_rotvec([0, *s]) * Rotation.from_rotvec(t * X) for s, t in zip(swings, (0, 0.2, -0.3, 0, 1))]
    turns += [Rotation.from_rotvec([0, 0.3, -0.1]) * Rotation.from_rotvec(t * DEGREES * X) for t in (-30, 50)]
    stage = shown_at(generic(*limits, locked=HELD), "/World/joint", tmp_path, [(ZERO, turn) for turn in turns])
    guide = "/World/JointGuides/joint"
    edge, *edges = lines_of(stage, f"{guide}/first/limits", 3)
    assert len(edges) == 4
    for code in range(3, 8):
        _, axes, _ = drawn(stage, f"{guide}/second", code, 1.0)
        assert distance_to(SIZE * axes[0], edge) < 1e-3 * SIZE
    for code, end in ((8, 0), (9, -1)):
        _, axes, _ = drawn(stage, f"{guide}/second", code, 1.0)
        arc, *_ = lines_of(stage, f"{guide}/swung/limits", code)
        np.testing.assert_allclose(SIZE * axes[1], arc[end], atol=1e-5)
        assert distance_to(SIZE * axes[0], edge) > 0.05 * SIZE


def test_a_universal_joint(tmp_path):
    """Its swing is a sector for the twist axis, about an axis of the first frame; its twist swings with it."""
    limits = (("rotX", -30, 50), ("rotZ", -10, 60))
    pairs = np.array([(-30, -10), (50, 60)]) * DEGREES
    turns = [Rotation.from_rotvec(b * Z) * Rotation.from_rotvec(a * X) for a, b in pairs]
    stage = generic(*limits, locked=(*HELD, "rotY"))
    stage = shown_at(stage, "/World/joint", tmp_path, [(ZERO, turn) for turn in turns])
    guide = "/World/JointGuides/joint"
    swing, *_ = lines_of(stage, f"{guide}/first/limits", 3)
    for code, end in ((3, 0), (4, -1)):
        twist, *_ = lines_of(stage, f"{guide}/swung/limits", code)
        _, axes, _ = drawn(stage, f"{guide}/second", code, 1.0)
        np.testing.assert_allclose(SIZE * axes[0], swing[end], atol=1e-6)
        np.testing.assert_allclose(SIZE * axes[1], twist[end], atol=1e-6)


@pytest.mark.parametrize("axis", range(3))
def test_a_cone_is_where_the_twist_axis_may_point(axis, tmp_path):
    """With two different angles."""
    content = f'uniform token physics:axis = "{"XYZ"[axis]}"\n'
    content += "float physics:coneAngle0Limit = 25\nfloat physics:coneAngle1Limit = 55\n"
    turns = []
    for phi in (0.0, 1.0, 2.5, 4.0):
        swing = 25 * DEGREES * np.cos(phi) * np.eye(3)[(axis + 1) % 3]
        swing = swing + 55 * DEGREES * np.sin(phi) * np.eye(3)[(axis + 2) % 3]
        turns.append(Rotation.from_rotvec(swing) * Rotation.from_rotvec(phi * np.eye(3)[axis]))
    stage = shown_at(single("Spherical", content), "/World/joint", tmp_path, [(ZERO, turn) for turn in turns])
    edge, *edges = lines_of(stage, "/World/JointGuides/joint/first/limits", 3)
    assert len(edges) == 4 and all(distance_to(one[1], edge) < 1e-6 for one in edges)
    for code in range(3, 7):
        _, axes, _ = drawn(stage, "/World/JointGuides/joint/second", code, 1.0)
        assert distance_to(SIZE * axes[axis], edge) < 1e-3 * SIZE


@pytest.mark.parametrize("free, circles", [("XYZ", 3), ("XZ", 1), ("Y", 0)])
def test_distances(free, circles, tmp_path):
    """Three circles of a ball, one of a disc, a segment: of the largest distance."""
    locked = [f"trans{letter}" for letter in "XYZ" if letter not in free]
    stage = generic(("distance", 0, 0.4), locked=(*locked, "rotX", "rotY", "rotZ"))
    stage = shown_at(stage, "/World/joint", tmp_path, [(ZERO, Rotation.identity())])
    lines = lines_of(stage, "/World/JointGuides/joint/first/limits", 3)
    if circles:
        assert len(lines) == circles
        for line in lines:
            np.testing.assert_allclose(np.linalg.norm(line, axis=1), 0.4, rtol=1e-6)
            assert np.abs(np.diff(line, axis=0)).max() < 0.05 and np.abs(line[0] - line[-1]).max() < 1e-6
            if circles == 1:
                assert np.abs(line[:, 1]).max() == 0.0
    else:
        np.testing.assert_allclose(lines[-1], [-0.4 * Y, 0.4 * Y], atol=1e-7)


def test_stacked_joints(tmp_path):
    """Frames on massless links, which have no pose in a recording, are where the positions of their joints put them."""
    stage, recording = run_layer(planar(), tmp_path, velocity=[0.3, -0.2, 1.0])
    position = {name: recording.joint_position[:, 0, k] for k, name in enumerate(recording.joint_names)}
    end, _, _ = drawn(stage, "/JointGuides/World_turn/first", stage.GetEndTimeCode(), 1.0)
    placed = np.array([0.5 + position["/World/x"][-1], 0.0, position["/World/z"][-1]])
    np.testing.assert_allclose(end, placed, atol=1e-5)
    other, _, _ = drawn(stage, "/JointGuides/World_turn/second", stage.GetEndTimeCode(), 1.0)
    np.testing.assert_allclose(other, placed, atol=1e-5)
    assert abs(position["/World/x"][-1]) > 0.01


def test_a_kinematic_body_carries_the_first_frame(tmp_path):
    """Of the hinge on a cart that is animated."""
    source = stage_of(cart=animated())
    stage, _ = run_layer(source, tmp_path, steps=480)
    for code in (20, 25, 30, 40):
        cart = 0.01 * world(source, "/rig/crane/cart", code)[3, :3]
        for name in ("first", "second"):
            position, _, _ = drawn(stage, f"/JointGuides/rig_hinge/{name}", code, 0.01)
            np.testing.assert_allclose(position, cart, atol=1e-5)


def test_a_joint_that_breaks_vanishes(tmp_path):
    """From the record that has it broken on."""
    text = body("rod") + joint("joint", "Fixed", "", "/World/rod", "float physics:breakForce = 1\n")
    source = open_text(f'def Xform "World" {{\n{text}}}\n', TIMES + SI)
    stage, recording = run_layer(source, tmp_path, steps=40)
    shown = UsdGeom.Imageable(stage.GetPrimAtPath("/World/JointGuides/joint"))
    assert recording.loop_broken[0, 0, 0] == 0 and recording.loop_broken[-1, 0, 0] == 1
    assert shown.ComputeVisibility(3) == UsdGeom.Tokens.inherited
    assert shown.ComputeVisibility(stage.GetEndTimeCode()) == UsdGeom.Tokens.invisible


def test_a_scene_of_another_stage_is_refused(tmp_path):
    """With the link that is missing; nothing is written."""
    single("Revolute").GetRootLayer().Export(str(tmp_path / "source.usda"))
    scene = wa.read_stage(tmp_path / "source.usda")
    recording = wa.Simulation(scene).record(1)
    text = "/World/c: the scene of the guides has a link of this name; the stage has none"
    with pytest.raises(StageError, match=text):
        wa.write_results(tmp_path / "source.usda", recording, tmp_path / "run.usda", guides=wa.read_stage(closed()))
    assert not (tmp_path / "run.usda").exists()


def test_without_a_default_prim_and_beside_another_scope(tmp_path):
    """The scope is at the top, under a name that is free; of a body that is the default prim it is below it."""
    text = body("rod") + joint("joint", "Revolute", "", "/rod") + 'def Scope "JointGuides" {\n}\n'
    stage, _ = run_layer(open_text(text, BARE + SI), tmp_path)
    assert stage.GetPrimAtPath("/JointGuides_2/joint/first")
    source = open_text(text, BARE + SI + '\ndefaultPrim = "rod"')
    (tmp_path / "rod").mkdir()
    stage, recording = run_layer(source, tmp_path / "rod")
    for side, name in ((0, "first"), (1, "second")):
        position, axes, _ = drawn(stage, f"/rod/JointGuides/joint/{name}", 8, 1.0)
        expected = recorded_frame(source, recording, "/joint", side, 50)
        np.testing.assert_allclose(position, expected[0], atol=1e-5)
        np.testing.assert_allclose(axes, expected[1], atol=1e-5)


def test_clips_have_the_guides_of_the_run_layer(tmp_path):
    """At times of all clips, with a joint that breaks in a later one."""
    text = body("rod") + joint("joint", "Revolute", "", "/World/rod", PLACED + LIMITED)
    text += body("box") + joint("weld", "Fixed", "", "/World/box", "float physics:breakForce = 19\n")
    source = open_text(f'def Xform "World" {{\n{text}}}\n', TIMES + SI)
    source.GetRootLayer().Export(str(tmp_path / "source.usda"))
    scene = wa.read_stage(tmp_path / "source.usda")
    one, other = wa.Simulation(scene), wa.Simulation(scene)
    writer = ClipWriter(tmp_path / "source.usda", tmp_path / "clips.usda", guides=scene)
    for number in range(3):
        for simulation in (one, other) if number == 0 else ():
            simulation.step(0)
        writer.write(one.record(40))
    wa.write_results(tmp_path / "source.usda", other.record(120), tmp_path / "run.usda", guides=scene)
    first, second = (Usd.Stage.Open(str(tmp_path / name)) for name in ("clips.usda", "run.usda"))
    paths = [str(prim.GetPath()) for prim in guides_of(second)]
    assert [str(prim.GetPath()) for prim in guides_of(first)] == paths
    for code in (3.0, 5.0, 7.0, 9.0, 12.0, 15.0):
        for path in paths:
            np.testing.assert_allclose(world(first, path, code), world(second, path, code), atol=1e-6)
            shown = [UsdGeom.Imageable(stage.GetPrimAtPath(path)).ComputeVisibility(code) for stage in (first, second)]
            assert shown[0] == shown[1]


def test_pictures_have_each_line(tmp_path):
    """What draws a stage draws all lines of a guide, in their colours, where the frame is."""
    stage, _ = run_layer(closed(), tmp_path)
    strands = [one for one in read_drawing(stage).strands if one.path.endswith("hinge/first/axes")]
    assert [one.color for one in strands] == [
        pytest.approx(color, abs=1e-6) for color in ((0.85, 0.2, 0.2), (0.25, 0.7, 0.25), (0.25, 0.4, 0.9))
    ]
    assert [len(one.points) for one in strands] == [2, 2, 2]

"""A run layer gives back the recorded poses, on any hierarchy, and leaves the stage alone."""

import hashlib
import math
import os
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from scipy.spatial.transform import Rotation

from warp_artic.errors import SettingsError, SolveError, StageError
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.write_results import write_results

HEADER = """#usda 1.0
(
    defaultPrim = "World"
    doc = "A stage of a test"
    upAxis = "Y"
    metersPerUnit = 0.01
    kilogramsPerUnit = 2
    timeCodesPerSecond = 30
    startTimeCode = 10
    endTimeCode = 40
)
"""

PENDULUM = (
    HEADER
    + """
def Xform "World"
{
    def Xform "rod" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        double3 xformOp:translate = (0, 0, 5)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
    def PhysicsRevoluteJoint "hinge"
    {
        rel physics:body1 = </World/rod>
    }
    def PhysicsPrismaticJoint "slide"
    {
        rel physics:body1 = </World/rod>
    }
}
"""
)


def stage_file(folder, text, name="source.usda"):
    path = folder / name
    path.write_text(text)
    return path


def turning(link_names, joint_names=(), seconds=1.0, rate=240, dtype=np.float64, seed=1):
    """A recording in which every link turns steadily about its own axis and flies along a line."""
    random = np.random.default_rng(seed)
    records = round(seconds * rate) + 1
    t = np.arange(records) / rate
    links = len(link_names)
    pose = np.empty((records, 1, links, 7))
    for link in range(links):
        pose[:, 0, link, :3] = random.normal(size=3) + t[:, None] * random.normal(size=3)
        spin = Rotation.from_rotvec(t[:, None] * 3.0 * random.normal(size=3))
        pose[:, 0, link, 3:] = (spin * Rotation.random(random_state=random)).as_quat()
    pose[::3, ..., 3:] *= -1.0
    position = random.normal(size=(1, len(joint_names))) * t[:, None]
    return Recording(
        time=t,
        joint_names=joint_names,
        link_names=link_names,
        joint_position=position[:, None].astype(dtype),
        joint_velocity=2.0 * position[:, None].astype(dtype),
        link_pose=pose.astype(dtype),
        energy=np.zeros((records, 1, 2), dtype),
        metadata={"dt": 1 / rate},
    )


def rigid_pose(stage, path, code):
    """Position [m], rotation matrix and scale of a prim on a stage."""
    matrix = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(stage.GetPrimAtPath(path)))
    scale = np.linalg.norm(matrix[:3, :3], axis=1)
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    return matrix[3, :3] * unit, (matrix[:3, :3] / scale[:, None]).T, scale


def assert_records_on_stage(stage, recording, tolerance=1e-12):
    """Compare each link at each whole frame with the record of that time."""
    rate, start = stage.GetTimeCodesPerSecond(), stage.GetStartTimeCode()
    records_per_second = 1.0 / (recording.time[1] - recording.time[0])
    for code in np.arange(start, stage.GetEndTimeCode() + 0.5):
        record = round((code - start) / rate * records_per_second)
        for link, name in enumerate(recording.link_names):
            position, rotation, _ = rigid_pose(stage, name, code)
            expected = recording.link_pose[record, 0, link]
            np.testing.assert_allclose(position, expected[:3], atol=tolerance)
            np.testing.assert_allclose(rotation, Rotation.from_quat(expected[3:]).as_matrix(), atol=tolerance)


def test_poses_read_back(tmp_path):
    """Every frame of the run layer has the pose that was recorded, in stage units."""
    source = stage_file(tmp_path, PENDULUM)
    recording = turning(["/World/rod"])
    write_results(source, recording, tmp_path / "run.usdc")
    assert_records_on_stage(Usd.Stage.Open(str(tmp_path / "run.usdc")), recording)


def test_a_run_starts_where_the_session_does(tmp_path):
    """Its first samples are at the start time of the session, at which the stage is read."""
    stage = Usd.Stage.Open(str(stage_file(tmp_path, PENDULUM)))
    stage.GetSessionLayer().startTimeCode = 20
    recording = turning(["/World/rod"])
    write_results(stage, recording, tmp_path / "run.usda")
    run = Usd.Stage.Open(str(tmp_path / "run.usda"))
    assert (run.GetStartTimeCode(), run.GetEndTimeCode()) == (20.0, 50.0)
    assert_records_on_stage(run, recording)


def test_stage_metadata_is_that_of_the_source(tmp_path):
    """Units, axis, default prim and time codes carry over; the time range is that of the run."""
    source = stage_file(tmp_path, PENDULUM)
    write_results(source, turning(["/World/rod"], seconds=2.0), tmp_path / "run.usda")
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01
    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == 2
    assert stage.GetDefaultPrim().GetPath() == "/World"
    assert stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == 30
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (10, 70)
    assert stage.GetRootLayer().subLayerPaths == ["./source.usda"]


def test_relative_sublayer_from_another_folder(tmp_path):
    """A run layer in another folder finds the stage, also after both moved together."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "runs").mkdir()
    source = stage_file(tmp_path / "a", PENDULUM)
    write_results(source, turning(["/World/rod"]), tmp_path / "a" / "runs" / "run.usdc")
    os.rename(tmp_path / "a", tmp_path / "b")
    assert Usd.Stage.Open(str(tmp_path / "b" / "runs" / "run.usdc")).GetPrimAtPath("/World/hinge")


def test_joint_states_in_authored_units(tmp_path):
    """Angles are in degrees, lengths in stage units, under an applied joint state schema."""
    source = stage_file(tmp_path, PENDULUM)
    recording = turning(["/World/rod"], ["/World/hinge", "/World/slide"])
    write_results(source, recording, tmp_path / "run.usda")
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    hinge, slide = stage.GetPrimAtPath("/World/hinge"), stage.GetPrimAtPath("/World/slide")
    assert "PhysicsJointStateAPI:angular" in hinge.GetPrimTypeInfo().GetAppliedAPISchemas() or (
        "PhysicsJointStateAPI:angular" in hinge.GetMetadata("apiSchemas").GetAppliedItems()
    )
    angle = hinge.GetAttribute("state:angular:physics:position").Get(25)
    assert angle == pytest.approx(math.degrees(recording.joint_position[120, 0, 0]), rel=1e-6)
    rate = slide.GetAttribute("state:linear:physics:velocity").Get(25)
    assert rate == pytest.approx(100 * recording.joint_velocity[120, 0, 1], rel=1e-6)


def test_joint_states_of_several_dofs(tmp_path):
    """The dofs of a spherical joint are written by axis; one free axis of a D6 joint is found by its locks."""
    locks = "".join(
        f"float limit:{axis}:physics:low = 1\nfloat limit:{axis}:physics:high = -1\n"
        for axis in ("transX", "transY", "transZ", "rotX", "rotZ")
    )
    schemas = ", ".join(f'"PhysicsLimitAPI:{axis}"' for axis in ("transX", "transY", "transZ", "rotX", "rotZ"))
    text = PENDULUM.replace("PhysicsRevoluteJoint", "PhysicsSphericalJoint").replace(
        'PhysicsPrismaticJoint "slide"\n    {',
        f'PhysicsJoint "slide" (prepend apiSchemas = [{schemas}])\n    {{\n{locks}',
    )
    names = [f"/World/hinge:rot{axis}" for axis in "XYZ"] + ["/World/slide"]
    write_results(stage_file(tmp_path, text), turning(["/World/rod"], names), tmp_path / "run.usda")
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    for axis in "XYZ":
        assert stage.GetAttributeAtPath(f"/World/hinge.state:rot{axis}:physics:position").GetNumTimeSamples() == 31
    assert stage.GetAttributeAtPath("/World/slide.state:rotY:physics:position").GetNumTimeSamples() == 31


def test_source_is_untouched(tmp_path):
    """Writing a run changes no byte of the stage, and the stage without the run layer is as authored."""
    source = stage_file(tmp_path, PENDULUM)
    before = hashlib.sha256(source.read_bytes()).hexdigest()
    stage = Usd.Stage.Open(str(source))
    write_results(stage, turning(["/World/rod"]), tmp_path / "run.usda")
    assert hashlib.sha256(source.read_bytes()).hexdigest() == before
    assert not stage.GetRootLayer().dirty and not stage.GetSessionLayer().dirty
    np.testing.assert_allclose(rigid_pose(stage, "/World/rod", 20)[0], (0, 0, 0.05))


@pytest.mark.parametrize("name", ["source.usda", "part.usda"])
def test_refuses_to_write_over_the_stage(tmp_path, name):
    """Neither the stage nor a layer it uses can be the output."""
    stage_file(tmp_path, PENDULUM, "part.usda")
    source = stage_file(tmp_path, "#usda 1.0\n( subLayers = [@./part.usda@] )\n")
    with pytest.raises(SettingsError, match="is a layer of the stage itself"):
        write_results(source, turning(["/World/rod"]), tmp_path / name)


@pytest.mark.parametrize(
    ("output", "sentence"), [("run.abc", "ends in one of"), ("missing/run.usdc", "there is no folder")]
)
def test_refuses_unusable_outputs(tmp_path, output, sentence):
    """An output that is no layer or has no folder is refused by name."""
    with pytest.raises(SettingsError, match=sentence):
        write_results(stage_file(tmp_path, PENDULUM), turning(["/World/rod"]), tmp_path / output)


def test_refuses_what_cannot_be_written(tmp_path):
    """A missing stage, a prim that is not there, a pose that is not finite, an environment too many."""
    source, output = stage_file(tmp_path, PENDULUM), tmp_path / "run.usdc"
    with pytest.raises(StageError, match="there is no such file"):
        write_results(tmp_path / "other.usda", turning(["/World/rod"]), output)
    with pytest.raises(StageError, match="/World/bar: .* no such prim"):
        write_results(source, turning(["/World/bar"]), output)
    with pytest.raises(SettingsError, match="environment 1"):
        write_results(source, turning(["/World/rod"]), output, environment=1)
    recording = turning(["/World/rod"])
    recording.link_pose[7, 0, 0, 2] = np.nan
    with pytest.raises(SolveError, match="/World/rod: pose is not finite at 0.0291667 s"):
        write_results(source, recording, output)
    recording.link_pose[7, 0, 0, 2:] = 0.0
    with pytest.raises(SolveError, match="/World/rod: the direction of a quaternion is not finite at 0.0291667 s"):
        write_results(source, recording, output)
    assert not output.exists()


def test_nested_scaled_and_rotated_parents(tmp_path):
    """Links below links and below scaled, mirrored and moving parents keep the recorded pose and their scale."""
    text = (
        HEADER
        + """
def Xform "World"
{
    float3 xformOp:scale = (3, 3, 3)
    uniform token[] xformOpOrder = ["xformOp:scale"]
    def Xform "group"
    {
        float xformOp:rotateZ = 35
        float3 xformOp:scale = (2, 1, 0.5)
        uniform token[] xformOpOrder = ["xformOp:rotateZ", "xformOp:scale"]
        def Xform "upper"
        {
            double3 xformOp:translate = (1, 2, 3)
            float3 xformOp:scale = (1, 4, 1)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
            def Xform "between"
            {
                double3 xformOp:translate = (0, 2, 0)
                uniform token[] xformOpOrder = ["xformOp:translate"]
                def Xform "lower"
                {
                    double3 xformOp:translate = (0, 2, 0)
                    uniform token[] xformOpOrder = ["xformOp:translate"]
                }
            }
        }
    }
    def Xform "cart"
    {
        double3 xformOp:translate.timeSamples = { 10: (0, 0, 0), 40: (9, 0, 0) }
        float3 xformOp:scale = (-1, 1, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        def Xform "rider"
        {
            uniform token[] xformOpOrder = ["!resetXformStack!"]
        }
        def Xform "passenger"
        {
        }
    }
}
"""
    )
    source = stage_file(tmp_path, text)
    links = ["/World/group/upper/between/lower", "/World/group/upper", "/World/cart/rider"]
    recording = turning(links)
    write_results(source, recording, tmp_path / "run.usdc")
    stage, authored = Usd.Stage.Open(str(tmp_path / "run.usdc")), Usd.Stage.Open(str(source))
    assert_records_on_stage(stage, recording)
    for name in links:
        np.testing.assert_allclose(rigid_pose(stage, name, 33.5)[2], rigid_pose(authored, name, 10)[2], rtol=1e-6)


def test_links_below_instances(tmp_path):
    """Instances, also nested ones, are made editable in the run layer only."""
    text = (
        HEADER
        + """
class Xform "_finger"
{
    def Xform "tip" { }
}
class Xform "_hand"
{
    def Xform "palm" { }
    def "finger" (instanceable = true; references = </_finger>) { }
}
def Xform "World"
{
    def "left" (instanceable = true; references = </_hand>) { }
    def "right" (instanceable = true; references = </_hand>) { }
}
"""
    )
    source = stage_file(tmp_path, text)
    recording = turning(["/World/left/palm", "/World/left/finger/tip"])
    write_results(source, recording, tmp_path / "run.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "run.usdc"))
    assert_records_on_stage(stage, recording)
    assert stage.GetPrimAtPath("/World/right").IsInstance()
    assert Usd.Stage.Open(str(source)).GetPrimAtPath("/World/left").IsInstance()


def test_orientations_do_not_flip(tmp_path):
    """Successive quaternions have a positive product, so that hosts interpolate the short way."""
    write_results(stage_file(tmp_path, PENDULUM), turning(["/World/rod"], seconds=4.0), tmp_path / "run.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "run.usdc"))
    orient = stage.GetAttributeAtPath("/World/rod.xformOp:orient:warpArtic")
    samples = [orient.Get(code) for code in orient.GetTimeSamples()]
    assert len(samples) == 121
    assert min(Gf.Dot(a, b) for a, b in zip(samples, samples[1:])) > 0.9


def test_frame_rate_and_last_record(tmp_path):
    """Samples come at the frame rate asked for, and the last record is one even when it is between frames."""
    source = stage_file(tmp_path, PENDULUM)
    recording = turning(["/World/rod"], seconds=0.55)
    write_results(source, recording, tmp_path / "run.usda", frames_per_second=10)
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    times = stage.GetAttributeAtPath("/World/rod.xformOp:translate:warpArtic").GetTimeSamples()
    np.testing.assert_allclose(times, [10, 13, 16, 19, 22, 25, 26.5])
    np.testing.assert_allclose(rigid_pose(stage, "/World/rod", 26.5)[0], recording.link_pose[-1, 0, 0, :3])


def test_frames_between_records(tmp_path):
    """A frame between two records is interpolated; records further apart than frames are written as they are."""
    source = stage_file(tmp_path, PENDULUM)
    recording = turning(["/World/rod"], rate=100)
    write_results(source, recording, tmp_path / "run.usda")
    position = rigid_pose(Usd.Stage.Open(str(tmp_path / "run.usda")), "/World/rod", 11)[0]
    expected = recording.link_pose[3:5, 0, 0, :3]
    np.testing.assert_allclose(position, expected[0] + (expected[1] - expected[0]) / 3, atol=1e-9)
    write_results(source, turning(["/World/rod"], rate=8), tmp_path / "sparse.usda")
    sparse = Usd.Stage.Open(str(tmp_path / "sparse.usda"))
    assert sparse.GetAttributeAtPath("/World/rod.xformOp:translate:warpArtic").GetNumTimeSamples() == 9


def test_a_turn_back_is_not_interpolated(tmp_path):
    """Where an angle is taken back by whole turns between two records, a frame there has the value of the nearer."""
    source, output = stage_file(tmp_path, PENDULUM), tmp_path / "run.usda"
    recording = turning(["/World/rod"], ["/World/hinge"], seconds=0.1, rate=100)
    unwound = 5.7 + 40.0 * recording.time
    recording.joint_position[:, 0, 0] = np.where(unwound < 2 * np.pi, unwound, unwound - 4 * np.pi)
    write_results(source, recording, output, frames_per_second=60)
    stage = Usd.Stage.Open(str(output))
    angle = stage.GetAttributeAtPath("/World/hinge.state:angular:physics:position")
    samples = np.radians([angle.Get(code) for code in angle.GetTimeSamples()])
    expected = 5.7 + 40.0 * np.arange(len(samples)) / 60.0
    off = np.remainder(samples - expected + np.pi, 2 * np.pi) - np.pi
    assert len(samples) == 7
    assert np.abs(off).max() < 0.2 + 1e-5


def test_defaults_hold_the_first_record(tmp_path):
    """Without a time, as many readers ask, the links are where the run began."""
    recording = turning(["/World/rod"])
    write_results(stage_file(tmp_path, PENDULUM), recording, tmp_path / "run.usda")
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    position, _, _ = rigid_pose(stage, "/World/rod", Usd.TimeCode.Default())
    np.testing.assert_allclose(position, recording.link_pose[0, 0, 0, :3])


def test_single_precision(tmp_path):
    """A float32 recording gives float quaternions and is read back to float32 accuracy."""
    recording = turning(["/World/rod"], dtype=np.float32)
    write_results(stage_file(tmp_path, PENDULUM), recording, tmp_path / "run.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "run.usdc"))
    assert stage.GetAttributeAtPath("/World/rod.xformOp:orient:warpArtic").GetTypeName() == Sdf.ValueTypeNames.Quatf
    assert_records_on_stage(stage, recording, tolerance=1e-6)


def test_a_second_run_replaces_the_first(tmp_path):
    """Writing again over an earlier run layer that is open shows the new motion."""
    source, output = stage_file(tmp_path, PENDULUM), tmp_path / "run.usdc"
    write_results(source, turning(["/World/rod"], seed=1), output)
    stage = Usd.Stage.Open(str(output))
    second = turning(["/World/rod"], seed=2)
    write_results(source, second, output)
    assert_records_on_stage(stage, second)


KILLED = """
import os, signal, sys
from warp_artic.sim.record.recording import Recording
from warp_artic.usd import write_results as module
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
module.write_results(sys.argv[1], Recording.load(sys.argv[2]), sys.argv[3])
"""


def test_a_killed_process_leaves_no_half_layer(tmp_path):
    """A process killed between writing and naming leaves the earlier layer whole."""
    source, output = stage_file(tmp_path, PENDULUM), tmp_path / "run.usdc"
    first = turning(["/World/rod"], seed=1)
    write_results(source, first, output)
    before = output.read_bytes()
    turning(["/World/rod"], seconds=20.0, seed=2).save(tmp_path / "second.npz")
    command = [sys.executable, "-c", KILLED, str(source), str(tmp_path / "second.npz"), str(output)]
    assert subprocess.run(command, timeout=120).returncode != 0
    assert output.read_bytes() == before


def test_a_large_layer_killed_at_any_moment_is_whole_or_absent(tmp_path):
    """However far a writer gets before it is killed, the output is not there or can be read to the end."""
    names = [f"/World/rod_{index}" for index in range(60)]
    source = stage_file(
        tmp_path, HEADER + 'def "World" {' + "".join(f'def Xform "{n[7:]}" {{}}\n' for n in names) + "}"
    )
    turning(names, seconds=5.0).save(tmp_path / "run.npz")
    loop = KILLED.replace("os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n", "").replace(
        "module.write_results(", "print('ready', flush=True)\nwhile True: module.write_results("
    )
    output = tmp_path / "run.usda"
    process = subprocess.Popen(
        [sys.executable, "-c", loop, str(source), str(tmp_path / "run.npz"), str(output)], stdout=subprocess.PIPE
    )
    process.stdout.readline()
    time.sleep(1.0)
    process.kill()
    process.wait()
    process.stdout.close()
    if output.exists():
        assert Usd.Stage.Open(str(output)).GetAttributeAtPath(f"{names[-1]}.xformOp:orient:warpArtic").Get(160)


def test_metadata_of_the_run_is_kept(tmp_path):
    """How the run was made stays with the layer."""
    recording = replace(turning(["/World/rod"]), metadata={"dt": 0.25, "solver": "pgs"})
    write_results(stage_file(tmp_path, PENDULUM), recording, tmp_path / "run.usda")
    layer = Sdf.Layer.FindOrOpen(str(tmp_path / "run.usda"))
    assert layer.customLayerData["warpArtic"] == {"dt": "0.25", "solver": "pgs"}

"""Drive targets over time: time samples and splines, units, what else changes over time."""

import math

import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from tests.usd.authoring import SI, body, errors_of, hinge_of, joint, pendulum, warnings_of
from warp_artic import read_stage
from warp_artic.description.track import Track
from warp_artic.usd.read_stage import inspect_stage
from warp_artic.usd.read_track import start_code

TIMES = "timeCodesPerSecond = 10\nstartTimeCode = 20\nendTimeCode = 40\n"


def drive_of(content, kind="Revolute", header=TIMES + SI):
    instance = "angular" if kind == "Revolute" else "linear"
    stage = pendulum(
        content.replace("{}", f"drive:{instance}:physics:"), kind, (f"PhysicsDriveAPI:{instance}",), header
    )
    return hinge_of(stage).dofs[0].drive, stage


def test_time_samples_are_linear_in_seconds_from_the_start():
    """In radians; the target at the start is the value there."""
    drive, stage = drive_of("float {}targetPosition.timeSamples = { 20: 0, 30: 90, 50: 45 }")
    assert drive.position_track == Track(times=(0.0, 1.0, 3.0), values=pytest.approx((0.0, math.pi / 2, math.pi / 4)))
    assert drive.position_target == 0.0 and drive.velocity_track is None
    assert drive.position_track.at(2.0) == pytest.approx(0.375 * math.pi)
    assert not warnings_of(stage)


def test_the_start_of_the_session():
    """It comes before that of the root layer, as in USD: for values, for times, and for what a run writes."""
    _, stage = drive_of("float {}targetPosition.timeSamples = { 20: 0, 30: 90, 50: 45 }")
    stage.GetSessionLayer().startTimeCode = 30
    assert stage.GetStartTimeCode() == start_code(stage) == 30.0
    drive = hinge_of(stage).dofs[0].drive
    assert drive.position_target == pytest.approx(math.pi / 2)
    assert drive.position_track.times == (-1.0, 0.0, 2.0)
    stage.GetSessionLayer().startTimeCode = math.nan
    assert errors_of(stage) == ["/: startTimeCode is nan, must be finite"]


def test_velocity_targets_on_a_slide_in_centimetres():
    header = TIMES.replace("20", "0") + 'metersPerUnit = 0.01\nupAxis = "Z"\n'
    drive, _stage = drive_of("float {}targetVelocity.timeSamples = { 0: 100, 5: 300 }", "Prismatic", header)
    assert drive.velocity_track.times == (0.0, 0.5)
    assert drive.velocity_track.values == pytest.approx((1.0, 3.0))


def test_outside_of_its_times_a_track_stays():
    track = Track(times=(1.0, 2.0), values=(5.0, 7.0))
    assert [track.at(time) for time in (-1.0, 1.0, 1.5, 2.0, 9.0)] == [5.0, 5.0, 6.0, 7.0, 7.0]
    held = Track(times=(1.0, 2.0), values=(5.0, 7.0), is_held=True)
    assert [held.at(time) for time in (0.0, 1.0, 1.9, 2.0, 9.0)] == [5.0, 5.0, 5.0, 7.0, 7.0]


def test_held_interpolation_of_the_stage():
    _drive, stage = drive_of("float {}targetPosition.timeSamples = { 20: 0, 30: 90 }")
    stage.SetInterpolationType(Usd.InterpolationTypeHeld)
    assert hinge_of(stage).dofs[0].drive.position_track.is_held


def test_a_sublayer_with_an_offset():
    """Times are those of the stage: a sample at 3 of a layer that is shifted by 20 codes is at 23."""
    _drive, stage = drive_of("")
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.timeCodesPerSecond = 10
    path = "/World/hinge.drive:angular:physics:targetPosition"
    prim = stage.GetPrimAtPath("/World/hinge")
    assert prim
    Sdf.CreatePrimInLayer(layer, prim.GetPath())
    Sdf.AttributeSpec(layer.GetPrimAtPath(prim.GetPath()), path.rpartition(".")[2], Sdf.ValueTypeNames.Float)
    layer.SetTimeSample(path, 0, 0.0)
    layer.SetTimeSample(path, 3, 180.0)
    stage.GetRootLayer().subLayerPaths.append(layer.identifier)
    stage.GetRootLayer().subLayerOffsets[0] = Sdf.LayerOffset(20.0)
    assert hinge_of(stage).dofs[0].drive.position_track.times == pytest.approx((0.0, 0.3))


@pytest.mark.skipif(not hasattr(Usd.Attribute, "SetSpline"), reason="this usd-core has no splines")
def test_splines_are_followed():
    from pxr import Ts

    _drive, stage = drive_of("float {}targetPosition = 0")
    spline = Ts.Spline("float")
    for code, value in ((20.0, 0.0), (25.0, 90.0), (35.0, -30.0)):
        knot = Ts.Knot(typeName="float")
        knot.SetTime(code)
        knot.SetValue(value)
        knot.SetNextInterpolation(Ts.InterpCurve)
        spline.SetKnot(knot)
    attribute = stage.GetAttributeAtPath("/World/hinge.drive:angular:physics:targetPosition")
    attribute.SetSpline(spline)
    track = hinge_of(stage).dofs[0].drive.position_track
    for time in (0.0, 0.13, 0.5, 0.77, 1.5, 2.0):
        assert track.at(time) == pytest.approx(math.radians(attribute.Get(20.0 + 10.0 * time)), abs=2e-3)


def test_one_value_is_no_track():
    for samples in ("{ 25: 10 }", "{ 25: 10, 30: 10 }"):
        drive, stage = drive_of(f"float {{}}targetPosition.timeSamples = {samples}")
        assert drive.position_track is None
        assert drive.position_target == pytest.approx(math.radians(10.0))
        assert not warnings_of(stage)


def test_a_blocked_sample_is_left_out():
    drive, _stage = drive_of("float {}targetPosition.timeSamples = { 20: 0, 30: None, 40: 10 }")
    assert drive.position_track.times == (0.0, 2.0)


def test_a_wrong_sample_is_an_error():
    content = "float drive:angular:physics:targetPosition.timeSamples = { 20: 0, 30: nan }"
    (error,) = errors_of(pendulum(content, "Revolute", ("PhysicsDriveAPI:angular",), TIMES + SI))
    assert "drive:angular:physics:targetPosition" in error and "nan" in error


def test_other_changes_over_time_are_reported():
    """Largest forces, limits and the like are those of the start."""
    drive, stage = drive_of("float {}maxForce.timeSamples = { 20: 3, 30: 9 }\nfloat {}targetPosition = 4")
    assert drive.max_force == 3.0
    (warning,) = warnings_of(stage)
    assert warning.startswith("/World/hinge.drive:angular:physics:maxForce: changes over time")


def test_samples_of_one_value_are_no_change():
    """As exporters write of what stays, in silence."""
    drive, stage = drive_of("float {}maxForce.timeSamples = { 20: 3, 30: 3 }\nfloat {}targetPosition = 4")
    assert drive.max_force == 3.0 and not warnings_of(stage)


@pytest.mark.parametrize("name", ["stiffness", "damping"])
def test_gains_are_followed(name):
    """Per radian, in silence; a negative sample is an error."""
    drive, stage = drive_of(f"float {{}}{name}.timeSamples = {{ 20: 0, 30: 9 }}")
    track = getattr(drive, f"{name}_track")
    assert track == Track(times=(0.0, 1.0), values=pytest.approx((0.0, math.degrees(9.0))))
    assert not warnings_of(stage)
    content = f"float drive:angular:physics:{name}.timeSamples = {{ 20: 0, 30: -9 }}"
    (error,) = errors_of(pendulum(content, "Revolute", ("PhysicsDriveAPI:angular",), TIMES + SI))
    assert f"drive:angular:physics:{name}: has negative time samples" in error


def test_states_over_time_are_not_reported():
    """A baked stage has them; their start counts."""
    content = "float state:angular:physics:position.timeSamples = { 20: 0, 30: 9 }"
    stage = pendulum(content, "Revolute", ("PhysicsJointStateAPI:angular",), TIMES + SI)
    assert not warnings_of(stage)


@pytest.mark.parametrize("place", ["above", "kinematic"])
def test_what_carries_a_mechanism_and_moves_is_reported(place):
    """A prim above the bodies, a body that is simulated, of whose samples the start counts, a body beside a tree."""
    moving = "double3 xformOp:translate:more.timeSamples = { 20: (0, 0, 0), 30: (1, 0, 0) }\n"
    order = 'uniform token[] xformOpOrder = ["xformOp:translate:more"]'
    if place == "above":
        stage = pendulum(header=TIMES + SI, world=moving + order, rod=moving + order)
        paths = ["/World/rod", "/World"]
    else:
        kinematic = "bool physics:kinematicEnabled = 1\n" + moving + order
        stage = pendulum(
            header=TIMES + SI, more=body("lift", kinematic) + joint("on", "Revolute", "/World/lift", "/World/rod")
        )
        paths = ["/World/on"]
    found = [text for text in warnings_of(stage) if "over time" in text]
    assert sorted(text.partition(":")[0] for text in found) == sorted(paths)


CORD = """
def WarpArticFixedTendon "cord"
{
    rel warpArtic:joints = </World/hinge>
    double[] warpArtic:coefficients = [0.01]
    double warpArtic:stiffness = 100
    double warpArtic:restLength.timeSamples = { 20: 1, 30: 3 }
    double warpArtic:offset.timeSamples = { 20: 0.5, 40: 0.5 }
}
"""


def test_rest_lengths_of_tendons():
    """In metres and seconds; what has the same value at all samples is no track."""
    stage = pendulum(more=CORD, header=TIMES + 'metersPerUnit = 0.01\nupAxis = "Z"\n')
    (tendon,) = read_stage(stage).articulations[0].fixed_tendons
    assert tendon.rest_length_track == Track(times=(0.0, 1.0), values=pytest.approx((0.01, 0.03)))
    assert tendon.rest_length == pytest.approx(0.01) and tendon.offset_track is None
    assert not warnings_of(stage)


def test_gravity():
    """Of magnitude and direction together, followed closely where the direction turns."""
    scene = 'def PhysicsScene "physics" {\n'
    scene += "vector3f physics:gravityDirection.timeSamples = { 20: (0, 0, -1), 30: (1, 0, 0) }\n"
    scene += "float physics:gravityMagnitude.timeSamples = { 20: 10, 40: 20 }\n}\n"
    stage = pendulum(header=TIMES + SI)
    layer = Sdf.Layer.CreateAnonymous(".usda")
    assert layer.ImportFromString("#usda 1.0\n(\ntimeCodesPerSecond = 10\n)\n" + scene)
    stage.GetRootLayer().subLayerPaths.append(layer.identifier)
    read = read_stage(stage)
    assert read.gravity == (0.0, 0.0, -10.0) and not warnings_of(stage)
    for code in (20, 23.7, 27, 30, 35, 40, 60):
        turned = min(code, 30) - 20
        direction = Gf.Vec3d(turned, 0, turned - 10).GetNormalized()
        found = [track.at((code - 20) / 10) for track in read.gravity_tracks]
        # Linear between readings, of which two are 0.05 rad apart at most: 15 * 0.05^2 / 8.
        assert found == pytest.approx([(10 + min(code - 20, 20) / 2) * axis for axis in direction], abs=5e-3)


def test_gravity_that_stays():
    stage = pendulum(header=TIMES + SI)
    assert read_stage(stage).gravity_tracks is None


def test_time_samples_out_of_this_world():
    """Gravity, a spline or a carrier that changes over more time codes than can be read is refused, at once."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.RigidBodyAPI.Apply(UsdGeom.Cube.Define(stage, "/World/body").GetPrim())
    scene = UsdPhysics.Scene.Define(stage, "/World/scene")
    for code, magnitude in ((0.0, 9.0), (1e30, 3.0)):
        scene.CreateGravityMagnitudeAttr().Set(magnitude, code)
    (found,) = [one for one in inspect_stage(stage).diagnostics if one.rule == "stage-time"]
    assert found.path == "/World/scene.physics:gravityMagnitude"
    assert "from time code 0 to 1e+30; at most 250000 time codes" in found.message

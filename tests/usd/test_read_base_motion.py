"""Kinematic bodies that are animated, and carry what is joined to them."""

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom

import warp_artic as wa
from tests.usd.authoring import body, errors_of, joint, open_text, schemas, warnings_of

TIMES = "timeCodesPerSecond = 10\nstartTimeCode = 20\nendTimeCode = 40\n"
SAMPLES = "{ 20: (0, 0, 0), 30: (100, 0, 0), 40: (100, 50, 0) }"


def stage_of(cart="", above="", header=TIMES + 'metersPerUnit = 0.01\nupAxis = "Z"\n', name="rig"):
    """A rod that hangs on a cart, which is animated itself or below something that is."""
    cart = (
        f'def Xform "crane" {{\n{above}'
        f'def Xform "cart" {schemas("PhysicsRigidBodyAPI")} {{\nbool physics:kinematicEnabled = 1\n{cart}}}\n}}\n'
        + body("rod", "point3f physics:centerOfMass = (0, 0, -20)")
        + joint("hinge", "Revolute", f"/{name}/crane/cart", f"/{name}/rod", 'uniform token physics:axis = "Y"')
    )
    return open_text(f'def Xform "{name}" {{\n{cart}}}\n', header)


def animated(samples=SAMPLES, op="xformOp:translate", kind="double3"):
    return f'{kind} {op}.timeSamples = {samples}\nuniform token[] xformOpOrder = ["{op}"]\n'


def motion_of(stage):
    return wa.read_stage(stage).articulations[0].base_motion


@pytest.mark.parametrize("place", ["cart", "above"])
def test_places_over_time(place):
    """In metres and seconds from the start, of the body or of what it is below."""
    stage = stage_of(**{place: animated()})
    motion = motion_of(stage)
    assert motion.path == "/rig/crane/cart"
    assert [text.partition(":")[0] for text in warnings_of(stage)] == (["/rig/crane"] if place == "above" else [])
    for time, position in ((0.0, (0, 0)), (0.5, (0.5, 0)), (1.5, (1.0, 0.25)), (2.0, (1.0, 0.5)), (5.0, (1.0, 0.5))):
        assert motion.at(time).position == pytest.approx((*position, 0.0), abs=1e-9)


def test_turns():
    """An angle that is linear between samples far apart."""
    motion = motion_of(stage_of(cart=animated("{ 20: 0, 40: 720 }", "xformOp:rotateZ", "double")))
    for time in (0.0, 0.3, 1.0, 1.7):
        np.testing.assert_allclose(motion.at(time).rotation[0, 0], np.cos(2 * np.pi * time), atol=1e-3)


@pytest.mark.parametrize("kind, most", [("quatd", 1e-9), ("quatf", 3e-7)])
def test_turns_between_close_quaternions(kind, most):
    """An even turn of 2 rad/s about z at 240 samples a second has no steps between samples: they were of 2e-3 rad."""
    rate, speed = 240, 2.0
    half = speed / rate * np.arange(4 * rate + 1) / 2.0
    samples = ", ".join(f"{code}: ({np.cos(one):.17g}, 0, 0, {np.sin(one):.17g})" for code, one in enumerate(half))
    header = f"timeCodesPerSecond = {rate}\nstartTimeCode = 0\nendTimeCode = {4 * rate}\n"
    motion = motion_of(stage_of(cart=animated(f"{{ {samples} }}", "xformOp:orient", kind), header=header))
    x, y, z, w = np.array([pose.quaternion for pose in motion.poses]).T
    angles = np.unwrap(2.0 * np.arctan2(z, w))
    times = motion.start + motion.interval * np.arange(len(angles))
    assert motion.interval < 1.0 / rate
    np.testing.assert_allclose(angles - angles[0], speed * times, atol=most)


def test_what_stays_is_no_motion():
    for samples in ("{ 20: (1, 2, 3) }", "{ 20: (1, 2, 3), 30: (1, 2, 3) }"):
        assert motion_of(stage_of(cart=animated(samples))) is None


def test_samples_of_one_value_are_no_motion():
    """Neither of the body nor of what it is below; the joint to it follows nothing, and that is no finding."""
    same = "{ 20: (0, 0, 0), 30: (0, 0, 0) }"
    assert warnings_of(stage_of(cart=animated(same), above=animated(same))) == []


def test_a_spline():
    """Its knots are read as time samples are, and the curve between them."""
    spline = "double xformOp:translateX.spline = {\n20: 0; post linear,\n40: 100; post held,\n}\n"
    order = 'uniform token[] xformOpOrder = ["xformOp:translateX"]\n'
    stage = stage_of(cart=spline + order)
    motion = motion_of(stage)
    assert warnings_of(stage) == []
    for time, position in ((0.0, 0.0), (0.5, 0.25), (2.0, 1.0), (3.0, 1.0)):
        assert motion.at(time).position == pytest.approx((position, 0.0, 0.0), abs=1e-9)


def test_a_body_that_shears():
    stage = stage_of(
        cart="matrix4d xformOp:transform.timeSamples = { 20: ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)),"
        ' 30: ((1,0,0,0),(1,1,0,0),(0,0,1,0),(0,0,0,1)) }\nuniform token[] xformOpOrder = ["xformOp:transform"]\n'
    )
    (error,) = errors_of(stage)
    assert error == "/rig/crane/cart: has no rigid pose at some of its time samples, and carries links"


def test_copies_are_carried_from_where_they_are():
    """The motion of a copy is that of its own cart."""
    layer = stage_of(cart=animated()).GetRootLayer()
    stage = Usd.Stage.Open(layer)
    for k in range(3):
        copy = stage.DefinePrim(f"/copy{k}", "Xform")
        copy.GetReferences().AddInternalReference("/rig")
        UsdGeom.XformCommonAPI(copy).SetTranslate(Gf.Vec3d(0, 0, 100.0 * k))
    trees = {tree.links[0].path: tree.base_motion for tree in wa.read_stage(stage).articulations}
    for k in range(3):
        motion = trees[f"/copy{k}/rod"]
        assert motion.path == f"/copy{k}/crane/cart" and motion.at(1.0).position == pytest.approx((1.0, 0.0, float(k)))


def test_a_run_follows(tmp_path):
    """The rod is dragged along, and stays on the cart; in the baked layer too."""
    stage = stage_of(cart=animated())
    stage.Export(str(tmp_path / "rig.usda"))
    recording = wa.Simulation(wa.read_stage(tmp_path / "rig.usda")).record(480)
    np.testing.assert_allclose(recording.link_pose[-1, 0, 0, :3], (1.0, 0.5, 0.0), atol=1e-5)
    assert np.abs(recording.joint_position).max() > 0.1
    wa.write_results(tmp_path / "rig.usda", recording, tmp_path / "run.usda")
    baked = Usd.Stage.Open(str(tmp_path / "run.usda"))
    for code in (25.0, 32.0, 40.0):
        places = [baked.GetPrimAtPath(f"/rig/{name}") for name in ("crane/cart", "rod")]
        cart, rod = (np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim))[3, :3] for prim in places)
        np.testing.assert_allclose(rod, cart, atol=2e-3)

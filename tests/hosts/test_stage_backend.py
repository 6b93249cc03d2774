"""Our backend: what it takes of a stage, how it follows edits, and that it leaves nothing behind."""

import gc
import math
import resource
import sys

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics

from tests.usd.authoring import SI, SMALL_UNITS, body, joint, open_text, schemas
from warp_artic import (
    ContactSlots,
    DescriptionError,
    HostError,
    SettingsError,
    Simulation,
    SolverSettings,
    StageError,
    read_stage,
)
from warp_artic.hosts.backend import StageBackend
from warp_artic.hosts.live_layer import LiveLayer
from warp_artic.hosts.stage_backend import WarpArticBackend

FRAME = 1 / 60
DRIVE = (
    "float drive:angular:physics:stiffness = 2\nfloat drive:angular:physics:damping = 0.2\n"
    "float drive:angular:physics:targetPosition = 30"
)
STIFFNESS = "drive:angular:physics:stiffness"


def arm(header=SI, links=3, name="arm", more="", at=0.0, owner=""):
    """Rods on hinges with drives."""
    content = joint("held", "Fixed", "", f"/{name}/l0", f"point3f physics:localPos0 = ({at}, 0, 0)")
    for k in range(links):
        content += body(f"l{k}", owner, at=(at, 0, -0.5 * k))
        if k:
            frames = "point3f physics:localPos0 = (0, 0, -0.5)\nuniform token physics:axis = 'Y'"
            content += joint(
                f"j{k}",
                "Revolute",
                f"/{name}/l{k - 1}",
                f"/{name}/l{k}",
                f"{frames}\n{DRIVE}",
                ("PhysicsDriveAPI:angular",),
            )
    return f'def Xform "{name}" {schemas("PhysicsArticulationRootAPI")} {{\n{content}{more}}}\n'


SCENE = 'def PhysicsScene "physics" {}\n'


def attached(stage, **options):
    backend = WarpArticBackend()
    backend.attach(stage, **options)
    return backend


def positions(backend):
    return backend.read(["joint_position"])["joint_position"].numpy()[:, 0].copy()


def test_it_keeps_the_protocol():
    assert isinstance(WarpArticBackend(), StageBackend)
    assert WarpArticBackend().can_simulate(["Xform", "PhysicsRigidBodyAPI"])
    assert not WarpArticBackend().can_simulate(["Mesh", "GeomModelAPI"])


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_steps_are_those_of_a_simulation(header):
    """For 240 steps of 1/240 s in frames, bitwise."""
    stage = open_text(SCENE + arm(header), header)
    backend, simulation = attached(stage), Simulation(read_stage(stage))
    counts = [backend.step(FRAME) for _ in range(60)]
    simulation.step(240)
    assert counts == [4] * 60
    assert (positions(backend) == simulation.state.joint_position.numpy()[:, 0]).all()
    np.testing.assert_array_equal(backend.link_poses(), simulation.state.link_pose.numpy()[..., 0].astype(float))


def test_frames_of_any_length():
    """No time is lost or made: the steps are those of the sum."""
    backend = attached(open_text(SCENE + arm()))
    frames = np.random.default_rng(3).uniform(0.0, 0.05, 200)
    counts = [backend.step(float(frame)) for frame in frames]
    assert np.abs(np.cumsum(counts) - np.cumsum(frames) * 240).max() <= 1.0
    assert [backend.step(np.float32(1e-3)) for _ in range(25)].count(1) == 6
    for dt in (-1.0, math.nan, math.inf, True, np.True_, "1"):
        with pytest.raises(SettingsError, match="dt: .* is not a finite number of at least 0"):
            backend.step(dt)


def test_report():
    """Every prim that moves or acts, and the reason for each that does not."""
    more = body("still", "bool physics:kinematicEnabled = 1") + joint("far", "Distance", "/arm/l0", "")
    report = WarpArticBackend().attach(open_text(SCENE + arm(more=more)))
    assert report.links == ("/arm/l0", "/arm/l1", "/arm/l2")
    assert {"/arm", "/arm/l2", "/arm/j1", "/arm/held", "/arm/far"} <= set(report.simulated)
    assert "kinematic" in report.not_simulated["/arm/still"]


def test_edits_take_effect_in_the_next_frame():
    """Stiffness changed at frame 30 acts in frame 31, as in a run whose parameter is set there; nothing is rebuilt."""
    stage, other = open_text(SCENE + arm()), open_text(SCENE + arm())
    backend, by_hand = attached(stage), attached(other)
    for frame in range(60):
        if frame == 30:
            stage.GetPrimAtPath("/arm/j2").GetAttribute(STIFFNESS).Set(50.0)
            stiffness = by_hand.read(["drive_stiffness"])["drive_stiffness"].numpy()[:, 0] * [1, 25]
            by_hand.write({"drive_stiffness": stiffness})
        backend.step(FRAME)
        by_hand.step(FRAME)
        assert (positions(backend) == positions(by_hand)).all()
    assert backend.revision == 1
    untouched = attached(open_text(SCENE + arm()))
    untouched.step(1.0)
    assert (positions(untouched) != positions(backend)).all()


def test_edits_on_any_layer():
    """Of the session, of sublayers, by variants and by activation."""
    stage = open_text(SCENE + arm())
    backend = attached(stage)
    value = lambda: backend.read(["drive_stiffness"])["drive_stiffness"].numpy()[1, 0]  # noqa: E731
    before = value()
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        stage.GetPrimAtPath("/arm/j2").GetAttribute(STIFFNESS).Set(4.0)
    backend.step(0.0)
    assert value() == pytest.approx(2 * before)
    extra = Sdf.Layer.CreateAnonymous(".usda")
    assert extra.ImportFromString(f'#usda 1.0\nover "arm" {{ over "j2" {{\nfloat {STIFFNESS} = 6\n}}\n}}\n')
    stage.GetSessionLayer().Clear()
    stage.GetSessionLayer().subLayerPaths.append(extra.identifier)
    backend.step(0.0)
    assert value() == pytest.approx(3 * before)
    stage.MuteLayer(extra.identifier)
    backend.step(0.0)
    assert value() == before and backend.revision == 1


def test_what_is_no_edit():
    """Looks, and what is shown of a run, are not read anew."""
    stage = open_text(SCENE + arm() + 'def Xform "camera" {}\n')
    backend = attached(stage)
    live = LiveLayer(stage)
    backend.leave_out(live.layer)
    live.show(backend.report.links)
    for _ in range(5):
        backend.step(FRAME)
        live.publish(backend.link_poses())
    UsdGeom.Xformable(stage.GetPrimAtPath("/camera")).AddTranslateOp().Set(Gf.Vec3d(1, 2, 3))
    UsdGeom.Imageable(stage.GetPrimAtPath("/arm/l1")).MakeInvisible()
    stage.GetPrimAtPath("/arm/l1").CreateAttribute("primvars:displayColor", Sdf.ValueTypeNames.Color3fArray)
    assert not backend.take_in_edits()
    UsdGeom.XformCommonAPI(stage.GetPrimAtPath("/arm")).SetTranslate(Gf.Vec3d(0, 0, 1))
    assert backend.take_in_edits()


def test_a_link_is_deleted_and_added_again():
    """The others keep their state; the new one starts as authored."""
    stage = open_text(SCENE + arm(links=4) + arm(name="other", at=2.0))
    backend, undisturbed = attached(stage), attached(open_text(SCENE + arm(name="other", at=2.0)))
    for one in (backend, undisturbed):
        one.step(0.5)
    before = dict(zip(backend.simulation.joint_names, positions(backend)))
    for name in ("/arm/l3", "/arm/j3"):
        stage.GetPrimAtPath(name).SetActive(False)
    backend.step(0.0)
    assert backend.revision == 2 and "/arm/l3" not in backend.report.links
    assert dict(zip(backend.simulation.joint_names, positions(backend))) == {
        name: value for name, value in before.items() if name != "/arm/j3"
    }
    for name in ("/arm/l3", "/arm/j3"):
        stage.GetPrimAtPath(name).SetActive(True)
    backend.step(0.0)
    assert dict(zip(backend.simulation.joint_names, positions(backend))) == {**before, "/arm/j3": 0.0}
    for one in (backend, undisturbed):
        one.step(0.5)
    rows = [backend.simulation.joint_names.index(name) for name in undisturbed.simulation.joint_names]
    assert (positions(backend)[rows] == positions(undisturbed)).all()


def test_an_edit_that_is_refused():
    """Each step says why until it is repaired; then the run goes on from where it was."""
    stage = open_text(SCENE + arm())
    backend = attached(stage)
    backend.step(0.25)
    before = positions(backend)
    mass = stage.GetPrimAtPath("/arm/l1").GetAttribute("physics:mass")
    mass.Set(math.nan)
    for _ in range(2):
        with pytest.raises(StageError, match="/arm/l1"):
            backend.step(FRAME)
    assert (positions(backend) == before).all()
    mass.Set(2.0)
    backend.step(FRAME)
    assert (positions(backend) != before).all()


def test_two_backends_share_a_stage():
    """Each steps the bodies of its own scene, with its gravity; those of the other stay where they are for it."""
    owner = "rel physics:simulationOwner = </moon>"
    text = (
        'def PhysicsScene "earth" {\nfloat physics:gravityMagnitude = 9.81\n}\n'
        'def PhysicsScene "moon" {\nfloat physics:gravityMagnitude = 1.62\n}\n'
    )
    falling = body("first", at=(0, 0, 0)) + body("second", owner, at=(5, 0, 0))
    stage = open_text(text + falling)
    earth, moon = attached(stage, owner="/earth"), attached(stage, owner="/moon")
    assert earth.report.links == ("/first",) and moon.report.links == ("/second",)
    assert earth.report.not_simulated["/second"].startswith("is simulated by /moon")
    lives = []
    for backend in (earth, moon):
        live = LiveLayer(stage)
        for other in (earth, moon):
            other.leave_out(live.layer)
        live.show(backend.report.links)
        lives.append(live)
    for _ in range(60):
        for backend, live in zip((earth, moon), lives):
            backend.step(FRAME)
            live.publish(backend.link_poses())
    height = [
        UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(p))[3][2] for p in ("/first", "/second")
    ]
    np.testing.assert_allclose(height, [-9.81 / 2, -1.62 / 2], rtol=1e-2)
    assert earth.revision == moon.revision == 1
    with pytest.raises(
        StageError, match="/mars: is to own what is simulated and is no physics scene; the stage has /e"
    ):
        attached(stage, owner="/mars")


def test_reset_and_controls():
    """To the start of the stage as it is authored now; controls in the shapes of set_state."""
    stage = open_text(SCENE + arm())
    backend = attached(stage, environments=3)
    backend.set_controls({"drive_position_target": [[1.0, 2.0]] * 3, "joint_effort": [0.5, 0.0]})
    backend.set_controls({"joint_effort": [7.0, 8.0]}, environments=[1])
    found = backend.read(["joint_effort", "drive_position_target"])
    np.testing.assert_array_equal(found["joint_effort"].numpy().T, [[0.5, 0.0], [7.0, 8.0], [0.5, 0.0]])
    np.testing.assert_array_equal(found["drive_position_target"].numpy()[:, 2], [1.0, 2.0])
    backend.step(0.1)
    state = stage.GetPrimAtPath("/arm/j1")
    state.ApplyAPI("WarpArticJointAPI", "angular")
    state.GetAttribute("warpArtic:joint:angular:position").Set(10.0)
    backend.reset()
    np.testing.assert_allclose(positions(backend), [math.radians(10.0), 0.0], atol=1e-6)
    backend.write({"joint_position": [0.1, 0.2], "armature": [0.3, math.inf]})
    np.testing.assert_allclose(positions(backend), [0.1, 0.2], atol=1e-7)


def test_a_control_comes_before_time_samples():
    """A target that is animated on the stage stays where the host sets it; others that it does not set go on."""
    animated = (
        "targetPosition.timeSamples = { 0: 30, 24: 90 }\nfloat drive:angular:physics:targetVelocity.timeSamples = "
    )
    stage = open_text(SCENE + arm().replace("targetPosition = 30", animated + "{ 0: 0, 24: 60 }"))
    backend = attached(stage)
    backend.set_controls({"drive_position_target": [0.1, 0.2]})
    backend.step(0.5)
    targets = backend.read(["drive_position_target", "drive_velocity_target"])
    assert targets["drive_position_target"].numpy().ravel() == pytest.approx([0.1, 0.2])
    assert np.degrees(targets["drive_velocity_target"].numpy()).ravel() == pytest.approx([30.0, 30.0])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda b: b.set_controls({"joint_position": [0, 0]}), "'joint_position' is not one of drive_position_target"),
        (lambda b: b.write({"link_pose": 0}), "'link_pose' is not one of joint_position"),
        (lambda b: b.read(["nothing"]), "'nothing' is not one of joint_position"),
        (lambda b: b.link_poses(3), "environment 3 is not in 0 ... 0"),
        (lambda b: b.attach(open_text(SCENE)), "is attached already; detach first"),
    ],
)
def test_wrong_calls(call, sentence):
    backend = attached(open_text(SCENE + arm()))
    with pytest.raises(HostError, match=sentence):
        call(backend)
    backend.step(FRAME)


def test_detached():
    backend = attached(open_text(SCENE + arm()))
    backend.detach()
    backend.detach()
    for call in (lambda: backend.step(0.1), lambda: backend.read(["joint_position"]), lambda: backend.reset()):
        with pytest.raises(HostError, match="no stage is attached"):
            call()


def test_a_stage_that_cannot_be_attached():
    """The backend is free for another one, and hears nothing of the first."""
    backend = WarpArticBackend()
    with pytest.raises(StageError, match="no articulation and no rigid body"):
        backend.attach(open_text(SCENE))
    with pytest.raises(SettingsError, match="environments"):
        backend.attach(open_text(SCENE + arm()), environments=0)
    with pytest.raises(StageError, match="there is no such file"):
        backend.attach("nowhere.usda")
    assert backend.attach(open_text(SCENE + arm())).links


def test_other_settings_of_the_stage():
    """A time step that is authored anew is taken up, and the motion goes on."""
    stage = open_text(SCENE + arm())
    backend = attached(stage)
    backend.step(0.25)
    before = positions(backend)
    UsdPhysics.Scene.Get(stage, "/physics").GetPrim().ApplyAPI("WarpArticSceneAPI")
    stage.GetPrimAtPath("/physics").GetAttribute("warpArtic:scene:timeStepsPerSecond").Set(1000.0)
    assert backend.step(0.0) == 0 and (positions(backend) == before).all()
    assert backend.step(0.1) == 100 and backend.simulation.settings.dt == 1e-3


def memory():
    """Blocks that Python has allocated, and resident bytes of the process."""
    gc.collect()
    return sys.getallocatedblocks(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_nothing_is_left_behind():
    """After four hundred times: no memory, no layer, no listener."""
    stage = open_text(SCENE + arm())
    session = stage.GetSessionLayer().ExportToString()
    settings = SolverSettings()

    def once():
        backend = attached(stage, settings=settings)
        live = LiveLayer(stage)
        backend.leave_out(live.layer)
        live.show(backend.report.links)
        live.publish(backend.link_poses())
        live.close()
        backend.detach()

    gc.collect()
    gc.freeze()  # what other tests hold would put collections off, and memory would wait for them
    for _ in range(160):  # until the allocators have all that they ever need
        once()
    layers, before = len(Sdf.Layer.GetLoadedLayers()), memory()
    for _ in range(240):
        once()
    blocks, resident = (now - then for now, then in zip(memory(), before))
    gc.unfreeze()
    # Of each layer that a Python program has held, pxr keeps a block of 80 bytes.
    assert blocks < 2 * 240 and resident < 4e6 and len(Sdf.Layer.GetLoadedLayers()) == layers
    assert stage.GetSessionLayer().ExportToString() == session


def test_contacts_of_the_host():
    """A body lies on contacts that the host gives in each step, though the stage has no collider, also after edits."""
    block = "float physics:mass = 2"
    stage = open_text(SCENE + body("block", block, at=(0, 0, 0.1)))
    backend = attached(stage, contact_slots=[ContactSlots(bodies=(None, "/block"), points=4)])
    corners = np.array([(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1)])

    def advance():
        for _frame in range(30):
            gap = np.full(4, backend.link_poses()[0, 2] - 0.1)
            bodies = [(-1, backend.report.links.index("/block"))] * 4
            backend.set_contacts({"bodies": bodies, "normal": [(0, 0, 1)] * 4, "position": corners, "gap": gap})
            backend.step(1 / 240)
        return backend.simulation.contact_force_on("/block")[0]

    np.testing.assert_allclose(advance(), (0.0, 0.0, 2 * 9.81), rtol=1e-3, atol=1e-3)
    stage.GetPrimAtPath("/block").GetAttribute("physics:mass").Set(3.0)
    np.testing.assert_allclose(advance(), (0.0, 0.0, 3 * 9.81), rtol=1e-3, atol=1e-3)
    backend.detach()
    with pytest.raises(DescriptionError, match="/blocks: there is no link"):
        attached(stage, contact_slots=[ContactSlots(bodies=(None, "/blocks"))])

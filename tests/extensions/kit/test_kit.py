"""The Kit extension against a physics interface that checks every call; Kit itself is not here."""

import importlib
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from pxr import UsdGeom, UsdUtils

from tests.hosts.test_stage_backend import SCENE, STIFFNESS, arm, attached
from tests.usd.authoring import SI, SMALL_UNITS, open_text

FOLDER = Path(__file__).parents[3] / "extensions" / "omni.warp_artic"
NOT_FILLED = {"add_force_at_pos", "add_torque", "wake_up", "put_to_sleep", "is_sleeping"}


class Kit:
    """A release of Kit that has started the extension."""

    def __init__(self, release):
        self.core = importlib.import_module("omni.physics.core")
        self.core.release = release
        self.log = importlib.import_module("carb")
        self.extension = importlib.import_module("omni.warp_artic").Extension()
        self.physics = self.core.get_physics_interface()
        self.extension.on_startup("omni.warp_artic-0.1.0")
        self.simulator = self.extension.simulator

    def simulate(self, name, *arguments):
        return self._one.simulation_fns.call(name, *arguments)

    def update(self, name, *arguments):
        return self._one.stage_update_fns.call(name, *arguments)

    @property
    def _one(self):
        ((simulation, _),) = self.physics.simulations.values()
        return simulation


@pytest.fixture(params=["new", "old"])
def kit(request, monkeypatch):
    """Both releases; afterwards no module of Kit is left."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "fake"))
    monkeypatch.syspath_prepend(str(FOLDER))
    made = Kit(request.param)
    yield made
    made.extension.on_shutdown()
    assert made.physics.simulations == {}
    for name in [name for name in sys.modules if name.partition(".")[0] in ("omni", "carb")]:
        del sys.modules[name]


def opened(text, header=SI):
    """A stage that Kit has open, and its number."""
    stage = open_text(text, header)
    return stage, UsdUtils.StageCache.Get().Insert(stage).ToLongInt()


def shown(stage, path="/arm/l2"):
    return np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath(path)))


def test_every_place_is_filled(kit):
    """All functions that a release of Kit has, but for single bodies by encoded path."""
    ((simulation, name),) = kit.physics.simulations.values()
    assert name == "warp_artic" and kit.simulator.simulation_id in kit.physics.simulations
    for functions in (simulation.simulation_fns, simulation.stage_update_fns):
        for name in functions.known:
            assert (getattr(functions, name) is None) == (name in NOT_FILLED), name


@pytest.mark.parametrize("header", [SI, SMALL_UNITS])
def test_a_timeline(kit, header):
    """Play, pause, play on and stop: the poses of a backend, in the units of the stage, which then is as it was."""
    stage, number = opened(SCENE + arm(), header)
    reference, before = attached(open_text(SCENE + arm(), header)), shown(stage)
    layers = [layer.ExportToString() for layer in (stage.GetRootLayer(), stage.GetSessionLayer())]
    kit.update("on_attach", number)
    assert kit.simulate("get_attached_stage") == number and kit.simulate("get_simulation_step_count") == 0
    kit.update("on_update", 0.0, 1 / 60, True)
    assert (shown(stage) == before).all()
    kit.update("on_resume", 0.0)
    assert kit.simulate("get_simulation_time_steps_per_second", number, 0) == 240
    for frame in range(10):
        kit.update("on_update", frame / 60, 1 / 60, True)
        reference.step(1 / 60)
    assert not kit.simulator._backend.take_in_edits()  # what is shown is no edit
    meters = UsdGeom.GetStageMetersPerUnit(stage)
    np.testing.assert_allclose(shown(stage)[3, :3] * meters, reference.link_poses()[2, :3], atol=1e-12)
    assert kit.simulate("get_simulation_step_count") == kit.simulate("get_simulation_timestamp") == 40
    kit.update("on_pause")
    kit.update("on_update", 10 / 60, 1 / 60, True)
    kit.update("on_resume", 10 / 60)
    kit.update("on_update", 10 / 60, 1 / 60, False)
    assert kit.simulate("get_simulation_step_count") == 40
    kit.update("on_update", 10 / 60, 1 / 60, True)
    assert kit.simulate("get_simulation_step_count") == 44
    kit.update("on_reset")
    assert (shown(stage) == before).all()
    assert kit.simulate("get_simulation_step_count") == 0 and kit.simulate("get_simulation_timestamp") == 44
    kit.update("on_detach")
    assert kit.simulate("get_attached_stage") == 0
    assert [layer.ExportToString() for layer in (stage.GetRootLayer(), stage.GetSessionLayer())] == layers
    assert kit.log.errors == [] == kit.log.warnings


def test_stepping_by_calls(kit):
    """What a program does that steps Kit itself."""
    stage, number = opened(SCENE + arm())
    reference, before = attached(open_text(SCENE + arm())), shown(stage)
    attach, detach = ("initialize", "close") if kit.core.release == "new" else ("attach_stage", "detach_stage")
    assert kit.simulate(attach, number) is True
    for frame in range(3):
        if kit.core.release == "new":
            kit.simulate("simulate_async", 1 / 60, frame / 60)
        else:
            kit.simulate("simulate", 1 / 60, frame / 60)
        assert kit.simulate("check_results") is True
        kit.simulate("fetch_results")
        reference.step(1 / 60)
        np.testing.assert_allclose(shown(stage)[3, :3], reference.link_poses()[2, :3], atol=1e-12)
    kit.update("reset_simulation")
    assert (shown(stage) == before).all()
    kit.update("force_load_physics_from_usd")
    kit.simulate("simulate", 1 / 60, 0.0)
    assert (shown(stage) != before).any()
    kit.update("release_physics_objects")
    assert (shown(stage) == before).all() and kit.simulate("get_attached_stage") == number
    if kit.core.release == "new":
        assert kit.update("start_simulation") is True
        assert kit.simulate("is_capable_of_simulating", ["PhysicsRigidBodyAPI", "GeomModelAPI", "MjcTendon"]) == (
            True,
            [True, False, True],
        )
    kit.simulate(detach)
    assert kit.simulate("get_attached_stage") == 0


def test_change_tracking(kit):
    """Edits act in the next step; those that are made while it is paused do not, until another one is heard."""
    stage, number = opened(SCENE + arm())
    kit.update("on_attach", number)
    kit.update("on_resume", 0.0)
    stiffness = lambda: kit.simulator._backend.read(["drive_stiffness"])["drive_stiffness"].numpy()[:, 0]  # noqa: E731
    before = stiffness().copy()
    for is_paused, factor, joint_name in ((True, 1.0, "j1"), (False, 3.0, "j2")):
        kit.simulate("pause_change_tracking", is_paused)
        assert kit.simulate("is_change_tracking_paused") is is_paused
        stage.GetPrimAtPath(f"/arm/{joint_name}").GetAttribute(STIFFNESS).Set(6.0)
        kit.simulate("flush_changes")
        np.testing.assert_allclose(stiffness(), before * factor, rtol=1e-6)


def test_listeners_to_steps(kit):
    """Before and after, in order, with the time and who steps; what one raises does not keep the others."""
    _, number = opened(SCENE + arm())
    kit.update("on_attach", number)
    calls = []

    def note(name):
        def called(elapsed, context):
            calls.append((name, elapsed, context.simulation_id, kit.simulate("get_simulation_step_count")))

        return called

    def fail(elapsed, context):
        raise ValueError("of theirs")

    kit.simulate("subscribe_physics_on_step_events", False, 1, note("late"))
    kit.simulate("subscribe_physics_on_step_events", False, 0, fail)
    gone = kit.simulate("subscribe_physics_on_step_events", False, 0, note("gone"))
    kit.simulate("subscribe_physics_on_step_events", True, 5, note("before"))
    kit.simulate("subscribe_physics_on_step_events", False, 0, note("soon"))
    kit.simulate("unsubscribe_physics_on_step_events", gone)
    kit.simulate("unsubscribe_physics_on_step_events", gone)
    kit.simulate("simulate", 0.05, 0.0)
    own = kit.simulator.simulation_id
    assert calls == [("before", 0.05, own, 0), ("soon", 0.05, own, 12), ("late", 0.05, own, 12)]
    assert kit.log.errors == ["[omni.warp_artic] a listener to steps has failed: ValueError: of theirs"]


def test_what_is_not_there_is_said(kit):
    """Contacts, picking, and prims that are left alone."""
    found = kit.simulate("subscribe_physics_contact_report_events", print)
    assert found == kit.core.k_invalid_subscription_id
    kit.simulate("unsubscribe_physics_contact_report_events", found)
    assert kit.update("handle_raycast", None, None, True) is False
    _, number = opened(SCENE + arm(more='def PhysxPhysicsJointInstancer "far" {\n}\n'))
    kit.update("on_attach", number)
    kit.update("force_load_physics_from_usd")
    contacts, far = kit.log.warnings
    assert contacts == "[omni.warp_artic] contacts are simulated, but not reported to subscribers yet"
    assert far.startswith("[omni.warp_artic] /arm/far: ") and kit.log.errors == []


def test_errors(kit):
    """One line each, not again while it is the same; the next call tries again."""
    kit.update("on_resume", 0.0)
    empty, number = opened(SCENE)
    kit.update("on_attach", number)
    for _ in range(3):
        kit.update("on_resume", 0.0)
        kit.update("on_update", 0.0, 1 / 60, True)
    stage, number = opened(SCENE + arm())
    kit.update("on_attach", number)
    kit.update("on_resume", 0.0)
    mass = stage.GetPrimAtPath("/arm/l1").GetAttribute("physics:mass")
    mass.Set(float("nan"))
    for _ in range(3):
        kit.update("on_update", 0.0, 1 / 60, True)
    assert kit.simulate("get_simulation_step_count") == 0 and "/arm/l1" in kit.simulator.error
    mass.Set(2.0)
    kit.update("on_update", 0.0, 1 / 60, True)
    assert kit.simulate("get_simulation_step_count") == 4 and kit.simulator.error is None
    kit.simulate("simulate", float("nan"), 0.0)
    UsdUtils.StageCache.Get().Erase(empty)
    kit.update("on_attach", 999999)
    kit.update("force_load_physics_from_usd")
    sentences = (
        "no stage is attached",
        "no articulation and no rigid body",
        "/arm/l1",
        "dt: nan is not a finite number of at least 0",
        "stage 999999: is not open",
    )
    assert len(kit.log.errors) == len(sentences)
    for line, sentence in zip(kit.log.errors, sentences):
        assert line.startswith("[omni.warp_artic] ") and sentence in line and "\n" not in line


def test_a_run_that_stops(kit):
    """A velocity that runs away is one line."""
    _, number = opened(SCENE + arm())
    kit.update("on_attach", number)
    kit.update("on_resume", 0.0)
    kit.simulator._backend.write({"joint_velocity": [1e30, 0.0]})
    for _ in range(3):
        kit.update("on_update", 0.0, 1 / 60, True)
    (line,) = kit.log.errors
    assert "/arm: environment 0 stopped at step" in line


def test_it_cannot_be_registered(kit):
    """Kit refuses: one line, and shutting down does nothing more."""
    kit.physics.refuses = True
    second = type(kit.extension)()
    second.on_startup("again")
    assert kit.log.errors == ["[omni.warp_artic] cannot be registered: the physics interface of Kit refuses it"]
    second.on_shutdown()
    kit.physics.refuses = False


def test_nothing_is_left_behind(kit):
    """Of starts and stops: no layer, and no listener to the stage."""
    stage, number = opened(SCENE + arm())
    session = stage.GetSessionLayer().ExportToString()
    for _ in range(20):
        kit.update("on_attach", number)
        kit.update("on_resume", 0.0)
        kit.update("on_update", 0.0, 1 / 60, True)
        kit.update("on_detach")
    assert stage.GetSessionLayer().ExportToString() == session and kit.log.errors == []
    assert kit.simulator._backend is None and kit.simulator._live is None


def test_the_manifest():
    """Names the module that there is, and what it imports."""
    manifest = tomllib.loads((FOLDER / "config" / "extension.toml").read_text())
    (module,) = manifest["python"]["module"]
    assert (FOLDER / module["name"].replace(".", "/") / "__init__.py").exists()
    assert {"omni.physics", "omni.warp.core"} <= set(manifest["dependencies"])
    assert (FOLDER / manifest["package"]["readme"]).exists()
    assert manifest["package"]["version"] == "0.1.0"

"""The plugin of usdview against stand-ins for its API; usdview itself is in no package of the index."""

import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from pxr import Tf, Usd, UsdGeom
from warp_artic.extensions.usd.usdview_commands import Commands

from tests.hosts.test_stage_backend import SCENE, arm
from tests.usd.authoring import open_text

FOLDER = Path(__file__).parents[3] / "extensions" / "usd"


class Api:
    """What commands use of `usdviewApi`."""

    qMainWindow = object()

    def __init__(self, stage):
        self.stage = stage
        self.told = []
        self.drawn = 0

    def PrintStatus(self, text):
        self.told.append(text)

    def UpdateViewport(self):
        self.drawn += 1


class Timer:
    """A timer that rings when it is told to."""

    def __init__(self):
        self.function = None

    def __call__(self, parent, milliseconds, function):
        assert parent is Api.qMainWindow and milliseconds == 17
        self.function = function
        return self.stop

    def stop(self):
        self.function = None


def shown(stage):
    return np.array(UsdGeom.XformCache().GetLocalToWorldTransform(stage.GetPrimAtPath("/arm/l2")))


def test_simulate_shows_a_run_and_leaves_the_stage():
    """Each ring of the timer is a frame; the command once more ends it."""
    api, timer = Api(open_text(SCENE + arm())), Timer()
    commands, before = Commands(timer), shown(api.stage)
    commands.simulate(api)
    for _ in range(6):
        timer.function()
    assert (shown(api.stage) != before).any()
    assert api.drawn == 6 and api.told[-1] == "warp_artic: 0.10 s"
    commands.simulate(api)
    assert timer.function is None and (shown(api.stage) == before).all()
    assert api.told[-1] == "warp_artic: the stage is as it was"


def test_another_stage_ends_it():
    """Usdview has opened a file meanwhile."""
    api, timer = Api(open_text(SCENE + arm())), Timer()
    commands = Commands(timer)
    commands.simulate(api)
    api.stage = open_text("")
    timer.function()
    assert timer.function is None and api.told[-1] == "warp_artic: another stage is open"


def test_bake_writes_a_layer_beside_the_stage(tmp_path):
    """Of the time range of the stage; what cannot be done is one line."""
    path = tmp_path / "arm.usda"
    stage = open_text(SCENE + arm())
    stage.GetRootLayer().Export(str(path))
    opened = Usd.Stage.Open(str(path))
    opened.SetStartTimeCode(0.0)
    opened.SetEndTimeCode(6.0)
    api = Api(opened)
    Commands(Timer()).bake(api)
    assert api.told == [f"warp_artic: wrote {tmp_path / 'arm_run.usdc'}"]
    assert Usd.Stage.Open(str(tmp_path / "arm_run.usdc")).GetEndTimeCode() == 6.0
    nothing = Api(open_text(""))
    for command in (Commands(Timer()).bake, Commands(Timer()).simulate):
        command(nothing)
        assert "\n" not in nothing.told[-1] and "no rigid body to simulate" in nothing.told[-1]


@pytest.fixture
def defined(monkeypatch):
    """Modules of usdview, with the parts that the plugin uses."""
    names = ("pxr.Usdviewq", "pxr.Usdviewq.plugin", "pxr.Usdviewq.qt")
    found = {name: types.ModuleType(name) for name in names}
    for name, module in found.items():
        monkeypatch.setitem(sys.modules, name, module)
    found["pxr.Usdviewq.plugin"].PluginContainer = type("PluginContainer", (), {})
    found["pxr.Usdviewq.qt"].QtCore = types.SimpleNamespace()
    kinds = []
    monkeypatch.setattr(Tf.Type, "Define", kinds.append)
    yield kinds
    sys.modules.pop("warp_artic.extensions.usd.usdview", None)


def test_the_container_puts_both_into_a_menu(defined):
    """As usdview calls it, and as its plugInfo.json names it."""
    from warp_artic.extensions.usd import usdview as plugin

    assert defined == [plugin.WarpArticPlugin]
    (listed,) = json.loads((FOLDER / "plugInfo.json").read_text())["Plugins"]
    assert list(listed["Info"]["Types"]) == [f"{listed['Name']}.WarpArticPlugin"]
    registry, items = types.SimpleNamespace(), []
    registry.registerCommandPlugin = lambda name, title, function: (name, title)
    builder = types.SimpleNamespace(findOrCreateMenu=lambda name: types.SimpleNamespace(addItem=items.append))
    container = plugin.WarpArticPlugin()
    container.registerPlugins(registry, None)
    container.configureView(registry, builder)
    assert [title for _, title in items] == ["Simulate", "Bake"]

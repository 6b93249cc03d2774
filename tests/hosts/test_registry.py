"""Backends are found without an import, by entry points and by plugins of USD, and refused with one line."""

import json
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from warp_artic import HostError
from warp_artic.hosts import registry
from warp_artic.hosts.backend import API_VERSION


class Steady:
    """A backend that does nothing."""

    name = "steady"
    api_version = API_VERSION
    report = None

    def can_simulate(self, schemas): ...
    def attach(self, stage, **options): ...
    def leave_out(self, layer): ...
    def set_controls(self, controls, environments=None): ...
    def step(self, dt): ...
    def read(self, fields): ...
    def link_poses(self, environment=0): ...
    def write(self, values, environments=None): ...
    def reset(self, environments=None): ...
    def detach(self): ...


class Old(Steady):
    api_version = 0


class Halting(Steady):
    step = property()

    def __init__(self):
        raise RuntimeError("the extra\n  'halting' is missing")


class Unfinished:
    name = "unfinished"
    api_version = API_VERSION

    def attach(self, stage): ...


def register(monkeypatch, *, points=(), plugins=()):
    """Let nothing be registered but these."""
    points = [EntryPoint(name, factory, registry.GROUP) for name, factory in points]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    monkeypatch.setattr(registry, "_plugins", lambda: [registry.Registration(*one) for one in plugins])


def test_ours_is_found_both_ways():
    """By the installed package, and by the plugin that importing it registers."""
    (ours,) = (one for one in registry.find_backends() if one.name == "warp_artic")
    assert ours.factory == "warp_artic.hosts.stage_backend:WarpArticBackend" and ours.api_version == API_VERSION
    assert [place.split()[0] for place in ours.places] == ["package", "plugin"]


def test_others_are_found_by_plugins_without_an_import(tmp_path):
    """A program that knows USD and PXR_PLUGINPATH_NAME only reads the same dictionary."""
    info = {"StageBackends": {"theirs": {"factory": "not_there:Backend", "api": 1}}}
    plugin = {"Name": "theirs", "Type": "resource", "Root": ".", "ResourcePath": ".", "LibraryPath": "", "Info": info}
    (tmp_path / "plugInfo.json").write_text(json.dumps({"Plugins": [plugin]}))
    program = (
        "import sys; from warp_artic.hosts.registry import find_backends; "
        "print([(b.name, b.factory, b.api_version) for b in find_backends() if b.name == 'theirs'], "
        "'warp_artic.hosts.stage_backend' in sys.modules, 'warp' in sys.modules)"
    )
    environment = {"PXR_PLUGINPATH_NAME": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**environment})
    assert run.stdout.strip() == "[('theirs', 'not_there:Backend', 1)] False False", run.stderr


def test_load(monkeypatch):
    register(monkeypatch, points=[("steady", f"{__name__}:Steady")])
    assert isinstance(registry.load_backend("steady"), Steady)


@pytest.mark.parametrize(
    ("name", "factory", "sentence"),
    [
        ("absent", "Steady", "there is no backend 'absent'; registered are one"),
        ("one", "Old", r"'one' \(a package\) is for version 0 of the protocol; this is version 1"),
        ("one", "Halting", "cannot be loaded from .*: the extra 'halting' is missing$"),
        (
            "one",
            "Unfinished",
            "is no StageBackend: .* lacks report, can_simulate, leave_out, set_controls, step, read, li",
        ),
        ("one", "Missing", "cannot be loaded from .*: module .* has no attribute 'Missing'"),
    ],
)
def test_what_cannot_be_loaded(name, factory, sentence, monkeypatch):
    """One line each."""
    register(monkeypatch, points=[("one", f"{__name__}:{factory}")])
    with pytest.raises(HostError, match=sentence) as raised:
        registry.load_backend(name)
    assert "\n" not in str(raised.value)


def test_missing_package(monkeypatch):
    register(monkeypatch, points=[("one", "warp_artic_of_others:Backend")])
    with pytest.raises(HostError, match="cannot be loaded from .*: No module named 'warp_artic_of_others'"):
        registry.load_backend("one")


def test_a_version_that_is_registered_needs_no_import(monkeypatch):
    register(monkeypatch, plugins=[("far", "not_there:Backend", ("plugin far at /far",), 7)])
    with pytest.raises(HostError, match="for version 7 of the protocol; this is version 1"):
        registry.load_backend("far")


def test_duplicates_are_refused_naming_both(monkeypatch):
    places = [("plugin p at /p",), ("plugin q at /q",)]
    register(monkeypatch, plugins=[("one", "a:B", places[0]), ("one", "c:D", places[1])])
    with pytest.raises(HostError, match="registered twice: as a:B by plugin p at /p, and as c:D by plugin q at /q"):
        registry.find_backends()


@pytest.mark.parametrize("info", [{}, {"factory": "no colon"}, "text", {"factory": 3}])
def test_broken_metadata(info, monkeypatch):
    class Plugin:
        name, path, resourcePath = "broken", "/broken", ""
        metadata = {registry.KEY: {"one": info}}

    class Plug:
        class Registry:
            def GetAllPlugins(self):
                return [Plugin()]

    monkeypatch.setattr("pxr.Plug", Plug)
    with pytest.raises(HostError, match="plugin broken at /broken: StageBackends 'one' needs a factory"):
        registry.find_backends()

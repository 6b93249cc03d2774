"""Runs in value clips: as one long run layer, with bounded memory, and resumed after a kill."""

import json
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from pxr import Usd, UsdGeom

import warp_artic as wa
from tests.hosts.test_stage_backend import SCENE, arm
from tests.usd.authoring import open_text
from warp_artic.cli.main import main
from warp_artic.usd.write_clips import ClipWriter

LINK = "/arm/l2"
STATE = "state:angular:physics:position"


@pytest.fixture
def source(tmp_path):
    """A stage file with a frame rate of its own, and a joint state that is authored."""
    stage = open_text(SCENE + arm(), 'metersPerUnit = 1\nupAxis = "Z"\ntimeCodesPerSecond = 30\nstartTimeCode = 10')
    prim = stage.GetPrimAtPath("/arm/j1")
    prim.AddAppliedSchema("PhysicsJointStateAPI:angular")
    path = tmp_path / "arm.usda"
    stage.Export(str(path))
    return path


def place(stage, code):
    return np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(stage.GetPrimAtPath(LINK)))


def assert_same_motion(one, other, codes):
    one, other = Usd.Stage.Open(str(one)), Usd.Stage.Open(str(other))
    assert (one.GetStartTimeCode(), one.GetEndTimeCode()) == (other.GetStartTimeCode(), other.GetEndTimeCode())
    for code in codes:
        np.testing.assert_allclose(place(one, code), place(other, code), atol=1e-12)
        values = [stage.GetPrimAtPath("/arm/j1").GetAttribute(STATE).Get(code) for stage in (one, other)]
        assert values[0] == pytest.approx(values[1], abs=1e-5)


@pytest.mark.parametrize("steps", [80, 50, 37])
def test_clips_are_the_run_layer_in_pieces(source, tmp_path, steps):
    """At frames, and wherever a frame falls; stretches that are no whole number of frames too."""
    scene = wa.read_stage(source)
    one, other = wa.Simulation(scene), wa.Simulation(scene)
    writer = ClipWriter(source, tmp_path / "run.usdc")
    for _ in range(4):
        writer.write(one.record(steps))
    wa.write_results(source, other.record(4 * steps), tmp_path / "whole.usdc")
    end = 10 + 4 * steps / 240 * 30
    assert_same_motion(tmp_path / "run.usdc", tmp_path / "whole.usdc", [*range(10, int(end)), end])
    assert sorted(path.name for path in (tmp_path / "run.clips").iterdir()) == [
        *(f"{k:04d}.usdc" for k in range(4)),
        "manifest.usda",
    ]


def test_what_rests_in_one_stretch_moves_in_another(source, tmp_path):
    """An attribute that is constant in the first clip has its samples in the others."""
    scene = wa.read_stage(source)
    simulation = wa.Simulation(scene)
    writer = ClipWriter(source, tmp_path / "run.usda")
    simulation.set_state(joint_position=[0.2, 0.1])
    moving = simulation.record(240)
    names = ("joint_position", "link_pose")
    held = {name: np.repeat(getattr(moving, name)[:1], len(moving.time), axis=0) for name in names}
    writer.write(replace(moving, **held))
    writer.write(replace(moving, time=moving.time + 1.0))
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    places = [place(stage, code) for code in (10.0, 25.5, 55.0, 70.0)]
    assert (places[0] == places[1]).all() and np.abs(places[2] - places[1]).max() > 0.01
    assert (places[3] != places[2]).any()


def test_the_layer_is_whole_after_each_clip(source, tmp_path):
    """It plays what there is; the source is not touched."""
    before = source.read_bytes()
    simulation, writer = wa.Simulation(wa.read_stage(source)), ClipWriter(source, tmp_path / "run.usda")
    for count in range(1, 4):
        writer.write(simulation.record(48))
        stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
        assert stage.GetEndTimeCode() == 10 + 6 * count
        value = np.array(stage.GetPrimAtPath("/arm/j1").GetAttribute(STATE).Get(10 + 6 * count))
        np.testing.assert_allclose(value, np.degrees(simulation.state.joint_position.numpy()[0, 0]), rtol=1e-6)
    assert source.read_bytes() == before


def test_command(source, tmp_path, monkeypatch, capsys):
    """Drives under inputs that change in the middle of clips; then a shorter run that is resumed."""
    monkeypatch.chdir(tmp_path)
    targets = {"drive_position_target:/arm/j2": [0.0] * 70 + [1.0] * 130}
    (tmp_path / "inputs.json").write_text(json.dumps(targets))
    common = ["simulate", "arm.usda", "--inputs", "inputs.json"]
    assert main([*common, "-o", "whole.usda", "--steps", "200"]) == 0
    assert main([*common, "-o", "run.usda", "--steps", "200", "--clips", "0.25"]) == 0
    assert "run.usda, with 4 clips in run.clips" in capsys.readouterr().out
    assert_same_motion("run.usda", "whole.usda", range(10, 36))
    assert main([*common, "-o", "run.usda", "--steps", "200", "--clips", "0.25"]) == 2
    assert "run.clips: has a run already; --resume continues it" in capsys.readouterr().err
    shutil.rmtree("run.clips")
    assert main(["simulate", "arm.usda", "-o", "run.usda", "--steps", "130", "--clips", "0.25"]) == 0
    assert main(["simulate", "arm.usda", "-o", "run.usda", "--steps", "200", "--clips", "0.25", "--resume"]) == 0
    assert main(["simulate", "arm.usda", "-o", "whole.usda", "--steps", "200"]) == 0
    assert_same_motion("run.usda", "whole.usda", range(10, 36))


@pytest.mark.parametrize("steps", [180, 190])
def test_a_resumed_run_ends_where_it_is_asked_to(source, tmp_path, monkeypatch, steps):
    """Inside or at the start of a last clip that is shorter than others: what is longer goes."""
    monkeypatch.chdir(tmp_path)
    common = ["simulate", "arm.usda", "-o", "run.usda", "--clips", "0.25", "--steps"]
    assert main([*common, "200"]) == 0
    assert main([*common, str(steps), "--resume"]) == 0
    assert main(["simulate", "arm.usda", "-o", "whole.usda", "--steps", str(steps)]) == 0
    assert_same_motion("run.usda", "whole.usda", range(10, 10 + steps // 8))
    clips = sorted(path.stem for path in (tmp_path / "run.clips").glob("*.usdc"))
    assert clips == [f"{k:04d}" for k in range(-(-steps // 60))]


def test_clips_that_cannot_be_read_are_named(source, tmp_path, monkeypatch, capsys):
    """Gone or damaged: before the run, and the run is as it was."""
    monkeypatch.chdir(tmp_path)
    common = ["simulate", "arm.usda", "-o", "run.usda", "--clips", "0.25", "--steps"]
    assert main([*common, "120"]) == 0
    before = (tmp_path / "run.usda").read_bytes()
    clip = tmp_path / "run.clips" / "0001.usdc"
    for damage in (lambda: clip.write_bytes(clip.read_bytes()[:100]), clip.unlink):
        damage()
        capsys.readouterr()
        assert main([*common, "180", "--resume"]) == 1
        assert "run.clips/0001.usdc: " in capsys.readouterr().err
        assert (tmp_path / "run.usda").read_bytes() == before


def test_a_folder_without_a_run_is_no_hindrance(source, tmp_path, monkeypatch):
    """As a process leaves it that is killed before its first clip."""
    monkeypatch.chdir(tmp_path)
    left = tmp_path / "run.clips" / f".0000.usdc.{'a7' * 16}.partial"
    left.mkdir(parents=True)
    (left / "0000.usdc").write_bytes(b"half")
    assert main(["simulate", "arm.usda", "-o", "run.usda", "--clips", "0.25", "--steps", "60"]) == 0
    assert sorted(path.name for path in (tmp_path / "run.clips").iterdir()) == ["0000.usdc", "manifest.usda", "run.npz"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--resume"], "resume: needs --clips, the length of the clips of the run to continue"),
        (["--clips", "0.001"], "clips: 0.001 s is not at least one step of 0.0041"),
        (["--clips", "1", "--record", "x.npz"], "clips: are written with --output alone"),
    ],
)
def test_wrong_options(options, sentence, source, tmp_path, capsys):
    assert main(["simulate", str(source), "-o", str(tmp_path / "run.usda"), *options]) == 2
    assert sentence in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.usda"]


def test_other_clips_cannot_be_resumed(source, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "arm.usda", "-o", "run.usda", "--steps", "60", "--clips", "0.125"]) == 0
    assert main(["simulate", "arm.usda", "-o", "run.usda", "--steps", "90", "--clips", "0.2", "--resume"]) == 2
    assert "is after 60 steps, no whole number of clips of 48 steps; use the same --clips" in capsys.readouterr().err
    source.write_text(source.read_text().replace("stiffness = 2", "stiffness = 3"))
    assert main(["simulate", "arm.usda", "-o", "run.usda", "--steps", "90", "--clips", "0.125", "--resume"]) == 1
    assert "the checkpoint is of another model" in capsys.readouterr().err


def test_killed_and_resumed(source, tmp_path):
    """A process that is killed in the middle of a clip leaves whole ones; what goes on gives the uninterrupted run."""
    command = [sys.executable, "-m", "warp_artic", "simulate", "arm.usda", "--steps", "960", "--clips", "0.1", "-o"]
    process = subprocess.Popen([*command, "run.usda"], cwd=tmp_path, stdout=subprocess.DEVNULL)
    while not (tmp_path / "run.clips" / "0003.usdc").exists():
        time.sleep(0.002)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert Usd.Stage.Open(str(tmp_path / "run.usda")).GetEndTimeCode() >= 10 + 9
    assert subprocess.run([*command, "run.usda", "--resume"], cwd=tmp_path, stdout=subprocess.DEVNULL).returncode == 0
    simulation = wa.Simulation(wa.read_stage(source))
    wa.write_results(source, simulation.record(960), tmp_path / "whole.usda")
    assert_same_motion(tmp_path / "run.usda", tmp_path / "whole.usda", np.linspace(10, 130, 41))

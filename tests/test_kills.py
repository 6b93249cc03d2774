"""Processes that are killed while they write: the old file or the new one is there, whole, and the next run cleans up.

WARP_ARTIC_KILLS=100 kills so many in place of a few.
"""

import functools
import itertools
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf

import warp_artic as wa
from warp_artic.cli.main import main

COUNT = int(os.environ.get("WARP_ARTIC_KILLS", 5))
ARM = Path(__file__).parents[1] / "samples" / "scenes" / "arm.usda"
RECORDS = 400
OUTPUTS = {"bake": "run.usdc", "text": "run.usda", "record": "run.npz", "save": "run.npz"}
KINDS = (*OUTPUTS, "clips")
LONGEST = {"bake": 0.12, "text": 0.4, "record": 0.03, "save": 0.03, "clips": 0.8}
"""From the first file to a kill [s]: some writes."""
LEFT = "*.partial"


@functools.cache
def scene():
    return wa.read_stage(ARM)


@functools.cache
def recording(version):
    """A long one, of either version."""
    rng = np.random.default_rng(version)
    pose = rng.normal(size=(RECORDS, 1, len(scene().link_names), 7))
    return wa.Recording(
        time=np.arange(RECORDS) / 240.0,
        joint_names=scene().dof_names,
        link_names=scene().link_names,
        joint_position=rng.normal(size=(RECORDS, 1, len(scene().dof_names))),
        link_pose=pose,
    )


@functools.cache
def simulation():
    return wa.Simulation(scene(), environments=500)


def write(kind, folder, version):
    """Write one version of an output."""
    output = Path(folder, OUTPUTS[kind])
    if kind == "save":
        simulation().state.joint_position.fill_(float(version))
        simulation().save(output)
    elif kind == "record":
        recording(version).save(output)
    else:
        wa.write_results(ARM, recording(version), output)


def write_for_ever(kind, folder):
    """What the process does that is killed."""
    for number in itertools.count():
        write(kind, folder, number % 2)
        if number == 1:
            print("here", flush=True)


def version_in(kind, folder):
    """Which version a file is, if it is whole."""
    output = Path(folder, OUTPUTS[kind])
    if kind == "save":
        simulation().load(output)
        return float(simulation().state.joint_position.numpy().mean())
    if kind == "record":
        found = wa.Recording.load(output).link_pose
        return [k for k in (0, 1) if np.array_equal(found, recording(k).link_pose)][0]
    text = Sdf.Layer.OpenAsAnonymous(str(output)).ExportToString()
    return [k for k in (0, 1) if text == text_of(kind, k)][0]


@functools.cache
def text_of(kind, version):
    """A layer that nobody has disturbed."""
    with tempfile.TemporaryDirectory(dir=os.environ["WARP_ARTIC_KILLS_FOLDER"]) as folder:
        write(kind, folder, version)
        return Sdf.Layer.OpenAsAnonymous(str(Path(folder, OUTPUTS[kind]))).ExportToString()


def started(code, folder):
    process = subprocess.Popen([sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True)
    return process


def kill(process, seconds):
    time.sleep(seconds)
    assert process.poll() is None, "it has ended by itself"
    process.kill()
    process.wait()
    process.stdout.close()


@pytest.fixture(autouse=True)
def same_depth(tmp_path_factory, monkeypatch):
    """Layers refer to the stage by a path from their own folder."""
    monkeypatch.setenv("WARP_ARTIC_KILLS_FOLDER", str(tmp_path_factory.getbasetemp()))
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    )


def killed_write(kind, folder, rng):
    """Kill a process that writes one file again and again; whether it left something behind."""
    code = f"from tests.test_kills import write_for_ever; write_for_ever({kind!r}, {str(folder)!r})"
    process = started(code, folder)
    while process.stdout.readline() not in ("here\n", ""):
        pass
    kill(process, rng.uniform(0.0, LONGEST[kind]))
    has_left = any(folder.glob(LEFT))
    assert version_in(kind, folder) in (0, 1)
    write(kind, folder, 1)
    assert version_in(kind, folder) == 1
    assert sorted(path.name for path in folder.iterdir()) == [OUTPUTS[kind]]
    return has_left


def killed_clips(folder, rng):
    """Kill a run in clips, and go on with it; whether it left something behind."""
    arguments = f"simulate {ARM} -o {folder / 'run.usda'} --steps 960 --clips 0.05"
    process = started(f"from warp_artic.cli.main import main; main({arguments.split()!r})", folder)
    while not (folder / "run.usda").exists():
        time.sleep(0.001)
    kill(process, rng.uniform(0.0, LONGEST["clips"]))
    has_left = any(folder.rglob(LEFT))
    assert Sdf.Layer.OpenAsAnonymous(str(folder / "run.usda")).endTimeCode > 0
    for clip in (folder / "run.clips").glob("0*.usdc"):
        assert Sdf.Layer.OpenAsAnonymous(str(clip))
    assert main([*arguments.split(), "--resume"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["run.clips", "run.usda"]
    names = sorted(path.name for path in (folder / "run.clips").iterdir())
    assert names == [*(f"{k:04d}.usdc" for k in range(80)), "manifest.usda", "run.npz"]
    assert [
        Sdf.Layer.OpenAsAnonymous(str(folder / "run.clips" / name)).ExportToString() for name in names[:-1]
    ] == clips()
    return has_left


@functools.cache
def clips():
    """Of a run that nobody has disturbed."""
    folder = Path(os.environ["WARP_ARTIC_KILLS_FOLDER"], "whole")
    folder.mkdir()
    assert main(f"simulate {ARM} -o {folder / 'run.usda'} --steps 960 --clips 0.05".split()) == 0
    files = sorted((folder / "run.clips").glob("*.usd*"))
    return [Sdf.Layer.OpenAsAnonymous(str(file)).ExportToString() for file in files]


@pytest.mark.parametrize("kind", KINDS)
def test_kills(kind, tmp_path_factory, capsys):
    """Old or new, whole; and nothing is left after the next one."""
    numbers = [number for number in range(COUNT) if KINDS[number % len(KINDS)] == kind]
    left = 0
    for number in numbers:
        rng = random.Random(number)
        folder = tmp_path_factory.mktemp("killed")
        left += killed_clips(folder, rng) if kind == "clips" else killed_write(kind, folder, rng)
    capsys.readouterr()
    print(f"{kind}: {len(numbers)} killed, {left} left something behind")

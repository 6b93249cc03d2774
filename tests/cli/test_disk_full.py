"""A disk that is full, in every command that writes: exit code 1, the file by the name that was given, nothing half."""

import json
import os
import resource
import subprocess
import sys
from contextlib import contextmanager

import pytest

import warp_artic as wa
from warp_artic.cli.main import main
from warp_artic.usd import write_clips

ROOM = 512
"""Bytes that a file may have; less than any output."""
ARM = "samples/scenes/arm.usda"
RUN = f"simulate {ARM} --steps 48"
BENCH = "bench --models pendulum --environments 1 --repeats 1 --seconds 0.001 --device cpu --threads 1 --peers"
COMMANDS = {
    **{f"run layer {end}": (f"{RUN} -o {{0}}", f"run.{end}") for end in ("usd", "usda", "usdc")},
    "recording": (f"{RUN} --record {{0}}", "run.npz"),
    "copy": (f"convert {ARM} {{0}} --to warpArtic", "copy.usdc"),
    "target lengths": ("solve-tendons samples/scenes/starfish.usda --forces {1} -o {0}", "targets.usda"),
    "tensions": ("solve-tendons samples/scenes/starfish.usda --forces {1} --record {0}", "tensions.npz"),
    "figures": (f"{BENCH} --json {{0}}", "bench.json"),
    "picture": (f"{BENCH} --plot {{0}}", "bench.svg"),
}
FORCES = "samples/scenes/assets/starfish_forces.csv"


@contextmanager
def full_disk():
    """Files end at ROOM bytes meanwhile."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def content(folder):
    """All files below a folder, with their bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if not path.is_dir()}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_write_a_file(name, tmp_path, capsys):
    """What was there before is there still, byte for byte, and nothing else."""
    text, output = COMMANDS[name]
    other = FORCES if "solve" in text else "/dev/null"
    command = text.format(tmp_path / output, other).split()
    assert main(command) == 0
    before = content(tmp_path)
    assert list(before) == [output]
    capsys.readouterr()
    with full_disk():
        code = main(command)
    said = capsys.readouterr().err
    assert code == 1, said
    assert f"warp-artic: error: {tmp_path / output}: cannot be written: File too large\n" in said
    assert "partial" not in said and content(tmp_path) == before
    assert not [path for path in tmp_path.rglob("*") if path.is_dir()]


def test_runs_in_clips(tmp_path, capsys):
    """The first clip and a later one; what there is can be gone on with."""
    command = f"simulate {ARM} -o {tmp_path / 'run.usda'} --clips 0.1 --steps".split()
    with full_disk():
        assert main([*command, "48"]) == 1
    assert f"{tmp_path / 'run.clips' / '0000.usdc'}: cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert main([*command, "48"]) == 0
    before = content(tmp_path)
    with full_disk():
        assert main([*command, "96", "--resume"]) == 1
    assert f"{tmp_path / 'run.clips' / '0002.usdc'}: cannot be written" in capsys.readouterr().err
    assert content(tmp_path) == before
    assert main([*command, "96", "--resume"]) == 0
    assert (tmp_path / "run.clips" / "0003.usdc").exists()


@pytest.mark.parametrize("failing", ["manifest.usda", "run.usda"])
@pytest.mark.parametrize("clips", [0, 2])
def test_what_goes_with_a_clip(failing, clips, tmp_path, capsys, monkeypatch):
    """Where the manifest or the layer cannot be written, the clip goes too."""
    command = f"simulate {ARM} -o {tmp_path / 'run.usda'} --clips 0.1 --resume --steps".split()
    if clips:
        assert main([*command, "48"]) == 0
    before = content(tmp_path)
    keep = write_clips.write_layer

    def write_layer(layer, output):
        if os.path.basename(output) == failing:
            raise wa.SolveError(f"{output}: cannot be written: No space left on device")
        keep(layer, output)

    monkeypatch.setattr(write_clips, "write_layer", write_layer)
    code = main([*command, "96"])
    if clips and failing == "manifest.usda":  # which is there
        assert code == 0
        return
    assert code == 1 and f"{failing}: cannot be written: No space" in capsys.readouterr().err
    assert content(tmp_path) == before
    monkeypatch.setattr(write_clips, "write_layer", keep)
    assert main([*command, "96"]) == 0
    assert len(list((tmp_path / "run.clips").glob("0*.usdc"))) == 4


def test_programs_get_an_object(tmp_path, capsys):
    """With --json: the same, on standard output."""
    with full_disk():
        assert main(f"{RUN} --record {tmp_path / 'run.npz'} --json".split()) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["exit_code"] == 1 and error["message"].startswith(f"{tmp_path / 'run.npz'}: cannot be written")


def test_from_python(tmp_path):
    """Recordings and checkpoints."""
    simulation = wa.Simulation(wa.read_stage(ARM))
    recording = simulation.record(5)
    with full_disk():
        for save in (recording.save, simulation.save):
            with pytest.raises(wa.SolveError, match="run.npz: cannot be written: File too large"):
                save(tmp_path / "run.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments", [f"check {ARM} --json", "check --rules", f"inspect {ARM}", "inspect none.usda --json", "--help"]
)
def test_standard_output(arguments):
    """What is printed ends in 1 as well, and the end of the process adds nothing."""
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "warp_artic", *arguments.split()]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env={**os.environ})
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "warp-artic: error: standard output: cannot be written: No space left on device"
    )
    assert "Traceback" not in done.stderr and "ignored" not in done.stderr

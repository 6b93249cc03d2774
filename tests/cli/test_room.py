"""A run that this machine has no room for is refused before it begins: with what baking takes, beside what is free."""

import json
import os
import subprocess
import sys

import pytest

from warp_artic.cli import room
from warp_artic.cli.main import main
from warp_artic.cli.recorded import recorded
from warp_artic.usd.read_stage import read_stage

CART_POLE = "samples/scenes/cart_pole.usda"
HAND = "samples/scenes/coupled_hand.usda"
PEAK = """
import sys
from warp_artic.cli.main import main

def has(name):
    line = next(line for line in open("/proc/self/status") if line.startswith(name))
    return 1024 * int(line.split()[1])

assert main([*sys.argv[1:-1], "2"]) == 0  # kernels, plugins, and all that comes once
before = has("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak counts from now
assert main(sys.argv[1:]) == 0
print(has("VmHWM") - before, file=sys.stderr)
"""


def needed(stage, steps, frames, quantities, **more):
    """Bytes of a recording and of its layer."""
    fields = {"environments": 1, "is_double": False, "is_joined": False} | more
    wanted = room.Wanted(records=steps + 1, frames=frames, quantities=quantities, **fields)
    return room.bytes_needed(read_stage(stage), wanted)


def taken(*arguments):
    """Bytes that a command has taken at most, beside what a process has that has run it before."""
    done = subprocess.run([sys.executable, "-c", PEAK, *arguments], capture_output=True, text=True, check=True)
    return int(done.stderr.split()[-1])


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="Linux tells what a process has taken")
@pytest.mark.parametrize("stage, options", [(CART_POLE, ()), (HAND, ("--forces",)), (HAND, ("--guides",))])
def test_what_a_run_layer_takes_is_counted(stage, options, tmp_path):
    """Beside what a process takes: not less, and not far more."""
    steps = 8000
    line = ("simulate", stage, "-o", str(tmp_path / "run.usdc"), "--frames-per-second", "240", *options)
    found = taken(*line, "--steps", str(steps))
    more = {"is_guided": "--guides" in options}
    wanted = sum(needed(stage, steps, steps + 1, recorded(True, False, "--forces" in options), **more))
    assert 0.3 * wanted < found < wanted


def test_what_is_recorded_is_counted():
    """Of tendons and mimic joints too, in both precisions, and of several recordings that are joined."""
    told = recorded(False, False, False)
    one, none = needed(HAND, 999, 0, told)
    scene = read_stage(HAND)
    tendons = sum(len(tree.tendon_names) for tree in scene.articulations)
    mimics = sum(len(tree.mimics) for tree in scene.articulations)
    assert tendons and none == 0.0
    assert one == 1000 * (4 * (len(scene.dof_names) + 2 + 3 * tendons + mimics) + 8)
    assert needed(HAND, 999, 0, told, is_double=True)[0] == 2 * one - 8000
    assert needed(HAND, 999, 0, told, is_joined=True, environments=3)[0] == 6 * one - 5 * 8000


@pytest.mark.parametrize("share, fits", [(1.3, True), (1.05, False), (0.9, False)])
def test_memory_that_is_free_is_not_all_taken(share, fits, tmp_path, monkeypatch, capsys):
    """A recording and its layer that would take nearly all are refused, with what there is and what helps."""
    output = tmp_path / "run.usdc"
    wanted = sum(needed(CART_POLE, 48, 6, recorded(True, False, False)))
    monkeypatch.setattr(room, "free_memory", lambda: share * wanted)
    code = main(["simulate", CART_POLE, "--steps", "48", "-o", str(output), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (code == 0) is fits is output.exists()
    if not fits:
        assert code == 2 and told["error"]["kind"] == "SettingsError"
        for words in ("48 steps and 1 environment takes", "its run layer", "GB free", "80%", "--clips"):
            assert words in told["error"]["message"]


def test_clips_need_no_more_than_one_of_them(tmp_path, monkeypatch):
    """A run that is too long for the memory goes on in clips."""
    monkeypatch.setattr(room, "free_memory", lambda: 2.0 * sum(needed(CART_POLE, 24, 4, recorded(True, False, False))))
    line = ["simulate", CART_POLE, "--steps", "96", "-o", str(tmp_path / "run.usdc"), "--json"]
    assert main(line) == 2
    assert main([*line, "--clips", "0.1"]) == 0


def test_control_groups_bound_what_is_free(tmp_path):
    """Of a container, which sees its own at the top, or of a group below others; caches that go are free."""
    own, top = tmp_path / "cgroup", tmp_path / "groups"
    (top / "a" / "b").mkdir(parents=True)
    own.write_text("0::/a/b\n")
    (top / "a" / "memory.max").write_text("1000\n")
    (top / "a" / "memory.current").write_text("700\n")
    (top / "a" / "memory.stat").write_text("anon 3\ninactive_file 100\n")
    (top / "a" / "b" / "memory.max").write_text("max\n")
    (top / "a" / "b" / "memory.current").write_text("5\n")
    assert list(room._of_groups(own, top)) == [400.0]
    own.write_text("12:cpu:/x\n4:memory:/docker/1\n")
    (top / "memory").mkdir()
    (top / "memory" / "memory.limit_in_bytes").write_text("900\n")
    (top / "memory" / "memory.usage_in_bytes").write_text("1000\n")
    assert list(room._of_groups(own, top)) == [0.0]
    assert list(room._of_groups(tmp_path / "none", top)) == []
    assert room.free_memory() is None or room.free_memory() > 0

"""`warp-artic simulate` from a stage to its results."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd

from warp_artic.cli.main import main
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.simulation import Simulation

PENDULUM = "samples/scenes/pendulum.usda"
CART_POLE = "samples/scenes/cart_pole.usda"
ARM = "samples/scenes/arm.usda"


def simulate(tmp_path, stage, *options) -> Recording:
    record = tmp_path / "run.npz"
    assert main(["simulate", stage, "--record", str(record), *options]) == 0
    return Recording.load(record)


def test_bakes_a_layer_that_plays(tmp_path, capsys):
    """The run layer has the whole time range of the stage, and the summary says what was written."""
    output = tmp_path / "out.usdc"
    assert main(["simulate", PENDULUM, "-o", str(output)]) == 0
    stage = Usd.Stage.Open(str(output))
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, 120)
    angle = stage.GetAttributeAtPath("/World/pendulum/hinge.state:angular:physics:position")
    assert angle.Get(0) == pytest.approx(75, abs=1e-4)
    assert min(angle.Get(code) for code in range(121)) == pytest.approx(-75, abs=1.5)
    written = capsys.readouterr().out
    assert re.search(r"^run +1200 steps of 1/240 s = 5 s", written, re.M)
    for word in ("speed", "energy", "limits", "warnings", str(output)):
        assert word in written


def test_guides_where_they_are_asked_for(tmp_path, capsys):
    """In the run layer, and in that of clips; without a layer there is nowhere for them to be."""
    line = ["simulate", PENDULUM, "--steps", "96", "-o"]
    for name, options in (("plain", ()), ("whole", ("--guides",)), ("clips", ("--guides", "--clips", "0.2"))):
        output = tmp_path / f"{name}.usdc"
        assert main([*line, str(output), *options]) == 0
        stage = Usd.Stage.Open(str(output))
        assert bool(stage.GetPrimAtPath("/World/JointGuides/pendulum_hinge")) is (name != "plain")
    capsys.readouterr()
    assert main(["simulate", PENDULUM, "--steps", "1", "--guides"]) == 2
    assert "guides: are part of the run layer; they need --output" in capsys.readouterr().err


def test_length_and_step(tmp_path):
    """Steps, or duration and step, give the number of records."""
    assert simulate(tmp_path, PENDULUM, "--steps", "7").time.size == 8
    assert simulate(tmp_path, PENDULUM, "--steps", "0").time.size == 1
    recording = simulate(tmp_path, PENDULUM, "--duration", "0.1", "--dt", "1/1000")
    assert recording.time.size == 101
    assert recording.time[-1] == pytest.approx(0.1)
    assert recording.metadata["dt"] == 1 / 1000


def test_options_reach_the_simulation(tmp_path):
    """What is asked for is what the recording says it was made with."""
    options = "--steps 2 --precision float64 --environments 3 --position-iterations 5 --velocity-iterations 1".split()
    recording = simulate(tmp_path, PENDULUM, *options)
    assert recording.joint_position.shape == (3, 3, 1)
    assert recording.joint_position.dtype == np.float64
    made = recording.metadata
    assert (made["position_iterations"], made["velocity_iterations"], made["precision"]) == (5, 1, "float64")


def test_sleep(tmp_path, capsys):
    """What has settled stands still to the end, and the summary counts it; by default nothing sleeps."""
    ends = []
    for options in ((), ("--sleep-after", "0.1")):
        recording = simulate(tmp_path, ARM, "--duration", "8", *options)
        counted = re.search(r"^asleep +1 of 1 at the end$", capsys.readouterr().out, re.M)
        assert bool(counted) == bool(options) == ("sleep_after" in recording.metadata)
        ends.append(recording.joint_velocity[-1])
    assert ends[0].any() and not ends[1].any()


def test_start_state_from_inputs(tmp_path):
    """A start state given by dof replaces the authored one, and the others stay."""
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({"joint_velocity": {"/World/cart_pole/slide": 0.5}}))
    recording = simulate(tmp_path, CART_POLE, "--steps", "1", "--inputs", str(inputs))
    slide = recording.joint_names.index("/World/cart_pole/slide")
    assert recording.joint_velocity[0, 0, slide] == pytest.approx(0.5)
    assert recording.joint_position[0, 0, 1 - slide] == pytest.approx(np.radians(-12), abs=1e-5)


def test_targets_per_step(tmp_path):
    """A target that changes at a step gives the same motion up to it, and another one from it on."""
    joint = "/World/arm/elbow_joint"
    held, moved = tmp_path / "held.json", tmp_path / "moved.json"
    held.write_text(json.dumps({"drive_position_target": {joint: 0.2}}))
    moved.write_text(json.dumps({"drive_position_target": {joint: [0.2] * 10 + [1.0] * 10}}))
    first = simulate(tmp_path, ARM, "--steps", "20", "--inputs", str(held))
    second = simulate(tmp_path, ARM, "--steps", "20", "--inputs", str(moved))
    np.testing.assert_array_equal(first.time, second.time)
    np.testing.assert_array_equal(first.joint_position[:11], second.joint_position[:11])
    assert (first.joint_position[11:] != second.joint_position[11:]).any()


def test_effort_moves_the_joint(tmp_path):
    """A constant effort on the slide accelerates the cart."""
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, **{"joint_effort:/World/cart_pole/slide": np.array(40.0)})
    recording = simulate(tmp_path, CART_POLE, "--steps", "24", "--inputs", str(inputs))
    slide = recording.joint_names.index("/World/cart_pole/slide")
    assert recording.joint_velocity[-1, 0, slide] > 1.0


def test_unknown_dof_in_inputs(tmp_path, capsys):
    """A dof that is not there is bad usage, named with those that are."""
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({"joint_effort": {"/World/none": 1}}))
    assert main(["simulate", PENDULUM, "--inputs", str(inputs)]) == 2
    assert "there is no dof /World/none; the dofs are /World/pendulum/hinge" in capsys.readouterr().err


def test_limit_violation_is_reported(tmp_path, capsys):
    """The cart that starts beyond its stop is named with the amount."""
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({"joint_position": {"/World/cart_pole/slide": 0.75}}))
    simulate(tmp_path, CART_POLE, "--steps", "0", "--inputs", str(inputs))
    assert re.search(r"worst violation 0.15 m at /World/cart_pole/slide", capsys.readouterr().out)


def test_a_run_that_stops_fails(tmp_path, capsys):
    """An environment whose state would not be finite is named with the joint and the step, and the run fails."""
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({"joint_effort": {"/World/pendulum/hinge": 3e38}}))
    assert main(["simulate", PENDULUM, "--steps", "9000", "--inputs", str(inputs)]) == 1
    assert re.search(r"error: /World/pendulum: environment 0 stopped at step \d+", capsys.readouterr().err)


def test_forces_are_recorded_where_asked_for(tmp_path, capsys):
    """With --forces the record has them, and the summary the largest and those of couplings; else neither."""
    gripper = "samples/scenes/gripper.usda"
    recording = simulate(tmp_path, gripper, "--steps", "20", "--forces")
    assert np.abs(recording.joint_mimic_force).max() > 0.0 and recording.mimic_force.shape == (21, 1, 5)
    written = capsys.readouterr().out
    dof = np.abs(recording.joint_drive_force).max(axis=(0, 1)).argmax()
    largest = np.abs(recording.joint_drive_force[..., dof]).max()
    assert f"forces     drive at most {largest:.4g} N m at {recording.joint_names[dof]}" in written
    loads = np.linalg.norm(recording.link_incoming_joint_force[..., :3], axis=-1).max(axis=(0, 1))
    assert f"joints carry at most {loads.max():.4g} N into {recording.link_names[loads.argmax()]}" in written
    assert (
        f"at most {np.abs(recording.mimic_error[..., 4]).max():.3g} rad; {recording.mimic_force[-1, 0, 4]:.4g} N m"
        in written
    )
    recording = simulate(tmp_path, gripper, "--steps", "2")
    assert recording.joint_mimic_force.size == recording.mimic_force.size == 0
    written = capsys.readouterr().out
    assert "\nforces" not in written and f"mimic      {recording.mimic_names[0]}  C " in written


def test_inputs_go_before_targets_over_time(tmp_path):
    """The stage moves the target of a dof; the inputs hold it."""
    stage = Usd.Stage.Open(Usd.Stage.Open("samples/scenes/arm.usda").Flatten())
    driven = next(prim for prim in stage.Traverse() if prim.HasAttribute("drive:angular:physics:targetPosition"))
    target = driven.GetAttribute("drive:angular:physics:targetPosition")
    start = target.Get()
    target.Set(start, 0.0)
    target.Set(start + 40.0, 24.0)
    moving = tmp_path / "moving.usda"
    stage.Export(str(moving))
    follows = simulate(tmp_path, str(moving), "--steps", "240")
    index = follows.joint_names.index(str(driven.GetPath()))
    inputs = tmp_path / "inputs.json"
    held = {"drive_position_target": {str(driven.GetPath()): math.radians(start)}}
    inputs.write_text(json.dumps(held))
    stays = simulate(tmp_path, str(moving), "--steps", "240", "--inputs", str(inputs))
    gained = follows.joint_position[-1, 0, index] - stays.joint_position[-1, 0, index]
    assert math.degrees(gained) == pytest.approx(40.0, abs=15.0)


def test_the_summary_says_how_tendons_are(tmp_path, capsys):
    """A taut string is above its limit and pulls."""
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({"joint_position": {"/World/gantry/down": -0.5}}))
    recording = simulate(tmp_path, "samples/scenes/string.usda", "--steps", "0", "--inputs", str(inputs))
    length, force = recording.tendon_length[0, 0, 0], recording.tendon_force[0, 0, 0]
    line = f"tendon     /World/gantry/string/hook/end  {length:.6g} m, {force:.4g} N, above its limits"
    assert length > 1.0 and line in capsys.readouterr().out


def test_the_summary_names_tendons_that_can_gain_energy(tmp_path, capsys):
    """Without forces recorded by the pose at the start, with them over the run too."""
    text = Path("tests/data/oracle/stages/fixed_tendon_offset_rest.usda").read_text()
    turned = tmp_path / "turned.usda"
    turned.write_text(re.sub(r"(forceCoefficient = \[)", r"\1-", text))
    recording = simulate(tmp_path, str(turned), "--steps", "5", "--forces")
    least = recording.tendon_mobility.min()
    written = capsys.readouterr().out
    assert least < 0.0 and f"can add energy: J M^-1 P is down to {least:.3g} 1/kg" in written
    assert re.search(r"^warnings +1, .*\n +warning: /World/Robot/j1:t: its force does not oppose", written, re.M)
    simulate(tmp_path, str(turned), "--steps", "5")
    assert "does not oppose" in capsys.readouterr().out


def test_targets_without_a_drive_are_said(tmp_path, capsys):
    """A whole array with targets for a cart and a pole, which have no drive: one line says that nothing follows."""
    inputs = tmp_path / "inputs.json"
    inputs.write_text(json.dumps({"drive_position_target": [0.1, 0.1]}))
    names = simulate(tmp_path, CART_POLE, "--steps", "1", "--inputs", str(inputs)).joint_names
    sentence = "drive_position_target: has targets for dofs that have no drive, which ignore them"
    assert capsys.readouterr().err == f"warp-artic: warning: {inputs}: {sentence}: {', '.join(names)}\n"


def test_records_what_it_writes(tmp_path, monkeypatch, capsys):
    """A layer has what it had of a recording of everything, and the summary says the same; no more is recorded."""
    kept, record = [], Simulation.record

    def seen(simulation, steps, *arguments, **named):
        kept.extend(arguments[-1:])
        return record(simulation, steps, *arguments, **named)

    monkeypatch.setattr(Simulation, "record", seen)
    layers, told = [], []
    for name, options in (("some", ()), ("all", ("--record", str(tmp_path / "run.npz")))):
        output = tmp_path / name / "out.usda"
        output.parent.mkdir()
        assert main(["simulate", ARM, "--steps", "48", "--forces", "-o", str(output), *options]) == 0
        layers.append(output.read_text())
        words = capsys.readouterr().out.splitlines()
        told.append([line for line in words if not line.startswith(("speed", "wrote")) and str(tmp_path) not in line])
    assert layers[0] == layers[1] and told[0] == told[1] and len(told[0]) > 5
    some, everything = map(set, kept)
    assert some < everything and {"link_velocity", "joint_acceleration", "joint_coriolis_force"} <= everything - some
    assert main(["simulate", ARM, "--steps", "4"]) == 0
    assert not {"link_pose", "joint_velocity"} & set(kept[-1])

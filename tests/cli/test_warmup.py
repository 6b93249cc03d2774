"""`warp-artic warmup` compiles what simulations need."""

import subprocess
import sys

import pytest

from warp_artic.cli.main import main

STAGES = ("samples/scenes/coupled_hand.usda", "samples/scenes/newtons_cradle.usda")
RUN = """
import sys
import warp_artic as wa
scene = wa.read_stage(sys.argv[1])
for environments in (1, 16):
    simulation = wa.Simulation(scene, environments=environments)
    simulation.set_state(joint_velocity=[0.0] * len(simulation.joint_names))
    simulation.record(1, forces=True)
    simulation.apply(simulation.snapshot())
    simulation.contacts()
"""


@pytest.mark.parametrize("stage", STAGES)
def test_a_simulation_compiles_nothing_after_it(stage, capsys):
    """Neither of one environment nor of many, with forces, snapshots and contacts; each kernel is listed."""
    assert main(f"warmup {stage} --jobs 2".split()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith(" s  step, direct, float32, lanes") for line in lines)
    assert lines[-1].endswith(f"for {len(lines) - 1} kernels on cpu")
    done = subprocess.run([sys.executable, "-c", RUN, stage], capture_output=True, text=True, check=True)
    assert "(cached)" in done.stdout and "(compiled)" not in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--precision float16", "precision: 'float16' is not one of float32, float64"),
        ("--solver best", "solver: 'best' is not one of direct, pgs, tgs"),
        ("--device tpu", "device: 'tpu' is not one of cpu"),
        ("--jobs 0", "jobs: 0 is not an integer of at least 1"),
    ],
)
def test_bad_values_are_named(options, message, capsys):
    """In one line, before anything is compiled."""
    assert main(f"warmup {options}".split()) == 2
    found = capsys.readouterr()
    assert message in found.err and not found.out

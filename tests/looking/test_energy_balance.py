"""Energy that nothing put in is found, and only that."""

import json
from dataclasses import replace

import pytest

from tests import trees
from warp_artic import Simulation, SolverSettings
from warp_artic.cli.main import main
from warp_artic.description.drive import Drive
from warp_artic.description.limit import Limit
from warp_artic.looking.energy_balance import can_be_told, unexplained_gain


def recorded(tree, dt=1 / 240, steps=480, velocity=None, **settings):
    """A scene of a tree, and the recording of a run."""
    scene = trees.scene(tree)
    simulation = Simulation(scene, settings=SolverSettings(dt=dt, precision="float64", **settings))
    simulation.set_state(joint_position=[1.0] + [0.0] * (len(tree.dofs) - 1), joint_velocity=velocity)
    return scene, simulation.record(steps)


def test_a_passive_run_gains_none():
    """Springs, soft limits and dampers keep or take energy, and theirs is counted."""
    tree = trees.with_dofs(
        trees.chain(2), drive=Drive(stiffness=20.0, damping=0.5), limit=Limit(lower=-0.3, upper=0.5, stiffness=100.0)
    )
    assert unexplained_gain(*recorded(tree)) is None


def test_a_gain_is_named_with_its_time():
    """One that is put into a recording by hand, at the share and from the time that it has."""
    scene, recording = recorded(trees.chain(1))
    energy = recording.energy.copy()
    energy[240:, 0, 1] += 0.5 * energy[..., 0].max()
    gain = unexplained_gain(scene, replace(recording, energy=energy))
    assert gain.share == pytest.approx(0.5, rel=1e-2)
    assert gain.time == pytest.approx(1.0)


def test_a_swing_that_a_step_misjudges_is_no_gain():
    """A spring that turns round every five steps: what a step of a swing has too much, a later one has too little."""
    tree = trees.with_dofs(trees.chain(1), drive=Drive(stiffness=4000.0))
    assert unexplained_gain(*recorded(tree)) is None


def test_motion_that_steps_do_not_resolve_is_told(tmp_path, capsys):
    """A passive chain at 1/30 s: the summary says how many steps keep its energy alone, and what helps."""
    inputs = tmp_path / "start.json"
    inputs.write_text(json.dumps({"joint_position": [1.5, 0.5, 0.5, 0.5, 0.5, 0.5]}))
    stage = "tests/data/peers/chain6.usda"
    assert main(["simulate", stage, "--dt", "1/30", "--duration", "3", "--inputs", str(inputs)]) == 0
    written = capsys.readouterr().out
    (line,) = [line for line in written.splitlines() if line.startswith("unresolved")]
    assert " steps do not resolve its motion" in line and line.endswith("use a shorter --dt")
    assert "are added by" not in written
    assert main(["simulate", stage, "--dt", "1/960", "--duration", "3", "--inputs", str(inputs)]) == 0
    written = capsys.readouterr().out
    assert "are added by" not in written and "unresolved" not in written


def test_a_run_that_gains_is_told(tmp_path, capsys):
    """The same chain with the semi-implicit step, which does not keep energy: the summary says since when."""
    inputs = tmp_path / "start.json"
    inputs.write_text(json.dumps({"joint_position": [1.5, 0.5, 0.5, 0.5, 0.5, 0.5]}))
    options = ["--dt", "1/30", "--duration", "3", "--inputs", str(inputs), "--integrator", "semi_implicit"]
    assert main(["simulate", "tests/data/peers/chain6.usda", *options]) in (0, 1)
    found = capsys.readouterr().out
    (line,) = [line for line in found.splitlines() if "are added by discretisation error" in line]
    assert line.startswith("energy") and line.endswith("use a shorter --dt")


@pytest.mark.parametrize("drive", [Drive(stiffness=1.0, max_force=2.0), Drive(damping=1.0, velocity_target=1.0), None])
def test_where_it_cannot_be_told_nothing_is_said(drive):
    """Motors and springs of bounded force can give energy; without any it can be told."""
    assert can_be_told(trees.scene(trees.with_dofs(trees.chain(2), drive=drive))) is (drive is None)


def test_a_calm_sample_has_no_warning(capsys):
    """The pendulum of the samples."""
    assert main(["simulate", "samples/scenes/pendulum.usda"]) == 0
    written = capsys.readouterr().out
    assert "are added by" not in written

"""Checkpoints: a run goes on bitwise in another process, and what does not fit is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests import trees
from tests.solver.test_determinism import busy_tree
from warp_artic import SettingsError, Simulation, SolveError, SolverSettings
from warp_artic.description.drive import Drive

CASES = {
    **{f"{solver} {integrator}": (solver, integrator) for solver in ("direct", "pgs", "tgs")
       for integrator in ("midpoint", "semi_implicit")},
    "rk4": ("direct", "rk4"),
}  # fmt: skip
BEFORE, AFTER = 500, 20


def simulate(case):
    """A tree with every joint type and family; for rk4 one that moves freely. As two processes make it."""
    solver, integrator = CASES[case]
    tree = busy_tree(links=13)
    if integrator == "rk4":
        tree = trees.random_articulation(np.random.default_rng(5), 8, floating=True)
    settings = SolverSettings(solver=solver, integrator=integrator, precision="float64", variant="scalar")
    return Simulation(trees.scene(tree), settings=settings)


def memory(simulation):
    """All state and control, as bytes."""
    (group,) = simulation._groups
    fields = {**group.state, **group.control}
    return {name: field.view(0, group.columns.count).numpy().tobytes().hex() for name, field in fields.items()}


def go_on(folder):
    """Take up every case from a folder, and print how it ends: what the other process does."""
    ends = {}
    for case in CASES:
        simulation = simulate(case)
        simulation.load(f"{folder}/{case}")
        simulation.step(AFTER)
        ends[case] = memory(simulation), simulation.time
    print(json.dumps(ends))


def test_another_process_goes_on_bitwise(tmp_path):
    """From step 500, with every solver and integrator and every family, and with control and parameters changed."""
    ends = {}
    for case in CASES:
        simulation = simulate(case)
        rng = np.random.default_rng(1)
        simulation.set_state(joint_velocity=rng.normal(size=len(simulation.joint_names)))
        simulation.control.joint_effort.assign(0.1 * rng.normal(size=simulation.control.joint_effort.shape))
        simulation.parameters.link_mass.assign(1.25 * simulation.parameters.link_mass.numpy())
        simulation.step(BEFORE)
        simulation.save(tmp_path / case)
        simulation.step(AFTER)
        assert not simulation.failures()
        ends[case] = [memory(simulation), simulation.time]
    code = f"from tests.sim.test_checkpoint import go_on; go_on({str(tmp_path)!r})"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert json.loads(printed.splitlines()[-1]) == ends
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(CASES)


def small(tmp_path, **options):
    """A simulation of two environments, and its checkpoint."""
    tree = trees.with_dofs(trees.chain(2), drive=Drive(stiffness=10.0, position_target=1.0))
    settings = SolverSettings(**{"dt": 1 / 240, **options})
    simulation = Simulation(trees.scene(tree), environments=2, settings=settings)
    simulation.save(tmp_path / "run.npz")
    return simulation, tmp_path / "run.npz"


def test_a_parameter_of_each_environment_comes_back(tmp_path):
    """Also where the other simulation has it for itself already, and back to what all share."""
    simulation, path = small(tmp_path)
    other, _ = small(tmp_path)
    other.parameters.drive_stiffness.assign([[1.0, 2.0], [3.0, 4.0]])
    other.save(tmp_path / "other.npz")
    simulation.load(tmp_path / "other.npz")
    np.testing.assert_array_equal(simulation.parameters.drive_stiffness.numpy(), [[1, 2], [3, 4]])
    simulation.step(5)
    other.step(5)
    np.testing.assert_array_equal(simulation.state.joint_position.numpy(), other.state.joint_position.numpy())
    simulation.load(path)
    np.testing.assert_array_equal(simulation.parameters.drive_stiffness.numpy(), np.full((2, 2), 10.0))
    assert simulation.steps_done == 0


def test_other_models_settings_and_batches_are_refused(tmp_path):
    """Each by name, with what was found; the simulation stays as it is."""
    simulation, path = small(tmp_path)
    tree = trees.with_dofs(trees.chain(2), drive=Drive(stiffness=11.0, position_target=1.0))
    settings = simulation.settings
    scene = simulation.scene
    float64 = SolverSettings(dt=settings.dt, precision="float64", solver="pgs")
    cases = (
        (Simulation(trees.scene(tree), environments=2, settings=settings), "another model"),
        (Simulation(scene, environments=3, settings=settings), "2 environments, not 3"),
        (
            Simulation(scene, environments=2, settings=float64),
            "precision is 'float32' in the checkpoint and 'float64' here, solver is 'direct' in",
        ),
    )
    for other, words in cases:
        with pytest.raises(SolveError, match=words):
            other.load(path)
        assert other.steps_done == 0


def test_files_that_are_no_checkpoint_are_refused(tmp_path):
    """Truncated anywhere, damaged, empty, missing or of another kind: one line, and nothing has changed."""
    simulation, path = small(tmp_path)
    content = path.read_bytes()
    simulation.step(3)
    before = memory(simulation)
    bad = tmp_path / "bad.npz"
    rng = np.random.default_rng(2)
    damaged = [content[:size] for size in (*range(0, 200, 20), *range(200, len(content), len(content) // 20))]
    for _ in range(100):
        place = int(rng.integers(len(content)))
        damaged.append(content[:place] + bytes([content[place] ^ int(rng.integers(1, 256))]) + content[place + 1 :])
    refused = 0
    for data in damaged:
        bad.write_bytes(data)
        try:
            simulation.load(bad)
        except (SettingsError, SolveError) as error:
            assert str(error).startswith(f"{bad}: ") and "\n" not in str(error)
            assert memory(simulation) == before and simulation.steps_done == 3
            refused += 1
        else:
            # A changed byte that the file can do without.
            simulation.load(path)
            simulation.step(3)
            assert memory(simulation) == before
    assert refused > 100
    recording = tmp_path / "recording.npz"
    simulation.record(2).save(recording)
    array = tmp_path / "array.npy"
    np.save(array, np.zeros(3))
    for file, words in ((recording, "model is missing"), (array, "is not a checkpoint"), (tmp_path / "no", "no such")):
        with pytest.raises((SettingsError, SolveError), match=words):
            simulation.load(file)
    with pytest.raises(SettingsError, match="cannot be written"):
        simulation.save(tmp_path / "no folder" / "run.npz")
    arrays = dict(np.load(path))
    for name in list(arrays)[4:]:
        for other in (arrays[name][:0], None):
            np.savez(bad, **{key: value for key, value in {**arrays, name: other}.items() if value is not None})
            with pytest.raises(SolveError, match=name.split("/")[1]):
                simulation.load(bad)

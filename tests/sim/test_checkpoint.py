"""Checkpoints: a run goes on bitwise in another process, and what does not fit is refused."""

import io
import json
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from tests import trees
from tests.busy_mechanisms import tree_of_every_family
from warp_artic import SettingsError, Simulation, SolveError, SolverSettings
from warp_artic.description.drive import Drive
from warp_artic.sim.files.npz import HEADER

CASES = {
    **{f"{solver} {integrator}": (solver, integrator) for solver in ("direct", "pgs", "tgs")
       for integrator in ("midpoint", "semi_implicit")},
    "rk4": ("direct", "rk4"),
}  # fmt: skip
BEFORE, AFTER = 500, 20


def simulate(case):
    """A tree with every joint type and family; for rk4 one that moves freely. As two processes make it."""
    solver, integrator = CASES[case]
    tree = tree_of_every_family(links=13)
    if integrator == "rk4":
        tree = trees.random_articulation(np.random.default_rng(5), 8, floating=True)
    settings = SolverSettings(solver=solver, integrator=integrator, precision="float64", variant="scalar")
    return Simulation(trees.scene(tree), settings=settings)


def memory(simulation):
    """All state and control, as bytes."""
    (group,) = simulation.run.groups
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


def bad_values():
    """A name, what is put there, and words of what is said."""
    return (
        ("settings", np.array("[]"), "settings: is a list in JSON; an object is needed"),
        ("settings", np.array("{"), "settings: is no text in JSON"),
        ("settings", np.array("[" * 5000), "settings: is no text in JSON"),
        ("settings", np.array(3.0), r"settings is float64 of shape \(\); allowed: text"),
        ("model", np.array([1, 2]), "model is int64"),
        ("environments", np.array(np.nan), "environments is float64 of shape .*; allowed: integers"),
        ("environments", np.array(-2), "environments: is -2; an integer from 1 to"),
        ("environments", np.array([2]), r"environments is int64 of shape \(1,\); allowed: integers of shape \(\)"),
        ("steps_done", np.array(-1), "steps_done: is -1; an integer from 0 to"),
        ("steps_done", np.array(np.nan), "steps_done is float64"),
        ("steps_done", np.array("3"), "steps_done is <U1"),
        (
            "0/joint_position",
            np.array([["a", "b"]] * 2),
            "joint_position is <U1 of shape .*; allowed: numbers in single",
        ),
        ("0/joint_position", np.array([[1 + 1j, 0]] * 2), "joint_position is complex128"),
        ("0/joint_position", np.array([[1, 0]] * 2), "joint_position is int64"),
        ("0/joint_position", np.zeros((2, 3)), r"joint_position is float64 of shape \(2, 3\); .* of shape \(2, 2\)"),
        ("0/joint_position", np.zeros(2), r"joint_position is float64 of shape \(2,\)"),
        (
            "0/joint_position",
            np.full((2, 2), 1e30),
            r"joint_position: the value at \(0, 0\) is 1e\+30; a finite number from",
        ),
        ("0/joint_velocity", np.array([[0, np.nan]] * 2), r"joint_velocity: the value at \(0, 1\) is nan; a finite"),
        ("0/joint_velocity", np.full((2, 2), -np.inf), "is -inf; a finite number"),
        ("0/clock", np.full((1, 2), -1.0), "clock: .* is -1.0; an integer from 0 to"),
        ("0/clock", np.full((1, 2), 0.5), "clock: .* is 0.5; an integer"),
        (
            "0/failure",
            np.array([[900.0, 0.0], [0.0, 0.0]]),
            "failure: the value 900 names no dof or array; 0 to",
        ),
        ("0/smooth_acceleration", np.full((2, 2), np.nan), "smooth_acceleration: is not finite in column 0"),
        ("0/link_external_force", np.full((12, 2), 3e38), "link_external_force: .* from -1e.24 to 1e.24 is needed"),
        ("0/drive_position_target", np.full((2, 2), np.nan), "drive_position_target: .* is nan"),
        ("0/link_mass", np.array([1.0, -1.0]), r"link_mass: the value at \(1,\) is -1.0"),
        ("0/limit_upper", np.array([np.nan, 1.0]), "limit_upper: .* is nan; .*, or infinity, is needed"),
        ("0/link_frame", np.full(24, 9e18), r"0/link_frame: pose 0: its axes are not at right angles, or no unit"),
        (
            "0/parent_frame",
            np.array([*np.eye(3).ravel(), 0, 0, 0, *np.eye(3).ravel(), 0, 1e13, 0]),
            "0/parent_frame: pose 1: is further away than 6.98",
        ),
        ("more", np.zeros(3), "has 'more', which a checkpoint has not"),
    )


@pytest.mark.parametrize("case", bad_values(), ids=lambda case: f"{case[0]} {case[2][:20]}")
def test_values_that_cannot_be_are_refused(case, tmp_path):
    """By the file, the entry, what was found and what is allowed; nothing has changed."""
    name, values, words = case
    simulation, path = small(tmp_path)
    simulation.step(2)
    before = memory(simulation)
    bad = tmp_path / "bad.npz"
    np.savez(bad, **{**np.load(path), name: values})
    with pytest.raises(SolveError, match=words) as found:
        simulation.load(bad)
    assert str(found.value).startswith(f"{bad}: ") and "\n" not in str(found.value)
    assert memory(simulation) == before and simulation.steps_done == 2


def test_objects_are_not_unpickled(tmp_path):
    """Whatever they would do."""
    simulation, path = small(tmp_path)
    content = {**np.load(path), "0/joint_position": np.array([[Unpickled()]], dtype=object)}
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(SolveError, match="joint_position is object of shape"):
        simulation.load(tmp_path / "bad.npz")


class Unpickled:
    """What must not be made."""

    def __reduce__(self):
        return pytest.fail, ("unpickled",)


def test_a_quaternion_without_length_is_refused(tmp_path):
    """Of a floating root."""
    simulation = Simulation(trees.scene(trees.free_body()))
    simulation.save(tmp_path / "run.npz")
    content = dict(np.load(tmp_path / "run.npz"))
    content["0/root_pose"][3:] = 0.0
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(SolveError, match="root_pose: a quaternion has the length 0; at least 1e-06 is needed"):
        simulation.load(tmp_path / "bad.npz")


def test_a_run_that_has_failed_goes_on(tmp_path):
    """What steps remember of an environment that has stopped may be no number."""
    simulation, _ = small(tmp_path)
    simulation.set_state(joint_velocity=[[0.0, 0.0], [6e12, 6e12]])
    simulation.step(5)
    assert simulation.failures()
    simulation.save(tmp_path / "failed.npz")
    other, _ = small(tmp_path)
    other.load(tmp_path / "failed.npz")
    assert memory(other) == memory(simulation) and other.failures() == simulation.failures()


def test_what_has_stopped_an_environment_is_kept(tmp_path):
    """A parameter that is no number, and the name of it, in the environment that it has stopped and in no other."""
    simulation, other = (small(tmp_path)[0] for _ in range(2))
    simulation.parameters.armature.numpy()[1, 1] = np.nan
    simulation.control.joint_effort.numpy()[0, 1] = np.inf
    simulation.step(3)
    simulation.save(tmp_path / "failed.npz")
    other.load(tmp_path / "failed.npz")
    for one in (simulation, other):
        one.step(2)
    assert [str(one) for one in other.failures()] == [str(one) for one in simulation.failures()] != []
    assert memory(other) == memory(simulation)
    content = dict(np.load(tmp_path / "failed.npz"))
    content["0/failure"][:] = 0.0
    np.savez(tmp_path / "bad.npz", **content)
    with pytest.raises(SolveError, match=r"0/joint_effort: the value at \(0, 1\) is inf; a finite number from"):
        other.load(tmp_path / "bad.npz")


def test_what_unpacks_to_too_much_is_refused_by_size(tmp_path, monkeypatch):
    """Bombs: by the header of an array, by the sizes in the archive, by the header of a header; none is unpacked."""
    simulation, path = small(tmp_path)
    content = dict(np.load(path))
    bad = tmp_path / "bad.npz"
    read = []
    of_stream = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: (read.append(n), of_stream(self, n))[1])

    def refused(words):
        read.clear()
        with pytest.raises((SettingsError, SolveError), match=words) as found:
            simulation.load(bad)
        assert str(found.value).startswith(f"{bad}: ")
        assert all(0 <= count <= HEADER for count in read)

    np.savez_compressed(bad, **{**content, "0/clock": np.zeros(40_000_000)})
    refused("unpacks to 3.2e.08 bytes from .*; at most 2.68e.08 are read")
    np.savez_compressed(bad, **{**content, "0/clock": np.zeros(10_000_000)})
    refused(r"clock is float64 of shape \(10000000,\)")
    np.savez_compressed(bad, **{**content, "model": np.array("x" * 10_000_000)})
    refused("model: has 10000000 characters; 65536 are read")
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in content:
            archive.writestr(f"{name}.npy", b"\x93NUMPY\2\0\xff\xff\xff\x0f" + bytes(50_000_000 * (name == "model")))
    refused("is not a checkpoint .*model")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }".ljust(118)
    with zipfile.ZipFile(bad, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in content.items():
            file = io.BytesIO()
            np.save(file, array)
            data = file.getvalue()
            if name == "0/clock":
                data = b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header + bytes(100_000_000)
            archive.writestr(f"{name}.npy", data)
    refused("clock of shape .* has 100000000 bytes")

"""Batches in this process: any cut gives the same rows, what was stopped goes on, faults cost one run."""

import json
import shutil
import threading

import numpy as np
import pytest

import warp_artic as wa
from tests.batch.plans import ARM, PENDULUM, files, plan
from warp_artic.batch.engine import Progress, run_plan
from warp_artic.batch.results import open_batch
from warp_artic.batch.shards import Worker
from warp_artic.batch.stepping import step_runs
from warp_artic.batch.store import Shard
from warp_artic.errors import SettingsError, SolveError

RECORDED = {"record": {"quantities": ["joint_position"], "every": 6}}


class EndAfter(Progress):
    """Asks for the end after so many shards."""

    def __init__(self, shards):
        self.left, self.stop = shards, threading.Event()

    def shard(self, report, shard):
        self.left -= 1
        if self.left == 0:
            self.stop.set()


def test_a_thousand_cuts_give_one_table():
    """Values that are drawn for any runs are those of the whole table, bitwise."""
    worker = Worker(plan(ARM, runs=5000))
    case = worker.cases.of(())
    whole = case.table(0, 5000)
    cuts = np.sort(np.random.default_rng(1).integers(0, 5001, size=(1000, 2)), axis=1)
    for first, last in cuts:
        assert case.table(int(first), int(last)).tobytes() == whole[first:last].tobytes()


def test_added_variables_leave_the_others():
    """And so do added prims, and another order."""
    one = plan(ARM)
    added = wa.Vary(parameter="armature", operation="add", distribution={"uniform": [0, 1]})
    more = wa.Plan(stage=one.stage, folder=one.folder, runs=40, seed=5, steps=24, vary=[added, *reversed(one.vary)])
    before, after = (Worker(own).cases.of(()) for own in (one, more))
    found = dict(zip([column.name for column in after.columns], after.table(0, 40).T))
    for column, values in zip(before.columns, before.table(0, 40).T):
        assert np.array_equal(found[column.name], values)


@pytest.mark.parametrize("shard", [1, 7, 20, 60, 100])
def test_any_size_of_shards_gives_the_same_rows(shard, tmp_path):
    """Rows and records are those of all runs together, bitwise."""
    whole = run_whole(tmp_path / "whole")
    run_plan(plan(PENDULUM, **RECORDED, shard=shard), tmp_path / "cut")
    cut = open_batch(tmp_path / "cut")
    assert len(cut.shards) == -(-60 // shard)
    for name, values in whole.runs.columns.items():
        assert np.array_equal(cut.runs[name], values), name
    for run in (0, 31, 59):
        for name, values in whole.motion(run).columns.items():
            assert np.array_equal(cut.motion(run)[name], values), name


def run_whole(folder, **given):
    run_plan(plan(PENDULUM, **RECORDED, **given), folder)
    return open_batch(folder)


def test_what_was_stopped_goes_on(tmp_path):
    """No shard is done again, and the files are those of a batch that nobody has stopped."""
    run_whole(tmp_path / "whole")
    progress = EndAfter(1)
    report = run_plan(plan(PENDULUM, **RECORDED), tmp_path / "out", progress=progress, stop=progress.stop)
    assert not report.is_complete
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "runs").iterdir()}
    assert 0 < len(before) < 3
    report = run_plan(plan(PENDULUM, **RECORDED), tmp_path / "out")
    assert report.is_complete and report.done == 60 - 20 * len(before)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_parts_are_the_whole(tmp_path):
    """As a farm runs them, in any order."""
    run_whole(tmp_path / "whole")
    for part in ("3/3", "1/3", "2/3"):
        assert run_plan(plan(PENDULUM, **RECORDED), tmp_path / "out", part=part).is_complete
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_more_runs_go_on_where_it_ended(tmp_path):
    """What is there stays; the last shard, which was not full, is not done again."""
    run_whole(tmp_path / "out", runs=50)
    kept = files(tmp_path / "out")
    assert run_plan(plan(PENDULUM, **RECORDED, runs=75), tmp_path / "out").done == 25
    after = files(tmp_path / "out")
    assert all(after[name] == content for name, content in kept.items())
    run_whole(tmp_path / "whole", runs=75)
    one, other = open_batch(tmp_path / "out").runs, open_batch(tmp_path / "whole").runs
    for name in other.columns:
        assert np.array_equal(one[name], other[name])


def test_another_plan_is_refused_with_what_changed(tmp_path):
    """Or another stage."""
    run_whole(tmp_path / "out")
    with pytest.raises(SettingsError, match="has runs of another plan: seed was 3 and is 4"):
        run_plan(plan(PENDULUM, **RECORDED, seed=4), tmp_path / "out")
    shutil.copy(plan(PENDULUM).stage_path, tmp_path / "pendulum.usda")
    with open(tmp_path / "pendulum.usda", "a") as file:
        file.write("\n# more\n")
    one = plan(PENDULUM, **RECORDED)
    moved = wa.Plan(
        **{name: getattr(one, name) for name in ("stage", "runs", "seed", "steps", "shard", "vary", "record")},
        folder=str(tmp_path),
    )
    with pytest.raises(SettingsError, match="pendulum.usda has other content"):
        run_plan(moved, tmp_path / "out")
    with pytest.raises(SettingsError, match="is there already, and is no batch"):
        run_plan(one, tmp_path)


def test_damaged_shards_are_done_again(tmp_path):
    """Cut short, gone, with another byte, and a table whose trajectories are gone."""
    run_whole(tmp_path / "out")
    whole = files(tmp_path / "out")
    names = [tmp_path / "out" / name for name in whole]
    runs, motion = names[:3], names[3:]
    runs[0].write_bytes(runs[0].read_bytes()[:-100])
    runs[1].unlink()
    motion[2].unlink()
    assert run_plan(plan(PENDULUM, **RECORDED), tmp_path / "out").done == 60
    assert files(tmp_path / "out") == whole
    for path in (motion[0], runs[2]):
        content = bytearray(path.read_bytes())
        content[300] ^= 1
        path.write_bytes(content)
    assert run_plan(plan(PENDULUM, **RECORDED), tmp_path / "out", check_files=True).done == 40
    assert files(tmp_path / "out") == whole


def test_a_run_at_fault_is_found_and_the_others_are_kept(tmp_path, monkeypatch):
    """Whatever raises: one row says what, all others are bitwise as without it."""
    whole = run_whole(tmp_path / "whole")

    def fragile(case, runs, *rest):
        if 17 in runs:
            raise ValueError("seventeen")
        return step_runs(case, runs, *rest)

    monkeypatch.setattr("warp_artic.batch.shards.step_runs", fragile)
    report = run_plan(plan(PENDULUM, **RECORDED), tmp_path / "out")
    assert report.counts == {"ok": 59, "stopped": 0, "failed": 0, "error": 1}
    found = open_batch(tmp_path / "out").runs
    assert (found["status"][17], found["failure"][17]) == ("error", "ValueError: seventeen")
    others = np.arange(60) != 17
    for name, values in whole.runs.columns.items():
        assert np.array_equal(found[name][others], values[others]), name
    with pytest.raises(SettingsError, match="run 17: could not be simulated: ValueError: seventeen"):
        open_batch(tmp_path / "out").recording(17)


def test_runs_that_run_away_are_told(tmp_path):
    """With the step and what ran away; a parameter that is not allowed as well."""
    text = PENDULUM + '\n[[vary]]\nparameter = "link_mass"\ndistribution = { values = [%s] }\n'
    masses = [1.0] * 60
    masses[4] = -1.0
    one = plan(
        (text % ", ".join(map(str, masses))).replace(PENDULUM.split("[[vary]]")[2], "").replace("[[vary]]\n[[", "[[")
    )
    report = run_plan(one, tmp_path / "out")
    assert report.counts["failed"] == 1
    found = open_batch(tmp_path / "out").runs
    assert (found["status"][4], found["end_step"][4]) == ("failed", 0)
    assert "link_mass of /World/pendulum/rod must be positive" in found["failure"][4]


def test_motion_of_runs_that_fail(tmp_path):
    """It is that of the same runs where all are recorded, and of no others."""
    masses = [1.0] * 60
    masses[4] = masses[33] = -1.0
    head, first, _ = PENDULUM.split("[[vary]]")
    text = f'{head}[[vary]]{first}[[vary]]\nparameter = "link_mass"\ndistribution = {{ values = {masses} }}\n'
    for runs, folder in ((":", "all"), ("failed", "failed")):
        run_plan(plan(text, record={"quantities": ["joint_position"], "runs": runs}), tmp_path / folder)
    whole, failed = open_batch(tmp_path / "all"), open_batch(tmp_path / "failed")
    assert np.array_equal(whole.runs["status"], failed.runs["status"])
    for run in (4, 33):
        motion = failed.motion(run)
        assert len(motion["time"]) == 1
        for name, values in whole.motion(run).columns.items():
            assert np.array_equal(motion[name], values), name
    with pytest.raises(SettingsError):
        failed.motion(5)


def test_stopped_runs_end_at_the_first_record_that_meets_the_rule(tmp_path):
    """And their rows are of that record."""
    rule = {"stop": {"when": "joint_position[/World/pendulum/hinge] < -0.9"}}
    run_plan(plan(PENDULUM, steps=120, record={"every": 4, "quantities": ["joint_position"]}), tmp_path / "whole")
    run_plan(
        plan(PENDULUM, steps=120, record={"every": 4, "quantities": ["joint_position"]}, **rule), tmp_path / "stopped"
    )
    whole, stopped = open_batch(tmp_path / "whole"), open_batch(tmp_path / "stopped")
    column, statuses = "joint_position:/World/pendulum/hinge", set()
    for run in range(60):
        motion = whole.motion(run)
        met = np.flatnonzero(motion[column] < -0.9)
        records = met[0] + 1 if met.size else 31
        row = stopped.run_table(run)
        statuses.add(str(row["status"][0]))
        assert row["end_step"][0] == 4 * (records - 1)
        assert row["status"][0] == ("stopped" if met.size else "ok")
        assert row[f"final {column}"][0] == motion[column][records - 1]
        assert np.array_equal(stopped.motion(run)[column], motion[column][:records])
    assert statuses == {"ok", "stopped"}


def test_summaries_are_those_of_the_records(tmp_path):
    """Against NumPy on what is recorded."""
    columns = ["max abs joint_velocity", "min joint_position", "mean joint_position", "drift energy", "final link_pose"]
    given = {"record": {"every": 4, "quantities": ["joint_position", "joint_velocity", "energy", "link_pose"]}}
    run_plan(plan(PENDULUM, summary={"columns": columns}, **given), tmp_path / "out")
    batch = open_batch(tmp_path / "out")
    hinge, rod = "/World/pendulum/hinge", "/World/pendulum/rod"
    for run in (0, 33):
        row, motion = batch.run_table(run), batch.motion(run)
        position = motion[f"joint_position:{hinge}"]
        assert row[f"max abs joint_velocity:{hinge}"][0] == np.abs(motion[f"joint_velocity:{hinge}"]).max()
        assert row[f"min joint_position:{hinge}"][0] == position.min()
        assert np.isclose(row[f"mean joint_position:{hinge}"][0], position.astype(float).mean(), rtol=1e-12)
        energy = motion["energy:kinetic"].astype(float) + motion["energy:potential"]
        assert np.isclose(row["drift energy"][0], np.abs(energy - energy[0]).max(), rtol=1e-12, atol=1e-12)
        assert row[f"final link_pose:{rod}:z"][0] == motion[f"link_pose:{rod}:z"][-1]


def test_without_pyarrow_shards_are_npz(tmp_path, monkeypatch):
    """With the same rows."""
    whole = run_whole(tmp_path / "parquet")
    monkeypatch.setattr("warp_artic.batch.store.has_parquet", lambda: False)
    npz = run_whole(tmp_path / "npz")
    assert all(path.suffix == ".npz" for path in (tmp_path / "npz" / "runs").iterdir())
    for name, values in whole.runs.columns.items():
        assert np.array_equal(npz.runs[name], values), name
    assert np.array_equal(npz.motion(9)["time"], whole.motion(9)["time"])
    content = files(tmp_path / "npz")
    path = tmp_path / "npz" / "runs" / "part-000000020-000000040.npz"
    path.write_bytes(path.read_bytes()[:900])
    run_whole(tmp_path / "npz")
    assert files(tmp_path / "npz") == content


def test_folders_that_cannot_be_written_are_told(tmp_path):
    """In one line, with the path."""
    (tmp_path / "file").write_text("")
    with pytest.raises((SettingsError, SolveError), match="file"):
        run_plan(plan(PENDULUM), tmp_path / "file" / "out")


def test_shards_are_cut_where_others_end():
    """What is to be done lies between what is there."""
    store = type("Listed", (), {"complete": lambda self, every_byte: [Shard(0, 20), Shard(30, 35)]})()
    from warp_artic.batch.store import Store

    assert Store.pending(store, 60, 20) == [Shard(20, 30), Shard(35, 40), Shard(40, 60)]


def test_variants_are_stages_of_their_own(tmp_path):
    """Each run is that of the stage with its selection."""
    stage = tmp_path / "robot.usda"
    from pxr import Sdf, Usd

    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(Sdf.Layer.FindOrOpen(str(plan(PENDULUM).stage_path)))
    rod = layer.GetPrimAtPath("/World/pendulum/rod")
    rod.RemoveProperty(rod.properties["physics:mass"])
    opened = Usd.Stage.Open(layer)
    choices = opened.GetPrimAtPath("/World").GetVariantSets().AddVariantSet("rod")
    for name, mass in (("light", 0.5), ("heavy", 3.0)):
        choices.AddVariant(name)
        choices.SetVariantSelection(name)
        with choices.GetVariantEditContext():
            opened.GetPrimAtPath("/World/pendulum/rod").GetAttribute("physics:mass").Set(mass)
    layer.Export(str(stage))
    one = wa.Plan(
        stage="robot.usda",
        folder=str(tmp_path),
        runs=12,
        steps=24,
        shard=8,
        vary=[wa.Vary(variant="/World{rod}", name="rod", distribution={"choice": ["light", "heavy"]})],
    )
    run_plan(one, tmp_path / "out")
    found = open_batch(tmp_path / "out").runs
    assert set(found["rod"].tolist()) == {"light", "heavy"}
    opened = Usd.Stage.Open(str(stage))
    for name in ("light", "heavy"):
        opened.GetPrimAtPath("/World").GetVariantSet("rod").SetVariantSelection(name)
        simulation = wa.Simulation(wa.read_stage(opened), settings=wa.SolverSettings(variant="lanes"))
        simulation.step(24)
        own = found["final joint_position:/World/pendulum/hinge"][found["rod"] == name]
        assert (own == simulation.state.joint_position.numpy()[0, 0]).all()
    with pytest.raises(wa.StageError, match="has no variant 'medium'; there are heavy, light"):
        wrong = [wa.Vary(variant="/World{rod}", distribution={"constant": "medium"})]
        run_plan(wa.Plan(stage="robot.usda", folder=str(tmp_path), runs=2, steps=2, vary=wrong), tmp_path / "other")


def test_inputs_are_read_by_runs(tmp_path):
    """As `rollout` with the same targets, from .npz and from Parquet."""
    arm = plan(ARM, vary=[])
    scene = wa.read_stage(arm.stage_path)
    targets = np.random.default_rng(2).normal(scale=0.5, size=(10, 24, 6))
    np.savez(tmp_path / "targets.npz", drive_position_target=targets)
    simulation = wa.Simulation(scene, environments=10, settings=wa.SolverSettings(variant="lanes"))
    expected = wa.rollout(simulation, {"drive_position_target": targets.transpose(1, 0, 2)}).joint_position
    paths = [tmp_path / "targets.npz"]
    import importlib.util

    if importlib.util.find_spec("pyarrow"):
        import pyarrow
        import pyarrow.parquet

        columns = {name: targets[:, :, k].ravel() for k, name in enumerate(scene.dof_names)}
        rows = {"run": np.repeat(np.arange(10), 24), "step": np.tile(np.arange(24), 10)}
        pyarrow.parquet.write_table(pyarrow.table(rows | columns), tmp_path / "targets.parquet")
        paths.append(tmp_path / "targets.parquet")
    for path in paths:
        one = wa.Plan(
            stage=arm.stage,
            folder=arm.folder,
            runs=10,
            steps=24,
            shard=4,
            inputs={"drive_position_target": str(path)},
            record=wa.Record(quantities=("joint_position",), every=2),
        )
        folder = tmp_path / path.suffix[1:]
        run_plan(one, folder)
        batch = open_batch(folder)
        for run in (0, 5, 9):
            found = np.stack([batch.motion(run)[f"joint_position:{name}"] for name in scene.dof_names], axis=1)
            assert np.array_equal(found, expected[::2, run])
            assert np.array_equal(batch.recording(run).joint_position[:, 0], expected[:, run])
    with pytest.raises(SettingsError, match="has 10 runs, 11 are needed"):
        run_plan(
            wa.Plan(
                stage=arm.stage,
                folder=arm.folder,
                runs=11,
                steps=24,
                inputs=one.inputs | {"drive_position_target": str(paths[0])},
            ),
            tmp_path / "more",
        )


def test_a_batch_is_described_in_full(tmp_path):
    """Its plan can be read from the folder, and says what it is of."""
    run_whole(tmp_path / "out")
    about = json.loads((tmp_path / "out" / "plan.json").read_text())
    assert list(about["digests"]["stage"]) == ["pendulum.usda"]
    assert open_batch(tmp_path / "out").plan.authored() == plan(PENDULUM, **RECORDED, shard=None).authored()

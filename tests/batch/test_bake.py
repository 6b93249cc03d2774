"""Runs back on a stage: the motion is that of the batch, and the values alone give it again."""

import numpy as np
import pytest
from pxr import Usd, UsdGeom

import warp_artic as wa
from tests.batch.plans import ARM, PENDULUM, plan
from warp_artic.batch.bake import bake, verify
from warp_artic.batch.engine import run_plan
from warp_artic.batch.files import Table, read_table, write_table
from warp_artic.batch.results import open_batch
from warp_artic.errors import SettingsError

RECORDED = {"record": {"quantities": ["joint_position", "link_pose"], "every": 1}}


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batch") / "out"
    run_plan(plan(PENDULUM, **RECORDED), folder)
    return open_batch(folder)


def test_a_recording_is_the_motion_of_its_run(batch):
    """Bitwise; a simulation is at its start."""
    for run in (0, 25, 59):
        motion, recording = batch.motion(run), batch.recording(run)
        assert np.array_equal(recording.time, motion["time"])
        assert np.array_equal(recording.joint_position[:, 0, 0], motion["joint_position:/World/pendulum/hinge"])
        simulation = batch.simulation(run)
        assert simulation.environments == 1
        assert simulation.state.joint_position.numpy()[0, 0] == recording.joint_position[0, 0, 0]
    with pytest.raises(SettingsError, match="run 60: is not there; the batch has runs 0 to 59"):
        batch.recording(60)


def test_baked_runs_are_stages(batch, tmp_path):
    """Their poses are those of the batch; the layer of values alone is simulated to the same motion, bitwise."""
    found = bake(batch, [17, 42], tmp_path / "chosen.usda", frames_per_second=240)
    assert [one.run for one in found] == [17, 42]
    stage = Usd.Stage.Open(str(tmp_path / "chosen.usda"))
    choices = stage.GetPrimAtPath("/World").GetVariantSet("run")
    assert choices.GetVariantNames() == ["17", "42"]
    for one in found:
        choices.SetVariantSelection(str(one.run))
        motion = batch.motion(one.run)
        rod = UsdGeom.Xformable(stage.GetPrimAtPath("/World/pendulum/rod"))
        for record in (0, 11, 24):
            code = stage.GetStartTimeCode() + motion["time"][record] * stage.GetTimeCodesPerSecond()
            place = rod.ComputeLocalToWorldTransform(code).ExtractTranslation()
            wanted = [motion[f"link_pose:/World/pendulum/rod:{axis}"][record] for axis in "xyz"]
            assert np.allclose(place, wanted, atol=1e-6)
        simulation = wa.Simulation(wa.read_stage(one.edits), settings=wa.SolverSettings(variant="lanes"))
        again = simulation.record(24).joint_position[:, 0, 0]
        assert np.array_equal(again, motion["joint_position:/World/pendulum/hinge"])
        assert one.not_authored == ()


def test_runs_stand_side_by_side(batch, tmp_path):
    """On a grid, apart from each other."""
    bake(batch, [1, 2, 3], tmp_path / "grid.usda", side_by_side=2)
    stage = Usd.Stage.Open(str(tmp_path / "grid.usda"))
    cache = UsdGeom.BBoxCache(Usd.TimeCode(stage.GetStartTimeCode()), [UsdGeom.Tokens.default_])
    boxes = [
        cache.ComputeWorldBound(stage.GetPrimAtPath(f"/Runs/run_{run}")).ComputeAlignedRange() for run in (1, 2, 3)
    ]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        middle = [np.array(box.GetMidpoint()) for box in (boxes[one], boxes[other])]
        assert np.linalg.norm(middle[0] - middle[1]) > 0.5 * max(boxes[one].GetSize())
    assert stage.GetPrimAtPath("/Runs/run_3/World/pendulum/rod").IsValid()


def test_what_no_attribute_has_is_told(tmp_path):
    """Parameters and starts, which are no attributes of the stage."""
    run_plan(plan(ARM, runs=4), tmp_path / "out")
    (one,) = bake(open_batch(tmp_path / "out"), [2], tmp_path / "one.usda")
    assert len(one.not_authored) == 13
    assert one.not_authored[0] == "link_mass:/World/arm/base"


def test_runs_that_are_stepped_again_are_the_same(batch, tmp_path):
    """And where a row has been changed that is found."""
    assert verify(batch, 100) == (60, [])
    count, found = verify(batch, 7, seed=1)
    assert (count, found) == (7, [])
    folder = tmp_path / "out"
    run_plan(plan(PENDULUM), folder)
    path = sorted((folder / "runs").iterdir())[0]
    table = read_table(path)
    columns = {name: values.copy() for name, values in table.columns.items()}
    columns["final joint_velocity:/World/pendulum/hinge"][3] += 1e-6
    write_table(path, Table(columns, table.fields, table.metadata))
    _, found = verify(open_batch(folder), 60)
    assert [(one.run, one.column) for one in found] == [(3, "final joint_velocity:/World/pendulum/hinge")]


def test_runs_of_a_gpu_are_compared_on_one(tmp_path, monkeypatch):
    """Where there is none that is an error, and no list of differences; a GPU is taken where there is one."""
    folder = tmp_path / "out"
    run_plan(plan(PENDULUM), folder)
    for path in (folder / "runs").iterdir():
        table = read_table(path)
        write_table(path, Table(table.columns, table.fields, table.metadata | {"device": "cuda"}))
    monkeypatch.setattr("warp_artic.batch.results.gpu_names", lambda: [])
    with pytest.raises(SettingsError, match="was stepped on cuda, where runs are bitwise the same; here .* on cpu"):
        verify(open_batch(folder), 3)
    assert len(open_batch(folder).recording(3).time) == 25  # which need not be bitwise the same
    monkeypatch.setattr("warp_artic.batch.results.gpu_names", lambda: ["cuda:1"])
    assert open_batch(folder).worker.device == "cuda:1"

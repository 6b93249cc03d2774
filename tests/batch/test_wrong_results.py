"""What batches must not take for a result: values before the first step, other stages than those of the runs."""

import numpy as np
import pytest

import warp_artic as wa
from tests.batch.plans import PENDULUM, SCENES, plan
from warp_artic.batch.bake import bake, verify
from warp_artic.batch.shards import Worker
from warp_artic.errors import SettingsError, StageError

HINGE, ELBOW = "/World/pendulum/hinge", "/World/arm/elbow_joint"
FORCES = ("min", "max abs", "mean", "final", "drift")
SWINGING = "drive:angular:physics:targetPosition"


@pytest.fixture
def stage(tmp_path):
    """The pendulum, in a folder of its own."""
    path = tmp_path / "pendulum.usda"
    path.write_text((SCENES / "pendulum.usda").read_text())
    return path


@pytest.fixture
def swinging(tmp_path):
    """The arm with an elbow that follows time samples."""
    from pxr import Usd

    opened = Usd.Stage.Open(str(SCENES / "arm.usda"))
    target = opened.GetPrimAtPath(ELBOW).GetAttribute(SWINGING)
    target.Clear()
    for code, angle in ((0, 10.0), (4, 90.0)):
        target.Set(angle, code)
    opened.Export(str(tmp_path / "swinging.usda"))
    return tmp_path / "swinging.usda"


@pytest.mark.parametrize("every", [1, 4, 24])
def test_forces_of_no_step_are_in_no_summary(tmp_path, every):
    """The first record has none; against NumPy on a recording."""
    name = "joint_acceleration"
    given = {"record": {"every": every}, "summary": {"columns": [f"{one} {name}" for one in FORCES]}}
    one = plan(PENDULUM, runs=3, **given)
    one.run(tmp_path / "out")
    batch = wa.open_batch(tmp_path / "out")
    for run in range(3):
        found = batch.simulation(run).record(24, every, forces=True).joint_acceleration[1:, 0, 0]
        row = batch.run_table(run)
        assert found.min() > 0.0 or found.max() < 0.0  # so that 0 is not among them
        assert row[f"min {name}:{HINGE}"][0] == found.min()
        assert row[f"max abs {name}:{HINGE}"][0] == np.abs(found).max()
        assert row[f"mean {name}:{HINGE}"][0] == pytest.approx(found.astype(float).mean(), rel=1e-12)
        assert row[f"final {name}:{HINGE}"][0] == found[-1]
        drift = np.abs(found.astype(float) - float(found[0])).max()
        assert row[f"drift {name}"][0] == pytest.approx(drift, rel=1e-12)


def test_forces_of_no_step_stop_no_run(tmp_path):
    """Nor have runs without a step any."""
    given = {"summary": {"columns": ["min joint_acceleration", "mean joint_acceleration"]}, "runs": 2}
    plan(PENDULUM, stop={"when": "abs joint_acceleration < 1e-3"}, **given).run(tmp_path / "out")
    batch = wa.open_batch(tmp_path / "out")
    for run in range(2):
        found = batch.simulation(run).record(24, forces=True).joint_acceleration[1:, 0, 0]
        met = np.abs(found) < 1e-3
        assert batch.runs["end_step"][run] == (1 + met.argmax() if met.any() else 24)
    plan(PENDULUM, steps=0, **given).run(tmp_path / "none")
    assert np.isnan(wa.open_batch(tmp_path / "none").runs[f"min joint_acceleration:{HINGE}"]).all()


def test_dofs_that_inputs_leave_out_follow_their_time_samples(tmp_path, swinging):
    """Bitwise as in a simulation whose other targets are written."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: pip install '.[batch]'")
    import pyarrow

    other, steps = "/World/arm/shoulder_pitch_joint", 24
    rows = {"run": np.repeat(np.arange(2), steps), "step": np.tile(np.arange(steps), 2)}
    parquet.write_table(pyarrow.table(rows | {other: np.full(2 * steps, 0.3)}), tmp_path / "in.parquet")
    one = wa.Plan(
        stage=str(swinging), runs=2, steps=steps, inputs={"drive_position_target": str(tmp_path / "in.parquet")}
    )
    one.run(tmp_path / "out")
    simulation = wa.Simulation(wa.read_stage(swinging), settings=wa.SolverSettings(variant="lanes"))
    simulation.control.drive_position_target.numpy()[simulation.joint_names.index(other)] = 0.3
    expected = simulation.record(steps).joint_position[:, 0]
    batch = wa.open_batch(tmp_path / "out")
    for k, name in enumerate(simulation.joint_names):
        assert (batch.runs[f"final joint_position:{name}"] == expected[-1, k]).all(), name
    assert np.array_equal(batch.recording(1).joint_position[:, 0], expected)


def test_what_is_overwritten_cannot_be_varied(tmp_path, swinging):
    """By time samples of the stage, or by inputs."""
    values = {"uniform": [-1.0, 1.0]}
    tracked = wa.Vary(parameter="drive_position_target", prims=ELBOW, distribution=values)
    with pytest.raises(StageError, match=f"{ELBOW}: drive_position_target follows time samples"):
        wa.Plan(stage=str(swinging), runs=2, steps=2, vary=[tracked]).run(tmp_path / "out")
    np.save(tmp_path / "in.npy", np.zeros((4, 6)))
    inputs = {"drive_position_target": str(tmp_path / "in.npy")}
    for one in (
        wa.Vary(attribute=SWINGING, prims=ELBOW, distribution=values),
        wa.Vary(parameter="drive_position_target", prims=ELBOW, distribution=values),
    ):
        with pytest.raises(SettingsError, match="acts on drive_position_target alone, which inputs give"):
            wa.Plan(stage=str(SCENES / "arm.usda"), runs=2, steps=4, inputs=inputs, vary=[one]).run(tmp_path / "out")


def test_what_follows_time_samples_does_not_differ_from_run_to_run(stage):
    """Gravity of a direction over time follows its magnitude: all runs had the one that is authored."""
    from pxr import Usd

    opened = Usd.Stage.Open(str(stage))
    direction = opened.GetPrimAtPath("/World/scene").GetAttribute("physics:gravityDirection")
    for code, value in ((0, (0, 0, -1)), (24, (0, 1, -1))):
        direction.Set(value, code)
    opened.Save()
    magnitude = "/World/scene", "physics:gravityMagnitude"
    vary = wa.Vary(prims=magnitude[0], attribute=magnitude[1], distribution={"uniform": [3.0, 9.0]})
    with pytest.raises(SettingsError, match="or what follows time samples; runs may differ in numbers only"):
        Worker(wa.Plan(stage=str(stage), runs=2, steps=8, vary=[vary])).check()


def changed(path):
    text = path.read_text()
    assert "physics:mass = " in text
    path.write_text(
        text.replace(
            'def PhysicsScene "scene"\n    {',
            'def PhysicsScene "scene"\n    {\n        float physics:gravityMagnitude = 3',
        )
    )
    assert path.read_text() != text


def test_runs_of_a_changed_stage_are_not_stepped_again(tmp_path, stage):
    """Neither recorded nor baked nor verified; what is in the tables can be read."""
    one = wa.Plan(stage=str(stage), runs=2, steps=24, vary=plan(PENDULUM).vary)
    one.run(tmp_path / "out")
    changed(stage)
    for again in (
        lambda batch: batch.recording(0),
        lambda batch: bake(batch, [0], tmp_path / "chosen.usda"),
        lambda batch: verify(batch, 2),
    ):
        with pytest.raises(SettingsError, match="out: pendulum.usda has other content; its runs cannot be stepped"):
            again(wa.open_batch(tmp_path / "out"))
    assert len(wa.open_batch(tmp_path / "out").runs) == 2


def test_a_stage_is_read_as_its_file_is_now(tmp_path, stage):
    """Also where somebody holds what it had before."""
    one = wa.Plan(stage=str(stage), runs=2, steps=24, vary=plan(PENDULUM).vary)
    one.run(tmp_path / "out")
    held = wa.open_batch(tmp_path / "out")
    before = held.recording(0)
    changed(stage)
    one.run(tmp_path / "changed")
    found = wa.open_batch(tmp_path / "changed").runs[f"final joint_position:{HINGE}"]
    assert found[0] != before.joint_position[-1, 0, 0]
    scene = wa.read_stage(stage)
    assert np.linalg.norm(scene.gravity) == pytest.approx(3.0)


def test_all_combinations_of_grids_are_run(tmp_path, stage):
    """Of variants and of numbers, in the order of the plan, the last one fastest."""
    from pxr import Usd

    opened = Usd.Stage.Open(str(stage))
    choices = opened.GetPrimAtPath("/World").GetVariantSets().AddVariantSet("kind")
    for name in ("a", "b"):
        choices.AddVariant(name)
    opened.Save()
    vary = [
        wa.Vary(start="joint_position", name="angle", distribution={"grid": [0.1, 0.2]}),
        wa.Vary(variant="/World{kind}", name="kind", distribution={"grid": ["a", "b"]}),
        wa.Vary(start="joint_velocity", name="speed", distribution={"grid": [1, 2, 3]}),
    ]
    wa.Plan(stage=str(stage), steps=2, vary=vary).run(tmp_path / "out")
    runs = wa.open_batch(tmp_path / "out").runs
    found = list(zip(runs[f"angle:{HINGE}"], runs["kind"], runs[f"speed:{HINGE}"]))
    assert found == [(angle, kind, speed) for angle in (0.1, 0.2) for kind in "ab" for speed in (1.0, 2.0, 3.0)]

"""Batches in object stores: the same bytes as in a folder, and nothing of them is lost where a store is."""

import pickle
from pathlib import Path

import pytest

from tests.batch import plans
from warp_artic import SettingsError, SolveError, open_batch
from warp_artic.batch.engine import run_plan
from warp_artic.batch.object_path import ObjectPath, place_of
from warp_artic.batch.store import Shard, opened

pytest.importorskip("pyarrow")
fsspec = pytest.importorskip("fsspec")
RECORD = {"record": {"quantities": ["joint_position"]}}


@pytest.fixture(params=["memory", "local"])
def place(request, tmp_path):
    """The URI of a place in a store: of this process, or of files without moves, which other processes see."""
    uri = "memory://bucket/out" if request.param == "memory" else f"local://{tmp_path}/bucket/out"
    yield uri
    if request.param == "memory":
        fsspec.filesystem("memory").rm("/", recursive=True)


def objects(uri):
    """What is in the files of shards, by name."""
    place = ObjectPath.of(uri)
    return {
        f"{kind}/{one.name}": one.open().read()
        for kind in ("runs", "trajectories")
        for one in sorted((place / kind).iterdir(), key=lambda one: one.name)
    }


def test_a_store_has_the_bytes_of_a_folder(place, tmp_path):
    """Of all shards; what is read from it is what is read from a folder, and it goes on where it was."""
    plan = plans.plan(plans.PENDULUM, **RECORD)
    run_plan(plan, tmp_path / "folder")
    report = run_plan(plan, place)
    assert report.counts["ok"] == 60 and report.is_complete
    assert objects(place) == plans.files(tmp_path / "folder")
    batch, other = open_batch(place), open_batch(tmp_path / "folder")
    assert str(place) in repr(batch)
    for name, values in other.runs.columns.items():
        assert (batch.runs[name] == values).all()
    assert (batch.motion(33)["time"] == other.motion(33)["time"]).all()
    assert run_plan(plan, place).done == 0


def test_what_is_damaged_or_gone_is_done_again(place):
    """Objects that are cut short, of other bytes, or away."""
    plan = plans.plan(plans.PENDULUM, **RECORD)
    run_plan(plan, place)
    whole = objects(place)
    store, _ = opened(place)
    first, second, third = store.listed()
    store.path("runs", first).unlink()
    store.path("trajectories", second).unlink()
    for path, change in ((store.path("runs", third), slice(0, 400)), (store.path("trajectories", first), slice(0, 9))):
        content = path.open().read()[change]
        with path.written_whole() as partial:
            partial.write_bytes(content)
    assert run_plan(plan, place, check_files=True).done == 60
    assert objects(place) == whole


def test_a_store_that_is_away_costs_nothing(monkeypatch):
    """What cannot be read is not taken for damaged: nothing is removed, and the reason is told."""
    plan = plans.plan(plans.PENDULUM)
    uri = "memory://bucket/away"
    run_plan(plan, uri)
    whole = objects(uri)

    def fails(*_):
        raise OSError("no route to host")

    with monkeypatch.context() as patch:
        patch.setattr(ObjectPath, "in_parts", fails)
        with pytest.raises(SolveError, match="memory://bucket/away/.*the store cannot be reached: no route to host"):
            run_plan(plan, uri)
    assert objects(uri) == whole
    assert run_plan(plan, uri).done == 0


def test_uploads_that_fail_leave_no_shard(monkeypatch):
    """As where a store is full or refuses: the object is told, and the batch goes on from what is whole."""
    plan, uri = plans.plan(plans.PENDULUM), "memory://bucket/full"
    memory = type(fsspec.filesystem("memory"))
    opened_by_fsspec, allowed = memory.open, iter([True, True, True, False])

    def opens(self, path, mode="rb", **options):
        if "w" in mode and not next(allowed, True):
            raise PermissionError("access denied")
        return opened_by_fsspec(self, path, mode, **options)

    monkeypatch.setattr(memory, "open", opens)
    with pytest.raises(SolveError, match="runs/part-.*cannot be written: .*access denied"):
        run_plan(plan, uri)
    assert len(opened(uri)[0].listed()) == 1
    assert run_plan(plan, uri).done == 40


def test_processes_write_to_a_store(tmp_path):
    """Each its own shards, with the bytes of one process; a path travels to them as it is."""
    plan = plans.plan(plans.PENDULUM)
    uri = f"local://{tmp_path}/bucket/out"
    assert pickle.loads(pickle.dumps(ObjectPath.of(uri))) == ObjectPath.of(uri)
    run_plan(plan, uri, engine="processes", workers=2, threads=1)
    run_plan(plan, tmp_path / "folder")
    assert objects(uri) == plans.files(tmp_path / "folder")


@pytest.mark.parametrize(
    "uri, reason",
    [
        ("nonsense://bucket/out", "nonsense://bucket: is no object store: Protocol not known"),
        ("s3://key:secret@bucket/out?colour=red", "^s3://bucket: Unexpected query parameter in S3 URI: 'colour'"),
        ("memory://bucket/nothing", "no plan.json"),
    ],
)
def test_places_that_are_none_are_told(uri, reason):
    """By URI, with what is wrong."""
    with pytest.raises(SettingsError, match=reason):
        open_batch(uri)


def test_names_and_options_of_places():
    """Options of a store stay with every object below; paths of this machine are paths."""
    place = ObjectPath("s3://bucket/out", "region=eu-west-1") / "runs" / "part-0.parquet"
    assert str(place) == "s3://bucket/out/runs/part-0.parquet"
    assert (place.name, place.suffix) == ("part-0.parquet", ".parquet")
    assert place.query == "region=eu-west-1"
    secret = ObjectPath("s3://key:secret@bucket/out") / "runs"
    assert str(secret) == "s3://bucket/out/runs" and "secret" not in repr(secret)
    assert place_of("out/x") == Path("out/x") and place_of(Path("a")) == Path("a")
    assert Shard(0, 20).name in str(place_of("memory://b/o") / "runs" / Shard(0, 20).name)

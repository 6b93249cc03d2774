"""Tables of batches in the hands of others: DuckDB, Polars, pandas and pyarrow read them; disks that are full."""

import os
import sys
import time

import numpy as np
import pytest

from tests.batch.plans import PENDULUM, files, plan
from warp_artic.batch.engine import run_plan
from warp_artic.batch.files import Table, read_table, write_table
from warp_artic.batch.results import open_batch
from warp_artic.batch.store import Shard, Store
from warp_artic.errors import ArticError, SettingsError

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: pip install '.[batch]'")
GIVEN = {"record": {"quantities": ["joint_position"], "every": 6}}
HINGE = "joint_position:/World/pendulum/hinge"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("tables") / "out"
    run_plan(plan(PENDULUM, **GIVEN), found)
    return found


def test_columns_are_found_by_name():
    """A table lists its columns, and says which one may be meant."""
    table = Table({"run": np.arange(3), "final energy": np.zeros(3)})
    assert list(table) == ["run", "final energy"] and len(table) == 3
    with pytest.raises(SettingsError, match="there is no column 'final enregy'; did you mean final energy"):
        table["final enregy"]


def test_columns_say_what_they_are_of(folder):
    """Units and prim paths are in the metadata of the columns; numbers are split by bytes and packed by zstd."""
    path = sorted((folder / "trajectories").iterdir())[0]
    about = parquet.read_schema(path).field(HINGE).metadata
    assert about[b"prim"] == b"/World/pendulum/hinge" and about[b"unit"] == b"rad"
    group = parquet.ParquetFile(path).metadata.row_group(0)
    (column,) = [group.column(k) for k in range(group.num_columns) if group.column(k).path_in_schema == HINGE]
    assert column.compression == "ZSTD" and "BYTE_STREAM_SPLIT" in column.encodings
    about = (
        parquet.read_schema(sorted((folder / "runs").iterdir())[0]).field("physics:mass:/World/pendulum/rod").metadata
    )
    assert about[b"attribute"] == b"physics:mass" and about[b"operation"] == b"scale"


def test_duckdb_polars_and_pandas_read_them(folder):
    """In one line each, with the same numbers."""
    runs, name = open_batch(folder).runs, f"final {HINGE}"
    wanted = runs[name][runs["run"] == 33][0]
    duckdb, polars, pandas = (pytest.importorskip(one) for one in ("duckdb", "polars", "pandas"))
    found = duckdb.sql(f"select \"{name}\" from '{folder}/runs/*.parquet' where run = 33").fetchall()
    assert found == [(wanted,)]
    own = polars.scan_parquet(f"{folder}/runs/*.parquet").filter(polars.col("run") == 33).collect()
    assert own[name].to_list() == [wanted]
    frame = pandas.read_parquet(folder / "trajectories")
    assert (frame["run"].nunique(), len(frame)) == (60, 300)
    assert frame[frame["run"] == 33][HINGE].iloc[-1] == wanted


def test_listing_many_shards_takes_no_time(tmp_path):
    """Ten thousand of them: their names say all."""
    (tmp_path / "runs").mkdir()
    store = Store(tmp_path, "parquet", "")
    for place in range(10_000):
        store.path("runs", Shard(10 * place, 10 * place + 10)).touch()
    begin = time.process_time()
    found = store.listed()
    seconds = time.process_time() - begin
    assert (len(found), found[0], found[-1]) == (10_000, Shard(0, 10), Shard(99_990, 100_000))
    print(f"{seconds:.3f} s")


def test_a_table_that_is_damaged_is_told(tmp_path):
    """Whichever byte it is."""
    path = tmp_path / "part.parquet"
    rng = np.random.default_rng(0)
    write_table(path, Table({"run": np.arange(500), "x": rng.normal(size=500)}))
    whole, content = read_table(path), path.read_bytes()
    for place in rng.integers(0, len(content), 60).tolist():
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            found = read_table(path)
        except (SettingsError, ArticError):
            continue
        for name in whole.columns:  # what is not covered by checksums are no numbers
            assert name not in found.columns or np.array_equal(found[name], whole[name])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="files are limited as Linux does it")
def test_a_full_disk_leaves_what_is_there(folder, tmp_path):
    """And the batch goes on when there is room again."""
    import resource

    run_plan(plan(PENDULUM, **GIVEN), tmp_path / "out", part="1/3")
    before = files(tmp_path / "out")
    child = os.fork()
    if child == 0:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
        try:
            run_plan(plan(PENDULUM, **GIVEN), tmp_path / "out")
        except ArticError as error:
            os._exit(7 if "cannot be written" in str(error) else 8)
        finally:
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert files(tmp_path / "out") == before
    run_plan(plan(PENDULUM, **GIVEN), tmp_path / "out")
    assert files(tmp_path / "out") == files(folder)

"""`warp-artic batch`: what it says, and how it ends."""

import csv
import io
import json
import os
import re
import signal
from xml.etree import ElementTree

import numpy as np
import pytest

import warp_artic as wa
from tests.batch.plans import SCENES
from warp_artic.batch.engine import Progress
from warp_artic.cli import batch as command
from warp_artic.cli.main import main

PLAN = f"""
stage = "{SCENES / "pendulum.usda"}"
runs = 30
steps = 24
shard = 10
[[vary]]
prims = "/World/pendulum/hinge"
attribute = "warpArtic:joint:angular:position"
distribution = {{ uniform = [-90, 90] }}
[[vary]]
parameter = "link_mass"
operation = "scale"
distribution = {{ uniform = [0.5, 2.0] }}
"""
HINGE = "warpArtic:joint:angular:position:/World/pendulum/hinge"


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "swing.toml").write_text(PLAN)
    return tmp_path


def told(line, code, capsys):
    assert main(["batch", *line.split()]) == code
    return capsys.readouterr()


def test_a_batch_is_run_told_and_gone_on_with(plan, capsys):
    """To a folder of the name of the plan; the second time nothing is left to do."""
    said = told("swing.toml", 0, capsys)
    assert "swing: 30 runs of 24 steps" in said.out and "30 runs: 30 ok" in said.out
    assert "30 runs to step in 3 shards, 0 complete" in said.err
    assert "30 were complete before" in told("swing.toml", 0, capsys).out
    found = json.loads(told("show swing --json", 0, capsys).out)
    assert (found["runs"], found["statuses"]["ok"]) == (30, 30)
    own = {one["column"]: one for one in found["columns"]}[HINGE]
    values = wa.open_batch("swing").runs[HINGE]
    assert (own["least"], own["least_run"]) == (values.min(), int(values.argmin()))
    report = json.loads(told("swing.toml --json", 0, capsys).out)
    assert (report["runs"], report["done_before"], report["exit_code"]) == (30, 30, 0)


def test_the_values_of_all_runs_are_printed(plan, capsys):
    """As the table of runs has them; nothing is stepped."""
    rows = list(csv.reader(io.StringIO(told("swing.toml --dry-run", 0, capsys).out)))
    assert rows[0] == ["run", HINGE, "link_mass:/World/pendulum/rod"] and len(rows) == 31
    assert not (plan / "swing").exists()
    told("swing.toml", 0, capsys)
    assert np.array_equal(wa.open_batch("swing").runs[HINGE], [float(row[1]) for row in rows[1:]])


def test_a_plan_is_explained(plan, capsys):
    """What matches, units, shards, bytes, time."""
    said = told("swing.toml --explain", 0, capsys).out
    for words in ("30 runs of 24 steps of 0.00416667 s, in 3 shards of 10 runs", "as authored", "/World/pendulum/hinge",
                  "-90 to 90", "0.5 to 2", "of files"):  # fmt: skip
        assert words in said
    found = json.loads(told("swing.toml --explain --json", 0, capsys).out)
    assert found["varied"][1]["prims"] == ["/World/pendulum/rod"] and not found["is_read"]
    assert not (plan / "swing").exists()


def test_a_stopped_batch_can_go_on(plan, capsys, monkeypatch):
    """By SIGTERM, as farms send it: the exit code is 75."""

    class Stops(Progress):
        is_new = True

        def shard(self, report, shard):
            if self.is_new:  # a second one would end the process
                os.kill(os.getpid(), signal.SIGTERM)
            self.is_new = False

    from contextlib import nullcontext

    monkeypatch.setattr(command, "shown_progress", lambda: nullcontext(Stops()))
    assert "stopped; the same command continues" in told("swing.toml", 75, capsys).out
    monkeypatch.undo()
    assert "30 runs: 30 ok" in told(f"{plan / 'swing.toml'} -o {plan / 'swing'}", 0, capsys).out


def test_failed_runs_are_told(plan, capsys):
    """By the exit code, and by their numbers."""
    text = PLAN.replace("runs = 30", "runs = 3").replace("uniform = [0.5, 2.0]", "values = [1.0, -1.0, 2.0]")
    (plan / "bad.toml").write_text(text)
    said = told("bad.toml", 1, capsys).out
    assert "3 runs: 2 ok, 1 failed" in said
    assert "run 1: /World/pendulum: stopped at step 1: link_mass of /World/pendulum/rod must be positive" in said


def test_runs_are_baked_and_stepped_again(plan, capsys):
    """By number and by range."""
    told("swing.toml", 0, capsys)
    said = told("bake swing --runs 3,7:9 -o chosen.usda", 0, capsys).out
    assert "chosen.usda: 3 runs" in said and "no attribute for them: link_mass:/World/pendulum/rod" in said
    found = json.loads(told("bake swing --runs 4 -o one.usda --side-by-side 1 --json", 0, capsys).out)
    assert found[0]["run"] == 4 and os.path.exists(found[0]["edits"])
    assert "5 runs stepped again: all are bitwise the same" in told("verify swing --sample 5", 0, capsys).out


@pytest.mark.parametrize(
    "line, code, words",
    [
        ("none.toml", 2, "none.toml: cannot be read"),
        ("swing.toml other.toml", 2, "is neither one plan nor bake, verify, report or show of a folder"),
        ("swing.toml --engine slurm", 2, "is not one of local, processes, ray"),
        ("swing.toml --part 4/3", 2, "is not like 3/16"),
        ("bake", 2, "bake needs the folder of a batch"),
        ("swing.toml --runs 3", 2, "--runs belongs to bake"),
        ("swing.toml --explain --dry-run", 2, "one of --explain and --dry-run"),
        ("bake swing.toml", 2, "is no folder of a batch"),
        ("swing.toml --device cuda:7", 2, "device: 'cuda:7' is not one of"),
    ],
)
def test_bad_usage(plan, line, code, words, capsys):
    """One line each."""
    said = told(line, code, capsys)
    assert words in said.err and said.out == ""


def test_a_page_on_all_runs(plan, capsys):
    """It has every column with its ends and a histogram of all runs, and needs no network."""
    told("swing.toml", 0, capsys)
    assert "wrote page.html" in told("report swing -o page.html", 0, capsys).out
    text = (plan / "page.html").read_text()
    assert "30 runs: 30 ok" in text and "none failed" in text
    assert not re.search(r"https?:|src=|href=|<script|@import|url\(", text)
    batch = wa.open_batch("swing")
    columns = batch.statistics().columns
    rows = ElementTree.fromstring(re.search(r"<table>.*?</table>", text, re.S)[0]).findall("tr")[1:]
    assert [row.find("td").text for row in rows] == [one.column for one in columns]
    for row, one in zip(rows, columns):
        values = np.asarray(batch.runs[one.column], float)
        own = np.histogram(values[~np.isnan(values)], 40)[0] if one.least < one.largest else None
        shown = [int(bar.find("title").text) for bar in row.iter("rect")]
        assert sum(shown) == np.count_nonzero(~np.isnan(values))
        assert own is None or shown == [count for count in own if count]
        assert f"{one.least:.6g} ({one.least_run})" in [cell.text for cell in row.iter("td")]
    assert json.loads(told("report swing -o page.html --json", 0, capsys).out)["runs"] == 30
    assert "whose name ends in .html" in told("report swing -o page.txt", 2, capsys).err

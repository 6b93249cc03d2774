"""What the page on batches shows works as written."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from warp_artic.batch.distributions import KINDS
from warp_artic.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "warp_artic" / "batch" / "README.md"
TEXT = PAGE.read_text(encoding="utf-8")


BLOCKS = {language: re.findall(rf"```{language}\n(.*?)```", TEXT, re.S) for language in ("bash", "python")}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """One that has the samples."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands(folder, capsys):
    """One after the other, as a reader would type them."""
    block, _ = BLOCKS["bash"]
    for line in block.splitlines():
        command, _, target = line.partition("#")[0].partition(">")
        assert main(shlex.split(command)[1:]) == 0, line
        told = capsys.readouterr().out
        if target.strip():
            assert len(told.splitlines()) == 1001
    assert "20 runs stepped again: all are bitwise the same" in told
    assert (folder / "chosen.runs" / "17.usdc").exists()


def test_python(folder, capsys):
    """The example of the page."""
    code, _ = BLOCKS["python"]
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["report"].counts["ok"] == 4
    assert len(np.unique(names["elbow"])) == 4


def test_values_from_a_recording(folder, capsys):
    """The commands and the example of the section on them: a stage gives its own values again."""
    _, block = BLOCKS["bash"]
    for line in block.splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
    assert (folder / "arm_found.usda").exists()
    _, code = BLOCKS["python"]
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    for one in names["found"].values:
        assert one.value == pytest.approx(one.authored, rel=1e-5), one.prim


def test_all_distributions_are_listed():
    """By their names."""
    assert {kind for kind in KINDS if f"{{ {kind} = " in TEXT} == set(KINDS)


def test_links_lead_somewhere():
    """Files and pictures that are linked exist."""
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links and all((PAGE.parent / link).exists() for link in links)

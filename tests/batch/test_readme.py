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


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """One that has the samples."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands(folder, capsys):
    """One after the other, as a reader would type them."""
    (block,) = re.findall(r"```bash\n(.*?)```", TEXT, re.S)
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
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["report"].counts["ok"] == 4
    assert len(np.unique(names["elbow"])) == 4


def test_all_distributions_are_listed():
    """By their names."""
    assert {kind for kind in KINDS if f"{{ {kind} = " in TEXT} == set(KINDS)


def test_links_lead_somewhere():
    """Files and pictures that are linked exist."""
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links and all((PAGE.parent / link).exists() for link in links)

"""Tutorials run as written, and what they assert holds; so does the Python of how-tos that needs no other program."""

import re
import shlex
from pathlib import Path

import pytest

from warp_artic.cli.arguments import command_line
from warp_artic.cli.main import main

ROOT = Path(__file__).parents[1]
HOW_TOS = sorted(path for path in (ROOT / "samples" / "how_to").glob("*.md") if path.stem != "README")
NEEDS_FILES = ("ci", "viewers")
"""How-tos whose Python is about files that readers have."""
TUTORIALS = sorted(path for path in (ROOT / "samples" / "tutorials").glob("*.md") if path.stem != "README")
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```", re.S | re.M)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(page, tmp_path, monkeypatch):
    """Block after block, as a reader would type them."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    names, asserted = {}, 0
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(code, page.name, "exec"), names)
            asserted += code.count("assert ")
            continue
        for line in code.splitlines():
            assert main(shlex.split(line.partition("#")[0])[1:]) == 0, line
    assert asserted >= 2


@pytest.mark.parametrize("page", HOW_TOS, ids=lambda path: path.stem)
def test_the_python_of_a_how_to_runs(page, tmp_path, monkeypatch):
    """Or is Python at least, and its commands have the arguments that there are."""
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    names = {}
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "python":
            compiled = compile(code, page.name, "exec")
            if page.stem not in NEEDS_FILES:
                exec(compiled, names)
            continue
        for line in code.splitlines():
            assert command_line().parse_args(shlex.split(line)[1:]), line


@pytest.mark.parametrize("pages", [TUTORIALS, HOW_TOS], ids=["tutorials", "how_to"])
def test_all_pages_are_listed(pages):
    """In the table of their index."""
    index = (pages[0].parent / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\w+\.md)\)", index)) == [path.name for path in pages]

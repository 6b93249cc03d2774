"""The documentation site builds without a warning, and has what the package has."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import warp_artic as wa
from warp_artic.description.rules import RULES

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as the README says."""
    folder = tmp_path_factory.mktemp("site")
    line = [sys.executable, "-m", "sphinx", "-W", "-q", "-d", folder / "doctrees", "-c", ".docs", ".", folder / "html"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


def test_every_public_name_has_an_entry(site):
    """Of classes and functions, by autodoc; and every method of a simulation with its text."""
    page = (site / "python.html").read_text(encoding="utf-8")
    callables = [name for name in wa.__all__ if callable(getattr(wa, name))]
    assert [name for name in callables if f'id="warp_artic.{name}"' not in page] == []
    methods = [
        name for name in dir(wa.Simulation) if not name.startswith("_") and callable(getattr(wa.Simulation, name))
    ]
    assert [name for name in methods if f'id="warp_artic.Simulation.{name}"' not in page] == []


def test_every_rule_and_command_has_a_heading(site):
    """By its name."""
    page = (site / "rules.html").read_text(encoding="utf-8")
    assert [name for name in RULES if f'<section id="{name}">' not in page] == []
    page = (site / "commands.html").read_text(encoding="utf-8")
    assert {"simulate", "inspect", "check", "batch"} <= set(re.findall(r'<section id="([\w-]+)">', page))
    assert "--position-iterations" in page


def test_links_lead_to_files_of_the_site(site):
    """Links and results of the search, too; no address has a folder that servers hide."""
    for path in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#?]+)', path.read_text(encoding="utf-8")):
            if "://" not in link and not link.startswith(("data:", "mailto:")):
                assert (path.parent / unquote(link)).exists(), f"{path}: {link}"
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    names = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))["docnames"]
    assert "index" in names and "python" in names
    assert [name for name in names if not (site / f"{name}.html").exists() or name.startswith(".")] == []

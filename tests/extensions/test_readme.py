"""The examples of the README run as they stand."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "extensions/README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_run(number, monkeypatch):
    """From the root of the repository; nothing is paced."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    exec(compile(EXAMPLES[number], f"example {number}", "exec"), {})


def test_links_lead_somewhere():
    """Files that are linked exist."""
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "extensions/README.md").read_text())
    assert len(EXAMPLES) == 2 and links
    assert [link for link in links if not (ROOT / "extensions" / link).exists()] == []

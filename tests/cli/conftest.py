"""Commands are run as from the root of a checkout."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def in_checkout(monkeypatch):
    """Relative paths in tests, as in the READMEs, start at the root."""
    monkeypatch.chdir(Path(__file__).parents[2])

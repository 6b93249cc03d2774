"""Tables that a person can read, as aligned plain text."""

from __future__ import annotations

import shutil
import sys

WIDEST = 120
"""Columns of a table where no terminal shows it."""


def width() -> int:
    """How wide a line may be."""
    return shutil.get_terminal_size((WIDEST, 24)).columns if sys.stdout.isatty() else WIDEST

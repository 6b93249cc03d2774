"""One line in the log of Kit for each thing that goes wrong."""

from __future__ import annotations

import carb


def error(text: object) -> str:
    """Log an error; the line."""
    line = f"[omni.warp_artic] {' '.join(str(text).split())}"
    carb.log_error(line)
    return line


def warning(text: str) -> None:
    """Log a warning."""
    carb.log_warn(f"[omni.warp_artic] {text}")

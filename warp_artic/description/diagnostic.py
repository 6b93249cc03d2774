"""What a reader has to say about a stage beside the scene itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """What a diagnostic means for the simulation."""

    ERROR = "error"
    """The stage cannot be simulated as authored."""
    WARNING = "warning"
    """The stage can be simulated, but something authored has no effect or is contradictory."""
    NOTE = "note"
    """Something was decided that the author may want to know."""


@dataclass(frozen=True)
class Diagnostic:
    """One finding."""

    severity: Severity
    rule: str
    """Stable name, such as `pose-violates-joint`."""
    path: str
    """Prim or attribute path."""
    message: str
    """What was found, and what is allowed or was done."""

    def __str__(self) -> str:
        return f"{self.severity.value}: {self.path}: {self.message} [{self.rule}]"

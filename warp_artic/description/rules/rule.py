"""What a rule says of the findings that have its name."""

from __future__ import annotations

from dataclasses import dataclass

from warp_artic.description.diagnostic import Severity

ERROR, WARNING, NOTE = (Severity.ERROR,), (Severity.WARNING,), (Severity.NOTE,)
ERROR_OR_WARNING, WARNING_OR_NOTE, ERROR_OR_NOTE = (*ERROR, *WARNING), (*WARNING, *NOTE), (*ERROR, *NOTE)


@dataclass(frozen=True)
class Rule:
    """One rule; its name is that of the findings about it, and stays."""

    name: str
    severities: tuple[Severity, ...]
    """Those that a finding may have; one for most rules."""
    meaning: str
    allowed: str
    fix: str
    """What to do next."""

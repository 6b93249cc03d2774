"""`warp-artic check`: errors, warnings and notes of a stage."""

from __future__ import annotations

import json
from collections.abc import Iterable

from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.usd.read_stage import check_stage


def run(arguments) -> int:
    """List what there is to say about a stage; 1 when there is an error."""
    diagnostics = check_stage(arguments.stage, dialects=arguments.dialects)
    if arguments.json:
        print(json.dumps([as_json(item) for item in diagnostics], indent=1))
    else:
        for item in diagnostics:
            print(item)
        print(counts(diagnostics))
    return int(any(item.severity is Severity.ERROR for item in diagnostics))


def as_json(item: Diagnostic) -> dict[str, str]:
    """A diagnostic as plain values."""
    return {"severity": item.severity.value, "rule": item.rule, "path": item.path, "message": item.message}


def counts(diagnostics: Iterable[Diagnostic]) -> str:
    """How many there are of each severity."""
    found = [item.severity for item in diagnostics]
    named = [f"{found.count(severity)} {severity.value}{'s' * (found.count(severity) != 1)}" for severity in Severity]
    return ", ".join(named)

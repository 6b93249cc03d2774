"""`warp-artic backends`: the stepping backends that hosts find here."""

from __future__ import annotations

import json
from dataclasses import asdict

from warp_artic.cli.table import Column, Table, show
from warp_artic.hosts.registry import find_backends

COLUMNS = tuple(Column(name, is_text=True) for name in ("name", "factory", "version", "registered by"))


def run(arguments) -> int:
    """List what is registered; nothing of it is imported."""
    found = find_backends()
    if arguments.json:
        print(json.dumps([asdict(one) for one in found], indent=2))
        return 0
    rows = tuple((one.name, one.factory, _version(one.api_version), ", ".join(one.places)) for one in found)
    show([Table("stepping backends", COLUMNS, rows, wraps=True)])
    return 0


def _version(number: int | None) -> str:
    return "?" if number is None else str(number)

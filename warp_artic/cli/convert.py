"""`warp-artic convert`: write a copy of a stage in our schemas, and say what was rewritten and what was left."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict

from warp_artic.usd.conversion import Conversion
from warp_artic.usd.convert_stage import convert_stage


def run(arguments) -> int:
    """Convert a stage and print the report."""
    conversion = convert_stage(arguments.stage, arguments.output, dialects=arguments.dialects)
    if arguments.json:
        report = {name: [asdict(one) for one in getattr(conversion, name)] for name in ("rewritten", "left")}
        print(json.dumps(report, indent=1))
    else:
        for line in _lines(conversion):
            print(line)
        print(f"wrote {arguments.output}: {len(conversion.rewritten)} rewritten, {len(conversion.left)} left")
    return 0


def _lines(conversion: Conversion) -> list[str]:
    """A line for each thing that was rewritten, and for each reason and name of what was left."""
    lines = [f"{one.was} -> {one.now or 'nothing: it had no effect'}" for one in conversion.rewritten]
    left = [(one.path.rpartition(".")[2], one.reason, one.path) for one in conversion.left]
    counts = Counter((name, reason) for name, reason, _ in left)
    firsts = {(name, reason): path for name, reason, path in reversed(left)}
    for key, count in counts.items():
        more = f", and {count - 1} more of this name" if count > 1 else ""
        lines.append(f"left {firsts[key]}{more}: {key[1]}")
    return lines

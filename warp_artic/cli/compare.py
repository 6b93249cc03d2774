"""`warp-artic compare`: whether two stages or layers move alike."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

from warp_artic.errors import SettingsError
from warp_artic.looking.junit import Check, write_junit
from warp_artic.sim.files.whole_file import check_place
from warp_artic.usd.compare_motion import MotionDifference, PrimDifference, compare_motion
from warp_artic.usd.open_stage import open_stage

SHOWN = 8
"""Prims that are listed."""
ROUNDING = 1e-9
"""A smaller difference in scale is not spoken of."""


def run(arguments) -> int:
    """Compare as the arguments say; 1 where a prim differs by more than the tolerance."""
    if not 0 <= arguments.tolerance < math.inf:
        raise SettingsError(f"tolerance: {arguments.tolerance:g} is not a finite number of at least 0")
    if arguments.junit:
        check_place(arguments.junit)
    found = compare_motion(open_stage(arguments.first), open_stage(arguments.second))
    beyond = [row for row in found.prims if row.largest > arguments.tolerance]
    if arguments.junit:
        checks = [Check(row.path, _sentence(row) if row.largest > arguments.tolerance else "") for row in found.prims]
        checks += [Check(path, "is on one of the two only") for path in found.missing]
        write_junit(arguments.junit, f"{arguments.first} and {arguments.second}", checks)
    is_alike = not beyond and not found.missing
    if arguments.json:
        print(json.dumps(_as_json(found, arguments, is_alike), indent=1))
    else:
        for line in _lines(found, beyond, arguments):
            print(line)
    return int(not is_alike)


def _sentence(row: PrimDifference) -> str:
    parts = [f"{row.distance:.3g} m", f"{math.degrees(row.angle):.3g} deg"]
    if row.scale > ROUNDING:
        parts.append(f"{row.scale:.3g} in scale")
    return f"differs by {', '.join(parts)} at most, at {row.time:.4g} s"


def _lines(found: MotionDifference, beyond: list[PrimDifference], arguments):
    """What is told on a terminal."""
    yield f"{len(found.prims)} prims compared at {found.times} times, tolerance {arguments.tolerance:g} m and rad"
    for path in found.missing[:SHOWN]:
        yield f"{path}  is on one of the two only"
    if len(found.missing) > SHOWN:
        yield f"... and {len(found.missing) - SHOWN} more"
    for row in beyond[:SHOWN] or found.prims[:1]:
        yield f"{row.path}  {_sentence(row)}"
    if len(beyond) > SHOWN:
        yield f"... and {len(beyond) - SHOWN} more beyond the tolerance"
    if beyond or found.missing:
        yield f"the motions differ: {len(beyond)} prims beyond the tolerance, {len(found.missing)} on one side only"
    else:
        yield "the motions agree within the tolerance"


def _as_json(found: MotionDifference, arguments, is_alike: bool) -> dict:
    """The same for programs; differences that are not finite are null."""
    rows = [asdict(row) for row in found.prims]
    for row in rows:
        row |= {key: None for key, value in row.items() if isinstance(value, float) and not math.isfinite(value)}
    return {
        "first": arguments.first,
        "second": arguments.second,
        "tolerance": arguments.tolerance,
        "alike": is_alike,
        "times": found.times,
        "missing": list(found.missing),
        "prims": rows,
    }

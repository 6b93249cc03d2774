"""`warp-artic identify`: find values on a stage by which it moves as it was recorded, and write them as a layer."""

from __future__ import annotations

import json
from dataclasses import asdict

from warp_artic.batch.identify import Identification, identify
from warp_artic.cli.table import Column, Table, show
from warp_artic.sim.launch.device import start_quietly


def run(arguments) -> int:
    """Identify, show, and write what is asked for."""
    start_quietly("cpu")
    found = identify(
        arguments.stage,
        arguments.recording,
        arguments.parameters,
        arguments.output,
        environment=arguments.environment,
        dialects=arguments.dialects,
    )
    if arguments.json:
        print(json.dumps(_as_json(found, arguments.output), indent=1))
        return 0
    show([_table(found), _residuals(found)])
    if arguments.output:
        print(f"wrote {arguments.output}")
    return 0


def _as_json(found: Identification, output: str | None) -> dict:
    return {
        "values": [asdict(one) for one in found.values],
        "covariance": found.covariance.tolist(),
        "residual": found.residual,
        "authored_residual": found.authored_residual,
        "rounds": found.rounds,
        "wrote": output,
    }


def _table(found: Identification) -> Table:
    """A row for each value, in the units of the stage."""
    columns = ("prim", "attribute", "authored", "found", "from", "to")
    rows = tuple(
        (one.prim, one.attribute, *(f"{value:.6g}" for value in (one.authored, one.value, one.low, one.high)))
        for one in found.values
    )
    title = "values, in units of the stage, and where they lie with a probability of 95 %"
    return Table(title, tuple(Column(name, is_text=k < 2) for k, name in enumerate(columns)), rows, keys=2)


def _residuals(found: Identification) -> str:
    return (
        f"difference from the recording, root mean square: {found.residual:.3g} rad or m, "
        f"with what is authored {found.authored_residual:.3g}; {found.rounds} rounds"
    )

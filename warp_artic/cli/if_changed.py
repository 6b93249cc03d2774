"""`simulate --if-changed`: whether a run layer is there already; loaded before Warp, stages and NumPy are."""

from __future__ import annotations

import json
import os
from importlib.metadata import version

from warp_artic.errors import SettingsError
from warp_artic.usd.input_digest import is_current

NO_MATTER = frozenset({"command", "stage", "output", "json", "threads", "if_changed", "inputs", "record", "resume"})
"""Arguments that decide nothing of what is written, or whose content counts instead."""


def settings_of(arguments) -> dict:
    """All that decides on a run beside files: the arguments, and which versions it is of."""
    given = {name: value for name, value in vars(arguments).items() if name not in NO_MATTER}
    if arguments.output:
        given["stage"] = os.path.relpath(os.path.realpath(arguments.stage), os.path.dirname(arguments.output) or ".")
    return given | {"versions": [version(name) for name in ("warp-artic", "warp-lang", "usd-core")]}


def files_of(arguments) -> list[str]:
    """Files that are read beside the stage."""
    return [arguments.inputs] if arguments.inputs else []


def is_done(arguments) -> bool:
    """Whether there is nothing to do, which is said; only where that is asked for.

    Raises:
        SettingsError: A layer alone can tell what it is of.
    """
    if not arguments.if_changed:
        return False
    if not arguments.output or arguments.record or arguments.clips is not None:
        raise SettingsError("if changed: goes with --output alone, in whose metadata it is kept what a run was made of")
    if not is_current(arguments.output, settings_of(arguments), files_of(arguments)):
        return False
    if arguments.json:
        print(json.dumps({"stage": arguments.stage, "unchanged": arguments.output}, indent=1))
    else:
        print(f"{arguments.output}: is of this stage and these settings already")
    return True

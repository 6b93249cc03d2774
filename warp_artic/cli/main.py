"""The command `warp-artic`: runs a subcommand and turns what goes wrong into a line and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from warp_artic.cli.arguments import command_line
from warp_artic.errors import ArticError, SettingsError

FAILED, BAD_USAGE, INTERRUPTED = 1, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (by default that of the process); the exit code: 0, 1 (failed) or 2 (bad usage)."""
    try:
        arguments = command_line().parse_args(argv)
    except SystemExit as exit:  # argparse has said why
        return exit.code or 0
    try:
        code = _load(arguments.command, argv is None).run(arguments)
        sys.stdout.flush()
        return code
    except SettingsError as error:
        return _say(error, BAD_USAGE)
    except ArticError as error:
        return _say(error, FAILED)
    except BrokenPipeError:  # the reader of our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        return _say(f"{error.filename}: {error.strerror}" if error.filename else error, FAILED)
    except MemoryError:
        return _say("out of memory: take fewer steps or environments", FAILED)
    except KeyboardInterrupt:
        return _say("interrupted; nothing more is written", INTERRUPTED)


def _load(command: str, is_process: bool) -> ModuleType:
    """The module of a command; loaded only now, because help and bad usage need neither Warp nor USD.

    What is loaded stays: not to look for garbage in it, meanwhile and, where the process is there for this command
    alone, later, saves 0.5 s of a start of 1.6 s.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        module = import_module(f"warp_artic.cli.{command.replace('-', '_')}")
        if is_process:
            gc.freeze()
        return module
    finally:
        if was_on:
            gc.enable()


def _say(error: object, code: int) -> int:
    for line in str(error).splitlines():
        print(f"warp-artic: error: {line}", file=sys.stderr)
    return code

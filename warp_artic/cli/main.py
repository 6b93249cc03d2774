"""The command `warp-artic`: runs a subcommand and turns what goes wrong into a line and an exit code."""

from __future__ import annotations

import errno
import gc
import io
import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from warp_artic.cli.arguments import STDOUT, command_line
from warp_artic.cli.interrupt import INTERRUPTED
from warp_artic.errors import ArticError, SettingsError

FAILED, BAD_USAGE = 1, 2
OF_OUTPUT = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What is wrong with standard output where no file is named: who writes files names them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line (by default that of the process); the exit code: 0, 1 (failed) or 2 (bad usage)."""
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our output has gone
        _write_no_more()
        return FAILED
    except OSError as error:
        _write_no_more()
        print(f"warp-artic: error: standard output: cannot be written: {error.strerror or error}", file=sys.stderr)
        return FAILED


def _run(argv: Sequence[str] | None) -> int:
    """The same; what goes wrong with standard output is raised."""
    given = sys.argv[1:] if argv is None else list(argv)
    try:
        arguments = command_line().parse_args(given)
    except SystemExit as exit:  # argparse has shown the help, or the version
        return exit.code or 0
    except SettingsError as error:
        return _Failures(_wants_json(given))(error, BAD_USAGE)
    # `bench` may have a file there.
    fail = _Failures(getattr(arguments, "json", False) in (True, STDOUT))
    try:
        with _told_on_stderr():
            if arguments.command == "simulate" and arguments.if_changed and _is_done(arguments):
                return 0
            return _load(arguments.command, argv is None).run(arguments)
    except SettingsError as error:
        return fail(error, BAD_USAGE)
    except ArticError as error:
        return fail(error, FAILED)
    except OSError as error:
        if error.filename is None and error.errno in OF_OUTPUT:
            raise
        return fail(error, FAILED, f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError as error:
        return fail(error, FAILED, "out of memory: take fewer steps or environments")
    except KeyboardInterrupt as error:
        return fail(error, INTERRUPTED, "interrupted; nothing more is written")


def _wants_json(given: Sequence[str]) -> bool:
    """Whether a command line that is not understood asks for JSON on standard output."""
    if "--json" not in given:
        return False
    behind = given[given.index("--json") + 1 :]
    return given[0] != "bench" or not behind or behind[0].startswith("-")


def _write_no_more() -> None:
    """Let what is still to be written to standard output go, so that the end of the process does not try again."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError:  # it is no file
        sys.stdout = io.StringIO()


@dataclass(frozen=True)
class _Failures:
    """Says why a command failed: a line for each sentence, or for programs an object on stdout."""

    as_json: bool

    def __call__(self, error: BaseException, code: int, text: str | None = None) -> int:
        text = str(error) if text is None else text
        if self.as_json:
            print(json.dumps({"error": {"kind": type(error).__name__, "message": text, "exit_code": code}}, indent=1))
        else:
            for line in text.splitlines():
                print(f"warp-artic: error: {line}", file=sys.stderr)
        return code


@contextmanager
def _told_on_stderr() -> Iterator[None]:
    """What the package logs goes to stderr meanwhile; on a terminal warnings alone, beside signs that move."""
    log = logging.getLogger("warp_artic")
    level, handler = log.level, logging.StreamHandler()
    handler.setFormatter(_Line())
    log.addHandler(handler)
    log.setLevel(logging.WARNING if sys.stderr.isatty() else logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


class _Line(logging.Formatter):
    """A record as our other lines are."""

    def format(self, record: logging.LogRecord) -> str:
        kind = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        return f"warp-artic: {kind}{record.getMessage()}"


def _is_done(arguments) -> bool:
    """Whether a run layer is there already; of what simulates nothing is loaded for that."""
    return import_module("warp_artic.cli.if_changed").is_done(arguments)


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

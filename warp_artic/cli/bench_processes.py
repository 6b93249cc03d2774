"""Processes that measure peers, each with the Python that has them: a line of JSON to ask, a line to answer.

Who is not asked is stopped: ovphysx would keep a seventh of a core busy while others are measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import Any

from warp_artic.cli.bench_timing import NotMeasuredError, Run
from warp_artic.errors import SettingsError

FOLDER = Path(__file__).parents[2] / "tests" / "benchmarks" / "peers"
"""Of a checkout: an installed package has no peers."""


class PeerProcess:
    """A library of peers in one Python."""

    def __init__(self, python: str, module: str):
        self._command = [python, str(FOLDER), module]
        self._start()

    @cached_property
    def peers(self) -> dict[str, dict]:
        """The label of each peer by its name, and whether it has the dynamics suite; empty if it is not installed."""
        try:
            return json.loads(self._process.stdout.readline())
        except ValueError as error:
            raise SettingsError(f"peer-python: {self._command[0]} does not run {FOLDER}") from error

    def ask(self, **request) -> dict:
        """What is answered to a request; raises NotMeasuredError where it says why not, or dies."""
        self._process.send_signal(SIGCONT)
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        self._process.send_signal(SIGSTOP)
        if not line:  # a crash of one library is its own row's
            self._end()
            self._start()
            self._process.stdout.readline()
        answer = json.loads(line) if line else {"not_simulated": "its process has stopped"}
        if "not_simulated" in answer:
            raise NotMeasuredError(answer["not_simulated"])
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._end()

    def _end(self) -> None:
        self._process.send_signal(SIGCONT)
        self._process.wait()

    def _start(self) -> None:
        # Their environment is that Python's own, so what leads ours to other packages is left out.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        try:
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                text=True,
            )
        except OSError as error:
            raise SettingsError(f"peer-python: {self._command[0]}: {error.strerror}") from error


@dataclass(frozen=True)
class RemotePeer:
    """A peer in its process."""

    name: str
    label: str
    has_dynamics: bool
    process: PeerProcess

    def acceleration(self, case: Mapping[str, Any]) -> dict:
        """Accelerations of the joints, and the features that it ignores."""
        return self.process.ask(request="accelerate", peer=self.name, case=dict(case))

    def start(self, case: Mapping[str, Any], quantity: str, environments: int) -> list[Run]:
        """What advances all environments, or evaluates a quantity; and calls whose time is taken off, if there are."""
        of_case = {"case": dict(case), "quantity": quantity, "environments": environments}
        answer = self.process.ask(request="start", peer=self.name, **of_case)
        return [partial(self._run, case["device"], place) for place in range(answer["runs"])]

    def _run(self, device: str, place: int, count: int) -> float:
        return self.process.ask(request="run", peer=self.name, device=device, run=place, count=count)["seconds"]


def start_peers(pythons: Sequence[str], wanted: Iterable[str], must_be_there: bool) -> list[RemotePeer]:
    """The wanted peers that are installed; of those in several Pythons, the first one."""
    if not FOLDER.is_dir():
        if must_be_there and (names := ", ".join(wanted)):
            raise SettingsError(f"peers: {names}: peers are measured from a checkout; the installed package has none")
        return []
    pythons = list(dict.fromkeys([sys.executable, *pythons]))
    found: dict[str, RemotePeer] = {}
    for module, processes in [(module, [PeerProcess(python, module) for python in pythons]) for module in wanted]:
        if must_be_there and not any(process.peers for process in processes):
            raise SettingsError(f"peers: {module} is not installed in {' or '.join(pythons)}")
        for process in processes:
            new = {name: peer for name, peer in process.peers.items() if name not in found}
            found |= {name: RemotePeer(name, process=process, **peer) for name, peer in new.items()}
            if not new:
                process.close()
    return list(found.values())

"""Processes that measure peers, each with the Python that has them: a line of JSON to ask, a line to answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from warp_artic.cli.bench_peers.case import Case
from warp_artic.errors import SettingsError

FOLDER = Path(__file__).parent / "bench_peers"
STOPPED = "its process has stopped"


class PeerProcess:
    """The peers of one Python."""

    def __init__(self, python: str, wanted: list[str]):
        self._command = [python, str(FOLDER), *wanted]
        self.labels: dict[str, str] = {}
        """Peers by their names, and what they call themselves."""
        self._start()
        if not self.labels and self._process.poll() is not None:
            raise SettingsError(f"peer-python: {python} does not run {FOLDER}")

    def ask(self, peer: str, quantity: str, case: Case, **options) -> dict:
        """Times or accelerations of a peer, or {"not_simulated": why}."""
        answer = self._ask({"peer": peer, "quantity": quantity, "case": asdict(case), **options})
        if answer is None:  # a crash of one library is its own row's
            self._process.wait()
            self._start()
            return {"not_simulated": STOPPED}
        return answer

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
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
        line = self._process.stdout.readline()
        self.labels = json.loads(line) if line else {}

    def _ask(self, request: dict) -> dict | None:
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            return None
        return json.loads(line) if line else None


def start_peers(pythons: list[str], wanted: list[str]) -> dict[str, PeerProcess]:
    """The process of each wanted peer that is installed; of those in several Pythons, the first one."""
    found: dict[str, PeerProcess] = {}
    for python in dict.fromkeys([sys.executable, *pythons]):
        process = PeerProcess(python, wanted)
        new = {name: process for name in process.labels if name not in found}
        found |= new
        if not new:
            process.close()
    return found

"""Answers requests about the peers that this Python has: a line of JSON for each line of JSON, until input ends.

Started as `python .../bench_peers mujoco newton`, so that a peer may live in an environment of its own, without
warp_artic.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from importlib import import_module

from case import Case, NotSimulatedError
from peer import Peer
from timing import CLOCKS, measure


def main(wanted: list[str]) -> None:
    """Say which of the wanted peers there are, then answer."""
    # What libraries print goes past the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(content) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    peers = {name: peer for module in wanted for name, peer in import_module(f"of_{module}").PEERS.items()}
    say({name: peer.label for name, peer in peers.items()})
    for line in sys.stdin:
        request = json.loads(line)
        say(answer(peers[request["peer"]], Case(**request["case"]), request))


def answer(peer: Peer, case: Case, request: dict) -> dict:
    """Times or accelerations, or why there are none."""
    missing = [feature for feature in case.features if feature in peer.ignores]
    try:
        if case.device != "cpu" and not peer.has_gpu:
            raise NotSimulatedError("runs on the CPU alone")
        if request["quantity"] == "acceleration":
            return {"acceleration": peer.acceleration(case), "ignores": missing}
        environments, clock = request["environments"], CLOCKS[request["clock"]]
        steps = peer.make(case, environments)
        return {"times": measure(steps, environments, request["repeats"], request["seconds"], clock=clock)}
    except NotSimulatedError as reason:
        return {"not_simulated": str(reason)}
    except Exception as error:  # of any library: it is said in the row, and the others go on
        traceback.print_exc()
        return {"not_simulated": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}


if __name__ == "__main__":
    main(sys.argv[1:])

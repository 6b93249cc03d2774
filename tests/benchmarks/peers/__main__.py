"""Answers requests about a peer that this Python has: a line of JSON for each line of JSON, until input ends.

Started as `python .../peers mujoco`, so that a peer may live in an environment of its own, without warp_artic.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from importlib import import_module

from case import Case, NotSimulatedError
from peer import Advance, Peer

STARTED: dict[tuple[str, str], list[Advance]] = {}
"""What is being measured, by peer and device: a library may have several solvers."""


def main(module: str) -> None:
    """Say which peers there are, then answer."""
    # What libraries print goes past the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(content) -> None:
        answers.write(json.dumps(content) + "\n")
        answers.flush()

    peers = import_module(f"of_{module}").PEERS
    say({name: {"label": peer.label, "has_dynamics": peer.dynamics is not None} for name, peer in peers.items()})
    for line in sys.stdin:
        request = json.loads(line)
        say(answer(peers[request["peer"]], request))


def answer(peer: Peer, request: dict) -> dict:
    """What is asked for, or why it is not to be had."""
    try:
        return ANSWERS[request["request"]](peer, request)
    except NotSimulatedError as reason:
        return {"not_simulated": str(reason)}
    except Exception as error:  # of any library: it is said in the row, and the others go on
        traceback.print_exc()
        return {"not_simulated": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}


def _accelerate(peer: Peer, request: dict) -> dict:
    case = _case(peer, request)
    missing = [feature for feature in case.features if feature in peer.ignores]
    return {"acceleration": peer.acceleration(case), "ignores": missing}


def _start(peer: Peer, request: dict) -> dict:
    """Make steps or a quantity of the dynamics suite ready to run, in place of what was before on the device."""
    case, quantity, environments = _case(peer, request), request["quantity"], request["environments"]
    place = request["peer"], case.device
    STARTED.pop(place, None)
    if quantity == "step":
        advance = peer.make(case, environments)
        advance(case.settled)
        STARTED[place] = [advance]
    else:
        STARTED[place] = list(peer.dynamics(case, quantity, environments))
    return {"runs": len(STARTED[place])}


def _run(_peer: Peer, request: dict) -> dict:
    advance = STARTED[request["peer"], request["device"]][request["run"]]
    begin = time.perf_counter()
    advance(request["count"])
    return {"seconds": time.perf_counter() - begin}


def _case(peer: Peer, request: dict) -> Case:
    case = Case(**request["case"])
    if case.device != "cpu" and not peer.has_gpu:
        raise NotSimulatedError("runs on the CPU alone")
    return case


ANSWERS = {"accelerate": _accelerate, "start": _start, "run": _run}

if __name__ == "__main__":
    main(sys.argv[1])

"""MuJoCo Warp: its step captured in a graph, on a CPU as on a GPU; single precision."""

from __future__ import annotations

import numpy as np
from case import Case
from of_mujoco import joint_values, model_of, start_of
from peer import Peer

try:
    import mujoco
    import mujoco_warp
    import warp as wp
except ImportError:
    mujoco_warp = None


def _data(case: Case, positions: dict[str, float], environments: int):
    wp.set_device(case.device)
    host = model_of(case)
    data = start_of(case, host, positions)
    mujoco.mj_forward(host, data)
    return host, mujoco_warp.put_model(host), mujoco_warp.put_data(host, data, nworld=environments)


def _make(case: Case, environments: int):
    _, model, data = _data(case, case.start, environments)
    mujoco_warp.step(model, data)
    with wp.ScopedCapture() as capture:
        mujoco_warp.step(model, data)

    def advance(count: int) -> None:
        for _ in range(count):
            wp.capture_launch(capture.graph)
        wp.synchronize()
        if not np.isfinite(data.qpos.numpy()).all():
            raise FloatingPointError("positions are not finite")

    return advance


def _acceleration(case: Case) -> dict[str, float]:
    host, model, data = _data(case, case.inside, 1)
    mujoco_warp.forward(model, data)
    return joint_values(case, host, data.qacc.numpy()[0])


PEERS = {}
if mujoco_warp is not None:
    wp.config.quiet = True
    PEERS["mujoco_warp"] = Peer(f"MuJoCo Warp {mujoco_warp.__version__}, float32", _make, _acceleration, has_gpu=True)

"""The benchmark models in other simulators that are installed: the same start and the same drive targets.

Each peer gives a function that advances all environments by a number of steps, on one thread, in double precision; or
None when it is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from warp_artic.description.drive import Drive
from warp_artic.description.scene import Scene

try:
    import mujoco
    from mujoco import rollout
except ImportError:
    mujoco = None

try:
    import pinocchio
except ImportError:
    pinocchio = None


def mujoco_steps(xml: Path, scene: Scene, environments: int) -> Callable[[int], None] | None:
    """MuJoCo, C rollout: drives, limits, fixed tendons and mimic joints."""
    if mujoco is None:
        return None
    model = mujoco.MjModel.from_xml_path(str(xml))
    data = mujoco.MjData(model)
    start, targets = _start(scene), _targets(scene)
    for joint in range(model.njnt):
        name = model.joint(joint).name
        if name in start:
            data.qpos[model.jnt_qposadr[joint]] = start[name]
    for actuator in range(model.nu):
        data.ctrl[actuator] = targets[model.joint(model.actuator_trnid[actuator, 0]).name]
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, state, full)
    initial = np.tile(state, (environments, 1))
    control = np.tile(data.ctrl, (1, 1, 1))
    return lambda steps: rollout.rollout(model, [data], initial, control, nstep=steps)


def pinocchio_steps(xml: Path, scene: Scene, environments: int) -> Callable[[int], None] | None:
    """Pinocchio, articulated-body algorithm in C++ and Euler steps in NumPy: drives, no limits or couplings."""
    if pinocchio is None:
        return None
    model = pinocchio.buildModelFromMJCF(str(xml))
    pool = pinocchio.ModelPool(model, 1)
    start, targets, gains = _start(scene), _targets(scene), _gains(scene)
    q, v, tau, a = (np.zeros((size, environments), order="F") for size in (model.nq, model.nv, model.nv, model.nv))
    q[:] = pinocchio.neutral(model)[:, None]
    rows = [(model.names[j], model.joints[j].idx_q, model.joints[j].idx_v) for j in range(1, model.njoints)]
    rows = [(name, iq, iv) for name, iq, iv in rows if name in start]
    iq, iv = np.array([row[1] for row in rows]), np.array([row[2] for row in rows])
    q[iq] = np.array([start[name] for name, _, _ in rows])[:, None]
    target = np.array([targets[name] for name, _, _ in rows])[:, None]
    stiffness, damping = (np.array([gains[name][k] for name, _, _ in rows])[:, None] for k in (0, 1))
    floating = model.nq != model.nv
    dt = 1.0 / 240.0

    def advance(steps: int) -> None:
        for _ in range(steps):
            tau[iv] = stiffness * (target - q[iq]) - damping * v[iv]
            pinocchio.abaInParallel(1, pool, q, v, tau, a)
            v[:] += dt * a
            q[iq] += dt * v[iv]
            if floating:
                _advance_root(q, v, dt)

    return advance


def _advance_root(q: np.ndarray, v: np.ndarray, dt: float) -> None:
    """Move a floating root: its velocity is in its own axes, its quaternion xyzw in rows 3 to 6 of q."""
    u, w = q[3:6], q[6]
    cross = 2.0 * np.cross(u, v[:3], axis=0)
    q[:3] += dt * (v[:3] + w * cross + np.cross(u, cross, axis=0))
    turn = 0.5 * dt * v[3:6]
    q[3:6], q[6] = u + w * turn + np.cross(u, turn, axis=0), w - (u * turn).sum(axis=0)
    q[3:7] /= np.linalg.norm(q[3:7], axis=0)


def _dofs(scene: Scene) -> list:
    return [dof for tree in scene.articulations for dof in tree.dofs]


def _start(scene: Scene) -> dict[str, float]:
    return {dof.name.rpartition("/")[2]: dof.position for dof in _dofs(scene)}


def _targets(scene: Scene) -> dict[str, float]:
    return {dof.name.rpartition("/")[2]: (dof.drive or Drive()).position_target for dof in _dofs(scene)}


def _gains(scene: Scene) -> dict[str, tuple[float, float]]:
    drives = {dof.name.rpartition("/")[2]: dof.drive or Drive() for dof in _dofs(scene)}
    return {name: (drive.stiffness, drive.damping) for name, drive in drives.items()}

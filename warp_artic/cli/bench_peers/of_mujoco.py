"""MuJoCo, C: `mujoco.rollout` in double precision on one thread."""

from __future__ import annotations

import numpy as np
from case import Case
from peer import Peer
from timing import SETTLED

try:
    import mujoco
    from mujoco import rollout
except ImportError:
    mujoco = None


def model_of(case: Case):
    """The model with the time step of the case."""
    model = mujoco.MjModel.from_xml_path(case.xml)
    model.opt.timestep = case.dt
    return model


def start_of(case: Case, model, positions: dict[str, float]):
    """Data at rest at the given joint positions, with the targets of the drives."""
    data = mujoco.MjData(model)
    for joint in range(model.njnt):
        name = model.joint(joint).name
        if name in positions:
            data.qpos[model.jnt_qposadr[joint]] = positions[name]
    for actuator in range(model.nu):
        data.ctrl[actuator] = case.targets[model.joint(model.actuator_trnid[actuator, 0]).name]
    return data


def joint_values(case: Case, model, values) -> dict[str, float]:
    """Of values for all dofs, those of the joints by name."""
    places = {model.joint(joint).name: model.jnt_dofadr[joint] for joint in range(model.njnt)}
    return {name: float(values[places[name]]) for name in case.start}


def _make(case: Case, environments: int):
    model = model_of(case)
    data = start_of(case, model, case.start)
    mujoco.mj_step(model, data, SETTLED)  # each call of a rollout begins there
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, state, full)
    initial = np.tile(state, (environments, 1))
    control = np.tile(data.ctrl, (1, 1, 1))

    def advance(count: int) -> None:
        rollout.rollout(model, [data], initial, control, nstep=count)
        if any(warning.number for warning in data.warning):
            raise FloatingPointError("the simulation is unstable")

    return advance


def _acceleration(case: Case) -> dict[str, float]:
    model = model_of(case)
    data = start_of(case, model, case.inside)
    mujoco.mj_forward(model, data)
    return joint_values(case, model, data.qacc)


PEERS = {}
if mujoco is not None:
    PEERS["mujoco"] = Peer(f"MuJoCo C {mujoco.__version__}, float64", _make, _acceleration)

"""MuJoCo, C, in double precision on one thread: `mujoco.rollout`, and functions of its dynamics in a loop in C."""

from __future__ import annotations

import ctypes

import numpy as np
from case import Case, NotSimulatedError
from peer import Advance, Peer

try:
    import mujoco
    from mujoco import rollout
except ImportError:
    mujoco = None

try:
    from c_loop import Writer, c_loop
except ImportError:  # Warp, which compiles the loop, is not there
    c_loop = None

POSITIONS = ("mj_kinematics", "mj_comPos")
"""What is computed before each quantity."""


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
    mujoco.mj_step(model, data, case.settled)  # each call of a rollout begins there
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


def _dynamics(case: Case, quantity: str, environments: int) -> tuple[Advance]:
    """Kinematics and mj_crb, mj_fullM; mj_rne; mj_jacBodyCom of each body."""
    if c_loop is None:
        raise NotSimulatedError("calling it from C takes Warp, which this Python does not have")
    model = model_of(case)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return (dynamics_loop(model, data, quantity, environments)[0],)


def dynamics_loop(model, data, quantity: str, environments: int) -> tuple[Advance, np.ndarray]:
    """The calls, and the results of all environments, shape (environments, items, size)."""
    functions, writer, form, option, items, size = {
        "mass_matrix": ((*POSITIONS, "mj_crb"), "mj_fullM", Writer.RESULT, 0, 1, model.nv**2),
        "bias_force": ((*POSITIONS, "mj_comVel"), "mj_rne", Writer.OPTION_RESULT, 0, 1, model.nv),
        "joint_force": ((*POSITIONS, "mj_comVel"), "mj_rne", Writer.OPTION_RESULT, 1, 1, model.nv),
        "jacobian": (POSITIONS, "mj_jacBodyCom", Writer.HALVES_ITEM, 0, model.nbody - 1, 6 * model.nv),
    }[quantity]
    library = ctypes.CDLL(mujoco._functions.__file__)

    def address(name: str) -> int:
        return ctypes.cast(getattr(library, name), ctypes.c_void_p).value

    results = np.zeros((environments, items, size))
    loop = c_loop([address(name) for name in functions], address(writer), form, results, option)
    return lambda count: loop(model._address, data._address, count), results


PEERS = {}
if mujoco is not None:
    PEERS["mujoco"] = Peer(f"MuJoCo C {mujoco.__version__}, float64", _make, _acceleration, _dynamics)

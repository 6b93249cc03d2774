"""The dynamics suite for `warp-artic bench`: ours, and the same quantities by peers that are installed.

Like with like: each leaves the results of all environments in memory, ours in its precision, peers in double precision.
Ours reads the state of each environment; peers evaluate one state again and again, which spares them the copies.
MuJoCo's functions are called in a loop in C, as is inverse dynamics in Pinocchio. Its other functions are called from
Python for each environment, which weighs as much as a model: each comes with the same calls on a model of one hinge,
whose time is taken off. That takes off the work for one hinge, too, in favour of the peer.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warp_artic.sim.c_loop import Writer, c_loop
from warp_artic.sim.device import wait_for
from warp_artic.sim.simulation import Simulation

try:
    import mujoco
except ImportError:
    mujoco = None

try:
    import pinocchio
except ImportError:
    pinocchio = None

POSITIONS = ("mj_kinematics", "mj_comPos")
"""What MuJoCo computes before each quantity."""

Evaluate = Callable[[int], None]
"""Computes a quantity that many times, in all environments."""


@dataclass(frozen=True)
class Peer:
    """A quantity of a peer."""

    evaluate: Evaluate
    calls: Evaluate | None = None
    """The same calls on a model of one hinge."""


def ours(simulation: Simulation, quantity: str) -> Evaluate:
    """A method of the suite, with memory that is used again."""
    method = getattr(simulation, quantity)
    given = (simulation.gravity_force(),) if quantity == "joint_force" else ()
    result = method(*given)

    def evaluate(count: int) -> None:
        for _ in range(count):
            method(*given, out=result)
        wait_for(simulation.device)

    return evaluate


def mujoco_dynamics(xml: Path, quantity: str, environments: int) -> Peer | None:
    """MuJoCo: kinematics and mj_crb, mj_fullM; mj_rne; mj_jacBodyCom of each body."""
    if mujoco is None:
        return None
    model = mujoco.MjModel.from_xml_path(str(xml))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    evaluate, _ = mujoco_loop(model, data, quantity, environments)
    return Peer(evaluate)


def mujoco_loop(model, data, quantity: str, environments: int) -> tuple[Evaluate, np.ndarray]:
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


def pinocchio_dynamics(xml: Path, quantity: str, environments: int) -> Peer | None:
    """Pinocchio: crba; rnea; computeJointJacobians, and getJointJacobian of each joint."""
    if pinocchio is None:
        return None
    model = pinocchio.buildModelFromMJCF(str(xml))
    if quantity in ("bias_force", "joint_force"):
        return Peer(_rnea(model, environments))
    hinge = pinocchio.Model()
    hinge.addJoint(0, pinocchio.JointModelRX(), pinocchio.SE3.Identity(), "joint")
    return Peer(*(_pinocchio_calls(each, quantity, model.njoints, environments) for each in (model, hinge)))


def _pinocchio_calls(model, quantity: str, joints: int, environments: int) -> Evaluate:
    data, q = model.createData(), pinocchio.neutral(model)
    axes, last = pinocchio.LOCAL_WORLD_ALIGNED, model.njoints - 1
    matrices = list(np.zeros((environments, model.nv, model.nv)))
    size = (6, model.nv) if model.nv > 1 else (6,)
    jacobians = [list(parts) for parts in np.zeros((environments, joints - 1, *size))]
    indices = [min(joint, last) for joint in range(1, joints)]

    def mass_matrix(count: int) -> None:
        for _ in range(count):
            for matrix in matrices:
                matrix[:] = pinocchio.crba(model, data, q)

    def jacobian(count: int) -> None:
        for _ in range(count):
            for parts in jacobians:
                pinocchio.computeJointJacobians(model, data, q)
                for joint, part in zip(indices, parts):
                    part[:] = pinocchio.getJointJacobian(model, data, joint, axes)

    return {"mass_matrix": mass_matrix, "jacobian": jacobian}[quantity]


def _rnea(model, environments: int) -> Evaluate:
    pool = pinocchio.ModelPool(model, 1)
    q = np.asfortranarray(np.tile(pinocchio.neutral(model)[:, None], (1, environments)))
    v, a, effort = (np.zeros((model.nv, environments), order="F") for _ in range(3))

    def evaluate(count: int) -> None:
        for _ in range(count):
            pinocchio.rneaInParallel(1, pool, q, v, a, effort)

    return evaluate

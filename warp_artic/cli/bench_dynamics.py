"""The dynamics suite for `warp-artic bench`: ours, and the same quantities by peers that are installed.

Peers compute one environment a call, so that a call from Python weighs as much as a small model. Each of their
functions comes with the same calls on a model of one hinge, whose time is taken off. Pinocchio has a loop in C++ for
inverse dynamics, from which nothing is taken off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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

HINGE = """<mujoco><worldbody><body>
<joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
</body></worldbody></mujoco>"""

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
    models = mujoco.MjModel.from_xml_path(str(xml)), mujoco.MjModel.from_xml_string(HINGE)
    return Peer(*(_repeated(_mujoco_calls(model, quantity, models[0].nbody), environments) for model in models))


def _mujoco_calls(model, quantity: str, bodies: int) -> Callable[[], None]:
    data = mujoco.MjData(model)
    matrix, result = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    last = model.nbody - 1

    def mass_matrix() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_crb(model, data)
        mujoco.mj_fullM(model, data, matrix)

    def efforts(with_acceleration: int) -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        mujoco.mj_rne(model, data, with_acceleration, result)

    def jacobian() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        for body in range(1, bodies):
            mujoco.mj_jacBodyCom(model, data, linear, angular, min(body, last))

    mujoco.mj_forward(model, data)
    return {
        "mass_matrix": mass_matrix,
        "bias_force": lambda: efforts(0),
        "jacobian": jacobian,
        "joint_force": lambda: efforts(1),
    }[quantity]


def pinocchio_dynamics(xml: Path, quantity: str, environments: int) -> Peer | None:
    """Pinocchio: crba; rnea; computeJointJacobians, and getJointJacobian of each joint."""
    if pinocchio is None:
        return None
    model = pinocchio.buildModelFromMJCF(str(xml))
    if quantity in ("bias_force", "joint_force"):
        return Peer(_rnea(model, environments))
    hinge = pinocchio.Model()
    hinge.addJoint(0, pinocchio.JointModelRX(), pinocchio.SE3.Identity(), "joint")
    calls = (_pinocchio_calls(each, quantity, model.njoints) for each in (model, hinge))
    return Peer(*(_repeated(call, environments) for call in calls))


def _pinocchio_calls(model, quantity: str, joints: int) -> Callable[[], None]:
    data, q = model.createData(), pinocchio.neutral(model)
    axes, last = pinocchio.LOCAL_WORLD_ALIGNED, model.njoints - 1

    def jacobian() -> None:
        pinocchio.computeJointJacobians(model, data, q)
        for joint in range(1, joints):
            pinocchio.getJointJacobian(model, data, min(joint, last), axes)

    return {"mass_matrix": lambda: pinocchio.crba(model, data, q), "jacobian": jacobian}[quantity]


def _rnea(model, environments: int) -> Evaluate:
    pool = pinocchio.ModelPool(model, 1)
    q = np.asfortranarray(np.tile(pinocchio.neutral(model)[:, None], (1, environments)))
    v, a, effort = (np.zeros((model.nv, environments), order="F") for _ in range(3))

    def evaluate(count: int) -> None:
        for _ in range(count):
            pinocchio.rneaInParallel(1, pool, q, v, a, effort)

    return evaluate


def _repeated(call: Callable[[], None], environments: int) -> Evaluate:
    def evaluate(count: int) -> None:
        for _ in range(count * environments):
            call()

    return evaluate

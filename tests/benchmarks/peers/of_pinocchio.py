"""Pinocchio, in double precision on one thread: the articulated-body algorithm in C++ for all environments, and Euler
steps in NumPy; inverse dynamics in C++, and the other functions of its dynamics called from Python."""

from __future__ import annotations

import numpy as np
from case import Case, NotSimulatedError
from peer import Advance, Peer

try:
    import pinocchio
except ImportError:
    pinocchio = None


def _state(case: Case, positions: dict[str, float], environments: int):
    """Model, positions and velocities of all environments, and the rows of the named joints in both."""
    if "several robots" in case.features:
        raise NotSimulatedError("one robot a model")
    model = pinocchio.buildModelFromMJCF(case.xml)
    q, v = (np.zeros((size, environments), order="F") for size in (model.nq, model.nv))
    q[:] = pinocchio.neutral(model)[:, None]
    joints = [model.joints[model.getJointId(name)] for name in positions]
    iq, iv = np.array([joint.idx_q for joint in joints]), np.array([joint.idx_v for joint in joints])
    q[iq] = np.array(list(positions.values()))[:, None]
    return model, q, v, iq, iv


def _efforts(case: Case, own_damping: np.ndarray):
    """Of drives, and of the damping of joints, which `aba` leaves out."""
    target = np.array([case.targets[name] for name in case.start])[:, None]
    stiffness, damping = (np.array([case.gains[name][k] for name in case.start])[:, None] for k in (0, 1))
    damping = damping + own_damping[:, None]
    return lambda q, v: stiffness * (target - q) - damping * v


def _make(case: Case, environments: int):
    model, q, v, iq, iv = _state(case, case.start, environments)
    pool, efforts = pinocchio.ModelPool(model, 1), _efforts(case, model.damping[iv])
    tau, a = (np.zeros((model.nv, environments), order="F") for _ in range(2))
    floating, dt = model.nq != model.nv, case.dt

    def advance(count: int) -> None:
        for _ in range(count):
            tau[iv] = efforts(q[iq], v[iv])
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


def _acceleration(case: Case) -> dict[str, float]:
    model, q, v, iq, iv = _state(case, case.inside, 1)
    tau = np.zeros(model.nv)
    tau[iv] = _efforts(case, model.damping[iv])(q[iq], v[iv])[:, 0]
    a = pinocchio.aba(model, model.createData(), q[:, 0], v[:, 0], tau)
    return dict(zip(case.inside, a[iv].tolist()))


def _dynamics(case: Case, quantity: str, environments: int) -> tuple[Advance, ...]:
    """crba; rnea; computeJointJacobians, and getJointJacobian of each joint."""
    model = pinocchio.buildModelFromMJCF(case.xml)
    if quantity in ("bias_force", "joint_force"):
        return (_rnea(model, environments),)
    hinge = pinocchio.Model()
    hinge.addJoint(0, pinocchio.JointModelRX(), pinocchio.SE3.Identity(), "joint")
    return tuple(_calls(each, quantity, model.njoints, environments) for each in (model, hinge))


def _calls(model, quantity: str, joints: int, environments: int) -> Advance:
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


def _rnea(model, environments: int) -> Advance:
    pool = pinocchio.ModelPool(model, 1)
    q = np.asfortranarray(np.tile(pinocchio.neutral(model)[:, None], (1, environments)))
    v, a, effort = (np.zeros((model.nv, environments), order="F") for _ in range(3))

    def advance(count: int) -> None:
        for _ in range(count):
            pinocchio.rneaInParallel(1, pool, q, v, a, effort)

    return advance


PEERS = {}
if pinocchio is not None:
    PEERS["pinocchio"] = Peer(
        f"Pinocchio {pinocchio.__version__}, float64",
        _make,
        _acceleration,
        _dynamics,
        ignores=("limits", "fixed tendons", "mimic joints"),
    )

"""The potential of drives of joints with two or three rotations, by SciPy's rotations and finite differences.

    U = sum k_i e_i^2 / 2,   e = 4 sin(theta / 4) n
of the shortest turn theta n from the pose to the target: of q^-1 q*, and with two rotations of a^-1 q* a^-1, a a = q.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from tests.oracles import joint_motion
from warp_artic.description.joint import Joint


def errors(joint: Joint, q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """e of public positions (..., dofs), in the axes of the joint, shape (..., dofs)."""
    axes = joint_motion.free_axes(joint)
    q, target = np.broadcast_arrays(np.asarray(q, float), np.asarray(target, float))
    pose, wanted = (np.zeros((q.size // len(axes), 3)) for _ in range(2))
    pose[:, axes], wanted[:, axes] = q.reshape(-1, len(axes)), target.reshape(-1, len(axes))
    if len(axes) == 2:
        half = Rotation.from_rotvec(0.5 * pose).inv()
        turn = (half * Rotation.from_rotvec(wanted) * half).as_rotvec()
    else:
        turn = (Rotation.from_rotvec(pose).inv() * Rotation.from_rotvec(wanted)).as_rotvec()
    theta = np.linalg.norm(turn, axis=1, keepdims=True)
    scale = np.where(theta > 1e-9, 4.0 * np.sin(0.25 * theta) / np.maximum(theta, 1e-9), 1.0)
    return (scale * turn)[:, axes].reshape(q.shape)


def spring_energy(joint: Joint, stiffness, q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Energy of the drives of any joint at public positions (..., dofs), shape (...)."""
    stiffness, q, target = (np.asarray(values, float) for values in (stiffness, q, target))
    together = np.array([joint.has_vector and not dof.axis.is_linear for dof in joint.dofs])
    alone = 0.5 * (stiffness * (q - target) ** 2)[..., ~together].sum(axis=-1)
    if not together.any():
        return alone
    turns = replace(joint, dofs=joint.rotations)
    return alone + potential(turns, stiffness[together], q[..., together], target[together])


def potential(joint: Joint, stiffness, q: np.ndarray, target: np.ndarray) -> np.ndarray:
    """U, shape (...)."""
    return 0.5 * (np.asarray(stiffness) * errors(joint, q, target) ** 2).sum(axis=-1)

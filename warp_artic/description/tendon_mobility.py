"""The mobility of fixed tendons at the start:  c^T Q M^-1 Q^T r,  M = sum J^T diag(m, I_C) J + armature,  qdot = Q v.

It is the change of the rate of the length that a unit of force causes. Where it is not positive the force of the tendon
drives the length on instead of back, and the tendon gains energy.
"""

from __future__ import annotations

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.massless_links import with_massless_links
from warp_artic.description.pose import Pose
from warp_artic.description.start_pose import displacement, start_poses

ROUNDING = 1e-9
"""Share of the mobility that a tendon with r along c would have, below which its own is zero."""


def not_opposing(articulation: Articulation) -> dict[str, float]:
    """The mobilities [1/kg] of the enabled tendons whose mobility is not positive at the start, by name."""
    tendons = [tendon for tendon in articulation.fixed_tendons if tendon.enabled]
    if not tendons:
        return {}
    articulation = with_massless_links(articulation)
    M = mass_matrix(articulation, Pose())  # a mobility does not depend on where the tree is
    Q = _position_rates(articulation, len(M) - len(articulation.dofs))
    first = len(M) - len(articulation.dofs)
    found = {}
    for tendon in tendons:
        c, r = np.zeros((2, len(M)))
        dofs = first + np.array(tendon.dofs)
        np.add.at(c, dofs, tendon.coefficients)
        np.add.at(r, dofs, tendon.force_coefficients)
        c, r = Q.T @ c, Q.T @ r
        by_c, by_r = np.linalg.lstsq(M, np.column_stack([c, r]), rcond=None)[0].T
        mobility, largest = c @ by_r, np.sqrt(max(c @ by_c, 0.0) * max(r @ by_r, 0.0))
        if largest > 0.0 and mobility <= ROUNDING * largest:
            found[tendon.name] = float(mobility)
    return found


def mass_matrix(articulation: Articulation, root: Pose | None = None) -> np.ndarray:
    """M at the start; six rows first on a floating base: velocity of a point of its root, then angular velocity.

    The root link is as it starts, or at another pose.
    """
    articulation = with_massless_links(articulation)
    poses, inbound = start_poses(articulation, root), articulation.inbound
    roots = 6 if articulation.is_floating else 0
    ends = np.cumsum([roots, *(len(joint.dofs) for joint in articulation.joints)])
    starts = {joint.child: start for joint, start in zip(articulation.joints, ends)}
    M = np.diag([*np.zeros(roots), *(dof.armature for dof in articulation.dofs)])
    for index, link in enumerate(articulation.links):
        center = np.asarray(poses[index].apply(link.center_of_mass))
        J = np.zeros((6, len(M)))
        at = index
        while at != WORLD:
            joint = inbound[at]
            if joint is None:
                J[:, :6] = _at(center - np.asarray(poses[at].position), np.eye(6))
                break
            X_WM = poses[at] @ joint.child_frame
            start = starts[at]
            J[:, start : start + len(joint.dofs)] = _at(center - np.asarray(X_WM.position), _axes(joint, X_WM))
            at = joint.parent
        R = poses[index].rotation
        M += link.mass * J[:3].T @ J[:3]
        M += J[3:].T @ R @ link.inertia_matrix @ R.T @ J[3:]
    return M


def _position_rates(articulation: Articulation, roots: int) -> np.ndarray:
    """Q: velocities to rates of positions, the identity but for joints with several rotations."""
    Q, start = np.eye(roots + len(articulation.dofs)), roots
    for joint in articulation.joints:
        own = slice(start, start + len(joint.dofs))
        if len(joint.dofs) > 1:
            axes = [dof.axis.index for dof in joint.dofs]
            sign = -1.0 if joint.reversed else 1.0
            phi = np.zeros(3)
            phi[axes] = [sign * dof.position for dof in joint.dofs]
            Q[own, own] = sign * (_vector_rates(phi) @ _axes(joint, Pose())[3:])[axes]
        start = own.stop
    return Q


def _vector_rates(phi: np.ndarray) -> np.ndarray:
    """Jr^-1: the angular velocity in M to the rate of the rotation vector phi of R_FM, shape (3, 3)."""
    cross = np.array([[0.0, -phi[2], phi[1]], [phi[2], 0.0, -phi[0]], [-phi[1], phi[0], 0.0]])
    angle = float(np.linalg.norm(phi))
    weight = 1.0 / 12.0 if angle < 1e-4 else (1.0 - 0.5 * angle / np.tan(0.5 * angle)) / angle**2
    return np.eye(3) + 0.5 * cross + weight * cross @ cross


def _axes(joint: Joint, X_WM: Pose) -> np.ndarray:
    """Linear and angular velocity of M by the velocities of the dofs, world axes, shape (6, dofs).

    Two free swings keep the twist component of the rotation vector: with the quaternion (x, w) of R_FM, that of
    w omega + x cross omega is zero.
    """
    H = np.zeros((6, len(joint.dofs)))
    rows = [dof.axis.index + (0 if dof.axis.is_linear else 3) for dof in joint.dofs]
    H[rows, range(len(rows))] = -1.0 if joint.reversed else 1.0
    if len(rows) == 2:
        *x, w = displacement(joint).quaternion
        locked = ({3, 4, 5} - set(rows)).pop()
        H[locked] = -np.cross(x, H[3:].T)[:, locked - 3] / w
    return np.vstack([X_WM.rotation @ H[:3], X_WM.rotation @ H[3:]])


def _at(arm: np.ndarray, motions: np.ndarray) -> np.ndarray:
    """Motions (6, n) of a point as those of another point of the same body, `arm` away."""
    return np.vstack([motions[:3] + np.cross(motions[3:].T, arm).T, motions[3:]])

"""Tangent coordinates: small motions in the axes of velocities, and what they make of positions.

A dof with one axis moves by its own coordinate. For the others there is a matrix T(q) of each joint, by which positions
change with motions, as they do with velocities:  qdot = T(q) v.
- A ball joint has its rotation vector, in the axes of the moving frame (`joints.spherical.rates`); a joint with both
  swings free has two of its components (`joints.swing.rates`).
- A floating root has the displacement of its centre of mass and its rotation vector, both in world axes; its pose is
  that of the link frame, p_L = p_C - R c, with the quaternion at the rate of half of (w, 0) times itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warp_artic.mechanisms.group import Group
from warp_artic.model.kinds import JointKind

SMALL = 0.2
"""Angle below which series stand for quotients [rad], as in `joints.spherical`."""
FAR = 2.5
"""Swing up to which the velocity across it is that of the angular velocity, see `joints.swing` [rad]."""


@dataclass(frozen=True)
class JointMap:
    """T of one joint with several rotations."""

    rows: tuple[int, ...]
    """Of joint positions."""
    rates: np.ndarray
    """Shape (columns, rows, rows)."""

    def positions(self, motion: np.ndarray) -> np.ndarray:
        """Changes of positions by motions, both of shape (rows, columns, directions)."""
        return np.einsum("crs,sck->rck", self.rates, motion)

    def motions(self, change: np.ndarray) -> np.ndarray:
        """Motions of changes of positions."""
        return np.linalg.solve(self.rates, change.transpose(1, 0, 2)).transpose(1, 0, 2)


def joint_maps(group: Group, position: np.ndarray) -> list[JointMap]:
    """T of all joints with several rotations at positions of shape (joint dofs, columns)."""
    tree, found = group.tree, []
    signs = group.parameters["dof_sign"].scalars.numpy()[:, 0]
    for link, kind in enumerate(tree.kind):
        if kind not in (JointKind.SPHERICAL, JointKind.SWING):
            continue
        first = tree.first_dof[link]
        rows = tuple(range(first - tree.root_dofs, first - tree.root_dofs + tree.dof_counts[link]))
        axes = [tree.dof_axis[first + k] for k in range(len(rows))]
        sign = signs[list(rows)]
        phi = np.zeros((position.shape[1], 3))
        phi[:, axes] = (sign[:, None] * position[list(rows)]).T
        rates = ball_rates(phi) if kind is JointKind.SPHERICAL else swing_rates(phi)
        found.append(JointMap(rows, sign[:, None] * rates[:, axes][:, :, axes] * sign))
    return found


def ball_rates(phi: np.ndarray) -> np.ndarray:
    """T of rotation vectors (columns, 3)."""
    square = (phi * phi).sum(axis=1)
    theta = np.sqrt(np.where(square > SMALL**2, square, 1.0))
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square / 1209600))
    c = np.where(square > SMALL**2, (1.0 - 0.5 * theta / np.tan(0.5 * theta)) / theta**2, series)
    cross = np.cross(phi[:, None, :], np.eye(3)).transpose(0, 2, 1)
    return np.eye(3) + 0.5 * cross + c[:, None, None] * (cross @ cross)


def swing_rates(phi: np.ndarray) -> np.ndarray:
    """T of swings (columns, 3), of which the third component is zero."""
    a, b = phi[:, 0], phi[:, 1]
    z = a * a + b * b
    theta = np.sqrt(np.where(z > SMALL**2, z, 1.0))
    half = 0.5 * theta
    folded = np.minimum(theta, 2.0 * np.pi - theta)
    x = np.maximum(folded - FAR, 0.0) / (np.pi - FAR)
    g = np.abs(np.cos(half)) + (np.pi - FAR) / 4.0 * x**3 * (2.0 - x)
    series = 1 / 6 + z * (7 / 360 + z * (31 / 15120 + z * 127 / 604800))
    kappa = np.where(z > SMALL**2, (half / (np.sin(half) * g) - 1.0) / theta**2, series)
    rates = np.tile(np.eye(3), (len(phi), 1, 1))
    rates[:, 0, :2] += (kappa * b)[:, None] * np.stack([b, -a], axis=1)
    rates[:, 1, :2] -= (kappa * a)[:, None] * np.stack([b, -a], axis=1)
    return rates


@dataclass(frozen=True)
class RootMap:
    """T of one floating root."""

    first: int
    """Row of its pose."""
    quaternion: np.ndarray
    """Shape (4, columns), xyzw."""
    arm: np.ndarray
    """From the origin of the link to its centre of mass, world axes, shape (3, columns)."""

    def positions(self, motion: np.ndarray) -> np.ndarray:
        """Changes of the pose, shape (7, columns, directions), by motions, shape (6, columns, directions)."""
        moved, turned = motion[:3], motion[3:]
        v, w = self.quaternion[:3, :, None], self.quaternion[3, :, None]
        change = np.empty((7, *motion.shape[1:]))
        change[:3] = moved - np.cross(turned, self.arm[:, :, None], axis=0)
        change[3:6] = 0.5 * (turned * w + np.cross(turned, v, axis=0))
        change[6] = -0.5 * (turned * v).sum(axis=0)
        return change

    def motions(self, change: np.ndarray) -> np.ndarray:
        """Motions of changes of the pose, which leave the length of the quaternion."""
        v, w = self.quaternion[:3, :, None], self.quaternion[3, :, None]
        turned = 2.0 * (change[3:6] * w - change[6] * v - np.cross(change[3:6], v, axis=0))
        return np.concatenate([change[:3] + np.cross(turned, self.arm[:, :, None], axis=0), turned])


def root_maps(group: Group, pose: np.ndarray) -> list[RootMap]:
    """T of all floating roots at poses of shape (7 * roots, columns)."""
    tree, found = group.tree, []
    frames = group.parameters["link_frame"].scalars.numpy()
    for link, kind in enumerate(tree.kind):
        if kind is JointKind.FLOATING:
            first = 7 * tree.first_dof[link] // 6
            center = frames[12 * link + 9 : 12 * link + 12]
            center = center[:, : pose.shape[1]] if not group.parameters["link_frame"].is_shared else center[:, :1]
            quaternion = pose[first + 3 : first + 7].astype(float)
            v, w = quaternion[:3], quaternion[3]
            center = np.broadcast_to(center.astype(float), v.shape)
            turn = 2.0 * np.cross(v, center, axis=0)
            found.append(RootMap(first, quaternion, center + w * turn + np.cross(v, turn, axis=0)))
    return found

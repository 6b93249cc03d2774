"""Tangent coordinates: small motions in the axes of velocities, and what they make of positions.

A dof with one axis moves by its own coordinate. For the others there is a matrix T(q) of each joint, by which positions
change with motions, as they do with velocities:  qdot = T(q) v.
- A ball joint has its rotation vector, in the axes of the moving frame (`joints.spherical.rates`); a joint with both
  swings free has two of its components (`joints.swing.rates`).
- A floating root has the displacement of its centre of mass and its rotation vector, both in world axes; its pose is
  that of the link frame, p_L = p_C - R c, with the quaternion at the rate of half of (w, 0) times itself.

All joints of a kind are taken together: T has shape (joints, columns, positions, velocities).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.kernels.duals import rates_kernel
from warp_artic.kernels.launch import load
from warp_artic.mechanisms.group import Group
from warp_artic.model.kinds import JointKind

EYE = np.eye(3)
LEVI_CIVITA = np.cross(EYE[:, None], EYE).transpose(0, 2, 1).reshape(3, 9)
"""By which x becomes the matrix [x] of its cross products, row by row."""


@dataclass(frozen=True)
class Joints:
    """Joints of a group with several rotations, all of one kind."""

    kind: JointKind
    rows: np.ndarray
    """Of joint positions, and of joint velocities, shape (joints, rotations)."""
    axes: np.ndarray
    """The component of the rotation vector that each is."""

    def matrices(self, group: Group, position: np.ndarray) -> np.ndarray:
        """T at positions of shape (joints, rotations, columns)."""
        device = group.columns.device
        signs = group.parameters["dof_sign"].scalars.numpy()[self.rows, 0].astype(float)
        joints, columns = len(self.rows), position.shape[2]
        phi = np.zeros((joints, columns, 3))
        at = np.arange(joints)[:, None, None], np.arange(columns)[:, None], self.axes[:, None]
        phi[at] = (signs[..., None] * position).transpose(0, 2, 1)
        found = wp.zeros((joints * columns, 3, 3), dtype=wp.float64, device=device)
        rotation = wp.array(phi.reshape(-1, 3), dtype=wp.float64, device=device)
        kernel = rates_kernel(self.kind is JointKind.SPHERICAL)
        load(kernel, device)
        wp.launch(kernel, dim=found.shape[:2], inputs=[rotation], outputs=[found], device=device)
        whole = found.numpy().reshape(joints, columns, 3, 3)
        rates = whole[np.arange(joints)[:, None, None, None], np.arange(columns)[:, None, None],
                      self.axes[:, None, :, None], self.axes[:, None, None, :]]  # fmt: skip
        return signs[:, None, :, None] * rates * signs[:, None, None, :]


def joints_of(group: Group) -> tuple[Joints, ...]:
    """All joints with several rotations."""
    tree, found = group.tree, []
    for kind in (JointKind.SPHERICAL, JointKind.SWING):
        links = [link for link, own in enumerate(tree.kind) if own is kind]
        if links:
            dofs = np.array([np.arange(tree.dof_counts[link]) + tree.first_dof[link] for link in links])
            rows = dofs - tree.root_dofs
            axes = np.array(tree.dof_axis)[dofs]
            found.append(Joints(kind, rows, axes))
    return tuple(found)


def as_positions(matrices: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Changes of positions by motions, both of shape (joints, numbers, columns, directions)."""
    return (matrices @ motion.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)


def transposed(matrices: np.ndarray) -> np.ndarray:
    """Of T, or of its inverse, what takes slopes by positions to those by motions, or back."""
    return np.swapaxes(matrices, 2, 3)


def as_motions(matrices: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Motions of changes of positions."""
    return np.linalg.solve(matrices, change.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3)


@dataclass(frozen=True)
class Roots:
    """Floating roots of a group."""

    rows: np.ndarray
    """Of poses, shape (roots, 7)."""
    center_rows: np.ndarray
    """Of frames of links, those of the centre of mass in the link, shape (roots, 3)."""

    def matrices(self, group: Group, columns: slice, pose: np.ndarray) -> np.ndarray:
        """T at poses of some columns of the group, shape (roots, 7, columns), with quaternions xyzw.

        Several poses of each column follow each other as whole rows of columns.
        """
        quaternion, skew, arm = self._at(group, columns, pose)
        found = np.zeros((*quaternion.shape[:2], 7, 6))
        found[..., :3, :3] = EYE
        found[..., :3, 3:] = _skew(arm)
        found[..., 3:6, 3:] = 0.5 * (quaternion[..., 3, None, None] * EYE - skew)
        found[..., 6, 3:] = -0.5 * quaternion[..., :3]
        return found

    def inverses(self, group: Group, columns: slice, pose: np.ndarray) -> np.ndarray:
        """Motions by changes of poses, shape (roots, columns, 6, 7); those of the quaternion's length are none."""
        quaternion, skew, arm = self._at(group, columns, pose)
        found = np.zeros((*quaternion.shape[:2], 6, 7))
        found[..., :3, :3] = EYE
        found[..., 3:, 3:6] = 2.0 * (quaternion[..., 3, None, None] * EYE + skew)
        found[..., 3:, 6] = -2.0 * quaternion[..., :3]
        found[..., :3, 3:] = -_skew(arm) @ found[..., 3:, 3:]
        return found

    def _at(self, group: Group, columns: slice, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Quaternions, the matrices [v] of their vectors, and the arms from the origin to the centre of mass."""
        frames = group.parameters["link_frame"]
        own = slice(1) if frames.is_shared else columns
        center = frames.scalars.numpy()[self.center_rows][..., own].transpose(0, 2, 1).astype(float)
        if not frames.is_shared:
            center = np.tile(center, (1, pose.shape[2] // center.shape[1], 1))
        quaternion = pose[:, 3:].transpose(0, 2, 1).astype(float)
        skew = _skew(quaternion[..., :3])
        turn = 2.0 * (skew @ center[..., None])
        return quaternion, skew, center + (quaternion[..., 3, None, None] * turn + skew @ turn)[..., 0]


def roots_of(group: Group) -> Roots:
    """All floating roots."""
    tree = group.tree
    links = np.array([link for link, kind in enumerate(tree.kind) if kind is JointKind.FLOATING], int)
    first = 7 * np.array(tree.first_dof)[links].astype(int) // 6
    return Roots(first[:, None] + np.arange(7), 12 * links[:, None] + np.arange(9, 12))


def _skew(x: np.ndarray) -> np.ndarray:
    """The matrices [x] of cross products."""
    return (x @ LEVI_CIVITA).reshape(*x.shape, 3)

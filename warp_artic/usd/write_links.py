"""Link poses as time samples of transform ops under the authored parents.

Each link gets the ops (outermost first)

    xformOp:translate:warpArtic  xformOp:orient:warpArtic  xformOp:scale:warpArtic

in place of its authored ops; without the run layer the authored ops are back. With row vectors, as in USD, a world
matrix is W = S R T (scale, rotation, translation). The parent P = S_P R_P T_P and the link W give the local ops

    orient     R R_P^-1
    translate  (t - t_P) R_P^-1   divided by S_P
    scale      S                  divided by S_P

when S_P is uniform. When it is not, the parent's scale is undone by an outermost op of its own,
`xformOp:scale:warpArticParent`. A link below another one follows it: its parent's matrix changes with the other link.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pxr import Sdf, Usd, UsdGeom, Vt

from warp_artic.usd.time_samples import at_times, check_finite, continuous, over, prim_named, write_samples

RESET = "!resetXformStack!"
SCALE_PARENT = "xformOp:scale:warpArticParent"
TRANSLATE = "xformOp:translate:warpArtic"
ORIENT = "xformOp:orient:warpArtic"
SCALE = "xformOp:scale:warpArtic"


def write_links(layer, stage, recording, environment, times, codes) -> WorldFrames:
    """Pose samples of every link; where it and all other prims are then."""
    poses = recording.link_pose[:, environment]
    check_finite(recording, poses, recording.link_names, "pose")
    with np.errstate(invalid="ignore", divide="ignore"):
        quaternions = continuous(poses[..., 3:].astype(float))
    check_finite(recording, quaternions, recording.link_names, "the direction of a quaternion")
    poses = at_times(recording, np.concatenate([poses[..., :3], quaternions], axis=-1), times)
    poses[..., :3] /= UsdGeom.GetStageMetersPerUnit(stage)
    poses[..., 3:] /= np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
    frames = WorldFrames(stage, codes)
    order = sorted(range(len(recording.link_names)), key=lambda link: recording.link_names[link].count("/"))
    is_double = recording.link_pose.dtype == np.float64
    for link in order:
        prim = prim_named(stage, recording.link_names[link], "link")
        W = frames.place(prim, poses[:, link, :3], matrices(poses[:, link, 3:]))
        ops = local_ops(W, frames.of(prim.GetParent()))
        write_ops(over(layer, prim), codes, *ops, is_double=is_double)
    return frames


class WorldFrames:
    """World matrices of prims at each sample, shape (F or 1, 4, 4), links moved by the run."""

    def __init__(self, stage: Usd.Stage, codes: list):
        self.codes = codes
        self.start = UsdGeom.XformCache(codes[0])
        self.known = {stage.GetPseudoRoot().GetPath(): np.eye(4)[None]}

    def place(self, prim: Usd.Prim, positions: np.ndarray, rotations: np.ndarray) -> np.ndarray:
        """Set the world matrices of a link from its poses, with its authored world scale."""
        authored = np.array(self.start.GetLocalToWorldTransform(prim))
        scale, _ = scale_and_rotation(authored[None])
        self.known[prim.GetPath()] = world_matrices(scale, rotations, positions)
        return self.known[prim.GetPath()]

    def of(self, prim: Usd.Prim) -> np.ndarray:
        """World matrices of a prim that may or may not be a link, or lie below one."""
        path = prim.GetPath()
        if path not in self.known:
            local, resets = self._local(prim)
            self.known[path] = local if resets else local @ self.of(prim.GetParent())
        return self.known[path]

    def _local(self, prim: Usd.Prim) -> tuple[np.ndarray, bool]:
        """Authored local matrices, and whether they are relative to the world."""
        xformable = UsdGeom.Xformable(prim)
        if not xformable:
            return np.eye(4)[None], False
        varies = xformable.TransformMightBeTimeVarying()
        codes = self.codes if varies else self.codes[:1]
        return np.array([xformable.GetLocalTransformation(code) for code in codes]), xformable.GetResetXformStack()


def world_matrices(scale: np.ndarray, rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """W = S R T (F, 4, 4) of scales (F or 1, 3), row-vector rotations (F, 3, 3) and positions (F, 3)."""
    W = np.zeros((len(positions), 4, 4))
    W[:, :3, :3] = scale[:, :, None] * rotations
    W[:, 3, :3] = positions
    W[:, 3, 3] = 1.0
    return W


def scale_and_rotation(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S (F, 3) and R (F, 3, 3) of matrices S R T; a mirrored one has a negative scale in all three.

    Where a scale is zero the row of R is zero.
    """
    A = W[:, :3, :3]
    scale = np.linalg.norm(A, axis=2) * np.where(np.linalg.det(A) < 0.0, -1.0, 1.0)[:, None]
    return scale, A / np.where(scale == 0.0, 1.0, scale)[:, :, None]


def world_scales(prims: Sequence[Usd.Prim], cache: UsdGeom.XformCache) -> np.ndarray:
    """S (F, 3) of the world matrices of prims."""
    authored = np.array([cache.GetLocalToWorldTransform(prim) for prim in prims]).reshape(-1, 4, 4)
    return scale_and_rotation(authored)[0]


def local_ops(W: np.ndarray, P: np.ndarray):
    """Op order, translation, quaternion xyzw, scale and undone scale of the parent (F, 3 or 4) of W under P."""
    order = [TRANSLATE, ORIENT, SCALE]
    scale, R = scale_and_rotation(W)
    parent_scale, R_P = scale_and_rotation(P)
    if np.abs(R_P @ R_P.transpose(0, 2, 1) - np.eye(3)).max() > 1e-5:
        # No translation, rotation and scale undo a sheared parent: the link leaves its stack.
        return [RESET, *order], W[:, 3, :3], quaternions_from(R), scale, None
    inverse = R_P.transpose(0, 2, 1)
    translation = np.einsum("fi,fij->fj", W[:, 3, :3] - P[:, 3, :3], np.broadcast_to(inverse, R.shape))
    quaternion = quaternions_from(R @ inverse)
    if np.ptp(parent_scale, axis=1).max() <= 1e-6 * np.abs(parent_scale).max():
        return order, translation / parent_scale, quaternion, scale / parent_scale, None
    return [SCALE_PARENT, *order], translation, quaternion, scale, np.broadcast_to(1.0 / parent_scale, scale.shape)


def matrices(quaternions: np.ndarray) -> np.ndarray:
    """Row-vector rotation matrices (F, 3, 3) of unit quaternions xyzw (F, 4)."""
    x, y, z, w = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)],
        [2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w)],
        [2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def quaternions_from(R: np.ndarray) -> np.ndarray:
    """Continuous unit quaternions xyzw (F, 4) of row-vector rotation matrices (F, 3, 3); Shepperd's choice."""
    m = R.transpose(0, 2, 1)
    trace = np.trace(m, axis1=1, axis2=2)
    squares = np.concatenate([np.diagonal(m, axis1=1, axis2=2), trace[:, None]], axis=1)
    skew = np.stack([m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]], axis=1)
    # Row `largest` of the symmetric matrix 4 q q^T is a multiple of q.
    outer = np.empty((len(R), 4, 4))
    outer[:, :3, :3] = m + m.transpose(0, 2, 1)
    outer[:, (0, 1, 2), (0, 1, 2)] = 1.0 + 2.0 * squares[:, :3] - trace[:, None]
    outer[:, :3, 3] = outer[:, 3, :3] = skew
    outer[:, 3, 3] = 1.0 + trace
    return continuous(outer[np.arange(len(R)), np.argmax(squares, axis=1)])


def write_ops(spec, codes, order, translation, quaternion, scale, undone, *, is_double) -> None:
    """Write what `local_ops` gives."""
    real, orient_type, orients = np.float32, Sdf.ValueTypeNames.Quatf, Vt.QuatfArray
    if is_double:
        real, orient_type, orients = np.float64, Sdf.ValueTypeNames.Quatd, Vt.QuatdArray
    quaternion = np.ascontiguousarray(_unless_constant(quaternion), real)
    if undone is not None:
        write_samples(spec, SCALE_PARENT, Sdf.ValueTypeNames.Double3, _vectors(_unless_constant(undone, 1e-6)), codes)
    write_samples(spec, TRANSLATE, Sdf.ValueTypeNames.Double3, _vectors(_unless_constant(translation)), codes)
    write_samples(spec, ORIENT, orient_type, orients.FromNumpy(quaternion), codes)
    write_samples(spec, SCALE, Sdf.ValueTypeNames.Double3, _vectors(_unless_constant(scale, 1e-6)), codes)
    attribute = Sdf.AttributeSpec(spec, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
    attribute.default = Vt.TokenArray(order)


def _vectors(values: np.ndarray):
    """Vectors (F, 3) for USD."""
    return Vt.Vec3dArray.FromNumpy(np.ascontiguousarray(values, np.float64))


def _unless_constant(values: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
    """Values (F, N), or only the first of them where they stay within a relative tolerance."""
    spread = np.ptp(values, axis=0).max()
    return values[:1] if spread <= tolerance * np.abs(values).max() else values

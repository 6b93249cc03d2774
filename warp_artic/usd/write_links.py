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

import numpy as np
from pxr import Sdf, Usd, UsdGeom, Vt

from warp_artic.usd.instance_arrays import InstanceArrays, write_arrays
from warp_artic.usd.instances import RUN, with_instances
from warp_artic.usd.read_track import start_code
from warp_artic.usd.row_matrices import matrices, quaternions_from, scale_and_rotation, world_matrices
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
    instanced = with_instances(stage)
    frames = WorldFrames(instanced.stage, codes)
    order = sorted(range(len(recording.link_names)), key=lambda link: recording.link_names[link].count("/"))
    is_double = recording.link_pose.dtype == np.float64
    moved: dict[str, list[tuple[int, Usd.Prim]]] = {}
    for link in order:
        prim = prim_named(frames.stage, recording.link_names[link], "link")
        W = frames.place(prim, poses[:, link, :3], matrices(poses[:, link, 3:]))
        instance = instanced.moving.get(recording.link_names[link])
        if instance is not None:
            moved.setdefault(instance.instancer, []).append((instance.index, prim))
            continue
        ops = local_ops(W, frames.of(prim.GetParent()))
        write_ops(over(layer, prim), codes, *ops, is_double=is_double)
    for path, group in moved.items():
        _write_instancer(layer, stage.GetPrimAtPath(path), group, frames)
    return frames


def _write_instancer(layer, instancer: Usd.Prim, group: list[tuple[int, Usd.Prim]], frames: WorldFrames) -> None:
    """Samples of an instancer, of which some instances move with bodies that are placed, given with their indices."""
    indices, prims = zip(*group)
    code = start_code(frames.stage)
    cache = UsdGeom.XformCache(code)
    start = np.array([cache.GetLocalToWorldTransform(prim) for prim in prims])
    arrays = InstanceArrays(instancer, indices, start, code)
    moved = np.stack([frames.of(prim) for prim in prims], axis=1) @ np.linalg.inv(frames.of(instancer))[:, None]
    spec = over(layer, instancer)
    spec.customData = {RUN: True}
    write_arrays(spec, arrays, moved, frames.codes)


class WorldFrames:
    """World matrices of prims at each sample, shape (F or 1, 4, 4), links moved by the run."""

    def __init__(self, stage: Usd.Stage, codes: list):
        self.stage, self.codes = stage, codes
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

"""Skeletons that follow links: an animation for each, which is bound in place of the one that was.

A joint stays where it is in its link at the start of the stage. With world matrices of row vectors, W_L of the link
without its scale, J of the joint in the space of the skeleton and W_S of that space,

    J(t) = J(0) W_S(0) W_L(0)^-1 W_L(t) W_S(t)^-1,    local matrix L_j = J_j J_parent(j)^-1.

Its scale, too, stays as it is at the start. Joints that move with no link keep the local matrices of the animation that
was bound, or of rest; so do blend shapes. J of a parent is that of the numbers that are written, of which scales have
half precision, so that joints below are where they should be.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdSkel, Vt

from warp_artic.usd import tokens
from warp_artic.usd.inventory import traverse
from warp_artic.usd.row_matrices import matrices, quaternions_from, scale_and_rotation, world_matrices
from warp_artic.usd.skeleton import Skeleton
from warp_artic.usd.time_samples import apply_schema, continuous, over
from warp_artic.usd.write_links import WorldFrames

MOTION = "warpArticMotion"
"""The name of an animation below its skeleton."""
SAME = 1e-6
"""Relative difference of scales that stay."""


def write_skeletons(
    layer: Sdf.Layer, stage: Usd.Stage, frames: WorldFrames, codes: Sequence[float], start_code: float
) -> None:
    """Animations of all skeletons with joints that move with links, whose world frames have been placed."""
    start = UsdGeom.XformCache(start_code)
    for path, joints in _joints_of_skeletons(stage).items():
        skeleton = Skeleton(stage.GetPrimAtPath(path))
        spec = over(layer, skeleton.prim)
        _bind(spec)
        _write(spec, skeleton, _local_parts(skeleton, joints, frames, codes, start), codes)


def _joints_of_skeletons(stage: Usd.Stage) -> dict[str, dict[str, Usd.Prim]]:
    """The body that each joint moves with, by the paths of skeletons."""
    found: dict[str, dict[str, Usd.Prim]] = {}
    for prim in traverse(stage):
        if tokens.ARTIC_SKEL_JOINT in prim.GetPrimTypeInfo().GetAppliedAPISchemas():
            (skeleton,) = prim.GetRelationship(tokens.SKELETON).GetForwardedTargets()
            found.setdefault(str(skeleton), {})[str(prim.GetAttribute(tokens.SKEL_JOINT).Get())] = prim
    return found


def _local_parts(
    skeleton: Skeleton,
    joints: dict[str, Usd.Prim],
    frames: WorldFrames,
    codes: Sequence[float],
    start: UsdGeom.XformCache,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Translations (F, joints, 3), quaternions xyzw (F, joints, 4) and scales (F, joints, 3) of local matrices."""
    count = len(codes)
    source = np.array([skeleton.local_matrices(code) for code in codes])
    T, Q, S = (np.empty((count, len(skeleton.joints), size)) for size in (3, 4, 3))
    J = np.empty_like(source)
    to_skeleton = np.broadcast_to(np.linalg.inv(frames.of(skeleton.prim)), (count, 4, 4))
    W_S = np.array(start.GetLocalToWorldTransform(skeleton.prim))
    J_start = skeleton.joint_matrices(start.GetTime().GetValue())
    for number, (name, parent) in enumerate(zip(skeleton.joints, skeleton.parents)):
        above = np.broadcast_to(np.eye(4), (count, 4, 4)) if parent < 0 else J[:, parent]
        local = source[:, number]
        if name in joints:
            prim = joints[name]
            W_L = _without_scale(np.array(start.GetLocalToWorldTransform(prim))[None])
            moved = np.broadcast_to(_without_scale(frames.of(prim)), (count, 4, 4))
            local = J_start[number] @ W_S @ np.linalg.inv(W_L) @ moved @ to_skeleton @ np.linalg.pinv(above)
        own = T[:, number], Q[:, number], S[:, number] = _parts(local)
        J[:, number] = world_matrices(own[2], matrices(own[1]), own[0]) @ above
    return T, Q, S


def _parts(local: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Translations (F, 3), unit quaternions xyzw (F, 4) and scales (F, 3) of matrices, as they are written.

    Where there is no extent along an axis the quaternion is that of before.
    """
    scale, R = scale_and_rotation(local)
    if np.ptp(scale, axis=0).max() <= SAME * np.abs(scale).max():
        scale[:] = scale[0]
    Q = quaternions_from(R)
    for code in np.flatnonzero((scale == 0.0).any(axis=1)):
        Q[code] = Q[code - 1] if code else (0.0, 0.0, 0.0, 1.0)
    return local[:, 3, :3].astype(np.float32), continuous(Q), scale.astype(np.float16).astype(float)


def _without_scale(W: np.ndarray) -> np.ndarray:
    _, rotation = scale_and_rotation(W)
    return world_matrices(np.ones((1, 3)), rotation, W[:, 3, :3])


def _bind(spec: Sdf.PrimSpec) -> None:
    """Bind the animation below a skeleton to it."""
    apply_schema(spec, "SkelBindingAPI")
    relationship = Sdf.RelationshipSpec(spec, "skel:animationSource", custom=False)
    relationship.targetPathList.explicitItems = [spec.path.AppendChild(MOTION)]


def _write(skeleton_spec: Sdf.PrimSpec, skeleton: Skeleton, parts, codes: Sequence[float]) -> None:
    spec = Sdf.PrimSpec(skeleton_spec, MOTION, Sdf.SpecifierDef, "SkelAnimation")
    types = Sdf.ValueTypeNames
    joints = Sdf.AttributeSpec(spec, "joints", types.TokenArray, Sdf.VariabilityUniform)
    joints.default = Vt.TokenArray(skeleton.joints)
    T, Q, S = parts
    vectors = [Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(one, np.float32)) for one in T]
    turns = [Vt.QuatfArray.FromNumpy(np.ascontiguousarray(one, np.float32)) for one in Q]
    scales = [Vt.Vec3hArray.FromNumpy(np.ascontiguousarray(one, np.float16)) for one in S]
    for name, kind, values in (
        ("translations", types.Float3Array, vectors),
        ("rotations", types.QuatfArray, turns),
        ("scales", types.Half3Array, scales),
    ):
        _write_arrays(spec, name, kind, values, codes)
    _copy_blend_shapes(spec, skeleton, codes)


def _write_arrays(spec: Sdf.PrimSpec, name: str, kind: Sdf.ValueTypeName, values: list, codes: Sequence[float]) -> None:
    """An array over time; one value where it stays."""
    attribute = Sdf.AttributeSpec(spec, name, kind)
    if all(value == values[0] for value in values[1:]):
        attribute.default = values[0]
        return
    for code, value in zip(codes, values):
        spec.layer.SetTimeSample(attribute.path, code, value)


def _copy_blend_shapes(spec: Sdf.PrimSpec, skeleton: Skeleton, codes: Sequence[float]) -> None:
    """The weights of blend shapes of the animation that was bound."""
    source = UsdSkel.Animation(skeleton.animation) if skeleton.animation else None
    shapes = source.GetBlendShapesAttr().Get() if source else None
    if not shapes:
        return
    names = Sdf.AttributeSpec(spec, "blendShapes", Sdf.ValueTypeNames.TokenArray, Sdf.VariabilityUniform)
    names.default = shapes
    weights = [source.GetBlendShapeWeightsAttr().Get(code) for code in codes]
    if None not in weights:
        _write_arrays(spec, "blendShapeWeights", Sdf.ValueTypeNames.FloatArray, weights, codes)

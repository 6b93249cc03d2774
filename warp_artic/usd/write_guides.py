"""Joints as guide prims: their frames, which follow the links that they are on, and outlines of their limits.

    JointGuides             Scope of purpose "guide", below the default prim, or at the top where there is none
      <path of the joint>   Scope; invisible from when the joint has broken
        first               Xform, the frame on body0
          axes, limits      BasisCurves
        swung               Xform, the second frame without its twist, where the twist has limits
          limits            BasisCurves
        second              Xform, the frame on body1
          axes              BasisCurves, shorter and wider than those of the first frame

Where the joint is at zero both frames are in one place. Lines are in units of the stage, whatever is above them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pxr import Sdf, Usd, UsdGeom, Vt

from warp_artic.description.joint import WORLD
from warp_artic.description.joint_guides import End, JointGuide, Line, axis_lines, joint_guides
from warp_artic.description.pose import Pose, matrices_from_unit_quaternions
from warp_artic.description.scene import Scene
from warp_artic.description.start_pose import displacement
from warp_artic.errors import StageError
from warp_artic.sim.record.recording import Recording
from warp_artic.usd.row_matrices import quaternions_from, scale_and_rotation, world_matrices
from warp_artic.usd.time_samples import at_times, over
from warp_artic.usd.write_links import WorldFrames, local_ops, write_ops

SCOPE = "JointGuides"
SECOND = 0.6
"""Length of the axes of the second frame, by those of the first one."""
WIDTH = 0.02
"""Of lines of the first frame, by their length; those of the second one are twice as wide."""
Poses = tuple[np.ndarray, np.ndarray]
"""Rotations (F or 1, 3, 3), for columns, and positions (F or 1, 3) [m] in the world."""


def write_guides(
    layer: Sdf.Layer,
    stage: Usd.Stage,
    scene: Scene,
    recording: Recording,
    environment: int,
    times: np.ndarray,
    frames: WorldFrames,
) -> None:
    """Write the guides of all joints of a scene, and samples of where they are, at the codes of `frames`.

    Raises:
        StageError: The scene is of another stage: a link of it is not there.
    """
    guides = list(joint_guides(scene))
    if not guides:
        return
    above = _holder(stage)
    scope = Sdf.PrimSpec(over(layer, above) if above else layer, _free_name(stage, above), Sdf.SpecifierDef, "Scope")
    purpose = Sdf.AttributeSpec(scope, "purpose", Sdf.ValueTypeNames.Token, Sdf.VariabilityUniform)
    purpose.default = UsdGeom.Tokens.guide
    P = frames.of(above or stage.GetPseudoRoot())
    where = _Where(stage, recording, environment, times, frames)
    is_double = recording.link_pose.dtype == np.float64
    taken: set[str] = set()
    for guide in guides:
        name = _name(guide.path, above, taken)
        spec = Sdf.PrimSpec(scope, name, Sdf.SpecifierDef, "Scope")
        spec.documentation = f"Of the joint {guide.path}."
        _write_breakage(spec, where.breakage(guide.path), frames.codes)
        first, second = where.of(guide.first), where.of(guide.second)
        meters, size = where.meters, guide.size
        for name, poses, curves in (
            ("first", first, {"axes": axis_lines(size), "limits": guide.limits}),
            ("swung", _untwisted(first, second, guide), {"limits": guide.twist_limits}),
            ("second", second, {"axes": axis_lines(SECOND * size)}),
        ):
            width = WIDTH * size * (2.0 if name == "second" else 1.0) / meters
            if any(curves.values()):
                frame = Sdf.PrimSpec(spec, name, Sdf.SpecifierDef, "Xform")
                _write_frame(frame, poses, P, frames.codes, meters, is_double)
                for kind, lines in curves.items():
                    if lines:
                        _write_curves(Sdf.PrimSpec(frame, kind, Sdf.SpecifierDef, "BasisCurves"), lines, width, meters)


class _Where:
    """Where the ends of joints are at some times."""

    def __init__(self, stage, recording, environment, times, frames):
        self.recording, self.times, self.frames = recording, times, frames
        self.environment = environment
        self.meters = UsdGeom.GetStageMetersPerUnit(stage)
        self.dofs = {name: dof for dof, name in enumerate(recording.joint_names)}

    def of(self, end: End) -> Poses:
        """The frame of an end."""
        return _moved(self.base(end) if end.link == WORLD else self.link(end), end.frame)

    def base(self, end: End) -> Poses:
        """How the body that carries an articulation has moved since the start."""
        motion = end.articulation.base_motion
        if motion is None:
            return np.eye(3)[None], np.zeros((1, 3))
        moves = [motion.displacement(float(time), np.zeros(3)) for time in self.times]
        return np.array([rotation for rotation, _ in moves]), np.array([shift for _, shift in moves])

    def link(self, end: End) -> Poses:
        """A link; a massless link is put on its parent by the positions of its joint."""
        link = end.articulation.links[end.link]
        if link.is_massless:
            joint = end.articulation.inbound[end.link]
            R, p = self.of(End(end.articulation, joint.parent, joint.parent_frame))
            columns = [self.dofs[dof.name] for dof in joint.dofs]
            q = at_times(self.recording, self.recording.joint_position[:, self.environment, columns], self.times)
            steps = [displacement(joint, values) @ joint.child_frame.inverse() for values in q.tolist()]
            local = np.array([step.rotation for step in steps])
            return R @ local, p + (R @ np.array([step.position for step in steps])[..., None])[..., 0]
        prim = self.frames.stage.GetPrimAtPath(link.path)
        if not prim:
            raise StageError(f"{link.path}: the scene of the guides has a link of this name; the stage has none")
        W = self.frames.of(prim)
        return scale_and_rotation(W)[1].transpose(0, 2, 1), W[:, 3, :3] * self.meters

    def breakage(self, path: str) -> np.ndarray | None:
        """Whether a joint has broken, shape (F); None where none of this name can, or it was not recorded."""
        recording = self.recording
        if path not in recording.loop_names or not recording.loop_broken.shape[2]:
            return None
        broken = recording.loop_broken[:, self.environment, recording.loop_names.index(path)]
        return at_times(recording, broken, self.times) >= 1.0


def _moved(poses: Poses, frame: Pose) -> Poses:
    """Frames that are fixed to what moves."""
    R, p = poses
    return R @ frame.rotation, p + R @ np.asarray(frame.position)


def _untwisted(first: Poses, second: Poses, guide: JointGuide) -> Poses:
    """The second frame without its twist about the twist axis, R_01 = swing * twist."""
    R_01 = first[0].transpose(0, 2, 1) @ second[0]
    q = quaternions_from(R_01.transpose(0, 2, 1))
    twist = np.zeros_like(q)
    twist[:, guide.twist_axis], twist[:, 3] = q[:, guide.twist_axis], q[:, 3]
    length = np.linalg.norm(twist, axis=1, keepdims=True)
    twist = np.where(length > 1e-9, twist / np.maximum(length, 1e-9), [0.0, 0.0, 0.0, 1.0])
    return second[0] @ matrices_from_unit_quaternions(twist).transpose(0, 2, 1), second[1]


def _holder(stage: Usd.Stage) -> Usd.Prim | None:
    """The default prim, but where it is what other prims must not be below."""
    prim = stage.GetDefaultPrim()
    return prim if prim and not prim.IsA(UsdGeom.Gprim) else None


def _free_name(stage: Usd.Stage, above: Usd.Prim | None) -> str:
    """A name that the stage does not have there."""
    parent, name, number = above.GetPath() if above else Sdf.Path.absoluteRootPath, SCOPE, 1
    while stage.GetPrimAtPath(parent.AppendChild(name)):
        number += 1
        name = f"{SCOPE}_{number}"
    return name


def _name(path: str, above: Usd.Prim | None, taken: set[str]) -> str:
    """The path of a joint as a name; what it has in common with that of the prim above is left out."""
    prefix = f"{above.GetPath()}/" if above else "/"
    name = base = path.removeprefix(prefix).strip("/").replace("/", "_").replace(":", "_")
    number = 1
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name


def _write_breakage(spec: Sdf.PrimSpec, broken: np.ndarray | None, codes: list) -> None:
    """Let what shows a joint vanish when it breaks."""
    if broken is None:
        return
    attribute = Sdf.AttributeSpec(spec, "visibility", Sdf.ValueTypeNames.Token)
    attribute.default = UsdGeom.Tokens.inherited
    for code, is_broken in zip(codes, broken) if broken.any() else ():
        value = UsdGeom.Tokens.invisible if is_broken else UsdGeom.Tokens.inherited
        spec.layer.SetTimeSample(attribute.path, code, value)


def _write_frame(spec: Sdf.PrimSpec, poses: Poses, P: np.ndarray, codes: list, meters: float, is_double) -> None:
    """Transform ops of a frame below a prim with the world matrices P."""
    R, p = poses
    count = len(codes) if max(len(R), len(p), len(P)) > 1 else 1
    R, p = np.broadcast_to(R, (count, 3, 3)), np.broadcast_to(p, (count, 3))
    W = world_matrices(np.ones((1, 3)), R.transpose(0, 2, 1), p / meters)
    write_ops(spec, codes, *local_ops(W, P), is_double=is_double)


def _write_curves(spec: Sdf.PrimSpec, lines: Sequence[Line], width: float, meters: float) -> None:
    """Lines, each in its colour."""
    names, uniform = Sdf.ValueTypeNames, Sdf.VariabilityUniform
    points = np.concatenate([line.points for line in lines]) / meters
    margin = 0.5 * width
    bounds = np.stack([points.min(axis=0) - margin, points.max(axis=0) + margin])
    values = {
        "points": (names.Point3fArray, Vt.Vec3fArray.FromNumpy(points.astype(np.float32))),
        "extent": (names.Float3Array, Vt.Vec3fArray.FromNumpy(bounds.astype(np.float32))),
        "curveVertexCounts": (names.IntArray, Vt.IntArray([len(line.points) for line in lines])),
        "widths": (names.FloatArray, Vt.FloatArray([width])),
        "primvars:displayColor": (names.Color3fArray, Vt.Vec3fArray([line.color for line in lines])),
    }
    Sdf.AttributeSpec(spec, "type", names.Token, uniform).default = UsdGeom.Tokens.linear
    for name, (type_name, value) in values.items():
        Sdf.AttributeSpec(spec, name, type_name).default = value
    spec.attributes["widths"].SetInfo("interpolation", UsdGeom.Tokens.constant)
    spec.attributes["primvars:displayColor"].SetInfo("interpolation", UsdGeom.Tokens.uniform)

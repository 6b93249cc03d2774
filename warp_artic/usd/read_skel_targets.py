"""The animation of a skeleton as targets of the joints between links that move with it.

With rotations R for column vectors, J the joint of the skeleton that a link L moves with and S the skeleton's space,

    R_SL(t) = R_SJ(t) R_JL,    R_JL = R_SJ(0)^T R_SL(0),    R_PC = R_SP^T R_SC,    R_FM = R_PF^T R_PC R_CM,

the target of three rotations is the rotation vector of R_FM that is nearest to the one before, so that it goes on
beyond half a turn, and the velocity target is the angular velocity of M in F, in the axes of M. Of other joints they
are the angles and their rates, in the turn in which the joint starts. Velocities are means of the differences on both
sides of a sample.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.description.pose import Pose, rotation_vector_from_matrix
from warp_artic.description.relative_motion import positions_of
from warp_artic.description.track import Track
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.placement import Placements
from warp_artic.usd.ragdoll_plan import link_frames
from warp_artic.usd.read_skel_joints import SkelJoint
from warp_artic.usd.read_track import codes_per_second, step_between
from warp_artic.usd.skeleton import Skeleton

NO_TURN = 1e-4
"""Angle below which a rotation read in single precision has no axis [rad]."""


class SkelTargets:
    """The animations of skeletons whose joints move with bodies, each read once."""

    def __init__(
        self, joints: dict[str, SkelJoint], inventory: Inventory, attributes: Attributes, placements: Placements
    ):
        self._joints = joints
        self._inventory, self._attributes, self._placements = inventory, attributes, placements
        self._clips: dict[Skeleton, _Clip | None] = {}

    def followed(self, tree: Articulation) -> Articulation:
        """The articulation, whose joints have the targets of the animation where their child link follows it."""
        joints = tuple(self._followed(tree, joint) for joint in tree.joints)
        return replace(tree, joints=joints) if joints != tree.joints else tree

    def _followed(self, tree: Articulation, joint: Joint) -> Joint:
        child = tree.links[joint.child].path
        prim = self._inventory.bodies.get(child)
        if child not in self._joints or not self._attributes.flag(prim, tokens.SKEL_FOLLOW, False):
            return joint
        where, report = f"{child}.{tokens.SKEL_FOLLOW}", self._attributes.report
        driven = [dof for dof in joint.rotations if dof.drive is not None]
        if not driven:
            report.warn(
                "skel-joint", where, f"has no effect: {joint.path} has no drives of rotations that could follow"
            )
            return joint
        parent = self._parent(tree, joint)
        if parent is None or self._joints[parent].skeleton != self._joints[child].skeleton:
            text = f"has no effect: the other body of {joint.path} moves with no joint of the same skeleton"
            report.warn("skel-joint", where, text)
            return joint
        skeleton = self._joints[child].skeleton
        clip = self._clip(skeleton)
        if clip is None:
            text = f"has no effect: {skeleton.path} has no animation with time samples"
            report.warn("skel-joint", where, text)
            return joint
        R_WP, R_WC = (self._rotation(path) for path in (parent, child))
        R_PF = joint.parent_frame.rotation if joint.parent != WORLD else R_WP.T @ joint.parent_frame.rotation
        R_FP, R_CM = R_PF.T, joint.child_frame.rotation
        R_SP, R_SC = (clip.rotations(self._joints[path].joint, R) for path, R in ((parent, R_WP), (child, R_WC)))
        return _with_targets(joint, R_FP @ R_SP.swapaxes(1, 2) @ R_SC @ R_CM, clip.times)

    def _parent(self, tree: Articulation, joint: Joint) -> str | None:
        """The other body of a joint, which may be a kinematic one; None where no skeleton moves with it."""
        if joint.parent != WORLD:
            path = tree.links[joint.parent].path
            return path if path in self._joints else None
        prim = self._inventory.joints[joint.path]
        targets = [target for side in (0, 1) for target in self._attributes.targets(prim, f"physics:body{side}")]
        bodies = {self._inventory.body_of.get(str(target)) for target in targets} - {tree.links[joint.child].path}
        return next((path for path in bodies if path in self._joints), None)

    def _rotation(self, path: str) -> np.ndarray:
        """R_WL of a body at the start."""
        prim = self._inventory.bodies.get(path) or self._inventory.held[path]
        return self._placements.of(prim).pose.rotation

    def _clip(self, skeleton: Skeleton) -> _Clip | None:
        if skeleton not in self._clips:
            self._clips[skeleton] = self._read_clip(skeleton)
        return self._clips[skeleton]

    def _read_clip(self, skeleton: Skeleton) -> _Clip | None:
        codes = skeleton.animation_codes()
        placement = self._placements.of(skeleton.prim)
        if len(codes) < 2 or placement is None:
            return None
        start, rate = self._attributes.time.GetValue(), codes_per_second(skeleton.prim.GetStage())
        # Between samples USD turns quaternions on the shortest way, a run its targets by components.
        step = 4.0 * step_between(codes[0], codes[-1], rate, self._attributes, skeleton.path)
        codes = sorted({*codes, *np.arange(codes[0], codes[-1], step).tolist()})
        R, _ = link_frames(np.array([skeleton.joint_matrices(code) for code in (start, *codes)]))
        return _Clip(skeleton.joints, (np.array(codes) - start) / rate, placement.pose.rotation, R)


class _Clip:
    """How the joints of a skeleton turn."""

    def __init__(self, joints: tuple[str, ...], times: np.ndarray, R_WS: np.ndarray, R_SJ: np.ndarray):
        self.times = times
        """From the start of the run [s]."""
        self._places = {joint: number for number, joint in enumerate(joints)}
        self._R_WS, self._R_SJ = R_WS, R_SJ

    def rotations(self, joint: str, R_WL: np.ndarray) -> np.ndarray:
        """R_SL (T, 3, 3) of a link that moves with a joint, and starts at R_WL."""
        R_SJ = self._R_SJ[:, self._places[joint]]
        return R_SJ[1:] @ (R_SJ[0].T @ self._R_WS.T @ R_WL)


def _with_targets(joint: Joint, R_FM: np.ndarray, times: np.ndarray) -> Joint:
    """A joint with targets over time; it starts with their velocity where the time of the start is in the clip."""
    R_01 = R_FM.swapaxes(1, 2) if joint.reversed else R_FM
    found = np.array([positions_of(joint, Pose.of((0.0, 0.0, 0.0), R))[0] for R in R_01])
    turning = [number for number, dof in enumerate(joint.dofs) if not dof.axis.is_linear]
    angles = found[:, turning]
    steps = np.diff(times)[:, None]
    if joint.has_vector:
        axes = [joint.dofs[number].axis.index for number in turning]
        turns = [rotation_vector_from_matrix(a.T @ b) for a, b in zip(R_FM, R_FM[1:])]
        rates = (-1.0 if joint.reversed else 1.0) * np.array(turns)[:, axes] / steps
        angles = continuous_vectors(angles) if len(axes) == 3 else angles
    else:
        angles = np.unwrap(angles, axis=0)
        begun = np.array([np.interp(0.0, times, own) for own in angles.T])
        positions = np.array([joint.dofs[number].position for number in turning])
        angles += 2.0 * np.pi * np.round((positions - begun) / (2.0 * np.pi))
        rates = np.diff(angles, axis=0) / steps
    rates = np.concatenate([rates[:1], 0.5 * (rates[1:] + rates[:-1]), rates[-1:]])
    dofs = list(joint.dofs)
    for column, number in enumerate(turning):
        dofs[number] = _follow(dofs[number], times, angles[:, column], rates[:, column])
    return replace(joint, dofs=tuple(dofs))


def _follow(dof: Dof, times: np.ndarray, angles: np.ndarray, rates: np.ndarray) -> Dof:
    """A dof whose drive, if it has one, follows angles and rates."""
    place = Track(times=tuple(times.tolist()), values=tuple(angles.tolist()))
    # Before its first sample and after its last one an animation is at rest.
    ends = math.nextafter(place.times[0], -math.inf), math.nextafter(place.times[-1], math.inf)
    speed = Track(times=(ends[0], *place.times, ends[1]), values=(0.0, *rates.tolist(), 0.0))
    starts = times[0] <= 0.0 < times[-1] and dof.velocity == 0.0
    dof = replace(dof, velocity=speed.at(0.0)) if starts else dof
    if dof.drive is None:
        return dof
    drive = replace(dof.drive, position_target=place.at(0.0), velocity_target=speed.at(0.0))
    return replace(dof, drive=replace(drive, position_track=place, velocity_track=speed))


def continuous_vectors(vectors: np.ndarray) -> np.ndarray:
    """Rotation vectors (T, 3) of the same rotations, each the nearest to the one before."""
    result = vectors.copy()
    for k in range(1, len(result)):
        angle = np.linalg.norm(vectors[k])
        if angle < NO_TURN:  # its axis is rounding: whole turns are about that of before
            before = np.linalg.norm(result[k - 1])
            axis = result[k - 1] / before if before > np.pi else np.zeros(3)
            result[k] = vectors[k] + 2.0 * np.pi * np.round(before / (2.0 * np.pi)) * axis
            continue
        axis = vectors[k] / angle
        turns = np.round((result[k - 1] @ axis - angle) / (2.0 * np.pi))
        result[k] = (angle + 2.0 * np.pi * turns) * axis
    return result

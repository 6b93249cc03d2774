"""When the bodies of an articulation are kinematic, where `physics:kinematicEnabled` has time samples.

A body moves then as its own transform does where that has time samples itself, else as the joint of a skeleton that
moves with it, where there is one: with world matrices of row vectors, W_L of the link, J of the joint in the space of
the skeleton and W_S of that space,

    W_L(t) = W_L(0) (J(0) W_S(0))^-1 J(t) W_S(t).

Coordinates of joints and their velocities are those of the motion of the bodies, by central differences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdGeom

from warp_artic.description.articulation import Articulation
from warp_artic.description.hand_over import HandOver
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.pose import Pose, rotation_vector_from_matrix
from warp_artic.description.relative_motion import positions_of
from warp_artic.errors import StageError
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.changes import transform_changes
from warp_artic.usd.inventory import KINEMATIC, Inventory
from warp_artic.usd.placement import SHEAR, decompose
from warp_artic.usd.read_base_motion import world_transforms
from warp_artic.usd.read_skel_joints import SkelJoint
from warp_artic.usd.read_skel_targets import continuous_vectors
from warp_artic.usd.read_track import codes_per_second, step_between
from warp_artic.usd.skeleton import Skeleton

Spans = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class HandOverReader:
    """Reads when articulations are kinematic; what is wrong is reported."""

    joints: dict[str, SkelJoint]
    """The joint of a skeleton that each body moves with, by the path of the body."""
    inventory: Inventory
    attributes: Attributes

    def read(self, trees: Sequence[Articulation | None]) -> tuple[HandOver, ...]:
        """Of all articulations that are kinematic at times."""
        found = (self._read(tree) for tree in trees if tree is not None)
        return tuple(one for one in found if one is not None)

    def _read(self, tree: Articulation) -> HandOver | None:
        inventory, report = self.inventory, self.attributes.report
        if not any(path in inventory.switched for path in tree.bodies):
            return None
        if len(tree.bodies) != len(tree.links):
            path = next(path for path in tree.bodies if path in inventory.switched)
            text = "changes over time, in an articulation with several joints between two bodies; it must not"
            report.error("hand-over", f"{path}.{KINEMATIC}", text)
            return None
        spans = {path: _spans(inventory.bodies[path]) for path in tree.bodies}
        first = spans[tree.links[0].path]
        for path, own in spans.items():
            if own != first:
                text = f"changes at other times than that of {tree.links[0].path}; those of an articulation are one"
                report.error("hand-over", f"{path}.{KINEMATIC}", text)
                return None
        return self._moved(tree, first)

    def _moved(self, tree: Articulation, spans: Spans) -> HandOver | None:
        """The motion of an articulation, from the first to the last code at which it is kinematic."""
        attributes = self.attributes
        stage, begin = next(iter(self.inventory.bodies.values())).GetStage(), attributes.time.GetValue()
        rate = codes_per_second(stage)
        first, last = max(begin, spans[0][0]), spans[-1][1]
        if math.isinf(last):
            last = max(begin, stage.GetEndTimeCode(), spans[-1][0])
        last = max(last, first) + 1.0  # the animation goes on behind the end, where it has a velocity
        count = math.ceil((last - first) / step_between(first, last, rate, attributes, tree.path))
        codes = np.linspace(first, last, count + 1)
        interval = float(codes[1] - codes[0]) / rate
        try:
            placed: dict[Skeleton, np.ndarray] = {}
            poses = [self._poses(link.path, begin, codes, placed) for link in tree.links]
        except (StageError, np.linalg.LinAlgError) as error:
            attributes.report.error("hand-over", tree.path, f"has no motion while it is kinematic: {error}")
            return None
        bases = None
        if tree.base_motion is not None:
            start = tree.base_motion.at(0.0).inverse()
            bases = [tree.base_motion.at(float(code - begin) / rate) @ start for code in codes]
        parts = [_joint_motion(joint, poses, bases, interval) for joint in tree.joints]
        coordinates = [x for x, _ in parts if x.shape[1]]
        velocities = [v for _, v in parts if v.shape[1]]
        if tree.is_floating:
            root = tree.inbound.index(None)
            x, v = _root_motion(poses[root], np.array(tree.links[root].center_of_mass), interval)
            coordinates.append(x)
            velocities.append(v)
        if not coordinates:
            return None
        return HandOver(
            path=tree.path,
            spans=tuple(((a - begin) / rate, (b - begin) / rate) for a, b in spans),
            start=float(first - begin) / rate,
            interval=interval,
            coordinates=np.concatenate(coordinates, axis=1),
            velocities=np.concatenate(velocities, axis=1),
        )

    def _poses(self, path: str, begin: float, codes: np.ndarray, placed: dict[Skeleton, np.ndarray]) -> list[Pose]:
        """World poses of a body at time codes; `placed` has the joints of skeletons so far, from `begin` on."""
        prim = self.inventory.bodies[path]
        joint = None if transform_changes(UsdGeom.Xformable(prim)) else self.joints.get(path)
        W = np.array(UsdGeom.XformCache(begin).GetLocalToWorldTransform(prim))
        if joint is None:
            matrices = world_transforms(prim, codes)
        else:
            skeleton = joint.skeleton
            if skeleton not in placed:
                placed[skeleton] = np.array([_placed(skeleton, code) for code in (begin, *codes)])
            own = placed[skeleton][:, skeleton.joints.index(joint.joint)]
            matrices = W @ np.linalg.inv(own[0]) @ own[1:]
        A = matrices.transpose(0, 2, 1).copy()
        A[:, :3] *= self.attributes.units.meters
        found, _, cosine = decompose(A)
        if not (np.isfinite(A).all() and cosine.max() <= SHEAR):
            raise StageError(f"{path} has no rigid pose at some time codes")
        return found


def _placed(skeleton: Skeleton, code: float) -> np.ndarray:
    """J W_S of all joints at a time code."""
    W_S = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(skeleton.prim))
    return skeleton.joint_matrices(code) @ W_S


def _spans(prim: Usd.Prim) -> Spans:
    """Time codes from and to which a body is kinematic."""
    attribute = prim.GetAttribute(KINEMATIC)
    codes = attribute.GetTimeSamples()
    spans, since = [], -math.inf
    is_kinematic = bool(attribute.Get(codes[0]))
    for code in codes[1:]:
        if bool(attribute.Get(code)) == is_kinematic:
            continue
        if is_kinematic:
            spans.append((since, float(code)))
        is_kinematic, since = not is_kinematic, float(code)
    return (*spans, (since, math.inf)) if is_kinematic else tuple(spans)


def _joint_motion(
    joint: Joint, poses: list[list[Pose]], bases: list[Pose] | None, interval: float
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities (T, dofs) of a joint between bodies that move."""
    X_WC = poses[joint.child]
    X_WP = poses[joint.parent] if joint.parent != WORLD else bases or [Pose()] * len(X_WC)
    X_FM = [(P @ joint.parent_frame).inverse() @ C @ joint.child_frame for P, C in zip(X_WP, X_WC)]
    X_01 = [X.inverse() for X in X_FM] if joint.reversed else X_FM
    x = np.array([positions_of(joint, X)[0] for X in X_01]).reshape(len(X_FM), len(joint.dofs))
    turning = [number for number, dof in enumerate(joint.dofs) if not dof.axis.is_linear]
    v = np.gradient(x, interval, axis=0)
    if turning and joint.has_vector:
        if len(turning) == 3:
            x[:, turning] = continuous_vectors(x[:, turning])
        axes = [joint.dofs[number].axis.index for number in turning]
        rates = (-1.0 if joint.reversed else 1.0) * _angular([X.rotation for X in X_FM], interval, of_body=True)
        v[:, turning] = rates[:, axes]
    elif turning:
        x[:, turning] = np.unwrap(x[:, turning], axis=0)
        authored = np.array([joint.dofs[number].position for number in turning])
        x[:, turning] += 2.0 * np.pi * np.round((authored - x[0, turning]) / (2.0 * np.pi))
        v[:, turning] = np.gradient(x[:, turning], interval, axis=0)
    return x, v


def _root_motion(poses: list[Pose], center: np.ndarray, interval: float) -> tuple[np.ndarray, np.ndarray]:
    """Position and quaternion (T, 7), and linear velocity of the centre of mass and angular velocity (T, 6)."""
    rows = np.array([[*pose.position, *pose.quaternion] for pose in poses])
    flips = np.cumprod(np.where((rows[1:, 3:] * rows[:-1, 3:]).sum(axis=1) < 0.0, -1.0, 1.0))
    rows[1:, 3:] *= flips[:, None]
    linear = np.gradient(np.array([pose.apply(center) for pose in poses]), interval, axis=0)
    return rows, np.concatenate([linear, _angular([pose.rotation for pose in poses], interval)], axis=1)


def _angular(R: list[np.ndarray], interval: float, of_body: bool = False) -> np.ndarray:
    """Angular velocities (T, 3), means of the turns before and after; in the axes of the body, or in those of space."""
    turns = [rotation_vector_from_matrix(a.T @ b if of_body else b @ a.T) for a, b in zip(R, R[1:])]
    rates = np.array(turns) / interval
    return np.concatenate([rates[:1], 0.5 * (rates[1:] + rates[:-1]), rates[-1:]])

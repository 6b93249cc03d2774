"""Where the world of a scene is in each world of a model: beside the others, or turned, as from Y up to Z up."""

from __future__ import annotations

import newton
import numpy as np
from warp_artic.extensions.newton.binding import Binding
from warp_artic.extensions.newton.worlds import Worlds, pose_of

from warp_artic.description.joint import WORLD
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene

ROUNDING = 1e-5
"""By how much a turn to other axes may differ from a right angle: Newton has single precision."""


def placements(model: newton.Model, worlds: Worlds, scene: Scene, binding: Binding) -> list[list[Pose]]:
    """The pose X_NS of the world of the scene in that of Newton, by articulation and environment."""
    return [_of(tree, model, worlds, scene, binding) for tree in scene.articulations]


def _of(tree, model: newton.Model, worlds: Worlds, scene: Scene, binding: Binding) -> list[Pose]:
    if tree.is_floating:
        root = tree.links[tree.inbound.index(None)]
        start = pose_of(model.body_q.numpy()[worlds.bodies[0, dict(binding.links)[root.path]]])
        return [_turn(start @ root.pose.inverse(), scene.gravity, model.gravity.numpy()[0])] * worlds.count
    X_SP, joint = next(binding.anchors[joint.path] for joint in tree.joints if joint.parent == WORLD)
    X_SP = X_SP.inverse()
    return [_exact(pose_of(X_p) @ X_SP) for X_p in model.joint_X_p.numpy()[worlds.joints[:, joint]]]


def _turn(X: Pose, gravity, gravity_of_newton) -> Pose:
    """Of a floating tree only the directions count, and only where gravity is another."""
    rotation = _exact(X).rotation
    is_same = np.allclose(gravity, gravity_of_newton, atol=ROUNDING * (1.0 + np.abs(gravity_of_newton).max()))
    return Pose() if is_same else Pose.of(np.zeros(3), rotation)


def _exact(X: Pose) -> Pose:
    """The same pose, without what single precision adds to turns by right angles and to no shift."""
    rotation, position = X.rotation, np.asarray(X.position)
    if np.abs(rotation - rotation.round()).max() < ROUNDING:
        rotation = rotation.round()
    return Pose.of(np.where(np.abs(position) < ROUNDING, 0.0, position), rotation)

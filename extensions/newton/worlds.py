"""Which joints and bodies of a model of Newton are in which environment of a simulation.

Worlds that are alike but for numbers are environments of one scene. Where they are not, or where something is in all
of them, everything is in one environment: worlds do not touch each other, so that is the same motion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import newton
import numpy as np
from warp_artic.extensions.newton.limits import are_hard

from warp_artic.description.pose import Pose

SAME_PLACE = 1e-4
"""By how much alike worlds may differ in where their joints on the world are relative to each other [m]: rounding."""


@dataclass(frozen=True)
class Worlds:
    """Joints and bodies of each environment, in the same order in all of them."""

    joints: np.ndarray
    """Indices in the model, shape (environments, joints)."""
    bodies: np.ndarray
    """Indices in the model, shape (environments, bodies)."""

    @property
    def count(self) -> int:
        """Number of environments."""
        return len(self.joints)


def worlds_of(model: newton.Model) -> Worlds:
    """The environments of a model."""
    joints = _blocks(model.joint_world_start, model.world_count, model.joint_count)
    bodies = _blocks(model.body_world_start, model.world_count, model.body_count)
    if joints is not None and bodies is not None:
        worlds = Worlds(joints, bodies)
        if all((row == row[0]).all() for row in _likeness(model, worlds)):
            return worlds
    return Worlds(np.arange(model.joint_count)[None], np.arange(model.body_count)[None])


def pose_of(transform) -> Pose:
    """A transform of Newton, in double precision."""
    x = np.asarray(transform, float)
    return Pose(tuple(map(float, x[:3])), tuple(map(float, x[3:] / np.linalg.norm(x[3:]))))


def leaders_of(model: newton.Model) -> tuple[np.ndarray, np.ndarray]:
    """The joint that each joint follows, or -1, and the offset and the multiple, shape (joints, 2)."""
    leaders, coefficients = model.joint_mimic_joint.numpy().copy(), model.joint_mimic_coeffs.numpy().astype(float)
    if model.constraint_mimic_count:  # what is read from equality constraints of MuJoCo
        on = model.constraint_mimic_enabled.numpy()
        followers = model.constraint_mimic_joint0.numpy()[on]
        leaders[followers] = model.constraint_mimic_joint1.numpy()[on]
        coefficients[followers, 0] = model.constraint_mimic_coef0.numpy()[on]
        coefficients[followers, 1] = model.constraint_mimic_coef1.numpy()[on]
    return leaders, coefficients


def _blocks(starts, worlds: int, count: int) -> np.ndarray | None:
    """Indices by world, shape (worlds, n), where all worlds have as many and nothing is in all of them."""
    if worlds < 1:
        return None
    starts = starts.numpy()[: worlds + 1]
    sizes = np.diff(starts)
    if starts[0] != 0 or starts[-1] != count or (sizes != sizes[0]).any():
        return None
    return starts[:-1, None] + np.arange(sizes[0])


def _likeness(model: newton.Model, worlds: Worlds) -> Iterator[np.ndarray]:
    """What alike worlds have in common, each of shape (worlds, ...); each is asked for if those before agree."""
    first_joint, first_body = worlds.joints[:, :1], worlds.bodies[:, :1]
    parents = model.joint_parent.numpy()[worlds.joints]
    leaders = leaders_of(model)[0][worlds.joints]
    yield np.where(parents < 0, -1, parents - first_body)
    yield model.joint_child.numpy()[worlds.joints] - first_body
    yield np.where(leaders < 0, -1, leaders - first_joint)
    articulations = model.joint_articulation.numpy()[worlds.joints]
    yield np.where(articulations < 0, -1, articulations - articulations.max(axis=1, keepdims=True))
    for name in ("joint_type", "joint_enabled", "joint_dof_dim"):
        yield getattr(model, name).numpy()[worlds.joints]
    kinds = model.joint_type.numpy()[worlds.joints]
    is_free = kinds[..., None] == newton.JointType.FREE
    X_p = model.joint_X_p.numpy()[worlds.joints]
    anchors = np.flatnonzero((parents[0] < 0) & (kinds[0] != newton.JointType.FREE))
    yield np.where(is_free | (parents < 0)[..., None], 0.0, X_p)
    if len(anchors) > 1:
        places = np.array([_relative(own[anchors]) for own in X_p])
        yield np.abs(places - places[0]) > SAME_PLACE
    yield np.where(is_free, 0.0, model.joint_X_c.numpy()[worlds.joints])
    starts = model.joint_qd_start.numpy()
    first, dofs = starts[worlds.joints[:, 0]], starts[worlds.joints[0, -1] + 1] - starts[worlds.joints[0, 0]]
    own = first[:, None] + np.arange(dofs)
    yield model.joint_axis.numpy()[own]
    yield are_hard(model)[own]
    yield model.body_flags.numpy()[worlds.bodies]
    yield model.body_mass.numpy()[worlds.bodies] > 0.0


def _relative(X_p: np.ndarray) -> np.ndarray:
    """Where joints on the world are as seen from the first of them."""
    first = pose_of(X_p[0]).inverse()
    others = [first @ pose_of(X) for X in X_p[1:]]
    return np.array([[*X.position, *X.rotation.ravel()] for X in others])

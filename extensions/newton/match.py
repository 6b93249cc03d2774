"""What of a scene that was read from a stage is what of a model that Newton read from the same stage, by prim paths."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import newton
import numpy as np
from warp_artic.extensions.newton.binding import Binding
from warp_artic.extensions.newton.worlds import Worlds, pose_of

from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, rotation_vector_from_matrix
from warp_artic.description.scene import Scene
from warp_artic.errors import HostError

SAME_PLACE = 1e-4
"""By how much frames of the two may differ [m, rad]: Newton has single precision."""

OTHER_UNIT = 50.0
"""By how much inertias differ where a length has another unit; where Newton only corrects them they differ less."""

FREE, FIXED, BALL = newton.JointType.FREE, newton.JointType.FIXED, newton.JointType.BALL


def match(model: newton.Model, worlds: Worlds, scene: Scene) -> Binding:
    """The joints and bodies of the first environment that the scene has.

    Raises:
        HostError: The two are not of one stage, or a joint has other coordinates in each.
    """
    return _Match(model, worlds, scene).result()


def counting_turns(scene: Scene) -> Scene:
    """The scene with positions of rotations that count all turns, as those of Newton do."""

    def counting(joint: Joint) -> Joint:
        return replace(joint, dofs=tuple(replace(dof, wraps=False) for dof in joint.dofs))

    trees = (replace(tree, joints=tuple(map(counting, tree.joints))) for tree in scene.articulations)
    return replace(scene, articulations=tuple(trees))


class _Match:
    def __init__(self, model: newton.Model, worlds: Worlds, scene: Scene):
        self.model, self.worlds, self.scene = model, worlds, scene
        joints, bodies = worlds.joints[0], worlds.bodies[0]
        paths = [joint.path for tree in scene.articulations for joint in tree.joints]
        self.joint_at = _by_path((model.joint_label[joint] for joint in joints), paths)
        self.body_at = _by_path((model.body_label[body] for body in bodies), scene.link_names)
        self.kind = [newton.JointType(int(kind)) for kind in model.joint_type.numpy()[joints]]
        self.dims = model.joint_dof_dim.numpy()[joints]
        self.X_p, self.X_c = model.joint_X_p.numpy()[joints], model.joint_X_c.numpy()[joints]
        self.first_dof = model.joint_qd_start.numpy()[joints]
        place_of = {int(body): place for place, body in enumerate(bodies)}
        child = [place_of[int(body)] for body in model.joint_child.numpy()[joints]]
        self.free_joint_of = {body: joint for joint, body in enumerate(child) if self.kind[joint] is FREE}
        self.axes: list[tuple[str, int, int]] = []
        self.balls: list[tuple[tuple[str, str, str], int]] = []

    def result(self) -> Binding:
        roots = []
        for path in self.scene.link_names:
            if path not in self.body_at:
                raise HostError(f"{path}: is a link of the scene, and the model has no body of this label")
        for tree in self.scene.articulations:
            if tree.is_floating:
                root = tree.links[tree.inbound.index(None)].path
                if self.body_at[root] not in self.free_joint_of:
                    raise HostError(f"{root}: floats in the scene, and its body has no FREE joint in the model")
                self._check_unit(tree.links[tree.inbound.index(None)])
                roots.append((root, self.free_joint_of[self.body_at[root]]))
            for joint in tree.joints:
                if joint.path not in self.joint_at:
                    raise HostError(f"{joint.path}: is a joint of the scene, and the model has none of this label")
                if joint.dofs:
                    self._joint(joint)
        bound = {joint for _, joint, _ in self.axes} | {joint for _, joint in (*self.balls, *roots)}
        matched = set(self.joint_at.values())
        in_trees = self.model.joint_articulation.numpy()[self.worlds.joints[0]] >= 0
        held = {one.name for tree in self.scene.articulations for one in tree.constraints}
        for joint, in_tree in enumerate(in_trees):
            label = self.model.joint_label[self.worlds.joints[0, joint]]
            if not in_tree and joint in matched:
                raise HostError(
                    f"joint {label}: is in no articulation of the model, whose bodies float there; a stage says by "
                    "PhysicsArticulationRootAPI what is one"
                )
            if not in_tree and label not in held:
                warnings.warn(f"joint {label}: closes a loop and is not simulated", stacklevel=6)
            elif in_tree and self.dims[joint].sum() and joint not in bound:
                found = self.kind[joint].name
                raise HostError(f"joint {label}: is a {found} joint of the model that the scene does not have")
        links = tuple((path, self.body_at[path]) for path in self.scene.link_names)
        anchors = {
            joint.path: (self._parent_frame(joint), self.joint_at[joint.path])
            for tree in self.scene.articulations
            for joint in tree.joints
            if joint.parent == WORLD
        }
        return Binding(tuple(self.axes), tuple(self.balls), tuple(roots), links, anchors)

    def _check_unit(self, link: Link) -> None:
        """Newton keeps the lengths of a stage as they are, and a scene has metres."""
        body = self.worlds.bodies[0, self.body_at[link.path]]
        ratio = np.trace(self.model.body_inertia.numpy()[body]) / (link.inertia[0] + link.inertia[3] + link.inertia[5])
        if not 1.0 / OTHER_UNIT < ratio < OTHER_UNIT:
            raise HostError(
                f"{link.path}: has {ratio:.3g} times the inertia of the scene in the model, which is not in metres; "
                "without scene= it is stepped in its own unit"
            )

    def _joint(self, joint: Joint) -> None:
        if joint.reversed:
            raise HostError(f"{joint.path}: points from the child to the parent; Newton's coordinates do not")
        place = self.joint_at[joint.path]
        names = tuple(dof.name for dof in joint.dofs)
        if self.kind[place] is BALL and len(names) == 3:
            self._check_frames(joint, place)
            self.balls.append((names, place))
            return
        turns = [dof for dof in joint.dofs if not dof.axis.is_linear]
        if int(self.dims[place].sum()) != len(names) or len(turns) > 1:
            found = f"a {self.kind[place].name} joint with {int(self.dims[place].sum())} axes"
            raise HostError(
                f"{joint.path}: has the dofs {', '.join(names)}, and is {found} in the model, whose coordinates are "
                "other ones; a step without scene= takes those of the model"
            )
        self._check_frames(joint, place)
        for dof in joint.dofs:
            self.axes.append((dof.name, place, self._axis(joint, dof, place)))

    def _axis(self, joint: Joint, dof, place: int) -> int:
        """Which axis of the joint of the model a dof is."""
        shifts, turns = map(int, self.dims[place])
        own = range(shifts) if dof.axis.is_linear else range(shifts, shifts + turns)
        R_PM = pose_of(self.X_c[place]).rotation.T @ joint.child_frame.rotation
        for k in own:
            axis = self.model.joint_axis.numpy()[self.first_dof[place] + k]
            if np.allclose(R_PM[:, dof.axis.index], axis, atol=SAME_PLACE):
                return k
        raise HostError(f"{dof.name}: moves along another axis than the joint of the model")

    def _parent_frame(self, joint: Joint) -> Pose:
        """The frame on the world of a joint of the scene, such that the child-side frame is that of the model."""
        return joint.parent_frame @ joint.child_frame.inverse() @ pose_of(self.X_c[self.joint_at[joint.path]])

    def _check_frames(self, joint: Joint, place: int) -> None:
        """The child is at one place in the parent while no joint is displaced."""
        ours = joint.parent_frame @ joint.child_frame.inverse()
        theirs = pose_of(self.X_p[place]) @ pose_of(self.X_c[place]).inverse()
        off = math.dist(ours.position, theirs.position), _angle(ours, theirs)
        if joint.parent == WORLD:
            off = 0.0, 0.0  # the world of the scene may be elsewhere in that of the model; see `placements`
        if self.kind[place] is BALL:
            off = off[0], max(off[1], _angle(joint.child_frame, pose_of(self.X_c[place])))
        if max(off) > SAME_PLACE:
            raise HostError(
                f"{joint.path}: has its child {1e3 * off[0]:.3g} mm and {math.degrees(off[1]):.3g} degrees from where "
                "the model has it; the model was changed, is of another stage, or is not in metres"
            )


def _angle(X: Pose, Y: Pose) -> float:
    """Between the axes of two frames [rad]."""
    return float(np.linalg.norm(rotation_vector_from_matrix(X.rotation.T @ Y.rotation)))


def _by_path(labels, paths) -> dict[str, int]:
    """The place of each label that is a path, or ends with one after a prefix of its world."""
    known, found = set(paths), {}
    for place, label in enumerate(labels):
        path = label if label in known else next((path for path in known if label.endswith("/" + path)), None)
        if path is not None:
            found[path] = place
    return found

"""The same articulation as a Pinocchio model, with results in our conventions.

Pinocchio's joints: revolute and prismatic about any axis, spherical (quaternion, velocity in the child frame), free
flyer (velocity of the link origin, axes of the link). Twist with one swing is two revolute joints in a row. Two swings
are a spherical joint whose velocities are restricted:  v_pin = T v  and  a_pin = T vdot + b.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.pose import Pose

DIFFERENCE_WEIGHTS = np.array([4 / 5, -1 / 5, 4 / 105, -1 / 280])
"""Central difference of eighth order, at 1 to 4 steps either side."""


@dataclass(frozen=True)
class PinocchioModel:
    """A model and where our links, joints and dofs are in it."""

    articulation: Articulation
    model: pin.Model
    joint_of_link: list[int]
    """Pinocchio joint that carries each link."""
    X_ML: list[pin.SE3]
    """Link frame in the frame of that joint."""
    joint_index: list[int]
    """Pinocchio joint of each of our joints, of two in a row the last one; 0 for a fixed one."""


def build(articulation: Articulation, gravity=(0.0, 0.0, -9.81)) -> PinocchioModel:
    """Add the links from the root outward; fixed joints merge the child into its parent's body."""
    model = pin.Model()
    model.gravity = pin.Motion(np.asarray(gravity, float), np.zeros(3))
    link_count, joint_count = len(articulation.links), len(articulation.joints)
    out = PinocchioModel(articulation, model, [0] * link_count, [None] * link_count, [0] * joint_count)
    root = WORLD
    if articulation.is_floating:
        root = articulation.inbound.index(None)
        add_link(
            out, root, model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base"), pin.SE3.Identity()
        )
    add_children(out, root)
    set_armature(out)
    return out


def add_children(out: PinocchioModel, parent: int) -> None:
    """Add all that hangs on a link or the world, depth first: Pinocchio needs subtrees to be contiguous."""
    for index, joint in enumerate(out.articulation.joints):
        if joint.parent == parent:
            out.joint_index[index] = add_joint(out, joint)
            add_children(out, joint.child)


def add_joint(out: PinocchioModel, joint: Joint) -> int:
    """Add a joint and its child; returns the Pinocchio joint, 0 for a fixed one."""
    parent, X_JP = 0, pin.SE3.Identity()
    if joint.parent != WORLD:
        parent, X_JP = out.joint_of_link[joint.parent], out.X_ML[joint.parent]
    X_JF = X_JP * se3(joint.parent_frame)
    if not joint.dofs:
        add_link(out, joint.child, parent, X_JF * se3(joint.child_frame).inverse())
        return 0
    for number, model in enumerate(joint_models(joint)):
        parent = out.model.addJoint(parent, model, X_JF, f"{joint.path} {number}")
        X_JF = pin.SE3.Identity()
    add_link(out, joint.child, parent, se3(joint.child_frame).inverse())
    return parent


def add_link(out: PinocchioModel, link: int, joint: int, X_JL: pin.SE3) -> None:
    """Attach the mass of a link to a Pinocchio joint."""
    body = out.articulation.links[link]
    xx, xy, xz, yy, yz, zz = body.inertia
    inertia = pin.Inertia(
        body.mass, np.array(body.center_of_mass), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    )
    if joint:
        out.model.appendBodyToJoint(joint, inertia, X_JL)
    out.joint_of_link[link], out.X_ML[link] = joint, X_JL


def joint_models(joint: Joint):
    """Pinocchio's joints; those of a reversed joint with one dof or two in a row turn about the opposite axis."""
    if len(joint.dofs) == 3 or is_projected(joint):
        return [pin.JointModelSpherical()]
    models = []
    for dof in in_order(joint):
        axis = np.eye(3)[dof.axis.index] * (-1.0 if joint.reversed else 1.0)
        unaligned = pin.JointModelPrismaticUnaligned if dof.axis.is_linear else pin.JointModelRevoluteUnaligned
        models.append(unaligned(axis))
    return models


def is_projected(joint: Joint) -> bool:
    """Whether a joint is a spherical one with restricted velocities."""
    return len(joint.dofs) == 2 and joint.cone_axis not in [dof.axis for dof in joint.dofs]


def is_in_a_row(joint: Joint) -> bool:
    """Whether a joint is a revolute or prismatic one, or two in a row."""
    return len(joint.dofs) < 3 and not is_projected(joint)


def in_order(joint: Joint):
    """The dofs of a joint outward; of twist and swing, the swing is about an axis of the first authored frame."""
    if len(joint.dofs) != 2 or is_projected(joint):
        return joint.dofs
    swing, twist = sorted(joint.dofs, key=lambda dof: dof.axis is joint.cone_axis)
    return (twist, swing) if joint.reversed else (swing, twist)


def places(joint: Joint) -> list[int]:
    """Where each dof is in that order."""
    return [in_order(joint).index(dof) for dof in joint.dofs]


def set_armature(out: PinocchioModel) -> None:
    """Armature; that of joints with restricted velocities is added after the projection."""
    armature = np.zeros(out.model.nv)
    for joint, index in zip(out.articulation.joints, out.joint_index):
        if joint.dofs and not is_projected(joint):
            armature[velocity_slice(out, joint, index)] = [dof.armature for dof in in_order(joint)]
    out.model.armature = armature


def configuration(out: PinocchioModel, state: State) -> np.ndarray:
    """Pinocchio's q."""
    q = pin.neutral(out.model)
    if out.articulation.is_floating:
        q[:7] = state.root_pose
        q[3:7] /= np.linalg.norm(q[3:7])
    for joint, index, dofs in joints_with_dofs(out):
        start = out.model.joints[index].idx_q
        if is_in_a_row(joint):
            q[start + 1 - len(joint.dofs) + np.array(places(joint))] = state.joint_position[dofs]
        else:
            q[start : start + 4] = pin.Quaternion(relative_rotation(joint, state.joint_position[dofs])).coeffs()
    return q


def velocity_map(out: PinocchioModel, state: State) -> np.ndarray:
    """T, shape (nv of Pinocchio, N)."""
    base = 6 if out.articulation.is_floating else 0
    T = np.zeros((out.model.nv, base + len(state.joint_position)))
    if base:
        R, p_LC = root_rotation(state), root_center_of_mass(out)
        T[:3, :3] = T[3:6, 3:6] = R.T
        T[:3, 3:6] = pin.skew(p_LC) @ R.T
    for joint, index, dofs in joints_with_dofs(out):
        rows, columns = velocity_slice(out, joint, index), slice(base + dofs.start, base + dofs.stop)
        if is_in_a_row(joint):
            T[rows, columns] = np.eye(len(joint.dofs))[:, places(joint)]
        else:
            sign = -1.0 if joint.reversed else 1.0
            T[rows, columns] = sign * allowed_rotations(joint, relative_rotation(joint, state.joint_position[dofs]))
    return T


def velocity_map_bias(out: PinocchioModel, state: State) -> np.ndarray:
    """b = Tdot v, shape (nv of Pinocchio)."""
    b = np.zeros(out.model.nv)
    if out.articulation.is_floating:
        R, p_LC = root_rotation(state), root_center_of_mass(out)
        omega = R.T @ state.root_velocity[3:]
        linear = R.T @ state.root_velocity[:3] - np.cross(omega, p_LC)
        b[:3] = -np.cross(omega, np.cross(omega, p_LC)) - np.cross(omega, linear)
    for joint, index, dofs in joints_with_dofs(out):
        if is_projected(joint):
            v = state.joint_velocity[dofs] * (-1.0 if joint.reversed else 1.0)
            R_FM = relative_rotation(joint, state.joint_position[dofs])
            b[velocity_slice(out, joint, index)] = allowed_rotations_rate(joint, R_FM, v) @ v
    return b


def allowed_rotations(joint: Joint, R_FM: np.ndarray) -> np.ndarray:
    """S with omega = S v, axes of M, shape (3, dofs): the locked component of log(R_FM) keeps its value."""
    free = [dof.axis.index for dof in joint.dofs]
    S = np.eye(3)[:, free]
    if len(free) == 2:
        locked = ({0, 1, 2} - set(free)).pop()
        row = pin.Jlog3(R_FM)[locked]
        S[locked] = -row[free] / row[locked]
    return S


def allowed_rotations_rate(joint: Joint, R_FM: np.ndarray, v: np.ndarray, step: float = 5e-3) -> np.ndarray:
    """The time derivative of S while M turns at S v; differences of eighth order."""
    omega = allowed_rotations(joint, R_FM) @ v
    step = step / max(1.0, float(np.linalg.norm(omega)))
    rate = np.zeros((3, len(v)))
    for count, weight in enumerate(DIFFERENCE_WEIGHTS, start=1):
        ahead = allowed_rotations(joint, R_FM @ pin.exp3(count * step * omega))
        behind = allowed_rotations(joint, R_FM @ pin.exp3(-count * step * omega))
        rate += weight * (ahead - behind) / step
    return rate


def mass_matrix(out: PinocchioModel, state: State) -> np.ndarray:
    """M with armature, shape (N, N)."""
    T = velocity_map(out, state)
    M = pin.crba(out.model, out.model.createData(), configuration(out, state))
    M = np.triu(M) + np.triu(M, 1).T
    return T.T @ M @ T + np.diag(projected_armature(out))


def nonlinear_effort(out: PinocchioModel, state: State) -> np.ndarray:
    """c + g, shape (N)."""
    T, b = velocity_map(out, state), velocity_map_bias(out, state)
    v_pin = T @ generalized_velocity(state)
    return T.T @ pin.rnea(out.model, out.model.createData(), configuration(out, state), v_pin, b)


def acceleration(out: PinocchioModel, state: State, effort: np.ndarray, wrench: np.ndarray | None = None) -> np.ndarray:
    """The vdot (N) that efforts (N) and link wrenches (L, 6) at the centres of mass give.

    By the articulated-body algorithm, or by a solve with the projected mass matrix where velocities are restricted.
    """
    T, b = velocity_map(out, state), velocity_map_bias(out, state)
    q, v_pin = configuration(out, state), T @ generalized_velocity(state)
    forces = joint_forces(out, state, wrench)
    data = out.model.createData()
    if T.shape[0] == T.shape[1]:
        a_pin = pin.aba(out.model, data, q, v_pin, np.linalg.solve(T.T, effort), forces)
        return np.linalg.solve(T, a_pin - b)
    rest = T.T @ pin.rnea(out.model, data, q, v_pin, b, forces)
    return np.linalg.solve(mass_matrix(out, state), effort - rest)


def link_motion(out: PinocchioModel, state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R_WL (L, 3, 3), p_WL (L, 3), and velocities (L, 6): of the centre of mass, then angular, world axes."""
    data = out.model.createData()
    v_pin = velocity_map(out, state) @ generalized_velocity(state)
    pin.forwardKinematics(out.model, data, configuration(out, state), v_pin)
    R, p, V = [], [], []
    for link, joint, X_JL in zip(out.articulation.links, out.joint_of_link, out.X_ML):
        X_WL = data.oMi[joint] * X_JL
        X_WC = pin.SE3(np.eye(3), X_WL.act(np.array(link.center_of_mass)))
        twist = X_WC.actInv(data.oMi[joint].act(data.v[joint]))
        R.append(X_WL.rotation)
        p.append(X_WL.translation)
        V.append([*twist.linear, *twist.angular])
    return np.array(R), np.array(p), np.array(V)


def incoming_joint_force(out: PinocchioModel, state: State, vdot: np.ndarray, wrench=None) -> dict[int, np.ndarray]:
    """Force and torque by each joint with dofs on its child link, axes and origin of its frame M, by child link."""
    T, b = velocity_map(out, state), velocity_map_bias(out, state)
    data = out.model.createData()
    forces = joint_forces(out, state, wrench)
    pin.rnea(out.model, data, configuration(out, state), T @ generalized_velocity(state), T @ vdot + b, forces)
    return {joint.child: data.f[index].vector.copy() for joint, index, _ in joints_with_dofs(out)}


def joint_forces(out: PinocchioModel, state: State, wrench: np.ndarray | None) -> list[pin.Force]:
    """Link wrenches (L, 6) as forces on Pinocchio's joints, in their frames."""
    forces = [pin.Force.Zero() for _ in range(out.model.njoints)]
    if wrench is None:
        return forces
    data = out.model.createData()
    pin.forwardKinematics(out.model, data, configuration(out, state))
    for link, joint, X_JL, values in zip(out.articulation.links, out.joint_of_link, out.X_ML, wrench):
        p_WC = (data.oMi[joint] * X_JL).act(np.array(link.center_of_mass))
        at_center = pin.SE3(np.eye(3), p_WC).act(pin.Force(np.asarray(values, float)))
        forces[joint] += data.oMi[joint].actInv(at_center)
    return forces


def relative_rotation(joint: Joint, position: np.ndarray) -> np.ndarray:
    """R_FM of a joint with several rotational dofs, shape (3, 3)."""
    vector = np.zeros(3)
    vector[[dof.axis.index for dof in joint.dofs]] = -position if joint.reversed else position
    return pin.exp3(vector)


def joints_with_dofs(out: PinocchioModel):
    """Each joint that moves, with its Pinocchio joint and the slice of its dofs."""
    start = 0
    for joint, index in zip(out.articulation.joints, out.joint_index):
        if joint.dofs:
            yield joint, index, slice(start, start + len(joint.dofs))
        start += len(joint.dofs)


def projected_armature(out: PinocchioModel) -> np.ndarray:
    """Armature that Pinocchio does not know of: that of joints with restricted velocities, shape (N)."""
    base = [0.0] * (6 if out.articulation.is_floating else 0)
    return np.array(
        base + [dof.armature * is_projected(joint) for joint in out.articulation.joints for dof in joint.dofs]
    )


def generalized_velocity(state: State) -> np.ndarray:
    """Root velocity (6) if there is one, then joint velocities."""
    return np.concatenate([np.zeros(0) if state.root_velocity is None else state.root_velocity, state.joint_velocity])


def velocity_slice(out: PinocchioModel, joint: Joint, index: int) -> slice:
    """Where the velocities of the Pinocchio joints of one of ours are; of two in a row, `index` is the second."""
    end = out.model.joints[index].idx_v + out.model.joints[index].nv
    return slice(end - (len(joint.dofs) if is_in_a_row(joint) else out.model.joints[index].nv), end)


def root_rotation(state: State) -> np.ndarray:
    """R_WL of a floating root, shape (3, 3)."""
    return pin.Quaternion(np.asarray(state.root_pose[3:], float)).normalized().matrix()


def root_center_of_mass(out: PinocchioModel) -> np.ndarray:
    """p_LC of a floating root [m], shape (3)."""
    return np.array(out.articulation.links[out.articulation.inbound.index(None)].center_of_mass)


def se3(pose: Pose) -> pin.SE3:
    """A pose as Pinocchio has it."""
    return pin.SE3(pose.rotation, np.array(pose.position))

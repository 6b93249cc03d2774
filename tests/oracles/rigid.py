"""Dynamics of one articulation, dense and in double precision:  M vdot + c + g = tau + J^T f.

A generalized velocity is [linear velocity of the root's centre of mass, angular velocity of the root, both in world
axes, if the base floats; joint velocities in the order of `articulation.joints`]. `vdot` is its time derivative.
L links, D joint dofs, N = D or 6 + D generalized velocities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.oracles import joint_motion
from tests.oracles.remembered import by_identity
from tests.oracles.rotations import cross, matrix_from_quaternion
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose, quaternion_from_matrix

GRAVITY = (0.0, 0.0, -9.81)
"""[m/s^2]"""


@dataclass(frozen=True)
class Motion:
    """Where all links are and how they move, at one state."""

    articulation: Articulation
    velocity: np.ndarray
    """Generalized velocity, shape (N)."""
    R_WL: np.ndarray
    """Shape (L, 3, 3)."""
    p_WL: np.ndarray
    """Origins of the link frames [m], shape (L, 3)."""
    p_WC: np.ndarray
    """Centres of mass [m], shape (L, 3)."""
    R_WM: np.ndarray
    """Child-side frames of the inbound joints, shape (L, 3, 3); of a floating root its link frame."""
    p_WM: np.ndarray
    """[m], shape (L, 3)"""
    J: np.ndarray
    """Velocity of the centre of mass, then angular velocity, by generalized velocity, shape (L, 6, N)."""
    A_bias: np.ndarray
    """Acceleration of the centre of mass, then angular acceleration, at vdot = 0, shape (L, 6)."""

    @property
    def V(self) -> np.ndarray:
        """Linear velocity of the centre of mass [m/s], then angular [rad/s], world axes, shape (L, 6)."""
        return self.J @ self.velocity

    @property
    def link_pose(self) -> np.ndarray:
        """World poses of the link frames, xyz [m] then quaternion xyzw, shape (L, 7)."""
        return np.array([[*p, *quaternion_from_matrix(R)] for p, R in zip(self.p_WL, self.R_WL)])


def motion(articulation: Articulation, state: State) -> Motion:
    """Kinematics of an articulation at a public state."""
    return motion_at(articulation, coordinates(articulation, state), velocity(articulation, state))


# ---------------------------------------------------------------------------------------------------------------------
# Coordinates
# ---------------------------------------------------------------------------------------------------------------------


def coordinates(articulation: Articulation, state: State) -> np.ndarray:
    """Root pose (7) if floating, then the coordinates of each joint, all without singularities."""
    parts = [np.asarray(state.root_pose, float)] if articulation.is_floating else []
    for joint, dofs in zip(articulation.joints, dof_slices(articulation)):
        parts.append(joint_motion.coordinates_of(joint, state.joint_position[dofs]))
    return np.concatenate([*parts, np.zeros(0)])


def coordinates_rate(articulation: Articulation, coordinates: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """The time derivative of the coordinates at a generalized velocity (N)."""
    parts = []
    if articulation.is_floating:
        R_WL, p_LC = matrix_from_quaternion(coordinates[3:7]), root(articulation)[1].center_of_mass
        linear, angular = velocity[:3], velocity[3:6]
        parts.append(linear - cross(angular, R_WL @ p_LC))
        parts.append(joint_motion.quaternion_rate(coordinates[3:7], R_WL.T @ angular))
    base = base_count(articulation)
    for joint, part, dofs in zip(articulation.joints, coordinate_slices(articulation), dof_slices(articulation)):
        parts.append(joint_motion.coordinates_rate(joint, coordinates[part], velocity[base:][dofs]))
    return np.concatenate([*parts, np.zeros(0)])


def public_state(articulation: Articulation, coordinates: np.ndarray, velocity: np.ndarray) -> State:
    """The state with given coordinates and a generalized velocity (N)."""
    base = base_count(articulation)
    positions = [
        joint_motion.position_of(joint, coordinates[part])
        for joint, part in zip(articulation.joints, coordinate_slices(articulation))
    ]
    return State(
        joint_position=np.concatenate([*positions, np.zeros(0)]),
        joint_velocity=velocity[base:],
        root_pose=coordinates[:7] if base else None,
        root_velocity=velocity[:6] if base else None,
    )


def velocity(articulation: Articulation, state: State) -> np.ndarray:
    """The generalized velocity, shape (N)."""
    if not articulation.is_floating:
        return np.asarray(state.joint_velocity, float)
    return np.concatenate([state.root_velocity, state.joint_velocity])


def base_count(articulation: Articulation) -> int:
    """6 on a floating base, else 0."""
    return 6 if articulation.is_floating else 0


@by_identity
def root(articulation: Articulation) -> tuple[int, Link]:
    """Index and description of the root link of a floating tree."""
    link = articulation.inbound.index(None)
    return link, articulation.links[link]


@by_identity
def dof_slices(articulation: Articulation) -> list[slice]:
    """Where the dofs of each joint are among all joint dofs."""
    return slices([len(joint.dofs) for joint in articulation.joints])


@by_identity
def coordinate_slices(articulation: Articulation) -> list[slice]:
    """Where the coordinates of each joint are among all coordinates."""
    counts = [joint_motion.coordinate_count(joint) for joint in articulation.joints]
    return slices(counts, 7 if articulation.is_floating else 0)


def slices(counts: list[int], start: int = 0) -> list[slice]:
    """Consecutive slices of given lengths."""
    ends = np.cumsum([start, *counts])
    return [slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:])]


# ---------------------------------------------------------------------------------------------------------------------
# Kinematics
# ---------------------------------------------------------------------------------------------------------------------


def motion_at(articulation: Articulation, coordinates: np.ndarray, velocity: np.ndarray) -> Motion:
    """Kinematics at given coordinates and a generalized velocity (N)."""
    link_count = len(articulation.links)
    result = Motion(
        articulation,
        np.asarray(velocity, float),
        *(np.zeros((link_count, *shape)) for shape in ((3, 3), (3,), (3,), (3, 3), (3,), (6, len(velocity)), (6,))),
    )
    if articulation.is_floating:
        place_root(result, coordinates)
    parts, dofs = coordinate_slices(articulation), dof_slices(articulation)
    for index in outward_joints(articulation):
        place_child(result, articulation.joints[index], coordinates[parts[index]], dofs[index])
    return result


def place_root(out: Motion, coordinates: np.ndarray) -> None:
    """Fill in the root link of a floating tree."""
    link, description = root(out.articulation)
    out.p_WL[link], out.R_WL[link] = coordinates[:3], matrix_from_quaternion(coordinates[3:7])
    out.p_WM[link], out.R_WM[link] = out.p_WL[link], out.R_WL[link]
    out.p_WC[link] = out.p_WL[link] + out.R_WL[link] @ description.center_of_mass
    out.J[link, :, :6] = np.eye(6)


def place_child(out: Motion, joint: Joint, coordinates: np.ndarray, dofs: slice) -> None:
    """Fill in the child of a joint, whose parent is filled in.

    X_WL = X_WP X_PF X_FM X_ML;  omega = omega_P + R_WM H v;  alpha = alpha_P + omega_P x (R_WM H v) + R_WM Hdot v;
    the slide R_WM H v of M in F has the rate R_WM (omega_FM x H v + Hdot v) there.
    """
    child, parent = joint.child, joint.parent
    base = base_count(out.articulation)
    columns = slice(base + dofs.start, base + dofs.stop)
    v = out.velocity[columns]
    R_WP, p_WP, p_WO, J_P, A_P = parent_motion(out, parent)

    (R_PF, p_PF), (R_LM, p_LM) = placement(joint.parent_frame), placement(joint.child_frame)
    R_FM, p_FM = joint_motion.displacement(joint, coordinates)
    R_WF = R_WP @ R_PF
    R_WM = R_WF @ R_FM
    p_WM = p_WP + R_WP @ p_PF + R_WF @ p_FM
    R_WL = R_WM @ R_LM.T
    p_WL = p_WM - R_WL @ p_LM
    p_WC = p_WL + R_WL @ out.articulation.links[child].center_of_mass
    arm_P, arm = p_WM - p_WO, p_WC - p_WM

    H = joint_motion.subspace(joint, coordinates)
    H_rate = joint_motion.subspace_rate(joint, coordinates, v)
    J = J_P.copy()
    J[:3] -= cross_matrix(arm_P) @ J_P[3:]
    J[:3, columns] += R_WM @ H[:3]
    J[3:, columns] += R_WM @ H[3:]
    J[:3] -= cross_matrix(arm) @ J[3:]

    omega_P, omega = J_P[3:] @ out.velocity, J[3:] @ out.velocity
    slide, turn = R_WM @ H[:3] @ v, R_WM @ H[3:] @ v
    alpha = A_P[3:] + cross(omega_P, turn) + R_WM @ H_rate[3:] @ v
    a_M = A_P[:3] + cross(A_P[3:], arm_P) + cross(omega_P, cross(omega_P, arm_P) + 2.0 * slide)
    a_M = a_M + cross(turn, slide) + R_WM @ H_rate[:3] @ v

    out.R_WM[child], out.p_WM[child] = R_WM, p_WM
    out.R_WL[child], out.p_WL[child], out.p_WC[child] = R_WL, p_WL, p_WC
    out.J[child] = J
    out.A_bias[child, :3] = a_M + cross(alpha, arm) + cross(omega, cross(omega, arm))
    out.A_bias[child, 3:] = alpha


def parent_motion(out: Motion, parent: int) -> tuple[np.ndarray, ...]:
    """R_WP, p_WP, p_WC of the parent, its Jacobian and its acceleration at vdot = 0; of the world, nothing moves."""
    if parent == WORLD:
        return np.eye(3), np.zeros(3), np.zeros(3), np.zeros((6, len(out.velocity))), np.zeros(6)
    return out.R_WL[parent], out.p_WL[parent], out.p_WC[parent], out.J[parent], out.A_bias[parent]


@by_identity
def outward_joints(articulation: Articulation) -> tuple[int, ...]:
    """Indices of the joints, each after the inbound joint of its parent."""
    placed = {WORLD} | ({root(articulation)[0]} if articulation.is_floating else set())
    order: list[int] = []
    while len(order) < len(articulation.joints):
        ready = [i for i, joint in enumerate(articulation.joints) if joint.parent in placed and i not in order]
        if not ready:
            raise ValueError(f"{articulation.path}: not a tree")
        order += ready
        placed |= {articulation.joints[i].child for i in ready}
    return tuple(order)


@by_identity
def placement(pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Rotation matrix (3, 3) and position (3) [m] of a pose."""
    return pose.rotation, np.asarray(pose.position, float)


@by_identity
def inertia_matrices(articulation: Articulation) -> np.ndarray:
    """The tensor of each link [kg m^2], shape (L, 3, 3)."""
    return np.array([inertia_matrix(link.inertia) for link in articulation.links])


def inertia_matrix(inertia: tuple[float, ...]) -> np.ndarray:
    """The tensor (3, 3) of xx, xy, xz, yy, yz, zz [kg m^2]."""
    xx, xy, xz, yy, yz, zz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def cross_matrix(u: np.ndarray) -> np.ndarray:
    """The matrix (3, 3) with cross_matrix(u) w = u x w."""
    return np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])


# ---------------------------------------------------------------------------------------------------------------------
# Dynamics
# ---------------------------------------------------------------------------------------------------------------------


def mass_matrix(motion: Motion, armature: bool = True) -> np.ndarray:
    """M = sum J^T diag(m, I_W) J, and the armature on the diagonal, shape (N, N)."""
    M = projected(motion, spatial_inertias(motion) @ motion.J)
    return M + np.diag(armatures(motion.articulation)) if armature else M


def coriolis_effort(motion: Motion) -> np.ndarray:
    """c: the efforts that make vdot = 0 without gravity, shape (N)."""
    forces = (spatial_inertias(motion) @ motion.A_bias[:, :, None])[:, :, 0]
    omega = motion.V[:, 3:]
    I_W = spatial_inertias(motion)[:, 3:, 3:]
    forces[:, 3:] += np.cross(omega, (I_W @ omega[:, :, None])[:, :, 0])
    return projected(motion, forces)


def gravity_effort(motion: Motion, gravity=GRAVITY) -> np.ndarray:
    """g: the efforts that hold the articulation against gravity [m/s^2], shape (N)."""
    return -external_effort(motion, weights(motion.articulation, gravity))


def external_effort(motion: Motion, wrench: np.ndarray) -> np.ndarray:
    """J^T f: efforts of a force [N] and torque [N m] on each link at its centre of mass, world axes, shape (N)."""
    return projected(motion, np.asarray(wrench, float))


def forward_dynamics(motion: Motion, effort=None, wrench=None, gravity=GRAVITY) -> np.ndarray:
    """The vdot (N) that efforts (N) and link wrenches (L, 6) give."""
    total = -coriolis_effort(motion) - gravity_effort(motion, gravity)
    total = total if effort is None else total + effort
    total = total if wrench is None else total + external_effort(motion, wrench)
    return np.linalg.solve(mass_matrix(motion), total)


def inverse_dynamics(motion: Motion, vdot: np.ndarray, wrench=None, gravity=GRAVITY) -> np.ndarray:
    """The efforts (N) that give vdot (N) under link wrenches (L, 6)."""
    total = mass_matrix(motion) @ vdot + coriolis_effort(motion) + gravity_effort(motion, gravity)
    return total if wrench is None else total - external_effort(motion, wrench)


def incoming_joint_force(motion: Motion, vdot: np.ndarray, wrench=None, gravity=GRAVITY) -> np.ndarray:
    """Force [N] then torque [N m] by the inbound joint on each link, axes and origin of its frame M, shape (L, 6)."""
    tree = motion.articulation
    omega, I = motion.V[:, 3:], spatial_inertias(motion)
    needed = (I @ (motion.J @ vdot + motion.A_bias)[:, :, None])[:, :, 0] - weights(tree, gravity)
    needed[:, 3:] += np.cross(omega, (I[:, 3:, 3:] @ omega[:, :, None])[:, :, 0])
    needed = needed if wrench is None else needed - wrench
    result = np.zeros((len(tree.links), 6))
    for joint in tree.joints:
        R_MW, origin = motion.R_WM[joint.child].T, motion.p_WM[joint.child]
        for link in subtree(tree, joint.child):
            force = needed[link, :3]
            torque = needed[link, 3:] + cross(motion.p_WC[link] - origin, force)
            result[joint.child] += [*(R_MW @ force), *(R_MW @ torque)]
    return result


def kinetic_energy(motion: Motion, armature: bool = True) -> float:
    """[J]"""
    return 0.5 * float(motion.velocity @ mass_matrix(motion, armature) @ motion.velocity)


def potential_energy(motion: Motion, gravity=GRAVITY) -> float:
    """-sum s m g . p_WC, of the share s of gravity that acts on each link  [J]."""
    return -float(np.sum(weights(motion.articulation, gravity)[:, :3] * motion.p_WC))


def momentum(motion: Motion) -> np.ndarray:
    """Linear momentum [kg m/s], then angular momentum about the world origin [kg m^2/s], shape (6)."""
    parts = (spatial_inertias(motion) @ motion.V[:, :, None])[:, :, 0]
    parts[:, 3:] += np.cross(motion.p_WC, parts[:, :3])
    return parts.sum(axis=0)


def center_of_mass(motion: Motion) -> np.ndarray:
    """Of the whole articulation [m], shape (3)."""
    masses = np.array([link.mass for link in motion.articulation.links])
    return masses @ motion.p_WC / masses.sum()


def spatial_inertias(motion: Motion) -> np.ndarray:
    """diag(m, m, m, I_W) of each link, shape (L, 6, 6)."""
    links = motion.articulation.links
    result = np.zeros((len(links), 6, 6))
    result[:, :3, :3] = np.array([link.mass for link in links])[:, None, None] * np.eye(3)
    result[:, 3:, 3:] = motion.R_WL @ inertia_matrices(motion.articulation) @ np.swapaxes(motion.R_WL, 1, 2)
    return result


def projected(motion: Motion, per_link: np.ndarray) -> np.ndarray:
    """The sum over links of J^T x, for x of shape (L, 6) or (L, 6, columns)."""
    rows = motion.J.reshape(-1, motion.J.shape[2])
    return rows.T @ per_link.reshape(len(rows), *per_link.shape[2:])


def weights(articulation: Articulation, gravity) -> np.ndarray:
    """The weight of each link as a wrench at its centre of mass, shape (L, 6)."""
    g = np.asarray(gravity, float)
    return np.array([[*(link.mass * link.gravity_scale * g), 0.0, 0.0, 0.0] for link in articulation.links])


def armatures(articulation: Articulation) -> np.ndarray:
    """Armature of each generalized velocity, zero on a floating base, shape (N)."""
    return np.array([0.0] * base_count(articulation) + [dof.armature for dof in articulation.dofs])


def subtree(articulation: Articulation, link: int) -> list[int]:
    """A link and all links that hang on it."""
    children = [joint.child for joint in articulation.joints if joint.parent == link]
    return [link, *(below for child in children for below in subtree(articulation, child))]

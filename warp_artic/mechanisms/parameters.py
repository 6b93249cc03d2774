"""The numbers of an articulation, as rows for the arrays that kernels read (NumPy, double precision)."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.start_pose import start_poses
from warp_artic.description.tendon import SpatialTendon, TendonLeaf
from warp_artic.mechanisms.tree import frame_turn

_AXES = np.eye(3)
_UPPER = np.triu_indices(3)


def moving_frame_rotation(joint: Joint | None) -> np.ndarray:
    """Rotation (3, 3) from the moving frame M of the kernels to the authored child-side joint frame."""
    if joint is None:
        return _AXES
    return _turned(*frame_turn(joint))


@cache
def _turned(turn: int, half_turn: bool) -> np.ndarray:
    rotation = np.column_stack([_AXES[turn], _AXES[(turn + 1) % 3], _AXES[(turn + 2) % 3]])
    return rotation @ np.diag([1.0, -1.0, -1.0]) if half_turn else rotation


def parameter_rows(articulation: Articulation, origin: np.ndarray) -> dict[str, np.ndarray]:
    """Every parameter array of one articulation by name, each of shape (rows,).

    `origin` (3) is subtracted from the places of joints on the world [m].
    """
    return {
        **_link_rows(articulation, origin),
        **_dof_rows(articulation),
        **_tendon_rows(articulation),
        **_spatial_rows(articulation),
        **_mimic_rows(articulation),
        "sleep_threshold": np.array([articulation.sleep_threshold]),
    }


def _link_rows(articulation: Articulation, origin: np.ndarray) -> dict[str, np.ndarray]:
    parent_frame, link_frame, center, inertia = [], [], [], []
    inbound = articulation.inbound
    placed = [_link_to_moving(joint, link) for link, joint in zip(articulation.links, inbound)]
    for link, joint, (R_LM, p_LM) in zip(articulation.links, inbound, placed):
        R_PM, p_PM = _parent_to_joint(joint, placed, origin)
        I_M = R_LM.T @ link.inertia_matrix @ R_LM
        parent_frame.append([*R_PM.ravel(), *p_PM])
        link_frame.append([*R_LM.T.ravel(), *p_LM])
        center.append(R_LM.T @ (np.asarray(link.center_of_mass) - p_LM))
        inertia.append(I_M[_UPPER])
    links = articulation.links
    return {
        "parent_frame": np.ravel(parent_frame),
        "link_frame": np.ravel(link_frame),
        "joint_turn": np.ravel([moving_frame_rotation(joint) for joint in inbound]),
        "link_mass": np.array([link.mass for link in links]),
        "link_center": np.ravel(center),
        "link_inertia": np.ravel(inertia),
        "link_linear_damping": np.array([link.linear_damping for link in links]),
        "link_angular_damping": np.array([link.angular_damping for link in links]),
        "link_max_linear_velocity": np.array([link.max_linear_velocity for link in links]),
        "link_max_angular_velocity": np.array([link.max_angular_velocity for link in links]),
        "tree_max_velocity": np.array([articulation.max_linear_velocity, articulation.max_angular_velocity]),
    }


def _link_to_moving(joint: Joint | None, link) -> tuple[np.ndarray, np.ndarray]:
    """R_LM and p_LM; the moving frame of a floating root is at its centre of mass."""
    if joint is None:
        return _AXES, np.asarray(link.center_of_mass, float)
    return joint.child_frame.rotation @ moving_frame_rotation(joint), np.asarray(joint.child_frame.position)


def _parent_to_joint(joint: Joint | None, placed, origin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pose of the joint frame in the moving frame of the parent link, or in the world about `origin`."""
    if joint is None:
        return _AXES, np.zeros(3)
    R_LF = joint.parent_frame.rotation @ moving_frame_rotation(joint)
    p_LF = np.asarray(joint.parent_frame.position)
    if joint.parent == WORLD:
        return R_LF, p_LF - origin
    R_LM, p_LM = placed[joint.parent]
    return R_LM.T @ R_LF, R_LM.T @ (p_LF - p_LM)


def _dof_rows(articulation: Articulation) -> dict[str, np.ndarray]:
    dofs = articulation.dofs
    drives = [dof.drive or Drive() for dof in dofs]
    limits = [dof.limit or Limit() for dof in dofs]
    frictions = [dof.friction or Friction() for dof in dofs]
    signs = [
        -1.0 if joint.reversed and len(joint.dofs) > 1 else 1.0 for joint in articulation.joints for _ in joint.dofs
    ]
    wraps = _wraps(articulation)
    cones = [joint.cone_limit for joint in articulation.joints if joint.cone_limit is not None]
    return {
        "dof_sign": np.array(signs),
        "wraps": np.array(wraps),
        "is_acceleration_drive": np.array([float(drive.kind is DriveKind.ACCELERATION) for drive in drives]),
        "armature": np.array([dof.armature for dof in dofs]),
        "drive_stiffness": np.array([drive.stiffness for drive in drives]),
        "drive_damping": np.array([drive.damping for drive in drives]),
        "drive_max_force": np.array([drive.max_force for drive in drives]),
        "drive_max_velocity": np.array([drive.max_velocity for drive in drives]),
        "drive_velocity_gradient": np.array([drive.velocity_gradient for drive in drives]),
        "drive_velocity_resistance": np.array([drive.velocity_resistance for drive in drives]),
        "limit_lower": np.array([limit.lower for limit in limits]),
        "limit_upper": np.array([limit.upper for limit in limits]),
        "limit_stiffness": np.array([limit.stiffness for limit in limits]),
        "limit_damping": np.array([limit.damping for limit in limits]),
        "limit_restitution": np.array([limit.restitution for limit in limits]),
        "limit_bounce_threshold": np.array([limit.bounce_threshold for limit in limits]),
        "friction_static": np.array([friction.static_effort for friction in frictions]),
        "friction_dynamic": np.array([friction.dynamic_effort for friction in frictions]),
        "friction_viscous": np.array([friction.viscous for friction in frictions]),
        "friction_coefficient": np.array([friction.coefficient for friction in frictions]),
        "velocity_limit": np.array([dof.velocity_limit for dof in dofs]),
        "cone_angle": np.ravel([_cone_angles(cone) for cone in cones]),
        "cone_stiffness": np.array([cone.stiffness for cone in cones]),
        "cone_damping": np.array([cone.damping for cone in cones]),
    }


def _wraps(articulation: Articulation) -> list[float]:
    """Of each dof whether its position starts anew after some turns, and does not count them all.

    It does not where a tendon or a mimic joint reads it, nor where a single rotation is limited.
    """
    coupled = {dof for coupling in (*articulation.fixed_tendons, *articulation.mimics) for dof in coupling.dofs}
    found = []
    for joint in articulation.joints:
        own = range(len(found), len(found) + len(joint.dofs))
        free = coupled.isdisjoint(own)
        if len(joint.dofs) == 1:
            dof = joint.dofs[0]
            free = free and dof.wraps and not dof.axis.is_linear and not _is_limited(dof.limit)
        found += [float(free)] * len(joint.dofs)
    return found


def _is_limited(limit: Limit | None) -> bool:
    return limit is not None and (math.isfinite(limit.lower) or math.isfinite(limit.upper))


def _cone_angles(cone: ConeLimit) -> tuple[float, float]:
    return cone.angle_1, cone.angle_2


def _tendon_rows(articulation: Articulation) -> dict[str, np.ndarray]:
    tendons = articulation.fixed_tendons
    return {
        "tendon_coefficient": np.array([c for tendon in tendons for c in tendon.coefficients]),
        "tendon_force_coefficient": np.array([r for tendon in tendons for r in tendon.force_coefficients]),
        "tendon_stiffness": np.array([tendon.stiffness for tendon in tendons]),
        "tendon_damping": np.array([tendon.damping for tendon in tendons]),
        "tendon_limit_stiffness": np.array([tendon.limit_stiffness for tendon in tendons]),
        "tendon_rest_length": np.array([tendon.rest_length for tendon in tendons]),
        "tendon_offset": np.array([tendon.offset for tendon in tendons]),
        "tendon_lower": np.array([tendon.lower for tendon in tendons]),
        "tendon_upper": np.array([tendon.upper for tendon in tendons]),
        "tendon_enabled": np.array([float(tendon.enabled) for tendon in tendons]),
    }


def _spatial_rows(articulation: Articulation) -> dict[str, np.ndarray]:
    tendons = articulation.spatial_tendons
    placed = [_link_to_moving(joint, link) for link, joint in zip(articulation.links, articulation.inbound)]
    attachments = [attachment for tendon in tendons for attachment in tendon.attachments]
    leaves = [(tendon, leaf) for tendon in tendons for leaf in tendon.leaves]
    start = start_poses(articulation) if leaves else ()
    positions = []
    for attachment in attachments:
        R_LM, p_LM = placed[attachment.link]
        positions.append(R_LM.T @ (np.asarray(attachment.position) - p_LM))
    return {
        "spatial_stiffness": np.array([tendon.stiffness for tendon in tendons]),
        "spatial_damping": np.array([tendon.damping for tendon in tendons]),
        "spatial_limit_stiffness": np.array([tendon.limit_stiffness for tendon in tendons]),
        "spatial_offset": np.array([tendon.offset for tendon in tendons]),
        "spatial_enabled": np.array([float(tendon.enabled) for tendon in tendons]),
        "leaf_rest_length": np.array([_rest_length(tendon, leaf, start) for tendon, leaf in leaves]),
        "leaf_lower": np.array([leaf.lower for _, leaf in leaves]),
        "leaf_upper": np.array([leaf.upper for _, leaf in leaves]),
        "attachment_coefficient": np.array([attachment.coefficient for attachment in attachments]),
        "attachment_position": np.ravel(positions),
    }


def _rest_length(tendon: SpatialTendon, leaf: TendonLeaf, start) -> float:
    """The authored rest length of a leaf, else its length at the start pose without the offset of the tendon."""
    if leaf.rest_length is not None:
        return leaf.rest_length
    length, outer = 0.0, tendon.attachments[leaf.attachment]
    while outer.parent is not None:
        inner = tendon.attachments[outer.parent]
        segment = start[outer.link].apply(outer.position) - start[inner.link].apply(inner.position)
        length += outer.coefficient * float(np.linalg.norm(segment))
        outer = inner
    return length


def _mimic_rows(articulation: Articulation) -> dict[str, np.ndarray]:
    mimics = articulation.mimics
    return {
        "mimic_gear": np.array([gear for mimic in mimics for gear in mimic.gears]),
        "mimic_offset": np.array([mimic.offset for mimic in mimics]),
        "mimic_natural_frequency": np.array([mimic.natural_frequency for mimic in mimics]),
        "mimic_damping_ratio": np.array([mimic.damping_ratio for mimic in mimics]),
        "mimic_enabled": np.array([float(mimic.enabled) for mimic in mimics]),
    }

"""The numbers of a mechanism, as rows for the arrays that kernels read (NumPy, double precision)."""

from __future__ import annotations

import numpy as np

from warp_artic.constraints.table import FAMILIES
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.mechanism import Mechanism
from warp_artic.description.turns import may_wrap
from warp_artic.model.dofs import DofLayout
from warp_artic.model.frames import link_to_moving, moving_frame_rotation

_UPPER = np.triu_indices(3)
_AXES = np.eye(3)


def parameter_rows(articulation: Articulation | Mechanism, origin: np.ndarray) -> dict[str, np.ndarray]:
    """Every parameter array of one mechanism by name, each of shape (rows,).

    `origin` (3) is subtracted from the places of joints on the world [m].
    """
    return {
        **_link_rows(articulation, origin),
        **_dof_rows(articulation),
        **{one.name: np.asarray(one.values(articulation), float) for family in FAMILIES for one in family.parameters},
        "sleep_threshold": np.array([one.sleep_threshold for one in articulation.articulations]),
    }


def _link_rows(articulation: Articulation | Mechanism, origin: np.ndarray) -> dict[str, np.ndarray]:
    parent_frame, link_frame, center, inertia = [], [], [], []
    inbound = articulation.inbound
    placed = [link_to_moving(joint, link) for link, joint in zip(articulation.links, inbound)]
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
        "link_gravity_scale": np.array([link.gravity_scale for link in links]),
    }


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


def _dof_rows(articulation: Articulation | Mechanism) -> dict[str, np.ndarray]:
    dofs = articulation.dofs
    signs = [
        -1.0 if joint.reversed and len(joint.dofs) > 1 else 1.0 for joint in articulation.joints for _ in joint.dofs
    ]
    return {
        "dof_sign": np.array(signs),
        "wraps": np.array(_wraps(articulation)),
        "armature": np.array([dof.armature for dof in dofs]),
    }


def _wraps(articulation: Articulation | Mechanism) -> list[float]:
    """Of each dof whether its position starts anew after some turns, and does not count them all.

    It does not where a combination of positions reads it, nor where a single rotation is limited.
    """
    layout = DofLayout(articulation)
    places = [place for family in FAMILIES if family.entries for place in family.places(articulation, layout)]
    coupled = {dof - layout.root_dofs for place in places for dof in place.coupled}
    found = []
    for joint in articulation.joints:
        own = range(len(found), len(found) + len(joint.dofs))
        starts_anew = coupled.isdisjoint(own) and (len(joint.dofs) > 1 or may_wrap(joint))
        found += [float(starts_anew)] * len(joint.dofs)
    return found

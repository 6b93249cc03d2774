"""Which joints of a skeleton become links of a ragdoll, and which move with the link of a joint above them.

A joint moves with the link above where its name says that it is a twist, where it is chosen, and where the skin has no
volume for it, as at the ends of limbs. Joints without skin above the first link are left to the animation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from warp_artic.errors import SettingsError, StageError
from warp_artic.usd.placement import nearest_rotation
from warp_artic.usd.skeleton import Skeleton, check_matrices
from warp_artic.usd.skin_parts import Part, Skin, part_of, volume_of

TWIST = re.compile(r"(?i:twist)|(?<![A-Za-z])(?i:roll)|(?<=[a-z])Roll")
"""What the name of a joint has that turns skin about the axis of a limb."""
LEAST_SHARE = 1e-4
"""Weight of a joint, by the sum of all, below which it has no skin."""


@dataclass(frozen=True)
class PlannedLink:
    """A link to be."""

    joint: int
    """The joint of the skeleton that it is."""
    parent: int
    """The link above, by its place in the plan; -1 of the root."""
    merged: tuple[int, ...]
    """Joints that move with it."""
    axis: np.ndarray
    """Along the limb, in the frame of the link (3)."""
    part: Part


@dataclass(frozen=True)
class Plan:
    """The links of a ragdoll, parents first."""

    links: tuple[PlannedLink, ...]
    free: tuple[int, ...]
    """Joints that move with no link."""


def plan_ragdoll(skeleton: Skeleton, skin: Skin, code: float, merge: Sequence[str] = ()) -> Plan:
    """The plan of a ragdoll that starts as the skeleton is at a time code.

    Args:
        skeleton: Whose joints they are.
        skin: Of its meshes.
        code: Time code of the start.
        merge: Joints that move with the link above, by path, name or a pattern such as "*finger*".

    Raises:
        SettingsError: A pattern matches no joint.
        StageError: No joint can be a link, or the links would not hang together.
    """
    names = [joint.rpartition("/")[2] for joint in skeleton.joints]
    chosen = _chosen(skeleton, names, merge)
    sums = skin.weights.sum(axis=0)
    has_skin = sums > LEAST_SHARE * sums.sum()
    J = skeleton.joint_matrices(code)
    check_matrices(J, skeleton.joints, f"{skeleton.path}: at time code {code:g}")
    is_link = has_skin & ~chosen & np.array([not TWIST.search(name) for name in names])
    while True:
        lead = _leads(skeleton, is_link)
        parts = {joint: _part(skeleton, skin, J, joint, lead) for joint in np.flatnonzero(is_link).tolist()}
        empty = [joint for joint, (_, part) in parts.items() if part is None]
        if not empty:
            break
        is_link[empty] = False
    if not parts:
        raise StageError(f"{skeleton.path}: no joint has skin with a volume; its meshes must be closed, faces outward")
    place = {joint: number for number, joint in enumerate(parts)}
    links = []
    for joint, (axis, part) in parts.items():
        merged = tuple(other for other, own in enumerate(lead) if own == joint and other != joint)
        links.append(PlannedLink(joint, place.get(_lead_above(skeleton, joint, lead), -1), merged, axis, part))
    _check_one_root(skeleton, links)
    return Plan(tuple(links), tuple(joint for joint, own in enumerate(lead) if own < 0))


def volumes(skeleton: Skeleton, skin: Skin, plan: Plan, J: np.ndarray) -> list[float]:
    """The volume of each link; together that of all skin which moves with links, where the meshes are closed.

    Cuts between parts count a little, because each part is measured about the axis of its own limb.
    """
    found = [link.part.volume for link in plan.links]
    root = plan.links[0]
    to_frame = np.linalg.inv(skeleton.bind[root.joint]) @ J[root.joint]
    own = skin.weights[:, [joint for joint in range(len(skeleton.joints)) if joint not in plan.free]].sum(axis=1)
    whole = volume_of(skin.points @ to_frame[:3, :3], skin.triangles, own, np.array([1.0, 0.0, 0.0]))
    return [volume * whole / sum(found) if whole > 0.0 else volume for volume in found]


def link_frames(J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations R (n, 3, 3) for column vectors, and origins (n, 3), of frames at joint matrices (n, 4, 4)."""
    return nearest_rotation(J[..., :3, :3].swapaxes(-1, -2)), J[..., 3, :3]


def _chosen(skeleton: Skeleton, names: list[str], merge: Sequence[str]) -> np.ndarray:
    """Which joints are asked to move with the link above."""
    if isinstance(merge, str):
        raise SettingsError(f"merge: must be a list of joints, not {merge!r}")
    chosen = np.zeros(len(names), bool)
    for pattern in merge:
        own = [path == pattern or fnmatchcase(name, pattern) for path, name in zip(skeleton.joints, names)]
        if not any(own):
            raise SettingsError(f"merge: no joint of {skeleton.path} is called {pattern}")
        chosen |= own
    return chosen


def _leads(skeleton: Skeleton, is_link: np.ndarray) -> list[int]:
    """The joint of the link that each joint moves with; -1 where there is none at or above it."""
    lead: list[int] = []
    for joint, parent in enumerate(skeleton.parents):
        own = joint if is_link[joint] else -1 if parent < 0 else lead[parent]
        lead.append(own)
    return lead


def _lead_above(skeleton: Skeleton, joint: int, lead: list[int]) -> int:
    parent = skeleton.parents[joint]
    return -1 if parent < 0 else lead[parent]


def _part(skeleton: Skeleton, skin: Skin, J: np.ndarray, joint: int, lead: list[int]) -> tuple[np.ndarray, Part | None]:
    """The axis of a limb, and what of the skin moves with its link, in the frame of the link."""
    rotation, origin = link_frames(J[joint])
    to_frame = np.linalg.inv(skeleton.bind[joint]) @ J[joint]
    points = (skin.points @ to_frame[:3, :3] + to_frame[3, :3] - origin) @ rotation
    weights = skin.weights[:, [other for other, own in enumerate(lead) if own == joint]].sum(axis=1)
    below = [other for other, own in enumerate(lead) if other == own and _lead_above(skeleton, other, lead) == joint]
    if below:
        ends = np.array([skeleton.bind[other][3] @ to_frame for other in below])[:, :3]
        direction = ((ends - origin) @ rotation).mean(axis=0)
    elif weights.any():
        direction = np.average(points, axis=0, weights=weights)
    else:
        direction = np.zeros(3)
    length = np.linalg.norm(direction)
    axis = direction / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
    return axis, part_of(points, skin.triangles, weights, axis)


def _check_one_root(skeleton: Skeleton, links: list[PlannedLink]) -> None:
    roots = [skeleton.joints[link.joint] for link in links if link.parent < 0]
    if len(roots) > 1:
        text = f"{', '.join(roots[:4])} have skin, but no joint with skin is above them all, so they would fall apart"
        raise StageError(f"{skeleton.path}: {text}; give that joint skin, or merge all but one")

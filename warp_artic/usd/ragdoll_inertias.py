"""What hangs on the joints of a ragdoll as it stands: the inertia that their drives have to turn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warp_artic.usd.ragdoll_joints import frame_along
from warp_artic.usd.ragdoll_plan import Plan, PlannedLink
from warp_artic.usd.solids import Solid, capsule


def hanging_inertias(
    plan: Plan, poses: Sequence[tuple[np.ndarray, np.ndarray]], masses: Sequence[float]
) -> list[float]:
    """The largest moment of inertia about each link's origin of the link and all below it, as one rigid body.

    Args:
        plan: The links, parents first.
        poses: Rotation (3, 3) and position (3) of each, in the space of the skeleton.
        masses: Of each.

    Returns:
        In units of masses and of squared distances in the space of the skeleton.
    """
    total = [_solid(link, pose, mass) for link, pose, mass in zip(plan.links, poses, masses)]
    for number in reversed(range(1, len(total))):
        above = plan.links[number].parent
        total[above] = total[above] + total[number]
    found = []
    for solid, (_R, position) in zip(total, poses):
        S = solid.transformed(_transform(np.eye(3), -position)).second
        found.append(float(np.trace(S) - np.linalg.eigvalsh(S)[0]))
    return found


def _solid(link: PlannedLink, pose: tuple[np.ndarray, np.ndarray], mass: float) -> Solid:
    """The capsule of a link with its mass, in the space of the skeleton."""
    part = link.part
    own = capsule(part.radius, part.radius, 2.0 * part.half_height)
    density = mass / own.volume
    dense = Solid(density * own.volume, density * own.first, density * own.second)
    upright = frame_along(link.axis)[:, [1, 2, 0]]
    return dense.transformed(_transform(*pose) @ _transform(upright, part.middle))


def _transform(rotation: np.ndarray, position: np.ndarray) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation, position
    return X

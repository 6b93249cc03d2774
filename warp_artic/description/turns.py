"""Which positions start anew after some turns, and which targets of drives are farther than such a position goes.

The position of a single rotation without limits is kept within a turn either way (`joints.revolute`), but where it is
to count turns, or a tendon or mimic joint reads it. A drive is a spring on the position itself: with a target beyond
it turns on and on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.joint import Joint

FARTHEST = 2.0 * math.pi
"""Where positions start anew [rad]."""
ROUNDING = 1e-6
"""Of angles that are authored in degrees and float32, as a part."""


def may_wrap(joint: Joint) -> bool:
    """Whether the position of a joint is that of a single rotation that starts anew, where nothing else reads it."""
    if len(joint.dofs) != 1:
        return False
    (dof,) = joint.dofs
    limit = dof.limit
    is_limited = limit is not None and (math.isfinite(limit.lower) or math.isfinite(limit.upper))
    return dof.wraps and not dof.axis.is_linear and not is_limited


def targets_beyond(articulation: Articulation) -> Iterator[tuple[Joint, float]]:
    """Joints whose drives have position targets that are never reached, at the start or later, with the farthest."""
    read = {dof for one in (*articulation.fixed_tendons, *articulation.mimics) for dof in one.dofs}
    first = 0
    for joint in articulation.joints:
        own = range(first, first + len(joint.dofs))
        first += len(joint.dofs)
        if may_wrap(joint) and read.isdisjoint(own) and joint.dofs[0].drive is not None:
            farthest = _farthest_target(joint.dofs[0].drive)
            if abs(farthest) > FARTHEST * (1.0 - ROUNDING):
                yield joint, farthest


def _farthest_target(drive: Drive) -> float:
    """The position target of a spring, now or later, that is farthest from zero [rad]."""
    if drive.stiffness == 0.0 and drive.stiffness_track is None:
        return 0.0
    track = drive.position_track
    return max((drive.position_target, *(() if track is None else track.values)), key=abs)

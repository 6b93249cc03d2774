"""By how much a run passed the limits of joints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warp_artic.description.limited_positions import cone_excess, limited_positions
from warp_artic.description.scene import Scene
from warp_artic.sim.record.recording import Recording


@dataclass(frozen=True)
class LimitExcess:
    """How far a joint was beyond one limit."""

    name: str
    """Of the dof; of the joint where it is a cone."""
    is_linear: bool
    is_soft: bool
    values: np.ndarray
    """(R, E) [m or rad]; at most zero within the limit."""


def limit_excesses(scene: Scene, recording: Recording) -> Iterator[LimitExcess]:
    """Of each limit of the joints of trees whose positions are recorded."""
    columns = {name: column for column, name in enumerate(recording.joint_names)}
    for joint in (joint for tree in scene.articulations for joint in tree.joints):
        has_limit = joint.cone_limit is not None or any(dof.limit is not None for dof in joint.dofs)
        if not has_limit or any(dof.name not in columns for dof in joint.dofs):
            continue
        q = recording.joint_position[:, :, [columns[dof.name] for dof in joint.dofs]]
        bounded = limited_positions(joint, q)
        for place, dof in enumerate(joint.dofs):
            if dof.limit is not None:
                own = bounded[..., place]
                excess = np.maximum(dof.limit.lower - own, own - dof.limit.upper)
                yield LimitExcess(dof.name, dof.axis.is_linear, dof.limit.is_soft, excess)
        if joint.cone_limit is not None:
            yield LimitExcess(joint.path, False, joint.cone_limit.is_soft, cone_excess(joint, q))

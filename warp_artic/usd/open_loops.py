"""Loop joints that do not hold at the start."""

from __future__ import annotations

import math

from warp_artic.description.assemble import Gap
from warp_artic.description.loop_joint import LoopJoint, start_gap
from warp_artic.description.mechanism import joined, mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.usd.report import Report


def refuse_open_loops(scene: Scene, report: Report) -> None:
    """Report the loop joints of a scene that are open by more than a run takes back at its start."""
    for indices in mechanisms_of(scene):
        mechanism = joined([scene.articulations[index] for index in indices])
        for loop in mechanism.constraints_of(LoopJoint):
            gap = Gap(loop.name, *start_gap(mechanism, loop))
            if loop.enabled and not gap.is_small:
                text = f"is open by {words(gap)} at the start along the axes that it holds"
                report.error(
                    "loop-open", gap.name, f"{text}; warp-artic check --assemble looks for a start that is not"
                )


def words(gap: Gap) -> str:
    """A gap in words."""
    return f"{1e3 * gap.distance:.4g} mm and {math.degrees(gap.angle):.4g} degrees"

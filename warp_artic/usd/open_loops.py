"""Loop joints that do not hold at the start."""

from __future__ import annotations

import math

from warp_artic.description.articulation import Articulation
from warp_artic.description.assemble import Gap
from warp_artic.description.joint import WORLD
from warp_artic.description.loop_joint import LoopJoint, start_gap
from warp_artic.usd.report import Report


def refuse_open_loops(tree: Articulation, report: Report) -> None:
    """Report the loop joints of a tree that are open by more than a run takes back at its start."""
    for loop in tree.constraints_of(LoopJoint):
        gap = Gap(loop.name, *start_gap(tree, loop))
        if loop.enabled and not gap.is_small:
            text = f"is open by {words(gap)} at the start along the axes that it holds"
            report.error("loop-open", gap.name, f"{text}; warp-artic check --assemble looks for a start that is not")


def hangs_on_world(tree: Articulation) -> bool:
    """Whether a loop joint leads to the world, so that where the tree is counts."""
    return any(WORLD in (loop.link0, loop.link1) for loop in tree.constraints_of(LoopJoint))


def words(gap: Gap) -> str:
    """A gap in words."""
    return f"{1e3 * gap.distance:.4g} mm and {math.degrees(gap.angle):.4g} degrees"

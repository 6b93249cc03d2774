"""What loop joints hold at the start: taken back where it is next to nothing, an error where it is more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from warp_artic.description.articulation import Articulation
from warp_artic.description.assemble import Gap, closed
from warp_artic.description.joint import WORLD
from warp_artic.description.loop_joint import LoopJoint, start_gap
from warp_artic.usd.report import Report


def close_starts(trees: Sequence[Articulation], report: Report) -> list[Articulation]:
    """The trees with their loops closed; of those that are open there is an error."""
    return [close_start(tree, report) for tree in trees]


def close_start(tree: Articulation, report: Report) -> Articulation:
    """The tree with its loops closed, or as it is, and errors, where they are open."""
    loops = [loop for loop in tree.constraints_of(LoopJoint) if loop.enabled]
    gaps = [Gap(loop.name, *start_gap(tree, loop)) for loop in loops]
    for gap in gaps:
        if not gap.is_small:
            text = f"is open by {words(gap)} at the start along the axes that it holds"
            report.error("loop-open", gap.name, f"{text}; warp-artic check --assemble looks for a start that is not")
    if not loops or not all(gap.is_small for gap in gaps):
        return tree
    return closed(tree)[0]


def hangs_on_world(tree: Articulation) -> bool:
    """Whether a loop joint leads to the world, so that where the tree is counts."""
    return any(WORLD in (loop.link0, loop.link1) for loop in tree.constraints_of(LoopJoint))


def words(gap: Gap) -> str:
    """A gap in words."""
    return f"{1e3 * gap.distance:.4g} mm and {math.degrees(gap.angle):.4g} degrees"

"""Loop joints, distances and mimic joints that do not hold at the start, and mimic joints that leave no motion."""

from __future__ import annotations

import math

from warp_artic.description.distance import Distance
from warp_artic.description.gaps import Gap, distance_excess, distance_points, mimic_gap
from warp_artic.description.loop_joint import LoopJoint, start_gap
from warp_artic.description.mechanism import joined, mechanisms_of
from warp_artic.description.mimic import dofs_held_still
from warp_artic.description.pose import Pose
from warp_artic.description.scene import Scene
from warp_artic.description.start_pose import start_poses
from warp_artic.usd.report import Report

MOVED = "a run moves its links at the start, the shortest way"
TAKEN_BACK = "the first steps take it back, and leave velocities"
NEAREST = "warp-artic check --assemble looks for a start that is not"


def report_open_starts(scene: Scene, report: Report) -> None:
    """Report what is hard between links or dofs of a scene, and open by more than next to nothing at its start.

    A loop joint is an error, beyond what a run takes back at its start; others are warnings.
    """
    for indices in mechanisms_of(scene):
        mechanism = joined([scene.articulations[index] for index in indices])
        for loop in mechanism.constraints_of(LoopJoint):
            gap = Gap(loop.name, *start_gap(mechanism, loop))
            if loop.enabled and not gap.is_small:
                text = f"is open by {words(gap)} at the start along the axes that it holds"
                report.error("loop-open", gap.name, f"{text}; {NEAREST}")
        distances = [one for one in mechanism.constraints_of(Distance) if one.enabled and not one.is_soft]
        poses = [*start_poses(mechanism), Pose()] if distances else []
        for one in distances:
            excess = distance_excess(one, *distance_points(one, poses))
            if not Gap(one.name, abs(excess)).is_small:
                side = "longer than its largest" if excess > 0.0 else "shorter than its smallest"
                text = f"is {1e3 * abs(excess):.4g} mm {side} distance at the start: {MOVED}; {NEAREST}"
                report.warn("distance-open", one.name, text)
    for tree in scene.articulations:
        for mimic in tree.mimics:
            gap = mimic_gap(mimic, tree.dofs, [dof.position for dof in tree.dofs])
            if mimic.enabled and mimic.is_hard and not gap.is_small:
                off = f"{1e3 * gap.distance:.4g} mm" if gap.distance > 0.0 else f"{math.degrees(gap.angle):.4g} degrees"
                text = f"is off its relation by {off} at the start: {TAKEN_BACK}"
                report.warn("mimic-open", gap.name, f"{text}; {NEAREST}")
        for dof in dofs_held_still(tree.mimics, len(tree.dofs)):
            text = "cannot move: the relations of hard mimic joints contradict each other unless it stays where it is"
            report.warn("mimic-contradiction", tree.dofs[dof].name, text)


def words(gap: Gap) -> str:
    """A gap in words."""
    return f"{1e3 * gap.distance:.4g} mm and {math.degrees(gap.angle):.4g} degrees"

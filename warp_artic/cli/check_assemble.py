"""`warp-artic check --assemble`: the nearest start in which loop joints, distances and mimic joints hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from warp_artic.cli.table import Column, Table
from warp_artic.description.assemble import Assembly, assemble
from warp_artic.description.diagnostic import Severity
from warp_artic.description.distance import Distance
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mechanism import joined, mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.usd.layer_file import check_output
from warp_artic.usd.open_starts import words
from warp_artic.usd.read_stage import Inspection
from warp_artic.usd.write_start import write_start

OPEN = ("loop-open", "distance-open", "mimic-open")
"""The rules that a closed start satisfies."""
HEADS = (Column("joint", is_text=True), Column("was"), Column("is"), Column("", is_text=True))


def assemblies(inspection: Inspection) -> tuple[Assembly, ...]:
    """Of the mechanisms in which something is open; none where the stage has other errors."""
    if any(item.severity is Severity.ERROR and item.rule not in OPEN for item in inspection.diagnostics):
        return ()
    are_open = {item.path for item in inspection.diagnostics if item.rule in OPEN}
    trees = inspection.articulations
    found = []
    for numbers in mechanisms_of(Scene(articulations=trees)):
        mechanism = joined([trees[number] for number in numbers])
        links = (*mechanism.constraints_of(LoopJoint), *mechanism.constraints_of(Distance), *mechanism.mimics)
        if any(one.name in are_open for one in links):
            found.append(assemble(mechanism))
    return tuple(found)


def write(stage, found: Iterable[Assembly], output: str) -> bool:
    """Write the starts that close as a layer over the stage; False where there are none."""
    check_output(stage, output, "layer of a start")
    trees = [tree for one in found if one.closes for tree in one.articulations]
    if trees:
        write_start(stage, trees, output)
    return bool(trees)


def as_json(found: Iterable[Assembly]) -> list[dict]:
    """Plain values, in SI units and radians."""
    return [
        {
            "articulations": [tree.path for tree in one.articulations],
            "closes": one.closes,
            "gaps": [
                {
                    "name": gap.name,
                    "distance_before": before.distance,
                    "angle_before": before.angle,
                    "distance": gap.distance,
                    "angle": gap.angle,
                }
                for before, gap in zip(one.gaps_before, one.gaps)
            ],
            "joint_position": {dof.name: {"before": was.position, "now": dof.position} for was, dof in _dofs(one)},
            "root_position": {
                tree.links[link].path: list(tree.links[link].pose.position)
                for tree in one.articulations
                for link, joint in enumerate(tree.inbound)
                if joint is None
            },
        }
        for one in found
    ]


def blocks(found: tuple[Assembly, ...]) -> Iterator[Table | str]:
    """What is open, and a table of positions for each mechanism."""
    if not found:
        yield "no mechanism has open loops, distances or mimic joints"
    for one in found:
        names = ", ".join(tree.path for tree in one.articulations)
        lines = []
        for before, gap in zip(one.gaps_before, one.gaps):
            if not before.is_small or not gap.is_small:
                now = "closes" if gap.is_small else f"is open by {words(gap)}"
                lines.append(f"    {gap.name} is open by {words(before)}, then {now}")
        end = "there is a start that closes" if one.closes else "no start was found that closes; the least open one"
        yield "\n".join([f"{names}: {end}", *lines])
        rows = []
        for was, dof in _dofs(one):
            factor, unit = (1.0, "m") if dof.axis.is_linear else (math.degrees(1.0), "deg")
            rows.append((dof.name, f"{factor * was.position:.6g}", f"{factor * dof.position:.6g}", unit))
        if rows:
            yield Table("Start", HEADS, tuple(rows))


def _dofs(one: Assembly) -> Iterator[tuple]:
    """The dofs before and after."""
    return zip(one.before.dofs, (dof for tree in one.articulations for dof in tree.dofs))

"""Findings by what follows from them: first what is left out of the motion, then the rest from few to many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from warp_artic.description.diagnostic import Diagnostic, Severity

LEFT_OUT = {
    "contacts": "contacts of colliders of some kinds",
    "contact-mechanism": "contacts between some mechanisms",
    "joint-type": "joints of types that are not known",
    "loop-joint": "loop joints",
    "gear": "gears",
    "mimic": "mimic joints of other schemas",
    "tendon": "tendons of other schemas",
    "actuator": "actuators",
    "vehicle": "vehicles",
    "character": "character controllers",
    "force": "forces of PhysX",
    "deformable": "deformable bodies of other schemas",
    "particles": "particles",
    "surface-velocity": "velocities of surfaces",
    "joint-instancer": "joint instancers",
    "point-instancer": "some instances of point instancers",
    "not-simulated": "features of joints and bodies",
}
"""Rules about what acts on the motion and is not simulated, the weightiest first, and what they are about."""
UNUSED = "attribute-not-used"
"""The rule of which findings are told by the namespaces of their attributes."""
NAMESPACES = 3
"""How many of them are named."""


@dataclass(frozen=True)
class Group:
    """The findings of one rule and severity, in the order found."""

    findings: tuple[Diagnostic, ...]

    @property
    def rule(self) -> str:
        """The rule that they are about."""
        return self.findings[0].rule

    def __str__(self) -> str:
        first, count = self.findings[0], len(self.findings)
        if count == 1:
            return str(first)
        if self.rule == UNUSED:
            return f"{first.severity.value}: {count:,} attributes are not used: {self._namespaces()} [{self.rule}]"
        return f"{first} and {count - 1:,} more"

    def _namespaces(self) -> str:
        """How many attributes there are of each namespace, the most frequent first."""
        names = Counter(finding.path.rpartition(".")[2].rpartition(":")[0] for finding in self.findings)
        shown = [f"{name}:* {count:,}" for name, count in names.most_common(NAMESPACES)]
        return ", ".join(shown) + (" ..." if len(names) > NAMESPACES else "")


def group_findings(findings: Iterable[Diagnostic]) -> list[Group]:
    """The findings by rule and severity: errors, what is left out of the motion, then from few to many."""
    groups: dict[tuple[Severity, str], list[Diagnostic]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.rule), []).append(finding)
    severities, left_out = tuple(Severity), tuple(LEFT_OUT)

    def weight(key: tuple[Severity, str]) -> tuple[int, int, int]:
        severity, rule = key
        place = left_out.index(rule) if rule in LEFT_OUT else len(left_out)
        return severities.index(severity), place, len(groups[key])

    return [Group(tuple(groups[key])) for key in sorted(groups, key=weight)]


def headline(findings: Sequence[Diagnostic]) -> str:
    """What moves otherwise than the stage says, in a line; empty where there is no such thing."""
    warnings = (finding for finding in findings if finding.severity is Severity.WARNING)
    groups = [group for group in group_findings(warnings) if group.rule in LEFT_OUT]
    if not groups:
        return ""
    parts = []
    for group in groups:
        first, count = group.findings[0], len(group.findings)
        where = "" if first.path == "/" else f" ({first.path}{f' and {count - 1:,} more' if count > 1 else ''})"
        parts.append(LEFT_OUT[group.rule] + where)
    return f"not simulated: {', '.join(parts)}; the true motion differs"

"""The rules of tendons, mimic joints and further constraints, each with its sentence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from warp_artic.description.articulation import Articulation
from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.description.joint import Joint
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon, SpatialTendon


def coupling_findings(articulation: Articulation) -> Iterator[Diagnostic]:
    """Every rule that a tendon or a mimic joint of an articulation breaks."""
    for tendon in articulation.fixed_tendons:
        yield from _fixed(tendon, articulation)
    for tendon in articulation.spatial_tendons:
        yield from _spatial(tendon, len(articulation.links))
    for mimic in articulation.mimics:
        yield from _mimic(mimic, articulation)
    for one in articulation.constraints:
        for problem in one.problems(articulation):
            yield _error("constraint", one.name, f"{one.NOUN}: {problem}")
    kinds = {
        "fixed tendons": [tendon.name for tendon in articulation.fixed_tendons],
        "spatial tendons": [tendon.name for tendon in articulation.spatial_tendons],
        "attachments": [one.name for tendon in articulation.spatial_tendons for one in tendon.attachments],
        "mimic joints": [mimic.name for mimic in articulation.mimics],
        "constraints": [one.name for one in articulation.constraints],
    }
    for kind, names in kinds.items():
        for name, times in Counter(names).items():
            if times > 1:
                yield _error("names", name, f"{times} {kind} have this name; names must differ")


def _fixed(tendon: FixedTendon, articulation: Articulation) -> Iterator[Diagnostic]:
    if not tendon.dofs:
        yield _error("tendon-axes", tendon.name, "the fixed tendon has no dof, must have at least one")
    lists = {"coefficients": tendon.coefficients, "force coefficients": tendon.force_coefficients}
    yield from _dofs("tendon-axes", tendon.name, tendon.dofs, lists, articulation)
    yield from _gains(tendon)
    yield from _finite(tendon.name, {"rest length": tendon.rest_length, "offset": tendon.offset})
    yield from _bounds(tendon.name, tendon.lower, tendon.upper)


def _spatial(tendon: SpatialTendon, link_count: int) -> Iterator[Diagnostic]:
    yield from _gains(tendon)
    yield from _finite(tendon.name, {"offset": tendon.offset})
    for index, attachment in enumerate(tendon.attachments):
        if not 0 <= attachment.link < link_count:
            text = f"the attachment is on link {attachment.link} of {link_count}, counted from 0"
            yield _error("tendon-attachment", attachment.name, text)
        if (attachment.parent is None) != (index == 0):
            found = "the first attachment has a parent" if index == 0 else f"attachment {index} has no parent"
            text = f"{found}; the root alone has none, and comes first"
            yield _error("tendon-attachment", tendon.name, text)
        elif attachment.parent is not None and not 0 <= attachment.parent < index:
            text = f"the parent of attachment {index} is {attachment.parent}; a parent comes before its children"
            yield _error("tendon-attachment", tendon.name, text)
        numbers = dict(zip(("x", "y", "z"), attachment.position))
        yield from _finite(attachment.name, {**numbers, "coefficient": attachment.coefficient})
    yield from _leaves(tendon)


def _leaves(tendon: SpatialTendon) -> Iterator[Diagnostic]:
    if not tendon.leaves:
        yield _error("tendon-leaf", tendon.name, "the spatial tendon has no leaf, must have at least one")
    count = len(tendon.attachments)
    parents = {attachment.parent for attachment in tendon.attachments}
    for number, times in Counter(leaf.attachment for leaf in tendon.leaves).items():
        if not 0 < number < count:
            text = f"a leaf is attachment {number}; it must be one of 1 to {count - 1}, the root excluded"
            yield _error("tendon-leaf", tendon.name, text)
        elif times > 1:
            yield _error("tendon-leaf", tendon.name, f"attachment {number} is a leaf {times} times; once is allowed")
        elif number in parents:
            text = f"attachment {number} is a leaf, but another one follows it; a leaf must be the last"
            yield _error("tendon-leaf", tendon.name, text)
    for leaf in tendon.leaves:
        name = tendon.attachments[leaf.attachment].name if 0 < leaf.attachment < count else tendon.name
        if leaf.rest_length is not None and not 0.0 <= leaf.rest_length < math.inf:
            text = f"rest length {leaf.rest_length:g} m must be finite and not negative"
            yield _error("tendon-length", name, text)
        yield from _bounds(name, leaf.lower, leaf.upper)


def _mimic(mimic: Mimic, articulation: Articulation) -> Iterator[Diagnostic]:
    if len(mimic.dofs) < 2:
        text = f"the mimic joint has {len(mimic.dofs)} dofs; it needs a follower and one to follow"
        yield _error("mimic-dofs", mimic.name, text)
    yield from _dofs("mimic-dofs", mimic.name, mimic.dofs, {"gears": mimic.gears}, articulation)
    if mimic.gears and mimic.gears[0] == 0.0:
        yield _error("mimic-gear", mimic.name, "the gear of the follower is 0; it must not be")
    if mimic.is_curved:
        axes = {number: len(joint.dofs) for joint, number in _with_numbers(articulation)}
        if len(mimic.dofs) != 2 or any(axes.get(dof) != 1 for dof in mimic.dofs):
            yield _error(
                "mimic-dofs", mimic.name, "a relation that is not linear is between two joints of one axis each"
            )
    numbers = {
        **{f"factor of the power {power}": factor for power, factor in zip((2, 3, 4), mimic.curve)},
        "offset": mimic.offset,
        "natural frequency": mimic.natural_frequency,
        "damping ratio": mimic.damping_ratio,
    }
    yield from _finite(mimic.name, numbers)
    if mimic.damping_ratio < 0.0:
        yield _error("negative", mimic.name, f"damping ratio {mimic.damping_ratio:g} must not be negative")


def _with_numbers(articulation: Articulation) -> Iterator[tuple[Joint, int]]:
    """Each dof by its number, with its joint."""
    number = 0
    for joint in articulation.joints:
        for _ in joint.dofs:
            yield joint, number
            number += 1


def _dofs(
    rule: str, name: str, dofs: tuple[int, ...], lists: dict[str, tuple[float, ...]], articulation: Articulation
) -> Iterator[Diagnostic]:
    """Indices of dofs, and numbers that go with each."""
    count = len(articulation.dofs)
    for dof, times in Counter(dofs).items():
        if not 0 <= dof < count:
            yield _error(rule, name, f"couples dof {dof}, but the articulation has {count} dofs, counted from 0")
        elif times > 1:
            yield _error(rule, name, f"couples {articulation.dofs[dof].name} {times} times; once is allowed")
    for what, values in lists.items():
        if len(values) != len(dofs):
            yield _error(rule, name, f"has {len(values)} {what} for {len(dofs)} dofs, must have one for each")
        for value in values:
            if not math.isfinite(value):
                yield _error("not-finite", name, f"one of its {what} is {value:g}, must be finite")


def _gains(tendon: FixedTendon | SpatialTendon) -> Iterator[Diagnostic]:
    gains = {
        "stiffness": (tendon.stiffness, "N/m"),
        "damping": (tendon.damping, "N s/m"),
        "limit stiffness": (tendon.limit_stiffness, "N/m"),
    }
    for what, (value, unit) in gains.items():
        if not 0.0 <= value < math.inf:
            yield _error("negative", tendon.name, f"{what} {value:g} {unit} must be finite and not negative")


def _finite(name: str, numbers: dict[str, float]) -> Iterator[Diagnostic]:
    for what, value in numbers.items():
        if not math.isfinite(value):
            yield _error("not-finite", name, f"{what} {value:g} must be finite")


def _bounds(name: str, lower: float, upper: float) -> Iterator[Diagnostic]:
    """Lengths a tendon is held between; not a number is neither below nor above another."""
    if not lower <= upper:
        text = f"lower limit {lower:g} m of the length is above upper limit {upper:g} m"
        yield _error("limit-inverted", name, text)


def _error(rule: str, path: str, message: str) -> Diagnostic:
    return Diagnostic(Severity.ERROR, rule, path, message)

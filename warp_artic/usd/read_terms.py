"""The terms of our fixed tendons and mimic joints: joint axes, and a number for each."""

from __future__ import annotations

from dataclasses import dataclass

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.beside import cause_outside, hangs_on_refused
from warp_artic.usd.find_dof import AXES, check_axis, find_dof
from warp_artic.usd.inventory import Inventory

WORDS = (*AXES, "angular", "linear")
"""How an axis may be called; the last two are those of revolute and prismatic joints."""


@dataclass(frozen=True)
class TermNames:
    """Names of the properties that list terms."""

    joints: str
    """A relationship."""
    indices: str
    axes: str


def read_terms(
    prim: Usd.Prim, names: TermNames, articulation: Articulation, inventory: Inventory, attributes: Attributes
) -> tuple[int, ...] | None:
    """The dof of each term, as an index into `Articulation.dofs`; None, and an error, where one is wrong."""
    path = f"{prim.GetPath()}.{names.joints}"
    targets = [str(target) for target in attributes.targets(prim, names.joints)]
    if not targets:
        refuse_empty(path, attributes)
        return None
    indices = _indices(prim, names.indices, len(targets), attributes)
    axes = attributes.words(prim, names.axes, WORDS)
    if indices is None or axes is None:
        return None
    if axes and not _fits(prim, names.axes, len(axes), len(indices), "axes", attributes):
        return None
    for number in sorted(set(range(len(targets))) - set(indices)):
        text = f"leads to {targets[number]}, which no term of {names.indices} names: it has no effect"
        attributes.report.warn("terms", path, text)
    joints = {joint.path: joint for joint in articulation.joints}
    dofs = []
    for index, axis in zip(indices, axes or [""] * len(indices)):
        joint, place = joints.get(targets[index]), f"{prim.GetPath()}.{names.axes}" if axis else path
        other = inventory.joints.get(targets[index])
        if joint is None and other and hangs_on_refused(targets[index], inventory, articulation):
            check_axis(other, axis, place, inventory, attributes)
            dofs.append(None)
            continue
        if joint is None:
            found = "no joint"
            if other:
                cause = cause_outside(targets[index], inventory, attributes)
                found = f"not a joint of the articulation {articulation.path}, as others here are{cause}"
            attributes.report.error(
                "terms", path, f"leads to {targets[index]}, which is {found}; must lead to joints of one articulation"
            )
            return None
        dofs.append(find_dof(articulation, joint, inventory.joints[joint.path], axis, place, attributes))
    return None if None in dofs else tuple(dofs)


def refuse_empty(path: str, attributes: Attributes) -> None:
    """Report that terms have no joints, unless their relationship is wrong in another way."""
    if not attributes.report.is_refused(path):
        attributes.report.error("terms", path, "leads to no joint, must lead to at least one")


def read_numbers(prim: Usd.Prim, name: str, count: int, attributes: Attributes) -> list[float] | None:
    """A number for each term, as authored; empty where none is authored, None, and an error, where it is wrong."""
    values = attributes.numbers(prim, name)
    if values and not _fits(prim, name, len(values), count, "numbers", attributes):
        return None
    return values


def _indices(prim: Usd.Prim, name: str, count: int, attributes: Attributes) -> list[int] | None:
    """Which joint each term is about."""
    indices = attributes.whole_numbers(prim, name)
    if not indices:
        return indices if indices is None else list(range(count))
    for index in indices:
        if not 0 <= index < count:
            text = f"has {index}, must be from 0 to {count - 1}: places in a list of {count}"
            attributes.report.error("terms", f"{prim.GetPath()}.{name}", text)
            return None
    return indices


def _fits(prim: Usd.Prim, name: str, found: int, needed: int, what: str, attributes: Attributes) -> bool:
    """Whether a list has one entry for each term."""
    if found != needed:
        text = f"has {found} {what} for {needed} terms, must have one for each"
        attributes.report.error("terms", f"{prim.GetPath()}.{name}", text)
    return found == needed

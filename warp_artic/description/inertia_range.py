"""Whether the inertias of a mechanism are numbers that a precision can compute with.

    D_i = 1 / (M^-1)_ii  from `least` to  M_ii  at most `most`,   M the mass matrix at the start   [kg or kg m^2]
Steps square inertias, and divide by them: the squares must be numbers too, which in float32 end at 3e38, and lose their
digits below 1e-38. Of a floating root nothing is squared that is small. A spring, damper or friction of a dof adds to
what it feels of its inertia, so that a small one is no matter there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Dof
from warp_artic.description.pose import Pose
from warp_artic.description.tendon_mobility import mass_matrix


@dataclass(frozen=True)
class Range:
    """Inertias that a precision takes."""

    least: float
    most: float
    least_of_root: float


RANGES = {"float32": Range(1e-21, 1e19, 1e-36), "float64": Range(1e-150, 1e150, 1e-290)}


def inertias_out_of_range(articulation: Articulation, precision: str) -> Iterator[tuple[str, str]]:
    """What of an articulation a precision cannot compute with: a prim path or dof name, and a sentence."""
    own = RANGES[precision]
    if _is_well_inside(articulation, own):
        return
    with np.errstate(all="ignore"):
        M = mass_matrix(articulation, Pose())
        felt = _felt(M)
    roots = len(M) - len(articulation.dofs)
    if roots:
        least, most = float(felt[:roots].min()), float(np.diag(M)[:roots].max())
        root = articulation.links[articulation.inbound.index(None)].path
        yield from _finding(root, "the mechanism", "kg or kg m^2", least, most, own.least_of_root, own.most, precision)
    for place, dof in enumerate(articulation.dofs):
        unit = "kg" if dof.axis.is_linear else "kg m^2"
        least = math.inf if _is_held(dof) else float(felt[roots + place])
        most = float(M[roots + place, roots + place])
        yield from _finding(dof.name, "what it moves", unit, least, most, own.least, own.most, precision)


def _finding(name, whose, unit, least, most, allowed_least, allowed_most, precision) -> Iterator[tuple[str, str]]:
    """The first of two inertias that is not in a range."""
    checks = ((most, not most <= allowed_most), (least, least < allowed_least))
    wrong = [value for value, is_wrong in checks if is_wrong]
    if not wrong:
        return
    sentence = (
        f"the inertia of {whose} is {wrong[0]:.3g} {unit}, must be from {allowed_least:g} to {allowed_most:g} for "
        f"{precision} to compute with it"
    )
    other = RANGES["float64"]
    if precision == "float32" and most <= other.most and least >= other.least:
        sentence += '; precision "float64" can'
    yield name, sentence


def _is_held(dof: Dof) -> bool:
    """Whether a spring, a damper or viscous friction adds to the inertia that a step sees."""
    drive, friction = dof.drive, dof.friction
    has_gains = drive is not None and (drive.stiffness > 0.0 or drive.damping > 0.0)
    return has_gains or (friction is not None and friction.viscous > 0.0)


def _felt(M: np.ndarray) -> np.ndarray:
    """1 / (M^-1)_ii, from a matrix whose rows are of very different sizes."""
    scale = np.sqrt(np.diag(M))
    if not (scale > 0.0).all():
        return np.where(scale > 0.0, np.diag(M), 0.0)
    inverse = np.linalg.pinv(M / np.outer(scale, scale)) if np.isfinite(M).all() else np.eye(len(M))
    return scale**2 / np.maximum(np.diag(inverse), 1.0)


def _is_well_inside(articulation: Articulation, own: Range) -> bool:
    """Whether bounds that cost nothing say so: the smallest part of any link, and all mass at the largest distance."""
    links = [link for link in articulation.links if not link.is_massless]
    traces = [link.inertia[0] + link.inertia[3] + link.inertia[5] for link in links]
    # The smallest moment is not below SINGULAR of the largest one (`validate`).
    least = min([*(link.mass for link in links), *(1e-9 * trace / 3.0 for trace in traces)], default=1.0)
    reach = sum(math.dist((0, 0, 0), link.center_of_mass) for link in links) + sum(
        math.hypot(*joint.parent_frame.position)
        + math.hypot(*joint.child_frame.position)
        + sum(abs(dof.position) for dof in joint.dofs)
        for joint in articulation.joints
    )
    mass = sum(link.mass for link in links)
    armature = max((dof.armature for dof in articulation.dofs), default=0.0)
    return least >= own.least and mass * (1.0 + reach * reach) + sum(traces) + armature <= own.most

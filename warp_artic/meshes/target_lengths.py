"""Target lengths for a sequence of wanted forces:  alpha = l - Delta, with one stiffness K for all tendons and times.

Source: Tendon Model, section 3.1. Of all length changes that give a tension the one that is not negative is taken: a
slack cable may be as long as it likes without effect, and is given the length of its path. K is large enough for
lengths to stay positive.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.description.mesh_tendon import TensionLaw
from warp_artic.errors import SettingsError
from warp_artic.meshes.inverse import InverseProblem, Tensions
from warp_artic.meshes.length_changes import changes_for, least_stiffness
from warp_artic.meshes.tendons import MeshTendons

STRETCH = 0.1
"""Largest Delta relative to l, if K is not given."""


@dataclass(frozen=True)
class TargetLengths:
    """What tendons are asked for over time."""

    stiffness: float
    """K [N/m]."""
    length: np.ndarray
    """alpha [m], shape (times, tendons, environments)."""
    tensions: tuple[Tensions, ...]
    """The best tensions, by time."""


def plan_target_lengths(
    problem: InverseProblem,
    forces: Iterable[wp.array],
    *,
    points: Iterable[wp.array] | None = None,
    bounds: Iterable[tuple[np.ndarray, np.ndarray]] | None = None,
    stiffness: float | None = None,
) -> TargetLengths:
    """Target lengths that make the tendons pull with the best tensions for forces on nodes, time after time.

    `forces` and `points` are arrays of shape (environments, N), one a time; without points the tendons stay where they
    were evaluated last. `bounds` are the smallest and the largest tensions [N], shape (tendons, environments), of each
    time; without them they are those of the problem. Each search starts from the tensions of the time before. The
    tendons are left with the stiffness and the target lengths of the last time.

    Raises:
        SettingsError: As `find_tensions` and `choose_target_lengths`.
    """
    tendons = problem.tendons
    tensions, lengths = find_tensions(problem, forces, points=points, bounds=bounds)
    stiffness, targets = choose_target_lengths(tendons, [found.tension for found in tensions], lengths, stiffness)
    return TargetLengths(stiffness, targets, tuple(tensions))


def choose_target_lengths(
    tendons: MeshTendons, tensions: list[np.ndarray], lengths: list[np.ndarray], stiffness: float | None = None
) -> tuple[float, np.ndarray]:
    """K, and the target lengths, shape (times, tendons, environments), for tensions at lengths of paths, time by time.

    That of a tendon that takes tensions is the length of its path, and without effect. The tendons are left with the
    stiffness and the target lengths of the last time.

    Raises:
        SettingsError: No tendon follows a target length, or the stiffness is not above zero or too small for tensions.
    """
    if stiffness is not None and not stiffness > 0.0:
        raise SettingsError(f"stiffness: {stiffness:g} N/m must be above 0")
    if all(tendon.law is TensionLaw.TENSION for tendon in tendons.tendons):
        name = tendons.tendons[0].name
        raise SettingsError(f"{name}: law tension follows no target length; the law of one must be spring or cable")
    if stiffness is None:
        stiffness = _least_stiffness(tendons, tensions, lengths, STRETCH) or 1.0
    tendons.stiffness.fill_(stiffness)
    targets = [length - changes_for(tendons, tension) for tension, length in zip(tensions, lengths)]
    for time, (target, tension) in enumerate(zip(targets, tensions)):
        for number, environment in np.argwhere(target <= 0.0):
            least = _least_stiffness(tendons, tensions, lengths, 1.0)
            raise SettingsError(
                f"{tendons.tendons[number].name}: stiffness {stiffness:g} N/m gives the tension "
                f"{tension[number, environment]:g} N at time {time} in environment {environment} only with a target "
                f"length of {target[number, environment]:g} m; the stiffness must be above {least:g} N/m"
            )
    if targets:
        tendons.target_length.assign(targets[-1])
    return stiffness, np.array(targets).reshape(-1, *tendons.stiffness.shape)


def find_tensions(
    problem: InverseProblem,
    forces: Iterable[wp.array],
    *,
    points: Iterable[wp.array] | None = None,
    bounds: Iterable[tuple[np.ndarray, np.ndarray]] | None = None,
) -> tuple[list[Tensions], list[np.ndarray]]:
    """The best tensions time after time, and the lengths there [m]; arguments are those of `plan_target_lengths`.

    Raises:
        SettingsError: Points or bounds are not given for as many times as forces.
    """
    tendons, forces = problem.tendons, list(forces)
    places, bounds = ([None] * len(forces) if given is None else list(given) for given in (points, bounds))
    for name, given in (("points", places), ("bounds", bounds)):
        if len(given) != len(forces):
            raise SettingsError(
                f"{name} are given for {len(given)} times, and forces for {len(forces)}, must be as many"
            )
    tensions, lengths = [], []
    for wanted, place, bound in zip(forces, places, bounds):
        if bound is not None:
            problem.min_tension.assign(bound[0])
            problem.max_tension.assign(bound[1])
        if place is not None:
            tendons.evaluate(place)
        tensions.append(problem.solve(wanted, tensions[-1].tension if tensions else None))
        lengths.append(tendons.shape.length.numpy().astype(np.float64))
    return tensions, lengths


def _least_stiffness(tendons: MeshTendons, tensions: list, lengths: list, stretch: float) -> float:
    """The one with which all length changes are at most `stretch` of the lengths."""
    return max(
        (least_stiffness(tendons, tension, stretch * length) for tension, length in zip(tensions, lengths)),
        default=0.0,
    )

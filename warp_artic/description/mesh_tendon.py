"""Tendons on meshes: a path over points of an elastic body, of links and of the world, pulled by one tension."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from warp_artic.description.track import Track


class TensionLaw(enum.Enum):
    """How tension follows from the length change Delta = l - alpha; values are the tokens of USD."""

    SPRING = "spring"
    """tau = K Delta, which also pushes."""
    CABLE = "cable"
    """Zero up to Delta = 0, then quadratic over the smoothing width eps, then K (Delta - eps / 2): E is C2."""
    TENSION = "tension"
    """tau is given."""


@dataclass(frozen=True, kw_only=True)
class BodyPoint:
    """A point of the elastic body: the mean of some of its nodes with weights that sum to one."""

    nodes: tuple[int, ...]
    """One node, or those of an edge, a triangle or a tetrahedron."""
    weights: tuple[float, ...] = (1.0,)


@dataclass(frozen=True, kw_only=True)
class LinkPoint:
    """A point of a link of an articulation."""

    link: str
    """Path of the link."""
    position: tuple[float, float, float]
    """In the link frame [m]."""


@dataclass(frozen=True, kw_only=True)
class WorldPoint:
    """A point that does not move."""

    position: tuple[float, float, float]
    """[m]"""


@dataclass(frozen=True, kw_only=True)
class MeshTendon:
    """l = sum of |x_k - x_(k+1)| over the n - 1 segments between n waypoints; every segment pulls with tau(l - alpha).

    A segment s that collapses keeps a direction, and comes to rest: below c, a thousandth of its length at rest, it
    counts as (|s|^2 / c + c) / 2.

    Source: Tendon Model, section 1.
    """

    name: str
    """Path of the tendon."""
    body: str
    """Path of the elastic body."""
    waypoints: tuple[BodyPoint | LinkPoint | WorldPoint, ...]
    """At least two; no two the same."""
    law: TensionLaw = TensionLaw.CABLE
    stiffness: float = 0.0
    """K [N/m]."""
    smoothing: float = 0.0
    """eps, the width of the start of a cable [m]."""
    target_length: float | None = None
    """alpha [m]; None: the length at rest."""
    tension: float = 0.0
    """tau of the law TENSION [N]."""
    min_tension: float = 0.0
    """Smallest tension that the inverse may ask for [N]."""
    max_tension: float = math.inf
    """Largest tension that the inverse may ask for [N]."""
    stiffness_track: Track | None = None
    """What the stiffness follows over time, if anything; `stiffness` then is that at the start."""
    target_length_track: Track | None = None
    """The same of the target length."""
    tension_track: Track | None = None
    """The same of the tension."""
    min_tension_track: Track | None = None
    """The same of the smallest tension."""
    max_tension_track: Track | None = None
    """The same of the largest tension."""

"""Tendons: couplings of degrees of freedom, or of points on links, by a length with a spring, a damper and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from warp_artic.description.track import Track


@dataclass(frozen=True, kw_only=True)
class FixedTendon:
    """L = offset + sum c_i q_i; effort on dof i = r_i (k (rest - L) - d Ldot + k_lim Delta).

    Delta brings L back to the nearest limit. Source: Tendon Dynamics, equations 1-5.
    """

    name: str
    """Path of the tendon, or of the joint it is rooted at with the name of the tendon appended."""
    dofs: tuple[int, ...]
    """Indices into `Articulation.dofs`."""
    coefficients: tuple[float, ...]
    """c [m/rad, or 1 for a translation]."""
    force_coefficients: tuple[float, ...]
    """r, in the same units."""
    stiffness: float = 0.0
    """k [N/m]."""
    damping: float = 0.0
    """d [N s/m]."""
    limit_stiffness: float = 0.0
    """k_lim [N/m]."""
    rest_length: float = 0.0
    """[m]"""
    offset: float = 0.0
    """[m]"""
    lower: float = -math.inf
    """Smallest length that no limit force opposes [m]."""
    upper: float = math.inf
    """Largest length that no limit force opposes [m]."""
    enabled: bool = True
    rest_length_track: Track | None = None
    """What the rest length follows over time, if anything; `rest_length` then is that at the start."""
    offset_track: Track | None = None
    """The same of the offset."""


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A point of a link that a spatial tendon passes."""

    name: str
    link: int
    """Index into `Articulation.links`."""
    position: tuple[float, float, float]
    """In the link frame [m]."""
    parent: int | None
    """Index of the attachment before this one, towards the root; None at the root."""
    coefficient: float = 1.0
    """c, the weight of the distance to the parent."""


@dataclass(frozen=True, kw_only=True)
class TendonLeaf:
    """The end of a sub-tendon, which runs from here to the root."""

    attachment: int
    """Index into `SpatialTendon.attachments`."""
    rest_length: float | None = None
    """[m]; None: the length at the start pose, without the offset of the tendon."""
    lower: float = -math.inf
    """[m]"""
    upper: float = math.inf
    """[m]"""
    rest_length_track: Track | None = None
    """What the rest length follows over time, if anything; `rest_length` then is that at the start."""


@dataclass(frozen=True, kw_only=True)
class SpatialTendon:
    """L_s = offset + sum c_i |x_i - x_parent| for each leaf s; source: Tendon Dynamics, equations 6-9.

    The force k (rest - L) - d S + k_lim Delta acts along the segments at the leaf and at the root, and S is the rate of
    the two; or, with `all_segments`, every segment pulls with its coefficient times the force, and S is the rate of L.
    """

    name: str
    attachments: tuple[Attachment, ...]
    """Parents before children; the first one is the root."""
    leaves: tuple[TendonLeaf, ...]
    stiffness: float = 0.0
    """k [N/m]."""
    damping: float = 0.0
    """d [N s/m]."""
    limit_stiffness: float = 0.0
    """k_lim [N/m]."""
    offset: float = 0.0
    """[m]"""
    all_segments: bool = False
    enabled: bool = True
    offset_track: Track | None = None
    """What the offset follows over time, if anything; `offset` then is that at the start."""

    @property
    def leaf_names(self) -> tuple[str, ...]:
        """The names of the sub-tendons: those of their leaves."""
        return tuple(self.attachments[leaf.attachment].name for leaf in self.leaves)

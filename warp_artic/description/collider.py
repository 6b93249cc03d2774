"""Colliders: shapes with their surfaces, and what says of two of them that they never touch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.contact_pair import DEPENETRATION_SPEED
from warp_artic.description.shape import Shape, ShapeKind
from warp_artic.description.surface import Surface


@dataclass(frozen=True, kw_only=True)
class Collider:
    """A shape that may touch others, with its material."""

    path: str
    """Prim path."""
    kind: ShapeKind | None
    """None where its kind is unknown."""
    shape: Shape | None = None
    """None where its kind is not simulated."""
    body: str = ""
    """Path of its body, static or dynamic; empty: none."""
    articulation: str = ""
    """Path of the articulation of the body; empty: the collider is static, or has a motion."""
    motion: BaseMotion | None = None
    """Of a body that is moved from outside."""
    surface: Surface = Surface()
    contact_offset: float = 0.0
    """Distance from the shape within which contacts are computed [m]."""
    rest_offset: float = 0.0
    """Distance from the shape at which contacts rest [m]."""
    depenetration_speed: float = DEPENETRATION_SPEED
    """[m/s]"""
    groups: frozenset[str] = frozenset()
    """Paths of the collision groups that it is in."""
    owner: str = ""
    """Path of the physics scene that it is in; those of different scenes never touch."""

    @cached_property
    def names(self) -> frozenset[str]:
        """Names by which filters refer to it: its own, that of its body, that of its articulation."""
        return frozenset((self.path, self.body, self.articulation)) - {""}


@dataclass(frozen=True, kw_only=True)
class CollisionGroup:
    """Colliders that do not touch those of other groups."""

    path: str
    filtered: frozenset[str] = frozenset()
    """Paths of the groups whose colliders it does not touch; it may be among them."""
    is_inverted: bool = False
    """Whether it touches the filtered groups only."""
    merged: str = ""
    """Groups with the same word here are one, with the colliders and the filtered groups of all; empty: one alone."""


@dataclass(frozen=True, kw_only=True)
class ContactFilter:
    """Pairs without contact: groups of colliders, and pairs by the names of colliders, bodies and articulations."""

    groups: tuple[CollisionGroup, ...] = ()
    apart: frozenset[frozenset[str]] = frozenset()
    """Pairs of names; an articulation alone does not touch itself."""
    joined: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    """Pairs of names, each once, with the names of loop joints: they are apart until all of these have broken."""

    @cached_property
    def named(self) -> frozenset[str]:
        """All names that pairs have which stay apart."""
        return frozenset(name for pair in self.apart for name in pair)

    def are_apart(self, first: Iterable[str], second: Iterable[str]) -> bool:
        """Whether a pair has one of the first names and one of the second."""
        ones, others = self.named.intersection(first), self.named.intersection(second)
        return any(frozenset((one, other)) in self.apart for one in ones for other in others)

    def keepers(self, first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
        """The loop joints that keep apart what has one of the first names and one of the second, in order."""
        ones, others = self._joined_names.intersection(first), self._joined_names.intersection(second)
        pairs = {frozenset((one, other)) for one in ones for other in others}
        return tuple(sorted({joint for pair in pairs for joint in self._joints.get(pair, ())}))

    @cached_property
    def _joints(self) -> dict[frozenset[str], frozenset[str]]:
        return dict(self.joined)

    @cached_property
    def _joined_names(self) -> frozenset[str]:
        return frozenset(name for pair, _ in self.joined for name in pair)

    def blocked(self, sets: Sequence[frozenset[str]]) -> np.ndarray:
        """Whether colliders of some groups never touch those of others, for each two of n sets, shape (n, n).

        Any group of one set blocks any of the other.
        """
        names = sorted({self._merged[path] for own in sets for path in own})
        place = {name: number for number, name in enumerate(names)}
        refuses = np.zeros((len(names), len(names)), np.float32)
        for name, row in place.items():
            refused, allowed = self._rules[name]
            if allowed is not None:
                refuses[row] = 1.0
                refuses[row, [place[other] for other in allowed if other in place]] = 0.0
            refuses[row, [place[other] for other in refused if other in place]] = 1.0
        members = np.zeros((len(sets), len(names)), np.float32)
        for row, own in enumerate(sets):
            members[row, [place[self._merged[path]] for path in own]] = 1.0
        return members @ (refuses + refuses.T) @ members.T > 0.0

    @cached_property
    def _merged(self) -> dict[str, str]:
        """What each group is called: the path of the first one that it is merged with, or its own."""
        first: dict[str, str] = {}
        return {one.path: first.setdefault(one.merged, one.path) if one.merged else one.path for one in self.groups}

    @cached_property
    def _rules(self) -> dict[str, tuple[frozenset[str], frozenset[str] | None]]:
        """Of each group, merged, those that it refuses, and the only ones that it allows, if it says so."""
        rules: dict[str, tuple[frozenset[str], frozenset[str] | None]] = {}
        for one in self.groups:
            own = self._merged[one.path]
            refused, allowed = rules.get(own, (frozenset(), None))
            filtered = frozenset(self._merged.get(path, path) for path in one.filtered)
            if one.is_inverted:
                allowed = filtered | (allowed or frozenset())
            else:
                refused = refused | filtered
            rules[own] = (refused, allowed)
        return rules

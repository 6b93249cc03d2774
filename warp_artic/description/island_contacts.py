"""Contacts of articulations that are too many, or too far apart, to be stepped as one mechanism.

Which of them touch is found in each step, and contacts are solved for each island of what touches (`islands`).
"""

from __future__ import annotations

from dataclasses import dataclass

from warp_artic.description.collider import Collider, ContactFilter
from warp_artic.description.contact_pair import BOUNCE_THRESHOLD


@dataclass(frozen=True, kw_only=True)
class IslandContacts:
    """Colliders whose contacts are found during the run, and solved by islands."""

    colliders: tuple[Collider, ...]
    """Of these articulations, and those that stay where they are; in the order of their paths."""
    kept_apart: ContactFilter = ContactFilter()
    """Pairs without contact."""
    bounce_threshold: float = BOUNCE_THRESHOLD
    """[m/s]"""

    @property
    def articulations(self) -> frozenset[str]:
        """Paths of the articulations."""
        return frozenset(one.articulation for one in self.colliders) - {""}

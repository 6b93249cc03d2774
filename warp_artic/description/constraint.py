"""Constraints of an articulation that only their family knows; what all others need of them is here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from warp_artic.description.articulation import Articulation


@dataclass(frozen=True, kw_only=True)
class Constraint:
    """A constraint in SI units; each kind is a subclass, with further fields."""

    NOUN: ClassVar[str] = "constraint"
    """What one is called."""
    UNITS: ClassVar[dict[str, str]] = {}
    """Units of fields, for people."""
    LINKS: ClassVar[tuple[str, ...]] = ()
    """Fields that are indices of links."""

    name: str
    """Prim path."""
    enabled: bool = True

    @property
    def words(self) -> dict[str, str]:
        """What else it is, for people, by a word for it."""
        return {}

    def problems(self, articulation: Articulation) -> Iterator[str]:
        """What is wrong with it: what was found, and what is allowed."""
        count = len(articulation.links)
        for field in self.LINKS:
            link = getattr(self, field)
            if not 0 <= link < count:
                yield f"{field.replace('_', ' ')} is link {link} of {count}, counted from 0"

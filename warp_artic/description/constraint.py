"""Constraints of an articulation that only their family knows; what all others need of them is here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from warp_artic.description.joint import WORLD

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
    """Fields that are indices of links, or WORLD where `MAY_BE_WORLD`."""
    MAY_BE_WORLD: ClassVar[bool] = False
    """Whether one of the links may be the world."""

    name: str
    """Prim path."""
    enabled: bool = True
    articulation1: str = ""
    """Path of the articulation that the last of `LINKS` is a link of; empty: the one that has the constraint.

    Articulations that a constraint joins are one mechanism (`description.mechanism`).
    """

    on_carrier: bool = False
    """Whether its end on the world is on the kinematic body that carries the articulation, where that is at the start,
    as those of joints to the world are."""

    @property
    def own_links(self) -> tuple[str, ...]:
        """The fields that are indices of links of the articulation that has the constraint."""
        return self.LINKS[:-1] if self.articulation1 else self.LINKS

    @property
    def words(self) -> dict[str, str]:
        """What else it is, for people, by a word for it."""
        return {}

    def bounded(self, dt: float) -> Constraint:
        """The same constraint for steps of `dt` [s]: the largest impulses of drives are forces."""
        return self

    def problems(self, articulation: Articulation) -> Iterator[str]:
        """What is wrong with it in the articulation that has it: what was found, and what is allowed."""
        count = len(articulation.links)
        for field in self.own_links:
            link = getattr(self, field)
            if self.MAY_BE_WORLD and link == WORLD:
                yield from self._problems_with_world(articulation)
            elif not 0 <= link < count:
                world = f"; {WORLD} is the world" if self.MAY_BE_WORLD else ""
                yield f"{field.replace('_', ' ')} is link {link} of {count}, counted from 0{world}"

    def _problems_with_world(self, articulation: Articulation) -> Iterator[str]:
        if articulation.base_motion is not None and not self.on_carrier:
            yield (
                f"joins a link to the world, but the articulation is carried by {articulation.base_motion.path}, which "
                "moves; this is not simulated yet"
            )

    def problems_between(self, other: Articulation) -> Iterator[str]:
        """What is wrong at its end on another articulation, that of `articulation1`."""
        link, count = getattr(self, self.LINKS[-1]), len(other.links)
        if not 0 <= link < count:
            yield f"{self.LINKS[-1].replace('_', ' ')} is link {link} of {count} of {other.path}, counted from 0"

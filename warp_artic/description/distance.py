"""Distances: a rod, a string or a spring between points of two links, or of one and the world."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from warp_artic.description.constraint import Constraint


@dataclass(frozen=True, kw_only=True)
class Distance(Constraint):
    """lower <= |x1 - x0| <= upper of two points, hard, or by a spring and damper beyond the ends."""

    NOUN: ClassVar[str] = "distance"
    UNITS: ClassVar[dict[str, str]] = {"lower": "m", "upper": "m", "stiffness": "N/m", "damping": "N s/m"}
    LINKS: ClassVar[tuple[str, ...]] = ("link0", "link1")
    MAY_BE_WORLD: ClassVar[bool] = True

    link0: int
    """Index of the link that x0 is on, or WORLD."""
    link1: int
    position0: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """x0 in the frame of its link, or in the world [m]."""
    position1: tuple[float, float, float] = (0.0, 0.0, 0.0)
    lower: float = 0.0
    """[m]; 0: none."""
    upper: float = math.inf
    """[m]; the same as `lower`: a rod."""
    is_soft: bool = False
    """Whether a spring and damper act beyond the ends, else nothing goes there."""
    stiffness: float = 0.0
    """[N/m]"""
    damping: float = 0.0
    """[N s/m]"""

    def problems(self, articulation) -> Iterator[str]:
        """What is wrong with it: what was found, and what is allowed."""
        yield from super().problems(articulation)
        if self.link0 == self.link1 and not self.articulation1:
            yield f"both points are on link {self.link0}; they must be on different links"
        if not all(map(math.isfinite, (*self.position0, *self.position1))):
            yield f"the points {self.position0} and {self.position1} must be finite"
        if not 0.0 <= self.lower < math.inf:
            yield f"the smallest distance is {self.lower:g} m, must be finite and not negative"
        if not self.upper > 0.0 or self.upper < self.lower:
            yield (
                f"the largest distance is {self.upper:g} m, must be positive, and not below the smallest one, "
                f"{self.lower:g} m"
            )
        for noun, value in (("stiffness", self.stiffness), ("damping", self.damping)):
            if not 0.0 <= value < math.inf:
                yield f"the {noun} is {value:g}, must be finite and not negative"

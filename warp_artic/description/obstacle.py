"""Obstacles: shapes that stay or move as they are animated, and that nodes of an elastic body do not enter."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.contact_pair import DEPENETRATION_SPEED
from warp_artic.description.shape import Shape, ShapeKind

OF_NODES = (ShapeKind.PLANE, ShapeKind.SPHERE, ShapeKind.CAPSULE, ShapeKind.BOX)
"""Kinds of shapes that nodes do not enter."""


@dataclass(frozen=True, kw_only=True)
class Obstacle:
    """A shape in the world that nodes of a body do not enter."""

    shape: Shape
    """Its frame is that in the world at the start."""
    motion: BaseMotion | None = None
    """Of the body that it is on; None: it stays."""
    rest_distance: float = 0.0
    """Distance from the shape at which nodes rest, the sum of the rest offsets of both [m]."""
    static_friction: float = 0.0
    """Of nodes that stick to it; not below that of nodes that slide."""
    dynamic_friction: float = 0.0
    """Of nodes that slide."""
    depenetration_speed: float = DEPENETRATION_SPEED
    """Largest speed at which nodes that start within it come out [m/s]; infinite: any."""

    def problems(self) -> Iterator[str]:
        """What is wrong with it: what was found, and what is allowed."""
        if self.shape.kind not in OF_NODES:
            kinds = ", ".join(kind.value for kind in OF_NODES)
            yield f"is of the kind {self.shape.kind.value}; nodes do not enter {kinds}"
        yield from self.shape.problems
        if not math.isfinite(self.rest_distance):
            yield f"has the rest distance {self.rest_distance:g} m; it must be finite"
        if not 0.0 <= self.dynamic_friction <= self.static_friction < math.inf:
            found = f"{self.static_friction:g} and the dynamic friction {self.dynamic_friction:g}"
            yield f"has the static friction {found}; both must be finite and not negative, and the first not the less"
        if not self.depenetration_speed > 0.0:
            yield f"has the depenetration speed {self.depenetration_speed:g} m/s; it must be positive"

"""Contact pairs: a shape of a link that may touch a shape of another link, or of the world."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.constraint import Constraint
from warp_artic.description.joint import WORLD
from warp_artic.description.shape import Shape, ShapeKind

if TYPE_CHECKING:
    from warp_artic.description.articulation import Articulation

BOUNCE_THRESHOLD = 0.2
"""Where none is authored [m/s]."""
DEPENETRATION_SPEED = 3.0
"""Where none is authored [m/s]."""


@dataclass(frozen=True, kw_only=True)
class ContactPair(Constraint):
    """Two shapes that push each other apart, and hold each other by dry friction.

    The gap is the distance between them, negative where they overlap; contacts rest where it is `rest_distance`.
    """

    NOUN: ClassVar[str] = "contact pair"
    UNITS: ClassVar[dict[str, str]] = {
        "static_friction": "1",
        "dynamic_friction": "1",
        "torsional_friction": "m",
        "rolling_friction": "m",
        "restitution": "1",
        "bounce_threshold": "m/s",
        "stiffness": "N/m",
        "damping": "N s/m",
        "rest_distance": "m",
        "contact_distance": "m",
        "depenetration_speed": "m/s",
    }
    LINKS: ClassVar[tuple[str, ...]] = ("link0", "link1")
    MAY_BE_WORLD: ClassVar[bool] = True

    link0: int
    """Index of the link that has the first shape, or WORLD: the shape stays where it is, or has a motion."""
    link1: int
    """Index of the link that has the second shape."""
    shape0: Shape
    shape1: Shape
    motion0: BaseMotion | None = None
    """How the first shape moves that is on the world; None: as what carries the articulation, if anything does."""
    static_friction: float = 0.0
    """Largest tangential over normal force of a contact that holds."""
    dynamic_friction: float = 0.0
    """Tangential over normal force of a contact that slides."""
    torsional_friction: float = 0.0
    """Largest torque about the normal over the normal force [m]."""
    rolling_friction: float = 0.0
    """Largest torque across the normal over the normal force [m]."""
    restitution: float = 0.0
    """Speed after over speed before an impact along the normal."""
    bounce_threshold: float = BOUNCE_THRESHOLD
    """Speed along the normal above which a contact bounces [m/s]."""
    stiffness: float = math.inf
    """Of a spring along the normal [N/m]; infinite: rigid."""
    damping: float = 0.0
    """Of a damper along the normal, beside the spring [N s/m]."""
    rest_distance: float = 0.0
    """Gap at which contacts rest, the sum of the rest offsets of the shapes [m]."""
    contact_distance: float
    """Gap below which contacts are looked at, the sum of the contact offsets of the shapes [m]."""
    depenetration_speed: float = DEPENETRATION_SPEED
    """Largest speed at which shapes that overlap are pushed apart [m/s]; infinite: any."""
    given_thickness: float | None = None
    """Of a pair that a host gives its only point (`description.contact_slots`): half of the least extent of the thinner
    body [m]. None: the points are those of the shapes."""

    keepers: tuple[str, ...] = ()
    """Names of loop joints of the mechanism that keep the shapes apart until all of them have broken."""

    @property
    def is_given(self) -> bool:
        """Whether a host says where the bodies touch."""
        return self.given_thickness is not None

    @property
    def words(self) -> dict[str, str]:
        """Its shapes."""
        if self.is_given:
            return {f"body{side}": one.path for side, one in enumerate((self.shape0, self.shape1))}
        return {f"shape{side}": f"{one.kind.value} {one.path}" for side, one in enumerate((self.shape0, self.shape1))}

    def problems(self, articulation) -> Iterator[str]:
        """What is wrong with it: what was found, and what is allowed."""
        yield from super().problems(articulation)
        if self.motion0 is not None and self.link0 != WORLD:
            yield f"the first shape has the motion of {self.motion0.path}, but is on link {self.link0}"
        if self.link0 == self.link1 and not self.articulation1:
            yield f"both shapes are on link {self.link0}; they must be on different links, or one on the world"
        for shape in () if self.is_given else (self.shape0, self.shape1):
            for problem in shape.problems:
                yield f"the shape {shape.path} {problem}"
        if self.shape0.kind is self.shape1.kind is ShapeKind.PLANE:
            yield "both shapes are planes, which touch everywhere or nowhere; one of them must be another shape"
        numbers = {
            "static friction": self.static_friction,
            "dynamic friction": self.dynamic_friction,
            "torsional friction": self.torsional_friction,
            "rolling friction": self.rolling_friction,
            "bounce threshold": self.bounce_threshold,
            "damping": self.damping,
        }
        for noun, value in numbers.items():
            if not 0.0 <= value < math.inf:
                yield f"the {noun} is {value:g}, must be finite and not negative"
        if not 0.0 <= self.restitution <= 1.0:
            yield f"the restitution is {self.restitution:g}, must be from 0 to 1"
        if not self.stiffness > 0.0:
            yield f"the stiffness is {self.stiffness:g} N/m, must be positive, infinite for a rigid contact"
        if not self.depenetration_speed > 0.0:
            yield f"the depenetration speed is {self.depenetration_speed:g} m/s, must be positive"
        if not -math.inf < self.rest_distance <= self.contact_distance < math.inf:
            yield (
                f"the contact distance is {self.contact_distance:g} m, must be finite, and not below the rest "
                f"distance, {self.rest_distance:g} m"
            )

    def _problems_with_world(self, articulation: Articulation) -> Iterator[str]:
        if self.motion0 is None:
            yield from super()._problems_with_world(articulation)

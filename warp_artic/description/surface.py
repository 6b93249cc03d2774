"""Surfaces of colliders, and what two of them make together.

Of two combine modes the later one in the order average, min, multiply, max counts. Where one surface is compliant and
the other is rigid, the pair is as compliant as the one; where both are, stiffness goes by the mode of restitution.
A compliant pair does not bounce. Static friction is at least dynamic friction. Of patches the larger radius counts. All
of this is as in PhysX; that two surfaces may be smooth to each other, but not to others, and that of torsional and
rolling friction the larger one counts, is as in MuJoCo.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache


class CombineMode(Enum):
    """How two values are combined; later modes take precedence over earlier ones."""

    AVERAGE = "average"
    MIN = "min"
    MULTIPLY = "multiply"
    MAX = "max"


_PRECEDENCE = {mode: place for place, mode in enumerate(CombineMode)}
_COMBINED = {
    CombineMode.AVERAGE: lambda a, b: 0.5 * (a + b),
    CombineMode.MIN: min,
    CombineMode.MULTIPLY: lambda a, b: a * b,
    CombineMode.MAX: max,
}


@dataclass(frozen=True, kw_only=True)
class Surface:
    """The contact material of a collider; defaults are those of PhysX without a material."""

    static_friction: float = 0.5
    dynamic_friction: float = 0.5
    torsional_friction: float = 0.0
    """Largest torque about the normal over the normal force [m]."""
    rolling_friction: float = 0.0
    """Largest torque across it over the normal force [m]."""
    patch_radius: float = 0.0
    """Of the patch on which dynamic friction acts against turning about the normal [m]."""
    restitution: float = 0.0
    stiffness: float = math.inf
    """Of a spring along the normal [N/m]; infinite: rigid."""
    damping: float = 0.0
    """Of a damper beside the spring [N s/m]."""
    friction_mode: CombineMode = CombineMode.AVERAGE
    restitution_mode: CombineMode = CombineMode.AVERAGE
    damping_mode: CombineMode = CombineMode.AVERAGE
    is_smooth: bool = False
    """Whether there is no friction with others of which the same is true."""

    @property
    def resists_turning(self) -> bool:
        """Whether there is torsional or rolling friction."""
        return self.torsional_friction > 0.0 or self.rolling_friction > 0.0

    @property
    def is_compliant(self) -> bool:
        """Whether a spring acts along the normal."""
        return self.stiffness < math.inf


@dataclass(frozen=True, kw_only=True)
class PairSurface:
    """The combined material of two surfaces, as fields of a `ContactPair`."""

    static_friction: float
    dynamic_friction: float
    torsional_friction: float
    rolling_friction: float
    restitution: float
    stiffness: float
    damping: float


@lru_cache(1024)  # many pairs are of the same two materials
def combined(first: Surface, second: Surface) -> PairSurface:
    """The combined material of two surfaces, in either order."""
    friction = _mode(first.friction_mode, second.friction_mode)
    restitution = _mode(first.restitution_mode, second.restitution_mode)
    if first.is_smooth and second.is_smooth:
        friction = _none
    dynamic = friction(first.dynamic_friction, second.dynamic_friction)
    patch = dynamic * max(first.patch_radius, second.patch_radius)
    compliant = [one for one in (first, second) if one.is_compliant]
    if len(compliant) == 2:
        stiffness = restitution(first.stiffness, second.stiffness)
        damping = _mode(first.damping_mode, second.damping_mode)(first.damping, second.damping)
    else:
        stiffness = compliant[0].stiffness if compliant else math.inf
        damping = compliant[0].damping if compliant else 0.0
    return PairSurface(
        static_friction=max(dynamic, friction(first.static_friction, second.static_friction)),
        dynamic_friction=dynamic,
        torsional_friction=max(patch, first.torsional_friction, second.torsional_friction),
        rolling_friction=max(first.rolling_friction, second.rolling_friction),
        restitution=0.0 if compliant else restitution(first.restitution, second.restitution),
        stiffness=stiffness,
        damping=damping,
    )


def _mode(first: CombineMode, second: CombineMode):
    return _COMBINED[max(first, second, key=_PRECEDENCE.__getitem__)]


def _none(_first: float, _second: float) -> float:
    return 0.0

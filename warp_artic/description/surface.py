"""Surfaces of colliders, and what two of them make together.

Of two combine modes the later one in the order average, min, multiply, max counts. Where one surface is compliant and
the other is rigid, the pair is as compliant as the one; where both are, stiffness goes by the mode of restitution.
A compliant pair does not bounce. Static friction is at least dynamic friction. Of patches the larger radius counts. All
of this is as in PhysX.

Of two surfaces of MuJoCo the larger dimension counts, and of each friction the larger one, unless a combine mode is
authored for friction. Contacts of one dimension have no friction, those of three have it along the plane, those of four
torsional friction too, those of six rolling friction too. Beside a surface of PhysX each keeps its own dimension, and
of torsional and rolling friction the larger one counts.
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


TORSIONAL_FROM, ROLLING_FROM = 4, 6
"""Dimensions of contacts of MuJoCo from which on they have these frictions."""


@dataclass(frozen=True, kw_only=True)
class Surface:
    """The contact material of a collider; defaults are those of PhysX without a material."""

    static_friction: float = 0.5
    dynamic_friction: float = 0.5
    torsional_friction: float | None = None
    """Largest torque about the normal over the normal force [m]; None: it is not said, and is none."""
    rolling_friction: float | None = None
    """Largest torque across it over the normal force [m]; None: it is not said, and is none."""
    patch_radius: float = 0.0
    """Of the patch on which dynamic friction acts against turning about the normal [m]."""
    restitution: float = 0.0
    stiffness: float = math.inf
    """Of a spring along the normal [N/m]; infinite: rigid."""
    damping: float = 0.0
    """Of a damper beside the spring [N s/m]."""
    friction_mode: CombineMode | None = None
    """None: the average, of two surfaces of MuJoCo the larger one."""
    restitution_mode: CombineMode | None = None
    """None: the average."""
    damping_mode: CombineMode | None = None
    """None: the average."""
    dimension: int = 0
    """Of contacts, by the law of MuJoCo: 1, 3, 4 or 6; 0 where the law is that of PhysX."""

    @property
    def resists_turning(self) -> bool:
        """Whether there is torsional or rolling friction."""
        return self.turning(self.dimension) != (0.0, 0.0)

    def turning(self, dimension: int) -> tuple[float, float]:
        """Torsional and rolling friction in contacts of a dimension [m]."""
        return (
            (self.torsional_friction or 0.0) if dimension == 0 or dimension >= TORSIONAL_FROM else 0.0,
            (self.rolling_friction or 0.0) if dimension == 0 or dimension >= ROLLING_FROM else 0.0,
        )

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
    is_of_mujoco = first.dimension > 0 and second.dimension > 0
    dimensions = 2 * (max(first.dimension, second.dimension),) if is_of_mujoco else (first.dimension, second.dimension)
    friction = _mode(
        first.friction_mode, second.friction_mode, CombineMode.MAX if is_of_mujoco else CombineMode.AVERAGE
    )
    restitution = _mode(first.restitution_mode, second.restitution_mode)
    if dimensions == (1, 1):
        friction = _none
    turning = [one.turning(dimension) for one, dimension in zip((first, second), dimensions)]
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
        torsional_friction=max(patch, *(torsional for torsional, _ in turning)),
        rolling_friction=max(rolling for _, rolling in turning),
        restitution=0.0 if compliant else restitution(first.restitution, second.restitution),
        stiffness=stiffness,
        damping=damping,
    )


def _mode(first: CombineMode | None, second: CombineMode | None, fallback: CombineMode = CombineMode.AVERAGE):
    """How two values are combined; by the fallback where neither surface says so."""
    if first is None and second is None:
        return _COMBINED[fallback]
    return _COMBINED[max(first or CombineMode.AVERAGE, second or CombineMode.AVERAGE, key=_PRECEDENCE.__getitem__)]


def _none(_first: float, _second: float) -> float:
    return 0.0

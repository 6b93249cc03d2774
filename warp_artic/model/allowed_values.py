"""What arrays that a user writes to on the device may hold, as the rules of a description have it (`validate`).

A step stops an environment in which one of them holds anything else (`phases.given_values`).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

ENDLESS = sys.float_info.max
"""A bound that stands for all finite numbers, of whatever type."""


@dataclass(frozen=True)
class Allowed:
    """The numbers from `least` to `most`, both among them."""

    least: float
    most: float
    words: str
    """The same in a sentence: it must be ..."""

    def bounds(self, scalar: type) -> tuple[float, float]:
        """Least and most as numbers of a type of NumPy."""
        largest, smallest = float(np.finfo(scalar).max), float(np.finfo(scalar).smallest_subnormal)
        least, most = (math.copysign(largest, end) if abs(end) == ENDLESS else end for end in (self.least, self.most))
        return max(least, smallest) if least > 0.0 else least, most


FINITE = Allowed(-ENDLESS, ENDLESS, "finite")
NOT_NEGATIVE = Allowed(0.0, ENDLESS, "finite and not negative")
POSITIVE = Allowed(math.ulp(0.0), ENDLESS, "positive and finite")
LARGEST = Allowed(0.0, math.inf, "not negative")
ANGLE = Allowed(math.ulp(0.0), math.inf, "positive")
SHARE = Allowed(0.0, 1.0, "from 0 to 1")
LOWER = Allowed(-math.inf, ENDLESS, "finite, or minus infinity")
UPPER = Allowed(-ENDLESS, math.inf, "finite, or infinity")

CONTROLS = ("drive_position_target", "drive_velocity_target", "joint_effort", "link_external_force")
"""Arrays of the control, which must be finite, in the order of `phases.given_values`."""

ALLOWED = {
    **dict.fromkeys(CONTROLS, FINITE),
    "gravity": FINITE,
    "sleep_threshold": NOT_NEGATIVE,
    "armature": NOT_NEGATIVE,
    "link_mass": POSITIVE,
    "link_linear_damping": NOT_NEGATIVE,
    "link_angular_damping": NOT_NEGATIVE,
    "link_gravity_scale": FINITE,
}
"""Of arrays that belong to no constraint family."""

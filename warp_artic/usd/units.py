"""Stage units and SI: every conversion of a quantity that is read from a stage or written to one."""

from __future__ import annotations

import math
from dataclasses import dataclass

DEGREE = math.pi / 180.0
"""[rad]"""


@dataclass(frozen=True)
class Quantity:
    """SI value = authored value * metersPerUnit^length * kilogramsPerUnit^mass * (pi / 180)^degrees."""

    authored: str
    """The unit on the stage, in words."""
    si: str
    """The unit inside."""
    length: int = 0
    mass: int = 0
    degrees: int = 0


@dataclass(frozen=True)
class Units:
    """The units of a stage."""

    meters: float = 1.0
    """Metres in a unit of length."""
    kilograms: float = 1.0
    """Kilograms in a unit of mass."""

    def si(self, value: float, quantity: Quantity) -> float:
        """An authored value in SI units and radians."""
        return value * self._factor(quantity)

    def authored(self, value, quantity: Quantity):
        """A value in SI units and radians, or an array of them, as it is authored."""
        return value / self._factor(quantity)

    def authored_exactly(self, value: float, quantity: Quantity) -> float:
        """The number that is read as this value; the nearest one where rounding leaves none."""
        near = self.authored(value, quantity)
        below, above = math.nextafter(near, -math.inf), math.nextafter(near, math.inf)
        return next((number for number in (near, below, above) if self.si(number, quantity) == value), near)

    def _factor(self, quantity: Quantity) -> float:
        return self.meters**quantity.length * self.kilograms**quantity.mass * DEGREE**quantity.degrees


NUMBER = Quantity("1", "1")
TIME = Quantity("s", "1/s")
DURATION = Quantity("s", "s")
RATE = Quantity("1/s", "1/s")
NATURAL_FREQUENCY = Quantity("rad/s", "rad/s")
DISTANCE = Quantity("distance", "m", length=1)
ANGLE = Quantity("deg", "rad", degrees=1)
RADIAN = Quantity("rad", "rad")
LINEAR_VELOCITY = Quantity("distance/s", "m/s", length=1)
ANGULAR_VELOCITY = Quantity("deg/s", "rad/s", degrees=1)
RADIAN_RATE = Quantity("rad/s", "rad/s")
ACCELERATION = Quantity("distance/s^2", "m/s^2", length=1)
ENERGY_BY_MASS = Quantity("distance^2/s^2", "m^2/s^2", length=2)
MASS = Quantity("mass", "kg", mass=1)
DENSITY = Quantity("mass/distance^3", "kg/m^3", mass=1, length=-3)
PRESSURE = Quantity("force/distance^2", "Pa", mass=1, length=-1)
INERTIA = Quantity("mass*distance^2", "kg m^2", mass=1, length=2)
FORCE = Quantity("force", "N", mass=1, length=1)
TORQUE = Quantity("torque", "N m", mass=1, length=2)
IMPULSE = Quantity("force*s", "N s", mass=1, length=1)
ANGULAR_IMPULSE = Quantity("torque*s", "N m s", mass=1, length=2)
LINEAR_STIFFNESS = Quantity("force/distance", "N/m", mass=1)
LINEAR_DAMPING = Quantity("force*s/distance", "N s/m", mass=1)
ANGULAR_STIFFNESS = Quantity("torque/deg", "N m/rad", mass=1, length=2, degrees=-1)
ANGULAR_DAMPING = Quantity("torque*s/deg", "N m s/rad", mass=1, length=2, degrees=-1)
ANGULAR_STIFFNESS_PER_RADIAN = Quantity("torque/rad", "N m/rad", mass=1, length=2)
ANGULAR_DAMPING_PER_RADIAN = Quantity("torque*s/rad", "N m s/rad", mass=1, length=2)
LINEAR_ACCELERATION_STIFFNESS = Quantity("1/s^2", "1/s^2")
LINEAR_ACCELERATION_DAMPING = Quantity("1/s", "1/s")
ANGULAR_ACCELERATION_STIFFNESS = Quantity("1/(s^2 deg)", "1/s^2", degrees=-1)
ANGULAR_ACCELERATION_DAMPING = Quantity("1/(s deg)", "1/s", degrees=-1)
LINEAR_GRADIENT = Quantity("distance/s/force", "m/(s N)", mass=-1)
ANGULAR_GRADIENT = Quantity("deg/s/torque", "rad/(s N m)", mass=-1, length=-2, degrees=1)
RADIAN_GRADIENT = Quantity("rad/s/torque", "rad/(s N m)", mass=-1, length=-2)
DISTANCE_PER_ANGLE = Quantity("distance/deg", "m/rad", length=1, degrees=-1)
ANGLE_PER_DISTANCE = Quantity("deg/distance", "rad/m", length=-1, degrees=1)
RADIAN_PER_DISTANCE = Quantity("rad/distance", "rad/m", length=-1)
LEVER = Quantity("distance", "m/rad", length=1)
"""A distance, as authored, between a force and the torque that it gives."""

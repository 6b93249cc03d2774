"""What the integrator "rk4" cannot simulate: constraint rows, and motors with a performance envelope."""

from __future__ import annotations

import math
from collections import Counter

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.mechanisms.tree import tree_of
from warp_artic.model.families import SPEED_LIMITS, Family
from warp_artic.solver.settings import INTEGRATORS

JOINT_LIMIT = ("joint limit", "joint limits")
CONE_LIMIT = ("cone limit", "cone limits")
NAMES = {
    Family.FRICTION: ("dof with dry friction", "dofs with dry friction"),
    Family.VELOCITY_LIMIT: ("velocity limit", "velocity limits"),
    Family.LINK_SPEED: ("limit on the speed of a link", "limits on the speed of links"),
    Family.LINK_SPIN: ("limit on the spin of a link", "limits on the spin of links"),
    Family.TREE_SPEED: ("limit on the speed of its centre of mass", "limits on the speed of its centre of mass"),
    Family.TREE_SPIN: ("limit on its spin as a whole", "limits on its spin as a whole"),
    Family.FIXED_TENDON: ("fixed tendon", "fixed tendons"),
    Family.SPATIAL_TENDON: ("spatial tendon leaf", "spatial tendon leaves"),
    Family.MIMIC: ("mimic joint", "mimic joints"),
    Family.SOFT_LIMIT: JOINT_LIMIT,
    Family.SOFT_ROTATION_LIMIT: JOINT_LIMIT,
    Family.SOFT_TWIST_LIMIT: JOINT_LIMIT,
    Family.SOFT_SWING_LIMIT: JOINT_LIMIT,
    Family.SOFT_CONE_LIMIT: CONE_LIMIT,
    Family.JOINT_LIMIT: JOINT_LIMIT,
    Family.BOUNCING_LIMIT: JOINT_LIMIT,
    Family.ROTATION_LIMIT: JOINT_LIMIT,
    Family.TWIST_LIMIT: JOINT_LIMIT,
    Family.SWING_LIMIT: JOINT_LIMIT,
    Family.CONE_LIMIT: CONE_LIMIT,
}
"""What one row of a family, and several, stand for."""
CARRIER = ("kinematic body that carries it",) * 2
MOTOR = ("drive with a performance envelope", "drives with a performance envelope")

NOT_COUNTED = (Family.DRIVE, Family.FIXED_TENDON_LIMIT, Family.SPATIAL_TENDON_LIMIT)
"""Drives are smooth forces, and a tendon has been counted without its limits."""


def check_free_motion(scene: Scene) -> None:
    """Raise a SettingsError that names what the integrator "rk4" would leave out."""
    for articulation in scene.articulations:
        found = _constraints(articulation)
        if found:
            *most, last = found
            listed = f"{', '.join(most)} and {last}" if most else last
            others = ", ".join(name for name in INTEGRATORS if name != "rk4")
            raise SettingsError(
                f"integrator: rk4 is for free motion, and {articulation.path} has {listed}; allowed here: {others}"
            )


def _constraints(articulation: Articulation) -> list[str]:
    """What acts other than by a smooth force, each with its number."""
    counts = Counter(NAMES[row.family] for row in tree_of(articulation).rows if row.family not in NOT_COUNTED)
    for family in SPEED_LIMITS:
        counts[NAMES[family]] //= 3
    counts[CARRIER] = int(articulation.base_motion is not None)
    counts[MOTOR] = sum(_has_envelope(dof.drive) for dof in articulation.dofs)
    return [f"{count} {names[count > 1]}" for names, count in counts.items() if count]


def _has_envelope(drive: Drive | None) -> bool:
    return drive is not None and (math.isfinite(drive.max_velocity) or drive.velocity_resistance > 0)

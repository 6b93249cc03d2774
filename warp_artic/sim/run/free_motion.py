"""What the integrator "rk4" cannot simulate: constraint rows, and motors with a performance envelope."""

from __future__ import annotations

import math
from collections import Counter

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive
from warp_artic.description.mechanism import Mechanism, joined, mechanisms_of
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError
from warp_artic.mechanisms.tree import tree_of
from warp_artic.model.families import ConstraintFamily
from warp_artic.solver.settings import INTEGRATORS

CARRIER = ("kinematic body that carries it",) * 2
MOTOR = ("drive with a performance envelope", "drives with a performance envelope")


def check_free_motion(scene: Scene) -> None:
    """Raise a SettingsError that names what the integrator "rk4" would leave out."""
    others = ", ".join(name for name in INTEGRATORS if name != "rk4")
    if scene.island_contacts is not None:
        count = len(scene.island_contacts.articulations)
        raise SettingsError(
            f"integrator: rk4 is for free motion, and {count} mechanism{'s' * (count > 1)} may touch each other or "
            f"themselves; allowed here: {others}"
        )
    for indices in mechanisms_of(scene):
        articulations = [scene.articulations[index] for index in indices]
        found = _constraints(joined(articulations))
        if found:
            paths = ", ".join(one.path for one in articulations)
            verb = "have" if len(articulations) > 1 else "has"
            *most, last = found
            listed = f"{', '.join(most)} and {last}" if most else last
            raise SettingsError(
                f"integrator: rk4 is for free motion, and {paths} {verb} {listed}; allowed here: {others}"
            )


def _constraints(mechanism: Articulation | Mechanism) -> list[str]:
    """What acts other than by a smooth force, each with its number."""
    counts: Counter[tuple[str, str]] = Counter()
    found = dict.fromkeys((row.family, row.item // _items_each(row.family)) for row in tree_of(mechanism).rows)
    counts.update(family.label for family, _ in found if family.label is not None)
    counts[CARRIER] = sum(one.base_motion is not None for one in mechanism.articulations)
    counts[MOTOR] = sum(_has_envelope(dof.drive) for dof in mechanism.dofs)
    return [f"{count} {names[count > 1]}" for names, count in counts.items() if count]


def _items_each(family: ConstraintFamily) -> int:
    """How many items of rows there are for one of what people know by name."""
    return 1 if family.entries is None or family.multiplier is None else family.multiplier.size


def _has_envelope(drive: Drive | None) -> bool:
    return drive is not None and (math.isfinite(drive.max_velocity) or drive.velocity_resistance > 0)

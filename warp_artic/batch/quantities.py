"""Columns of quantities: what each number of a recorded array is of, its prim and its unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warp_artic.batch.outcome import StopRule
from warp_artic.description.scene import Scene
from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.record.recorder import OF_CONTACTS, OF_STEPS, STATES
from warp_artic.sim.record.recording import SHAPES, Recording

ROOTS = {"root_pose": "link_pose", "root_velocity": "link_velocity"}
"""Quantities of floating roots, and those of links that they are rows of."""
AXES = ("x", "y", "z")
COMPONENTS = {
    7: (*AXES, "qx", "qy", "qz", "qw"),
    6: (*AXES, "rx", "ry", "rz"),
    3: AXES,
    2: ("linear", "angular"),
}
"""How the numbers of an entry are called, by how many there are."""
ENERGIES = ("kinetic", "potential")
PER_DOF = {
    "joint_position": ("m", "rad"),
    "joint_velocity": ("m/s", "rad/s"),
    "joint_acceleration": ("m/s^2", "rad/s^2"),
    "drive_position_target": ("m", "rad"),
    "drive_velocity_target": ("m/s", "rad/s"),
}
"""Units of quantities of dofs, of translations and rotations; others are forces."""
UNITS = {
    "link_pose": ("m",) * 3 + ("1",) * 4,
    "link_velocity": ("m/s",) * 3 + ("rad/s",) * 3,
    "link_acceleration": ("m/s^2",) * 3 + ("rad/s^2",) * 3,
    "link_incoming_joint_force": ("N",) * 3 + ("N m",) * 3,
    "loop_force": ("N",) * 3 + ("N m",) * 3,
    "loop_error": ("m", "rad"),
    "mesh_points": ("m",) * 3,
    "energy": ("J", "J"),
    "tendon_length": ("m",),
    "tendon_speed": ("m/s",),
    "tendon_force": ("N",),
    "mesh_tendon_length": ("m",),
    "mesh_tendon_tension": ("N",),
}
"""Of the numbers of an entry, where they do not depend on it."""


@dataclass(frozen=True)
class Entry:
    """One number of a quantity."""

    quantity: str
    name: str
    """What it is of: a prim path, with a dof or a component appended."""
    prim: str
    component: int
    unit: str
    """Empty where it depends on what the number is of."""

    @property
    def column(self) -> str:
        """How tables call it."""
        return f"{self.quantity}:{self.name}" if self.name else self.quantity


OF_LAST_STEP = OF_STEPS | {"contact_force"}
"""Quantities of the step before a record, of which the first record of a run has none."""


def check_quantity(where: str, name: str) -> None:
    """Refuse what is no quantity of recordings."""
    allowed = (*STATES, *OF_CONTACTS, *sorted(OF_STEPS), *ROOTS)
    if name not in allowed:
        raise SettingsError(f"{where}: {name!r} is not one of {', '.join(allowed)}{did_you_mean(name, allowed)}")


def has_forces(quantities: set[str]) -> bool:
    """Whether steps have to report forces."""
    return not quantities.isdisjoint(OF_STEPS)


def recorded_names(quantities: set[str]) -> set[str]:
    """The arrays of a recording that quantities are read from."""
    return {ROOTS.get(name, name) for name in quantities}


def flat(recording: Recording, quantity: str) -> np.ndarray:
    """The records of a quantity, shape (records, environments, entries)."""
    values = getattr(recording, ROOTS.get(quantity, quantity))
    if quantity in ROOTS:
        values = values[:, :, [recording.link_names.index(name) for name in recording_roots(recording)]]
    return values.reshape(*values.shape[:2], -1)


def recording_roots(recording: Recording) -> tuple[str, ...]:
    """The floating roots among the links of a recording, as its metadata has them."""
    return tuple(recording.metadata["root_names"])


def entries_of(recording: Recording, quantity: str, scene: Scene) -> tuple[Entry, ...]:
    """What the numbers of a quantity are of, in the order of `flat`."""
    if quantity == "energy":
        return tuple(Entry(quantity, name, "", k, "J") for k, name in enumerate(ENERGIES))
    source = ROOTS.get(quantity, quantity)
    key, *sizes = SHAPES[source]
    names = recording_roots(recording) if quantity in ROOTS else getattr(recording, key)
    if source == "mesh_points":
        names = [f"{name}:{k}" for k, name in enumerate(names)]
    size = sizes[0] if sizes else 1
    units = UNITS.get(source, ("",) * size)
    linear = {dof.name: dof.axis.is_linear for tree in scene.articulations for dof in tree.dofs}
    found = []
    for name in names:
        prim = name.partition(":")[0]
        if key == "joint_names":
            unit = PER_DOF.get(source, ("N", "N m"))[not linear.get(name, True)]
            found.append(Entry(quantity, name, prim, 0, unit))
        elif size == 1:
            found.append(Entry(quantity, name, prim, 0, units[0]))
        else:
            labels = COMPONENTS.get(size, tuple(map(str, range(size))))
            found += [Entry(quantity, f"{name}:{labels[k]}", prim, k, units[k]) for k in range(size)]
    return tuple(found)


def chosen_entries(rule: StopRule, entries: tuple[Entry, ...]) -> np.ndarray:
    """The places of the entries that a rule looks at."""
    if not rule.entry:
        found = range(len(entries))
    elif rule.entry.isdigit():
        components = any(entry.component for entry in entries)
        wanted = int(rule.entry)
        found = [k for k, entry in enumerate(entries) if (entry.component if components else k) == wanted]
    else:
        found = [k for k, entry in enumerate(entries) if rule.entry in (entry.prim, entry.name)]
    if not entries:
        raise SettingsError(f"stop: nothing on the stage has {rule.quantity}")
    if not len(found):
        names = [entry.name for entry in entries]
        raise SettingsError(
            f"stop: {rule.quantity} has no entry {rule.entry!r}{did_you_mean(rule.entry, names)}; there are "
            f"{', '.join(names[:8])}{' ...' if len(names) > 8 else ''}"
        )
    return np.array(found)

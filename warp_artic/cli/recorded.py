"""What `warp-artic simulate` records: what it writes, and what it tells at the end."""

from __future__ import annotations

from warp_artic.sim.record.recorder import FROM_CONTACTS, OF_CONTACTS, OF_STEPS, STATES
from warp_artic.sim.record.recording import OTHER_MEASURES

TOLD = (
    "joint_position",
    "energy",
    "tendon_length",
    "tendon_force",
    "tendon_limit_state",
    "mimic_error",
    "loop_error",
    "loop_broken",
    "mesh_points",
    "mesh_tendon_length",
    "mesh_tendon_tension",
    "contact_gap",
    *(name for name in OTHER_MEASURES if name in STATES),
)
"""What the summary is of."""
TOLD_OF_FORCES = (
    "joint_drive_force",
    "joint_limit_force",
    "joint_friction_force",
    "joint_tendon_force",
    "joint_mimic_force",
    "joint_loop_force",
    "joint_contact_force",
    "link_incoming_joint_force",
    "mimic_force",
    "loop_force",
    "tendon_mobility",
    *(name for name in OTHER_MEASURES if name in OF_STEPS),
)
"""The same, with `--forces`."""
BAKED = ("joint_velocity", "link_pose", "tendon_speed")
"""What a run layer shows beside these."""


def recorded(has_layer: bool, has_file: bool, has_forces: bool) -> tuple[str, ...]:
    """Quantities of a run, of which a layer is written, or a file with all of them; with forces or without."""
    if has_file:
        with_forces = sorted({*OF_STEPS, *FROM_CONTACTS, "tendon_mobility"}) if has_forces else ()
        return (*STATES, *OF_CONTACTS, *with_forces)
    return (*TOLD, *(BAKED if has_layer else ()), *(TOLD_OF_FORCES if has_forces else ()))

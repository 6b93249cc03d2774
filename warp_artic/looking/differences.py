"""How far two recordings are apart, quantity by quantity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warp_artic.errors import SettingsError
from warp_artic.sim.record.recorder import OF_STEPS
from warp_artic.sim.record.recording import NAMES, SHAPES, Recording

COMPARED = tuple(name for name in SHAPES if name not in OF_STEPS)
"""Quantities that a reference is compared in: states, not forces, which impacts make large."""


@dataclass(frozen=True)
class Difference:
    """The largest difference of one quantity over all records, environments and entries."""

    quantity: str
    found: float
    """In the units of the recording; of energies relative to the largest one of the reference."""
    where: str
    time: float
    """[s]"""


def differences(recording: Recording, reference: Recording) -> list[Difference]:
    """The largest difference of each quantity that both have, at the times of the reference.

    Quaternions are compared up to their sign, and energies by the largest one of the reference.

    Raises:
        SettingsError: They are of different mechanisms, at times that are not those of records, or of other quantities.
    """
    for name in NAMES:
        if getattr(recording, name) != getattr(reference, name):
            raise SettingsError(f"{name}: the recording and its reference have different ones")
    if recording.environment_count != reference.environment_count:
        counts = f"{recording.environment_count} and {reference.environment_count}"
        raise SettingsError(f"environments: the recording and its reference have {counts}")
    rows = np.searchsorted(recording.time, reference.time - 1e-9)
    rows = np.minimum(rows, recording.time.size - 1)
    off = np.abs(recording.time[rows] - reference.time)
    if off.max() > 1e-6:
        missing = float(reference.time[int(np.argmax(off))])
        raise SettingsError(f"time: the reference has a record at {missing:g} s; the recording has none there")
    found = []
    for name in COMPARED:
        ours, theirs = getattr(recording, name), getattr(reference, name)
        if not ours.size or not theirs.size or ours.shape[1:] != theirs.shape[1:]:
            continue
        found.append(_difference(name, ours[rows].astype(float), theirs.astype(float), reference))
    if not found:
        ours, theirs = (
            ", ".join(n for n in COMPARED if getattr(one, n).size) or "none" for one in (recording, reference)
        )
        raise SettingsError(f"quantities: the recording has {ours}, and its reference {theirs}; they share none")
    return found


def _difference(name: str, ours: np.ndarray, theirs: np.ndarray, reference: Recording) -> Difference:
    """The largest difference of one quantity."""
    if name == "link_pose":
        dots = np.einsum("...i,...i->...", ours[..., 3:], theirs[..., 3:])
        ours = np.concatenate([ours[..., :3], ours[..., 3:] * np.where(dots < 0.0, -1.0, 1.0)[..., None]], axis=-1)
    amount = np.abs(ours - theirs)
    if name == "energy":
        amount = amount / max(float(np.abs(theirs).max()), 1e-300)
    amount = np.where(np.isfinite(ours) & np.isfinite(theirs), amount, np.inf)
    amount = np.where((ours == theirs) | (np.isnan(ours) & np.isnan(theirs)), 0.0, amount)
    place = np.unravel_index(int(np.argmax(amount)), amount.shape)
    (names, *_) = SHAPES[name]
    where = getattr(reference, names)[place[2]] if isinstance(names, str) else ("kinetic", "potential")[place[2]]
    return Difference(name, float(amount[place]), where, float(reference.time[place[0]]))

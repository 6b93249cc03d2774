"""What a peer is asked to simulate."""

from __future__ import annotations

from dataclasses import dataclass


class NotSimulatedError(Exception):
    """What a peer cannot simulate of a case, in words."""


@dataclass(frozen=True)
class Case:
    """A model, the state that it starts from, and what it is driven to; joints by their names in the MJCF file."""

    xml: str
    """The MJCF file."""
    stage: str
    """The USD file, with all robots below /World."""
    root: str
    """The prim of the first articulation."""
    start: dict[str, float]
    """Joint positions."""
    inside: dict[str, float]
    """The same, within the limits: where accelerations are compared."""
    targets: dict[str, float]
    """Of position drives."""
    gains: dict[str, tuple[float, float]]
    """Stiffness and damping of the drives."""
    features: tuple[str, ...]
    """What there is besides joints and drives, of "limits", "fixed tendons", "mimic joints" and "several robots"."""
    dt: float
    settled: int
    """Steps from the start to where steps are measured: what is driven past a limit is held by then."""
    device: str

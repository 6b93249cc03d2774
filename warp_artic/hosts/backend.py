"""What a stepping backend offers to a host of USD stages, whichever simulator it is.

    attach -> (set_controls | write | step | read | reset) ... -> detach

A backend holds one stage at a time and never edits it: results leave by `read`, and a sink such as `hosts.live_layer`
publishes them where a host wants to see them. Arrays are in SI units and radians, with names and shapes as the backend
says; ours are those of `Simulation.state`, `control` and `parameters` (`sim.arrays.views`).

A backend that takes contacts which the host finds has `set_contacts(contacts)` besides, with arrays by name, to be
called before `step`; ours has those of `Simulation.set_contacts`, between bodies that `attach` is told as
`contact_slots`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

API_VERSION = 1
"""Of this protocol. It rises where a host or a backend of the version before would no longer do."""


@dataclass(frozen=True)
class AttachReport:
    """What a backend takes from a stage, by prim paths."""

    simulated: tuple[str, ...]
    """Prims that it moves, or that act on what it moves."""
    not_simulated: Mapping[str, str] = field(default_factory=dict)
    """Prims that it leaves alone, each with the reason in a sentence."""
    links: tuple[str, ...] = ()
    """Prims whose poses `link_poses` gives, in its order."""
    meshes: tuple[str, ...] = ()
    """Meshes that deform, whose points `mesh_points` gives, in its order; a backend without any need not have that."""


@runtime_checkable
class StageBackend(Protocol):
    """A simulator that steps what is on a stage.

    Every method raises `ArticError`, or another exception with one clear line, where it cannot do what it is asked for;
    the stage then is as it was.
    """

    name: str
    """By which it is registered."""
    api_version: int
    """The version of the protocol that it was written for."""
    report: AttachReport | None
    """What is attached, brought up to date by edits of the stage; None where nothing is."""

    def can_simulate(self, schemas: Iterable[str]) -> bool:
        """Whether prims with these schemas (names of types and applied schemas) may be for this backend."""

    def attach(self, stage: Any, *, environments: int = 1, device: str = "cpu", **options: Any) -> AttachReport:
        """Take up a stage as it is composed now, at its start time.

        Args:
            stage: An open `Usd.Stage`, or what the backend takes instead.
            environments: Number of independent copies.
            device: "cpu" or "cuda:N".
            options: What else the backend can be told.
        """

    def leave_out(self, layer: Any) -> None:
        """Take a layer for what it is: results that a host publishes, not what the authors of the stage have.

        To be called after `attach`, before the layer joins the stage.
        """

    def set_controls(self, controls: Mapping[str, Any], environments: Sequence[int] | None = None) -> None:
        """Set what drives follow and what pushes, from now on, in chosen environments (all by default)."""

    def step(self, dt: float) -> int:
        """Advance by a time [s] that a host shows next, in time steps of the backend; how many there were.

        What is left of the time is kept for the next call.
        """

    def read(self, fields: Sequence[str]) -> dict[str, Any]:
        """Arrays by name, as they are now: on the device and without a copy where the backend can."""

    def link_poses(self, environment: int = 0) -> Any:
        """World poses now, position xyz [m] and quaternion xyzw, a NumPy array of shape (links, 7)."""

    def write(self, values: Mapping[str, Any], environments: Sequence[int] | None = None) -> None:
        """Set parts of the state, or parameters, in chosen environments (all by default)."""

    def reset(self, environments: Sequence[int] | None = None) -> None:
        """Put environments (all by default) back to the start state of the stage."""

    def detach(self) -> None:
        """Let go of the stage and of all that was made for it; nothing is left behind. Once more does nothing."""

"""What a simulator gives to the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from case import Case


@dataclass(frozen=True)
class Peer:
    """A simulator, or a solver of one."""

    label: str
    """Name and version, precision, threads."""
    make: Callable[[Case, int], Callable[[int], None]]
    """For a number of environments: what advances them all by a number of steps, and waits for the end."""
    acceleration: Callable[[Case], dict[str, float]]
    """Accelerations of the joints at rest at the positions `inside`, without an integrator's doing."""
    ignores: tuple[str, ...] = ()
    """Features that it leaves out."""
    has_gpu: bool = False

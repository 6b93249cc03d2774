"""What a simulator gives to the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from case import Case

Advance = Callable[[int], None]
"""Makes that many steps, or evaluations, of all environments, and waits for the end."""


@dataclass(frozen=True)
class Peer:
    """A simulator, or a solver of one."""

    label: str
    """Name and version, precision."""
    make: Callable[[Case, int], Advance]
    """Steps of a number of environments."""
    acceleration: Callable[[Case], dict[str, float]]
    """Accelerations of the joints at rest at the positions `inside`, without an integrator's doing."""
    dynamics: Callable[[Case, str, int], Sequence[Advance]] | None = None
    """Evaluations of a quantity of the dynamics suite whose results stay in memory. Where calls from Python for each
    environment weigh as much as a model: also the same calls on a model of one hinge, whose time is taken off. That
    takes off the work for one hinge, too, in favour of the peer."""
    ignores: tuple[str, ...] = ()
    """Features that its steps leave out."""
    has_gpu: bool = False

"""Which rows are near a switch over a run, and how near: there the derivatives of steps are others on either side.

Limits, friction, drives at their maximum, and tendons and loops with limits are rows (`constraints.margins` says what
their margins are). Steps report them with the forces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from warp_artic.errors import SettingsError
from warp_artic.mechanisms.group import mechanisms_in
from warp_artic.mechanisms.tree import row_names
from warp_artic.sim.change.moment import as_it_was, take_moment
from warp_artic.sim.change.motion import set_values
from warp_artic.sim.derivatives.quantities import mapped, quantity
from warp_artic.sim.derivatives.tangent import control_table
from warp_artic.sim.derivatives.twin import check_differentiable
from warp_artic.sim.run.layout import laid_out
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import step


@dataclass(frozen=True, eq=False)
class Kinks:
    """How near each of K rows was to a switch over a run in E environments, the least of all steps.

    Both are infinite where a row had no such margin in any step. Where both are small it has switched, or nearly so.
    """

    names: tuple[str, ...]
    """What the rows are, such as "joint limit:/World/arm/elbow"."""
    velocity: np.ndarray
    """What is left until a row acts, or the speed with which it slips, shape (E, K) [m/s, rad/s]."""
    force: np.ndarray
    """What is left until a row that acts lets go, or slips, shape (E, K) [N, N m]."""

    def near(self, velocity: float, force: float) -> tuple[tuple[str, int], ...]:
        """The names and environments of rows that were nearer than this."""
        found = np.argwhere((self.velocity < velocity) | (self.force < force))
        return tuple((self.names[row], int(environment)) for environment, row in found)


def kinks(run: Run, steps: int, controls: Mapping[str, np.ndarray] | None) -> Kinks:
    """See `Simulation.kinks`."""
    check_differentiable(run, "kinks")
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise SettingsError(f"steps: {steps!r} is not an integer of at least 1")
    if run.settings.integrator == "rk4":
        raise SettingsError("kinks: steps of the integrator rk4 have no limits and no friction, and nothing to switch")
    steered = {name: control_table(run, name, table, steps) for name, table in mapped("controls", controls).items()}
    names = tuple(_names(run))
    least = np.full((2, len(names), run.environments), np.inf)
    with as_it_was(run, take_moment(run)):
        for key in [key for key in run.tracks if key[0] in steered]:
            run.tracks.pop(key)
        for done in range(steps):
            for name, table in steered.items():
                set_values(run, name, table[done].reshape(-1, *quantity(run, name).shape), None)
            step(run, 1, True)
            margins = _margins(run)
            least = np.minimum(least, [np.where(side >= 0.0, side, np.inf) for side in (margins, -margins)])
    velocity, force = least
    can_switch = np.isfinite(least).any(axis=(0, 2))
    kept = tuple(name for name, can in zip(names, can_switch) if can)
    return Kinks(kept, velocity[can_switch].T, force[can_switch].T)


def _names(run: Run) -> Iterator[str]:
    """Of all rows, mechanism by mechanism."""
    scene = laid_out(run.scene, run.settings)
    for group in run.groups:
        for mechanism in mechanisms_in(scene, group.members):
            yield from row_names(mechanism)


def _margins(run: Run) -> np.ndarray:
    """Those of the last step, shape (rows, E)."""
    found = [np.zeros((0, run.environments))]
    for group in run.groups:
        rows = group.outputs["row_margin"].scalars.numpy()[: len(group.tree.rows)].astype(float)
        for mechanism in range(len(group.members)):
            found.append(rows[:, mechanism * run.environments : (mechanism + 1) * run.environments])
    return np.concatenate(found)

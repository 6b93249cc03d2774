"""A step near a state:  dx+ = A dx + B du + P dp,  by dual numbers along every direction at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.sim.arrays.views import CONTROL, PARAMETERS, environment_indices
from warp_artic.sim.derivatives.quantities import NOT_BY, Quantity, labels, motions, quantity, seed_each
from warp_artic.sim.derivatives.tangent import advance, twin_of
from warp_artic.sim.derivatives.twin import Twin, check_differentiable
from warp_artic.sim.run.state import Run

POSITIONS = ("root_pose", "joint_position")
ORDER = (*POSITIONS, "root_velocity", "joint_velocity")
"""The parts of x: positions, then velocities, those of floating roots first."""


@dataclass(frozen=True, eq=False)
class Linearization:
    """Derivatives of the state x after a step, of E environments, by the state before, by inputs and by parameters.

    The state is in tangent coordinates, n = 2 V of them: motions in the axes of velocities, then velocities; of
    floating roots six first, the displacement of the centre of mass and the rotation vector, in world axes.
    """

    A: wp.array
    """Shape (E, n, n), on the device."""
    B: wp.array
    """Shape (E, n, m)."""
    P: wp.array
    """Shape (E, n, p)."""
    state_names: tuple[str, ...]
    """Array, joint or root, and component, such as "joint_velocity:/World/arm/elbow"."""
    input_names: tuple[str, ...]
    parameter_names: tuple[str, ...]


def linearize(run: Run, inputs: Sequence[str], parameters: Sequence[str], environments) -> Linearization:
    """See `Simulation.linearize`."""
    check_differentiable(run, "linearize")
    chosen = environment_indices(environments, run.environments)
    state = [quantity(run, name) for name in ORDER]
    controls = [quantity(run, name, CONTROL) for name in inputs]
    others = [quantity(run, name, tuple(one for one in PARAMETERS if one not in NOT_BY)) for name in parameters]
    by = [*state, *controls, *others]
    counts = [sum(one.numbers for one in part) for part in (state, controls, others)]
    twin = twin_of(run, max(sum(counts), 1), parameters)
    seed_each(run, twin, by)
    advance(run, twin, 0, 1, {})
    found = derivatives_of(run, twin, state)[chosen, :, : sum(counts)]
    matrices = np.split(found, np.cumsum(counts)[:2], axis=2)
    scalar = run.groups[0].columns.numbers.scalar if run.groups else wp.float64
    arrays = (wp.array(np.ascontiguousarray(one), dtype=scalar, shape=one.shape, device=run.device) for one in matrices)
    return Linearization(*arrays, *(sum((labels(run, one) for one in part), ()) for part in (state, controls, others)))


def derivatives_of(run: Run, twin: Twin, state: Sequence[Quantity]) -> np.ndarray:
    """Derivatives of parts of the state along all directions, shape (E, numbers, directions)."""
    return np.concatenate([motions(run, twin, one.name).transpose(1, 2, 0) for one in state], axis=1)

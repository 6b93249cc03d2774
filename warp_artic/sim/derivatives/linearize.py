"""A step near a state:  dx+ = A dx + B du + P dp,  by dual numbers along every direction at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.sim.arrays.views import CONTROL, PARAMETERS, environment_indices
from warp_artic.sim.derivatives.quantities import NOT_BY, labels, motions, named, quantity
from warp_artic.sim.derivatives.tangent import advance, twin_of
from warp_artic.sim.derivatives.twin import check_differentiable
from warp_artic.sim.derivatives.units import seed_each
from warp_artic.sim.run.state import Run

POSITIONS = ("root_pose", "joint_position")
ORDER = (*POSITIONS, "root_velocity", "joint_velocity")
"""The parts of x: positions, then velocities, those of floating roots first."""
SMOOTH = tuple(name for name in PARAMETERS if name not in NOT_BY)
"""Parameters that motions depend on in a smooth way."""


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
    inputs, parameters = named("inputs", inputs), named("parameters", parameters)
    state = [quantity(run, name) for name in ORDER]
    controls = [quantity(run, name, CONTROL) for name in inputs]
    others = [quantity(run, name, SMOOTH) for name in parameters]
    counts = [sum(one.numbers for one in part) for part in (state, controls, others)]
    twin = twin_of(run, max(sum(counts), 1), parameters, (inputs, parameters))
    first = seed_each(run, twin, state)
    if not twin.stands:
        seed_each(run, twin, [*controls, *others], first)
    advance(run, twin, 0, 1, {})
    found = np.concatenate([motions(run, twin, one) for one in state]).transpose(1, 0, 2)
    if environments is not None:
        found = found[environment_indices(environments, run.environments)]
    scalar = run.groups[0].columns.numbers.scalar if run.groups else wp.float64
    ends = np.cumsum(counts)
    arrays = (
        wp.array(
            found[..., end - count : end].astype(wp.dtype_to_numpy(scalar), order="C"),
            dtype=scalar,
            device=run.device,
            copy=not run.on.is_cpu,
        )
        for end, count in zip(ends, counts)
    )
    names = twin.once(
        ("labels", *inputs, None, *parameters),
        lambda: tuple(sum((labels(run, one) for one in part), ()) for part in (state, controls, others)),
    )
    return Linearization(*arrays, *names)

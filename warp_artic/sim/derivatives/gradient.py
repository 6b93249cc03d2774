"""The gradient of a loss of a run: backward, by the derivatives of its steps.

With x the state, u what the gradient is by and l_t the derivatives of the loss by the state of record t,
    lambda_T = l_T,   lambda_t = A_t^T lambda_t+1 + l_t,   g = sum of B_t^T lambda_t+1
where A_t and B_t are derivatives of step t by all of the state, what it remembers of accelerations included. States
are kept every sqrt(T) steps of an ordinary run, and the steps between are made again, so that memory grows with the
root of the number of steps (Griewank and Walther, Evaluating Derivatives, 2008, chapter 12).

On a CPU steps leave a tape, backward along which products with A^T and B^T cost a few steps (`taped_walk`). On a GPU,
and where a step has more operations than a tape has room for, they are of dual numbers (`dual_walk`). The state is
that of memory, with all four numbers of quaternions; slopes are carried to motions and from them at the ends alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from warp_artic.errors import SettingsError
from warp_artic.sim.arrays.views import MOTION, real_numbers
from warp_artic.sim.derivatives.dual_walk import DualWalk
from warp_artic.sim.derivatives.quantities import mapped, named, quantity
from warp_artic.sim.derivatives.slopes import by_motions, by_numbers
from warp_artic.sim.derivatives.tangent import Motion, control_table
from warp_artic.sim.derivatives.taped_walk import TapedWalk, TapeIsFullError
from warp_artic.sim.derivatives.twin import check_differentiable
from warp_artic.sim.run.state import Run

Loss = Callable[[Motion], tuple[float, Mapping[str, np.ndarray]]]
"""Value of a run, and its derivatives by arrays of the motion."""


def gradient(
    run: Run, loss: Loss, steps: int, wrt: Sequence[str], controls: Mapping[str, np.ndarray] | None
) -> tuple[float, dict[str, np.ndarray]]:
    """See `Simulation.gradient`."""
    check_differentiable(run, "gradient")
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise SettingsError(f"steps: {steps!r} is not an integer of at least 1")
    if not callable(loss):
        raise SettingsError(f"loss: a {type(loss).__name__} is no function of the motion")
    wrt = named("wrt", wrt)
    for name in wrt:
        quantity(run, name)
    wrt = tuple(dict.fromkeys(wrt))
    steered = {name: control_table(run, name, table, steps) for name, table in mapped("controls", controls).items()}
    if run.on.is_cpu:
        try:
            return _gradient(run, loss, TapedWalk, steps, wrt, steered)
        except TapeIsFullError:
            pass
    return _gradient(run, loss, DualWalk, steps, wrt, steered)


def _gradient(run: Run, loss: Loss, walk_of: type[TapedWalk | DualWalk], steps: int, wrt: Sequence[str], steered):
    """The same, by a way backward."""
    by = [quantity(run, name) for name in wrt if name not in MOTION]
    starts = [quantity(run, name) for name in wrt if name in MOTION]
    with walk_of.unchanged(run, steered):
        walk = walk_of(run, by, steered, int(steps))
        motion = walk.forward()
        value, slopes = _told(loss(motion))
        sources = _sources(run, motion, slopes)
        start, found = walk.backward(sources)
        names = {one.name: one for one in by}
        gradients = {}
        for name, table in found.items():
            shaped = table.reshape(len(table), run.environments, *names[name].shape)
            gradients[name] = shaped if name in steered else shaped[0]
        for one in starts:
            gradients[one.name] = by_motions(run, one.name, getattr(motion, one.name)[:1], start[one.name])[0]
        return value, {name: gradients[name] for name in wrt}


def _told(given) -> tuple[float, Mapping[str, np.ndarray]]:
    """What a loss has returned, which must be two things."""
    if not isinstance(given, (tuple, list)) or len(given) != 2 or not isinstance(given[1], Mapping):
        raise SettingsError(
            "loss: must return its value and a dictionary of its derivatives by arrays of the motion, not a "
            f"{type(given).__name__}"
        )
    return given[0], given[1]


def _sources(run: Run, motion: Motion, slopes: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Derivatives of a loss by the numbers of arrays of the motion, of those by motions."""
    sources = {}
    for name, given in slopes.items():
        one, values = quantity(run, name, MOTION), getattr(motion, name)
        wanted = (*values.shape[:2], *one.shape)
        table = real_numbers(f"loss: derivatives by {name}", given)
        if table.shape != wanted:
            raise SettingsError(f"loss: derivatives by {name} of shape {table.shape} are not of shape {wanted}")
        sources[name] = by_numbers(run, name, values, table)
    return sources

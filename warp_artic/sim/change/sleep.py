"""Who sleeps, and who is woken or put to sleep; a tree sleeps after so many steps at rest (`phases.sleep`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warp_artic.description.mechanism import mechanisms_of
from warp_artic.errors import SettingsError
from warp_artic.sim.arrays.row_table import Held
from warp_artic.sim.change.chosen import chosen_articulations, chosen_environments
from warp_artic.sim.change.motion import forget_history
from warp_artic.sim.run.state import Run


def asleep(run: Run) -> np.ndarray:
    """See `Simulation.asleep`."""
    if run.sleep_steps == 0 or not run.members:
        return np.zeros((run.environments, len(run.members)), bool)
    steps = [member.array("steps_at_rest").numpy()[0] for member in run.members]
    return np.stack(steps, axis=1) >= run.sleep_steps


def wake(run: Run, environments=None, articulations=None) -> None:
    """See `Simulation.wake`."""
    (chosen, _), indices = chosen_environments(run, environments), chosen_articulations(run, articulations)
    run.idle.end(run.steps_done)
    count_rest(run, indices, chosen, 0)


def put_to_sleep(run: Run, environments=None, articulations=None) -> None:
    """See `Simulation.put_to_sleep`."""
    if run.sleep_steps == 0:
        raise SettingsError("put_to_sleep: nothing sleeps while sleep_after is infinite; see SolverSettings")
    (chosen, _), indices = chosen_environments(run, environments), chosen_articulations(run, articulations)
    run.idle.end(run.steps_done)
    if run.groups:
        run.tables.of_state(("joint_velocity", "root_velocity"), indices).fill(0.0, chosen)
    forget_history(run, indices, chosen)
    count_rest(run, indices, chosen, run.sleep_steps + 1)
    run.launches.put_to_sleep()
    run.set_anew()


def start_asleep(run: Run, environments: np.ndarray) -> None:
    """Put to sleep what is authored so: the mechanisms of which all trees are, as these sleep and wake as one."""
    sleepy = [tree.starts_asleep for tree in run.scene.articulations]
    trees = [index for group in mechanisms_of(run.scene) if all(sleepy[one] for one in group) for index in group]
    if trees and run.sleep_steps:
        put_to_sleep(run, environments, trees)


def count_rest(run: Run, articulations: Sequence[int], chosen: Held, steps: int) -> None:
    """Have chosen environments of some articulations go on from a count of steps at rest, where that is counted."""
    if run.sleep_steps == 0 or not run.groups:
        return
    run.tables.of_state(("steps_at_rest",), articulations).fill(float(steps), chosen)

"""Steps of a run: what is looked at before, launched, and counted after; one at a time where something follows time."""

from __future__ import annotations

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError
from warp_artic.sim.run.incoming_forces import IncomingForces
from warp_artic.sim.run.state import Run
from warp_artic.solver.settings import INTEGRATORS

MOST = 2**31 - 1
"""Steps of one call; kernels count them as integers of 32 bits."""


def step(run: Run, count: int, forces: bool | IncomingForces) -> None:
    """See `Simulation.step`."""
    if type(count) is not int or not 0 <= count <= MOST:
        count = checked_count(count, 0)
    idle, is_captured = run.idle, run.on.is_capturing
    if idle.since is not None and not (forces or run.tracks):
        # Half a microsecond, beside nine of a launch.
        if idle.is_undisturbed() and not is_captured:
            run.steps_done += count
            return
    if is_captured:
        check_capturable(run)
        # Whoever captures may launch at any time, unseen.
        run.is_in_graph = run.has_lent = True
        idle.forbid()
    if forces is not False:
        prepare_forces(run, forces)
    advance(run, count, forces is not False, is_captured)


def checked_count(count: int, least: int) -> int:
    """A number of steps of one call.

    Raises:
        SettingsError: It is none, or below `least`.
    """
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not least <= count <= MOST:
        raise SettingsError(f"count: {count!r} is not an integer from {least} to {MOST}")
    return int(count)


def advance(run: Run, count: int, with_forces: bool, is_captured: bool = False) -> None:
    """Make steps, the last of which may report forces; a capture may take them in."""
    if run.follows_time:
        for _ in range(count):
            _follow_time(run, with_forces)
    elif count > 0:
        launch_steps(run, count, with_forces, is_captured)
        count_steps(run, count, with_forces)


def _follow_time(run: Run, with_forces: bool) -> None:
    """Make one step with the values of its end, and with bases that go on."""
    bases, elastic = run.bases, run.elastic
    run.tracks.apply(run.time + run.settings.dt)
    if not run.is_carried:
        launch_steps(run, 1, with_forces)
        count_steps(run, 1, with_forces)
        hand_over(run)
        return
    follow_links(run)
    if bases and elastic.is_coupled:
        bases.place_end(run.steps_done)
        elastic.see_bases()
    bases.place_middle(run.steps_done)
    elastic.follow_obstacles(run.time)
    run.parameter_watch.look()
    try:
        elastic.step()
        _launch_with_contacts(run, with_forces)
        bases.place_end(run.steps_done)
        count_steps(run, 1, with_forces)
    finally:
        elastic.give_back()
    hand_over(run)
    follow_links(run)


def hand_over(run: Run) -> None:
    """Put articulations that are kinematic now where they are animated, awake, with no memory of other motion."""
    written = run.hand_overs.apply(run.time) if run.hand_overs else []
    if not written:
        return
    every = np.arange(run.environments, dtype=np.int32)
    chosen = every if run.on.is_cpu else wp.array(every, device=run.device)
    run.tables.of_state((*run.remembered, "steps_at_rest"), written).fill(0.0, chosen)
    run.is_reported = False


def _launch_with_contacts(run: Run, with_forces: bool) -> None:
    """Launch a step, with the contacts that are found before it."""
    islands = run.islands
    if islands is None:
        launch_steps(run, 1, with_forces)
        return
    report(run)
    try:
        islands.before_step(run.steps_done, run.launches, run.tables)
        launch_steps(run, 1, with_forces)
    finally:
        islands.after_step(run.launches)


def launch_steps(run: Run, count: int, with_forces: bool, is_captured: bool = False) -> None:
    """Launch steps, which are counted by `count_steps`; a capture may take them in."""
    if run.idle.since is not None:
        run.idle.end(run.steps_done)
    run.parameter_watch.look()
    run.launches.step(count, with_forces, is_captured)


def count_steps(run: Run, count: int, with_forces: bool) -> None:
    """Take in that steps were made."""
    run.steps_done += count
    run.is_reported = False
    run.has_step_outputs = with_forces
    if run.sleep_steps and not with_forces:
        run.idle.look(count, run.steps_done)


def report(run: Run) -> None:
    """See `Simulation.report`."""
    # Who has a view of the state or of a parameter may have written to it at any time.
    if run.has_lent or not run.is_reported:
        run.launches.report()
        run.is_reported = True


def follow_links(run: Run) -> None:
    """Put nodes of elastic bodies where the links are that they are attached to."""
    if run.elastic.is_coupled:
        report(run)
        run.elastic.follow()


def go_to(run: Run, steps_done: int) -> None:
    """Go on from another time, with what follows time as it is then."""
    run.steps_done = steps_done
    run.bases.place_end(steps_done - 1)
    run.tracks.apply(run.time)
    run.hand_overs.forget()
    hand_over(run)


def prepare_forces(run: Run, forces: bool | IncomingForces) -> IncomingForces | None:
    """Make steps that report forces do it so, with room for them."""
    if forces is False:
        return None
    if forces is True:
        forces = IncomingForces()
    if not isinstance(forces, IncomingForces):
        raise SettingsError(f"forces: {forces!r} is not False, True or IncomingForces(...)")
    if run.settings.integrator == "rk4":
        others = ", ".join(name for name in INTEGRATORS if name != "rk4")
        raise SettingsError(f"forces: the integrator rk4 does not report them; allowed here: {others}")
    numbers = int(forces.axes == "world"), int(not forces.tendons)
    if any([group.report_forces(*numbers) for group in run.groups]):
        run.launches.pack()
    return forces


def check_capturable(run: Run) -> None:
    """Refuse steps in which something follows time."""
    if not run.follows_time:
        return
    if run.elastic:
        raise SettingsError(
            "capture: there are elastic bodies, whose steps end when they have converged, which captured steps "
            "cannot do; step without a capture"
        )
    if run.islands:
        raise SettingsError(
            "capture: contacts of many mechanisms are found anew before each step, which captured steps cannot do; "
            "step without a capture"
        )
    if run.bases:
        raise SettingsError(
            "capture: kinematic bodies that move carry articulations or touch them, which captured steps cannot do; "
            "step without a capture"
        )
    if run.hand_overs:
        raise SettingsError(
            f"capture: {run.hand_overs.names[0]} is kinematic at times, which captured steps cannot do; step without a "
            "capture"
        )
    raise SettingsError(
        f"capture: {len(run.tracks)} drive targets follow values over time, which captured steps "
        "cannot do; take them out of target_tracks, or step without a capture"
    )

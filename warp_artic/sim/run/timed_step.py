"""A step in which something follows time: values over time, bodies that carry trees, elastic bodies."""

from __future__ import annotations


def follow_time(simulation, with_forces: bool) -> None:
    """Make one step of a simulation with the values of its end, and with bases that go on."""
    bases, elastic = simulation._bases, simulation._elastic
    simulation.target_tracks.apply(simulation.time + simulation.settings.dt)
    if not simulation._is_carried:
        simulation._launch_steps(1, with_forces)
        simulation._count_steps(1, with_forces)
        return
    simulation._follow_links()
    if bases and elastic.is_coupled:
        bases.place_end(simulation.steps_done)
        elastic.see_bases()
    bases.place_middle(simulation.steps_done)
    simulation._parameter_watch.look()
    try:
        elastic.step()
        simulation._launch_steps(1, with_forces)
        bases.place_end(simulation.steps_done)
        simulation._count_steps(1, with_forces)
    finally:
        elastic.give_back()
    simulation._follow_links()

"""Which functions of a simulator Kit is given, by the names that it has for them.

Releases differ: older ones say attach_stage and detach_stage for what newer ones call initialize and close. A function
is set where the release has a place of its name.
"""

from __future__ import annotations

from omni.physics.core import Simulation, get_physics_interface, k_invalid_simulation_id
from omni.warp_artic.log import error
from omni.warp_artic.simulator import Simulator

NAME = "warp_artic"
SIMULATION = {
    "initialize": Simulator.initialize,
    "attach_stage": Simulator.initialize,
    "close": Simulator.close,
    "detach_stage": Simulator.close,
    "get_attached_stage": Simulator.get_attached_stage,
    "simulate": Simulator.simulate,
    "simulate_async": Simulator.simulate_async,
    "fetch_results": Simulator.fetch_results,
    "check_results": Simulator.check_results,
    "flush_changes": Simulator.flush_changes,
    "pause_change_tracking": Simulator.pause_change_tracking,
    "is_change_tracking_paused": Simulator.is_change_tracking_paused,
    "subscribe_physics_contact_report_events": Simulator.subscribe_contacts,
    "unsubscribe_physics_contact_report_events": Simulator.unsubscribe_contacts,
    "get_simulation_time_steps_per_second": Simulator.get_time_steps_per_second,
    "get_simulation_timestamp": Simulator.get_timestamp,
    "get_simulation_step_count": Simulator.get_step_count,
    "subscribe_physics_on_step_events": Simulator.subscribe_steps,
    "unsubscribe_physics_on_step_events": Simulator.unsubscribe_steps,
    "is_capable_of_simulating": Simulator.is_capable_of_simulating,
}
STAGE_UPDATE = {
    "on_attach": Simulator.on_attach,
    "on_detach": Simulator.on_detach,
    "on_update": Simulator.on_update,
    "on_resume": Simulator.on_resume,
    "on_pause": Simulator.on_pause,
    "on_reset": Simulator.on_reset,
    "handle_raycast": Simulator.handle_raycast,
    "force_load_physics_from_usd": Simulator.load,
    "release_physics_objects": Simulator.unload,
    "reset_simulation": Simulator.on_reset,
    "start_simulation": Simulator.load,
}


def register(simulator: Simulator) -> None:
    """Give the functions of a simulator to Kit."""
    simulation = Simulation()
    for place, functions in ((simulation.simulation_fns, SIMULATION), (simulation.stage_update_fns, STAGE_UPDATE)):
        for name, function in functions.items():
            if hasattr(place, name):
                setattr(place, name, function.__get__(simulator))
    found = get_physics_interface().register_simulation(simulation, NAME)
    if found == k_invalid_simulation_id:
        error("cannot be registered: the physics interface of Kit refuses it")
        return
    simulator.simulation_id = found


def unregister(simulator: Simulator) -> None:
    """Take them back."""
    if simulator.simulation_id is not None:
        get_physics_interface().unregister_simulation(simulator.simulation_id)
        simulator.simulation_id = None

"""What a simulator is registered with in Kit: places for functions by name, each called with the types it has there.

The names, arguments and results are those of `omni/physics/simulation` of PhysX (old) and of later releases of Kit
(new), where stage updates say whether they have succeeded. What is not checked there is checked here: a function takes
as many arguments as Kit gives, gives what Kit expects, and raises nothing.
"""

import inspect

ID = int
SHARED = {
    "get_attached_stage": ((), ID),
    "simulate": ((float, float), object),
    "fetch_results": ((), object),
    "check_results": ((), bool),
    "flush_changes": ((), object),
    "pause_change_tracking": ((bool,), object),
    "is_change_tracking_paused": ((), bool),
    "subscribe_physics_contact_report_events": ((object,), ID),
    "unsubscribe_physics_contact_report_events": ((ID,), object),
    "get_simulation_time_steps_per_second": ((ID, ID), int),
    "get_simulation_timestamp": ((), int),
    "get_simulation_step_count": ((), int),
    "subscribe_physics_on_step_events": ((bool, int, object), ID),
    "unsubscribe_physics_on_step_events": ((ID,), object),
}
UPDATE = {
    "on_attach": (ID,),
    "on_detach": (),
    "on_update": (float, float, bool),
    "on_resume": (float,),
    "on_pause": (),
    "on_reset": (),
    "handle_raycast": (object, object, bool),
    "force_load_physics_from_usd": (),
    "release_physics_objects": (),
    "reset_simulation": (),
}
OF_BODIES = {
    "add_force_at_pos": ((ID, ID, object, object, object), object),
    "add_torque": ((ID, ID, object), object),
    "wake_up": ((ID, ID), object),
    "put_to_sleep": ((ID, ID), object),
    "is_sleeping": ((ID, ID), bool),
}
"""Of old releases, for single bodies by encoded path."""
RELEASES = {
    "old": {
        "simulation": {**SHARED, **OF_BODIES, "attach_stage": ((ID,), bool), "detach_stage": ((), object)},
        "update": {name: (arguments, object) for name, arguments in UPDATE.items()},
    },
    "new": {
        "simulation": {
            **SHARED,
            "initialize": ((ID,), bool),
            "close": ((), object),
            "simulate_async": ((float, float), object),
            "is_capable_of_simulating": ((list,), tuple),
        },
        "update": {name: (arguments, bool) for name, arguments in {**UPDATE, "start_simulation": ()}.items()},
    },
}
release = "new"
"""Which one this is."""
k_invalid_simulation_id = 0xFFFFFFFF
k_invalid_subscription_id = 0xFFFFFFFFFF


class PhysicsStepContext:
    """What listeners to steps are given."""

    scene_path = None
    simulation_id = None


class Functions:
    """Places for functions; no others can be set."""

    def __init__(self, kind):
        object.__setattr__(self, "known", RELEASES[release][kind])
        for name in self.known:
            object.__setattr__(self, name, None)

    def __setattr__(self, name, function):
        arguments, _ = self.known[name]
        inspect.signature(function).bind(*arguments)
        object.__setattr__(self, name, function)

    def call(self, name, *arguments):
        """Call one as Kit does."""
        types, result = self.known[name]
        assert len(arguments) == len(types), name
        for argument, expected in zip(arguments, types):
            assert isinstance(argument, expected), (name, argument)
        found = getattr(self, name)(*arguments)
        assert isinstance(found, result), (name, found)
        return found


class Simulation:
    """The functions of a simulator."""

    def __init__(self):
        self.simulation_fns = Functions("simulation")
        self.stage_update_fns = Functions("update")


class Physics:
    """Keeps simulators by number."""

    def __init__(self):
        self.simulations = {}
        self.refuses = False

    def register_simulation(self, simulation, name):
        """The number of a simulator."""
        assert isinstance(simulation, Simulation) and isinstance(name, str)
        if self.refuses:
            return k_invalid_simulation_id
        number = len(self.simulations) + 7
        self.simulations[number] = simulation, name
        return number

    def unregister_simulation(self, id):
        """Forget one."""
        del self.simulations[id]


_physics = Physics()


def get_physics_interface():
    """The only one."""
    return _physics

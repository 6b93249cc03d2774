"""A simulation of a scene: equal mechanisms grouped on a device, stepped together, read back by name."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from warp_artic.description.scene import Scene
from warp_artic.errors import UnknownNameError, did_you_mean
from warp_artic.sim.arrays.broken_loops import BrokenLoop, find_broken_loops
from warp_artic.sim.arrays.failures import Failure, find_failures, unresolved_steps
from warp_artic.sim.arrays.views import CONTROL, MOTION, PARAMETERS
from warp_artic.sim.change import sleep
from warp_artic.sim.changes_of_run import ChangesOfRun
from warp_artic.sim.contacts_of_run import ContactsOfRun
from warp_artic.sim.derivatives_of_run import DerivativesOfRun
from warp_artic.sim.launch.device import room_for
from warp_artic.sim.measure.verify import Residual, verify_model
from warp_artic.sim.record.recorder import record
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.run.articulation_views import articulation_views
from warp_artic.sim.run.begin import begin
from warp_artic.sim.run.dynamics_of_only_one import DynamicsOfOnlyOne
from warp_artic.sim.run.graph import StepGraph
from warp_artic.sim.run.incoming_forces import IncomingForces
from warp_artic.sim.run.step import follow_links, hand_over, report, step
from warp_artic.solver.settings import SolverSettings


class Simulation(ChangesOfRun, ContactsOfRun, DerivativesOfRun, DynamicsOfOnlyOne):
    """Steps `environments` copies of a scene on a device.

    `articulations` and `elastic_bodies` have the views of each; `state`, `control` and `parameters` are those of
    articulations.

    Args:
        scene: What to simulate, from `read_stage` or made by hand.
        environments: Number of independent copies.
        device: "cpu" or "cuda:N".
        settings: Time step, solver and precision; values that are None are those of the scene.
        threads: Largest number of threads on a CPU; by default the number of cores of the process (its affinity, and
            OMP_NUM_THREADS where that is set). Results are bitwise the same for any number. A small batch uses one
            thread. Each has work space of its own.

    Raises:
        DescriptionError: The scene breaks a rule that a mechanism must satisfy.
        SettingsError: An argument has a value that is not allowed.
    """

    tendon_names: tuple[str, ...]
    mimic_names: tuple[str, ...]
    loop_names: tuple[str, ...]
    contact_names: tuple[str, ...]

    def __init__(
        self,
        scene: Scene,
        *,
        environments: int = 1,
        device: str = "cpu",
        settings: SolverSettings | None = None,
        threads: int | None = None,
    ):
        with room_for(f"{environments} environments"):
            run = begin(scene, environments, device, settings, threads)
        super().__init__(run)
        self.run = run
        self.environments = run.environments
        self.device, self.threads, self.settings = run.device, run.threads, run.settings
        names = run.names
        self.joint_names, self.link_names, self.root_names = names.joint, names.link, names.root
        self.mesh_tendon_names = names.mesh_tendon
        for kind, own in names.entries.items():
            setattr(self, f"{kind}_names", own)
        self.elastic_bodies = run.elastic.bodies
        self.target_tracks = run.tracks
        self.given_contacts = run.given_contacts
        self.articulations = tuple(articulation_views(run, member) for member in run.members)
        sleep.start_asleep(run, np.arange(run.environments))
        hand_over(run)
        follow_links(run)
        self._is_begun = True

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse what no step would see, as an effort that is written beside the arrays."""
        if "_is_begun" in self.__dict__ and not name.startswith("_") and name not in ("state", "control", "parameters"):
            raise UnknownNameError(
                f"{name}: is no part of a simulation that can be set{_meant(name)}; arrays are written as "
                "simulation.control.joint_effort = values"
            )
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        settings = self.settings
        return (
            f"<Simulation of {self.scene!r}: {self.environments} environment{'s' * (self.environments != 1)} on "
            f"{self.device}, {settings.solver}, {settings.precision}, dt {settings.dt:g} s, at {self.time:g} s>"
        )

    @property
    def scene(self) -> Scene:
        """What is simulated."""
        return self.run.scene

    @property
    def steps_done(self) -> int:
        """Time steps since the start."""
        return self.run.steps_done

    @property
    def dt(self) -> float:
        """The time step [s], that of the settings or else of the stage."""
        return self.settings.dt

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.run.time

    @property
    def variant(self) -> str:
        """Kernel variant of each group: "lanes" or "scalar", joined by a comma where groups differ."""
        return self.run.variant

    @cached_property
    def link_origins(self) -> np.ndarray:
        """World positions of the origins that positions of links in `state` are relative to, shape (links, 3) [m]."""
        origins = np.zeros((len(self.link_names), 3))
        for member, rows in zip(self.run.members, self.run.order["link"]):
            origins[rows] = member.group.origins[member.place]
        return origins

    @property
    def model_hash(self) -> str:
        """SHA-256 of the model and its settings, without the number of environments and the device."""
        return self.run.model_hash

    def step(self, count: int = 1, forces: bool | IncomingForces = False) -> None:
        """Advance every environment by `count` time steps.

        Args:
            count: Number of time steps.
            forces: Whether to report the forces and the accelerations of the last of them: `state.joint_acceleration`,
                `state.link_incoming_joint_force`, `state.joint_drive_force` and so on; see `Recording` and
                `model.force_parts`. `IncomingForces` says how, True: with tendons, in axes of joints.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        step(self.run, count, forces)

    def capture(self, count: int = 1, forces: bool | IncomingForces = False) -> StepGraph:
        """Capture steps in a graph, whose `launch` makes them as `step(count, forces)` would.

        A launch costs the host next to nothing, for any number of articulations. Values that are written to state,
        control and parameters between launches take effect in the next one. If you capture `step` in a graph of your
        own, `time` does not count launches, and parameters must be accessed before the capture.

        Raises:
            SettingsError: An argument has a value that is not allowed, or something moves over time: drive targets,
                kinematic bodies, or elastic ones.
        """
        return StepGraph(self.run, count, forces)

    def record(
        self,
        steps: int,
        every: int = 1,
        progress: Callable[[int], object] | None = None,
        forces: bool | IncomingForces = False,
        quantities: Collection[str] | None = None,
    ) -> Recording:
        """Step and record the state now and after each `every` steps.

        Args:
            steps: Number of time steps.
            every: Steps from one record to the next.
            progress: If given, it is called with the number of steps done since its last call. Where it returns a true
                value, the recording ends there.
            forces: Whether to record the forces and the accelerations of the last step before each record, and how, as
                for `step`.
            quantities: Names of the arrays of a `Recording` that are kept, such as ["joint_position"]; what is left
                out is not computed either, and has no entries. By default all.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        return record(self.run, steps, every, progress, forces, quantities)

    def failures(self) -> list[Failure]:
        """The environments that have stopped, each with the quantity and the step; elastic bodies come last.

        For a mechanism, the articulation with the quantity is named; the whole mechanism has stopped.
        """
        run = self.run
        return [*find_failures(run.scene, run.groups, run.members), *run.elastic.failures()]

    def broken_loops(self) -> list[BrokenLoop]:
        """The loop joints that have broken, each with environment, step, force and torque, in the order of steps.

        `state.loop_broken` has the same on the device; writing zero there repairs a joint.
        """
        return find_broken_loops(self.run.scene, self.run.members)

    def unresolved_steps(self) -> np.ndarray:
        """Steps since the start that did not resolve the motion, shape (environments, articulations).

        Two kinds are counted. Free motion: these steps keep its energy, and its momentum on a floating base, but not
        its path (`solver.energy_projection`); steps of trees with drives, springs or tendons, and of other integrators
        than "midpoint", are not looked at. Largest velocities of links: where joints turn too far in a step for the
        impulses of these limits to be found, articulations that constraints join are slowed down together
        (`solver.slow_islands`). A shorter dt resolves both.
        """
        return unresolved_steps(self.run.members, self.environments)

    def verify(self, states: int = 8, seed: int = 0) -> tuple[Residual, ...]:
        """Residuals of the identities of the dynamics suite and of forces, on the original scene.

        In float64 and in the precision of the settings, at the start state and at random ones; see
        `sim.measure.verify`.
        This simulation and its state are unchanged.

        Args:
            states: Number of random states.
            seed: Of the random states.
        """
        scene = replace(self.scene, elastic_bodies=(), mesh_tendons=())
        if not scene.articulations:
            return ()
        return verify_model(partial(Simulation, device=self.device), scene, self.settings, states, seed)

    def report(self) -> None:
        """Update link poses, link velocities and energies from the state."""
        report(self.run)


def _meant(name: str) -> str:
    """The array of state, control or parameters that may be meant."""
    views = {"state": MOTION, "control": CONTROL, "parameters": PARAMETERS}
    places = [f"{view}/{array}" for view, arrays in views.items() for array in arrays]
    return did_you_mean(name, places).replace("/", ".")

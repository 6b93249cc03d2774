"""A simulation of a scene: equal mechanisms grouped on a device, stepped together, read back by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial

import numpy as np

from warp_artic.description.scene import Scene
from warp_artic.sim.arrays.broken_loops import BrokenLoop, find_broken_loops
from warp_artic.sim.arrays.contact_events import ContactChanges, contact_changes
from warp_artic.sim.arrays.contacts import Contact, contact_signs, find_contacts
from warp_artic.sim.arrays.failures import Failure, find_failures, unresolved_steps
from warp_artic.sim.change import give_contacts, motion, sleep
from warp_artic.sim.change.checkpoint import read_checkpoint, write_checkpoint
from warp_artic.sim.change.mass_properties import set_mass_properties
from warp_artic.sim.change.snapshot import Snapshot, apply_snapshot, take_snapshot
from warp_artic.sim.change.start import reset
from warp_artic.sim.derivatives.gradient import Loss, gradient
from warp_artic.sim.derivatives.kinks import Kinks, kinks
from warp_artic.sim.derivatives.linearize import Linearization, linearize
from warp_artic.sim.derivatives.tangent import Tangent, tangent
from warp_artic.sim.islands.report import contacts_of_islands, island_force_on
from warp_artic.sim.measure.verify import Residual, verify_model
from warp_artic.sim.record.recorder import record
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.run.arrays_of_scene import ArraysOfScene
from warp_artic.sim.run.articulation_views import articulation_views
from warp_artic.sim.run.begin import begin
from warp_artic.sim.run.dynamics_of_only_one import DynamicsOfOnlyOne
from warp_artic.sim.run.graph import StepGraph
from warp_artic.sim.run.incoming_forces import IncomingForces
from warp_artic.sim.run.step import follow_links, hand_over, report, step
from warp_artic.solver.settings import SolverSettings


class Simulation(ArraysOfScene, DynamicsOfOnlyOne):
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

    def tangent(
        self,
        seeds: Mapping[str, np.ndarray],
        steps: int = 1,
        every: int | None = None,
        controls: Mapping[str, np.ndarray] | None = None,
    ) -> Tangent:
        """Derivatives of a run from the present state along K directions; this simulation stays as it is.

        Steps are made on dual numbers, whose values are those of scalar steps in every bit: derivatives are those of
        the steps as they are computed, of the branch that is taken. At the switch of a limit or of dry friction that
        is one of the two one-sided derivatives. What steps remember of accelerations does not change with the start.
        Kernels for that are compiled when derivatives are asked for first.

        Args:
            seeds: By names of arrays of `control` and `parameters`, or joint_position, joint_velocity, root_pose and
                root_velocity of the start: what each direction changes, shape (K, rows) or (K, E, rows), with the
                components of each row last where it has several. Positions change by motions in the axes of
                velocities, see `Motion`; root_pose by six numbers.
            steps: Number of time steps.
            every: Steps from one record to the next; by default there is one of the start, and one of the end.
            controls: Controls over time, (steps, rows) or (steps, E, rows), by the names of `control`, where they are
                others than the present ones.

        Raises:
            SettingsError: A name, a shape or a count is not allowed.
            SolveError: There is something in the scene that is not differentiated yet: elastic bodies, contacts,
                kinematic bodies that move, sleep.
        """
        return tangent(self.run, seeds, steps, every, controls)

    def linearize(self, inputs: Sequence[str] = (), parameters: Sequence[str] = (), environments=None) -> Linearization:
        """A, B and P of a step from the present state; this simulation stays as it is. See `tangent`.

        What steps of "midpoint" remember of accelerations is taken as it is: it has no rows in the state, and what it
        adds to derivatives over several steps is in `tangent` alone. Steps of "semi_implicit" remember nothing.

        Args:
            inputs: Names of arrays of `control`; all of their numbers are inputs, in the order of their rows.
            parameters: Names of arrays of `parameters`.
            environments: Indices of the E environments that are meant; all by default.

        Raises:
            SettingsError: A name is not allowed.
            SolveError: There is something in the scene that is not differentiated yet, as of `tangent`.
        """
        return linearize(self.run, inputs, parameters, environments)

    def kinks(self, steps: int = 1, controls: Mapping[str, np.ndarray] | None = None) -> Kinks:
        """How near limits, friction, drives at their maximum and so on are to a switch; this simulation stays as it is.

        There derivatives are others on either side: `linearize` and `gradient` have those of the side that is taken,
        which say little of changes that pass the switch. Of a run it is the least margin of each over all steps.

        Args:
            steps: Number of time steps from the present state; one is that of `linearize`.
            controls: Controls over time as of `tangent`.

        Raises:
            SettingsError: A name, a shape or a count is not allowed, or the integrator is "rk4".
            SolveError: There is something in the scene that is not differentiated yet, as of `tangent`.
        """
        return kinks(self.run, steps, controls)

    def gradient(
        self,
        loss: Loss,
        steps: int,
        wrt: Sequence[str],
        controls: Mapping[str, np.ndarray] | None = None,
    ) -> tuple[float, dict[str, np.ndarray]]:
        """The value of a loss of a run from the present state, and its gradient; this simulation stays as it is.

        It goes backward through an ordinary run by the derivatives of each step, so that it costs little more for many
        parameters and controls over time than for none; but that is as much as a hundred runs, or a few hundred where
        runs of many environments are cheap. For a few numbers `tangent` costs far less. Memory grows with the root of
        the number of steps.

        Args:
            loss: Gets the motion of all records, of the start and after each step (T = steps + 1), and returns its
                value and derivatives by arrays of `Motion`, by their names: shape (T, E, D), and (T, E, R, 6) of poses
                and velocities of roots, positions by motions as in `tangent`. What it leaves out counts as zero.
            steps: Number of time steps.
            wrt: Names of what the gradient is by: of arrays of `control` and `parameters`, and joint_position,
                joint_velocity, root_pose and root_velocity of the start.
            controls: Controls over time as of `tangent`.

        Returns:
            The value, and for each name an array (E, rows), with the components of each row last where it has several;
            of what is in `controls` (steps, E, rows).

        Raises:
            SettingsError: A name, a shape or a count is not allowed.
            SolveError: There is something in the scene that is not differentiated yet, as of `tangent`.
        """
        return gradient(self.run, loss, steps, wrt, controls)

    def set_state(
        self,
        joint_position=None,
        joint_velocity=None,
        root_pose=None,
        root_velocity=None,
        environments=None,
        loop_broken=None,
    ) -> None:
        """Set parts of the state; kinematics follow.

        Args:
            joint_position: [rad or m], shape (D) or (E, D) in the order of `joint_names`.
            joint_velocity: [rad/s or m/s], shape (D) or (E, D).
            root_pose: World pose of the floating root links, position then quaternion xyzw, shape (7) or (E, 7), or
                (R, 7) or (E, R, 7) for R floating roots in the order of `root_names`.
            root_velocity: Linear velocity of the centre of mass and angular velocity, world axes, shape as `root_pose`
                with 6.
            environments: Indices of the E environments to set; all by default.
            loop_broken: 1 for loop joints that are broken and 0 for those that hold, shape (N) or (E, N) in the order
                of `loop_names`; unchanged by default.
        """
        motion.set_state(self.run, joint_position, joint_velocity, root_pose, root_velocity, environments, loop_broken)

    def set_values(self, name: str, values, environments=None) -> None:
        """Set an array of `control` or `parameters` in chosen environments.

        Args:
            name: Of the array.
            values: Shape (rows) or (E, rows), with the components of each row last where it has several.
            environments: Indices of the E environments to set; all by default.

        Raises:
            SettingsError: There is no such array, or the values are not of this shape or not numbers.
        """
        motion.set_values(self.run, name, values, environments)

    def set_mass_properties(self, center_of_mass=None, inertia=None, environments=None) -> None:
        """Set centres of mass and inertias of links; masses are `parameters.link_mass`.

        Poses and velocities of links are unchanged; that of a floating root is now of its new centre of mass.

        Args:
            center_of_mass: In the link frames [m], shape (L, 3) or (E, L, 3) in the order of `link_names`.
            inertia: About the centres of mass, in the axes of the link frames, xx, xy, xz, yy, yz, zz [kg m^2], shape
                (L, 6) or (E, L, 6).
            environments: Indices of the E environments to set; all by default.

        Raises:
            DescriptionError: An inertia is not physically possible.
            SettingsError: An argument has a value that is not allowed.
        """
        set_mass_properties(self.run, {"center_of_mass": center_of_mass, "inertia": inertia}, environments)

    def reset(self, environments=None) -> None:
        """Reset environments (all by default) to the authored start state."""
        reset(self.run, environments)

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

    def contacts(self) -> list[Contact]:
        """The colliders that touch now, with forces of the last step; environment by environment.

        For contacts in mechanisms, `state.contact_impulse`, `contact_gap`, `contact_position` and `contact_normal`
        have the same for each point in `contact_names`, on the device.
        """
        run = self.run
        run.launches.find_contacts()
        found = find_contacts(run.scene, run.members, self.dt / run.settings.schedule[0])
        if run.islands:
            report(run)
            found += contacts_of_islands(run.islands, run.scene, run.steps_done, self.dt)
        return sorted(found, key=lambda one: one.environment)

    def contact_changes(self, before: Sequence[Contact]) -> ContactChanges:
        """Which colliders have begun to touch since an earlier call of `contacts`, still touch, or no longer touch.

        Contacts that begin and end in between are not reported; `Recording.contact_events` has all recorded steps.
        """
        return contact_changes(before, self.contacts())

    def contact_force_on(self, path: str, by: str | None = None) -> np.ndarray:
        """The sum of the forces by contacts on a link in the last step, shape (environments, 3), world axes [N].

        With substeps, in the last of them. `Recording.contact_force_on` has it over time.

        Args:
            path: Of a link, which has the colliders below it that are not below another link; of a collider; or of a
                prim that colliders are below, such as a robot, without what these do to each other.
            by: A path of the same kinds: only forces by its colliders are counted.

        Raises:
            SettingsError: No collider that may touch anything is there.
        """
        run, substep = self.run, self.dt / self.settings.schedule[0]
        colliders = run.islands.colliders if run.islands else ()
        signs = contact_signs(self.contact_names, self.link_names, path, by, colliders)
        impulses = self.state.contact_impulse.numpy().astype(float)
        found = np.einsum("p,pxe->ex", signs, impulses) / substep
        return found + island_force_on(run.islands, run.names.link, path, by, self.dt) if run.islands else found

    def set_contacts(
        self,
        bodies,
        normal,
        *,
        position=None,
        gap=None,
        point0=None,
        point1=None,
        count=None,
        friction=None,
        restitution=None,
        stiffness=None,
        damping=None,
    ) -> None:
        """Set the contacts that a host has found, in place of those that it has set before.

        They act in steps as contacts of colliders do, and beside these, between bodies that the scene has room for
        (`with_contact_slots`). Points move with their bodies until the next call, and a normal turns with the first
        body. A contact goes on from the impulse of one of before that is near on either body, whatever its number.

        Arrays of Warp, and of others by DLPack, are read on the device, in shapes with E environments and K contacts;
        those of NumPy are copied, and may leave out E. Where a contact is, is said either by `position` and `gap` or by
        `point0` and `point1`.

        Args:
            bodies: Indices of both bodies in `link_names`, or -1 for the world, shape (E, K, 2).
            normal: World axes, from the first body to the second one, shape (E, K, 3); one without length is left out.
            position: Midway between the surfaces, world [m], shape (E, K, 3).
            gap: Distance along the normal, negative where the bodies overlap [m], shape (E, K).
            point0: On the surface of the first body, in its link frame, or in the world [m], shape (E, K, 3).
            point1: The same of the second body.
            count: How many of the K contacts there are in each environment, shape (E); all by default.
            friction: Tangential over normal force, static and dynamic, shape (E, K). Like the three that follow it
                stays as it was in each slot where it is not given; at first it is that of `ContactSlots`.
            restitution: Shape (E, K).
            stiffness: Of a spring along the normal, infinite for a rigid contact [N/m], shape (E, K).
            damping: Of a damper beside it [N s/m], shape (E, K).

        Raises:
            SettingsError: An array has another shape or type, or bodies that are given on the host have no room for
                contacts. Of bodies on the device `given_contacts.left_out` counts what has none.
        """
        give_contacts.set_contacts(
            self.run,
            bodies,
            normal,
            {"position": position, "gap": gap, "point0": point0, "point1": point1},
            count,
            {"friction": friction, "restitution": restitution, "stiffness": stiffness, "damping": damping},
        )

    def unresolved_steps(self) -> np.ndarray:
        """Steps since the start that did not resolve the motion, shape (environments, articulations).

        Two kinds are counted. Free motion: these steps keep its energy, and its momentum on a floating base, but not
        its path (`solver.energy_projection`); steps of trees with drives, springs or tendons, and of other integrators
        than "midpoint", are not looked at. Largest velocities of links: where joints turn too far in a step for the
        impulses of these limits to be found, articulations that constraints join are slowed down together
        (`solver.slow_islands`). A shorter dt resolves both.
        """
        return unresolved_steps(self.run.members, self.environments)

    def asleep(self) -> np.ndarray:
        """Which articulations sleep, shape (environments, articulations); see `SolverSettings.sleep_after`.

        Those of a mechanism sleep and wake as one.
        """
        return sleep.asleep(self.run)

    def wake(self, environments=None, articulations=None) -> None:
        """Wake articulations, without changing their state. Writing zero to `state.steps_at_rest` does the same.

        Args:
            environments: Indices or a mask of those that are meant, which may be an array on the device; all by
                default.
            articulations: Prim paths, indices or a mask; all by default.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        sleep.wake(self.run, environments, articulations)

    def put_to_sleep(self, environments=None, articulations=None) -> None:
        """Put articulations to sleep, with zero velocity, until something changes; arguments as in `wake`.

        Raises:
            SettingsError: An argument has a value that is not allowed, or `SolverSettings.sleep_after` is infinite.
        """
        sleep.put_to_sleep(self.run, environments, articulations)

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

    def snapshot(self, parts=None, environments=None, articulations=None) -> Snapshot:
        """Copy arrays on the device, to read or to `apply` later.

        Args:
            parts: Names of arrays of `state`, `control` and `parameters`, and "history": the state of
                steps beside positions and velocities. By default motion, control and history, which is all that a run
                needs to continue.
            environments: Indices or a mask of those that are meant, which may be an array on the device; all by
                default. Indices on a GPU that are out of range give zeros.
            articulations: Prim paths, indices or a mask; all by default.

        Raises:
            SettingsError: An argument has a value that is not allowed.
            SolveError: A part is of a step with forces, and there was none.
        """
        return take_snapshot(self.run, parts, environments, articulations)

    def apply(self, snapshot: Snapshot, parts=None, environments=None, articulations=None) -> None:
        """Restore a snapshot of this model, on the device; kinematics follow.

        Without the history, a restored motion starts afresh, as by `set_state`. Sleeping articulations wake, unless
        motion, control and history are all restored.

        Args:
            snapshot: From `snapshot`.
            parts: Which of its parts; by default all that can be applied. Others follow from these.
            environments: Where its columns go; by default where they are from. Indices or a mask of those that are
                meant, which leaves the others as they are, either of which may be an array on the device. Of a
                snapshot of all environments they get what is theirs, but as many indices as there are environments say
                where each of its columns goes; one of some environments goes to as many indices, in their order, and
                one of a single environment to all that are given. Indices on a GPU that are out of range are left out.
            articulations: Prim paths, indices or a mask of some that it has; all of them by default.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        apply_snapshot(self.run, snapshot, parts, environments, articulations)

    def save(self, path) -> None:
        """Write a checkpoint, complete or not at all: state, control and parameters, with the hash of the model.

        Raises:
            SettingsError: There is no such folder, or the path is one.
            SolveError: The file cannot be written.
        """
        write_checkpoint(self.run, path)

    def load(self, path) -> None:
        """Load a checkpoint; the run continues bitwise as the one that saved it.

        Raises:
            SettingsError: There is no such file, or it is damaged, or its unpacked size is not plausible.
            SolveError: The checkpoint is of another model, other settings or another number of environments, or has
                arrays, types, shapes or values that are not allowed (`sim.change.checkpoint`). Nothing has changed
                then.
        """
        read_checkpoint(self.run, path)

    def report(self) -> None:
        """Update link poses, link velocities and energies from the state."""
        report(self.run)

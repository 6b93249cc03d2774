"""A simulation of a scene: equal trees grouped on a device, stepped together, read back by name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial, wraps

import numpy as np
import warp as wp

from warp_artic.description.scene import Scene
from warp_artic.description.validate import validate
from warp_artic.errors import SettingsError, SolveError, did_you_mean
from warp_artic.kernels.threads import usable_threads
from warp_artic.math.numbers import Numbers, numbers_for
from warp_artic.model.group import build_groups
from warp_artic.sim.arrays.failures import Failure, find_failures
from warp_artic.sim.arrays.row_table import Held, RowTables
from warp_artic.sim.arrays.rows import Rows, public_rows
from warp_artic.sim.arrays.views import (
    CONTROL,
    MOTION,
    OUTPUTS,
    PARAMETERS,
    ROW_COUNTS,
    STATE,
    STEP_OUTPUTS,
    ArrayViews,
    Member,
    checked,
    environment_indices,
    scene_array,
)
from warp_artic.sim.change.checkpoint import read_checkpoint, write_checkpoint
from warp_artic.sim.change.mass_properties import set_mass_properties
from warp_artic.sim.change.snapshot import (
    Snapshot,
    apply_snapshot,
    chosen_articulations,
    chosen_environments,
    on_device,
    take_snapshot,
)
from warp_artic.sim.change.start import put_to_start
from warp_artic.sim.elastic.elastic_bodies import ElasticBodies
from warp_artic.sim.launch.device import device_of
from warp_artic.sim.launch.idle import IdleSteps
from warp_artic.sim.launch.launches import Launches
from warp_artic.sim.launch.parameter_watch import ParameterWatch
from warp_artic.sim.measure.verify import Residual, verify_model
from warp_artic.sim.record.recorder import Recorder
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.run.base_motions import BaseMotions
from warp_artic.sim.run.free_motion import check_free_motion
from warp_artic.sim.run.graph import StepGraph, check_capturable
from warp_artic.sim.run.incoming_forces import IncomingForces
from warp_artic.sim.run.inertias import check_inertias
from warp_artic.sim.run.layout import content_of_bodies, laid_out, members_of, scene_rows
from warp_artic.sim.run.targets import TargetTracks
from warp_artic.sim.run.timed_step import follow_time
from warp_artic.sim.suite.dynamics import Dynamics
from warp_artic.solver.settings import INTEGRATORS, SolverSettings

LANES_FROM = 4
"""Environments of a tree from which lanes are faster than scalars on a CPU."""


@dataclass(frozen=True)
class ArticulationViews:
    """The arrays of one articulation, as views on the device."""

    path: str
    joint_names: tuple[str, ...]
    link_names: tuple[str, ...]
    origin: tuple[float, float, float]
    """World place that positions of roots and links are relative to [m]; zero near the world origin."""
    state: ArrayViews
    control: ArrayViews
    parameters: ArrayViews
    dynamics: Dynamics
    """Mass matrix, Jacobian and so on."""


def of_only_articulation(method: Callable) -> Callable:
    """A method of the dynamics suite, as a method of a simulation that has one articulation."""

    @wraps(method)
    def of_simulation(simulation: Simulation, *arguments, **options):
        if len(simulation.articulations) != 1:
            raise SolveError(
                f"{method.__name__}: the scene has {len(simulation.articulations)} articulations; each has it for "
                f"itself: simulation.articulations[k].dynamics.{method.__name__}"
            )
        return method(simulation.articulations[0].dynamics, *arguments, **options)

    return of_simulation


class Simulation:
    """Steps `environments` copies of a scene on a device.

    `articulations` and `elastic_bodies` have the views of each; `state`, `control` and `parameters` are those of
    articulations.

    Args:
        scene: What to simulate, from `read_stage` or made by hand.
        environments: Number of independent copies.
        device: "cpu" or "cuda:N".
        settings: Time step, solver and precision; what they leave open the scene decides.
        threads: Most threads that step at once, on a CPU; by default as many as cores that the process is bound to
            (and OMP_NUM_THREADS, where that is set). Results are bitwise the same for any number, and a small batch
            stays on one. Each has work space of its own.

    Raises:
        DescriptionError: The scene breaks a rule that a mechanism must satisfy.
        SettingsError: An argument has a value that is not allowed.
    """

    def __init__(
        self,
        scene: Scene,
        *,
        environments: int = 1,
        device: str = "cpu",
        settings: SolverSettings | None = None,
        threads: int | None = None,
    ):
        if not isinstance(scene, Scene):
            read = f"; a stage is read first: wa.Simulation(wa.read_stage({str(scene)!r}))"
            hint = read if isinstance(scene, (str, os.PathLike)) or hasattr(scene, "GetRootLayer") else ""
            raise SettingsError(f"scene: {_shown(scene)} is not a Scene{hint}")
        validate(scene)
        if isinstance(environments, bool) or not isinstance(environments, int) or environments < 1:
            raise SettingsError(f"environments: {environments!r} is not an integer of at least 1")
        self.scene = scene
        self.environments = environments
        self.device = device_of(device)
        self.threads = _threads(threads, self.device)
        self.settings = (settings or SolverSettings()).resolved(scene)
        self.joint_names = scene.dof_names
        self.link_names = scene.link_names
        self.root_names = tuple(
            tree.links[tree.inbound.index(None)].path for tree in scene.articulations if tree.is_floating
        )
        self.tendon_names = tuple(name for tree in scene.articulations for name in tree.tendon_names)
        self.mimic_names = tuple(mimic.name for tree in scene.articulations for mimic in tree.mimics)
        self.loop_names: tuple[str, ...] = ()
        self.steps_done = 0
        check_inertias(scene, self.settings.precision)
        bounded = laid_out(scene, self.settings)
        if self.settings.integrator == "rk4":
            check_free_motion(bounded)
        dense_rows, self._sleep_steps = self.settings.solver == "direct", self.settings.sleep_steps
        self._groups = build_groups(
            bounded, environments, self._numbers, self.device, dense_rows, self._sleep_steps, self.threads
        )
        self._members = members_of(scene, self._groups)
        self._order = scene_rows(scene, self._members)
        self._array_rows: dict[tuple[str, int], Rows] = {}
        self._bases = BaseMotions(scene, self._members, self.settings.dt)
        self._elastic = ElasticBodies(bounded, self._members, self.settings, environments, self.device)
        self.elastic_bodies = self._elastic.bodies
        self._is_carried = bool(self._bases or self._elastic)
        self.mesh_tendon_names = tuple(name for body in self.elastic_bodies for name in body.tendon_names)
        self._on = wp.get_device(self.device)
        self._row_tables = RowTables(self)
        self._start: tuple[Scene, tuple[str, ...], wp.array] | None = None
        self._launches = Launches(self._groups, self.settings, self._on, self.threads)
        self._reported = False
        self._has_lent = False
        self._is_in_graph = False
        self._idle = IdleSteps(self._groups, self._sleep_steps if self._on.is_cpu else 0)
        self._watched: set[str] = set()
        self._parameter_watch = ParameterWatch(self._groups)
        if self._bases:
            self._idle.forbid()
            if self._sleep_steps:
                self._parameter_watch.add("base")
        if self._elastic:
            self._idle.forbid()
        if self._elastic.is_coupled:
            self._open("link_external_force")
        self._has_step_outputs = False
        self.target_tracks = TargetTracks(scene, self._members, self.elastic_bodies, self._open)
        self._state = ArrayViews((*STATE, *OUTPUTS, *STEP_OUTPUTS), self._scene_array, (*OUTPUTS, *STEP_OUTPUTS))
        self._control = ArrayViews(CONTROL, self._scene_array)
        self._parameters = ArrayViews(PARAMETERS, self._scene_array)
        self.articulations = tuple(self._articulation_views(member) for member in self._members)
        self._start_asleep(np.arange(environments))
        self._follow_links()

    def __repr__(self) -> str:
        settings = self.settings
        return (
            f"<Simulation of {self.scene!r}: {self.environments} environment{'s' * (self.environments != 1)} on "
            f"{self.device}, {settings.solver}, {settings.precision}, dt {settings.dt:g} s, at {self.time:g} s>"
        )

    @property
    def state(self) -> ArrayViews:
        """Arrays of the motion, and of what follows from it or from a step."""
        return self._state

    @state.setter
    def state(self, values: object) -> None:
        raise _no_array("state", "joint_position")

    @property
    def control(self) -> ArrayViews:
        """Arrays of targets, efforts and external forces."""
        return self._control

    @control.setter
    def control(self, values: object) -> None:
        raise _no_array("control", "joint_effort")

    @property
    def parameters(self) -> ArrayViews:
        """Arrays of masses, gains, limits and so on, for each environment from when they are asked for."""
        return self._parameters

    @parameters.setter
    def parameters(self, values: object) -> None:
        raise _no_array("parameters", "link_mass")

    @property
    def dt(self) -> float:
        """The time step [s], that of the settings or else of the stage."""
        assert self.settings.dt is not None  # settings are resolved
        return self.settings.dt

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.steps_done * self.dt

    @property
    def variant(self) -> str:
        """Kernel variant of each group: "lanes" or "scalar", joined by a comma where groups differ."""
        names = {"lanes" if group.columns.numbers.lanes > 1 else "scalar" for group in self._groups}
        return ",".join(sorted(names))

    @cached_property
    def link_origins(self) -> np.ndarray:
        """World places that positions of links in `state` are relative to, shape (links, 3) [m]."""
        origins = np.zeros((len(self.link_names), 3))
        for member, rows in zip(self._members, self._order["link"]):
            origins[rows] = member.group.origins[member.place]
        return origins

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of what is simulated and how, but not of the number of environments or the device."""
        content = repr((self.scene.articulations, self.scene.gravity, sorted(asdict(self.settings).items())))
        return hashlib.sha256((content + content_of_bodies(self.scene)).encode()).hexdigest()

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
        idle = self._idle
        if idle.since is not None and type(count) is int and count >= 0 and not (forces or self.target_tracks):
            # Half a microsecond, beside nine of a launch.
            if idle.is_undisturbed() and not self._on.is_capturing:
                self.steps_done += count
                return
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise SettingsError(f"count: {count!r} is not an integer of at least 0")
        if self._on.is_capturing:
            check_capturable(self)
            # Whoever captures may launch at any time, unseen.
            self._is_in_graph = self._has_lent = True
            self._idle.forbid()
        if forces is not False:
            self._prepare_forces(forces)
        self._advance(int(count), forces is not False)

    def capture(self, count: int = 1, forces: bool | IncomingForces = False) -> StepGraph:
        """Steps that `launch` of the returned graph makes again and again, as `step(count, forces)` would.

        A launch costs the host next to nothing, however many articulations there are. What is written to state, control
        and parameters between launches acts in the next one. In a capture of your own, with kernels of yours beside
        `step`, `time` does not count launches, and parameters are to be asked for before the capture.

        Raises:
            SettingsError: An argument has a value that is not allowed, or something moves over time: drive targets,
                kinematic bodies, or elastic ones.
        """
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise SettingsError(f"count: {count!r} is not an integer of at least 1")
        check_capturable(self)
        return StepGraph(self, int(count), self._prepare_forces(forces))

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
        for name, value, least in (("steps", steps, 0), ("every", every, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise SettingsError(f"{name}: {value!r} is not an integer of at least {least}")
        if self._on.is_capturing:
            raise SettingsError("record: reads states, which a capture cannot do; step in it, and record afterwards")
        recorder = Recorder(self, steps // every + 1, self._prepare_forces(forces), quantities)
        if recorder.run(steps // every, every, progress):
            self.step(steps % every)
        return recorder.recording()

    def set_state(
        self,
        joint_position=None,
        joint_velocity=None,
        root_pose=None,
        root_velocity=None,
        environments=None,
    ) -> None:
        """Set parts of the state; kinematics follow.

        Args:
            joint_position: [rad or m], shape (D) or (E, D) in the order of `joint_names`.
            joint_velocity: [rad/s or m/s], shape (D) or (E, D).
            root_pose: World pose of the floating root links, position then quaternion xyzw, shape (7) or (E, 7), or
                (R, 7) or (E, R, 7) for R floating roots in the order of `root_names`.
            root_velocity: Linear velocity of the centre of mass and angular velocity, world axes, shape as `root_pose`
                with 6.
            environments: Indices of the E environments that are meant; all by default.
        """
        chosen = on_device(self._environment_indices(environments), self.device)
        self._idle.end(self.steps_done)
        for name, values in (("joint_position", joint_position), ("joint_velocity", joint_velocity)):
            if values is not None:
                table = checked(name, values, (chosen.shape[0], len(self.joint_names)))
                self._write_rows(name, table.T, chosen)
        if root_pose is not None:
            self._write_root("root_pose", 7, root_pose, chosen)
        if root_velocity is not None:
            self._write_root("root_velocity", 6, root_velocity, chosen)
        self._forget_history(range(len(self.articulations)), chosen)
        self._set_anew()
        self._follow_links()

    def set_values(self, name: str, values, environments=None) -> None:
        """Set an array of `control` or `parameters` in chosen environments.

        Args:
            name: Of the array.
            values: Shape (rows) or (E, rows), with the components of each row last where it has several.
            environments: Indices of the E environments that are meant; all by default.

        Raises:
            SettingsError: There is no such array, or the values are not of this shape or not numbers.
        """
        if name not in (*CONTROL, *PARAMETERS):
            allowed = (*CONTROL, *PARAMETERS)
            raise SettingsError(f"{name!r} is not one of {', '.join(allowed)}{did_you_mean(name, allowed)}")
        chosen = self._environment_indices(environments)
        kind, size = ROW_COUNTS[name]
        rows = sum(len(own) for own in self._order[kind])
        shape = (len(chosen), rows, size)[: 2 + (size > 1)]
        table = checked(name, values, shape, infinite=name in PARAMETERS).reshape(len(chosen), rows, size)
        self._idle.end(self.steps_done)
        self._prepare(name)
        self._watch(name)
        self._write_rows(name, table.transpose(1, 2, 0), on_device(chosen, self.device))

    def set_mass_properties(self, center_of_mass=None, inertia=None, environments=None) -> None:
        """Set where the mass of links is and how it is spread; how much there is `parameters.link_mass` says.

        Poses of links stay, and velocities too: that of a floating root is the one of its new centre of mass.

        Args:
            center_of_mass: In the link frames [m], shape (L, 3) or (E, L, 3) in the order of `link_names`.
            inertia: About the centres of mass, in the axes of the link frames, xx, xy, xz, yy, yz, zz [kg m^2], shape
                (L, 6) or (E, L, 6).
            environments: Indices of the E environments that are meant; all by default.

        Raises:
            DescriptionError: An inertia is not one of a body.
            SettingsError: An argument has a value that is not allowed.
        """
        chosen = self._environment_indices(environments)
        self._check_arrays_may_change("center_of_mass, inertia")
        self._idle.end(self.steps_done)
        set_mass_properties(self, {"center_of_mass": center_of_mass, "inertia": inertia}, chosen)
        self.wake(chosen)
        self._launches.pack()
        self._reported = False

    def reset(self, environments=None) -> None:
        """Put environments (all by default) back to the authored start state."""
        chosen = self._environment_indices(environments)
        self._idle.end(self.steps_done)
        if self._groups:
            put_to_start(self, chosen)
        for body in self.elastic_bodies:
            body.reset(chosen)
        if environments is None:
            self._go_to(0)
        self._set_anew()
        self._start_asleep(chosen)
        self._follow_links()

    def failures(self) -> list[Failure]:
        """The environments that have stopped, each with the quantity and the step; elastic bodies come last."""
        return [*find_failures(self.scene, self._groups, self._members), *self._elastic.failures()]

    def unresolved_steps(self) -> np.ndarray:
        """Steps since the start that did not resolve free motion, shape (environments, articulations).

        They keep its energy, and its momentum on a floating base, but not its path; see `solver.energy_projection`. A
        shorter dt resolves it. Steps of trees with drives, springs or tendons, and of other integrators than
        "midpoint", are not counted.
        """
        if not self._members:
            return np.zeros((self.environments, 0), int)
        fields = [(member.group.field("unresolved"), member.first_column) for member in self._members]
        counts = [field.view(first, self.environments).numpy()[0] for field, first in fields]
        return np.stack(counts, axis=1).astype(int)

    def asleep(self) -> np.ndarray:
        """Which articulations sleep, shape (environments, articulations); see `SolverSettings.sleep_after`."""
        if self._sleep_steps == 0 or not self._members:
            return np.zeros((self.environments, len(self._members)), bool)
        steps = [member.array("steps_at_rest").numpy()[0] for member in self._members]
        return np.stack(steps, axis=1) >= self._sleep_steps

    def wake(self, environments=None, articulations=None) -> None:
        """Wake what sleeps; its state stays as it is. To write zero to `state.steps_at_rest` does the same.

        Args:
            environments: Indices or a mask of those that are meant, which may be an array on the device; all by
                default.
            articulations: Prim paths, indices or a mask; all by default.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        (chosen, _), indices = chosen_environments(self, environments), chosen_articulations(self, articulations)
        self._idle.end(self.steps_done)
        self._count_rest(indices, chosen, 0)

    def put_to_sleep(self, environments=None, articulations=None) -> None:
        """Let articulations sleep where they are, without velocity, until something changes; arguments as in `wake`.

        Raises:
            SettingsError: An argument has a value that is not allowed, or `SolverSettings.sleep_after` is infinite.
        """
        if self._sleep_steps == 0:
            raise SettingsError("put_to_sleep: nothing sleeps while sleep_after is infinite; see SolverSettings")
        (chosen, _), indices = chosen_environments(self, environments), chosen_articulations(self, articulations)
        self._idle.end(self.steps_done)
        if self._groups:
            self._row_tables.of_state(("joint_velocity", "root_velocity"), indices).fill(0.0, chosen)
        self._forget_history(indices, chosen)
        self._count_rest(indices, chosen, self._sleep_steps + 1)
        self._launches.lie_down()
        self._set_anew()

    mass_matrix = of_only_articulation(Dynamics.mass_matrix)
    mass_matrix_inverse = of_only_articulation(Dynamics.mass_matrix_inverse)
    solve_mass_matrix = of_only_articulation(Dynamics.solve_mass_matrix)
    gravity_force = of_only_articulation(Dynamics.gravity_force)
    coriolis_force = of_only_articulation(Dynamics.coriolis_force)
    bias_force = of_only_articulation(Dynamics.bias_force)
    external_force = of_only_articulation(Dynamics.external_force)
    joint_force = of_only_articulation(Dynamics.joint_force)
    joint_acceleration = of_only_articulation(Dynamics.joint_acceleration)
    jacobian = of_only_articulation(Dynamics.jacobian)
    center_of_mass = of_only_articulation(Dynamics.center_of_mass)
    centroidal_momentum = of_only_articulation(Dynamics.centroidal_momentum)
    centroidal_momentum_matrix = of_only_articulation(Dynamics.centroidal_momentum_matrix)
    register_contacts = of_only_articulation(Dynamics.register_contacts)
    coefficient_matrix = of_only_articulation(Dynamics.coefficient_matrix)
    constraint_impulses = of_only_articulation(Dynamics.constraint_impulses)
    unpack_joints = of_only_articulation(Dynamics.unpack_joints)
    pack_joints = of_only_articulation(Dynamics.pack_joints)

    def verify(self, states: int = 8, seed: int = 0) -> tuple[Residual, ...]:
        """Residuals of the identities of the dynamics suite and of forces, on the scene as it was given.

        In float64 and in the precision of the settings, at the start state and at random ones; see
        `sim.measure.verify`.
        This simulation and its state stay as they are.

        Args:
            states: Number of random states.
            seed: Of the random states.
        """
        scene = replace(self.scene, elastic_bodies=(), mesh_tendons=())
        if not scene.articulations:
            return ()
        return verify_model(partial(Simulation, device=self.device), scene, self.settings, states, seed)

    def snapshot(self, parts=None, environments=None, articulations=None) -> Snapshot:
        """Copy arrays on the device, to look at or to `apply` later.

        Args:
            parts: Names of arrays of `state`, `control` and `parameters`, and "history": all that steps remember
                beside positions and velocities. By default the motion, the control and the history, all that a run
                goes on from.
            environments: Indices or a mask of those that are meant, which may be an array on the device; all by
                default. Indices on a GPU that are out of range give zeros.
            articulations: Prim paths, indices or a mask; all by default.

        Raises:
            SettingsError: An argument has a value that is not allowed.
            SolveError: A part is of a step with forces, and there was none.
        """
        self._idle.end(self.steps_done)
        return take_snapshot(self, parts, environments, articulations)

    def apply(self, snapshot: Snapshot, parts=None, environments=None, articulations=None) -> None:
        """Write a snapshot of this model, on the device; kinematics follow.

        Positions and velocities without the history begin anew, as by `set_state`. What sleeps wakes, unless motion,
        control and history are all written.

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
        self._idle.end(self.steps_done)
        apply_snapshot(self, snapshot, parts, environments, articulations)

    def save(self, path) -> None:
        """Write a checkpoint, complete or not at all: state, control and parameters, with the hash of the model.

        Raises:
            SettingsError: There is no such folder, or the path is one.
            SolveError: The file cannot be written.
        """
        self._idle.end(self.steps_done)
        write_checkpoint(self, path)

    def load(self, path) -> None:
        """Take up a checkpoint; the run goes on bitwise as the one that saved it.

        Raises:
            SettingsError: There is no such file, or it is damaged, or unpacks to far too much.
            SolveError: The checkpoint is of another model, other settings or another number of environments, or has
                other arrays, types, shapes or values than there may be (`sim.change.checkpoint`). Nothing has changed
                then.
        """
        self._idle.end(self.steps_done)
        read_checkpoint(self, path)

    def report(self) -> None:
        """Bring link poses, link velocities and energies up to date with the state."""
        # Who has a view of the state or of a parameter may have written to it at any time.
        if self._has_lent or not self._reported:
            self._launches.report()
            self._reported = True

    def _advance(self, count: int, with_forces: bool) -> None:
        if self._is_carried or self.target_tracks:
            for _ in range(count):
                follow_time(self, with_forces)
        elif count > 0:
            self._launch_steps(count, with_forces)
            self._count_steps(count, with_forces)

    def _follow_links(self) -> None:
        if self._elastic.is_coupled:
            self.report()
            self._elastic.follow()

    def _launch_steps(self, count: int, with_forces: bool) -> None:
        if self._idle.since is not None:
            self._idle.end(self.steps_done)
        self._parameter_watch.look()
        self._launches.step(count, with_forces)

    def _count_steps(self, count: int, with_forces: bool) -> None:
        self.steps_done += count
        self._reported = False
        self._has_step_outputs = with_forces
        if self._sleep_steps and not with_forces:
            self._idle.look(count, self.steps_done)

    def _prepare_forces(self, forces: bool | IncomingForces) -> IncomingForces | None:
        """Make steps that report forces do it so, with room for them."""
        if forces is False:
            return None
        if forces is True:
            forces = IncomingForces()
        if not isinstance(forces, IncomingForces):
            raise SettingsError(f"forces: {forces!r} is not False, True or IncomingForces(...)")
        if self.settings.integrator == "rk4":
            others = ", ".join(name for name in INTEGRATORS if name != "rk4")
            raise SettingsError(f"forces: the integrator rk4 does not report them; allowed here: {others}")
        numbers = int(forces.axes == "world"), int(not forces.tendons)
        if any([group.report_forces(*numbers) for group in self._groups]):
            self._launches.pack()
        return forces

    def _numbers(self, columns: int) -> Numbers:
        variant = self.settings.variant
        on_cpu = wp.get_device(self.device).is_cpu
        if variant == "lanes" and not on_cpu:
            raise SettingsError(f"variant: lanes are for the CPU, and the device is {self.device}")
        wide = variant == "lanes" or (variant == "auto" and on_cpu and columns >= LANES_FROM)
        return numbers_for(self.settings.precision, wide)

    def _scene_array(self, name: str):
        if not self._groups:
            _, size = ROW_COUNTS[name]
            shape = (0, self.environments) if size == 1 else (0, size, self.environments)
            return wp.zeros(shape, dtype=getattr(wp, self.settings.precision), device=self.device)
        self._lend(name)
        return scene_array(name, self._groups, self._members, self._order[ROW_COUNTS[name][0]], self._array_rows)

    def _lend(self, name: str) -> None:
        """Prepare an array that a user will have a view of."""
        self._has_lent = self._has_lent or name in STATE or name in PARAMETERS
        self._prepare(name)
        self._watch(name)
        if self._sleep_steps and self._on.is_cpu and name in (*STATE, *CONTROL, *PARAMETERS):
            self._idle.lend(name, self.steps_done)

    def _open(self, name: str) -> None:
        """Get an array ready for writing by the simulation itself."""
        self._prepare(name)
        self._watch(name)

    def _watch(self, name: str) -> None:
        """Have steps look for changes of an array, where they wake somebody."""
        if self._sleep_steps and name not in self._watched:
            self._watched.add(name)
            for group in self._groups:
                group.watch(name)
            if name in PARAMETERS:
                self._parameter_watch.add(name)
                self._launches.pack()

    def _rows(self, name: str, articulations) -> Rows:
        """The rows of some articulations in an array."""
        kind, size = ROW_COUNTS[name]
        return public_rows(self._groups, self._order[kind], size, articulations)

    def _prepare(self, name: str) -> None:
        """Bring outputs up to date; make a parameter that is asked for one that each environment has for itself."""
        if name in STEP_OUTPUTS and not self._has_step_outputs:
            raise SolveError(f"{name}: is of a step with forces, and the last one had none; see step(forces=True)")
        if name in OUTPUTS:
            self.report()
        if name in CONTROL:
            for group in self._groups:
                group.check(name)
        if name in PARAMETERS:
            has_moved = any(group.parameters[name].is_shared for group in self._groups)
            if has_moved:
                self._check_arrays_may_change(name)
            for group in self._groups:
                group.expand_parameter(name)
            if has_moved:
                self._launches.pack()

    def _check_arrays_may_change(self, name: str) -> None:
        if self._is_in_graph:
            raise SolveError(
                f"{name}: a step is captured in a graph, which would go on with the one value of all environments; "
                "ask for parameters before the capture, or use simulation.capture"
            )

    def _articulation_views(self, member: Member) -> ArticulationViews:
        tree = self.scene.articulations[member.index]

        def get(name: str):
            self._lend(name)
            return member.array(name)

        return ArticulationViews(
            tree.path,
            tuple(dof.name for dof in tree.dofs),
            tuple(tree.bodies),
            tuple(map(float, member.group.origins[member.place])),
            ArrayViews((*STATE, *OUTPUTS, *STEP_OUTPUTS), get, (*OUTPUTS, *STEP_OUTPUTS)),
            ArrayViews(CONTROL, get),
            ArrayViews(PARAMETERS, get),
            Dynamics(member, tree, self.settings.dt, partial(self._launches.dynamics, member.group)),
        )

    def _environment_indices(self, environments) -> np.ndarray:
        return environment_indices(environments, self.environments)

    def _write_rows(self, name: str, values: np.ndarray, chosen: Held) -> None:
        """Write values of shape (scene rows, chosen environments), or with components between."""
        if self._groups:
            found = self._row_tables.find(
                ("write", name), lambda: [(name, name, self._rows(name, range(len(self._members))), True)]
            )
            scalar = wp.dtype_to_numpy(self._groups[0].columns.numbers.scalar)
            table = np.ascontiguousarray(values, scalar).reshape(found.count, chosen.shape[0])
            found.put(table if self._on.is_cpu else wp.array(table, device=self.device), chosen)
        self._reported = False

    def _write_root(self, name: str, size: int, values, chosen: Held) -> None:
        roots = len(self.root_names)
        if roots == 0:
            raise SettingsError(f"{name}: the scene has no floating root")
        if np.ndim(values) == 2 and np.shape(values) == (chosen.shape[0], size) and roots == 1:
            values = np.asarray(values)[:, None]
        table = np.array(checked(name, values, (chosen.shape[0], roots, size)))
        if name == "root_pose":
            floating = [member for member in self._members if member.group.tree.root_dofs]
            table[..., :3] -= np.array([member.group.origins[member.place] for member in floating])
            length = np.linalg.norm(table[..., 3:], axis=-1, keepdims=True)
            if (length < 1e-6).any():
                raise SettingsError("root_pose: a quaternion has no length")
            table[..., 3:] /= length
        self._write_rows(name, table.transpose(1, 2, 0), chosen)

    def _count_rest(self, articulations, chosen: Held, steps: int) -> None:
        """Have chosen environments of some articulations go on from a count of steps at rest, where that is counted."""
        if self._sleep_steps == 0 or not self._groups:
            return
        self._row_tables.of_state(("steps_at_rest",), articulations).fill(float(steps), chosen)

    def _start_asleep(self, environments: np.ndarray) -> None:
        """Put to sleep what is authored so."""
        trees = [index for index, tree in enumerate(self.scene.articulations) if tree.starts_asleep]
        if trees and self._sleep_steps:
            self.put_to_sleep(environments, trees)

    def _forget_history(self, articulations, chosen: Held) -> None:
        """Make zero what steps of chosen environments remember, but for what they count."""
        if self._groups:
            self._row_tables.of_state(self._remembered, articulations).fill(0.0, chosen)

    @cached_property
    def _remembered(self) -> tuple[str, ...]:
        """What steps remember beside the motion, without what they count."""
        return tuple(name for name in self._groups[0].state if name not in (*MOTION, "clock", "unresolved"))

    def _take_up(self, scene: Scene, articulations: list[int]) -> None:
        """Go on with another scene of the same structure, whose numbers are written; some articulations differ."""
        self.scene = scene
        self.__dict__.pop("model_hash", None)
        if articulations:
            self.wake(articulations=articulations)
            self._launches.pack()
            self._reported = False

    def _go_to(self, steps_done: int) -> None:
        """Go on from another time, with what follows time as it is then."""
        self.steps_done = steps_done
        self._bases.place_end(steps_done - 1)
        self.target_tracks.apply(self.time)

    def _set_anew(self) -> None:
        """Nothing that was reported is of the state any more."""
        self._reported = False
        self._has_step_outputs = False


def _no_array(views: str, name: str) -> AttributeError:
    return AttributeError(
        f"{views}: has several arrays; write to one of them, such as simulation.{views}.{name} = values"
    )


def _shown(value: object) -> str:
    """A value as a sentence has it."""
    return repr(value) if isinstance(value, (str, os.PathLike)) else f"a {type(value).__name__}"


def _threads(count: int | None, device: str) -> int:
    on_cpu = wp.get_device(device).is_cpu
    if count is None:
        return usable_threads() if on_cpu else 1
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise SettingsError(f"threads: {count!r} is not an integer of at least 1")
    if count > 1 and not on_cpu:
        raise SettingsError(f"threads: they are for the CPU, and the device is {device}")
    return count

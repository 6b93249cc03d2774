"""A simulation of a scene: equal trees grouped on a device, stepped together, read back by name."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial

import numpy as np
import warp as wp

from warp_artic.description.carriages import with_carriages
from warp_artic.description.scene import Scene
from warp_artic.description.validate import validate
from warp_artic.errors import SettingsError, SolveError
from warp_artic.kernels.dynamics import dynamics_kernels_for
from warp_artic.kernels.launch import SETTLES, kernels_for
from warp_artic.math.numbers import Numbers, numbers_for
from warp_artic.model.group import Group, build_groups, initial_state
from warp_artic.sim.checkpoint import read_checkpoint, write_checkpoint
from warp_artic.sim.dynamics import Dynamics
from warp_artic.sim.free_motion import check_free_motion
from warp_artic.sim.mass_properties import set_mass_properties
from warp_artic.sim.parameter_watch import ParameterWatch
from warp_artic.sim.recorder import Recorder
from warp_artic.sim.recording import Recording
from warp_artic.sim.rows import Rows, private_rows, public_rows
from warp_artic.sim.snapshot import (
    Snapshot,
    apply_snapshot,
    chosen_articulations,
    chosen_environments,
    take_snapshot,
)
from warp_artic.sim.targets import TargetTracks
from warp_artic.sim.verify import Residual, verify_model
from warp_artic.sim.views import (
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
    scene_array,
)
from warp_artic.solver.settings import INTEGRATORS, SolverSettings

LANES_FROM = 4
"""Environments of a tree from which lanes are faster than scalars on a CPU."""

WITH_FORCES = {False: 0, True: 1, "world": 2}
"""What a step is told of the forces to record."""


@dataclass(frozen=True)
class Failure:
    """An environment that has stopped because a velocity ran away."""

    environment: int
    articulation: str
    """Prim path of the articulation."""
    quantity: str
    """What has the first such velocity: a dof name, or the root."""
    step: int
    """The step that it would have been, counted from 1; the environment keeps the state before it."""

    def __str__(self) -> str:
        return (
            f"{self.articulation}: environment {self.environment} stopped at step {self.step}: "
            f"the velocity of {self.quantity} runs away"
        )


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


class Simulation:
    """Steps `environments` copies of a scene on a device.

    Args:
        scene: What to simulate, from `read_stage` or made by hand.
        environments: Number of independent copies.
        device: "cpu" or "cuda:N".
        settings: Time step, solver and precision; what they leave open the scene decides.

    Raises:
        DescriptionError: The scene breaks a rule that a mechanism must satisfy.
        SettingsError: An argument has a value that is not allowed.
    """

    def __init__(
        self, scene: Scene, *, environments: int = 1, device: str = "cpu", settings: SolverSettings | None = None
    ):
        validate(scene)
        if isinstance(environments, bool) or not isinstance(environments, int) or environments < 1:
            raise SettingsError(f"environments: {environments!r} is not an integer of at least 1")
        self.scene = scene
        self.environments = environments
        self.device = _device(device)
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
        trees = (with_carriages(tree).bounded(self.settings.dt) for tree in scene.articulations)
        bounded = replace(scene, articulations=tuple(trees))
        if self.settings.integrator == "rk4":
            check_free_motion(bounded)
        dense_rows, self._sleep_steps = self.settings.solver == "direct", self.settings.sleep_steps
        self._groups = build_groups(bounded, environments, self._numbers, self.device, dense_rows, self._sleep_steps)
        self._members = _members(scene, self._groups)
        self._order = _scene_rows(scene, self._members)
        self.target_tracks = TargetTracks(scene, self._members)
        self._record_launches()
        self._reported = False
        self._has_lent = False
        self._watched: set[str] = set()
        self._parameter_watch = ParameterWatch(self._groups)
        self._has_step_outputs = False
        self.state = ArrayViews((*STATE, *OUTPUTS, *STEP_OUTPUTS), self._scene_array)
        self.control = ArrayViews(CONTROL, self._scene_array)
        self.parameters = ArrayViews(PARAMETERS, self._scene_array)
        self.articulations = tuple(self._articulation_views(member) for member in self._members)
        self._start_asleep(np.arange(environments))

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.steps_done * self.settings.dt

    @property
    def variant(self) -> str:
        """Kernel variant of each group: "lanes" or "scalar", joined by a comma where groups differ."""
        names = {"lanes" if group.columns.numbers.lanes > 1 else "scalar" for group in self._groups}
        return ",".join(sorted(names))

    @cached_property
    def model_hash(self) -> str:
        """SHA-256 of what is simulated and how, but not of the number of environments or the device."""
        content = repr((self.scene.articulations, self.scene.gravity, sorted(asdict(self.settings).items())))
        return hashlib.sha256(content.encode()).hexdigest()

    def step(self, count: int = 1, forces: bool | str = False) -> None:
        """Advance every environment by `count` time steps.

        Args:
            count: Number of time steps.
            forces: Whether to report the forces and the accelerations of the last of them: `state.joint_acceleration`,
                `state.link_incoming_joint_force`, `state.joint_drive_force` and so on; see `Recording`.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 0:
            raise SettingsError(f"count: {count!r} is not an integer of at least 0")
        self._advance(int(count), self._prepare_forces(forces))

    def record(self, steps: int, every: int = 1, progress=None, forces: bool | str = False) -> Recording:
        """Step and record the state now and after each `every` steps.

        Args:
            steps: Number of time steps.
            every: Steps from one record to the next.
            progress: If given, it is called with the number of steps done since its last call.
            forces: Whether to record the forces of the joint constraints over the last step before each record; "world"
                records them with those by joints on links in world axes.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        for name, value, least in (("steps", steps, 0), ("every", every, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise SettingsError(f"{name}: {value!r} is not an integer of at least {least}")
        with_forces = self._prepare_forces(forces)
        recorder = Recorder(self, steps // every + 1, forces)
        recorder.take()
        for _ in range(steps // every):
            self._advance(every, with_forces)
            recorder.take()
            if progress is not None:
                progress(every)
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
        chosen = self._environment_indices(environments)
        for name, values in (("joint_position", joint_position), ("joint_velocity", joint_velocity)):
            if values is not None:
                table = checked(name, values, (len(chosen), len(self.joint_names)))
                self._write_rows(name, table.T[:, None, :], chosen)
        if root_pose is not None:
            self._write_root("root_pose", 7, root_pose, chosen)
        if root_velocity is not None:
            self._write_root("root_velocity", 6, root_velocity, chosen)
        meant = wp.array(chosen, dtype=wp.int32, device=self.device)
        self._forget_history(range(len(self.articulations)), meant)
        self._set_anew()

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
        set_mass_properties(self, {"center_of_mass": center_of_mass, "inertia": inertia}, chosen)
        self.wake(chosen)
        self._record_launches()
        self._reported = False

    def reset(self, environments=None) -> None:
        """Put environments (all by default) back to the authored start state."""
        chosen = self._environment_indices(environments)
        for member in self._members:
            origin = member.group.origins[member.place]
            for name, values in initial_state([self.scene.articulations[member.index]], [origin]).items():
                rows = values.T.shape[0]
                if rows:
                    member.write(name, np.repeat(values.T, len(chosen), axis=1), chosen)
        self._set_anew()
        self._start_asleep(chosen)
        if environments is None:
            self.steps_done = 0

    def failures(self) -> list[Failure]:
        """The environments that have stopped, each with the quantity and the step."""
        found = []
        for member in self._members:
            dofs, steps = member.array("failure").numpy()[0]
            tree = self.scene.articulations[member.index]
            roots = member.group.tree.root_dofs
            for environment in np.flatnonzero(dofs > 0):
                dof = int(dofs[environment]) - 1
                quantity = "the root" if dof < roots else tree.dofs[dof - roots].name
                found.append(Failure(int(environment), tree.path, quantity, int(steps[environment])))
        return found

    def asleep(self) -> np.ndarray:
        """Which articulations sleep, shape (environments, articulations); see `SolverSettings.sleep_after`."""
        if self._sleep_steps == 0:
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
        self._count_rest(indices, chosen, 0)

    def put_to_sleep(self, environments=None, articulations=None) -> None:
        """Let articulations sleep where they are, without velocity, until something changes; arguments as in `wake`.

        Raises:
            SettingsError: An argument has a value that is not allowed, or `SolverSettings.sleep_after` is infinite.
        """
        if self._sleep_steps == 0:
            raise SettingsError("put_to_sleep: nothing sleeps while sleep_after is infinite; see SolverSettings")
        (chosen, _), indices = chosen_environments(self, environments), chosen_articulations(self, articulations)
        for name in ("joint_velocity", "root_velocity"):
            private_rows(self._groups, name).only(self._groups, indices).clear(self._groups, name, chosen)
        self._forget_history(indices, chosen)
        self._count_rest(indices, chosen, self._sleep_steps + 1)
        for group in self._groups:
            arrays = group.arrays
            wp.launch(
                self._kernels(group).sleep,
                dim=group.columns.blocks,
                inputs=[arrays.model, arrays.state, arrays.control],
                device=self.device,
            )
        self._set_anew()

    def mass_matrix(self, armature: bool = True, *, out=None) -> wp.array:
        """See `Dynamics.mass_matrix`; of the only articulation."""
        return self._only("mass_matrix").mass_matrix(armature, out=out)

    def mass_matrix_inverse(self, *, out=None) -> wp.array:
        """See `Dynamics.mass_matrix_inverse`; of the only articulation."""
        return self._only("mass_matrix_inverse").mass_matrix_inverse(out=out)

    def solve_mass_matrix(self, right, *, out=None) -> wp.array:
        """See `Dynamics.solve_mass_matrix`; of the only articulation."""
        return self._only("solve_mass_matrix").solve_mass_matrix(right, out=out)

    def gravity_force(self, *, out=None) -> wp.array:
        """See `Dynamics.gravity_force`; of the only articulation."""
        return self._only("gravity_force").gravity_force(out=out)

    def coriolis_force(self, *, out=None) -> wp.array:
        """See `Dynamics.coriolis_force`; of the only articulation."""
        return self._only("coriolis_force").coriolis_force(out=out)

    def bias_force(self, *, out=None) -> wp.array:
        """See `Dynamics.bias_force`; of the only articulation."""
        return self._only("bias_force").bias_force(out=out)

    def external_force(self, wrench, *, out=None) -> wp.array:
        """See `Dynamics.external_force`; of the only articulation."""
        return self._only("external_force").external_force(wrench, out=out)

    def joint_force(self, joint_acceleration, *, out=None) -> wp.array:
        """See `Dynamics.joint_force`; of the only articulation."""
        return self._only("joint_force").joint_force(joint_acceleration, out=out)

    def joint_acceleration(self, joint_force=None, *, out=None) -> wp.array:
        """See `Dynamics.joint_acceleration`; of the only articulation."""
        return self._only("joint_acceleration").joint_acceleration(joint_force, out=out)

    def jacobian(self, *, out=None) -> wp.array:
        """See `Dynamics.jacobian`; of the only articulation."""
        return self._only("jacobian").jacobian(out=out)

    def center_of_mass(self, *, out=None) -> wp.array:
        """See `Dynamics.center_of_mass`; of the only articulation."""
        return self._only("center_of_mass").center_of_mass(out=out)

    def centroidal_momentum(self, *, out=None) -> wp.array:
        """See `Dynamics.centroidal_momentum`; of the only articulation."""
        return self._only("centroidal_momentum").centroidal_momentum(out=out)

    def centroidal_momentum_matrix(self, *, out=None) -> wp.array:
        """See `Dynamics.centroidal_momentum_matrix`; of the only articulation."""
        return self._only("centroidal_momentum_matrix").centroidal_momentum_matrix(out=out)

    def coefficient_matrix(self, *, out=None) -> wp.array:
        """See `Dynamics.coefficient_matrix`; of the only articulation."""
        return self._only("coefficient_matrix").coefficient_matrix(out=out)

    def _only(self, name: str) -> Dynamics:
        """The dynamics suite of the only articulation."""
        if len(self.articulations) != 1:
            raise SolveError(
                f"{name}: the scene has {len(self.articulations)} articulations; "
                f"each has it for itself: simulation.articulations[k].dynamics.{name}"
            )
        return self.articulations[0].dynamics

    def verify(self, states: int = 8, seed: int = 0) -> tuple[Residual, ...]:
        """Residuals of the identities of the dynamics suite and of forces, on the scene as it was given.

        In float64 and in the precision of the settings, at the start state and at random ones; see `sim.verify`. This
        simulation and its state stay as they are.

        Args:
            states: Number of random states.
            seed: Of the random states.
        """
        return verify_model(partial(Simulation, device=self.device), self.scene, self.settings, states, seed)

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
        return take_snapshot(self, parts, environments, articulations)

    def apply(self, snapshot: Snapshot, parts=None, environments=None, articulations=None) -> None:
        """Write a snapshot of this model, on the device; kinematics follow.

        Positions and velocities without the history begin anew, as by `set_state`. What sleeps wakes, unless motion,
        control and history are all written.

        Args:
            snapshot: From `snapshot`.
            parts: Which of its parts; by default all that can be applied. Others follow from these.
            environments: Where its columns go; by default where they are from. Indices, one for each column, or a mask
                of all environments, which leaves the others as they are, either of which may be an array on the device.
                A snapshot of one environment goes to all that are given. Indices on a GPU that are out of range are
                left out.
            articulations: Prim paths, indices or a mask of some that it has; all of them by default.

        Raises:
            SettingsError: An argument has a value that is not allowed.
        """
        apply_snapshot(self, snapshot, parts, environments, articulations)

    def save(self, path) -> None:
        """Write a checkpoint, complete or not at all: state, control and parameters, with the hash of the model.

        Raises:
            SettingsError: The file cannot be written.
        """
        write_checkpoint(self, path)

    def load(self, path) -> None:
        """Take up a checkpoint; the run goes on bitwise as the one that saved it.

        Raises:
            SettingsError: There is no such file, or it is damaged.
            SolveError: The checkpoint is of another model, other settings or another number of environments.
        """
        read_checkpoint(self, path)

    def report(self) -> None:
        """Bring link poses, link velocities and energies up to date with the state."""
        # Who has a view of the state or of a parameter may have written to it at any time.
        if self._has_lent or not self._reported:
            for launch in self._reports:
                launch.launch()
            self._reported = True

    def _advance(self, count: int, with_forces: int) -> None:
        if not self.target_tracks:
            self._launch_steps(count, with_forces)
        for _ in range(count if self.target_tracks else 0):
            self.target_tracks.apply(self.time + self.settings.dt)
            self._launch_steps(1, with_forces)

    def _launch_steps(self, count: int, with_forces: int) -> None:
        if count == 0:
            return
        if (count, with_forces) != self._next:
            for launch in self._launches:
                launch.set_param_by_name("steps", count)
                if self.settings.integrator != "rk4":
                    launch.set_param_by_name("with_forces", with_forces)
            self._next = count, with_forces
        self._parameter_watch.look()
        for launch in self._launches:
            launch.launch()
        self.steps_done += count
        self._reported = False
        self._has_step_outputs = with_forces > 0

    def _prepare_forces(self, forces: bool | str) -> int:
        """What a step is told of the forces to report, for which there is room."""
        if not isinstance(forces, bool) and forces != "world":
            raise SettingsError(f"forces: {forces!r} is not False, True or 'world'")
        if forces:
            self._make_room_for_forces()
        return WITH_FORCES[forces]

    def _make_room_for_forces(self) -> None:
        if self.settings.integrator == "rk4":
            others = ", ".join(name for name in INTEGRATORS if name != "rk4")
            raise SettingsError(f"forces: the integrator rk4 does not report them; allowed here: {others}")
        if any([group.make_room_for_forces() for group in self._groups]):
            self._record_launches()

    def _measure_tendons(self) -> None:
        """Bring the mobilities of tendons up to date with the state."""
        for launch in self._measures:
            launch.launch()

    def _numbers(self, columns: int) -> Numbers:
        variant = self.settings.variant
        on_cpu = wp.get_device(self.device).is_cpu
        if variant == "lanes" and not on_cpu:
            raise SettingsError(f"variant: lanes are for the CPU, and the device is {self.device}")
        wide = variant == "lanes" or (variant == "auto" and on_cpu and columns >= LANES_FROM)
        return numbers_for(self.settings.precision, wide)

    def _kernels(self, group: Group):
        return kernels_for(group.columns.numbers, SETTLES[self.settings.solver])

    def _record_launches(self) -> None:
        """Pack the arguments of the launches that every step repeats."""
        settings = self.settings
        self._next = 1, 0
        kernel, structs = "step", ("control", "forces")
        numbers = (1, settings.dt, int(settings.integrator == "midpoint"), *settings.schedule, 0)
        if settings.integrator == "rk4":
            kernel, structs, numbers = "runge_kutta", ("control",), (1, settings.dt)
        self._launches = [self._launch(group, kernel, structs, (), numbers, record_cmd=True) for group in self._groups]
        self._measures = [
            self._launch(group, "mobilities", ("control",), ("tendon_mobility",), record_cmd=True)
            for group in self._groups
            if group.tree.tendon_count and "tendon_mobility" in group.outputs
        ]
        self._reports = [self._launch(group, "report", ("report",), (), record_cmd=True) for group in self._groups]

    def _launch(self, group: Group, kernel: str, structs, outputs, numbers=(), **options):
        """Launch a kernel of a group, or with `record_cmd` only pack its arguments."""
        arrays = group.arrays
        return wp.launch(
            getattr(self._kernels(group), kernel),
            dim=group.workers,
            inputs=[
                arrays.model,
                arrays.state,
                *(getattr(arrays, name) for name in structs),
                arrays.work,
                group.columns.blocks,
                group.workers,
                *numbers,
                *(group.outputs[name].numbers for name in outputs),
            ],
            device=self.device,
            **options,
        )

    def _launch_dynamics(self, group: Group, kernel: str, control, *arguments) -> None:
        """Launch a kernel of the dynamics suite."""
        arrays = group.arrays
        controls = () if control is None else (control,)
        wp.launch(
            getattr(dynamics_kernels_for(group.columns.numbers), kernel),
            dim=group.workers,
            inputs=[
                arrays.model,
                arrays.state,
                *controls,
                arrays.work,
                group.columns.blocks,
                group.workers,
                *arguments,
            ],
            device=self.device,
        )

    def _scene_array(self, name: str):
        self._lend(name)
        return scene_array(name, self._groups, self._members, self._order[ROW_COUNTS[name][0]])

    def _lend(self, name: str) -> None:
        """Prepare an array that a user will have a view of."""
        self._has_lent = self._has_lent or name in STATE or name in PARAMETERS
        self._prepare(name)
        if self._sleep_steps and name not in self._watched:
            self._watched.add(name)
            for group in self._groups:
                group.watch(name)
            if name in PARAMETERS:
                self._parameter_watch.add(name)

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
        if name in PARAMETERS and any([group.expand_parameter(name) for group in self._groups]):
            self._record_launches()

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
            ArrayViews((*STATE, *OUTPUTS, *STEP_OUTPUTS), get),
            ArrayViews(CONTROL, get),
            ArrayViews(PARAMETERS, get),
            Dynamics(member, partial(self._launch_dynamics, member.group)),
        )

    def _environment_indices(self, environments) -> np.ndarray:
        if environments is None:
            return np.arange(self.environments)
        chosen = np.atleast_1d(np.asarray(environments))
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
            raise SettingsError(f"environments: {environments!r} is not a list of indices")
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= self.environments):
            raise SettingsError(f"environments: indices {chosen} are not all in 0 ... {self.environments - 1}")
        return chosen

    def _write_rows(self, name: str, table: np.ndarray, chosen: np.ndarray) -> None:
        """Write a table of shape (scene rows, components, chosen environments)."""
        for member, rows in zip(self._members, self._order[ROW_COUNTS[name][0]]):
            if len(rows):
                member.write(name, table[rows].reshape(-1, len(chosen)), chosen)
        self._reported = False

    def _write_root(self, name: str, size: int, values, chosen: np.ndarray) -> None:
        roots = len(self.root_names)
        if roots == 0:
            raise SettingsError(f"{name}: the scene has no floating root")
        if np.ndim(values) == 2 and np.shape(values) == (len(chosen), size) and roots == 1:
            values = np.asarray(values)[:, None]
        table = np.array(checked(name, values, (len(chosen), roots, size)))
        if name == "root_pose":
            floating = [member for member in self._members if member.group.tree.root_dofs]
            table[..., :3] -= np.array([member.group.origins[member.place] for member in floating])
            length = np.linalg.norm(table[..., 3:], axis=-1, keepdims=True)
            if (length < 1e-6).any():
                raise SettingsError("root_pose: a quaternion has no length")
            table[..., 3:] /= length
        self._write_rows(name, table.transpose(1, 2, 0), chosen)

    def _count_rest(self, articulations, chosen: wp.array, steps: int) -> None:
        """Have chosen environments of some articulations go on from a count of steps at rest, where that is counted."""
        if self._sleep_steps == 0:
            return
        rows = private_rows(self._groups, "steps_at_rest").only(self._groups, articulations)
        values = wp.full((rows.count, 1), steps, dtype=self._groups[0].columns.numbers.scalar, device=self.device)
        rows.put(values, self._groups, "steps_at_rest", chosen)

    def _start_asleep(self, environments: np.ndarray) -> None:
        """Put to sleep what is authored so."""
        trees = [index for index, tree in enumerate(self.scene.articulations) if tree.starts_asleep]
        if trees and self._sleep_steps:
            self.put_to_sleep(environments, trees)

    def _forget_history(self, articulations, chosen: wp.array) -> None:
        """Make zero what steps of chosen environments remember, but for the count of steps."""
        for name in self._groups[0].state:
            if name not in (*MOTION, "clock"):
                private_rows(self._groups, name).only(self._groups, articulations).clear(self._groups, name, chosen)

    def _set_anew(self) -> None:
        """Nothing that was reported is of the state any more."""
        self._reported = False
        self._has_step_outputs = False


def _device(name: str) -> str:
    try:
        return str(wp.get_device(name))
    except Exception as error:  # Warp raises several types for one reason
        known = ", ".join(str(device) for device in wp.get_devices())
        raise SettingsError(f"device: {name!r} is not one of {known}") from error


def _members(scene: Scene, groups: tuple[Group, ...]) -> tuple[Member, ...]:
    found = {index: Member(index, group, place) for group in groups for place, index in enumerate(group.members)}
    return tuple(found[index] for index in range(len(scene.articulations)))


def _scene_rows(scene: Scene, members: tuple[Member, ...]) -> dict[str, list[np.ndarray]]:
    """For dofs, links, roots, couplings and articulations: the scene rows of the rows of each member."""
    dof_row = {name: row for row, name in enumerate(scene.dof_names)}
    link_row = {name: row for row, name in enumerate(scene.link_names)}
    trees = [scene.articulations[member.index] for member in members]
    return {
        "dof": [np.array([dof_row[dof.name] for dof in tree.dofs], int) for tree in trees],
        "link": [np.array([link_row[path] for path in tree.bodies], int) for tree in trees],
        "root": _consecutive(int(tree.is_floating) for tree in trees),
        "tendon": _consecutive(len(tree.tendon_names) for tree in trees),
        "fixed_tendon": _consecutive(len(tree.fixed_tendons) for tree in trees),
        "spatial_tendon": _consecutive(len(tree.spatial_tendons) for tree in trees),
        "leaf": _consecutive(sum(len(tendon.leaves) for tendon in tree.spatial_tendons) for tree in trees),
        "attachment": _consecutive(sum(len(tendon.attachments) for tendon in tree.spatial_tendons) for tree in trees),
        "cone": _consecutive(sum(joint.cone_limit is not None for joint in tree.joints) for tree in trees),
        "tendon_term": _consecutive(sum(len(tendon.dofs) for tendon in tree.fixed_tendons) for tree in trees),
        "mimic": _consecutive(len(tree.mimics) for tree in trees),
        "mimic_term": _consecutive(sum(len(mimic.dofs) for mimic in tree.mimics) for tree in trees),
        "articulation": [np.array([k]) for k in range(len(trees))],
    }


def _consecutive(counts) -> list[np.ndarray]:
    """Rows of each articulation where the scene has them one articulation after the other."""
    ends = np.cumsum([0, *counts])
    return [np.arange(first, last) for first, last in zip(ends, ends[1:])]

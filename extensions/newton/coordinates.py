"""The state and the controls of a model of Newton as those of a simulation, and back, on the device."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import newton
import numpy as np
import warp as wp
from warp_artic.extensions.newton.binding import Binding
from warp_artic.extensions.newton.kernels import kernels_for
from warp_artic.extensions.newton.worlds import Worlds, pose_of

from warp_artic.description.pose import Pose
from warp_artic.sim.arrays.views import MOTION
from warp_artic.sim.change.snapshot import Snapshot
from warp_artic.sim.run.articulation_views import ArticulationViews
from warp_artic.sim.simulation import Simulation

REMEMBERED = 64
"""Lists of launches that are kept, each for arrays of a caller: two states take turns, with one control."""


@dataclass(frozen=True)
class Joints:
    """Joints of one kind: where their entries are in Newton's arrays, and which rows of a simulation they are."""

    count: int
    q: wp.array
    """First entry of each in `joint_q`, shape (count, environments)."""
    qd: wp.array
    rows: wp.array
    dofs: np.ndarray
    """The rows of the first, or only, dof of each."""
    follows_velocity: wp.array
    """1 where the drive of the joint follows the velocity target, else 0."""


@dataclass(frozen=True)
class Roots:
    """Free joints."""

    count: int
    q: wp.array
    qd: wp.array
    X_WP: wp.array
    """From their frame to the world of the scene, shape (count, environments)."""
    X_CL: wp.array
    """From the link to its frame of the joint."""
    origin: wp.array
    """What positions of the simulation are relative to, shape (count)."""


class Tables:
    """Where the joints and bodies of some articulations of a scene are in the arrays of Newton."""

    def __init__(
        self,
        model: newton.Model,
        worlds: Worlds,
        binding: Binding,
        articulations: list[ArticulationViews],
        placed: list[list[Pose]],
        follows_velocity: np.ndarray,
        row_of: dict[str, int],
    ):
        self._device = model.device
        own = {name for one in articulations for name in (*one.joint_names, *one.link_names)}
        axes = [axis for axis in binding.axes if axis[0] in own]
        balls = [ball for ball in binding.balls if ball[0][0] in own]
        roots = [root for root in binding.roots if root[0] in own]
        q, qd = model.joint_q_start.numpy()[worlds.joints], model.joint_qd_start.numpy()[worlds.joints]
        scene_row = {name: row for row, name in enumerate(row_of)}

        def joints(places: list[int], shifts: list[int], names: list, rows: np.ndarray) -> Joints:
            entries = [starts[:, places].T + np.array(shifts, int)[:, None] for starts in (q, qd)]
            dofs = np.array([scene_row[name] for name in names], int)
            follows = follows_velocity[dofs]
            return Joints(len(places), *map(self._table, (*entries, rows)), dofs, self._table(follows))

        rows = np.array([row_of[name] for name, _, _ in axes], int)
        self.axes = joints([one[1] for one in axes], [one[2] for one in axes], [one[0] for one in axes], rows)
        rows = np.array([[row_of[name] for name in names] for names, _ in balls], int).reshape(-1, 3)
        self.balls = joints([one[1] for one in balls], [0] * len(balls), [one[0][0] for one in balls], rows)
        origin_of = {name: one.origin for one in articulations for name in one.link_names}
        placed_of = {name: poses for one, poses in zip(articulations, placed) for name in one.link_names}
        frames = [origin_of[name] for name, _ in roots], [placed_of[name] for name, _ in roots]
        self.roots = self._roots(model, worlds, roots, q, qd, *frames)
        names = [name for one in articulations for name in one.link_names]
        body_of, free_of = dict(binding.links), dict(roots)
        self.bodies = self._table(worlds.bodies[:, [body_of[name] for name in names]].T)
        free = [qd[:, free_of[name]] if name in free_of else np.full(worlds.count, -1) for name in names]
        self.free = self._table(np.array(free))

    def _roots(self, model, worlds: Worlds, roots, q, qd, origins, placed: list[list[Pose]]) -> Roots:
        places, shape = [joint for _, joint in roots], (len(roots), worlds.count)
        frames = (array.numpy()[worlds.joints[:, places]] for array in (model.joint_X_p, model.joint_X_c))
        X_p, X_c = (np.moveaxis(own, 0, 1).reshape(len(places) * worlds.count, 7) for own in frames)
        if any(X != Pose() for poses in placed for X in poses):
            inwards = [X.inverse() for poses in placed for X in poses]
            X_p = np.array([_numbers(X @ pose_of(Y)) for X, Y in zip(inwards, X_p)]).reshape(X_p.shape)
        inverses = np.array([wp.transform_inverse(wp.transform(*map(float, x))) for x in X_c]).reshape(X_c.shape)
        return Roots(
            len(places),
            self._table(q[:, places].T),
            self._table(qd[:, places].T),
            wp.array(X_p, dtype=wp.transform, device=self._device).reshape(shape),
            wp.array(inverses, dtype=wp.transform, device=self._device).reshape(shape),
            wp.array(np.array(origins, float).reshape(-1, 3), dtype=wp.vec3, device=self._device),
        )

    def _table(self, values) -> wp.array:
        return wp.array(np.ascontiguousarray(values, dtype=np.int32), dtype=int, device=self._device)


class Coordinates:
    """Moves states and controls between a model of Newton and a simulation.

    Args:
        model: Of Newton.
        worlds: Its environments.
        binding: What is what in the first of them.
        articulation_worlds: The world of each articulation in the first of them.
        placed: Where the world of the scene is, by articulation and environment.
        simulation: Of the scene.
        follows_velocity: Whether drives follow velocity targets, by dof and environment.
        targets: Those of Newton, of positions and of velocities, that are the ones of the scene.
    """

    def __init__(
        self,
        model: newton.Model,
        worlds: Worlds,
        binding: Binding,
        articulation_worlds: list[int],
        placed: list[list[Pose]],
        simulation: Simulation,
        follows_velocity: np.ndarray,
        targets: tuple[wp.array, wp.array],
    ):
        self.model, self.simulation = model, simulation
        self._kernels = kernels_for(wp.float32 if simulation.settings.precision == "float32" else wp.float64)
        self._environments, self._on_cpu = worlds.count, model.device.is_cpu
        articulations = list(simulation.articulations)
        scene_row = {name: row for row, name in enumerate(simulation.joint_names)}
        whole = Tables(model, worlds, binding, articulations, placed, follows_velocity, scene_row)
        self._whole = whole
        self._own = [whole]
        if len(articulations) > 1 or simulation.joint_names != articulations[0].joint_names:
            self._own = [
                Tables(model, worlds, binding, [one], [poses], follows_velocity, _rows_of(one, scene_row))
                for one, poses in zip(articulations, placed)
            ]
        self._parts = _parts(articulation_worlds, worlds.count)
        self._mark_owners(model, worlds, binding)
        self.seen_q, self.seen_qd = wp.clone(model.joint_q), wp.clone(model.joint_qd)
        self._seen_targets = tuple(map(wp.clone, targets))
        self._motion: Snapshot = simulation.snapshot(MOTION)
        self._has_all_bodies = len(binding.links) == worlds.bodies.shape[1]
        self._placed = [
            wp.array([_numbers(X @ Pose(one.origin)) for X in poses], dtype=wp.transform, device=model.device)
            for one, poses in zip(articulations, placed)
        ]
        self._launches: dict[tuple, tuple] = {}
        self.write(self.seen_q, self.seen_qd)

    def _mark_owners(self, model, worlds: Worlds, binding: Binding) -> None:
        """Who has to start anew where an entry of the state changes."""
        bound = [joint for _, joint, _ in binding.axes] + [joint for _, joint in (*binding.balls, *binding.roots)]
        part_of = {world: part for part, (world, _) in enumerate(self._parts)}
        joints = worlds.joints[:, sorted(set(bound))]
        parts = np.zeros(joints.shape, int)
        if len(self._parts) > 1:
            parts = np.vectorize(part_of.get)(model.joint_world.numpy()[joints])
        owner = np.full(model.joint_count, -1)
        owner[joints] = parts * worlds.count + np.arange(worlds.count)[:, None]
        sizes = (np.diff(starts.numpy()) for starts in (model.joint_q_start, model.joint_qd_start))
        tables = (np.repeat(owner, size).astype(np.int32) for size in sizes)
        self._owner_q, self._owner_qd = (wp.array(table, dtype=int, device=model.device) for table in tables)
        self._changed = wp.zeros((len(self._parts), worlds.count), dtype=wp.bool, device=model.device)
        self._changed_flat = self._changed.flatten()

    def take_state(self, state: newton.State) -> None:
        """Take in what is not as it was given out; where that is so, steps remember nothing of before."""
        if not self._on_cpu:
            self._changed.zero_()
        self._run("find", (state.joint_q, state.joint_qd), self._find_changes)
        if self._on_cpu and not self._changed.numpy().any():
            return
        self._run("take", (state.joint_q, state.joint_qd), self._take)
        if len(self._parts) == 1:
            self.simulation.apply(self._motion, environments=self._changed[0])
        else:
            for part in np.flatnonzero(self._changed.numpy().any(axis=1)):
                self.simulation.apply(self._motion, articulations=self._parts[part][1])
        if self._on_cpu:
            self._changed.zero_()

    def take_control(self, control: newton.Control, state: newton.State) -> None:
        """Take in targets that are others than before, efforts, and forces on bodies."""
        arrays = control.joint_target_q, control.joint_target_qd, control.joint_f, state.body_f
        self._run("drive", arrays, self._drive)

    def give_state(self, state: newton.State) -> None:
        """Write the state of the simulation to that of Newton, with the poses and velocities of bodies."""
        self.write(state.joint_q, state.joint_qd)
        if self._has_all_bodies:
            self.simulation.report()
            self._run("bodies", (state.body_q, state.body_qd), self._give_bodies)
        else:
            newton.eval_fk(self.model, state.joint_q, state.joint_qd, state)

    def write(self, q: wp.array, qd: wp.array) -> None:
        """Write the coordinates of the simulation, and remember them."""
        self._run("give", (q, qd), self._give)

    def give_start(self, state: newton.State) -> None:
        """Write the start of the scene, which steps then go on from with what a state cannot say."""
        self.simulation.reset()
        self.give_state(state)

    def set_modes(self, follows_velocity: np.ndarray) -> None:
        """Have drives follow velocity targets, or not, by dof and environment."""
        for tables in self._own:
            for own in (tables.axes, tables.balls):
                own.follows_velocity.assign(follows_velocity[own.dofs].astype(np.int32))
        self._seen_targets[1].fill_(math.nan)

    def _run(self, name: str, arrays: tuple[wp.array, ...], make: Callable) -> None:
        """Make the launches of a name for arrays of the caller; they are recorded once."""
        key = (name, *(array.ptr for array in arrays))
        found = self._launches.get(key)
        if found is None:
            if len(self._launches) == REMEMBERED:
                self._launches.pop(next(iter(self._launches)))
            found = self._launches[key] = (arrays, list(make(*arrays)))
        for launch in found[1]:
            launch.launch()

    def _launch(self, kernel, dim, *inputs):
        if np.prod(dim):
            yield wp.launch(kernel, dim=dim, inputs=list(inputs), device=self.model.device, record_cmd=True)

    def _find_changes(self, q, qd):
        find, flat = self._kernels.find_changes, self._changed_flat
        yield from self._launch(find, q.shape[0], q, self.seen_q, self._owner_q, flat)
        yield from self._launch(find, qd.shape[0], qd, self.seen_qd, self._owner_qd, flat)

    def _take(self, q, qd):
        kernels, motion, E, own = self._kernels, self._motion, self._environments, self._whole
        if own.axes.count or own.balls.count:
            rows = motion.joint_position, motion.joint_velocity
            for kernel, part in ((kernels.take_axes, own.axes), (kernels.take_balls, own.balls)):
                yield from self._launch(kernel, (part.count, E), q, qd, part.q, part.qd, part.rows, *rows)
        part = own.roots
        if part.count:
            inputs = part.q, part.qd, part.X_WP, part.X_CL, part.origin, motion.root_pose, motion.root_velocity
            yield from self._launch(kernels.take_roots, (part.count, E), q, qd, *inputs)

    def _drive(self, target_q, target_qd, force, body_force):
        kernels, E = self._kernels, self._environments
        given = target_q, target_qd, force
        for own, views, place in zip(self._own, self.simulation.articulations, self._placed):
            control = views.control
            out = control.drive_position_target, control.drive_velocity_target, control.joint_effort
            part = own.axes
            tables = part.q, part.qd, part.rows, part.follows_velocity, *self._seen_targets
            yield from self._launch(kernels.drive_axes, (part.count, E), *given, *tables, *out)
            part = own.balls
            tables = part.q, part.qd, part.rows, part.follows_velocity, *self._seen_targets
            position = views.state.joint_position
            yield from self._launch(kernels.drive_balls, (part.count, E), *given, *tables, position, *out)
            inputs = body_force, force, own.bodies, own.free, place, control.link_external_force
            yield from self._launch(kernels.push_links, own.bodies.shape, *inputs)

    def _give(self, q, qd):
        kernels, E, out = self._kernels, self._environments, (q, qd, self.seen_q, self.seen_qd)
        for own, views in zip(self._own, self.simulation.articulations):
            rows = views.state.joint_position, views.state.joint_velocity
            for kernel, part in ((kernels.give_axes, own.axes), (kernels.give_balls, own.balls)):
                yield from self._launch(kernel, (part.count, E), *rows, part.q, part.qd, part.rows, *out)
            part = own.roots
            inputs = part.q, part.qd, part.X_WP, part.X_CL, part.origin
            roots = views.state.root_pose, views.state.root_velocity
            yield from self._launch(kernels.give_roots, (part.count, E), *roots, *inputs, *out)

    def _give_bodies(self, body_q, body_qd):
        for own, views, place in zip(self._own, self.simulation.articulations, self._placed):
            inputs = views.state.link_pose, views.state.link_velocity, own.bodies, place, body_q, body_qd
            yield from self._launch(self._kernels.give_bodies, own.bodies.shape, *inputs)


class Places:
    """The worlds of the entries of a state.

    Args:
        model: Of Newton.
    """

    def __init__(self, model: newton.Model):
        worlds = np.where(model.joint_world.numpy() < 0, model.world_count, model.joint_world.numpy())
        sizes = (np.diff(starts.numpy()) for starts in (model.joint_q_start, model.joint_qd_start))
        self._q, self._qd = (wp.array(np.repeat(worlds, size), dtype=int, device=model.device) for size in sizes)
        self._kernels = kernels_for(wp.float32)

    def forget(self, chosen: wp.array, seen_q: wp.array, seen_qd: wp.array) -> None:
        """Have the entries of chosen worlds taken in anew."""
        for world, seen in ((self._q, seen_q), (self._qd, seen_qd)):
            wp.launch(self._kernels.forget, dim=seen.shape, inputs=[chosen, world, seen], device=seen.device)

    def put_back_q(self, chosen: wp.array, values: wp.array, start: wp.array) -> None:
        """Give the positions of chosen worlds the values of the start."""
        self._put_back(chosen, self._q, start, values)

    def put_back_qd(self, chosen: wp.array, values: wp.array, start: wp.array) -> None:
        """Give the velocities of chosen worlds the values of the start."""
        self._put_back(chosen, self._qd, start, values)

    def _put_back(self, chosen: wp.array, world: wp.array, start: wp.array, values: wp.array) -> None:
        inputs = [chosen, world, start, values]
        wp.launch(self._kernels.put_back, dim=values.shape, inputs=inputs, device=values.device)


def _numbers(X: Pose) -> tuple[float, ...]:
    return (*X.position, *X.quaternion)


def _rows_of(one: ArticulationViews, scene_row: dict[str, int]) -> dict[str, int]:
    """The row of each dof in the arrays of its articulation; all names of the scene, in their order."""
    own = {name: row for row, name in enumerate(one.joint_names)}
    return {name: own.get(name, -1) for name in scene_row}


def _parts(articulation_worlds: list[int], environments: int) -> list[tuple[int, list[int]]]:
    """The worlds that start anew each for itself, with their articulations, where they are no environments."""
    every = list(range(len(articulation_worlds)))
    if environments > 1 or len(set(articulation_worlds)) == 1:
        return [(0, every)]
    found: dict[int, list[int]] = {}
    for index, world in enumerate(articulation_worlds):
        found.setdefault(world, []).append(index)
    return list(found.items())

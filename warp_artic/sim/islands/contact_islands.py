"""Contacts of mechanisms that are too many to be one: found and solved before each step, for each island.

    links and velocities as they are  ─► boxes ─► pairs that come near ─► points that touch ─► islands
    velocities after a step without contacts, M^-1, J  ─► impulses of the points  ─► forces on links over the step
The step itself is that of the mechanisms, with these forces on their links: joints, limits and drives respond to
them, which the impulses take into account.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from warp_artic.description.scene import Scene
from warp_artic.islands.earlier_points import match_kernel
from warp_artic.islands.find_islands import island_kernel
from warp_artic.islands.narrow_phase import MAX_CANDIDATES
from warp_artic.islands.predicted_motion import MAX_PREDICTIONS, prediction_kernel
from warp_artic.islands.responses import response_kernels
from warp_artic.islands.solve import SUBSTEPS, solve_kernel
from warp_artic.sim.arrays.row_table import RowTables
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.islands.detection import GROWTH, LEAST_ROOM, Detection
from warp_artic.sim.islands.exchange import Exchange
from warp_artic.sim.islands.launches import exclusive_sums
from warp_artic.sim.islands.layout import IslandLayout
from warp_artic.sim.launch.launches import Launches
from warp_artic.solver.settings import SolverSettings

WORKERS = {True: 1, False: 64}
"""Threads that share the islands of an environment, on a CPU and on CUDA."""
REMEMBERED = dict.fromkeys(("in_first", "in_second", "warm", "world", "turn_warm", "turn_world", "rate", "bias"), 3)
"""What points remember from step to step, beside their keys, with the number of components."""
ROWS = "islands/row_warm"
"""What rows of joints remember, by the name of the array that a run goes on from."""


class ContactIslands:
    """Contacts between the mechanisms of a large stage.

    Args:
        scene: What is simulated, as it is laid out, with `island_contacts`.
        members: Of its articulations.
        settings: Of its steps.
        environments: Number of environments.
        device: "cpu" or "cuda:N".
    """

    SIZES = {f"islands/{name}": size for name, size in REMEMBERED.items()}
    """Components of what points remember, by the names of the arrays that a run goes on from."""
    NAMES = ("islands/key", *SIZES, ROWS)
    """Of all of these arrays."""

    def __init__(
        self, scene: Scene, members: Sequence[Member], settings: SolverSettings, environments: int, device: str
    ):
        self._precision, self._h = settings.precision, settings.dt
        self._sleep_steps = float(settings.sleep_steps)
        self.layout = IslandLayout(scene, members, settings.precision, environments, device)
        self._exchange = Exchange(self.layout, settings)
        self._detection = Detection(self.layout, settings.precision)
        self.groups = tuple(part.group for part in self.layout.parts)
        """Groups whose links take part."""
        self._room = 0
        self._known = self._make_remembered(LEAST_ROOM)
        self._make_room(LEAST_ROOM)

    def before_step(self, step: int, launches: Launches, tables: RowTables) -> None:
        """Find and solve contacts of a step, counted from zero, and add what they do to the external forces on links.

        Poses and velocities of links are up to date.
        """
        if self._sleep_steps:
            launches.watch(self.groups, False)
        exchange = self._exchange
        exchange.keep_given()
        exchange.take_links()
        exchange.place_kinematic(step)
        exchange.take_motion(launches, tables)
        exchange.begin()
        self._find_points()
        self._solve()
        self._predict_and_resolve()
        exchange.add_contact_work(launches)
        exchange.give_forces()
        exchange.hand_displacements()
        if self._sleep_steps:
            launches.watch(self.groups, True)

    def after_step(self, launches: Launches) -> None:
        """Restore the external forces as they were given, and add the displacements of contacts."""
        self._exchange.give_back()
        self._exchange.keep_spins()
        self._exchange.keep_accelerations()
        self._exchange.give_displacements(launches)
        self._exchange.limit_energies(launches)
        if self._sleep_steps:
            launches.watch(self.groups, True)

    @property
    def colliders(self) -> list[str]:
        """Paths of the colliders."""
        return [one.path for one in self.layout.tables.colliders]

    def impulses(self) -> dict[str, np.ndarray]:
        """Environment, colliders and impulse in world axes of each point of the last step [N s]."""
        names = ("environment", "first", "second", "world")
        return {name: getattr(self.points, name).numpy()[: self.count] for name in names}

    def find_now(self, steps_done: int) -> dict[str, np.ndarray]:
        """The points that touch after so many steps, with impulses of the last one, by the fields of `Points`.

        Poses and velocities of links are up to date.
        """
        self._exchange.take_links()
        self._exchange.place_kinematic(steps_done)
        self._exchange.begin()
        count = self._detection.find(0.0, 0.0, self.points)
        self._make_room(count)
        self._detection.write(self._spare, 0.0, self.points)
        names = ("key", "environment", "first", "second", "position", "n", "gap")
        found = {name: getattr(self._spare, name).numpy()[:count].copy() for name in names}
        self._spare.count = count
        impulse = np.zeros((count, 3))
        if count:
            self._launch(match_kernel(self._precision), (count,), [self.layout.colliders, self._spare, self.points])
            earlier = self._spare.earlier.numpy()[:count]
            impulse[earlier >= 0] = self.points.world.numpy()[earlier[earlier >= 0]]
        return {**found, "world": impulse}

    def take(self, environments: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """What a run goes on from, of some environments or of all of them, which come first; keys are -1 at the end."""
        layout = self.layout
        chosen = np.arange(layout.environments) if environments is None else environments
        keys, environment = self._keys()
        places = [np.flatnonzero(environment == one) for one in chosen]
        most = max(map(len, places), default=0)
        found = {"islands/key": np.full((len(chosen), most), -1, np.int64)}
        found |= {
            f"islands/{name}": np.zeros((len(chosen), most, size), self._dtype) for name, size in REMEMBERED.items()
        }
        values = self._remembered()
        for row, own in enumerate(places):
            found["islands/key"][row, : len(own)] = keys[own]
            for name in REMEMBERED:
                found[f"islands/{name}"][row, : len(own)] = values[name][own]
        rows = self._row_impulses()
        found[ROWS] = np.zeros((len(chosen), rows.shape[1]), rows.dtype)
        inside = (chosen >= 0) & (chosen < len(rows))
        found[ROWS][inside] = rows[chosen[inside]]
        return found

    def put(self, values: dict[str, np.ndarray], environments: np.ndarray | None = None) -> None:
        """Write what was taken to some environments; those out of range are left out.

        Rows of joints begin anew where nothing, or that of others, was taken.
        """
        count = self.layout.environments
        chosen = np.arange(count) if environments is None else np.asarray(environments)
        table = {name: np.broadcast_to(array, (len(chosen), *array.shape[1:])) for name, array in values.items()}
        self._put_rows(table.get(ROWS), chosen)
        keys, environment = self._keys()
        kept = ~np.isin(environment, chosen)
        old = {name: values[: self.count][kept] for name, values in self._remembered().items()}
        new = table["islands/key"] >= 0
        new &= ((chosen >= 0) & (chosen < count))[:, None]
        all_keys = np.concatenate(
            [self._whole(keys, environment)[kept], self._whole(table["islands/key"], chosen[:, None])[new]]
        )
        order = np.argsort(all_keys, kind="stable")
        self.points.count = 0
        self._make_room(len(order))
        self.points.count = len(order)
        self._write("key", all_keys[order])
        for name in REMEMBERED:
            self._write(name, np.concatenate([old[name], table[f"islands/{name}"][new]])[order])

    def forget(self, environments: np.ndarray) -> None:
        """Go on as if there had been no contact before."""
        empty = {"islands/key": np.zeros((1, 0), np.int64)}
        self.put(empty | {f"islands/{name}": np.zeros((1, 0, size)) for name, size in REMEMBERED.items()}, environments)

    def refused(self, values: dict[str, np.ndarray]) -> str:
        """What is wrong with arrays to `put`, each in its range; empty: nothing."""
        for row, own in enumerate(values["islands/key"]):
            known = own[own >= 0]
            if (np.diff(known) <= 0).any() or (own[: len(known)] < 0).any():
                return f"the keys of environment {row} do not grow; each point has one of its own, and -1 comes last"
        return ""

    @property
    def _dtype(self):
        return wp.dtype_to_numpy(self.layout.types.T)

    @property
    def keys_each(self) -> int:
        """How many keys an environment has."""
        return MAX_CANDIDATES * self.layout.colliders.count**2

    def _keys(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys of points within their environments, and these."""
        keys = self.points.key.numpy()[: self.count]
        return keys % self.keys_each, keys // self.keys_each

    def _row_impulses(self) -> np.ndarray:
        """Impulses that rows of joints begin with, shape (environments, rows)."""
        shape = self.layout.environments, self.layout.mechanisms.row_count
        return self.layout.mechanisms.row_warm.numpy()[: shape[0] * shape[1]].reshape(shape)

    def _put_rows(self, taken: np.ndarray | None, chosen: np.ndarray) -> None:
        rows = self._row_impulses().copy()
        inside = (chosen >= 0) & (chosen < len(rows))
        is_own = taken is not None and taken.shape[1] == rows.shape[1]
        rows[chosen[inside]] = taken[inside] if is_own else 0.0
        if rows.size:
            self.layout.mechanisms.row_warm.assign(rows.ravel())

    @property
    def row_count(self) -> int:
        """How many rows of joints an environment has."""
        return self.layout.mechanisms.row_count

    def _whole(self, keys: np.ndarray, environments: np.ndarray) -> np.ndarray:
        return keys + environments * self.keys_each

    def _remembered(self) -> dict[str, np.ndarray]:
        """What points remember, shape (points, components)."""
        return {name: getattr(self.points, name).numpy().reshape(-1, size) for name, size in REMEMBERED.items()}

    def _write(self, name: str, values: np.ndarray) -> None:
        if len(values):
            array = getattr(self.points, name)
            found = values if values.ndim == 1 or values.shape[1] > 1 else values[:, 0]
            wp.copy(array, wp.array(found, dtype=array.dtype, device=self.layout.device), count=len(found))

    @property
    def count(self) -> int:
        """Points of the last step."""
        return self.points.count

    def _find_points(self) -> None:
        """Find what may touch in the step; the points of the step before are the spare ones then."""
        ahead = self._exchange.ahead
        count = self._detection.find(self._h, ahead, self.points)
        self._make_room(count)
        self.points, self._spare = self._spare, self.points
        self._detection.write(self.points, ahead, self._spare)
        self.points.count = count

    def _predict_and_resolve(self) -> None:
        """Find points and impulses again while the predicted motion may lead to new contacts."""
        bodies = self.layout.bodies
        for prediction in range(MAX_PREDICTIONS):
            if not self.count:
                return
            inputs = [bodies, self.layout.mechanisms, self._h, prediction]
            self._launch(prediction_kernel(self._precision), (self.layout.environments, bodies.count), inputs)
            if bodies.prediction_count.numpy().max() <= prediction:
                return
            self._keep_known()
            self.points, self._spare = self._spare, self.points
            self._find_points()
            if self.count == self._known.count:
                return
            self._exchange.begin_again()
            self._solve(prediction + 1)

    def _keep_known(self) -> None:
        """Keep what is known of points by now."""
        if self._known.key.size < self.count:
            self._known = self._make_remembered(self._room)
        for name in ("key", *REMEMBERED):
            wp.copy(getattr(self._known, name), getattr(self.points, name), count=self.count)
        self._known.count = self.count

    def _solve(self, prediction: int = 0) -> None:
        """Find islands, and the impulses of their points; after a prediction only of islands with new points."""
        layout, count, old = self.layout, self.count, self._spare
        given = [layout.colliders, layout.bodies, layout.mechanisms, self.points]
        if count:
            kernels = response_kernels(self._precision)
            self._launch(match_kernel(self._precision), (count,), [layout.colliders, self.points, old])
            self._launch(kernels.count_terms, (count + 1,), [*given, self._terms])
            exclusive_sums(self._terms, self.points.term, count + 1)
            self._launch(kernels.respond, (count,), [*given, old, self._h])
        inputs = [*given, self._sleep_steps, layout.islands]
        self._launch(island_kernel(self._precision), (layout.environments,), inputs)
        workers = WORKERS[wp.get_device(layout.device).is_cpu]
        inputs = [*given, layout.islands, old, self._known, prediction, self._h, SUBSTEPS, workers]
        self._launch(solve_kernel(self._precision), (layout.environments, workers), inputs)

    def _make_room(self, count: int) -> None:
        """Make room for points, where there is less; what those of the last step remember stays."""
        if count <= self._room:
            return
        layout, room = self.layout, int(GROWTH * count)
        layout.launch.forget()
        old, kept = (self.points, self.count) if self._room else (None, 0)
        self._room = room
        self.points, self._spare = self._make_points(room), self._make_points(room)
        self.points.count = kept
        for name in ("key", *REMEMBERED) if kept else ():
            wp.copy(getattr(self.points, name), getattr(old, name), count=kept)
        layout.islands.points = layout.zeros(room, int)
        self._terms = layout.zeros(room + 1, int)

    def _make_remembered(self, room: int):
        """Room for what points remember."""
        layout, types = self.layout, self.layout.types
        points = types.Points()
        points.key = layout.zeros(room, wp.int64)
        for name, size in REMEMBERED.items():
            setattr(points, name, layout.zeros(room, types.V if size == 3 else types.T))
        return points

    def _make_points(self, room: int):
        layout, types = self.layout, self.layout.types
        points = types.Points()
        points.key, points.position = layout.zeros(room, wp.int64), layout.zeros(room, wp.vec3d)
        for name in (
            "environment",
            "first",
            "second",
            "first_mechanism",
            "second_mechanism",
            "surfaces",
            "earlier",
            "is_free",
            "first_dof",
            "first_dofs",
            "second_dof",
            "second_dofs",
        ):
            setattr(points, name, layout.zeros(room, int))
        of_places = ("in_first", "in_second", "n")
        lasting, turning = ("rate", "bias"), ("turn", "turn_warm", "turn_world", "turn_carried", "turn_across")
        of_impulses = ("z", "warm", "world", "carried", "carried_rate", "normal", "across", "across_inverse")
        of_sweeps = ("swept", "path")
        for name in (*of_places, *of_impulses, *of_sweeps, *lasting, *turning):
            setattr(points, name, layout.zeros(room, types.V))
        reals = (
            "gap",
            "lead",
            "across_most",
            "friction",
            "hit",
            "bounce",
            "turn_normal",
            "reach",
            "gap_change",
            "projection",
            "initial",
        )
        for name in reals:
            setattr(points, name, layout.zeros(room, types.T))
        points.term = layout.zeros(room + 1, int)
        points.J = layout.zeros(2 * layout.most_dofs * room, types.V)
        points.Y = layout.zeros(2 * layout.most_dofs * room, types.V)
        of_turning = 2 * layout.most_dofs * room * layout.colliders.resist_turning
        points.J_w, points.Y_w = (layout.zeros(of_turning, types.V) for _ in range(2))
        return points

    def _launch(self, kernel: wp.Kernel, dim: tuple[int, ...], inputs: list) -> None:
        self.layout.launch(kernel, dim, inputs)

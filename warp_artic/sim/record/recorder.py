"""Collects the states of a run into a recording."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import version

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.mechanisms.group import JOINT_FORCES, LINK_STEP_OUTPUTS, REPORTED, Group
from warp_artic.mechanisms.public_rows import FOUND, KINDS_OF_ENTRIES, MEASURES, MULTIPLIERS, ROW_COUNTS, kind_of
from warp_artic.model.frames import ORIGIN_GRID
from warp_artic.sim.launch.device import room_for
from warp_artic.sim.record.island_contacts import IslandContactRecords
from warp_artic.sim.record.joint_records import JOINT_STATES, JointRecords
from warp_artic.sim.record.large_pages import records_of_zeros
from warp_artic.sim.record.recording import Recording
from warp_artic.sim.run.incoming_forces import IncomingForces
from warp_artic.sim.run.layout import rows_of_mechanism
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import advance, prepare_forces, report, step

SCALARS = ("joint_position", "joint_velocity", "loop_broken", *MEASURES)
"""Arrays that are read at each record, with a row, or several, for each dof, tendon and so on."""
STEP_SCALARS = (*JOINT_FORCES, *MULTIPLIERS, "joint_acceleration")
"""Such arrays of a recording with forces, of the last step before a record."""
LINKS = ("link_pose", "link_velocity", "energy")
"""Arrays that are read at each record, with several rows for each link or articulation."""
MESH_TENDONS = ("mesh_tendon_length", "mesh_tendon_tension")
"""Arrays that are read at each record, with a row for each tendon on an elastic body."""
STATES = (*SCALARS, *LINKS, "mesh_points", *MESH_TENDONS)
"""All arrays of a recording without forces; what is found of contacts only where it is asked for."""
OF_CONTACTS = tuple(FOUND)
"""Arrays that are read at each record where they are asked for, and in recordings with forces."""
ISLANDS = "island_contact_force"
FROM_CONTACTS = ("mesh_contact_force", ISLANDS)
"""Forces of contacts that are known after any step, likewise."""
OF_STEPS = frozenset((*STEP_SCALARS, *LINK_STEP_OUTPUTS))
"""All arrays of the last step before a record."""
ROWS = {"joint": "dof", **{kind: kind for kind in KINDS_OF_ENTRIES}}
"""What scalars have a row for, by how their names begin."""


PLACES = ("link_pose", "contact_position", "mesh_points")
"""Arrays with positions in the world."""


class Recorder:
    """Takes up to `records` states of a simulation; positions are made world positions, and kept in double precision
    where they are far from the world origin.

    The first one has no forces of a step. `quantities` are the names of those of a `Recording` that are kept; all by
    default, those of forces and what is found of contacts only with `forces`.
    """

    def __init__(
        self,
        run: Run,
        records: int,
        forces: IncomingForces | None = None,
        quantities: Collection[str] | None = None,
    ):
        self._run = run
        self._forces = forces
        chosen = _chosen(quantities, bool(forces))
        dtype = wp.dtype_to_numpy(wp.float64 if run.settings.precision == "float64" else wp.float32)
        E, L = run.environments, len(run.names.link)
        self._time = np.zeros(records)
        bodies = run.elastic.bodies
        self._mesh_nodes = tuple(body.path for body in bodies for _ in body.node_mass)
        counts = {"joint": len(run.names.joint), **{kind: len(names) for kind, names in run.names.entries.items()}}
        scalars = [name for name in (*SCALARS, *OF_CONTACTS, *STEP_SCALARS, "tendon_mobility") if name in chosen]
        shapes = {
            "joint_position": (counts["joint"],),
            **{name: (counts[kind_of(name)], size_of(name))[: 1 + (size_of(name) > 1)] for name in scalars},
            **dict.fromkeys(LINK_STEP_OUTPUTS, (L, 6)),
            "link_pose": (L, 7),
            "link_velocity": (L, 6),
            "energy": (2,),
            "mesh_points": (len(self._mesh_nodes), 3),
            "mesh_contact_force": (len(self._mesh_nodes) * any(body.contact_force is not None for body in bodies), 3),
            **dict.fromkeys(MESH_TENDONS, (len(run.names.mesh_tendon),)),
        }
        kinds = dict.fromkeys(PLACES, np.float64) if _is_far(run) else {}
        self._kept = {
            name: records_of_zeros(records, E, shape if name in chosen else (0, *shape[1:]), kinds.get(name, dtype))
            for name, shape in shapes.items()
            if name in chosen or name == "joint_position"
        }
        self._steps_keep = chosen <= set(JOINT_STATES) and not forces
        self._is_reported = not chosen.isdisjoint(REPORTED)
        self._has_contacts = not chosen.isdisjoint(OF_CONTACTS)
        self._is_measured = "tendon_mobility" in chosen
        links = [name for name in (*LINKS, *LINK_STEP_OUTPUTS) if name in chosen]
        read = (*scalars, *links)
        if read not in run.readers:
            run.readers[read] = [_GroupReader(run, group, scalars, links) for group in run.groups]
        self._groups = run.readers[read]
        self._collider_names = tuple(run.islands.colliders) if run.islands else ()
        self._touches = (
            IslandContactRecords(run.islands, run.settings.dt) if run.islands and ISLANDS in chosen else None
        )
        self._count = 0

    def run(self, records: int, every: int, progress: Callable[[int], object] | None) -> bool:
        """Step, and record the state now and after each `every` steps; whether `progress` let it come to the end."""
        run = self._run
        self.take()
        if self._steps_keep and progress is None and not run.follows_time and not run.on.is_capturing:
            self._have_kept(records, every)
            return True
        for _ in range(records):
            advance(run, every, bool(self._forces))
            self.take()
            if progress is not None and progress(every):
                return False
        return True

    def _have_kept(self, records: int, every: int) -> None:
        """Have steps keep the joint states."""
        start, dt = self._run.steps_done, self._run.settings.dt
        joints = JointRecords(self._run, self._kept, [group.rows for group in self._groups])
        self._time[1 : 1 + records] = (start + every * np.arange(1, records + 1)) * dt
        for made in joints.make(records, every, 1):
            self._count = 1 + made

    def take(self) -> None:
        """Record the state now."""
        k, kept = self._count, self._kept
        if self._is_reported:
            report(self._run)
        if self._is_measured:
            self._run.launches.measure_tendons()
        if self._has_contacts:
            self._run.launches.find_contacts()
        self._time[k] = self._run.time
        for group in self._groups:
            for name, rows, values in group.read():
                if k > 0 or name not in OF_STEPS:
                    kept[name][k][:, rows] = values
            if "link_pose" in kept and group.has_origins:
                kept["link_pose"][k][:, group.links, :3] += group.link_origins
            if "contact_position" in kept and group.has_origins:
                kept["contact_position"][k][:, group.contacts] += group.link_origins
            if "energy" in kept:
                kept["energy"][k] += group.energy()
                if group.has_origins:
                    kept["energy"][k][:, 1] -= group.origin_energies()
        self._take_bodies(k)
        if self._touches and k > 0:
            self._touches.take(k)
        self._count += 1

    def _take_bodies(self, k: int) -> None:
        """Record the elastic bodies now."""
        node = tendon = 0
        for body in self._run.elastic.bodies:
            nodes, tendons = len(body.node_mass), len(body.tendon_names)
            if "mesh_points" in self._kept:
                self._kept["mesh_points"][k][:, node : node + nodes] = body.world_points()
            if k > 0 and "mesh_contact_force" in self._kept and body.contact_force is not None:
                self._kept["mesh_contact_force"][k][:, node : node + nodes] = body.world_contact_force()
            if not self._kept.keys().isdisjoint(MESH_TENDONS):
                for name, values in zip(MESH_TENDONS, body.measure_tendons()):
                    if name in self._kept:
                        self._kept[name][k][:, tendon : tendon + tendons] = values.T
            node, tendon = node + nodes, tendon + tendons

    def rewind(self) -> None:
        """Begin again with the state now; what was taken is overwritten, in all recordings of it."""
        self._count = 0
        if not self._steps_keep:
            for values in self._kept.values():
                values[...] = 0.0
        if self._touches:
            self._touches = IslandContactRecords(self._run.islands, self._run.settings.dt)

    def recording(self) -> Recording:
        """Everything taken so far."""
        run, settings, count = self._run, self._run.settings, self._count
        return Recording(
            time=self._time[:count],
            joint_names=run.names.joint,
            link_names=run.names.link,
            **{f"{kind}_names": names for kind, names in run.names.entries.items()},
            mesh_nodes=self._mesh_nodes,
            mesh_tendon_names=run.names.mesh_tendon,
            collider_names=self._collider_names,
            **(self._touches.arrays() if self._touches else {}),
            **{name: values[:count] for name, values in self._kept.items()},
            metadata={
                "dt": settings.dt,
                "solver": settings.solver,
                "position_iterations": settings.position_iterations,
                "velocity_iterations": settings.velocity_iterations,
                "integrator": settings.integrator,
                "precision": settings.precision,
                "variant": run.variant,
                "device": run.device,
                "version": _version(),
                "model_hash": run.model_hash,
                **({"sleep_after": settings.sleep_after} if settings.sleep_steps else {}),
                **({"incoming_forces": asdict(self._forces)} if self._forces else {}),
            },
        )


def record(
    run: Run,
    steps: int,
    every: int,
    progress: Callable[[int], object] | None,
    forces: bool | IncomingForces,
    quantities: Collection[str] | None,
) -> Recording:
    """See `Simulation.record`."""
    for name, value, least in (("steps", steps, 0), ("every", every, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise SettingsError(f"{name}: {value!r} is not an integer of at least {least}")
    steps, every = int(steps), int(every)
    if run.on.is_capturing:
        raise SettingsError("record: reads states, which a capture cannot do; step in it, and record afterwards")
    with room_for(f"records of {steps // every + 1:,} steps"):
        recorder = Recorder(run, steps // every + 1, prepare_forces(run, forces), quantities)
    if recorder.run(steps // every, every, progress):
        step(run, steps % every, False)
    return recorder.recording()


def _is_far(run: Run) -> bool:
    """Whether something is so far from the world origin that positions there, in single precision, jump."""
    bodies = (np.abs(body.body.pose.position).max() for body in run.elastic.bodies)
    return any(group.origins.any() for group in run.groups) or max(bodies, default=0.0) > 0.5 * ORIGIN_GRID


def size_of(name: str) -> int:
    """How many numbers an array has for each entry."""
    return ROW_COUNTS[name][1] if name in ROW_COUNTS else 1


@cache
def _version() -> str:
    """Of this package, which is looked up in files."""
    return version("warp-artic")


def _chosen(quantities: Collection[str] | None, has_forces: bool) -> frozenset[str]:
    """The quantities that are kept."""
    of_steps = (*STEP_SCALARS, *LINK_STEP_OUTPUTS, "tendon_mobility")
    allowed = (*STATES, *OF_CONTACTS, *FROM_CONTACTS, *of_steps)
    if quantities is None:
        return frozenset(allowed if has_forces else STATES)
    names = (quantities,) if isinstance(quantities, str) else quantities
    if not isinstance(names, Collection):
        raise SettingsError(f"quantities: {quantities!r} is no list of names")
    for name in names:
        if name not in allowed:
            raise SettingsError(f"quantities: {name!r} is not one of {', '.join(allowed)}{did_you_mean(name, allowed)}")
        if name in of_steps and not has_forces:
            raise SettingsError(f"quantities: {name} needs steps with forces; record with forces=True")
    return frozenset(names)


class _GroupReader:
    """Reads the arrays of a group as (environments, mechanisms, rows), or (environments, rows) of the only one."""

    def __init__(self, run: Run, group: Group, scalars: Sequence[str], arrays: Sequence[str]):
        members, order = group.members, run.order
        self.rows = {
            name: np.array([rows_of_mechanism(order[ROWS[kind_of(name)]], one) for one in members]) for name in scalars
        }
        links = np.array([rows_of_mechanism(order["link"], one) for one in members])
        self.links = _index(links)
        self.contacts = _index(np.array([rows_of_mechanism(order["contact"], one) for one in members]))
        self.link_origins = group.origins[:, None] if len(members) > 1 else group.origins
        self.has_origins = bool(group.origins.any())
        self._group = group
        self._shape = (len(members), group.environments)
        self._link_shape = (group.tree.link_count, links.shape[1])  # massless links too, which come last
        self._indices = {name: _index(rows) for name, rows in self.rows.items() if rows.size}
        self._indices |= {name: self.links for name in arrays if name != "energy" and links.size}
        fields = [*self._indices, *(name for name in arrays if name == "energy")]
        self._arrays = {
            name: (group.state if name in group.state else group.outputs)[name].view(0, group.columns.count)
            for name in fields
        }
        # On a CPU the arrays are the memory that steps write: one view serves all records.
        self._views = self._copy() if wp.get_device(run.device).is_cpu else None

    def read(self) -> list[tuple[str, slice | np.ndarray, np.ndarray]]:
        """The arrays now, each with the rows of the scene that it has."""
        return self._copy() if self._views is None else self._views

    def energy(self) -> np.ndarray:
        """Of all articulations together now, shape (environments, 2)."""
        of_each = self._arrays["energy"].numpy().reshape(-1, 2, *self._shape).swapaxes(1, 2)
        return _sum(of_each.reshape(-1, 2, self._shape[1])).T

    def origin_energies(self) -> np.ndarray:
        """What the potential energy of the origins takes off that of the world, shape (environments)."""
        fields = (self._group.field(name) for name in ("link_mass", "link_gravity_scale", "gravity"))
        mass, scale, gravity = (
            field.scalars.numpy()[:, : 1 if field.is_shared else field.columns.count].astype(float) for field in fields
        )
        weights = _sum(mass * scale) * gravity
        weights = np.broadcast_to(weights, (3, self._group.columns.count)).reshape(3, *self._shape)
        return _sum((weights * self._group.origins.T[:, :, None]).reshape(-1, self._shape[1]))

    def _copy(self) -> list[tuple[str, slice | np.ndarray, np.ndarray]]:
        return [(name, rows, self._of_members(name)) for name, rows in self._indices.items()]

    def _of_members(self, name: str) -> np.ndarray:
        values = self._arrays[name].numpy()
        values = values.reshape(values.shape[0], *self._shape).transpose(2, 1, 0)
        if name not in self.rows:
            links, bodies = self._link_shape
            values = values.reshape(*values.shape[:2], links, values.shape[2] // links)[:, :, :bodies]
        else:
            entries, size = self.rows[name].shape[1], size_of(name)
            values = values[:, :, : entries * size]
            values = values if size == 1 else values.reshape(*values.shape[:2], entries, size)
        return values[:, 0] if self._shape[0] == 1 else values


def _index(rows: np.ndarray) -> slice | np.ndarray:
    """Rows of the scene, of several articulations or of one, which are a slice where they follow each other."""
    if len(rows) > 1:
        return rows
    (own,) = rows
    start = int(own[0]) if own.size else 0
    return slice(start, start + own.size) if np.array_equal(own, start + np.arange(own.size)) else own


def _sum(values: np.ndarray) -> np.ndarray:
    """The sum over the first axis, one after the other in double precision, however many columns there are."""
    return np.add.accumulate(values, axis=0, dtype=float)[-1]

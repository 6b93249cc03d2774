"""Collects the states of a run into a recording."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version

import numpy as np
import warp as wp

from warp_artic.model.group import JOINT_FORCES, LINK_STEP_OUTPUTS
from warp_artic.sim.incoming_forces import IncomingForces
from warp_artic.sim.recording import Recording

SCALARS = (
    "joint_position",
    "joint_velocity",
    "tendon_length",
    "tendon_speed",
    "tendon_force",
    "tendon_limit_state",
    "mimic_error",
)
"""Arrays that are read at each record, with a row for each dof, tendon or mimic joint."""
STEP_SCALARS = (*JOINT_FORCES, "mimic_force", "joint_acceleration")
"""Such arrays of a recording with forces, of the last step before a record."""
LINKS = ("link_pose", "link_velocity", "energy")
"""Arrays that are read at each record, with several rows for each link or articulation."""
MESH_TENDONS = ("mesh_tendon_length", "mesh_tendon_tension")
"""Arrays that are read at each record, with a row for each tendon on an elastic body."""
ROWS = {"joint": "dof", "tendon": "tendon", "mimic": "mimic"}
"""What scalars have a row for, by how their names begin."""


class Recorder:
    """Takes up to `records` states of a simulation; positions are made world positions in double precision.

    The first one has no forces of a step.
    """

    def __init__(self, simulation, records: int, forces: IncomingForces | None = None):
        self._simulation = simulation
        self._forces = forces
        dtype = wp.dtype_to_numpy(wp.float64 if simulation.settings.precision == "float64" else wp.float32)
        E, L = simulation.environments, len(simulation.link_names)
        self._time = np.zeros(records)
        self._link_pose = np.zeros((records, E, L, 7), dtype)
        self._link_velocity = np.zeros((records, E, L, 6), dtype)
        self._energy = np.zeros((records, E, 2), dtype)
        self._link_forces = {name: np.zeros((records, E, L, 6), dtype) for name in LINK_STEP_OUTPUTS if forces}
        counts = {kind: len(getattr(simulation, f"{kind}_names")) for kind in ROWS}
        names = (*SCALARS, *STEP_SCALARS, "tendon_mobility") if forces else SCALARS
        self._scalars = {name: np.zeros((records, E, counts[_kind(name)]), dtype) for name in names}
        links = (*LINKS, *self._link_forces)
        self._groups = [_GroupReader(simulation, group, names, links) for group in simulation._groups]
        bodies = simulation.elastic_bodies
        self._mesh_nodes = tuple(body.path for body in bodies for _ in body.node_mass)
        self._mesh_points = np.zeros((records, E, len(self._mesh_nodes), 3), dtype)
        of_tendons = (records, E, len(simulation.mesh_tendon_names))
        self._mesh_tendons = {name: np.zeros(of_tendons, dtype) for name in MESH_TENDONS}
        self._count = 0

    def take(self) -> None:
        """Record the state now."""
        k = self._count
        self._simulation.report()
        if self._forces:
            self._simulation._launches.measure_tendons()
        self._time[k] = self._simulation.time
        for group in self._groups:
            values = group.read()
            links, places, count = group.links, len(group.links), group.links.shape[1]
            pose = values["link_pose"].reshape(-1, places, group.link_count, 7)[:, :, :count]
            self._link_pose[k][:, links, :3] = pose[..., :3] + group.origins[:, None]
            self._link_pose[k][:, links, 3:] = pose[..., 3:]
            velocity = values["link_velocity"].reshape(-1, places, group.link_count, 6)
            self._link_velocity[k][:, links] = velocity[:, :, :count]
            for name, records in self._link_forces.items() if k > 0 else ():
                records[k][:, links] = values[name].reshape(-1, places, group.link_count, 6)[:, :, :count]
            for name, rows in group.rows.items():
                if rows.size and (k > 0 or name not in STEP_SCALARS):
                    self._scalars[name][k][:, rows] = values[name]
            self._energy[k] += values["energy"].sum(axis=1)
            if group.origins.any():
                self._energy[k][:, 1] -= group.origin_energies()
        self._take_bodies(k)
        self._count += 1

    def _take_bodies(self, k: int) -> None:
        """Record the elastic bodies now."""
        node = tendon = 0
        for body in self._simulation.elastic_bodies:
            points, measures = body.world_points(), body.measure_tendons()
            self._mesh_points[k][:, node : node + points.shape[1]] = points
            for name, values in zip(MESH_TENDONS, measures):
                self._mesh_tendons[name][k][:, tendon : tendon + len(values)] = values.T
            node, tendon = node + points.shape[1], tendon + len(body.tendon_names)

    def recording(self) -> Recording:
        """Everything taken so far."""
        simulation, settings, count = self._simulation, self._simulation.settings, self._count
        return Recording(
            time=self._time[:count],
            joint_names=simulation.joint_names,
            link_names=simulation.link_names,
            link_pose=self._link_pose[:count],
            link_velocity=self._link_velocity[:count],
            tendon_names=simulation.tendon_names,
            mimic_names=simulation.mimic_names,
            **{name: values[:count] for name, values in (self._scalars | self._link_forces).items()},
            energy=self._energy[:count],
            mesh_nodes=self._mesh_nodes,
            mesh_points=self._mesh_points[:count],
            mesh_tendon_names=simulation.mesh_tendon_names,
            **{name: values[:count] for name, values in self._mesh_tendons.items()},
            metadata={
                "dt": settings.dt,
                "solver": settings.solver,
                "position_iterations": settings.position_iterations,
                "velocity_iterations": settings.velocity_iterations,
                "integrator": settings.integrator,
                "precision": settings.precision,
                "variant": simulation.variant,
                "device": simulation.device,
                "version": version("warp-artic"),
                "model_hash": simulation.model_hash,
                **({"sleep_after": settings.sleep_after} if settings.sleep_steps else {}),
                **({"incoming_forces": asdict(self._forces)} if self._forces else {}),
            },
        )


def _kind(name: str) -> str:
    """What an array has a row for: how its name begins."""
    return name.split("_")[0]


class _GroupReader:
    """Reads the arrays of a group as (environments, articulations, rows)."""

    def __init__(self, simulation, group, scalars: tuple[str, ...], arrays: tuple[str, ...]):
        members = [simulation._members[index] for index in group.members]
        self.links = np.array([simulation._order["link"][member.index] for member in members])
        self.rows = {
            name: np.array([simulation._order[ROWS[_kind(name)]][member.index] for member in members])
            for name in scalars
        }
        self.link_count = group.tree.link_count  # carriages too, which come last
        self.origins = group.origins
        self._group = group
        self._shape = (len(members), group.environments)
        self._arrays = {
            name: (group.state if name in group.state else group.outputs)[name].view(0, group.columns.count)
            for name in (*scalars, *arrays)
        }
        # On a CPU the arrays are the memory that steps write: one view serves all records.
        self._views = self._copy() if wp.get_device(simulation.device).is_cpu else None

    def read(self) -> dict[str, np.ndarray]:
        """The arrays now."""
        return self._copy() if self._views is None else self._views

    def origin_energies(self) -> np.ndarray:
        """What the potential energy of the origins takes off that of the world, shape (environments)."""
        mass, gravity = (self._group.field(name) for name in ("link_mass", "gravity"))
        mass, gravity = (
            field.scalars.numpy()[:, : 1 if field.is_shared else field.columns.count].astype(float)
            for field in (mass, gravity)
        )
        weights = np.broadcast_to(mass.sum(axis=0) * gravity, (3, self._group.columns.count)).reshape(3, *self._shape)
        return np.einsum("xme,mx->e", weights, self.origins)

    def _copy(self) -> dict[str, np.ndarray]:
        return {
            name: array.numpy().reshape(array.shape[0], *self._shape).transpose(2, 1, 0)
            for name, array in self._arrays.items()
        }

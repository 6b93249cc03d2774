"""Collects the states of a run into a recording."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import warp as wp

from warp_artic.sim.recording import Recording

COUPLINGS = ("tendon_length", "tendon_force", "mimic_error")
"""Arrays with a row for each tendon or mimic joint."""
RECORDED = ("joint_position", "joint_velocity", "link_pose", "link_velocity", "energy", *COUPLINGS)
"""Arrays that are read at each record."""


class Recorder:
    """Takes up to `records` states of a simulation; positions are made world positions in double precision."""

    def __init__(self, simulation, records: int):
        self._simulation = simulation
        dtype = wp.dtype_to_numpy(wp.float64 if simulation.settings.precision == "float64" else wp.float32)
        E, D, L = simulation.environments, len(simulation.joint_names), len(simulation.link_names)
        self._time = np.zeros(records)
        self._joint_position = np.zeros((records, E, D), dtype)
        self._joint_velocity = np.zeros((records, E, D), dtype)
        self._link_pose = np.zeros((records, E, L, 7), dtype)
        self._link_velocity = np.zeros((records, E, L, 6), dtype)
        self._energy = np.zeros((records, E, 2), dtype)
        tendons, mimics = len(simulation.tendon_names), len(simulation.mimic_names)
        self._couplings = {
            name: np.zeros((records, E, count), dtype) for name, count in zip(COUPLINGS, (tendons, tendons, mimics))
        }
        self._groups = [_GroupReader(simulation, group) for group in simulation._groups]
        self._count = 0

    def take(self) -> None:
        """Record the state now."""
        k = self._count
        self._simulation.report()
        self._time[k] = self._simulation.time
        for group in self._groups:
            values = group.read()
            if group.dofs.size:
                self._joint_position[k][:, group.dofs] = values["joint_position"]
                self._joint_velocity[k][:, group.dofs] = values["joint_velocity"]
            links, places, count = group.links, len(group.links), group.links.shape[1]
            pose = values["link_pose"].reshape(-1, places, count, 7)
            self._link_pose[k][:, links, :3] = pose[..., :3] + group.origins[:, None]
            self._link_pose[k][:, links, 3:] = pose[..., 3:]
            self._link_velocity[k][:, links] = values["link_velocity"].reshape(-1, places, count, 6)
            for name, rows in group.couplings.items():
                if rows.size:
                    self._couplings[name][k][:, rows] = values[name]
            self._energy[k] += values["energy"].sum(axis=1)
            self._energy[k][:, 1] -= group.origin_energy
        self._count += 1

    def recording(self) -> Recording:
        """Everything taken so far."""
        simulation, settings, count = self._simulation, self._simulation.settings, self._count
        return Recording(
            time=self._time[:count],
            joint_names=simulation.joint_names,
            link_names=simulation.link_names,
            joint_position=self._joint_position[:count],
            joint_velocity=self._joint_velocity[:count],
            link_pose=self._link_pose[:count],
            link_velocity=self._link_velocity[:count],
            tendon_names=simulation.tendon_names,
            mimic_names=simulation.mimic_names,
            **{name: values[:count] for name, values in self._couplings.items()},
            energy=self._energy[:count],
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
            },
        )


class _GroupReader:
    """Reads the arrays of a group as (environments, articulations, rows)."""

    def __init__(self, simulation, group):
        members = [simulation._members[index] for index in group.members]
        trees = [simulation.scene.articulations[index] for index in group.members]
        self.dofs = np.array([simulation._order["dof"][member.index] for member in members])
        self.links = np.array([simulation._order["link"][member.index] for member in members])
        self.couplings = {
            name: np.array([simulation._order[name.split("_")[0]][member.index] for member in members])
            for name in COUPLINGS
        }
        self.origins = group.origins
        masses = [sum(link.mass for link in tree.links) for tree in trees]
        self.origin_energy = float(np.dot(masses, group.origins @ np.asarray(simulation.scene.gravity)))
        self._shape = (len(members), group.environments)
        self._arrays = {
            name: (group.state if name in group.state else group.outputs)[name].view(0, group.columns.count)
            for name in RECORDED
        }
        # On a CPU the arrays are the memory that steps write: one view serves all records.
        self._views = self._copy() if wp.get_device(simulation.device).is_cpu else None

    def read(self) -> dict[str, np.ndarray]:
        """The arrays now."""
        return self._copy() if self._views is None else self._views

    def _copy(self) -> dict[str, np.ndarray]:
        return {
            name: array.numpy().reshape(array.shape[0], *self._shape).transpose(2, 1, 0)
            for name, array in self._arrays.items()
        }

"""Collects the states of a run into a recording."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import warp as wp

from warp_artic.sim.recording import Recording

RECORDED = ("joint_position", "joint_velocity", "link_pose", "link_velocity", "energy")
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
        self._mass = [sum(link.mass for link in tree.links) for tree in simulation.scene.articulations]
        self._arrays = [{name: member.array(name) for name in RECORDED} for member in simulation._members]
        # On a CPU the arrays are the memory that steps write: one view serves all records.
        self._views = [self._copies(arrays) for arrays in self._arrays] if _is_on_cpu(simulation) else None
        self._count = 0

    def take(self) -> None:
        """Record the state now."""
        simulation, k = self._simulation, self._count
        simulation.report()
        self._time[k] = simulation.time
        for index, (member, dofs, links) in enumerate(
            zip(simulation._members, simulation._order["dof"], simulation._order["link"])
        ):
            view = self._copies(self._arrays[index]) if self._views is None else self._views[index]
            if len(dofs):
                self._joint_position[k][:, dofs] = view["joint_position"].T
                self._joint_velocity[k][:, dofs] = view["joint_velocity"].T
            pose = view["link_pose"].transpose(2, 0, 1)
            origin = member.group.origins[member.place]
            self._link_pose[k][:, links, :3] = pose[..., :3] + origin
            self._link_pose[k][:, links, 3:] = pose[..., 3:]
            self._link_velocity[k][:, links] = view["link_velocity"].transpose(2, 0, 1)
            self._energy[k] += view["energy"][0].T
            self._energy[k][:, 1] -= self._mass[index] * np.dot(simulation.scene.gravity, origin)
        self._count += 1

    @staticmethod
    def _copies(arrays) -> dict[str, np.ndarray]:
        return {name: array.numpy() for name, array in arrays.items()}

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


def _is_on_cpu(simulation) -> bool:
    return wp.get_device(simulation.device).is_cpu

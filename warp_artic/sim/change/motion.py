"""Positions, velocities and values that a user sets in chosen environments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from warp_artic.errors import SettingsError, did_you_mean
from warp_artic.sim.arrays.row_table import Held, as_numpy
from warp_artic.sim.arrays.views import CONTROL, PARAMETERS, ROW_COUNTS, checked, environment_indices
from warp_artic.sim.change.chosen import on_device
from warp_artic.sim.run.access import open_array, rows_of
from warp_artic.sim.run.state import Run
from warp_artic.sim.run.step import follow_links


def set_state(
    run: Run,
    joint_position=None,
    joint_velocity=None,
    root_pose=None,
    root_velocity=None,
    environments=None,
    loop_broken=None,
) -> None:
    """See `Simulation.set_state`."""
    chosen = on_device(environment_indices(environments, run.environments), run.device)
    run.idle.end(run.steps_done)
    for name, values in (("joint_position", joint_position), ("joint_velocity", joint_velocity)):
        if values is not None:
            table = checked(name, values, (chosen.shape[0], len(run.names.joint)))
            write_rows(run, name, table.T, chosen)
    if loop_broken is not None:
        table = checked("loop_broken", loop_broken, (chosen.shape[0], len(run.names.entries["loop"])))
        write_rows(run, "loop_broken", (table > 0.0).T, chosen)
    if root_pose is not None:
        _write_root(run, "root_pose", 7, root_pose, chosen)
    if root_velocity is not None:
        _write_root(run, "root_velocity", 6, root_velocity, chosen)
    forget_history(run, range(len(run.members)), chosen)
    run.set_anew()
    follow_links(run)


def set_values(run: Run, name: str, values, environments) -> None:
    """See `Simulation.set_values`."""
    if name not in (*CONTROL, *PARAMETERS):
        allowed = (*CONTROL, *PARAMETERS)
        raise SettingsError(f"{name!r} is not one of {', '.join(allowed)}{did_you_mean(name, allowed)}")
    chosen = environment_indices(environments, run.environments)
    kind, size = ROW_COUNTS[name]
    is_of_bodies = name == "gravity" and not run.groups
    rows = len(run.elastic.bodies) if is_of_bodies else sum(len(own) for own in run.order[kind])
    shape = (len(chosen), rows, size)[: 2 + (size > 1)]
    table = checked(name, values, shape, infinite=name in PARAMETERS).reshape(len(chosen), rows, size)
    if is_of_bodies:
        found = run.elastic.gravity.numpy().copy()
        found[:, :, chosen] = table.transpose(1, 2, 0)
        run.elastic.gravity.assign(found)
    run.idle.end(run.steps_done)
    open_array(run, name)
    write_rows(run, name, table.transpose(1, 2, 0), on_device(chosen, run.device))


def write_rows(run: Run, name: str, values: np.ndarray, chosen: Held) -> None:
    """Write values of shape (scene rows, chosen environments), or with components between."""
    if run.groups:
        found = run.tables.find(
            ("write", name), lambda: [(name, name, rows_of(run, name, range(len(run.members))), True)]
        )
        scalar = wp.dtype_to_numpy(run.groups[0].columns.numbers.scalar)
        table = np.ascontiguousarray(values, scalar).reshape(found.count, chosen.shape[0])
        found.put(table if run.on.is_cpu else wp.array(table, device=run.device), chosen)
    run.is_reported = False


def _write_root(run: Run, name: str, size: int, values, chosen: Held) -> None:
    roots = len(run.names.root)
    if roots == 0:
        raise SettingsError(f"{name}: the scene has no floating root")
    if np.ndim(values) == 2 and np.shape(values) == (chosen.shape[0], size) and roots == 1:
        values = np.asarray(values)[:, None]
    table = np.array(checked(name, values, (chosen.shape[0], roots, size)))
    if name == "root_pose":
        floating = [member for member in run.members if member.rows(name)]
        table[..., :3] -= np.array([member.group.origins[member.place] for member in floating])
        length = np.linalg.norm(table[..., 3:], axis=-1, keepdims=True)
        if (length < 1e-6).any():
            raise SettingsError("root_pose: a quaternion has no length")
        table[..., 3:] /= length
    write_rows(run, name, table.transpose(1, 2, 0), chosen)


def forget_history(run: Run, articulations: Sequence[int], chosen: Held) -> None:
    """Make zero what steps of chosen environments remember, but for what they count."""
    if run.groups:
        run.tables.of_state(run.remembered, articulations).fill(0.0, chosen)
    if run.islands:
        run.islands.forget(as_numpy(chosen))

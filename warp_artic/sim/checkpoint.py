"""A run in a file, to be gone on with in another process: state, control and parameters, and what they are of.

What each array of such a file may be is in two tables, FACTS and `_table`; nothing changes where one is refused.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from reprlib import repr as brief

import numpy as np

from warp_artic.errors import SolveError
from warp_artic.model.group import Group
from warp_artic.sim.npz import LARGEST, Entry, open_npz, write_npz
from warp_artic.sim.views import CONTROL, FASTEST, MOTION

KIND = "a checkpoint"
LATEST = 2.0**53
"""Steps that are counted at most."""
STRONGEST = 1e24
"""Magnitude of forces and targets: with an arm of 1e12 m in single precision still a finite moment."""
SHORTEST = 1e-6
"""Length of a quaternion from which it says how something is turned."""
FACTS = {
    "model": Entry("U", ((),)),
    "settings": Entry("U", ((),)),
    "environments": Entry("iu", ((),), low=1, high=LATEST),
    "steps_done": Entry("iu", ((),), low=0, high=LATEST),
}
"""What a checkpoint has beside fields."""
RANGES = {
    **{name: {"low": -FASTEST, "high": FASTEST} for name in MOTION},
    **{name: {"low": -STRONGEST, "high": STRONGEST} for name in CONTROL},
    **dict.fromkeys(("failure", "clock", "steps_at_rest", "unresolved"), {"low": 0, "high": LATEST, "is_whole": True}),
    "started": {"low": 0, "high": 1, "is_whole": True},
    "link_mass": {"low": 0, "high": LARGEST},
    **{name: {"low": 0, "high": 1, "is_whole": True} for name in ("wraps", "is_acceleration_drive")},
    **{name: {"low": -1, "high": 1} for name in ("dof_sign", "joint_turn", "rounding")},
    **dict.fromkeys(
        (
            "cone_angle",
            "drive_max_force",
            "drive_max_velocity",
            "leaf_lower",
            "leaf_upper",
            "limit_lower",
            "limit_upper",
            "link_max_angular_velocity",
            "link_max_linear_velocity",
            "sleep_threshold",
            "tendon_lower",
            "tendon_upper",
            "tree_max_velocity",
            "velocity_limit",
        ),
        {"is_unbounded": True},
    ),
}
"""What values of a field may be, where any number up to LARGEST will not do."""
REMEMBERED = ("smooth_acceleration", "acceleration_change", "smoothness", "seen")
"""What steps remember: finite, but in environments that have stopped, where nobody reads it."""


def write_checkpoint(simulation, path) -> None:
    """See `Simulation.save`."""
    content = {
        "model": np.array(simulation.model_hash),
        "settings": np.array(json.dumps(asdict(simulation.settings))),
        "environments": np.array(simulation.environments),
        "steps_done": np.array(simulation.steps_done),
    }
    for place, group in enumerate(simulation._groups):
        for name in _names(group):
            field = group.field(name)
            values = field.scalars.numpy()
            content[f"{place}/{name}"] = values[:, 0] if field.is_shared else values[:, : group.columns.count]
    content |= simulation._elastic.take()
    write_npz(path, content)


def read_checkpoint(simulation, path) -> None:
    """See `Simulation.load`; nothing changes where it is refused."""
    with open_npz(path, KIND, SolveError) as file:
        facts = file.read(FACTS)
        _compare_settings(simulation, path, file.json_object("settings", facts["settings"]))
        if str(facts["model"]) != simulation.model_hash:
            raise SolveError(f"{path}: the checkpoint is of another model")
        if int(facts["environments"]) != simulation.environments:
            raise SolveError(f"{path}: {int(facts['environments'])} environments, not {simulation.environments}")
        table = _table(simulation)
        file.refuse_others(FACTS | table)
        content = file.read(table)
    found = [
        {name: content[f"{place}/{name}"] for name in _names(group)} for place, group in enumerate(simulation._groups)
    ]
    for group, fields in zip(simulation._groups, found):
        _check_group(group, path, fields)
    for group, fields in zip(simulation._groups, found):
        for name, values in fields.items():
            if values.ndim == 2 and name in group.parameters and group.parameters[name].is_shared:
                simulation._check_arrays_may_change(f"{path}: {name}")
    for group, fields in zip(simulation._groups, found):
        for name, values in fields.items():
            if values.ndim == 2 and name in group.parameters:
                group.expand_parameter(name)
            group.field(name).fill(values)
    simulation._elastic.put(content)
    simulation.steps_done = int(facts["steps_done"])
    simulation._launches.pack()
    simulation._parameter_watch.accept()
    simulation._set_anew()
    simulation._follow_links()


def _names(group: Group) -> tuple[str, ...]:
    return (*group.state, *group.control, *group.parameters)


def _compare_settings(simulation, path, settings: dict) -> None:
    here = asdict(simulation.settings)
    differing = [
        f"{name if name in here else ascii(name[:80])} is {brief(settings.get(name))} in the checkpoint and "
        f"{here.get(name)!r} here"
        for name in sorted({*settings, *here})
        if settings.get(name) != here.get(name)
    ]
    if differing:
        raise SolveError(f"{path}: the checkpoint is of other settings: {', '.join(differing)}")


def _table(simulation) -> dict[str, Entry]:
    """What the fields of a checkpoint of a simulation may be, those that all environments share in either form."""
    table = {}
    for place, group in enumerate(simulation._groups):
        for name in _names(group):
            rows, columns = group.field(name).scalars.shape[0], group.columns.count
            shapes = ((rows, columns), (rows,)) if name in group.parameters else ((rows, columns),)
            table[f"{place}/{name}"] = Entry("f", shapes, is_any=name in REMEMBERED, **RANGES.get(name, {}))
    for name, array in simulation._elastic.take().items():
        limits = RANGES["joint_position"] if name.rpartition("/")[2] in ("points", "velocities", "end") else {}
        table[name] = Entry("iuf", (array.shape,), **limits)
    return table


def _check_group(group: Group, path, fields: dict[str, np.ndarray]) -> None:
    """Raise an error where fields, each in its range, do not go together."""
    goes_on = fields["failure"][0] == 0
    for name in REMEMBERED:
        wrong = ~np.isfinite(fields[name]).all(axis=0) & goes_on
        if wrong.any():
            raise SolveError(
                f"{path}: {name}: is not finite in column {int(np.argmax(wrong))}, which has not stopped; finite "
                "numbers are needed"
            )
    if fields["failure"].max(initial=0) and fields["failure"][0].max() > group.tree.dof_count:
        raise SolveError(
            f"{path}: failure: the value {fields['failure'][0].max():g} is no dof; 0 to {group.tree.dof_count} is "
            "allowed"
        )
    if group.tree.root_dofs:
        length = np.linalg.norm(fields["root_pose"][3:7], axis=0)
        if (length < SHORTEST).any():
            raise SolveError(
                f"{path}: root_pose: a quaternion has the length {length.min():g}; at least {SHORTEST:g} is needed"
            )

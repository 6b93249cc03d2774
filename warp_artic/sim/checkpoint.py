"""A run in a file, to be gone on with in another process: state, control and parameters, and what they are of."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from warp_artic.errors import SolveError
from warp_artic.model.group import Group
from warp_artic.sim.npz import read_npz, write_npz

FACTS = ("model", "settings", "environments", "steps_done")
"""What a checkpoint has beside fields."""


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
    content = read_npz(path, "a checkpoint")
    if missing := [name for name in FACTS if name not in content]:
        raise SolveError(f"{path}: is not a checkpoint: {missing[0]} is missing")
    _compare_settings(simulation, path, json.loads(str(content["settings"])))
    if str(content["model"]) != simulation.model_hash:
        raise SolveError(f"{path}: the checkpoint is of another model")
    if int(content["environments"]) != simulation.environments:
        raise SolveError(f"{path}: {int(content['environments'])} environments, not {simulation.environments}")
    found = [_fields(group, place, path, content) for place, group in enumerate(simulation._groups)]
    simulation._elastic.check(path, content)
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
    simulation.steps_done = int(content["steps_done"])
    simulation._launches.pack()
    simulation._parameter_watch.accept()
    simulation._set_anew()
    simulation._follow_links()


def _names(group: Group) -> tuple[str, ...]:
    return (*group.state, *group.control, *group.parameters)


def _compare_settings(simulation, path, settings: dict) -> None:
    here = asdict(simulation.settings)
    differing = [
        f"{name} is {settings.get(name)!r} in the checkpoint and {here.get(name)!r} here"
        for name in sorted({*settings, *here})
        if settings.get(name) != here.get(name)
    ]
    if differing:
        raise SolveError(f"{path}: the checkpoint is of other settings: {', '.join(differing)}")


def _fields(group: Group, place: int, path, content: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The fields of a group in a checkpoint, each of the shape that is needed."""
    fields = {}
    for name in _names(group):
        values = content.get(f"{place}/{name}")
        if values is None:
            raise SolveError(f"{path}: {name} is missing; the checkpoint is of another version of warp_artic")
        rows = group.field(name).scalars.shape[0]
        shapes = [(rows, group.columns.count), (rows,)] if name in group.parameters else [(rows, group.columns.count)]
        if values.shape not in shapes or values.dtype.kind != "f":
            raise SolveError(
                f"{path}: {name} is {values.dtype} of shape {values.shape}; numbers of shape {shapes[0]} are needed"
            )
        fields[name] = values
    return fields

"""Joint states, drive efforts and mimic errors as time samples of our joint schema and PhysicsJointStateAPI."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from warp_artic.usd.outputs import joint_attributes, joint_axis, joint_quantity, twist_axis
from warp_artic.usd.time_samples import apply_schema, at_times, check_finite, over, write_samples
from warp_artic.usd.units import Units


def write_joints(layer, stage, recording, environment, times, codes, units: Units) -> None:
    """Samples of every dof; what a PhysicsJointStateAPI has no word for only under our own schema."""
    dofs, followers = recording.joint_names, recording.mimic_names
    turns = _turns_back(stage, dofs, recording.joint_position[:, environment])
    outputs = [
        ("position", dofs, recording.joint_position, turns),
        ("velocity", dofs, recording.joint_velocity, None),
        ("effort", dofs, _of_steps(recording.joint_drive_force), None),
        ("mimicError", followers, recording.mimic_error, None),
    ]
    for name, names, values, jumps in outputs:
        values = values[:, environment]
        check_finite(recording, values[..., None], names, name)
        values = at_times(recording, values, times, jumps)
        for entry, dof in enumerate(names[: values.shape[1]]):
            prim, instance = joint_axis(stage, dof)
            samples = units.authored(values[:, entry], joint_quantity(instance, name)).tolist()
            spec = over(layer, prim)
            for schema, attribute, type_name in joint_attributes(instance, name):
                apply_schema(spec, schema)
                write_samples(spec, attribute, type_name, samples, codes)


def _of_steps(forces: np.ndarray) -> np.ndarray:
    """Forces of the step before each record (R, ...); the first record, before any step, has that of the first step.

    A run without steps has none: no entries.
    """
    return np.concatenate([forces[1:2], forces[1:]]) if len(forces) > 1 else forces[..., :0]


def _turns_back(stage, joint_names: tuple[str, ...], positions: np.ndarray) -> np.ndarray:
    """Where the position (R, D) of a joint is taken back by whole turns at the next record: (R - 1, D).

    The rotations of a joint go together, but for the two angles of a universal joint; a translation of many axes has
    none.
    """
    jumps = np.abs(np.diff(positions, axis=0)) > math.pi
    jumps[:, [":trans" in name for name in joint_names]] = False
    paths = [name.partition(":rot")[0] for name in joint_names]
    turns = Counter(path for path, name in zip(paths, joint_names) if path != name)
    names = set(joint_names)
    for index, path in enumerate(paths):
        if turns[path] == 2 and f"{path}:{twist_axis(stage, path)}" in names:
            paths[index] = joint_names[index]
    paths, joint = np.unique(paths, return_inverse=True)
    of_joints = np.zeros((len(jumps), len(paths)), bool)
    records, dofs = np.nonzero(jumps)
    of_joints[records, joint[dofs]] = True
    return of_joints[:, joint]

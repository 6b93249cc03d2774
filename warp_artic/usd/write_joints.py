"""Joint states, drive efforts and mimic errors as time samples of our joint schema and PhysicsJointStateAPI."""

from __future__ import annotations

import math

import numpy as np
from pxr import Sdf, Usd, UsdPhysics

from warp_artic.errors import StageError
from warp_artic.usd import tokens
from warp_artic.usd.lookup import EFFORT, PLACE, SPEED
from warp_artic.usd.read_dof import is_locked
from warp_artic.usd.time_samples import apply_schema, at_times, check_finite, over, prim_named, write_samples
from warp_artic.usd.units import Units


def write_joints(layer, stage, recording, environment, times, codes, units: Units) -> None:
    """Samples of every dof; what a PhysicsJointStateAPI has no word for only under our own schema."""
    dofs, followers = recording.joint_names, recording.mimic_names
    turns = _turns_back(dofs, recording.joint_position[:, environment])
    outputs = [
        ("position", PLACE, dofs, recording.joint_position, turns),
        ("velocity", SPEED, dofs, recording.joint_velocity, None),
        ("effort", EFFORT, dofs, _of_steps(recording.joint_drive_force), None),
        ("mimicError", PLACE, followers, recording.mimic_error, None),
    ]
    for name, quantities, names, values, jumps in outputs:
        values = values[:, environment]
        check_finite(recording, values[..., None], names, name)
        values = at_times(recording, values, times, jumps)
        for entry, dof in enumerate(names[: values.shape[1]]):
            path, _, axis = dof.partition(":")
            prim = prim_named(stage, path, "joint")
            instance = axis or _single_axis(prim)
            is_linear = instance == "linear" or instance.startswith("trans")
            samples = units.authored(values[:, entry], quantities[not is_linear]).tolist()
            spec = over(layer, prim)
            apply_schema(spec, f"{tokens.ARTIC_JOINT}:{instance}")
            write_samples(spec, f"warpArtic:joint:{instance}:{name}", Sdf.ValueTypeNames.Double, samples, codes)
            if name in STATE:
                apply_schema(spec, f"{tokens.JOINT_STATE}:{instance}")
                write_samples(spec, f"state:{instance}:physics:{name}", Sdf.ValueTypeNames.Float, samples, codes)


STATE = ("position", "velocity")
"""What a PhysicsJointStateAPI has, as hosts read it."""


def _of_steps(forces: np.ndarray) -> np.ndarray:
    """Forces of the step before each record (R, ...); the first record, before any step, has that of the first step.

    A run without steps has none: no entries.
    """
    return np.concatenate([forces[1:2], forces[1:]]) if len(forces) > 1 else forces[..., :0]


def _turns_back(joint_names: tuple[str, ...], positions: np.ndarray) -> np.ndarray:
    """Where the position (R, D) of a joint is taken back by whole turns at the next record: (R - 1, D).

    The rotations of a joint go together; a translation of many axes has none.
    """
    jumps = np.abs(np.diff(positions, axis=0)) > math.pi
    jumps[:, [":trans" in name for name in joint_names]] = False
    paths, joint = np.unique([name.partition(":rot")[0] for name in joint_names], return_inverse=True)
    of_joints = np.zeros((len(jumps), len(paths)), bool)
    records, dofs = np.nonzero(jumps)
    of_joints[records, joint[dofs]] = True
    return of_joints[:, joint]


def _single_axis(joint: Usd.Prim) -> str:
    """The schema instance that stands for the only dof of a joint."""
    if joint.IsA(UsdPhysics.RevoluteJoint):
        return "angular"
    if joint.IsA(UsdPhysics.PrismaticJoint):
        return "linear"
    if joint.IsA(UsdPhysics.SphericalJoint):  # with both cone angles zero
        return f"rot{UsdPhysics.SphericalJoint(joint).GetAxisAttr().Get()}"
    axes = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
    free = [axis for axis in axes if not is_locked(joint, axis)]
    if len(free) != 1:
        raise StageError(f"{joint.GetPath()}: the recording has one dof for this joint; the stage has {len(free)}")
    return free[0]

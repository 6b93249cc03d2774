"""Joint positions and velocities as time samples of PhysicsJointStateAPI attributes."""

from __future__ import annotations

import math

import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdPhysics

from warp_artic.errors import StageError
from warp_artic.usd.time_samples import at_times, check_finite, over, prim_named, write_samples


def write_joints(layer, stage, recording, environment, times, codes) -> None:
    """Joint state samples in the units of the stage: degrees, or stage units of length."""
    jumps = {"position": _turns_back(recording.joint_names, recording.joint_position[:, environment])}
    quantities = {}
    for name in ("position", "velocity"):
        values = getattr(recording, f"joint_{name}")[:, environment]
        check_finite(recording, values[..., None], recording.joint_names, name)
        quantities[name] = at_times(recording, values, times, jumps.get(name))
    meters_per_unit = UsdGeom.GetStageMetersPerUnit(stage)
    for dof, dof_name in enumerate(recording.joint_names):
        path, _, axis = dof_name.partition(":")
        prim = prim_named(stage, path, "joint")
        instance = axis or _single_axis(prim)
        is_linear = instance == "linear" or instance.startswith("trans")
        factor = 1.0 / meters_per_unit if is_linear else 180.0 / math.pi
        spec = over(layer, prim)
        _apply_schema(spec, f"PhysicsJointStateAPI:{instance}")
        for name, values in quantities.items():
            samples = (factor * values[:, dof]).tolist()
            write_samples(spec, f"state:{instance}:physics:{name}", Sdf.ValueTypeNames.Float, samples, codes)


def _turns_back(joint_names: tuple[str, ...], positions: np.ndarray) -> np.ndarray:
    """Where the position (R, D) of a joint is taken back by whole turns at the next record: (R - 1, D)."""
    jumps = np.abs(np.diff(positions, axis=0)) > math.pi
    joints = np.array([name.partition(":")[0] for name in joint_names], dtype=str)
    for path in np.unique(joints[jumps.any(axis=0)]):
        jumps[:, joints == path] = jumps[:, joints == path].any(axis=1, keepdims=True)
    return jumps


def _single_axis(joint: Usd.Prim) -> str:
    """The schema instance that stands for the only dof of a joint."""
    if joint.IsA(UsdPhysics.RevoluteJoint):
        return "angular"
    if joint.IsA(UsdPhysics.PrismaticJoint):
        return "linear"
    if joint.IsA(UsdPhysics.SphericalJoint):  # with both cone angles zero
        return f"rot{UsdPhysics.SphericalJoint(joint).GetAxisAttr().Get()}"
    axes = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
    free = [axis for axis in axes if not _is_locked(joint, axis)]
    if len(free) != 1:
        raise StageError(f"{joint.GetPath()}: the recording has one dof for this joint; the stage has {len(free)}")
    return free[0]


def _is_locked(joint: Usd.Prim, axis: str) -> bool:
    """Whether a limit leaves no motion along an axis."""
    low, high = (joint.GetAttribute(f"limit:{axis}:physics:{side}").Get() for side in ("low", "high"))
    return joint.HasAPI(UsdPhysics.LimitAPI, axis) and None not in (low, high) and low >= high


def _apply_schema(spec: Sdf.PrimSpec, schema: str) -> None:
    """Add an applied schema to a prim spec, keeping those that are there."""
    applied = Sdf.TokenListOp()
    before = spec.GetInfo("apiSchemas") if spec.HasInfo("apiSchemas") else Sdf.TokenListOp()
    applied.prependedItems = [*before.prependedItems, schema]
    spec.SetInfo("apiSchemas", applied)

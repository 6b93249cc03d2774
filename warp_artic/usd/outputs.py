"""Where the outputs of a run belong on a stage: prims and attributes of joints and tendons."""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf, Usd, UsdPhysics

from warp_artic.errors import StageError
from warp_artic.usd import tokens
from warp_artic.usd.lookup import EFFORT, PLACE, SPEED
from warp_artic.usd.read_dof import is_locked
from warp_artic.usd.time_samples import prim_named
from warp_artic.usd.units import DISTANCE, FORCE, LINEAR_VELOCITY, Quantity

JOINT = {"position": PLACE, "velocity": SPEED, "effort": EFFORT, "mimicError": PLACE}
"""What there is of an axis, with its quantity on a translation and on a rotation."""
TENDON = {"length": DISTANCE, "speed": LINEAR_VELOCITY, "force": FORCE}
"""What there is of a tendon."""
MESH_TENDON = {"length": DISTANCE, "tension": FORCE}
"""What there is of a tendon on a mesh."""
STATE = ("position", "velocity")
"""What a PhysicsJointStateAPI has, as hosts read it."""


def joint_axis(stage: Usd.Stage, dof: str) -> tuple[Usd.Prim, str]:
    """The joint of a dof, and the instance name of schemas on its axis."""
    path, _, axis = dof.partition(":")
    prim = prim_named(stage, path, "joint")
    return prim, axis or _single_axis(prim)


def twist_axis(stage: Usd.Stage, path: str) -> str:
    """The twist axis of a joint with several rotations: the joint axis of a spherical joint, X of others."""
    joint = UsdPhysics.SphericalJoint(prim_named(stage, path, "joint"))
    return f"rot{joint.GetAxisAttr().Get() if joint else 'X'}"


def joint_quantity(instance: str, name: str) -> Quantity:
    """The quantity of an output of an axis."""
    return JOINT[name][not (instance == "linear" or instance.startswith("trans"))]


def joint_attributes(instance: str, name: str) -> Iterator[tuple[str, str, Sdf.ValueTypeName]]:
    """The schema, the attribute and its type of an output of an axis: ours, and that of others where there is one."""
    yield f"{tokens.ARTIC_JOINT}:{instance}", f"warpArtic:joint:{instance}:{name}", Sdf.ValueTypeNames.Double
    if name in STATE:
        yield f"{tokens.JOINT_STATE}:{instance}", f"state:{instance}:physics:{name}", Sdf.ValueTypeNames.Float


def tendon_attribute(tendon: str, name: str) -> tuple[str, str, str]:
    """The prim path, the schema that is to be applied ("": none) and the attribute of an output of a tendon."""
    path, _, instance = tendon.partition(":")
    if not instance:
        return path, "", f"warpArtic:{name}"
    return path, f"{tokens.ARTIC_TENDON_STATE}:{instance}", f"warpArtic:tendon:{instance}:{name}"


def _single_axis(joint: Usd.Prim) -> str:
    """The schema instance that stands for the only dof of a joint, or for what a gear couples."""
    if joint.IsA(UsdPhysics.RevoluteJoint) or joint.GetTypeName() in tokens.GEARS:
        return "angular"  # a gear and a rack have the value of their relation on a hinge
    if joint.IsA(UsdPhysics.PrismaticJoint):
        return "linear"
    if joint.IsA(UsdPhysics.SphericalJoint):  # with both cone angles zero
        return f"rot{UsdPhysics.SphericalJoint(joint).GetAxisAttr().Get()}"
    axes = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
    free = [axis for axis in axes if not is_locked(joint, axis)]
    if len(free) != 1:
        raise StageError(f"{joint.GetPath()}: the run has one dof for this joint; the stage has {len(free)}")
    return free[0]

"""What our reader understands of joints on a stage, for the reader of Newton.

Newton has a place for one value of a joint where ours has one for each axis; then that of the first axis counts.
"""

from __future__ import annotations

import math

from newton.usd import PrimType, SchemaResolver
from pxr import Usd, UsdGeom, UsdPhysics
from warp_artic.extensions.newton.limits import UNSAID

from warp_artic.description.friction import Friction
from warp_artic.description.joint import Dof, Joint
from warp_artic.errors import HostError
from warp_artic.usd.read_stage import read_stage

OF_JOINTS = ("armature", "friction", "damping_per_rad", "velocity_limit")
INSTANCES = ("angular", "linear", "rotX", "rotY", "rotZ", "transX", "transY", "transZ")
OF_AXES = {"limit_{}_ke": "stiffness", "limit_{}_kd": "damping", "{}_position": "position", "{}_velocity": "velocity"}
"""Keys of an axis, and what they ask for."""
KEYS = {
    **{key: ("", key) for key in OF_JOINTS},
    **{key.format(instance): (instance, asked) for key, asked in OF_AXES.items() for instance in INSTANCES},
}


class SchemaResolverWarpArtic(SchemaResolver):
    """Armature, friction, damping, bounds of velocities, gains of limits and starts of joints, in all our dialects.

    `newton.ModelBuilder.add_usd(path, schema_resolvers=[SchemaResolverWarpArtic()])` reads joints as `read_stage` does,
    and so a solver without `scene` steps them as `warp-artic simulate`. What a model has no place for stays left out.

    Raises:
        StageError: The stage cannot be simulated as authored.
        HostError: The stage is not in metres and kilograms, and Newton keeps its numbers as they are.
    """

    name = "warpArtic"
    mapping = {PrimType.JOINT: {key: SchemaResolver.SchemaAttribute(f"warpArtic:joint:{key}") for key in KEYS}}

    def __init__(self):
        super().__init__()
        self._stage: Usd.Stage | None = None
        self._joints: dict[str, Joint] = {}

    def get_value(self, prim, prim_type, key):
        """What a joint has of a key, in the units that Newton expects: those of UsdPhysics, with degrees."""
        if prim is None or prim_type != PrimType.JOINT or key not in KEYS:
            return None
        joint = self._joint_of(prim)
        if joint is None or not joint.dofs:
            return None
        instance, asked = KEYS[key]
        if not instance:
            return _of_joint(joint.dofs[0], asked)
        generic = instance not in ("angular", "linear")
        if generic == (prim.IsA(UsdPhysics.RevoluteJoint) or prim.IsA(UsdPhysics.PrismaticJoint)):
            return None
        dof = next((dof for dof in joint.dofs if not generic or dof.axis.value == instance), None)
        turns = sum(not one.axis.is_linear for one in joint.dofs)
        if dof is None or (asked in ("position", "velocity") and turns > 1 and not dof.axis.is_linear):
            return None  # the coordinates of Newton are other ones
        return _of_axis(dof, asked)

    def _joint_of(self, prim: Usd.Prim) -> Joint | None:
        stage = prim.GetStage()
        if stage != self._stage:
            metres, kilograms = UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)
            if not math.isclose(metres, 1.0) or not math.isclose(kilograms, 1.0):
                name = stage.GetRootLayer().GetDisplayName()
                raise HostError(
                    f"{name}: has units of {metres:g} m and {kilograms:g} kg, which Newton keeps; "
                    "SchemaResolverWarpArtic reads stages in metres and kilograms"
                )
            trees = read_stage(stage).articulations
            self._joints = {joint.path: joint for tree in trees for joint in tree.joints}
            self._stage = stage
        return self._joints.get(str(prim.GetPath()))


def _of_joint(dof: Dof, asked: str) -> float:
    friction = dof.friction or Friction()
    values = {
        "armature": dof.armature,
        "friction": friction.dynamic_effort,
        "damping_per_rad": friction.viscous,
        "velocity_limit": dof.velocity_limit if dof.axis.is_linear else math.degrees(dof.velocity_limit),
    }
    return values[asked]


def _of_axis(dof: Dof, asked: str) -> float | None:
    if asked in ("position", "velocity"):
        value = getattr(dof, asked)
        return value if dof.axis.is_linear else math.degrees(value)
    if dof.limit is None:
        return None
    is_stop = dof.limit.stiffness == 0.0 and dof.limit.damping == 0.0
    unsaid = {"stiffness": UNSAID.limit_ke, "damping": UNSAID.limit_kd}
    value = unsaid[asked] if is_stop else getattr(dof.limit, asked)
    return value if dof.axis.is_linear else math.radians(value)

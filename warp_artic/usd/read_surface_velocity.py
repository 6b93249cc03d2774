"""The velocity that the schema of PhysX gives the surface of a kinematic body, as that of a conveyor belt."""

from __future__ import annotations

from dataclasses import replace

from pxr import Usd

from warp_artic.description.base_motion import BaseMotion, SurfaceVelocity
from warp_artic.usd import tokens, units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.placement import Placements

NONE = (0.0, 0.0, 0.0)


def with_surface_velocity(
    motion: BaseMotion | None, body: Usd.Prim, attributes: Attributes, placements: Placements
) -> BaseMotion | None:
    """The motion of a body with the velocity of its surface, also where the body stays; None where neither moves."""
    if tokens.SURFACE_VELOCITY not in body.GetPrimTypeInfo().GetAppliedAPISchemas():
        return motion
    start = "physxSurfaceVelocity:surface"
    linear = attributes.vector(body, f"{start}Velocity", NONE, units.LINEAR_VELOCITY)
    angular = attributes.vector(body, f"{start}AngularVelocity", NONE, units.ANGULAR_VELOCITY)
    is_local = attributes.flag(body, f"{start}VelocityLocalSpace", True)
    if not attributes.flag(body, f"{start}VelocityEnabled", True) or not any((*linear, *angular)):
        return motion
    surface = SurfaceVelocity(tuple(map(float, linear)), tuple(map(float, angular)), is_local)
    if motion is not None:
        return replace(motion, surface=surface)
    placement = placements.of(body)
    if placement is None:
        return None
    return BaseMotion(str(body.GetPath()), start=0.0, interval=1.0, poses=(placement.pose,), surface=surface)

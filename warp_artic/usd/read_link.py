"""A rigid body becomes a link."""

from __future__ import annotations

import math

import numpy as np
from pxr import Usd, UsdGeom

from warp_artic.description.link import Link
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.changes import changes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.lookup import LINK_FIELDS, resolve
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_mass import read_mass
from warp_artic.usd.units import DEGREE

RUN_OPS = (":warpArtic", ":warpArticParent")
"""How the transform ops of run layers end."""
PHYSX_ANGULAR_DAMPING = 0.05
"""Fallback of PhysxRigidBodyAPI [1/s]."""


def read_link(prim: Usd.Prim, inventory: Inventory, attributes: Attributes, placements: Placements) -> Link | None:
    """The link of a body, or None, and an error, where it has no pose or no mass."""
    path = str(prim.GetPath())
    placement = placements.of(prim)
    properties = read_mass(prim, inventory.colliders.get(path, []), attributes, placements)
    angular_fallback = _angular_fallback(prim, inventory, attributes)
    numbers = {
        "gravity_scale": _number(prim, "gravity_scale", 1.0, attributes),
        "linear_damping": _not_negative(prim, "linear_damping", 0.0, attributes),
        "angular_damping": _not_negative(prim, "angular_damping", angular_fallback, attributes),
        "max_linear_velocity": _not_negative(prim, "max_linear_velocity", math.inf, attributes),
        "max_angular_velocity": _not_negative(prim, "max_angular_velocity", math.inf, attributes),
    }
    if placement is not None and path not in inventory.switched and _is_animated(prim):
        text = "moves over time, and by forces: only where it starts is used; a kinematic body would follow"
        attributes.report.warn("time-samples", path, text)
    linear_velocity, angular_velocity = _velocities(prim, attributes, placements)
    if placement is None or properties is None:
        return None
    return Link(
        path=path,
        mass=float(properties.mass),
        center_of_mass=tuple(map(float, properties.center)),
        inertia=properties.compact(),
        pose=placement.pose,
        linear_velocity=linear_velocity,
        angular_velocity=angular_velocity,
        **numbers,
    )


def _is_animated(prim: Usd.Prim) -> bool:
    """Whether the transform of a body is animated, other than by the motion of an earlier run of ours."""
    ops = UsdGeom.Xformable(prim).GetOrderedXformOps()
    return any(changes(op.GetAttr()) and not op.GetOpName().endswith(RUN_OPS) for op in ops)


def _not_negative(prim: Usd.Prim, field: str, fallback: float, attributes: Attributes) -> float:
    return _number(prim, field, fallback, attributes, least=0.0)


def _number(prim: Usd.Prim, field: str, fallback: float, attributes: Attributes, least: float = -math.inf) -> float:
    reading = resolve(attributes, prim, field, LINK_FIELDS[field])
    if reading is None:
        return fallback
    if reading.value < least:
        attributes.report.error("negative", reading.attribute, f"is {reading.found}, must not be negative")
        return fallback
    attributes.report.readings.setdefault(str(prim.GetPath()), []).append(reading)
    return reading.value


def _angular_fallback(prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> float:
    """PhysX damps rotations also where the asset does not say so."""
    names = [source.attribute for source in LINK_FIELDS["angular_damping"]]
    is_authored = any(attributes.authored(prim, name) is not None for name in names)
    if is_authored or not inventory.has_schema(prim, tokens.PHYSX_RIGID_BODY):
        return 0.0
    text = (
        f"angular damping is {PHYSX_ANGULAR_DAMPING} 1/s, the fallback of {tokens.PHYSX_RIGID_BODY}; author 0 for none"
    )
    attributes.report.note("damping-fallback", prim.GetPath(), text)
    return PHYSX_ANGULAR_DAMPING


def _velocities(prim: Usd.Prim, attributes: Attributes, placements: Placements):
    """Authored velocities, given in the space that the prim's own transform is given in, along world axes."""
    velocity = attributes.vector(prim, "physics:velocity", (0.0, 0.0, 0.0))
    turning = attributes.vector(prim, "physics:angularVelocity", (0.0, 0.0, 0.0))
    if not any(velocity) and not any(turning):
        return velocity, turning
    parent = prim.GetParent()
    if parent.IsPseudoRoot() or UsdGeom.Xformable(prim).GetResetXformStack():
        A, R = attributes.units.meters * np.eye(3), np.eye(3)
    else:
        matrix, placement = placements.matrix(parent), placements.of(parent)
        if matrix is None or placement is None:
            return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        A, R = matrix[:3, :3], placement.pose.rotation
    return tuple(map(float, A @ velocity)), tuple(map(float, R @ turning * DEGREE))

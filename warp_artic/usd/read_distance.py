"""UsdPhysicsDistanceJoint between two links, or one and the world, with the spring of PhysX where it has one.

One that can break is a loop joint that leaves all axes free but for the distance.
"""

from __future__ import annotations

import math

from warp_artic.description.distance import Distance
from warp_artic.description.joint import Axis
from warp_artic.description.limit import Limit
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.pose import Pose
from warp_artic.usd import units
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.lookup import Source, resolve_all
from warp_artic.usd.read_break import read_breaks

SPRING = "physxPhysicsDistanceJoint:spring"
FIELDS = {
    "lower": (Source("physics:minDistance", units.DISTANCE, unset_below=0.0),),
    "upper": (Source("physics:maxDistance", units.DISTANCE, unset_below=0.0, unbounded=True),),
    "stiffness": (Source(f"{SPRING}Stiffness", units.LINEAR_STIFFNESS),),
    "damping": (Source(f"{SPRING}Damping", units.LINEAR_DAMPING),),
}
"""A negative distance means none."""
WITHOUT_EFFECT = ("physics:localRot0", "physics:localRot1", "physics:excludeFromArticulation")
"""Properties of all joints that say nothing of a distance."""


def read_distance(
    ends: JointEnds, link0: int, link1: int, inventory: Inventory, attributes: Attributes
) -> Distance | LoopJoint | None:
    """The distance that a joint keeps between the origins of its frames; None, and an error, where that cannot be."""
    readings = resolve_all(attributes, ends.prim, FIELDS)
    attributes.report.readings[ends.path] = list(readings.values())
    values = {name: reading.value for name, reading in readings.items()}
    for name in WITHOUT_EFFECT:
        if attributes.authored(ends.prim, name) is not None:
            text = "is not used: a distance has no orientation and is outside of the tree in any case"
            attributes.report.note("attribute-not-used", f"{ends.path}.{name}", text)
    lower, upper = values.get("lower", 0.0), values.get("upper", math.inf)
    if upper == 0.0 or upper < lower:
        text = f"the largest distance is {upper:g} m; it must be positive, and not below the smallest one, {lower:g} m"
        attributes.report.error("constraint", f"{ends.path}.physics:maxDistance", text)
        return None
    for name in ("stiffness", "damping"):
        if values.get(name, 0.0) < 0.0:
            text = f"is {readings[name].found}, must not be negative"
            attributes.report.error("negative", readings[name].attribute, text)
            return None
    is_soft = attributes.flag(ends.prim, f"{SPRING}Enabled", False)
    breaks = read_breaks(ends.prim, attributes)
    attributes.report.readings[ends.path] += breaks.values()
    loads = {name: reading.value for name, reading in breaks.items()}
    if min(loads.values(), default=math.inf) < math.inf:
        spring = {name: values.get(name, 0.0) if is_soft else 0.0 for name in ("stiffness", "damping")}
        if not is_soft or any(spring.values()):
            return LoopJoint(
                name=ends.path,
                link0=link0,
                link1=link1,
                frame0=Pose(ends.end0.frame.position),
                frame1=Pose(ends.end1.frame.position),
                free=tuple(Axis),
                distance_limit=Limit(lower=lower, upper=upper, **spring),
                **loads,
            )
    return Distance(
        name=ends.path,
        link0=link0,
        link1=link1,
        position0=ends.end0.frame.position,
        position1=ends.end1.frame.position,
        is_soft=is_soft,
        **values,
    )

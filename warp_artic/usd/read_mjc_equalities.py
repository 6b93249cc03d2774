"""Equalities of the MuJoCo dialect between two bodies, on joint prims with the frames that they hold together.

    MjcEqualityConnectAPI    the origins of the frames
    MjcEqualityWeldAPI       the frames; with mjc:torqueScale = 0 their origins alone, as MuJoCo weighs rotations by it
They are loop joints, held exactly: MuJoCo gives way by mjc:solref and mjc:solimp, and by what the scale makes of both.
"""

from __future__ import annotations

from pxr import Usd

from warp_artic.description.joint import Axis
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import JointEnds
from warp_artic.usd.not_simulated_mjc import MJC_ATTRIBUTES

COMPLIANCE = ("mjc:solref", "mjc:solimp", "mjc:torqueScale")
"""What MuJoCo has for how much an equality gives way."""
ROTATIONS = tuple(axis for axis in Axis if not axis.is_linear)
FLAG = "mjc:flag:equality"
ENABLED = "physics:jointEnabled"


def is_equality_of_bodies(prim: Usd.Prim, inventory: Inventory) -> bool:
    """Whether a joint prim is an equality between two bodies, which is never a branch of a tree."""
    return any(inventory.has_schema(prim, schema) for schema in tokens.MJC_OF_BODIES)


def acts(equality: Usd.Prim, inventory: Inventory, attributes: Attributes) -> bool:
    """Whether an equality is active, and equalities are not switched off as a whole."""
    is_on = all(attributes.flag(scene, FLAG, True) for scene in inventory.scenes.values())
    return is_on and attributes.flag(equality, ENABLED, True)


def why_disabled(joint: Usd.Prim, inventory: Inventory, attributes: Attributes) -> str:
    """Why a joint does not act; empty where it does.

    An equality of two joints is a schema on one of them, and converters write that it is not active where the prim says
    so for the joint, which MuJoCo cannot disable.
    """
    is_enabled = attributes.flag(joint, ENABLED, True)
    if is_equality_of_bodies(joint, inventory):
        off = f"is switched off by {FLAG}" if is_enabled else f"is disabled ({ENABLED})"
        return "" if acts(joint, inventory, attributes) else off
    if is_enabled:
        return ""
    if inventory.has_schema(joint, tokens.MJC_EQUALITY):
        text = f"is false, which is taken for its {tokens.MJC_EQUALITY}: the equality does not act, the joint does"
        attributes.report.note("equality", f"{joint.GetPath()}.{ENABLED}", text)
        return ""
    return f"is disabled ({ENABLED})"


def read_equality(
    ends: JointEnds, link0: int, link1: int, inventory: Inventory, attributes: Attributes
) -> LoopJoint | None:
    """An equality between two bodies, as a loop joint; None where its schemas contradict each other."""
    prim = ends.prim
    has = {schema: inventory.has_schema(prim, schema) for schema in tokens.MJC_OF_BODIES}
    if all(has.values()):
        text = f"has {' and '.join(tokens.MJC_OF_BODIES)}; an equality is one of them"
        attributes.report.error("equality", ends.path, text)
        return None
    scale = attributes.number(prim, "mjc:torqueScale", 1.0)
    if scale < 0.0:
        text = f"is {scale:g}, must not be negative"
        attributes.report.error("negative", f"{ends.path}.mjc:torqueScale", text)
        return None
    note_compliance(prim, attributes)
    is_weld = has[tokens.MJC_WELD] and scale > 0.0
    kind = tokens.FIXED_JOINT if has[tokens.MJC_WELD] else tokens.SPHERICAL_JOINT
    if prim.GetTypeName() != kind:
        text = f"is a {prim.GetTypeName()} of MuJoCo's dialect: the equality counts, as on a {kind}"
        attributes.report.note("equality", ends.path, text)
    attributes.pass_over(prim)
    return LoopJoint(
        name=ends.path,
        link0=link0,
        link1=link1,
        frame0=ends.end0.frame,
        frame1=ends.end1.frame,
        free=() if is_weld else ROTATIONS,
    )


def note_compliance(prim: Usd.Prim, attributes: Attributes) -> None:
    """Say which parameters of MuJoCo's solver an equality has, which is held exactly."""
    found = []
    for name in COMPLIANCE:
        value = attributes.authored(prim, name)
        if value is None:
            continue
        shown = tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
        if shown != MJC_ATTRIBUTES[name][1] and not (name == COMPLIANCE[2] and value == 0.0):
            found.append(f"{name} = {shown}")
    if found:
        text = f"{', '.join(found)}: the equality is held exactly, and gives way to nothing"
        attributes.report.note("equality", prim.GetPath(), text)

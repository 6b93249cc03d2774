"""Which joints of skeletons move with which rigid bodies."""

from __future__ import annotations

from dataclasses import dataclass

from pxr import Usd, UsdSkel

from warp_artic.errors import did_you_mean
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory


@dataclass(frozen=True)
class SkelJoint:
    """A joint of a skeleton that moves with a body."""

    skeleton: str
    joint: str


def read_skel_joints(inventory: Inventory, attributes: Attributes) -> dict[str, SkelJoint]:
    """The joint of each body that has one, by the path of the body; what is wrong is reported."""
    found: dict[str, SkelJoint] = {}
    body_of: dict[SkelJoint, str] = {}
    joints: dict[str, frozenset[str]] = {}
    for path, schemas in inventory.schemas.items():
        if tokens.ARTIC_SKEL_JOINT not in schemas:
            continue
        prim = inventory.bodies.get(path) or inventory.held.get(path) or inventory.others.get(path)
        own = None if prim is None else _read(prim, joints, attributes)
        if path not in inventory.body_of or inventory.body_of[path] != path:
            attributes.report.error("skel-joint", path, "is no rigid body, so no joint of a skeleton can move with it")
        elif own is not None and own in body_of:
            text = f"is {own.joint}, which moves with {body_of[own]} already"
            attributes.report.error("skel-joint", f"{path}.{tokens.SKEL_JOINT}", text)
        elif own is not None:
            found[path] = own
            body_of[own] = path
    return found


def _read(prim: Usd.Prim, joints: dict[str, frozenset[str]], attributes: Attributes) -> SkelJoint | None:
    """The joint of one body; None, and an error, where there is none. `joints` are those of skeletons so far."""
    path = prim.GetPath()
    name = attributes.text(prim, tokens.SKEL_JOINT)
    targets = attributes.targets(prim, tokens.SKELETON)
    skeleton = prim.GetStage().GetPrimAtPath(targets[0].GetPrimPath()) if len(targets) == 1 else None
    if not skeleton or not skeleton.IsA(UsdSkel.Skeleton):
        led = ", ".join(map(str, targets)) or "nothing"
        attributes.report.error("skel-joint", f"{path}.{tokens.SKELETON}", f"leads to {led}, must lead to one Skeleton")
        return None
    target = str(skeleton.GetPath())
    if target not in joints:
        joints[target] = frozenset(map(str, UsdSkel.Skeleton(skeleton).GetJointsAttr().Get() or ()))
    if name not in joints[target]:
        text = f"is {name!r}, must be a joint of {target}{did_you_mean(name, joints[target])}"
        attributes.report.error("skel-joint", f"{path}.{tokens.SKEL_JOINT}", text)
        return None
    return SkelJoint(target, name)

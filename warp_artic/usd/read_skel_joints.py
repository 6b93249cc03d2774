"""Which joints of skeletons move with which rigid bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pxr import Usd, UsdSkel

from warp_artic.errors import StageError, did_you_mean
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.skeleton import Skeleton


@dataclass(frozen=True)
class SkelJoint:
    """A joint of a skeleton that moves with a body."""

    skeleton: Skeleton
    joint: str


def read_skel_joints(inventory: Inventory, attributes: Attributes) -> dict[str, SkelJoint]:
    """The joint of each body that has one, by the path of the body; what is wrong is reported."""
    found: dict[str, SkelJoint] = {}
    body_of: dict[SkelJoint, str] = {}
    skeletons: dict[str, Skeleton | None] = {}
    for path, schemas in inventory.schemas.items():
        if tokens.ARTIC_SKEL_JOINT not in schemas:
            continue
        prim = inventory.bodies.get(path) or inventory.held.get(path) or inventory.others.get(path)
        own = None if prim is None else _read(prim, skeletons, attributes)
        if path not in inventory.body_of or inventory.body_of[path] != path:
            attributes.report.error("skel-joint", path, "is no rigid body, so no joint of a skeleton can move with it")
        elif own is not None and own in body_of:
            text = f"is {own.joint}, which moves with {body_of[own]} already"
            attributes.report.error("skel-joint", f"{path}.{tokens.SKEL_JOINT}", text)
        elif own is not None:
            found[path] = own
            body_of[own] = path
    return found


def _read(prim: Usd.Prim, skeletons: dict[str, Skeleton | None], attributes: Attributes) -> SkelJoint | None:
    """The joint of one body; None, and an error, where there is none. `skeletons` are those that were read so far."""
    path = prim.GetPath()
    name = attributes.text(prim, tokens.SKEL_JOINT)
    targets = attributes.targets(prim, tokens.SKELETON)
    found = prim.GetStage().GetPrimAtPath(targets[0].GetPrimPath()) if len(targets) == 1 else None
    if not found or not found.IsA(UsdSkel.Skeleton):
        led = ", ".join(map(str, targets)) or "nothing"
        attributes.report.error("skel-joint", f"{path}.{tokens.SKELETON}", f"leads to {led}, must lead to one Skeleton")
        return None
    target = str(found.GetPath())
    if target not in skeletons:
        skeletons[target] = _skeleton(found, attributes)
    skeleton = skeletons[target]
    if skeleton is not None and name not in skeleton.joints:
        text = f"is {name!r}, must be a joint of {target}{did_you_mean(name, skeleton.joints)}"
        attributes.report.error("skel-joint", f"{path}.{tokens.SKEL_JOINT}", text)
        return None
    return None if skeleton is None else SkelJoint(skeleton, name)


def _skeleton(prim: Usd.Prim, attributes: Attributes) -> Skeleton | None:
    """A skeleton that a run can write an animation for; None, and an error, where it cannot."""
    path = str(prim.GetPath())
    try:
        skeleton = Skeleton(prim)
        for code in (attributes.time.GetValue(), *skeleton.animation_codes()):
            if not np.isfinite(skeleton.local_matrices(code)).all():
                raise StageError(f"{path}: a joint matrix at time code {code:g} is not finite")
    except StageError as error:
        attributes.report.error("skel-joint", path, str(error).removeprefix(f"{path}: "))
        return None
    return skeleton

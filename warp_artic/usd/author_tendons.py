"""Authors fixed tendons, spatial tendons and their attachments."""

from __future__ import annotations

from collections.abc import Sequence

from pxr import Sdf, Usd, UsdPhysics

from warp_artic.errors import SettingsError, StageError
from warp_artic.usd import tokens
from warp_artic.usd.author_terms import Term, write_terms
from warp_artic.usd.edit import Edit, checked_path, prim_at, prim_of_type
from warp_artic.usd.inventory import TENDON_BODY
from warp_artic.usd.read_fixed_tendon_prims import COEFFICIENTS, FORCE_COEFFICIENTS, NAMES
from warp_artic.usd.read_spatial_tendon_prims import ROUTINGS

OF_LEAVES = ("warpArtic:restLength", "warpArtic:lowerLimit", "warpArtic:upperLimit")
"""Attributes that only an attachment has that none follows."""


def fixed_tendon(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    joints: Sequence[Term],
    coefficients: Sequence[float],
    *,
    force_coefficients: Sequence[float] | None = None,
    stiffness: float | None = None,
    damping: float | None = None,
    limit_stiffness: float | None = None,
    rest_length: float | None = None,
    offset: float | None = None,
    lower_limit: float | None = None,
    upper_limit: float | None = None,
    enabled: bool | None = None,
) -> Usd.Prim:
    """A WarpArticFixedTendon at a path: length = offset + the sum of coefficient * position over axes of joints.

    A joint is given by its path, or as (path, axis) where it has several free axes. Units: coefficients
    [distance/degree] on a rotation (a pulley of radius r has r*pi/180) and none on a translation, stiffness
    [force/distance], damping [force*s/distance], lengths and offset [distance].
    """
    prim_of_type(stage, path, tokens.ARTIC_FIXED_TENDON)
    edit = Edit(path)
    write_terms(stage, edit, (NAMES.joints, NAMES.indices, NAMES.axes), joints)
    edit.numbers(COEFFICIENTS, coefficients, len(joints))
    edit.numbers(FORCE_COEFFICIENTS, force_coefficients, len(joints))
    _spring(edit, stiffness, damping, limit_stiffness, offset, enabled)
    edit.number(OF_LEAVES[0], rest_length)
    edit.limits(OF_LEAVES[1], lower_limit, OF_LEAVES[2], upper_limit)
    return edit.write(stage.DefinePrim(path, tokens.ARTIC_FIXED_TENDON))


def spatial_tendon(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    *,
    stiffness: float | None = None,
    damping: float | None = None,
    limit_stiffness: float | None = None,
    offset: float | None = None,
    force_routing: str | None = None,
    enabled: bool | None = None,
) -> Usd.Prim:
    """A WarpArticSpatialTendon at a path; its points follow by `attachment`, the root first.

    Units: stiffness [force/distance], damping [force*s/distance], offset [distance].
    """
    prim_of_type(stage, path, tokens.ARTIC_SPATIAL_TENDON)
    edit = Edit(path)
    _spring(edit, stiffness, damping, limit_stiffness, offset, enabled)
    edit.word("warpArtic:forceRouting", force_routing, ROUTINGS)
    return edit.write(stage.DefinePrim(path, tokens.ARTIC_SPATIAL_TENDON))


def attachment(
    stage: Usd.Stage,
    path: str | Sdf.Path,
    body: str | Sdf.Path,
    *,
    local_pos: Sequence[float] | None = None,
    coefficient: float | None = None,
    rest_length: float | None = None,
    lower_limit: float | None = None,
    upper_limit: float | None = None,
) -> Usd.Prim:
    """A WarpArticTendonAttachment right below a spatial tendon (its root) or the attachment before it.

    `body` is a rigid body or a prim below one, `local_pos` [distance] a point in its space; `rest_length` and limits
    [distance] are for the last attachment of a branch.
    """
    prim_of_type(stage, path, tokens.ARTIC_ATTACHMENT)
    path = checked_path(path)
    _check_place(stage, path)
    lengths = dict(zip(OF_LEAVES, (rest_length, lower_limit, upper_limit)))
    if below := _attachments_below(stage, path):
        for name, value in lengths.items():
            if value is not None:
                raise SettingsError(f"{path}.{name}: is for the end of a branch, but {below[0].GetPath()} follows")
    target = prim_at(stage, body)
    if not _moves_with_body(target):
        raise StageError(f"{path}.{TENDON_BODY}: leads to {body}, which is no rigid body, nor below one")
    edit = Edit(path)
    edit.targets(TENDON_BODY, [target.GetPath()])
    edit.point("warpArtic:localPos", local_pos)
    edit.number("warpArtic:coefficient", coefficient)
    edit.number(OF_LEAVES[0], rest_length, least=0.0)
    edit.limits(OF_LEAVES[1], lower_limit, OF_LEAVES[2], upper_limit)
    return edit.write(stage.DefinePrim(path, tokens.ARTIC_ATTACHMENT))


def _spring(edit: Edit, stiffness, damping, limit_stiffness, offset, enabled) -> None:
    """What both kinds of tendons have."""
    edit.not_negative("warpArtic:", False, stiffness=stiffness, damping=damping, limitStiffness=limit_stiffness)
    edit.number("warpArtic:offset", offset)
    edit.flag("warpArtic:enabled", enabled)


def _check_place(stage: Usd.Stage, path: Sdf.Path) -> None:
    """Refuse an attachment that would belong to no tendon, be a second root, or follow what ends a branch."""
    above = stage.GetPrimAtPath(path.GetParentPath())
    if above.GetTypeName() == tokens.ARTIC_ATTACHMENT:
        for name in OF_LEAVES:
            if above.HasAttribute(name) and above.GetAttribute(name).HasAuthoredValue():
                text = f"{above.GetPath()}.{name} is for the end of a branch: author it on the last one instead"
                raise StageError(f"{path}: cannot follow {above.GetPath()}, as {text}")
    elif above.GetTypeName() == tokens.ARTIC_SPATIAL_TENDON:
        others = [one for one in _attachments_below(stage, above.GetPath()) if one.GetPath() != path]
        if others:
            raise StageError(f"{path}: would be a second root; the tendon has {others[0].GetPath()}")
    else:
        allowed = f"{tokens.ARTIC_SPATIAL_TENDON} or a {tokens.ARTIC_ATTACHMENT}"
        raise StageError(f"{path}: must be right below a {allowed}, is below {above.GetPath()}")


def _attachments_below(stage: Usd.Stage, path: Sdf.Path) -> list[Usd.Prim]:
    prim = stage.GetPrimAtPath(path)
    children = prim.GetChildren() if prim else ()
    return [child for child in children if child.GetTypeName() == tokens.ARTIC_ATTACHMENT]


def _moves_with_body(prim: Usd.Prim) -> bool:
    while prim and not prim.HasAPI(UsdPhysics.RigidBodyAPI):
        prim = prim.GetParent()
    return bool(prim)

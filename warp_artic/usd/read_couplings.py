"""What couples the degrees of freedom of an articulation: tendons, mimic joints and gears."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pxr import Usd

from warp_artic.description.articulation import Articulation
from warp_artic.description.mimic import without_rounding
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.beside import cause_outside, hangs_on_refused
from warp_artic.usd.find_dof import check_axis
from warp_artic.usd.inventory import TENDON_BODY, TENDON_JOINTS, Inventory
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_actuators import report_other_actuators
from warp_artic.usd.read_fixed_tendon import axis_place, read_fixed_tendons
from warp_artic.usd.read_fixed_tendon_prims import read_fixed_tendon_prims
from warp_artic.usd.read_gears import read_gears, refuse_stray_gears
from warp_artic.usd.read_mimic import read_mimics
from warp_artic.usd.read_mjc_springs import read_mjc_springs
from warp_artic.usd.read_mjc_tendons import read_mjc_fixed_tendons, read_mjc_spatial_tendons, report_other_tendons
from warp_artic.usd.read_spatial_tendon import read_spatial_tendons
from warp_artic.usd.read_spatial_tendon_prims import read_spatial_tendon_prims
from warp_artic.usd.read_terms import refuse_empty

OF_JOINTS = {
    tokens.TENDON_AXIS_ROOT: "the root of the fixed tendon {instance}",
    tokens.TENDON_AXIS: "an axis of the fixed tendon {instance}",
    tokens.PHYSX_MIMIC: "a mimic joint ({instance})",
    tokens.NEWTON_MIMIC: "a mimic joint",
    tokens.MJC_EQUALITY: "an equality of joints",
    tokens.ARTIC_MIMIC: "a mimic joint ({instance})",
}
"""Schemas that only joints of articulations have, and what they make of them."""
OF_LINKS = {
    tokens.ATTACHMENT_ROOT: "the spatial tendon {instance}",
    tokens.ATTACHMENT: "the tendon attachment {instance}",
    tokens.ATTACHMENT_LEAF: "the tendon leaf {instance}",
}
"""Schemas that apply to links only, and what each of them defines."""


def with_couplings(
    articulation: Articulation, inventory: Inventory, attributes: Attributes, placements: Placements
) -> Articulation:
    """The articulation with its tendons, mimic joints and gears."""
    fixed = read_fixed_tendons(articulation, inventory, attributes)
    own_fixed = read_fixed_tendon_prims(articulation, inventory, attributes)
    spatial = read_spatial_tendons(articulation, inventory, attributes, placements)
    own_spatial = read_spatial_tendon_prims(articulation, inventory, attributes, placements)
    mjc_fixed = read_mjc_fixed_tendons(articulation, inventory, attributes)
    mjc_spatial = read_mjc_spatial_tendons(articulation, inventory, attributes, placements)
    springs = read_mjc_springs(articulation, inventory, attributes)
    _report_doubles(own_fixed, fixed, lambda tendon: frozenset(tendon.dofs), attributes)
    _report_doubles(own_spatial, spatial, lambda tendon: [one.link for one in tendon.attachments], attributes)
    mimics = (*read_mimics(articulation, inventory, attributes), *read_gears(articulation, inventory, attributes))
    return replace(
        articulation,
        fixed_tendons=(*fixed, *own_fixed, *mjc_fixed, *springs),
        spatial_tendons=(*spatial, *own_spatial, *mjc_spatial),
        mimics=without_rounding(mimics, [dof.position for dof in articulation.dofs]),
    )


def _report_doubles(own: tuple, others: tuple, course: Callable, attributes: Attributes) -> None:
    """Warn of tendons of ours that run where one in a schema of others does, and may be the same one."""
    for tendon in own:
        for other in others:
            if course(tendon) == course(other):
                text = f"runs where the tendon {other.name} does: both act; if they are one, remove either"
                attributes.report.warn("tendon-double", tendon.name, text)


def refuse_strays(articulations: Iterable[Articulation], inventory: Inventory, attributes: Attributes) -> None:
    """Report tendons and mimic joints on prims that are in no articulation."""
    trees = list(articulations)
    joints = {joint.path for tree in trees for joint in tree.joints}
    links = {path for tree in trees for path in tree.bodies}
    for prim in inventory.all_prims():
        path = str(prim.GetPath())
        for schema in sorted(inventory.schemas.get(path, ())):
            kind, _, instance = schema.partition(":")
            if path in inventory.refused_joints:
                _check_refused(kind, instance, prim, inventory, attributes)
            elif kind in OF_JOINTS and path not in joints and not hangs_on_refused(path, inventory):
                found = "no joint"
                if path in inventory.joints:
                    found = f"in no articulation{cause_outside(path, inventory, attributes)}"
                text = f"is {OF_JOINTS[kind].format(instance=instance)}, but {found}; must be a joint of one"
                attributes.report.error("coupling-stray", path, text)
            if kind in OF_LINKS and path not in links:
                cause = " (it is kinematic or disabled)" if path in inventory.held else ""
                own = OF_LINKS[kind].format(instance=instance)
                text = f"has {own}, but is no link of an articulation{cause}, must be one"
                attributes.report.error("coupling-stray", path, text)
    _refuse_stray_prims(joints, links, inventory, attributes)
    refuse_stray_gears(joints, inventory, attributes)
    report_other_tendons(joints, links, inventory, attributes)
    report_other_actuators(inventory, attributes)


def _check_refused(kind: str, instance: str, prim: Usd.Prim, inventory: Inventory, attributes: Attributes) -> None:
    """Report an axis, of a joint that leads nowhere, that a tendon or mimic joint cannot have."""
    is_root_too = kind == tokens.TENDON_AXIS and inventory.has_schema(prim, f"{tokens.TENDON_AXIS_ROOT}:{instance}")
    place = None
    if kind in (tokens.PHYSX_MIMIC, tokens.ARTIC_MIMIC):
        place = (instance, str(prim.GetPath()))
    elif kind in (tokens.TENDON_AXIS_ROOT, tokens.TENDON_AXIS) and not is_root_too:
        place = axis_place(prim, instance, attributes)
    if place is not None:
        check_axis(prim, *place, inventory, attributes)


def _refuse_stray_prims(joints: set[str], links: set[str], inventory: Inventory, attributes: Attributes) -> None:
    """Report our tendons whose first joint, or whose root, is in no articulation, and attachments of no tendon."""
    error = attributes.report.error
    for path, prim in inventory.fixed_tendons.items():
        targets = [str(target) for target in attributes.targets(prim, TENDON_JOINTS)]
        place = f"{path}.{TENDON_JOINTS}"
        if targets and targets[0] in joints:
            continue
        attributes.pass_over(prim)
        if targets and hangs_on_refused(targets[0], inventory):
            continue
        if targets:
            found = "no joint"
            if targets[0] in inventory.joints:
                found = f"in no articulation{cause_outside(targets[0], inventory, attributes)}"
            text = f"leads to {targets[0]}, which is {found}; must lead to joints of one articulation"
            error("coupling-stray", place, text)
        else:
            refuse_empty(place, attributes)
    for path in inventory.spatial_tendons:
        roots = inventory.attachments_below.get(path, [])
        if len(roots) != 1:
            text = f"has {len(roots)} {tokens.ARTIC_ATTACHMENT} prims right below it, must have one: the root"
            error("tendon-root", path, text)
            continue
        targets = [str(target) for target in attributes.targets(roots[0], TENDON_BODY)]
        if not targets or inventory.body_of.get(targets[0]) not in links:
            found = f"{targets[0]}, which is no link of an articulation, nor below one" if targets else "no prim"
            place = f"{roots[0].GetPath()}.{TENDON_BODY}"
            if not attributes.report.is_refused(place):
                error("coupling-stray", place, f"leads to {found}; it must lead to a link")
    for path in inventory.attachments:
        above = path.rpartition("/")[0]
        if above not in inventory.spatial_tendons and above not in inventory.attachments:
            text = f"is right below neither a {tokens.ARTIC_SPATIAL_TENDON} nor a {tokens.ARTIC_ATTACHMENT}"
            error("coupling-stray", path, text)
    _pass_over_spatial(inventory, attributes, links)


def _pass_over_spatial(inventory: Inventory, attributes: Attributes, links: set[str]) -> None:
    """Count what belongs to spatial tendons that were refused above as reported."""
    read = {str(prim.GetPath()) for link in links for prim in inventory.tendons.get(link, ())}
    owner: dict[str, str] = {path: path for path in inventory.spatial_tendons}
    for path, prim in {**inventory.spatial_tendons, **inventory.attachments}.items():
        owner[path] = owner.get(path, owner.get(path.rpartition("/")[0], ""))
        if owner[path] not in read:
            attributes.pass_over(prim)

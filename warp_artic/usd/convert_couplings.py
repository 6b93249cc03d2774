"""Rewrites mimic joints, gears, and tendons applied to joints and links, of other schemas as ours, as understood."""

from __future__ import annotations

from dataclasses import replace

from warp_artic.description.articulation import Articulation
from warp_artic.description.mimic import Mimic
from warp_artic.usd import tokens
from warp_artic.usd.author_joints import mimic as author_mimic
from warp_artic.usd.conversion import Conversion, Rewrite
from warp_artic.usd.convert_tendons import author_fixed, author_spatial, axis_of, free_path, is_of_schema
from warp_artic.usd.read_mimic import HIGHER_TERMS, MJC_REFERENCE, quantities_of

MIMICS = (tokens.PHYSX_MIMIC, tokens.NEWTON_MIMIC, tokens.MJC_EQUALITY)
OF_JOINTS = (tokens.TENDON_AXIS_ROOT, tokens.TENDON_AXIS)
OF_LINKS = (tokens.ATTACHMENT_ROOT, tokens.ATTACHMENT, tokens.ATTACHMENT_LEAF)
PREFIXES = {
    tokens.PHYSX_MIMIC: ("physxMimicJoint:{instance}:",),
    tokens.NEWTON_MIMIC: ("newton:mimic",),
    tokens.MJC_EQUALITY: ("newton:mimic", "mjc:coef0", "mjc:coef1", MJC_REFERENCE),
    **dict.fromkeys((*OF_JOINTS, *OF_LINKS), ("physxTendon:{instance}:",)),
}
"""How the properties of each schema begin."""


def convert_couplings(conversion: Conversion) -> None:
    """Rewrite all mimic joints and gears, and all tendons that are applied to joints and links."""
    for tree in conversion.scene.articulations:
        for one in tree.mimics:
            if one.name not in conversion.inventory.gears:
                _convert_mimic(one, tree, conversion)
        for one in tree.mimics:
            if one.name in conversion.inventory.gears:
                _convert_gear(one, tree, conversion)
        _convert_tendons(tree, conversion)


def _convert_mimic(mimic: Mimic, tree: Articulation, conversion: Conversion) -> None:
    path, axis = axis_of(mimic.dofs[0], tree, conversion)
    prim = conversion.inventory.joints[path]
    schemas = conversion.applied(prim, MIMICS)
    if sum(dof.name.partition(":")[0] == path for dof in tree.dofs) > 1:
        schemas = [schema for schema in schemas if schema.partition(":")[2] in ("", axis)]
    if mimic.is_curved or any(conversion.attributes.number(prim, name) != 0.0 for name in HIGHER_TERMS):
        reason = "is not linear, which a mimic joint of ours is"
        conversion.leave((f"{path}: {schema}" for schema in schemas), reason)
        conversion.leave(
            (f"{path}.{name}" for schema in schemas for name in conversion.begun(prim, _prefix(schema))), reason
        )
        return
    if not schemas:
        return
    prefixes = {schema: _prefix(schema) for schema in schemas}
    names = [name for prefix in prefixes.values() for name in conversion.begun(prim, prefix)]
    if obstacle := conversion.obstacle(prim, names):
        conversion.leave((f"{path}: {schema}" for schema in schemas), obstacle)
        conversion.leave((f"{path}.{name}" for name in names), obstacle)
        return
    now, own = "", f"{tokens.ARTIC_MIMIC}:{axis}"
    rank = conversion.attributes.rank
    if not conversion.inventory.has_schema(prim, own) or rank(own) > min(map(rank, schemas)):
        _author(mimic, tree, conversion)
        now = f"{path}: {own}"
    for schema, prefix in prefixes.items():
        conversion.retire(prim, prefix, schema)
        conversion.rewritten.append(Rewrite(f"{path}: {schema}", now))


def _convert_gear(gear: Mimic, tree: Articulation, conversion: Conversion) -> None:
    """Rewrite a gear or a rack as a mimic joint of one of its two joints, the first of which the axis follows none."""
    prim = conversion.inventory.gears[gear.name]
    turned = replace(gear, dofs=gear.dofs[::-1], gears=(1.0, 1.0 / gear.gears[1]), offset=gear.offset / gear.gears[1])
    for mimic in (gear, turned):
        path, axis = axis_of(mimic.dofs[0], tree, conversion)
        own = f"{tokens.ARTIC_MIMIC}:{axis}"
        if own in conversion.prim(path).GetPrimTypeInfo().GetAppliedAPISchemas():
            obstacle = "couples joints of which both follow others: an axis of ours follows in one way"
            continue
        if obstacle := conversion.obstacle(conversion.inventory.joints[path], ()) or conversion.obstacle(prim, ()):
            continue
        _author(mimic, tree, conversion)
        conversion.prim(gear.name).SetActive(False)
        conversion.rewritten.append(Rewrite(f"{gear.name}: {prim.GetTypeName()}", f"{path}: {own}"))
        return
    conversion.leave((gear.name,), obstacle)


def _author(mimic: Mimic, tree: Articulation, conversion: Conversion) -> None:
    """Author a mimic joint of ours on its follower."""
    path, axis = axis_of(mimic.dofs[0], tree, conversion)
    exactly = conversion.attributes.units.authored_exactly
    pairs = list(zip(mimic.dofs[1:], mimic.gears[1:]))
    author_mimic(
        conversion.stage,
        path,
        [axis_of(leader, tree, conversion) for leader, _ in pairs],
        axis=axis,
        gears=[exactly(0.0 - gear, quantities_of(tree, (mimic.dofs[0], leader))[0]) for leader, gear in pairs],
        offset=exactly(0.0 - mimic.offset, quantities_of(tree, mimic.dofs[:2])[1]),
        natural_frequency=mimic.natural_frequency,
        damping_ratio=mimic.damping_ratio,
        enabled=mimic.enabled,
    )


def _convert_tendons(tree: Articulation, conversion: Conversion) -> None:
    """Rewrite the tendons of a tree that are applied to its joints and links."""
    joints = [conversion.inventory.joints[joint.path] for joint in tree.joints]
    links = [conversion.inventory.bodies[path] for path in tree.bodies]
    old = [(prim, conversion.applied(prim, OF_JOINTS)) for prim in joints]
    old += [(prim, conversion.applied(prim, OF_LINKS)) for prim in links]
    old = [(prim, schemas) for prim, schemas in old if schemas]
    if not old:
        return
    names = [(prim, conversion.begun(prim, _prefix(schema))) for prim, schemas in old for schema in schemas]
    obstacles = {conversion.obstacle(prim, own) for prim, own in names} - {""}
    if conversion.prim(tree.path).IsInstance():
        obstacles = {"is inside an instance, which cannot be edited"}
    if obstacles:
        reason = min(obstacles)
        conversion.leave((f"{prim.GetPath()}: {schema}" for prim, schemas in old for schema in schemas), reason)
        conversion.leave((f"{prim.GetPath()}.{name}" for prim, own in names for name in own), reason)
        return
    named: dict[str, str] = {}
    for one in tree.fixed_tendons:
        if is_of_schema(one, conversion):
            path = free_path(tree.path, one.name.partition(":")[2], conversion)
            named[one.name] = author_fixed(one, path, tree, conversion)
    for one in tree.spatial_tendons:
        if ":" in one.name:
            path = free_path(tree.path, one.name.partition(":")[2], conversion)
            named |= author_spatial(one, path, tree, conversion)
    for prim, schemas in old:
        for schema in schemas:
            kind, _, instance = schema.partition(":")
            conversion.retire(prim, _prefix(schema), schema)
            tendon = _tendon_of(tree, f"{prim.GetPath()}:{instance}", kind in OF_JOINTS, instance)
            conversion.rewritten.append(Rewrite(f"{prim.GetPath()}: {schema}", named.get(tendon, "")))


def _prefix(schema: str) -> tuple[str, ...]:
    """How the properties of an applied schema begin."""
    kind, _, instance = schema.partition(":")
    return tuple(prefix.format(instance=instance) for prefix in PREFIXES[kind])


def _tendon_of(tree: Articulation, name: str, on_joint: bool, instance: str) -> str:
    """The name under which a tendon with this axis or attachment was authored."""
    if not on_joint:
        return name
    return next((one.name for one in tree.fixed_tendons if one.name.partition(":")[2] == instance), "")

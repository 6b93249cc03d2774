"""Rewrites tendons and mimic joints of other schemas as ours, from what is understood of them."""

from __future__ import annotations

from pxr import Sdf, Tf

from warp_artic.description.articulation import Articulation
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon, SpatialTendon
from warp_artic.usd import tokens, units
from warp_artic.usd.author_joints import mimic as author_mimic
from warp_artic.usd.author_tendons import attachment, fixed_tendon, spatial_tendon
from warp_artic.usd.conversion import Conversion, Rewrite
from warp_artic.usd.read_dof import instances_of
from warp_artic.usd.read_mimic import quantities_of

MIMICS = (tokens.PHYSX_MIMIC, tokens.NEWTON_MIMIC)
OF_JOINTS = (tokens.TENDON_AXIS_ROOT, tokens.TENDON_AXIS)
OF_LINKS = (tokens.ATTACHMENT_ROOT, tokens.ATTACHMENT, tokens.ATTACHMENT_LEAF)
PREFIXES = {
    tokens.PHYSX_MIMIC: "physxMimicJoint:{instance}:",
    tokens.NEWTON_MIMIC: "newton:mimic",
    **dict.fromkeys((*OF_JOINTS, *OF_LINKS), "physxTendon:{instance}:"),
}
"""How the properties of each schema begin."""


def convert_couplings(conversion: Conversion) -> None:
    """Rewrite all tendons and mimic joints that are not in our schemas."""
    for tree in conversion.scene.articulations:
        for one in tree.mimics:
            _convert_mimic(one, tree, conversion)
        _convert_tendons(tree, conversion)


def _convert_mimic(mimic: Mimic, tree: Articulation, conversion: Conversion) -> None:
    path, axis = _axis(mimic.dofs[0], tree, conversion)
    prim = conversion.inventory.joints[path]
    schemas = conversion.applied(prim, MIMICS)
    if sum(dof.name.partition(":")[0] == path for dof in tree.dofs) > 1:
        schemas = [schema for schema in schemas if schema.partition(":")[2] in ("", axis)]
    if not schemas:
        return
    prefixes = {schema: _prefix(schema) for schema in schemas}
    names = [name for prefix in prefixes.values() for name in conversion.begun(prim, prefix)]
    if obstacle := conversion.obstacle(prim, names):
        conversion.leave((f"{path}: {schema}" for schema in schemas), obstacle)
        conversion.leave((f"{path}.{name}" for name in names), obstacle)
        return
    now = ""
    if not conversion.inventory.has_schema(prim, f"{tokens.ARTIC_MIMIC}:{axis}"):
        exactly = conversion.attributes.units.authored_exactly
        pairs = list(zip(mimic.dofs[1:], mimic.gears[1:]))
        author_mimic(
            conversion.stage,
            path,
            [_axis(leader, tree, conversion) for leader, _ in pairs],
            axis=axis,
            gears=[exactly(0.0 - gear, quantities_of(tree, (mimic.dofs[0], leader))[0]) for leader, gear in pairs],
            offset=exactly(0.0 - mimic.offset, quantities_of(tree, mimic.dofs[:2])[1]),
            natural_frequency=mimic.natural_frequency,
            damping_ratio=mimic.damping_ratio,
            enabled=mimic.enabled,
        )
        now = f"{path}: {tokens.ARTIC_MIMIC}:{axis}"
    for schema, prefix in prefixes.items():
        conversion.retire(prim, prefix, schema)
        conversion.rewritten.append(Rewrite(f"{path}: {schema}", now))


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
        if ":" in one.name:
            named[one.name] = _author_fixed(one, tree, conversion)
    for one in tree.spatial_tendons:
        if ":" in one.name:
            named |= _author_spatial(one, tree, conversion)
    for prim, schemas in old:
        for schema in schemas:
            kind, _, instance = schema.partition(":")
            conversion.retire(prim, _prefix(schema), schema)
            tendon = _tendon_of(tree, f"{prim.GetPath()}:{instance}", kind in OF_JOINTS, instance)
            conversion.rewritten.append(Rewrite(f"{prim.GetPath()}: {schema}", named.get(tendon, "")))


def _prefix(schema: str) -> str:
    """How the properties of an applied schema begin."""
    kind, _, instance = schema.partition(":")
    return PREFIXES[kind].format(instance=instance)


def _tendon_of(tree: Articulation, name: str, on_joint: bool, instance: str) -> str:
    """The name under which a tendon with this axis or attachment was authored."""
    if not on_joint:
        return name
    return next((one.name for one in tree.fixed_tendons if one.name.partition(":")[2] == instance), "")


def _author_fixed(tendon: FixedTendon, tree: Articulation, conversion: Conversion) -> str:
    exactly = conversion.attributes.units.authored_exactly
    per_position = [units.NUMBER if tree.dofs[dof].axis.is_linear else units.DISTANCE_PER_ANGLE for dof in tendon.dofs]
    prim = fixed_tendon(
        conversion.stage,
        _free_path(tree.path, tendon.name, conversion),
        [_axis(dof, tree, conversion) for dof in tendon.dofs],
        [exactly(value, quantity) for value, quantity in zip(tendon.coefficients, per_position)],
        force_coefficients=[
            exactly(value, quantity) for value, quantity in zip(tendon.force_coefficients, per_position)
        ],
        rest_length=exactly(tendon.rest_length, units.DISTANCE),
        lower_limit=exactly(tendon.lower, units.DISTANCE),
        upper_limit=exactly(tendon.upper, units.DISTANCE),
        **_spring(tendon, conversion),
    )
    return str(prim.GetPath())


def _author_spatial(tendon: SpatialTendon, tree: Articulation, conversion: Conversion) -> dict[str, str]:
    """Author a tendon; where each of its attachments is now, by name."""
    exactly = conversion.attributes.units.authored_exactly
    path = _free_path(tree.path, tendon.name, conversion)
    spatial_tendon(
        conversion.stage,
        path,
        force_routing="allSegments" if tendon.all_segments else "endSegments",
        **_spring(tendon, conversion),
    )
    leaves = {leaf.attachment: leaf for leaf in tendon.leaves}
    paths: list[str] = []
    for number, point in enumerate(tendon.attachments):
        parent = path if point.parent is None else paths[point.parent]
        paths.append(_free_path(parent, point.name, conversion))
        link = tree.links[point.link].path
        scale = conversion.placements.of(conversion.inventory.bodies[link]).scale
        lengths = {}
        if number in leaves:
            leaf = leaves[number]
            lengths = {
                "rest_length": None if leaf.rest_length is None else exactly(leaf.rest_length, units.DISTANCE),
                "lower_limit": exactly(leaf.lower, units.DISTANCE),
                "upper_limit": exactly(leaf.upper, units.DISTANCE),
            }
        attachment(
            conversion.stage,
            paths[-1],
            link,
            local_pos=[
                units.Units(float(along)).authored_exactly(component, units.DISTANCE)
                for component, along in zip(point.position, scale)
            ],
            coefficient=None if point.parent is None else point.coefficient,
            **lengths,
        )
    return {point.name: own for point, own in zip(tendon.attachments, paths)}


def _spring(tendon: FixedTendon | SpatialTendon, conversion: Conversion) -> dict:
    """What both kinds of tendons have, as arguments of the functions that author them."""
    exactly = conversion.attributes.units.authored_exactly
    return {
        "stiffness": exactly(tendon.stiffness, units.LINEAR_STIFFNESS),
        "damping": exactly(tendon.damping, units.LINEAR_DAMPING),
        "limit_stiffness": exactly(tendon.limit_stiffness, units.LINEAR_STIFFNESS),
        "offset": exactly(tendon.offset, units.DISTANCE),
        "enabled": tendon.enabled,
    }


def _axis(dof: int, tree: Articulation, conversion: Conversion) -> tuple[str, str]:
    """The joint of a dof, and the name of its axis there."""
    path = tree.dofs[dof].name.partition(":")[0]
    return path, instances_of(conversion.inventory.joints[path], tree.dofs[dof].axis)[0]


def _free_path(parent: str, name: str, conversion: Conversion) -> str:
    """A path below a prim, by the instance name of a tendon or attachment, that no prim has yet."""
    word = Tf.MakeValidIdentifier(name.partition(":")[2])
    path, number = Sdf.Path(parent).AppendChild(word), 1
    while conversion.stage.GetPrimAtPath(path):
        path, number = Sdf.Path(parent).AppendChild(f"{word}_{number}"), number + 1
    return str(path)

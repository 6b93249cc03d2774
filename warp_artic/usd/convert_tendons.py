"""Authors tendons of ours from descriptions of tendons, for conversions."""

from __future__ import annotations

from pxr import Sdf, Tf

from warp_artic.description.articulation import Articulation
from warp_artic.description.tendon import FixedTendon, SpatialTendon
from warp_artic.usd import tokens, units
from warp_artic.usd.author_tendons import attachment, fixed_tendon, spatial_tendon
from warp_artic.usd.conversion import Conversion
from warp_artic.usd.read_dof import instances_of


def is_of_schema(tendon: FixedTendon, conversion: Conversion) -> bool:
    """Whether a fixed tendon is applied to joints."""
    joint, _, instance = tendon.name.partition(":")
    prim = conversion.inventory.joints.get(joint)
    return bool(prim) and conversion.inventory.has_schema(prim, f"{tokens.TENDON_AXIS_ROOT}:{instance}")


def author_fixed(tendon: FixedTendon, path: str, tree: Articulation, conversion: Conversion) -> str:
    """Author a tendon at a path, which it gives back."""
    exactly = conversion.attributes.units.authored_exactly
    per_position = [units.NUMBER if tree.dofs[dof].axis.is_linear else units.DISTANCE_PER_ANGLE for dof in tendon.dofs]
    prim = fixed_tendon(
        conversion.stage,
        path,
        [axis_of(dof, tree, conversion) for dof in tendon.dofs],
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


def author_spatial(tendon: SpatialTendon, path: str, tree: Articulation, conversion: Conversion) -> dict[str, str]:
    """Author a tendon at a path; where each of its attachments is now, by name."""
    exactly = conversion.attributes.units.authored_exactly
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
        paths.append(free_path(parent, point.name.partition(":")[2], conversion))
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


def axis_of(dof: int, tree: Articulation, conversion: Conversion) -> tuple[str, str]:
    """The joint of a dof, and the name of its axis there."""
    path = tree.dofs[dof].name.partition(":")[0]
    return path, instances_of(conversion.inventory.joints[path], tree.dofs[dof].axis)[0]


def free_path(parent: str, name: str, conversion: Conversion) -> str:
    """A path below a prim, by the name of a tendon or attachment, that no prim has yet."""
    word = Tf.MakeValidIdentifier(name)
    path, number = Sdf.Path(parent).AppendChild(word), 1
    while conversion.stage.GetPrimAtPath(path):
        path, number = Sdf.Path(parent).AppendChild(f"{word}_{number}"), number + 1
    return str(path)

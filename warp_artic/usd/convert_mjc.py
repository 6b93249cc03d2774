"""Rewrites tendons, springs and equalities of the MuJoCo dialect as ours, from what is understood of them.

A tendon stays at its path and changes its type. A spring in a joint becomes a fixed tendon over that joint alone. An
equality of bodies becomes the joint of UsdPhysics that it is on, beside the tree.
"""

from __future__ import annotations

from pxr import Sdf

from warp_artic.description.articulation import Articulation
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.tendon import FixedTendon, SpatialTendon
from warp_artic.usd import tokens
from warp_artic.usd.conversion import Conversion, Rewrite
from warp_artic.usd.convert_tendons import author_fixed, author_spatial, free_path, is_of_schema
from warp_artic.usd.inventory import MJC_PATH

TENDON_NAMES = frozenset(
    {
        "mjc:type",
        MJC_PATH,
        "mjc:path:coef",
        "mjc:path:indices",
        "mjc:path:axes",
        "mjc:path:segments",
        "mjc:path:divisors",
        "mjc:stiffness",
        "mjc:damping",
        "mjc:springlength",
    }
)
"""Properties of a tendon that ours have a word for."""
SPRING = "mjc:stiffness"
EXCLUDED = "physics:excludeFromArticulation"
REFERENCES = ("mjc:ref", "mjc:springref")
REFERS = "is part of where springs, tendons and servos rest; ours have it in their lengths and offsets"
ACTUATOR = (
    "stays an actuator, of which a servo is read as a drive: one of UsdPhysics has no range of controls, and is in "
    "single precision"
)


def convert_mjc(conversion: Conversion) -> None:
    """Rewrite all tendons, springs in joints and equalities of bodies of the MuJoCo dialect that are simulated."""
    for tree in conversion.scene.articulations:
        for tendon in (*tree.fixed_tendons, *tree.spatial_tendons):
            if tendon.name in conversion.inventory.mjc_tendons:
                _convert_tendon(tendon, tree, conversion)
        for loop in tree.constraints_of(LoopJoint):
            _convert_equality(loop, conversion)
        for joint in tree.joints:
            _convert_springs(joint.path, tree, conversion)
            names = conversion.attributes.names(conversion.inventory.joints[joint.path])
            conversion.leave((f"{joint.path}.{name}" for name in REFERENCES if name in names), REFERS)
    for path, prim in conversion.inventory.actuators.items():
        family = tokens.ACTUATOR_TARGETS[prim.GetTypeName()].partition(":")[0]
        conversion.leave((f"{path}.{name}" for name in conversion.begun(prim, f"{family}:")), ACTUATOR)


def _convert_tendon(tendon: FixedTendon | SpatialTendon, tree: Articulation, conversion: Conversion) -> None:
    path, prim = tendon.name, conversion.inventory.mjc_tendons[tendon.name]
    names = sorted(TENDON_NAMES & conversion.attributes.names(prim))
    if obstacle := conversion.obstacle(prim, names):
        conversion.leave((f"{path}.{name}" for name in names), obstacle)
        return
    is_fixed = isinstance(tendon, FixedTendon)
    conversion.prim(path).SetTypeName(tokens.ARTIC_FIXED_TENDON if is_fixed else tokens.ARTIC_SPATIAL_TENDON)
    conversion.remove(prim, names)
    (author_fixed if is_fixed else author_spatial)(tendon, path, tree, conversion)
    conversion.rewritten.append(Rewrite(f"{path}: {tokens.MJC_TENDON}", path))


def _convert_equality(loop: LoopJoint, conversion: Conversion) -> None:
    """Leave the joint that an equality of bodies is on, without its schema."""
    prim = conversion.inventory.joints.get(loop.name)
    schemas = prim and conversion.applied(prim, tokens.MJC_OF_BODIES)
    if not schemas:
        return
    if obstacle := conversion.obstacle(prim, ()):
        conversion.leave((f"{loop.name}: {schema}" for schema in schemas), obstacle)
        return
    copy = conversion.prim(loop.name)
    copy.SetTypeName(tokens.SPHERICAL_JOINT if loop.free else tokens.FIXED_JOINT)
    copy.CreateAttribute(EXCLUDED, Sdf.ValueTypeNames.Bool, False, Sdf.VariabilityUniform).Set(True)
    for schema in schemas:
        conversion.retire(prim, "mjc:", schema)
        conversion.rewritten.append(Rewrite(f"{loop.name}: {schema}", loop.name))


def _convert_springs(joint: str, tree: Articulation, conversion: Conversion) -> None:
    """Rewrite the springs in the axes of a joint."""
    prim = conversion.inventory.joints[joint]
    springs = [
        tendon
        for tendon in tree.fixed_tendons
        if tendon.name.partition(":")[0] == joint and not is_of_schema(tendon, conversion)
        if tendon.name not in conversion.inventory.mjc_tendons
    ]
    if not springs:
        return
    attribute = f"{joint}.{SPRING}"
    obstacle = conversion.obstacle(prim, (SPRING, *REFERENCES))
    if conversion.prim(tree.path).IsInstance():
        obstacle = "is inside an instance, which cannot be edited"
    if obstacle:
        conversion.leave((attribute,), obstacle)
        return
    for spring in springs:
        name = f"{prim.GetName()}_{spring.name.partition(':')[2]}"
        path = author_fixed(spring, free_path(tree.path, name, conversion), tree, conversion)
        conversion.rewritten.append(Rewrite(attribute, path))
    conversion.remove(prim, (SPRING,))

"""What physics prims a stage has, found in one traversal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pxr import Usd

from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes

TENDON_JOINTS = "warpArtic:joints"
TENDON_BODY = "warpArtic:body"
MJC_PATH = "mjc:path"
"""Relationships by which tendons belong to an articulation."""
KINEMATIC = "physics:kinematicEnabled"
PREDICATE = Usd.PrimIsActive & Usd.PrimIsDefined & Usd.PrimIsLoaded & ~Usd.PrimIsAbstract


@dataclass
class Inventory:
    """Physics prims by path, in depth-first order as composed."""

    scenes: dict[str, Usd.Prim] = field(default_factory=dict)
    bodies: dict[str, Usd.Prim] = field(default_factory=dict)
    """Rigid bodies that move by forces."""
    held: dict[str, Usd.Prim] = field(default_factory=dict)
    """Rigid bodies that are kinematic or disabled, or those of another owner."""
    parts: dict[str, Usd.Prim] = field(default_factory=dict)
    """Disabled rigid bodies below others, of which they are a part."""
    foreign: dict[str, str] = field(default_factory=dict)
    """Of these, the bodies of another owner, by path, with the physics scene that owns them."""
    switched: set[str] = field(default_factory=set)
    """Paths of bodies that are kinematic at times, and move by forces at others."""
    joints: dict[str, Usd.Prim] = field(default_factory=dict)
    refused_joints: set[str] = field(default_factory=set)
    """Paths of the joints whose ends cannot be read, of which there are errors."""
    tree_of: dict[str, int] = field(default_factory=dict)
    """The number of the tree of each body and joint that is in one; only where joints are refused."""
    torn_trees: set[int] = field(default_factory=set)
    """Of these, the trees that a refused joint may have joined to others."""
    link_joints: set[str] = field(default_factory=set)
    """Paths of the joints that are read as constraints between links, or refused as such."""
    gears: dict[str, Usd.Prim] = field(default_factory=dict)
    """Gears, and racks with pinions."""
    roots: dict[str, Usd.Prim] = field(default_factory=dict)
    colliders: dict[str, list[Usd.Prim]] = field(default_factory=dict)
    """By the path of the body they move with; those of no body under the empty path."""
    fixed_tendons: dict[str, Usd.Prim] = field(default_factory=dict)
    spatial_tendons: dict[str, Usd.Prim] = field(default_factory=dict)
    attachments: dict[str, Usd.Prim] = field(default_factory=dict)
    """Prims of our schemas of these names."""
    mjc_tendons: dict[str, Usd.Prim] = field(default_factory=dict)
    """Prims of this schema of the MuJoCo dialect."""
    actuators: dict[str, Usd.Prim] = field(default_factory=dict)
    """Actuators of the Newton and MuJoCo dialects."""
    joint_actuators: dict[str, list[Usd.Prim]] = field(default_factory=dict)
    """Those of them on one hinge or slide, by its path."""
    attachments_below: dict[str, list[Usd.Prim]] = field(default_factory=dict)
    """By the path of the prim right above them."""
    tendons: dict[str, list[Usd.Prim]] = field(default_factory=dict)
    """Prims that are tendons, by the path of the joint that is named first, or of the link that the root is on."""
    elastic_bodies: dict[str, Usd.Prim] = field(default_factory=dict)
    """Prims that our schema of this name is applied to."""
    mesh_tendons: dict[str, Usd.Prim] = field(default_factory=dict)
    """Prims of our schema of this name."""
    others: dict[str, Usd.Prim] = field(default_factory=dict)
    """Further prims with a physics type, schema or attribute."""
    schemas: dict[str, frozenset[str]] = field(default_factory=dict)
    """Applied schemas of each prim listed here, also those whose plugin is not registered."""
    order: dict[str, int] = field(default_factory=dict)
    """Place of each prim in the traversal."""
    body_of: dict[str, str] = field(default_factory=dict)
    """The nearest rigid body at or above each prim that has one, held or not, that is no part of another one."""
    copied_colliders: int = 0
    """How many colliders there are in prims that are left out."""

    def all_prims(self) -> list[Usd.Prim]:
        """Every prim listed here, in order."""
        tendons = (self.fixed_tendons, self.spatial_tendons, self.attachments)
        mjc = (self.mjc_tendons, self.actuators)
        meshes = (self.elastic_bodies, self.mesh_tendons)
        joints = (self.joints, self.gears)
        bodies = (self.bodies, self.held, self.parts)
        groups = (self.scenes, *bodies, *joints, self.roots, *tendons, *mjc, *meshes, self.others)
        prims = {path: prim for group in groups for path, prim in group.items()}
        prims |= {str(prim.GetPath()): prim for group in self.colliders.values() for prim in group}
        return [prims[path] for path in sorted(prims, key=self.order.__getitem__)]

    def tendons_of(self, paths: Iterable[str], kind: str) -> list[Usd.Prim]:
        """The tendons of a type that belong to some joints or links, in the order of the stage."""
        found = [prim for path in paths for prim in self.tendons.get(path, ()) if prim.GetTypeName() == kind]
        return sorted(found, key=lambda prim: self.order[str(prim.GetPath())])

    def has_schema(self, prim: Usd.Prim, schema: str) -> bool:
        """Whether a schema, with its instance after a colon if it has one, is applied to a prim."""
        return schema in self.schemas.get(str(prim.GetPath()), ())

    def instances(self, prim: Usd.Prim, schema: str) -> list[str]:
        """Instance names with which a multiple-apply schema is applied to a prim."""
        prefix = schema + ":"
        applied = self.schemas.get(str(prim.GetPath()), ())
        return sorted(name[len(prefix) :] for name in applied if name.startswith(prefix))


def traverse(stage: Usd.Stage) -> list[Usd.Prim]:
    """The prims of a stage that may be read, instances included, depth first as composed."""
    return list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies(PREDICATE)))


def take_inventory(prims: list[Usd.Prim], attributes: Attributes, left_out: frozenset[int] = frozenset()) -> Inventory:
    """The inventory of the prims of a stage, without those at some places."""
    inventory = Inventory()
    for order, prim in enumerate(prims):
        if order in left_out:
            continue
        path = str(prim.GetPath())
        inventory.order[path] = order
        schemas = frozenset(prim.GetPrimTypeInfo().GetAppliedAPISchemas())
        _own(inventory, attributes, prim, path, schemas)
        _classify(inventory, attributes, prim, path, schemas)
    _leave_to_others(inventory, attributes)
    _place_tendons(inventory, attributes)
    _place_actuators(inventory, attributes)
    return inventory


def owner_of(body: Usd.Prim, inventory: Inventory, attributes: Attributes) -> str:
    """The physics scene that simulates a body: the one that it names, else the first one on the stage."""
    named = attributes.targets(body, "physics:simulationOwner")
    return str(named[0]) if named else next(iter(inventory.scenes), "")


def _leave_to_others(inventory: Inventory, attributes: Attributes) -> None:
    """Hold the bodies that are not those of the owner that is meant, where one is."""
    for path, body in tuple(inventory.bodies.items()) if attributes.owner is not None else ():
        owner = owner_of(body, inventory, attributes)
        if owner != attributes.owner:
            inventory.held[path] = inventory.bodies.pop(path)
            inventory.foreign[path] = owner


def _place_tendons(inventory: Inventory, attributes: Attributes) -> None:
    """Find the joint or link by which each of our tendons belongs to an articulation."""
    for prim in inventory.fixed_tendons.values():
        for target in attributes.targets(prim, TENDON_JOINTS)[:1]:
            inventory.tendons.setdefault(str(target), []).append(prim)
    for path, prim in inventory.spatial_tendons.items():
        roots = inventory.attachments_below.get(path, [])
        for target in attributes.targets(roots[0], TENDON_BODY)[:1] if len(roots) == 1 else ():
            inventory.tendons.setdefault(inventory.body_of.get(str(target), ""), []).append(prim)

    for prim in inventory.mjc_tendons.values():
        for target in attributes.targets(prim, MJC_PATH)[:1]:
            place = str(target)
            own = place if place in inventory.joints else inventory.body_of.get(place, "")
            inventory.tendons.setdefault(own, []).append(prim)


def _place_actuators(inventory: Inventory, attributes: Attributes) -> None:
    """Find the joint that each actuator is on."""
    for prim in inventory.actuators.values():
        name = tokens.ACTUATOR_TARGETS[prim.GetTypeName()]
        targets = [str(target) for target in attributes.targets(prim, name)]
        joint = inventory.joints.get(targets[0]) if len(targets) == 1 else None
        if joint and joint.GetTypeName() in (tokens.REVOLUTE_JOINT, tokens.PRISMATIC_JOINT):
            inventory.joint_actuators.setdefault(targets[0], []).append(prim)


def _switches(prim: Usd.Prim) -> bool:
    """Whether a body is kinematic at some time samples, and not at others."""
    attribute = prim.GetAttribute(KINEMATIC)
    return bool(attribute) and len({bool(attribute.Get(code)) for code in attribute.GetTimeSamples()}) == 2


def _own(inventory: Inventory, attributes: Attributes, prim: Usd.Prim, path: str, schemas: frozenset[str]) -> None:
    """Find the body a prim moves with: a disabled body below another one is a part of it, as UsdPhysics has it."""
    parent = path.rpartition("/")[0]
    if tokens.RIGID_BODY in schemas:
        enabled = attributes.flag(prim, "physics:rigidBodyEnabled", True)
        if not enabled and parent in inventory.body_of:
            inventory.body_of[path] = inventory.body_of[parent]
            inventory.parts[path] = prim
            return
        inventory.body_of[path] = path
        kinematic = attributes.flag(prim, KINEMATIC, False)
        if enabled and _switches(prim):
            inventory.switched.add(path)
            kinematic = False
        (inventory.bodies if enabled and not kinematic else inventory.held)[path] = prim
        return
    if parent in inventory.body_of:
        inventory.body_of[path] = inventory.body_of[parent]


def _classify(inventory: Inventory, attributes: Attributes, prim: Usd.Prim, path: str, schemas: frozenset[str]) -> None:
    kind = prim.GetTypeName()
    listed = tokens.RIGID_BODY in schemas
    if kind == tokens.SCENE:
        inventory.scenes[path] = prim
        listed = True
    if kind in tokens.JOINTS:
        inventory.joints[path] = prim
        listed = True
    if kind in tokens.GEARS:
        inventory.gears[path] = prim
        listed = True
    if kind == tokens.ARTIC_FIXED_TENDON:
        inventory.fixed_tendons[path] = prim
        listed = True
    if kind == tokens.ARTIC_SPATIAL_TENDON:
        inventory.spatial_tendons[path] = prim
        listed = True
    if kind == tokens.ARTIC_ATTACHMENT:
        inventory.attachments[path] = prim
        inventory.attachments_below.setdefault(path.rpartition("/")[0], []).append(prim)
        listed = True
    if tokens.ARTIC_ELASTIC_BODY in schemas:
        inventory.elastic_bodies[path] = prim
        listed = True
    if kind == tokens.ARTIC_MESH_TENDON:
        inventory.mesh_tendons[path] = prim
        listed = True
    if kind == tokens.MJC_TENDON:
        inventory.mjc_tendons[path] = prim
        listed = True
    if kind in tokens.ACTUATOR_TARGETS:
        inventory.actuators[path] = prim
        listed = True
    if schemas.intersection(tokens.ARTICULATION_ROOTS):
        inventory.roots[path] = prim
        listed = True
    if tokens.COLLISION in schemas:
        inventory.colliders.setdefault(inventory.body_of.get(path, ""), []).append(prim)
        listed = True
    if not listed and (kind.startswith(tokens.SCHEMA_FAMILIES) or _has_physics(attributes, prim, schemas)):
        inventory.others[path] = prim
        listed = True
    if listed:
        inventory.schemas[path] = schemas


def _has_physics(attributes: Attributes, prim: Usd.Prim, schemas: frozenset[str]) -> bool:
    return any(name.startswith(tokens.SCHEMA_FAMILIES) for name in schemas) or any(
        name.startswith(tokens.NAMESPACES) for name in attributes.names(prim)
    )

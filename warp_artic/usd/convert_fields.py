"""Rewrites what the table of dialects has a word of ours for, on scenes, links, axes of joints, drives and limits."""

from __future__ import annotations

import math

from pxr import Usd

from warp_artic.description.iterations import LEAST
from warp_artic.description.joint import WORLD, Dof
from warp_artic.usd import tokens
from warp_artic.usd.conversion import FOREIGN, Conversion, Rewrite
from warp_artic.usd.edit import Edit
from warp_artic.usd.lookup import (
    ARTICULATION_FIELDS,
    DOF_FIELDS,
    ENVELOPE_FIELDS,
    LIMIT_FIELDS,
    LINK_FIELDS,
    SCENE_FIELDS,
    Source,
    resolve,
)
from warp_artic.usd.read_dof import instances_of
from warp_artic.usd.read_scene import choose_scene
from warp_artic.usd.read_soft_limit import CONE, damps, is_without_force, limit_instances

OURS = {
    "warpArtic:joint:": tokens.ARTIC_JOINT,
    "warpArtic:drive:": tokens.ARTIC_DRIVE,
    "warpArtic:link:": tokens.ARTIC_LINK,
    "warpArtic:scene:": tokens.ARTIC_SCENE,
}
"""How our attributes begin, and the schema that has them."""
EMPTIED = {
    tokens.PHYSX_LIMIT: "physxLimit:{instance}:",
    tokens.DRIVE_ENVELOPE: "physxDrivePerformanceEnvelope:{instance}:",
    "PhysxJointAxisAPI": "physxJointAxis:{instance}:",
    "PhysxJointAPI": "physxJoint:",
    "NewtonJointAPI": "newton:",
    tokens.MJC_JOINT: "mjc:",
    "PhysxArticulationAPI": "physxArticulation:",
    "PhysxSceneAPI": "physxScene:",
    "NewtonSceneAPI": "newton:",
    "MjcSceneAPI": "mjc:",
}
"""Schemas that go with the last attribute of theirs, and how these begin."""
DIFFER = "is not that of all articulations, for which our schema of a scene has one value"


def convert_fields(conversion: Conversion) -> None:
    """Rewrite the fields of the scene that is used, and of all joints and links."""
    scene = choose_scene(conversion.inventory, conversion.attributes)
    if scene is not None:
        _convert_scene(scene, conversion)
    for tree in conversion.scene.articulations:
        for joint in tree.joints:
            prim = conversion.inventory.joints[joint.path]
            done: dict[str, list[str]] = {}
            for dof in joint.dofs:
                own = instances_of(prim, dof.axis)
                _convert(prim, DOF_FIELDS, own, dof, done, conversion)
                has_cone = joint.cone_limit is not None
                of_limit = limit_instances(prim, own, dof.limit is not None and not has_cone)
                _convert_limit(prim, of_limit, dof, done, conversion)
                if has_cone and dof.axis is not joint.cone_axis:
                    _convert_limit(prim, (CONE,), dof, done, conversion)
                if dof.drive is not None:
                    # Authored on an axis without a drive they have no effect; ours would be a drive.
                    _convert(prim, ENVELOPE_FIELDS, own, dof, done, conversion)
            ends = [tree.links[link] for link in (joint.parent, joint.child) if link != WORLD]
            _retire(prim, done, conversion, stacks=any(link.is_massless for link in ends))
        for path in tree.bodies:
            prim, done = conversion.inventory.bodies[path], {}
            _convert(prim, LINK_FIELDS, ("",), None, done, conversion)
            _retire(prim, done, conversion)


def _convert_scene(scene: Usd.Prim, conversion: Conversion) -> None:
    """Rewrite the time step, and the values of articulations where all have the same."""
    done: dict[str, list[str]] = {}
    rates = {name: sources for name, sources in SCENE_FIELDS.items() if name not in ARTICULATION_FIELDS}
    _convert(scene, rates, ("",), None, done, conversion)
    _retire(scene, done, conversion)
    for field in ARTICULATION_FIELDS if conversion.scene.articulations else ():
        _convert_common(field, scene, conversion)


def _convert_common(field: str, scene: Usd.Prim, conversion: Conversion) -> None:
    """Rewrite a value of a scene and of its articulations, of which ours has one for all."""
    inventory, trees = conversion.inventory, conversion.scene.articulations
    own, *others = SCENE_FIELDS[field]
    prims = [*inventory.roots.values(), *(inventory.bodies[next(iter(tree.bodies))] for tree in trees)]
    sources = dict.fromkeys(prims, ARTICULATION_FIELDS[field]) | {scene: others}
    old = {prim: _names(own_sources, ("",), prim, conversion) for prim, own_sources in sources.items()}
    values = {getattr(tree, field) for tree in trees}
    obstacles = {conversion.obstacle(prim, names) for prim, names in old.items() if names} - {""}
    if len(values) > 1 or obstacles:
        for prim, names in old.items():
            conversion.leave((f"{prim.GetPath()}.{name}" for name in names), min(obstacles, default=DIFFER))
        return
    (value,) = values
    if value is not None and any(old.values()):
        edit = Edit(str(scene.GetPath()))
        if field in LEAST:
            edit.iterations(own.attribute, value, field)
        else:
            number = conversion.attributes.units.authored_exactly(value, own.linear)
            edit.number(own.attribute, number, least=0.0, uniform=True)
        edit.apply(tokens.ARTIC_SCENE)
        edit.write(conversion.prim(str(scene.GetPath())))
    now = f"{scene.GetPath()}.{own.attribute}"
    for prim, names in old.items():
        found = {name: conversion.attributes.number(prim, name, quantity=own.linear) for name in names}
        is_used = {name: number == value for name, number in found.items()}
        _retire(prim, {name: [now] if used else [] for name, used in is_used.items()}, conversion)


def _convert_limit(
    prim: Usd.Prim, instances: tuple[str, ...], dof: Dof, done: dict[str, list[str]], conversion: Conversion
) -> None:
    """Rewrite what happens beyond a limit; Newton alone has a word for no force, and damping without effect."""
    attributes, inventory = conversion.attributes, conversion.inventory
    stiffness, damping = (
        resolve(attributes, prim, field, LIMIT_FIELDS[field], instances, dof.axis.is_linear, inventory)
        for field in ("stiffness", "damping")
    )
    old = {
        field: [name for name in _names(LIMIT_FIELDS[field], instances, prim, conversion) if name.startswith(FOREIGN)]
        for field in ("stiffness", "damping")
    }
    is_idle = damping is not None and not damps(stiffness, damping)
    obstacle = conversion.obstacle(prim, [name for names in old.values() for name in names])
    if is_without_force(stiffness, damping):
        obstacle = "leaves a joint free beyond its bounds, for which our schema has no word"
    elif is_idle and damping.attribute.rpartition(".")[2] not in old["damping"]:
        obstacle = "makes a limit hard that has a damping in our schema"
    if obstacle:
        conversion.leave((f"{prim.GetPath()}.{name}" for names in old.values() for name in names), obstacle)
        fields = {field: sources for field, sources in LIMIT_FIELDS.items() if field not in old}
    elif is_idle:
        done |= {name: done.get(name, []) for name in old["damping"]}
        fields = {field: sources for field, sources in LIMIT_FIELDS.items() if field != "damping"}
    else:
        fields = LIMIT_FIELDS
    _convert(prim, fields, instances, dof, done, conversion)


def _convert(
    prim: Usd.Prim,
    fields: dict[str, tuple[Source, ...]],
    instances: tuple[str, ...],
    dof: Dof | None,
    done: dict[str, list[str]],
    conversion: Conversion,
) -> None:
    """Author the fields of one scene, axis or link; `done` gets the names that are replaced, and what by."""
    path, is_linear = str(prim.GetPath()), dof is None or dof.axis.is_linear
    edit = Edit(path)
    for field, (own, *others) in fields.items():
        old = [name for name in _names(others, instances, prim, conversion) if name.startswith(FOREIGN)]
        schema = next((schema for prefix, schema in OURS.items() if own.attribute.startswith(prefix)), None)
        if not old or schema is None:
            continue
        if obstacle := conversion.obstacle(prim, old):
            conversion.leave((f"{path}.{name}" for name in old), obstacle)
            continue
        sources = fields[field]
        used = resolve(conversion.attributes, prim, field, sources, instances, is_linear, conversion.inventory)
        name = own.attribute.format(instance=instances[0])
        for one in old:
            done.setdefault(one, [])
        if used is None or used.attribute.rpartition(".")[2] not in old:
            continue
        if math.isinf(used.value) and not own.unbounded:
            continue  # a limit that is infinitely stiff is a hard one, as one without stiffness
        done[used.attribute.rpartition(".")[2]].append(f"{path}.{name}")
        quantity = own.quantity(is_linear)
        number = conversion.attributes.units.authored_exactly(used.value, quantity)
        edit.number(name, number, infinite=own.unbounded, uniform=schema == tokens.ARTIC_SCENE)
        edit.apply(f"{schema}:{instances[0]}" if instances[0] else schema)
    if edit.has_values(""):
        edit.write(conversion.prim(path))


def _names(sources: list[Source], instances: tuple[str, ...], prim: Usd.Prim, conversion: Conversion) -> list[str]:
    """Attributes of a prim that sources have a say in."""
    found = []
    for source in sources:
        for instance in instances if "{instance}" in source.attribute else ("",):
            name = source.attribute.format(instance=instance)
            schema = f"{source.schema}:{instance}"
            if name in conversion.attributes.names(prim):
                if not source.schema or conversion.inventory.has_schema(prim, schema):
                    found.append(name)
    return found


def _retire(prim: Usd.Prim, done: dict[str, list[str]], conversion: Conversion, stacks: bool = False) -> None:
    """Take out what is replaced, and the schemas that have nothing else but that a joint stacks."""
    path, left = prim.GetPath(), {left.path for left in conversion.left}
    gone = {name for name in done if f"{path}.{name}" not in left}  # a value for two fields can be left for one
    conversion.remove(prim, gone)
    every = conversion.attributes.names(prim)
    removed = {name for name in every if f"{path}.{name}" in conversion.removed}
    for schema in conversion.applied(prim, EMPTIED):
        kind, _, instance = schema.partition(":")
        prefix = EMPTIED[kind].format(instance=instance)
        replaced = any(name.startswith(prefix) for name in removed)
        if stacks and kind == tokens.MJC_JOINT:
            continue
        if replaced and not any(name.startswith(prefix) for name in every - removed):
            conversion.prim(str(path)).RemoveAppliedSchema(schema)
    for name, own in done.items():
        conversion.rewritten += [Rewrite(f"{path}.{name}", one) for one in own or [""]]

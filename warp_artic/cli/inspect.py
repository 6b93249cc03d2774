"""`warp-artic inspect`: what is understood of a stage, in SI units and in those of the stage."""

from __future__ import annotations

import json
import math

from pxr import UsdGeom, UsdPhysics

from warp_artic.cli.check import as_json, counts
from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import DriveKind
from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.scene import Scene
from warp_artic.usd import units
from warp_artic.usd.open_stage import open_stage
from warp_artic.usd.read_stage import read_stage
from warp_artic.usd.units import Units


def run(arguments) -> int:
    """Show what is understood."""
    stage = open_stage(arguments.stage)
    scene = read_stage(stage)
    unit = Units(UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage))
    content = _scene(scene, unit)
    if arguments.json:
        print(json.dumps(content, indent=1))
        return 0
    up = UsdGeom.GetStageUpAxis(stage)
    print(f"{arguments.stage}: metersPerUnit {unit.meters:g}, kilogramsPerUnit {unit.kilograms:g}, {up} up")
    print(_text(content))
    for item in scene.diagnostics:
        print(item)
    print(counts(scene.diagnostics))
    return 0


def _scene(scene: Scene, unit: Units) -> dict:
    """A scene as plain values; infinities are None."""
    return {
        "gravity": list(scene.gravity),
        "time_step": scene.time_step,
        "dof_names": list(scene.dof_names),
        "link_names": list(scene.link_names),
        "articulations": [_articulation(tree, unit) for tree in scene.articulations],
        "diagnostics": [as_json(item) for item in scene.diagnostics],
    }


def _articulation(tree: Articulation, unit: Units) -> dict:
    return {
        "path": tree.path,
        "base": "floating" if tree.is_floating else "fixed",
        "position_iterations": tree.position_iterations,
        "velocity_iterations": tree.velocity_iterations,
        "links": [_link(link) for link in tree.links],
        "joints": [_joint(joint, tree, unit) for joint in tree.joints],
    }


def _link(link: Link) -> dict:
    return {
        "path": link.path,
        "mass": link.mass,
        "center_of_mass": list(link.center_of_mass),
        "inertia": list(link.inertia),
        "linear_damping": link.linear_damping,
        "angular_damping": link.angular_damping,
    }


def _joint(joint: Joint, tree: Articulation, unit: Units) -> dict:
    cone = joint.cone_limit
    return {
        "path": joint.path,
        "kind": _kind(joint),
        "parent": "world" if joint.parent == WORLD else tree.links[joint.parent].path,
        "child": tree.links[joint.child].path,
        "reversed": joint.reversed,
        "cone_limit": None if cone is None else [_finite(cone.angle_1), _finite(cone.angle_2)],
        "dofs": [_dof(dof, unit) for dof in joint.dofs],
    }


def _kind(joint: Joint) -> str:
    """What a joint with these dofs is called."""
    if len(joint.dofs) == 1:
        return "prismatic" if joint.dofs[0].axis.is_linear else "revolute"
    return ("fixed", "", "two rotations", "spherical")[len(joint.dofs)]


def _dof(dof: Dof, unit: Units) -> dict:
    """A dof in SI, and the same quantities in the units of the stage under `authored`."""
    kinds = _OF_A_TRANSLATION if dof.axis.is_linear else _OF_A_ROTATION
    numbers = _numbers(dof)
    return {
        "name": dof.name,
        "axis": dof.axis.value,
        "drive_kind": dof.drive.kind.value if dof.drive else None,
        "si": {name: _finite(value) for name, (_, value) in numbers.items()},
        "authored": {name: _finite(value / unit.si(1.0, kinds[kind])) for name, (kind, value) in numbers.items()},
    }


def _numbers(dof: Dof) -> dict[str, tuple[str, float]]:
    """The numbers of a dof by name, each with its kind, in SI."""
    found = {
        "position": ("position", dof.position),
        "velocity": ("velocity", dof.velocity),
        "armature": ("armature", dof.armature),
        "velocity_limit": ("velocity", dof.velocity_limit),
    }
    if dof.limit:
        found["limit.lower"] = ("position", dof.limit.lower)
        found["limit.upper"] = ("position", dof.limit.upper)
    if dof.drive:
        prefix = "acceleration " if dof.drive.kind is DriveKind.ACCELERATION else ""
        found["drive.stiffness"] = (f"{prefix}stiffness", dof.drive.stiffness)
        found["drive.damping"] = (f"{prefix}damping", dof.drive.damping)
        found["drive.position_target"] = ("position", dof.drive.position_target)
        found["drive.velocity_target"] = ("velocity", dof.drive.velocity_target)
        found["drive.max_force"] = ("effort", dof.drive.max_force)
    if dof.friction:
        found["friction.static_effort"] = ("effort", dof.friction.static_effort)
        found["friction.dynamic_effort"] = ("effort", dof.friction.dynamic_effort)
        found["friction.viscous"] = ("damping", dof.friction.viscous)
    return found


_OF_A_ROTATION = {
    "armature": units.INERTIA,
    "position": units.ANGLE,
    "velocity": units.ANGULAR_VELOCITY,
    "effort": units.TORQUE,
    "stiffness": units.ANGULAR_STIFFNESS,
    "damping": units.ANGULAR_DAMPING,
    "acceleration stiffness": units.ANGULAR_ACCELERATION_STIFFNESS,
    "acceleration damping": units.ANGULAR_ACCELERATION_DAMPING,
}
_OF_A_TRANSLATION = {
    "armature": units.MASS,
    "position": units.DISTANCE,
    "velocity": units.LINEAR_VELOCITY,
    "effort": units.FORCE,
    "stiffness": units.LINEAR_STIFFNESS,
    "damping": units.LINEAR_DAMPING,
    "acceleration stiffness": units.LINEAR_ACCELERATION_STIFFNESS,
    "acceleration damping": units.LINEAR_ACCELERATION_DAMPING,
}
"""What kinds of number a dof has, and their units on a stage."""


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _text(content: dict) -> str:
    """What a person reads."""
    gravity = " ".join(f"{value:g}" for value in content["gravity"])
    step = content["time_step"]
    lines = [f"gravity {gravity} m/s2, time step {'not authored' if step is None else f'{step:g} s'}"]
    for tree in content["articulations"]:
        lines += ["", f"articulation {tree['path']}: {tree['base']} base, {len(tree['links'])} links"]
        lines += [f"  link  {link['path']}  {link['mass']:.6g} kg" for link in tree["links"]]
        for joint in tree["joints"]:
            lines.append(f"  joint {joint['path']}  {joint['kind']}, {joint['parent']} -> {joint['child']}")
            lines += [f"    {line}" for dof in joint["dofs"] for line in _dof_lines(dof)]
    return "\n".join([*lines, ""])


def _dof_lines(dof: dict) -> list[str]:
    """Name, axis and each number of a dof that is set, with the stage's unit in brackets."""
    lines = [f"dof {dof['name'].rpartition('/')[2]}  {dof['axis']}  {dof['drive_kind'] or 'no'} drive"]
    for name, value in dof["si"].items():
        if value is None or (value == 0.0 and "." not in name):
            continue
        authored = dof["authored"][name]
        lines.append(f"  {name:<22} {value:.6g}" + ("" if authored == value else f"  [{authored:.6g} authored]"))
    return lines

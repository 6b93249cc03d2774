"""`warp-artic inspect`: what is understood of a stage, in SI units and as it is authored."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

from warp_artic.cli.check import as_json, counts
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon, SpatialTendon
from warp_artic.usd.read_stage import Inspection, inspect_stage

LIMIT_NUMBERS = ("stiffness", "damping", "restitution", "bounce_threshold")
FRICTION_NUMBERS = ("static_effort", "dynamic_effort", "viscous", "coefficient")
DRIVE_NUMBERS = (
    "stiffness",
    "damping",
    "position_target",
    "velocity_target",
    "max_force",
    "max_impulse",
    "max_velocity",
    "velocity_gradient",
    "velocity_resistance",
)
"""What is shown of the parts of a dof."""


def run(arguments) -> int:
    """Show what is understood; 1 when the stage has an error, and so gives no scene."""
    inspection = inspect_stage(arguments.stage, dialects=arguments.dialects)
    content = _content(inspection)
    if arguments.json:
        print(json.dumps(content, indent=1))
    else:
        print(_text(content))
        for item in inspection.diagnostics:
            print(item)
        print(counts(inspection.diagnostics))
    return int(inspection.scene is None)


def _content(inspection: Inspection) -> dict:
    """All that is understood, as plain values; infinities are None."""
    content = {"diagnostics": [as_json(item) for item in inspection.diagnostics]}
    if inspection.scene is None:
        return content
    scene = inspection.scene
    return {
        "gravity": list(scene.gravity),
        "time_step": scene.time_step,
        "solver": scene.solver,
        "integrator": scene.integrator,
        "precision": scene.precision,
        "dof_names": list(scene.dof_names),
        "link_names": list(scene.link_names),
        "articulations": [_articulation(tree, inspection) for tree in scene.articulations],
        **content,
    }


def _articulation(tree: Articulation, inspection: Inspection) -> dict:
    return {
        "path": tree.path,
        "base": "floating" if tree.is_floating else "fixed",
        "position_iterations": tree.position_iterations,
        "velocity_iterations": tree.velocity_iterations,
        "links": [_link(link, inspection) for link in tree.links],
        "joints": [_joint(joint, tree, inspection) for joint in tree.joints],
        "fixed_tendons": [_coupling(tendon, tree, inspection) for tendon in tree.fixed_tendons],
        "spatial_tendons": [_route(tendon, tree, inspection) for tendon in tree.spatial_tendons],
        "mimics": [_coupling(mimic, tree, inspection) for mimic in tree.mimics],
    }


def _coupling(coupling: FixedTendon | Mimic, tree: Articulation, inspection: Inspection) -> dict:
    """A coupling of dofs, with their names for their indices."""
    content = {key: _finite(value) if isinstance(value, float) else value for key, value in asdict(coupling).items()}
    content["dofs"] = [tree.dofs[dof].name for dof in coupling.dofs]
    return {**content, "authored": _readings(coupling.name, inspection)}


def _route(tendon: SpatialTendon, tree: Articulation, inspection: Inspection) -> dict:
    """A spatial tendon, with the paths of links and the names of attachments for their indices."""
    names = [attachment.name for attachment in tendon.attachments]
    content = asdict(tendon)
    for attachment in content["attachments"]:
        attachment["link"] = tree.links[attachment["link"]].path
        attachment["parent"] = None if attachment["parent"] is None else names[attachment["parent"]]
    for leaf in content["leaves"]:
        leaf["attachment"] = names[leaf["attachment"]]
        leaf["authored"] = _readings(leaf["attachment"], inspection)
        for side in ("lower", "upper"):
            leaf[side] = _finite(leaf[side])
    return {**content, "authored": _readings(tendon.name, inspection)}


def _link(link: Link, inspection: Inspection) -> dict:
    return {
        "path": link.path,
        "mass": link.mass,
        "center_of_mass": list(link.center_of_mass),
        "inertia": list(link.inertia),
        "linear_damping": link.linear_damping,
        "angular_damping": link.angular_damping,
        "max_linear_velocity": _finite(link.max_linear_velocity),
        "max_angular_velocity": _finite(link.max_angular_velocity),
        "authored": _readings(link.path, inspection),
    }


def _joint(joint: Joint, tree: Articulation, inspection: Inspection) -> dict:
    cone = joint.cone_limit
    return {
        "path": joint.path,
        "kind": _kind(joint),
        "parent": "world" if joint.parent == WORLD else tree.links[joint.parent].path,
        "child": tree.links[joint.child].path,
        "reversed": joint.reversed,
        "cone_limit": None if cone is None else [_finite(cone.angle_1), _finite(cone.angle_2)],
        "dofs": [_dof(dof, inspection) for dof in joint.dofs],
    }


def _kind(joint: Joint) -> str:
    """What a joint with these dofs is called."""
    if len(joint.dofs) == 1:
        return "prismatic" if joint.dofs[0].axis.is_linear else "revolute"
    return ("fixed", "", "two rotations", "spherical")[len(joint.dofs)]


def _dof(dof: Dof, inspection: Inspection) -> dict:
    return {
        "name": dof.name,
        "axis": dof.axis.value,
        "drive_kind": dof.drive.kind.value if dof.drive else None,
        "si": {name: _finite(value) for name, value in _numbers(dof).items()},
        "authored": _readings(dof.name, inspection),
    }


def _numbers(dof: Dof) -> dict[str, float]:
    """The numbers of a dof by name, in SI; those of its parts where it has them."""
    found = {"position": dof.position, "velocity": dof.velocity}
    if dof.limit:
        found |= {"lower": dof.limit.lower, "upper": dof.limit.upper}
        found |= {f"limit_{name}": getattr(dof.limit, name) for name in LIMIT_NUMBERS}
    if dof.drive:
        found |= {name: getattr(dof.drive, name) for name in DRIVE_NUMBERS}
    if dof.friction:
        found |= {name: getattr(dof.friction, name) for name in FRICTION_NUMBERS}
    return found | {"armature": dof.armature, "velocity_limit": dof.velocity_limit}


def _readings(name: str, inspection: Inspection) -> list[dict]:
    """Where the values of a dof or link came from."""
    readings = [asdict(reading) for reading in inspection.readings.get(name, ())]
    return [{key: _finite(value) if isinstance(value, float) else value for key, value in r.items()} for r in readings]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _text(content: dict) -> str:
    """What a person reads."""
    if "articulations" not in content:
        return "the stage cannot be simulated as authored"
    gravity = " ".join(f"{value:g}" for value in content["gravity"])
    step = content["time_step"]
    lines = [f"gravity {gravity} m/s^2, time step {'not authored' if step is None else f'{step:g} s'}"]
    lines[0] += "".join(f", {content[name]}" for name in ("solver", "integrator", "precision") if content[name])
    for tree in content["articulations"]:
        lines += ["", f"articulation {tree['path']}: {tree['base']} base, {len(tree['links'])} links"]
        for link in tree["links"]:
            lines.append(f"  link  {link['path']}  {link['mass']:.6g} kg")
            lines += [f"    {line}" for line in _reading_lines(link["authored"])]
        for joint in tree["joints"]:
            lines.append(f"  joint {joint['path']}  {joint['kind']}, {joint['parent']} -> {joint['child']}")
            lines[-1] += ", authored from child to parent" if joint["reversed"] else ""
            if joint["cone_limit"]:
                lines.append(f"    cone  {_degrees(*joint['cone_limit'])}")
            lines += [f"    {line}" for dof in joint["dofs"] for line in _dof_lines(dof)]
        lines += [f"  {line}" for line in _coupling_lines(tree)]
    return "\n".join([*lines, ""])


def _coupling_lines(tree: dict) -> list[str]:
    """Tendons and mimic joints, in SI units."""
    lines = []
    for tendon in tree["fixed_tendons"]:
        length = _sum(tendon["coefficients"], tendon["dofs"])
        lines.append(f"fixed tendon {tendon['name']}  length {tendon['offset']:.6g} {length} m")
        force = _sum(tendon["force_coefficients"], tendon["dofs"])
        if force != length:
            lines.append(f"  its force acts by {force}")
        lines += _spring_lines(tendon)
        lines.append(f"  {_length(tendon)}")
    for tendon in tree["spatial_tendons"]:
        leaves = ", ".join(leaf["attachment"] for leaf in tendon["leaves"])
        lines.append(f"spatial tendon {tendon['name']}  {len(tendon['attachments'])} attachments, to {leaves}")
        lines += _spring_lines(tendon)
        lines[-1] += f", offset {tendon['offset']:.6g} m"
        lines[-1] += ", every segment pulls" if tendon["all_segments"] else ""
        lines += [f"  leaf {leaf['attachment']}  {_length(leaf)}" for leaf in tendon["leaves"]]
    for mimic in tree["mimics"]:
        relation = _sum(mimic["gears"], mimic["dofs"])
        kind = "hard"
        if mimic["natural_frequency"] > 0:
            kind = f"{mimic['natural_frequency']:.6g} rad/s, damping ratio {mimic['damping_ratio']:.6g}"
        lines.append(f"mimic {mimic['name']}  {mimic['offset']:.6g} {relation} = 0, {_state(mimic)}{kind}")
    return lines


def _sum(coefficients: list[float], dofs: list[str]) -> str:
    """A sum over dofs, by their last names."""
    return " ".join(f"{c:+.6g} {dof.rpartition('/')[2]}" for c, dof in zip(coefficients, dofs))


def _length(tendon: dict) -> str:
    """Rest length and limits of a fixed tendon or a leaf."""
    rest = tendon["rest_length"]
    rest = "that at the start" if rest is None else f"{rest:.6g} m"
    lower, upper = ("free" if tendon[side] is None else f"{tendon[side]:.6g}" for side in ("lower", "upper"))
    return f"rest length {rest}, limits {lower} .. {upper} m"


def _spring_lines(tendon: dict) -> list[str]:
    values = (f"{tendon[name]:.6g}" for name in ("stiffness", "damping", "limit_stiffness"))
    return ["  {}stiffness {} N/m, damping {} N s/m, limit stiffness {} N/m".format(_state(tendon), *values)]


def _state(coupling: dict) -> str:
    return "" if coupling["enabled"] else "switched off, "


def _dof_lines(dof: dict) -> list[str]:
    """Name and axis of a dof, its limit, and each authored value in both units."""
    lines = [f"dof   {dof['name'].rpartition('/')[2]}  {dof['axis']}, {dof['drive_kind'] or 'no'} drive"]
    si = dof["si"]
    if "lower" in si:
        linear = dof["axis"].startswith("trans")
        bounds = " .. ".join("free" if si[side] is None else f"{si[side]:.6g}" for side in ("lower", "upper"))
        lines.append(f"  limit            {bounds} {'m' if linear else 'rad'}")
        lines[-1] += "" if linear else f"  [{_degrees(si['lower'], si['upper'])}]"
    return lines + _reading_lines(dof["authored"])


def _reading_lines(readings: list[dict]) -> list[str]:
    """Each authored value in both units."""
    lines = []
    for reading in readings:
        value, authored = ("unbounded" if reading[k] is None else f"{reading[k]:.6g}" for k in ("value", "authored"))
        place = reading["attribute"].rpartition(".")[2]
        lines.append(
            f"  {reading['field']:<16} {value} {reading['unit']}  [{place} {authored} {reading['authored_unit']}]"
        )
    return lines


def _degrees(*angles: float | None) -> str:
    return " .. ".join("free" if angle is None else f"{math.degrees(angle):.6g}" for angle in angles) + " deg"

"""`warp-artic inspect`: what is understood of a stage, in SI units and as it is authored, and where it came from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict

from warp_artic.cli.check import as_json
from warp_artic.cli.inspect_contacts import contact_pairs, mechanisms
from warp_artic.cli.inspect_meshes import elastic_body, mesh_tendon, mesh_totals
from warp_artic.cli.inspect_tables import blocks
from warp_artic.cli.inspect_values import plain, readings_of, sourced, units_of
from warp_artic.cli.table import show
from warp_artic.description.articulation import Articulation
from warp_artic.description.constraint import Constraint
from warp_artic.description.contact_pair import ContactPair
from warp_artic.description.joint import WORLD, Axis, Dof, Joint
from warp_artic.description.limit import ConeLimit
from warp_artic.description.link import Link
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon, SpatialTendon
from warp_artic.description.validate import principal_moments
from warp_artic.usd import units
from warp_artic.usd.lookup import (
    DOF_FIELDS,
    ENVELOPE_FIELDS,
    LENGTH_FIELDS,
    LIMIT_FIELDS,
    LINK_FIELDS,
    TENDON_FIELDS,
    TREE_FIELDS,
)
from warp_artic.usd.read_stage import Inspection, inspect_stage
from warp_artic.usd.report import SCENE

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
LINK_NUMBERS = (
    "mass",
    "center_of_mass",
    "inertia",
    "linear_damping",
    "angular_damping",
    "max_linear_velocity",
    "max_angular_velocity",
    "gravity_scale",
)
LINK_UNITS = {
    "mass": units.MASS.si,
    "center_of_mass": units.DISTANCE.si,
    "principal_inertia": units.INERTIA.si,
    **{name: sources[0].linear.si for name, sources in LINK_FIELDS.items()},
}
"""What is shown of a link, in SI units."""
OF_TREES = ("position_iterations", "velocity_iterations", "sleep_threshold", *TREE_FIELDS)
"""Values of a tree."""
TENDON_NUMBERS = ("stiffness", "damping", "limit_stiffness", "offset")
LENGTH_NUMBERS = ("rest_length", "lower", "upper")
MIMIC = "mimic_"
"""How the fields of a mimic joint begin, which are kept with those of the following dof."""
MIMIC_VALUES = {
    "mimic_gear": "gears",
    "mimic_coef1": "gears",
    **dict.fromkeys(("mimic_coef2", "mimic_coef3", "mimic_coef4"), "curve"),
    "mimic_offset": "offset",
    "mimic_coef0": "offset",
    "mimic_natural_frequency": "natural_frequency",
    "mimic_damping_ratio": "damping_ratio",
}
"""What a mimic joint has of those fields."""
COEFFICIENTS = {"coefficients": "coefficient", "force_coefficients": "force_coefficient"}
"""What the readings of a fixed tendon are called that has these lists."""


def run(arguments) -> int:
    """Show what is understood; 1 when the stage has an error, and so gives no scene."""
    inspection = inspect_stage(arguments.stage, dialects=arguments.dialects)
    shown = content(inspection)
    if arguments.json:
        print(json.dumps(shown, indent=1))
    else:
        show(blocks(shown))
    return int(inspection.scene is None)


def content(inspection: Inspection) -> dict:
    """All that is understood, as plain values; infinities are None."""
    trees, scene = inspection.articulations, inspection.scene
    settings = {}
    if scene is not None:
        settings = {
            "gravity": list(scene.gravity),
            "time_step": scene.time_step,
            "solver": scene.solver,
            "integrator": scene.integrator,
            "precision": scene.precision,
            "sleep_after": plain(scene.sleep_after),
            "dof_names": list(scene.dof_names),
            "link_names": list(scene.link_names),
        }
    return {
        "can_be_simulated": scene is not None,
        **settings,
        "authored": readings_of(inspection.readings.get(SCENE, ())),
        "totals": _totals(trees) | mesh_totals(inspection.meshes),
        "articulations": [_articulation(tree, inspection) for tree in trees],
        "mechanisms": mechanisms(trees, scene),
        "contact_pairs": contact_pairs(trees),
        "elastic_bodies": [elastic_body(one, inspection.readings) for one in inspection.meshes.elastic_bodies],
        "mesh_tendons": [mesh_tendon(one, inspection.readings) for one in inspection.meshes.mesh_tendons],
        "diagnostics": [as_json(item) for item in inspection.diagnostics],
    }


def _totals(trees: Iterable[Articulation]) -> dict:
    """How much there is of everything."""
    trees = list(trees)
    dofs = [dof for tree in trees for dof in tree.dofs]
    return {
        "articulations": len(trees),
        "links": sum(len(tree.bodies) for tree in trees),
        "mass": sum(link.mass for tree in trees for link in tree.links),
        "joints": sum(len(tree.joints) for tree in trees),
        "dofs": len(dofs),
        "drives": sum(dof.drive is not None for dof in dofs),
        "limits": sum(dof.limit is not None for dof in dofs),
        "fixed_tendons": sum(len(tree.fixed_tendons) for tree in trees),
        "spatial_tendons": sum(len(tree.spatial_tendons) for tree in trees),
        "mimics": sum(len(tree.mimics) for tree in trees),
        "constraints": sum(len(_constraints(tree)) for tree in trees),
        "contact_pairs": sum(len(tree.constraints_of(ContactPair)) for tree in trees),
    }


def _articulation(tree: Articulation, inspection: Inspection) -> dict:
    # The path may be that of a link too, with readings of its own.
    own = [one for one in inspection.readings.get(tree.path, ()) if one.field in OF_TREES]
    return {
        "path": tree.path,
        "base": "floating" if tree.is_floating else "fixed",
        "position_iterations": tree.position_iterations,
        "velocity_iterations": tree.velocity_iterations,
        "sleep_threshold": tree.sleep_threshold,
        "starts_asleep": tree.starts_asleep,
        "max_linear_velocity": plain(tree.max_linear_velocity),
        "max_angular_velocity": plain(tree.max_angular_velocity),
        "authored": readings_of(own),
        "links": [_link(link, inspection) for link in tree.links],
        "joints": [_joint(joint, tree, inspection) for joint in tree.joints],
        "fixed_tendons": [_fixed(tendon, tree, inspection) for tendon in tree.fixed_tendons],
        "spatial_tendons": [_spatial(tendon, tree, inspection) for tendon in tree.spatial_tendons],
        "mimics": [_mimic(mimic, tree, inspection) for mimic in tree.mimics],
        "constraints": [_constraint(one, tree, inspection) for one in _constraints(tree)],
        "loop_axes": [axis for loop in tree.constraints_of(LoopJoint) for axis in _loop_axes(loop, inspection)],
    }


def _fixed(tendon: FixedTendon, tree: Articulation, inspection: Inspection) -> dict:
    """A fixed tendon, with the names of dofs for their indices."""
    values = plain(asdict(tendon)) | {"dofs": [tree.dofs[dof].name for dof in tendon.dofs]}
    readings = inspection.readings.get(tendon.name, ())
    values["units"] = units_of(TENDON_FIELDS | LENGTH_FIELDS)
    return {**values, **sourced((*TENDON_NUMBERS, *LENGTH_NUMBERS, *COEFFICIENTS), readings, COEFFICIENTS)}


def _mimic(mimic: Mimic, tree: Articulation, inspection: Inspection) -> dict:
    """A mimic joint, with the names of dofs for their indices."""
    values = plain(asdict(mimic)) | {"dofs": [tree.dofs[dof].name for dof in mimic.dofs]}
    own = [one for one in inspection.readings.get(mimic.name, ()) if one.field.startswith(MIMIC)]
    found = {MIMIC_VALUES[one.field]: one.dialect for one in own}
    sources = {name: found.get(name, "default") for name in dict.fromkeys(MIMIC_VALUES.values())}
    return {**values, "sources": sources, "authored": readings_of(own)}


def _constraints(tree: Articulation) -> list[Constraint]:
    """Those that are no pairs of colliders, which are told together."""
    return [one for one in tree.constraints if not isinstance(one, ContactPair)]


def _constraint(constraint: Constraint, tree: Articulation, inspection: Inspection) -> dict:
    """A constraint of a further kind, with the paths of links for their indices."""
    trees = dict.fromkeys(constraint.LINKS, tree)
    if constraint.articulation1:
        trees[constraint.LINKS[-1]] = next(
            one for one in inspection.articulations if one.path == constraint.articulation1
        )
    ends = {field: getattr(constraint, field) for field in constraint.LINKS}
    paths = {field: "world" if link == WORLD else trees[field].links[link].path for field, link in ends.items()}
    values = plain(asdict(constraint)) | paths
    readings = inspection.readings.get(constraint.name, ())
    shown = {
        "kind": constraint.NOUN,
        **values,
        "words": constraint.words,
        "links": list(constraint.LINKS),
        "units": constraint.UNITS,
    }
    return {**shown, **sourced(constraint.UNITS, readings)}


def _spatial(tendon: SpatialTendon, tree: Articulation, inspection: Inspection) -> dict:
    """A spatial tendon, with the paths of links and the names of attachments for their indices."""
    names = [attachment.name for attachment in tendon.attachments]
    values = asdict(tendon)
    for number, attachment in enumerate(values["attachments"]):
        attachment["link"] = tree.links[attachment["link"]].path
        attachment["parent"] = None if attachment["parent"] is None else names[attachment["parent"]]
        own = [one for one in inspection.readings.get(names[number], ()) if one.field == "coefficient"]
        attachment |= sourced(("coefficient",), own)
    for leaf in values["leaves"]:
        leaf["attachment"] = names[leaf["attachment"]]
        own = [one for one in inspection.readings.get(leaf["attachment"], ()) if one.field in LENGTH_NUMBERS]
        leaf |= {"units": units_of(LENGTH_FIELDS), **sourced(LENGTH_NUMBERS, own)}
    values["units"] = units_of(TENDON_FIELDS)
    return {**plain(values), **sourced(TENDON_NUMBERS, inspection.readings.get(tendon.name, ()))}


def _link(link: Link, inspection: Inspection) -> dict:
    readings = [one for one in inspection.readings.get(link.path, ()) if one.field in LINK_NUMBERS]
    return {
        "path": link.path,
        **{name: plain(getattr(link, name)) for name in LINK_NUMBERS},
        "principal_inertia": list(principal_moments(link.inertia)),
        "units": LINK_UNITS,
        **sourced(LINK_NUMBERS, readings),
    }


def _joint(joint: Joint, tree: Articulation, inspection: Inspection) -> dict:
    cone = joint.cone_limit
    return {
        "path": joint.path,
        "kind": _kind(joint),
        "parent": "world" if joint.parent == WORLD else tree.links[joint.parent].path,
        "child": tree.links[joint.child].path,
        "reversed": joint.reversed,
        "cone_limit": None if cone is None else [plain(cone.angle_1), plain(cone.angle_2)],
        "cone_stiffness": None if cone is None else cone.stiffness,
        "cone_damping": None if cone is None else cone.damping,
        "dofs": [_dof(dof, cone, inspection) for dof in joint.dofs],
    }


def _kind(joint: Joint) -> str:
    """What a joint with these dofs is called."""
    slides = sum(dof.axis.is_linear for dof in joint.dofs)
    turns = len(joint.dofs) - slides
    if len(joint.dofs) < 2 or not slides:
        return "prismatic" if slides else ("fixed", "revolute", _two_rotations(joint), "spherical")[turns]
    found = ("", "translation", "two translations", "three translations")[slides]
    return found + ("", ", rotation", f", {_two_rotations(joint)}", ", three rotations")[turns]


def _two_rotations(joint: Joint) -> str:
    """Which two rotations a joint has, if it has two."""
    swings = ", ".join(_letter(dof.axis) for dof in joint.rotations if dof.axis is not joint.cone_axis)
    if joint.is_universal:
        return f"universal (twist {_letter(joint.cone_axis)}, swing {swings})"
    return f"zero-twist (swing {swings})"


def _letter(axis: Axis) -> str:
    return axis.value[-1].lower()


def _dof(dof: Dof, cone: ConeLimit | None, inspection: Inspection) -> dict:
    """A dof, of a swing that a cone bounds with what the cone has."""
    readings = [one for one in inspection.readings.get(dof.name, ()) if not one.field.startswith(MIMIC)]
    numbers = _numbers(dof) | {one.field: one.value for one in readings if one.field == "cone_angle"}
    if cone is not None and "cone_angle" in numbers:
        numbers |= {"limit_stiffness": cone.stiffness, "limit_damping": cone.damping}
    return {
        "name": dof.name,
        "axis": dof.axis.value,
        "drive_kind": dof.drive.kind.value if dof.drive else None,
        "counts_turns": not dof.wraps,
        "targets_over_time": _tracks(dof),
        "si": plain(numbers),
        "units": _dofunits_of(dof),
        **sourced(numbers, readings),
    }


def _loop_axes(loop: LoopJoint, inspection: Inspection) -> list[dict]:
    """The axes of a loop joint on which something acts, as those of joints of trees."""
    return [
        {**_dof(dof, loop.cone_limit, inspection), "axis": axis.name.rpartition(":")[2]}
        for axis, dof in zip(loop.axes, loop.dofs)
    ]


def _tracks(dof: Dof) -> dict[str, dict]:
    """The targets and gains of a drive that change over time."""
    names = ("position", "velocity", "stiffness", "damping")
    tracks = {} if dof.drive is None else {name: getattr(dof.drive, f"{name}_track") for name in names}
    return {name: plain(asdict(track)) for name, track in tracks.items() if track is not None}


def _dofunits_of(dof: Dof) -> dict[str, str]:
    """The SI units of all that the dof may have."""
    is_linear, kind = dof.axis.is_linear, dof.drive.kind.value if dof.drive else "force"
    tables = DOF_FIELDS | ENVELOPE_FIELDS | {f"limit_{name}": sources for name, sources in LIMIT_FIELDS.items()}
    tables |= {name: DOF_FIELDS[f"{kind}_{name}"] for name in ("stiffness", "damping")}
    names = ("position", "velocity", "lower", "upper", "cone_angle", *(f"limit_{name}" for name in LIMIT_NUMBERS))
    names += (*DRIVE_NUMBERS, *FRICTION_NUMBERS, "armature", "velocity_limit")
    return {name: tables.get(name, DOF_FIELDS["position"])[0].quantity(is_linear).si for name in names}


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

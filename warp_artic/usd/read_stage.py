"""A USD stage becomes a scene, in SI units and radians; the stage is never edited."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pxr import Usd, UsdGeom, UsdPhysics

from warp_artic.description.articulation import Articulation
from warp_artic.description.diagnostic import Diagnostic, Severity
from warp_artic.description.inertia_range import inertias_out_of_range
from warp_artic.description.joint import WORLD
from warp_artic.description.scene import Scene
from warp_artic.description.tendon_mobility import not_opposing
from warp_artic.description.validate import findings
from warp_artic.description.validate_meshes import mesh_findings
from warp_artic.errors import StageError
from warp_artic.garbage import collection_paused
from warp_artic.usd import tokens
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.changes import transform_changes
from warp_artic.usd.copies import Copy, Family, Places, find_families, take_inventory_once
from warp_artic.usd.dialects import complete_order
from warp_artic.usd.instances import Instanced, with_instances
from warp_artic.usd.inventory import Inventory, traverse
from warp_artic.usd.joint_ends import JointEnds, read_joint_ends
from warp_artic.usd.layer_units import report_layer_units
from warp_artic.usd.link_joints import with_joints_between
from warp_artic.usd.not_simulated import report_not_simulated
from warp_artic.usd.open_stage import open_stage, reading
from warp_artic.usd.open_starts import report_open_starts
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_articulation import read_articulation
from warp_artic.usd.read_base_motion import moves_over_time
from warp_artic.usd.read_contacts import read_contacts, with_contacts
from warp_artic.usd.read_couplings import refuse_strays
from warp_artic.usd.read_dof import report_far_targets
from warp_artic.usd.read_hand_over import HandOverReader
from warp_artic.usd.read_joint import check_axes
from warp_artic.usd.read_meshes import Meshes, read_meshes
from warp_artic.usd.read_mjc_equalities import is_equality_of_bodies, why_disabled
from warp_artic.usd.read_obstacles import with_obstacles
from warp_artic.usd.read_scene import SceneSettings, read_scene
from warp_artic.usd.read_skel_joints import read_skel_joints
from warp_artic.usd.read_skel_targets import SkelTargets
from warp_artic.usd.read_sleep import report_woken
from warp_artic.usd.read_track import start_code
from warp_artic.usd.read_trees import find_torn_trees, plan_trees, report_loop, split_beside, split_between_roots
from warp_artic.usd.replicate import Readings, Replicator
from warp_artic.usd.report import Reading, Report
from warp_artic.usd.units import Units
from warp_artic.usd.unused import report_unused

OF_BODIES = (
    "physics:velocity",
    "physics:angularVelocity",
    "physics:kinematicEnabled",
    "physics:startsAsleep",
    "physics:simulationOwner",
    "physxRigidBody:",
    "warpArtic:link:",
)
"""How attributes begin that a body has which is none of its own."""
SMALLEST_UNIT, LARGEST_UNIT = 1e-9, 1e9
"""Allowed metres and kilograms in a unit of the stage."""


@dataclass(frozen=True)
class Inspection:
    """Everything that is read from a stage."""

    scene: Scene | None
    """None where there are errors."""
    diagnostics: tuple[Diagnostic, ...]
    """Errors first, then warnings, then notes."""
    readings: Mapping[str, list[Reading]] = field(default_factory=dict)
    """Where values come from, by the names that `Report.readings` has."""
    articulations: tuple[Articulation, ...] = ()
    """Those that can be read, also where there are errors."""
    meshes: Meshes = Meshes()
    """The same of elastic bodies and the tendons on them."""

    @property
    def checked_scene(self) -> Scene:
        """The scene.

        Raises:
            StageError: There are errors; one line for each.
        """
        if self.scene is None:
            errors = (finding for finding in self.diagnostics if finding.severity is Severity.ERROR)
            raise StageError("\n".join(f"{error.path}: {error.message}" for error in errors))
        return self.scene


@dataclass(frozen=True)
class _Read:
    """What is made of the prims of a stage."""

    scene: Scene | None
    articulations: tuple[Articulation, ...]
    meshes: Meshes


def read_stage(
    stage: str | os.PathLike | Usd.Stage, *, dialects: Sequence[str] = (), owner: str | None = None
) -> Scene:
    """The scene of a stage, given by its path or opened; its warnings and notes are in `Scene.diagnostics`.

    Args:
        stage: A file, or an open stage.
        dialects: Schema families that come first where several author the same; the others follow as in `DIALECTS`.
        owner: Path of the physics scene whose bodies are simulated (`physics:simulationOwner`, else the first scene);
            other bodies are static. By default all bodies are simulated.

    Raises:
        SettingsError: A schema family is not known.
        StageError: The stage cannot be opened, or cannot be simulated as authored; one line for each error.
    """
    return inspect_stage(stage, dialects=dialects, owner=owner).checked_scene


def check_stage(stage: str | os.PathLike | Usd.Stage, *, dialects: Sequence[str] = ()) -> list[Diagnostic]:
    """Errors, warnings and notes of a stage, in this order; raises only where it cannot be opened."""
    return list(inspect_stage(stage, dialects=dialects).diagnostics)


def inspect_stage(
    stage: str | os.PathLike | Usd.Stage, *, dialects: Sequence[str] = (), owner: str | None = None
) -> Inspection:
    """Everything that is read from a stage; raises only where it cannot be opened, or a schema family is not known."""
    order = complete_order(dialects)
    stage = open_stage(stage)
    # Reading makes no garbage: collections took 0.4 s of 1.0 s for 1,000 references of a robot.
    with collection_paused(), reading(stage):
        instanced = with_instances(stage)
        prims = traverse(instanced.stage)
        families = find_families(prims)
        inspection = _inspect(instanced, prims, order, owner, families)
        # What is wrong in one copy may be right in another one.
        return _inspect(instanced, prims, order, owner, []) if families and inspection.scene is None else inspection


def _inspect(
    instanced: Instanced, prims: list[Usd.Prim], dialects: tuple[str, ...], owner: str | None, families: list[Family]
) -> Inspection:
    """All that is understood of a stage, of which some prims may be copies of others."""
    stage, report = instanced.stage, Report()
    for path, text in instanced.told:
        report.warn("point-instancer", path, text)
    _check_times(stage, report)
    attributes = Attributes(start_time(stage), _read_units(stage, report), report, dialects, owner)
    _report_composition(stage, report)
    placements = Placements(attributes)
    inventory, copies = take_inventory_once(prims, families, attributes, placements)
    places = Places(inventory.order, copies)
    read = _read(stage, inventory, copies, places, attributes, placements)
    report_layer_units(stage, inventory, attributes)  # once, not of each copy
    diagnostics = tuple(sorted(report.diagnostics, key=places.rank))
    readings = Readings(report.readings, places, inventory)
    scene = None if report.errors else replace(read.scene, diagnostics=diagnostics)
    return Inspection(scene, diagnostics, readings, read.articulations, read.meshes)


def start_time(stage: Usd.Stage) -> Usd.TimeCode:
    """The time at which a stage is read: its start time, else zero."""
    return Usd.TimeCode(start_code(stage))


def _check_times(stage: Usd.Stage, report: Report) -> None:
    """Refuse rates and time codes at which nothing can be read or written."""
    root = stage.GetRootLayer()
    of_stage = {
        "timeCodesPerSecond": stage.GetTimeCodesPerSecond(),
        "framesPerSecond": stage.GetFramesPerSecond(),
        "startTimeCode": stage.GetStartTimeCode(),
        "endTimeCode": stage.GetEndTimeCode(),
    }
    for name, own in of_stage.items():
        for value in (getattr(root, name), own):  # the session may have another one
            if name.endswith("PerSecond") and not 0.0 < value < math.inf:
                report.error("stage-time", "/", f"{name} is {value:g}, must be positive and finite")
            elif not math.isfinite(value):
                report.error("stage-time", "/", f"{name} is {value:g}, must be finite")


def _read_units(stage: Usd.Stage, report: Report) -> Units:
    meters, kilograms = UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage)
    if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        report.note("meters-per-unit", "/", f"metersPerUnit is not authored: a unit of length is {meters:g} m")
    for name, value in (("metersPerUnit", meters), ("kilogramsPerUnit", kilograms)):
        if not (SMALLEST_UNIT <= value <= LARGEST_UNIT):
            text = f"{name} is {value:g}, must be from {SMALLEST_UNIT:g} to {LARGEST_UNIT:g}"
            report.error("stage-units", "/", text)
            return Units()
    return Units(meters, kilograms)


def _report_composition(stage: Usd.Stage, report: Report) -> None:
    """Report references and the like that lead nowhere, and payloads that are not loaded."""
    for error in stage.GetCompositionErrors():
        report.warn("composition", error.rootSite.path, " ".join(str(error).split()))
    first, *more = sorted({*stage.FindLoadable()} - {*stage.GetLoadSet()}) or [None]
    if first is not None:
        also = f"; so it is with {len(more)} more" if more else ""
        report.note("payload-unloaded", first, f"its payload is not loaded: nothing in it is simulated{also}")


def _read(
    stage: Usd.Stage,
    inventory: Inventory,
    copies: list[Copy],
    places: Places,
    attributes: Attributes,
    placements: Placements,
) -> _Read:
    """The scene, or None, with errors in the report; and what can be read of it."""
    report = attributes.report
    settings = read_scene(stage, inventory, attributes)
    if not inventory.bodies and not inventory.elastic_bodies:
        report.error(
            "articulation-missing",
            "/",
            "no articulation and no rigid body to simulate on this stage, and no elastic body; at least one prim needs "
            "PhysicsRigidBodyAPI or WarpArticElasticBodyAPI",
        )
    placements.place(inventory.bodies.values())
    _report_held(inventory, attributes)
    joints, others = _read_joints(inventory, attributes, placements)
    joined = [*joints, *others]
    joints, between = split_between_roots(joints, inventory, attributes)
    joints, beside = split_beside(joints, attributes)
    plans = plan_trees(joints, inventory, attributes, beside)
    find_torn_trees(plans, joints, inventory, attributes)
    others += between + beside + [joints[edge] for plan in plans for edge in plan.loops]
    articulations = [
        read_articulation(plan, joints, others, settings, inventory, attributes, placements) for plan in plans
    ]
    skel_joints = read_skel_joints(inventory, attributes)
    skeletons = SkelTargets(skel_joints, inventory, attributes, placements)
    articulations = [None if tree is None else skeletons.followed(tree) for tree in articulations]
    hand_overs = HandOverReader(skel_joints, inventory, attributes).read(articulations)
    articulations = with_joints_between(articulations, others, inventory, attributes)
    _report_others(others, attributes)
    _report_not_followed(joined, articulations, inventory, attributes)
    if None not in articulations:
        refuse_strays(articulations, inventory, attributes)
    meshes = read_meshes(inventory, attributes, placements)
    trees = tuple(tree for tree in articulations if tree is not None)
    contacts = read_contacts(trees, inventory, copies, attributes, placements)
    report_not_simulated(inventory, attributes)
    report_unused(inventory, attributes)
    for finding in mesh_findings(_scene(trees, settings, places, meshes)):
        report.add(finding)
    if report.errors or None in articulations:
        return _Read(None, trees, meshes)
    scene = _scene(articulations, settings, places, meshes)
    for finding in findings(scene):
        if finding.severity is Severity.ERROR:
            report.add(finding)
    if report.errors:
        return _Read(None, scene.articulations, meshes)
    for tree in articulations:
        for path, text in inertias_out_of_range(tree, settings.words.get("precision", "float32")):
            report.warn("inertia-range", path, text)
        report_far_targets(tree, inventory, attributes)
    mobilities = {tree.path: not_opposing(tree) for tree in articulations}
    replicator = Replicator(copies, articulations, inventory, attributes, placements)
    for copy in copies:
        for tree, made in replicator.articulations_of(copy):
            articulations.append(made)
            found = mobilities[tree.path]
            same = {copy.path(name): mobility for name, mobility in found.items()}
            mobilities[made.path] = same if _starts_alike(tree, made) else not_opposing(made)
    _report_pumping(mobilities, report)
    trees, islands = with_contacts(articulations, contacts, meshes, attributes)
    meshes = with_obstacles(meshes, contacts, attributes)
    scene = replace(_scene(trees, settings, places, meshes), island_contacts=islands, hand_overs=hand_overs)
    report_open_starts(scene, report)
    report_woken(scene, report)
    return _Read(scene, scene.articulations, meshes)


def _scene(articulations: Sequence[Articulation], settings: SceneSettings, places: Places, meshes: Meshes) -> Scene:
    """The scene of articulations, in the order of the stage."""
    links = [path for tree in articulations for path in tree.bodies]
    joints = [joint for tree in articulations for joint in tree.joints]
    return Scene(
        articulations=tuple(sorted(articulations, key=lambda tree: places.of(tree.links[0].path))),
        elastic_bodies=meshes.elastic_bodies,
        mesh_tendons=meshes.mesh_tendons,
        gravity=settings.gravity,
        gravity_tracks=settings.gravity_tracks,
        time_step=settings.time_step,
        sleep_after=settings.sleep["sleep_after"].value if "sleep_after" in settings.sleep else None,
        **settings.words,
        link_names=tuple(sorted(links, key=places.of)),
        dof_names=tuple(dof.name for joint in sorted(joints, key=lambda j: places.of(j.path)) for dof in joint.dofs),
    )


def _starts_alike(tree: Articulation, other: Articulation) -> bool:
    """Whether two trees that differ in where they are start with the same positions."""
    pairs = zip(tree.joints, other.joints)
    return all(
        first.position == second.position
        for joint, made in pairs
        if joint.parent == WORLD
        for first, second in zip(joint.dofs, made.dofs)
    )


def _report_pumping(mobilities: dict[str, dict[str, float]], report: Report) -> None:
    """Say which fixed tendons can gain energy."""
    for name, mobility in (item for found in mobilities.values() for item in found.items()):
        text = (
            f"its force does not oppose its change of length: c^T M^-1 r is {mobility:.4g} 1/kg at the start, of "
            "its coefficients c and force coefficients r; where it is not above zero the tendon can gain energy"
        )
        report.warn("tendon-gains-energy", name, text)


def _report_held(inventory: Inventory, attributes: Attributes) -> None:
    """Say which bodies do not move, and count their attributes as reported."""
    for path, prim in inventory.held.items():
        owner = inventory.foreign.get(path)
        why = "is kinematic or disabled" if owner is None else f"is simulated by {owner or 'another owner'}"
        attributes.report.note("body-held", path, f"{why}: it stays where it is authored, or moves as it is animated")
        names = (name for name in attributes.names(prim) if name.startswith(tokens.NAMESPACES))
        attributes.report.used.update(f"{path}.{name}" for name in names)
    for path, prim in inventory.parts.items():
        attributes.report.note("body-held", path, f"is disabled: it is a part of {inventory.body_of[path]}")
        names = (name for name in attributes.names(prim) if name.startswith(OF_BODIES))
        attributes.report.used.update(f"{path}.{name}" for name in names)
        if transform_changes(UsdGeom.Xformable(prim)):
            text = "moves over time; as a part of another body it is where it is at the start"
            attributes.report.warn("time-samples", path, text)


def _report_not_followed(joints: list[JointEnds], articulations, inventory: Inventory, attributes: Attributes) -> None:
    """Warn of joints to kinematic bodies that move, and do not carry the mechanism that is joined to them."""
    trees = [tree for tree in articulations if tree is not None and tree.base_motion is not None]
    carrier_of = {path: tree.base_motion.path for tree in trees for path in tree.bodies}
    for ends in joints:
        carrier, body = ends.carrier, ends.end0.body or ends.end1.body
        if carrier is None or carrier_of.get(body) == carrier or not moves_over_time(inventory.held[carrier]):
            continue
        text = (
            f"joins {body} to {carrier}, which is kinematic and moves over time, but does not carry its tree: the "
            f"joint stays where it is at the start; it follows {carrier} where the tree hangs on it by another joint, "
            "which may be a PhysicsJoint that leaves all axes free"
        )
        attributes.report.warn("time-samples", ends.path, text)


def _read_joints(
    inventory: Inventory, attributes: Attributes, placements: Placements
) -> tuple[list[JointEnds], list[JointEnds]]:
    """The ends of the joints that can be branches of trees, and of others; what is neither is reported."""
    found: list[JointEnds] = []
    others: list[JointEnds] = []
    for path, prim in inventory.joints.items():
        if why := why_disabled(prim, inventory, attributes):
            attributes.report.note("joint-disabled", path, f"{why} and ignored")
            attributes.report.used.update(f"{path}.{name}" for name in attributes.names(prim))
            continue
        ends = read_joint_ends(prim, inventory, attributes, placements)
        if ends is None:
            if prim.GetTypeName() in tokens.TREE_JOINTS:
                check_axes(prim, inventory, attributes)
            attributes.pass_over(prim)
            continue
        is_beside = is_equality_of_bodies(prim, inventory) or prim.GetTypeName() == tokens.DISTANCE_JOINT
        if is_beside or attributes.flag(prim, "physics:excludeFromArticulation", False):
            others.append(ends)
        else:
            found.append(ends)
    return found, others


def _report_others(others: list[JointEnds], attributes: Attributes) -> None:
    """Say which joints are neither branches of trees nor between links that are read."""
    for ends in others:
        report_loop(ends.prim, "joins a body that cannot be read", attributes)

"""warp_artic: articulated-body simulation for USD, in NVIDIA Warp.

import warp_artic as wa

scene = wa.read_stage("arm.usda")
simulation = wa.Simulation(scene)
recording = simulation.record(steps=480)
wa.write_results("arm.usda", recording, "arm_baked.usdc")
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from warp_artic.usd.schemas import register_plugins

if TYPE_CHECKING:
    from warp_artic import author as author
    from warp_artic import jax as jax
    from warp_artic import torch as torch
    from warp_artic.batch.identify import identify as identify
    from warp_artic.batch.plan import Plan as Plan
    from warp_artic.batch.plan import Record as Record
    from warp_artic.batch.plan import Vary as Vary
    from warp_artic.batch.plan import read_plan as read_plan
    from warp_artic.batch.results import open_batch as open_batch
    from warp_artic.batch.vector_env import Task as Task
    from warp_artic.batch.vector_env import VectorEnv as VectorEnv
    from warp_artic.description.articulation import Articulation as Articulation
    from warp_artic.description.base_motion import BaseMotion as BaseMotion
    from warp_artic.description.base_motion import SurfaceVelocity as SurfaceVelocity
    from warp_artic.description.collider import Collider as Collider
    from warp_artic.description.collider import CollisionGroup as CollisionGroup
    from warp_artic.description.collider import ContactFilter as ContactFilter
    from warp_artic.description.constraint import Constraint as Constraint
    from warp_artic.description.contact_pair import ContactPair as ContactPair
    from warp_artic.description.contact_slots import ContactSlots as ContactSlots
    from warp_artic.description.contact_slots import with_contact_slots as with_contact_slots
    from warp_artic.description.contact_slots import without_contacts as without_contacts
    from warp_artic.description.diagnostic import Diagnostic as Diagnostic
    from warp_artic.description.diagnostic import Severity as Severity
    from warp_artic.description.distance import Distance as Distance
    from warp_artic.description.drive import Drive as Drive
    from warp_artic.description.drive import DriveKind as DriveKind
    from warp_artic.description.elastic_body import ElasticBody as ElasticBody
    from warp_artic.description.elastic_body import ElasticLaw as ElasticLaw
    from warp_artic.description.elastic_body import ElasticMaterial as ElasticMaterial
    from warp_artic.description.elastic_body import NodeAttachment as NodeAttachment
    from warp_artic.description.elastic_body import PlaneState as PlaneState
    from warp_artic.description.friction import Friction as Friction
    from warp_artic.description.hand_over import HandOver as HandOver
    from warp_artic.description.island_contacts import IslandContacts as IslandContacts
    from warp_artic.description.joint import WORLD as WORLD
    from warp_artic.description.joint import Axis as Axis
    from warp_artic.description.joint import Dof as Dof
    from warp_artic.description.joint import Joint as Joint
    from warp_artic.description.limit import ConeLimit as ConeLimit
    from warp_artic.description.limit import Limit as Limit
    from warp_artic.description.link import Link as Link
    from warp_artic.description.loop_joint import LoopJoint as LoopJoint
    from warp_artic.description.mesh_tendon import BodyPoint as BodyPoint
    from warp_artic.description.mesh_tendon import LinkPoint as LinkPoint
    from warp_artic.description.mesh_tendon import MeshTendon as MeshTendon
    from warp_artic.description.mesh_tendon import TensionLaw as TensionLaw
    from warp_artic.description.mesh_tendon import WorldPoint as WorldPoint
    from warp_artic.description.mimic import Mimic as Mimic
    from warp_artic.description.obstacle import Obstacle as Obstacle
    from warp_artic.description.pose import Pose as Pose
    from warp_artic.description.scene import Scene as Scene
    from warp_artic.description.shape import Seam as Seam
    from warp_artic.description.shape import Shape as Shape
    from warp_artic.description.shape import ShapeKind as ShapeKind
    from warp_artic.description.surface import CombineMode as CombineMode
    from warp_artic.description.surface import Surface as Surface
    from warp_artic.description.tendon import Attachment as Attachment
    from warp_artic.description.tendon import FixedTendon as FixedTendon
    from warp_artic.description.tendon import SpatialTendon as SpatialTendon
    from warp_artic.description.tendon import TendonLeaf as TendonLeaf
    from warp_artic.description.track import Track as Track
    from warp_artic.errors import ArticError as ArticError
    from warp_artic.errors import DescriptionError as DescriptionError
    from warp_artic.errors import HostError as HostError
    from warp_artic.errors import SettingsError as SettingsError
    from warp_artic.errors import SolveError as SolveError
    from warp_artic.errors import StageError as StageError
    from warp_artic.sim.record.recording import Recording as Recording
    from warp_artic.sim.rollout import rollout as rollout
    from warp_artic.sim.run.incoming_forces import IncomingForces as IncomingForces
    from warp_artic.sim.simulation import Simulation as Simulation
    from warp_artic.sim.solve_tendons import solve_tendons as solve_tendons
    from warp_artic.sim.suite.registered import ContactPoint as ContactPoint
    from warp_artic.solver.settings import SolverSettings as SolverSettings
    from warp_artic.usd.read_stage import check_stage as check_stage
    from warp_artic.usd.read_stage import read_stage as read_stage
    from warp_artic.usd.schemas import schema_root as schema_root
    from warp_artic.usd.write_results import write_results as write_results

_PUBLIC = {
    "ArticError": "warp_artic.errors",
    "DescriptionError": "warp_artic.errors",
    "HostError": "warp_artic.errors",
    "SettingsError": "warp_artic.errors",
    "SolveError": "warp_artic.errors",
    "StageError": "warp_artic.errors",
    "ContactPoint": "warp_artic.sim.suite.registered",
    "Scene": "warp_artic.description.scene",
    "Articulation": "warp_artic.description.articulation",
    "Link": "warp_artic.description.link",
    "Joint": "warp_artic.description.joint",
    "Dof": "warp_artic.description.joint",
    "Axis": "warp_artic.description.joint",
    "Drive": "warp_artic.description.drive",
    "DriveKind": "warp_artic.description.drive",
    "Limit": "warp_artic.description.limit",
    "ConeLimit": "warp_artic.description.limit",
    "Friction": "warp_artic.description.friction",
    "Pose": "warp_artic.description.pose",
    "FixedTendon": "warp_artic.description.tendon",
    "SpatialTendon": "warp_artic.description.tendon",
    "Attachment": "warp_artic.description.tendon",
    "TendonLeaf": "warp_artic.description.tendon",
    "Mimic": "warp_artic.description.mimic",
    "Constraint": "warp_artic.description.constraint",
    "ContactPair": "warp_artic.description.contact_pair",
    "ContactSlots": "warp_artic.description.contact_slots",
    "HandOver": "warp_artic.description.hand_over",
    "IslandContacts": "warp_artic.description.island_contacts",
    "Collider": "warp_artic.description.collider",
    "CollisionGroup": "warp_artic.description.collider",
    "ContactFilter": "warp_artic.description.collider",
    "Surface": "warp_artic.description.surface",
    "CombineMode": "warp_artic.description.surface",
    "Seam": "warp_artic.description.shape",
    "Shape": "warp_artic.description.shape",
    "ShapeKind": "warp_artic.description.shape",
    "Distance": "warp_artic.description.distance",
    "LoopJoint": "warp_artic.description.loop_joint",
    "ElasticBody": "warp_artic.description.elastic_body",
    "ElasticMaterial": "warp_artic.description.elastic_body",
    "MeshTendon": "warp_artic.description.mesh_tendon",
    "Obstacle": "warp_artic.description.obstacle",
    "BaseMotion": "warp_artic.description.base_motion",
    "SurfaceVelocity": "warp_artic.description.base_motion",
    "BodyPoint": "warp_artic.description.mesh_tendon",
    "ElasticLaw": "warp_artic.description.elastic_body",
    "LinkPoint": "warp_artic.description.mesh_tendon",
    "NodeAttachment": "warp_artic.description.elastic_body",
    "PlaneState": "warp_artic.description.elastic_body",
    "TensionLaw": "warp_artic.description.mesh_tendon",
    "WorldPoint": "warp_artic.description.mesh_tendon",
    "WORLD": "warp_artic.description.joint",
    "Diagnostic": "warp_artic.description.diagnostic",
    "Severity": "warp_artic.description.diagnostic",
    "Task": "warp_artic.batch.vector_env",
    "VectorEnv": "warp_artic.batch.vector_env",
    "Track": "warp_artic.description.track",
    "IncomingForces": "warp_artic.sim.run.incoming_forces",
    "Plan": "warp_artic.batch.plan",
    "Record": "warp_artic.batch.plan",
    "Vary": "warp_artic.batch.plan",
    "identify": "warp_artic.batch.identify",
    "open_batch": "warp_artic.batch.results",
    "read_plan": "warp_artic.batch.plan",
    "Recording": "warp_artic.sim.record.recording",
    "Simulation": "warp_artic.sim.simulation",
    "SolverSettings": "warp_artic.solver.settings",
    "check_stage": "warp_artic.usd.read_stage",
    "read_stage": "warp_artic.usd.read_stage",
    "rollout": "warp_artic.sim.rollout",
    "schema_root": "warp_artic.usd.schemas",
    "solve_tendons": "warp_artic.sim.solve_tendons",
    "with_contact_slots": "warp_artic.description.contact_slots",
    "without_contacts": "warp_artic.description.contact_slots",
    "write_results": "warp_artic.usd.write_results",
}
"""Public name -> the module that has it; loaded when first asked for, so that no part costs before it is used."""

_MODULES = ("author", "jax", "torch")
"""Public modules, loaded likewise."""

__all__ = sorted((*_PUBLIC, *_MODULES))

register_plugins()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("warp-artic")
    if name in _MODULES:
        return import_module(f"warp_artic.{name}")
    if name not in _PUBLIC:
        raise AttributeError(f"module 'warp_artic' has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, *globals()]

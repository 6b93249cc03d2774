"""Names of schemas and properties that several readers use."""

from __future__ import annotations

RIGID_BODY = "PhysicsRigidBodyAPI"
PHYSX_RIGID_BODY = "PhysxRigidBodyAPI"
COLLISION = "PhysicsCollisionAPI"
SURFACE_VELOCITY = "PhysxSurfaceVelocityAPI"
TRIGGER = "PhysxTriggerAPI"
"""On a collider: it only reports what overlaps it."""
COLLISION_GROUP = "PhysicsCollisionGroup"
MATERIALS = ("PhysicsMaterialAPI", "NewtonMaterialAPI", "MjcMaterialAPI")
"""The second brings the first with it, also where its plugin is not registered."""
ARTICULATION_ROOTS = ("PhysicsArticulationRootAPI", "NewtonArticulationRootAPI")
"""The second brings the first with it, also where its plugin is not registered."""
SCENE = "PhysicsScene"

FIXED_JOINT = "PhysicsFixedJoint"
REVOLUTE_JOINT = "PhysicsRevoluteJoint"
PRISMATIC_JOINT = "PhysicsPrismaticJoint"
SPHERICAL_JOINT = "PhysicsSphericalJoint"
DISTANCE_JOINT = "PhysicsDistanceJoint"
GENERIC_JOINT = "PhysicsJoint"
TREE_JOINTS = (FIXED_JOINT, REVOLUTE_JOINT, PRISMATIC_JOINT, SPHERICAL_JOINT, GENERIC_JOINT)
"""Joints that can be a branch of a tree."""
JOINTS = (*TREE_JOINTS, DISTANCE_JOINT)
GEAR_JOINT = "PhysxPhysicsGearJoint"
RACK_JOINT = "PhysxPhysicsRackAndPinionJoint"
GEARS = (GEAR_JOINT, RACK_JOINT)

DRIVE = "PhysicsDriveAPI"
DRIVE_ENVELOPE = "PhysxDrivePerformanceEnvelopeAPI"
LIMIT = "PhysicsLimitAPI"
JOINT_STATE = "PhysicsJointStateAPI"
PHYSX_LIMIT = "PhysxLimitAPI"

TENDON_AXIS_ROOT = "PhysxTendonAxisRootAPI"
TENDON_AXIS = "PhysxTendonAxisAPI"
ATTACHMENT_ROOT = "PhysxTendonAttachmentRootAPI"
ATTACHMENT = "PhysxTendonAttachmentAPI"
ATTACHMENT_LEAF = "PhysxTendonAttachmentLeafAPI"
PHYSX_MIMIC = "PhysxMimicJointAPI"
NEWTON_MIMIC = "NewtonMimicAPI"
MJC_EQUALITY = "MjcEqualityJointAPI"
"""Brings a NewtonMimicAPI with it, also where its plugin is not registered."""
MJC_CONNECT = "MjcEqualityConnectAPI"
MJC_WELD = "MjcEqualityWeldAPI"
MJC_OF_BODIES = (MJC_CONNECT, MJC_WELD)
MJC_JOINT = "MjcJointAPI"
MJC_COLLISION = "MjcCollisionAPI"
MJC_TENDON = "MjcTendon"
MJC_ACTUATOR = "MjcActuator"
NEWTON_ACTUATOR = "NewtonActuator"
ACTUATOR_TARGETS = {MJC_ACTUATOR: "mjc:target", NEWTON_ACTUATOR: "newton:targets"}
"""Types of actuators, and the relationship to what each acts on."""
NEWTON_PD = "NewtonPDControlAPI"
NEWTON_PID = "NewtonPIDControlAPI"
NEWTON_NEURAL = "NewtonNeuralControlAPI"
NEWTON_MAX_EFFORT = "NewtonMaxEffortClampingAPI"
NEWTON_DC_MOTOR = "NewtonDCMotorClampingAPI"
OF_ACTUATORS = (NEWTON_PD, NEWTON_PID, NEWTON_NEURAL, NEWTON_MAX_EFFORT, NEWTON_DC_MOTOR)
"""Schemas that are read where they are on a NewtonActuator."""
SITES = ("MjcSiteAPI", "NewtonSiteAPI")
"""Points on bodies."""

ARTIC_SCENE = "WarpArticSceneAPI"
ARTIC_LINK = "WarpArticLinkAPI"
ARTIC_ARTICULATION = "WarpArticArticulationAPI"
ARTIC_DRIVE = "WarpArticDriveAPI"
"""Brings a PhysicsDriveAPI with it, also where its plugin is not registered."""
ARTIC_JOINT = "WarpArticJointAPI"
ARTIC_JOINT_FRAME = "WarpArticJointFrameAPI"
ARTIC_MIMIC = "WarpArticMimicAPI"
ARTIC_FIXED_TENDON = "WarpArticFixedTendon"
ARTIC_SPATIAL_TENDON = "WarpArticSpatialTendon"
ARTIC_ATTACHMENT = "WarpArticTendonAttachment"
ARTIC_TENDON_STATE = "WarpArticTendonStateAPI"
ARTIC_ELASTIC_BODY = "WarpArticElasticBodyAPI"
ARTIC_ELASTIC_MATERIAL = "WarpArticElasticMaterialAPI"
ARTIC_MESH_TENDON = "WarpArticMeshTendon"
ARTIC_SKEL_JOINT = "WarpArticSkelJointAPI"
SKELETON, SKEL_JOINT = "warpArtic:skel:skeleton", "warpArtic:skel:joint"
SKEL_FOLLOW = "warpArtic:skel:follow"
"""Its properties."""

NAMESPACES = ("physics:", "physx", "newton:", "mjc:", "state:", "drive:", "limit:", "omniphysics:", "warpArtic:")
"""How the names of physics attributes begin."""
SCHEMA_FAMILIES = ("Physics", "Physx", "OmniPhysics", "Newton", "Mjc", "WarpArtic")
"""How the names of physics schemas begin."""
LOCKED_AXES = ("physxRigidBody:lockedPosAxis", "physxRigidBody:lockedRotAxis")
"""Of positions and of rotations: sums of 1 for X, 2 for Y and 4 for Z."""

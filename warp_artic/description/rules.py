"""The catalogue of rules: what each finding means, what is allowed instead, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass

from warp_artic.description.diagnostic import Severity

ERROR, WARNING, NOTE = (Severity.ERROR,), (Severity.WARNING,), (Severity.NOTE,)
ERROR_OR_WARNING, WARNING_OR_NOTE, ERROR_OR_NOTE = (*ERROR, *WARNING), (*WARNING, *NOTE), (*ERROR, *NOTE)


@dataclass(frozen=True)
class Rule:
    """One rule; its name is that of the findings about it, and stays."""

    name: str
    severities: tuple[Severity, ...]
    """Those that a finding may have; one for most rules."""
    meaning: str
    allowed: str
    mend: str
    """What to do next."""


_OF_A_STAGE = (
    Rule(
        "stage-unreadable",
        ERROR,
        "There is no stage at the path.",
        "A .usd, .usda, .usdc or .usdz file with content that USD can read.",
        "Correct the path, or the file at the place that is named.",
    ),
    Rule(
        "stage-units",
        ERROR,
        "The stage has a unit of length or mass with which nothing can be measured.",
        "metersPerUnit and kilogramsPerUnit from 1e-9 to 1e9.",
        "Set the metadata of the root layer, such as metersPerUnit = 0.01 for centimetres.",
    ),
    Rule(
        "stage-up-axis",
        ERROR,
        "The stage has an up axis that USD does not know, so gravity has no direction.",
        "upAxis Y or Z.",
        'Set upAxis = "Z" or "Y" in the metadata of the root layer.',
    ),
    Rule(
        "stage-time",
        ERROR,
        "The stage has rates or time codes at which nothing can be read or written.",
        "Positive and finite timeCodesPerSecond and framesPerSecond, and finite time codes.",
        "Correct the metadata of the root layer.",
    ),
    Rule(
        "meters-per-unit",
        NOTE,
        "The stage does not say how long a unit is; USD then takes centimetres.",
        "Any stage; the sentence says what is taken.",
        "Author metersPerUnit in the metadata of the root layer, so that all tools take the same.",
    ),
    Rule(
        "composition",
        WARNING,
        "A reference, a payload or a sublayer of the stage leads nowhere; what it would bring is missing.",
        "Layers and prims that exist.",
        "Correct the asset path or the prim path, or put the missing file where it leads.",
    ),
    Rule(
        "attribute-value",
        ERROR,
        "A property has a value of a wrong type, or one that means nothing.",
        "The type and the values that the schema of the attribute allows; the sentence names them.",
        "Author a value of that kind, or remove the opinion so that the default holds.",
    ),
    Rule(
        "time-samples",
        WARNING,
        "A value changes over time that is read once, at the start.",
        "Time samples of drive targets, rest lengths and offsets of tendons, gravity and kinematic bodies that carry "
        "mechanisms, which a run follows, and of what a run moves itself.",
        "Keep one value, or author the motion as targets of drives.",
    ),
    Rule(
        "array-length",
        WARNING,
        "An array has several values where one counts.",
        "One value.",
        "Keep the first value; apply the schema once more for each further axis.",
    ),
    Rule(
        "not-finite",
        ERROR,
        "A value is infinite or not a number, so nothing can be computed from it.",
        "Finite numbers.",
        "Author a finite number at this prim.",
    ),
    Rule(
        "negative",
        ERROR,
        "A value is negative, or infinite, that cannot be.",
        "Zero or more, and finite where it is no bound.",
        "Correct the value; a sign is often that of another convention.",
    ),
    Rule(
        "dialects-differ",
        WARNING,
        "Two schemas say the same in different ways, and not with the same value.",
        "One of them, or both with equal values.",
        "Remove one of the two, or put the dialect that is right first with --dialects.",
    ),
    Rule(
        "attribute-not-used",
        WARNING_OR_NOTE,
        "A physics attribute is authored that has no effect here; a note where it concerns no motion of a mechanism.",
        "Attributes of our schemas, and those of UsdPhysics, PhysX, Newton and MuJoCo that mean the same.",
        "Look for a typing error in its name, apply the schema that it needs, or leave it to other programs.",
    ),
    Rule(
        "schema-not-used",
        WARNING_OR_NOTE,
        "A physics schema is applied that has no effect here; a note where it concerns no motion of a mechanism.",
        "The schemas listed in usd_schemas/README.md and those of UsdPhysics, PhysX, Newton and MuJoCo beside them.",
        "Look for a typing error in its name, or leave it to other programs.",
    ),
    Rule(
        "not-simulated",
        WARNING,
        "An attribute is understood, but what it stands for is not simulated yet.",
        "The value that means none, which is the default of the attribute.",
        "Expect a motion without it, or remove the opinion.",
    ),
    Rule(
        "contacts",
        NOTE,
        "The stage has colliders; they give mass to bodies, but do not touch each other.",
        "Any colliders.",
        "Expect links to pass through each other and through the ground.",
    ),
    Rule(
        "point-instancer",
        WARNING,
        "Rigid bodies are below a point instancer, which repeats them.",
        "Bodies that are prims, or instances of prims by reference.",
        "Reference the asset once for each point, or simulate several environments.",
    ),
    Rule(
        "vehicle",
        WARNING,
        "A vehicle of PhysX is on the stage.",
        "Vehicles built of links, joints and drives.",
        "Model wheels as links on joints, or expect the vehicle to stand still.",
    ),
    Rule(
        "force",
        WARNING,
        "A force of PhysX is on a body.",
        "Efforts at joints.",
        "Give an effort to a joint with --inputs, or expect a motion without it.",
    ),
)

_OF_A_SCENE = (
    Rule(
        "scene-empty",
        ERROR,
        "The description has no articulation.",
        "At least one articulation.",
        "Add an articulation of at least one link.",
    ),
    Rule(
        "scene-missing",
        NOTE,
        "There is no PhysicsScene, so gravity and settings are the defaults.",
        "One PhysicsScene, or none.",
        "Define a PhysicsScene where gravity, time step or solver should be others.",
    ),
    Rule(
        "scene-several",
        WARNING,
        "There are several physics scenes, but all bodies are simulated in one.",
        "One PhysicsScene.",
        "Remove the others, or name the right one in physics:simulationOwner of the bodies.",
    ),
    Rule(
        "owner-missing",
        ERROR,
        "The bodies of one physics scene are to be simulated, and there is no such scene.",
        "The path of a PhysicsScene.",
        "Give one that the stage has; the sentence names them.",
    ),
    Rule(
        "scene-owner",
        WARNING,
        "A body names a simulation owner that is no physics scene.",
        "physics:simulationOwner that leads to a PhysicsScene, or to nothing.",
        "Correct or remove the relationship.",
    ),
    Rule(
        "time-step",
        ERROR,
        "The time step, or the rate that it comes from, cannot be.",
        "A positive and finite number.",
        "Author a rate such as warpArtic:scene:timeStepsPerSecond = 240.",
    ),
    Rule(
        "iterations",
        ERROR,
        "An iteration count of the solver cannot be.",
        "Whole numbers: at least 1 position iteration, at least 0 velocity iterations.",
        "Author a count in this range, or remove the opinion.",
    ),
    Rule(
        "sleep-threshold",
        ERROR,
        "The energy below which a tree falls asleep cannot be.",
        "A finite number that is not negative.",
        "Author a number in this range, or remove the opinion; 0 keeps the tree awake.",
    ),
    Rule(
        "sleep-after",
        ERROR,
        "The time at rest after which trees fall asleep cannot be.",
        "A number that is not negative; infinite: trees never sleep.",
        "Author a time such as warpArtic:scene:sleepAfter = 0.4, or remove the opinion.",
    ),
    Rule(
        "sleep-on-request",
        NOTE,
        "The stage has a threshold for falling asleep, but trees sleep only where that is asked for.",
        "Any.",
        "Nothing, or author warpArtic:scene:sleepAfter = 0.4, or run with --sleep-after 0.4.",
    ),
    Rule(
        "starts-asleep",
        WARNING,
        "A body starts asleep, but its tree starts awake: not all its bodies sleep, or trees do not sleep at all.",
        "All bodies of a tree, and a time such as warpArtic:scene:sleepAfter = 0.4.",
        "Author physics:startsAsleep on all bodies of the tree or on none, and sleepAfter where trees may sleep.",
    ),
)

_OF_BODIES = (
    Rule(
        "articulation-missing",
        ERROR,
        "There is nothing on the stage to simulate.",
        "At least one prim with PhysicsRigidBodyAPI that is enabled and not kinematic.",
        "Apply PhysicsRigidBodyAPI to the parts that move; check that their payloads are loaded and prims active.",
    ),
    Rule(
        "body-held",
        NOTE,
        "A body is kinematic, disabled or simulated by another owner, so no force moves it.",
        "Any; a body that moves is none of these.",
        "Set physics:kinematicEnabled = 0 and physics:rigidBodyEnabled = 1 where it should move.",
    ),
    Rule(
        "transform",
        ERROR,
        "A prim has a transform that no rigid body, joint frame or collider can have.",
        "Finite transforms of moderate scale, without shear or a scale of zero.",
        "Correct the transform ops of the prim or of those above; freeze a non-uniform scale into the geometry.",
    ),
    Rule(
        "quaternion",
        ERROR,
        "A quaternion of the description is not of unit length.",
        "Quaternions xyzw of unit length.",
        "Divide it by its length.",
    ),
    Rule(
        "transform-op",
        WARNING,
        "The order of transform ops of a prim names one that the prim has not, which USD passes over.",
        "Ops that are attributes of the prim.",
        "Author the op, or take its name out of xformOpOrder.",
    ),
    Rule(
        "quaternion-length",
        WARNING,
        "A quaternion on the stage is not of unit length.",
        "Quaternions of unit length.",
        "Author it normalised; (1, 0, 0, 0) is no rotation.",
    ),
    Rule(
        "mass",
        ERROR,
        "A body has no mass, or one that is not positive.",
        "A positive physics:mass, or colliders with a volume and a positive density.",
        "Author physics:mass on the body, or put a collider on or under it.",
    ),
    Rule(
        "inertia",
        ERROR,
        "An inertia is singular or negative, so the body could be turned without effort.",
        "Three positive principal moments, or none authored on a body with colliders.",
        "Author physics:diagonalInertia of a solid of this size, or remove it and let colliders give it.",
    ),
    Rule(
        "inertia-triangle",
        WARNING,
        "An inertia belongs to no body of positive density: one principal moment exceeds the sum of the others.",
        "Principal moments of which none exceeds the sum of the other two.",
        "Check its unit (mass times distance squared) and its order xx, yy, zz.",
    ),
    Rule(
        "mass-unset",
        NOTE,
        "A collider has a mass of zero, which in UsdPhysics means that it has none of its own.",
        "Any mass; zero leaves it to the density.",
        "Author a positive physics:mass, or take the collision schema off what is only a look.",
    ),
    Rule(
        "inertia-missing",
        WARNING,
        "A body has a mass, but neither an inertia nor colliders to compute it from.",
        "physics:diagonalInertia, or colliders on or under the body.",
        "Author physics:diagonalInertia, or put a collider on the body.",
    ),
    Rule(
        "collider-shape",
        WARNING,
        "A collider has no volume that is understood, so it gives no mass to its body.",
        "Cube, Sphere, Cylinder, Cone and Capsule of some size, and Mesh with points and faces.",
        "Author physics:mass on the collider or the body, or use a shape with a volume.",
    ),
    Rule(
        "collider-open",
        WARNING,
        "A mesh has no inside, so mass properties are those of the box around it.",
        "Closed meshes, in which each edge belongs to two faces.",
        "Close the mesh, or author mass and inertia on the body.",
    ),
    Rule(
        "damping",
        ERROR,
        "A damping rate of a link cannot be.",
        "Finite rates of zero or more.",
        "Correct the rate.",
    ),
    Rule(
        "damping-fallback",
        NOTE,
        "PhysX damps the rotation of bodies with its schema also where nothing is authored; so it is here.",
        "Any rate of zero or more.",
        "Author physxRigidBody:angularDamping = 0 for no damping.",
    ),
)

_OF_TREES = (
    Rule(
        "articulation-empty",
        WARNING,
        "An articulation root has no rigid body that moves.",
        "The root schema on a body, on a joint to the world, or above the bodies of a mechanism.",
        "Move PhysicsArticulationRootAPI to the mechanism, or remove it.",
    ),
    Rule(
        "articulation-two",
        ERROR,
        "Two articulation roots are joined to each other.",
        "One root for all that joints connect.",
        "Remove one root, or exclude a joint between the two with physics:excludeFromArticulation.",
    ),
    Rule(
        "articulation-nested",
        ERROR,
        "An articulation root is below another one.",
        "Roots beside each other.",
        "Remove PhysicsArticulationRootAPI from one of the two prims.",
    ),
    Rule(
        "articulation-disabled",
        NOTE,
        "An articulation is switched off, which makes no difference here.",
        "Any.",
        "Disable its bodies where they should not move.",
    ),
    Rule(
        "spanning-tree",
        NOTE,
        "Bodies are joined without an articulation root; they are simulated as a tree all the same.",
        "Any.",
        "Apply PhysicsArticulationRootAPI where the root should be, so that all tools take the same.",
    ),
    Rule(
        "root-chosen",
        NOTE,
        "The schema leaves open which body is the root of the tree, so one is taken.",
        "Any.",
        "Apply PhysicsArticulationRootAPI to the root body, or to the joint that holds it to the world.",
    ),
    Rule(
        "tree",
        ERROR,
        "Links and joints of the description are no tree.",
        "One root, and one joint towards it for each other link.",
        "Remove joints until each link has one parent.",
    ),
    Rule(
        "cycle",
        ERROR,
        "Joints of an articulation close a ring.",
        "A tree of joints.",
        "Set physics:excludeFromArticulation = 1 on one of them; newton:jointsAddMobility where joints stack.",
    ),
    Rule(
        "stacked-joints",
        ERROR_OR_NOTE,
        "Several joints between the same two bodies stack: each moves what the one before it carries.",
        "Joints whose frames agree on where the body is at zero, along axes that are independent or have armature.",
        "Give all of them the same place at zero; add armature, or remove one of two joints along one axis.",
    ),
    Rule(
        "loop-joint",
        WARNING,
        "A joint or constraint closes a loop or lies outside of trees; it is not simulated yet.",
        "Joints that form trees.",
        "Expect the mechanism to move without it, or replace it with a mimic joint or a tendon.",
    ),
    Rule(
        "names",
        ERROR,
        "Two things have one name, or a list of names misses one.",
        "Each link, dof, tendon and mimic joint with a name of its own.",
        "Rename one of the two; on a stage, rename the prim or the instance of the schema.",
    ),
)

_OF_JOINTS = (
    Rule(
        "joint-bodies",
        ERROR,
        "A joint does not join two bodies, or a body to the world.",
        "physics:body0 and physics:body1 that lead to different rigid bodies, one of them empty for the world.",
        "Correct the relationship, or apply PhysicsRigidBodyAPI to the prim that it leads to.",
    ),
    Rule(
        "joint-static",
        WARNING_OR_NOTE,
        "A joint leads to a prim that is no rigid body, which stands for the world.",
        "A rigid body, or no target for the world.",
        "Apply PhysicsRigidBodyAPI to the prim if it should move, else remove the target.",
    ),
    Rule(
        "joint-held",
        NOTE,
        "A joint leads to a body that does not move.",
        "Any.",
        "Make the body dynamic if it should move.",
    ),
    Rule(
        "joint-disabled",
        NOTE,
        "A joint is switched off.",
        "Any.",
        "Set physics:jointEnabled = 1 where it should hold.",
    ),
    Rule(
        "free-axes",
        ERROR_OR_WARNING,
        "A joint leaves axes free for which limits are authored, but not applied, or has them twice or out of order.",
        "Any axes, each once, in the order transX, transY, transZ, rotX, rotY, rotZ; limits with PhysicsLimitAPI.",
        "Apply PhysicsLimitAPI for each axis with a limit (low above high locks it), or remove the limits.",
    ),
    Rule(
        "limit-inverted",
        ERROR,
        "A lower limit is above its upper limit.",
        "A lower limit at or below the upper one; a PhysicsJoint locks an axis by low above high.",
        "Swap the two, or use a fixed joint where nothing should move.",
    ),
    Rule(
        "limit-infinite",
        ERROR,
        "A limit is at infinity on the wrong side, so no position satisfies it.",
        "-inf below or inf above, which leave the side free.",
        "Swap the sign, or remove the opinion.",
    ),
    Rule(
        "limit-offset",
        ERROR,
        "An axis is locked away from zero.",
        "Locked axes at zero of the joint frames.",
        "Move or turn the joint frame by this much and lock the axis at zero.",
    ),
    Rule(
        "limit-reference",
        WARNING,
        "A joint of the MuJoCo dialect counts its positions from a reference, and its limits may be meant so too.",
        "Limits of UsdPhysics, about the authored poses of the bodies.",
        "If the limits are positions of MuJoCo, take mjc:ref from both; else nothing.",
    ),
    Rule(
        "limit-soft",
        ERROR_OR_WARNING,
        "Compliance or restitution of a limit cannot be, or has no effect beside several rotations or the other.",
        "Stiffness and damping of zero or more, restitution from 0 to 1, and not both kinds.",
        "Correct the value, or remove restitution or compliance.",
    ),
    Rule(
        "cone-limit",
        ERROR,
        "A cone limit is on a joint without three rotations, or has no positive angle.",
        "Positive angles on a joint with three rotational dofs.",
        "Remove the limit, or free the rotations.",
    ),
    Rule(
        "axis-idle",
        WARNING,
        "A joint schema is applied by axis, but no such axis is free.",
        "The instance names listed in the sentence.",
        "Apply the schema with one of these names.",
    ),
    Rule(
        "friction-order",
        WARNING,
        "The dynamic friction of a joint exceeds the static one, so it starts to slide and is held again.",
        "A dynamic effort of at most the static one.",
        "Raise the static effort, or lower the dynamic one.",
    ),
    Rule(
        "pose-violates-joint",
        WARNING,
        "Two bodies are authored where their joint does not let them be.",
        "Poses that agree with the joint frames to 0.1 mm and 0.05 degrees.",
        "Move the body, or correct physics:localPos and physics:localRot of the joint.",
    ),
    Rule(
        "velocity-violates-joint",
        WARNING,
        "Two bodies have velocities that their joint does not allow.",
        "Velocities along the free axes of the joint.",
        "Author the velocity of the joint instead, or of the root body alone.",
    ),
    Rule(
        "state-disagrees-with-pose",
        WARNING,
        "The position of a joint is not the one that the poses of its bodies make.",
        "A joint state that agrees with the poses, or none.",
        "Remove the state, or move the bodies.",
    ),
    Rule(
        "state-disagrees-with-velocity",
        WARNING,
        "The velocity of a joint is not the one that the velocities of its bodies make.",
        "A joint state that agrees with the velocities of bodies, or one of the two.",
        "Remove either.",
    ),
    Rule(
        "start-outside-limit",
        WARNING,
        "A joint starts outside of its limit, and is pushed back.",
        "A start position within the limit.",
        "Move the body or the joint state to a position within, or widen the limit.",
    ),
    Rule(
        "gear",
        WARNING,
        "A gear or a rack and pinion couples two joints; it is not simulated yet.",
        "Mimic joints.",
        "Apply WarpArticMimicAPI to one joint, with the other as leader and the ratio as gear.",
    ),
    Rule(
        "joint-instancer",
        WARNING,
        "Joints are repeated by an instancer.",
        "Joints that are prims.",
        "Author each joint as a prim.",
    ),
)

_OF_DRIVES = (
    Rule(
        "drive",
        ERROR,
        "A drive has a negative gain or bound.",
        "Stiffness, damping and bounds of zero or more.",
        "Correct the value at this attribute.",
    ),
    Rule(
        "drive-idle",
        WARNING,
        "A drive is applied for an axis that is not free.",
        "The instance names listed in the sentence.",
        "Apply the drive with one of these names.",
    ),
    Rule(
        "actuator",
        WARNING,
        "An actuator, or a part of one, is not simulated yet.",
        "PhysicsDriveAPI, and MuJoCo actuators that are position or velocity servos of one hinge or slide.",
        "Author a drive on the joint, or give efforts with --inputs.",
    ),
    Rule(
        "motor",
        NOTE,
        "An actuator turns its control into an effort; without a control it does nothing.",
        "Any.",
        "Give joint_effort with --inputs.",
    ),
    Rule(
        "control-range",
        NOTE,
        "An actuator bounds its control; targets that a run gives to the drive are not bounded.",
        "Any.",
        "Keep targets within this range.",
    ),
)

_OF_TENDONS = (
    Rule(
        "coupling-stray",
        ERROR,
        "A tendon, an attachment or a mimic joint belongs to no articulation.",
        "Joints and links of articulations.",
        "Correct the relationship, or move the schema to a joint or link of the mechanism.",
    ),
    Rule(
        "terms",
        ERROR_OR_WARNING,
        "The lists of a tendon or mimic joint do not fit each other, or lead to no joint of the articulation.",
        "One axis and one number for each joint, all joints in one articulation.",
        "Complete the shorter list, or correct the relationship.",
    ),
    Rule(
        "axis-fixed",
        ERROR,
        "A tendon or mimic joint leads to a fixed joint.",
        "Joints with a free axis.",
        "Name another joint.",
    ),
    Rule(
        "axis-locked",
        ERROR,
        "A tendon or mimic joint names an axis that is not free, or does not say which of several.",
        "One of the free axes listed in the sentence.",
        "Name one of them.",
    ),
    Rule(
        "tendon",
        WARNING,
        "A tendon of another schema, or a feature of it, is not simulated yet.",
        "Tendons over joints, or through points of links without pulleys and wrapping.",
        "Author it as WarpArticFixedTendon or WarpArticSpatialTendon.",
    ),
    Rule(
        "tendon-axes",
        ERROR,
        "A fixed tendon of the description couples dofs that there are not, or one of them twice.",
        "Different dofs of its articulation, with a coefficient and a force coefficient for each.",
        "Correct the lists.",
    ),
    Rule(
        "tendon-root",
        ERROR,
        "A tendon has no root, or several.",
        "One root for each tendon.",
        "Apply the root schema to one joint, or keep one attachment right below the tendon.",
    ),
    Rule(
        "tendon-attachment",
        ERROR,
        "An attachment of a spatial tendon cannot be where it is.",
        "Attachments on links, the root first, parents before children; none is a root and a leaf.",
        "Correct its body or its parent, or remove one of the two schemas.",
    ),
    Rule(
        "tendon-body",
        ERROR,
        "An attachment is on no link of the articulation of its tendon.",
        "One prim that is a link of it, or below one.",
        "Let warpArtic:body lead to such a prim.",
    ),
    Rule(
        "tendon-parent",
        ERROR,
        "An attachment follows one that is not there, or that ends a sub-tendon.",
        "parentLink to one link, and parentAttachment with the name of an attachment there that is no leaf.",
        "Correct the two, or apply PhysxTendonAttachmentRootAPI where the tendon begins.",
    ),
    Rule(
        "tendon-cycle",
        ERROR,
        "Attachments follow each other in a ring.",
        "A tree of attachments, from one root.",
        "Correct parentAttachment of one of those in the sentence.",
    ),
    Rule(
        "tendon-leaf",
        ERROR,
        "A spatial tendon has no end, or one that is none.",
        "At least one leaf, last on its way, and not the root.",
        "Add an attachment below the root, or apply PhysxTendonAttachmentLeafAPI to the last one.",
    ),
    Rule(
        "tendon-length",
        ERROR,
        "A rest length of a leaf cannot be.",
        "A finite length of zero or more; none stands for that at the start.",
        "Correct or remove the rest length.",
    ),
    Rule(
        "tendon-dead-end",
        WARNING,
        "An attachment leads to no leaf, so no force reaches it.",
        "Attachments on the way to a leaf.",
        "Apply PhysxTendonAttachmentLeafAPI to the last attachment, or remove this one.",
    ),
    Rule(
        "tendon-inner-length",
        WARNING,
        "Rest length or limits are authored on an attachment that others follow.",
        "These attributes on leaves.",
        "Move them to the last attachment.",
    ),
    Rule(
        "tendon-root-segment",
        NOTE,
        "A root has a coefficient or a parent, but no segment leads to it.",
        "Any.",
        "Remove the opinion.",
    ),
    Rule(
        "tendon-double",
        WARNING,
        "Two tendons run through the same joints or points, and both act.",
        "Any; one of them where they stand for one tendon.",
        "Remove one of the two, if they are the same tendon in two dialects.",
    ),
    Rule(
        "tendon-gains-energy",
        WARNING,
        "The force of a fixed tendon does not oppose its change of length, so it can gain energy.",
        "Force coefficients whose effect has the direction of the coefficients.",
        "Use force coefficients equal to the coefficients, or of the same signs.",
    ),
    Rule(
        "tendon-force-coefficient",
        NOTE,
        "A force coefficient is not authored, and the fallback of PhysX is in another unit than the coefficient.",
        "Any.",
        "Author physxTendon:NAME:forceCoefficient; pi / 180 belongs to a gearing of 1 on a rotation.",
    ),
    Rule(
        "tendon-topology",
        NOTE,
        "The axes of a fixed tendon do not follow the tree as PhysX demands.",
        "Any axes of one articulation here.",
        "Add axes of zero gearing on the joints between where PhysX should read it too.",
    ),
)

_OF_MIMICS = (
    Rule(
        "mimic",
        WARNING,
        "A mimic joint of another schema, or its law, is not simulated yet.",
        "Linear relations of joint positions.",
        "Author WarpArticMimicAPI with the linear part.",
    ),
    Rule(
        "mimic-reference",
        ERROR,
        "A mimic joint follows no joint, or one that it cannot follow.",
        "One joint of the same articulation.",
        "Correct the relationship.",
    ),
    Rule(
        "mimic-self",
        ERROR,
        "A mimic joint follows itself.",
        "Other joints, or other axes of the same joint.",
        "Correct the relationship.",
    ),
    Rule(
        "mimic-twice",
        ERROR,
        "One axis follows twice.",
        "One mimic schema for each axis.",
        "Remove one of them; WarpArticMimicAPI follows several leaders at once.",
    ),
    Rule(
        "mimic-dofs",
        ERROR,
        "A mimic joint of the description couples dofs that there are not, or fewer than two.",
        "A follower, and at least one other dof of its articulation.",
        "Correct the lists.",
    ),
    Rule(
        "mimic-gear",
        ERROR,
        "The follower of a mimic joint has no part in its relation.",
        "A gear of the follower that is not zero.",
        "Set it to 1.",
    ),
)

RULES: dict[str, Rule] = {
    rule.name: rule
    for group in (
        _OF_A_STAGE,
        _OF_A_SCENE,
        _OF_BODIES,
        _OF_TREES,
        _OF_JOINTS,
        _OF_DRIVES,
        _OF_TENDONS,
        _OF_MIMICS,
    )
    for rule in group
}
"""By name, subject after subject."""

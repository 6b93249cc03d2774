"""Rules of joints, their limits and friction, and of drives."""

from __future__ import annotations

from warp_artic.description.rules.rule import ERROR, ERROR_OR_WARNING, NOTE, WARNING, WARNING_OR_NOTE, Rule

OF_JOINTS = (
    Rule(
        "joint-bodies",
        ERROR,
        "A joint does not connect two bodies, or a body and the world.",
        "physics:body0 and physics:body1 that target different rigid bodies; one may be empty for the world.",
        "Correct the relationship, or apply PhysicsRigidBodyAPI to its target.",
    ),
    Rule(
        "joint-static",
        WARNING_OR_NOTE,
        "A joint targets a prim that is not a rigid body, which counts as the world.",
        "A rigid body, or no target for the world.",
        "Apply PhysicsRigidBodyAPI to the prim if it should move, else remove the target.",
    ),
    Rule(
        "joint-held",
        NOTE,
        "A joint targets a body that does not move.",
        "Any.",
        "Make the body dynamic if it should move.",
    ),
    Rule(
        "joint-disabled",
        NOTE,
        "A joint is disabled, and ignored.",
        "Any.",
        "Set physics:jointEnabled = 1 to enable it.",
    ),
    Rule(
        "free-axes",
        ERROR_OR_WARNING,
        "Limits are authored on free axes without PhysicsLimitAPI, or axes are repeated or out of order.",
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
        "A limit is infinite on the wrong side, so no position satisfies it.",
        "-inf below or inf above, which leave the side free.",
        "Swap the sign, or remove the opinion.",
    ),
    Rule(
        "limit-offset",
        ERROR,
        "An axis is locked at a position other than zero.",
        "Locked axes at zero of the joint frames.",
        "Move the joint frame by this amount, and lock the axis at zero.",
    ),
    Rule(
        "limit-reference",
        WARNING,
        "A joint of MuJoCo has a reference position (mjc:ref), and its limits may be relative to it.",
        "Limits of UsdPhysics, relative to the authored poses of the bodies.",
        "If the limits are positions of MuJoCo, subtract mjc:ref from both.",
    ),
    Rule(
        "limit-soft",
        ERROR_OR_WARNING,
        "Compliance or restitution of a limit is out of range; or restitution has no effect, as on soft limits and on "
        "ball and zero-twist joints; or newton:limitDamping has none on a hard limit; or newton:limitStiffness is "
        "zero, without damping, so that no force acts beyond the limit.",
        "Stiffness and damping of zero or more, or restitution from 0 to 1; not both. A finite newton:limitStiffness "
        "beside newton:limitDamping.",
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
        "swing-limit",
        NOTE,
        "A joint without twist can swing freely; its positions are discontinuous at a swing of 180 degrees.",
        "Any; limits of both swings below 180 degrees keep positions continuous.",
        "Limit both swings with PhysicsLimitAPI, or free the twist, or lock a swing, which makes a universal joint.",
    ),
    Rule(
        "axis-idle",
        WARNING,
        "A schema is applied to an axis of a joint that is not free.",
        "The instance names listed in the message.",
        "Apply the schema with one of these names.",
    ),
    Rule(
        "friction-order",
        WARNING,
        "The dynamic friction of a joint exceeds its static friction, so it alternates between slip and stick.",
        "Dynamic friction of at most the static one.",
        "Raise the static friction, or lower the dynamic one.",
    ),
    Rule(
        "base-moved",
        NOTE,
        "A body that a joint fixes to the world is not where the frame of the joint in the world is, and stays there.",
        "A frame in the world that is where the body is, to 0.1 mm and 0.05 degrees.",
        "Nothing, where an asset was moved or copied; else move the body, or correct the frame of the joint.",
    ),
    Rule(
        "pose-violates-joint",
        WARNING,
        "The authored poses of two bodies violate their joint.",
        "Poses that agree with the joint frames to 0.1 mm and 0.05 degrees.",
        "Move the body, or correct physics:localPos and physics:localRot of the joint.",
    ),
    Rule(
        "velocity-violates-joint",
        WARNING,
        "The authored velocities of two bodies violate their joint.",
        "Velocities along the free axes of the joint.",
        "Author the velocity of the joint instead, or of the root body alone.",
    ),
    Rule(
        "state-disagrees-with-pose",
        WARNING,
        "The authored position of a joint differs from the one that follows from the poses of its bodies.",
        "A joint state that agrees with the poses, or none.",
        "Remove the state, or move the bodies.",
    ),
    Rule(
        "state-disagrees-with-velocity",
        WARNING,
        "The authored velocity of a joint differs from the one that follows from its bodies.",
        "A joint state that agrees with the velocities of the bodies, or only one of the two.",
        "Remove either.",
    ),
    Rule(
        "start-outside-limit",
        WARNING,
        "A joint starts outside its limits, and is pushed back.",
        "A start position within the limits.",
        "Move the body or the joint state into the limits, or widen them.",
    ),
    Rule(
        "gear",
        (*ERROR, *WARNING, *NOTE),
        "A gear must couple two rotations, and a rack a rotation and a translation, of joints of one tree.",
        "Two joints of one tree, a ratio that is not 0, and bodies that these joints move.",
        "Correct the relationships and the ratio, or put both joints into one articulation.",
    ),
    Rule(
        "joint-instancer",
        WARNING,
        "A point instancer repeats joints.",
        "Joints that are prims.",
        "Author each joint as a prim.",
    ),
)

OF_DRIVES = (
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
        "A drive is applied to an axis that is not free.",
        "The instance names listed in the message.",
        "Apply the drive with one of these names.",
    ),
    Rule(
        "drive-without-force",
        NOTE,
        "A drive has a target that it gives no force to, unless gains are given during a run.",
        "A stiffness for a position target, a damping for a velocity target, and a maximum force above zero.",
        "Author the gain or the maximum force, or remove the target.",
    ),
    Rule(
        "drive-turns",
        WARNING,
        "A drive of a rotation without limits has a position target that is never reached, as positions start anew "
        "after a turn either way; it turns on and on.",
        "Targets within 360 degrees, also at all time samples, or countTurns.",
        "Author countTurns = true of WarpArticJointAPI on the axis, or a target that is whole turns less.",
    ),
    Rule(
        "actuator",
        WARNING,
        "An actuator, or a feature of one, is not simulated yet.",
        "PhysicsDriveAPI; Newton actuators with PD control, a largest effort or the curve of a DC motor, and MuJoCo "
        "actuators that are position or velocity servos, of one hinge or slide.",
        "Author a drive on the joint, or apply efforts with --inputs.",
    ),
    Rule(
        "motor-braking",
        NOTE,
        "The curve of a DC motor also bounds how strongly it brakes: at the speed v by (velocityLimit - |v|) "
        "saturationEffort / velocityLimit, where a DC motor has more effort than at rest.",
        "Any.",
        "Nothing, where the motor is not turned by its load near its largest speed.",
    ),
    Rule(
        "motor",
        NOTE,
        "An actuator applies its control as an effort; without a control it has no effect.",
        "Any.",
        "Apply joint_effort with --inputs.",
    ),
    Rule(
        "control-range",
        NOTE,
        "An actuator limits its control; targets that a run sets are not limited.",
        "Any.",
        "Keep targets within this range.",
    ),
)

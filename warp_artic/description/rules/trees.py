"""Rules of articulations and of the trees that joints make."""

from __future__ import annotations

from warp_artic.description.rules.rule import ERROR, ERROR_OR_NOTE, NOTE, WARNING, Rule

OF_TREES = (
    Rule(
        "articulation-empty",
        WARNING,
        "An articulation root has no dynamic rigid body.",
        "The root schema on a body, on a joint to the world, or above the bodies of a mechanism.",
        "Move PhysicsArticulationRootAPI to the mechanism, or remove it.",
    ),
    Rule(
        "articulation-two",
        ERROR,
        "Two articulation roots are connected through bodies that belong to neither.",
        "One root for all bodies that joints connect.",
        "Remove one root, or exclude a joint between the two with physics:excludeFromArticulation.",
    ),
    Rule(
        "joint-between",
        NOTE,
        "A joint connects two articulations; it is solved as a constraint between them.",
        "Any; drives and limits of such joints are those of joints that close loops.",
        "Remove one root, if both are to be one articulation.",
    ),
    Rule(
        "joint-breaks",
        NOTE,
        "A joint can break; it is solved as a constraint, so that the trees remain when it breaks.",
        "Any; a body that only such joints connect is a tree by itself.",
        "Remove physics:breakForce and physics:breakTorque, or make both infinite, if it should never break.",
    ),
    Rule(
        "joint-scales",
        NOTE,
        "A joint scales masses or inertias of its bodies; it is solved as a constraint.",
        "Joints between free bodies that are in no tree, or one and the world.",
        "Remove the scales of WarpArticJointFrameAPI, or make them 1, if masses should be what they are.",
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
        "An articulation is disabled, which has no effect here.",
        "Any.",
        "Disable its bodies if they should not move.",
    ),
    Rule(
        "spanning-tree",
        NOTE,
        "Joints connect bodies without an articulation root; they are simulated as an articulation.",
        "Any.",
        "Apply PhysicsArticulationRootAPI to the root, so that all tools use the same one.",
    ),
    Rule(
        "root-chosen",
        NOTE,
        "The stage does not determine the root of the tree, so one is chosen.",
        "Any.",
        "Apply PhysicsArticulationRootAPI to the root body, or to the joint between it and the world.",
    ),
    Rule(
        "tree",
        ERROR,
        "The links and joints do not form a tree.",
        "One root, and one joint towards it for each other link.",
        "Remove joints until each link has one parent.",
    ),
    Rule(
        "cycle",
        ERROR,
        "The joints of a tree form a cycle.",
        "A tree of joints, and loop joints beside it.",
        "Make one of them a loop joint.",
    ),
    Rule(
        "loop-open",
        ERROR,
        "A loop joint is open at the start: its frames do not meet.",
        "A gap of up to 1e-4 m and 0.05 degrees along locked axes, which is closed by the nearest start.",
        "Use the start that warp-artic check --assemble finds, or correct physics:localPos and physics:localRot.",
    ),
    Rule(
        "loop-closed",
        NOTE,
        "Joints close a loop; one of them is solved as a constraint, the others form a tree.",
        "Any; a joint that is driven, coupled or limited stays in the tree if another one can close the loop.",
        "Set physics:excludeFromArticulation = 1 to choose it; newton:jointsAddMobility if joints stack.",
    ),
    Rule(
        "stacked-joints",
        ERROR_OR_NOTE,
        "Several joints between the same two bodies stack: their motions add up, in order.",
        "Joints whose frames give the same pose at zero, along axes that are independent or have armature.",
        "Give all of them the same pose at zero; add armature, or remove one of two joints along one axis.",
    ),
    Rule(
        "loop-joint",
        WARNING,
        "A loop joint, or a feature of its free axes, is not simulated yet.",
        "Joints of trees, and joints that lock, limit or drive axes between two links, or a link and the world.",
        "Expect the motion without it, or author it on a joint of the tree.",
    ),
    Rule(
        "equality",
        (*ERROR, *NOTE),
        "An equality of MuJoCo contradicts its joint prim, or is compliant; it is solved as a hard constraint.",
        "One of MjcEqualityConnectAPI and MjcEqualityWeldAPI on a joint between two bodies, or a body and the world.",
        "Remove the contradiction; use a distance with a spring, or a compliant mimic joint, for compliance.",
    ),
    Rule(
        "constraint",
        ERROR,
        "A constraint between links has inconsistent values, or a link that does not exist.",
        "The message says which values its kind allows.",
        "Correct the attribute or the relationship.",
    ),
    Rule(
        "names",
        ERROR,
        "Two parts have the same name, or a list of names is incomplete.",
        "Each link, dof, tendon and mimic joint with a name of its own.",
        "Rename one of the two; on a stage, rename the prim or the instance of the schema.",
    ),
)

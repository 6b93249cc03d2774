"""Rules of skinned characters."""

from __future__ import annotations

from warp_artic.description.rules.rule import ERROR, ERROR_OR_WARNING, Rule

OF_SKELETONS = (
    Rule(
        "hand-over",
        ERROR,
        "physics:kinematicEnabled has time samples, and the bodies of an articulation cannot follow them as one.",
        "All bodies of an articulation are kinematic at the same times. They move then as their transforms are "
        "animated, or as the joints of the skeleton that move with them; each time code has a rigid pose.",
        "Author the same time samples of physics:kinematicEnabled on all bodies of the articulation.",
    ),
    Rule(
        "skel-joint",
        ERROR_OR_WARNING,
        "A body is to move a joint of a skeleton, or to follow it, and there is nothing to move or to follow.",
        "A rigid body, one Skeleton, and a joint as its joints name it, which moves with no other body. To follow, "
        "drives of rotations between two such bodies, and an animation with time samples.",
        "Correct warpArtic:skel:skeleton and warpArtic:skel:joint, or author the ragdoll anew.",
    ),
)

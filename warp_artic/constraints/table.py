"""The constraint families, in the order in which a solver visits their rows: the only list of them."""

from warp_artic.constraints.bouncing_limit import BOUNCING_LIMIT
from warp_artic.constraints.contact import CONTACT, CONTACT_FRICTION
from warp_artic.constraints.contact_pair import CONTACT_PAIR
from warp_artic.constraints.contact_turn import CONTACT_TURN
from warp_artic.constraints.distance import DISTANCE, SOFT_DISTANCE
from warp_artic.constraints.drive import DRIVE
from warp_artic.constraints.fixed_tendon import FIXED_TENDON, FIXED_TENDON_LIMIT
from warp_artic.constraints.joint_friction import FRICTION
from warp_artic.constraints.joint_limit import JOINT_LIMIT
from warp_artic.constraints.loop_armature import LOOP_ARMATURE
from warp_artic.constraints.loop_drive import LOOP_DRIVE
from warp_artic.constraints.loop_friction import LOOP_DAMPER, LOOP_FRICTION
from warp_artic.constraints.loop_joint import LOOP_JOINT
from warp_artic.constraints.loop_limit import LOOP_LIMIT, SOFT_LOOP_LIMIT
from warp_artic.constraints.loop_velocity_limit import LOOP_VELOCITY_LIMIT
from warp_artic.constraints.mimic import MIMIC
from warp_artic.constraints.rotation_limit import CONE_LIMIT, ROTATION_LIMIT, SWING_LIMIT, TWIST_LIMIT
from warp_artic.constraints.soft_limit import SOFT_LIMIT
from warp_artic.constraints.soft_rotation_limit import (
    SOFT_CONE_LIMIT,
    SOFT_ROTATION_LIMIT,
    SOFT_SWING_LIMIT,
    SOFT_TWIST_LIMIT,
)
from warp_artic.constraints.spatial_tendon import SPATIAL_TENDON, SPATIAL_TENDON_LIMIT
from warp_artic.constraints.speed_limit import LINK_SPEED, LINK_SPIN, TREE_SPEED, TREE_SPIN
from warp_artic.constraints.velocity_limit import VELOCITY_LIMIT
from warp_artic.model.families import ConstraintFamily

FAMILIES: tuple[ConstraintFamily, ...] = tuple(
    sorted(
        (
            DRIVE,
            FRICTION,
            VELOCITY_LIMIT,
            *(LINK_SPEED, LINK_SPIN, TREE_SPEED, TREE_SPIN),
            *(FIXED_TENDON, FIXED_TENDON_LIMIT),
            *(SPATIAL_TENDON, SPATIAL_TENDON_LIMIT),
            SOFT_LIMIT,
            *(SOFT_ROTATION_LIMIT, SOFT_TWIST_LIMIT, SOFT_SWING_LIMIT, SOFT_CONE_LIMIT),
            MIMIC,
            *(DISTANCE, SOFT_DISTANCE),
            LOOP_JOINT,
            *(LOOP_LIMIT, SOFT_LOOP_LIMIT, LOOP_DRIVE),
            *(LOOP_ARMATURE, LOOP_DAMPER, LOOP_FRICTION, LOOP_VELOCITY_LIMIT),
            JOINT_LIMIT,
            BOUNCING_LIMIT,
            *(ROTATION_LIMIT, TWIST_LIMIT, SWING_LIMIT, CONE_LIMIT),
            *(CONTACT_TURN, CONTACT_PAIR),
            *(CONTACT_FRICTION, CONTACT),
        ),
        key=lambda family: family.order,
    )
)
"""By their order."""

IN_STEPS = frozenset(family for family in FAMILIES if family.places is not None)
"""Those that step; rows of contact points are in the dynamics suite only."""

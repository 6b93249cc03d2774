"""What acts on the velocities of a tree over a step, by what it comes from, as the numbers that kernels use.

| part | what it is | on a root |
| --- | --- | --- |
| actuation | `control.joint_effort` | zero |
| drive | drives, saturated or not | zero |
| friction | static, dynamic and viscous friction of joints | zero |
| limit | limits of positions, hard and soft; limits of velocities, of joints and of links | those of links |
| tendon | fixed and spatial tendons with their limits | spatial ones |
| mimic | mimic joints | zero |
| loop | joints and distances beside the tree, which joints of the tree do not transmit | yes |
| contact | contacts of shapes, normal and friction | yes |
| external | J^T `control.link_external_force` | yes |
| damping | - J^T drag of links, linear and angular | yes |
| gravity | J^T weights | yes |
| coriolis | - c, of Coriolis, centrifugal and gyroscopic forces | yes |
| inertial | - M (v+ - v) / h, M with armature | yes |

Their sum is zero, to rounding of what single rows push with, which is more than a part shows where limits that nearly
contradict each other push against each other. They are forces along the velocities of dofs, positive where they would
increase them: on a floating root the force at its centre of mass and the moment, in world axes; in a ball joint along
the axes of its velocity. They are where a step places the links, in a midpoint step in the middle, and Coriolis forces
with velocities expected there; with substeps they are means over them. v+ is what forces and impulses make of v: in
free motion a midpoint step corrects it afterwards (`solver.history`).

Among many bodies contacts are solved island by island, before a step, which takes them as forces on links: there they
are part of `external`, and `contact` is zero (`recording.contact_force_on` tells them apart).
"""

from enum import IntEnum

import warp as wp


class ForcePart(IntEnum):
    """Parts; what links bring, by their forces and their inertia, comes last."""

    ACTUATION = 0
    DRIVE = 1
    FRICTION = 2
    LIMIT = 3
    TENDON = 4
    MIMIC = 5
    LOOP = 6
    CONTACT = 7
    EXTERNAL = 8
    DAMPING = 9
    GRAVITY = 10
    CORIOLIS = 11
    INERTIAL = 12


PART_NAMES = tuple(part.name.lower() for part in ForcePart)
"""The part of public names: `joint_drive_force`, `root_drive_force`."""

ACTUATION = wp.constant(int(ForcePart.ACTUATION))
DRIVE_PART = wp.constant(int(ForcePart.DRIVE))
FRICTION_PART = wp.constant(int(ForcePart.FRICTION))
LIMIT_PART = wp.constant(int(ForcePart.LIMIT))
EXTERNAL = wp.constant(int(ForcePart.EXTERNAL))
DAMPING = wp.constant(int(ForcePart.DAMPING))
GRAVITY = wp.constant(int(ForcePart.GRAVITY))
CORIOLIS = wp.constant(int(ForcePart.CORIOLIS))
INERTIAL = wp.constant(int(ForcePart.INERTIAL))
PART_COUNT = wp.constant(len(ForcePart))

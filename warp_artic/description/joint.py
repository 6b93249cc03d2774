"""A joint of a tree and its degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.pose import Pose

WORLD = -1
"""Index that stands for the world where a link index is expected."""


class Axis(Enum):
    """A direction of motion in the joint frame."""

    TRANS_X = "transX"
    TRANS_Y = "transY"
    TRANS_Z = "transZ"
    ROT_X = "rotX"
    ROT_Y = "rotY"
    ROT_Z = "rotZ"

    @cached_property
    def index(self) -> int:
        """0, 1 or 2 for X, Y or Z."""
        return "XYZ".index(self.value[-1])

    @cached_property
    def is_linear(self) -> bool:
        """Whether the motion is a translation."""
        return self.value.startswith("trans")


@dataclass(frozen=True, kw_only=True)
class Dof:
    """One degree of freedom of a joint."""

    name: str
    """Joint path, with `:rotX` ... `:transZ` appended when the joint has several dofs."""
    axis: Axis
    position: float = 0.0
    """Position at the start [m or rad]; on a ball joint or a zero-twist joint the component of the rotation vector."""
    velocity: float = 0.0
    """Velocity at the start [m/s or rad/s]; where the position is a component of a vector, the component of the angular
    velocity in the child-side joint frame."""
    armature: float = 0.0
    """Joint-space inertia [kg or kg m^2]."""
    drive: Drive | None = None
    limit: Limit | None = None
    friction: Friction | None = None
    velocity_limit: float = math.inf
    """Bound on |velocity| [m/s or rad/s]."""
    wraps: bool = True
    """Whether the position of a single rotation without limits is kept within two turns; else all turns are counted."""


@dataclass(frozen=True, kw_only=True)
class Joint:
    """A joint from a parent link (or the world) to a child link.

    With no dof it is fixed, with one it is revolute or prismatic. Several rotations are the twist, about the twist
    axis, and swings, about the other two:
        twist and both swings    ball joint          R_01 = exp(rotation vector)
        both swings              zero-twist joint    R_01 = exp(rotation vector), whose twist component is zero
        twist and one swing      universal joint     R_01 = R_u(b) R_x(a)
    where R_01 is the rotation body0 -> body1. In the last, a is the twist, about the twist axis x of the second frame,
    and b the swing, about the axis u of the first frame; positions are these two angles, velocities their rates. Of
    translations beside other dofs the positions are where the origin of the second frame is in the first one.
    """

    path: str
    """Prim path."""
    parent: int
    """Index of the parent link in the articulation, or WORLD."""
    child: int
    """Index of the child link in the articulation."""
    parent_frame: Pose = Pose()
    """X_PF, the parent-side joint frame in the parent link (or in the world)."""
    child_frame: Pose = Pose()
    """X_LM, the child-side joint frame in the child link."""
    dofs: tuple[Dof, ...] = ()
    """In the order transX, transY, transZ, rotX, rotY, rotZ."""
    reversed: bool = False
    """Whether the authored joint points from the child to the parent (body1 is the parent link).

    Positions, velocities, limits and targets then keep the authored sign: the displacement body0 -> body1, which is the
    inverse of the displacement parent -> child.
    """
    cone_limit: ConeLimit | None = None
    """About `cone_axis`; only on a joint with three rotational dofs."""
    cone_axis: Axis = Axis.ROT_X
    """The twist axis."""

    @property
    def rotations(self) -> tuple[Dof, ...]:
        """The rotational dofs, which come last."""
        return tuple(dof for dof in self.dofs if not dof.axis.is_linear)

    @property
    def is_universal(self) -> bool:
        """Whether it turns about its twist axis and one swing axis."""
        axes = [dof.axis for dof in self.rotations]
        return len(axes) == 2 and self.cone_axis in axes

    @property
    def has_vector(self) -> bool:
        """Whether the positions of its rotations are components of one rotation vector."""
        return len(self.rotations) > 1 and not self.is_universal

    @property
    def is_zero_twist(self) -> bool:
        """Whether it turns about both swing axes, but not about its twist axis."""
        return len(self.rotations) == 2 and not self.is_universal

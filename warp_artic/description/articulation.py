"""An articulation: a tree of links connected by joints."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.constraint import Constraint
from warp_artic.description.joint import Dof, Joint
from warp_artic.description.link import Link
from warp_artic.description.mimic import Mimic
from warp_artic.description.tendon import FixedTendon, SpatialTendon

Kind = TypeVar("Kind", bound=Constraint)

SLEEP_THRESHOLD = 5e-5
"""Where none is authored [m^2/s^2]: links move by less than 1 cm/s."""


@dataclass(frozen=True, kw_only=True)
class Articulation:
    """A tree of links; every link but the root of a floating tree has exactly one inbound joint."""

    path: str
    """Prim path of the articulation root, or of the root link where none is authored."""
    links: tuple[Link, ...]
    """Ordered by path, depth first, as composed on the stage; massless links after the others."""
    joints: tuple[Joint, ...]
    """Ordered by path, depth first, as composed on the stage."""
    fixed_tendons: tuple[FixedTendon, ...] = ()
    spatial_tendons: tuple[SpatialTendon, ...] = ()
    mimics: tuple[Mimic, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    """Of further kinds."""
    position_iterations: int | None = None
    """Authored iteration count of the position solve, if any."""
    velocity_iterations: int | None = None
    """Authored iteration count of the velocity solve, if any."""
    sleep_threshold: float = SLEEP_THRESHOLD
    """Kinetic energy by mass below which all links must be for the tree to fall asleep [m^2/s^2]; 0 keeps it awake."""
    starts_asleep: bool = False
    """Whether it sleeps until something changes, where trees sleep at all."""
    max_linear_velocity: float = math.inf
    """Largest speed of the centre of mass of all links [m/s]; of a floating tree only.

    As PxArticulationReducedCoordinate::setMaxCOMLinearVelocity.
    """
    max_angular_velocity: float = math.inf
    """Largest angular velocity of all links as one [rad/s]: their angular momentum about the centre of mass, by their
    inertia about it in the present pose; of a floating tree only.

    As PxArticulationReducedCoordinate::setMaxCOMAngularVelocity.
    """
    base_motion: BaseMotion | None = None
    """Of the kinematic body that carries it, if one does: joints to the world then are on that body at the start."""

    @property
    def articulations(self) -> tuple[Articulation, ...]:
        """The articulation itself: alone it is a mechanism, see `description.mechanism`."""
        return (self,)

    @property
    def link_numbers(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of its links, as of a mechanism."""
        return (tuple(range(len(self.links))),)

    @property
    def inbound(self) -> tuple[Joint | None, ...]:
        """The inbound joint of each link; None for the root of a floating tree."""
        joint_of = {joint.child: joint for joint in self.joints}
        return tuple(joint_of.get(link) for link in range(len(self.links)))

    @property
    def bodies(self) -> dict[str, int]:
        """The index of each link that is not massless, by path."""
        return {link.path: number for number, link in enumerate(self.links) if not link.is_massless}

    @property
    def is_floating(self) -> bool:
        """Whether the root link moves freely."""
        return len(self.joints) < len(self.links)

    @property
    def dofs(self) -> tuple[Dof, ...]:
        """All joint dofs, in the order of `joints`."""
        return tuple(dof for joint in self.joints for dof in joint.dofs)

    @property
    def tendon_names(self) -> tuple[str, ...]:
        """The fixed tendons, then the leaves of the spatial tendons."""
        fixed = tuple(tendon.name for tendon in self.fixed_tendons)
        return fixed + tuple(name for tendon in self.spatial_tendons for name in tendon.leaf_names)

    def constraints_of(self, kind: type[Kind]) -> tuple[Kind, ...]:
        """The further constraints of a kind."""
        return tuple(one for one in self.constraints if isinstance(one, kind))

    def bounded(self, dt: float) -> Articulation:
        """The same articulation for steps of `dt` [s]: the largest impulses of drives are forces."""
        constraints = tuple(one.bounded(dt) for one in self.constraints)
        if all(dof.drive is None or math.isinf(dof.drive.max_impulse) for dof in self.dofs):
            return self if constraints == self.constraints else replace(self, constraints=constraints)
        joints = tuple(
            replace(joint, dofs=tuple(replace(dof, drive=dof.drive and dof.drive.bounded(dt)) for dof in joint.dofs))
            for joint in self.joints
        )
        return replace(self, joints=joints, constraints=constraints)

"""Loop joints: joints that are no branch of a tree, as equations between two links, or between a link and the world."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from warp_artic.description.constraint import Constraint
from warp_artic.description.drive import Drive
from warp_artic.description.friction import Friction
from warp_artic.description.joint import WORLD, Axis, Dof
from warp_artic.description.limit import ConeLimit, Limit
from warp_artic.description.pose import Pose, rotation_vector_from_matrix
from warp_artic.description.start_pose import start_poses

_OF_AXES = {
    "limits": "limit",
    "drives": "drive",
    "frictions": "friction",
    "armatures": "armature",
    "velocity_limits": "velocity_limit",
}
"""Fields of a loop joint with pairs of a free axis and what it has, and the fields of the axis."""


@dataclass(frozen=True, kw_only=True)
class LoopAxis:
    """What acts along or about a free axis of a loop joint, or on several of them together."""

    name: str
    """That of the joint, with `:transX` ... `:rotZ`, `:distance` or `:cone` appended."""
    axis: Axis | None = None
    """None where it bounds a distance or a cone."""
    limit: Limit | None = None
    """Of the coordinate along or about the axis, or of the distance."""
    cone: ConeLimit | None = None
    drive: Drive | None = None
    friction: Friction | None = None
    armature: float = 0.0
    """[kg or kg m^2]"""
    velocity_limit: float = math.inf
    """[m/s or rad/s]"""


@dataclass(frozen=True, kw_only=True)
class LoopJoint(Constraint):
    """A joint that closes a loop: axes that are not free are locked; limits and drives may act on the others.

    The coordinates are those of `Joint`: translations are where the origin of the second frame is in the first one;
    several rotations are the twist, about the twist axis, and swings, about the other two. The angle of a single
    rotation is known up to whole turns: a limit bounds the one that is nearest to its middle, and a drive goes the
    shortest way to its target.
    """

    NOUN: ClassVar[str] = "loop joint"
    LINKS: ClassVar[tuple[str, ...]] = ("link0", "link1")
    MAY_BE_WORLD: ClassVar[bool] = True

    link0: int
    """Index of the first link in the articulation that has the joint, or WORLD."""
    link1: int
    """Index of the second link in its articulation (`articulation1`), or WORLD."""
    frame0: Pose = Pose()
    """The joint frame in the first link (or in the world)."""
    frame1: Pose = Pose()
    """The joint frame in the second link (or in the world)."""
    free: tuple[Axis, ...] = ()
    """The free axes, in the order of `Axis`."""
    twist_axis: Axis = Axis.ROT_X
    """The axis of the twist where two or three rotations are free."""
    limits: tuple[tuple[Axis, Limit], ...] = ()
    """Of free axes: translations, and twist and swings."""
    distance_limit: Limit | None = None
    """Of the distance between the origins along the free translations: a segment, a disc or a ball. A lower end that is
    negative is none."""
    cone_limit: ConeLimit | None = None
    """Of the swing, about the twist axis; only where all rotations are free."""
    drives: tuple[tuple[Axis, Drive], ...] = ()
    """Of free axes. Where two or three rotations are free, and not just the twist and one swing, targets are the
    components of a rotation vector, as those of `Joint`."""
    frictions: tuple[tuple[Axis, Friction], ...] = ()
    """Of free axes, as those of joints of trees; of several rotations, but the twist and one swing, about the axes of
    the second frame. So are those of the next two fields. Without shares of the load."""
    armatures: tuple[tuple[Axis, float], ...] = ()
    """Inertias that turn or slide with free axes [kg or kg m^2]."""
    velocity_limits: tuple[tuple[Axis, float], ...] = ()
    """Largest speeds along or about free axes [m/s or rad/s]."""
    slerp: bool = False
    """Whether the torque of the drives of three rotations is stiffness times the rotation vector of the shortest turn
    from the pose to the target; else they have the potential of `constraints.rotation_drive`."""
    break_force: float = math.inf
    """It breaks where it has transmitted more than this over a step [N]."""
    break_torque: float = math.inf
    """It breaks where it has transmitted more than this over a step, about the origin of the second frame [N m]."""
    inverse_mass_scales: tuple[float, float] = (1.0, 1.0)
    """By which the joint scales the inverse masses of its first and its second body; each a lone free body, but where
    the scale is one. On the side of the world it does nothing."""
    inverse_inertia_scales: tuple[float, float] = (1.0, 1.0)
    """The same of the inverse inertias about their centres of mass."""

    @property
    def held(self) -> tuple[Axis, ...]:
        """The locked axes, in the order of `Axis`."""
        return tuple(axis for axis in Axis if axis not in self.free)

    @property
    def is_breakable(self) -> bool:
        """Whether it can break."""
        return min(self.break_force, self.break_torque) < math.inf

    @property
    def axes(self) -> tuple[LoopAxis, ...]:
        """All that acts on free axes, in the order of these; distance and cone come last.

        Of several rotations each has a drive where one has: the torque of their potential has a part about all axes.
        """
        parts = {name: dict(getattr(self, name)) for name in _OF_AXES}
        parts["drives"] |= {axis: Drive() for axis in self._turned_by_others}
        found = [
            LoopAxis(
                name=f"{self.name}:{axis.value}",
                axis=axis,
                **{field: parts[name][axis] for name, field in _OF_AXES.items() if axis in parts[name]},
            )
            for axis in self.free
            if any(axis in own for own in parts.values())
        ]
        if self.distance_limit is not None:
            found.append(LoopAxis(name=f"{self.name}:distance", limit=self.distance_limit))
        if self.cone_limit is not None:
            found.append(LoopAxis(name=f"{self.name}:cone", cone=self.cone_limit))
        return tuple(found)

    @property
    def _turned_by_others(self) -> tuple[Axis, ...]:
        """Rotations without a drive that the potential of the drives of others turns: of several, not each an angle."""
        driven = [axis for axis, _ in self.drives if not axis.is_linear]
        if not driven or self.has_angles:
            return ()
        return tuple(axis for axis in self.free_rotations if axis not in driven)

    @property
    def free_rotations(self) -> tuple[Axis, ...]:
        """The rotations that are free."""
        return tuple(axis for axis in self.free if not axis.is_linear)

    @property
    def is_universal(self) -> bool:
        """Whether the twist and one swing are free."""
        return len(self.free_rotations) == 2 and self.twist_axis in self.free_rotations

    @property
    def has_angles(self) -> bool:
        """Whether each free rotation has an angle of its own, the rate of which is that of an angle."""
        return len(self.free_rotations) < 2 or self.is_universal

    @property
    def words(self) -> dict[str, str]:
        """Its locked axes, what acts on the others, and the loads at which it breaks."""
        loads = ((self.break_force, "N"), (self.break_torque, "N m"))
        limited = ", ".join(_last(one) for one in self.axes if one.limit is not None or one.cone is not None)
        driven = ", ".join(axis.value for axis in self.free if axis in dict(self.drives))
        return {
            "holds": ", ".join(axis.value for axis in self.held),
            "limits": limited,
            "drives": f"{driven} (slerp)" if self.slerp else driven,
            "friction": ", ".join(_last(one) for one in self.axes if one.friction is not None),
            "armature": ", ".join(_last(one) for one in self.axes if one.armature > 0.0),
            "velocity limits": ", ".join(_last(one) for one in self.axes if one.velocity_limit < math.inf),
            "breaks at": " or ".join(f"{load:g} {unit}" for load, unit in loads if load < math.inf),
            "scales": ", ".join(
                f"1/{what} by {' and '.join(f'{scale:g}' for scale in scales)}"
                for what, scales in (("m", self.inverse_mass_scales), ("I", self.inverse_inertia_scales))
                if scales != (1.0, 1.0)
            ),
        }

    def bounded(self, dt: float) -> LoopJoint:
        """The same joint for steps of `dt` [s]: largest forces of drives bound the impulse of a step too."""
        if all(math.isinf(drive.max_impulse) for _, drive in self.drives):
            return self
        return replace(self, drives=tuple((axis, drive.bounded(dt)) for axis, drive in self.drives))

    def problems(self, articulation) -> Iterator[str]:
        """What is wrong with it: what was found, and what is allowed."""
        yield from super().problems(articulation)
        if self.link0 == self.link1 and not self.articulation1:
            yield f"joins link {self.link0} with itself; it must join two links, or one and the world"
        for name in ("break_force", "break_torque"):
            if not getattr(self, name) > 0.0:
                yield f"has the {name} {getattr(self, name):g}; it must be positive, infinity for never"
        if not self.held and not self.axes:
            yield "leaves all six axes free; it must hold one of them, or have limits or drives"
        yield from self._problems_of_axes()
        yield from self._problems_of_scales(articulation)

    def _problems_of_scales(self, articulation) -> Iterator[str]:
        for name in ("inverse_mass_scales", "inverse_inertia_scales"):
            scales = getattr(self, name)
            if len(scales) != 2 or not all(0.0 <= scale < math.inf for scale in scales):
                yield f"has the {name} {scales}; they must be two numbers, finite and not negative"
                return
            moved = [scale for scale, link in zip(scales, (self.link0, self.link1)) if link != WORLD]
            if not any(moved):
                yield f"has the {name} {scales}, with which it moves none of its bodies; one of them must be positive"
        yield from self._problem_of_side(0, articulation)
        if not self.articulation1:
            yield from self._problem_of_side(1, articulation)

    def problems_between(self, other) -> Iterator[str]:
        """What is wrong at its end on another articulation."""
        yield from super().problems_between(other)
        yield from self._problem_of_side(1, other)

    def _problem_of_side(self, side: int, articulation) -> Iterator[str]:
        link = (self.link0, self.link1)[side]
        if link == WORLD or (self.inverse_mass_scales[side] == self.inverse_inertia_scales[side] == 1.0):
            return
        if 0 <= link < len(articulation.links):
            joints = [joint.path for joint in articulation.joints if link in (joint.parent, joint.child)]
            if joints:
                yield (
                    f"scales the inverse mass or inertia of {articulation.links[link].path}, which is no lone free "
                    f"body: {joints[0]} joins it to a tree, whose masses have no scale; its scales must be one"
                )

    def _problems_of_axes(self) -> Iterator[str]:
        for name, field in _OF_AXES.items():
            what = field.replace("_", " ")
            axes = [axis for axis, _ in getattr(self, name)]
            if len(set(axes)) < len(axes) or not set(axes) <= set(self.free):
                found, free = (", ".join(axis.value for axis in some) or "none" for some in (axes, self.free))
                article = "an" if what[0] == "a" else "a"
                yield f"has {article} {what} of {found}; each must be of one of its free axes, {free}"
        rotations = self.free_rotations
        for axis, drive in self.drives:
            if drive.has_envelope:
                yield f"has a drive of {axis.value} with a performance envelope; this is not simulated on a loop joint"
        for axis, friction in self.frictions:
            if friction.coefficient:
                yield f"has friction of {axis.value} that is a share of its load; this is not simulated on a loop joint"
        for axis, limit in self.limits:
            if rotations == (axis,) and not limit.upper - limit.lower <= 2.0 * math.pi:
                found = f"{limit.lower:g} to {limit.upper:g} rad"
                yield f"bounds {axis.value} to {found}; both ends must be finite, and at most a turn apart"
        if self.distance_limit is not None:
            if not any(axis.is_linear for axis in self.free):
                yield "bounds a distance, but holds all translations; one of them must be free"
            if not self.distance_limit.upper > 0.0:
                yield f"has a largest distance of {self.distance_limit.upper:g} m; it must be positive"
        if self.cone_limit is not None and len(rotations) < 3:
            yield "has a cone; all three rotations must be free then"
        if self.slerp:
            driven = [drive for axis, drive in self.drives if not axis.is_linear]
            if len(rotations) < 3 or len(driven) < 3:
                yield "has a slerp drive; all three rotations must be free and driven then"
            elif len({(one.kind, one.stiffness, one.damping) for one in driven}) > 1:
                yield "has a slerp drive with several gains; those of its three rotations must be the same"

    @property
    def dofs(self) -> tuple[Dof, ...]:
        """Limits and drives as those of degrees of freedom, which have the same bounds."""
        alike = {True: Axis.ROT_X, False: Axis.TRANS_X}
        return tuple(
            Dof(
                name=one.name,
                axis=one.axis or alike[one.cone is not None],
                **{field: getattr(one, field) for field in _OF_AXES.values()},
            )
            for one in self.axes
        )


def loop_axes(articulation) -> tuple[LoopAxis, ...]:
    """All that acts on free axes of the loop joints of an articulation that are enabled, joint by joint."""
    return tuple(axis for loop in articulation.constraints_of(LoopJoint) if loop.enabled for axis in loop.axes)


def _last(one: LoopAxis) -> str:
    """The name of an axis without that of its joint."""
    return one.name.rsplit(":", 1)[1]


def start_gap(mechanism, loop: LoopJoint) -> tuple[float, float]:
    """The gap of a loop joint of a mechanism at the start, along and about its locked axes [m, rad]."""
    poses = (*start_poses(mechanism), Pose())  # WORLD is the last one
    X_01 = (poses[loop.link0] @ loop.frame0).inverse() @ poses[loop.link1] @ loop.frame1
    held = [axis.index for axis in loop.held if axis.is_linear]
    distance = float(np.linalg.norm(np.asarray(X_01.position)[held]))
    return distance, _held_angle(loop, X_01.rotation)


def _held_angle(loop: LoopJoint, R_01: np.ndarray) -> float:
    """The angle by which frames are turned against each other about the axes that are held [rad]."""
    held = [axis.index for axis in loop.held if not axis.is_linear]
    if len(held) == 3:
        return float(np.linalg.norm(rotation_vector_from_matrix(R_01)))
    if len(held) == 2:
        free = 3 - sum(held)
        return float(np.arccos(np.clip(R_01[free, free], -1.0, 1.0)))
    if held == [loop.twist_axis.index]:
        (x, y, z), axis = rotation_vector_from_matrix(R_01), held[0]
        half = 0.5 * np.linalg.norm((x, y, z))
        sine = np.sinc(half / np.pi) * 0.5 * (x, y, z)[axis]
        return float(2.0 * abs(np.arctan2(sine, np.cos(half))))
    if held:
        twist = loop.twist_axis.index
        return float(abs(np.arcsin(np.clip(R_01[3 - twist - held[0], twist], -1.0, 1.0))))
    return 0.0

"""The start of a mechanism nearest to the authored one in which what is hard between its links holds.

    least |x - x_0|^2   with   r(x) = 0   and   lower <= x <= upper
for the positions x of its joints and the poses of its floating roots, lengths counted by the size of the mechanism, so
that a radian weighs as much as the motion of its outermost point. r are the errors of loop joints along and about the
axes that they hold, of distances, and of mimic joints. Each turn takes r for linear:
    d = e - J^+ (r + J e),   e = x_0 - x,
in the positions that are not at a bound which d would pass, J^+ the pseudoinverse: rows may be redundant. A step is
halved until r is smaller. Where r comes to rest above zero other starts within the limits are tried, always the same
ones; the nearest start that closes counts, or, where none does, the one that is least open.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.distance import Distance
from warp_artic.description.gaps import Gap, distance_excess, distance_points, mimic_gap
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.loop_joint import LoopJoint
from warp_artic.description.mechanism import Mechanism, joined
from warp_artic.description.pose import Pose, cross, quaternion_from_rotation_vector, rotation_vector_from_matrix
from warp_artic.description.start_pose import displacement

CLOSED = 1e-12
"""An error below which nothing is changed [m or rad]."""
NUDGE = 1e-6
"""Of central differences."""
NUDGED = tuple(
    tuple(
        (sign * NUDGE * np.eye(6)[axis, :3], Pose(quaternion=quaternion_from_rotation_vector(turn)).rotation)
        for sign in (1.0, -1.0)
        for turn in [sign * NUDGE * np.eye(6)[axis, 3:]]
    )
    for axis in range(6)
)
"""Displacements and rotations there and back, along and about each axis."""
REDUNDANT, DOUBTFUL = 1e-8, 1e-2
"""Share of the largest singular value below which r is not as if linear (Kantorovich): root(2 |r| / size) in here."""
TURNS, TRIES, HALVINGS = 60, 24, 8
LONGEST = 0.5
"""Of a step [rad, or the size of the mechanism]."""


@dataclass(frozen=True)
class Assembly:
    """A mechanism before and after it is put together."""

    before: Articulation | Mechanism
    articulations: tuple[Articulation, ...]
    """Of the mechanism, at the start that was found."""
    gaps_before: tuple[Gap, ...]
    """Of what is hard between links or dofs, in the order of the mechanism."""
    gaps: tuple[Gap, ...]

    @property
    def closes(self) -> bool:
        """Whether all of it holds at the start that was found."""
        return all(gap.is_small for gap in self.gaps)


def closed(mechanism: Articulation | Mechanism) -> Articulation | Mechanism:
    """A mechanism, closed the shortest way where its loop joints are open by next to nothing."""
    if not mechanism.constraints_of(LoopJoint):
        return mechanism
    frame = Closure(mechanism)
    small, count = [gap.is_small for gap in frame.gaps(frame.start)], len(frame.links)
    frame.links = [one for one, is_small in zip(frame.links, small) if is_small]
    frame.mimics = [one for one, is_small in zip(frame.mimics, small[count:]) if is_small]
    frame.lower, frame.upper = np.minimum(frame.lower, frame.start), np.maximum(frame.upper, frame.start)
    found = frame.close(frame.start, 4)
    return mechanism if found is frame.start else joined(frame.articulations(found))


def all_closed(mechanisms: Sequence[Articulation | Mechanism]) -> list[Articulation | Mechanism]:
    """Mechanisms as `closed` has them; copies of a tree that differ in where they are take over what one has found."""
    known: dict[tuple, tuple[float, ...]] = {}
    made = []
    for mechanism in mechanisms:
        key = _inside(mechanism)
        if key in known:
            places = iter(known[key])
            made.append(replace(mechanism, joints=tuple(_at(joint, places) for joint in mechanism.joints)))
            continue
        made.append(closed(mechanism))
        if key is not None:
            known[key] = tuple(dof.position for dof in made[-1].dofs)
    return made


def _inside(mechanism: Articulation | Mechanism) -> tuple | None:
    """What closing a tree depends on but where it is; None where that counts as well, or there is nothing to close."""
    loops = mechanism.constraints_of(LoopJoint)
    others = len(mechanism.constraints) > len(loops) or mechanism.mimics or isinstance(mechanism, Mechanism)
    if not loops or others or any(WORLD in (loop.link0, loop.link1) for loop in loops):
        return None
    joints = [
        (one.parent, one.child, None if one.parent == WORLD else one.parent_frame, one.child_frame, one.reversed)
        + (one.cone_axis, *((dof.axis, dof.position, dof.limit) for dof in one.dofs))
        for one in mechanism.joints
    ]
    held = [(one.link0, one.link1, one.frame0, one.frame1, one.free, one.twist_axis, one.enabled) for one in loops]
    return tuple(joints), tuple(held)


def _at(joint: Joint, places: Iterator[float]) -> Joint:
    """A joint at the next positions."""
    return replace(joint, dofs=tuple(replace(dof, position=next(places)) for dof in joint.dofs))


def assemble(mechanism: Articulation | Mechanism) -> Assembly:
    """The nearest start in which a mechanism is together, or the one in which it is least open."""
    frame = Closure(mechanism)
    found = frame.nearest(frame.start)
    generator = np.random.default_rng(0)
    for _ in range(0 if frame.is_closed(found) else TRIES):
        other = frame.nearest(frame.random(generator))
        if frame.rank(other) < frame.rank(found):
            found = other
    gaps = [tuple(frame.gaps(x)) for x in (frame.start, found)]
    return Assembly(mechanism, frame.articulations(found), *gaps)


class Closure:
    """A mechanism as a function of its positions: joint dofs, then six of each floating root."""

    def __init__(self, mechanism: Articulation | Mechanism):
        self.mechanism = mechanism
        self.inbound = mechanism.inbound
        self.links = [one for one in mechanism.constraints if one.enabled and _is_hard(one)]
        self.mimics = [one for one in mechanism.mimics if one.enabled and one.is_hard]
        dofs = mechanism.dofs
        ends = np.cumsum([0, *(len(joint.dofs) for joint in mechanism.joints)])
        self.own = {joint.child: slice(*pair) for joint, pair in zip(mechanism.joints, zip(ends, ends[1:]))}
        self.roots = [link for link, joint in enumerate(self.inbound) if joint is None]
        self.dof_count = len(dofs)
        self.count = len(dofs) + 6 * len(self.roots)
        self.order = _parents_first(self.inbound)
        self.backward = {joint.child: joint.child_frame.inverse() for joint in mechanism.joints}
        self.above = self._above()
        free = np.zeros(6 * len(self.roots))
        self.start = np.array([*(dof.position for dof in dofs), *free])
        bound = [(dof.limit.lower, dof.limit.upper) if dof.limit else (-math.inf, math.inf) for dof in dofs]
        self.lower, self.upper = np.array([*bound, *[(-math.inf, math.inf)] * len(free)]).reshape(-1, 2).T
        self.size = self._size()
        # Rotations weigh by the size.
        linear = [dof.axis.is_linear for dof in dofs]
        linear += [True, True, True, False, False, False] * len(self.roots)
        self.weight = np.where(linear, 1.0, self.size)

    def _above(self) -> list[frozenset[int]]:
        """Of each link the joints, or roots, that move it: by the columns of x."""
        found: list[frozenset[int]] = [frozenset()] * len(self.inbound)
        for link in self.order:
            joint = self.inbound[link]
            if joint is None:
                first = self.dof_count + 6 * self.roots.index(link)
                found[link] = frozenset(range(first, first + 6))
            else:
                own = self.own[joint.child]
                parent = frozenset() if joint.parent == WORLD else found[joint.parent]
                found[link] = parent | frozenset(range(own.start, own.stop))
        return found

    def _size(self) -> float:
        """How far its frames are from their middle [m]."""
        poses = self.poses(self.start)
        points = [pose.position for pose in poses[:-1]]
        points += [(poses[one.link0] @ one.frame0).position for one in self.links if isinstance(one, LoopJoint)]
        spread = np.asarray(points) - np.mean(points, axis=0)
        return max(float(np.linalg.norm(spread, axis=1).max()), 1e-6)

    def poses(self, x: np.ndarray) -> list[Pose]:
        """World poses of all links, then that of the world."""
        found = [Pose()] * (len(self.inbound) + 1)
        for link in self.order:
            joint = self.inbound[link]
            if joint is None:
                first = self.dof_count + 6 * self.roots.index(link)
                start = self.mechanism.links[link].pose
                turn = Pose(quaternion=quaternion_from_rotation_vector(x[first + 3 : first + 6]))
                found[link] = Pose.of(np.asarray(start.position) + x[first : first + 3], turn.rotation @ start.rotation)
            else:
                X_FM = displacement(joint, x[self.own[joint.child]])
                found[link] = found[joint.parent] @ joint.parent_frame @ X_FM @ self.backward[joint.child]
        return found

    def errors(self, x: np.ndarray) -> np.ndarray:
        """r, lengths in metres and angles times the size."""
        poses = self.poses(x)
        parts = [self._errors_of(one, poses) for one in self.links]
        return np.concatenate([*parts, [self._relation(mimic, x) for mimic in self.mimics], []])

    def _errors_of(self, one: LoopJoint | Distance, poses: list[Pose]) -> np.ndarray:
        """r of a loop joint or a distance."""
        if isinstance(one, Distance):
            return np.array([distance_excess(one, *distance_points(one, poses))])
        X_01 = (poses[one.link0] @ one.frame0).inverse() @ poses[one.link1] @ one.frame1
        return _held(one, X_01) * self._scales(one)

    def _scales(self, loop: LoopJoint) -> np.ndarray:
        return np.array([1.0 if axis.is_linear else self.size for axis in loop.held])

    def _relation(self, mimic, x: np.ndarray) -> float:
        """C of a mimic joint in metres."""
        error = mimic.error(x)
        return error if self.mechanism.dofs[mimic.dofs[0]].axis.is_linear else error * self.size

    def gaps(self, x: np.ndarray) -> list[Gap]:
        """By how much each is open: of loop joints and distances, then of mimic joints."""
        poses = self.poses(x)
        found = []
        for one in self.links:
            error = self._errors_of(one, poses)
            if isinstance(one, Distance):
                found.append(Gap(one.name, float(np.abs(error).max())))
                continue
            linear = np.array([axis.is_linear for axis in one.held], bool)
            distance, angle = (float(np.linalg.norm(error[part])) for part in (linear, ~linear))
            found.append(Gap(one.name, distance, angle / self.size))
        return found + [mimic_gap(mimic, self.mechanism.dofs, x) for mimic in self.mimics]

    def is_closed(self, x: np.ndarray) -> bool:
        """Whether all that is hard holds."""
        return all(gap.is_small for gap in self.gaps(x))

    def rank(self, x: np.ndarray) -> tuple[float, float]:
        """Less is better: what is together by how far it is, before what is open by how much."""
        return (0.0, self.far(x)) if self.is_closed(x) else (float(np.linalg.norm(self.errors(x))), 0.0)

    def far(self, x: np.ndarray) -> float:
        """|x - x_0|."""
        return float(np.linalg.norm(self.weight * (x - self.start)))

    def random(self, generator: np.random.Generator) -> np.ndarray:
        """Another start: joints anywhere within their limits, or within half a turn or the size."""
        reach = np.where(self.weight == 1.0, self.size, math.pi)
        low, high = np.maximum(self.lower, self.start - reach), np.minimum(self.upper, self.start + reach)
        x = generator.uniform(np.minimum(low, high), np.maximum(low, high))
        x[self.dof_count :] = 0.0
        return x

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """dr/dx: twists of links in the world by x, and r of each by twists of frame 1 against frame 0."""
        poses = self.poses(x)
        twists = self._twists(x, poses)
        rows = []
        for one in self.links:
            at = poses[one.link0].position if one.link0 != WORLD else (0.0, 0.0, 0.0)
            by_twist = self._by_twist(one, poses, np.asarray(at))
            moved = np.zeros((6, self.count))
            for link, sign in ((one.link1, 1.0), (one.link0, -1.0)):
                columns = sorted(self.above[link]) if link != WORLD else []
                moved[:, columns] += sign * _carried(twists[:, columns], at)
            rows.append(by_twist @ moved)
        for mimic in self.mimics:
            row = np.zeros((1, self.count))
            row[0, list(mimic.dofs)] = mimic.gears
            row[0, mimic.dofs[1]] += np.polyval(np.polyder((*mimic.curve[::-1], 0.0, 0.0)), x[mimic.dofs[1]])
            rows.append(row * (1.0 if self.mechanism.dofs[mimic.dofs[0]].axis.is_linear else self.size))
        return np.concatenate([*rows, np.zeros((0, self.count))])

    def _twists(self, x: np.ndarray, poses: list[Pose]) -> np.ndarray:
        """Velocity of the point of a link at the origin of the world, and angular velocity, by each of x (6, count)."""
        found = np.zeros((6, self.count))
        for joint in self.mechanism.joints:
            own = self.own[joint.child]
            X_WF = (Pose() if joint.parent == WORLD else poses[joint.parent]) @ joint.parent_frame
            for column, twist in zip(range(own.start, own.stop), _joint_twists(joint, x[own])):
                found[:, column] = _in_world(twist, X_WF)
        for number, link in enumerate(self.roots):
            first = self.dof_count + 6 * number
            found[:3, first : first + 3] = np.eye(3)
            vector = x[first + 3 : first + 6]
            for axis in range(3):
                nudge = NUDGE * np.eye(3)[axis]
                turns = [Pose(quaternion=quaternion_from_rotation_vector(vector + s * nudge)) for s in (1, -1)]
                w = rotation_vector_from_matrix(turns[0].rotation @ turns[1].rotation.T) / (2.0 * NUDGE)
                found[:, first + 3 + axis] = *cross(poses[link].position, w), *w
        return found

    def _by_twist(self, one: LoopJoint | Distance, poses: list[Pose], at: np.ndarray) -> np.ndarray:
        """dr by the motion of link 1 against link 0 in the world: velocity of the point `at`, then angular velocity."""
        if isinstance(one, Distance):
            x0, x1 = distance_points(one, poses)
            d = x1 - x0
            length = float(np.linalg.norm(d))
            n = d / length if length > 0.0 else np.array([1.0, 0.0, 0.0])
            sign = np.sign(distance_excess(one, x0, x1))
            return np.abs(sign) * np.concatenate([n, cross(x1 - at, n)])[None]
        X_W0, X_W1 = poses[one.link0] @ one.frame0, poses[one.link1] @ one.frame1
        X_0W, arm, scales = X_W0.inverse(), np.asarray(X_W1.position) - at, self._scales(one)
        columns = []
        for pair in NUDGED:
            ends = [_held(one, X_0W @ Pose.of(at + v + turn @ arm, turn @ X_W1.rotation)) for v, turn in pair]
            columns.append((ends[0] - ends[1]) / (2.0 * NUDGE) * scales)
        return np.stack(columns, axis=1)

    def close(self, x: np.ndarray, turns: int) -> np.ndarray:
        """The shortest way to r = 0, from where it is small."""
        for _ in range(turns):
            r = self.errors(x)
            if np.abs(r).max(initial=0.0) <= CLOSED * max(self.size, 1.0):
                break
            moved = self._step(x, r, np.zeros(self.count))
            if np.linalg.norm(self.errors(moved)) >= np.linalg.norm(r):
                break
            x = moved
        return x

    def nearest(self, x: np.ndarray) -> np.ndarray:
        """From one start: where r is zero and |x - x_0| is least, or where |r| is."""
        x = np.clip(x, self.lower, self.upper)
        for _ in range(TURNS):
            r = self.errors(x)
            moved = self._step(x, r, self.start - x)
            shorter = min(1.0, LONGEST * self.size / max(np.abs(self.weight * (moved - x)).max(initial=0.0), 1e-300))
            before, allowed = np.linalg.norm(r), 1e-6 * self.size
            for _ in range(HALVINGS):
                tried = np.clip(x + shorter * (moved - x), self.lower, self.upper)
                if np.linalg.norm(self.errors(tried)) <= max(before * (1.0 - 0.1 * shorter), allowed):
                    break
                shorter *= 0.5
            else:
                # The pull to the start may stand in the way.
                tried = self._descend(x, r)
                if tried is None:
                    break
            change = np.abs(self.weight * (tried - x)).max(initial=0.0)
            x = tried
            if change <= 1e-10 * self.size:
                break
        return self.close(x, 6)

    def _descend(self, x: np.ndarray, r: np.ndarray) -> np.ndarray | None:
        """A shorter r by a damped step, or None where there is none."""
        J = self.jacobian(x) / self.weight
        for damping in 10.0 ** np.arange(-6.0, 3.0):
            d = -J.T @ np.linalg.solve(J @ J.T + damping * np.eye(len(r)), r) / self.weight
            tried = np.clip(x + d, self.lower, self.upper)
            if np.linalg.norm(self.errors(tried)) < np.linalg.norm(r) * (1.0 - 1e-6):
                return tried
        return None

    def _step(self, x: np.ndarray, r: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """Where r, taken for linear, is zero, as near as it can be to where the pull leads, within the bounds."""
        J = self.jacobian(x) / self.weight
        redundant = np.clip(math.sqrt(2.0 * np.linalg.norm(r) / self.size), REDUNDANT, DOUBTFUL)
        low, high = self.weight * (self.lower - x), self.weight * (self.upper - x)
        e = np.clip(self.weight * pull, low, high)
        d, free = np.zeros(self.count), np.ones(self.count, bool)
        for _ in range(self.count + 1):
            rest = r + J[:, ~free] @ d[~free] + J[:, free] @ e[free]
            d[free] = e[free] - np.linalg.pinv(J[:, free], rcond=redundant) @ rest
            past = free & ((d < low - 1e-15) | (d > high + 1e-15))
            if not past.any():
                break
            d[past] = np.clip(d, low, high)[past]
            free &= ~past
        return x + np.clip(d, low, high) / self.weight

    def articulations(self, x: np.ndarray) -> tuple[Articulation, ...]:
        """The articulations of the mechanism with these positions as their start."""
        made, first, poses = [], 0, self.poses(x)
        numbers = self.mechanism.link_numbers
        for one, own in zip(self.mechanism.articulations, numbers):
            joints = []
            for joint in one.joints:
                joints.append(_at(joint, iter(x[first : first + len(joint.dofs)].tolist())))
                first += len(joint.dofs)
            links = list(one.links)
            for place, joint in enumerate(one.inbound):
                column = self.dof_count + 6 * self.roots.index(own[place]) if joint is None else None
                if column is not None and np.any(x[column : column + 6]):
                    links[place] = replace(links[place], pose=poses[own[place]])
            made.append(replace(one, joints=tuple(joints), links=tuple(links)))
        return tuple(made)


def _is_hard(one) -> bool:
    """Whether a constraint holds positions."""
    return isinstance(one, LoopJoint) or (isinstance(one, Distance) and not one.is_soft)


def _parents_first(inbound: Sequence[Joint | None]) -> list[int]:
    """The links, each after its parent."""
    order: list[int] = []
    done = {WORLD}
    children: dict[int, list[int]] = {}
    for link, joint in enumerate(inbound):
        children.setdefault(WORLD if joint is None else joint.parent, []).append(link)
    waiting = [WORLD]
    while waiting:
        for link in children.get(waiting.pop(), ()):
            if link not in done:
                done.add(link)
                order.append(link)
                waiting.append(link)
    return order


def _joint_twists(joint: Joint, positions: np.ndarray) -> Iterator[np.ndarray]:
    """Of each dof the velocity of the point of M at the origin of F, and the angular velocity of M, in F (6)."""
    if len(joint.dofs) == 1:
        axis = joint.dofs[0].axis
        twist = np.zeros(6)
        twist[axis.index + (0 if axis.is_linear else 3)] = -1.0 if joint.reversed else 1.0
        yield twist
        return
    for column in range(len(joint.dofs)):
        nudge = np.zeros(len(joint.dofs))
        nudge[column] = NUDGE
        after, before = (displacement(joint, positions + sign * nudge) for sign in (1.0, -1.0))
        w = rotation_vector_from_matrix(after.rotation @ before.rotation.T) / (2.0 * NUDGE)
        middle = displacement(joint, positions)
        v = np.subtract(after.position, before.position) / (2.0 * NUDGE)
        yield np.concatenate([v - cross(w, middle.position), w])


def _in_world(twist: np.ndarray, X_WF: Pose) -> np.ndarray:
    """A twist in F as one in the world, both at the origin of their frame."""
    w = X_WF.rotation @ twist[3:]
    return np.concatenate([X_WF.rotation @ twist[:3] + cross(X_WF.position, w), w])


def _carried(twists: np.ndarray, at: Sequence[float]) -> np.ndarray:
    """Twists (6, n) at the origin of the world as those at a point."""
    return np.concatenate([twists[:3] + np.cross(twists[3:].T, at).T, twists[3:]])


def _held(loop: LoopJoint, X_01: Pose) -> np.ndarray:
    """The errors of a loop joint along and about the axes that it holds [m, rad]; see `constraints.loop_joint`."""
    R, found = X_01.rotation, []
    turns = [axis for axis in loop.held if not axis.is_linear]
    vector = rotation_vector_from_matrix(R)
    for axis in loop.held:
        if axis.is_linear:
            found.append(X_01.position[axis.index])
        elif len(turns) == 3:
            found.append(vector[axis.index])
        elif len(turns) == 2:
            free = 3 - sum(one.index for one in turns)
            normal = cross(np.eye(3)[free], R[:, free])
            angle, sine = math.atan2(np.linalg.norm(normal), R[free, free]), np.linalg.norm(normal)
            found.append(normal[axis.index] * (angle / sine if sine > 1e-12 else 1.0))
        elif axis is loop.twist_axis:
            half = 0.5 * np.linalg.norm(vector)
            sine = np.sinc(half / np.pi) * 0.5 * vector[axis.index]
            found.append(2.0 * math.atan2(sine, math.cos(half)))
        else:
            twist = loop.twist_axis.index
            found.append(math.asin(np.clip(R[3 - twist - axis.index, twist], -1.0, 1.0)))
    return np.array(found)

"""One time step of an articulation with springs, dampers and hard relations, by dense matrices in double precision.

    q_M = q moved by h/2 v,  a the smooth acceleration of the step before (in the first step: zero), which is what
    springs of limits do not do, and after the first step what no element does, as far as dofs have moved so
    M(q_M) (v+ - v) = h (tau - C(q_M, v + h/2 a) - g(q_M)) + h sum of f push + J^T z
What acts on single dofs (drives, viscous friction) sees the pivot m of its dof in the elimination of M from the tips to
the root, in which the pivots before it have h theta (d + reach h k) of their own:
    f = - k (e + reach h w) - d w,   w = (1 - theta) v + theta v+,   q+ = q + h w,
    theta = 1 - late(delta) / (1 + x^2 (1 + x) / 2),  delta = h d / m,  x = h^2 k m / (m + h d)^2,
    reach = 1 - late(rho) / (1 + x^2 (1 + x) / 2),  rho = delta x,
    late(y) = 1 / y - E / (1 - E),  E = 1 / (1 + y + y^2 / 2 + y^3 / 6) instead of exp(- y);
and without a middle theta = reach = 1, and q_M = q. For all elements else
    f = - k (e + theta h ((1 - share) J_L v + theta J_L v+)) - d ((1 - theta) J_S v + theta J_S v+)
with share = 1/2, and in the first step and for the semi-implicit integrator share = 1.
    theta = share + (1 - share) x^2 / (1 + x^2),   x = h (d + h k) r,   r: what a unit impulse along push changes
of the rate of e. Of dofs with drives a has in the first step the part that these leave of v, 1 - h resistance / pivot.
where in a tree with joints of two or three free rotations v + h/2 a gives way, up to twice, to the mean of v and v+ if
that is other than it by more than 0.002 of the largest angular rate, where that is above 0.02 rad a step (without a
middle, where v gives way, only where nothing acts but limits, of free bodies as well, and at any rate); but first
in trees with drives or viscous friction v + h/2 a + 3/8 h a', a' the change of a in the last step but not beyond a / 2;
and where in a step without substeps w of such a dof misses that by more than 0.02 of the largest angular rate, counted
by the part h resistance / pivot of a velocity that it takes, and that rate times the miss is above 1e-7 / h^2, velocity
forces are found at w, then at that of two halves of the step, which also give theta of these dofs:
    theta = (w - v) / (v+ - v), from 1/2 to 1, and with 1 - theta at most eight times that of the pivot;
    q+ = q moved by (1 - share) h v, then by share h v+
with share = theta for dofs with drives, and else with a middle 1/2; for dofs of an element at least its own share, and
for all dofs of a mimic joint the largest of theirs. In substeps h
is that of the substep in all but the first two lines. The velocity of a joint with three free rotations is given in the
axes of its child: a is turned from those of the step before, v+ from those in the middle to those where it is taken up.
What floats keeps its momenta at the end (`oracles.floating`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tests.oracles import joint_motion, rigid, rotation_drive
from tests.oracles.floating import carried
from tests.oracles.movement import moved, moved_joint, rotation, turning
from tests.oracles.simulated_state import state_of
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import Joint
from warp_artic.description.loop_joint import LoopJoint

FLIGHT = 0.02
"""Angle of a step from which on what floats keeps its momenta [rad]."""


@dataclass(frozen=True)
class Spring:
    """A spring and damper on a coordinate of which J_L and J_S (N) are the rates that they see."""

    stiffness: float
    damping: float
    error: float
    """e at the start of the step."""
    length: np.ndarray
    """J_L, shape (N)."""
    rate: np.ndarray
    """J_S, shape (N)."""
    push: np.ndarray
    """What a unit force does on each dof, shape (N)."""
    touches: np.ndarray | None = None
    """The dofs that it acts on, shape (N); None: those that push and rates have."""
    is_limit: bool = False
    """Whether it is the spring of a limit that is passed: its force is not part of a."""
    ties: bool = False
    """Whether it is a mimic joint: its dofs move alike, with the largest share of any of them."""
    resolves: bool = False
    """Whether the share (1 - theta) / (1 - share) of the force of a limit is part of a, which the step resolves."""

    @property
    def touched(self) -> np.ndarray:
        """Which dofs it acts on, shape (N)."""
        return (self.push != 0.0) | (self.length != 0.0) if self.touches is None else self.touches


@dataclass(frozen=True)
class Relation:
    """J v+ = y, held by an impulse along J."""

    J: np.ndarray
    """Shape (N)."""
    y: float
    ties: bool = True
    """Whether its dofs move alike, with the largest share of any of them, whatever else acts on these."""

    @property
    def touched(self) -> np.ndarray:
        """Which dofs it acts on, shape (N)."""
        return self.J != 0.0


class DenseStep:
    """The law of a step of `tree`; call it once a step, with the state at the start of each.

    Args:
        h: Time step [s].
        integrator: "midpoint" or "semi_implicit".
        gravity: [m/s^2]
        stiffness, damping, bias: Of drives and viscous friction: effort = bias - stiffness q - damping v, shapes (D).
        elements: Called with the state at the start of a substep, the motion where forces are evaluated and the share;
            gives its springs and relations.
        substeps: Times that velocities and positions advance by h / substeps, with M, C and g of the step.
    """

    def __init__(
        self,
        tree: Articulation,
        h: float,
        integrator: str,
        *,
        gravity=rigid.GRAVITY,
        stiffness=0.0,
        damping=0.0,
        bias=0.0,
        target=0.0,
        elements=lambda state, placed, share: (),
        substeps=1,
    ):
        self.tree, self.h, self.gravity, self.elements, self.substeps = tree, h, gravity, elements, substeps
        self.has_middle = integrator == "midpoint"
        self.base = rigid.base_count(tree)
        roots, dofs = np.zeros(self.base), np.ones(len(tree.dofs))
        self.k, self.d, self.bias, self.target = (
            np.concatenate([roots, dofs * value]) for value in (stiffness, damping, bias, target)
        )
        self.coupled = [
            joint.has_vector and any(dof.drive is not None for dof in joint.dofs) for joint in self.tree.joints
        ]
        """Of each joint whether a drive couples its rotations."""
        self.turns = any(joint.has_vector for joint in tree.joints) or not (tree.joints or self.has_middle)
        self.angular = np.array([k >= 3 for k in range(self.base)] + [not dof.axis.is_linear for dof in tree.dofs])
        self.on_root = np.zeros(self.base)
        """What elements have done to a floating root in the step: impulse, and its moment about the root."""
        self.acts = bool(tree.mimics or tree.fixed_tendons or tree.spatial_tendons)
        """Whether there are elements that are no limits."""
        self.acceleration = None
        """Smooth acceleration of the step before; None before the first step."""
        self.change = None
        """What it has changed by in that step; none in the first one."""

    @property
    def is_driven(self) -> bool:
        """Whether drives or viscous friction act in a step with a middle."""
        return self.has_middle and bool(np.any(self.k + self.d > 0.0))

    @property
    def expects_change(self) -> bool:
        """Whether velocities of the middle are expected by the change of a as well."""
        return self.is_driven

    def __call__(self, state: State) -> State:
        """The state at the end of the step."""
        starts = self.acceleration is None
        after = self.closed(self.advanced(state))
        rates = np.abs([rigid.velocity(self.tree, one) for one in (state, after)])[:, self.angular]
        turns = self.is_acted and not self.is_pushed and rates.max(initial=0.0) * self.h > FLIGHT
        keeps = self.only_loops
        if self.base and self.has_middle and not starts and self.tree.joints and (turns or keeps):
            after = carried(self.tree, state, after, self.gravity, self.h, keeps, self.on_root)
        return after

    @property
    def is_acted(self) -> bool:
        """Whether anything but weights, limits and the held axes of loop joints may act on the tree."""
        rubs = any(dof.friction is not None for dof in self.tree.dofs)
        loops = [one for one in self.tree.constraints if isinstance(one, LoopJoint)]
        acts = len(loops) < len(self.tree.constraints) or any(loop.axes for loop in loops)
        return bool(np.any(self.k + self.d) or rubs or acts or self.acts)

    @property
    def is_pushed(self) -> bool:
        """Whether wrenches are given to its links."""
        return False

    @property
    def only_loops(self) -> bool:
        """Whether loop joints close it and nothing but these and weights has acted in the step."""
        return False

    def closed(self, state: State) -> State:
        """The state at the end of a step with its loops closed again: it has none."""
        return state

    def advanced(self, state: State) -> State:
        """The state after all substeps."""
        v = rigid.velocity(self.tree, state)
        is_first = self.acceleration is None
        share = 0.5 if self.has_middle and not is_first else 1.0
        ahead = v
        before = change = 0.0 * v
        if self.has_middle and not is_first:
            ago = np.full(len(v), -self.h)
            before, change = (self.turned(rates, v, ago) for rates in (self.acceleration, self.change))
            ahead = v + 0.5 * self.h * before
        if self.expects_change:
            ahead = ahead + 0.375 * self.h * np.clip(change, -0.5 * np.abs(before), 0.5 * np.abs(before))
        placed = self.place(state, ahead)
        measured, w = np.zeros(len(v)), None
        if self.is_driven and self.substeps == 1:
            self.substep(state, placed, share, is_first)
            size = np.abs(np.array([v, self.w]))[:, self.angular].max(initial=0.0)
            miss = (self.taken * np.abs(self.w - ahead))[self.angular].max(initial=0.0)
            if miss > 0.02 * size and self.h**2 * size * miss > 1e-7:
                measured, w = self.halves(state, self.place(state, self.w))
                placed = self.place(state, w)
        turns = self.turns and w is None and (self.has_middle or self.is_free(state, placed, share))
        for _ in range(2 if turns else 0):
            _, _, mean = self.substep(state, placed, share, is_first)
            fastest = np.abs(v[self.angular]).max()
            is_slow = self.has_middle and self.h * fastest <= 0.02
            if is_slow or np.abs((mean - ahead)[self.angular]).max() <= 0.002 * fastest:
                break
            ahead = mean
            placed = self.place(state, ahead)
        smooth = 0.0
        self.on_root = np.zeros(self.base)
        for _ in range(self.substeps):
            state, gained, _ = self.substep(state, placed, share, is_first, measured)
            smooth += gained / self.h
        self.acceleration, self.change = smooth, 0.0 * v if is_first else smooth - before
        return state

    def is_free(self, state: State, placed: rigid.Motion, share: float) -> bool:
        """Whether nothing acts but weights and limits."""
        limits = [isinstance(one, Spring) and one.is_limit for one in self.elements(state, placed, share)]
        return all(limits) and not np.any(self.k + self.d)

    def halves(self, state: State, placed: rigid.Motion) -> tuple[np.ndarray, np.ndarray]:
        """theta of dofs with springs or dampers (else 0) and w, both of shape (N), of two halves of a step."""
        h, v = 0.5 * self.h, rigid.velocity(self.tree, state)
        M = rigid.mass_matrix(placed)
        effort, k, cross = self.drives(state, v, 0.5 * h)
        theta, reach, _ = self.pivot_shares(M, h, k, cross)
        K = np.diag(k) + cross
        effort -= (self.d + reach * h * k) * v + (reach * h - 0.5 * h) * (cross @ v)
        effort -= rigid.coriolis_effort(placed) + rigid.gravity_effort(placed, self.gravity)
        matrix = M + h * np.diag(theta * self.d) + (h * theta * reach * h)[:, None] * K
        first = np.linalg.solve(matrix, effort)
        later = h * v + h * h * (theta + reach) * first
        second = first - np.linalg.solve(matrix, K @ later + h * self.d * first)
        w = v + 0.5 * h * ((1.0 + theta) * first + theta * second)
        gained = h * (first + second)
        measured = np.clip((w - v) / np.where(gained == 0.0, 1.0, gained), 0.5, 1.0)
        return np.where(k + self.d > 0.0, measured, 0.0), w

    def substep(
        self, state: State, placed: rigid.Motion, share: float, is_first: bool, measured: np.ndarray | None = None
    ) -> tuple[State, np.ndarray, np.ndarray]:
        """The state at the end of a substep, what is smooth of its change of velocity (N), and the mean of v and v+.

        The mean is that of the step, if the rest of it has the smooth acceleration of the substep.
        """
        h, v = self.h / self.substeps, rigid.velocity(self.tree, state)
        M = rigid.mass_matrix(placed)
        ahead = 0.5 * h if self.has_middle else 0.0
        effort, k, cross = self.drives(state, v, ahead)
        theta, reach, pivots = self.pivot_shares(M, h, k, cross, measured)
        resistance = self.d + reach * h * k
        slope, drag = theta * resistance, (1.0 - theta) * resistance
        effort -= drag * v + ((1.0 - theta) * reach * h - ahead) * (cross @ v)
        effort -= rigid.coriolis_effort(placed) + rigid.gravity_effort(placed, self.gravity)
        matrix = M + h * np.diag(slope) + (h * theta * reach * h)[:, None] * cross
        right = M @ v + h * effort
        free = np.linalg.solve(matrix, right)
        elements = list(self.elements(state, placed, share))
        self.acts = self.acts or not all(isinstance(one, Spring) and one.is_limit for one in elements)
        after, by_limits = self.solved(matrix, right, elements, v, h, share)
        self.on_root = self.on_root + (matrix @ after - right)[: self.base]
        self.w = v + theta * (after - v)
        self.taken = np.minimum(h * resistance / pivots, 1.0)
        later = theta.copy()
        for element in elements:
            later[element.touched] = np.maximum(share, later[element.touched])
            if element.ties:
                later[element.touched] = later[element.touched].max(initial=share)
        relations = [one for one in elements if one.ties and isinstance(one, Relation)]
        for element in (*relations, *reversed(relations)):
            later[element.touched] = later[element.touched].max(initial=share)
        later = h * self.tied(later)
        goes_on = np.maximum(1.0 - h * resistance / pivots, 0.0)
        smooth = lasting = smaller(after - by_limits - v, after - v)
        if is_first:
            smooth = smaller((self.smooth(free) - v) * goes_on, after - v)
        mean = 0.5 * (v + after + (self.h - h) * lasting / h)
        return self.drifted(state, after, h - later, later), smooth, mean

    def solved(self, matrix, right, elements, v, h: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        """The v+ (N) of matrix v+ = right with elements, and what of it limits do."""
        return with_elements(matrix, right, elements, v, h, share)

    def tied(self, later: np.ndarray) -> np.ndarray:
        """Shares of a step (N) with those of further laws."""
        return later

    def smooth(self, free: np.ndarray) -> np.ndarray:
        """v+ (N) without elements, with what goes on after the first step nevertheless."""
        return free

    def drifted(self, state: State, after: np.ndarray, before: np.ndarray, later: np.ndarray) -> State:
        """Positions moved with v and then with v+, for times (N) each; rotations of a joint that move together as the
        longest.
        """
        base, slices = self.base, rigid.dof_slices(self.tree)
        first = [self.of_joint(joint, before[base:][part], np.min) for joint, part in zip(self.tree.joints, slices)]
        second = [self.of_joint(joint, later[base:][part], np.max) for joint, part in zip(self.tree.joints, slices)]
        middle = moved(self.tree, state, first, before[0])
        if self.has_middle:
            late = np.zeros(len(after))
            for part, time in zip(slices, second):
                late[base + part.start : base + part.stop] = time - 0.5 * (before[0] + later[0])
            after = self.turned(after, rigid.velocity(self.tree, state), late)
        middle = replace(middle, joint_velocity=after[base:], root_velocity=after[:6] if base else None)
        return moved(self.tree, middle, second, later[0])

    def of_joint(self, joint: Joint, times: np.ndarray, choose):
        """The time of a joint whose rotations move together, else those of its dofs."""
        return choose(times) if joint_motion.has_quaternion(joint) else times

    def turned(self, rates: np.ndarray, v: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Rates (N) of joints with three free rotations in the axes that the child had `times` (N) earlier."""
        rates = rates.copy()
        for joint, part in zip(self.tree.joints, rigid.dof_slices(self.tree)):
            if len(joint.dofs) == 3 and joint_motion.has_quaternion(joint):
                own = slice(self.base + part.start, self.base + part.stop)
                axes, sign = joint_motion.free_axes(joint), joint_motion.direction(joint)
                omega, rate = np.zeros(3), np.zeros(3)
                omega[axes], rate[axes] = sign * v[own], rates[own]
                rates[own] = (rotation(times[own.start] * omega) @ rate)[axes]
        return rates

    def place(self, state: State, velocity: np.ndarray) -> rigid.Motion:
        """The motion where forces are evaluated, with a generalized velocity (N)."""
        if self.has_middle:
            half = 0.5 * self.h
            state = moved(self.tree, state, [half] * len(self.tree.joints), half)
        return rigid.motion_at(self.tree, rigid.coordinates(self.tree, state), velocity)

    def drives(self, state: State, v: np.ndarray, ahead: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Efforts of drives by positions and targets, k of each dof, shapes (N), and what couples dofs, shape (N, N).

        In joints with several rotations the torque is that after `ahead`, by finite differences of the potential, and
        goes back from there along the diagonal of K = G^T diag(k) G, G the gradient of its errors.
        """
        q, k, cross = (
            np.concatenate([np.zeros(self.base), state.joint_position]),
            self.k.copy(),
            np.zeros((len(v),) * 2),
        )
        effort = self.bias - k * q
        for joint, part, is_coupled in zip(self.tree.joints, rigid.dof_slices(self.tree), self.coupled):
            own = np.arange(self.base + part.start, self.base + part.stop)
            own = own[[not dof.axis.is_linear for dof in joint.dofs]]
            if not is_coupled:
                continue
            turns = turning(joint)
            error, G = rotation_error(turns, moved_joint(turns, q[own], v[own], ahead), self.target[own])
            K = G.T @ np.diag(self.k[own]) @ G
            k[own], cross[np.ix_(own, own)] = np.diag(K), K - np.diag(np.diag(K))
            effort[own] = self.bias[own] - self.k[own] * self.target[own]
            effort[own] += np.diag(K) * ahead * v[own] - G.T @ (self.k[own] * error)
        return effort, k, cross

    def pivot_shares(
        self,
        M: np.ndarray,
        h: float,
        k: np.ndarray | None = None,
        cross: np.ndarray | None = None,
        measured: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """theta and reach of the springs and dampers of single dofs, and pivots with them, shapes (N).

        theta of dofs without is their share. Rotations that a drive couples have the largest of their joint. `measured`
        has the theta that halves of the step have told, or 0.
        """
        k = self.k if k is None else k
        cross = np.zeros_like(M) if cross is None else cross
        measured = np.zeros(len(M)) if measured is None else measured
        slices, order = rigid.dof_slices(self.tree), []
        for number in rigid.outward_joints(self.tree):
            dofs, joint = range(slices[number].start, slices[number].stop), self.tree.joints[number]
            dofs = [dofs[turn] for turn in joint_motion.outward(joint)] if joint_motion.is_universal(joint) else dofs
            together = [dof for dof in dofs if not self.tree.dofs[dof].axis.is_linear] if self.coupled[number] else ()
            order += [(dof, together) for dof in dofs]
        M, pivots = M.copy(), np.ones(len(M))
        theta, reach = np.full((2, len(M)), 0.5 if self.has_middle else 1.0)
        for joint_dof, together in order[::-1]:
            dof, own = joint_dof + self.base, np.add(together, self.base).astype(int)
            if self.has_middle and not len(own):
                theta[dof], reach[dof] = single_shares(k[dof], self.d[dof], M[dof, dof], h, measured[dof])
            if len(own) and dof == own[-1]:
                if self.has_middle:
                    shares = [single_shares(k[one], self.d[one], M[one, one], h, measured[one]) for one in own]
                    theta[own], reach[own] = np.max(shares, axis=0)[:, None]
                M[np.ix_(own, own)] += h * h * theta[dof] * reach[dof] * cross[np.ix_(own, own)]
            M[dof, dof] += h * theta[dof] * (self.d[dof] + reach[dof] * h * k[dof])
            pivots[dof] = M[dof, dof]
            M -= np.outer(M[:, dof], M[dof]) / M[dof, dof] * (1.0 - np.eye(len(M))[dof])
            M[dof, :], M[:, dof] = np.eye(len(M))[dof], np.eye(len(M))[dof]
        return theta, reach, pivots


def rotation_error(joint: Joint, q: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """e of a joint with rotations alone and its gradient G by central differences of displacements."""
    times, weights = np.array([1e-3, -1e-3, 2e-3, -2e-3]), np.array([8.0, -8.0, -1.0, 1.0]) / 12e-3
    around = [[moved_joint(joint, q, direction, time) for time in times] for direction in np.eye(len(q))]
    return rotation_drive.errors(joint, q, target), np.einsum(
        "t,itm->mi", weights, rotation_drive.errors(joint, np.array(around), target)
    )


def smaller(wanted: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Of each dof what is wanted, as far as it is found; nothing where they point against each other."""
    return np.where(wanted * found > 0.0, np.sign(wanted) * np.minimum(np.abs(wanted), np.abs(found)), 0.0)


def single_shares(k: float, d: float, m: float, h: float, measured: float = 0.0) -> tuple[float, float]:
    """theta and reach of a spring and damper on a mass m; theta is the measured one, if any."""
    x = h * h * k * m / (m + h * d) ** 2
    unresolved = 1.0 + 0.5 * x**2 * (1.0 + x)
    theta, reach = (1.0 - lateness(h * d / m * relaxed) / unresolved for relaxed in (1.0, x))
    return max(measured, 1.0 - 8.0 * (1.0 - theta)) if measured > 0.0 else theta, reach


def lateness(y: float) -> float:
    """1 - theta of a damper alone, of which y is what it does in a step."""
    return 1.0 / y - 1.0 / (y + y**2 / 2.0 + y**3 / 6.0) if y > 1e-5 else 0.5 - y / 12.0


def implicit_share(x: float, share: float) -> float:
    """theta; of an x below zero that of zero."""
    x = max(x, 0.0)
    return share + (1.0 - share) * x * x / (1.0 + x * x)


def with_elements(matrix, right, elements, v, h: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The v+ (N) of matrix v+ = right with springs and relations, and what of it the springs of limits do."""
    springs = [element for element in elements if isinstance(element, Spring)]
    relations = [element for element in elements if isinstance(element, Relation)]
    bare = np.linalg.inv(matrix)
    laws = [spring_law(spring, bare, v, h, share)[:2] for spring in springs]
    thetas = [spring_law(spring, bare, v, h, share)[2] for spring in springs]
    coupled = matrix + h * sum(
        (np.outer(spring.push, slope) for spring, (_, slope) in zip(springs, laws)), 0.0 * matrix
    )
    load = right - h * sum((spring.push * known for spring, (known, _) in zip(springs, laws)), 0.0 * right)
    J = np.array([relation.J for relation in relations]).reshape(-1, len(v))
    system = np.block([[coupled, -J.T], [J, np.zeros((len(J), len(J)))]])
    after = np.linalg.solve(system, np.concatenate([load, [relation.y for relation in relations]]))[: len(v)]
    by_limits = np.zeros(len(v))
    for spring, (known, slope), theta in zip(springs, laws, thetas):
        if spring.is_limit:
            left = 1.0 - (1.0 - theta) / (1.0 - share) if spring.resolves and share < 1.0 else 1.0
            by_limits -= left * h * (known + slope @ after) * (bare @ spring.push)
    return after, by_limits


def spring_law(
    spring: Spring, bare: np.ndarray, v: np.ndarray, h: float, share: float
) -> tuple[float, np.ndarray, float]:
    """The known part of - f, what of it v+ (N) makes, and theta."""
    k, d = spring.stiffness, spring.damping
    theta = implicit_share(h * (h * k * spring.length + d * spring.rate) @ bare @ spring.push, share)
    known = k * (spring.error + theta * h * (1.0 - share) * spring.length @ v) + d * (1.0 - theta) * spring.rate @ v
    return known, k * theta**2 * h * spring.length + d * theta * spring.rate, theta


def assert_steps(simulation, law: DenseStep, *, steps: int = 3, tolerance: float) -> None:
    """Step a simulation of one environment and compare each step with the law.

    `tolerance` is relative to the largest velocity, and for positions to how far that goes in a step.
    """
    for _ in range(steps):
        expected = law(state_of(simulation))
        simulation.step()
        found = state_of(simulation)
        after = rigid.velocity(law.tree, expected)
        fastest = np.abs(after).max()
        np.testing.assert_allclose(rigid.velocity(law.tree, found), after, rtol=0.0, atol=tolerance * fastest)
        reach = tolerance * law.h * fastest + 1e-14
        np.testing.assert_allclose(found.joint_position, expected.joint_position, rtol=0.0, atol=reach)
        if law.tree.is_floating:
            turn = np.sign(found.root_pose[3:] @ expected.root_pose[3:])
            pose = expected.root_pose * [1, 1, 1, turn, turn, turn, turn]
            np.testing.assert_allclose(found.root_pose, pose, rtol=0.0, atol=reach)

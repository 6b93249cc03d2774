"""One time step of an articulation with loop joints and bounds, by dense matrices in double precision.

Beside the law of `oracles.dense_step`, with v + h/2 a alone expected in the middle, a held axis of a loop joint is
    J v+ = - c t,   J and c (`oracles.closures`) at q_M with the velocities there, t from it to the end of a substep,
in a substep that begins before the middle with |J v+| no larger than |J v| and 0.05 sum |J_i v_i|; and a bound
is lower <= J v+ <= upper, held with an impulse of at most `most`. All dofs that a loop joint ties have
the largest share of any of them, twice over. At the end of the step, with the matrix A of the last velocities (M, and
what springs and dampers of single dofs add to it), G = J A^-1 J^T and J, phi, y at q+:
    q+ moved by - A^-1 J^T G^-1 phi, twice;   then v+ - A^-1 J^T G^-1 y
beside which relations that tie dofs (hard mimic joints), and bounds that have acted as stops, stay as they are. Where
with a middle only weights and loop joints have acted, and after the first step closed mimic joints, on a mechanism that
is on the world, v+ then becomes s v+ with
the energy of the start, as far as s^2 is from 0.9 to 1.1; from below it is 0.9, and beyond it v+ stays. One that floats
has the law of `oracles.floating`.
Rows that leave less than 1e-6 of G_aa beside those before them, stops first, then loop joints, are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import mul

import numpy as np

from tests.oracles import closures, rigid
from tests.oracles.dense_step import DenseStep, Relation, Spring, spring_law
from tests.oracles.movement import moved
from tests.oracles.state import State
from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD
from warp_artic.description.loop_joint import LoopJoint

REDUNDANT = 1e-6
"""Part of G_aa that a redundant row has left at most."""
OPEN = 1e-4
"""Error of a hard mimic joint from which it may do work [rad or m]."""
BENT = 0.05
"""Part of sum |J_i v_i| by which |J v+| may be larger than |J v|."""
SWEEPS = 4000
"""Of the search for the bounds that act."""


@dataclass(frozen=True)
class Bound:
    """lower <= J v+ <= upper, held by an impulse of at most `most` either way."""

    J: np.ndarray
    """Shape (N)."""
    lower: float
    upper: float
    most: float = np.inf
    """[N s or N m s]"""
    is_stop: bool = False
    """Whether it is an end of positions: its dof then moves with v+, and its impulse is not smooth."""
    widens: bool = True
    """Whether its dofs have at least the share of the step where it takes part."""


class ClosedStep(DenseStep):
    """The law of a step of a tree with its loop joints.

    Args:
        effort, wrench: Given efforts (D) and wrenches on links (L, 6), constant or set before each step.
        bounds: Called with the state at the start of a substep and its length; gives the bounds.
        others: those of `DenseStep`.
    """

    def __init__(self, tree: Articulation, h: float, integrator: str, *, effort=0.0, wrench=0.0,
                 bounds: Callable = lambda state, h: (), **others):  # fmt: skip
        super().__init__(tree, h, integrator, **others)
        self.loops = tuple(loop for loop in tree.constraints_of(LoopJoint) if loop.enabled)
        self.touched = [closures.touched_dofs(tree, loop) for loop in self.loops]
        self.bounds = bounds
        self.effort, self.wrench = effort, wrench
        self.since = 0.0
        """From where forces are evaluated to the start of a substep [s]."""

    @property
    def expects_change(self) -> bool:
        """Whether velocities of the middle are expected by the change of a as well: not where loop joints act."""
        return super().expects_change and not self.loops

    def __call__(self, state: State) -> State:
        """The state at the end of the step."""
        self.first, self.starts = state, self.acceleration is None
        return super().__call__(state)

    def is_free(self, state, placed, share) -> bool:
        """Whether nothing acts but weights and limits: loop joints do."""
        return not self.loops and super().is_free(state, placed, share)

    def place(self, state: State, velocity: np.ndarray) -> rigid.Motion:
        """The motion where forces are evaluated, with a generalized velocity (N); finds J and c of loop joints."""
        placed = super().place(state, velocity)
        if self.has_middle:
            state = moved(self.tree, state, [0.5 * self.h] * len(self.tree.joints), 0.5 * self.h)
        coordinates = rigid.coordinates(self.tree, state)
        self.J = self.stacked([closures.held(placed, loop)[1] for loop in self.loops])
        self.c = closures.bias(self.tree, coordinates, velocity, *self.loops)
        self.given = rigid.external_effort(placed, np.zeros((len(self.tree.links), 6)) + self.wrench)
        self.given[self.base :] += self.effort
        return placed

    def drives(self, state, v, ahead):
        """As that of `DenseStep`, and what is given."""
        effort, k, cross = super().drives(state, v, ahead)
        return effort + self.given, k, cross

    def substep(self, state, placed, share, is_first, measured=None):
        """As that of `DenseStep`; only the first substep of a step is evaluated more than once."""
        if state is self.first:
            self.since = -0.5 * self.h if self.has_middle else 0.0
            self.acted = [False]
        else:
            self.acted.append(False)
            self.since += self.h / self.substeps
        self.start = state
        return super().substep(state, placed, share, is_first, measured)

    def stacked(self, parts: list[np.ndarray]) -> np.ndarray:
        """Rows (R, N) of some parts."""
        return np.vstack([*parts, np.zeros((0, rigid.base_count(self.tree) + len(self.tree.dofs)))])

    def solved(self, matrix, right, elements, v, h, share):
        """The v+ (N) of matrix v+ = right with elements, loop joints and bounds, and what of it limits do."""
        springs = [element for element in elements if isinstance(element, Spring)]
        relations = [element for element in elements if isinstance(element, Relation)]
        bare = np.linalg.inv(matrix)
        coupled, load = matrix.copy(), right.copy()
        for spring in springs:
            known, slope, _ = spring_law(spring, bare, v, h, share)
            coupled += h * np.outer(spring.push, slope)
            load -= h * known * spring.push
        t = self.since + h * (1.0 if self.has_middle else 0.5)
        E = np.vstack([self.stacked([relation.J[None] for relation in relations]), self.J])
        rate, size = self.J @ v, np.abs(self.J * v).sum(axis=1)
        tangent = -self.c * t
        if self.since < 0.0:
            tangent = np.clip(tangent, -np.abs(rate) - BENT * size, np.abs(rate) + BENT * size)
        y = np.concatenate([[relation.y for relation in relations], tangent])
        bounds = list(self.bounds(self.start, h))
        after, z, z_bounds, joined = joined_solution(coupled, load, E, y, bounds, np.linalg.solve(matrix, right))
        self.matrix, self.ties = matrix, [relation for relation in relations if relation.ties]
        self.joined = [bound for bound, is_in in zip(bounds, joined) if is_in]
        self.stops = [bound for bound, impulse in zip(bounds, z_bounds) if bound.is_stop and impulse != 0.0]
        self.acted[-1] = len(self.ties) < len(elements) or bool(np.any(z_bounds))
        self.share = share
        on_path = np.abs(rate - self.c * t) <= np.abs(self.c * t) + 1e-4 * size
        self.by_loops = np.linalg.solve(matrix, self.J.T @ (z[len(relations) :] * on_path))
        by_limits = sum((np.linalg.solve(matrix, bound.J * impulse)
                         for bound, impulse in zip(bounds, z_bounds) if bound.is_stop), 0.0 * v)  # fmt: skip
        for spring in springs:
            if spring.is_limit:
                known, slope, theta = spring_law(spring, bare, v, h, share)
                left = 1.0 - (1.0 - theta) / (1.0 - share) if spring.resolves and share < 1.0 else 1.0
                by_limits = by_limits - left * h * (known + slope @ after) * (bare @ spring.push)
        return after, by_limits

    def tied(self, later: np.ndarray) -> np.ndarray:
        """Shares of a step (N): one of dofs of stops that take part, that of the step of those of other bounds, and
        then the largest of those that a loop joint ties.
        """
        later = later.copy()
        for bound in self.joined:
            own = bound.J != 0.0
            later[own] = np.maximum(later[own], max(1.0 * bound.is_stop, self.share * bound.widens))
        for _turn in range(2):
            for touched in self.touched:
                later[touched] = later[touched].max(initial=0.0)
        return later

    def smooth(self, free: np.ndarray) -> np.ndarray:
        """v+ (N) without elements, with the impulses of loop joints that v has kept to."""
        return free + self.by_loops

    def closed(self, state: State) -> State:
        """The state at the end of a step with its loops closed again."""
        others = self.stacked([one.J[None] for one in (*self.stops, *self.ties)])
        for turn in range(3):
            motion = rigid.motion(self.tree, state)
            found = [closures.held(motion, loop) for loop in self.loops]
            J = self.stacked([own for _, own in found])
            error = J @ motion.velocity if turn == 2 else np.concatenate([*(phi for phi, _ in found), []])
            change = least_change(self.matrix, J, -error, others)
            base = rigid.base_count(self.tree)
            if turn == 2:
                v = motion.velocity + change
                if self.only_weights and not self.mimics_work(state):
                    v = v * self.energy_scale(state, v)
                return replace(state, joint_velocity=v[base:], root_velocity=v[:6] if base else None)
            way = replace(state, joint_velocity=change[base:], root_velocity=change[:6] if base else None)
            place = moved(self.tree, way, [1.0] * len(self.tree.joints), 1.0)
            state = replace(state, joint_position=place.joint_position, root_pose=place.root_pose)

    @property
    def on_world(self) -> bool:
        """Whether the world holds the mechanism."""
        return not self.base or any(WORLD in (loop.link0, loop.link1) for loop in self.loops)

    @property
    def only_weights(self) -> bool:
        """Whether nothing but weights and loop joints has acted in the step, on a mechanism that is on the world."""
        acted = any(map(np.any, (self.effort, self.wrench, self.k, self.d, self.acted)))
        return bool(self.loops) and self.has_middle and self.on_world and not acted

    @property
    def only_loops(self) -> bool:
        """Whether nothing but these and weights has acted in the step, on a mechanism that floats."""
        acted = any(map(np.any, (self.effort, self.wrench, self.acted)))
        return bool(self.loops) and not (self.on_world or self.is_acted or acted)

    @property
    def is_pushed(self) -> bool:
        """Whether wrenches are given, or the world holds it."""
        return bool(np.any(self.wrench)) or self.on_world

    def mimics_work(self, state: State) -> bool:
        """Whether hard mimic joints may have done work in the step to a state: in the first one, and where open."""
        ends = (self.first.joint_position, state.joint_position)
        errors = [abs(mimic.error(end)) for mimic in self.tree.mimics if mimic.is_hard for end in ends]
        return bool(errors) and (self.starts or max(errors) > OPEN)

    def energy_scale(self, state: State, v: np.ndarray) -> float:
        """s of velocities v (N) after a step to a state, by dense mass matrices and heights."""
        ends = [(self.first, rigid.velocity(self.tree, self.first)), (state, v)]
        motions = [rigid.motion_at(self.tree, rigid.coordinates(self.tree, one), rates) for one, rates in ends]
        (T, before), (found, after) = (
            (rigid.kinetic_energy(one), rigid.potential_energy(one, self.gravity)) for one in motions
        )
        if found == 0.0:
            return 1.0
        square = max((T + before - after) / found, 0.9)
        return float(np.sqrt(square)) if square <= 1.1 else 1.0


def least_change(matrix, J, y, others) -> np.ndarray:
    """The change of velocities (N) with J change = y and none along others, without rows that depend on others."""
    rows = np.vstack([others, J[::-1]])
    targets = np.concatenate([np.zeros(len(others)), y[::-1]])
    if not len(rows):
        return np.zeros(matrix.shape[0])
    chosen = independent(matrix, rows)
    P = np.linalg.solve(matrix, rows[chosen].T)
    return P @ np.linalg.solve(rows[chosen] @ P, targets[chosen])


def independent(matrix, rows) -> list[int]:
    """Of rows those that are not redundant beside the ones before them."""
    L = np.linalg.cholesky(0.5 * (matrix + matrix.T))
    whitened = np.linalg.solve(L, rows.T).T
    chosen, basis = [], []
    for k, row in enumerate(whitened):
        rest = row.copy()
        for _ in range(2):
            for one in basis:
                rest = rest - (one @ rest) * one
        if rest @ rest > REDUNDANT * (row @ row):
            chosen.append(k)
            basis.append(rest / np.linalg.norm(rest))
    return chosen


def swept(G, free, lower, upper, most) -> np.ndarray:
    """Impulses z within +- most for which free + G z is within bounds, by sweeps; in plain numbers, which are few."""
    z = [0.0] * len(free)
    for _ in range(SWEEPS):
        change = 0.0
        for k, row in enumerate(G):
            if row[k] > 1e-12:
                rate = free[k] + sum(map(mul, row, z)) - row[k] * z[k]
                wanted = min(max(rate, lower[k]), upper[k])
                found = min(max((wanted - rate) / row[k], -most[k]), most[k])
                change = max(change, abs(found - z[k]))
                z[k] = found
        if change <= 1e-15 * max(map(abs, z)):
            break
    return np.array(z)


def joined_solution(matrix, right, E, y, bounds, v_free) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same as `bounded_solution` and which bounds have taken part (K): those that were outside on the way there.

    The first time they are outside without anything else (`v_free`), then with those that have taken part so far.
    """
    joined, z_bounds, v = np.zeros(len(bounds), bool), np.zeros(len(bounds)), v_free
    z = np.zeros(len(E))
    is_first = True
    while True:
        rates = np.array([bound.J @ v for bound in bounds])
        outside = [y < bound.lower or y > bound.upper for y, bound in zip(rates, bounds)]
        new = np.array(outside, bool) & ~joined
        if not (is_first or new.any()):
            return v, z, z_bounds, joined
        is_first = False
        joined |= new
        v, z, z_bounds[joined] = bounded_solution(matrix, right, E, y, [b for b, own in zip(bounds, joined) if own])


def bounded_solution(matrix, right, E, y, bounds) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """v+ (N), impulses of E v+ = y and those of bounds:  matrix v+ = right + E^T z + B^T z_b.

    Which bounds act is found by projected Gauss-Seidel, and then solved for exactly.
    """
    chosen = independent(matrix, E[::-1]) if len(E) else []
    kept = [len(E) - 1 - k for k in chosen]

    def solution(rows, targets, load):
        count = len(rows)
        system = np.block([[matrix, -rows.T], [rows, np.zeros((count, count))]])
        found = np.linalg.solve(system, np.concatenate([load, targets]))
        return found[: len(load)], found[len(load) :]

    v, _ = solution(E[kept], y[kept], right)
    z_bounds = np.zeros(len(bounds))
    B = np.array([bound.J for bound in bounds]).reshape(len(bounds), len(right))
    if len(bounds):
        zero = np.zeros(len(kept))
        responses = np.array([solution(E[kept], zero, row)[0] for row in B])
        G = B @ responses.T
        free = B @ v
        lower, upper, most = (
            np.array([getattr(bound, name) for bound in bounds]) for name in ("lower", "upper", "most")
        )
        z_bounds = swept(G.tolist(), free.tolist(), lower.tolist(), upper.tolist(), most.tolist())
        held = (np.abs(z_bounds) < most) & (z_bounds != 0.0)
        goal = np.where(z_bounds > 0.0, lower, upper)
        if held.any():
            rest = goal[held] - free[held] - G[np.ix_(held, ~held)] @ z_bounds[~held]
            z_bounds[held] = np.linalg.lstsq(G[np.ix_(held, held)], rest, rcond=1e-10)[0]
    v, z_kept = solution(E[kept], y[kept], right + B.T @ z_bounds)
    z = np.zeros(len(E))
    z[kept] = z_kept
    return v, z, z_bounds

"""Couples an elastic body with the links that its nodes are attached to, and that its tendons go through.

An attached node is a point of its link: the link has its mass, and its weight (`sim.elastic.node_masses`), of which the
node bears what a share of gravity on the link leaves out. A waypoint on a link is such a node, too, of no element
(`sim.elastic.link_waypoints`).

A step first finds the middle of the step of the body, then makes that of articulations, with the same impulse between
them. While the body moves, its nodes are where links will be in the middle of their step, in the mean of where they are
and where trial steps lead: one under the forces f_0 that the body is expected to do to them, and more with a further
force or moment on each link, which tell how links give way (`meshes.carried`):

    G = J Y J^T,   J = motion of nodes by that of links,   Y = motion of links until the middle by force on them

So the body feels the whole articulation, with its joints, drives, limits, friction and tendons as they act in this
step. Where another trial under the forces that are found does not lead to where nodes have been taken to be, because a
limit has come to act or another body has moved the link too, the body is solved again with the result of that trial, in
these environments. The first f_0 are the forces of the step before. Where iterations alternate, as where a limit acts
in one and not in the next, the next one starts between the two, where links and nodes move equally far along the
change of forces: the more a link is pulled, the further it goes, and the less the body pulls. Where they do not
converge, as where motion is too violent for the step, links get twice the largest possible response, from where they
go without the body. A linear analysis of such steps (springs to walls and to masses) finds no growth,
whatever the masses and the stiffness are; they count as steps that have not converged.

Together that is one implicit step: the exchange is of second order where the steps of links are (the integrator
"midpoint"), and it has no bound on the time step. Linear momentum is kept to what the solve leaves, angular momentum to
the order of steps. Forces act on arms in the middle of the step, as velocities at its start turn them. Links that
nothing can move hold their nodes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import warp as wp

from warp_artic.description.articulation import Articulation
from warp_artic.description.elastic_body import ElasticBody
from warp_artic.description.joint import WORLD
from warp_artic.description.scene import Scene
from warp_artic.description.validate import principal_moments
from warp_artic.meshes.dynamics import ElasticDynamics
from warp_artic.sim.arrays.views import Member
from warp_artic.sim.elastic.link_points import LinkPoints, Motion, PointsOfTree
from warp_artic.sim.elastic.link_response import compliance_shapes, motion_of_nodes
from warp_artic.sim.elastic.trial_steps import TrialSteps
from warp_artic.solver.settings import SolverSettings

DISTURBANCE = {"float64": 1e-3, "float32": 0.1}
"""Acceleration that trials give to a link, where nothing else resists [m/s^2]."""
AGREED = 1e-3
"""How far nodes may be from where links are, of how far they have given way since the first look in a step."""
SAME = 1e-6
"""The same, of how far they go."""
DIGITS = 64.0
"""The same, in units of the last digit of positions."""
LEAST_MASS = 1e-6
"""Of a link, of the mass of the body."""
MOST_LOOKS = 8
"""After solves, at how links move, before another way is taken."""
MOST_HALVINGS = 24
"""Of the way between two solves."""
CLOSE = 0.02
"""Of how far nodes of two solves are from where links are: what is left between them before another solve."""
NONE = {"float64": 1e-10, "float32": 1e-5}
"""Compliance of the nodes of a link that is none, of that of a free one."""


def mobile_links(scene: Scene) -> frozenset[str]:
    """Paths of the links that a joint, or a floating root, lets move."""
    return frozenset(path for tree in scene.articulations for path in _mobile_links(tree))


def _mobile_links(tree: Articulation) -> Iterator[str]:
    for path, link in tree.bodies.items():
        joint = tree.inbound[link]
        while joint is not None and not joint.dofs and joint.parent != WORLD:
            joint = tree.inbound[joint.parent]
        if joint is None or joint.dofs:
            yield path


@dataclass(frozen=True, eq=False)
class _Carrier:
    """The links of an articulation that give way, with trial steps that tell how."""

    own: PointsOfTree
    trial: TrialSteps
    motion: Motion
    """After trial steps with the external forces as they are."""
    points: np.ndarray
    """Of these links, shape (P)."""
    places: np.ndarray
    """Of each: its place among carried nodes."""
    link_of: np.ndarray
    """Of each: its link, among those of the trials."""
    coordinates: slice
    """Its own among all."""
    loose: np.ndarray
    """Most that links can move by force and moment, in any axes, shape (6 links, 6 links) [1/kg, 1/(kg m^2)]."""
    least: float
    """Compliance that is none [m/N]."""


@dataclass(frozen=True, eq=False)
class _Try:
    """A solve of the body, and where links go by it; arrays have environments first."""

    arrays: tuple[np.ndarray, ...]
    """Reactions, points in the middle and forces."""
    forces: np.ndarray
    """On those who carry nodes, shape (environments, C, dim) [N]."""
    miss: np.ndarray
    """From carried nodes to where links go, shape (environments, C, dim) [m]."""
    off: np.ndarray
    """The largest part of it [m]."""
    allowed: np.ndarray
    """How much may be left [m]."""

    @property
    def is_apart(self) -> np.ndarray:
        """Whether more is left; what is no number is nowhere near."""
        return ~(self.off <= self.allowed)

    def along(self, change: np.ndarray) -> np.ndarray:
        """The miss along a change of forces [J]."""
        return np.einsum("eci,eci->e", self.miss, change)


class LinkCoupling:
    """What one elastic body has to do with links.

    Args:
        dynamics: Of the body; attachments come in the order of nodes.
        scene: What has the links, as it is laid out.
        members: Of its articulations.
        settings: Of their steps.
    """

    def __init__(self, dynamics: ElasticDynamics, scene: Scene, members: tuple[Member, ...], settings: SolverSettings):
        self._dynamics = dynamics
        self._axes = dynamics.mesh.body.pose.rotation.T[: dynamics.mesh.body.dim]
        self._share = motion_share(settings) * dynamics.dt
        self.points = LinkPoints(dynamics, scene, members)
        """Of links."""
        self._carriers = self._carriers_of(scene, settings)
        self._way = np.zeros(dynamics.mesh.environments)

    @property
    def articulations(self) -> set[int]:
        """Indices of those that it has to do with."""
        return {own.member.index for own in self.points.trees}

    def see_bases(self) -> None:
        """Keep where moving bases are now, which is where they will be at the end of the step."""
        for one in self._carriers:
            one.trial.see_base()

    def meet(self, solve: Callable, push: Callable, is_first: bool) -> np.ndarray:
        """Have the body solved until its nodes are where links go; gives the environments in which they are not.

        Args:
            solve: Solves the body, in the environments of a mask.
            push: Has links feel what all bodies do to them.
            is_first: Whether the body has not been solved in this step.
        """
        waiting = np.full(self.points.reaction.shape[0], True)
        if is_first:
            self._way = np.zeros(len(waiting))
            push()
            center = self._look()
            self._tell(center, *self._shapes(), waiting)
            solve(None)
        if not self._carriers:
            return ~waiting
        waiting, tries = self._approach(solve, push, waiting, MOST_LOOKS)
        if len(tries) == 2 and waiting.any():
            self._go_between(solve, push, *tries, waiting)
            waiting, _ = self._approach(solve, push, waiting, MOST_LOOKS)
        if waiting.any():
            self.points.forget(waiting)
            push()
            self._tell(self._look(), *self._loose_shapes(), waiting)
            solve(waiting)
        return waiting

    def is_apart(self, push: Callable) -> np.ndarray:
        """The environments in which nodes are not where links go, once others have moved these, too."""
        if not self._carriers:
            return np.full(self.points.reaction.shape[0], False)
        return self._see(push)[1].is_apart

    def _approach(self, solve: Callable, push: Callable, waiting: np.ndarray, most: int):
        """Solve again, in environments that wait for it, until nodes are where links go.

        Gives the environments where they are not, and the last two tries.
        """
        tries: list[_Try] = []
        for _ in range(most):
            center, found = self._see(push)
            waiting = waiting & found.is_apart
            if not waiting.any():
                break
            tries = [*tries[-1:], found]
            self._tell(center, *self._shapes(), waiting)
            solve(waiting)
        return waiting, tries

    def _go_between(self, solve: Callable, push: Callable, one: _Try, other: _Try, where: np.ndarray) -> None:
        """Solve again from between two tries, where nodes and links go equally far along the change of forces."""
        change = other.forces - one.forces
        where = where & (one.along(change) * other.along(change) < 0.0)
        if not where.any():
            return
        rises = other.along(change) > 0.0
        low, high = np.zeros(len(where)), np.ones(len(where))
        share, open_ = np.full(len(where), 0.5), where.copy()
        for _ in range(MOST_HALVINGS):
            for array, first, last in zip(self._solved, one.arrays, other.arrays):
                mixed = first + share[:, None, None] * (last - first)
                array.assign(np.where(open_[:, None, None], mixed, array.numpy()))
            center, found = self._see(push)
            open_ &= found.off > CLOSE * np.minimum(one.off, other.off)
            if not open_.any():
                break
            is_before = (found.along(change) < 0.0) == rises
            low, high = np.where(is_before, share, low), np.where(is_before, high, share)
            share = np.where(open_, 0.5 * (low + high), share)
        self._tell(center, *self._shapes(), where)
        solve(where)

    @property
    def _solved(self) -> tuple[wp.array, ...]:
        """What a solve leaves."""
        return self.points.reaction, self._dynamics.middle, self._dynamics.forces

    def _see(self, push: Callable) -> tuple[np.ndarray, _Try]:
        """Where links go by what has been solved, as `_look` gives it, and how far that is from it."""
        push()
        center = self._look()
        return center, self._try(center)

    def _look(self) -> np.ndarray:
        """Where carried nodes are in the middle of trial steps, under the external forces that links have."""
        carried = self._dynamics.carried
        center = self._dynamics.points.numpy()[:, carried.nodes].astype(float)
        for one in self._carriers:
            one.trial.make()
            # The first copy of each environment has no further force.
            self.points.find(one.own, one.trial.group, 0, one.motion)
            ends = one.motion.places.numpy()[:, one.points]
            center[:, one.places] = 0.5 * (center[:, one.places] + ends)
        return center

    def _tell(self, center: np.ndarray, shapes: np.ndarray, stiffness: np.ndarray, asked: np.ndarray) -> None:
        """Tell the body how its carriers move."""
        self._dynamics.carried.put(center, shapes, stiffness, self._forces_on_carriers(), asked)

    def _try(self, center: np.ndarray) -> _Try:
        """What has been solved, and how far it is from the last look."""
        dynamics, carried = self._dynamics, self._dynamics.carried
        here, start = (array.numpy()[:, carried.nodes] for array in (dynamics.middle, dynamics.points))
        before = carried.arrays.center.numpy()
        off, way, gone = (np.abs(here - there).max(axis=(1, 2)) for there in (center, before, start))
        self._way = np.maximum(self._way, way)
        digits = DIGITS * self._dynamics.mesh.types.epsilon * np.abs(here).max(axis=(1, 2))
        arrays = tuple(array.numpy().copy() for array in self._solved)
        allowed = AGREED * self._way + SAME * gone + digits
        return _Try(arrays, self._forces_on_carriers(), center - here, off, allowed)

    def _forces_on_carriers(self) -> np.ndarray:
        """What the body does to links at carried nodes, shape (environments, C, dim) [N]."""
        reaction = self.points.reaction.numpy()
        forces = np.zeros((len(reaction), len(self._dynamics.carried.nodes), reaction.shape[2]))
        for one in self._carriers:
            forces[:, one.places] = reaction[:, one.points]
        return forces

    def _shapes(self) -> tuple[np.ndarray, np.ndarray]:
        """The shapes and stiffnesses of what carries, of the last look."""
        return self._taken_apart(lambda one: self._share * one.trial.answers())

    def _loose_shapes(self) -> tuple[np.ndarray, np.ndarray]:
        """The same of links that nothing else holds, which give way twice as far."""
        return self._taken_apart(lambda one: 2.0 * self._share * self._dynamics.dt * one.loose)

    def _taken_apart(self, answers: Callable) -> tuple[np.ndarray, np.ndarray]:
        """Shapes and stiffnesses of nodes, of how links move by force and moment on them."""
        carried, mesh = self._dynamics.carried, self._dynamics.mesh
        dim, environments = mesh.types.dim, mesh.environments
        shapes = np.zeros((environments, carried.most, len(carried.nodes), dim))
        stiffness = np.zeros((environments, carried.most))
        for one in self._carriers:
            count = one.coordinates.stop - one.coordinates.start
            arms = self.points.motion.arms.numpy()[:, one.points].astype(float)
            motion = motion_of_nodes(arms, one.link_of, len(one.loose) // 6, self._axes)
            own, found = compliance_shapes(motion, answers(one), count, one.least)
            stiffness[:, one.coordinates] = found
            table = shapes[:, one.coordinates]
            table[:, :, one.places] = own.reshape(environments, count, len(one.points), dim)
        return shapes, stiffness

    def _carriers_of(self, scene: Scene, settings: SolverSettings) -> list[_Carrier]:
        """Articulations whose links give way, with trial steps of each."""
        body, carried = self._dynamics.mesh.body, self._dynamics.carried
        found, first = [], 0
        total = self._dynamics.node_mass.sum()
        for own in self.points.trees:
            tree = scene.articulations[own.member.index]
            points = np.array(moving_points(body, tree), int)
            if not len(points):
                continue
            rows = [tree.bodies[body.attachments[point].link] for point in points]
            links, link_of = np.unique(rows, return_inverse=True)
            reach = np.full(len(links), 1e-3)
            for point, link in zip(points, link_of):
                arm = np.subtract(body.attachments[point].position, tree.links[links[link]].center_of_mass)
                reach[link] = max(reach[link], np.linalg.norm(arm))
            mass = np.array([tree.links[link].mass for link in links])
            turning = np.array([principal_moments(tree.links[link].inertia)[0] for link in links])
            # A link may have none of its own.
            mass = np.maximum(mass, LEAST_MASS * total)
            turning = np.maximum(turning, LEAST_MASS * mass * reach**2)
            loose = 1.0 / np.stack([*[mass] * 3, *[turning] * 3], axis=1).ravel()
            forces = DISTURBANCE[settings.precision] * mass
            sizes = np.stack([*[forces] * 3, *[forces * reach] * 3], axis=1).ravel()
            trial = TrialSteps(own.member, scene, settings, links, sizes, self._dynamics.mesh.device)
            count = _coordinates(body, list(points))
            found.append(
                _Carrier(
                    own,
                    trial,
                    self.points.room(),
                    points,
                    np.searchsorted(carried.nodes, [body.attachments[point].node for point in points]),
                    link_of,
                    slice(first, first + count),
                    np.diag(loose),
                    NONE[settings.precision] * self._share / mass.min(),
                )
            )
            first += count
        return found


def motion_share(settings: SolverSettings) -> float:
    """Of a step: by which time a change of velocity in it moves links until its middle, in the mean with its start."""
    if settings.integrator != "semi_implicit":
        return 0.25
    # Each of n substeps adds an n-th of the change, and moves links by the velocities after it.
    substeps = settings.schedule[0]
    return 0.25 * (substeps + 1) / substeps


def coordinates(body: ElasticBody, scene: Scene) -> int:
    """Of all nodes of a body that links carry."""
    return sum(_coordinates(body, moving_points(body, tree)) for tree in scene.articulations)


def moving_points(body: ElasticBody, tree: Articulation) -> list[int]:
    """Attachments of a body to links of an articulation that give way."""
    moving = frozenset(_mobile_links(tree))
    return [point for point, one in enumerate(body.attachments) if one.link in moving]


def _coordinates(body: ElasticBody, points: list[int]) -> int:
    """Most that these points on links of an articulation have."""
    links = {body.attachments[point].link for point in points}
    return min(6 * len(links), body.dim * len(points))

"""Which of many colliders may touch, as arrays: by their groups and scenes, by where they can get, and by names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from warp_artic.description.articulation import Articulation
from warp_artic.description.base_motion import BaseMotion
from warp_artic.description.collider import Collider, ContactFilter
from warp_artic.description.joint import WORLD
from warp_artic.description.pose import Pose
from warp_artic.description.reach import reaches, shape_reach, start_ball
from warp_artic.description.shape import ShapeKind

MOST_PATCHES = 64
"""Shapes of one static mesh beyond which it is fine: there is room for fewer in a mechanism."""
STATIC = -1
"""Stands for the articulation of colliders that stay where they are, or are moved from outside."""


class Touching:
    """Colliders with shapes, of articulations or of none, in the order of their paths; fine meshes come last."""

    def __init__(self, articulations: Sequence[Articulation], colliders: Sequence[Collider], kept_apart: ContactFilter):
        self.kept_apart = kept_apart
        counts = Counter(one.path for one in colliders if not one.articulation and one.motion is None)
        self.fine = frozenset(path for path, count in counts.items() if count > MOST_PATCHES)
        """Paths of static meshes of many shapes."""
        shaped = (one for one in colliders if one.shape is not None)
        self.colliders = sorted(shaped, key=lambda one: (one.path in self.fine, one.path))
        number = {one.path: place for place, one in enumerate(articulations)}
        self.home = np.array([number.get(one.articulation, STATIC) for one in self.colliders], int)
        """Of each collider the number of its articulation."""
        self.links, self.welds = self._links(articulations)
        self.classes, self.allowed = self._classes()
        self.is_named = np.array([not kept_apart.named.isdisjoint(one.names) for one in self.colliders], bool)
        self.is_plane = np.array([one.kind is ShapeKind.PLANE for one in self.colliders], bool)
        self.is_moved = np.array([one.motion is not None for one in self.colliders], bool)
        self.offset = np.array([one.contact_offset for one in self.colliders], float)
        self._place(articulations)
        order = np.argsort(self.home, kind="stable")
        ends = np.searchsorted(self.home[order], np.arange(STATIC, len(articulations) + 1))
        self.of: dict[int, np.ndarray] = {
            home: order[ends[home + 1] : ends[home + 2]] for home in range(STATIC, len(articulations))
        }
        """The colliders of each articulation, and those of none under STATIC, in their order."""

    def _links(self, articulations: Sequence[Articulation]) -> tuple[np.ndarray, np.ndarray]:
        """Of each collider its link, and the first link that no joint lets it move against; WORLD for what stays."""
        bodies = [one.bodies for one in articulations]
        welds = [_welds(one) for one in articulations]
        found = [
            (WORLD, WORLD) if home == STATIC else (link := bodies[home][one.body], welds[home][link])
            for home, one in zip(self.home.tolist(), self.colliders)
        ]
        links, first = np.array(found, int).reshape(-1, 2).T
        return links, first

    def _classes(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each collider a class by its groups and its scene, and which classes touch each other, (n, n)."""
        numbers: dict[tuple[frozenset[str], str], int] = {}
        own = [numbers.setdefault((one.groups, one.owner), len(numbers)) for one in self.colliders]
        owners = {owner: number for number, (_, owner) in enumerate(numbers)}
        scenes = np.array([owners[owner] for _, owner in numbers], int)
        allowed = (scenes[:, None] == scenes) & ~self.kept_apart.blocked([groups for groups, _ in numbers])
        return np.array(own, int), allowed

    def _place(self, articulations: Sequence[Articulation]) -> None:
        """Find where colliders are at the start, and where they can get."""
        count = len(self.colliders)
        self.center, self.radius = np.zeros((count, 3)), np.zeros(count)
        self.start, self.size = np.zeros((count, 3)), np.zeros(count)
        self.normal = np.zeros((count, 3))
        found = [reaches(one) for one in articulations]
        for number, (one, home, link) in enumerate(zip(self.colliders, self.home.tolist(), self.links.tolist())):
            pose = Pose() if home == STATIC else articulations[home].links[link].pose
            self.start[number], self.size[number] = start_ball(one.shape, pose)
            if home == STATIC:
                self.center[number], self.radius[number] = self.start[number], self.size[number]
                self.normal[number] = one.shape.frame.rotation[:, 2]
                if one.motion is not None:
                    self.center[number], self.radius[number] = _swept(one.motion, *start_ball(one.shape, pose))
            else:
                self.center[number], self.radius[number] = shape_reach(one.shape, found[home][link])

    def are_met(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Which of some colliders may touch which of others, (m, n), but for those kept apart by name."""
        ones, others = first[:, None], second[None, :]
        is_met = self.allowed[self.classes[ones], self.classes[others]]
        is_met &= ~(self.is_plane[ones] & self.is_plane[others])
        if not is_met.any():
            return is_met
        between = self.center[ones] - self.center[others]
        reach = self.offset[ones] + self.offset[others]
        is_met &= np.linalg.norm(between, axis=2) <= self.radius[ones] + self.radius[others] + reach
        is_still = self.is_plane & (self.home == STATIC) & ~self.is_moved
        for side, sign in ((others, 1.0), (ones, -1.0)):
            across, of = (ones, others) if sign > 0.0 else (others, ones)
            height = sign * (between * self.normal[side]).sum(axis=2)
            is_met &= ~is_still[of] | (height <= self.radius[across] + reach)
        return is_met

    def pairs(self, first: np.ndarray, second: np.ndarray) -> list[tuple[int, int]]:
        """Those of some colliders that may touch those of others; of one articulation with itself each pair once."""
        is_met = self.are_met(first, second)
        if first is second:
            is_met &= np.triu(self.welds[first][:, None] != self.welds[second][None, :], 1)
        is_met &= (self.welds[first] != WORLD)[:, None] | (self.welds[second] != WORLD)
        found = zip(*(own[place].tolist() for own, place in zip((first, second), np.nonzero(is_met))))
        return [pair for pair in found if not self._are_named_apart(*pair)]

    def _are_named_apart(self, first: int, second: int) -> bool:
        if not (self.is_named[first] and self.is_named[second]):
            return False
        return self.kept_apart.are_apart(self.colliders[first].names, self.colliders[second].names)


def _swept(motion: BaseMotion, center: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
    """A ball around all that a ball is in as a motion moves it; between poses it is near both of them."""
    start = motion.at(0.0).inverse()
    places = np.array([center, *((pose @ start).apply(center) for pose in motion.poses)])
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
    between = np.linalg.norm(np.diff(places, axis=0), axis=1).max()
    return middle, float(np.linalg.norm(places - middle, axis=1).max() + between) + radius


def _welds(articulation: Articulation) -> list[int]:
    """Of each link the first one on its way to the root that no joint lets it move against; WORLD for the world."""
    inbound = articulation.inbound
    found = []
    for link in range(len(inbound)):
        while link != WORLD and (joint := inbound[link]) is not None and not joint.dofs:
            link = joint.parent
        found.append(link)
    return found

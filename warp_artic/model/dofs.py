"""Which dofs of the generalized velocity move what, in an articulation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from warp_artic.description.articulation import Articulation
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.mechanism import Mechanism


class DofLayout:
    """The dofs of a mechanism: six of each floating root, then those of joints in the order of the description."""

    def __init__(self, articulation: Articulation | Mechanism):
        self.articulation = articulation
        self._inbound = articulation.inbound
        roots = [link for link, joint in enumerate(self._inbound) if joint is None]
        self.root_dofs = 6 * len(roots)
        """Six for each floating root."""
        self.first_of: dict[int, int] = {link: 6 * place for place, link in enumerate(roots)}
        """The first dof of each link."""
        start = self.root_dofs
        for joint in articulation.joints:
            self.first_of[joint.child] = start
            start += len(joint.dofs)

    def of_joint(self, joint: Joint) -> tuple[int, ...]:
        """All dofs of a joint."""
        first = self.first_of[joint.child]
        return tuple(range(first, first + len(joint.dofs)))

    def coupled(self, chosen: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The dofs that change the positions of chosen dofs of joints, those of each together, and the chosen ones."""
        coupled = tuple(self.root_dofs + dof for dof in chosen)
        return tuple(own for dof in coupled for own in self._joint_of[dof]), coupled

    def inward(self, link: int) -> tuple[int, ...]:
        """The dofs that move a link, its own first."""
        found: list[int] = []
        while link != WORLD:
            joint = self._inbound[link]
            if joint is None:
                return (*found, *range(self.first_of[link], self.first_of[link] + 6))
            found += self.of_joint(joint)
            link = joint.parent
        return tuple(found)

    def path(self, link: int) -> list[int]:
        """A link and those from it inward."""
        found = []
        while link != WORLD:
            found.append(link)
            joint = self._inbound[link]
            link = WORLD if joint is None else joint.parent
        return found

    def meet(self, link: int, other: int) -> int:
        """The outermost link that is inward of both, or one of them; the number of links stands for the world."""
        path = set(self.path(other))
        return next((one for one in self.path(link) if one in path), len(self.articulation.links))

    def towards_root(self, links: Iterable[int]) -> tuple[int, ...]:
        """The dofs that move any of some links, in order."""
        return tuple(sorted({dof for link in links for dof in self.inward(link)}))

    def place(self, joint: Joint) -> str:
        """A name of a joint by which those nearer to the root come first."""
        return f"{self._depth(joint.child)}{joint.path}"

    def _depth(self, link: int) -> int:
        """How many joints are between a link and the world, or the root."""
        depth = 0
        while link != WORLD and (joint := self._inbound[link]) is not None:
            link, depth = joint.parent, depth + 1
        return depth

    @cached_property
    def _joint_of(self) -> dict[int, tuple[int, ...]]:
        """All dofs of the joint of each dof."""
        wholes = map(self.of_joint, self.articulation.joints)
        return {dof: whole for whole in wholes for dof in whole}

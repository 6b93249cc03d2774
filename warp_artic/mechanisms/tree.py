"""The structure of an articulation, without its numbers: equal trees share kernels' control flow and are grouped."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property

from warp_artic.description.articulation import Articulation
from warp_artic.description.drive import Drive, DriveKind
from warp_artic.description.joint import WORLD, Dof, Joint
from warp_artic.model.families import SPEED_LIMITS, Family
from warp_artic.model.kinds import JointKind

ACTING = frozenset((Family.FRICTION, Family.FIXED_TENDON, Family.SPATIAL_TENDON, Family.MIMIC))
"""Families that act all the time, beside drives."""


@dataclass(frozen=True)
class Row:
    """One constraint row: what it stands for, its dofs, and where its parameters are."""

    family: Family
    dofs: tuple[int, ...]
    """Indices in the generalized velocity, root dofs first."""
    item: int
    """Index of the joint dof, or of the cone, that has the parameters."""
    coupled: tuple[int, ...] = ()
    """Of a fixed tendon or mimic joint the dof of each coefficient; `dofs` has all that change its position."""


@dataclass(frozen=True)
class Routes:
    """Which links the spatial tendons pass; attachments and leaves of all tendons are counted through."""

    attachment_link: tuple[int, ...] = ()
    attachment_parent: tuple[int, ...] = ()
    """The attachment before each, towards the root; of a root itself."""
    leaf_tendon: tuple[int, ...] = ()
    leaf_segments: tuple[tuple[int, ...], ...] = ()
    """The outer attachment of each segment, from the leaf to the root."""
    all_segments: tuple[bool, ...] = ()
    """Force routing of each tendon."""
    has_limits: tuple[bool, ...] = ()
    """Of each tendon."""

    @property
    def leaf_links(self) -> tuple[tuple[int, ...], ...]:
        """The links that each leaf's sub-tendon passes."""
        return tuple(
            tuple(
                dict.fromkeys(
                    self.attachment_link[end] for outer in segments for end in (outer, self.attachment_parent[outer])
                )
            )
            for segments in self.leaf_segments
        )


@dataclass(frozen=True)
class Tree:
    """Topology, joint types, dof layout and constraint rows of an articulation; equal trees compare equal.

    Links and joint dofs keep the order of the description. The generalized velocity has the six dofs of a floating root
    first, then the joint dofs.
    """

    order: tuple[int, ...]
    """Links, parents first."""
    parent: tuple[int, ...]
    """Parent of each link; the number of links stands for the world."""
    kind: tuple[JointKind, ...]
    """Joint type of each link."""
    first_dof: tuple[int, ...]
    """First dof of each link in the generalized velocity."""
    dof_counts: tuple[int, ...]
    """Number of dofs of each link."""
    is_coupled: tuple[bool, ...]
    """Of each link whether its joint has several rotations and a drive, whose spring couples them."""
    dof_is_linear: tuple[bool, ...]
    dof_axis: tuple[int, ...]
    """Axis of each dof in the moving frame M."""
    rows: tuple[Row, ...]
    """In the order in which a solver visits them."""
    routes: Routes
    has_acceleration_drives: bool
    has_compliant_mimics: bool
    has_drive_envelopes: bool
    has_link_damping: bool
    has_load_friction: bool
    is_driven: bool
    """Whether a spring or a damper acts on any single dof: a drive or viscous friction."""
    moves_freely: bool
    """Whether no spring, damper, friction, tendon or mimic joint acts as long as limits are kept."""
    body_count: int
    """Number of links that are no carriages; these come first."""

    @property
    def link_count(self) -> int:
        """Number of links."""
        return len(self.parent)

    @property
    def dof_count(self) -> int:
        """Size of the generalized velocity."""
        return len(self.dof_axis)

    @property
    def root_dofs(self) -> int:
        """Six for a floating root, else zero."""
        return 6 if JointKind.FLOATING in self.kind else 0

    def count(self, family: Family) -> int:
        """Number of rows of a family."""
        return sum(row.family is family for row in self.rows)

    @property
    def speed_limit_count(self) -> int:
        """Number of limits on lengths of velocities, of three rows each."""
        return sum(map(self.count, SPEED_LIMITS)) // 3

    @property
    def tendon_count(self) -> int:
        """Number of fixed tendons and of leaves of spatial tendons."""
        return self.count(Family.FIXED_TENDON) + len(self.routes.leaf_tendon)

    @property
    def cone_count(self) -> int:
        """Number of cones, hard and soft."""
        return self.count(Family.CONE_LIMIT) + self.count(Family.SOFT_CONE_LIMIT)

    @cached_property
    def row_counts(self) -> dict[str, int]:
        """How many there are of each thing that public arrays have rows for."""
        return {
            "dof": self.dof_count - self.root_dofs,
            "link": self.body_count,
            "root": int(self.root_dofs > 0),
            "articulation": 1,
            "tendon": self.tendon_count,
            "fixed_tendon": self.count(Family.FIXED_TENDON),
            "spatial_tendon": len(self.routes.all_segments),
            "leaf": len(self.routes.leaf_tendon),
            "attachment": len(self.routes.attachment_link),
            "cone": self.cone_count,
            "tendon_term": self.term_count(Family.FIXED_TENDON),
            "mimic": self.count(Family.MIMIC),
            "mimic_term": self.term_count(Family.MIMIC),
        }

    def term_count(self, family: Family) -> int:
        """Number of coefficients of all fixed tendons, or of all mimic joints."""
        return sum(len(row.coupled) for row in self.rows if row.family is family)

    def dofs_that_turn(self, dof: int) -> tuple[int, ...]:
        """The dofs whose velocities change the position of one: all of a joint with several rotations."""
        link = self.link_of_dof[dof]
        return tuple(range(self.first_dof[link], self.first_dof[link] + self.dof_counts[link]))

    def inward_path(self, dofs: tuple[int, ...]) -> tuple[int, ...]:
        """The links of some dofs and all links between them and the root, children first."""
        found = set()
        for dof in dofs:
            link = self.link_of_dof[dof]
            while link < self.link_count and link not in found:
                found.add(link)
                link = self.parent[link]
        return tuple(sorted(found, key=self._place.__getitem__, reverse=True))

    @cached_property
    def link_of_dof(self) -> dict[int, int]:
        """The link that each dof moves."""
        spans = zip(self.first_dof, self.dof_counts)
        return {first + k: link for link, (first, count) in enumerate(spans) for k in range(count)}

    @cached_property
    def _place(self) -> dict[int, int]:
        """Where each link is in `order`."""
        return {link: place for place, link in enumerate(self.order)}

    def dofs_inward(self, link: int) -> tuple[int, ...]:
        """The dofs that move a link, its own first; none for the world."""
        found: list[int] = []
        while link < self.link_count:
            found += range(self.first_dof[link], self.first_dof[link] + self.dof_counts[link])
            link = self.parent[link]
        return tuple(found)


def frame_turn(joint: Joint) -> tuple[int, bool]:
    """How the moving frame M of the kernels is turned from the authored joint frame.

    Returns the authored axis that becomes x, cyclically followed by y and z, and whether the frame is then turned by
    half a turn about x. A single axis becomes z, turned round when the joint is reversed. Of two swings the axis of the
    locked twist becomes z. Of three rotations the twist axis becomes x.
    """
    if len(joint.dofs) == 1:
        return (joint.dofs[0].axis.index + 1) % 3, joint.reversed
    if len(joint.dofs) == 2:
        locked = 3 - sum(dof.axis.index for dof in joint.dofs)
        return (locked + 1) % 3, False
    if len(joint.dofs) == 3:
        return joint.cone_axis.index, False
    return 0, False


def tree_of(articulation: Articulation) -> Tree:
    """The structure of an articulation whose joints are those of `description.carriages`."""
    inbound = articulation.inbound
    count = len(articulation.links)
    root_dofs = 6 if articulation.is_floating else 0
    first_of = _first_dofs(articulation, root_dofs)
    linear, axis = [True] * 3 + [False] * 3, [0, 1, 2, 0, 1, 2]
    if not root_dofs:
        linear, axis = [], []
    for joint in articulation.joints:
        turn, _ = frame_turn(joint)
        linear += [dof.axis.is_linear for dof in joint.dofs]
        axis += [(dof.axis.index - turn) % 3 for dof in joint.dofs]
    routes = _routes(articulation)
    rows = _rows(articulation, root_dofs, first_of, routes)
    return Tree(
        routes=routes,
        order=_parents_first(inbound, count),
        parent=tuple(count if joint is None or joint.parent == WORLD else joint.parent for joint in inbound),
        kind=tuple(_kind(joint) for joint in inbound),
        first_dof=tuple(0 if joint is None else first_of[joint.child] for joint in inbound),
        dof_counts=tuple(6 if joint is None else len(joint.dofs) for joint in inbound),
        is_coupled=tuple(joint is not None and _is_coupled(joint) for joint in inbound),
        dof_is_linear=tuple(linear),
        dof_axis=tuple(axis),
        rows=rows,
        has_acceleration_drives=any(
            dof.drive is not None and dof.drive.kind is DriveKind.ACCELERATION for dof in articulation.dofs
        ),
        has_compliant_mimics=any(mimic.natural_frequency > 0 for mimic in articulation.mimics),
        has_drive_envelopes=any(dof.drive is not None and dof.drive.has_envelope for dof in articulation.dofs),
        has_link_damping=any(link.linear_damping > 0 or link.angular_damping > 0 for link in articulation.links),
        has_load_friction=any(dof.friction is not None and dof.friction.coefficient > 0 for dof in articulation.dofs),
        is_driven=any(map(_is_held, articulation.dofs)),
        moves_freely=not any(map(_is_held, articulation.dofs)) and ACTING.isdisjoint(row.family for row in rows),
        body_count=len(articulation.bodies),
    )


def _first_dofs(articulation: Articulation, root_dofs: int) -> dict[int, int]:
    """The first dof of each link with a joint."""
    first_of, start = {}, root_dofs
    for joint in articulation.joints:
        first_of[joint.child] = start
        start += len(joint.dofs)
    return first_of


def _parents_first(inbound, count: int) -> tuple[int, ...]:
    children: dict[int, list[int]] = {}
    for link, joint in enumerate(inbound):
        children.setdefault(WORLD if joint is None else joint.parent, []).append(link)
    order, waiting = [], list(reversed(children.get(WORLD, [])))
    while waiting:
        link = waiting.pop()
        order.append(link)
        waiting.extend(reversed(children.get(link, [])))
    assert len(order) == count, "validated descriptions are trees"
    return tuple(order)


def _kind(joint: Joint | None) -> JointKind:
    if joint is None:
        return JointKind.FLOATING
    if not joint.dofs:
        return JointKind.FIXED
    if len(joint.dofs) == 1:
        return JointKind.PRISMATIC if joint.dofs[0].axis.is_linear else JointKind.REVOLUTE
    return JointKind.SWING if len(joint.dofs) == 2 else JointKind.SPHERICAL


def _rows(articulation: Articulation, root_dofs: int, first_of: dict[int, int], routes: Routes) -> tuple[Row, ...]:
    """The rows by family, and in each those of joints from the root outward, then by the names of what they are of.

    A solver that visits them one after the other would give another motion for another order of prims in a file.
    """
    rows: list[tuple[str, Row]] = []
    cones = 0
    depths = _depths(articulation)
    for joint in articulation.joints:
        first = first_of[joint.child]
        whole = tuple(range(first, first + len(joint.dofs)))
        place = f"{depths[joint.child]}{joint.path}"
        for k, dof in enumerate(joint.dofs):
            single = (first + k,)
            item = first + k - root_dofs
            rows += [(place, Row(family, single, item)) for family in _single_families(dof)]
            family = _limit_family(joint, dof)
            if family is not None:
                rows.append((place, Row(family, single if len(joint.dofs) == 1 else whole, item)))
        if joint.cone_limit is not None:
            family = Family.SOFT_CONE_LIMIT if joint.cone_limit.is_soft else Family.CONE_LIMIT
            rows.append((place, Row(family, whole, cones)))
            cones += 1
    rows += _link_velocity_rows(articulation, root_dofs, first_of)
    for item, tendon in enumerate(articulation.fixed_tendons):
        dofs, coupled = _coupled_dofs(articulation, root_dofs, first_of, tendon.dofs)
        rows.append((tendon.name, Row(Family.FIXED_TENDON, dofs, item, coupled)))
        if tendon.limit_stiffness > 0:
            rows.append((tendon.name, Row(Family.FIXED_TENDON_LIMIT, dofs, item, coupled)))
    leaf_names = [name for tendon in articulation.spatial_tendons for name in tendon.leaf_names]
    for leaf, links in enumerate(routes.leaf_links):
        dofs = _dofs_towards_root(articulation, root_dofs, first_of, links)
        if dofs:
            rows.append((leaf_names[leaf], Row(Family.SPATIAL_TENDON, dofs, leaf)))
            if routes.has_limits[routes.leaf_tendon[leaf]]:
                rows.append((leaf_names[leaf], Row(Family.SPATIAL_TENDON_LIMIT, dofs, leaf)))
    for item, mimic in enumerate(articulation.mimics):
        dofs, coupled = _coupled_dofs(articulation, root_dofs, first_of, mimic.dofs)
        rows.append((mimic.name, Row(Family.MIMIC, dofs, item, coupled)))
    return tuple(row for _, row in sorted(rows, key=lambda one: (one[1].family, _counted(one[0]))))


def _depths(articulation: Articulation) -> dict[int, int]:
    """How many joints are between each link and the world, or the root."""
    inbound, depths = articulation.inbound, {WORLD: 0}
    for link in _parents_first(inbound, len(articulation.links)):
        joint = inbound[link]
        depths[link] = 0 if joint is None else depths[joint.parent] + 1
    return depths


def _counted(name: str) -> tuple[tuple[str, int], ...]:
    """A key by which names sort, with numbers in them by their size: finger_2 before finger_10."""
    return tuple((word, int(number or 0)) for word, number in re.findall(r"(\D*)(\d*)", name))


def _coupled_dofs(articulation, root_dofs: int, first_of: dict[int, int], chosen) -> tuple[tuple, tuple]:
    """The dofs that change the positions of chosen dofs of joints, those of each together, and the chosen ones."""
    spans = {}
    for joint in articulation.joints:
        whole = tuple(range(first_of[joint.child], first_of[joint.child] + len(joint.dofs)))
        spans |= dict.fromkeys(whole, whole)
    coupled = tuple(root_dofs + dof for dof in chosen)
    return tuple(own for dof in coupled for own in spans[dof]), coupled


def _link_velocity_rows(articulation: Articulation, root_dofs: int, first_of: dict[int, int]) -> list[tuple[str, Row]]:
    """The velocity limits of links that move, each on the dofs from its link to the root, in this order.

    Those of the whole tree are on all dofs. Each has three rows.
    """
    rows = []
    for index, link in enumerate(articulation.links):
        limits = link.max_linear_velocity, link.max_angular_velocity
        if not any(map(math.isfinite, limits)):
            continue
        dofs = _dofs_inward(articulation, root_dofs, first_of, index)
        for family, limit in zip((Family.LINK_SPEED, Family.LINK_SPIN), limits):
            if dofs and math.isfinite(limit):
                rows += [(link.path, Row(family, dofs, index))] * 3
    if articulation.is_floating:
        every = tuple(range(root_dofs + len(articulation.dofs)))
        limits = articulation.max_linear_velocity, articulation.max_angular_velocity
        for family, limit in zip((Family.TREE_SPEED, Family.TREE_SPIN), limits):
            if math.isfinite(limit):
                rows += [(articulation.path, Row(family, every, 0))] * 3
    return rows


def _dofs_inward(articulation, root_dofs: int, first_of: dict[int, int], link: int) -> tuple[int, ...]:
    """The dofs that move a link, its own first."""
    inbound, found = articulation.inbound, []
    while link != WORLD:
        joint = inbound[link]
        if joint is None:
            return (*found, *range(root_dofs))
        found += range(first_of[joint.child], first_of[joint.child] + len(joint.dofs))
        link = joint.parent
    return tuple(found)


def _dofs_towards_root(articulation, root_dofs: int, first_of: dict[int, int], links) -> tuple[int, ...]:
    """The dofs that move any of some links, in order."""
    return tuple(sorted({dof for link in links for dof in _dofs_inward(articulation, root_dofs, first_of, link)}))


def _routes(articulation: Articulation) -> Routes:
    links, parents, leaf_tendon, leaf_segments = [], [], [], []
    for index, tendon in enumerate(articulation.spatial_tendons):
        first = len(links)
        links += [attachment.link for attachment in tendon.attachments]
        parents += [
            first + (attachment.parent if attachment.parent is not None else own)
            for own, attachment in enumerate(tendon.attachments)
        ]
        for leaf in tendon.leaves:
            segments, outer = [], first + leaf.attachment
            while parents[outer] != outer:
                segments.append(outer)
                outer = parents[outer]
            leaf_tendon.append(index)
            leaf_segments.append(tuple(segments))
    tendons = articulation.spatial_tendons
    return Routes(
        tuple(links),
        tuple(parents),
        tuple(leaf_tendon),
        tuple(leaf_segments),
        tuple(tendon.all_segments for tendon in tendons),
        tuple(tendon.limit_stiffness > 0 for tendon in tendons),
    )


def _single_families(dof: Dof) -> list[Family]:
    families = []
    drive, friction = dof.drive, dof.friction
    if drive is not None and _leaves_the_factors(drive):
        families.append(Family.DRIVE)
    if friction is not None and max(friction.static_effort, friction.dynamic_effort, friction.coefficient) > 0:
        families.append(Family.FRICTION)
    if math.isfinite(dof.velocity_limit):
        families.append(Family.VELOCITY_LIMIT)
    return families


def _is_coupled(joint: Joint) -> bool:
    return len(joint.dofs) > 1 and any(dof.drive is not None for dof in joint.dofs)


def _is_held(dof: Dof) -> bool:
    """Whether a spring or a damper is folded into the factors."""
    drive, friction = dof.drive, dof.friction
    drives = drive is not None and max(drive.stiffness, drive.damping) > 0
    return drives or (friction is not None and friction.viscous > 0)


def _leaves_the_factors(drive: Drive) -> bool:
    """Whether a drive is more than a spring and a damper that are always folded in."""
    return math.isfinite(drive.max_force) or drive.kind is DriveKind.ACCELERATION or drive.has_envelope


def _limit_family(joint: Joint, dof: Dof) -> Family | None:
    if dof.limit is None or not (math.isfinite(dof.limit.lower) or math.isfinite(dof.limit.upper)):
        return None
    if len(joint.dofs) == 1:
        if dof.limit.is_soft:
            return Family.SOFT_LIMIT
        return Family.BOUNCING_LIMIT if dof.limit.restitution > 0.0 else Family.JOINT_LIMIT
    if len(joint.dofs) == 2:
        return Family.SOFT_ROTATION_LIMIT if dof.limit.is_soft else Family.ROTATION_LIMIT
    if dof.axis is joint.cone_axis:
        return Family.SOFT_TWIST_LIMIT if dof.limit.is_soft else Family.TWIST_LIMIT
    return Family.SOFT_SWING_LIMIT if dof.limit.is_soft else Family.SWING_LIMIT

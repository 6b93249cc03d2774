"""What was read of one prim, at the places of its copies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from warp_artic.description.articulation import Articulation
from warp_artic.description.constraint import Constraint
from warp_artic.description.diagnostic import Diagnostic
from warp_artic.description.distance import Distance
from warp_artic.description.joint import WORLD, Joint
from warp_artic.description.link import Link
from warp_artic.description.pose import Pose
from warp_artic.description.tendon import SpatialTendon
from warp_artic.usd.attributes import Attributes
from warp_artic.usd.copies import VELOCITIES, Copy, Places, is_at_or_below, prim_of
from warp_artic.usd.inventory import Inventory
from warp_artic.usd.joint_ends import read_joint_ends
from warp_artic.usd.moved_bases import moved_constraint, tell_moved
from warp_artic.usd.placement import Placements
from warp_artic.usd.read_base_motion import read_base_motion
from warp_artic.usd.read_start import is_apart, read_start
from warp_artic.usd.report import Reading

START_RULES = (
    "base-moved",
    "pose-violates-joint",
    "velocity-violates-joint",
    "state-disagrees-with-pose",
    "state-disagrees-with-velocity",
    "start-outside-limit",
)
"""What may be found about a joint to the world here and not there."""


class Replicator:
    """Makes the articulations of copies, and says of each what was said of the one that was read."""

    def __init__(
        self,
        copies: list[Copy],
        articulations: list[Articulation],
        inventory: Inventory,
        attributes: Attributes,
        placements: Placements,
    ):
        self.inventory, self.attributes, self.placements = inventory, attributes, placements
        self.copies = copies
        self.articulations = list(articulations)
        self.known: dict[str, _Read] = {}
        self.frames: dict[str, Pose] = {}

    def articulations_of(self, copy: Copy) -> list[tuple[Articulation, Articulation]]:
        """The articulations that were read, and those of a copy, whose diagnostics go to the report."""
        if copy.like not in self.known:
            self.known[copy.like] = self._read(copy.like)
        read = self.known[copy.like]
        made = [(tree, self._articulation(tree, copy)) for tree in read.trees]
        report = self.attributes.report
        for finding in read.findings:
            message = read.mention.sub(lambda _: copy.root, finding.message)
            report.add(with_values(finding, path=copy.path(finding.path), message=message))
        return made

    def _read(self, root: str) -> _Read:
        """What was read of a prim; what joints of its copies to the world lead to is placed at once."""
        read = _Read(root, self.articulations, self.inventory, self.attributes)
        leads_to = {target for joint in read.on_world for target in self._targets(joint)}
        self.placements.place(copy.prim(path) for copy in self.copies if copy.like == root for path in leads_to)
        return read

    def _targets(self, joint: str) -> list[str]:
        """The prims that a joint leads to."""
        prim = self.inventory.joints[joint]
        return [str(path) for side in (0, 1) for path in self.attributes.targets(prim, f"physics:body{side}")]

    def _articulation(self, tree: Articulation, copy: Copy) -> Articulation:
        path, poses = copy.path, copy.poses
        links = [with_values(link, path=path(link.path), pose=poses[link.path]) for link in tree.links]
        joints = []
        for joint in tree.joints:
            dofs = tuple([with_values(dof, name=path(dof.name)) for dof in joint.dofs])
            made = with_values(joint, path=path(joint.path), dofs=dofs)
            if joint.parent == WORLD:
                made = self._on_world(joint, made, links, tree.base_motion is not None, copy)
            joints.append(made)
        way = self._way(tree.joints, joints) if tree.constraints else (None, False)
        order, pairs = self.inventory.order, zip((*tree.links, *tree.joints), (*links, *joints))
        order.update([(made.path, order[read.path] + copy.shift) for read, made in pairs])
        return with_values(
            tree,
            path=path(tree.path),
            links=tuple(links),
            joints=tuple(joints),
            fixed_tendons=tuple([with_values(tendon, name=path(tendon.name)) for tendon in tree.fixed_tendons]),
            spatial_tendons=tuple([_spatial_tendon(tendon, copy) for tendon in tree.spatial_tendons]),
            mimics=tuple([with_values(mimic, name=path(mimic.name)) for mimic in tree.mimics]),
            constraints=tuple([self._constraint(one, copy, way) for one in tree.constraints]),
            base_motion=tree.base_motion and read_base_motion(copy.prim(tree.base_motion.path), self.attributes),
        )

    def _way(self, joints: tuple[Joint, ...], made: list[Joint]) -> tuple[Pose | None, bool]:
        """By which the base of a copy, where a joint fixes it, is elsewhere than that of the tree that was read, if it
        is, and whether it was moved from where its joint has it."""
        for joint, there in zip(joints, made):
            if joint.parent == WORLD and not joint.dofs and len(self._targets(joint.path)) < 2:
                way, own = (there.parent_frame @ one.inverse() for one in (joint.parent_frame, self._authored(joint)))
                return (way if is_apart(way) else None), is_apart(own)
        return None, False

    def _constraint(self, one: Constraint, copy: Copy, way: tuple[Pose | None, bool]) -> Constraint:
        """A constraint, whose frame in the world depends on where the copy is if it is that of a prim there, or goes
        with its base."""
        other = one.articulation1
        made = with_values(one, name=copy.path(one.name), articulation1=other and copy.path(other))
        if not _is_on_world(one):
            return made
        if len(self._targets(one.name)) < 2:
            if way[1]:
                tell_moved(made.name, self.attributes)
            return made if way[0] is None else moved_constraint(made, way[0])
        self._list(one.name, copy)
        ends = read_joint_ends(copy.prim(one.name), self.inventory, self.attributes, self.placements)
        if ends is None:  # an error, after which each copy is read
            return made
        frames = ends.end0.frame, ends.end1.frame
        if isinstance(made, Distance):
            return with_values(made, position0=frames[0].position, position1=frames[1].position)
        return with_values(made, frame0=frames[0], frame1=frames[1])

    def _on_world(self, joint: Joint, made: Joint, links: list[Link], is_carried: bool, copy: Copy) -> Joint:
        """A joint to the world, whose frame there and start depend on where the copy is."""
        prim, child = copy.prim(joint.path), links[joint.child]
        if len(self._targets(joint.path)) > 1:  # else its other frame is authored in the world, and the same
            self._list(joint.path, copy)
            ends = read_joint_ends(prim, self.inventory, self.attributes, self.placements)
            if ends is None:  # an error, after which each copy is read
                return made
            made = replace(made, parent_frame=(ends.end1 if joint.reversed else ends.end0).frame)
        elif not joint.dofs:
            made = replace(made, parent_frame=self._authored(joint))
        body = self.inventory.bodies[copy.original(child.path)]
        moves = not self.attributes.names(body).isdisjoint(VELOCITIES)
        for dof in made.dofs:
            self.attributes.report.readings[dof.name] = []
        started = read_start(prim, made, None, child, child.pose, moves, is_carried, self.attributes)
        for dof in made.dofs:
            del self.attributes.report.readings[dof.name]  # as of the joint that was read
        return started

    def _authored(self, joint: Joint) -> Pose:
        """The frame in the world that a fixed joint was read with, in place of which it has that of its body."""
        if joint.path not in self.frames:
            prim = self.inventory.joints[joint.path]
            ends = read_joint_ends(prim, self.inventory, self.attributes, self.placements)
            self.frames[joint.path] = (ends.end1 if joint.reversed else ends.end0).frame
        return self.frames[joint.path]

    def _list(self, joint: str, copy: Copy) -> None:
        """Put what a joint leads to into the inventory."""
        inventory = self.inventory
        for target in self._targets(joint):
            body = inventory.body_of.get(target)
            for path in (target,) if body is None else (target, body):
                own = copy.path(path)
                if path in inventory.schemas:
                    inventory.schemas[own] = inventory.schemas[path]
                if path in inventory.body_of:
                    inventory.body_of[own] = copy.path(inventory.body_of[path])
                for group in (inventory.bodies, inventory.held):
                    if path in group:
                        group[own] = copy.prim(path)


class _Read:
    """What was read of a prim with copies."""

    def __init__(self, root: str, articulations: list[Articulation], inventory: Inventory, attributes: Attributes):
        self.trees = [tree for tree in articulations if is_at_or_below(tree.links[0].path, root)]
        self.on_world = [joint.path for tree in self.trees for joint in tree.joints if joint.parent == WORLD]
        self.on_world += [one.name for tree in self.trees for one in tree.constraints if _is_on_world(one)]

        def is_of_place(finding: Diagnostic) -> bool:
            if finding.rule == "composition" or finding.path.startswith(f"{root}.xformOp"):
                return True
            return finding.rule in START_RULES and prim_of(finding.path) in self.on_world

        self.findings = [
            finding
            for finding in attributes.report.diagnostics
            if is_at_or_below(prim_of(finding.path), root)
            and prim_of(finding.path) not in inventory.scenes  # each is read
            and not is_of_place(finding)
        ]
        self.mention = re.compile(rf"(?<![\w/]){re.escape(root)}(?!\w)")


def _is_on_world(one: Constraint) -> bool:
    """Whether a constraint is between a link and the world."""
    return WORLD in [getattr(one, name) for name in one.own_links]


def _spatial_tendon(tendon: SpatialTendon, copy: Copy) -> SpatialTendon:
    attachments = tuple([with_values(one, name=copy.path(one.name)) for one in tendon.attachments])
    return with_values(tendon, name=copy.path(tendon.name), attachments=attachments)


class Readings(Mapping):
    """Where values came from, by dof name or link path; those of copies are made when they are asked for."""

    def __init__(self, read: dict[str, list[Reading]], places: Places, inventory: Inventory):
        self.read, self.places, self.inventory = read, places, inventory

    def __getitem__(self, name: str) -> list[Reading]:
        if name in self.read:
            return self.read[name]
        copy = self.places.copy_with(prim_of(name))
        if copy is None:
            raise KeyError(name)
        return [self._there(reading, copy) for reading in self.read[copy.original(name)]]

    def _there(self, reading: Reading, copy: Copy) -> Reading:
        """A reading of the prim that was read, in a copy of it; that of the scene is of the whole stage."""
        prim = prim_of(reading.attribute)
        is_own = is_at_or_below(prim, copy.like) and prim not in self.inventory.scenes
        return replace(reading, attribute=copy.path(reading.attribute)) if is_own else reading

    def __iter__(self) -> Iterator[str]:
        yield from self.read
        for copy in self.places.copies.values():
            for name in self.read:
                if is_at_or_below(prim_of(name), copy.like) and name not in self.inventory.scenes:
                    yield copy.path(name)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and dict(self) == dict(other)


def with_values(value, **changes):
    """What `dataclasses.replace` gives, in a quarter of its time: a stage may have 100,000 links and joints."""
    made = object.__new__(type(value))
    made.__dict__.update(value.__dict__)
    made.__dict__.update(changes)
    return made
